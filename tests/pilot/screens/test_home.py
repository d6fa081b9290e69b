"""An empty conversation offers what can be done here, and says nothing that is not so."""

import os
from pathlib import Path

import pytest
from textual.widgets import OptionList, Static

from oi_tui.engine.llm.base import Text
from oi_tui.screens.chat.home import suggest_requests
from tests.pilot.test_chat import ChatDriver, open_chat
from tests.snapshots.staging import offered, ready, screen


def read_home(ui: ChatDriver) -> tuple[str, list[str]]:
    choices = ui.chat.query_one("#home-list", OptionList)
    rows = [str(option.prompt).strip("> \u00a0") for option in choices.options]
    return str(ui.chat.query_one("#home-state", Static).render()), rows


def test_requests_are_about_the_newest_files_that_are_there(tmp_path: Path) -> None:
    for number, name in enumerate(("old.csv", "new sales.csv", ".hidden.csv", "app.py")):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (number, number))
    (tmp_path / "folder.csv").mkdir()
    assert suggest_requests(tmp_path) == [
        'summarise @"new sales.csv"',
        'plot @"new sales.csv"',
        "explain @app.py",
    ]


@pytest.mark.parametrize("name", ["\x1b[31mred.csv", "x" * 100 + ".csv", "two\nlines.csv"])
def test_a_name_that_cannot_be_shown_is_not_offered(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    assert not any("csv" in text for text in suggest_requests(tmp_path))


@pytest.mark.parametrize("folder", [Path("/no/such/folder"), None])
def test_without_files_requests_fit_any_folder(folder: Path | None) -> None:
    assert len(suggest_requests(folder)) == 3
    assert not any("@" in text for text in suggest_requests(folder))


@pytest.mark.parametrize(
    ("settings", "words", "absent"),
    [
        ({}, "decide whether it runs on this machine", "AUTO"),
        ({"auto_run": True}, "AUTO", "decide whether"),
        ({"model": "demo"}, "not an AI", "openai/test"),
    ],
)
async def test_the_state_is_what_it_is(settings: dict[str, object], words: str, absent: str) -> None:
    async with open_chat(**settings) as ui:
        await ui.until(lambda: offered(ui.chat))
        state, _ = read_home(ui)
        assert words in state
        assert absent not in state
        ui.view.session.auto_run = True
        ui.chat.refresh_status()
        await ui.until(lambda: "AUTO" in read_home(ui)[0])


async def test_a_request_is_put_into_the_prompt_and_not_sent() -> None:
    async with open_chat(model="demo") as ui:
        await ui.until(lambda: offered(ui.chat))
        await ui.type("", "tab", "down", "enter")
        await ui.until(lambda: ui.prompt == "plot something")
        assert ui.chat.prompt.has_focus
        assert ui.llm.requests == []


async def test_escape_gives_the_keyboard_back_to_the_prompt() -> None:
    async with open_chat() as ui:
        await ui.until(lambda: offered(ui.chat))
        await ui.type("", "tab", "escape")
        await ui.until(lambda: ui.chat.prompt.has_focus)


async def test_what_is_typed_in_the_list_goes_into_the_prompt() -> None:
    async with open_chat() as ui:
        await ui.until(lambda: offered(ui.chat))
        await ui.type("", "tab", *"hello")
        await ui.until(lambda: ui.prompt == "hello")
        assert ui.chat.prompt.has_focus


async def test_an_earlier_conversation_is_opened_from_there() -> None:
    async with open_chat([Text("the answer")]) as ui:
        await ui.type("first question")
        await ui.idle()
        await ui.pilot.press("ctrl+n")
        await ui.until(lambda: "first question   now" in read_home(ui)[1])
        await ui.type("", "tab", "up", "enter")
        await ui.until(lambda: [m.content for m in ui.view.session.messages][-1:] == ["the answer"])
        assert ui.chat.prompt.has_focus
        assert not ui.chat.has_class("-empty")


async def test_conversations_of_the_same_title_are_told_apart_by_their_age() -> None:
    async with open_chat([Text("one")], [Text("two")]) as ui:
        for _ in range(2):
            await ui.type("the same question")
            await ui.idle()
            await ui.pilot.press("ctrl+n")
        await ui.until(lambda: read_home(ui)[1].count("the same question   now") == 2)


@pytest.mark.parametrize("size", [(1, 1), (2, 1), (3, 2), (10, 3), (20, 6), (300, 100)])
async def test_an_empty_conversation_survives_any_size(size: tuple[int, int]) -> None:
    app = screen()
    async with app.run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        await pilot.resize_terminal(*size)
        await pilot.pause()
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert app.is_running
