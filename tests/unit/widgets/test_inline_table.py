"""Tables in the conversation, drawn at any width."""

import json
from collections.abc import Sequence

import pytest

from oi_tui.themes import DARK
from oi_tui.widgets.conversation.inline_table import InlineTable
from oi_tui.widgets.conversation.output import Output
from oi_tui.widgets.conversation.styles import get_styles
from oi_tui.widgets.truncate import measure_width

LOOK = get_styles(DARK)


def stored(
    columns: Sequence[tuple[str, str, bool]],
    rows: Sequence[tuple[str, list[str | None]]],
    *,
    total: int | None = None,
    width: int | None = None,
    key: str = "table:a:1",
) -> str:
    found = {"key": key, "name": "df", "kind": "DataFrame", "index": "", "columns": columns, "rows": rows}
    sizes = {"total": len(rows) if total is None else total, "width": width or len(columns)}
    return json.dumps({**found, **sizes, "head": 8 if total else len(rows)})


def table(text: str) -> InlineTable:
    found = InlineTable.read(text)
    assert found is not None
    return found


def draw_table(text: str, width: int) -> list[str]:
    return [row.plain.rstrip() for row in table(text).rows(width, LOOK)]


CITIES = stored(
    [("city", "str", False), ("people", "int64", True)],
    [("0", ["東京", "37"]), ("1", [None, "1250"]), ("2", ["Ulm\x1b[2J", None])],
)


def test_texts_stand_left_and_numbers_right() -> None:
    lines = draw_table(CITIES, 60)
    assert lines[0] == "   city     people"
    assert lines[1] == "   str       int64"
    assert lines[2] == "0  東京         37"
    assert lines[3] == "1  NaN        1250"
    assert "\x1b" not in lines[4]
    assert lines[-1] == "3 rows x 2 columns · ctrl+up, then up; enter opens"


def test_missing_values_are_dim() -> None:
    row = table(CITIES).rows(60, LOOK)[3]
    assert next(segment for segment in row.segments if "NaN" in segment.text).style == LOOK.muted


@pytest.mark.parametrize("width", [10, 20, 40, 76, 108, 190])
def test_columns_that_do_not_fit_are_counted(width: int) -> None:
    names = [(f"column_{at}", "float64", True) for at in range(60)]
    rows: list[tuple[str, list[str | None]]] = [
        (str(at), [f"{at * n}.5" for n in range(60)]) for at in range(12)
    ]
    text = stored(names, rows, total=5000)
    assert all(measure_width(line) <= width for line in draw_table(text, width))
    head = draw_table(text, width)[0]
    shown = head.count("column_")
    if width >= 40:
        assert head.endswith(f"… {60 - shown} more")
        assert shown >= 2
        assert "… 4,988 rows not shown" in draw_table(text, width)
        assert draw_table(text, width)[-1].startswith("5,000 rows x 60 columns")


def test_long_texts_take_the_room_that_is_left() -> None:
    text = stored([("t", "str", False), ("u", "str", False)], [("0", ["x" * 80, "y" * 80])])
    assert draw_table(text, 61)[2] == "0  " + "x" * 27 + "…  " + "y" * 27 + "…"
    assert draw_table(text, 58)[2] == "0  " + "x" * 27 + "…  " + "y" * 14 + "…"
    assert draw_table(text, 113)[2] == "0  " + "x" * 80 + "  " + "y" * 27 + "…"


def test_columns_of_the_same_name_are_both_shown() -> None:
    text = stored([("a", "int64", True), ("a", "int64", True)], [("0", ["1", "2"])])
    assert draw_table(text, 40)[0].split() == ["a", "a"]
    assert draw_table(text, 40)[2].split() == ["0", "1", "2"]


def test_an_empty_table_has_its_names_and_its_size() -> None:
    assert (
        draw_table(stored([("a", "int64", True)], []), 60)[-1]
        == "0 rows x 1 column · ctrl+up, then up; enter opens"
    )
    assert draw_table(stored([], []), 60)[-1] == "0 rows x 0 columns · ctrl+up, then up; enter opens"


