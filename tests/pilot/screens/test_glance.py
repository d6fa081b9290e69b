"""One key shows what acts now; help can be searched."""

import pytest
from textual.widgets import Input, Static

from oi_tui.engine.llm.base import Text
from oi_tui.screens.glance import GlanceScreen, laid_out
from oi_tui.screens.help import HelpScreen
from tests.fakes import Gate, call
from tests.pilot.test_chat import Desk, sitting


def page(desk: Desk) -> str:
    return str(desk.app.screen.query_one("#glance-rows", Static).render())


async def glance(desk: Desk) -> str:
    await desk.type("", "question_mark")
    await desk.until(lambda: isinstance(desk.app.screen, GlanceScreen))
    return page(desk)


async def test_the_keys_that_act_now_are_shown_and_no_others() -> None:
    gate = Gate()
    async with sitting([gate, call("first")], [Text("ok")]) as desk:
        shown = await glance(desk)
        assert "At the prompt" in shown
        assert "Conversation" not in shown
        assert "While it works" not in shown
        await desk.pilot.press("escape")
        await desk.type("go")
        await desk.until(lambda: desk.bench.busy)
        assert "While it works" in await glance(desk)
        await desk.pilot.press("escape")
        gate.set()
        await desk.asked()
        assert "At the question" in await glance(desk)


async def test_a_character_that_closes_it_goes_to_the_prompt() -> None:
    async with sitting() as desk:
        await glance(desk)
        await desk.pilot.press("w")
        await desk.until(lambda: desk.prompt == "w")
        desk.chat.prompt.clear()
        await glance(desk)
        await desk.pilot.press("question_mark")
        await desk.until(lambda: desk.prompt == "?")
        await desk.pilot.press("question_mark")
        assert desk.prompt == "??"


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_columns_hold_every_row_once(columns: int) -> None:
    rows = [(f"key{n}", f"words{n}") for n in range(9)]
    text = laid_out([("One", rows[:4]), ("Two", rows[4:6]), ("Three", rows[6:])], columns).plain
    assert all(text.count(f"words{n}") == 1 for n in range(9))
    assert max(len(line) for line in text.splitlines()) <= columns * 32


async def test_help_is_searched_by_typing() -> None:
    async with sitting() as desk:
        await desk.pilot.press("f1")
        await desk.until(lambda: isinstance(desk.app.screen, HelpScreen))
        await desk.pilot.press(*"notebook")
        rows = desk.app.screen.query_one("#help-rows", Static)
        await desk.until(lambda: "%jupyter" in str(rows.render()) and "%undo" not in str(rows.render()))
        desk.app.screen.query_one(Input).value = "no such thing"
        await desk.until(lambda: "No key or command" in str(rows.render()))
        await desk.pilot.press("escape")
        await desk.until(lambda: desk.app.screen is desk.chat)


async def test_the_keys_in_the_last_line_change_with_what_has_the_keyboard_at_once() -> None:
    async with sitting([call("first")], [Text("ok")]) as desk:
        await desk.type("go")
        await desk.asked()
        await desk.pilot.press("y")
        await desk.until(lambda: not desk.bench.busy)
        for _ in range(5):
            await desk.pilot.press("ctrl+up")
            assert "c copy" in str(desk.chat._status.right)
            await desk.pilot.press("ctrl+down")
            assert "c copy" not in str(desk.chat._status.right)
