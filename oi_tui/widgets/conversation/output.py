"""Program output as rows: the end while it runs, then beginning and end, or all of it."""

from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style

from oi_tui.widgets.conversation.inline_table import InlineTable
from oi_tui.widgets.conversation.rows import Row, wrap_cells, wrap_output
from oi_tui.widgets.conversation.styles import Styles, adapt_program_style
from oi_tui.widgets.emulator.ansi_text import AnsiText

#: Lines that are shown while the program runs, and of a long output's beginning and end when it is folded.
LIVE_LINES = 10
FOLDED_HEAD, FOLDED_TAIL = 4, 10
#: Rows that one very long line may take while the output is folded.
_FOLDED_ROWS = 6
#: How to see the rest. The keys are typed one after the other, because the prompt has the focus.
_OPENS = "ctrl+up, then up; o opens"
#: The display that removes all output of a program.
_CLEAR = "\x1b[9999A\r\x1b[J"
#: About how many lines keep their rows.
_CACHED_LINES = 4_000
#: How many first and last tables are shown while the output is folded.
_FOLDED_TABLES = 4


@dataclass(slots=True)
class _Shown:
    """A table in place of lines `start` to before `end`, counted in all that was printed."""

    table: InlineTable
    start: int
    end: int
    drawn: tuple[tuple[int, Styles], list[Row]] | None = None

    def rows(self, width: int, look: Styles) -> list[Row]:
        """Return the rows, each behind the rule."""
        if self.drawn is None or self.drawn[0] != (width, look):
            rows = [add_rule(row, look) for row in self.table.rows(width - 2, look)]
            self.drawn = ((width, look), rows)
        return self.drawn[1]


