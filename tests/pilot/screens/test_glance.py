"""One key shows what acts now; help can be searched."""

import pytest
from textual.widgets import Input, Static

from oi_tui.engine.llm.base import Text
from oi_tui.screens.dialog import Palette
from oi_tui.screens.glance import GlanceScreen, lay_out
from oi_tui.screens.help import HelpScreen
from oi_tui.widgets.lists.choice_list import CommandChoiceList
from tests.fakes import Gate, call
from tests.pilot.test_chat import ChatDriver, open_chat


def page(ui: ChatDriver) -> str:
    return str(ui.app.screen.query_one("#glance-rows", Static).render())


async def glance(ui: ChatDriver) -> str:
    await ui.type("", "question_mark")
    await ui.until(lambda: isinstance(ui.app.screen, GlanceScreen))
    return page(ui)


async def test_the_keys_that_act_now_are_shown_and_no_others() -> None:
    gate = Gate()
    async with open_chat([gate, call("first")], [Text("ok")]) as ui:
        shown = await glance(ui)
        assert "At the prompt" in shown
        assert "Conversation" not in shown
        assert "While it works" not in shown
        await ui.pilot.press("escape")
        await ui.type("go")
        await ui.until(lambda: ui.view.busy)
        assert "While it works" in await glance(ui)
        await ui.pilot.press("escape")
        gate.set()
        await ui.asked()
        assert "At the question" in await glance(ui)


async def test_a_character_that_closes_it_goes_to_the_prompt() -> None:
    async with open_chat() as ui:
        await glance(ui)
        await ui.pilot.press("w")
        await ui.until(lambda: ui.prompt == "w")
        ui.chat.prompt.clear()
        await glance(ui)
        await ui.pilot.press("question_mark")
        await ui.until(lambda: ui.prompt == "?")
        await ui.pilot.press("question_mark")
        assert ui.prompt == "??"


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_columns_hold_every_row_once(columns: int) -> None:
    rows = [(f"key{n}", f"words{n}") for n in range(9)]
    text = lay_out([("One", rows[:4]), ("Two", rows[4:6]), ("Three", rows[6:])], columns).plain
    assert all(text.count(f"words{n}") == 1 for n in range(9))
    assert max(len(line) for line in text.splitlines()) <= columns * 32


async def test_help_is_searched_by_typing() -> None:
    async with open_chat() as ui:
        await ui.pilot.press("f1")
        await ui.until(lambda: isinstance(ui.app.screen, HelpScreen))
        await ui.pilot.press(*"notebook")
        rows = ui.app.screen.query_one("#help-rows", Static)
        await ui.until(lambda: "%jupyter" in str(rows.render()) and "%undo" not in str(rows.render()))
        ui.app.screen.query_one(Input).value = "no such thing"
        await ui.until(lambda: "No key or command" in str(rows.render()))
        await ui.pilot.press("escape")
        await ui.until(lambda: ui.app.screen is ui.chat)


async def test_the_keys_in_the_last_line_change_with_what_has_the_keyboard_at_once() -> None:
    async with open_chat([call("first")], [Text("ok")]) as ui:
        await ui.type("go")
        await ui.asked()
        await ui.pilot.press("y")
        await ui.until(lambda: not ui.view.busy)
        for _ in range(5):
            await ui.pilot.press("ctrl+up")
            assert "c copy" in str(ui.chat._status.right)
            await ui.pilot.press("ctrl+down")
            assert "c copy" not in str(ui.chat._status.right)


def help_lines(ui: ChatDriver) -> list[str]:
    return str(ui.app.screen.query_one("#help-rows", Static).render()).splitlines()


def two_columns(lines: list[str]) -> bool:
    return any("y  e  n  a" in line and "%" in line for line in lines)


async def test_help_uses_the_width_and_cuts_no_key() -> None:
    async with open_chat() as ui:
        await ui.pilot.press("f1")
        await ui.until(lambda: isinstance(ui.app.screen, HelpScreen))
        for columns, beside in ((40, False), (80, False), (200, True)):
            await ui.pilot.resize_terminal(columns, 30)
            await ui.until(lambda: max(map(len, help_lines(ui))) < columns)  # noqa: B023
            await ui.until(lambda: two_columns(help_lines(ui)) == beside)  # noqa: B023
            lines = help_lines(ui)
            assert all(sum(key in line for line in lines) == 1 for key in ("alt+enter", "%mcp [test|"))


async def test_rows_of_the_palette_use_the_width_and_cut_no_key() -> None:
    async with open_chat() as ui:
        for columns in (40, 50, 80):
            await ui.pilot.resize_terminal(columns, 20)
            await ui.pilot.press("ctrl+p")
            await ui.until(lambda: isinstance(ui.app.screen, Palette))
            entries = ui.app.screen.query_one(CommandChoiceList)
            await ui.until(lambda: entries.option_count > 40)  # noqa: B023
            rows = [str(option.prompt) for option in entries.options if not option.disabled]
            room = entries.scrollable_content_region.width - 3
            assert {len(row) for row in rows} == {room}
            assert any(row.endswith("ctrl+n") for row in rows) == (columns == 80)
            await ui.pilot.press("escape")


async def test_the_palette_lists_commands_for_the_width_that_it_has() -> None:
    def keys(ui: ChatDriver) -> list[str]:
        rows = ui.app.screen.query_one(CommandChoiceList).options
        return [key for key in ("ctrl+n", "ctrl+r") if any(str(row.prompt).endswith(key) for row in rows)]

    async with open_chat() as ui:
        await ui.pilot.press("ctrl+p")
        await ui.until(lambda: keys(ui) == ["ctrl+n", "ctrl+r"])
        await ui.pilot.resize_terminal(40, 24)
        await ui.until(lambda: ui.app.screen.query_one(CommandChoiceList).option_count and not keys(ui))
        await ui.pilot.resize_terminal(100, 30)
        await ui.until(lambda: keys(ui) == ["ctrl+n", "ctrl+r"])


async def test_the_palette_opens_again_while_the_one_before_is_still_being_closed() -> None:
    async with open_chat() as ui:
        for _ in range(3):
            ui.app.action_command_palette()
            ui.app.screen.dismiss()
        ui.app.action_command_palette()
        await ui.until(lambda: isinstance(ui.app.screen, Palette) and ui.app.screen.is_mounted)
        assert len(ui.app.screen_stack) == 2


async def test_the_palette_is_open_once_also_below_another_screen() -> None:
    async with open_chat() as ui:
        ui.app.action_command_palette()
        ui.app.push_screen(HelpScreen())
        ui.app.action_command_palette()
        await ui.until(lambda: len(ui.app.screen_stack) == 3)
