"""Tables that Python remembers, read page by page."""

import json
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from oi_tui.input.table_export import export
from oi_tui.messages import Printed
from oi_tui.runtimes import Computer
from oi_tui.runtimes.tables import LiveTable, TableError, TableQuery
from tests.processes import wait_until
from tests.runtimes.playing import play

SETUP = """
import sqlite3
import numpy, pandas
df = pandas.DataFrame({f"c{n}": numpy.arange(1000) * 1.5 for n in range(60)})
df["odd"] = ["plain", None, 3, object()] * 250
df.loc[2, "c0"] = None
array = numpy.arange(12).reshape(4, 3)
records = [{"a": 3, "b": "x"}, {"a": None}, {"a": 1, "b": "two\\nlines"}]
rows = sqlite3.connect(":memory:").execute("select 1, 'x' union select 2, 'y'").fetchall()
mixed = [[1], ["b"], [None], [2]]
class Loud:
    def __str__(self): raise SystemExit
loud = [{"v": Loud()}]
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    """A computer with the Python of the tests, which has pandas."""
    pytest.importorskip("pandas", reason="pandas is not installed")
    computer = Computer(cwd=tmp_path_factory.mktemp("tables"), python=sys.executable)
    assert play(computer, "python", SETUP).state == "finished"
    yield computer
    computer.close()


def test_a_frame_is_read_in_pages(python: Computer) -> None:
    table = python.inspector.open_table("python", "df")
    shape = table.shape(TableQuery())
    assert (shape.kind, shape.rows, shape.total, len(shape.columns)) == ("DataFrame", 1000, 1000, 61)
    assert shape.columns[0].numeric
    assert not shape.columns[60].numeric
    page = table.page(TableQuery(), 1, 3, 59, 40)
    assert [(row.label, row.cells) for row in page] == [
        ("1", ("1.5", None)),
        ("2", ("3", "3")),
        ("3", ("4.5", "<object>")),
    ]
    assert table.page(TableQuery(), 998, 100, 0, 1)[-1].label == "999"


def test_a_frame_is_sorted_and_filtered(python: Computer) -> None:
    table = python.inspector.open_table("python", "df")
    down = TableQuery(sort=0, descending=True)
    assert [row.label for row in table.page(down, 0, 2, 0, 1)] == ["999", "998"]
    assert table.page(down, 999, 1, 0, 1)[0].cells == (None,)
    assert table.shape(TableQuery(words="PLAIN")).rows == 250
    assert [
        row.label for row in table.page(TableQuery(sort=0, descending=True, words="plain"), 0, 1, 0, 1)
    ] == ["996"]


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        ("price > 9", "1 3"),
        ("Price <= 9", "0 2"),
        ("price = missing", "4"),
        ("price != missing", "0 1 2 3"),
        ("name == b", "1"),
        ("day >= 2024-02-01", "2 3"),
        ("day = 2024-02-01", "2"),
        ("mixed < 10", "1 3"),
        ("nothing > 5", ""),
    ],
)
@pytest.mark.parametrize("name", ["dirty_frame", "dirty_records"])
def test_a_filter_may_be_a_condition_on_a_column(
    python: Computer, name: str, words: str, labels: str
) -> None:
    code = (
        "dirty_frame = pandas.DataFrame({'name': list('abcde'), 'price': [-8, 10, 9, 1e3, None], "
        "'day': pandas.to_datetime(['2023-12-31', '2024-01-02', '2024-02-01', '2024-10-01', None]), "
        "'mixed': ['-', '2', 'x', 3, None]})\ndirty_records = dirty_frame.to_dict('records')"
    )
    assert play(python, "python", code).state == "finished"
    table, query = python.inspector.open_table("python", name), TableQuery(words=words)
    assert [row.label for row in table.page(query, 0, 9, 0, 1)] == labels.split()
    assert table.shape(query).rows == len(labels.split())


def test_a_frame_that_changed_is_seen_after_a_reload(python: Computer) -> None:
    assert play(python, "python", "live = pandas.DataFrame({'a': [2, 1]})").state == "finished"
    table, up = python.inspector.open_table("python", "live"), TableQuery(sort=0)
    assert [row.cells for row in table.page(up, 0, 9, 0, 1)] == [("1",), ("2",)]
    assert play(python, "python", "live.loc[0, 'a'] = 0").state == "finished"
    table.shape(up)
    assert [row.cells for row in table.page(up, 0, 9, 0, 1)] == [("0",), ("1",)]


@pytest.mark.parametrize(
    ("name", "kind", "first"),
    [
        ("array", "numpy array", ("0", "1", "2")),
        ("records", "list of dict", ("3", "x")),
        ("rows", "list of tuple", ("1", "x")),
        ("df['c1']", "", ()),
    ],
)
def test_other_tables(python: Computer, name: str, kind: str, first: tuple[str, ...]) -> None:
    table = python.inspector.open_table("python", name)
    if not kind:
        with pytest.raises(TableError, match="There is no variable"):
            table.shape(TableQuery())
        return
    assert table.shape(TableQuery()).kind == kind
    assert table.page(TableQuery(), 0, 1, 0, 9)[0].cells == first


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_frames_of_other_libraries(python: Computer, library: str) -> None:
    pytest.importorskip(library, reason=f"{library} is not installed")
    make = {"polars": "polars.DataFrame", "pyarrow": "pyarrow.table"}[library]
    code = f"import {library}\nother = {make}({{'a': [3, 1, None], 'b': ['x', 'y', 'z']}})"
    assert play(python, "python", code).state == "finished"
    table = python.inspector.open_table("python", "other")
    assert [column.numeric for column in table.shape(TableQuery()).columns] == [True, False]
    for descending, first in ((True, "3"), (False, "1")):
        view = TableQuery(sort=0, descending=descending)
        cells = [row.cells[0] for row in table.page(view, 0, 9, 0, 2)]
        assert (cells[0], cells[-1]) == (first, None)
    assert table.shape(TableQuery(words="Y")).rows == 1
    assert dict(table.statistics(0).facts)["max"] == "3"


def test_integers_of_thousands_of_digits_are_no_obstacle(python: Computer) -> None:
    pairs = "(10**5000 - 1, 'Ulm'), (-(2**20_000), 'Bonn'), (12, 'x')"
    code = f"vast = [{{'n': number, 't': text}} for number, text in ({pairs})]"
    assert play(python, "python", code).state == "finished"
    table = python.inspector.open_table("python", "vast")
    assert [table.shape(TableQuery(words=words)).rows for words in ("ulm", "12", "zzz")] == [1, 1, 0]
    facts = dict(table.statistics(0).facts)
    assert (facts["min"], facts["max"]) == ("-3.980277e+6020", "1e+5000")
    view = TableQuery(sort=0)
    assert [row.cells[1] for row in table.page(view, 0, 9, 0, 2)] == ["Bonn", "x", "Ulm"]
    assert table.shape(TableQuery(words="n > 5")).rows == 2


def test_types_of_polars_have_short_names(python: Computer) -> None:
    names = {
        "Int64": "Int64",
        "Datetime(time_unit='us', time_zone=None)": "Datetime[us]",
        "List(Datetime(time_unit='ns', time_zone='UTC'))": "List(Datetime[ns, UTC])",
        "Array(Int64, shape=(2, 3))": "Array(Int64, 2, 3)",
        "Decimal(precision=10, scale=2)": "Decimal[10, 2]",
        "Struct({'a': Int64})": "Struct",
        "Enum(categories=['a', 'b'])": "Enum",
    }
    # Stands for a frame of polars, which need not be installed.
    code = f"""
