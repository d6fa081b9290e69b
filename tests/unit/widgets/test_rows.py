"""Wrapping: nothing lost, nothing too wide, and linear in cost."""

import re
import time
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from oi_tui.themes import THEMES
from oi_tui.widgets.conversation.blocks import NoticeBlock
from oi_tui.widgets.conversation.rows import (
    Span,
    Wrapped,
    clip_spans,
    wrap_cells,
    wrap_code,
    wrap_output,
    wrap_words,
)
from oi_tui.widgets.conversation.styles import get_styles
from oi_tui.widgets.truncate import measure_width

ATOMS = [*"ab _,.é你👍", "\u00a0", "\u0301", "👩‍👩‍👧"]
TEXT = st.lists(st.sampled_from(ATOMS), max_size=60).map("".join)
Wrap = Callable[[Iterable[Span], int], list[Wrapped]]
SPANS = st.lists(st.tuples(TEXT, st.sampled_from([Style(bold=True), Style(dim=True)])), max_size=5)


def copied(lines: list[Wrapped]) -> str:
    return "".join((line.joint if index else "") + line.text for index, line in enumerate(lines))


@given(SPANS, st.integers(2, 30), st.sampled_from([wrap_cells, wrap_code]))
def test_lines_of_cells_fit_and_hold_all_of_the_text(spans: list[Span], width: int, wrap: Wrap) -> None:
    lines = wrap(spans, width)
    assert copied(lines) == "".join(text for text, _ in spans)
    assert all(measure_width(line.text) <= width for line in lines)


@given(SPANS, st.integers(2, 30))
def test_lines_of_words_fit_and_lose_only_blanks_at_the_end(spans: list[Span], width: int) -> None:
    lines = wrap_words(spans, width)
    assert copied(lines) == "".join(text for text, _ in spans).rstrip(" ")
    assert all(measure_width(line.text) <= width for line in lines)


@given(SPANS, st.integers(2, 30))
def test_lines_of_output_hold_all_that_was_printed(spans: list[Span], width: int) -> None:
    lines = wrap_output(spans, width)
    assert copied(lines) == "".join(text for text, _ in spans)
    assert all(measure_width(line.text.rstrip(" ")) <= width for line in lines)


@pytest.mark.parametrize(
    ("printed", "rows"),
    [
        ("one remarkable sentence", ["one", "remarkable", "sentence"]),
        ("  - indented words  ", ["  - indented", "words  "]),
        ("It ends.  It goes on", ["It ends.  It", "goes on"]),
        ("left      right-hand", ["left      ri", "ght-hand"]),
        ("| alpha | beta | c |", ["| alpha | be", "ta | c |"]),
        ("│ alpha beta gamma │", ["│ alpha beta", " gamma │"]),
    ],
)
def test_prose_of_an_output_is_broken_at_spaces_and_columns_are_not(printed: str, rows: list[str]) -> None:
    assert [line.text for line in wrap_output([(printed, Style())], 12)] == rows


@pytest.mark.parametrize(("style", "count"), [("", 2), ("on black", 2), ("on red", 3), ("reverse", 3)])
def test_columns_that_are_filled_with_spaces_take_no_line_for_spaces_that_nobody_sees(
    style: str, count: int
) -> None:
    spans = [("left      right", Style()), (" " * 20, Style.parse(style))]
    lines = wrap_output(spans, 12, Style.parse("on black").bgcolor)
    assert [bool(line.segments) for line in lines] == [True] * count
    assert copied(lines) == "left      right" + " " * 20


@given(SPANS, st.integers(4, 30))
def test_what_is_cut_off_is_reported(spans: list[Span], width: int) -> None:
    text = "".join(text for text, _ in spans)
    shown = "".join(segment.text for segment in clip_spans(spans, width))
    assert measure_width(shown) <= width
    assert shown == text or shown.endswith("…")


@pytest.mark.parametrize(
    ("code", "rows"),
    [
        ("value = compute(first, second_argument)", ["value = compute(first, ", "second_argument)"]),
        ('a = sales.groupby("customer_name").sum()', ["a = sales.groupby(", '"customer_name").sum()']),
        ("result = frame.rolling_window().mean()", ["result = frame", ".rolling_window().mean()"]),
        ('print(f"{total_amount_of_sales:.2f} in")', ['print(f"{', "total_amount_of_sales:.2f}", ' in")']),
        ("pip install package --upgrade yes", ["pip install package ", "--upgrade yes"]),
        ("a" * 65, ["a" * 26, "a" * 26, "a" * 13]),
    ],
)
def test_code_is_broken_where_it_can_be_read(code: str, rows: list[str]) -> None:
    colours = [Style(bold=True), Style(dim=True)]
    spans = [(part, colours[index % 2]) for index, part in enumerate(re.findall(r"\w+|\W", code))]
    assert [line.text for line in wrap_code(spans, 26)] == rows


def test_a_line_of_a_hundred_thousand_characters_is_broken_at_once() -> None:
    for text in ("x" * 100_000, "é" * 100_000, "你" * 50_000):
        start = time.process_time()
        assert len(wrap_cells([(text, Style())], 80)) == 1250
        assert len(wrap_code([(text, Style())], 80)) == 1250
        assert time.process_time() - start < 2


def test_a_list_in_a_notice_keeps_its_indent_where_it_is_wrapped() -> None:
    text = "Servers:\n    tools: add, say, image\n"
    rows = NoticeBlock("1", text).rows(24, get_styles(THEMES[0]))
    assert [row.plain for row in rows] == [
        "note  Servers:",
        "          tools: add,",
        "          say, image",
        "      ",
    ]
    assert "".join((row.joint if at else "") + (row.text or "") for at, row in enumerate(rows)) == text
    assert [row.indent for row in rows] == [6, 6, 10, 6]
