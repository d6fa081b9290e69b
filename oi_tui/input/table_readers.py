"""Readers of tables in files: delimited text, JSON, Parquet, Arrow and Excel."""

import bz2
import gzip
import io
import json
import lzma
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

from oi_tui.input import delimited_text
from oi_tui.input.table_records import JsonNumber, TableRecords, find_header
from oi_tui.input.text_encoding import detect_encoding, find_error_handler, restore_letters
from oi_tui.input.zstd import open_zstd
from oi_tui.runtimes.language import DRIVERS
from oi_tui.runtimes.tables import TableError
from oi_tui.system.environment import select_public_variables
from oi_tui.text import clean_line

#: The endings of files that are read, and the library that some of them need.
ENDINGS = {
    ".csv": "",
    ".tsv": "",
    ".tab": "",
    ".psv": "",
    ".txt": "",
    ".dat": "",
    ".data": "",
    ".jsonl": "",
    ".ndjson": "",
    ".json": "",
    ".geojson": "",
    ".parquet": "pyarrow",
    ".feather": "pyarrow",
    ".arrow": "pyarrow",
    ".xlsx": "openpyxl",
    ".xlsm": "openpyxl",
}
#: Endings behind that of a text file, such as prices.csv.gz, which is unpacked while it is read.
PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")
_DELIMITED = (".csv", ".tsv", ".tab", ".psv", ".txt", ".dat", ".data")
#: Workbooks, whose tables have names.
_WITH_SHEETS = (".xlsx", ".xlsm")
#: Files that no reader here opens, and what opens them in code.
_IN_CODE = {
    ".xls": "pandas.read_excel",
    ".xlsb": "pandas.read_excel",
    ".ods": "pandas.read_excel",
    ".dta": "pandas.read_stata",
    ".sav": "pandas.read_spss",
    ".sas7bdat": "pandas.read_sas",
    ".xpt": "pandas.read_sas",
    ".orc": "pandas.read_orc",
    ".h5": "pandas.read_hdf",
    ".hdf5": "pandas.read_hdf",
    ".pkl": "pandas.read_pickle",
    ".pickle": "pandas.read_pickle",
    ".xml": "pandas.read_xml",
    ".html": "pandas.read_html",
    ".npy": "numpy.load",
    ".npz": "numpy.load",
    ".mat": "scipy.io.loadmat",
    ".nc": "xarray.open_dataset",
    ".shp": "geopandas.read_file",
    ".gpkg": "geopandas.read_file",
    ".rds": "readRDS of R",
    ".rdata": "load of R",
    ".duckdb": "ATTACH in a cell of SQL",
}
#: How packed files begin, whatever their names are, and what unpacks them.
_UNPACKERS: dict[bytes, Any] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"(\xb5/\xfd": open_zstd,
}
#: The length of the longest of these marks, and how often a file may be packed.
_MARK, _PACKED_AT_MOST = 6, 4
_ZIP = b"PK\x03\x04"
#: What a tar archive has behind the name of its first file.
_TAR = b"ustar"
#: How files begin that a library reads, and those of Parquet and Arrow end.
_OWN_MARKS = {".parquet": b"PAR1", ".arrow": b"ARROW1", ".feather": b"ARROW1", ".xlsx": _ZIP, ".xlsm": _ZIP}
#: How files of other kinds begin, and the ending with which they open.
_OTHER_KINDS = {
    b"PAR1": ("a Parquet file", ".parquet"),
    b"ARROW1": ("an Arrow file", ".arrow"),
    _ZIP: ("a zip archive or a workbook", ".zip or .xlsx"),
    b"SQLite format 3\x00": ("a database of SQLite", ".sqlite"),
}
#: How files of Microsoft Office begin that are from before 2007 or have a password, and what the latter have.
_OLD_OFFICE, _PROTECTED = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "EncryptedPackage".encode("utf-16-le")
#: How much of such a file is looked through at once, in bytes.
_PIECE = 1024 * 1024
#: Control characters that texts do not have; a few may be damage.
_CONTROLS = re.compile("[\x02-\x06\x0e-\x19\x1c]")
#: How many rows are looked at to find out where the table begins.
_SAMPLE = 200
#: How many bytes are looked at to find out in which encoding JSON is written.
_SAMPLE_BYTES = 64 * 1024
#: The digits of an integer that is kept as a text.
_LONG_INTEGER = 4000
_NO_RECORD = "each record must be a JSON object"