class Kind(str):
    def is_numeric(self):
        return False

class DataFrame:
    height = 0
    columns = {list(names)}
    schema = {{name: Kind(name) for name in columns}}

DataFrame.__module__ = "polars.dataframe.frame"
frame = DataFrame()
"""
    assert play(python, "python", code).state == "finished"
    shape = python.inspector.open_table("python", "frame").shape(TableQuery())
    assert {column.name: column.type for column in shape.columns} == names


@pytest.mark.parametrize("kind", ["float", "int8", "bool"])
def test_equal_numbers_keep_their_order_in_both_directions(python: Computer, kind: str) -> None:
    values = {
        "float": "[2.0, None, 1.0, 2.0, None, 1.0]",
        "int8": "[2, 0, 1, 2, 0, 1]",
        "bool": "[1, 0, 1, 0, 1, 0]",
    }
    made = f"ties = pandas.DataFrame({{'v': pandas.Series({values[kind]}, dtype='{kind}')}})"
    assert play(python, "python", made).state == "finished"
    table = python.inspector.open_table("python", "ties")

    def order(view: TableQuery) -> str:
        return "".join(row.label for row in table.page(view, 0, 9, 0, 1))

    expected = {"float": ("250314", "032514"), "int8": ("142503", "032514"), "bool": ("135024", "024135")}
    assert (order(TableQuery(sort=0)), order(TableQuery(sort=0, descending=True))) == expected[kind]


def test_what_cannot_be_compared_is_sorted_by_its_text_and_missing_values_come_last(python: Computer) -> None:
    table = python.inspector.open_table("python", "mixed")
    assert [row.cells[0] for row in table.page(TableQuery(sort=0), 0, 9, 0, 1)] == ["1", "2", "b", None]


def test_columns_with_missing_integers_arrays_and_any_type_are_shown(python: Computer) -> None:
    code = """import datetime, decimal
