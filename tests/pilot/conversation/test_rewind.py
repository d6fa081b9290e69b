"""Going back to an earlier message, in place and in a copy, and running again what ran before."""

import errno
import os
from pathlib import Path

import pytest

from oi_tui.engine.llm.base import Text
from oi_tui.engine.storage import journal
from oi_tui.screens.navigator.screen import NavigatorScreen
from oi_tui.widgets.conversation.blocks import NoticeBlock, UserBlock
from tests.fakes import call
from tests.pilot.conversation.test_cells import find_marked_row
from tests.pilot.test_chat import ChatDriver, open_chat


def notes(ui: ChatDriver) -> str:
    blocks = ui.view.conversation.transcript.blocks
    return "\n".join(block.text for block in blocks if isinstance(block, NoticeBlock))


def list_texts(ui: ChatDriver) -> list[str]:
    return [m.content for m in ui.view.session.messages if m.type == "message"]


async def talked(ui: ChatDriver) -> None:
    """Three requests; the second one runs code."""
    await ui.type("one")
    await ui.idle()
    await ui.type("two")
    await ui.asked()
    await ui.pilot.press("y")
    await ui.until(lambda: "second" in list_texts(ui) and not ui.view.busy)
    await ui.type("three")
    await ui.until(lambda: "third" in list_texts(ui) and not ui.view.busy)


def replies() -> list[list[object]]:
    return [[Text("first")], [call("a")], [Text("second")], [Text("third")]]


async def test_b_goes_back_to_an_own_message_and_redo_brings_all_of_it_back() -> None:
    async with open_chat(*replies()) as ui:
        await talked(ui)
        before = ui.view.session.messages
        await ui.pilot.press("ctrl+up", "shift+up", "shift+up", "b")
        assert list_texts(ui) == ["one", "first"]
        assert ui.prompt == "two"
        assert ui.chat.focused is ui.chat.prompt
        assert "The effects of 1 cell outside the conversation stay, and python still remembers it" in notes(
            ui
        )
        ui.chat.prompt.text = ""
        await ui.type("%redo")
        assert ui.view.session.messages == before
        assert ui.workspace.store.read(ui.workspace.conversation.id) == list(before)


async def test_what_was_taken_back_before_a_restart_is_brought_back_step_by_step() -> None:
    async with open_chat(*replies()) as ui:
        await talked(ui)
        before = ui.view.session.messages
        id_ = ui.workspace.conversation.id
        await ui.type("%undo")
        ui.chat.prompt.text = ""
        await ui.type("%undo")
        ui.chat.prompt.text = ""
        assert list_texts(ui) == ["one", "first"]
        await ui.type("%new")
        ui.chat.commands.open_conversation(id_)  # type: ignore[attr-defined]
        assert list_texts(ui) == ["one", "first"]
        await ui.type("%redo")
        assert list_texts(ui) == ["one", "first", "two", "second"]
        await ui.type("%redo")
        assert [m.id for m in ui.view.session.messages] == [m.id for m in before]
        assert [m.content for m in ui.view.session.messages] == [m.content for m in before]
        await ui.type("%redo")
        assert "Nothing to restore: nothing was undone." in notes(ui)


async def test_after_the_conversation_went_on_nothing_is_brought_back() -> None:
    async with open_chat(*replies()) as ui:
        await talked(ui)
        await ui.type("%rewind 3")
        ui.chat.prompt.text = ""
        await ui.type("four")
        await ui.until(lambda: list_texts(ui)[-1] == "Done." and not ui.view.busy)
        await ui.type("%redo")
        assert "the conversation has continued since then" in notes(ui)
        assert list_texts(ui)[-2:] == ["four", "Done."]


async def test_b_on_a_cell_keeps_what_it_printed() -> None:
    async with open_chat(*replies()) as ui:
        await talked(ui)
        await ui.pilot.press("ctrl+up", "shift+up", "shift+up", "down", "b")
        assert [m.content for m in ui.view.session.messages] == ["one", "first", "two", "a", "out of a"]
        assert ui.prompt == ""


async def test_editing_an_earlier_message_leaves_the_conversation_and_what_python_remembers() -> None:
    async with open_chat(*replies()) as ui:
        await talked(ui)
        whole, id_ = ui.view.session.messages, ui.workspace.conversation.id
        resets = []
        ui.computer.reset = lambda: resets.append(1)  # type: ignore[method-assign]
        await ui.pilot.press("ctrl+up", "shift+up", "shift+up", "e")
        assert ui.prompt == "two"
        assert ui.chat.focused is ui.chat.prompt
        assert ui.workspace.conversation.id != id_
        ui.chat.prompt.text = ""
        await ui.type("two, but otherwise")
        await ui.until(lambda: list_texts(ui)[-1] == "Done." and not ui.view.busy)
        assert list_texts(ui) == ["one", "first", "two, but otherwise", "Done."]
        store = ui.workspace.store
        assert store.read(id_) == list(whole)
        assert [summary.title for summary in store.list_summaries()] == ["one (copy)", "one"]
        assert not resets


async def test_fork_copies_everything_and_an_unsaved_conversation_too() -> None:
    async with open_chat([Text("first")], conversation_history=False) as ui:
        await ui.type("one")
        await ui.idle()
        await ui.type("%fork")
        assert list_texts(ui) == ["one", "first"]
        assert "You are in a copy" in notes(ui)
        assert ui.workspace.conversation.title == "one (copy)"
        assert not ui.workspace.store.list_summaries()


