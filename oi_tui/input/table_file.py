"""Reads tables in files page by page through a temporary database, so that large files need little memory."""

import contextlib
import csv
import json
import lzma
import math
import os
import re
import sqlite3
import stat
import threading
import time
import zipfile
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from oi_tui.input import table_readers
from oi_tui.input.table_days import GROUPS, count_days, describe_order, find_detail, find_order, read_day
from oi_tui.input.table_kinds import (
    GAPS,
    MISSING_WORDS,
    NEGATIVE,
    NUMERIC,
    count_seconds,
    find_written_number,
    is_certain,
    learn_kind,
    make_key,
    write_plainly,
)
from oi_tui.input.table_readers import PACKED
from oi_tui.input.table_records import MARKS, JsonNumber, TableRecords
from oi_tui.runtimes.tables import (
    MISSING,
    Cell,
    Column,
    Statistics,
    TableError,
    TableQuery,
    TableRow,
    TableShape,
    read_condition,
)

_DATABASES = (".sqlite", ".sqlite3", ".db")
#: The endings of files that open as tables.
ENDINGS = (*table_readers.ENDINGS, *_DATABASES)
_EMPTY: dict[object, None] = dict.fromkeys(("", " ", "  ", "\u00a0"))
#: The types of a database that hold numbers; not POINT, INTERVAL and ENUM.
_NUMERIC_TYPE = re.compile("(?<!PO)INT(?!ERVAL)|REAL|FLO|DOUB|(?<!E)NUM|DECIMAL")
#: The values of a question, by their names in it.
_Values = dict[str, object]
#: The most columns that a table of SQLite takes by default, and the most tables that it joins. Wider files
#: are kept in several tables, of which each has all rows.
_PART, _PARTS = 2000, 64
#: How many columns are read at once: with the number of the row, a whole part would be too many.
_READ = 1000
#: How SQLite is told the largest number there is.
_INFINITY = "9e999"
#: What numbers are written with, and the kinds of columns that hold them so.
_IN_NUMBERS, _PLAIN_NUMBERS = frozenset("0123456789+-.eE "), ("int", "long", "float")
#: How the notations begin that have more than digits in their numbers.
_GROUPED = ("grouped", "comma")
#: How the types of columns begin whose dates sort as they are written, in text, databases and Parquet.
_DATE_TYPES = ("date", "timestamp")
#: The dates of a database that are read as such.
_DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*"
_LONGEST, _BINS = 200, 10
#: Below this, figures are shown with all digits of their whole part.
_EXACT = 1e15
#: Ends of ranges that are closer than this are written with an exponent.
_FINEST = 1e-6
#: The most rows, and the most cells, that are copied at once.
_BATCH, _BATCH_CELLS = 1000, 500_000
#: What reading a damaged file raises, beside TableError.
_UNREADABLE = (
    *(OSError, EOFError, ValueError, RecursionError, sqlite3.Error, csv.Error),
    # RuntimeError is said of an archive with a password.
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, RuntimeError),
)


#: What a path may be that is no file.
_OTHER_FILES = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)


def is_table_file(name: str) -> bool:
    """Return whether a file of this name opens as a table."""
    return bool(table_readers.find_ending(name)) or Path(name).suffix.lower() in _DATABASES


def explain_no_table(path: Path) -> str | None:
    """Return why a file cannot be opened as a table, as far as that is seen without reading it."""
    if not is_table_file(path.name):
        if is_file(path) and (advice := table_readers.explain_ending(path.name)):
            return f"{path.name} cannot be opened as a table. {advice}"
        endings = ", ".join(ENDINGS)
        return (
            f"{path.name} cannot be opened as a table. Files that end in {endings} can"
            f" (text files also packed, with {', '.join(PACKED)} after that)."
        )
    return explain_no_file(path)


def explain_no_file(path: Path) -> str | None:
    """Return why a file cannot be read, as far as that is seen without reading it."""
    try:
        mode = path.stat().st_mode
    except PermissionError:
        return f"No permission to read {path}."
    except (OSError, ValueError):
        if os.path.islink(path):  # noqa: PTH114 -- that of Path raises for a name that is too long
            return f"{path} is a link to {path.readlink()}, which does not exist."
        return f"There is no file {path}."
    if not stat.S_ISREG(mode):
        kinds = ((is_of(mode), name) for is_of, name in _OTHER_FILES)
        kind = next((name for fits, name in kinds if fits), "a device")
        return f"{path} is {kind}. Only regular files open as tables."
    return None if os.access(path, os.R_OK) else f"No permission to read {path}."


def is_file(path: Path) -> bool:
    """Return whether there is such a file.

    Unlike Path.is_file, False if the path is too long or closed to us.
    """
    return os.path.isfile(path)  # noqa: PTH113 -- Path.is_file raises before Python 3.14


@dataclass(frozen=True)
class _Keys:
    """What SQLite is asked for the values of a column, for the keys by which they sort, and for its rows."""

    text: str
    key: str
    rows: str


