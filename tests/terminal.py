"""A terminal with the real program in it: what a person would see, and keys to press."""

import codecs
import copy
import fcntl
import os
import re
import select
import signal
import struct
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import pyte
from ptyprocess import PtyProcess

from tests import processes
from tests.quick_starts.program import QuickPrograms

ROOT = Path(__file__).parent.parent
#: How to start the program.
PROGRAM = (sys.executable, "-m", "oi_tui")

#: How often a predicate is asked again while the program writes nothing, in seconds.
_LOOK = 0.1

#: Keys by their names, as an xterm sends them.
KEYS = {
    "enter": "\r",
    "escape": "\x1b",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "space": " ",
    "backspace": "\x7f",
    "delete": "\x1b[3~",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "ctrl+home": "\x1b[1;5H",
    "ctrl+end": "\x1b[1;5F",
    "shift+end": "\x1b[1;2F",
    "shift+home": "\x1b[1;2H",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "f1": "\x1bOP",
    "f2": "\x1bOQ",
    "f3": "\x1bOR",
    "f4": "\x1bOS",
    "f5": "\x1b[15~",
    "f6": "\x1b[17~",
    "f8": "\x1b[19~",
    "ctrl+up": "\x1b[1;5A",
    "ctrl+down": "\x1b[1;5B",
    "shift+up": "\x1b[1;2A",
    "shift+down": "\x1b[1;2B",
    **{f"ctrl+{letter}": chr(ord(letter) - 96) for letter in "abcdefghijklmnopqrstuvwxyz"},
}

#: What the emulator would not understand, or what costs it much and shows nothing: strings for the terminal
#: (images, titles, hyperlinks), keyboard and colour requests, colours and styles.
_UNSEEN = re.compile(
    r"\x1b[P_^X].*?(?:\x1b\\|\x9c)"  # strings: device control, application, privacy
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # operating system commands
    r"|\x1b\[[<=>][0-9;:]*[ -/]*[@-~]"  # private sequences, as those of the kitty keyboard
    r"|\x1b\[\??[0-9;:]*[ -/]+[@-~]"  # requests such as CSI ? 2026 $ p
    r"|\x1b\[[0-9;:]*[mtu]"  # styles, window requests
    r"|\x1b[=>]",
    re.DOTALL,
)
#: The beginning of a sequence that has not come to its end yet.
_OPEN = re.compile(r"\x1b(?:[P_^X\]](?:[^\x07\x1b]|\x1b(?!\\|\Z))*\x1b?|\[[0-9;:<=>? -/]*)?\Z")
_STRINGS = ("\x1bP", "\x1b_", "\x1b^", "\x1bX", "\x1b]")
#: The question whether the terminal shows frames as a whole.
FRAMES_ASKED = b"\x1b[?2026$p"
#: The end of the questions about images.
IMAGES_ASKED = b"\x1b[16t\x1b[c"
_FRAME_BEGINS, _FRAME_ENDS = "\x1b[?2026h", "\x1b[?2026l"
_MODE = re.compile(rb"\x1b\[\?([0-9;]+)([hl])")


#: A text that the screen should hold, or what tells from the whole screen.
Wanted = str | Callable[[str], object]


class _Screen(pyte.Screen):
    """A screen with an alternate one."""

    _aside: tuple[Any, Any] | None = None

    def set_mode(self, *modes: int, **kwargs: Any) -> None:
        if kwargs.get("private") and 1049 in modes and self._aside is None:
            self._aside = (copy.deepcopy(self.buffer), copy.copy(self.cursor))
            self.erase_in_display(2)
        super().set_mode(*modes, **kwargs)

    def reset_mode(self, *modes: int, **kwargs: Any) -> None:
        if kwargs.get("private") and 1049 in modes and self._aside is not None:
            (self.buffer, self.cursor), self._aside = self._aside, None
            self.dirty.update(range(self.lines))
        super().reset_mode(*modes, **kwargs)