dirty = pandas.DataFrame({
    "nullable": pandas.array([1, None, 3], dtype="Int64"),
    "flag": pandas.array([True, None, False], dtype="boolean"),
    "vectors": [numpy.zeros(3), numpy.ones(3), None],
    "period": pandas.period_range("2024-01", periods=3, freq="M"),
    "interval": pandas.interval_range(0, 3),
    "zoned": pandas.date_range("2024", periods=3, tz="UTC"),
    "huge": [2**70, 1, None],
    "exact": [decimal.Decimal("1.10"), None, decimal.Decimal(2)],
    "bytes": [b"\\x00", b"abc", None],
    "kind": pandas.Categorical(["lo", None, "hi"]),
    "nested": [{"k": [1]}, [2], None],
})
dirty"""
    played = play(python, "python", code)
    shown = [report.table for _, report in played.reports if isinstance(report, Printed) and report.table]
    assert shown
    first = json.loads(shown[0])["rows"]
    assert "1180591620717411303424" in str(first)
    table = python.inspector.open_table("python", "dirty")
    assert [row.cells[0] for row in table.page(TableQuery(sort=0), 0, 9, 0, 11)] == ["1", "3", None]
    for column in range(11):
        assert dict(table.statistics(column).facts)["rows"] == "3"
        table.page(TableQuery(sort=column), 0, 9, 0, 11)
    assert table.shape(TableQuery(words="abc")).rows == 1


def test_objects_of_the_program_are_not_asked_for_their_text(python: Computer) -> None:
    assert python.inspector.open_table("python", "loud").page(TableQuery(), 0, 1, 0, 1)[0].cells == (
        "<Loud>",
    )


def test_objects_of_the_program_are_not_compared_to_sort_them(python: Computer) -> None:
    code = """
class Strange:
    def __repr__(self): raise ValueError("no text")
    def __lt__(self, other): raise SystemExit
