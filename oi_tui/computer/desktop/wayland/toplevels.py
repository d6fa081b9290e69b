"""The windows: their titles, and which of them is active."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from oi_tui.computer.desktop.wayland.wire import Event, WaylandConnection

_MINIMIZED, _ACTIVATED = 1, 2
#: Events of a window, and the request that brings it to the front.
_TITLE, _STATE, _CLOSED = 0, 4, 6
_UNSET_MINIMIZED, _ACTIVATE = 3, 4


@dataclass
class Toplevel:
    """A window."""

    object: int
    title: str = ""
    active: bool = False
    minimized: bool = False


class Toplevels:
    """The windows that there are."""

    def __init__(self, wire: WaylandConnection, seat: int) -> None:
        self._wire, self._seat = wire, seat
        self._all: dict[int, Toplevel] = {}
        wire.require("zwlr_foreign_toplevel_manager_v1", 1, self._on_new)
        wire.roundtrip()
        wire.roundtrip()

    def _on_new(self, code: int, event: Event) -> None:
        if code != 0:
            return
        window = Toplevel(event.unsigned())
        self._all[window.object] = window

        def on_window(code: int, event: Event) -> None:
            if code == _TITLE:
                window.title = event.text()
            elif code == _STATE:
                data = event.array()
                states = struct.unpack(f"={len(data) // 4}I", data)
                window.active, window.minimized = _ACTIVATED in states, _MINIMIZED in states
            elif code == _CLOSED:
                self._all.pop(window.object, None)

        self._wire.adopt(window.object, on_window)

    def read(self) -> list[Toplevel]:
        """Return all windows as they are now."""
        self._wire.roundtrip()
        return list(self._all.values())

    def activate(self, number: int) -> None:
        """Bring a window to the front, if it is still there."""
        if number in self._all:
            if self._all[number].minimized:
                # Not every compositor shows a minimised window that is activated.
                self._wire.request(number, _UNSET_MINIMIZED)
            self._wire.request(number, _ACTIVATE, self._seat)
            self._wire.roundtrip()
