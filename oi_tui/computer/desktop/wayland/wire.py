"""Wayland's own protocol over its socket: requests, events and file descriptors."""

from __future__ import annotations

import array
import os
import select
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from oi_tui.computer.errors import ComputerError

#: Takes the number of an event and what it carries.
Handler = Callable[[int, "Event"], None]
_DISPLAY = 1
_SYNC, _GET_REGISTRY = 0, 1
_ERROR, _DELETE = 0, 1
_MISSING = (
    "Screen, mouse and keyboard cannot be used in this Wayland session: its compositor does not offer {0}. "
    "Compositors based on wlroots do (sway, labwc, river, Hyprland); GNOME and KDE do not. Log in to an X11 "
    "session (Xorg), or start oi-tui on a virtual screen: xvfb-run oi-tui."
)
#: How long the compositor may take to answer.
_SECONDS = 5.0


class Event:
    """What an event carries, read piece by piece."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def unsigned(self) -> int:
        """Return the next number without a sign."""
        return int(self._unpack("=I"))

    def signed(self) -> int:
        """Return the next number."""
        return int(self._unpack("=i"))

    def array(self) -> bytes:
        """Return the next bytes, whose length stands before them."""
        length = self.unsigned()
        data = self._data[self._at : self._at + length]
        self._at += -(-length // 4) * 4
        return data

    def text(self) -> str:
        """Return the next text."""
        return self.array().rstrip(b"\0").decode(errors="replace")

    def _unpack(self, form: str) -> int:
        (value,) = struct.unpack_from(form, self._data, self._at)
        self._at += 4
        return int(value)


def encode_text(words: str) -> bytes:
    """Return a text as a part of a request."""
    data = words.encode() + b"\0"
    return struct.pack("=I", len(data)) + data + b"\0" * (-len(data) % 4)


class WaylandConnection:
    """A connection to the compositor. Used by one thread at a time."""

    def __init__(self) -> None:
        place = Path(os.environ.get("XDG_RUNTIME_DIR", "/")) / os.environ.get("WAYLAND_DISPLAY", "wayland-0")
        #: Whether the connection to the compositor is closed.
        self.is_closed = False
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.connect(str(place))
        except OSError as error:
            self.close()
            raise ComputerError(
                f"The Wayland display {place} cannot be opened: {error.strerror or error}."
            ) from None
        self._handlers: dict[int, Handler] = {_DISPLAY: self._on_display}
        self._last = _DISPLAY
        self._rest = b""
        #: The number and the version of each global, by its interface; there may be several.
        self.globals: list[tuple[int, str, int]] = []
        self._registry = self.new(self._on_registry)
        self.request(_DISPLAY, _GET_REGISTRY, self._registry)
        self.roundtrip()

    def close(self) -> None:
        """Leave the compositor."""
        self._socket.close()

    def new(self, handler: Handler | None = None) -> int:
        """Return the number of a new object, whose events `handler` gets."""
        self._last += 1
        self._handlers[self._last] = handler or (lambda _number, _event: None)
        return self._last

    def version(self, interface: str) -> int:
        """Return the version of the first global with this interface; 0 without one."""
        return next((version for _, name, version in self.globals if name == interface), 0)

    def require(self, interface: str, most: int, handler: Handler | None = None) -> int:
        """Return the first global with this interface as an object, in a version of at most `most`.

        Raises ComputerError that says what to do without one.
        """
        entry = next((item for item in self.globals if item[1] == interface), None)
        if entry is None:
            raise ComputerError(_MISSING.format(interface))
        return self.bind(entry, most, handler)

    def bind(self, item: tuple[int, str, int], most: int, handler: Handler | None = None) -> int:
        """Return one global as an object."""
        number, interface, version = item
        object_id = self.new(handler)
        end = struct.pack("=II", min(version, most), object_id)
        self.request(self._registry, 0, struct.pack("=I", number) + encode_text(interface) + end)
        return object_id

    def request(self, target: int, code: int, *parts: int | bytes, fd: int | None = None) -> None:
        """Send a request: numbers with or without a sign, and bytes that are ready."""
        body = b"".join(
            part if isinstance(part, bytes) else struct.pack("=I", part & 0xFFFFFFFF) for part in parts
        )
        data = struct.pack("=II", target, (len(body) + 8) << 16 | code) + body
        ancillary = [] if fd is None else [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))]
        try:
            while data:
                count = self._socket.sendmsg([data], ancillary)
                data, ancillary = data[count:], []
        except OSError as error:
            self._fail(error)

    def roundtrip(self) -> None:
        """Wait until the compositor has carried out what was asked, and take what it says."""
        done: list[int] = []
        self.request(_DISPLAY, _SYNC, self.new(lambda _number, _event: done.append(1)))
        self.wait(lambda: bool(done))

    def wait(self, condition: Callable[[], bool], seconds: float = _SECONDS) -> None:
        """Take events until the condition holds. Raises ComputerError where that takes too long."""
        end = time.monotonic() + seconds
        while not condition():
            if not self.dispatch(end - time.monotonic()):
                raise ComputerError("The Wayland compositor does not answer.")

    def dispatch(self, seconds: float = 0.0) -> bool:
        """Take the events that are there, waiting up to `seconds` for one; False if none came."""
        ready, _, _ = select.select([self._socket], [], [], max(seconds, 0.0))
        if not ready:
            return False
        try:
            data, _, _, _ = self._socket.recvmsg(65536)
        except OSError as error:
            self._fail(error)
        if not data:
            self._fail(None)
        self._rest += data
        while len(self._rest) >= 8:
            target, head = struct.unpack_from("=II", self._rest)
            size = head >> 16
            if size < 8 or len(self._rest) < size:
                break
            body, self._rest = self._rest[8:size], self._rest[size:]
            handler = self._handlers.get(target)
            if handler:
                handler(head & 0xFFFF, Event(body))
        return True

    def dispatch_all(self) -> None:
        """Take all events that are there."""
        while self.dispatch():
            pass

    def adopt(self, number: int, handler: Handler) -> None:
        """Take the events of an object that the compositor made."""
        self._handlers[number] = handler

    def _fail(self, error: OSError | None) -> NoReturn:
        self.is_closed = True
        reason = (error.strerror if error else None) or "it ended"
        raise ComputerError(f"The Wayland compositor cannot be reached: {reason}.") from None

    def _on_display(self, code: int, event: Event) -> None:
        if code == _ERROR:
            event.unsigned(), event.unsigned()
            raise ComputerError(f"The Wayland compositor refused a request: {event.text()}.")
        if code == _DELETE:
            self._handlers.pop(event.unsigned(), None)

    def _on_registry(self, code: int, event: Event) -> None:
        if code == 0:
            self.globals.append((event.unsigned(), event.text(), event.unsigned()))
        elif code == 1:
            number = event.unsigned()
            self.globals = [item for item in self.globals if item[0] != number]
