"""Completions in the code editor and at the prompt."""

import sys
from pathlib import Path

import pytest

from oi_tui.runtimes import Computer
from oi_tui.runtimes.completions import Completion, CompletionSet
from oi_tui.screens.chat.screen import ChatScreen
from oi_tui.widgets.editor.code_editor import CodeEditor
from oi_tui.widgets.prompt.completion_list import Completions
from tests.fakes import call
from tests.pilot.test_chat import ChatDriver, open_chat
from tests.pilot.test_inline_tables import chatting

NAMES = CompletionSet(2, (Completion("sales", "DataFrame 5x2"), Completion("salt", "int 3")))


async def edit(ui: ChatDriver) -> CodeEditor:
    await ui.type("go")
    await ui.asked()
    await ui.pilot.press("e")
    await ui.until(lambda: ui.view.conversation.cell_editor.is_open)
    await ui.pilot.press("end")
    return ui.view.conversation.cell_editor.code_editor


def read_completions(ui: ChatDriver) -> str:
    found = ui.chat.query_one("#code-completions", Completions)
    return str(found.render()) if found.display else ""


async def test_tab_lists_what_completes_a_word_and_takes_the_chosen_one() -> None:
    async with open_chat([call("print(sa")]) as ui:
        ui.computer.completions["python"] = NAMES
        editor = await edit(ui)
        await ui.pilot.press("tab")
        await ui.until(lambda: "> sales" in read_completions(ui))
        assert "DataFrame 5x2" in read_completions(ui)
        await ui.pilot.press("down")
        await ui.until(lambda: "> salt" in read_completions(ui))
        await ui.pilot.press("tab")
        assert editor.code == "print(salt"
        await ui.until(lambda: not read_completions(ui))
        await ui.pilot.press("ctrl+z")
        assert editor.code == "print(sa"


async def test_the_list_is_below_the_caret_and_escape_closes_only_the_list() -> None:
    async with open_chat([call("print(sa")]) as ui:
        ui.computer.completions["python"] = NAMES
        editor = await edit(ui)
        await ui.pilot.press("tab")
        await ui.until(lambda: read_completions(ui))
        place = ui.chat.query_one("#code-completions", Completions)
        await ui.until(lambda: place.region.y == editor.cursor_screen_offset.y + 1)
        assert place.region.x == editor.cursor_screen_offset.x
        await ui.pilot.press("escape")
        await ui.until(lambda: not read_completions(ui))
        assert ui.view.conversation.cell_editor.is_open
        await ui.pilot.press("escape")
        await ui.until(lambda: not ui.view.conversation.cell_editor.is_open)


async def test_the_list_follows_what_is_typed_and_closes_behind_a_space() -> None:
    async with open_chat([call("sa")]) as ui:
        ui.computer.completions["python"] = NAMES
        editor = await edit(ui)
        await ui.pilot.press("tab")
        await ui.until(lambda: "salt" in read_completions(ui))
        ui.computer.completions["python"] = CompletionSet(3, (Completion("sales", "DataFrame 5x2"),))
        await ui.pilot.press("l")
        await ui.until(lambda: "sales" in read_completions(ui) and "salt" not in read_completions(ui))
        await ui.pilot.press("space")
        await ui.until(lambda: not read_completions(ui))
        await ui.pilot.press("enter")
        assert editor.code == "sal \n"


@pytest.mark.parametrize(
    ("code", "found", "expected"),
    [
        ("sa", CompletionSet(2, (Completion("sales"),)), "sales"),
        ("sa", CompletionSet(0, ()), "sa  "),
        ("sa", None, "sa  "),
        ("x = ", NAMES, "x =     "),
        ("2", NAMES, "2   "),
    ],
)
async def test_tab_takes_the_only_completion_and_indents_where_there_is_none(
    code: str, found: CompletionSet | None, expected: str
) -> None:
    async with open_chat([call(code)]) as ui:
        if found:
            ui.computer.completions["python"] = found
        editor = await edit(ui)
        await ui.pilot.press("tab")
        await ui.until(lambda: editor.code == expected)
        assert not read_completions(ui)


async def test_an_answer_that_comes_after_more_was_typed_is_dropped() -> None:
    async with open_chat([call("sa")]) as ui:
        editor = await edit(ui)
        editor.completion.is_available = lambda _: True
        editor.completion.handle_key("tab")
        await ui.pilot.press("x")
        await ui.pilot.pause()
        assert editor.code == "sax"
        assert not read_completions(ui)


async def test_names_of_the_live_process_are_completed_at_the_prompt(tmp_path: Path) -> None:
    computer = Computer(cwd=tmp_path, python=sys.executable)
    try:
        async with chatting(computer) as chat:
            await chat.run("remembered_value = 1")
            await chat.finished()
            screen = chat.app.screen
            assert isinstance(screen, ChatScreen)
            await chat.pilot.press(*"%python print(remembered")
            await chat.reached(lambda: screen.query_one("#completions").display)
            await chat.pilot.press("tab")
            assert screen.prompt.text == "%python print(remembered_value"
    finally:
        computer.close()
