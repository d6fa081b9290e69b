"""What the mouse alone can do in the conversation, in help and in the list of keys."""

import pytest

from oi_tui.engine.llm.base import Text
from oi_tui.screens.dialog import Palette
from oi_tui.screens.glance import GlanceScreen
from oi_tui.screens.help import HelpScreen
from oi_tui.screens.navigator.screen import NavigatorScreen
from oi_tui.widgets.conversation.cells.cell import CellBlock
from tests.fakes import call
from tests.pilot.test_chat import ChatDriver, open_chat
from tests.pilot.test_key_hints import read_screen

LONG = "\n".join(f"step_{number} = {number}" for number in range(1, 61))


def find(ui: ChatDriver, words: str) -> tuple[int, int]:
    """Where these words are on the screen, by their first letter."""
    lines = read_screen(ui).split("\n")
    y = next((y for y, line in enumerate(lines) if words in line), None)
    assert y is not None, "\n".join(lines)
    return lines[y].index(words), y


async def point(ui: ChatDriver, words: str) -> None:
    await ui.until(lambda: words in read_screen(ui))
    await ui.pilot.hover(offset=find(ui, words))


async def click(ui: ChatDriver, words: str, times: int = 1) -> None:
    await ui.until(lambda: words in read_screen(ui))
    x, y = find(ui, words)
    await ui.pilot.click(offset=(x + 1, y), times=times)


async def test_the_mouse_shows_the_keys_of_a_block_and_a_click_on_one_acts() -> None:
    async with open_chat([call("x = 1")], [Text("Done.")], [Text("Again.")], auto_run=True) as ui:
        await ui.type("go")
        await ui.idle()
        assert "c copy" not in read_screen(ui)
        await point(ui, "x = 1")
        await ui.until(lambda: "c copy · r run · e edit" in read_screen(ui))
        assert ui.chat.prompt.has_focus
        ran = len(ui.computer.ran)
        await click(ui, "r run")
        await ui.until(lambda: len(ui.computer.ran) == ran + 1)
        await ui.idle()
        await point(ui, "x = 1")
        await click(ui, "c copy")
        await ui.until(lambda: ui.app.clipboard == "x = 1")
        assert ui.chat.prompt.has_focus
        await ui.pilot.hover("#prompt")
        await ui.until(lambda: "c copy" not in read_screen(ui))


async def test_all_keys_of_a_block_are_listed_and_can_be_clicked() -> None:
    async with open_chat([call("x = 1")], [Text("Done.")], auto_run=True) as ui:
        await ui.type("go")
        await ui.idle()
        await point(ui, "x = 1")
        await click(ui, "? more")
        await ui.until(lambda: isinstance(ui.app.screen, HelpScreen))
        await click(ui, " f  ")
        cell = next(block for block in ui.view.conversation.printing if isinstance(block, CellBlock))
        await ui.until(lambda: cell.code_folded and ui.app.screen is ui.chat)


async def test_the_header_above_long_code_has_its_keys_too() -> None:
    async with open_chat([call(LONG)], [Text("Done.")], auto_run=True) as ui:
        await ui.type("go")
        await ui.idle()
        cell = next(block for block in ui.view.conversation.printing if isinstance(block, CellBlock))
        transcript = ui.view.conversation.transcript
        if cell.code_folded:
            cell.fold()
            transcript.redraw(cell.key)
        await point(ui, "  60  step_60")
        await click(ui, "c copy")
        await ui.until(lambda: ui.app.clipboard == LONG)


async def test_a_click_beside_the_keys_of_a_block_does_nothing() -> None:
    async with open_chat([call("x = 1")], [Text("Done.")], auto_run=True) as ui:
        await ui.type("go")
        await ui.idle()
        await point(ui, "x = 1")
        x, y = find(ui, "c copy · r run")
        ran = len(ui.computer.ran)
        for cell in (x - 1, x + 7):
            await ui.pilot.click(offset=(cell, y))
        await ui.pilot.pause()
        assert not ui.app.clipboard
        assert len(ui.computer.ran) == ran


