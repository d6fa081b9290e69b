"""What the model is told of a value of Python: whole tables in few words, whatever the window's width."""

# ruff: noqa: E501 - code of Python, as it is

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from oi_tui.messages import Displayed, Printed
from oi_tui.runtimes import Computer
from oi_tui.runtimes.tables import TableError, TableQuery
from tests.runtimes.playing import play

SETUP = """
import numpy, pandas
df = pandas.DataFrame({f"column_{n}": numpy.arange(500) * 1.5 for n in range(30)})
df["name"] = [f"Anna, the {n}" for n in range(500)]
df.loc[3:9, "column_2"] = None
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    """A computer with the Python of the tests, which has pandas."""
    pytest.importorskip("pandas", reason="pandas is not installed")
    computer = Computer(cwd=tmp_path_factory.mktemp("view"), python=sys.executable)
    assert play(computer, "python", SETUP).state == "finished"
    yield computer
    computer.close()


def views(computer: Computer, code: str) -> list[str | None]:
    """What the model is told in place of each output, in order and once each."""
    found: list[str | None] = []
    for _, report in play(computer, "python", code).reports:
        if isinstance(report, Printed | Displayed) and not (found and found[-1] is report.view):
            found.append(report.view)
    return found


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_the_view_of_a_table_names_all_columns_at_any_width(python: Computer, columns: int) -> None:
    python.resize(columns, 24)
    (view,) = views(python, "df.head()")
    assert view is not None
    head, _, rows = view.partition("\n\n")
    assert head.startswith("DataFrame: 5 rows by 31 columns\nColumns: column_0 float64, column_1 float64,")
    assert "column_2 float64 (2 missing)" in head
    assert head.count("column_") == 30
    assert len(rows.splitlines()) == 5
    assert rows.startswith("0,0,0,0,")
    assert rows.splitlines()[1].endswith('1.5,"Anna, the 1"')


def test_of_a_long_table_the_first_and_the_last_rows_are_reported(python: Computer) -> None:
    (view,) = views(python, "df")
    assert view is not None
    assert "500 rows by 31 columns" in view
    assert "\n… 488 rows not shown …\n" in view
    assert view.splitlines()[-1].endswith('"Anna, the 499"')


def test_a_very_wide_table_keeps_its_names_and_loses_rows(python: Computer) -> None:
    (view,) = views(python, "pandas.DataFrame({f'c{n}': range(500) for n in range(400)})")
    assert view is not None
    assert "Columns, all int64: c0, c1, c2, " in view
    assert all(f" c{n}," in f"{view.splitlines()[1]}," for n in range(400))
    assert len(view) < 16_000
    assert "rows not shown …" in view


def test_a_printed_table_leaves_no_column_out(python: Computer) -> None:
    python.resize(60, 24)
    played = play(python, "python", "print(df.head())")
    assert all(f"column_{n}" in played.text for n in range(30))


@pytest.mark.parametrize(
    ("code", "begins", "holds"),
    [
        ("df['name']", "Series: 500 rows by 1 column\nColumns: name str", '0,"Anna, the 0"'),
        ("df.set_index(['name', 'column_0']).head(2)", "DataFrame: 2 rows", "Rows as CSV (name, column_0, then"),
        ("pandas.DataFrame({'a': [None, 'x'], 'b': [pandas.NaT, 1], 'c': [numpy.arange(3), 2]})", "DataFrame: 2", "0,,,"),
        ("pandas.DataFrame({'a': ['line\\nbreak' + 'x' * 200]})", "DataFrame: 1 row by 1 column", "line\\nbreak"),
        ("numpy.arange(10000).reshape(100, 100)", "ndarray: 100 by 100 int64, 0 to 9999", "..., "),
        ("[{'a': n, 'b': str(n)} for n in range(300)]", "list of dict: 300 rows by 2 columns\nColumns: a int, b str", "299,299"),
        ("{n: [n] * 1000 for n in range(1000)}", "dict of 1,000:\n\n{0: [0, 0,", "… 970 more"),
        ("'x' * 100000", "'xxx", "(100,000 characters)"),
        ("b'x' * 100000", "b'xxx", "(100,000 bytes)"),
        ("class Bunch(dict): pass\nBunch(data=numpy.zeros((500, 4)), frame=df, note='y' * 3000, more=list(range(900)))", "Bunch of 4:\n\n{'data': <ndarray of 500 by 4 float64>, 'frame': <DataFrame of 500 by 31: column_0, column_1, ", "… 892 more]"),
        ("class Long:\n def __repr__(self): return 'begin' + '.' * 50000 + 'end'\nLong()", "begin...", "...end"),
        ("pandas.DataFrame({'': [1], None: [2], ('a', 1): [3]})", "DataFrame: 1 row by 3 columns\nColumns: '' int64, ", "('a', 1) int64"),
        ("pandas.DataFrame({f'c{n}': ['a'] for n in range(40)}).dtypes", "Series: 40 rows by 1 column", "\nc20,"),
        ("df.isna().sum()", "Series: 31 rows by 1 column\nColumns: value int64", "\ncolumn_15,0\n"),
        ("pandas.Series(range(50))", "Series: 50 rows", "\n25,25\n"),
        ("pandas.DataFrame({'a': [1, 'x', None, 2.5], 'b': [1] * 4})", "DataFrame: 4 rows by 2 columns\nColumns: a int|str|float (1 missing), b int64", "1,x,1"),
        ("pandas.DataFrame({' a': [1], 'b,c': [2]})", "DataFrame: 1 row by 2 columns\nColumns: ' a' int64, 'b,c' int64", ""),
        ("pandas.crosstab(pandas.Series(['x', 'y'], name='k'), pandas.Series(['p', 'q'], name='over'))", "DataFrame: 2 rows by 2 columns\nColumns (over): p int64, q int64", "(k, then"),
        ("import sqlite3\nbase = sqlite3.connect(':memory:')\nbase.row_factory = sqlite3.Row\nbase.execute(\"select 1 a, 'x' b union select 2, null\").fetchall()", "list of Row: 2 rows by 2 columns\nColumns: a int, b str (1 missing)", "\n2,"),
        ("pandas.DataFrame()", "DataFrame: 0 rows by 0 columns", ""),
        ("pandas.DataFrame({'a': ['', None, 'x'], 'b': [1, 2, 3]})", "DataFrame: 3 rows by 2 columns", "\n0,\"\",1\n1,,2\n2,x,3"),
        ("pandas.DataFrame([[1, 2]], columns=['x' * 10_000, 'b'])", "DataFrame: 1 row by 2 columns\nColumns: xxx", "xx… (10,000 characters) int64, b int64"),
        ("[df, pandas.DataFrame(numpy.zeros((50, 900)))]", "list of 2:\n\n[<DataFrame of 500 by 31: column_0, column_1, ", "column_28, column_29, name>, <DataFrame of 50 by 900: 0, 1, 2, "),
        ("[pandas.Series(range(2000)), list(range(2000))]", "list of 2:\n\n[<Series of 2,000>, [0, 1", ""),
    ],
)  # fmt: skip
def test_values_of_many_kinds_are_reported_compactly(
    python: Computer, code: str, begins: str, holds: str
) -> None:
    (view,) = views(python, code)
    assert view is not None
    assert view.startswith(begins)
    assert holds in view
    assert len(view) < 16_000


@pytest.mark.parametrize("code", ["5", "[1, 2]", "'text'", "{'a': 1}", "numpy.arange(3)", "print('x')"])
def test_what_is_short_is_reported_as_it_is_shown(python: Computer, code: str) -> None:
    assert views(python, code) == [None]


def test_a_text_of_a_few_pages_is_reported_whole(python: Computer) -> None:
    summary = "class Summary:\n def __repr__(self): return 'line\\n' * 1000 + 'the last'\nSummary()"
    assert views(python, summary) == [None]
    assert play(python, "python", summary).text.endswith("the last\n")


def test_a_page_is_reported_in_its_own_words(python: Computer) -> None:
    page = "class Page:\n def _repr_html_(self): return '<style>p {}</style><h1>Sum</h1><p>of <b>all</b></p>'\nPage()"
    assert views(python, page) == ["Sum\nof all"]
    markdown = "class Both(Page):\n def _repr_markdown_(self): return '# Sum'\nBoth()"
    assert views(python, markdown) == ["# Sum"]


def test_a_value_that_breaks_when_it_is_described_is_shown_all_the_same(python: Computer) -> None:
    code = (
        "class DataFrame:\n __module__ = 'pandas.strange'\n def __repr__(self): return 'strange'\nDataFrame()"
    )
    played = play(python, "python", code)
    assert (played.state, played.text) == ("finished", "strange\n")


def test_what_follows_a_table_is_reported_as_it_is(python: Computer) -> None:
    first, second = views(python, "display(df.head(1)); print('after')")
    assert first is not None
    assert second is None


def test_the_text_nan_is_not_taken_for_a_missing_value(python: Computer) -> None:
    (view,) = views(python, "pandas.DataFrame({'text': ['nan', 'NaT', None], 'number': [1.5, None, 2]})")
    assert view is not None
    assert view.splitlines()[-3:] == ["0,nan,1.5", "1,NaT,", "2,,2"]


def test_values_that_libraries_warn_of_are_reported_without_warnings(python: Computer) -> None:
    sparse = "pandas.arrays.SparseArray([0, 1] * 20)"
    other = "pandas.arrays.SparseArray([None, 1.0] * 20)"
    for code, words in (
        (f"pandas.DataFrame({{'s': {sparse}, 'f': {other}}})", "f Sparse[float64, nan] (20 missing)"),
        ("numpy.ma.masked_array(numpy.arange(40), mask=[True, False] * 20)", "20 masked, 1 to 39"),
    ):
        played = play(python, "python", code)
        outputs = [report for _, report in played.reports if isinstance(report, Printed)]
        assert "Warning" not in "".join(output.text for output in outputs)
        assert any(words in (output.view or "") for output in outputs)


def test_types_of_polars_are_short_for_the_model_too(python: Computer) -> None:
    kinds = [
        "Int64",
        "Datetime(time_unit='us', time_zone=None)",
        "List(Datetime(time_unit='ns', time_zone='UTC'))",
        "Struct({'a': Int64})",
        "Struct({'%s': Int64})" % ("long" * 30),
    ]
    # Stands for a frame of polars, which need not be installed.
    code = f"""
