"""Filters of tables by a condition on a column mean the same in every language."""

import sys
from collections.abc import Iterator

import pytest

from oi_tui.runtimes import Computer
from oi_tui.runtimes.tables import TableError, TableQuery
from tests.runtimes.playing import play

#: The same table in each language: a name, a price, a day, and texts beside numbers.
SAME = {
    "python": """
dirty = [
    {"name": "a", "flag": True, "price": -8, "big": 3, "day": "2023-12-31", "mixed": "-"},
    {"name": "B", "flag": False, "price": 10, "big": 1, "day": "2024-01-02", "mixed": "2"},
    {"name": "c", "flag": True, "price": 9, "big": 2, "day": "2024-02-01", "mixed": "x"},
    {"name": "d", "flag": None, "price": 1e3, "big": 4, "day": "2024-10-01", "mixed": 3},
    {"name": "e", "flag": False, "price": None, "big": 5, "day": None, "mixed": None},
]
long = [{"a": "x"}] * 2_000_001
""",
    "r": """
dirty <- data.frame(
  name = c("a", "B", "c", "d", "e"), flag = c(TRUE, FALSE, TRUE, NA, FALSE),
  price = c(-8, 10, 9, 1e3, NA), big = c(3L, 1L, 2L, 4L, 5L),
  day = as.Date(c("2023-12-31", "2024-01-02", "2024-02-01", "2024-10-01", NA)), stringsAsFactors = FALSE
)
dirty$mixed <- list("-", "2", "x", 3, NULL)
dirty <- dirty[c("name", "flag", "price", "big", "day", "mixed")]
long <- as.character(1:2000001)
""",
    "javascript": """
var dirty = [
  { name: 'a', flag: true, price: -8, big: 3n, day: new Date('2023-12-31'), mixed: '-' },
  { name: 'B', flag: false, price: 10, big: 1n, day: new Date('2024-01-02'), mixed: '2' },
  { name: 'c', flag: true, price: 9, big: 2n, day: new Date('2024-02-01'), mixed: 'x' },
  { name: 'd', flag: null, price: 1e3, big: 4n, day: new Date('2024-10-01'), mixed: 3 },
  { name: 'e', flag: false, price: NaN, big: 5n, day: null },
];
""",
    "octave": """
dirty = struct ("name", {"a", "B", "c", "d", "e"}, "flag", {true, false, true, [], false}, ...
                "price", {-8, 10, 9, 1e3, NaN}, "big", {3, 1, 2, 4, 5}, ...
                "day", {"2023-12-31", "2024-01-02", "2024-02-01", "2024-10-01", []}, ...
                "mixed", {"-", "2", "x", 3, []});
long = repmat ({"x"}, 1000001, 1);
""",
}
#: Two neighbours; where there are large integers, those that no floating-point number tells apart.
LARGE = {
    "python": "import numpy\nlarge = numpy.array([2**53, 2**53 + 1])",
    "r": "large <- c(9007199254740992, 9007199254740994)",
    "javascript": "var large = [9007199254740992n, 9007199254740993n];",
    "octave": "large = [int64(9007199254740992); int64(9007199254740992) + 1];",
}
#: What the rows are called in each language: from 0 or from 1.
FIRST = {"python": 0, "r": 1, "javascript": 0, "octave": 1}
CONDITIONS = [
    ("price > 9", "1 3"),
    ("price>=9", "1 2 3"),
    ("Price <= 9", "0 2"),
    ("price = 1000", "3"),
    ("price != 9", "0 1 3"),
    ("price = missing", "4"),
    ("price == missing", "4"),
    ("price != missing", "0 1 2 3"),
    ("price < inf", "0 1 2 3"),
    ("big > 2", "0 3 4"),
    ("name == B", "1"),
    ("`name` = 'B'", "1"),
    # By letters, capitals first, as nobody's locale has them.
    ("name > B", "0 2 3 4"),
    ("day >= 2024-02-01", "2 3"),
    ("day = 2024-02-01", "2"),
    ("day = missing", "4"),
    ("day < 9999-01-01", "0 1 2 3"),
    ("day > 0001-01-01", "0 1 2 3"),
    ("day = 2024-02-31", ""),
    ("mixed < 10", "1 3"),
    ("mixed != 2", "0 2 3"),
    ("mixed = x", "2"),
    ("mixed = missing", "4"),
    ("flag = true", "0 2"),
    ("flag = FALSE", "1 4"),
    ("flag = missing", "3"),
    ("nothing > 5", ""),
]


