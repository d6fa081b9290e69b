"""Tables in files with what people find in real ones: odd dates and digits, mixed types, damage."""

import gzip
import json
import os
import re
import sqlite3
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from datetime import date, datetime
from pathlib import Path

import pytest

from oi_tui.input.table_export import export
from oi_tui.input.table_file import TableFile
from oi_tui.runtimes.tables import TableError, TableQuery


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., TableFile]]:
    """Writes a file, opens it, and closes it after the test."""
    tables: list[TableFile] = []

    def open_file(name: str, data: str | bytes | None = None, table: str = "") -> TableFile:
        if data is not None:
            (tmp_path / name).write_bytes(data.encode() if isinstance(data, str) else data)
        tables.append(TableFile(tmp_path / name, table))
        return tables[-1]

    yield open_file
    for table in tables:
        table.close()


def types(table: TableFile) -> list[str]:
    return [column.type for column in table.shape(TableQuery()).columns]


def column(table: TableFile, at: int, words: str = "", *, sort: bool = False) -> list[str | None]:
    view = TableQuery(sort=at if sort else None, words=words)
    return [row.cells[0] for row in table.page(view, 0, 100, at, 1)]


@pytest.mark.parametrize(
    ("texts", "kind", "ordered"),
    [
        (["01.02.2024", "15.1.2023", "03.12.2023"], "date d.m.y", ["15.1.2023", "03.12.2023", "01.02.2024"]),
        (["1/2/2024", "12/31/2023", "3/4/22"], "date m/d/y", ["3/4/22", "12/31/2023", "1/2/2024"]),
        (["1/2/2024", "31/12/2023"], "date d/m/y", ["31/12/2023", "1/2/2024"]),
        (["10/1/2024", "9/2/2024"], "date m/d/y?", ["9/2/2024", "10/1/2024"]),
        (
            ["9/1/2024 3:04 PM", "9/1/2024 11:30 AM", "10/1/2024 12:00 AM"],
            "date m/d/y?",
            ["9/1/2024 11:30 AM", "9/1/2024 3:04 PM", "10/1/2024 12:00 AM"],
        ),
        (["2024/10/01", "2024/2/3"], "date y/m/d", ["2024/2/3", "2024/10/01"]),
        (["2024-10-01", "2024-2-3"], "date y-m-d", ["2024-2-3", "2024-10-01"]),
        (["2-Jan-2024", "11-Dec-2023", "5-Sept-2023"], "date", ["5-Sept-2023", "11-Dec-2023", "2-Jan-2024"]),
        (["Feb 2, 2024", "Jan 11, 2024"], "date", ["Jan 11, 2024", "Feb 2, 2024"]),
        # These are no dates, or not of one order.
        (["31/12/2023", "12/31/2023"], "text", ["12/31/2023", "31/12/2023"]),
        (["1.2.24", "1.10.24"], "text", ["1.10.24", "1.2.24"]),
        (["45.13.2024", "1.2.2024"], "text", ["1.2.2024", "45.13.2024"]),
    ],
)
def test_dates_sort_by_the_day(
    texts: list[str], kind: str, ordered: list[str], opened: Callable[..., TableFile]
) -> None:
    table = opened("a.csv", "day;x\n;0\n" + "".join(f"{text};1\n" for text in texts))
    assert types(table)[0] == kind
    assert column(table, 0, sort=True) == [*ordered, None]
    if kind != "text":
        facts = dict(table.statistics(0).facts)
        assert (facts["min"], facts["max"]) == (ordered[0], ordered[-1])


def test_dates_are_filtered_by_the_day_however_it_is_written(opened: Callable[..., TableFile]) -> None:
    table = opened("a.csv", "day,x\n01.02.2024,1\n15.01.2023,2\nNA,3\n")
    assert column(table, 0, "day > 31.12.2023") == column(table, 0, "day > 2023-12-31") == ["01.02.2024"]
    assert column(table, 0, "day = 15.01.2023") == ["15.01.2023"]
    assert column(table, 1, "day = missing") == ["3"]
    with pytest.raises(TableError, match=r"day holds dates\. Compare it with one that is written as they"):
        table.shape(TableQuery(words="day > soon"))


