"""What the readers of tables in files give: names of columns, rows, and what is unusual about the file."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

#: How many lines above a table can be its title.
_TITLE = 10


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
    #: What the person should know of the file, in a few words each.
    notes: list[str] = field(default_factory=list)
    #: All tables of the file, where it can have several, and the one that is read.
    tables: tuple[str, ...] = ()
    table: str = ""
    #: Ends the reading.
    close: Callable[[], object] = lambda: None


def find_header(rows: Sequence[Sequence[object]], width: int) -> int:
    """Return the number of the row that has the names: the first that fills more than half of the columns."""
    for at, row in enumerate(rows[: _TITLE + 1]):
        if 2 * sum(value not in (None, "") for value in row) > width:
            return at
    return 0