@dataclass(frozen=True)
class _Source:
    """A text file, or one in an archive: its name, and what opens it, unpacked."""

    name: str
    open: Callable[[], IO[bytes]]


def find_ending(name: str) -> str:
    """Return the ending that says what a file holds: .csv for prices.csv.gz; .zip
    where only its files say it.

    "" for no table.
    """
    path = Path(name.lower())
    if path.suffix not in PACKED:
        return path.suffix if path.suffix in ENDINGS else ""
    inner = path
    while inner.suffix in PACKED:
        inner = Path(inner.stem)
    ending = inner.suffix
    if ENDINGS.get(ending) == "":
        return ending
    return ".zip" if path.suffix == ".zip" else ""


def explain_ending(name: str) -> str:
    """Return what opens a file that no reader here opens; "" where that is not known."""
    opener = _IN_CODE.get(Path(name.lower()).suffix)
    return f"Read it with code ({opener}), and open the data frame." if opener else ""


def read(path: Path, table: str, pythons: Sequence[str] = ()) -> TableRecords:
    """Begin to read a file; of a workbook or an archive, the `table`.

    Raises TableError, OSError and ValueError.

    `pythons` are interpreters that may have the libraries for Parquet and Excel if ours has not.
    """
    ending = find_ending(path.name)
    if table and ending not in _WITH_SHEETS and path.suffix.lower() != ".zip":
        raise TableError(
            f"{path.name} holds one table, which has no name. Leave out ::{table}; "
            "only workbooks, databases and archives have several."
        )
    if ENDINGS.get(ending):
        return _read_with_library(path, table, pythons)
    if path.suffix.lower() == ".zip":
        return _read_archive(path, table, ending)
    return _read_text(ending, _Source(path.name, lambda: _open_unpacked(path)))


def _read_text(ending: str, source: _Source) -> TableRecords:
    with source.open() as file:
        _check_text(source.name, file.read(_SAMPLE_BYTES))
    if ending in _DELIMITED:
        return delimited_text.read(ending, source.name, source.open)
    return replace(_READERS[ending](source), keeps_empty=True)


