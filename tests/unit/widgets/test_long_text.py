"""Long texts are read line by line, wherever the blocks of the file end."""

import random
from pathlib import Path

import pytest

from oi_tui.widgets.pager.long_text import LONGEST_LINE, LongText


def make_long_text(text: str) -> LongText:
    made = LongText.of(text)
    made.index_all()
    return made


def find_line(text: LongText, what: str, line: int, *, back: bool = False) -> int | None:
    return [*text.find(what, line, back=back)][-1]


@pytest.mark.parametrize("text", ["", "a", "a\n", "\n", "\n\n", "a\n\nb", "é\nü\n"])
def test_short_texts_have_their_lines(text: str) -> None:
    lines = text.split("\n")
    wanted = lines[:-1] if lines[-1] == "" else lines
    made = make_long_text(text)
    assert made.line_count == len(wanted)
    assert made.lines(0, 100) == wanted


def test_every_window_is_what_splitting_gives() -> None:
    pick = random.Random(3)
    wanted = ["x" * pick.choice((0, 1, 70, 900, 4_000)) + str(n) for n in range(3_000)]
    made = make_long_text("\n".join(wanted))
    assert made.line_count == 3_000
    for _ in range(100):
        first = pick.randrange(3_000)
        assert made.lines(first, first + 40) == wanted[first : first + 40]


def test_a_line_longer_than_a_block_is_shown_in_part_and_the_next_one_whole() -> None:
    made = make_long_text("first\n" + "x" * 300_000 + "\nlast")
    first, long, last = made.lines(0, 10)
    assert (first, last) == ("first", "last")
    assert long.startswith("x" * LONGEST_LINE)
    assert f"{300_000 - LONGEST_LINE:,} bytes" in long
    assert made.lines(2, 3) == ["last"]


def test_search_goes_on_and_back_and_around() -> None:
    made = make_long_text(
        "\n".join(f"line {n}" + (" Straße" if n in (5, 70_000) else "") for n in range(100_000))
    )
    assert find_line(made, "STRASSE", 0) == -1
    assert find_line(made, "straße", 0) == 5
    assert find_line(made, "STRAße", 5) == 70_000
    assert find_line(made, "straße", 70_000) == 5
    assert find_line(made, "straße", 5, back=True) == 70_000
    assert find_line(made, "straße", 70_000, back=True) == 5
    assert find_line(made, "LINE 99999", 0) == 99_999


def test_a_search_finds_lines_that_were_not_counted_yet() -> None:
    made = LongText.of("x\n" * 5_000_000 + "needle\n")
    made.index()
    assert not made.complete
    assert find_line(made, "needle", 0) == 5_000_000


def test_a_match_across_two_parts_of_the_search_is_found() -> None:
    made = make_long_text("x" * (4 * 1024 * 1024 - 3) + "needle")
    assert find_line(made, "needle", 0) == 0


def test_a_file_that_is_cut_short_while_it_is_read_costs_only_lines(tmp_path: Path) -> None:
    file = tmp_path / "out.txt"
    file.write_text("line\n" * 100_000)
    made = LongText.open(file)
    made.index_all()
    file.write_text("")
    assert made.lines(99_990, 100_000) == []
    made.close()