@pytest.fixture(scope="module")
def computer(language: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    computer = Computer(cwd=tmp_path_factory.mktemp("conditions"), python=sys.executable)
    assert play(computer, language, SAME[language]).state == "finished"
    yield computer
    computer.close()


@pytest.mark.parametrize(("words", "rows"), CONDITIONS)
def test_a_condition_keeps_the_same_rows_in_every_language(
    computer: Computer, language: str, words: str, rows: str
) -> None:
    table, query = computer.inspector.open_table(language, "dirty"), TableQuery(words=words)
    expected = [str(int(row) + FIRST[language]) for row in rows.split()]
    assert [row.label for row in table.page(query, 0, 9, 0, 1)] == expected
    assert table.shape(query).rows == len(expected)


def test_large_integers_are_compared_exactly(computer: Computer, language: str) -> None:
    assert play(computer, language, LARGE[language]).state == "finished"
    table = computer.inspector.open_table(language, "large")
    name = table.shape(TableQuery()).columns[0].name
    assert table.shape(TableQuery(words=f"{name} > 9007199254740992")).rows == 1


def test_a_condition_and_an_order_go_together(computer: Computer, language: str) -> None:
    table = computer.inspector.open_table(language, "dirty")
    query = TableQuery(sort=2, descending=True, words="big < 5")
    assert [row.cells for row in table.page(query, 0, 9, 0, 1)] == [("d",), ("B",), ("c",), ("a",)]


def test_digits_of_other_scripts_are_texts(computer: Computer, language: str) -> None:
    table = computer.inspector.open_table(language, "dirty")
    # In full width: as a number it would be 9.
    for words in ("mixed = \uff13", "price = \uff19", "mixed = 3_0"):
        assert table.shape(TableQuery(words=words)).rows == 0, words


@pytest.mark.slow
def test_a_table_that_is_too_long_for_it_says_so(computer: Computer, language: str) -> None:
    if language == "javascript":
        # It filters any table, some rows after the others.
        assert play(computer, language, "var long = new Float64Array(2000001);").state == "finished"
        assert computer.inspector.open_table(language, "long").shape(TableQuery(words="value > 0")).rows == 0
        return
    table = computer.inspector.open_table(language, "long")
    name = table.shape(TableQuery()).columns[0].name
    with pytest.raises(TableError, match="too long to be filtered here; filter it with code"):
        table.shape(TableQuery(words=f"{name} = x"))


FRAMES = """
import numpy, pandas
count = 10_000_000
frame = pandas.DataFrame({
    "number": numpy.arange(count), "half": numpy.arange(count) / 2, "flag": numpy.arange(count) % 2 == 0,
    "day": pandas.Timestamp("2024-01-01") + pandas.to_timedelta(numpy.arange(count) % 1000, unit="h"),
    "whole": pandas.array(numpy.arange(count) % 7, dtype="Int64"),
})
frame.loc[0, ["half", "day", "whole"]] = None
array = frame[["number", "half"]].to_numpy()
short = frame.head(3).copy()
"""


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    pytest.importorskip("pandas", reason="pandas is not installed")
    computer = Computer(cwd=tmp_path_factory.mktemp("frames"), python=sys.executable)
    assert play(computer, "python", FRAMES).state == "finished"
    yield computer
    computer.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ("number >= 9999990", 10),
        ("number = 5.0", 1),
        ("number = 5.5", 0),
        ("half < 1", 1),
        ("half = missing", 1),
        ("half != missing", 9_999_999),
        ("flag = 1", 5_000_000),
        ("flag = true", 5_000_000),
        ("day >= 2024-02-11", 16 * 10_000),
        ("day = missing", 1),
        ("whole = 6", 1_428_571),
        ("whole = missing", 1),
        ("half = word", 0),
        ("half != word", 9_999_999),
    ],
)
def test_conditions_on_numbers_and_times_hold_for_ten_million_rows(
    frames: Computer, words: str, rows: int
) -> None:
    table = frames.inspector.open_table("python", "frame")
    assert table.shape(TableQuery(words=words)).rows == rows


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "rows"), [("day < 9999-01-01", 2), ("day > 0001-01-01", 2), ("day = 2024-02-31", 0)]
)
def test_a_day_that_no_column_of_pandas_can_hold_is_compared_all_the_same(
    frames: Computer, words: str, rows: int
) -> None:
    table = frames.inspector.open_table("python", "short")
    assert table.shape(TableQuery(words=words)).rows == rows