def test_a_date_in_a_filter_may_be_written_otherwise_than_in_the_column(
    opened: Callable[..., TableFile],
) -> None:
    table = opened("a.csv", "day,x\n2024-02-01,1\n2023-12-15,2\n")
    for words in ("day > 31.12.2023", "day > 12/31/2023", "day = Feb 1, 2024", "day > 2023-12-31"):
        assert column(table, 1, words) == ["1"], words
    with pytest.raises(
        TableError, match=r"day holds dates, and 1/2/2024 could be two days\. Write 2024-01-31"
    ):
        table.shape(TableQuery(words="day > 1/2/2024"))


def test_digits_of_other_scripts_are_texts(opened: Callable[..., TableFile]) -> None:
    table = opened("a.csv", "n,m,day\n１２３,٣,２０２４-01-02\n9,١٢,2024-01-03\n")  # noqa: RUF001
    assert types(table) == ["text", "text", "text"]


def test_numbers_beside_narrow_spaces_are_numbers(opened: Callable[..., TableFile]) -> None:
    table = opened("a.csv", "n,x\n\u00a010,a\n9,b\n\u00a0,c\n")
    assert table.shape(TableQuery()).columns[0].numeric
    assert column(table, 0, sort=True) == ["9", "\u00a010", None]


def test_integers_of_any_length_keep_their_digits_and_sort_by_them(opened: Callable[..., TableFile]) -> None:
    numbers = [2**63 + 5, 2**63 + 4, -(2**70), -(2**70) - 1, 0, 7]
    table = opened("a.jsonl", "".join(json.dumps({"n": number}) + "\n" for number in numbers))
    assert types(table) == ["int"]
    assert column(table, 0, sort=True) == list(map(str, sorted(numbers)))
    assert column(table, 0, f"n = {2**63 + 5}") == [str(2**63 + 5)]
    assert column(table, 0, f"n > {2**63 + 4}") == [str(2**63 + 5)]
    assert column(table, 0, "n > 0.5", sort=True) == ["7", str(2**63 + 4), str(2**63 + 5)]
    assert column(table, 0, "n <= -0.5", sort=True) == [str(-(2**70) - 1), str(-(2**70))]
    facts = dict(table.statistics(0).facts)
    assert (facts["min"], facts["max"]) == (str(-(2**70) - 1), str(2**63 + 5))
    longer = opened("b.json", f'[{{"n": {"9" * 6000}}}, {{"n": 1}}]')
    (row,) = longer.page(TableQuery(words="n > 1"), 0, 9, 0, 1, whole=True)
    assert row.cells == ("9" * 6000,)


def test_an_empty_text_of_json_is_another_value_than_a_missing_one(opened: Callable[..., TableFile]) -> None:
    rows = [{"s": "", "n": 1}, {"s": None, "n": ""}, {"s": "x", "n": 2}]
    table = opened("a.json", json.dumps(rows))
    assert types(table) == ["text", "int"]
    assert column(table, 0) == ["", None, "x"]
    # Among numbers, it is none.
    assert column(table, 1, sort=True) == ["1", "2", None]
    assert column(table, 1, 's = ""') == ["1"]
    assert opened("a.csv", 'a,b\n"",1\nx,2\n').shape(TableQuery(words='a = ""')).rows == 1


def test_blank_lines_and_zero_bytes_are_no_cells(opened: Callable[..., TableFile]) -> None:
    table = opened("a.csv", b"a,b\n\n1,x\0y\n   \n2,z\n" + bytes(500))
    assert [column(table, 0), column(table, 1)] == [["1", "2"], ["xy", "z"]]
    assert table.kind == "CSV, zero bytes left out"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_wide_text_that_is_cut_within_a_character_keeps_the_rest(
    encoding: str, opened: Callable[..., TableFile]
) -> None:
    text = "name,n\n" + "".join(f"Zoë {number},{number}\n" for number in range(100))
    table = opened("a.csv", text.encode(encoding)[:-1])
    assert column(table, 1, sort=True)[-1] == "99"
    assert types(table) == ["text", "int"]
    lines = opened("a.jsonl", '{"a": 1}\n{"a": 2}\n'.encode(encoding)[:-1])
    assert column(lines, 0) == ["1", "2"]


