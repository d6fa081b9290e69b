"""The desktop in use: its driver, the keys and buttons held down, and who controls the mouse."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

from oi_tui.computer import bridge, cells
from oi_tui.computer.bridge import GuardPipes
from oi_tui.computer.desktop import limits as confining
from oi_tui.computer.desktop import masking
from oi_tui.computer.desktop.action_log import ActionLog
from oi_tui.computer.desktop.base import Desktop, Region, Window
from oi_tui.computer.desktop.limits import ActionLimits
from oi_tui.computer.desktop.screenshot import Screenshot
from oi_tui.computer.desktop.wayland.driver import Wayland
from oi_tui.computer.desktop.x11.desktop import X11
from oi_tui.computer.errors import ComputerError, Paused

_NO_DISPLAY = (
    "There is no desktop to use: neither DISPLAY nor WAYLAND_DISPLAY is set. Start oi-tui in a graphical "
    "session, or on a virtual screen: xvfb-run oi-tui."
)
_MAC = "Screen, mouse and keyboard of macOS are not supported yet; files, mail, calendar and contacts are."
_MOVED = (
    "The user moved the mouse, so this code was stopped and nothing is held down. Ask the user before you go "
    "on with mouse and keyboard."
)
_TOUCHED = (
    "The user used mouse or keyboard, so this code was stopped and nothing is held down. Ask the user before "
    "you go on with mouse and keyboard."
)
_LET_GO_ON = (
    "The user took the mouse, and then let you go on. Nothing is held down, and other windows may be in "
    "front: look at the screen, then do what is missing."
)
_NO_GUARD = (
    "Nothing is pressed, because the process that releases keys and buttons after a failure does not run."
)
#: What the guard says when it stops code because of the person's mouse or keyboard.
TAKEN_OVER = b"taken over\n"
#: How far the pointer may be from where it was put: programs may move it by a pixel at an edge.
_NEAR = 2
#: How long the pointer may take to get where it is put.
_ARRIVAL_SECONDS = 0.1
#: How long it may take there once it moves.
_SETTLING_SECONDS = 0.005


#: Takes a screenshot of a part of the screen; None where it may show passwords.
Capture = Callable[[Region], "Screenshot | None"]


class DesktopSession:
    """A desktop, with a guard process that releases keys and buttons when this process ends."""

    def __init__(self, desktop: Desktop, capture: Capture | None = None) -> None:
        self.desktop = desktop
        #: What the cell did so far.
        self.log = ActionLog(desktop, capture or (lambda _: None))
        self._held: dict[tuple[str, int], None] = {}
        #: The cell that uses mouse and keyboard, and where the pointer was put or found by it.
        self._cell: int | None = None
        self._put = 0, 0
        #: How often the person took over before this cell.
        self._takeovers = 0
        #: What this cell is confined to; None where it is not.
        self._limits: ActionLimits | None = None
        #: The window that oi-tui was told last that this cell acts in.
        self._acted: tuple[int | None, int] | None = None
        #: Whether it was printed why this cell is stopped.
        self._explained = False
        self._guard: GuardPipes | None = None
        self._lock = threading.RLock()
        desktop.release_leftovers()
        cells.when_stopped(self._stop)
        cells.when_ended(self._release_control)
        cells.when_ended(self.log.show)

    def move(self, x: int, y: int) -> None:
        """Put the pointer somewhere. Raises Paused when the person moves the mouse."""
        self.check()
        if self._limits:
            self._limits.require("clicks", self._window_at(x, y))
        # The guard must not take this movement for one of the person.
        self._send_to_guard("unwatched", 0, 0)
        place = self._move_pointer(x, y)
        if not is_near(place, (x, y)) and not is_near(place, self._move_pointer(x, y)):
            # Where the pointer is confined, it gets to the same place again. This was a hand.
            self._hand_back()
        self._put = place
        self._have_watched()

    def _move_pointer(self, x: int, y: int) -> tuple[int, int]:
        """Put the pointer somewhere; return where it is then: the server may take a moment, or confine it."""
        if self.desktop.notices_input:
            self.desktop.move(x, y)
            return x, y
        before, start = self.desktop.position(), time.monotonic()
        self.desktop.move(x, y)
        while (position := self.desktop.position()) != (x, y):
            seconds = time.monotonic() - start
            if seconds > _ARRIVAL_SECONDS or (position != before and seconds > _SETTLING_SECONDS):
                break
            time.sleep(0.001)
        return position

    def button(self, number: int, down: bool) -> None:
        """Press or release a button."""
        self.check()
        if down:
            self._note_window("clicks", self._window_at(*self.desktop.position()))
        self._change("button", number, down)

    def key(self, code: int, down: bool) -> None:
        """Press or release a key."""
        self.check()
        if down:
            self._note_window("types", self._active())
        self._change("key", code, down)

    @contextlib.contextmanager
    def plain_keyboard(self, *, caps_lock: bool = False) -> Iterator[None]:
        """Use the first layout of the keyboard, and no caps lock unless `caps_lock`. Raises Paused.

        Both are again as the person had them at the end.
        """
        self.check()
        layout = self.desktop.set_layout(0)
        was_locked = not caps_lock and self.desktop.set_caps_lock(False)
        try:
            yield
        finally:
            with contextlib.suppress(ComputerError):
                if was_locked:
                    self.desktop.set_caps_lock(True)
                if layout:
                    self.desktop.set_layout(layout)

    def check(self) -> None:
        """Raise Paused when the person took over: the pointer is not where this cell put or found it."""
        takeovers, limits = bridge.proceed() if cells.are_counted() else (0, None)
        self._limits = confining.parse(limits)
        if self._cell != cells.read_number():
            self._takeovers = takeovers
            self._begin_control()
        elif takeovers != self._takeovers or self._has_moved():
            self._hand_back(asked=takeovers != self._takeovers)

    def limits(self) -> ActionLimits | None:
        """Return what the running code is confined to; None where it is not."""
        return confining.parse(bridge.read_confinement()) if cells.are_counted() else None

    def require_window(self, window: Window) -> None:
        """Raise ComputerError where running code may not bring this window to the front."""
        if limits := self.limits():
            limits.require(None, window)

    def require_key(self, symbol: str) -> None:
        """Raise ComputerError for a key that running code may not press."""
        if confining.is_wide(symbol) and (limits := self.limits()):
            limits.require_key(symbol)

    def _window_at(self, x: int, y: int) -> Window | None:
        if not cells.are_counted():
            return None
        number = self.desktop.window_at(x, y)
        return next((window for window in self.desktop.windows() if window.id == number), None)

    def _active(self) -> Window | None:
        if not cells.are_counted():
            return None
        return next((window for window in self.desktop.windows() if window.active), None)

    def _note_window(self, kind: str, window: Window | None) -> None:
        """Raise ComputerError where the action is not granted; else tell oi-tui in which window it is."""
        if self._limits:
            self._limits.require(kind, window)
        # Where places are not known, a grant for one window could not be kept to it.
        if window and self.desktop.knows_places and self._acted != (self._cell, window.id):
            self._acted = self._cell, window.id
            bridge.note_window(window.id, window.title, window.process)

    def _hand_back(self, *, asked: bool = False) -> NoReturn:
        """Leave mouse and keyboard to the person, who is `asked` already whether this code may go on."""
        if asked or bridge.pause():
            self.release()
            bridge.proceed()
            self._release_control()
            raise Paused(_LET_GO_ON)
        # The guard may interrupt this code at any place from here on.
        self.release()
        self._explain_stop()
        with contextlib.suppress(ComputerError):
            self._send_to_guard("unwatched", 0, 0)
        bridge.stop()
        self._release_control()
        raise Paused(self._choose_reason())

    def _choose_reason(self) -> str:
        return _TOUCHED if self.desktop.notices_input else _MOVED

    def _begin_control(self) -> None:
        """Begin to use mouse and keyboard in this cell: from now on a movement by hand stops it."""
        self.desktop.wait_for_rest()
        self._cell = cells.read_number()
        if not self.desktop.notices_input:
            self._put = self.desktop.position()
        self._explained = False
        self._was_taken_over()  # what it said to earlier cells is out of date
        self._have_watched()
        bridge.say_control(True)
        self.log.begin()

    def _release_control(self) -> None:
        """Leave mouse and keyboard to the person, because the cell ended."""
        if self._cell is None:
            return
        self._cell = None
        if self._guard:
            with contextlib.suppress(ComputerError):
                self._send_to_guard("unwatched", 0, 0)
        bridge.say_control(False)

    def _stop(self) -> None:
        """Release keys and buttons after a failed or interrupted cell; say so if the mouse was moved."""
        with contextlib.suppress(ComputerError, OSError, ValueError):
            if self._cell is not None and (self._was_taken_over() or self._has_moved()):
                self._explain_stop()
        self.release()

    def _was_taken_over(self) -> bool:
        """Return whether the guard has stopped this code because of mouse or keyboard.

        They may be at rest again.
        """
        with self._lock:
            return self._guard is not None and TAKEN_OVER in self._guard.read_news()

    def _explain_stop(self) -> None:
        if not self._explained:
            # The interrupt may come at this moment: rather twice than never.
            print(self._choose_reason(), flush=True)
            self._explained = True

    def _has_moved(self) -> bool:
        if self.desktop.notices_input:
            return self.desktop.is_touched(wait=True)
        return not is_near(self._put, self.desktop.position())

    def _have_watched(self) -> None:
        """Have the guard stop the code when the pointer leaves its place; outside of oi-tui no cell ends."""
        if cells.are_counted():
            self._send_to_guard("pointer", *self._put)

    def release(self) -> None:
        """Release every key and button that is held down."""
        with self._lock:
            try:
                for kind, number in reversed(list(self._held)):
                    self._change(kind, number, down=False)
            except ComputerError:
                if not self.desktop.is_closed:
                    raise
                self._held.clear()
                if self._guard:
                    # It has a connection of its own, and lets go of everything where the screen only hung.
                    self._guard.close()
                    self._guard = None

    def _change(self, kind: str, number: int, down: bool) -> None:
        # The guard knows before it happens, and forgets only after it is over.
        with self._lock:
            if down:
                self._held[kind, number] = None
                self._send_to_guard(kind, number, "down")
            elif self.desktop.notices_input:
                self._send_to_guard("unwatched", 0, 0)
            act = self.desktop.button if kind == "button" else self.desktop.key
            act(number, down)
            if not down:
                self._held.pop((kind, number), None)
                self._send_to_guard(kind, number, "up")
            if self.desktop.notices_input and self._cell is not None:
                # The guard does not tell this input from that of a hand, until it is over.
                self._have_watched()

    def _watch(self) -> GuardPipes:
        with self._lock:
            if self._guard is None:
                # Nothing is pressed before somebody is there to let go of it.
                self._guard = bridge.guard() or _start_guard()
            return self._guard

    def _send_to_guard(self, kind: str, number: int, more: str | int) -> None:
        try:
            with self._lock:
                self._watch().send(f"{kind} {number} {more}")
        except OSError:
            self._guard = None
            raise ComputerError(_NO_GUARD) from None


def is_near(place: tuple[int, int], other: tuple[int, int]) -> bool:
    """Return whether two places of the pointer are the same, but for what programs may move it."""
    return abs(place[0] - other[0]) <= _NEAR and abs(place[1] - other[1]) <= _NEAR


def _start_guard() -> GuardPipes:
    """Start a guard of our own, where no oi-tui does that."""
    script = Path(__file__).with_name("guard.py")
    guard = subprocess.Popen(
        [sys.executable, str(script), str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        bufsize=0,
    )
    _started.append(guard)
    if guard.stdin is None or guard.stdout is None or guard.stdout.readline() != b"ready\n":
        guard.kill()
        raise ComputerError(_NO_GUARD)
    return GuardPipes(guard.stdin, guard.stdout)


def open_desktop(*, patient: bool = False) -> Desktop:
    """Return the desktop of this machine. Raises ComputerError that says what is missing.

    With `patient`, an X server that hangs is waited for.
    """
    if sys.platform == "darwin":
        raise ComputerError(_MAC)
    display, wayland = os.environ.get("DISPLAY"), os.environ.get("WAYLAND_DISPLAY")
    if not (display or wayland):
        raise ComputerError(_NO_DISPLAY)
    x11 = (X11(timeout=None) if patient else X11()) if display else None
    # A screen of its own may be meant in a Wayland session too, such as that of xvfb-run.
    if x11 and not (wayland and x11.is_xwayland()):
        return x11
    return Wayland()


#: They end with this process, which need not wait for them.
_started: list[subprocess.Popen[bytes]] = []
_sessions: dict[tuple[int, str, str], DesktopSession] = {}


def open_session() -> DesktopSession:
    """Return the desktop that the environment names, opened at the first use;
    a forked process opens its own.
    """
    key = os.getpid(), os.environ.get("DISPLAY", ""), os.environ.get("WAYLAND_DISPLAY", "")
    if key not in _sessions or _sessions[key].desktop.is_closed:
        desktop = open_desktop()
        _sessions[key] = DesktopSession(desktop, lambda region: masking.capture(desktop, region, ask=False))
    return _sessions[key]


def interrupt(process: int) -> None:
    """Interrupt a process as ctrl+c does."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process, signal.SIGINT)
