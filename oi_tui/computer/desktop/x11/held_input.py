"""The keys and buttons that programs hold down on an X11 screen: the server does not release them."""

from __future__ import annotations

import secrets
from ctypes import c_uint, c_ulong, c_void_p

from oi_tui.computer.desktop.x11.connection import X11Connection
from oi_tui.computer.desktop.x11.properties import Properties

#: The property of the screen with what programs hold down, and what a part of it stands for.
_HELD = "_OI_TUI_HELD"
KEY, BUTTON = 0, 1


class HeldInput:
    """Presses and releases keys and buttons, and keeps on the screen which ones are held.

    `hidden` is a window that is never shown: it goes with this program, also when it is killed. Whoever calls
    it holds the lock of the connection.
    """

    def __init__(self, connection: X11Connection, root: int, hidden: int, properties: Properties) -> None:
        self._x, self._test, self._display = connection.x, connection.test, connection.display
        self._root = root
        self._hidden = hidden
        self._properties = properties
        #: What tells the hidden window from a later one of the same number; 0 before anything was held.
        self._mark = 0

    def press(self, kind: int, number: int, down: bool) -> None:
        """Press or release a key or a button, by its kind and number."""
        self._note(kind, number, down)
        self._send(kind, number, down)

    def release_leftovers(self) -> None:
        """Release keys and buttons of programs that were killed while they held them: the server does not."""
        entries = self._list()
        leftovers = [item for item in entries if self._properties.read_numbers(item[0], _HELD) != [item[1]]]
        for _, _, kind, number in leftovers:
            self._send(kind, number, down=False)
        if leftovers:
            self._properties.set_numbers(
                self._root, _HELD, [value for item in entries if item not in leftovers for value in item]
            )

    def _send(self, kind: int, number: int, down: bool) -> None:
        fake = self._test.XTestFakeButtonEvent if kind == BUTTON else self._test.XTestFakeKeyEvent
        fake(c_void_p(self._display), c_uint(number), int(down), c_ulong(0))
        self._x.XSync(self._display, 0)

    def _note(self, kind: int, number: int, down: bool) -> None:
        """Keep on the screen what is held, each with a window that goes with the program that holds it.

        Numbers of windows are used again, so that the window has a number of its own.
        """
        if not self._mark:
            self._mark = secrets.randbits(31) | 1
            self._properties.set_numbers(self._hidden, _HELD, [self._mark])
        mine = self._hidden, self._mark, kind, number
        entries = [*(item for item in self._list() if item != mine), *[mine] * down]
        self._properties.set_numbers(self._root, _HELD, [value for item in entries for value in item])

    def _list(self) -> list[tuple[int, int, int, int]]:
        values = self._properties.read_numbers(self._root, _HELD)
        return list(zip(values[::4], values[1::4], values[2::4], values[3::4], strict=False))
