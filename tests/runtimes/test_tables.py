"""Tables that Python remembers, read page by page."""

import sys
from collections.abc import Iterator

import pytest

from oi_tui.runtimes import Computer
from oi_tui.runtimes.tables import TableError, View
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
    table = python.table("python", "df")
    shape = table.shape(View())
    assert (shape.kind, shape.rows, shape.total, len(shape.columns)) == ("DataFrame", 1000, 1000, 61)
    assert shape.columns[0].numeric
    assert not shape.columns[60].numeric
    page = table.page(View(), 1, 3, 59, 40)
    assert [(row.label, row.cells) for row in page] == [
        ("1", ("1.5", None)),
        ("2", ("3", "3")),
        ("3", ("4.5", "<object>")),
    ]
    assert table.page(View(), 998, 100, 0, 1)[-1].label == "999"


def test_a_frame_is_sorted_and_filtered(python: Computer) -> None:
    table = python.table("python", "df")
    down = View(sort=0, descending=True)
    assert [row.label for row in table.page(down, 0, 2, 0, 1)] == ["999", "998"]
    assert table.page(down, 999, 1, 0, 1)[0].cells == (None,)
    assert table.shape(View(words="PLAIN")).rows == 250
    assert [row.label for row in table.page(View(sort=0, descending=True, words="plain"), 0, 1, 0, 1)] == [
        "996"
    ]


def test_a_frame_that_changed_is_seen_after_a_reload(python: Computer) -> None:
    assert play(python, "python", "live = pandas.DataFrame({'a': [2, 1]})").state == "finished"
    table, up = python.table("python", "live"), View(sort=0)
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
    table = python.table("python", name)
    if not kind:
        with pytest.raises(TableError, match="There is no variable"):
            table.shape(View())
        return
    assert table.shape(View()).kind == kind
    assert table.page(View(), 0, 1, 0, 9)[0].cells == first


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_frames_of_other_libraries(python: Computer, library: str) -> None:
    pytest.importorskip(library, reason=f"{library} is not installed")
    make = {"polars": "polars.DataFrame", "pyarrow": "pyarrow.table"}[library]
    code = f"import {library}\nother = {make}({{'a': [3, 1, None], 'b': ['x', 'y', 'z']}})"
    assert play(python, "python", code).state == "finished"
    table = python.table("python", "other")
    assert [column.numeric for column in table.shape(View()).columns] == [True, False]
    for descending, first in ((True, "3"), (False, "1")):
        view = View(sort=0, descending=descending)
        cells = [row.cells[0] for row in table.page(view, 0, 9, 0, 2)]
        assert (cells[0], cells[-1]) == (first, None)
    assert table.shape(View(words="Y")).rows == 1
    assert dict(table.statistics(0).facts)["max"] == "3"


def test_what_cannot_be_compared_is_sorted_by_its_text_and_missing_values_come_last(python: Computer) -> None:
    table = python.table("python", "mixed")
    assert [row.cells[0] for row in table.page(View(sort=0), 0, 9, 0, 1)] == ["1", "2", "b", None]


def test_objects_of_the_program_are_not_asked_for_their_text(python: Computer) -> None:
    assert python.table("python", "loud").page(View(), 0, 1, 0, 1)[0].cells == ("<Loud>",)


def test_long_texts_are_cut_unless_they_are_wanted_whole(python: Computer) -> None:
    assert play(python, "python", "long = [{'t': 'ab\\n' * 500}]").state == "finished"
    table = python.table("python", "long")
    (cut,) = table.page(View(), 0, 1, 0, 1)[0].cells
    (whole,) = table.page(View(), 0, 1, 0, 1, whole=True)[0].cells
    assert cut is not None
    assert "\n" not in cut
    assert cut.endswith("…")
    assert whole == "ab\n" * 500


def test_a_column_in_figures(python: Computer) -> None:
    found = python.table("python", "df").statistics(0)
    assert dict(found.facts)["missing"] == "1"
    assert dict(found.facts)["max"] == "1498.5"
    assert sum(many for _, many in found.bars) == 999
    kinds = python.table("python", "df").statistics(60)
    assert ("plain", 250) in kinds.bars


def test_what_is_no_table_is_refused_in_a_sentence(python: Computer) -> None:
    assert play(python, "python", "number = 3").state == "finished"
    with pytest.raises(TableError, match="number is not a table: it is of type int"):
        python.table("python", "number").shape(View())
    with pytest.raises(TableError, match="cannot be opened"):
        python.table("shell", "x")


def test_the_language_stays_usable(python: Computer) -> None:
    python.table("python", "df").page(View(), 0, 1, 0, 1)
    played = play(python, "python", "print(len(df))")
    assert played.state == "finished"
    assert "1000" in str(played.reports)
