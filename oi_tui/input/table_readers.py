"""Readers of tables in files: delimited text, JSON, Parquet, Arrow and Excel."""

import bz2
import datetime
import gzip
import importlib
import io
import json
import lzma
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

from oi_tui.input import delimited_text
from oi_tui.input.table_records import Records, find_header
from oi_tui.runtimes.tables import TableError

#: The endings of files that are read, and the library that some of them need.
ENDINGS = {
    ".csv": "",
    ".tsv": "",
    ".tab": "",
    ".jsonl": "",
    ".ndjson": "",
    ".json": "",
    ".parquet": "pyarrow",
    ".feather": "pyarrow",
    ".arrow": "pyarrow",
    ".xlsx": "openpyxl",
    ".xlsm": "openpyxl",
}
#: Endings behind that of a text file, such as prices.csv.gz, which is unpacked while it is read.
PACKED = (".gz", ".bz2", ".xz", ".zip")
_BATCH = 5000
#: How many rows are looked at to find out where the table begins.
_SAMPLE = 200
_NO_RECORD = "each record must be a JSON object"


def find_ending(name: str) -> str:
    """The ending that says what a file holds: .csv for prices.csv.gz; "" for no table."""
    path = Path(name.lower())
    if path.suffix in PACKED:
        path = Path(path.stem)
        return path.suffix if ENDINGS.get(path.suffix) == "" else ""
    return path.suffix if path.suffix in ENDINGS else ""