strange = [{"v": Strange()}, {"v": 3}, {"v": None}]
strange_frame = pandas.DataFrame({"v": [Strange(), Strange(), None]})
nested = [{"v": [Strange()]}, {"v": [1]}]
"""
    assert play(python, "python", code).state == "finished"
    for name, order in (("strange", ["1", "0", "2"]), ("strange_frame", ["0", "1", "2"])):
        table = python.inspector.open_table("python", name)
        assert [row.label for row in table.page(TableQuery(sort=0), 0, 9, 0, 1)] == order
    page = python.inspector.open_table("python", "nested").page(TableQuery(), 0, 9, 0, 1)
    assert [row.cells for row in page] == [("<list>",), ("[1]",)]


def test_a_column_of_objects_in_polars_is_sorted(python: Computer) -> None:
    pytest.importorskip("polars", reason="polars is not installed")
    code = (
        "import polars\nitems = polars.Series([3, None, object()], dtype=polars.Object)\n"
        "objects = polars.DataFrame({'o': items})"
    )
    assert play(python, "python", code).state == "finished"
    table = python.inspector.open_table("python", "objects")
    assert [row.cells for row in table.page(TableQuery(sort=0), 0, 9, 0, 1)] == [
        ("3",),
        ("<object>",),
        (None,),
    ]


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("LazyFrame", "collect()"),
        ("DuckDBPyRelation", "df()"),
        ("Dataset", "to_dataframe()"),
        ("DataArray", "to_series()"),
        ("Styler", "data"),
    ],
)
def test_what_has_its_rows_elsewhere_says_where(python: Computer, kind: str, rows: str) -> None:
    assert play(python, "python", f"class {kind}: pass\nquery = {kind}()").state == "finished"
    with pytest.raises(TableError, match=re.escape(f"of type {kind}. Its rows are in query.{rows}.")):
        python.inspector.open_table("python", "query").shape(TableQuery())


def test_long_texts_are_cut_unless_they_are_wanted_whole(python: Computer) -> None:
    assert play(python, "python", "long = [{'t': 'ab\\n' * 500}]").state == "finished"
    table = python.inspector.open_table("python", "long")
    (cut,) = table.page(TableQuery(), 0, 1, 0, 1)[0].cells
    (whole,) = table.page(TableQuery(), 0, 1, 0, 1, whole=True)[0].cells
    assert cut is not None
    assert "\n" not in cut
    assert cut.endswith("…")
    assert whole == "ab\n" * 500


def test_a_column_in_figures(python: Computer) -> None:
    found = python.inspector.open_table("python", "df").statistics(0)
    assert dict(found.facts)["missing"] == "1"
    assert dict(found.facts)["max"] == "1498.5"
    assert sum(many for _, many in found.bars) == 999
    kinds = python.inspector.open_table("python", "df").statistics(60)
    assert ("plain", 250) in kinds.bars


def test_what_is_no_table_is_refused_in_a_sentence(python: Computer) -> None:
    assert play(python, "python", "number = 3").state == "finished"
    with pytest.raises(TableError, match="number is not a table: it is of type int"):
        python.inspector.open_table("python", "number").shape(TableQuery())
    with pytest.raises(TableError, match="cannot be opened"):
        python.inspector.open_table("shell", "x")


def test_a_table_of_a_language_that_has_not_run_yet_is_refused_with_that_reason(computer: Computer) -> None:
    with pytest.raises(TableError, match="No Python code has run here yet"):
        computer.inspector.open_table("python", "frame")


def test_two_who_ask_at_once_are_both_answered(python: Computer) -> None:
    made = 'many = pandas.DataFrame({c: numpy.random.rand(700_000) for c in "ab"})'
    assert play(python, "python", made).state == "finished"
    begin = threading.Barrier(2)
    answers: list[int] = []

    def ask(column: int) -> None:
        table = python.inspector.open_table("python", "many")
        begin.wait(10)
        answers.append(len(table.page(TableQuery(sort=column), 0, 5, 0, 2)))

    askers = [threading.Thread(target=ask, args=(column,)) for column in (0, 1)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join(30)
    assert answers == [5, 5]


def test_the_language_stays_usable(python: Computer) -> None:
    python.inspector.open_table("python", "df").page(TableQuery(), 0, 1, 0, 1)
    played = play(python, "python", "print(len(df))")
    assert played.state == "finished"
    assert "1000" in str(played.reports)


def tables(computer: Computer, code: str) -> list[dict[str, Any]]:
    """The tables that a cell shows, once each."""
    found: list[str] = []
    for _, report in play(computer, "python", code).reports:
        if isinstance(report, Printed) and report.table and report.table not in found:
            found.append(report.table)
    return [json.loads(item) for item in found]


def test_a_shown_frame_comes_with_its_first_and_last_rows_and_can_be_opened(python: Computer) -> None:
    (shown,) = tables(python, "df")
    assert (shown["name"], shown["total"], shown["width"], shown["head"]) == ("df", 1000, 61, 8)
    assert [label for label, _ in shown["rows"]] == [*map(str, range(8)), "996", "997", "998", "999"]
    assert shown["columns"][0] == ["c0", "float64", True]
    assert len(shown["columns"]) == len(shown["rows"][0][1]) == 60
    assert shown["rows"][2][1][0] is None
    assert python.inspector.open_table("python", shown["key"]).shape(TableQuery()).total == 1000


DATABASE = """
import sqlite3
database = sqlite3.connect(":memory:")
database.row_factory = sqlite3.Row
database.execute("select 1 as one, 2 as two").fetchall()
"""


@pytest.mark.parametrize(
    ("code", "columns", "total"),
    [
        ("pandas.Series([1.5, 2.5], name='price')", ["price"], 2),
        ("pandas.Series(list('aab')).value_counts()", ["count"], 2),
        ("[{'a': n, 'b': str(n)} for n in range(40)]", ["a", "b"], 40),
        (DATABASE, ["one", "two"], 1),
    ],
)
def test_columns_and_records_are_shown_as_tables(
    python: Computer, code: str, columns: list[str], total: int
) -> None:
    (shown,) = tables(python, code)
    assert [name for name, _, _ in shown["columns"]] == columns
    assert shown["total"] == total
    assert python.inspector.open_table("python", shown["key"]).shape(TableQuery()).total == total


@pytest.mark.parametrize(
    "code",
    [
        "[]",
        "[{'a': 1}, {'a': 2}]",
        "[{}, {}, {}]",
        "[{'a': 1}, {'b': 2}, {'a': 3}]",
        "[{'a': [1]}, {'a': [2]}, {'a': [3]}]",
        "[{'a': object()}] * 3",
        "[{'a': 1}, {'a': 1}, 3]",
        "[[1, 2], [3, 4], [5, 6]]",
        "class Row: pass\n[Row(), Row(), Row()]",
        "%%capture kept\n[{'a': 1}, {'a': 2}, {'a': 3}]",
    ],
)
def test_other_lists_are_shown_as_they_print_themselves(python: Computer, code: str) -> None:
    assert tables(python, code) == []


def test_a_frame_is_shown_as_it_was_after_its_name_means_something_else(python: Computer) -> None:
    (shown,) = tables(python, "old = pandas.DataFrame({'a': [1]})\nold")
    assert play(python, "python", "old = 3").state == "finished"
    assert python.inspector.open_table("python", shown["key"]).page(TableQuery(), 0, 1, 0, 1)[0].cells == (
        "1",
    )


def test_a_large_frame_that_the_program_let_go_is_not_kept_in_memory(python: Computer) -> None:
    (shown,) = tables(python, "display(pandas.concat([df] * 10))")
    with pytest.raises(TableError, match="Run its cell again"):
        python.inspector.open_table("python", shown["key"]).shape(TableQuery())


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ("[1.0, 2.5, None]", ["1.0", "2.5", None]),
        ("[0.123456789, 100.0]", ["0.1235", "100.0000"]),
        ("[1e-9, 1.0]", ["1e-09", "1"]),
        ("[1e15, 1.0]", ["1e+15", "1"]),
        ("[float('inf'), 1.0]", ["inf", "1"]),
        ("[True, False]", ["True", "False"]),
        ("['x' * 500, '\\n']", ["x" * 79 + "…", "\\n"]),
    ],
)
def test_numbers_of_a_column_have_the_same_decimals(
    python: Computer, values: str, texts: list[str | None]
) -> None:
    (shown,) = tables(python, f"pandas.DataFrame({{'a': {values}}})")
    assert [row[0] for _, row in shown["rows"]] == texts


def test_a_class_of_the_program_derived_from_a_frame_is_a_table(python: Computer) -> None:
    (shown,) = tables(python, "class Mine(pandas.DataFrame): pass\nMine({'a': [1]})")
    assert python.inspector.open_table("python", shown["key"]).shape(TableQuery()).kind == "Mine"


def test_frames_with_odd_labels_are_shown(python: Computer) -> None:
    code = "pandas.DataFrame([[1, 2]], columns=[('x', 1), ('x', 1)], index=[('a', 2)])"
    (shown,) = tables(python, code)
    assert [name for name, _, _ in shown["columns"]] == ["x, 1", "x, 1"]
    (empty,) = tables(python, "pandas.DataFrame()")
    assert (empty["columns"], empty["rows"], empty["total"]) == ([], [], 0)


def test_other_values_are_shown_as_they_print_themselves(python: Computer) -> None:
    assert tables(python, "class DataFrame: pass\nDataFrame()") == []
    assert tables(python, "({'a': 1},) * 500") == []


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_shown_frames_of_other_libraries(python: Computer, library: str) -> None:
    pytest.importorskip(library, reason=f"{library} is not installed")
    make = {"polars": "polars.DataFrame", "pyarrow": "pyarrow.table"}[library]
    (shown,) = tables(python, f"import {library}\n{make}({{'a': [3.5, None], 'b': ['x', '東京']}})")
    assert [row for _, row in shown["rows"]] == [["3.5", "x"], [None, "東京"]]
    assert python.inspector.open_table("python", shown["key"]).shape(TableQuery()).total == 2


def statistics_of(python: Computer, code: str) -> tuple[dict[str, str], list[tuple[str, int]]]:
    """The facts and the bars of the first column of what the code makes."""
    assert play(python, "python", f"column = {code}").state == "finished"
    found = python.inspector.open_table("python", "column").statistics(0)
    return dict(found.facts), list(found.bars)


def test_infinite_numbers_are_not_missing_ones(python: Computer) -> None:
    facts, bars = statistics_of(
        python, "pandas.DataFrame({'v': [1.0, 3.0, numpy.inf, -numpy.inf, numpy.nan]})"
    )
    assert (facts["missing"], facts["infinite"], facts["min"], facts["max"]) == ("1", "2", "1", "3")
    assert sum(many for _, many in bars) == 2
    facts, bars = statistics_of(python, "[{'v': float('inf')}, {'v': 1.5}, {'v': None}]")
    assert (facts["missing"], facts["infinite"], facts["max"]) == ("1", "1", "1.5")
    assert bars == [("1.5", 1)]


@pytest.mark.parametrize(
    ("code", "low", "high"),
    [
        ("pandas.DataFrame({'v': [1e308, -1e308, 0.5]})", "-1e+308", "1e+308"),
        ("[{'v': 1e308}, {'v': -1e308}]", "-1e+308", "1e+308"),
        ("[{'v': 10**400}, {'v': 1}]", "1", str(10**400)),
    ],
    ids=["array", "records", "whole numbers"],
)
def test_numbers_whose_sum_or_range_is_no_number_are_described(
    python: Computer, code: str, low: str, high: str
) -> None:
    facts, bars = statistics_of(python, code)
    assert (facts["min"], facts["max"]) == (low, high)
    assert sum(many for _, many in bars) == int(facts["rows"])


@pytest.mark.parametrize(
    ("code", "low", "high", "first"),
    [
        ("pandas.DataFrame({'v': [2**53 + 1] * 3})", str(2**53 + 1), str(2**53 + 1), (str(2**53 + 1), 3)),
        (
            "pandas.DataFrame({'v': numpy.array([2**64 - 1, 2**64 - 2], dtype='uint64')})",
            str(2**64 - 2),
            str(2**64 - 1),
            (f"{2**64 - 2} to {2**64 - 1}", 2),
        ),
        ("pandas.DataFrame({'v': [1234567890, 1234567990]})", "1234567890", "1234567990", None),
        ("pandas.DataFrame({'v': [7, 7, 7]})", "7", "7", ("7", 3)),
        ("pandas.DataFrame({'v': [10**18, 10**18 + 10**12]})", str(10**18), str(10**18 + 10**12), None),
        ("numpy.matrix([[1, 2], [3, 4]])", "1", "3", None),
        ("numpy.ma.masked_array([9, 1, 2], mask=[True, False, False])", "1", "2", None),
    ],
)
def test_whole_numbers_keep_their_digits_in_statistics(
    python: Computer, code: str, low: str, high: str, first: tuple[str, int] | None
) -> None:
    facts, bars = statistics_of(python, code)
    assert (facts["min"], facts["max"]) == (low, high)
    assert len({label for label, _ in bars}) == len(bars)
    assert first is None or bars == [first]


def test_points_in_time_have_a_first_a_last_and_a_histogram(python: Computer) -> None:
    code = "pandas.DataFrame({'t': pandas.date_range('2024-01-01', periods=100, tz='Europe/Berlin')})"
    facts, bars = statistics_of(python, code)
    assert (facts["min"], facts["max"]) == ("2024-01-01 00:00:00+01:00", "2024-04-09 00:00:00+02:00")
    assert bars[0] == ("2024-01-01 to 2024-01-10", 10)
    for unit, first in (("s", "10:00:00 to 10:00:01"), ("ms", "10:00:00.000000 to 10:00:00.001100")):
        times = f"pandas.date_range('2024-01-01 10:00', periods=12, freq='{unit}')"
        _, bars = statistics_of(python, f"pandas.DataFrame({{'t': {times}}})")
        assert bars[0] == (first, 2)
        assert len({label for label, _ in bars}) == 10


def test_a_long_column_of_categories_is_counted(python: Computer) -> None:
    code = (
        "pandas.DataFrame({'c': pandas.Categorical.from_codes("
        "numpy.arange(3_000_000) % 2, ['red', 'blue', 'never'])})"
    )
    facts, bars = statistics_of(python, code)
    assert facts["distinct"] == "2"
    assert bars == [("red", 1_500_000), ("blue", 1_500_000)]


def test_objects_of_the_program_are_not_compared_to_count_them(python: Computer) -> None:
    code = """class Nosy:
    asked = 0
    def __hash__(self):
        Nosy.asked += 1
        return 1
