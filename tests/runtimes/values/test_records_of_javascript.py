"""Lists of records that a cell shows are tables, in all that runs JavaScript."""

import json

import pytest

from oi_tui.messages import Printed
from oi_tui.runtimes import Computer
from oi_tui.runtimes.tables import TableQuery
from tests.runtimes.playing import Played, play

MADE = (
    "var make = (_, n) => ({ name: `town, ${n}`, size: n / 3, old: n % 2 ? null : n })\n"
    "var towns = Array.from({ length: 500 }, make)"
)


def find_table(played: Played) -> Printed:
    """The one table that was shown."""
    printed = [item for _, item in played.reports if isinstance(item, Printed) and item.table]
    (found,) = {(item.view, item.table) for item in printed}
    return Printed("", *found)


@pytest.mark.parametrize(
    "language",
    [
        pytest.param("javascript", marks=pytest.mark.needs("node")),
        pytest.param("deno", marks=pytest.mark.needs("deno")),
        pytest.param("bun", marks=pytest.mark.needs("bun")),
    ],
)
def test_records_are_a_table_and_the_model_gets_all_columns(shared: Computer, language: str) -> None:
    assert play(shared, language, MADE).state == "finished"
    found = find_table(play(shared, language, "towns"))
    assert found.view is not None
    assert found.view.startswith(
        "Array of objects: 500 rows by 3 columns\n"
        "Columns: name string, size number, old number (250 missing)\n"
        'Rows as CSV (row, then the columns):\n\n0,"town, 0",0,0\n1,"town, 1",0.3333333,\n'
    )
    assert "\n… 488 rows not shown …\n" in found.view
    table = json.loads(found.table or "")
    assert (table["language"], table["key"], table["total"], table["head"]) == (language, "towns", 500, 8)
    assert table["columns"] == [["name", "string", False], ["size", "number", True], ["old", "number", True]]
    assert table["rows"][-1] == ["499", ["town, 499", "166.3333", None]]
    # What has no name is opened by its key.
    table = json.loads(find_table(play(shared, language, "towns.slice(0, 3)")).table or "")
    assert table["key"].startswith("table:")
    assert shared.inspector.open_table(language, table["key"]).shape(TableQuery()).rows == 3
    nested = find_table(play(shared, language, "[{ a: { b: [1, 2] } }, { a: null }]"))
    assert nested.view
    assert nested.view.endswith('\n\n0,"{ b: [ 1, 2 ] }"\n1,')
    odd = find_table(play(shared, language, "[{ 'a,b': '', n: null }, { 'a,b': 'x', n: null }]"))
    assert odd.view
    assert "\nColumns: 'a,b' string, n (2 missing)\n" in odd.view
    assert odd.view.endswith('\n\n0,"",\n1,x,')
    no_records = "[1, 2]", "[[1], [2]]", "[new Map(), new Map()]", "[{}, {}]", "[{ a: 1 }]"
    for other in (*no_records, "[{ get a() { throw 1 } }, { a: 1 }]"):
        played = play(shared, language, other)
        assert not any(item.table for _, item in played.reports if isinstance(item, Printed)), other
        assert played.state == "finished"
