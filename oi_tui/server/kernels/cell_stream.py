"""What a cell prints, without what Jupyter's clients show themselves: prompts, and typed lines."""

import re
import time

#: How long the beginning of a line is held back, because it may be a prompt, in seconds.
_HELD = 0.3
#: Longer beginnings of lines are no prompts, in characters.
_LONGEST_PROMPT = 500
#: So much of what was printed last is kept, in characters.
_TAIL = 2_000
#: The last line that a program prints of an error, as `ValueError: no such column`.
_ERROR = re.compile(r"(?:Uncaught )?([A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Warning))(?:: (.*))?")


class CellStream:
    """Turns the terminal output of a cell into the text of a Jupyter stream."""

    def __init__(self) -> None:
        self._held = ""
        self._held_since = 0.0
        self._sent = ""
        #: What the terminal is about to repeat of a typed line.
        self._echo = ""
        self._masked = False

    def add(self, text: str) -> str:
        """Take output of the terminal. Returns the text to send now, which may be ""."""
        text = self._without_echo(text)
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
    def patience(self) -> float | None:
        """The seconds to wait before `flush`; None if nothing is held back."""
        return max(0.0, self._held_since + _HELD - time.monotonic()) if self._held else None

    def flush(self) -> str:
        """Return the text that was held back."""
        held, self._held = self._held, ""
        return self._send(held)

    def ask(self, prompt: str, *, masked: bool) -> tuple[str, str]:
        """Return the text to send before a prompt, and the part of the prompt that was not sent yet."""
        self._masked = masked
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
