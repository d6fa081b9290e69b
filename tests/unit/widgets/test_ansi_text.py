"""A program's output: the same however it is cut, bounded, coloured, and nothing but text."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.color import Color
from rich.style import Style

from oi_tui.text import escape_controls
from oi_tui.widgets.emulator.ansi_text import HEAD_LINES, TAIL_LINES, AnsiText

ATOMS = st.sampled_from(
    [
        "\x1b[",
        "31m",
        "0m",
        "m",
        "\x1b]0;t",
        "\x07",
        "\x1b\\",
        "\r",
        "\n",
        "\x08",
        "\t",
        "abc",
        "x",
        "\x1b[K",
        "\x1b[2K",
        "\x1b[5G",
        "\x1b[3C",
        "\x1b[2D",
        "\x1b[?25l",
        "\x1b(B",
        "\x9b",
        "\x9d",
        "\x90q",
        "\x1bP",
        "\u202e",
        "你",
        "é",
        "\x1b",
        "38;5;200m",
        "38;2;1;2;3m",
        "\x1b[1;4;38;5;9m",
        "\x0b",
        "\x00",
        "\r\n",
        "\x7f",
        "\x1b[999C",
        "\x1b[2P",
        "\x1b[A",
    ]
)


def list_lines(text: str) -> list[str]:
    output = AnsiText(text)
    return ["".join(part for part, _ in output.spans(index)) for index in range(output.line_count)]


@example("\x1b[\x9d\x07", 1)
@example("\x1b\x9d\x07", 1)
@example("\x1b\x1b]0;t", 1)
@settings(max_examples=300, deadline=None)
@given(st.lists(ATOMS, max_size=30).map("".join), st.integers(1, 5))
def test_output_is_the_same_however_it_was_cut(text: str, step: int) -> None:
    whole, pieces = AnsiText(text), AnsiText()
    for start in range(0, len(text), step):
        pieces.feed(text[start : start + step])
    assert [whole.spans(i) for i in range(whole.line_count)] == [
        pieces.spans(i) for i in range(pieces.line_count)
    ]


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=100), st.lists(ATOMS, max_size=30).map("".join)))
def test_nothing_but_text_comes_out(text: str) -> None:
    for line in list_lines(text):
        assert escape_controls(line) == line
        assert "\n" not in line
        assert "\t" not in line


def test_colours_are_kept_and_go_on_in_the_next_line() -> None:
    output = AnsiText("\x1b[31mred\nstill \x1b[1mbold\x1b[0m plain\n")
    red = Style(color=Color.from_ansi(1))
    assert output.spans(0) == [("red", red)]
    assert output.spans(1) == [("still ", red), ("bold", red + Style(bold=True)), (" plain", Style())]


def test_colours_of_256_and_of_16_million() -> None:
    output = AnsiText("\x1b[38;5;200;48;2;1;2;3mx")
    assert output.spans(0) == [("x", Style(color=Color.from_ansi(200), bgcolor=Color.from_rgb(1, 2, 3)))]


def test_a_progress_bar_is_one_line_that_updates() -> None:
    assert list_lines("get\n 10%\r 20%\r100%") == ["get", "100%"]
    assert list_lines("long text\rshort\x1b[K") == ["short"]
    assert list_lines("|\b/\b-") == ["-"]
    assert list_lines("abc\r\n") == ["abc"]


def test_titles_clipboard_and_cursor_sequences_vanish() -> None:
    assert list_lines("a\x1b]52;c;UUFB\x07b\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\x1b[2J\x1b[?2004hc") == [
        "ablinkc"
    ]
    assert list_lines("a\x1bPq#0;2;0;0;0\nmore\x1b\\b") == ["ab"]
    assert list_lines("bidi \u202e and \x9b31m c1") == ["bidi ⟨U+202E⟩ and  c1"]


def test_what_full_screen_programs_draw_is_no_part_of_the_text_wherever_it_is_cut() -> None:
    text = "before\x1b[?1049h\x1b[?25l\x1b[2Jdrawn\ndrawn\x1b]0;a title\x07\x1b[?1049l after\x1b[?47hmore"
    for cut in range(len(text) + 1):
        output = AnsiText(text[:cut])
        output.feed(text[cut:])
        assert output.plain() == "before after", cut
        assert output.aside


def test_tabs_reach_the_next_stop_of_eight() -> None:
    assert list_lines("a\tb\n12345678\tc") == ["a       b", "12345678        c"]


def test_of_a_flood_the_beginning_and_the_end_are_kept_and_the_rest_is_counted() -> None:
    output = AnsiText()
    for start in range(0, 100_000, 700):
        output.feed("".join(f"line {n}\n" for n in range(start, min(start + 700, 100_000))))
    assert output.line_count == HEAD_LINES + TAIL_LINES
    assert output.lines_not_kept == 100_000 - output.line_count
    assert output.spans(0)[0][0] == "line 0"
    assert output.spans(output.head_count - 1)[0][0] == f"line {HEAD_LINES - 1}"
    assert output.spans(output.line_count - 1)[0][0] == "line 99999"
    assert f"… {output.lines_not_kept} lines not shown …" in output.plain()


@pytest.mark.parametrize("length", [9_000, 2_000_000])
@pytest.mark.parametrize("end", ["", "\r\n", "\r", "\n"])
@pytest.mark.parametrize("cut", [0, 1, 2, 100])
def test_of_a_long_line_the_ends_are_shown_however_it_ends(length: int, end: str, cut: int) -> None:
    line = f"begin{'x' * length}close{end}"
    output = AnsiText()
    output.feed(line[: len(line) - cut])
    output.feed(line[len(line) - cut :])
    shown = output.plain().rstrip("\n")
    assert shown.startswith("beginxxx")
    assert shown.endswith("xxxclose")
    assert length < 10_000 or "characters not shown" in shown


def test_one_chunk_gives_what_many_give() -> None:
    text = "".join(f"{n}\n" for n in range(10_000))
    once, often = AnsiText(text), AnsiText()
    for line in text.splitlines(keepends=True):
        often.feed(line)
    assert once.lines_not_kept == often.lines_not_kept
    assert once.plain() == often.plain()


def test_a_line_without_end_takes_bounded_room() -> None:
    output = AnsiText()
    for _ in range(200):
        output.feed("x" * 10_000)
    assert output.line_count == 1
    assert len(output.plain()) < 25_000
    progress = AnsiText()
    for percent in range(20_000):
        progress.feed(f"\r {percent} of 20000")
    assert progress.plain() == " 19999 of 20000"
    assert len(progress._open) < 20_000