def read(path: Path, table: str) -> Records:
    """Begin to read a file; of a workbook, the sheet `table`. Raises TableError, OSError and ValueError."""
    ending = find_ending(path.name)
    if ending in (".csv", ".tsv", ".tab"):
        return delimited_text.read(ending, lambda: open_bytes(path))
    return _READERS[ending](path, table)


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file, unpacked."""
    packed = path.suffix.lower()
    if packed == ".zip":
        return _open_zip(path)
    opener: Any = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}.get(packed, open)
    opened: IO[bytes] = opener(path, "rb")
    return opened


def _open_zip(path: Path) -> IO[bytes]:
    archive = zipfile.ZipFile(path)
    names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    names = [name for name in names if not name.startswith("__MACOSX/")]
    if len(names) != 1:
        raise TableError(f"{path.name} holds {len(names):,} files, not one; unpack it first.")
    return archive.open(names[0])


# -- JSON


def _open_text(path: Path) -> IO[str]:
    return io.TextIOWrapper(open_bytes(path), encoding="utf-8-sig")


def _read_json_lines(path: Path, _: str) -> Records:
    names: dict[str, None] = {}
    notes: list[str] = []
    rows = _rows_of_json_lines(path, names, notes)
    first = list(islice(rows, 1000))
    return _as_records("JSON lines", names, first, rows, notes)


def _rows_of_json_lines(path: Path, names: dict[str, None], notes: list[str]) -> Iterator[list[object]]:
    broken = 0
    with _open_text(path) as file:
        for number, line in enumerate(file, 1):
            if broken:
                raise TableError(f"{path.name}, line {broken}: {_NO_RECORD}.")
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except ValueError:
                # The last line of a file that is being written may be cut off.
                broken = number
                continue
            if not isinstance(record, dict):
                raise TableError(f"{path.name}, line {number}: {_NO_RECORD}.")
            yield _order_values(record, names)
    if broken == 1:
        raise TableError(f"{path.name}, line 1: {_NO_RECORD}.")
    if broken:
        notes.append("the last line is cut off")


def _read_json(path: Path, _: str) -> Records:
    with _open_text(path) as file:
        records = _list_in(json.load(file))
    if isinstance(records, dict):
        columns = list(records.values())
        rows: Iterable[Sequence[object]] = zip(*columns, strict=True)
        return Records("JSON", list(records), rows)
    if records is None:
        raise TableError(f"{path.name} is not a table: it holds no list of objects.")
    if all(isinstance(row, list) for row in records):
        width = max(map(len, records), default=0)
        header = records[0] if records and all(isinstance(name, str) for name in records[0]) else None
        names = list(header) if header else [""] * width
        return Records("JSON", names, records[1:] if header else records)
    if not all(isinstance(record, dict) for record in records):
        raise TableError(f"{path.name} is not a table: {_NO_RECORD}.")
    keys: dict[str, None] = {}
    return _as_records("JSON", keys, [_order_values(record, keys) for record in records], (), [])


def _list_in(found: Any) -> Any:
    """The list of rows, also of an object that has one; columns as a dictionary; None for anything else."""
    if isinstance(found, list):
        return found or None
    if not isinstance(found, dict):
        return None
    lists = {name: value for name, value in found.items() if isinstance(value, list)}
    if len(lists) == len(found) > 1 and len({len(value) for value in lists.values()}) == 1:
        simple = not any(isinstance(item, dict) for value in lists.values() for item in value[:10])
        if simple:
            return lists
    records = [value for value in lists.values() if value and all(isinstance(item, dict) for item in value)]
    if "data" in lists and lists["data"] in records:
        return lists["data"]
    if len(records) == 1:
        return records[0]
    return None


def _order_values(record: dict[str, object], names: dict[str, None]) -> list[object]:
    """The values of a record in the order of the names, to which its own are added."""
    if not record.keys() <= names.keys():
        names.update(dict.fromkeys(record))
    return [record.get(name) for name in names]


def _as_records(
    kind: str,
    names: dict[str, None],
    first: list[list[object]],
    rest: Iterable[Sequence[object]],
    notes: list[str],
) -> Records:
    """Records whose names are known from all of the rows that were read so far, and grow with the rest."""
    if not first:
        raise TableError(f"The file is not a table: {_NO_RECORD}.")
    shown = list(names)

    def rows() -> Iterator[Sequence[object]]:
        yield from first
        for row in rest:
            shown.extend(list(names)[len(shown) :])
            yield row

    return Records(kind, shown, rows(), notes=notes)


# -- Parquet, Arrow and Excel


def _import_library(name: str, path: Path) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise TableError(
            f"{path.name} needs the Python package {name.partition('.')[0]}, which oi-tui does not have; "
            "install it beside oi-tui, or read the file with code and open the data frame."
        ) from None


def _read_parquet(path: Path, _: str) -> Records:
    file = _import_library("pyarrow.parquet", path).ParquetFile(path)
    return _read_batches("Parquet", file.schema_arrow, file.iter_batches(batch_size=_BATCH))


def _read_arrow(path: Path, _: str) -> Records:
    arrow = _import_library("pyarrow", path)
    source = arrow.memory_map(str(path))
    try:
        file = arrow.ipc.open_file(source)
    except arrow.ArrowInvalid:
        source.seek(0)
        batches = arrow.ipc.open_stream(source)
        return _read_batches("Arrow", batches.schema, batches)
    found = (file.get_batch(at) for at in range(file.num_record_batches))
    return _read_batches("Arrow", file.schema, found)


def _read_batches(kind: str, schema: Any, batches: Iterable[Any]) -> Records:
    words = ("int", "uint", "float", "double", "halffloat", "decimal")
    types = tuple((str(item.type), str(item.type).startswith(words)) for item in schema)
    parts = (part for batch in batches for part in _split_slices(batch))
    rows = (
        row for part in parts for row in zip(*(column.to_pylist() for column in part.columns), strict=True)
    )
    return Records(kind, [item.name for item in schema], rows, types)


def _split_slices(batch: Any) -> Iterator[Any]:
    return (batch.slice(at, _BATCH) for at in range(0, batch.num_rows, _BATCH))


def _read_excel(path: Path, table: str) -> Records:
    book = _import_library("openpyxl", path).load_workbook(path, read_only=True, data_only=True)
    sheets = [sheet.title for sheet in book.worksheets]
    if table and table not in sheets:
        raise TableError(f"{path.name} has no sheet {table}; it has {', '.join(sheets)}.")
    rows = _drop_end(book[table or sheets[0]].iter_rows(values_only=True))
    sample = list(islice(rows, _SAMPLE))
    at = find_header(sample, max(map(len, sample), default=0))
    header = sample[at] if sample else []
    names = ["" if name is None else str(name) for name in header]
    notes = [f"begins at row {at + 1}"] if at else []
    shown = table or sheets[0]
    return Records(
        f"Excel sheet {shown}",
        names,
        chain(sample[at + 1 :], rows),
        notes=notes,
        tables=tuple(sheets),
        table=shown,
    )


def _drop_end(rows: Iterable[Sequence[object]]) -> Iterator[list[object]]:
    """The rows without the empty cells at their end, and without the empty rows at the end of the sheet."""
    empty = 0
    for row in rows:
        cells = [_convert_date(value) for value in row]
        while cells and cells[-1] is None:
            cells.pop()
        if not cells:
            empty += 1
            continue
        yield from ([] for _ in range(empty))
        empty = 0
        yield cells


def _convert_date(value: object) -> object:
    """A date without a time, which Excel does not tell from midnight."""
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date()
    return value


_READERS: dict[str, Callable[[Path, str], Records]] = {
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
    ".json": _read_json,
    ".parquet": _read_parquet,
    ".feather": _read_arrow,
    ".arrow": _read_arrow,
    ".xlsx": _read_excel,
    ".xlsm": _read_excel,
}
