"""A terminal program on a screen of its own, with oi-tui in it: keys, mouse and clipboard as a person's."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from oi_tui.computer.desktop.base import UNKNOWN_PLACE, Region
from oi_tui.computer.desktop.screenshot import Screenshot
from tests.real_terminals.seats import Seat
from tests.terminal import ROOT, EmulatedScreen

COLUMNS, ROWS = 100, 30
#: How long anything may take, in seconds.
TIMEOUT = 25.0
_RELAY = Path(__file__).with_name("relay.py")


#: What the terminal that starts this says of itself.
_OWN = ("WAYLAND_DISPLAY", "TERM", "COLORTERM", "TERM_PROGRAM", "STY", "DBUS_SESSION_BUS_ADDRESS")


class NotSeenError(Exception):
    """What was waited for did not come."""


class RealTerminal:
    """A terminal that shows oi-tui with the demo model."""

    def __init__(self, seat: Seat, command: str, end: str = "") -> None:
        """`command` starts the terminal; `{words}`, `{line}` and `{folder}` in it are filled in here."""
        self._home = tempfile.TemporaryDirectory()
        self.folder = Path(self._home.name)
        self._seat = seat
        self.desktop = seat.desktop
        self._end = end.split()
        self._emulator = EmulatedScreen(COLUMNS, ROWS)
        self._fed = 0
        self._write_files()
        words = [sys.executable, str(_RELAY), str(self.folder), str(self.folder / "start")]
        argv = [part for word in command.split() for part in (words if word == "{words}" else [word])]
        argv = [
            word.replace("{line}", " ".join(words)).replace("{folder}", str(self.folder)) for word in argv
        ]
        self._env = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("TMUX", "OI_TUI", "XDG_")) and name not in _OWN
        }
        self._env |= {"LIBGL_ALWAYS_SOFTWARE": "1", "HOME": str(self.folder), **seat.variables}
        before = {window.id for window in self.desktop.windows()}
        with (self.folder / "terminal.log").open("wb") as log:
            self._process = subprocess.Popen(
                argv, env=self._env, cwd=self.folder, stdout=log, stderr=log, start_new_session=True
            )
        self.until(lambda: any(window.id not in before for window in self.desktop.windows()), "the window")
        self.window = next(window for window in self.desktop.windows() if window.id not in before)

    def _write_files(self) -> None:
        """Write how the program starts: as over ssh, where a copy must go through the terminal."""
        work = self.folder / "work"
        work.mkdir()
        start = self.folder / "start"
        start.write_text(
            "#!/bin/sh\nunset DISPLAY WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS\n"
            f"cd {work}\nexport PYTHONPATH={ROOT} OI_TUI_HOME={self.folder}/home\n"
            f"exec {sys.executable} -m oi_tui --demo\n"
        )
        start.chmod(0o755)
        (self.folder / "tmux.conf").write_text(
            "set -g allow-passthrough on\nset -g focus-events on\nset -s set-clipboard on\n"
            "set -s escape-time 10\nset -g mouse on\nset -g status off\n"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._end:
            subprocess.run(self._end, env=self._env, check=False, capture_output=True)
        with_group = os.getpgid(self._process.pid)
        os.killpg(with_group, signal.SIGTERM)
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(with_group, signal.SIGKILL)
            self._process.wait()
        self._home.cleanup()

    # What is seen

    @property
    def screen(self) -> str:
        """What the program has drawn."""
        columns, rows = self.size
        shown = self._emulator.screen
        if (shown.columns, shown.lines) != (columns, rows):
            shown.resize(rows, columns)
        written = self.to_terminal
        self._emulator.feed(written[self._fed :])
        self._fed = len(written)
        return "\n".join(self._emulator.lines)

    @property
    def size(self) -> tuple[int, int]:
        """The columns and rows that the terminal has."""
        numbers = self._read("size").split()
        return (int(numbers[0]), int(numbers[1])) if len(numbers) == 4 else (COLUMNS, ROWS)

    @property
    def to_terminal(self) -> bytes:
        """All that the program wrote."""
        return self._read("to_terminal")

    @property
    def from_terminal(self) -> bytes:
        """All that the terminal sent."""
        return self._read("from_terminal")

    @property
    def widths(self) -> dict[str, int]:
        """By how many columns the terminal moved its cursor for each character."""
        return dict(json.loads(self._read("widths") or b"{}"))

    def _read(self, name: str) -> bytes:
        path = self.folder / name
        return path.read_bytes() if path.exists() else b""

    def until(self, condition: Callable[[], object], what: str, timeout: float = TIMEOUT) -> None:
        """Wait until something is so."""
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end:
                raise NotSeenError(what)
            time.sleep(0.05)

    def becomes(self, condition: Callable[[], object], timeout: float) -> bool:
        """Wait until something is so; whether it came."""
        try:
            self.until(condition, "", timeout)
        except NotSeenError:
            return False
        return True

    def has(self, text: str, timeout: float) -> bool:
        """Whether the program shows a text in time."""
        return self.becomes(lambda: text in self.screen, timeout)

    def has_match(self, pattern: str, timeout: float) -> bool:
        """Whether the program shows a match in time."""
        return self.becomes(lambda: re.search(pattern, self.screen), timeout)

    def has_input(self, pattern: bytes, timeout: float, start: int = 0) -> bool:
        """Whether the terminal sends a match in time, after so many bytes."""
        return self.becomes(lambda: re.search(pattern, self.from_terminal[start:]), timeout)

    def settle(self) -> None:
        """Wait until the program has written nothing for a while."""
        end = time.monotonic() + TIMEOUT
        size = -1
        while size != (size := len(self.to_terminal)) and time.monotonic() < end:
            time.sleep(0.6)

    def wait_for(self, text: str, timeout: float = TIMEOUT) -> None:
        """Wait until the program shows a text."""
        self.until(lambda: text in self.screen, text, timeout)

    def wait_gone(self, text: str) -> None:
        """Wait until it no longer shows it."""
        self.until(lambda: text not in self.screen, f"no more {text}")

    def shot(self) -> Screenshot:
        """The window as it looks."""
        # The program has drawn; the terminal shows it a moment later.
        self.settle()
        return self.desktop.capture(self._region)

    @property
    def _region(self) -> Region:
        place = next(item.region for item in self.desktop.windows() if item.id == self.window.id)
        # A compositor that does not say where windows are gives the only one all of the screen.
        return place if place != UNKNOWN_PLACE else Region(0, 0, *self.desktop.size())

    # What is done

    def press(self, *keys: str) -> None:
        """Press keys by the names of X11, such as `ctrl+Left`."""
        self._seat.press(keys)

    def type(self, text: str) -> None:
        """Type a text."""
        self._seat.type(text)

    def focus(self) -> None:
        """Give the window the keyboard."""
        self.desktop.activate(self.window)

    @contextmanager
    def another_window(self) -> Iterator[None]:
        """Open another window that has the keyboard."""
        before = {window.id for window in self.desktop.windows()}
        other = subprocess.Popen([*self._seat.terminal, "sleep", "60"], env=self._env)
        try:
            self.until(lambda: any(one.id not in before for one in self.desktop.windows()), "a window")
            self.desktop.activate(next(one for one in self.desktop.windows() if one.id not in before))
            yield
        finally:
            other.terminate()
            other.wait()

    def point_at(self, text: str) -> None:
        """Move the mouse to a text that the program shows."""
        self.until(lambda: text in self.screen, text)
        lines = self.screen.split("\n")
        row = next(index for index, line in enumerate(lines) if text in line)
        self._point(lines[row].index(text) + 1, row)

    def _point(self, column: int, row: int) -> None:
        # Bars of the window are above the text, so rows are counted from its lower edge.
        region = self._region
        numbers = [int(number) for number in self._read("size").split()]
        columns, rows = self.size
        wide, high = numbers[2] / columns, numbers[3] / rows
        if not high:
            wide, high = region.width / columns, min(region.height / rows, region.width / columns * 2.3)
        x = region.x + int((column + 0.5) * wide)
        self.desktop.move(x, int(region.y + region.height - (rows - row - 0.5) * high))

    def click(self, button: int = 1) -> None:
        """Press and release a button; 4 and 5 turn the wheel."""
        self.desktop.button(button, True)
        self.desktop.button(button, False)

    def put_into_clipboard(self, text: str, selection: str = "clipboard") -> None:
        """Let other programs paste a text."""
        self._seat.put_into_clipboard(text, selection)

    @property
    def clipboard(self) -> str:
        """What other programs would paste."""
        return self._seat.read_clipboard()
