"""A table in the conversation: its first and last rows, with as many columns as there is room for."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.segment import Segment
from rich.style import Style

from oi_tui.text import clean_line
from oi_tui.widgets.conversation.rows import Row, RowTable
from oi_tui.widgets.conversation.styles import Styles
from oi_tui.widgets.truncate import cut_end, measure_width

#: The width of a column in cells; a wider one only where all columns have room.
_USUAL, _LABELS, _SHORTEST, _NARROWEST = 28, 20, 12, 4
_GAP = 2
#: Rows above the first one: the names and the types.
_HEADER = 2
_MISSING = "NaN"
#: Tables that other programs wrote into a conversation have no more rows and columns than these.
_MOST_ROWS, _MOST_COLUMNS = 40, 200


@dataclass(frozen=True, slots=True)
class _Column:
    """A column: its name, its type, whether it holds numbers, and its texts (None where one is missing)."""

    name: str
    type: str
    numeric: bool
    cells: tuple[str | None, ...]

    @property
    def width(self) -> int:
        """The cells that its longest text takes."""
        return max(map(measure_width, (self.name, self.type, *(_format_text(cell) for cell in self.cells))))


@dataclass(frozen=True, slots=True, eq=False)
class InlineTable(RowTable):
    """A table, as far as the conversation has it. `key` opens it on a screen; `total` counts all its rows.

    `language` is the name of the one that has it.

    The rows before number `head` are its first ones, the others its last ones; `width` counts all columns.
    """

    language: str
    key: str
    name: str
    labels: _Column
    columns: tuple[_Column, ...]
    total: int
    width: int
    head: int

    @staticmethod
    def read(text: str) -> "InlineTable | None":
        """Return the table that was written as JSON.

        None if not valid, as after a change by another program.
        """
        try:
            return _read(json.loads(text))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None

    def rows(self, width: int, look: Styles) -> list[Row]:
        """Return the table at `width` cells, and a line with its size below it, which a click opens."""
        labels = [cut_end(text or "", _LABELS) for text in self.labels.cells]
        label_name = cut_end(self.labels.name, _LABELS)
        label_width = min(max(map(measure_width, (label_name, *labels))), width)
        widths = [label_width, *self._measure_widths(width - label_width - _GAP)]
        columns = self.columns[: len(widths) - 1]
        hidden_count = self.width - len(columns)
        right = self.labels.numeric
        heads = [_Cell(label_name, look.muted, right)]
        heads += [_Cell(column.name, look.strong, column.numeric) for column in columns]
        kinds = [_Cell("", look.muted)]
        kinds += [_Cell(column.type, look.muted, column.numeric) for column in columns]
        lines = [
            [_Cell(label, look.muted, right), *(_make_cell(column, at, look) for column in columns)]
            for at, label in enumerate(labels)
        ]
        rows = [_draw_row(cells, widths, look) for cells in (heads, kinds, *lines)]
        if hidden_count:
            more = f"{' ' * _GAP}… {hidden_count:,} more"
            table_width = sum(widths) + _GAP * (len(widths) - 1)
            rows[0].segments.append(Segment(cut_end(more, max(width - table_width, 0)), look.muted))
        if self.head < self.total:
            rows.insert(_HEADER + self.head, _make_gap_row(self.total - len(labels), width, look))
        return [*rows, self._draw_footer(width, look)]

    def _draw_footer(self, width: int, look: Styles) -> Row:
        opens = " · ctrl+up, then up; enter opens" if self.key else ""
        words = f"{_count(self.total, 'row')} x {_count(self.width, 'column')}{opens}"
        return Row([Segment(cut_end(words, width), look.muted)], table=self)

    def _measure_widths(self, room: int) -> list[int]:
        """Return the widths of the columns that are shown: from the first on, as many
        as there is room for.
        """
        full_widths = [column.width for column in self.columns]
        usual = [min(width, _USUAL) for width in full_widths]
        if len(usual) == self.width and sum(usual) + _GAP * (len(usual) - 1) <= room:
            return _widen(usual, full_widths, room - sum(usual) - _GAP * (len(usual) - 1))
        room -= _GAP + measure_width(f"… {self.width:,} more")
        widths: list[int] = []
        for column, width in zip(self.columns, usual, strict=True):
            # A number that is cut would be another number.
            least = width if widths and column.numeric else min(width, _SHORTEST if widths else _NARROWEST)
            if room < least:
                break
            widths.append(min(width, room))
            room -= width + _GAP
        return widths


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    style: Style
    right: bool = False

    def segment(self, width: int) -> Segment:
        """Return the text, shortened or filled to the width."""
        text = cut_end(self.text, width)
        fill = " " * (width - measure_width(text))
        return Segment(fill + text if self.right else text + fill, self.style)


def _make_cell(column: _Column, at: int, look: Styles) -> _Cell:
    text = column.cells[at]
    return _Cell(_format_text(text), look.muted if text is None else look.base, column.numeric)


def _draw_row(cells: Sequence[_Cell], widths: Sequence[int], look: Styles) -> Row:
    """Return one line of the table; what is shown of it is what a selection copies."""
    segments: list[Segment] = []
    for cell, width in zip(cells, widths, strict=True):
        if segments:
            segments.append(Segment(" " * _GAP, look.base))
        segments.append(cell.segment(width))
    # The spaces at the end stay out of what is copied.
    return Row(segments, "".join(segment.text for segment in segments).rstrip())


def _make_gap_row(count: int, width: int, look: Styles) -> Row:
    return Row([Segment(cut_end(f"… {_count(count, 'row')} not shown", width), look.muted)])


def _widen(widths: list[int], wanted: list[int], left: int) -> list[int]:
    """Give the room that is left to the columns whose texts are cut, from the first on."""
    widened = []
    for width, full in zip(widths, wanted, strict=True):
        more = min(full - width, left)
        left -= more
        widened.append(width + more)
    return widened


def _format_text(cell: str | None) -> str:
    return _MISSING if cell is None else cell


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _make_one_line(value: object) -> str:
    return clean_line(str(value), 200)


def _read(found: Any) -> InlineTable | None:
    columns, rows = found["columns"], found["rows"]
    total, width, head = int(found["total"]), int(found["width"]), int(found["head"])
    if len(rows) > _MOST_ROWS or not len(columns) <= min(width, _MOST_COLUMNS) or len(rows) > total:
        return None
    cells = [[None if cell is None else _make_one_line(cell) for cell in row] for _, row in rows]
    if any(len(row) != len(columns) for row in cells):
        return None
    read = tuple(
        _Column(_make_one_line(name), _make_one_line(kind), bool(numeric), tuple(row[at] for row in cells))
        for at, (name, kind, numeric) in enumerate(columns)
    )
    labels = tuple(_make_one_line(label) for label, _ in rows)
    numbers = all(label.lstrip("-").isdecimal() for label in labels)
    index = _Column(_make_one_line(found["index"]), "", numbers, labels)
    language = _make_one_line(found.get("language", "python"))
    return InlineTable(
        language, _make_one_line(found["key"]), _make_one_line(found["name"]), index, read, total, width, head
    )