pandas.DataFrame({'o': [Nosy(), Nosy(), 'x']})"""
    head, _, last = code.rpartition("\n")
    assert play(python, "python", head).state == "finished"
    facts, _ = statistics_of(python, last)
    assert facts["rows"] == "3"
    assert "asked 0" in str(play(python, "python", "print(f'asked {Nosy.asked}')").reports)


def test_numbers_with_few_digits_are_shown_with_no_more(python: Computer) -> None:
    code = "short = pandas.DataFrame({'s': numpy.float32([0.1, 3e20]), 'h': numpy.float16([0.1, 2])})"
    assert play(python, "python", code).state == "finished"
    table = python.inspector.open_table("python", "short")
    assert [row.cells for row in table.page(TableQuery(), 0, 2, 0, 2)] == [("0.1", "0.1"), ("3e+20", "2")]
    assert table.page(TableQuery(), 0, 1, 0, 1, whole=True)[0].cells == ("0.1",)


def test_a_filter_looks_at_the_labels_of_rows_too(python: Computer) -> None:
    code = "labelled = pandas.DataFrame({'v': [1, 2, 3]}, index=['Spain', 'Peru', 'Chad'])"
    assert play(python, "python", code).state == "finished"
    assert python.inspector.open_table("python", "labelled").shape(TableQuery(words="peru")).rows == 1
    assert play(python, "python", "numbered = labelled.reset_index(drop=True)").state == "finished"
    assert python.inspector.open_table("python", "numbered").shape(TableQuery(words="0")).rows == 0


@pytest.mark.parametrize(
    ("code", "columns", "cells"),
    [
        ("pandas.Index([3, 4], name='ix')", ["ix"], ("3",)),
        ("pandas.MultiIndex.from_product([list('ab'), [1, 2]], names=['k', 'n'])", ["k", "n"], ("a", "1")),
        ("numpy.array([(1, 'a'), (2, 'b')], dtype=[('x', 'i4'), ('s', 'U4')])", ["x", "s"], ("1", "a")),
        ("[Point(1, 2), Point(3, 4)]", ["x", "y"], ("1", "2")),
    ],
)
def test_values_like_tables_open_as_tables(
    python: Computer, code: str, columns: list[str], cells: tuple[str, ...]
) -> None:
    setup = "import collections\nPoint = collections.namedtuple('Point', 'x y')"
    assert play(python, "python", f"{setup}\nlike = {code}").state == "finished"
    table = python.inspector.open_table("python", "like")
    assert [column.name for column in table.shape(TableQuery()).columns] == columns
    assert table.page(TableQuery(), 0, 1, 0, 9)[0].cells == cells


def test_half_of_a_character_in_a_table_can_be_written_to_a_file(python: Computer, tmp_path: Path) -> None:
    code = "halves = [{'a': 'x\\ud800', '\\udfff': 1}, {'a': 'b', '\\udfff': 2}]"
    assert play(python, "python", code).state == "finished"
    table = python.inspector.open_table("python", "halves")
    export(table, table.shape(TableQuery()), TableQuery(), tmp_path / "halves.csv")
    assert (tmp_path / "halves.csv").read_text(encoding="utf-8") == "a,\ufffd\nx\ufffd,1\nb,2\n"


def test_numbers_that_no_float_holds_are_compared(python: Computer) -> None:
    code = "huge = pandas.DataFrame({'o': [10**400, 1, -(10**400)]})"
    assert play(python, "python", code).state == "finished"
    table = python.inspector.open_table("python", "huge")
    assert table.shape(TableQuery(words="o > 0")).rows == 2
    assert table.shape(TableQuery(words="o < 0")).rows == 1


def test_a_field_of_an_array_that_is_an_array_itself_is_sorted_and_filtered(python: Computer) -> None:
    code = "fields = numpy.array([(1, [1, 2]), (2, [0, 9])], dtype=[('a', 'i4'), ('v', 'i4', 2)])"
    assert play(python, "python", code).state == "finished"
    table = python.inspector.open_table("python", "fields")
    assert [row.cells[1] for row in table.page(TableQuery(sort=1), 0, 9, 0, 2)] == ["[0, 9]", "[1, 2]"]
    assert table.shape(TableQuery(words="v > 1")).rows == 0


def test_polars_integers_that_numpy_has_no_type_for_are_filtered_and_described(python: Computer) -> None:
    pytest.importorskip("polars", reason="polars is not installed")
    code = (
        "import polars\nwide = polars.DataFrame({'n': polars.Series([2**100, 1, None], dtype=polars.Int128)})"
    )
    assert play(python, "python", code).state == "finished"
    table = python.inspector.open_table("python", "wide")
    assert table.shape(TableQuery(words="n > 5")).rows == 1
    assert ("missing", "1") in table.statistics(0).facts


def test_a_column_of_lists_of_pyarrow_is_sorted_by_its_texts(python: Computer) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    code = """import pyarrow
kind = pandas.ArrowDtype(pyarrow.list_(pyarrow.int64()))
lists = pandas.DataFrame({"l": pandas.Series([[2], [1]], dtype=kind)})"""
    assert play(python, "python", code).state == "finished"
    assert (
        python.inspector.open_table("python", "lists").page(TableQuery(sort=0), 0, 1, 0, 1)[0].cells[0]
        == "[1]"
    )


def test_a_missing_decimal_is_missing(python: Computer) -> None:
    assert (
        play(python, "python", "import decimal\nnone = [{'d': decimal.Decimal('nan')}]").state == "finished"
    )
    assert python.inspector.open_table("python", "none").page(TableQuery(), 0, 1, 0, 1)[0].cells == (None,)


#: The same columns for pandas, polars and pyarrow.
COLUMNS = """
import datetime as dt, zoneinfo
zone = zoneinfo.ZoneInfo("Etc/GMT-2")
columns = {
    "text": ["b", None, "a", "b", "Ä"],
    "time": [dt.datetime(2024, 1, day, 12) for day in (3, 1, 2)] + [None, dt.datetime(2024, 1, 2)],
    "zoned": [dt.datetime(2024, 1, day, 0, 30, tzinfo=zone) for day in (3, 1, 2, 3)] + [None],
    "whole": [2**53 + 1, 2**53, 5, 1, 2],
    "flag": [True, False, True, True, False],
}
"""
MADE = {
    "pandas": "import pandas\nlike = pandas.DataFrame(columns)",
    "polars": "import polars\nlike = polars.DataFrame(columns)",
    "pyarrow": "import pyarrow\nlike = pyarrow.table(columns)",
}


@pytest.fixture(scope="module", params=MADE)
def like(request: pytest.FixtureRequest, python: Computer) -> LiveTable:
    """The same columns as a frame of each library."""
    pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    assert play(python, "python", COLUMNS + MADE[request.param]).state == "finished"
    return python.inspector.open_table("python", "like")


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ("text > a", [0, 3, 4]),
        ("text = b", [0, 3]),
        ("text = missing", [1]),
        ("time > 2024-01-02", [0, 2]),
        ("time <= 2024-01-02 12:00", [1, 2, 4]),
        ("zoned < 2024-01-03", [1, 2]),
        ("zoned = 2024-01-03 00:30", [0, 3]),
        ("zoned != missing", [0, 1, 2, 3]),
        (f"whole > {2**53}", [0]),
        ("flag = false", [1, 4]),
    ],
)
def test_a_condition_means_the_same_in_each_library(like: LiveTable, words: str, rows: list[int]) -> None:
    view = TableQuery(words=words)
    assert [row.label for row in like.page(view, 0, 9, 0, 1)] == list(map(str, rows))


@pytest.mark.parametrize(
    ("column", "upwards", "downwards"),
    [
        ("text", [2, 0, 3, 4, 1], [4, 0, 3, 2, 1]),
        ("time", [1, 4, 2, 0, 3], [0, 2, 4, 1, 3]),
        ("zoned", [1, 2, 0, 3, 4], [0, 3, 2, 1, 4]),
        ("whole", [3, 4, 2, 1, 0], [0, 1, 2, 4, 3]),
    ],
)
def test_the_order_is_the_same_in_each_library(
    like: LiveTable, column: str, upwards: list[int], downwards: list[int]
) -> None:
    at = ["text", "time", "zoned", "whole", "flag"].index(column)
    for descending, rows in ((False, upwards), (True, downwards)):
        view = TableQuery(sort=at, descending=descending)
        assert [row.label for row in like.page(view, 0, 9, 0, 1)] == list(map(str, rows))


def test_statistics_are_the_same_in_each_library(like: LiveTable) -> None:
    texts, times, flags = like.statistics(0), like.statistics(1), like.statistics(4)
    assert texts.facts == (("rows", "5"), ("missing", "1"), ("distinct", "3"))
    assert texts.bars == (("b", 2), ("a", 1), ("Ä", 1))
    found = dict(times.facts)
    assert (found["missing"], found["distinct"]) == ("1", "4")
    assert found["min"].startswith("2024-01-01 12:00")
    assert found["max"].startswith("2024-01-03 12:00")
    assert flags.bars == (("True", 3), ("False", 2))


@pytest.mark.slow
def test_a_million_texts_and_times_are_filtered_and_counted_at_once(python: Computer) -> None:
    code = """