async def test_of_what_the_languages_have_forgotten_nobody_says_that_they_remember_it() -> None:
    async with open_chat([call("a")], [Text("second")]) as ui:
        await ui.type("one")
        await ui.asked()
        await ui.pilot.press("y")
        await ui.idle()
        id_ = ui.workspace.conversation.id
        await ui.type("%new")
        ui.chat.commands.open_conversation(id_)  # type: ignore[attr-defined]
        await ui.type("%undo")
        assert "The effects of 1 cell outside the conversation stay." in notes(ui)
        ui.chat.prompt.text = ""
        await ui.type("%redo")
        await ui.type("%restart")
        await ui.type("%rewind 1")
        assert "Removed" in notes(ui)
        assert "remembers it" not in notes(ui)


@pytest.mark.parametrize(
    ("command", "reported"),
    [
        ("%rewind 2", "you sent 1 message"),
        ("%rewind 0", "Message 0 does not exist"),
        ("%redo", "nothing was undone"),
        ("%rerun 7", "Cell 7 does not exist"),
        ("%rerun", "nothing to run again"),
        ("%rerun only 7", "Cell 7 does not exist"),
    ],
)
async def test_what_cannot_be_done_is_reported(command: str, reported: str) -> None:
    async with open_chat([Text("first")]) as ui:
        await ui.type("one")
        await ui.idle()
        await ui.type(command)
        assert reported in notes(ui)
        assert list_texts(ui) == ["one", "first"]


async def test_nothing_is_taken_back_while_something_runs() -> None:
    async with open_chat([call("hang")]) as ui:
        await ui.type("go")
        await ui.asked()
        await ui.pilot.press("y")
        await ui.until(ui.computer.running.is_set)
        for command in ("%undo", "%rewind 1", "%fork", "%redo"):
            await ui.type(command)
            assert ui.prompt == ""
        assert any(
            "Busy. Press esc to stop first." in notification.message for notification in ui.app._notifications
        )
        assert notes(ui) == ""
        assert list_texts(ui) == ["go"]
        await ui.pilot.press("escape")
        await ui.idle()


async def test_shift_up_and_down_go_from_own_message_to_own_message() -> None:
    async with open_chat(*replies()) as ui:
        await talked(ui)
        transcript = ui.view.conversation.transcript

        def at() -> str:
            block = transcript.blocks[transcript.cursor or 0]
            assert isinstance(block, UserBlock)
            return block.text

        await ui.pilot.press("ctrl+up")
        seen = []
        for key in ("shift+up", "shift+up", "shift+up", "shift+up", "shift+down", "J"):
            await ui.pilot.press(key)
            seen.append(at())
        assert seen == ["three", "two", "one", "one", "two", "three"]


async def test_an_earlier_conversation_says_what_is_lost_and_runs_it_again_when_asked() -> None:
    async with open_chat(*replies()) as ui:
        await talked(ui)
        id_ = ui.workspace.conversation.id
        await ui.type("%new")
        ui.chat.commands.open_conversation(id_)  # type: ignore[attr-defined]
        assert "python (1 cell, 0.1 s). %rerun asks, and runs these cells again" in notes(ui)
        await ui.type("%rerun")
        await ui.asked()
        question = str(ui.chat.query_one("#question").render())  # type: ignore[attr-defined]
        assert "1 of 1, took 0.1 s before" in question
        await ui.pilot.press("y")
        await ui.until(lambda: "1 cell ran again in 0.1 s" in notes(ui) and not ui.view.busy)
        assert ui.computer.ran == [("python", "a")] * 2


async def test_a_conversation_is_listed_with_the_model_that_was_chosen_before_it_began() -> None:
    async with open_chat([Text("first")]) as ui:
        ui.workspace.use(ui.workspace.profile.with_changes(model="openai/chosen"))
        await ui.type("one")
        await ui.idle()
        assert [summary.model for summary in ui.workspace.store.list_summaries()] == ["openai/chosen"]


async def test_what_cannot_be_saved_when_a_new_one_begins_is_put_elsewhere_and_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    class Full:
        def __getattr__(self, name: str) -> object:
            return getattr(os, name)

        def write(self, _file: int, _data: bytes) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    async with open_chat([Text("first")]) as ui:
        monkeypatch.setattr(journal, "os", Full())
        await ui.type("one")
        await ui.idle()
        monkeypatch.undo()
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        monkeypatch.setattr(ui.workspace.conversation._journal, "_flush", lambda **_: None)
        await ui.type("%new")
        assert "no space left" in notes(ui)
        (rescued,) = tmp_path.glob("*.jsonl")
        assert rescued.stat().st_mode & 0o077 == 0
        (ui.workspace.store.folder / rescued.name).write_bytes(rescued.read_bytes())
        assert [m.content for m in ui.workspace.store.read(rescued.stem)] == ["one", "first"]


async def test_what_is_found_by_its_output_is_shown_where_it_stands() -> None:
    async with open_chat(*replies()) as ui:
        await talked(ui)
        id_ = ui.workspace.conversation.id
        await ui.type("%new")
        await ui.pilot.press("ctrl+r")
        await ui.until(lambda: isinstance(ui.app.screen, NavigatorScreen))
        await ui.pilot.press(*"out of", "enter")
        await ui.until(lambda: ui.workspace.conversation.id == id_)
        await ui.until(lambda: ui.view.find_line.display)
        await ui.until(lambda: "out of a" in find_marked_row(ui))
