"""The properties of X11 windows: what programs and window managers write at a window for each other."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_int, c_long, c_ulong, c_void_p

from oi_tui.computer.desktop.x11.connection import X11Connection

_ANY_PROPERTY = 0
_CARDINAL, _REPLACE = 6, 0


class Properties:
    """Reads and sets properties. Whoever calls it holds the lock of the connection."""

    def __init__(self, connection: X11Connection) -> None:
        self._x, self._display = connection.x, connection.display

    def intern(self, name: str) -> int:
        """Return the number that the server has for a name."""
        return int(self._x.XInternAtom(self._display, name.encode(), 0))

    def read(self, window: int, name: str) -> tuple[int, bytes]:
        """Return the format and the raw bytes of a property; `(0, b"")` if it is not set."""
        kind, format_, count, remaining_bytes, data = c_ulong(), c_int(), c_ulong(), c_ulong(), c_void_p()
        failed = self._x.XGetWindowProperty(
            *(self._display, window, self.intern(name), 0, 100_000, 0, _ANY_PROPERTY),
            *map(byref, (kind, format_, count, remaining_bytes, data)),
        )
        if failed or not data.value:
            return 0, b""
        # Items of 32 bits are longs in memory.
        item_size = ctypes.sizeof(c_long) if format_.value == 32 else format_.value // 8
        data_bytes = ctypes.string_at(data.value, count.value * item_size)
        self._x.XFree(data)
        return format_.value, data_bytes

    def read_numbers(self, window: int, name: str) -> list[int]:
        """Return the numbers of a property; an empty list if it is not set."""
        format_, data = self.read(window, name)
        return (
            list((c_ulong * (len(data) // ctypes.sizeof(c_long))).from_buffer_copy(data))
            if format_ == 32
            else []
        )

    def set_numbers(self, window: int, name: str, numbers: list[int]) -> None:
        """Set a property of a window that is a list of numbers."""
        data = (c_ulong * len(numbers))(*numbers)
        self._x.XChangeProperty(
            *(self._display, window, self.intern(name), _CARDINAL, 32, _REPLACE), data, len(numbers)
        )