import time
many = pandas.DataFrame({"text": numpy.array(["Anna", "Bob", "Zoe", "Eve"])[numpy.arange(1_000_000) % 4]})
many["zoned"] = pandas.date_range("2000", periods=1_000_000, freq="min", tz="UTC")
began = time.process_time()"""
    assert play(python, "python", code).state == "finished"
    table = python.inspector.open_table("python", "many")
    assert table.shape(TableQuery(words="text < Bob")).rows == 250_000
    assert table.shape(TableQuery(words="zoned >= 2001-01-01")).rows == 472_960
    assert table.statistics(1).facts[2] == ("distinct", "1,000,000")
    text = play(python, "python", "print(f'{time.process_time() - began:.2f}')").text
    # About 0.8 s on the machine where this was written, and 9 s when each row was compared as a text.
    assert float(text) < 4


def test_a_text_is_searched_only_in_columns_that_may_hold_it(python: Computer) -> None:
    code = """
longer = pandas.DataFrame({f"n{at}": numpy.arange(30_000) for at in range(9)})
longer["city"] = numpy.array(["Ulm", "Köln", "Bonn"])[numpy.arange(30_000) % 3]
longer["when"] = pandas.Timestamp("2024-02-01")
odd = pandas.DataFrame({"n": [1.5, float("inf"), -2e300]})
odd["when"] = pandas.date_range("2024-02-01", periods=3)
late = [{"n": 1}] * 5000 + [{"n": "later"}]"""
    assert play(python, "python", code).state == "finished"
    table = python.inspector.open_table("python", "longer")
    assert table.shape(TableQuery(words="KÖL")).rows == 10_000
    assert table.shape(TableQuery(words="2999")).rows == 13
    odd = python.inspector.open_table("python", "odd")
    found = {
        words: odd.shape(TableQuery(words=words)).rows for words in ("inf", "e+300", "1.5", "02-03", "x")
    }
    assert found == {"inf": 1, "e+300": 1, "1.5": 1, "02-03": 1, "x": 0}
    assert python.inspector.open_table("python", "late").shape(TableQuery(words="LATER")).rows == 1


def test_more_than_five_million_texts_are_searched(python: Computer) -> None:
    code = """
