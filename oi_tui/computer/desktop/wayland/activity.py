"""Notices a person's use of mouse and keyboard, once the compositor has called the seat idle.

No program on Wayland may ask where the pointer is, or which keys are down. But it may ask to be told when
there was no input for a while, and when there is some again. Input of the code itself counts there too, so
it is announced here with `own_input`.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from oi_tui.computer.desktop.wayland.wire import Event, WaylandConnection
from oi_tui.computer.errors import ComputerError

_UNSETTLED = (
    "Nothing was done: it cannot be noticed now when the user takes over, because mouse or keyboard are in "
    "use, or a program (such as a video) keeps the screen from going idle. Try again later."
)
#: How long without input until the seat is idle.
_IDLE_MILLISECONDS = 20
#: How long it may take until it is, after input of the code, in seconds.
_OWN_INPUT = 0.2
#: How long to wait until mouse and keyboard are at rest, in seconds.
_TIMEOUT = 0.65
#: How long mouse and keyboard must be at rest before code uses them: a key may still be on its way up.
_REST = 0.15
#: Code that acts without a break waits so often, in seconds, until the seat is idle.
_INTERVAL = 0.25


class SeatActivity:
    """A person's use of the mouse and the keyboard of a seat."""

    def __init__(self, wire: WaylandConnection, seat: int) -> None:
        self._wire = wire
        self._idle = self._touched = self._is_own = False
        self._acted = self._was_idle = time.monotonic()
        # The idle state without inhibitors came with version 2.
        notifier = wire.version("ext_idle_notifier_v1")
        if notifier:
            request = 2 if notifier > 1 else 1
            object_ = wire.require("ext_idle_notifier_v1", 2)
            wire.request(object_, request, wire.new(self._on_event), _IDLE_MILLISECONDS, seat)
        elif wire.version("org_kde_kwin_idle"):
            object_ = wire.require("org_kde_kwin_idle", 1)
            wire.request(object_, 0, wire.new(self._on_event), seat, _IDLE_MILLISECONDS)
        else:
            wire.require("ext_idle_notifier_v1", 1)

    def _on_event(self, code: int, _: Event) -> None:
        # 0 is "idle", 1 is "there is input again".
        self._idle = code == 0
        if self._idle:
            self._was_idle = time.monotonic()
        elif not self._is_own:
            self._touched = True

    @contextlib.contextmanager
    def expect_own_input(self) -> Iterator[None]:
        """Take the input meanwhile for that of the code. The compositor has carried it out at the end."""
        self._wire.dispatch_all()
        self._is_own = True
        try:
            yield
            self._wire.roundtrip()
        finally:
            self._is_own = False
            self._acted = time.monotonic()

    def wait_for_rest(self) -> None:
        """Wait until nobody uses mouse and keyboard. Raises ComputerError where that takes too long."""
        end = time.monotonic() + _TIMEOUT
        self._wire.dispatch_all()
        while not (self._idle and time.monotonic() - self._was_idle >= _REST):
            if time.monotonic() > end:
                raise ComputerError(_UNSETTLED)
            self._wire.dispatch(0.01)
        self.forget()

    def forget(self) -> None:
        """Notice only what happens from now on."""
        self._wire.roundtrip()
        self._touched = False
        self._acted = self._was_idle = time.monotonic()

    def is_touched(self, *, wait: bool) -> bool:
        """Return whether a person used mouse or keyboard; with `wait`,
        the code may wait a moment to be sure.
        """
        self._wire.dispatch_all()
        now = time.monotonic()
        if wait and not self._idle and now - self._was_idle > _INTERVAL:
            while not (self._idle or self._touched) and time.monotonic() - self._acted < _OWN_INPUT:
                self._wire.dispatch(0.01)
        # The code's own input has ended by then, so the rest is the user's.
        if self._has_input_for_long():
            # On a busy system the compositor may not have come to its clock: once it answers, it looks there.
            self._wire.roundtrip()
            self._wire.roundtrip()
        endless = self._has_input_for_long()
        self._touched = self._touched or endless
        return self._touched

    def _has_input_for_long(self) -> bool:
        return not self._idle and time.monotonic() - self._acted >= _OWN_INPUT
