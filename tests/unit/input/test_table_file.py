"""Tables in files: what they hold, in pages, sorted and filtered."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from oi_tui.input.table_file import TableFile
from oi_tui.runtimes.tables import TableError, View

CSV = 'name,zip,price\nAnna,00123,10\nBob,00077,9.5\n"Zoë, the 1st",10115,\nDan,00001,100\n'


@pytest.fixture
def opened() -> Iterator[Callable[..., TableFile]]:
    """Opens files, and closes them after the test."""
    tables: list[TableFile] = []

    def open_file(path: Path, table: str = "") -> TableFile:
        tables.append(TableFile(path, table))
        return tables[-1]

    yield open_file
    for table in tables:
        table.close()


@pytest.fixture
def prices(tmp_path: Path, opened: Callable[..., TableFile]) -> TableFile:
    (tmp_path / "prices.csv").write_text(CSV, encoding="utf-8")
    return opened(tmp_path / "prices.csv")


def cells(table: TableFile, view: View) -> list[tuple[str | None, ...]]:
    return [row.cells for row in table.page(view, 0, 100, 0, 100)]


def test_a_csv_file_keeps_its_texts_and_knows_its_types(prices: TableFile) -> None:
    shape = prices.shape(View())
    assert [(c.name, c.type, c.numeric) for c in shape.columns] == [
        ("name", "text", False),
        ("zip", "text", False),
        ("price", "float", True),
    ]
    assert shape.rows == shape.total == 4
    assert cells(prices, View())[2] == ("Zoë, the 1st", "10115", None)
    assert cells(prices, View())[0] == ("Anna", "00123", "10")


def test_numbers_sort_as_numbers_and_missing_ones_come_last(prices: TableFile) -> None:
    assert [row[2] for row in cells(prices, View(sort=2))] == ["9.5", "10", "100", None]
    assert [row[2] for row in cells(prices, View(sort=2, descending=True))] == ["100", "10", "9.5", None]


def test_a_filter_takes_its_text_literally(prices: TableFile) -> None:
    assert [row[0] for row in cells(prices, View(words="anNA"))] == ["Anna"]
    assert prices.shape(View(words="%")).rows == 0
    assert prices.shape(View(words="_")).rows == 0
    assert prices.shape(View(words="1")).rows == 3


def test_a_column_in_figures(prices: TableFile) -> None:
    found = prices.statistics(2)
    assert dict(found.facts) == {
        "rows": "4",
        "missing": "1",
        "distinct": "3",
        "min": "9.5",
        "median": "10",
        "mean": "39.83333",
        "max": "100",
    }
    assert sum(many for _, many in found.bars) == 3
    assert prices.statistics(0).bars[0][1] == 1


@pytest.mark.parametrize(("name", "text"), [("a.tsv", "x\ty\n1\t2\n"), ("a.csv", "x;y\n1;2\n")])
def test_the_delimiter_is_found(
    tmp_path: Path, opened: Callable[..., TableFile], name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    table = opened(tmp_path / name)
    assert [column.name for column in table.shape(View()).columns] == ["x", "y"]
    assert cells(table, View()) == [("1", "2")]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_records_of_json(tmp_path: Path, opened: Callable[..., TableFile], name: str) -> None:
    records = [{"a": 1, "b": [1, 2]}, {"a": None, "c": "x"}]
    lines = name.endswith("l")
    text = "\n".join(map(json.dumps, records)) if lines else json.dumps(records)
    (tmp_path / name).write_text(text)
    table = opened(tmp_path / name)
    assert [(c.name, c.type) for c in table.shape(View()).columns] == [
        ("a", "int"),
        ("b", "text"),
        ("c", "text"),
    ]
    assert cells(table, View()) == [("1", "[1, 2]", None), (None, None, "x")]


def test_tables_of_a_database_are_named(tmp_path: Path, opened: Callable[..., TableFile]) -> None:
    database = sqlite3.connect(tmp_path / "a.db")
    database.execute("CREATE TABLE one (n INTEGER, 'odd \"name' TEXT)")
    database.execute("INSERT INTO one VALUES (7, 'x')")
    database.execute("CREATE TABLE two (n INTEGER)")
    database.commit()
    database.close()
    with pytest.raises(TableError, match=r"Name a table of a\.db: one, two"):
        TableFile(tmp_path / "a.db")
    table = opened(tmp_path / "a.db", "one")
    assert cells(table, View(sort=1, words="x")) == [("7", "x")]
    assert table.shape(View()).columns[0].numeric


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.json", b"{}", "holds no list"),
        ("a.json", b"{", "cannot be read"),
        ("a.jsonl", b"1\n", "each record must be a JSON object"),
        ("a.db", b"not a database, at all", "cannot be read"),
        ("a.txt", b"", "does not open as a table"),
        ("a.jsonl", b'{"a": 1}\n' * 1000 + b"7\n", "each record must be a JSON object"),
    ],
    ids=["object", "torn", "number", "database", "ending", "late number"],
)
def test_what_is_no_table_is_refused_in_a_sentence(
    tmp_path: Path, name: str, data: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(TableError, match=words):
        TableFile(tmp_path / name)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="There is no file"):
        TableFile(tmp_path / "none.csv")


def test_parquet_opens_where_its_library_is(tmp_path: Path, opened: Callable[..., TableFile]) -> None:
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    parquet.write_table(arrow.table({"a": [1, 2], "b": ["x", None]}), tmp_path / "a.parquet")
    assert cells(opened(tmp_path / "a.parquet"), View()) == [("1", "x"), ("2", None)]


def test_excel_opens_where_its_library_is(tmp_path: Path, opened: Callable[..., TableFile]) -> None:
    excel = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    book = excel.Workbook()
    for row in (["a", "b"], [1, "x"], [2.5, None]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    assert cells(opened(tmp_path / "a.xlsx"), View()) == [("1", "x"), ("2.5", None)]


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    (tmp_path / "a.xlsx").write_bytes(b"")
    with pytest.raises(TableError, match="needs the Python package openpyxl"):
        TableFile(tmp_path / "a.xlsx")
