"""A small process beside the one that uses mouse and keyboard.

It lets go of every key and button when that process ends, however it ends, and interrupts it when the person
presses escape twice. It is started as a script, with the number of that process.
"""

from __future__ import annotations

import os
import select
import sys
import time
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[3])

from oi_tui.computer import bridge
from oi_tui.computer.desktop.base import Desktop
from oi_tui.computer.desktop.session import interrupt, open_desktop

#: How often the keyboard is looked at, in seconds.
_INTERVAL = 0.01
#: The longest time between two presses of escape that belong together.
_TWICE = 0.6


class Guard:
    """Knows what is held down. `process` is the one that holds it."""

    def __init__(self, desktop: Desktop, process: int) -> None:
        self._desktop = desktop
        self._process = process
        self._held: dict[tuple[str, int], None] = {}
        self._down = False
        self._pressed = -_TWICE
        self._own_escape = 0.0
        self._escape = desktop.key_code("Escape")[0]

    def serve(self, source: int) -> None:
        """Read what is pressed and released until the other process ends."""
        rest = b""
        while True:
            ready, _, _ = select.select([source], [], [], _INTERVAL)
            if ready:
                data = os.read(source, 4096)
                if not data:
                    break
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    self._note(line.decode())
            self._look()
        self.release()

    def release(self) -> None:
        """Let go of everything."""
        for kind, number in list(self._held):
            (self._desktop.button if kind == "button" else self._desktop.key)(number, False)
        self._held.clear()

    def _note(self, line: str) -> None:
        kind, number, state = line.split()
        key = kind, int(number)
        if key == ("key", self._escape):
            self._own_escape = time.monotonic()
        if state == "down":
            self._held[key] = None
        else:
            self._held.pop(key, None)

    def _look(self) -> None:
        """Interrupt when the person, not the code, pressed escape twice."""
        down, before = self._desktop.escape_is_down(), self._down
        self._down = down
        now = time.monotonic()
        if not down or before or now - self._own_escape < _TWICE:
            return
        if now - self._pressed <= _TWICE:
            self.release()
            # oi-tui stops the whole turn; without it only the code can be interrupted.
            if not bridge.stop():
                interrupt(self._process)
            self._pressed = -_TWICE
        else:
            self._pressed = now


def main() -> None:
    """Guard the process whose number is the argument."""
    guard = Guard(open_desktop(), int(sys.argv[1]))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    guard.serve(0)


if __name__ == "__main__":
    main()