def _open_unpacked(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        opener = _find_unpacker(file.read(_MARK))
    return _unpack(path.name, path.open("rb", buffering=0) if opener is None else opener(path, "rb"))


def _unpack(name: str, stream: Any) -> IO[bytes]:
    """Return what unpacks a stream from a packed file, which may be packed itself."""
    # A server may have packed what was packed already.
    for _ in range(_PACKED_AT_MOST):
        reader = io.BufferedReader(stream)
        opener = _find_unpacker(reader.peek(_MARK)[:_MARK])
        if opener is None:
            return reader
        if opener is open_zstd:
            reader.close()
            raise TableError(f"{name} holds a file packed with Zstandard. Unpack it, and open that.")
        stream = opener(reader, "rb")
    stream.close()
    raise TableError(f"{name} is packed more than {_PACKED_AT_MOST} times. Unpack it, and open that.")


def _find_unpacker(start: bytes) -> Any:
    return next((opener for mark, opener in _UNPACKERS.items() if start.startswith(mark)), None)


def _check_text(name: str, sample: bytes) -> None:
    """Raise TableError where a file is not text, whatever its name says."""
    for mark, (kind, ending) in _OTHER_KINDS.items():
        if sample.startswith(mark):
            raise TableError(f"{name} is {kind}, not text. Give it a name that ends in {ending}.")
    if sample[257:262] == _TAR:
        raise TableError(f"{name} is a tar archive. Unpack it, and open its files.")
    encoding = detect_encoding(sample)
    text = sample.decode(encoding, "replace")
    controls = len(_CONTROLS.findall(text))
    if controls >= 10 and controls * 40 > len(text):
        raise TableError(f"{name} is not a table: it holds no text.")


def _read_archive(path: Path, table: str, ending: str) -> TableRecords:
    """Read the one table in an archive, or the one that is named: the path of a text file in it."""
    archive = zipfile.ZipFile(path)
    files = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    files = [name for name in files if not name.startswith("__MACOSX/")]
    tables = [name for name in files if ENDINGS.get(find_ending(name)) == "" and not _is_archive(name)]
    # What comes with data as .txt is mostly an explanation of them.
    tables = [name for name in tables if not name.lower().endswith(".txt")] or tables
    if not tables and len(files) == 1 and ending != ".zip":
        # Only the name of the archive says what its file is.
        tables = files
    if not tables:
        raise TableError(
            f"{path.name} holds no text file that opens as a table. Unpack it, and open its files."
        )
    if table and table not in tables:
        raise TableError(f"{path.name} has no table {table}; it has {', '.join(tables)}.")
    member = table or tables[0]
    own_ending = find_ending(member)
    records = _read_text(
        own_ending if ENDINGS.get(own_ending) == "" else ending,
        _Source(member, lambda: _unpack(member, archive.open(member))),
    )
    if len(tables) > 1:
        records.tables, records.table = tuple(tables), member
    return records


def _is_archive(name: str) -> bool:
    return name.lower().endswith(".zip")


# -- JSON


def _open_text(source: _Source) -> IO[str]:
    with source.open() as file:
        encoding = detect_encoding(file.read(_SAMPLE_BYTES))
    if encoding == "utf-8":
        # Single bytes may be letters of Windows-1252.
        return io.TextIOWrapper(source.open(), encoding="utf-8-sig", errors="surrogateescape")
    return io.TextIOWrapper(source.open(), encoding=encoding, errors=find_error_handler(encoding))


def _load_json(text: str) -> Any:
    return json.loads(text, parse_float=JsonNumber, parse_int=_read_integer, parse_constant=JsonNumber)


def _read_integer(text: str) -> int | JsonNumber:
    """Return an integer; one that Python refuses to read because it is very long is kept as its text."""
    return int(text) if len(text) < _LONG_INTEGER else JsonNumber(text)


def _read_json_lines(source: _Source) -> TableRecords:
    names: dict[str, None] = {}
    notes: list[str] = []
    rows = _read_json_rows(source, names, notes)
    first = list(islice(rows, 1000))
    if not first:
        raise TableError(f"{source.name} is not a table: it is empty.")
    return _as_records("JSON lines", names, first, rows, notes)


def _read_json_rows(source: _Source, names: dict[str, None], notes: list[str]) -> Iterator[list[object]]:
    bad_line = 0
    with _open_text(source) as file:
        for number, line in enumerate(file, 1):
            if bad_line:
                raise TableError(f"{source.name}, line {bad_line}: {_NO_RECORD}.")
            if not line.strip():
                continue
            try:
                record = _load_json(restore_letters(line))
            except ValueError:
                # The last line of a file that is being written may be cut off.
                bad_line = number
                continue
            if not isinstance(record, dict):
                raise TableError(f"{source.name}, line {number}: {_NO_RECORD}.")
            yield _order_values(_flatten_feature(record) if _is_feature(record) else record, names)
    if bad_line == 1:
        raise TableError(f"{source.name}, line 1: {_NO_RECORD}.")
    if bad_line:
        notes.append("the last line is cut off")


def _read_json(source: _Source) -> TableRecords:
    with _open_text(source) as file:
        text = restore_letters(file.read())
    if not text.strip():
        raise TableError(f"{source.name} is not a table: it is empty.")
    try:
        document = _load_json(text)
    except json.JSONDecodeError as error:
        # Behind a first value there is another: JSON lines are often called .json, too.
        if error.msg != "Extra data":
            raise
        return _read_json_lines(source)
    if document == []:
        raise TableError(f"{source.name} is not a table: it is empty.")
    if (
        isinstance(document, dict)
        and document.get("type") == "FeatureCollection"
        and document.get("features") == []
    ):
        return TableRecords("GeoJSON", ["geometry"], ())
    if (frame := _read_frame(document)) is not None:
        return frame
    records = _list_in(document)
    if isinstance(records, dict):
        columns = list(records.values())
        rows: Iterable[Sequence[object]] = zip(*columns, strict=True)
        return TableRecords("JSON", list(records), rows)
    if records is None:
        raise TableError(f"{source.name} is not a table: it holds no list of objects.")
    if all(isinstance(row, list) for row in records):
        width = max(map(len, records), default=0)
        header = records[0] if records and all(isinstance(name, str) for name in records[0]) else None
        names = list(header) if header else [""] * width
        return TableRecords("JSON", names, records[1:] if header else records)
    if not all(isinstance(record, dict) for record in records):
        raise TableError(f"{source.name} is not a table: {_NO_RECORD}.")
    keys: dict[str, None] = {}
    if all(map(_is_feature, records)):
        features = [_order_values(_flatten_feature(record), keys) for record in records]
        return _as_records("GeoJSON", keys, features, (), [])
    return _as_records("JSON", keys, [_order_values(record, keys) for record in records], (), [])


def _is_feature(record: dict[str, Any]) -> bool:
    """Return whether a record is a feature of GeoJSON."""
    parts = [record.get(name, "") for name in ("properties", "geometry")]
    return record.get("type") == "Feature" and all(part is None or isinstance(part, dict) for part in parts)


def _flatten_feature(feature: dict[str, Any]) -> dict[str, object]:
    """Return the properties of a feature of GeoJSON as columns, between its other members
    and its geometry.
    """
    others = {
        name: value for name, value in feature.items() if name not in ("type", "properties", "geometry")
    }
    return {**others, **(feature["properties"] or {}), "geometry": feature["geometry"]}


def _read_frame(found: Any) -> TableRecords | None:
    """Return a data frame as pandas writes it, by columns, by rows or split, or records by their names."""
    if not isinstance(found, dict) or not found:
        return None
    if found.keys() <= {"columns", "index", "data"} and {"columns", "data"} <= found.keys():
        names, rows = found["columns"], found["data"]
        if isinstance(names, list) and isinstance(rows, list) and all(isinstance(row, list) for row in rows):
            return TableRecords("JSON", [_name(name) for name in names], rows)
    if not all(isinstance(part, dict) and part for part in found.values()):
        return None
    if len(found) > 1 and not all(part.keys() & next(iter(found.values())).keys() for part in found.values()):
        return None
    if all(key.isdecimal() and key.isascii() for part in found.values() for key in part):
        # By columns: the rows have only their numbers.
        labels = dict.fromkeys(key for part in found.values() for key in part)
        return TableRecords(
            "JSON", list(found), [[part.get(key) for part in found.values()] for key in labels]
        )
    if len(found) == 1:
        return None
    keys: dict[str, None] = {}
    rows = [[label, *_order_values(part, keys)] for label, part in found.items()]
    return TableRecords("JSON", ["", *keys], rows)


def _name(name: object) -> str:
    return ", ".join(map(str, name)) if isinstance(name, list) else str(name)


def _list_in(found: Any) -> Any:
    """Return the list of rows, also of an object that has one; columns as a dictionary.

    None for anything else.
    """
    if isinstance(found, list):
        return found or None
    if not isinstance(found, dict):
        return None
    if _is_feature(found):
        return [found]
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
    # As in the answers of servers: {"data": {"items": [...]}}.
    inner = [_list_in(value) for value in found.values() if isinstance(value, dict)]
    inner = [value for value in inner if isinstance(value, list)]
    return inner[0] if not records and len(inner) == 1 else None


def _order_values(record: dict[str, object], names: dict[str, None]) -> list[object]:
    """Return the values of a record in the order of the names, to which its own are added."""
    if not record.keys() <= names.keys():
        names.update(dict.fromkeys(record))
    return [record.get(name) for name in names]


def _as_records(
    kind: str,
    names: dict[str, None],
    first: list[list[object]],
    rest: Iterable[Sequence[object]],
    notes: list[str],
) -> TableRecords:
    """Return records whose names are known from the rows that were read so far, and grow with the rest."""
    column_names = list(names)

    def rows() -> Iterator[Sequence[object]]:
        yield from first
        for row in rest:
            column_names.extend(list(names)[len(column_names) :])
            yield row

    return TableRecords(kind, column_names, rows(), notes=notes)


# -- Parquet, Arrow and Excel, in a Python that has the library


def _read_with_library(path: Path, table: str, pythons: Sequence[str]) -> TableRecords:
    for python in dict.fromkeys((sys.executable, *pythons)):
        reader = _Reader(python, path, table)
        facts = reader.read_line()
        if isinstance(facts, dict):
            return (
                _read_sheet(reader, path, facts, table) if "sheets" in facts else _read_columns(reader, facts)
            )
        reader.close()
    library = ENDINGS[find_ending(path.name)]
    raise TableError(
        f"{path.name} needs the Python package {library}, which neither oi-tui nor the Python of your cells "
        "has. Install it, or read the file with code and open the data frame."
    )


def _explain_contents(path: Path) -> str:
    """Return why a library cannot read a file, by what is in it; "" where that does not say it."""
    ending = path.suffix.lower()
    own = _OWN_MARKS[ending]
    with path.open("rb") as file:
        sample = file.read(_SAMPLE_BYTES)
        file.seek(max(0, path.stat().st_size - len(own)))
        end = file.read()
    if not sample:
        return "it is empty."
    if sample.startswith(own):
        is_whole = zipfile.is_zipfile(path) if own == _ZIP else end == own
        return "" if is_whole else "it is cut off or damaged."
    if sample.startswith(_OLD_OFFICE):
        return _explain_old_office(path)
    for mark, (kind, its_ending) in _OTHER_KINDS.items():
        if sample.startswith(mark):
            return f"it is {kind}. Give it a name that ends in {its_ending}."
    try:
        _check_text(path.name, sample)
    except TableError:
        return ""
    return "it is text. Give it a name that ends in its kind, such as .csv or .json."


def _explain_old_office(path: Path) -> str:
    # In pieces, and not as memory: a program that cuts the file short would end us with a signal.
    with path.open("rb") as file:
        text, has_password = b"", False
        while (piece := file.read(_PIECE)) and not has_password:
            text = text[-len(_PROTECTED) :] + piece
            has_password = _PROTECTED in text
    if has_password:
        return "it has a password. Save a copy without one, and open that."
    return "it is an Excel file from before 2007. Rename it to .xls, and read it with pandas.read_excel."


class _Reader:
    """The program that reads the file: `table_reader.py`."""

    def __init__(self, python: str, path: Path, table: str) -> None:
        driver = str(DRIVERS / "table_reader.py")
        command = (python, "-B", driver, find_ending(path.name), str(path.absolute()), table)
        self._path = path
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            encoding="utf-8",
            env=select_public_variables(),
        )

    def read_line(self) -> Any:
        """Return what the program says next. Raises TableError where it failed."""
        assert self._process.stdout
        line = self._process.stdout.readline()
        if line:
            return json.loads(line)
        if self._process.wait():
            self._errors.seek(0)
            why = self._errors.read().strip().split("\n")[-1]
            self.close()
            why = _explain_contents(self._path) or clean_line(why or "its reader ended", 200)
            raise TableError(f"{self._path.name} cannot be read as a table: {why}")
        self.close()
        return None

    def rows(self) -> Iterator[list[object]]:
        """Yield the rows, as they are read."""
        while batch := self.read_line():
            yield from batch

    def close(self) -> None:
        """End the program."""
        self._process.kill()
        self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()
        self._errors.close()


