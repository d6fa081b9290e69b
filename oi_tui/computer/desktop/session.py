"""The desktop at work: which driver there is, what is held down, and who has the mouse."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

from oi_tui.computer import cells
from oi_tui.computer.desktop.base import Desktop
from oi_tui.computer.desktop.x11 import X11
from oi_tui.computer.errors import ComputerError, Paused

_NO_DISPLAY = (
    "There is no desktop to use: the variable DISPLAY is not set. Start oi-tui in a graphical session, or on "
    "a virtual screen: xvfb-run oi-tui."
)
_MAC = "Screen, mouse and keyboard of macOS are not supported yet; files, mail, calendar and contacts are."
_MOVED = (
    "The user moved the mouse, so this code was stopped and nothing is held down. Ask the user before you go "
    "on with mouse and keyboard."
)
#: How far the pointer may be from where it was put: programs may move it by a pixel at an edge.
_NEAR = 2


class Session:
    """A desktop, with a guard process that lets go of everything when this process ends."""

    def __init__(self, desktop: Desktop) -> None:
        self.desktop = desktop
        self._held: dict[tuple[str, int], None] = {}
        self._put: tuple[int, tuple[int, int]] | None = None
        self._guard: subprocess.Popen[bytes] | None = None
        self._lock = threading.RLock()
        cells.when_stopped(self.release)

    def move(self, x: int, y: int) -> None:
        """Put the pointer somewhere. Raises Paused when the person moves the mouse."""
        self.check()
        self._watch()
        self.desktop.move(x, y)
        self._put = cells.number(), self.desktop.position()

    def button(self, number: int, down: bool) -> None:
        """Press or release a button."""
        self.check()
        self._change("button", number, down)

    def key(self, code: int, down: bool) -> None:
        """Press or release a key."""
        self.check()
        self._change("key", code, down)

    def check(self) -> None:
        """Raise Paused when the pointer is not where this cell put it."""
        if self._put is None or self._put[0] != cells.number():
            self._put = None
            return
        (x, y), (now_x, now_y) = self._put[1], self.desktop.position()
        if abs(x - now_x) > _NEAR or abs(y - now_y) > _NEAR:
            self._put = None
            self.release()
            raise Paused(_MOVED)

    def release(self) -> None:
        """Let go of every key and button that is held down."""
        with self._lock:
            for kind, number in reversed(list(self._held)):
                self._change(kind, number, down=False)

    def _change(self, kind: str, number: int, down: bool) -> None:
        guard = self._watch()
        # The guard knows before it happens, and forgets only after it is over.
        with self._lock:
            if down:
                self._held[kind, number] = None
                _tell(guard, kind, number, down=True)
            act = self.desktop.button if kind == "button" else self.desktop.key
            act(number, down)
            if not down:
                self._held.pop((kind, number), None)
                _tell(guard, kind, number, down=False)

    def _watch(self) -> IO[bytes]:
        with self._lock:
            if self._guard is None or self._guard.poll() is not None:
                self._guard = _start_guard()
            pipe = self._guard.stdin
            if pipe is None:
                raise ComputerError("The guard of mouse and keyboard could not be started.")
            return pipe


def _start_guard() -> subprocess.Popen[bytes]:
    script = Path(__file__).with_name("guard.py")
    guard = subprocess.Popen(
        [sys.executable, str(script), str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    # Nothing is pressed before somebody is there to let go of it.
    if guard.stdout is None or guard.stdout.readline() != b"ready\n":
        guard.kill()
        raise ComputerError("The guard of mouse and keyboard could not be started.")
    return guard


def _tell(guard: IO[bytes], kind: str, number: int, down: bool) -> None:
    try:
        guard.write(f"{kind} {number} {'down' if down else 'up'}\n".encode())
        guard.flush()
    except OSError:
        raise ComputerError("The guard of mouse and keyboard ended, so nothing is pressed.") from None


def open_desktop() -> Desktop:
    """Return the desktop of this machine. Raises ComputerError that says what is missing."""
    if sys.platform == "darwin":
        raise ComputerError(_MAC)
    if not os.environ.get("DISPLAY"):
        raise ComputerError(_NO_DISPLAY)
    return X11()


_sessions: dict[tuple[int, str], Session] = {}


def session() -> Session:
    """The desktop of the variable DISPLAY, opened at the first use; a forked process opens its own."""
    key = os.getpid(), os.environ.get("DISPLAY", "")
    if key not in _sessions:
        _sessions[key] = Session(open_desktop())
    return _sessions[key]


def interrupt(process: int) -> None:
    """Interrupt a process as ctrl+c does."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process, signal.SIGINT)
