"""Tables that are exported: what a library reads back from the file."""

import datetime
import sys
from pathlib import Path

import pytest

from oi_tui.input import table_export
from oi_tui.input.table_export import export
from oi_tui.runtimes.tables import Column, Statistics, TableError, TableQuery, TableRow, TableShape

_TYPES = ("int64", "float64", "bool", "datetime64[ns]", "date", "object", "int64")
_NAMES = ("n", "x", "ok", "at", "day", "text", "n")
_ROWS = (
    ("1", "0.1", "True", "2024-05-06 07:08:09.000000001", "2024-05-06", "=1+1\x00", "seven"),
    ("-9007199254740993", None, None, None, None, None, "8"),
)


class Few:
    """A few rows, many times."""

    name = "few"

    def __init__(self, rows: tuple[tuple[str | None, ...], ...] = _ROWS, times: int = 1) -> None:
        self.rows = rows * times

    def shape(self, _: TableQuery) -> TableShape:
        columns = tuple(Column(name, of) for name, of in zip(_NAMES, _TYPES, strict=True))
        return TableShape("DataFrame", columns, len(self.rows), len(self.rows))

    def page(
        self, view: TableQuery, start: int, count: int, first: int, columns: int, *, whole: bool = False
    ) -> list[TableRow]:
        assert whole
        return [TableRow("", row[first : first + columns]) for row in self.rows[start : start + count]]

    def statistics(self, _: int) -> Statistics:
        raise AssertionError


def write(path: Path, source: Few, *pythons: str) -> None:
    export(source, source.shape(TableQuery()), TableQuery(), path, pythons)


def test_parquet_has_the_types_of_the_columns(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    path = tmp_path / "a.parquet"
    write(path, Few(times=3_000))
    table = parquet.read_table(path)
    # A column whose values are not of its type is text, and names that occur twice differ.
    assert [f"{field.name}: {field.type}" for field in table.schema] == [
        "n: int64",
        "x: double",
        "ok: bool",
        "at: timestamp[ns]",
        "day: date32[day]",
        "text: string",
        "n_2: string",
    ]
    assert table.num_rows == 6_000
    row, missing = table.slice(5_998, 2).to_pylist()
    assert (row["n"], row["x"], row["ok"], row["day"]) == (1, 0.1, True, datetime.date(2024, 5, 6))
    assert row["text"] == "=1+1\x00"
    assert missing == {
        **dict.fromkeys(("x", "ok", "at", "day", "text")), "n": -9007199254740993, "n_2": "8"
    }  # fmt: skip


def test_excel_gets_numbers_and_dates_and_never_a_formula(tmp_path: Path) -> None:
    excel = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    path = tmp_path / "a.xlsx"
    write(path, Few())
    rows = list(excel.load_workbook(path).active.iter_rows())
    assert [cell.value for cell in rows[0]] == ["n", "x", "ok", "at", "day", "text", "n_2"]
    first = [cell.value for cell in rows[1]]
    assert first[:3] == [1, 0.1, True]
    assert first[4:] == [datetime.datetime(2024, 5, 6), "=1+1\ufffd", "seven"]
    assert rows[1][5].data_type == "s"
    # Excel would round it.
    assert rows[2][0].value == "-9007199254740993"


def test_without_a_library_nothing_is_left_and_a_sentence_says_what_to_install(tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nenv >{tmp_path}/environment\nshift\nexec {sys.executable} -S -B "$@"\n')
    bare.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_export.sys, "executable", str(bare))
        patch.setenv("OPENAI_API_KEY", "sk-of-this-test")
        for name, library in (("a.parquet", "pyarrow or polars"), ("a.xlsx", "openpyxl")):
            with pytest.raises(TableError, match=f"needs the Python package {library}"):
                write(tmp_path / name, Few(), str(bare))
            assert not (tmp_path / name).exists()
    assert "OPENAI_API_KEY" not in (tmp_path / "environment").read_text()


def test_a_table_that_is_too_long_for_excel_says_so_at_once(tmp_path: Path) -> None:
    shape = TableShape("DataFrame", (Column("a", "int64"),), 1_048_576, 1_048_576)
    with pytest.raises(TableError, match=r"1,048,575 rows .* export this table as \.parquet"):
        export(Few(), shape, TableQuery(), tmp_path / "a.xlsx")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = tmp_path / "python"
    lines = "import runpy, sys", "sys.modules['pyarrow'] = None", "sys.argv.pop(0)", "sys.path.insert(0, '')"
    program = tmp_path / "start.py"
    program.write_text("\n".join([*lines, "runpy.run_path(sys.argv[0], run_name='__main__')"]))
    hidden.write_text(f'#!/bin/sh\nshift\nexec {sys.executable} {program} "$@"\n')
    hidden.chmod(0o755)
    monkeypatch.setattr(table_export.sys, "executable", str(hidden))


@pytest.mark.usefixtures("without_pyarrow")
def test_polars_writes_what_pyarrow_would(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    write(tmp_path / "a.parquet", Few())
    frame = polars.read_parquet(tmp_path / "a.parquet")
    assert [str(of) for of in frame.dtypes[:3]] == ["Int64", "Float64", "Boolean"]
    assert frame.row(1)[:3] == (-9007199254740993, None, None)
    assert frame["day"][0] == datetime.date(2024, 5, 6)


@pytest.mark.slow
@pytest.mark.usefixtures("without_pyarrow")
def test_polars_guesses_no_day(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    source = Few((("1/2/2024", "3/4/2024", "1/2/2024 10:00", "2024-01-02", None, "", ""),))
    types = ("date m/d/y?", "date", "timestamp", "date", "date", "text", "text")
    columns = tuple(Column(f"c{at}", of) for at, of in enumerate(types))
    path = tmp_path / "a.parquet"
    export(source, TableShape("table", columns, 1, 1), TableQuery(), path)
    assert polars.read_parquet(path).row(0) == (
        *("1/2/2024", "3/4/2024", "1/2/2024 10:00"),
        *(datetime.date(2024, 1, 2), None, "", ""),
    )


def test_a_file_that_is_there_already_is_named_without_a_number_of_the_system(tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("kept")
    with pytest.raises(TableError, match=r"^few\.csv exists already; choose another name$"):
        write(path, Few())
    assert path.read_text() == "kept"
    with pytest.raises(TableError, match=r"few\.csv cannot be written: No such file or directory$"):
        write(tmp_path / "nowhere" / "few.csv", Few())
