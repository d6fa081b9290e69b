"""Writes a table that is shown to a file: CSV, Parquet or Excel."""

import contextlib
import csv
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO

from oi_tui.runtimes.language import DRIVERS
from oi_tui.runtimes.tables import TableError, TableQuery, TableRow, TableShape, TableSource
from oi_tui.system.environment import select_public_variables
from oi_tui.text import clean_line

#: The libraries that write a format, in words.
_LIBRARIES = {"parquet": "pyarrow or polars", "xlsx": "openpyxl"}
#: Rows that are fetched at once.
_BATCH = 5000
#: What Excel takes: rows below the header, and columns.
_EXCEL_ROWS, _EXCEL_COLUMNS = 1_048_575, 16_384
#: A column whose texts turn out to be of another type is written as text, and dates with times as such; that
#: is tried so often.
_TRIES = 3
#: Returns rows of a view. The numbers are the first row, how many rows, the first column, how many columns.
_Pages = Callable[[TableQuery, int, int, int, int], list[TableRow]]


def export(
    source: TableSource, shape: TableShape, view: TableQuery, path: Path, pythons: Sequence[str] = ()
) -> None:
    """Write the rows of the view to a new file, whose ending says the format. Raises TableError and OSError.

    `pythons` are interpreters that may have the libraries for Parquet and Excel if ours has not. A file that
    is there already is never replaced, and one that could not be finished does not stay.
    """
    form = path.suffix.lower().removeprefix(".")
    if form == "xlsx" and (shape.rows > _EXCEL_ROWS or len(shape.columns) > _EXCEL_COLUMNS):
        raise TableError(
            f"Excel takes {_EXCEL_ROWS:,} rows and {_EXCEL_COLUMNS:,} columns; export this table as .parquet "
            "or .csv"
        )
    try:
        stream = path.open("x", encoding="utf-8", newline="")
    except FileExistsError:
        raise TableError(f"{path.name} exists already; choose another name") from None
    except OSError as error:
        raise TableError(f"{path} cannot be written: {error.strerror}") from None
    with stream as file:
        try:
            if form in _LIBRARIES:
                _write_typed(source, shape, view, path, form, (sys.executable, *pythons))
            else:
                pages = _choose_pages(source, typed=False)
                file.writelines(_write_lines(pages, shape, view, 0, len(shape.columns)))
        except BaseException:
            path.unlink(missing_ok=True)
            raise


def write_csv_lines(
    source: TableSource, shape: TableShape, view: TableQuery, first: int, width: int
) -> Iterator[str]:
    """Yield the view as CSV, with a header, and its texts as they are shown."""
    return _write_lines(partial(source.page, whole=True), shape, view, first, width)


def _choose_pages(source: TableSource, *, typed: bool, unchanged: Collection[int] = ()) -> _Pages:
    """Return what gives the rows for a file: with plain numbers and dates, where the source has them.

    The texts of the columns `unchanged` stay as they are.
    """
    export_page = getattr(source, "export_page", None)
    if export_page is None:
        return partial(source.page, whole=True)
    return partial(export_page, typed=typed, unchanged=unchanged)


def _write_lines(pages: _Pages, shape: TableShape, view: TableQuery, first: int, width: int) -> Iterator[str]:
    yield write_csv_line([column.name for column in shape.columns[first : first + width]])
    for rows in _split_batches(pages, shape, view, first, width):
        for cells in rows:
            yield write_csv_line([cell or "" for cell in cells])


def write_csv_line(cells: list[str]) -> str:
    """Return the cells as a line of CSV."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerow(cells)
    return file.getvalue()


def _split_batches(
    pages: _Pages, shape: TableShape, view: TableQuery, first: int, width: int
) -> Iterator[list[tuple[str | None, ...]]]:
    for start in range(0, shape.rows, _BATCH):
        yield [row.cells for row in pages(view, start, _BATCH, first, width)]


def _write_typed(
    source: TableSource, shape: TableShape, view: TableQuery, path: Path, form: str, pythons: Sequence[str]
) -> None:
    names = _make_distinct([column.name for column in shape.columns])
    columns = [[name, _find_type(column.type)] for name, column in zip(names, shape.columns, strict=True)]
    unchanged: set[int] = set()
    for python in dict.fromkeys(pythons):
        for _ in range(_TRIES):
            pages = _choose_pages(source, typed=True, unchanged=unchanged)
            batches = _split_batches(pages, shape, view, 0, len(columns))
            answer = _run_writer(python, form, path, columns, batches)
            if answer == "missing":
                break
            if answer == "written":
                return
            for at in json.loads(answer):
                columns[at][1] = "datetime" if columns[at][1] == "date" else "text"
                if columns[at][1] == "text":
                    unchanged.add(at)
    raise TableError(
        f"Writing .{form} needs the Python package {_LIBRARIES[form]}, which neither oi-tui nor the Python "
        "of your cells has. Install it, or export as .csv"
    )


def _find_type(type_name: str) -> str:
    """Return the type to write for that of a column: `date` where the order of day and month is known."""
    return "date" if type_name.startswith("date ") and not type_name.endswith("?") else type_name


def _run_writer(
    python: str,
    form: str,
    path: Path,
    columns: list[list[str]],
    batches: Iterator[list[tuple[str | None, ...]]],
) -> str:
    """Have a Python write the file. Returns `missing`, `written`, or the columns that failed."""
    command = (python, "-B", str(DRIVERS / "table_writer.py"), form, str(path.absolute()))
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            encoding="utf-8",
            env=select_public_variables(),
        ) as writer,
    ):
        assert writer.stdin
        assert writer.stdout
        try:
            with contextlib.suppress(BrokenPipeError):
                _send(writer.stdin, columns)
                first = writer.stdout.readline().strip()
                if first == "missing":
                    return first
                for rows in batches:
                    _send(writer.stdin, rows)
                _send(writer.stdin, None)
            lines = writer.stdout.read().split()
        finally:
            with contextlib.suppress(BrokenPipeError):
                writer.stdin.close()
        if not lines:
            writer.wait()
            errors.seek(0)
            why = errors.read().strip().split("\n")[-1]
            raise TableError(f"The file was not written: {clean_line(why or 'the writer ended', 200)}")
        return " ".join(lines)


def _send(file: IO[str], value: object) -> None:
    file.write(json.dumps(value) + "\n")
    file.flush()


def _make_distinct(names: Sequence[str]) -> list[str]:
    """Return the names, with a number behind those that were there before: files need names that differ."""
    distinct_names: dict[str, None] = {}
    for name in names:
        number, candidate = 1, name
        while candidate in distinct_names:
            number += 1
            candidate = f"{name}_{number}"
        distinct_names[candidate] = None
    return list(distinct_names)
