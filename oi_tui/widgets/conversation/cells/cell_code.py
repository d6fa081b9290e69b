"""The code of a cell as numbered rows."""

import time

from oi_tui.messages import Message
from oi_tui.text import format_duration, normalise_line_ends
from oi_tui.widgets.conversation.code import (
    Highlighter,
    append_at_end,
    draw_code_line,
    find_changed_lines,
    mark_active,
    measure_gutter,
)
from oi_tui.widgets.conversation.rows import Row
from oi_tui.widgets.conversation.styles import Styles

#: How long a line runs before its time is shown, in seconds. A loop over quick lines shows none.
_LONG_LINE = 2


class CellCode:
    """Draws the code of a message. Rows of lines that did not change since the last time are kept.

    Beside the number of a line stands ">" while it runs, "~" where the person changed it, and "!" where it is
    worth a look.
    """

    def __init__(self, message: Message) -> None:
        self.text = message.content
        #: The line that runs now, counted from 1; None where no line is known.
        self.active_line: int | None = None
        self._message = message
        self._active_since = time.monotonic()
        #: The rows of the active line, with the rows of code and the time that they show.
        self._active: tuple[tuple[list[Row], str], list[Row]] | None = None
        self._highlighter: Highlighter | None = None
        self._rows: list[Row] = []
        #: What the rows were drawn for; None when they must be drawn again.
        self._drawn_for: tuple[object, ...] | None = None
        #: For each line, the row where it begins.
        self._line_starts: list[int] = []
        self._changed: set[int] = set()
        self._flagged: frozenset[int] = frozenset()

    def update_message(self, message: Message) -> None:
        """Show the code of this version of the message."""
        before, self._message = self._message, message
        is_same = message.content == self.text and message.proposed == before.proposed
        if not is_same and (message.content or message.state != "writing"):
            self._replace(message.content)
        elif before.state == "writing" != message.state:
            self._replace(self.text)

    def _replace(self, text: str) -> None:
        self.text = text
        self._highlighter = None
        self._drawn_for = None

    def grow(self, text: str) -> None:
        """Add text that the model writes."""
        line = self.text.removesuffix("\n").count("\n")
        self.text += text
        if self._highlighter:
            self._highlighter.forget_from(line)
        if line < len(self._line_starts):
            del self._rows[self._line_starts[line] :]
            del self._line_starts[line:]

    def flag(self, lines: frozenset[int]) -> bool:
        """Mark lines, counted from 1, as worth a look; return False if they are marked already."""
        if lines == self._flagged:
            return False
        self._flagged = lines
        self._drawn_for = None
        return True

    def reach_line(self, line: int | None) -> None:
        """Mark the line that runs now, counted from 1; None if no line is known."""
        if line != self.active_line:
            self.active_line = line
            self._active_since = time.monotonic()

    @property
    def line_count(self) -> int:
        """The number of lines."""
        return self._normalise(self.text).removesuffix("\n").count("\n") + 1

    @property
    def active_row(self) -> int | None:
        """The row where the active line begins; None where none is known."""
        span = self._find_active()
        return span[0] if span else None

    def count_lines_below(self, end: int) -> int:
        """Count the lines that are not completely above row `end`."""
        if not self._line_starts:
            return self.line_count
        return sum(bottom > end for bottom in (*self._line_starts[1:], len(self._rows)))

    def rows(self, width: int, look: Styles, *, timed: bool) -> list[Row]:
        """Return the rows; with `timed`, a line that runs for long has its time at the end."""
        self._update(width, look)
        span = self._find_active()
        if span is None:
            return self._rows
        start, end = span
        active = self._draw_active(self._rows[start:end], width, look, timed=timed)
        return self._rows[:start] + active + self._rows[end:]

    def _find_active(self) -> tuple[int, int] | None:
        """Return the rows from and up to which the active line goes."""
        line, starts = self.active_line, self._line_starts
        if line is None or not 0 < line <= len(starts):
            return None
        return starts[line - 1], starts[line] if line < len(starts) else len(self._rows)

    def _draw_active(self, code: list[Row], width: int, look: Styles, *, timed: bool) -> list[Row]:
        """Mark the rows of the active line; the same rows as before if neither code nor time changed."""
        key = (code, self._format_line_time() if timed else "")
        if self._active is None or self._active[0] != key:
            rows = [mark_active(row, look) for row in code]
            append_at_end(rows, key[1], width, look.code_active_muted)
            self._active = (key, rows)
        return self._active[1]

    def _format_line_time(self) -> str:
        """Return how long the active line has run, in whole seconds; "" while that says nothing."""
        seconds = int(time.monotonic() - self._active_since)
        if seconds < _LONG_LINE or len(self._line_starts) == 1:
            return ""
        return format_duration(seconds) if seconds >= 60 else f"{seconds} s"

    def _update(self, width: int, look: Styles) -> None:
        """Draw the lines that have no rows yet, or all where something else changed."""
        code = self._normalise(self.text).removesuffix("\n")
        lines = code.split("\n")
        gutter = measure_gutter(len(lines))
        if self._drawn_for != (width, look, gutter):
            self._drawn_for = (width, look, gutter)
            self._rows, self._line_starts = [], []
            self._changed = self._find_changes(lines)
        if self._highlighter is None:
            self._highlighter = Highlighter(self._message.format)
            if self._message.state != "writing":
                self._highlighter.read_whole(code)
        for index in range(len(self._line_starts), len(lines)):
            self._line_starts.append(len(self._rows))
            pieces = self._highlighter.pieces(index, lines.__getitem__)
            mark = "!" if index + 1 in self._flagged else "~" if index in self._changed else " "
            self._rows.extend(draw_code_line(index + 1, pieces, look, width, gutter, changed=mark))

    def _find_changes(self, lines: list[str]) -> set[int]:
        proposed = self._message.proposed
        if proposed is None:
            return set()
        return find_changed_lines(self._normalise(proposed).split("\n"), lines)

    def _normalise(self, code: str) -> str:
        return normalise_line_ends(code, self._message.format)

    def forget(self) -> None:
        """Drop what was drawn."""
        self._drawn_for, self._rows, self._highlighter, self._active = None, [], None, None
