"""The last line of the first run."""

import json
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from textual.widgets import Static

from oi_tui.engine.open_interpreter import conversations
from oi_tui.screens.chat.first_run import FirstRun
from oi_tui.screens.confirm import ConfirmDialog
from oi_tui.screens.help import HelpScreen
from oi_tui.screens.models import ModelsScreen
from oi_tui.widgets.conversation.blocks import NoticeBlock
from tests.fakes import Computer
from tests.pilot.test_chat import open_chat


@pytest.mark.parametrize(
    ("problem", "on", "offered"),
    [(None, False, True), (None, True, False), ("no bubblewrap", False, False)],
)
def test_the_sandbox_is_offered_where_it_works_and_is_off(
    problem: str | None, on: bool, offered: bool
) -> None:
    computer = Computer()
    computer.no_sandbox = problem
    reported: list[str] = []
    workspace = SimpleNamespace(profile=SimpleNamespace(sandbox=on), computer=computer)
    view = SimpleNamespace(workspace=workspace, session=SimpleNamespace(auto_run=on))
    ui = SimpleNamespace(run_then=lambda work, then: then(work()), show_notice=reported.append)
    FirstRun(cast("Any", ui), cast("Any", view))._conclude()
    [line] = reported
    approval = (
        "Code runs without your approval; %auto_run off" if on else "Nothing runs without your approval."
    )
    assert line.startswith(f"Done. {approval}")
    assert ("%sandbox on" in line) == offered


async def test_the_list_of_themes_does_not_open_over_another_screen() -> None:
    async with open_chat() as ui:
        help_ = HelpScreen()
        await ui.app.push_screen(help_)
        FirstRun(ui.chat.commands, ui.view)._choose_colours()
        blocks = ui.view.conversation.transcript.blocks
        await ui.until(
            lambda: any("Nothing runs" in one.text for one in blocks if isinstance(one, NoticeBlock))
        )
        assert ui.app.screen_stack[-1] is help_


@pytest.fixture
def theirs() -> None:
    """Write 201 conversations of Open Interpreter."""
    folder = conversations.list_folders()[0]
    folder.mkdir(parents=True)
    for number in range(201):
        message = {"role": "user", "type": "message", "content": f"request {number}"}
        (folder / f"talk_{number}.json").write_text(json.dumps([message]))


@pytest.mark.usefixtures("theirs")
async def test_an_import_stops_at_the_end_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_go_on = threading.Event(), threading.Event()
    read = conversations.read

    def read_slowly(path: Path) -> conversations.ReadConversation:
        begun.set()
        assert may_go_on.wait(60)
        return read(path)

    monkeypatch.setattr(conversations, "read", read_slowly)
    async with open_chat() as ui:
        FirstRun(ui.chat.commands, ui.view)._bring_in(201, True)
        await ui.until(begun.is_set)
        workers = [one for one in ui.app.workers if one.node is ui.view]
        # As the end of the program does.
        ui.app.workers.cancel_all()
        may_go_on.set()
        store = ui.view.workspace.store
        await ui.until(lambda: all(one.is_finished for one in workers))
        await ui.until(lambda: not any("oi-tui-import" in one.name for one in threading.enumerate()))
        assert 0 < len(list(store.folder.glob("oi*.jsonl"))) < 20


@pytest.mark.usefixtures("theirs")
async def test_an_import_of_many_conversations_says_that_it_has_begun() -> None:
    async with open_chat() as ui:
        first_run = FirstRun(ui.chat.commands, ui.view)
        first_run.begin()
        await ui.until(lambda: isinstance(ui.app.screen, ConfirmDialog))
        first_run._bring_in(201, True)
        blocks = ui.view.conversation.transcript.blocks

        def list_notices() -> list[str]:
            return [one.text for one in blocks if isinstance(one, NoticeBlock)]

        await ui.until(lambda: any("201 conversations of Open Interpreter" in one for one in list_notices()))
        assert list_notices()[0] == "Importing 201 conversations …"
        assert len(list(ui.view.workspace.store.folder.glob("oi*.jsonl"))) == 201


async def test_escape_at_rest_says_nothing() -> None:
    async with open_chat() as ui:
        await ui.pilot.press("escape")
        await ui.pilot.pause()
        assert ui.chat.focused is ui.chat.prompt
        assert not list(ui.app._notifications)


async def test_the_home_screen_comes_after_the_questions() -> None:
    async with open_chat() as ui:
        home = ui.chat.query_one("#home-state")
        FirstRun(ui.chat.commands, ui.view).begin()
        await ui.until(lambda: isinstance(ui.app.screen, ModelsScreen))
        assert not home.visible
        await ui.pilot.press("escape")
        await ui.until(lambda: not isinstance(ui.app.screen, ModelsScreen))
        assert home.visible


@pytest.mark.parametrize("on", [False, True])
async def test_the_welcome_tells_whether_code_needs_an_approval(on: bool) -> None:
    async with open_chat(auto_run=on) as ui:
        FirstRun(ui.chat.commands, ui.view)._ask_for_model()
        await ui.until(lambda: isinstance(ui.app.screen, ModelsScreen))
        words = str(ui.app.screen.query_one("#models-words", Static).render())
        assert ("Nothing runs unless you approve it." in words) == (not on)
        assert ("runs without asking" in words) == on
