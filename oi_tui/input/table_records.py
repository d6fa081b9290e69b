"""What the readers of tables in files give: names of columns, rows, and what is unusual about the file."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?$", re.ASCII)
YEAR = re.compile(r"(19|20)\d\d$", re.ASCII)
#: What stands before or behind a number: signs of currencies, and %, which is behind only.
MARKS = "$€£¥₹₩%"
#: How many lines above a table can be its title.
_TITLE = 10


class JsonNumber(float):
    """A number of JSON that is no integer, with its text in the file: 1.10 is not shown as 1.1."""

    def __new__(cls, text: str) -> "JsonNumber":
        """Read the text."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    text: str


@dataclass
class TableRecords:
    """What a file holds. `names` and `notes` may still grow while the rows are read."""

    kind: str
    names: list[str]
    rows: Iterable[Sequence[object]]
    #: The types of the columns and whether they hold numbers; without them they follow from the values.
    types: tuple[tuple[str, bool], ...] = ()
    #: Whether numbers are written as 1.234,5.
    comma: bool = False
    #: Whether an empty text is another value than a missing one.
    keeps_empty: bool = False
    #: Whether the sign of a currency or of % beside a number is the format of its cell, and no part of it.
    has_formats: bool = False
    #: What the person should know of the file, in a few words each.
    notes: list[str] = field(default_factory=list)
    #: All tables of the file, where it can have several, and the one that is read.
    tables: tuple[str, ...] = ()
    table: str = ""
    #: Ends the reading.
    close: Callable[[], object] = lambda: None


def find_header(rows: Sequence[Sequence[object]], width: int) -> int:
    """Return the number of the row that has the names: the first that fills more than half of the columns.

    Some of the names may be missing, such as that of the row labels in what pandas writes.
    """
    for at, row in enumerate(rows[: _TITLE + 1]):
        below = rows[at + 1] if at + 1 < len(rows) else ()
        if _count_filled(row) * 2 > width or _has_names(row, below, width):
            return at
    return 0


def _has_names(row: Sequence[object], below: Sequence[object], width: int) -> bool:
    """Return whether a row with few cells names the columns of the full row below it, and is no title."""
    filled = _count_filled(row)
    if width == 2 and filled == 1 and row[0] in (None, ""):
        return True
    if filled < min(2, width - 1) or _has_numbers(row):
        return False
    return _count_filled(below) * 2 > width and _has_numbers(below)


def _count_filled(row: Sequence[object]) -> int:
    return sum(value not in (None, "") for value in row)


def _has_numbers(row: Sequence[object]) -> bool:
    """Return whether a row has numbers that are no years."""
    return any(
        NUMBER.match(str(value).strip()) and not YEAR.match(str(value).strip())
        for value in row
        if type(value) in (str, int, float)
    )
