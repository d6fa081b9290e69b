"""Program output as text: what a terminal would have left, and the middle cut."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oi_tui.engine.output.plain import EscapeFilter, LineEnds, clip, make_plain


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("hello\n", "hello\n"),
        ("a\r\nb\r\r\nc", "a\nb\nc"),
        ("10%\r20%\r30%\n", "30%\n"),
        ("100%\r5%", "5%0%"),
        ("working...\r\x1b[Kdone", "done"),
        ("abc\b\bX", "aXc"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]52;c;QQ==\x1b\\text", "text"),
        ("a\x1b]0;never closed\nb", "a\nb"),
        ("a\x1bPdcs\x1b\\b", "ab"),
        ("cut \x1b[3", "cut 3"),
        ("bell\x07 nul\x00", "bell nul"),
        ("\x1b[5Cx", "     x"),
        ("abc\x1b[2Gx", "axc"),
        ("abc\x1b[2D\x1b[Kx", "ax"),
        ("abc\x1b[2Kx", "   x"),
        ("tag\U000e0041\U000e0042s", "tags"),
        ("half \ud83d", "half \ufffd"),
        ("tab\tstays", "tab\tstays"),
        ("a\x1b[?1049h\x1b[2Jdrawn\nby vi\x1b[?1049lb\n", "ab\n"),
        ("a\x1b[?25;1047hnever left", "a"),
        ("žluťoučký 🐎", "žluťoučký 🐎"),
    ],
)
def test_plain_text_is_what_a_terminal_would_show(written: str, seen: str) -> None:
    assert make_plain(written) == seen


def test_a_program_cannot_make_us_fill_memory_with_blanks() -> None:
    assert len(make_plain("\x1b[999999999Cx\x1b[99999999999999Cy")) < 10_000


@given(st.text(alphabet="ab\r\b\x1b[]K;2mCGD\n\x07\x9b\udc80"))
def test_plain_text_never_holds_a_control_character(text: str) -> None:
    seen = make_plain(text)
    assert not set(seen) & set("\r\b\x1b\x07\x9b\udc80")
    seen.encode()


def test_short_output_is_not_clipped() -> None:
    assert clip("a\nb", 3) == "a\nb"
    assert clip("x" * 10_000, 0) == "x" * 10_000


def test_long_output_keeps_whole_lines_of_its_head_and_tail() -> None:
    text = "\n".join(f"line {n}" for n in range(1000))
    lines = clip(text, 500).split("\n")
    mark = next(n for n, line in enumerate(lines) if "not shown" in line)
    missing = int(lines[mark].split()[1].replace(",", ""))
    assert lines[0] == "line 0"
    assert lines[-1] == "line 999"
    assert missing + len(lines) - 1 == 1000
    assert lines[mark + 1] == f"line {mark + missing}"


def test_one_huge_line_is_cut_by_characters() -> None:
    head, note, tail = clip("x" * 100_000, 1000).split("\n")
    assert note == f"… {100_000 - len(head) - len(tail):,} characters not shown …"


@given(st.text(alphabet="ab\n"), st.integers(1, 400))
def test_a_clipped_text_stays_near_its_limit(text: str, limit: int) -> None:
    assert len(clip(text, limit)) <= max(limit, 60)


@given(st.text(alphabet="a\r\n", max_size=12), st.integers(0, 12), st.integers(0, 12))
def test_line_ends_are_line_feeds_wherever_the_text_is_cut(text: str, one: int, two: int) -> None:
    first, second = sorted((one, two))
    ends = LineEnds()
    pieces = [ends.write(text[:first]), ends.write(text[first:second]), ends.write(text[second:])]
    whole = "".join([*pieces, ends.close()])
    assert "\r\n" not in whole
    assert whole == re.sub("\r+\n", "\n", text)


@given(st.integers(0, 60), st.integers(0, 60))
def test_escapes_are_taken_out_wherever_the_text_is_cut(one: int, two: int) -> None:
    text = "a\x1b[1;31mred\x1b[0m 1%\r2%\x1b]0;title\x07\x1b]8;;http://x\x1b\\link\x1b(B\x9b2Kend\n"
    first, second = sorted((one, two))
    escapes = EscapeFilter()
    pieces = (text[:first], text[first:second], text[second:])
    assert "".join(map(escapes.write, pieces)) == "ared 1%\r2%linkend\n"
