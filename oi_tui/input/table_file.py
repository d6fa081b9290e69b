"""Reads tables in files page by page through a temporary database, so that large files need little memory."""

import contextlib
import csv
import importlib
import json
import math
import re
import sqlite3
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from oi_tui.runtimes.tables import Cell, Column, Row, Shape, Statistics, TableError, View

#: The endings of files that open as tables, and the library that some of them need.
ENDINGS = {
    ".csv": "",
    ".tsv": "",
    ".tab": "",
    ".jsonl": "",
    ".ndjson": "",
    ".json": "",
    ".sqlite": "",
    ".sqlite3": "",
    ".db": "",
    ".parquet": "pyarrow",
    ".xlsx": "openpyxl",
}
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$")
_INTEGER = re.compile(r"[+-]?\d+$")
#: Texts that stand for a missing value.
_MISSING = frozenset(("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"))
#: SQLite takes at most so many columns, by default.
_COLUMNS = 2000
_NO_RECORD = "The file is not a table: each record must be a JSON object."
_LONGEST, _BINS, _BATCH = 200, 10, 5000


def is_table_file(name: str) -> bool:
    """Whether a file of this name opens as a table."""
    return Path(name).suffix.lower() in ENDINGS


class TableFile:
    """A table in a file. Of a database, `table` names the one that is wanted."""

    def __init__(self, path: Path, table: str = "") -> None:
        """Read the file. Raises TableError."""
        self.name = path.name
        self._lock = threading.Lock()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._shape: tuple[Column, ...] = ()
        try:
            self._open(path, table)
        except (OSError, ValueError, sqlite3.Error, csv.Error) as error:
            self.close()
            raise TableError(f"{path.name} cannot be read as a table: {error}") from error
        except TableError:
            self.close()
            raise

    def _open(self, path: Path, table: str) -> None:
        kind = path.suffix.lower()
        if kind not in ENDINGS:
            raise TableError(
                f"{path.name} does not open as a table; files do that end in {', '.join(ENDINGS)}."
            )
        if not path.is_file():
            raise TableError(f"There is no file {path}.")
        if kind in (".sqlite", ".sqlite3", ".db"):
            self._use_database(path, table)
            return
        self._folder = tempfile.TemporaryDirectory(prefix="oi-tui-table-")
        self._database = sqlite3.connect(Path(self._folder.name) / "rows", check_same_thread=False)
        self._table, self.kind = "rows", kind[1:].upper()
        self._fill(*_READERS[kind](path))

    def _use_database(self, path: Path, table: str) -> None:
        self._database = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False
        )
        listed = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
        names = [name for (name,) in self._database.execute(listed)]
        if not names:
            raise TableError(f"{path.name} has no tables.")
        if table not in names and (table or len(names) > 1):
            raise TableError(f"Name a table of {path.name}: {', '.join(names)}.")
        self._table, self.kind = table or names[0], "SQLite table"
        self.name = f"{path.name} {self._table}"
        columns = self._database.execute(f"PRAGMA table_info({_quote(self._table)})").fetchall()
        self._names = [name for _, name, *_ in columns]
        self._shape = tuple(
            Column(
                name, of.lower(), any(word in of.upper() for word in ("INT", "REAL", "FLO", "DOUB", "NUM"))
            )
            for _, name, of, *_ in columns
        )

    def _fill(self, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Copy the rows into the database, and learn what the columns hold."""
        if len(names) > _COLUMNS:
            raise TableError(f"The file has {len(names):,} columns; at most {_COLUMNS:,} can be opened.")
        self._names = [f"c{at}" for at in range(len(names))]
        # Columns without a type keep each text as it is in the file: 007 stays 007.
        self._database.execute("PRAGMA journal_mode=OFF")
        self._database.execute("PRAGMA synchronous=OFF")
        self._database.execute(f"CREATE TABLE rows ({', '.join(self._names)})")
        kinds = ["" for _ in names]
        places = ", ".join("?" * len(names))
        batch: list[list[object]] = []
        for row in chain(rows, (None,)):
            if row is not None:
                batch.append(_to_kinds(row, kinds))
            if row is None or len(batch) == _BATCH:
                self._database.executemany(f"INSERT INTO rows VALUES ({places})", batch)
                batch = []
        self._database.commit()
        self._shape = tuple(
            Column(name or f"column {at + 1}", kind or "empty", kind in ("int", "float"))
            for at, (name, kind) in enumerate(zip(names, kinds, strict=True))
        )

    def close(self) -> None:
        """Let go of the database."""
        if database := getattr(self, "_database", None):
            database.close()
        if self._folder:
            with contextlib.suppress(OSError):
                self._folder.cleanup()

    def _ask(self, words: str, values: Sequence[object] = ()) -> list[Any]:
        with self._lock:
            try:
                return self._database.execute(words, values).fetchall()
            except sqlite3.Error as error:
                raise TableError(f"{self.name} cannot be read: {error}") from error

    def _where(self, view: View) -> tuple[str, list[object]]:
        if not view.words:
            return "", []
        escaped = re.sub(r"([\\%_])", r"\\\1", view.words)
        tests = [f"{_quote(name)} LIKE ? ESCAPE '\\'" for name in self._names]
        # A deep expression is refused, so the tests stand side by side in groups.
        groups = ["(" + " OR ".join(tests[at : at + 50]) + ")" for at in range(0, len(tests), 50)]
        return " WHERE " + " OR ".join(groups), [f"%{escaped}%"] * len(tests)

    def shape(self, view: View) -> Shape:
        """The table as it was when it was opened."""
        where, values = self._where(view)
        table = _quote(self._table)
        ((total,),) = self._ask(f"SELECT count(*) FROM {table}")
        rows = self._ask(f"SELECT count(*) FROM {table}{where}", values)[0][0] if where else total
        return Shape(self.kind, self._shape, rows, total)

    def page(
        self, view: View, start: int, count: int, first: int, columns: int, *, whole: bool = False
    ) -> list[Row]:
        """Some rows and columns of the view."""
        where, values = self._where(view)
        names = [_quote(name) for name in self._names[first : first + columns]]
        order = ""
        if view.sort is not None:
            name = _quote(self._names[view.sort])
            key = f"CAST({name} AS REAL)" if self._shape[view.sort].numeric else name
            order = f" ORDER BY {name} IS NULL, {key}{' DESC' if view.descending else ''}"
        words = (
            f"SELECT {', '.join(names) or 'NULL'} FROM {_quote(self._table)}{where}{order} LIMIT ? OFFSET ?"
        )
        found = self._ask(words, [*values, count, start])
        cells = (tuple(_render(value, whole=whole) for value in row) for row in found)
        return [Row(str(start + at + 1), row) for at, row in enumerate(cells)]

    def statistics(self, column: int) -> Statistics:
        """One column of all rows, in figures."""
        name, table = _quote(self._names[column]), _quote(self._table)
        ((total, there, distinct),) = self._ask(
            f"SELECT count(*), count({name}), count(DISTINCT {name}) FROM {table}"
        )
        facts = [("rows", f"{total:,}"), ("missing", f"{total - there:,}"), ("distinct", f"{distinct:,}")]
        if not (self._shape[column].numeric and there):
            bars = self._ask(
                f"SELECT {name}, count(*) FROM {table} WHERE {name} IS NOT NULL "
                f"GROUP BY 1 ORDER BY 2 DESC LIMIT {_BINS}"
            )
            return Statistics(tuple(facts), tuple((_render(value) or "", many) for value, many in bars))
        number = f"CAST({name} AS REAL)"
        ((low, mean, high),) = self._ask(
            f"SELECT min({number}), avg({number}), max({number}) FROM {table} WHERE {name} IS NOT NULL"
        )
        middle = self._ask(
            f"SELECT {number} FROM {table} WHERE {name} IS NOT NULL ORDER BY 1 LIMIT 1 OFFSET ?", [there // 2]
        )[0][0]
        named = (("min", low), ("median", middle), ("mean", mean), ("max", high))
        facts += [(label, f"{value:.7g}") for label, value in named]
        width = (high - low) / _BINS or 1.0
        if not math.isfinite(width):
            return Statistics(tuple(facts))
        counted = dict(
            self._ask(
                f"SELECT min(CAST(({number} - ?) / ? AS INTEGER), {_BINS - 1}), count(*) FROM {table} "
                f"WHERE {name} IS NOT NULL GROUP BY 1",
                [low, width],
            )
        )
        edges = [low + width * at for at in range(_BINS + 1)]
        return Statistics(
            tuple(facts),
            tuple((f"{edges[at]:.4g} to {edges[at + 1]:.4g}", counted.get(at, 0)) for at in range(_BINS)),
        )


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _to_kinds(row: Sequence[object], kinds: list[str]) -> list[object]:
    """The row as it is kept, as long as the header; `kinds` learns what each column holds."""
    kept: list[object] = []
    for at, kind in enumerate(kinds):
        value = row[at] if at < len(row) else None
        if value is None or (isinstance(value, str) and value.strip() in _MISSING) or value != value:
            kept.append(None)
            continue
        text = value if isinstance(value, str) else _format(value)
        kept.append(text)
        if kind != "text":
            kinds[at] = _wider(kind, text.strip())
    return kept


def _wider(kind: str, text: str) -> str:
    if _INTEGER.match(text):
        # A number that begins with a zero is a label, as a postal code.
        label = len(text.lstrip("+-")) > 1 and text.lstrip("+-").startswith("0")
        return "text" if label else kind or "int"
    return "float" if _NUMBER.match(text) else "text"


def _format(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)


def _render(value: object, *, whole: bool = False) -> Cell:
    if value is None:
        return None
    text = f"<{len(value):,} bytes>" if isinstance(value, bytes) else str(value)
    if whole:
        return text
    cut = text[:_LONGEST].replace("\r", "\\r").replace("\n", "\\n")
    return cut + ("…" if len(text) > _LONGEST else "")


# -- readers


_Read = tuple[Sequence[str], Iterable[Sequence[object]]]


def _read_csv(path: Path) -> _Read:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        sample = file.read(64 * 1024)
    lines = sample.splitlines()
    first = lines[0] if lines else ""
    tabs = path.suffix.lower() in (".tsv", ".tab")
    delimiter = "\t" if tabs else max(",;\t|", key=first.count)
    rows = _rows_of_csv(path, delimiter)
    return next(rows, []), rows


def _rows_of_csv(path: Path, delimiter: str) -> Iterator[list[str]]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        yield from (row for row in csv.reader(file, delimiter=delimiter) if row)


def _read_json_lines(path: Path) -> _Read:
    with path.open(encoding="utf-8-sig") as file:
        records = [json.loads(line) for line, _ in zip(file, range(1000), strict=False) if line.strip()]
    names = _names_of(records)

    def rows() -> Iterator[list[object]]:
        with path.open(encoding="utf-8-sig") as file:
            for line in file:
                if line.strip():
                    yield _values(json.loads(line), names)

    return names, rows()


def _read_json(path: Path) -> _Read:
    records = json.loads(path.read_text(encoding="utf-8-sig"))
    if not isinstance(records, list):
        raise TableError(f"{path.name} is not a table: it holds no list of objects.")
    names = _names_of(records)
    return names, (_values(record, names) for record in records)


def _names_of(records: list[Any]) -> list[str]:
    if not records or not all(isinstance(record, dict) for record in records):
        raise TableError(_NO_RECORD)
    return list(dict.fromkeys(name for record in records for name in record))


def _values(record: Any, names: Sequence[str]) -> list[object]:
    if not isinstance(record, dict):
        raise TableError(_NO_RECORD)
    return [record.get(name) for name in names]


def _library(name: str, path: Path) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise TableError(
            f"{path.name} needs the Python package {name.partition('.')[0]}, which oi-tui does not have; "
            "install it beside oi-tui, or read the file with code and open the data frame."
        ) from None


def _read_parquet(path: Path) -> _Read:
    file = _library("pyarrow.parquet", path).ParquetFile(path)
    batches = file.iter_batches(batch_size=_BATCH)
    rows = (row for batch in batches for row in zip(*batch.to_pydict().values(), strict=True))
    return list(file.schema_arrow.names), rows


def _read_excel(path: Path) -> _Read:
    sheet = _library("openpyxl", path).load_workbook(path, read_only=True, data_only=True).active
    rows = sheet.iter_rows(values_only=True)
    return ["" if name is None else str(name) for name in next(rows, ())], rows


_READERS = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".tab": _read_csv,
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
    ".json": _read_json,
    ".parquet": _read_parquet,
    ".xlsx": _read_excel,
}