def test_a_table_that_was_not_kept_cannot_be_opened() -> None:
    assert draw_table(stored([("a", "int64", True)], [], key=""), 40)[-1] == "0 rows x 1 column"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{}",
        CITIES.replace('"total": 3', '"total": 2'),
        CITIES.replace('"width": 2', '"width": 1'),
        CITIES.replace('"37"]', '"37", "38"]'),
        CITIES.replace('"total": 3', '"total": null'),
        "[" * 100_000,
    ],
)
def test_what_another_program_wrote_there_is_no_table(text: str) -> None:
    assert InlineTable.read(text) is None


def draw_output(output: Output, width: int = 60, *, live: bool = False) -> list[str]:
    return [row.plain.removeprefix("│ ").rstrip() for row in output.rows(width, LOOK, live=live)]


def with_tables(count: int) -> Output:
    output = Output()
    for at in range(count):
        output.feed(f"before {at}\r\n")
        output.begin_table(table(CITIES))
        output.feed("   city  people\r\n")
        output.feed("0  text  of it\r\n")
        output.end_table()
    output.feed("after\r\n")
    return output


def test_the_table_takes_the_place_of_its_text() -> None:
    lines = draw_output(with_tables(2))
    assert lines[0] == "before 0"
    assert lines[6:8] == ["3 rows x 2 columns · ctrl+up, then up; enter opens", "before 1"]
    assert lines[-1] == "after"
    assert not any("of it" in line for line in lines)


def test_copying_gives_the_text() -> None:
    assert with_tables(1).text.plain() == "before 0\n   city  people\n0  text  of it\nafter"


def test_a_table_after_an_open_line_begins_a_line() -> None:
    output = Output()
    output.feed("no newline")
    output.begin_table(table(CITIES))
    output.feed("text\r\n")
    assert draw_output(output)[:2] == ["no newline", "   city     people"]


def test_tables_are_shown_while_the_program_runs() -> None:
    output = with_tables(3)
    lines = draw_output(output, live=True)
    assert lines[0].startswith("… more above")
    assert lines[-1] == "after"
    assert lines[-2] == "3 rows x 2 columns · ctrl+up, then up; enter opens"


def test_of_many_tables_the_first_and_the_last_are_shown_until_all_are_wanted() -> None:
    output = with_tables(20)
    assert sum("ctrl+up, then up; enter opens" in line for line in draw_output(output)) == 8
    assert "… 12 more tables not shown — ctrl+up, then up; o opens" in draw_output(output)
    assert output.toggle(live=False)
    assert sum("ctrl+up, then up; enter opens" in line for line in draw_output(output)) == 20


def test_long_output_beside_a_table_is_folded() -> None:
    output = with_tables(1)
    output.feed("".join(f"line {at}\r\n" for at in range(5000)))
    lines = draw_output(output)
    assert "3 rows x 2 columns · ctrl+up, then up; enter opens" in lines
    assert len(lines) < 30
    assert lines[-1] == "line 4999"
    assert output.toggle(live=False)
    assert "line 100" in draw_output(output)


def test_a_table_that_the_program_cleared_is_gone() -> None:
    output = with_tables(1)
    output.feed("\x1b[10A\x1b[J")
    output.feed("new\r\n")
    assert draw_output(output) == ["new"]


def test_a_table_knows_the_language_that_has_it() -> None:
    text = {"key": "cars", "name": "cars", "kind": "data.frame", "index": "", "total": 0, "width": 0}
    parts = {"columns": [], "head": 0, "rows": []}
    of_r = InlineTable.read(json.dumps({**text, **parts, "language": "r"}))
    of_python = InlineTable.read(json.dumps({**text, **parts}))
    assert of_r
    assert of_python
    assert (of_r.language, of_python.language) == ("r", "python")
