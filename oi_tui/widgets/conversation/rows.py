"""Rows: the lines of a block, with the text that each gives when it is copied."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from rich.cells import chop_cells
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from oi_tui.widgets.truncate import measure_width

#: A run of text in one style.
Span = tuple[str, Style]


class RowImage(Protocol):
    """An image that rows show."""

    @property
    def shape(self) -> tuple[int, int]:
        """Its columns and lines."""

    @property
    def sixel(self) -> str:
        """The sixel data to draw over the rows, where sixels are used and it is ready."""

    def note_seen(self) -> None:
        """Note that it is in view."""


class RowTable:
    """A table that can be opened from the conversation."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Row:
    """One line on the screen, without the conversation's left margin.

    `text` is what a selection of the row copies, starting `indent` cells from its left end; None for what is
    only drawn. `joint` stands between it and the row above when both are copied: a newline, or what a wrap
    took away.
    """

    segments: list[Segment]
    text: str | None = None
    indent: int = 0
    joint: str = "\n"
    #: What the whole row stands on: the style that fills it to the right.
    fill: Style | None = None
    #: The image that it is a line of, and which.
    image: tuple[RowImage, int] | None = field(default=None, repr=False)
    #: What its block does at a click on it: "fold" or "open", as with the keys.
    click: str = ""
    #: The table that a click on it opens.
    table: RowTable | None = field(default=None, repr=False)
    #: Painted strips, by what they depend on; only the newest is kept.
    painted: tuple[object, Strip] | None = field(default=None, repr=False)

    @property
    def plain(self) -> str:
        """The text of the row."""
        return "".join(segment.text for segment in self.segments)


#: Scripts that may be broken between any two characters.
_WIDE = "\u2e80-\u303e\u3041-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60"
_TOKEN = re.compile(rf"\n|[^\S\n\u00a0]+|[{_WIDE}]|(?:[^\s{_WIDE}]|\u00a0)+")


@dataclass(slots=True)
class Wrapped:
    """One line of wrapped text: its pieces, and the text between it and the line before."""

    segments: list[Segment]
    text: str
    joint: str


def wrap_words(spans: Iterable[Span], width: int) -> list[Wrapped]:
    """Break styled text into lines of at most `width` cells, at spaces where there are any."""
    width = max(width, 1)
    lines: list[Wrapped] = []
    line: list[Segment] = []
    used = 0
    joint = "\n"
    gap: Span | None = None
    word: list[Span] = []
    word_width = 0

    def end_line(next_joint: str) -> None:
        nonlocal line, used, joint, gap
        lines.append(Wrapped(line, "".join(segment.text for segment in line), joint))
        line, used, joint, gap = [], 0, next_joint, None

    def end_word() -> None:
        nonlocal used, gap, word, word_width
        if not word:
            return
        space = measure_width(gap[0]) if gap else 0
        full = used + space + word_width > width
        if (line and full) or space >= width:
            end_line(gap[0] if gap else "")
        elif gap and (line or not lines):
            line.append(Segment(*gap))
            used += space
        gap = None
        for text, style in word:
            for part in _fit_parts(text, width, used):
                if used and used + measure_width(part) > width:
                    end_line("")
                line.append(Segment(part, style))
                used += measure_width(part)
        word, word_width = [], 0

    for text, style in spans:
        for token in _TOKEN.findall(text):
            if token == "\n":
                end_word()
                end_line("\n")
            elif token.isspace() and token[0] != "\u00a0":
                end_word()
                gap = ((gap[0] if gap else "") + token.expandtabs(4), style)
            elif len(token) == 1 and measure_width(token) == 2:
                end_word()
                word, word_width = [(token, style)], 2
                end_word()
            else:
                word.append((token, style))
                word_width += measure_width(token)
    end_word()
    if line or not lines:
        end_line("\n")
    return lines


def _fit_parts(text: str, width: int, used: int) -> list[str]:
    """Return the text in parts of at most `width` cells; the first fills a line of
    which `used` cells are taken.
    """
    if measure_width(text) <= width:
        return [text]
    first = width - used
    if first <= 0:
        return chop_cells(text, width)
    head = chop_cells(text, first)[0]
    return (
        [head, *chop_cells(text[len(head) :], width)]
        if measure_width(head) <= first
        else chop_cells(text, width)
    )


def wrap_cells(spans: Iterable[Span], width: int) -> list[Wrapped]:
    """Break styled text into lines of at most `width` cells, as a terminal does: at the edge."""
    return _break_lines(spans, width, lambda head, _: len(head))


def wrap_code(spans: Iterable[Span], width: int) -> list[Wrapped]:
    """Break a line of code into lines of at most `width` cells: at a space, a mark, or between words.

    Where these would leave too short a line, it is broken at the edge.
    """
    return _break_lines(spans, width, _find_place_in_code)


