"""The prompt sends on enter, remembers, completes, and never sends what was pasted."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import ClassVar

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from oi_tui import paths
from oi_tui.widgets.prompt.prompt import MOST_ROWS, Prompt
from tests.pilot.waiting import until


class Typing(App[None]):
    CSS_PATH: ClassVar = [paths.styles() / "first.tcss"]

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []
        self.hints: list[str] = []
        self.wanted = 0

    def compose(self) -> ComposeResult:
        yield Prompt(["first", "second"], id="prompt")

    def on_mount(self) -> None:
        self.query_one(Prompt).focus()

    def on_prompt_sent(self, event: Prompt.Sent) -> None:
        self.sent.append(event.text)

    def on_prompt_hinted(self, event: Prompt.Hinted) -> None:
        self.hints.append(event.hint)


@asynccontextmanager
async def typing() -> AsyncIterator[tuple[Typing, Pilot[None], Prompt]]:
    app = Typing()
    async with app.run_test(size=(40, 24)) as pilot:
        yield app, pilot, app.query_one(Prompt)


async def test_enter_sends_and_empties() -> None:
    async with typing() as (app, pilot, prompt):
        await pilot.press(*"hi", "enter")
        await pilot.pause()
        assert app.sent == ["hi"]
        assert prompt.text == ""


async def test_a_blank_prompt_sends_nothing() -> None:
    async with typing() as (app, pilot, _):
        await pilot.press("space", "enter")
        await pilot.pause()
        assert app.sent == []


async def test_ctrl_j_begins_a_line_and_the_prompt_grows_to_its_limit() -> None:
    async with typing() as (app, pilot, prompt):
        await pilot.press("a", "ctrl+j", "b")
        await pilot.pause()
        assert prompt.text == "a\nb"
        assert prompt.size.height == 2
        await pilot.press(*["ctrl+j"] * 20)
        await pilot.pause()
        assert prompt.size.height == MOST_ROWS
        assert app.sent == []


async def test_a_paste_with_newlines_sends_nothing_and_is_one_step_to_undo() -> None:
    async with typing() as (app, pilot, prompt):
        await pilot.press("x")
        app.post_message(events.Paste("one\r\ntwo\r\n"))
        await pilot.pause()
        assert app.sent == []
        assert prompt.text == "xone\ntwo\n"
        await pilot.press("ctrl+z")
        assert prompt.text == "x"


async def test_undoing_what_was_longer_than_the_prompt_is_high_fails_nowhere() -> None:
    async with typing() as (app, pilot, prompt):
        app.post_message(events.Paste("\n".join(map(str, range(10)))))
        await until(pilot, lambda: prompt.show_vertical_scrollbar)
        await pilot.press("ctrl+z")
        await until(pilot, lambda: prompt.text == "" and not prompt.show_vertical_scrollbar)
        await pilot.press("ctrl+y")
        await until(pilot, lambda: prompt.text.endswith("9") and prompt.show_vertical_scrollbar)
        assert prompt.cursor_location == (9, 1)


async def test_a_paste_cannot_bring_control_characters() -> None:
    async with typing() as (app, pilot, prompt):
        app.post_message(events.Paste("a\x1b]52;c;QQ==\x07b"))
        await pilot.pause()
        assert "\x1b" not in prompt.text


async def test_up_and_down_walk_through_what_was_sent_and_keep_the_draft() -> None:
    async with typing() as (_, pilot, prompt):
        await pilot.press("up")
        assert prompt.text == "second"
        await pilot.press("up")
        assert prompt.text == "first"
        await pilot.press("up")
        assert prompt.text == "first"
        await pilot.press("down", "down")
        assert prompt.text == ""


async def test_up_does_not_replace_what_is_being_typed() -> None:
    async with typing() as (_, pilot, prompt):
        await pilot.press(*"abc", "up")
        assert prompt.text == "abc"


async def test_tab_completes_a_command_and_enter_sends_what_is_typed() -> None:
    async with typing() as (app, pilot, prompt):
        await pilot.press(*"%auto", "tab")
        assert prompt.text == "%auto_run "
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent == ["%auto_run"]
        await pilot.press(*"%he", "enter")
        await pilot.pause()
        assert app.sent[-1] == "%he"


async def test_a_command_is_hinted_while_it_is_typed() -> None:
    async with typing() as (app, pilot, _):
        await pilot.press(*"%auto")
        await pilot.pause()
        assert "Run code without asking" in app.hints[-1]
        await pilot.press("ctrl+u")
        await pilot.pause()
        assert app.hints[-1] == ""


def burst(app: Typing, text: str) -> None:
    """Keys as a terminal sends them for a paste that it does not mark as one."""
    names = {"\r": "enter", "\n": "ctrl+j", " ": "space", "\x15": "ctrl+u"}
    for character in text:
        app.post_message(events.Key(names.get(character, character), character))


@pytest.mark.parametrize("text", ["one\rtwo", "one\rtwo\r", "one\ntwo\n", "a\r\rb\r\r"])
async def test_a_paste_that_is_not_marked_as_one_sends_nothing(text: str) -> None:
    async with typing() as (app, pilot, prompt):
        burst(app, text)
        await until(pilot, lambda: prompt.text == text.replace("\r", "\n"))
        await pilot.pause(0.2)
        assert app.sent == []


async def test_a_line_that_is_sent_at_once_is_sent() -> None:
    async with typing() as (app, pilot, prompt):
        burst(app, "hello\r")
        await until(pilot, lambda: app.sent)
        assert app.sent == ["hello"]
        assert prompt.text == ""


async def test_keys_in_a_burst_act_in_their_order() -> None:
    async with typing() as (app, pilot, prompt):
        burst(app, "old\x15new")
        await until(pilot, lambda: prompt.text == "new")
