"""What is typed can be completed, and what is pasted folded; enter sends what is typed and nothing else."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.pilot import Pilot

from oi_tui import paths
from oi_tui.widgets.prompt.completion import CompletionQuery
from oi_tui.widgets.prompt.completion_list import CompletionOffer, Completions
from oi_tui.widgets.prompt.prompt import Prompt
from tests.pilot.waiting import until

LONG = "".join(f"line {number}\n" for number in range(1, 215))


class Typing(App[None]):
    CSS_PATH: ClassVar = [paths.styles() / "first.tcss"]

    def __init__(self, history: list[str]) -> None:
        super().__init__()
        self.past = history
        self.sent: list[str] = []
        self.asked: list[CompletionQuery] = []
        self.hint = ""
        self.completions = Completions(id="completions")

    def compose(self) -> ComposeResult:
        yield Prompt(self.past, id="prompt")
        yield self.completions

    def on_mount(self) -> None:
        self.query_one(Prompt).focus()

    def on_prompt_sent(self, event: Prompt.Sent) -> None:
        self.sent.append(self.query_one(Prompt).expand_pastes(event.text))

    def on_prompt_asked(self, event: Prompt.Asked) -> None:
        self.asked.append(event.query)

    def on_prompt_hinted(self, event: Prompt.Hinted) -> None:
        self.hint = event.hint

    def on_prompt_offered(self, event: Prompt.Offered) -> None:
        self.completions.show(event.offers, event.chosen, event.note)

    @property
    def listed(self) -> str:
        return str(self.completions.render()) if self.completions.display else ""


@asynccontextmanager
async def typing(
    *history: str, size: tuple[int, int] = (60, 14)
) -> AsyncIterator[tuple[Typing, Pilot[None], Prompt]]:
    app = Typing(list(history))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield app, pilot, app.query_one(Prompt)


# -- commands


async def test_commands_are_listed_while_their_name_is_typed_and_tab_takes_the_chosen_one() -> None:
    async with typing() as (app, pilot, prompt):
        await pilot.press(*"%e")
        await until(pilot, lambda: "%export" in app.listed)
        await pilot.press("tab")
        assert prompt.text == "%export "
        await until(pilot, lambda: not app.listed)
        await pilot.press("ctrl+u", *"/he")
        await until(pilot, lambda: "/help" in app.listed)
        await pilot.press("down", "up", "tab")
        assert prompt.text == "/help"
        assert app.sent == []


async def test_enter_runs_what_is_typed_even_when_something_else_is_chosen_in_the_list() -> None:
    async with typing() as (app, pilot, _):
        await pilot.press(*"%re")
        await until(pilot, lambda: "%reset" in app.listed)
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.sent == ["%re"])
        await pilot.press(*"%model")
        await pilot.press("enter")
        await until(pilot, lambda: app.sent[-1] == "%model")
        assert app.listed == ""


async def test_escape_closes_the_list_and_it_comes_back_with_the_next_letter() -> None:
    async with typing() as (app, pilot, prompt):
        await pilot.press(*"%e")
        await until(pilot, lambda: app.listed)
        await pilot.press("escape")
        await until(pilot, lambda: not app.listed)
        await pilot.press("tab")
        assert prompt.text == "%e"
        await pilot.press("x")
        await until(pilot, lambda: "%export" in app.listed)


async def test_keys_in_a_row_complete_what_they_typed_and_not_what_was_listed_before() -> None:
    async with typing() as (app, pilot, prompt):
        await pilot.press(*"%h")
        await until(pilot, lambda: "%help" in app.listed)
        for key in ("backspace", "q", "tab"):
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: prompt.text == "%quit")


# -- mentions


async def test_a_mention_asks_and_takes_only_an_answer_to_what_is_typed_now() -> None:
    async with typing() as (app, pilot, prompt):
        await pilot.press(*"see @s")
        await until(pilot, lambda: app.asked)
        query = app.asked[-1]
        assert (query.kind, query.text) == ("mention", "s")
        await pilot.press("r")
        prompt.offer(query, [CompletionOffer("@stale ", "stale")])
        await pilot.pause()
        assert "stale" not in app.listed
        await until(pilot, lambda: app.asked[-1].text == "sr")
        prompt.offer(
            app.asked[-1], [CompletionOffer("@src/ ", "src/"), CompletionOffer("@sr.py ", "sr.py", "a file")]
        )
        await until(pilot, lambda: "sr.py" in app.listed)
        await pilot.press("down", "tab")
        assert prompt.text == "see @sr.py "
        await until(pilot, lambda: not app.listed)
        await pilot.press(*"now", "enter")
        await until(pilot, lambda: app.sent == ["see @sr.py now"])


async def test_tab_before_the_answer_takes_its_first_offer_when_it_comes() -> None:
    async with typing() as (app, pilot, prompt):
        await pilot.press(*"@s", "tab")
        assert prompt.text == "@s"
        await until(pilot, lambda: app.asked)
        prompt.offer(app.asked[-1], [CompletionOffer("@sales.csv ", "sales.csv")])
        assert prompt.text == "@sales.csv "


async def test_typing_on_after_tab_takes_nothing() -> None:
    async with typing() as (app, pilot, prompt):
        await pilot.press(*"@s", "tab")
        await until(pilot, lambda: app.asked)
        query = app.asked[-1]
        await pilot.press("x")
        prompt.offer(query, [CompletionOffer("@sales.csv ", "sales.csv")])
        await until(pilot, lambda: app.asked[-1].text == "sx")
        prompt.offer(app.asked[-1], [CompletionOffer("@sx ", "sx")])
        assert prompt.text == "@sx"


async def test_a_mention_in_the_middle_is_completed_where_it_is() -> None:
    async with typing() as (app, pilot, prompt):
        prompt.insert("read @ab and go")
        prompt.move_cursor((0, 8))
        await until(pilot, lambda: app.asked and app.asked[-1].text == "ab")
        prompt.offer(app.asked[-1], [CompletionOffer("@abc.txt ", "abc.txt")])
        await pilot.press("tab")
        assert prompt.text == "read @abc.txt and go"


async def test_a_folder_leads_on_to_what_is_in_it() -> None:
    async with typing() as (app, pilot, prompt):
        await pilot.press(*"@s")
        await until(pilot, lambda: app.asked)
        prompt.offer(app.asked[-1], [CompletionOffer('@"s x/', "s x/")])
        await pilot.press("tab")
        assert prompt.text == '@"s x/'
        await until(pilot, lambda: app.asked[-1].text == "s x/")


async def test_neither_addresses_nor_code_are_taken_for_mentions() -> None:
    async with typing() as (app, pilot, _):
        await pilot.press(*"me@example.com ")
        await pilot.press("ctrl+u", *"%python @property")
        await pilot.pause()
        assert {query.kind for query in app.asked} == {"console"}


# -- history


async def test_up_with_a_beginning_typed_walks_through_what_began_so() -> None:
    async with typing("plot a", "other", "plot b", "plot b") as (_, pilot, prompt):
        await pilot.press(*"plot", "up")
        assert prompt.text == "plot b"
        await pilot.press("up")
        assert prompt.text == "plot a"
        await pilot.press("up")
        assert prompt.text == "plot a"
        await pilot.press("down", "down")
        assert prompt.text == "plot"
        await pilot.press("ctrl+u", "up", "x", "up")
        assert prompt.text == "plot bx", "what was recalled and changed is a text of its own"


async def test_up_moves_through_the_rows_of_a_long_text_before_the_history() -> None:
    async with typing("word again") as (_, pilot, prompt):
        prompt.insert("word " * 20)
        rows = prompt.wrapped_document.height
        assert rows > 1
        await pilot.press(*["up"] * (rows - 1))
        assert prompt.text == "word " * 20


async def test_the_history_is_searched_for_the_words_that_are_typed_and_enter_takes_without_sending() -> None:
    async with typing("plot sales by day", "hello", "sales of may, plot", "plot x") as (app, pilot, prompt):
        await pilot.press("ctrl+s", *"plot sales")
        await until(pilot, lambda: "sales of may" in app.listed and "hello" not in app.listed)
        await pilot.press("down", "enter")
        assert prompt.text == "plot sales by day"
        await until(pilot, lambda: not app.listed)
        assert app.sent == []
        await pilot.press("enter")
        await until(pilot, lambda: app.sent == ["plot sales by day"])
        await pilot.press("ctrl+s", *"zebra")
        await until(pilot, lambda: "no match in your messages" in app.listed)
        await pilot.press("escape")
        await until(pilot, lambda: not app.listed)
        assert prompt.text == "zebra"


# -- long pastes


async def test_a_long_paste_is_a_few_words_and_is_sent_in_full() -> None:
    async with typing() as (app, pilot, prompt):
        await pilot.press(*"see ")
        app.post_message(events.Paste(LONG))
        await until(pilot, lambda: "pasted" in prompt.text)
        assert prompt.text == "see [pasted 214 lines]"
        assert prompt.size.height == 1
        app.post_message(events.Paste(LONG.replace("line", "row")))
        app.post_message(events.Paste("x" * 3000))
        await until(pilot, lambda: "3,000" in prompt.text)
        assert prompt.text == "see [pasted 214 lines][pasted 214 lines #2][pasted 3,000 characters]"
        await pilot.press("enter")
        await until(pilot, lambda: app.sent)
        assert app.sent == [f"see {LONG}{LONG.replace('line', 'row')}{'x' * 3000}"]
        await pilot.press("up")
        assert prompt.text.startswith("see [pasted 214 lines][")


async def test_a_folded_paste_is_deleted_and_passed_as_one_and_undo_brings_it_back() -> None:
    async with typing() as (app, pilot, prompt):
        app.post_message(events.Paste(LONG))
        await until(pilot, lambda: "pasted" in prompt.text)
        await pilot.press("end", *" x", "left", "left", "left")
        assert prompt.cursor_location == (0, 0)
        await pilot.press("right")
        assert prompt.cursor_location == (0, len("[pasted 214 lines]"))
        await pilot.press("backspace")
        assert prompt.text == " x"
        await pilot.press("ctrl+z")
        assert prompt.text == "[pasted 214 lines] x"
        await pilot.press("home", "delete")
        assert prompt.text == " x"
        await pilot.press("ctrl+z", "end", "ctrl+w", "ctrl+w")
        assert "pasted" not in prompt.text or "[pasted 214 lines]" in prompt.text, "never half of it"
        prompt.load_text("")


async def test_the_last_line_is_deleted_beside_a_folded_paste() -> None:
    async with typing() as (app, pilot, prompt):
        app.post_message(events.Paste(LONG))
        await until(pilot, lambda: "pasted" in prompt.text)
        await pilot.press("end", "ctrl+j", *"last", "ctrl+shift+k")
        assert prompt.text == "[pasted 214 lines]\n"
        await pilot.press("backspace", "ctrl+shift+k")
        assert prompt.text == ""


async def test_a_click_cannot_put_the_caret_into_a_folded_paste() -> None:
    async with typing() as (app, pilot, prompt):
        app.post_message(events.Paste(LONG))
        await until(pilot, lambda: "pasted" in prompt.text)
        await pilot.click(prompt, offset=(6, 0))
        await pilot.press("x")
        assert prompt.text in ("x[pasted 214 lines]", "[pasted 214 lines]x")


async def test_a_folded_paste_can_be_opened_and_edited() -> None:
    async with typing() as (app, pilot, prompt):
        app.post_message(events.Paste(LONG))
        await until(pilot, lambda: app.hint.startswith("ctrl+t"))
        await pilot.press("ctrl+t")
        assert prompt.text == LONG
        await pilot.press("delete", "L")
        await pilot.press("enter")
        await until(pilot, lambda: app.sent == [("L" + LONG[1:]).strip()])


async def test_words_that_only_look_like_a_paste_are_words() -> None:
    async with typing() as (app, pilot, _):
        await pilot.press(*"[pasted 214 lines]", "backspace", "enter")
        await until(pilot, lambda: app.sent == ["[pasted 214 lines"])


async def test_files_dropped_in_become_mentions_and_text_about_files_stays_text(tmp_path: Path) -> None:
    (tmp_path / "my plot.png").write_text("x")
    async with typing() as (app, pilot, prompt):
        prompt.folder = tmp_path
        await pilot.press(*"see")
        app.post_message(events.Paste(f"'{tmp_path}/my plot.png' "))
        await until(pilot, lambda: prompt.text == 'see @"my plot.png" ')
        await pilot.press("ctrl+u")
        app.post_message(events.Paste(f"{tmp_path} is a folder"))
        await until(pilot, lambda: prompt.text == f"{tmp_path} is a folder")
        await pilot.press("ctrl+u", *"%%cat ")
        app.post_message(events.Paste(f"'{tmp_path}/my plot.png'"))
        await until(pilot, lambda: prompt.text == f"%%cat '{tmp_path}/my plot.png'")


# -- odd characters


@pytest.mark.parametrize(
    "text", ["日本語 のテスト", "e\u0301a\u0308o", "👩‍👩‍👧‍👦 family", "नमस्ते", "\ufe0f\u200d", "가나다라"]
)
async def test_wide_and_combining_characters_are_typed_moved_over_and_sent(text: str) -> None:
    async with typing(size=(12, 10)) as (app, pilot, prompt):
        app.post_message(events.Paste(text))
        await until(pilot, lambda: prompt.text)
        kept = prompt.text
        await pilot.press("home", *["right"] * 30, *["left"] * 40, "end", "x", "backspace")
        assert prompt.text == kept
        column = app.cursor_position.x
        assert 0 <= column < 12
        await pilot.press("enter")
        await until(pilot, lambda: app.sent == [kept.strip()])


async def test_the_hardware_caret_stands_after_wide_characters_where_the_next_one_goes() -> None:
    async with typing() as (app, pilot, prompt):
        await pilot.press("日", "本")
        await pilot.pause()
        assert app.cursor_position == prompt.content_region.offset + Offset(4, 0)
        await pilot.press("ctrl+j", "é")
        await pilot.pause()
        assert app.cursor_position == prompt.content_region.offset + Offset(1, 1)
