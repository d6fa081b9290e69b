"""A long text on the screen: paging, searching, and what it costs."""

import time
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input, Static

from oi_tui.screens.pager import PagerScreen
from oi_tui.themes import THEMES
from oi_tui.widgets.pager.long_text import LongText
from oi_tui.widgets.pager.text_view import TextView
from tests.pilot.waiting import until


class Screen(App[None]):
    def __init__(self) -> None:
        super().__init__()
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = "oi-dark"


@asynccontextmanager
async def reading(text: LongText) -> AsyncIterator[tuple[Pilot[None], PagerScreen]]:
    async with Screen().run_test(size=(80, 24)) as pilot:
        reader = PagerScreen("Output of [1]", text, "It is in /tmp/there.txt.")
        await pilot.app.push_screen(reader)
        await pilot.pause()
        yield pilot, reader


def rows(reader: PagerScreen) -> list[str]:
    view = reader.query_one(TextView)
    return [view.render_line(y).text.rstrip() for y in range(view.size.height)]


def status(reader: PagerScreen) -> str:
    return str(reader.query_one("#reader-status", Static).render())


async def test_the_ends_are_one_key_away() -> None:
    async with reading(LongText.of("".join(f"line {n}\n" for n in range(50_000)))) as (pilot, reader):
        assert rows(reader)[0] == "  line 0"
        await pilot.press("end")
        assert rows(reader)[-1] == "  line 49999"
        await pilot.press("pageup")
        assert rows(reader)[-1] == f"  line {49999 - 21}"
        await pilot.press("home")
        assert rows(reader)[0] == "  line 0"
        assert "of 50,000" in status(reader)


async def test_a_search_goes_to_the_line_and_n_to_the_next() -> None:
    text = "".join(f"line {n}{' NEEDLE' if n % 7_000 == 6_999 else ''}\n" for n in range(20_000))
    async with reading(LongText.of(text)) as (pilot, reader):
        await pilot.press("slash", *"needle", "enter")
        await until(pilot, lambda: "> line 6999 NEEDLE" in rows(reader))
        await pilot.press("n")
        await until(pilot, lambda: "> line 13999 NEEDLE" in rows(reader))
        await pilot.press("N")
        await until(pilot, lambda: "> line 6999 NEEDLE" in rows(reader))
        assert "in line 7,000" in status(reader)


async def test_what_is_not_there_is_reported_to_be_not_there() -> None:
    async with reading(LongText.of("a\nb\n")) as (pilot, reader):
        await pilot.press("slash", *"xyz", "enter")
        await until(pilot, lambda: "“xyz” not found" in status(reader))


async def test_escape_closes_the_field_first_and_the_screen_then() -> None:
    async with reading(LongText.of("a\n")) as (pilot, reader):
        await pilot.press("slash", "q", "escape")
        assert not reader.query_one(Input).display
        assert pilot.app.screen is reader
        await pilot.press("escape")
        assert pilot.app.screen is not reader


async def test_colours_go_on_over_lines_and_other_sequences_do_nothing() -> None:
    text = "\x1b[31mred\nstill red\x1b[0m\nplain \x1b[2J\x1b]52;c;aGk=\x07end\n[bold]no markup[/]\n"
    async with reading(LongText.of(text)) as (_, reader):
        assert rows(reader)[:4] == ["  red", "  still red", "  plain end", "  [bold]no markup[/]"]
        view = reader.query_one(TextView)
        reds = [list(view.render_line(y))[1].style.color for y in (0, 1, 2)]
        assert reds[0] == reds[1] != reds[2]


async def test_a_long_line_is_read_by_going_right() -> None:
    async with reading(LongText.of("x" * 500 + "end\nshort\n")) as (pilot, reader):
        await pilot.press(*["right"] * 40)
        assert rows(reader)[0].endswith("end")
        await pilot.press("slash", *"short", "enter")
        await until(pilot, lambda: "> short" in rows(reader))


async def test_a_hundred_megabytes_open_at_once_and_stay_on_the_disk(tmp_path: Path) -> None:
    file = tmp_path / "flood.txt"
    part = b"".join(b"a line of the flood, number %07d\n" % n for n in range(31_250))
    with file.open("wb") as flood:
        for _ in range(95):
            flood.write(part)
        flood.write(b"the needle\n")
    began = time.monotonic()
    tracemalloc.start()
    try:
        async with reading(LongText.open(file)) as (pilot, reader):
            assert rows(reader)[0] == "  a line of the flood, number 0000000"
            assert time.monotonic() - began < 30
            await pilot.press("end")
            assert rows(reader)[-1] == "  the needle"
            await pilot.press("home", "slash", *"needle", "enter")
            await until(pilot, lambda: "> the needle" in rows(reader))
            assert tracemalloc.get_traced_memory()[1] < 40_000_000
    finally:
        tracemalloc.stop()


async def test_the_place_is_reported() -> None:
    async with reading(LongText.of("a\n")) as (pilot, reader):
        await pilot.press("s")
        assert [note.message for note in pilot.app._notifications] == ["It is in /tmp/there.txt."]
        assert pilot.app.screen is reader


async def test_the_lines_in_view_are_right_after_the_field_of_the_search_is_gone() -> None:
    async with reading(LongText.of("".join(f"row {n}\n" for n in range(300)))) as (pilot, reader):
        await pilot.press("slash", *"row 7")
        assert "lines 1-21 of 300" in status(reader)
        await pilot.press("enter")
        await until(pilot, lambda: "lines 1-22 of 300" in status(reader))


async def test_where_there_is_no_text_a_sentence_says_so_and_the_keys_lead_back() -> None:
    async with reading(LongText.of("")) as (pilot, reader):
        words = reader.query_one("#reader-empty", Static)
        await until(pilot, lambda: words.region.height > 10)
        assert str(words.render()) == "Nothing was printed."
        assert status(reader) == "esc back"
        await pilot.press("escape")
        await until(pilot, lambda: not reader.is_attached)


async def test_clicking_twice_selects_a_word_and_three_times_the_line_and_the_copy_says_so() -> None:
    async with reading(LongText.of("first line\n\x1b[31mone\x1b[0m 界界 two\nlast\n")) as (pilot, reader):
        await pilot.click(TextView, offset=(13, 1), times=2)
        assert reader.get_selected_text() == "two"
        await pilot.click(TextView, offset=(3, 1), times=3)
        assert reader.get_selected_text() == "one 界界 two"
        await pilot.press("ctrl+c")
        assert any(note.message.startswith("The selection: ") for note in pilot.app._notifications)
        assert pilot.app.clipboard == "one 界界 two"


async def test_dragging_selects_characters_also_where_the_text_is_scrolled_sideways() -> None:
    wide = "".join(f"{n:03}" for n in range(100))
    async with reading(LongText.of(f"{wide}\n{wide}\n")) as (pilot, reader):
        await pilot.press("right")
        await until(pilot, lambda: reader.query_one(TextView).scroll_x == 16)
        await pilot.mouse_down(TextView, offset=(2, 0))
        await pilot.hover(TextView, offset=(7, 1))
        await pilot.mouse_up(TextView, offset=(7, 1))
        await until(pilot, lambda: reader.get_selected_text())
        assert reader.get_selected_text() == f"{wide[16:]}\n{wide[: 16 + 6]}"
