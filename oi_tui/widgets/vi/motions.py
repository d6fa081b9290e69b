"""The motions of vi: where a key leads from a place in the text.

Places are a row and a column, from 0. A motion that leads nowhere returns None, and the command is dropped.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

#: A place in the text: its row and its column.
Position = tuple[int, int]
#: Whether an operator takes the character at the far end, leaves it out, or takes whole lines.
Kind = Literal["exclusive", "inclusive", "lines"]

#: Brackets, and what closes them.
BRACKETS = {"(": ")", "[": "]", "{": "}"}
_OPENING = {end: begin for begin, end in BRACKETS.items()}


@dataclass(frozen=True)
class Motion:
    """A place, and what an operator takes on the way there."""

    to: Position
    kind: Kind = "exclusive"


def classify_character(line: str, column: int, *, big: bool) -> int:
    """Return 0 for white space, 1 for a letter, digit or _, and 2 for others; `big` makes all others one."""
    character = line[column]
    if character.isspace():
        return 0
    return 1 if big or character.isalnum() or character == "_" else 2


def find_first_letter(line: str) -> int:
    """Return the column of the first character that is no white space; the last one of a blank line."""
    return min(len(line) - len(line.lstrip()), max(len(line) - 1, 0))


def find_next_word(lines: Sequence[str], place: Position, *, big: bool = False) -> Position:
    """Return the beginning of the next word, an empty line, or the end of the text."""
    row, column = place
    line = lines[row]
    if column < len(line) and (kind := classify_character(line, column, big=big)):
        while column < len(line) and classify_character(line, column, big=big) == kind:
            column += 1
    while True:
        while column < len(line) and line[column].isspace():
            column += 1
        if column < len(line) or row + 1 == len(lines):
            return row, column
        row, column, line = row + 1, 0, lines[row + 1]
        if not line:
            return row, 0


def find_word_before(lines: Sequence[str], place: Position, *, big: bool = False) -> Position:
    """Return the beginning of the word before, an empty line, or the beginning of the text."""
    row, column = place[0], place[1] - 1
    while True:
        line = lines[row]
        while column >= 0 and line[column].isspace():
            column -= 1
        if column >= 0:
            break
        if row == 0:
            return 0, 0
        row -= 1
        column = len(lines[row]) - 1
        if not lines[row]:
            return row, 0
    kind = classify_character(line, column, big=big)
    while column > 0 and classify_character(line, column - 1, big=big) == kind:
        column -= 1
    return row, column


def find_word_end(lines: Sequence[str], place: Position, *, big: bool = False) -> Position:
    """Return the last character of this word or of the next."""
    row, column = place[0], place[1] + 1
    while True:
        line = lines[row]
        while column < len(line) and line[column].isspace():
            column += 1
        if column < len(line):
            break
        if row + 1 == len(lines):
            return row, max(len(line) - 1, 0)
        row, column = row + 1, 0
    kind = classify_character(line, column, big=big)
    while column + 1 < len(line) and classify_character(line, column + 1, big=big) == kind:
        column += 1
    return row, column


def find_paragraph(lines: Sequence[str], place: Position, step: int) -> Position | None:
    """Return the empty line after or before this paragraph, or the end or beginning of the text.

    None from there on.
    """
    row = place[0]
    while 0 <= row + step < len(lines) and not lines[row]:
        row += step
    while 0 <= row + step < len(lines):
        row += step
        if not lines[row]:
            return row, 0
    end = (row, len(lines[row])) if step > 0 else (row, 0)
    return end if end != place else None


def find_in_line(line: str, column: int, key: str, wanted: str, count: int, *, again: bool) -> int | None:
    """Return the column of f, t, F or T; `again` is for a repeat, which does not stay before the same one."""
    step = 1 if key in "ft" else -1
    at = column + step if again and key in "tT" else column
    for _ in range(count):
        at += step
        while 0 <= at < len(line) and line[at] != wanted:
            at += step
        if not 0 <= at < len(line):
            return None
    return at - step if key in "tT" else at


def find_other_bracket(lines: Sequence[str], place: Position) -> Position | None:
    """Return the partner of the first bracket from here to the end of the line."""
    row, column = place
    line = lines[row]
    bracket_column = next((at for at in range(column, len(line)) if line[at] in "()[]{}"), None)
    if bracket_column is None:
        return None
    bracket = line[bracket_column]
    if bracket in BRACKETS:
        return find_closing(lines, (row, bracket_column), bracket)
    return find_opening(lines, (row, bracket_column), _OPENING[bracket])


def find_closing(lines: Sequence[str], place: Position, bracket: str) -> Position | None:
    """Return the end of the brackets that open at a place."""
    row, column = place
    depth = 0
    for at in range(row, len(lines)):
        for where in range(column if at == row else 0, len(lines[at])):
            depth += (lines[at][where] == bracket) - (lines[at][where] == BRACKETS[bracket])
            if depth == 0:
                return at, where
    return None


def find_opening(lines: Sequence[str], place: Position, bracket: str) -> Position | None:
    """Return where the brackets open that hold a place or close at it."""
    row, column = place
    depth = 1 if lines[row][column : column + 1] != BRACKETS[bracket] else 0
    for at in range(row, -1, -1):
        for where in range(column if at == row else len(lines[at]) - 1, -1, -1):
            if where < len(lines[at]):
                depth += (lines[at][where] == BRACKETS[bracket]) - (lines[at][where] == bracket)
            if depth == 0:
                return at, where
    return None


def search(lines: Sequence[str], place: Position, wanted: re.Pattern[str], step: int) -> Position | None:
    """Return where the pattern is found next, around the ends of the text."""
    row, column = place
    for distance in range(len(lines) + 1):
        at = (row + step * distance) % len(lines)
        columns = [match.start() for match in wanted.finditer(lines[at])]
        if distance == 0:
            columns = [start for start in columns if (start - column) * step > 0]
        if columns:
            return at, columns[0 if step > 0 else -1]
    return None
