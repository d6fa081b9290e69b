"""The desktop of a Wayland compositor with wlroots' protocols, such as sway, labwc, river and Hyprland.

It speaks the protocol itself, so nothing is to be installed in whichever interpreter the cells run. Programs
such as wtype and grim use the same protocols, but cannot hold a button or notice a hand.
"""

from __future__ import annotations

import threading

from oi_tui.computer.desktop.base import UNKNOWN_PLACE, Region, Window
from oi_tui.computer.desktop.screenshot import Screenshot
from oi_tui.computer.desktop.wayland.activity import SeatActivity
from oi_tui.computer.desktop.wayland.devices import Keys, Pointer
from oi_tui.computer.desktop.wayland.screen import Screen
from oi_tui.computer.desktop.wayland.toplevels import Toplevels
from oi_tui.computer.desktop.wayland.wire import WaylandConnection
from oi_tui.computer.errors import ComputerError

_NO_POSITION = (
    "Where the pointer is cannot be asked for on Wayland, and the user may have moved it. Give a point "
    "first: computer.mouse.move(x, y)."
)


class Wayland:
    """The desktop of the variable WAYLAND_DISPLAY."""

    #: The compositor tells no program where windows are, or the password fields in them.
    knows_places = False
    notices_input = True

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._wire = WaylandConnection()
        try:
            self._open()
        except ComputerError:
            self.close()
            raise
        #: Where the code put the pointer; None where it may be elsewhere.
        self._place: tuple[int, int] | None = None

    def _open(self) -> None:
        wire = self._wire
        seat = wire.require("wl_seat", 1)
        self._activity = SeatActivity(wire, seat)
        self._screen = Screen(wire)
        self._toplevels = Toplevels(wire, seat)
        self._pointer = Pointer(wire, seat)
        self._keys = Keys(wire, seat)
        wire.roundtrip()

    @property
    def is_closed(self) -> bool:
        """Whether the connection to the compositor is closed."""
        return self._wire.is_closed

    def close(self) -> None:
        """Disconnect from the compositor, which then releases the keys of this keyboard."""
        self._wire.close()

    def size(self) -> tuple[int, int]:
        """Return the size of the whole screen."""
        with self._lock:
            return self._screen.size()

    def monitors(self) -> list[Region]:
        """Return where each monitor lies."""
        with self._lock:
            return self._screen.monitors()

    def capture(self, region: Region) -> Screenshot:
        """Take a screenshot of a part of the screen."""
        with self._lock:
            return self._screen.capture(region)

    def position(self) -> tuple[int, int]:
        """Return where the code put the pointer. Raises ComputerError where it may be elsewhere."""
        if self._place is None:
            raise ComputerError(_NO_POSITION)
        return self._place

    def move(self, x: int, y: int) -> None:
        """Put the pointer somewhere."""
        with self._lock, self._activity.expect_own_input():
            self._pointer.move(int(x), int(y), self.size())
            self._place = int(x), int(y)

    def button(self, number: int, down: bool) -> None:
        """Press or release a button, or turn the wheel by one step."""
        with self._lock, self._activity.expect_own_input():
            self._pointer.button(number, down)

    def key_code(self, name: str) -> tuple[int, bool]:
        """Return the number of a key, and whether shift is needed; a character on no key gets one."""
        with self._lock:
            return self._keys.find(name)

    def require_characters(self, text: str) -> None:
        """Nothing to see to: windows are told of another meaning of a key in the order of the keys."""

    def key(self, code: int, down: bool) -> None:
        """Press or release a key."""
        with self._lock, self._activity.expect_own_input():
            self._keys.key(code, down)

    def set_layout(self, number: int) -> int:
        """Do nothing: the layouts of the person are on another keyboard."""
        return 0

    def set_caps_lock(self, on: bool) -> bool:
        """Do nothing: that of the person is one of another keyboard."""
        return False

    def release_leftovers(self) -> None:
        """Release nothing: the compositor does when a program ends."""

    def escape_is_down(self) -> bool:
        """Return False: not known on Wayland, where any key counts as taking over."""
        return False

    def wait_for_rest(self) -> None:
        """Wait until mouse and keyboard are unused, and watch them from then on."""
        with self._lock:
            if self._activity.is_touched(wait=False):
                self._place = None
            self._activity.wait_for_rest()

    def forget_input(self) -> None:
        """Notice only what happens from now on."""
        with self._lock:
            self._activity.forget()

    def is_touched(self, *, wait: bool) -> bool:
        """Return whether a person used mouse or keyboard since."""
        with self._lock:
            return self._activity.is_touched(wait=wait)

    def windows(self) -> list[Window]:
        """Return the windows; where each of them is on the screen is not known."""
        with self._lock:
            toplevels = self._toplevels.read()
        return [
            Window(item.object, item.title, UNKNOWN_PLACE, item.active, hidden=item.minimized)
            for item in toplevels
        ]

    def window_at(self, x: int, y: int) -> int | None:
        """Return None: not known on Wayland."""
        return None

    def activate(self, window: Window) -> None:
        """Bring a window to the front."""
        with self._lock:
            self._toplevels.activate(window.id)