text = pandas.Series(numpy.array(["Ulm", "Köln", "Bonn"])[numpy.arange(900_000) % 3])
wide = pandas.DataFrame({f"t{at}": text for at in range(6)})"""
    assert play(python, "python", code).state == "finished"
    table = python.inspector.open_table("python", "wide")
    assert table.shape(TableQuery(words="KÖL")).rows == 300_000
    assert [row.label for row in table.page(TableQuery(words="köln"), 299_999, 1, 0, 1)] == ["899998"]


def test_the_texts_of_each_library_are_found_in_small_letters_and_capitals(like: LiveTable) -> None:
    assert [like.shape(TableQuery(words=words)).rows for words in ("ä", "Ä", "B", "[b]")] == [1, 1, 2, 0]


def test_a_search_that_takes_too_long_is_given_up(python: Computer) -> None:
    code = """
import sys
floats = pandas.DataFrame({"n": numpy.arange(200_000) / 7})
search = sys.modules["python_table_search"]
before, search._SECONDS = search._SECONDS, -1"""
    table = python.inspector.open_table("python", "df")
    assert table.shape(TableQuery(words="plain")).rows == 250
    assert play(python, "python", code).state == "finished"
    with pytest.raises(TableError, match="too large to search all its cells"):
        python.inspector.open_table("python", "floats").shape(TableQuery(words="77"))
    assert play(python, "python", "search._SECONDS = before").state == "finished"
    assert python.inspector.open_table("python", "floats").shape(TableQuery(words="77")).rows


def test_a_search_makes_room_for_a_cell(python: Computer, tmp_path: Path) -> None:
    began = tmp_path / "began"
    code = f"""
import pathlib, sys
search = sys.modules["python_table_search"]
before = search._search_part, search._SECONDS, search._PART
search._SECONDS, search._PART = 1000, 1
def search_part(*arguments):
    pathlib.Path({str(began)!r}).touch()
    return before[0](*arguments)
search._search_part = search_part
long = pandas.DataFrame({{"n": numpy.arange(2_000_000) / 7}})"""
    assert python.inspector.open_table("python", "df").shape(TableQuery(words="plain")).rows == 250
    assert play(python, "python", code).state == "finished"
    errors: list[str] = []

    def look_for() -> None:
        try:
            python.inspector.open_table("python", "long").shape(TableQuery(words="77"))
        except TableError as error:
            errors.append(str(error))

    thread = threading.Thread(target=look_for)
    thread.start()
    assert wait_until(began.exists, 60)
    run = play(python, "python", "search._search_part, search._SECONDS, search._PART = before; print('ran')")
    assert (run.state, run.text.strip()) == ("finished", "ran")
    thread.join(60)
    assert errors