class Output:
    """The output of one run. `open` shows all that is kept of it."""

    def __init__(self) -> None:
        self.text = AnsiText()
        self.open = False
        #: The rows that stay while the person reads above, and how many lines there were then.
        self._frozen: tuple[list[Row], int, tuple[int, Styles]] | None = None
        self._drawn: tuple[tuple[object, ...], list[Row]] | None = None
        self._version = 0
        #: The rows of lines, by the line's number in all that was printed.
        self._line_rows: dict[int, list[Row]] = {}
        self._line_rows_for: tuple[int, Styles] | None = None
        self._tables: list[_Shown] = []
        #: Whether the last table's text is still being printed.
        self._in_table = False
        #: How often the program removed all that it had shown.
        self.clears = 0
        self._end = ""

    def __bool__(self) -> bool:
        return bool(self.text) or self.text.aside

    def feed(self, text: str) -> None:
        """Add text that the program printed."""
        drawing = self.text.drawing
        self.text.feed(text)
        self.clears += (self._end + text).count(_CLEAR)
        self._end = (self._end + text)[1 - len(_CLEAR) :]
        if drawing or self.text.drawing:
            self._line_rows.clear()
        self._version += 1
        if self._tables:
            self._follow_tables()

    def begin_table(self, table: InlineTable) -> None:
        """Show the table in place of what is printed from now on, until `end_table`."""
        if self.text.open_line:
            self.text.feed("\r\n")
        self._tables.append(_Shown(table, self._line_total, self._line_total))
        self._in_table = True

    def end_table(self) -> None:
        """Show the following output unchanged."""
        self._in_table = False

    @property
    def tables(self) -> list[InlineTable]:
        """The tables that it shows."""
        return [entry.table for entry in self._tables]

    def _follow_tables(self) -> None:
        """Count the lines of the last table's text; forget tables whose text was removed from the screen."""
        total = self._line_total
        if self._in_table:
            self._tables[-1].end = total
        self._tables = [entry for entry in self._tables if entry.end <= total]
        self._in_table = self._in_table and bool(self._tables)

    @property
    def foldable(self) -> bool:
        """Whether there is more than is shown folded."""
        if self._tables:
            parts = [part for part in self._split_parts() if not isinstance(part, _Shown)]
            longest = max((end - start for start, end in parts), default=0)
            return len(self._tables) > 2 * _FOLDED_TABLES or longest > FOLDED_HEAD + FOLDED_TAIL + 2
        return self.text.line_count > FOLDED_HEAD + FOLDED_TAIL + 2 or self.text.lines_not_kept > 0

    def toggle(self, *, live: bool) -> bool:
        """Show all that is kept, or the usual part again; return False if that is the same."""
        more = self.foldable or (live and self.text.line_count > LIVE_LINES)
        if not self.open and not more:
            return False
        self.thaw()
        self.open = not self.open
        return True

    def estimate(self) -> int:
        """Return about how many rows it takes."""
        count = self.text.line_count
        if self._tables:
            return sum(len(entry.table.labels.cells) + 4 for entry in self._tables)
        return count if self.open or not self.foldable else FOLDED_HEAD + FOLDED_TAIL + 1

    def forget(self) -> None:
        """Drop what can be drawn again."""
        self._drawn = None
        self._line_rows.clear()
        for entry in self._tables:
            entry.drawn = None

    def freeze(self) -> None:
        """Keep the shown output unchanged until `thaw`."""
        if self._frozen is None and self._drawn is not None and self._line_rows_for and not self.open:
            self._frozen = (self._drawn[1], self._line_total, self._line_rows_for)

    def thaw(self) -> bool:
        """Show new output again; return False if it was shown already."""
        was, self._frozen = self._frozen, None
        return was is not None

    @property
    def _line_total(self) -> int:
        return self.text.line_count + self.text.lines_not_kept

    def rows(self, width: int, look: Styles, *, live: bool, room: int = 0) -> list[Row]:
        """Return the rows, each behind a thin rule, at `width` cells, or at `room` where that is more.

        Programs are told of all that room, and lay their lines out for it.
        """
        width = max(room, width)
        key = (width, look, live, self.open, self._version)
        if self._frozen is not None and self._frozen[2] == (width, look):
            rows, count, _ = self._frozen
            more = self._line_total - count
            return [*rows, note(f"… {count_lines(more)} more — end scrolls to them", look)] if more else rows
        if self._drawn is None or self._drawn[0] != key:
            self._drawn = (key, self._draw_rows(width, look, live=live))
        return self._drawn[1]

    def _draw_rows(self, width: int, look: Styles, *, live: bool) -> list[Row]:
        if self._line_rows_for != (width, look) or len(self._line_rows) > 2 * _CACHED_LINES:
            self._line_rows_for = (width, look)
            self._line_rows.clear()
        if self._tables:
            return self._add_tables(width, look, live=live)
        count, missing_count = self.text.line_count, self.text.lines_not_kept
        if self.open:
            head = self.text.head_count
            middle = [note(f"… {count_lines(missing_count)} not shown …", look)] if missing_count else []
            return (
                self._draw_lines(0, head, width, look) + middle + self._draw_lines(head, count, width, look)
            )
        if live and self.text.aside:
            return [note("a full-screen program has the terminal — ctrl+o shows it", look)]
        if live:
            rows = self._draw_lines(max(count - LIVE_LINES, 0), count, width, look)
            visible_rows = rows[-LIVE_LINES:]
            if count > LIVE_LINES or len(rows) > len(visible_rows):
                above = max(count - LIVE_LINES, 0) + missing_count
                text = f"… {count_lines(above)} above" if above else "… more above"
                visible_rows.insert(0, _note_hidden(text, look))
            return visible_rows
        return self._draw_folded(0, count, width, look)

    def _draw_folded(self, start: int, end: int, width: int, look: Styles) -> list[Row]:
        """Draw some kept lines; if there are many, the first and the last."""
        missing_count = self.text.lines_not_kept if start <= self.text.head_count < end else 0
        if end - start <= FOLDED_HEAD + FOLDED_TAIL + 2 and not missing_count:
            return self._render_folded(start, end, width, look)
        first, last = min(start + FOLDED_HEAD, end), max(end - FOLDED_TAIL, start)
        last = max(first, last)
        return [
            *self._render_folded(start, first, width, look),
            _note_hidden(f"… {count_lines(last - first + missing_count)} not shown", look),
            *self._render_folded(last, end, width, look),
        ]

    def _add_tables(self, width: int, look: Styles, *, live: bool) -> list[Row]:
        """Return the tables, and the lines between them."""
        if live and self.text.aside:
            return [note("a full-screen program has the terminal — ctrl+o shows it", look)]
        parts = self._split_parts()
        if live and not self.open:
            return self._draw_last_parts(parts, width, look)
        hidden_count = len(self._tables) - 2 * _FOLDED_TABLES
        if hidden_count <= 0 or self.open:
            return [row for part in parts for row in self._draw_part(part, width, look)]
        places = [at for at, part in enumerate(parts) if isinstance(part, _Shown)]
        first, last = places[_FOLDED_TABLES], places[-_FOLDED_TABLES]
        return [
            *(row for part in parts[:first] for row in self._draw_part(part, width, look)),
            _note_hidden(f"… {hidden_count:,} more table{'s' * (hidden_count > 1)} not shown", look),
            *(row for part in parts[last:] for row in self._draw_part(part, width, look)),
        ]

    def _split_parts(self) -> list[_Shown | tuple[int, int]]:
        """Tables, and first and last numbers of the kept lines between them."""
        parts: list[_Shown | tuple[int, int]] = []
        done = 0
        for entry in self._tables:
            parts += [(self._find_kept_line(done), self._find_kept_line(entry.start)), entry]
            done = entry.end
        parts.append((self._find_kept_line(done), self.text.line_count))
        return [part for part in parts if isinstance(part, _Shown) or part[0] < part[1]]

    def _find_kept_line(self, number: int) -> int:
        """Return the number among the kept lines of a line that is counted in all that was printed."""
        head = self.text.head_count
        return number if number <= head else max(number - self.text.lines_not_kept, head)

    def _draw_part(self, part: "_Shown | tuple[int, int]", width: int, look: Styles) -> list[Row]:
        if isinstance(part, _Shown):
            return part.rows(width, look)
        if self.open:
            return self._draw_lines(*part, width, look)
        return self._draw_folded(*part, width, look)

    def _draw_last_parts(
        self, parts: "list[_Shown | tuple[int, int]]", width: int, look: Styles
    ) -> list[Row]:
        """Return the last lines, and the tables among them, of a program that runs."""
        rows: list[Row] = []
        remaining_parts = list(parts)
        while remaining_parts and len(rows) < LIVE_LINES:
            part = remaining_parts.pop()
            if isinstance(part, _Shown):
                rows = [*part.rows(width, look), *rows]
                continue
            start = max(part[0], part[1] - LIVE_LINES)
            rows = [*self._draw_lines(start, part[1], width, look), *rows]
            if start > part[0]:
                remaining_parts.append((part[0], start))
                break
        return [_note_hidden("… more above", look), *rows] if remaining_parts else rows

    def _render_folded(self, start: int, end: int, width: int, look: Styles) -> list[Row]:
        rows: list[Row] = []
        for index in range(start, end):
            line = self._draw_line(index, width, look)
            if len(line) > _FOLDED_ROWS:
                hidden_count = len(line) - _FOLDED_ROWS
                line = [
                    *line[: _FOLDED_ROWS - 1],
                    _note_hidden(f"… {hidden_count} more rows of this line", look),
                    line[-1],
                ]
            rows += line
        return rows

    def _draw_lines(self, start: int, end: int, width: int, look: Styles) -> list[Row]:
        return [row for index in range(start, end) for row in self._draw_line(index, width, look)]

    def _draw_line(self, index: int, width: int, look: Styles) -> list[Row]:
        number = index if index < self.text.head_count else index + self.text.lines_not_kept
        # The last line may grow, and marks under parts of a line decide how that one is wrapped.
        settled = index < self.text.line_count - 2
        rows = self._line_rows.get(number) if settled else None
        if rows is None:
            spans = [(text, adapt_program_style(look, style)) for text, style in self.text.spans(index)]
            spans = spans or [("", look.base)]
            if self._marks(index) or self._marks(index + 1):
                wrapped = wrap_cells(spans, width - 2)
            else:
                wrapped = wrap_output(spans, width - 2, look.base.bgcolor)
            rows = [add_rule(Row(line.segments, line.text, 0, line.joint), look) for line in wrapped]
            if settled:
                self._line_rows[number] = rows
        return rows

    def _marks(self, index: int) -> bool:
        """Return whether a line only points at parts of the line above, as below the code in a traceback."""
        if index >= self.text.line_count:
            return False
        text = "".join(text for text, _ in self.text.spans(index))
        return bool(text.strip()) and not text.strip(" ^~")


def add_rule(row: Row, look: Styles) -> Row:
    """Return the row behind the thin rule that marks what a program gave."""
    return Row(
        [Segment("│ ", look.rule), *row.segments],
        row.text,
        row.indent + 2,
        row.joint,
        image=row.image,
        click=row.click,
        table=row.table,
    )


def note(text: str, look: Styles, style: Style | None = None, *, click: str = "") -> Row:
    """Return a note of the application between the rows of an output, and what a click on it does."""
    return Row([Segment("│ ", look.rule), Segment(text, style or look.muted)], click=click)


def _note_hidden(text: str, look: Styles) -> Row:
    """Return a note of what is not shown, with the keys that show it; so does a click."""
    return note(f"{text} — {_OPENS}", look, click="open")


def count_lines(count: int) -> str:
    """Return "1 line" or "2 lines"."""
    return f"{count:,} line{'' if count == 1 else 's'}"
