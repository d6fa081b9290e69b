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
from tests.pilot.conversation.test_cells import marked
from tests.pilot.test_chat import Desk, sitting


def notes(desk: Desk) -> str:
    blocks = desk.bench.conversation.transcript.blocks
    return "\n".join(block.text for block in blocks if isinstance(block, NoticeBlock))


def words(desk: Desk) -> list[str]:
    return [m.content for m in desk.bench.session.messages if m.type == "message"]


async def talked(desk: Desk) -> None:
    """Three requests; the second one runs code."""
    await desk.type("one")
    await desk.idle()
    await desk.type("two")
    await desk.asked()
    await desk.pilot.press("y")
    await desk.until(lambda: "second" in words(desk) and not desk.bench.busy)
    await desk.type("three")
    await desk.until(lambda: "third" in words(desk) and not desk.bench.busy)


def replies() -> list[list[object]]:
    return [[Text("first")], [call("a")], [Text("second")], [Text("third")]]


async def test_b_goes_back_to_an_own_message_and_redo_brings_all_of_it_back() -> None:
    async with sitting(*replies()) as desk:
        await talked(desk)
        before = desk.bench.session.messages
        await desk.pilot.press("ctrl+up", "shift+up", "shift+up", "b")
        assert words(desk) == ["one", "first"]
        assert desk.prompt == "two"
        assert desk.chat.focused is desk.chat.prompt
        assert "The effects of 1 cell outside the conversation stay, and python still remembers it" in notes(
            desk
        )
        desk.chat.prompt.text = ""
        await desk.type("%redo")
        assert desk.bench.session.messages == before
        assert desk.workspace.store.read(desk.workspace.conversation.id) == list(before)


async def test_what_was_taken_back_before_a_restart_is_brought_back_step_by_step() -> None:
    async with sitting(*replies()) as desk:
        await talked(desk)
        before = desk.bench.session.messages
        id_ = desk.workspace.conversation.id
        await desk.type("%undo")
        desk.chat.prompt.text = ""
        await desk.type("%undo")
        desk.chat.prompt.text = ""
        assert words(desk) == ["one", "first"]
        await desk.type("%new")
        desk.chat.commands.open_conversation(id_)  # type: ignore[attr-defined]
        assert words(desk) == ["one", "first"]
        await desk.type("%redo")
        assert words(desk) == ["one", "first", "two", "second"]
        await desk.type("%redo")
        assert [m.id for m in desk.bench.session.messages] == [m.id for m in before]
        assert [m.content for m in desk.bench.session.messages] == [m.content for m in before]
        await desk.type("%redo")
        assert "Nothing to restore: nothing was undone." in notes(desk)


async def test_after_the_conversation_went_on_nothing_is_brought_back() -> None:
    async with sitting(*replies()) as desk:
        await talked(desk)
        await desk.type("%rewind 3")
        desk.chat.prompt.text = ""
        await desk.type("four")
        await desk.until(lambda: words(desk)[-1] == "Done." and not desk.bench.busy)
        await desk.type("%redo")
        assert "the conversation has continued since then" in notes(desk)
        assert words(desk)[-2:] == ["four", "Done."]


async def test_b_on_a_cell_keeps_what_it_printed() -> None:
    async with sitting(*replies()) as desk:
        await talked(desk)
        await desk.pilot.press("ctrl+up", "shift+up", "shift+up", "down", "b")
        assert [m.content for m in desk.bench.session.messages] == ["one", "first", "two", "a", "out of a"]
        assert desk.prompt == ""


async def test_editing_an_earlier_message_leaves_the_conversation_and_what_python_remembers() -> None:
    async with sitting(*replies()) as desk:
        await talked(desk)
        whole, id_ = desk.bench.session.messages, desk.workspace.conversation.id
        resets = []
        desk.computer.reset = lambda: resets.append(1)  # type: ignore[method-assign]
        await desk.pilot.press("ctrl+up", "shift+up", "shift+up", "e")
        assert desk.prompt == "two"
        assert desk.chat.focused is desk.chat.prompt
        assert desk.workspace.conversation.id != id_
        desk.chat.prompt.text = ""
        await desk.type("two, but otherwise")
        await desk.until(lambda: words(desk)[-1] == "Done." and not desk.bench.busy)
        assert words(desk) == ["one", "first", "two, but otherwise", "Done."]
        store = desk.workspace.store
        assert store.read(id_) == list(whole)
        assert [summary.title for summary in store.summaries()] == ["one (copy)", "one"]
        assert not resets


async def test_fork_copies_everything_and_an_unsaved_conversation_too() -> None:
    async with sitting([Text("first")], conversation_history=False) as desk:
        await desk.type("one")
        await desk.idle()
        await desk.type("%fork")
        assert words(desk) == ["one", "first"]
        assert "You are in a copy" in notes(desk)
        assert desk.workspace.conversation.title == "one (copy)"
        assert not desk.workspace.store.summaries()


