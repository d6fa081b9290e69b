"""The text objects of vi: the word, quotation, brackets or paragraph at a place."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from oi_tui.widgets.vi.motions import Position, classify_character, find_closing, find_opening

#: The keys of brackets, by the bracket that opens.
_KEYS = {"(": "()b", "[": "[]", "{": "{}B"}


@dataclass(frozen=True)
class TextRange:
    """A part of the text: up to but without `end`, or the whole lines of both places."""

    start: Position
    end: Position
    kind: Literal["exclusive", "lines"] = "exclusive"


def find_object(lines: Sequence[str], place: Position, key: str, *, around: bool) -> TextRange | None:
    """Return the object that a key names; `around` takes what belongs to it as well, such as its quotes."""
    if key in "wW":
        return _find_word(lines[place[0]], place, big=key == "W", around=around)
    if key in "\"'`":
        return _find_quotation(lines[place[0]], place, key, around=around)
    if key == "p":
        return _find_paragraph(lines, place[0], around=around)
    for bracket, keys in _KEYS.items():
        if key in keys:
            return _find_brackets(lines, place, bracket, around=around)
    return None


def _find_word(line: str, place: Position, *, big: bool, around: bool) -> TextRange | None:
    row, column = place
    if not line:
        return None
    start, end = _run(line, column, big=big)
    if around and line[column].isspace():
        end = _run(line, end, big=big)[1] if end < len(line) else end
    elif around:
        after = len(line) - len(line[end:].lstrip())
        start = start if after > end else len(line[:start].rstrip())
        # White space at the beginning of a line does not belong to its first word.
        start = start if line[:start].strip() or after > end else _run(line, column, big=big)[0]
        end = after
    return TextRange((row, start), (row, end))


def _run(line: str, column: int, *, big: bool) -> tuple[int, int]:
    """Return from where and up to where the characters are of one class."""
    kind = classify_character(line, column, big=big)
    start = end = column
    while start > 0 and classify_character(line, start - 1, big=big) == kind:
        start -= 1
    while end < len(line) and classify_character(line, end, big=big) == kind:
        end += 1
    return start, end


def _find_quotation(line: str, place: Position, quote: str, *, around: bool) -> TextRange | None:
    row, column = place
    marks = [at for at, letter in enumerate(line) if letter == quote and not _is_escaped(line, at)]
    pairs = zip(marks[::2], marks[1::2], strict=False)
    pair = next((pair for pair in pairs if column <= pair[1]), None)
    if pair is None:
        return None
    start, end = pair
    if not around:
        return TextRange((row, start + 1), (row, end))
    after = len(line) - len(line[end + 1 :].lstrip())
    if after == end + 1:
        start = len(line[:start].rstrip())
    return TextRange((row, start), (row, after))


def _is_escaped(line: str, column: int) -> bool:
    before = line[:column]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _find_brackets(lines: Sequence[str], place: Position, bracket: str, *, around: bool) -> TextRange | None:
    begin = find_opening(lines, place, bracket)
    if begin is None and (after := lines[place[0]].find(bracket, place[1])) >= 0:
        begin = place[0], after
    end = find_closing(lines, begin, bracket) if begin else None
    if begin is None or end is None:
        return None
    if around:
        return TextRange(begin, (end[0], end[1] + 1))
    alone = not lines[begin[0]][begin[1] + 1 :] and not lines[end[0]][: end[1]].strip()
    if alone and end[0] - begin[0] > 1:
        # Both brackets stand at an end of their lines: what they hold are whole lines.
        return TextRange((begin[0] + 1, 0), (end[0] - 1, 0), "lines")
    return TextRange((begin[0], begin[1] + 1), end)


def _find_paragraph(lines: Sequence[str], row: int, *, around: bool) -> TextRange | None:
    top, bottom = _find_block(lines, row)
    if around and bottom + 1 < len(lines):
        bottom = _find_block(lines, bottom + 1)[1]
    elif around and top > 0:
        top = _find_block(lines, top - 1)[0]
    return TextRange((top, 0), (bottom, 0), "lines")


def _find_block(lines: Sequence[str], row: int) -> tuple[int, int]:
    """Return the first and the last of the rows around a row that are blank as it is, or as it are not."""
    blank = not lines[row].strip()
    top = bottom = row
    while top > 0 and (not lines[top - 1].strip()) == blank:
        top -= 1
    while bottom + 1 < len(lines) and (not lines[bottom + 1].strip()) == blank:
        bottom += 1
    return top, bottom