class TableFile:
    """A table in a file. Of a database or a workbook, `table` names the one that is wanted."""

    #: All tables of the file, and the one that is shown; empty where it can have one only.
    tables: tuple[str, ...] = ()
    table = ""

    def __init__(
        self, path: Path, table: str = "", pythons: Sequence[str] = (), *, gradually: bool = False
    ) -> None:
        """Read the file; if `gradually`, only its first rows: `read_on` reads the rest. Raises TableError.

        `pythons` are interpreters that may have the libraries for Parquet and Excel if ours has not.
        """
        self.name = path.name
        self._path, self._pythons = path, pythons
        self._lock = threading.Lock()
        self._shape: tuple[Column, ...] = ()
        #: The columns whose numbers have commas or are infinite, and how these are written.
        self._written: dict[str, str] = {}
        #: What else stands between the thousands of them.
        self._gaps: dict[str, list[str]] = {}
        #: Whether infinite numbers are among them.
        self._infinite: dict[str, bool] = {}
        self._records: TableRecords | None = None
        #: The numbers of the rows of the view that was last asked for, which had so many rows to choose from.
        self._found: tuple[TableQuery, int, Sequence[int]] | None = None
        #: What is still to be read, a batch at a time, and how many rows have been.
        self._rest: Iterator[None] = iter(())
        self._is_whole = True
        self._total = 0
        try:
            self._open(path, table)
            if not gradually:
                for _ in self._rest:
                    pass
        except _UNREADABLE as error:
            self.close()
            raise TableError(f"{self.name} cannot be read as a table: {_describe(error)}") from error
        except TableError:
            self.close()
            raise

    def _open(self, path: Path, table: str) -> None:
        kind = path.suffix.lower()
        if why := explain_no_table(path):
            raise TableError(why)
        if kind in _DATABASES:
            self._use_database(path, table)
            return
        # SQLite keeps a database without a name in a file that no longer has one: nothing of it outlives us.
        self._database = sqlite3.connect("", check_same_thread=False)
        self._database.create_function("seconds", 1, count_seconds, deterministic=True)
        self._database.create_function("day", 2, read_day, deterministic=True)
        self._database.create_function("long_key", 1, make_key, deterministic=True)
        records = table_readers.read(path, table, self._pythons)
        self.tables, self.table = records.tables, records.table
        self._records = records
        self._rest = self._fill(records)
        self._is_whole = False
        next(self._rest, None)
        if self.table and len(self.tables) > 1:
            self.name = f"{path.name}::{self.table}"

    def _use_database(self, path: Path, table: str) -> None:
        self._database = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False
        )
        # A text may be in any encoding.
        self._database.text_factory = lambda text: text.decode("utf-8", "replace")
        names = self._list_tables()
        if not names:
            raise TableError(f"{path.name} has no tables.")
        self.tables = tuple(names)
        if table:
            # SQLite takes small letters and capitals for the same.
            named = [name for name in names if name == table] or [
                name for name in names if name.lower() == table.lower()
            ]
            if not named:
                raise TableError(f"{path.name} has no table {table}; it has {', '.join(names)}.")
            self._use_table(named[0])
            return
        for at, name in enumerate(names):
            try:
                self._use_table(name)
            except sqlite3.Error:
                # A view may lack its table, and a table may need an extension of SQLite.
                if at == len(names) - 1:
                    raise
            else:
                return

    def _list_tables(self) -> list[str]:
        """Return the names of the tables and views, without those that a virtual table is made of."""
        listed = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
        names = [name for (name,) in self._database.execute(listed)]
        with contextlib.suppress(sqlite3.Error):
            inner = {row[1] for row in self._database.execute("PRAGMA table_list") if row[2] == "shadow"}
            names = [name for name in names if name not in inner] or names
        return names

    def _use_table(self, name: str) -> None:
        self._table = self.table = name
        self.name = f"{self._path.name}::{name}"
        # Generated columns are among them, and those that `select *` leaves out are not.
        listed = self._database.execute(f"PRAGMA table_xinfo({_quote(name)})")
        columns = [column for column in listed if column[-1] != 1]
        self._names = [called for _, called, *_ in columns]
        # What a view computes has no type, so the first rows tell it.
        untyped = [called for _, called, of, *_ in columns if not of]
        types = ", ".join(f"group_concat(DISTINCT typeof({_quote(called)}))" for called in untyped[:_READ])
        asked = f"SELECT {types or 'count(*)'} FROM (SELECT * FROM {_quote(name)} LIMIT {_BATCH})"
        found = dict(zip(untyped, self._database.execute(asked).fetchone(), strict=False))
        self._shape = tuple(
            _describe_column(called, of, set((found.get(called) or "").split(",")))
            for _, called, of, *_ in columns
        )

    @property
    def kind(self) -> str:
        """What kind of file it is, and what is unusual about it."""
        records = self._records
        return ", ".join([records.kind, *records.notes]) if records else "SQLite table"

    def read_on(self, seconds: float) -> bool:
        """Read more rows for about `seconds`. Returns whether there are more."""
        end = time.monotonic() + seconds
        with self._lock:
            try:
                for _ in self._rest:
                    if time.monotonic() > end:
                        break
            except (*_UNREADABLE, TableError) as error:
                self._is_whole = True
                assert self._records
                self._records.notes.append(f"the rest cannot be read: {_describe(error)}")
            return not self._is_whole

    def _fill(self, records: TableRecords) -> Iterator[None]:
        """Copy the rows into the database, batch by batch, and learn what the columns hold."""
        names = records.names
        self._names = []
        self._kinds: list[str] = []
        #: The texts in each column that stand for a missing value, where it holds no other texts.
        self._missing: list[set[object]] = []
        self._described: tuple[list[str], list[str]] | None = None
        # Columns without a type keep each text as it is in the file: 007 stays 007.
        self._database.execute("PRAGMA journal_mode=OFF")
        self._database.execute("PRAGMA synchronous=OFF")
        self._widen(max(len(names), 1))
        batch: list[Sequence[object]] = []
        longer = shorter = 0
        for row in chain(records.rows, (None,)):
            if row is not None:
                many = len(row)
                if many > len(self._names):
                    while many > len(self._names) and row[many - 1] in (None, ""):
                        many -= 1
                    if many > len(self._names):
                        longer += many > len(names)
                        self._insert(batch, records)
                        batch = []
                        self._widen(many)
                elif many > len(names):
                    longer += any(value not in (None, "") for value in row[len(names) :])
                elif many < len(names) and many:
                    shorter += not records.types
                batch.append(row)
            if row is None or len(batch) >= min(_BATCH, _BATCH_CELLS // len(self._names) or 1):
                self._insert(batch, records)
                batch = []
                if row is not None:
                    self._describe_columns(records)
                    yield
        self._database.commit()
        if longer:
            records.notes.append(f"{longer:,} row{'s' * (longer != 1)} longer than the names")
        if shorter and records.kind[:3] in ("CSV", "TSV", "TAB"):
            records.notes.append(f"{shorter:,} shorter row{'s' * (shorter != 1)}")
        self._describe_columns(records)
        self._is_whole = True

    def _describe_columns(self, records: TableRecords) -> None:
        """Learn the shape from the rows that were read so far."""
        names = [*records.names, *[""] * (len(self._names) - len(records.names))]
        if not records.names and not self._kinds[0]:
            names = []
        if self._described == (names, self._kinds):
            return
        self._described = (names, list(self._kinds))
        columns = []
        for at, (name, kind) in enumerate(zip(names, self._kinds, strict=False)):
            base, _, mark = kind.partition(" ")
            type_name, numeric = kind or "empty", base in NUMERIC
            if at < len(records.types):
                type_name, numeric = records.types[at]
            # What seemed to be a number may stand among texts further below.
            self._written.pop(self._names[at], None)
            if base in ("infinite", "grouped", "comma", "time", "long", "day"):
                self._written[self._names[at]] = kind
                if base in ("long", "day") and at >= len(records.types):
                    type_name = "int" if base == "long" else describe_order(mark)
                elif at >= len(records.types) and numeric:
                    type_name = "float" if not mark else "percent" if mark == "%" else "currency"
            elif base == "bracketed" and at >= len(records.types):
                type_name = "text"
            columns.append(Column(name or f"column {at + 1}", type_name, numeric))
        self._shape = tuple(columns)

    def _widen(self, many: int) -> None:
        if many > _PART * _PARTS:
            raise TableError(
                f"The file has {many:,} columns; at most {_PART * _PARTS:,} can be opened. Read it "
                "with code, and open the data frame."
            )
        at = len(self._names)
        while at < many:
            if at % _PART:
                self._database.execute(f"ALTER TABLE {self._find_part(at)} ADD COLUMN c{at}")
                at += 1
                continue
            last = min(many, at + _PART)
            added = ", ".join(f"c{column}" for column in range(at, last))
            self._database.execute(f"CREATE TABLE {self._find_part(at)} ({added})")
            if at:
                empty = f"INSERT INTO {self._find_part(at)} (c{at}) SELECT NULL FROM {self._find_part(0)}"
                self._database.execute(empty)
            at = last
        self._kinds += [""] * (many - len(self._names))
        self._missing += [set() for _ in range(len(self._names), many)]
        self._names += [f"c{at}" for at in range(len(self._names), many)]

    def _insert(self, batch: list[Sequence[object]], records: TableRecords) -> None:
        many = len(self._names)
        rows = (row if len(row) == many else (*row[:many], *[None] * (many - len(row))) for row in batch)
        # Column by column, which is much faster than cell by cell.
        rows_kept = list[Sequence[object]]()
        for at, column in enumerate(zip(*rows, strict=True)):
            values = _prepare(column, keeps_empty=records.keeps_empty)
            words = set[object]()
            if self._kinds[at] != "text":
                words |= MISSING_WORDS.intersection(values)
                words |= _EMPTY.keys() & set(values) if records.keeps_empty else set()
            self._missing[at] |= words
            self._kinds[at] = learn_kind(values, words, self._kinds[at], comma=records.comma)
            rows_kept.append(values)
        try:
            self._insert_columns(rows_kept)
        except UnicodeEncodeError:
            # JSON can have half of a character, which no database takes.
            for at in range(0, many, _PART):
                self._database.execute(f"DELETE FROM {self._find_part(at)} WHERE rowid > ?", [self._total])
            self._insert_columns([[_repair_halves(value) for value in column] for column in rows_kept])
        self._total += len(batch)

    def _insert_columns(self, columns: Sequence[Sequence[object]]) -> None:
        for at in range(0, len(columns), _PART):
            part = columns[at : at + _PART]
            places = ", ".join("?" * len(part))
            self._database.executemany(
                f"INSERT INTO {self._find_part(at)} VALUES ({places})", zip(*part, strict=True)
            )

    def _find_part(self, column: int) -> str:
        """Return the table that has the column."""
        return f"rows{column // _PART}" if self._records else _quote(self._table)

    def _join_parts(self, columns: Iterable[int]) -> str:
        """Return the tables that have the columns, as what SELECT reads from."""
        first, *others = sorted({self._find_part(at) for at in columns}) or [self._find_part(0)]
        return first + "".join(f" JOIN {part} ON {part}.rowid = {first}.rowid" for part in others)

    def open_other(self, table: str) -> "TableFile":
        """Open another table of the same file. Raises TableError."""
        return TableFile(self._path, table, self._pythons, gradually=True)

    def close(self) -> None:
        """Close the database and the file, once a question that another thread asks has been given up.

        SQLite may hang or crash where a connection is closed during a question.
        """
        database = getattr(self, "_database", None)
        # What begins only now is not interrupted by the time before.
        while not self._lock.acquire(timeout=0.05):
            # Another thread may close it meanwhile.
            with contextlib.suppress(sqlite3.Error):
                if database:
                    database.interrupt()
        try:
            if self._records:
                self._records.close()
            if database:
                database.close()
        finally:
            self._lock.release()

    def _ask(self, words: str, values: Sequence[object] | _Values = ()) -> list[Any]:
        with self._lock:
            try:
                return self._database.execute(words, values).fetchall()
            except sqlite3.Error as error:
                raise TableError(f"{self.name} cannot be read: {error}") from error

    def _ask_numbers(self, kind: str, words: str, values: Sequence[object] | _Values = ()) -> Any:
        """Ask for one number for each row, as an array of this kind: a list would need much more memory."""
        with self._lock:
            try:
                return array(kind, (number for (number,) in self._database.execute(words, values)))
            except sqlite3.Error as error:
                raise TableError(f"{self.name} cannot be read: {error}") from error

    def _build_where(self, view: TableQuery) -> tuple[str, _Values, Iterable[int]]:
        """Return the condition of a view, its values, and the columns that it needs."""
        if not view.words:
            return "", {}, ()
        if (condition := self._build_condition(view.words)) is not None:
            return condition
        columns = self._choose_searched(view.words)
        where, values = self._build_search(view.words, columns)
        return where, values, columns

    def _choose_searched(self, words: str) -> Sequence[int]:
        """Return the columns in which a text may be: others hold only numbers, written without it."""
        columns = range(len(self._names))
        if self._records is None or _IN_NUMBERS.issuperset(words):
            return columns
        return [at for at in columns if self._missing[at] or self._kinds[at] not in _PLAIN_NUMBERS]

    def _build_search(self, words: str, columns: Iterable[int]) -> tuple[str, _Values]:
        """Return the condition that one of these columns has a text, and its values."""
        test, pattern = _build_test(words)
        tests = [f"{_quote(self._names[at])} {test}" for at in columns] or ["FALSE"]
        # A deep expression is refused, so the tests stand side by side in groups of groups.
        for _ in range(2):
            tests = ["(" + " OR ".join(tests[at : at + 50]) + ")" for at in range(0, len(tests), 50)]
        return " WHERE " + " OR ".join(tests), {"words": pattern}

    def _build_condition(self, words: str) -> tuple[str, _Values, Iterable[int]] | None:
        """Return the rows where a column has a value, as `price > 5` or `city = missing`.

        None for other words.
        """
        condition = read_condition(words, [column.name for column in self._shape])
        if condition is None:
            return None
        at, sign, value = condition
        name, present = _quote(self._names[at]), self._build_value(at)
        if value == "" and self._records and not self._records.keeps_empty:
            value = MISSING
        if value == MISSING and sign in ("=", "!="):
            return f" WHERE {present} IS {'NOT ' * (sign == '!=')}NULL", {}, (at,)
        notation = self._written.get(self._names[at], "")
        if self._has_plain_dates(at):
            value = self._convert_day(value, at)
        number = find_written_number(value, notation)
        if number is None and notation.startswith("day") and sign not in ("=", "!="):
            raise TableError(
                f"{self._shape[at].name} holds dates. Compare it with one that is written as they are, "
                "or as 2024-01-31."
            )
        if number is None or (sign in ("=", "!=") and not (self._shape[at].numeric or notation)):
            return f" WHERE {present} IS NOT NULL AND {name} {sign} :value", {"value": value}, (at,)
        # Of a column with texts among its numbers, only the numbers are compared.
        is_number = "TRUE" if notation else f"typeof({name}) IN ('integer', 'real')"
        if self._records and not notation:
            is_number = f"{name} GLOB '[0-9]*' OR {name} GLOB '[-+.0-9]*[0-9]*'"
        return (
            f" WHERE {present} IS NOT NULL AND ({is_number}) AND {self._build_number(name)} {sign} :value",
            {"value": number},
            (at,),
        )

    def _convert_day(self, value: str, at: int) -> str:
        """Return a date in a condition as the column has it, with the year first. Raises TableError."""
        order = find_order(value)
        if order in ("", "-ymd"):
            return value
        if order in ("/?", "-?"):
            raise TableError(
                f"{self._shape[at].name} holds dates, and {value} could be two days. Write 2024-01-31."
            )
        return read_day(value, order) or value

    def _has_plain_dates(self, at: int) -> bool:
        """Return whether a column has dates with the year first, which sort as they are written."""
        if self._names[at] in self._written or not self._shape[at].type.startswith(_DATE_TYPES):
            return False
        if self._records is not None:
            return True
        # A database takes any text for a date.
        asked = f"SELECT 1 FROM {_quote(self._table)} WHERE {_quote(self._names[at])} NOT GLOB ? LIMIT 1"
        return not self._ask(asked, (_DAY,))

    def _build_value(self, at: int) -> str:
        """Return what reads a column, with NULL for what is missing: among numbers, NA is no value."""
        name = _quote(self._names[at])
        if self._records is None or not self._missing[at]:
            return name
        if self._shape[at].numeric or self._shape[at].type.partition(" ")[0] in ("date", "time", "bool"):
            for word in sorted(map(str, self._missing[at])):
                name = "NULLIF({}, '{}')".format(name, word.replace("'", "''"))
        return name

    def _build_number(self, name: str) -> str:
        """Return what reads the number in a column."""
        notation = self._written.get(name.strip('"'))
        if notation is None:
            # Long integers differ in digits that a float does not have.
            return f"CAST({name} AS NUMERIC)"
        if notation == "time":
            return f"seconds({name})"
        if notation == "long":
            return f"long_key({name})"
        if notation.startswith("day"):
            return f"day({name}, '{notation.partition(' ')[2]}')"
        if notation != "infinite" and not self._has_infinite(name):
            return self._build_finite_number(name, notation)
        signed = f"trim({name}) LIKE '{{}}inf%' THEN {{}}{_INFINITY}"
        whens = " ".join(f"WHEN {signed.format(sign, sign.strip('+'))}" for sign in ("", "+", "-"))
        return f"CASE {whens} ELSE {self._build_finite_number(name, notation)} END"

    def _build_finite_number(self, name: str, written: str) -> str:
        if written == "infinite":
            return f"CAST({name} AS REAL)"
        digits, gaps = name, self._find_gaps(name)
        for gap in gaps:
            digits = "REPLACE({}, '{}', '')".format(digits, gap.replace("'", "''"))
        if not written.startswith("grouped"):
            digits = f"REPLACE(REPLACE({digits}, '.', ''), ',', '.')"
        number = f"CAST(REPLACE({digits}, ',', '') AS REAL)"
        signs = [f"instr({name}, '{sign}')" for sign in NEGATIVE if sign in gaps]
        return f"CASE WHEN {' OR '.join(signs)} THEN -{number} ELSE {number} END" if signs else number

    def _find_gaps(self, name: str) -> Sequence[str]:
        """Return what stands beside the digits in a column, apart from signs, commas and points."""
        if name not in self._gaps or not self._is_whole:
            table = self._find_part(self._names.index(name[1:-1].replace('""', '"')))
            gaps = GAPS + MARKS + NEGATIVE
            expressions = ", ".join(f"max(instr({name}, ?))" for _ in gaps)
            (positions,) = self._ask(f"SELECT {expressions} FROM {table}", gaps)
            self._gaps[name] = [gap for gap, at in zip(gaps, positions, strict=True) if at]
        return self._gaps[name]

    def _has_infinite(self, name: str) -> bool:
        """Return whether a column of numbers with commas has infinite ones, too.

        Without them it is read faster.
        """
        if name not in self._infinite or not self._is_whole:
            table = self._find_part(self._names.index(name[1:-1].replace('""', '"')))
            ((has_match,),) = self._ask(f"SELECT EXISTS (SELECT 1 FROM {table} WHERE {name} LIKE '%inf%')")
            self._infinite[name] = bool(has_match)
        return self._infinite[name]

    def shape(self, view: TableQuery) -> TableShape:
        """Return the table as it was when it was opened."""
        if self._records is not None:
            total, rows = self._total, len(self._find_rows(view))
        else:
            where, values, needed = self._build_where(view)
            table = self._join_parts(needed)
            total = self._ask(f"SELECT count(*) FROM {table}")[0][0]
            rows = self._ask(f"SELECT count(*) FROM {table}{where}", values)[0][0] if where else total
        return TableShape(self.kind, self._shape, rows, total, reading=not self._is_whole)

    def page(
        self, view: TableQuery, start: int, count: int, first: int, columns: int, *, whole: bool = False
    ) -> list[TableRow]:
        """Return some rows and columns of the view."""
        # Records are numbered from 1 on, without gaps; the rows of a database need not have numbers.
        by_number = self._records is not None
        if by_number:
            numbers = self._find_rows(view)[start : start + count]
            # These are numbers of ours. As parameters, there could be too many.
            rows_wanted, values = f" WHERE {{0}}.rowid IN ({', '.join(map(str, numbers))})", _Values()
            needed: Iterable[int] = ()
        else:
            where, order, values, needed = self._build_order(view)
            rows_wanted, values = (
                f"{where}{order} LIMIT :count OFFSET :start",
                {**values, "count": count, "start": start},
            )
        last = min(first + columns, len(self._names))
        rows: list[list[Cell]] = []
        # A part of the columns after the other: an answer of SQLite is not wider than a table.
        for begin in range(first, last, _READ) or (first,):
            column_range = range(begin, min(begin + _READ, last))
            table = self._join_parts({*needed, *column_range})
            main = table.split()[0]
            names = [f"{main}.rowid"] * by_number + [self._build_value(at) for at in column_range]
            clause = rows_wanted.format(main) if by_number else rows_wanted
            answer = self._ask(f"SELECT {', '.join(names) or 'NULL'} FROM {table}{clause}", values)
            if by_number:
                cells_by_number = {number: cells for number, *cells in answer}
                answer = [cells_by_number[number] for number in numbers]
            rows = rows or [[] for _ in answer]
            for row, more in zip(rows, answer, strict=True):
                row += [_render(value, whole=whole) for value in more]
        return [TableRow(str(start + at + 1), tuple(row)) for at, row in enumerate(rows)]

    def export_page(
        self,
        view: TableQuery,
        start: int,
        count: int,
        first: int,
        columns: int,
        *,
        typed: bool,
        unchanged: Collection[int] = (),
    ) -> list[TableRow]:
        """Return whole rows as they are exported: 1234.5 for $1,234.50, 0.15 for 15%, 2024-01-31 for 31/1/24.

        In a file without types, the texts of a text file stay as they are; so do those of the columns
        `unchanged`. It is not changed where day and month cannot be told apart.
        """
        rows = self.page(view, start, count, first, columns, whole=True)
        if self._records is None or not (typed or self._records.has_formats):
            return rows
        notations = {
            at: notation
            for at, (name, column) in enumerate(
                zip(self._names[first : first + columns], self._shape[first : first + columns], strict=True)
            )
            if first + at not in unchanged
            and (notation := self._written.get(name, ""))
            and ((column.numeric and notation.startswith(_GROUPED)) or (typed and is_certain(notation)))
        }
        return [
            replace(
                row,
                cells=tuple(
                    write_plainly(cell, notations[at]) if cell is not None and at in notations else cell
                    for at, cell in enumerate(row.cells)
                ),
            )
            for row in rows
        ]

    def _build_order(self, view: TableQuery) -> tuple[str, str, _Values, Iterable[int]]:
        """Return the condition of a view, its order, their values, and the columns that they need."""
        where, values, needed = self._build_where(view)
        if view.sort is None:
            return where, "", values, needed
        name = _quote(self._names[view.sort])
        is_number = self._shape[view.sort].numeric or self._names[view.sort] in self._written
        # A database knows for each value whether it is a number.
        key = self._build_number(name) if is_number and self._records is not None else name
        order = f" ORDER BY {self._build_value(view.sort)} IS NULL, {key}{' DESC' if view.descending else ''}"
        return where, order, values, {*needed, view.sort}

    def _find_rows(self, view: TableQuery) -> Sequence[int]:
        """Return the numbers of the rows of a view, in its order, kept until another view is asked for."""
        if view == TableQuery():
            return range(1, self._total + 1)
        if self._found is None or self._found[:2] != (view, self._total):
            if len(self._names) > _PART and view.words and self._build_condition(view.words) is None:
                self._found = view, self._total, self._search_parts(view)
                return self._found[2]
            where, order, values, needed = self._build_order(view)
            table = self._join_parts(needed)
            number = f"{table.split()[0]}.rowid"
            ties = f"{order}, {number}" if order else ""
            rows = self._ask_numbers("q", f"SELECT {number} FROM {table}{where}{ties}", values)
            self._found = view, self._total, rows
        return self._found[2]

    def _search_parts(self, view: TableQuery) -> Sequence[int]:
        """Return the rows of a view with a text in a wide file: joined, its tables are searched slowly."""
        found = set[int]()
        searched = self._choose_searched(view.words)
        parts = {self._find_part(at): list[int]() for at in searched}
        for at in searched:
            parts[self._find_part(at)].append(at)
        for part, columns in parts.items():
            where, values = self._build_search(view.words, columns)
            found.update(self._ask_numbers("q", f"SELECT rowid FROM {part}{where}", values))
        return array("q", filter(found.__contains__, self._find_rows(replace(view, words=""))))

    def statistics(self, column: int) -> Statistics:
        """Return one column of all rows, in figures."""
        name, table, value = _quote(self._names[column]), self._find_part(column), self._build_value(column)
        ((total, there, distinct),) = self._ask(
            f"SELECT count(*), count({value}), count(DISTINCT {value}) FROM {table}"
        )
        facts = [("rows", f"{total:,}"), ("missing", f"{total - there:,}"), ("distinct", f"{distinct:,}")]
        numbers = array("d")
        if self._shape[column].numeric and there:
            number, only_numbers = self._build_number(name), ""
            if self._records is None:
                # A column of any type may hold texts and blobs.
                number, only_numbers = name, f" AND typeof({name}) IN ('integer', 'real')"
            elif self._written.get(self._names[column]) == "long":
                number = f"CAST({name} AS REAL)"
            numbers = self._ask_numbers(
                "d", f"SELECT {number} FROM {table} WHERE {value} IS NOT NULL{only_numbers}"
            )
            if others := there - len(numbers):
                facts.append(("not numbers", f"{others:,}"))
        days = self._find_days(column) if there else None
        ends = self._find_ends(days) if days else {}
        facts += [(label, text) for label, (text, _) in ends.items()]
        if not numbers:
            if days and distinct > _BINS and (counted := self._count_days(days, ends)):
                return Statistics(tuple(facts), counted)
            bars = self._ask(
                f"SELECT {value}, count(*) FROM {table} WHERE {value} IS NOT NULL "
                f"GROUP BY 1 ORDER BY 2 DESC LIMIT {_BINS}"
            )
            return Statistics(tuple(facts), tuple((_render(item) or "", many) for item, many in bars))
        found = _describe_numbers(facts, numbers)
        if self._written.get(self._names[column]) != "long":
            return found
        keys = _Keys(name, self._build_number(name), f"{table} WHERE {value} IS NOT NULL")
        exact = {label: text for label, (text, _) in self._find_ends(keys).items()}
        return replace(found, facts=tuple((label, exact.get(label, text)) for label, text in found.facts))

    def _find_days(self, column: int) -> _Keys | None:
        """Return where the dates of a column are as texts that sort; None for a column of other values."""
        name = _quote(self._names[column])
        rows = f"{self._find_part(column)} WHERE {self._build_value(column)} IS NOT NULL"
        if not self._written.get(self._names[column], "").startswith("day"):
            return _Keys(name, name, rows) if self._has_plain_dates(column) else None
        # They are read once for all questions, which takes most of the time.
        self._ask("DROP TABLE IF EXISTS temp.days")
        self._ask(
            f"CREATE TEMP TABLE days AS SELECT {name} AS text, {self._build_number(name)} AS key FROM {rows}"
        )
        return _Keys("text", "key", "temp.days")

    def _count_days(self, days: _Keys, ends: dict[str, tuple[str, object]]) -> tuple[tuple[str, int], ...]:
        """Return how many dates are in each range; none where they cannot be counted."""
        if not (detail := find_detail(ends["min"][1], ends["max"][1])):
            return ()
        # A column may have as many times as rows: they are put together before they come here.
        counts = self._ask(
            f"SELECT substr({days.key}, 1, {detail}), count(*) FROM {days.rows} GROUP BY 1 LIMIT {2 * GROUPS}"
        )
        return count_days(counts, _BINS) if len(counts) < 2 * GROUPS else ()

    def _find_ends(self, keys: _Keys) -> dict[str, tuple[str, object]]:
        """Return the least and the greatest value by their keys: as it is written, and the key."""
        # Beside the only max or min, SQLite takes the other values from the row that has it.
        rows = (
            self._ask(f"SELECT {keys.text}, {end}({keys.key}) FROM {keys.rows}") for end in ("min", "max")
        )
        return {
            end: (_render(text) or "", at) for end, ((text, at),) in zip(("min", "max"), rows, strict=True)
        }


def _describe_numbers(facts: list[tuple[str, str]], numbers: Iterable[float]) -> Statistics:
    """Return the facts of a column, with those of its numbers, and how many of them are in each range."""
    ordered = sorted(numbers)
    low, high = ordered[0], ordered[-1]
    # The mean of both infinities is not a number, and a sum may be larger than any number.
    mean = sum(ordered) / len(ordered)
    figures = [("min", low), ("25 %", _find_share(ordered, 0.25)), ("median", _find_median(ordered))]
    figures += [("mean", mean), ("75 %", _find_share(ordered, 0.75)), ("max", high)]
    if len(ordered) > 1 and math.isfinite(mean):
        spread = math.sqrt(sum((value - mean) * (value - mean) for value in ordered) / (len(ordered) - 1))
        figures.append(("std", spread))
    facts += [(label, _format_figure(value)) for label, value in figures if value == value]
    finite = ordered[bisect_right(ordered, -math.inf) : bisect_left(ordered, math.inf)]
    width = (finite[-1] - finite[0]) / _BINS if finite else math.inf
    if not math.isfinite(width):
        return Statistics(tuple(facts))
    edges = [finite[0] + width * at for at in range(_BINS + 1)]
    if len(set(edges)) <= _BINS:
        # The numbers are the same, or there are no numbers between them.
        low_text, high_text = _format_figure(finite[0]), _format_figure(finite[-1])
        if low_text == high_text and finite[0] != finite[-1]:
            low_text, high_text = repr(finite[0]), repr(finite[-1])
        label = low_text if low_text == high_text else f"{low_text} to {high_text}"
        return Statistics(tuple(facts), ((label, len(finite)),))
    places = [0, *(bisect_left(finite, edge) for edge in edges[1:-1]), len(finite)]
    names = map(" to ".join, pairwise(_format_edges(edges)))
    return Statistics(tuple(facts), tuple(zip(names, (b - a for a, b in pairwise(places)), strict=True)))


def _find_share(ordered: Sequence[float], share: float) -> float:
    """Return the number below which this share of them is, between two of them in proportion."""
    place = (len(ordered) - 1) * share
    low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
    return low if low == high else low * (1 - place % 1) + high * (place % 1)


def _find_median(ordered: Sequence[float]) -> float:
    """Return the number in the middle; of two, what is halfway between them."""
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    # The sum of both may be larger than any number.
    return low if low == high else low / 2 + high / 2


def _format_edges(edges: Sequence[float]) -> list[str]:
    """Return the ends of ranges, with as many digits as tell them apart: four, or more."""
    texts = [_format_edge(edge) for edge in edges]
    if len(set(texts)) == len(edges):
        return texts
    step = (edges[-1] - edges[0]) / (len(edges) - 1)
    if step >= _FINEST and max(abs(edges[0]), abs(edges[-1])) < _EXACT:
        decimals = max(0, 1 - math.floor(math.log10(step)))
        return [_trim_zeros(f"{edge:.{decimals}f}") for edge in edges]
    # With 17 digits, all floats differ.
    for digits in range(5, 18):
        texts = [f"{edge:.{digits}g}" for edge in edges]
        if len(set(texts)) == len(edges):
            break
    return texts


def _trim_zeros(text: str) -> str:
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _format_edge(value: float) -> str:
    """Return the end of a range with four digits; those of a whole number up to a million are not cut."""
    return f"{value:.0f}" if 9999.5 <= abs(value) < 1e6 else f"{value:.4g}"


def _format_figure(value: float) -> str:
    """Return a number for people: whole ones with all their digits, others with seven that count."""
    if abs(value) < _EXACT and value == int(value):
        return str(int(value))
    return f"{value:.1f}" if 1e7 <= abs(value) < _EXACT else f"{value:.7g}"


def _build_test(words: str) -> tuple[str, str]:
    """Return what SQLite finds texts with, in small letters or capitals, and its pattern as `:words`."""
    if words.isascii():
        escaped = re.sub(r"([\\%_])", r"\\\1", words)
        return "LIKE :words ESCAPE '\\'", f"%{escaped}%"
    # LIKE, which is faster, knows no other capitals than those of ASCII.
    parts = [
        f"[{cases}]" if len(cases := _find_cases(letter)) > 1 or letter in "*?[" else letter
        for letter in words
    ]
    return "GLOB :words", f"*{''.join(parts)}*"


def _find_cases(letter: str) -> str:
    """Return the letter in small and as a capital, where that is one letter, too."""
    cases = dict.fromkeys((letter, letter.lower(), letter.upper()))
    return "".join(case for case in cases if len(case) == 1)


def _describe_column(name: str, declared: str, types: set[str]) -> Column:
    """Return a column of a database; one that declares no type has that of its values, where it is one."""
    if declared:
        return Column(name, declared.lower(), _NUMERIC_TYPE.search(declared.upper()) is not None)
    types -= {"null", ""}
    if types and types <= {"integer", "real"}:
        return Column(name, "real" if "real" in types else "integer", numeric=True)
    return Column(name, types.pop() if len(types) == 1 else "")


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _prepare(column: Sequence[object], *, keeps_empty: bool) -> Sequence[object]:
    """Return the values of a column as they are kept: as texts, or None."""
    if not set(map(type, column)) <= {str, type(None)}:
        column = [
            None if value is None or value != value else value if isinstance(value, str) else _format(value)
            for value in column
        ]
    return list(column) if keeps_empty else list(map(_EMPTY.get, column, column))


def _describe(error: Exception) -> str:
    """Return the words of an error without the number that the system has for it."""
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__


def _repair_halves(value: object) -> object:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _format(value: object) -> str:
    """Return the text of a value of JSON or of a library, with numbers as they are written in the file."""
    if isinstance(value, JsonNumber):
        return value.text
    if isinstance(value, dict):
        items = (
            f"{json.dumps(name, ensure_ascii=False)}: {_format_part(part)}" for name, part in value.items()
        )
        return f"{{{', '.join(items)}}}"
    return f"[{', '.join(map(_format_part, value))}]" if isinstance(value, list) else str(value)


def _format_part(value: object) -> str:
    is_inner = isinstance(value, dict | list | JsonNumber)
    return _format(value) if is_inner else json.dumps(value, ensure_ascii=False)


def _render(value: object, *, whole: bool = False) -> Cell:
    if value is None:
        return None
    text = f"<{len(value):,} bytes>" if isinstance(value, bytes) else str(value)
    if whole:
        return text
    excerpt = text[:_LONGEST].replace("\r", "\\r").replace("\n", "\\n")
    return excerpt + ("…" if len(text) > _LONGEST else "")
