"""Collects the output of a run, and reports it once for each frame."""

import codecs
import re
import time
from collections.abc import Callable

from oi_tui.messages import Displayed, Printed, Report, ValueBegan, ValueEnded

FRAME = 1 / 60
#: A piece of output is reported before its frame is over when it is this long, in characters.
_LARGEST_PIECE = 512 * 1024
#: As much of the last line is remembered, in characters.
_LONGEST_LINE = 1000
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")


class RunOutput:
    """Text that was printed and not yet reported. `last_at` is when something was printed last."""

    def __init__(self, report: Callable[[Report], None], began: float) -> None:
        self._report = report
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text: list[str] = []
        self._size = 0
        self._due = 0.0
        self._last_line = ""
        self.last_at = began
        #: What the model gets in place of what is printed now.
        self._view: str | None = None
        #: The table that is shown in place of what is printed now.
        self._table: str | None = None
        #: How much was printed, and the lines of the value that is shown under a key, if one is.
        self._total = self._lines = 0
        self._key: str | None = None
        #: Of values that were shown under a key: how much was printed then, and their lines.
        self._shown: dict[str, tuple[int, int]] = {}

    @property
    def due(self) -> float:
        """When the next report is due."""
        return self._due if self._text else float("inf")

    @property
    def is_on_a_line(self) -> bool:
        """Whether the line of the cursor has text, such as a prompt."""
        return bool(self._last_line or self._text)

    @property
    def prompt(self) -> str:
        """The text on the line of the cursor, as far as it was reported, without escape sequences."""
        return _ESCAPES.sub("", self._last_line)

    def take(self, data: bytes) -> None:
        """Take what the program printed."""
        text = self._decoder.decode(data)
        self._text.append(text)
        self._size += len(text)
        self._total += len(text)
        if self._key is not None:
            self._lines += text.count("\n")
        self.last_at = time.monotonic()

    def replace_with(self, view: object, table: object) -> None:
        """Tell the model this in place of what is printed from now on, and show the table in place of it."""
        self.flush()
        self._view = view if isinstance(view, str) else None
        self._table = table if isinstance(table, str) else None

    def display(self, format: str, content: str, key: object) -> None:
        """Report an image or a page at its place in the output, or at that of the one with the same key."""
        self.flush()
        if format.startswith("base64"):
            # No line above a picture can be written anew.
            self._key = None
            self._shown.clear()
        self._report(Displayed(format, content, self._view, key if isinstance(key, str) else None))

    def begin_value(self, kind: object, key: object = None, *, updates: bool = False) -> None:
        """Report that what is printed from now on shows a value.

        One that `updates` the last thing that was printed, shown under the same key, takes its lines.
        """
        self.flush()
        if isinstance(key, str):
            total, lines = self._shown.pop(key, (-1, 0))
            if updates and total == self._total:
                self._report(Printed(f"\x1b[{lines}A\r\x1b[J"))
            self._key = None if self.is_on_a_line else key
            self._lines = 0
        self._report(ValueBegan("result" if kind == "result" else "display"))

    def end_value(self) -> None:
        """Report that the value has been shown."""
        self.flush()
        if self._key is not None and self._lines and not self.is_on_a_line:
            self._shown[self._key] = (self._total, self._lines)
        self._key = None
        self._report(ValueEnded())

    def flush_if_due(self, now: float) -> None:
        """Report what was printed when its frame is over, or when it is long."""
        if self._text and (now >= self._due or self._size >= _LARGEST_PIECE):
            self.flush(now)

    def flush_if_any(self) -> None:
        """Report what was printed; what follows did not come before it."""
        if self._text:
            self.flush()

    def flush(self, now: float | None = None, last: bool = False) -> None:
        """Report what was printed; with `last` also what is no whole character."""
        text = "".join(self._text)
        self._text.clear()
        if last:
            text += self._decoder.decode(b"", True)
        elif text.endswith("\r"):
            # Whether it begins a line anew or ends one is seen with the next character.
            text = text[:-1]
            self._text.append("\r")
        self._size = 0
        self._due = (now or time.monotonic()) + FRAME
        if text:
            tail = text[-_LONGEST_LINE:]
            if len(text) < _LONGEST_LINE:
                tail = self._last_line + tail
            self._last_line = re.split(r"[\r\n]", tail)[-1][-_LONGEST_LINE:]
            self._report(Printed(text, self._view, self._table))
