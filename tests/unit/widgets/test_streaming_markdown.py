"""Markdown on the screen: the same streamed as at once, safe, and flat in cost."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pygments.token import Token

from oi_tui.text import clean_text as safe
from oi_tui.themes import DARK
from oi_tui.widgets.conversation.streaming_markdown import StreamingMarkdown
from oi_tui.widgets.conversation.styles import get_styles
from oi_tui.widgets.truncate import measure_width

LOOK = get_styles(DARK)

ATOMS = st.sampled_from(
    [
        "# ",
        "## ",
        "- ",
        "* ",
        "1. ",
        "2) ",
        "```",
        "```python\n",
        "~~~",
        "> ",
        "\n",
        "\n\n",
        "    ",
        "a",
        "word ",
        "**",
        "*",
        "_",
        "`",
        "[x](http://e.invalid)",
        "---",
        "===",
        "\t",
        "\x1b[2J",
        "\u202e",
        "你好",
        "👩\u200d👩\u200d👧",
        "<b>",
        "&amp;",
        "\\",
        "![i](u)",
        "https://a.b/c?d=e",
        "\r\n",
        "\x00",
        "+",
        "~",
        "\u200d",
        "[r]: http://x\n",
        "[",
        "](",
        "!",
        "|",
        "|a|b|\n|--|--|\n|1|2|\n",
        "x" * 50,
    ]
)


def draw_rows(text: str, width: int = 40) -> list[str]:
    prose = StreamingMarkdown(text)
    prose.finish()
    return [row.plain for row in prose.rows(width, LOOK)]


@settings(max_examples=150, deadline=None)
@given(st.lists(ATOMS, max_size=30).map("".join), st.integers(1, 7), st.sampled_from([10, 33, 78]))
def test_a_text_that_streamed_looks_as_the_same_text_given_at_once(text: str, step: int, width: int) -> None:
    streamed = StreamingMarkdown()
    for start in range(0, len(text), step):
        streamed.feed(text[start : start + step])
        streamed.rows(width, LOOK)
    streamed.finish()
    assert [row.plain for row in streamed.rows(width, LOOK)] == draw_rows(text, width)
    assert streamed.text == text


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(ATOMS, max_size=30).map("".join)))
def test_rows_fit_and_hold_nothing_that_could_control_the_terminal(text: str) -> None:
    for row in draw_rows(text, 40):
        assert measure_width(row) <= 41
        assert safe(row) == row
        assert "\n" not in row
        assert "\t" not in row


def test_headings_lists_quotes_and_rules_are_laid_out() -> None:
    assert draw_rows("## Plan\n1. load\n2. plot\n   - nested\n\n> said\n\n***") == [
        "Plan",
        "1. load",
        "2. plot",
        "   ◦ nested",
        "",
        "▎ said",
        "",
        "─" * 40,
    ]


def test_a_table_that_is_too_wide_wraps_its_widest_column() -> None:
    rows = draw_rows("|id|what|\n|-:|--|\n|1|a rather long description of the thing|", 24)
    assert rows[0] == "id │ what               "
    assert rows[1] == "───┼────────────────────"
    assert rows[2:] == [" 1 │ a rather long      ", "   │ description of the ", "   │ thing              "]


def test_the_whole_target_of_a_link_can_be_read() -> None:
    assert draw_rows("[bank](http://evil.invalid/login)", 60) == ["bank (http://evil.invalid/login)"]
    assert draw_rows("<https://same.example>", 60) == ["https://same.example"]
    assert "javascript:alert(1)" in draw_rows("[x](javascript:alert(1))", 60)[0]
    assert draw_rows("[a][b]\n\n[b]: http://hidden.invalid", 60) == [
        "[a][b]",
        "",
        "[b]: http://hidden.invalid",
    ]


def test_markup_of_textual_means_nothing() -> None:
    assert draw_rows("[@click=app.quit]x[/] and [/]") == ["[@click=app.quit]x[/] and [/]"]


def test_what_is_written_does_not_flicker_between_looks() -> None:
    prose = StreamingMarkdown("It is **very imp")
    assert [row.plain for row in prose.rows(40, LOOK)] == ["It is very imp"]
    prose.feed("ortant** and\n-")
    assert [row.plain for row in prose.rows(40, LOOK)] == ["It is very important and"]
    prose.feed(" an item")
    assert [row.plain for row in prose.rows(40, LOOK)] == ["It is very important and", "• an item"]


def test_settled_rows_are_the_same_objects_after_more_text() -> None:
    prose = StreamingMarkdown("First paragraph.\n\n```python\nx = 1\ny = 2\n")
    before = list(prose.rows(40, LOOK))
    prose.feed("z = 3\n")
    after = prose.rows(40, LOOK)
    assert [row.plain for row in after] == ["First paragraph.", "", "  x = 1", "  y = 2", "  z = 3"]
    assert all(old is new for old, new in zip(before, after, strict=False))


def test_code_in_a_fence_is_coloured_while_it_streams() -> None:
    prose = StreamingMarkdown("```python\nimport os\n")
    styles = {segment.text: segment.style for segment in prose.rows(40, LOOK)[0].segments}
    assert styles["import"] == LOOK.token(Token.Keyword.Namespace)


def test_copies_keep_the_marks_of_lists_and_join_wrapped_lines() -> None:
    prose = StreamingMarkdown("- one two three four five\n- six")
    prose.finish()
    rows = prose.rows(14, LOOK)
    copied = "".join((row.joint if index else "") + (row.text or "") for index, row in enumerate(rows))
    assert copied == "- one two three four five\n- six"


def test_a_very_long_paragraph_is_drawn_now_and_then_and_whole_at_the_end() -> None:
    words = "many words with `code` and **weight** in one paragraph "
    prose, drawn_anew = StreamingMarkdown(words * 1_000), 0
    prose.rows(78, LOOK)
    for _ in range(60):
        prose.feed("more ")
        prose.rows(78, LOOK)
        drawn_anew += not prose.behind
    assert drawn_anew < 30
    prose.finish()
    assert prose.rows(78, LOOK)[-1].plain.endswith("more")
    assert not prose.behind


@pytest.mark.parametrize("shape", ["```python\n", "- "])
def test_a_token_costs_no_more_at_the_end_of_a_long_fence_or_list_than_at_its_start(shape: str) -> None:
    line = {"```python\n": "value = compute(1, 'two')\n", "- ": "item number one of many\n- "}[shape]

    def cost(prose: StreamingMarkdown) -> float:
        best = 1.0
        for _ in range(15):
            start = time.perf_counter()
            prose.feed(line)
            prose.rows(78, LOOK)
            best = min(best, time.perf_counter() - start)
        return best

    short, long = StreamingMarkdown(shape + line * 20), StreamingMarkdown(shape + line * 2000)
    short.rows(78, LOOK)
    long.rows(78, LOOK)
    assert cost(long) < 4 * cost(short) + 0.001