def test_files_that_are_packed_twice_open(opened: Callable[..., TableFile], tmp_path: Path) -> None:
    twice = gzip.compress(gzip.compress(b"a,b\n1,2\n"))
    for name in ("a.csv.gz", "a.csv.gz.gz"):
        assert column(opened(name, twice), 1) == ["2"]
    for name in ("a.csv.gz.zip", "b.zip"):
        with zipfile.ZipFile(tmp_path / name, "w") as outer:
            outer.writestr("a.csv.gz", twice)
        assert column(opened(name), 1) == ["2"]
    data = b"a,b\n1,2\n"
    for _ in range(4):
        data = gzip.compress(data)
    assert column(opened("d.csv.gz", data), 1) == ["2"]
    data = gzip.compress(data)
    with pytest.raises(TableError, match=r"b\.csv\.gz is packed more than 4 times\. Unpack it"):
        opened("b.csv.gz", data)
    archive = b"prices.csv".ljust(257, b"\0") + b"ustar".ljust(1000, b"\0")
    with pytest.raises(TableError, match=r"c\.csv\.gz is a tar archive\. Unpack it, and open its files"):
        opened("c.csv.gz", gzip.compress(archive))


def test_a_table_is_named_only_where_there_are_several(opened: Callable[..., TableFile]) -> None:
    for name, data in (("a.csv", "a,b\n1,2\n"), ("a.json", '[{"a": 1}]'), ("a.parquet", "PAR1")):
        with pytest.raises(TableError, match=rf"{name} holds one table, which has no name\. Leave out ::y;"):
            opened(name, data, "y")


def test_what_is_no_file_is_called_what_it_is(opened: Callable[..., TableFile], tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "link.csv").symlink_to("gone")
    (tmp_path / "device.csv").symlink_to("/dev/null")
    for name, why in (
        ("folder.csv", "is a folder. Only regular files open as tables."),
        ("pipe.csv", "is a pipe. Only regular files open as tables."),
        ("device.csv", "is a device. Only regular files open as tables."),
        ("link.csv", "is a link to gone, which does not exist."),
        ("none.csv", "There is no file"),
    ):
        with pytest.raises(TableError) as refused:
            opened(name)
        assert why in str(refused.value)


