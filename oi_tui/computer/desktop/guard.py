"""A process that releases keys and buttons, and interrupts the one that uses mouse and keyboard.

It lets go of every key and button when that process ends, however it ends, and interrupts it when the person
presses escape twice or moves the mouse. It is started as a script, with the number of that process.

Each line that it reads is a kind with two values: `key 38 down`, `button 1 up`, `pointer 300 200` for the
place where the pointer must stay, and `unwatched 0 0` while it may move. Where input as such is noticed,
`pointer` says that the input of the code is over, and each other line that some is about to come.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import sys
import termios
import threading
import time
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[3])

from oi_tui.computer import bridge
from oi_tui.computer.desktop.base import Desktop
from oi_tui.computer.desktop.session import TAKEN_OVER, interrupt, is_near, open_desktop
from oi_tui.computer.errors import ComputerError

#: How often keyboard and pointer are looked at, in seconds.
_INTERVAL = 0.005
#: The longest time between two presses of escape that belong together.
_TWICE = 0.6
#: How long a screen that hangs is waited for after the process has ended, in seconds: with nothing to let go
#: of, and with something. What stays pressed then is released when a program uses the screen the next time.
_HUNG_SECONDS, _HUNG_AND_HELD_SECONDS = 2.0, 60.0


class InputGuard:
    """Knows what is held down. `process` is the one that holds it."""

    def __init__(self, desktop: Desktop, process: int) -> None:
        self._desktop = desktop
        self._process = process
        self._held: dict[tuple[str, int], None] = {}
        self._place: tuple[int, int] | None = None
        self._rest = b""
        self._down = False
        self._pressed = -_TWICE
        self._own_escape = 0.0
        self._escape = desktop.key_code("Escape")[0]

    def serve(self, source: int) -> None:
        """Read what is pressed and released until the other process ends."""
        with contextlib.suppress(EOFError):
            while True:
                # The code announces each movement before it moves. Without news, a pointer that is elsewhere
                # was moved by hand.
                if self._has_moved() and not self._read(source, 0):
                    self._stop(TAKEN_OVER)
                self._check_keys()
                self._read(source, _INTERVAL)
        self.release()

    def _read(self, source: int, seconds: float) -> bool:
        """Wait for a message, at most `seconds`; False when none came. Raises EOFError at the end."""
        ready, _, _ = select.select([source], [], [], seconds)
        if not ready:
            return False
        data = os.read(source, 4096)
        if not data:
            raise EOFError
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._handle_line(line.decode())
        return True

    def _has_moved(self) -> bool:
        if self._place is None:
            return False
        if self._desktop.notices_input:
            return self._desktop.is_touched(wait=False)
        return not is_near(self._place, self._desktop.position())

    def _stop(self, why: bytes = b"") -> None:
        """Release all keys and buttons and stop the code, which is interrupted and reads the reason here."""
        self._place = None
        self.release()
        # oi-tui asks the person, or stops the whole turn; without it only the code can be interrupted.
        if bridge.pause():
            return
        with contextlib.suppress(OSError):
            os.write(1, why)
        if not bridge.stop():
            interrupt(self._process)

    def release(self) -> None:
        """Release everything."""
        for kind, number in list(self._held):
            (self._desktop.button if kind == "button" else self._desktop.key)(number, False)
        self._held.clear()

    def end_with(self, source: int) -> None:
        """Wait until the other process ends, and then end this one, even if the screen hangs."""
        poll = select.poll()
        poll.register(source, getattr(select, "POLLRDHUP", 0))
        poll.poll()
        # A key that was announced but not read yet may still be pressed when the screen works again.
        unread = bytes(fcntl.ioctl(source, termios.FIONREAD, bytes(4))) != bytes(4)
        time.sleep(_HUNG_AND_HELD_SECONDS if self._held or unread else _HUNG_SECONDS)
        os._exit(1)

    def _handle_line(self, line: str) -> None:
        kind, number, state = line.split()
        if kind in ("pointer", "unwatched"):
            if kind == "pointer" and self._desktop.notices_input:
                self._desktop.forget_input()
            self._place = (int(number), int(state)) if kind == "pointer" else None
            return
        if self._desktop.notices_input:
            # Input of the code is about to come, until it says where the pointer is.
            self._place = None
        key = kind, int(number)
        if key == ("key", self._escape):
            self._own_escape = time.monotonic()
        if state == "down":
            self._held[key] = None
        else:
            self._held.pop(key, None)

    def _check_keys(self) -> None:
        """Interrupt when the person, not the code, pressed escape twice."""
        down, before = self._desktop.escape_is_down(), self._down
        self._down = down
        now = time.monotonic()
        if not down or before or now - self._own_escape < _TWICE:
            return
        if now - self._pressed <= _TWICE:
            self._stop()
            self._pressed = -_TWICE
        else:
            self._pressed = now


def main() -> None:
    """Guard the process whose number is the argument."""
    # What is held down on a screen that hangs is let go of once it answers.
    guard = InputGuard(open_desktop(patient=True), int(sys.argv[1]))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    threading.Thread(target=guard.end_with, args=(0,), daemon=True).start()
    # Where the display has closed, nothing is held down on it any more.
    with contextlib.suppress(ComputerError):
        guard.serve(0)


if __name__ == "__main__":
    main()
