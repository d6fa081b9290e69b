"""Paints one row of the code editor, and finds the cells of its characters."""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from oi_tui.text import escape_controls
from oi_tui.widgets.conversation.code import TAB, Piece
from oi_tui.widgets.conversation.styles import Styles
from oi_tui.widgets.truncate import measure_width

_MARKED = Style(underline=True, bold=True)
_CARET = Style(reverse=True)


@dataclass(frozen=True)
class RowView:
    """What a row shows of its line. Rows of the same line with equal views look the same."""

    #: The line, counted from 0, and which part of it the row shows where long lines are wrapped.
    line: int
    part: int
    is_wrapped: bool
    #: The columns from and up to which the part goes; None for the end of the line.
    first: int
    last: int | None
    scroll_x: int
    width: int
    gutter: int
    look: Styles
    #: The columns from and up to which it is selected.
    selected: tuple[int, int]
    #: The columns of the caret and of the bracket that matches the one at the caret.
    caret: int | None
    bracket: int | None
    #: The columns from and up to which something was found.
    matches: tuple[tuple[int, int | None], ...]
    is_changed: bool

    def style_at(self, column: int, base: Style) -> Style:
        """Return the style of a character that is drawn with `base` where it has no mark."""
        style = base
        if any(at <= column and (to is None or column < to) for at, to in self.matches):
            style += _MARKED
        if self.selected[0] <= column < self.selected[1]:
            style += self.look.selection
        if column == self.bracket:
            style += _MARKED
        if column == self.caret:
            style += _CARET
        return style


def paint_row(view: RowView, line: str, pieces: Sequence[Piece]) -> Strip:
    """Paint a row; `pieces` are the tokens of its line."""
    room = view.width - view.gutter
    start = count_cells(line, view.first) if view.part else view.scroll_x
    end = start + room
    if view.last is not None:
        end = min(end, count_cells(line, view.last))
    # What is left of the view is not painted.
    first = find_column(line, start)
    skipped = count_cells(line, first)
    segments, columns, cells = _paint_characters(view, _drop(pieces, first), first, skipped)
    # No part of a wrapped line is cut on the left, and only the last one on the right, where characters that
    # are drawn in words are wider than the wrapped document takes them for.
    cut_left = not view.is_wrapped and start > 0 and bool(line)
    # The space after the last character does not belong to the line.
    cut_right = view.last is None and cells - (columns > len(line)) > start + room
    body = Strip(segments).crop(start - skipped, end - skipped).extend_cell_length(room, view.look.code)
    caret = None if view.caret is None else count_cells(line, view.caret) - start
    return Strip.join(
        [_paint_gutter(view), _mark_cut(body, cut_left, cut_right, caret, view.look.code_muted)]
    )


def _drop(pieces: Sequence[Piece], count: int) -> Iterator[Piece]:
    """Yield the tokens without their first `count` characters."""
    for kind, text in pieces:
        if count < len(text):
            yield kind, text[count:]
        count = max(count - len(text), 0)


def _paint_characters(
    view: RowView, pieces: Iterable[Piece], column: int, cells: int
) -> tuple[list[Segment], int, int]:
    """Paint what begins at a column and cell, up to the edge of the view, with a space after the line.

    Returns it with the column and cell behind it.
    """
    look = view.look
    segments: list[Segment] = []
    end = cells + 2 * view.width
    for kind, text in [*pieces, (None, " ")]:
        base = look.token(kind) if kind is not None else look.code
        for character in text:
            if cells > end:
                break
            glyph = _draw(character, cells)
            is_itself = glyph == character or character == "\t"
            style = view.style_at(column, base if is_itself else look.hidden)
            if segments and segments[-1].style is style:
                segments[-1] = Segment(segments[-1].text + glyph, style)
            else:
                segments.append(Segment(glyph, style))
            cells += measure_width(glyph)
            column += 1
    return segments, column, cells


def _paint_gutter(view: RowView) -> Strip:
    """Paint the number of the line, with the marks of the caret and of a change."""
    look = view.look
    if view.part:
        return Strip([Segment("↳ ".rjust(view.gutter), look.code_muted)], view.gutter)
    segments = [
        Segment(">" if view.caret is not None else " ", look.code_changed),
        Segment(f"{view.line + 1:>{view.gutter - 3}}", look.code_muted),
        Segment("~ " if view.is_changed else "  ", look.code_changed),
    ]
    return Strip(segments, view.gutter)


def _mark_cut(body: Strip, left: bool, right: bool, caret: int | None, style: Style) -> Strip:
    """Put "…" at each end of the visible part where the line continues, except on the caret."""
    width = body.cell_length
    if width > 2 and left and caret != 0:
        body = Strip.join([Strip([Segment("…", style)], 1), body.crop(1, width)])
    if width > 2 and right and caret != width - 1:
        body = Strip.join([body.crop(0, width - 1), Strip([Segment("…", style)], 1)])
    return body


def count_cells(line: str, column: int) -> int:
    """Count the cells of what is before a column of a line."""
    return _list_cells(line)[min(column, len(line))]


def find_column(line: str, cell: int) -> int:
    """Return the column of the character that covers a cell; the length of the line behind its end."""
    return bisect_right(_list_cells(line), cell) - 1


# Each row of a long line that is wrapped asks for them several times.
@lru_cache(maxsize=8)
def _list_cells(line: str) -> Sequence[int]:
    """Return the cells at which the characters of a line begin, and the one behind the last of them."""
    if line.isascii() and line.isprintable():
        return range(len(line) + 1)
    begins = array("L", [0])
    cells = 0
    for character in line:
        cells += TAB - cells % TAB if character == "\t" else _measure_character(character)
        begins.append(cells)
    return begins


@lru_cache(maxsize=4096)
def _measure_character(character: str) -> int:
    return measure_width(_draw(character, 0))


def _draw(character: str, cells: int) -> str:
    """Return the text drawn for a character that begins at this cell."""
    if character == "\t":
        return " " * (TAB - cells % TAB)
    return character if character.isprintable() and character.isascii() else escape_controls(character)