def test_a_file_without_permission_is_refused_with_the_reason(
    opened: Callable[..., TableFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Root may read everything.
    monkeypatch.setattr(os, "access", lambda _path, mode: mode != os.R_OK)
    with pytest.raises(TableError, match=r"No permission to read .*a\.csv\."):
        opened("a.csv", "a,b\n1,2\n")


@pytest.fixture
def shop(tmp_path: Path) -> str:
    database = sqlite3.connect(tmp_path / "shop.db")
    database.executescript(
        "create view broken as select x from nowhere;"
        "create table Mixed (n INTEGER, t TEXT);"
        "insert into Mixed values (30, 'a'), ('many', 'b'), (x'00ff', ''), (4, NULL);"
        "create view Sums as select t, count(*) * 1.5 as total from Mixed group by t;"
    )
    database.close()
    return "shop.db"


def test_a_column_of_a_database_with_texts_among_its_numbers_counts_the_numbers(
    shop: str, opened: Callable[..., TableFile]
) -> None:
    # The first table that can be read opens.
    table = opened(shop)
    assert table.name == "shop.db::Mixed"
    assert column(table, 0, sort=True) == ["4", "30", "many", "<2 bytes>"]
    assert column(table, 1) == ["a", "b", "", None]
    facts = dict(table.statistics(0).facts)
    assert (facts["not numbers"], facts["min"], facts["mean"]) == ("2", "4", "17")
    assert column(table, 0, "n > 1") == ["30", "4"]


def test_views_open_with_the_types_of_what_they_compute(shop: str, opened: Callable[..., TableFile]) -> None:
    table = opened(shop, table="sums")
    assert (table.name, table.tables) == ("shop.db::Sums", ("broken", "Mixed", "Sums"))
    shape = table.shape(TableQuery())
    assert [(one.name, one.type, one.numeric) for one in shape.columns] == [
        ("t", "text", False),
        ("total", "real", True),
    ]
    with pytest.raises(TableError, match=r"shop\.db::broken cannot be read as a table: no such table"):
        opened(shop, table="broken")


def test_shares_and_money_of_a_sheet_are_shown_as_such(
    tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    excel = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    sheet = (book := excel.Workbook()).active
    forms = ("0.0%", "0%", "$#,##0.00", "#,##0.00 [$€-407]", "_($* #,##0.00_);_($* (#,##0.00)", "0.00")
    sheet.append(["one", "share", "price", "euro", "account", "plain"])
    for row in ((0.125, 0.12345, 1234.5, 9.9, -1234.5, 1.5), (1, 0.5, -5, 1e6, 2, 12)):
        sheet.append(row)
        for at, form in enumerate(forms, 1):
            sheet.cell(sheet.max_row, at).number_format = form
    book.save(tmp_path / "a.xlsx")
    table = opened("a.xlsx")
    assert types(table) == ["percent", "percent", "currency", "currency", "currency", "float"]
    assert [row.cells for row in table.page(TableQuery(), 0, 9, 0, 9)] == [
        ("12.5%", "12.345%", "$1,234.50", "9.90 €", "-$1,234.50", "1.5"),
        ("100.0%", "50%", "-$5.00", "1,000,000.00 €", "$2.00", "12"),
    ]
    assert column(table, 3, sort=True) == ["9.90 €", "1,000,000.00 €"]
    assert column(table, 2, "price > 1000") == ["$1,234.50"]


def test_dates_are_counted_by_the_time(opened: Callable[..., TableFile]) -> None:
    days = "".join(f"{day:02}.01.2024,2024-01-01 {day:02}:00,{20 + day},w{day}\n" for day in range(1, 22))
    table = opened("a.csv", f"day,hour,n,word\n{days}NA,,9999,w1\n")
    bars = table.statistics(0).bars
    assert (bars[0], bars[-1], len(bars)) == (
        ("2024-01-01 to 2024-01-03", 2),
        ("2024-01-19 to 2024-01-21", 3),
        10,
    )
    assert table.statistics(1).bars[0] == ("2024-01-01 01:00 to 2024-01-01 03:00", 2)
    # The ends of ranges of numbers are whole as long as there is room.
    assert table.statistics(2).bars[-1] == ("9001 to 9999", 1)
    assert table.statistics(3).bars[0] == ("w1", 2)
    impossible = "".join(f"{day}.02.2024,1\n" for day in range(18, 32))
    assert opened("b.csv", f"day,n\n{impossible}").statistics(0).bars[0] == ("31.02.2024", 1)


def test_letters_that_all_encodings_have_at_the_same_place_are_those_of_windows_1252(
    opened: Callable[..., TableFile],
) -> None:
    table = opened("a.csv", "name;city\nJosé García;Köln\nMüller;Gießen\n".encode("cp1252"))
    assert table.kind == "CSV with semicolons, Windows-1252"


def test_numbers_that_are_the_same_are_one_bar(opened: Callable[..., TableFile]) -> None:
    # There is no float between the second ones.
    table = opened("a.csv", "n,m\n5,1\n5,1.0000000000000002\n")
    assert table.statistics(0).bars == (("5", 2),)
    assert table.statistics(1).bars == (("1.0 to 1.0000000000000002", 2),)


@pytest.mark.parametrize(
    ("low", "high", "first", "last"),
    [
        ("2015", "2024", "2015 to 2015.9", "2023.1 to 2024"),
        ("1005", "1013", "1005 to 1005.8", "1012.2 to 1013"),
        ("100000001", "100000002", "100000001 to 100000001.1", "100000001.9 to 100000002"),
        ("1.0000001", "1.0000002", "1.0000001 to 1.00000011", "1.00000019 to 1.0000002"),
        ("1e18", "1.0001e18", "1e+18 to 1.00001e+18", "1.00009e+18 to 1.0001e+18"),
    ],
    ids=["years", "pressures", "integers", "fractions", "large"],
)
def test_numbers_in_a_narrow_range_have_a_histogram(
    low: str, high: str, first: str, last: str, opened: Callable[..., TableFile]
) -> None:
    bars = opened("a.csv", f"n,m\n{low},a\n{high},b\n").statistics(0).bars
    assert (len(bars), bars[0], bars[-1]) == (10, (first, 1), (last, 1))


@pytest.mark.parametrize(
    ("times", "first"),
    [
        ([f"2024-01-01 {hour:02}:24:00" for hour in range(10, 22)], "2024-01-01 10:24 to 2024-01-01 11:30"),
        ([f"2024-01-01T10:00:{second:02}Z" for second in range(0, 24, 2)], "10:00:00 to 10:00:02"),
        ([f"2024-01-01 10:00:00.0{part}" for part in range(10, 33, 2)], "10:00:00.010000 to 10:00:00.012200"),
    ],
    ids=["hours", "seconds", "fractions"],
)
def test_short_times_have_ranges_that_differ_and_fit(
    times: list[str], first: str, opened: Callable[..., TableFile]
) -> None:
    bars = opened("a.csv", "at,n\n" + "".join(f"{text},1\n" for text in times)).statistics(0).bars
    labels = [label for label, _ in bars]
    assert (labels[0], len(set(labels)), sum(many for _, many in bars)) == (first, 10, 12)
    assert max(map(len, labels)) <= 40


def test_times_that_no_unit_tells_apart_are_counted_one_by_one(opened: Callable[..., TableFile]) -> None:
    rows = "".join(f"2024-01-01 10:00:00.0000001{part},1\n" for part in range(10, 22))
    bars = opened("a.csv", f"at,n\n{rows}").statistics(0).bars
    assert set(dict(bars)) <= {f"2024-01-01 10:00:00.0000001{part}" for part in range(10, 22)}
    assert [many for _, many in bars] == [1] * 10


def test_many_different_times_are_counted_in_little_memory(
    tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    database = sqlite3.connect(tmp_path / "a.db")
    database.executescript(
        "create table a (at TIMESTAMP);"
        "with recursive n(i) as (select 0 union all select i + 1 from n where i < 149999) "
        "insert into a select datetime('2024-01-01', '+' || i || ' seconds') from n;"
    )
    database.close()
    table = opened("a.db")
    tracemalloc.start()
    try:
        found = table.statistics(0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert dict(found.facts)["max"] == "2024-01-02 17:39:59"
    assert (len(found.bars), sum(many for _, many in found.bars)) == (10, 150_000)
    assert peak < 5_000_000


def test_dates_of_a_database_are_compared_as_they_are_in_it(
    tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    database = sqlite3.connect(tmp_path / "a.db")
    database.executescript(
        "create table a (d DATE, e DATE, n INTEGER);"
        "insert into a values ('1/2/2024', '2024-01-02', 1), ('01.02.2024', '2023-12-15', 2);"
    )
    database.close()
    table = opened("a.db")
    assert column(table, 2, "d = 1/2/2024") == ["1"]
    assert column(table, 2, "d = 01.02.2024") == ["2"]
    # The order of such texts says nothing.
    assert "min" not in dict(table.statistics(0).facts)
    assert column(table, 2, "e > 31.12.2023") == ["1"]
    assert dict(table.statistics(1).facts)["min"] == "2023-12-15"


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A sheet in which the first amount and the total have a currency, as accountants write it."""
    excel = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    sheet = (book := excel.Workbook()).active
    sheet.append(["amount", "share", "euro and dollar"])
    for amount, share, other in ((1234.5, 0.15, 1), (950, 0.12345, 2), (-1000.25, 1, 3), (0, 0, None)):
        sheet.append([amount, share, other])
        sheet.cell(sheet.max_row, 2).number_format = "0%"
    for row, form in ((2, "$#,##0.00"), (3, "#,##0.00"), (4, "$#,##0.00")):
        sheet.cell(row, 1).number_format = form
    for row, form in ((2, "$0.00"), (3, "0.00 [$€-407]")):
        sheet.cell(row, 3).number_format = form
    book.save(tmp_path / "ledger.xlsx")
    return tmp_path / "ledger.xlsx"


def test_plain_numbers_among_amounts_of_one_currency_are_amounts(
    ledger: Path, opened: Callable[..., TableFile]
) -> None:
    table = opened(ledger.name)
    assert types(table) == ["currency", "percent", "text"]
    assert column(table, 0, sort=True) == ["-$1,000.25", "0", "950", "$1,234.50"]
    assert column(table, 0, "amount > 900") == ["$1,234.50", "950"]
    assert dict(table.statistics(0).facts)["max"] == "1234.5"
    # 0.5 may be 50% or less than 1%.
    text = opened("a.csv", "a,b,c\n$5,5%,$5\n1.5,1,TRUE\n(2),2,\n")
    assert types(text) == ["currency", "text", "text"]
    assert column(text, 0, sort=True) == ["(2)", "1.5", "$5"]


def export_to(path: Path, table: TableFile) -> Path:
    export(table, table.shape(TableQuery()), TableQuery(), path)
    return path


@pytest.mark.slow
def test_amounts_and_shares_are_exported_as_numbers(
    ledger: Path, opened: Callable[..., TableFile], tmp_path: Path
) -> None:
    table = opened(ledger.name)
    assert export_to(tmp_path / "a.csv", table).read_text("utf-8").splitlines() == [
        "amount,share,euro and dollar",
        "1234.5,0.15,$1.00",
        "950,0.12345,2.00 €",
        "-1000.25,1,3",
        "0,0,",
    ]
    excel = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    rows = excel.load_workbook(export_to(tmp_path / "a.xlsx", table)).active.iter_rows(
        min_row=2, max_col=2, values_only=True
    )
    assert list(rows) == [(1234.5, 0.15), (950, 0.12345), (-1000.25, 1), (0, 0)]


@pytest.mark.slow
def test_a_text_file_is_exported_as_text_or_with_types(
    opened: Callable[..., TableFile], tmp_path: Path
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    text = "euro;n;share;day\n1.234,50 €;1,5;12,5 %;1/2/2024\n(2 €);inf;7 %;3/4/2024\n"
    table = opened("b.csv", text)
    assert export_to(tmp_path / "a.csv", table).read_text("utf-8").splitlines()[1:] == [
        '"1.234,50 €","1,5","12,5 %",1/2/2024',
        "(2 €),inf,7 %,3/4/2024",
    ]
    assert parquet.read_table(export_to(tmp_path / "a.parquet", table)).to_pylist() == [
        {"euro": 1234.5, "n": 1.5, "share": 0.125, "day": "1/2/2024"},
        {"euro": -2.0, "n": float("inf"), "share": 0.07, "day": "3/4/2024"},
    ]


def test_a_style_that_a_workbook_does_not_have_leaves_its_number_plain(
    ledger: Path, opened: Callable[..., TableFile], tmp_path: Path
) -> None:
    with zipfile.ZipFile(ledger) as book, zipfile.ZipFile(tmp_path / "odd.xlsx", "w") as odd:
        for name in book.namelist():
            data = book.read(name)
            if name == "xl/worksheets/sheet1.xml":
                data = re.sub(rb'r="B(\d)" s="\d+"', rb'r="B\1" s="99"', data)
                assert b's="99"' in data
            odd.writestr(name, data)
    table = opened("odd.xlsx")
    assert column(table, 1) == ["0.15", "0.12345", "1", "0"]
    assert column(table, 0)[0] == "$1,234.50"


def test_dates_are_exported_as_they_are_sorted_where_their_order_is_known(
    opened: Callable[..., TableFile], tmp_path: Path
) -> None:
    text = (
        "day,at,named,unclear,odd\n31/1/2024,31.1.2024 10:00,2-Jan-2024,1/2/2024,31/2/2024\n"
        "1/2/2024,1.2.2024,3-Feb-2024,3/4/2024,31/1/2024\n"
    )
    table = opened("days.csv", text)
    assert types(table) == ["date d/m/y", "date d.m.y", "date", "date m/d/y?", "date d/m/y"]
    rows = table.export_page(TableQuery(), 0, 2, 0, 5, typed=True, unchanged={4})
    assert [row.cells for row in rows] == [
        ("2024-01-31", "2024-01-31 10:00:00", "2024-01-02", "1/2/2024", "31/2/2024"),
        ("2024-02-01", "2024-02-01", "2024-02-03", "3/4/2024", "31/1/2024"),
    ]
    assert table.export_page(TableQuery(), 0, 1, 4, 1, typed=True, unchanged={4})[0].cells == ("31/2/2024",)
    assert export_to(tmp_path / "a.csv", table).read_text("utf-8") == text
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    # A column with a day that no month has is written as it is in the file.
    assert parquet.read_table(export_to(tmp_path / "a.parquet", table)).to_pylist()[1] == {
        "day": date(2024, 2, 1),
        "at": datetime(2024, 2, 1),
        "named": date(2024, 2, 3),
        "unclear": "3/4/2024",
        "odd": "31/1/2024",
    }


@pytest.mark.parametrize("zero", ["0", "0.0", "-0", " 0"])
def test_a_zero_among_percentages_is_one_and_other_plain_numbers_make_a_text(
    zero: str, opened: Callable[..., TableFile]
) -> None:
    table = opened("shares.csv", f"share,unclear\n5%,5%\n{zero},0.5\n-1%,7%\n")
    assert types(table) == ["percent", "text"]
    assert [cell and cell.strip() for cell in column(table, 0, sort=True)] == ["-1%", zero.strip(), "5%"]
    exported = [row.cells[0] for row in table.export_page(TableQuery(), 0, 3, 0, 1, typed=True)]
    assert [float(text or "nan") for text in exported] == [0.05, 0, -0.01]
