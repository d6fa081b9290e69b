"""Monitors, and screenshots of them."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field
from mmap import mmap

from oi_tui.computer.desktop.base import Region
from oi_tui.computer.desktop.screenshot import Screenshot
from oi_tui.computer.desktop.wayland.wire import Event, WaylandConnection
from oi_tui.computer.errors import ComputerError

_ROTATED = "No screenshot can be taken on Wayland of a monitor that is rotated or flipped."
_NO_SCREENSHOT = "The Wayland compositor gave no screenshot."
#: Formats of pixels with blue first, and with red first.
_BLUE_FIRST, _RED_FIRST = (0, 1), (0x34324258, 0x34324241)
_Y_INVERTED = 1
#: The events of a screenshot: its format, its flags, and how it ended.
_BUFFER, _FLAGS, _READY, _FAILED = range(4)


@dataclass
class _Output:
    """A monitor. Its place is in the coordinates of the desktop, which a scale can make fewer than pixels."""

    object: int = 0
    region: Region = field(default_factory=lambda: Region(0, 0, 0, 0))
    rotated: bool = False


@dataclass
class _Frame:
    """A screenshot while it is taken."""

    format: int = 0
    width: int = 0
    height: int = 0
    stride: int = 0
    flags: int = 0
    end: int = 0


class Screen:
    """All monitors."""

    def __init__(self, wire: WaylandConnection) -> None:
        self._wire = wire
        self._shm = wire.require("wl_shm", 1)
        self._screencopy = wire.require("zwlr_screencopy_manager_v1", 1)
        self._manager = wire.require("zxdg_output_manager_v1", 1)
        #: The monitors, by the number of their global.
        self._outputs: dict[int, _Output] = {}
        self._update_outputs()

    def _update_outputs(self) -> list[_Output]:
        """Return the monitors that there are now: one may be plugged in, pulled out or moved at any time."""
        wire = self._wire
        wire.roundtrip()
        there = {item[0]: item for item in wire.globals if item[1] == "wl_output"}
        new = there.keys() - self._outputs.keys()
        self._outputs = {
            number: self._outputs.get(number) or self._read(item) for number, item in there.items()
        }
        if new:
            wire.roundtrip()
        outputs = [output for output in self._outputs.values() if output.region.width]
        if not outputs:
            raise ComputerError("This Wayland compositor has no monitor that is on.")
        return outputs

    def _read(self, item: tuple[int, str, int]) -> _Output:
        output = _Output()

        def on_output(code: int, event: Event) -> None:
            if code == 0:
                for _ in range(5):
                    event.signed()
                event.text(), event.text()
                output.rotated = event.signed() != 0

        def on_place(code: int, event: Event) -> None:
            region = output.region
            if code == 0:
                output.region = Region(event.signed(), event.signed(), region.width, region.height)
            elif code == 1:
                output.region = Region(region.x, region.y, event.signed(), event.signed())

        output.object = self._wire.bind(item, 1, on_output)
        self._wire.request(self._manager, 1, self._wire.new(on_place), output.object)
        return output

    def size(self) -> tuple[int, int]:
        """Return the size of the rectangle around all monitors."""
        return _find_size(self.monitors())

    def monitors(self) -> list[Region]:
        """Return where each monitor lies; the left upper corner of all is (0, 0)."""
        return [place for _, place in self._arrange()]

    def _arrange(self) -> list[tuple[_Output, Region]]:
        """Return the monitors, each with its place."""
        outputs = self._update_outputs()
        left, top = min(item.region.x for item in outputs), min(item.region.y for item in outputs)
        return [
            (item, Region(item.region.x - left, item.region.y - top, item.region.width, item.region.height))
            for item in outputs
        ]

    def capture(self, region: Region) -> Screenshot:
        """Take a screenshot of a part of the screen; what is on no monitor is black."""
        monitors = self._arrange()
        width, height = _find_size([place for _, place in monitors])
        left, top = max(region.x, 0), max(region.y, 0)
        right, bottom = min(region.x + region.width, width), min(region.y + region.height, height)
        if right <= left or bottom <= top:
            raise ComputerError(f"{region} is not on the screen, which has {width}x{height} pixels.")
        whole = right - left
        pixels = bytearray(whole * (bottom - top) * 3)
        for output, place in monitors:
            x, y = max(place.x, left), max(place.y, top)
            end_x, end_y = min(place.x + place.width, right), min(place.y + place.height, bottom)
            if end_x <= x or end_y <= y:
                continue
            part = self._copy(output, Region(x - place.x, y - place.y, end_x - x, end_y - y))
            step = part.width * 3
            for row in range(part.height):
                at = ((y - top + row) * whole + x - left) * 3
                pixels[at : at + step] = part.pixels[row * step : (row + 1) * step]
        return Screenshot(whole, bottom - top, bytes(pixels))

    def _copy(self, output: _Output, part: Region) -> Screenshot:
        """Take a screenshot of a part of one monitor."""
        if output.rotated:
            raise ComputerError(_ROTATED)
        wire, frame = self._wire, _Frame()

        def on_frame(code: int, event: Event) -> None:
            if code == _BUFFER:
                frame.format, frame.width, frame.height, frame.stride = (event.unsigned() for _ in range(4))
            elif code == _FLAGS:
                frame.flags = event.unsigned()
            elif code in (_READY, _FAILED):
                frame.end = code

        object_ = wire.new(on_frame)
        place = (part.x, part.y, part.width, part.height)
        wire.request(self._screencopy, 1, object_, 0, output.object, *place)
        wire.wait(lambda: bool(frame.stride or frame.end))
        if frame.end or frame.format not in (*_BLUE_FIRST, *_RED_FIRST):
            raise ComputerError(_NO_SCREENSHOT)
        data = self._fill(object_, frame)
        step = frame.stride
        rows = [data[row * step : row * step + frame.width * 4] for row in range(frame.height)]
        if frame.flags & _Y_INVERTED:
            rows.reverse()
        screenshot = _rgb(rows, frame.width, blue_first=frame.format in _BLUE_FIRST)
        same = (screenshot.width, screenshot.height) == (part.width, part.height)
        return screenshot if same else screenshot.resized(part.width, part.height)

    def _fill(self, object_: int, frame: _Frame) -> bytes:
        """Have the compositor fill memory with the screenshot, and return that."""
        wire, size = self._wire, frame.stride * frame.height
        with tempfile.TemporaryFile(dir=os.environ.get("XDG_RUNTIME_DIR")) as file:
            file.truncate(size)
            with mmap(file.fileno(), size) as memory:
                pool, buffer = wire.new(), wire.new()
                wire.request(self._shm, 0, pool, size, fd=file.fileno())
                wire.request(pool, 0, buffer, 0, frame.width, frame.height, frame.stride, frame.format)
                wire.request(pool, 1)
                wire.request(object_, 0, buffer)
                wire.wait(lambda: bool(frame.end))
                wire.request(buffer, 0)
                wire.request(object_, 1)
                if frame.end != _READY:
                    raise ComputerError(_NO_SCREENSHOT)
                return memory[:]


def _find_size(places: list[Region]) -> tuple[int, int]:
    return max(item.x + item.width for item in places), max(item.y + item.height for item in places)


def _rgb(rows: list[bytes], width: int, *, blue_first: bool) -> Screenshot:
    data = b"".join(rows)
    pixels = bytearray(len(data) // 4 * 3)
    red, blue = (2, 0) if blue_first else (0, 2)
    pixels[0::3], pixels[1::3], pixels[2::3] = data[red::4], data[1::4], data[blue::4]
    return Screenshot(width, len(rows), bytes(pixels))
