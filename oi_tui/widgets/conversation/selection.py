"""The selected part of rows: how it is drawn, and what is copied."""

import re
from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from oi_tui.widgets.conversation.rows import Row

#: The cells left of every row, which are never selected: the block cursor, and air.
MARGIN = 2
#: What a double click selects: a word, or the signs between two words.
_WORD = re.compile(r"\w+|[^\w\s]+")


def find_clicked_span(text: str, at: int, clicks: int) -> tuple[int, int] | None:
    """Return what so many clicks on a character select: two its word, more all of the text."""
    spans = [match.span() for match in _WORD.finditer(text)] if clicks == 2 else [(0, len(text))]
    return next(((first, end) for first, end in spans if first <= at < end), None)


def paint_selection(strip: Strip, span: tuple[int, int], style: Style) -> Strip:
    """Return the strip with the characters of the span in the selection's style; -1 is the end
    of the line.
    """
    start, end = max(span[0], MARGIN), span[1]
    segments: list[Segment] = []
    at = 0
    for text, old, control in strip:
        first = max(min(start - at, len(text)), 0)
        last = len(text) if end == -1 else max(min(end - at, len(text)), first)
        ink = (old or Style()) + style
        for part, look in ((text[:first], old), (text[first:last], ink), (text[last:], old)):
            if part:
                segments.append(Segment(part, look, control))
        at += len(text)
    return Strip(segments, strip.cell_length)


def copy_rows(rows: Iterable[tuple[Row | None, tuple[int, int] | None]]) -> str:
    """Return the text of rows, each with the span that is selected of it; None stands for an empty line.

    Rows that are only drawn give nothing, and what a wrap broke is joined again.
    """
    parts: list[str] = []
    for row, span in rows:
        if row is None:
            parts.append("\n" if parts else "")
        elif row.text is not None:
            start, end = span or (0, -1)
            offset = MARGIN + row.indent
            text = row.text[max(start - offset, 0) : None if end == -1 else max(end - offset, 0)]
            parts.append((row.joint if parts else "") + text)
    return "".join(parts)