class EmulatedScreen:
    """What a terminal shows after the bytes that it was fed, however they were cut.

    As in modern terminals, a frame that is announced as such (private mode 2026) is shown when it is whole.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self.screen = _Screen(columns, rows)
        self._stream = pyte.Stream(self.screen)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._tail = ""

    def feed(self, data: bytes) -> None:
        text = self._tail + self._decoder.decode(data)
        end = len(text)
        last = max(text.rfind(begin) for begin in ("\x1b", *_STRINGS))
        if last >= 0:
            string = max(text.rfind(begin) for begin in _STRINGS)
            opened = (string >= 0 and _OPEN.match(text, string)) or _OPEN.match(text, text.rfind("\x1b"))
            end = opened.start() if opened else end
        frame = text.rfind(_FRAME_BEGINS, 0, end)
        if frame > text.rfind(_FRAME_ENDS, 0, end):
            end = frame
        self._tail = text[end:]
        self._stream.feed(_UNSEEN.sub("", text[:end]))

    @property
    def lines(self) -> list[str]:
        """The rows, without the blanks at their ends."""
        return [line.rstrip() for line in self.screen.display]


def _read_new_attributes() -> list[Any]:
    master, slave = os.openpty()
    try:
        return termios.tcgetattr(master)
    finally:
        os.close(master)
        os.close(slave)


class Terminal:
    """Runs a program in a pseudo-terminal and keeps the screen that it draws.

    `raw` is every byte that it wrote. Use it as a context manager: leaving ends the program. With
    `quick`, oi-tui is a fork of a process that has imported it.
    """

    def __init__(
        self,
        *arguments: str,
        command: Sequence[str] = PROGRAM,
        cwd: Path | None = None,
        env: Mapping[str, str | None] | None = None,
        columns: int = 100,
        rows: int = 30,
        quick: QuickPrograms | None = None,
    ) -> None:
        # The size is that of the terminal; programs would believe these two more.
        environment = {**os.environ, "COLUMNS": None, "LINES": None, **(env or {})}
        environment = {name: value for name, value in environment.items() if value is not None}
        self.columns, self.rows = columns, rows
        self.raw = bytearray()
        self._emulator = EmulatedScreen(columns, rows)
        self._fed = 0
        self._change = threading.Condition()
        self._ended = False
        is_quick = quick and tuple(command) == PROGRAM and quick.can_start_with(environment)
        self._process = (quick.spawn if quick and is_quick else PtyProcess.spawn)(
            [*([] if is_quick else command), *arguments],
            cwd=str(cwd or Path.cwd()),
            env=environment,
            dimensions=(rows, columns),
        )
        self.pid = int(self._process.pid)
        self._wake = os.pipe()
        #: What `stty -a` would say of a new terminal: the program may have changed its own by now.
        self.attributes_before = _read_new_attributes()
        self._reader = threading.Thread(target=self._read, name="terminal", daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What is seen

    @property
    def lines(self) -> list[str]:
        """The rows of the screen, without the blanks at their ends."""
        with self._change:
            self._draw()
            return self._emulator.lines

    @property
    def screen(self) -> str:
        """The whole screen."""
        return "\n".join(self.lines)

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row of the terminal's own cursor, from 0."""
        with self._change:
            self._draw()
            return self._emulator.screen.cursor.x, self._emulator.screen.cursor.y

    @property
    def ended(self) -> bool:
        """Whether the program has closed its terminal."""
        with self._change:
            return self._ended

    @property
    def modes(self) -> set[int]:
        """The private modes that are not as in a fresh terminal (25 means that the cursor is hidden)."""
        switched: dict[int, bool] = {}
        for numbers, which in _MODE.findall(bytes(self.raw)):
            switched.update((int(number), which == b"h") for number in numbers.split(b";") if number)
        usual = {7: True, 25: True}
        return {mode for mode, on in switched.items() if on != usual.get(mode, False)}

    def attributes(self) -> list[Any]:
        """What `stty -a` would say of this terminal, as numbers."""
        return termios.tcgetattr(self._process.fd)

    def wait_for(self, wanted: Wanted, timeout: float = 40.0, *, gone: bool = False) -> str:
        """Wait until the screen holds the text, or the predicate likes it; with `gone`, until it does not.

        Returns the screen. Fails with a copy of it when the time is up or the program has ended.
        """
        limit = time.monotonic() + timeout
        while True:
            with self._change:
                seen, ended = len(self.raw), self._ended
            screen = self.screen
            found = wanted in screen if isinstance(wanted, str) else wanted(screen)
            if bool(found) != gone:
                return screen
            with self._change:
                left = limit - time.monotonic()
                if left <= 0 or ended:
                    why = "the program has ended" if ended else f"not within {timeout} s"
                    what = "still there" if gone else "not seen"
                    raise AssertionError(f"{what}: {wanted!r} ({why})\n{framed(screen)}")
                if len(self.raw) == seen and not self._ended:
                    # A predicate may look at more than the screen, which changes without output.
                    self._change.wait(left if isinstance(wanted, str) else min(left, _LOOK))

    def wait_gone(self, wanted: Wanted, timeout: float = 40.0) -> str:
        """Wait until the screen no longer holds the text."""
        return self.wait_for(wanted, timeout, gone=True)

    def wait_quiet(self, seconds: float = 0.3, timeout: float = 40.0) -> str:
        """Wait until nothing was written for so long, or the program has ended."""
        if not self.settle(seconds, timeout):
            raise AssertionError(f"still writing after {timeout} s\n{framed(self.screen)}")
        return self.screen

    def settle(self, seconds: float, at_most: float) -> bool:
        """Wait until nothing was written for so long; False when that did not happen in time."""
        limit = time.monotonic() + at_most
        with self._change:
            while not self._ended:
                seen = len(self.raw)
                self._change.wait(seconds)
                if len(self.raw) == seen:
                    break
                if time.monotonic() > limit:
                    return False
        return True

    def wait_exit(self, timeout: float = 40.0) -> int:
        """The exit status of the program; minus the number of the signal that ended it."""
        if not processes.wait_until(lambda: not self._process.isalive(), timeout):
            raise AssertionError(f"still running after {timeout} s\n{framed(self.screen)}")
        self._reader.join(timeout)
        ended_by = self._process.signalstatus
        return -int(ended_by) if ended_by is not None else int(self._process.exitstatus)

    # What is done

    def send(self, text: str | bytes) -> None:
        """Send text as it is."""
        self._process.write(text.encode() if isinstance(text, str) else text)

    def press(self, *keys: str) -> None:
        """Press keys by name, or single characters."""
        for key in keys:
            self.send(KEYS.get(key, key))

    def paste(self, text: str) -> None:
        """Paste in brackets; most terminals send the end of a line as the enter key does."""
        lines = text.replace("\n", "\r")
        self.send(f"\x1b[200~{lines}\x1b[201~")

    def say(self, text: str) -> None:
        """Type a message and send it."""
        self.send(text)
        self.press("enter")

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size."""
        with self._change:
            self._draw()
            self._emulator.screen.resize(rows, columns)
            self.columns, self.rows = columns, rows
        fcntl.ioctl(self._process.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the program, not to what it started."""
        os.kill(self.pid, number)

    def hang_up(self) -> None:
        """Close the terminal while the program runs, as closing a window does."""
        if self._process.fileobj.closed:
            return
        # While somebody waits for it, it stays open.
        os.write(self._wake[1], b"x")
        self._reader.join(5.0)
        self._process.fileobj.close()

    def close(self) -> None:
        """End the program, and close the terminal."""
        below = processes.descendants(self.pid)
        if self._process.isalive():
            # One that ends meanwhile may be gone altogether.
            with suppress(ProcessLookupError):
                self.signal(signal.SIGTERM)
                self.signal(signal.SIGCONT)
            if not processes.wait_until(lambda: not self._process.isalive(), 5.0):
                with suppress(ProcessLookupError):
                    self.signal(signal.SIGKILL)
                processes.wait_until(lambda: not self._process.isalive(), 5.0)
        # What a program leaves behind is for the guard in conftest.py to find, unless it was killed here.
        if self._process.signalstatus == signal.SIGKILL:
            processes.wait_until(lambda: not any(p in processes.descendants(1) for p in below), 3.0)
            processes.kill(below)
        self.hang_up()
        for end in self._wake:
            os.close(end)

    # How it works

    def _read(self) -> None:
        while True:
            readable = select.select([self._process.fd, self._wake[0]], [], [])[0]
            try:
                data = b"" if self._wake[0] in readable else os.read(self._process.fd, 65536)
            except OSError:
                data = b""
            with self._change:
                if FRAMES_ASKED in bytes(self.raw[-16:]) + data and FRAMES_ASKED not in bytes(self.raw[-16:]):
                    os.write(self._process.fd, b"\x1b[?2026;2$y")
                before = bytes(self.raw[-len(IMAGES_ASKED) :])
                self.raw += data
                if IMAGES_ASKED in before + data and not before.endswith(IMAGES_ASKED):
                    self.describe()
                self._ended = not data
                self._change.notify_all()
            if not data:
                return

    def describe(self) -> None:
        """Say what it can do, once the program has asked: nothing beyond text, as an xterm."""
        os.write(self._process.fd, b"\x1b[?64;1;2;6;22c")

    def _draw(self) -> None:
        self._emulator.feed(bytes(self.raw[self._fed :]))
        self._fed = len(self.raw)


def framed(screen: str) -> str:
    """The screen in a frame, for the message of a failed test."""
    rows = screen.split("\n")
    width = max(map(len, rows), default=0)
    bar = "+" + "-" * width + "+"
    return "\n".join([bar, *(f"|{row:<{width}}|" for row in rows), bar])
