"""What a cell prints, without what Jupyter's clients show themselves: prompts, and typed lines."""

import re
import time

from oi_tui.engine.output.plain import LineEnds, make_plain, split_unfinished
from oi_tui.messages import CLEAR_OUTPUT

#: How long the beginning of a line is held back, because it may be a prompt, in seconds.
_HELD = 0.3
#: Longer beginnings of lines are no prompts, in characters.
_LONGEST_PROMPT = 500
#: So much of what was printed last is kept, in characters.
_TAIL = 2_000
#: A part of what clears the output, at the end of a piece.
_PART_OF_CLEAR = re.compile(r"\x1b\[9999A\r?\Z")
#: A line is drawn anew where the program writes over it, up to this length, in characters.
_LONGEST_LINE = 10_000
#: The last line that a program prints of an error, as `ValueError: no such column`.
_ERROR = re.compile(r"(?:Uncaught )?([A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Warning))(?:: (.*))?")


class CellStream:
    """Turns the terminal output of a cell into the text of a Jupyter stream.

    Clients understand a carriage return, and no escape sequences.
    """

    def __init__(self) -> None:
        self._unfinished = ""
        self._ends = LineEnds()
        #: The last line as the program wrote it, and as the client has it.
        self._line = self._shown = ""
        self._has_cleared = False
        self._held = ""
        self._held_since = 0.0
        self._sent = ""
        #: What the terminal is about to repeat of a typed line.
        self._echo = ""
        self._masked = False

    def add(self, text: str) -> str:
        """Take output of the terminal. Returns the text to send now, which may be ""."""
        text = self._draw(self._without_echo(self._ends.write(self._take_whole(text))))
        if not text:
            return ""
        if not self._held:
            self._held_since = time.monotonic()
        whole = self._held + text
        lines, newline, beginning = whole.rpartition("\n")
        if newline:
            self._held_since = time.monotonic()
        if len(beginning) > _LONGEST_PROMPT:
            lines, newline, beginning = whole, "", ""
        self._held = beginning
        return self._send(lines + newline)

    @property
    def timeout(self) -> float | None:
        """The seconds to wait before `flush`; None if nothing is held back."""
        waits = self._held or self._has_cleared
        return max(0.0, self._held_since + _HELD - time.monotonic()) if waits else None

    def pop_clear(self) -> bool:
        """Return whether the program has removed what was sent, since the last call."""
        has_cleared, self._has_cleared = self._has_cleared, False
        return has_cleared

    def flush(self) -> str:
        """Return the text that was held back."""
        text, self._held = self._held, ""
        return self._send(text)

    def ask(self, prompt: str, *, masked: bool) -> tuple[str, str]:
        """Return the text to send before a prompt, and the part of the prompt that was not sent yet."""
        self._masked = masked
        self._line = self._shown = ""
        prompt = prompt.replace("\r\n", "\n")
        if not prompt or not (self._sent + self._held).endswith(prompt):
            return self.flush(), prompt
        unsent = prompt[-len(self._held) :] if self._held else ""
        self._held = self._held.removesuffix(unsent)
        before = self.flush()
        self._sent = (self._sent + unsent)[-_TAIL:]
        return before, unsent

    def expect_echo(self, line: str) -> None:
        """Leave out the terminal's echo of a typed line, because the client shows it already."""
        self._echo = "\n" if self._masked else f"{line}\n"

    def find_error(self, reason: str) -> tuple[str, str] | None:
        """Return name and message of the error in `reason`, else of the one that was printed last.

        None for none.
        """
        for line in (reason, *reversed(self._sent.splitlines())):
            if match := _ERROR.fullmatch(line.strip()):
                return match[1], match[2] or ""
        return None

    def _take_whole(self, text: str) -> str:
        """Return the text without the part of an escape sequence at its end, and what was removed by one."""
        text, self._unfinished = split_unfinished(self._unfinished + text)
        if part := _PART_OF_CLEAR.search(text):
            text, self._unfinished = text[: part.start()], text[part.start() :] + self._unfinished
        _, cleared, rest = text.rpartition(CLEAR_OUTPUT)
        if cleared:
            self._ends = LineEnds()
            self._held = self._sent = self._line = self._shown = ""
            self._has_cleared, self._held_since = True, time.monotonic()
        return rest

    def _draw(self, text: str) -> str:
        """Return what gives the client the lines that a terminal would show."""
        if not text:
            return ""
        full_text = self._line + text
        first, *others = make_plain(full_text).split("\n")
        if not first.startswith(self._shown):
            # The rest of a longer text is written over with blanks.
            first = first.ljust(len(self._shown))
            output = f"\r{first}"
        else:
            output = first[len(self._shown) :]
        self._shown = others[-1] if others else first
        self._line = _shorten(full_text.rpartition("\n")[2])
        if len(self._line) > _LONGEST_LINE:
            self._line = self._shown = ""
        return "\n".join((output, *others))

    def _send(self, text: str) -> str:
        self._sent = (self._sent + text)[-_TAIL:]
        return text

    def _without_echo(self, text: str) -> str:
        if text.startswith(self._echo):
            text, self._echo = text.removeprefix(self._echo), ""
        elif self._echo.startswith(text):
            text, self._echo = "", self._echo.removeprefix(text)
        else:
            self._echo = ""
        return text


def _shorten(line: str) -> str:
    """Return a line with what was overwritten left out; the cursor stays where it was."""
    before, back, after = line.rpartition("\r")
    return f"{make_plain(before)}{back}{after}"
