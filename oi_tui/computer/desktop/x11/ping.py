"""Asks the program of a window whether it has taken all that was sent to it, as window managers do."""

from __future__ import annotations

import time
from collections.abc import Callable
from ctypes import byref

from oi_tui.computer.desktop.x11.connection import ClientMessage, X11Connection

_CLIENT_MESSAGE = 33
#: SubstructureNotify: an answer is sent to whoever looks after the windows of the screen.
_ANSWERS = 0x80000
_GLANCE = 0.003


class Ping:
    """Sends pings of `_NET_WM_PING`, which a program answers when it has received all that came before."""

    def __init__(self, connection: X11Connection, root: int, intern_atom: Callable[[str], int]) -> None:
        self._x, self._display = connection.x, connection.display
        self._root = root
        #: Differs in each ping; others count from the start of the machine.
        self._stamp = time.monotonic_ns() // 1_000_000 & 0x3FFFFFFF
        self._protocols, self._ping = intern_atom("WM_PROTOCOLS"), intern_atom("_NET_WM_PING")

    def is_understood(self, protocols: list[int]) -> bool:
        """Return whether a window with these protocols answers."""
        return self._ping in protocols

    def is_answered(self, window: int, seconds: float) -> bool:
        """Ask, and return whether there is an answer in time.

        Some programs, such as those of Tk, answer what they receive before they look at the keys that came
        with it. They receive nothing more until they have, so a second answer says that the keys were read.
        """
        end = time.monotonic() + seconds
        return all(self._ask(window, end) for _ in range(2))

    def _ask(self, window: int, end: float) -> bool:
        self._stamp = stamp = self._stamp + 1
        self._x.XSelectInput(self._display, self._root, _ANSWERS)
        try:
            self._send(window, stamp)
            while time.monotonic() < end:
                if self._has_come(stamp):
                    return True
                time.sleep(_GLANCE)
            return False
        finally:
            self._x.XSelectInput(self._display, self._root, 0)
            # Nobody reads what else came.
            self._x.XSync(self._display, 1)

    def _send(self, window: int, stamp: int) -> None:
        event = ClientMessage()
        event.type, event.window, event.format = _CLIENT_MESSAGE, window, 32
        event.message_type = self._protocols
        event.data[0], event.data[1], event.data[2] = self._ping, stamp, window
        self._x.XSendEvent(self._display, window, 0, 0, byref(event))
        self._x.XSync(self._display, 0)

    def _has_come(self, stamp: int) -> bool:
        event = ClientMessage()
        while self._x.XCheckTypedEvent(self._display, _CLIENT_MESSAGE, byref(event)):
            if (
                event.message_type == self._protocols
                and event.data[0] == self._ping
                and event.data[1] == stamp
            ):
                return True
        return False