def _read_columns(reader: _Reader, facts: Mapping[str, Any]) -> TableRecords:
    words = ("int", "uint", "float", "double", "halffloat", "decimal")
    types = tuple((kind, kind.startswith(words)) for kind in facts["types"])
    return TableRecords(
        facts["kind"], facts["names"], reader.rows(), types, keeps_empty=True, close=reader.close
    )


def _read_sheet(reader: _Reader, path: Path, facts: Mapping[str, Any], table: str) -> TableRecords:
    sheets = facts["sheets"]
    if not sheets:
        reader.close()
        raise TableError(f"{path.name} has only charts, and no sheet with cells.")
    if table and table not in sheets:
        reader.close()
        raise TableError(f"{path.name} has no sheet {table}; it has {', '.join(sheets)}.")
    rows = _drop_end(reader.rows())
    sample = list(islice(rows, _SAMPLE))
    # Columns beside the table may be empty.
    columns = sorted({at for row in sample for at, value in enumerate(row) if value is not None})
    at = find_header([[row[at] if at < len(row) else None for at in columns] for row in sample], len(columns))
    header = sample[at] if sample else []
    sheet = table or sheets[0]
    return TableRecords(
        f"Excel sheet {sheet}",
        ["" if name is None else str(name) for name in header],
        chain(sample[at + 1 :], rows),
        notes=[f"begins at row {at + 1}"] if at else [],
        has_formats=True,
        tables=tuple(sheets),
        table=sheet,
        close=reader.close,
    )


def _drop_end(rows: Iterable[Sequence[object]]) -> Iterator[list[object]]:
    """Yield the rows without the empty cells at their end, and without the empty rows at the end
    of the sheet.
    """
    empty = 0
    for row in rows:
        cells = list(row)
        while cells and cells[-1] is None:
            cells.pop()
        if not cells:
            empty += 1
            continue
        yield from ([] for _ in range(empty))
        empty = 0
        yield cells


_READERS: dict[str, Callable[[_Source], TableRecords]] = {
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
    ".json": _read_json,
    ".geojson": _read_json,
}