class Column:
    null_count = lambda self: 0

class DataFrame:
    height, width = 0, {len(kinds)}
    schema = dict(enumerate({kinds}))
    __getitem__ = lambda self, name: Column()
    select = slice = lambda self, *parts: self
    rows = lambda self: []

DataFrame.__module__ = "polars.dataframe.frame"
DataFrame()"""
    (view,) = views(python, code)
    assert view is not None
    listed = "0 Int64, 1 Datetime[us], 2 List(Datetime[ns, UTC]), 3 Struct({'a': Int64}), 4 Struct"
    assert f"Columns: {listed}" in view


LAZY = """
class Panic(BaseException):
    pass

class LazyFrame:
    def __init__(self, plan, columns):
        self.plan, self.columns = plan, columns
    def __str__(self):
        return self.plan
    def collect(self):
        raise Panic
    def collect_schema(self):
        if not self.columns:
            raise Panic
        return self.columns

LazyFrame.__module__ = "polars.lazyframe.frame"
plan = LazyFrame("FILTER a > 1", {"a": "Int64", "odd, name": "Datetime(time_unit='us', time_zone=None)"})
broken = LazyFrame("SCAN gone.csv", {})
"""


def test_the_model_sees_the_columns_of_a_lazy_frame_whose_rows_are_not_computed(python: Computer) -> None:
    # Stands for a frame of polars, which need not be installed.
    (view,) = views(python, f"{LAZY}\nplan")
    assert view == (
        "polars LazyFrame, whose rows are not computed yet\n"
        "Columns: a Int64, 'odd, name' Datetime[us]\nFILTER a > 1"
    )
    assert views(python, "broken") == [None]
    with pytest.raises(TableError, match=r"plan\.collect\(\)\. Its columns are a Int64, 'odd, name' Date"):
        python.inspector.open_table("python", "plan").shape(TableQuery())


def test_print_of_a_polars_table_leaves_no_column_out(python: Computer, tmp_path: Path) -> None:
    # Stands for polars, which need not be installed.
    stub = tmp_path / "polars.py"
    stub.write_text(
        "class Config:\n"
        "    chosen = {}\n"
        "    set_tbl_cols = classmethod(lambda cls, many: cls.chosen.update(columns=many))\n"
        "    set_tbl_width_chars = classmethod(lambda cls, many: cls.chosen.update(width=many))\n"
    )
    again = f"import sys; sys.modules.pop('polars', None); sys.path.insert(0, {str(tmp_path)!r}); "
    assert play(python, "python", f"{again}import polars; print(polars.Config.chosen)").text == (
        "{'columns': 200, 'width': 4000}\n"
    )
    own = "import os; os.environ['POLARS_FMT_MAX_COLS'] = '5'; "
    assert play(python, "python", f"{own}{again}import polars; print(polars.Config.chosen)").text == "{}\n"
    undo = "del os.environ['POLARS_FMT_MAX_COLS'], sys.modules['polars']; sys.path.remove"
    assert play(python, "python", f"{undo}({str(tmp_path)!r})").state == "finished"


@pytest.mark.parametrize(
    ("page", "view"),
    [
        # Without the empty cell of its corner, the names would stand above other columns.
        (
            "<tr><th>&nbsp;</th><th>a</th><th>b</th></tr><tr><th>0</th><td></td><td>5</td></tr>",
            "| a | b\n0 | | 5",
        ),
        ("<tr><td>1</td><td></td></tr>", "1 |"),
        (
            "<tr><th></th><th colspan=2>top</th><th>low</th></tr><tr><th>0</th><td>1</td><td>2</td><td>3</td></tr>",
            "| top | | low\n0 | 1 | 2 | 3",
        ),
        (
            "<tr><th rowspan='2'>p</th><th>1</th><td>x</td></tr><tr><th>2</th><td>y</td></tr><tr><td>q</td><td>3</td></tr>",
            "p | 1 | x\n| 2 | y\nq | 3",
        ),
        ("<tr><td colspan='many'>1</td><td rowspan=''>2</td></tr>", "1 | 2"),
    ],
)
def test_cells_of_a_page_stay_in_their_columns(python: Computer, page: str, view: str) -> None:
    code = f"class Page:\n def _repr_html_(self): return {f'<table>{page}</table>'!r}\nPage()"
    assert views(python, code) == [view]