@pytest.mark.slow
def test_a_long_table_is_filtered_in_its_order(frames: Computer) -> None:
    for name in ("frame", "array"):
        table = frames.inspector.open_table("python", name)
        column = table.shape(TableQuery()).columns[0].name
        query = TableQuery(sort=0, descending=True, words=f"{column} < 3")
        assert [row.label for row in table.page(query, 0, 9, 0, 1)] == ["2", "1", "0"]


def test_times_with_a_zone_are_called_by_their_day_at_midnight(frames: Computer) -> None:
    code = "zoned = pandas.DataFrame({'day': pandas.date_range('2024-03-30', periods=4, tz='Europe/Berlin')})"
    assert play(frames, "python", code).state == "finished"
    table = frames.inspector.open_table("python", "zoned")
    for words, rows in (("day = 2024-03-31", 1), ("day > 2024-03-31", 2), ("day <= 2024-04-01", 3)):
        assert table.shape(TableQuery(words=words)).rows == rows


#: The same durations in each kind of column that has them: an hour and a half, two days, minus an hour, none.
DURATIONS = {
    "python": """
import datetime as dt
spans = [dt.timedelta(minutes=90), dt.timedelta(days=2), dt.timedelta(hours=-1), None]
rows = [{"n": at, "td": span} for at, span in enumerate(spans)]
try:
    import numpy, pandas
except ImportError:
    pass
else:
    frame = pandas.DataFrame(rows)
    objects = frame.astype({"td": object})
    seconds = frame.astype({"td": "timedelta64[s]"})
    array = numpy.array([5400, 172800, -3600, "NaT"], dtype=">m8[s]")
    fields = numpy.array(list(zip(range(4), array)), dtype=[("n", int), ("td", "m8[h]")])
try:
    import polars
    columns = polars.DataFrame({"n": range(4), "td": spans})
except ImportError:
    pass
try:
    import pyarrow
    arrow = pyarrow.table({"n": range(4), "td": spans})
except ImportError:
    pass
""",
    "r": """
frame <- data.frame(n = 0:3)
frame$td <- as.difftime(c(90, 2880, -60, NA), units = "mins")
days <- transform(frame, td = as.difftime(as.double(td, units = "days"), units = "days"))
""",
}
#: The tables of Python with them, by the library that they need.
LIBRARIES = {
    "rows": "datetime",
    "frame": "pandas",
    "objects": "pandas",
    "seconds": "pandas",
    "columns": "polars",
    "arrow": "pyarrow",
}
COMPARED = [
    ("td > 1h", "0 1"),
    ("td > 90 min", "1"),
    ("td >= 90 minutes", "0 1"),
    ("td = 1.5 h", "0"),
    ("td = PT1H30M", "0"),
    ("td = 01:30:00", "0"),
    ("td == 1 hour 30 mins", "0"),
    ("td != 2 days", "0 2"),
    ("td = 1 day, 24:00:00", "1"),
    ("td <= P2D", "0 1 2"),
    ("td < p1dt12h", "0 2"),
    ("td < 0 s", "2"),
    ("td = -1h", "2"),
    ("td > 300000 days", ""),
    ("td = missing", "3"),
]