async def test_of_what_the_languages_have_forgotten_nobody_says_that_they_remember_it() -> None:
    async with sitting([call("a")], [Text("second")]) as desk:
        await desk.type("one")
        await desk.asked()
        await desk.pilot.press("y")
        await desk.idle()
        id_ = desk.workspace.conversation.id
        await desk.type("%new")
        desk.chat.commands.open_conversation(id_)  # type: ignore[attr-defined]
        await desk.type("%undo")
        assert "The effects of 1 cell outside the conversation stay." in notes(desk)
        desk.chat.prompt.text = ""
        await desk.type("%redo")
        await desk.type("%restart")
        await desk.type("%rewind 1")
        assert "Removed" in notes(desk)
        assert "remembers it" not in notes(desk)


@pytest.mark.parametrize(
    ("command", "reported"),
    [
        ("%rewind 2", "you sent 1 message"),
        ("%rewind 0", "Message 0 does not exist"),
        ("%redo", "nothing was undone"),
        ("%rerun 7", "Cell 7 did not finish"),
        ("%rerun", "nothing to run again"),
    ],
)
async def test_what_cannot_be_done_is_reported(command: str, reported: str) -> None:
    async with sitting([Text("first")]) as desk:
        await desk.type("one")
        await desk.idle()
        await desk.type(command)
        assert reported in notes(desk)
        assert words(desk) == ["one", "first"]


async def test_nothing_is_taken_back_while_something_runs() -> None:
    async with sitting([call("hang")]) as desk:
        await desk.type("go")
        await desk.asked()
        await desk.pilot.press("y")
        await desk.until(desk.computer.running.is_set)
        for command in ("%undo", "%rewind 1", "%fork", "%redo"):
            await desk.type(command)
            assert desk.prompt == ""
        assert any(
            "Stop the current activity first" in notification.message
            for notification in desk.app._notifications
        )
        assert notes(desk) == ""
        assert words(desk) == ["go"]
        await desk.pilot.press("escape")
        await desk.idle()


async def test_shift_up_and_down_go_from_own_message_to_own_message() -> None:
    async with sitting(*replies()) as desk:
        await talked(desk)
        transcript = desk.bench.conversation.transcript

        def at() -> str:
            block = transcript.blocks[transcript.cursor or 0]
            assert isinstance(block, UserBlock)
            return block.text

        await desk.pilot.press("ctrl+up")
        seen = []
        for key in ("shift+up", "shift+up", "shift+up", "shift+up", "shift+down", "J"):
            await desk.pilot.press(key)
            seen.append(at())
        assert seen == ["three", "two", "one", "one", "two", "three"]


async def test_an_earlier_conversation_says_what_is_lost_and_runs_it_again_when_asked() -> None:
    async with sitting(*replies()) as desk:
        await talked(desk)
        id_ = desk.workspace.conversation.id
        await desk.type("%new")
        desk.desk_open = desk.chat.commands.open_conversation(id_)  # type: ignore[attr-defined]
        assert "python (1 cell, 0.1 s). %rerun runs them again" in notes(desk)
        await desk.type("%rerun")
        await desk.asked()
        question = str(desk.chat.query_one("#question").render())  # type: ignore[attr-defined]
        assert "1 of 1, took 0.1 s before" in question
        await desk.pilot.press("y")
        await desk.until(lambda: "1 cell ran again in 0.1 s" in notes(desk) and not desk.bench.busy)
        assert desk.computer.ran == [("python", "a")] * 2


async def test_a_conversation_is_listed_with_the_model_that_was_chosen_before_it_began() -> None:
    async with sitting([Text("first")]) as desk:
        desk.workspace.use(desk.workspace.profile.with_changes(model="openai/chosen"))
        await desk.type("one")
        await desk.idle()
        assert [summary.model for summary in desk.workspace.store.summaries()] == ["openai/chosen"]


async def test_what_cannot_be_saved_when_a_new_one_begins_is_put_elsewhere_and_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    class Full:
        def __getattr__(self, name: str) -> object:
            return getattr(os, name)

        def write(self, _file: int, _data: bytes) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    async with sitting([Text("first")]) as desk:
        monkeypatch.setattr(journal, "os", Full())
        await desk.type("one")
        await desk.idle()
        monkeypatch.undo()
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        monkeypatch.setattr(desk.workspace.conversation._journal, "_flush", lambda **_: None)
        await desk.type("%new")
        assert "no space left" in notes(desk)
        (rescued,) = tmp_path.glob("*.jsonl")
        assert rescued.stat().st_mode & 0o077 == 0
        (desk.workspace.store.folder / rescued.name).write_bytes(rescued.read_bytes())
        assert [m.content for m in desk.workspace.store.read(rescued.stem)] == ["one", "first"]


async def test_what_is_found_by_its_output_is_shown_where_it_stands() -> None:
    async with sitting(*replies()) as desk:
        await talked(desk)
        id_ = desk.workspace.conversation.id
        await desk.type("%new")
        await desk.pilot.press("ctrl+r")
        await desk.until(lambda: isinstance(desk.app.screen, NavigatorScreen))
        await desk.pilot.press(*"out of", "enter")
        await desk.until(lambda: desk.workspace.conversation.id == id_)
        await desk.until(lambda: desk.bench.find_line.display)
        await desk.until(lambda: "out of a" in marked(desk))