def _break_lines(spans: Iterable[Span], width: int, place: Callable[[str, str], int]) -> list[Wrapped]:
    """Break styled text into lines.

    `place` gets what fits into a line, and the text from there on; it returns how much of it the line takes.
    """
    spans = list(spans)
    text = "".join(part for part, _ in spans)
    width = max(width, 2)
    lines: list[Wrapped] = []
    at = 0
    pieces = _make_cutter(spans)
    while at < len(text) or not lines:
        # Enough to fill a line; looking at all the rest for each line would cost its square.
        ahead = text[at : at + 2 * width + 8]
        head = (ahead[:width] if ahead.isascii() else _cut_head(ahead, width)) or ahead[:1]
        count = len(head) if at + len(head) == len(text) else place(head, ahead[len(head) :])
        lines.append(Wrapped(pieces(count), text[at : at + count], "" if lines else "\n"))
        at += count
    return lines


def _make_cutter(spans: Iterable[Span]) -> Callable[[int], list[Segment]]:
    """Return a function that takes a number of next characters of the spans."""
    rest = [span for span in spans if span[0]][::-1]
    taken = 0

    def take(count: int) -> list[Segment]:
        nonlocal taken
        segments: list[Segment] = []
        while count:
            text, style = rest[-1]
            part = text[taken : taken + count]
            segments.append(Segment(part, style))
            count -= len(part)
            taken += len(part)
            if taken == len(text):
                rest.pop()
                taken = 0
        return segments

    return take


#: What text that is set in columns has: a gap within the line that ends no sentence, or rules and bars.
_COLUMNS = re.compile(r"(?<=\S)(?<![^\W\d_][.!?:]) {2,}\S|(?:^|\s)\|(?:\s|$)|[\u2500-\u259f]")


def wrap_output(spans: Sequence[Span], width: int, ground: Color | None = None) -> list[Wrapped]:
    """Break a line that a program printed: prose at spaces, and text set in columns at the edge.

    The texts of the lines, behind their joints, are what was printed. Spaces at the end that nobody sees on a
    background of the colour `ground` take no line of their own.
    """
    text = "".join(text for text, _ in spans)
    if measure_width(text) <= width:
        return wrap_cells(spans, width)
    if not _COLUMNS.search(text):
        lines = wrap_words(spans, width)
        lines[-1].text += text[len(text.rstrip(" ")) :]
        return lines
    length = _measure_visible(spans, ground)
    visible = [(text, style or Style()) for text, style, _ in _make_cutter(spans)(length)]
    lines = wrap_cells(visible, width)
    lines[-1].text += text[length:]
    return lines


def _measure_visible(spans: Sequence[Span], ground: Color | None) -> int:
    """Return the number of characters without the spaces at the end that cannot be seen."""
    length = sum(len(text) for text, _ in spans)
    for text, style in reversed(spans):
        if style.reverse or style.underline or style.strike or style.bgcolor not in (None, ground):
            break
        blanks = len(text) - len(text.rstrip(" "))
        length -= blanks
        if blanks < len(text):
            break
    return length


#: Where code is broken best: behind a space; behind a comma or an opening bracket, or before a method; where
#: a word begins. Each match is empty. The number says what share of the line is never given up for it.
_PLACES = (
    (re.compile(r"(?<=\s)(?=\S)"), 2),
    (re.compile(r"(?<=[,;(\[{=|&/])(?![,;(\[{=|&/])|(?<=[\w)\]])(?=\.[^\W\d])"), 4),
    (re.compile(r"(?<=[^\w\"'`-])(?=\w)"), 4),
)


def _find_place_in_code(head: str, rest: str) -> int:
    if rest[0] == " ":
        return len(head)
    for pattern, share in _PLACES:
        # The next character decides whether there is a place at the edge.
        starts = [match.start() for match in pattern.finditer(head + rest[0], len(head) // share)]
        if places := [at for at in starts if 0 < at <= len(head)]:
            return places[-1]
    return len(head)


def _cut_head(text: str, width: int) -> str:
    """As much of the start of the text as fits into `width` cells; maybe nothing."""
    if width <= 0:
        return ""
    if measure_width(text) <= width:
        return text
    head = chop_cells(text, width)[0]
    return head if measure_width(head) <= width else ""


def clip_spans(spans: Iterable[Span], width: int) -> list[Segment]:
    """Return the start of styled text on one line of at most `width` cells, with "…"
    where something was cut off.
    """
    spans = list(spans)
    if sum(measure_width(text) for text, _ in spans) <= width:
        return [Segment(*span) for span in spans]
    line = wrap_cells(spans, max(width - 1, 1))[0].segments
    return [*line, Segment("…", line[-1].style if line else None)]