@pytest.fixture(scope="module")
def spans(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    computer = Computer(cwd=tmp_path_factory.mktemp("spans"), python=sys.executable)
    assert play(computer, "python", DURATIONS["python"]).state == "finished"
    if "r" in computer.languages:
        assert play(computer, "r", DURATIONS["r"]).state == "finished"
    yield computer
    computer.close()


def check_durations(computer: Computer, language: str, name: str) -> None:
    table = computer.inspector.open_table(language, name)
    for words, rows in COMPARED:
        found = [row.cells[0] for row in table.page(TableQuery(words=words), 0, 9, 0, 1)]
        assert found == rows.split(), words
    for words in ("td > soon", "td > 1 month"):
        with pytest.raises(TableError, match=r"td holds durations\. Compare it with one, such as 1h, 90 min"):
            table.shape(TableQuery(words=words))


@pytest.mark.parametrize("name", LIBRARIES)
def test_durations_are_compared_with_durations(spans: Computer, name: str) -> None:
    pytest.importorskip(LIBRARIES[name], reason=f"{LIBRARIES[name]} is not installed")
    check_durations(spans, "python", name)


@pytest.mark.needs("R")
@pytest.mark.parametrize("name", ["frame", "days"])
def test_durations_of_r_are_compared_with_durations(spans: Computer, name: str) -> None:
    check_durations(spans, "r", name)
    table = spans.inspector.open_table("r", "frame")
    assert table.shape(TableQuery(words="td >= 90")).rows == 2


@pytest.mark.parametrize(
    ("text", "rows"),
    [("-1 days +23:00:00", 1), ("-1 day, 23:00:00", 1), ("-1h 30min", 0), ("-60 m", 1), ("3600000ms", 0)],
)
def test_durations_are_read_as_python_and_pandas_write_them(spans: Computer, text: str, rows: int) -> None:
    table = spans.inspector.open_table("python", "rows")
    assert table.shape(TableQuery(words=f"td = {text}")).rows == rows


def test_durations_of_numpy_are_compared_in_their_own_unit(spans: Computer) -> None:
    pytest.importorskip("numpy", reason="numpy is not installed")
    assert play(spans, "python", "years = numpy.array([1, 2], 'm8[Y]')").state == "finished"
    table = spans.inspector.open_table("python", "array")
    assert table.shape(TableQuery(words="0 > 89 min")).rows == 2
    assert table.shape(TableQuery(words="0 = 90 min")).rows == 1
    assert table.shape(TableQuery(words="0 != 5400.5 s")).rows == 3
    assert table.shape(TableQuery(words="0 < 5400.5 s")).rows == 2
    table = spans.inspector.open_table("python", "fields")
    assert table.shape(TableQuery(words="td > 30 min")).rows == 2
    with pytest.raises(TableError, match="have no fixed length"):
        spans.inspector.open_table("python", "years").shape(TableQuery(words="0 > 1h"))


#: Sizes that have an order which is not that of their letters.
SIZES = {
    "pandas": """
kind = pandas.CategoricalDtype(["small", "mid", "large"], ordered=True)
sizes = pandas.DataFrame({"size": pandas.Series(["mid", "small", None, "large"], dtype=kind)})
""",
    "polars": """
kind = polars.Enum(["small", "mid", "large"])
sizes = polars.DataFrame({"size": polars.Series(["mid", "small", None, "large"], dtype=kind)})
""",
    "r": """
kind <- c("small", "mid", "large")
sizes <- data.frame(size = factor(c("mid", "small", NA, "large"), levels = kind, ordered = TRUE))
""",
}


@pytest.mark.parametrize("library", ["pandas", "polars", pytest.param("r", marks=pytest.mark.needs("R"))])
def test_categories_with_an_order_are_compared_by_it(spans: Computer, library: str) -> None:
    if library != "r":
        pytest.importorskip(library, reason=f"{library} is not installed")
    language = "r" if library == "r" else "python"
    code = SIZES[library] if library == "r" else f"import {library}\n{SIZES[library]}"
    assert play(spans, language, code).state == "finished"
    table = spans.inspector.open_table(language, "sizes")
    for words, sizes in (
        ("size >= mid", ["mid", "large"]),
        ("size < large", ["mid", "small"]),
        ("size = small", ["small"]),
        ("size != small", ["mid", "large"]),
    ):
        rows = table.page(TableQuery(words=words), 0, 9, 0, 1)
        assert [row.cells[0] for row in rows] == sizes, words
