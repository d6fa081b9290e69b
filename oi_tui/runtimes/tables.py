"""Tables that are read page by page: the interface of their source, and those in a language's variables."""

import re
import time
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from oi_tui.text import repair_surrogates

#: A cell's text; None where the value is missing.
Cell = str | None


class TableError(Exception):
    """The table cannot be read; the message says why."""


class TableBusyError(TableError):
    """The table cannot be read now; trying again in a moment may work."""


class TableChangedError(TableError):
    """The table has other rows or columns than when its shape was asked for."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, the name of its type, and whether it holds numbers."""

    name: str
    type: str
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class TableQuery:
    """Which rows of a table are wanted, and in which order."""

    sort: int | None = None
    descending: bool = False
    words: str = ""


@dataclass(frozen=True, slots=True)
class TableShape:
    """A table as a whole: its kind and columns, the rows in the view, and those in all (`total`).

    If `reading`, its file is still being read, and more rows come.
    """

    kind: str
    columns: tuple[Column, ...]
    rows: int
    total: int
    index: str = ""
    reading: bool = False


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row: its label, and the cells that were asked for."""

    label: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Statistics:
    """A column in figures: facts with their names, and how often values, or ranges of them, occur."""

    facts: tuple[tuple[str, str], ...]
    bars: tuple[tuple[str, int], ...] = field(default=())


class TableSource(Protocol):
    """The source of the rows. Each method may be slow, and raises TableError."""

    @property
    def name(self) -> str:
        """The name of the table: a variable or a file."""

    def shape(self, view: TableQuery) -> TableShape:
        """Return the current shape of the table."""

    def page(
        self, view: TableQuery, start: int, count: int, first: int, columns: int, *, whole: bool = False
    ) -> list[TableRow]:
        """`count` rows of the view from `start` on, with `columns` cells from column `first` on.

        Long texts are cut unless `whole`.
        """

    def statistics(self, column: int) -> Statistics:
        """Return one column of all rows, in figures."""


#: After this many seconds a search is given up.
_SEARCH = 10.0
#: Asks the language that has the table; None where it does not answer.
Ask = typing.Callable[  # evaluated by Python 3.8
    [typing.Mapping[str, object]], typing.Optional[typing.Mapping[str, object]]  # noqa: UP045
]


class LiveTable:
    """A table that a language remembers, asked for page by page."""

    def __init__(self, name: str, language: str, ask: Ask) -> None:
        self._name = name
        self._language = language
        self._ask = ask
        #: The rows in all and the names of the columns, as `shape` told them.
        self._known: tuple[int, list[str]] | None = None

    @property
    def name(self) -> str:
        """The variable."""
        return self._name

    def _answer(self, **query: object) -> Mapping[str, object]:
        """Return the answer. A long search comes in parts, between which a cell can begin."""
        end = time.monotonic() + _SEARCH
        while True:
            answer = self._ask({"name": self._name, **query})
            if answer is None:
                raise TableBusyError(f"{self._language} is busy or not running")
            if error := answer.get("error"):
                raise TableError(str(error))
            if not answer.get("unfinished"):
                return answer
            if time.monotonic() > end:
                raise TableError(
                    "The table is too large to search all its cells. Filter by a condition on a column, "
                    "or with code."
                )
            query["continues"] = True

    def shape(self, view: TableQuery) -> TableShape:
        """Return the current shape of the table."""
        answer = self._answer(do="shape", sort=view.sort, descending=view.descending, words=view.words)
        columns = tuple(
            Column(repair_surrogates(str(name)), str(of), bool(numeric))
            for name, of, numeric in _list(answer, "columns")
        )
        rows, total = int(str(answer.get("rows", 0))), int(str(answer.get("total", 0)))
        self._known = total, [column.name for column in columns]
        return TableShape(str(answer.get("kind")), columns, rows, total, str(answer.get("index", "")))

    def page(
        self, view: TableQuery, start: int, count: int, first: int, columns: int, *, whole: bool = False
    ) -> list[TableRow]:
        """Return some rows and columns of the view.

        Raises TableChangedError where its shape is another one now.
        """
        part = {"start": start, "count": count, "first": first, "columns": columns, "whole": whole}
        order = {"sort": view.sort, "descending": view.descending, "words": view.words}
        answer = self._answer(do="page", **order, **part)
        if self._known is not None:
            total, names = self._known
            read = [repair_surrogates(str(name)) for name in _list(answer, "names")]
            now = int(str(answer.get("total", total))), read
            if now != (total, names[first : first + columns]):
                raise TableChangedError(f"{self._name} has changed meanwhile")
        return [
            TableRow(str(label), tuple(map(_parse_cell, cells))) for label, cells in _list(answer, "page")
        ]

    def statistics(self, column: int) -> Statistics:
        """Return one column of all rows, in figures."""
        answer = self._answer(do="statistics", column=column)
        facts = tuple((str(name), str(value)) for name, value in _list(answer, "facts"))
        return Statistics(facts, tuple((str(name), int(many)) for name, many in _list(answer, "bars")))


def _list(answer: Mapping[str, object], name: str) -> list[Any]:
    values = answer.get(name)
    return values if isinstance(values, list) else []


def _parse_cell(value: object) -> Cell:
    # Half of a character cannot be copied or written to a file.
    return None if value is None else repair_surrogates(str(value))


#: What stands for a missing value in a condition.
MISSING = "missing"
_CONDITION = re.compile(r"(.+?)\s*(==|!=|<=|>=|=|<|>)\s*(.+)", re.DOTALL)


def read_condition(words: str, names: Sequence[str]) -> tuple[int, str, str] | None:
    """Read a filter such as `price > 5`: the column, the sign and the value; None for a text to look for."""
    match = _CONDITION.fullmatch(words.strip())
    if match is None:
        return None
    column_name = match[1].strip("`'\"")
    same = [at for at, name in enumerate(names) if name == column_name]
    same = same or [at for at, name in enumerate(names) if name.lower() == column_name.lower()]
    return (same[0], match[2].replace("==", "="), match[3].strip("'\"")) if same else None


def find_unknown_column(words: str, names: Sequence[str]) -> str | None:
    """Return the name in a filter such as `price > 5` that no column has; None for other filters."""
    match = _CONDITION.fullmatch(words.strip())
    return match[1].strip("`'\"") if match and read_condition(words, names) is None else None


def find_number(text: str) -> float | None:
    """Return the number that a text is; None for other texts."""
    # Python also reads digits of other scripts and 1_000, which are texts in a table.
    if not text.isascii() or "_" in text:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number == number else None
