"""Tables by name where there is no screen: files, and what is neither a file nor a variable."""

import sqlite3
from pathlib import Path

import pytest

from oi_tui.actions.tables import find_table, format_first_rows
from oi_tui.input.table_file import TableFile
from oi_tui.runtimes.tables import TableError
from tests.fakes import Computer


def test_the_first_rows_of_a_file_are_reported_aligned(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("name,n\nAnna,7\nBo,\n")
    source = find_table(str(tmp_path / "a.csv"), Computer())
    assert isinstance(source, TableFile)
    assert format_first_rows(source).split("\n") == [
        "a.csv: 2 rows, 2 columns",
        "   name    n",
        "   text  int",
        "1  Anna    7",
        "2  Bo    NaN",
    ]
    source.close()


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(TableError, match=r"nothing is not a table.* No file has this name, either"):
        find_table("nothing", Computer())


def test_other_tables_of_the_file_are_named(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "a.db")
    database.executescript("create table one (a); create table two (b);")
    database.close()
    source = find_table(str(tmp_path / "a.db"), Computer())
    assert isinstance(source, TableFile)
    assert format_first_rows(source).split("\n")[-1] == "Other tables: a.db::two"
    source.close()


def test_a_folder_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "sales").mkdir()
    with pytest.raises(TableError, match=r"sales is a folder\. Only regular files open as tables"):
        find_table(str(tmp_path / "sales"), Computer())


def test_two_colons_may_be_part_of_a_name(tmp_path: Path) -> None:
    (tmp_path / "a::b.csv").write_bytes(b"a,b\n1,x\0y\n")
    source = find_table(str(tmp_path / "a::b.csv"), Computer())
    assert isinstance(source, TableFile)
    assert format_first_rows(source).startswith(
        "a::b.csv: 1 row, 2 columns (CSV, zero bytes left out)\n     a  b"
    )
    source.close()


def test_columns_that_are_not_printed_are_named(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text(",".join(f"c{n}" for n in range(32)) + "\n" + "1," * 31 + "1\n")
    source = find_table(str(tmp_path / "wide.csv"), Computer())
    assert isinstance(source, TableFile)
    assert format_first_rows(source).split("\n")[-1] == "2 more columns: c30, c31"
    source.close()
