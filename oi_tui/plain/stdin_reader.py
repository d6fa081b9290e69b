"""Reads the keyboard in plain mode: whole lines, and what was typed too early separately."""

import codecs
import os
import select
import sys
import termios
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from oi_tui.plain.wakeup import Wakeup

#: Before a question takes an answer the keyboard must have been quiet for so long, in seconds.
QUIET = 0.5
#: What follows a line this closely was pasted, or typed by a machine, and the line answers nothing.
SETTLE = 0.08
_LONGEST = 1 << 16


class StdinReader:
    """Lines from standard input.

    On a terminal, what was typed before a question was asked goes to `early` and is sent later; it never
    answers. Elsewhere (a pipe, a file) lines come as they are, and nobody could approve anything.
    """

    def __init__(self, alarm: Wakeup, descriptor: int = 0) -> None:
        self._alarm = alarm
        self._descriptor = descriptor
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._ended = False
        try:
            self.is_terminal = os.isatty(descriptor)
        except OSError:
            self.is_terminal = False
        #: Whole lines that were typed while something else went on, oldest first.
        self.early: deque[str] = deque()
        #: The beginning of a line that was typed then.
        self.draft = ""

    def prompt(self, mark: str, history: Sequence[str] = ()) -> str | None:
        """Ask for a line and wait for it; None at the end of input. KeyboardInterrupt gets through."""
        if self.early:
            line = self.early.popleft()
            sys.stdout.write(f"{mark}{line}\n")
            return line
        if self.is_terminal and sys.stdout.isatty():
            return self._edit_line(mark, history)
        try:
            while (next_line := self.line()) is None:
                self._alarm.silence()
        except EOFError:
            return None
        return next_line

    def line(self) -> str | None:
        """Return the next line, without its newline; None when the alarm rings first.

        Raises EOFError when there are no more lines, and where a terminal's end of input was typed.
        """
        while "\n" not in self._rest and not self._ended:
            readable = select.select([self._descriptor, self._alarm.descriptor], [], [])[0]
            if self._alarm.descriptor in readable:
                return None
            if not self._read() and self.is_terminal:
                break
        line, newline, self._rest = self._rest.partition("\n")
        if not newline and not line:
            raise EOFError
        return line.removesuffix("\r")

    def watch(self) -> None:
        """Wait until the alarm rings, and read nothing meanwhile."""
        select.select([self._alarm.descriptor], [], [])
        self._alarm.silence()

    def set_typed_aside(self, quiet: float = QUIET) -> bool:
        """Set aside what was typed, until this time passes without a key; False if ctrl+c was pressed."""
        with self._set_modes(canonical=False):
            until = time.monotonic() + quiet
            while not self._alarm.interrupted:
                remaining_seconds = max(0.0, until - time.monotonic())
                if select.select([self._descriptor], [], [], min(remaining_seconds, 0.05))[0]:
                    if not self._read():
                        break
                    until = time.monotonic() + quiet
                elif not remaining_seconds:
                    break
        self._set_aside()
        return not self._alarm.interrupted

    def keep_as_draft(self) -> None:
        """Begin the next line with what was typed meanwhile, rather than sending it unseen."""
        self.set_typed_aside(0.0)
        self.draft = " ".join([*self.early, self.draft]).strip()
        self.early.clear()

    def is_settled(self, line: str) -> bool:
        """Return whether the line was an answer; a line
        with more text right after it is set aside instead.
        """
        if not self._rest and not select.select([self._descriptor], [], [], SETTLE)[0]:
            return True
        self.early.append(line)
        return False

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Meanwhile what is typed is not shown."""
        with self._set_modes(echo=False):
            yield

    def _edit_line(self, mark: str, history: Sequence[str]) -> str | None:
        """Read a line with the line editor."""
        import readline

        readline.clear_history()
        for text in history:
            readline.add_history(text.replace("\n", " "))
        readline.set_auto_history(False)
        draft, self.draft = self.draft, ""
        readline.set_startup_hook(lambda: readline.insert_text(draft))
        try:
            with self._alarm.allow_interrupt():
                return input(mark)
        except EOFError:
            return None
        finally:
            readline.set_startup_hook(None)

    def _read(self) -> bool:
        """Take what there is; False at an end of input, which on a terminal may be followed by more."""
        try:
            data = os.read(self._descriptor, _LONGEST)
            self._ended = not data and not self.is_terminal
        except BlockingIOError:
            # Another program that reads the same input was quicker.
            return True
        except OSError:
            data, self._ended = b"", True
        self._rest += self._decoder.decode(data, final=not data)
        return bool(data)

    def _set_aside(self) -> None:
        *lines, rest = self._rest.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self.early += [self.draft + line if not number else line for number, line in enumerate(lines)]
        self.draft = rest if lines else self.draft + rest
        self._rest = ""

    @contextmanager
    def _set_modes(self, *, canonical: bool = True, echo: bool = True) -> Iterator[None]:
        """Set how the terminal hands lines on, and set it back; what was typed stays where it is."""
        if not self.is_terminal:
            yield
            return
        before = termios.tcgetattr(self._descriptor)
        changed = termios.tcgetattr(self._descriptor)
        if not canonical:
            changed[3] &= ~termios.ICANON
            changed[6][termios.VMIN], changed[6][termios.VTIME] = 1, 0
        if not echo:
            changed[3] = changed[3] & ~termios.ECHO | termios.ECHONL
        termios.tcsetattr(self._descriptor, termios.TCSANOW, changed)
        try:
            yield
        finally:
            with suppress(termios.error):
                termios.tcsetattr(self._descriptor, termios.TCSANOW, before)
