"""A virtual pointer and a virtual keyboard."""

from __future__ import annotations

import os
import tempfile
import time

from oi_tui.computer.desktop.wayland.keymap import MODIFIERS, Keymap
from oi_tui.computer.desktop.wayland.wire import WaylandConnection

#: Linux's numbers of the buttons, by those of X11.
_BUTTONS = {1: 0x110, 2: 0x112, 3: 0x111, 8: 0x113, 9: 0x114}
#: The wheel: the axis, and the direction.
_WHEEL = {4: (0, -1), 5: (0, 1), 6: (1, -1), 7: (1, 1)}
#: How far a turn of the wheel scrolls, in the fixed-point numbers of Wayland.
_TURN = 15 * 256
_FROM_WHEEL = 0
_XKB = 1
#: The requests of a pointer.
_MOVE, _BUTTON, _FRAME, _SOURCE, _TURN_BY = 1, 2, 4, 5, 7
#: The requests of a keyboard.
_KEYMAP, _KEY, _MODIFIERS = range(3)


class Pointer:
    """A pointer of our own."""

    def __init__(self, wire: WaylandConnection, seat: int) -> None:
        self._wire = wire
        manager = wire.require("zwlr_virtual_pointer_manager_v1", 1)
        self._object = wire.new()
        wire.request(manager, 0, seat, self._object)

    def move(self, x: int, y: int, size: tuple[int, int]) -> None:
        """Put it at a point of a screen of this size."""
        self._wire.request(self._object, _MOVE, _make_timestamp(), x, y, *size)
        self._wire.request(self._object, _FRAME)

    def button(self, number: int, down: bool) -> None:
        """Press or release a button, or turn the wheel by one step."""
        if number not in _WHEEL:
            self._wire.request(self._object, _BUTTON, _make_timestamp(), _BUTTONS[number], int(down))
        elif down:
            axis, direction = _WHEEL[number]
            self._wire.request(self._object, _SOURCE, _FROM_WHEEL)
            self._wire.request(self._object, _TURN_BY, _make_timestamp(), axis, direction * _TURN, direction)
        self._wire.request(self._object, _FRAME)


class Keys:
    """A keyboard of our own."""

    def __init__(self, wire: WaylandConnection, seat: int) -> None:
        self._wire = wire
        manager = wire.require("zwp_virtual_keyboard_manager_v1", 1)
        self._object = wire.new()
        wire.request(manager, 0, seat, self._object)
        self._keymap = Keymap()
        self._down: dict[int, None] = {}
        self._send_keymap()

    def find(self, name: str) -> tuple[int, bool]:
        """Return the number of a key, and whether shift is needed."""
        code, shifted, changed = self._keymap.find(name)
        if changed:
            self._send_keymap()
        return code, shifted

    def _send_keymap(self) -> None:
        data = self._keymap.text.encode() + b"\0"
        with tempfile.TemporaryFile(dir=os.environ.get("XDG_RUNTIME_DIR")) as file:
            file.write(data)
            file.flush()
            self._wire.request(self._object, _KEYMAP, _XKB, len(data), fd=file.fileno())
            self._wire.roundtrip()

    def key(self, code: int, down: bool) -> None:
        """Press or release a key."""
        if down:
            self._down[code] = None
        else:
            self._down.pop(code, None)
        self._wire.request(self._object, _KEY, _make_timestamp(), code, int(down))
        modifiers = sum({MODIFIERS[key] for key in self._down if key in MODIFIERS})
        self._wire.request(self._object, _MODIFIERS, modifiers, 0, 0, 0)


def _make_timestamp() -> int:
    return time.monotonic_ns() // 1_000_000 & 0xFFFFFFFF