@pytest.mark.parametrize(
    ("times", "text"), [(2, "ünï_1"), (3, "日本 ünï_1 = data.head(3)  # end")], ids=["word", "row"]
)
async def test_a_double_click_selects_a_word_and_a_triple_click_the_row(times: int, text: str) -> None:
    code = "日本 ünï_1 = data.head(3)  # end"
    async with open_chat([call(code)], [Text("Done.")], auto_run=True) as ui:
        await ui.type("go")
        await ui.idle()
        lines = read_screen(ui).split("\n")
        y = next(y for y, line in enumerate(lines) if "ünï_1" in line)
        # The two wide letters before it take two cells more than characters.
        await ui.pilot.click(offset=(lines[y].index("ünï_1") + 2 + 2, y), times=times)
        await ui.until(lambda: ui.chat.get_selected_text() == text)


async def test_a_click_on_a_row_of_help_runs_the_command_or_puts_it_into_the_prompt() -> None:
    async with open_chat() as ui:
        await ui.pilot.press("f1")
        await ui.until(lambda: isinstance(ui.app.screen, HelpScreen))
        await ui.pilot.press(*"conversations")
        await click(ui, "%conversations")
        await ui.until(lambda: isinstance(ui.app.screen, NavigatorScreen))
        await ui.pilot.press("escape")
        await ui.until(lambda: ui.app.screen is ui.chat)
        await ui.pilot.press("f1")
        await ui.until(lambda: isinstance(ui.app.screen, HelpScreen))
        await ui.pilot.press(*"table")
        await click(ui, "%table")
        await ui.until(lambda: ui.prompt == "%table " and ui.app.screen is ui.chat)
        assert ui.chat.prompt.has_focus


async def test_the_palette_and_the_sidebar_are_reached_from_help_with_the_mouse() -> None:
    async with open_chat([Text("Hello.")]) as ui:
        await ui.type("go")
        await ui.idle()
        await ui.pilot.press("f1")
        await ui.pilot.press(*"palette")
        await click(ui, "%palette")
        await ui.until(lambda: isinstance(ui.app.screen, Palette))
        await ui.pilot.press("escape")
        await ui.until(lambda: ui.app.screen is ui.chat)
        await ui.pilot.press("f1")
        await ui.pilot.press(*"sidebar")
        await click(ui, "%sidebar")
        await ui.until(lambda: ui.view.sidebar.shown)


async def test_a_click_on_a_row_of_the_key_list_presses_its_key() -> None:
    async with open_chat() as ui:
        await ui.pilot.press("?")
        await ui.until(lambda: isinstance(ui.app.screen, GlanceScreen))
        await click(ui, " @  ")
        await ui.until(lambda: ui.prompt == "@" and ui.app.screen is ui.chat)


@pytest.mark.parametrize("key", ["f1", "?"])
async def test_a_click_in_a_list_of_keys_answers_no_question(key: str) -> None:
    async with open_chat([call("x = 1")], [Text("Done.")]) as ui:
        await ui.type("go")
        await ui.asked()
        await ui.pilot.press(key)
        await ui.until(lambda: isinstance(ui.app.screen, HelpScreen | GlanceScreen))
        await click(ui, " y  ")
        await click(ui, " e  ")
        assert ui.app.screen is not ui.chat
        await ui.pilot.press("escape")
        await ui.until(lambda: ui.app.screen is ui.chat)
        assert ui.view.approval.display


async def test_code_that_waits_for_approval_offers_no_run_but_that_of_the_question() -> None:
    async with open_chat([call("x = 1")], [Text("Done.")]) as ui:
        await ui.type("go")
        await ui.asked()
        await point(ui, "x = 1")
        await ui.until(lambda: "c copy" in read_screen(ui))
        assert "r run" not in read_screen(ui)
        await ui.pilot.press("y")
        await ui.idle()
        await point(ui, "x = 1")
        await ui.until(lambda: "c copy · r run · e edit" in read_screen(ui))
