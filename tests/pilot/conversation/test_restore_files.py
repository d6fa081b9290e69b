"""Files that code changed: told below its cell, and put back when the person says so."""

import math
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from oi_tui.engine.llm.base import Text
from oi_tui.file_changes import watcher
from oi_tui.messages import Report, RunEnded
from oi_tui.screens.confirm import ConfirmDialog
from oi_tui.widgets.approval import key_guard
from tests.fakes import Computer, call
from tests.pilot.conversation.test_cells import screen_lines
from tests.pilot.conversation.test_rewind import notes
from tests.pilot.test_chat import ChatDriver, open_chat


@pytest.fixture(autouse=True)
def no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that stands still for a moment would have part of the folder let be."""
    monkeypatch.setattr(watcher, "SCAN_SECONDS", 30.0)
    monkeypatch.setattr(watcher, "KEEP_SECONDS", 30.0)


class Writing(Computer):
    """Writes the name and the words that its code is made of, as a program would."""

    def run(self, language: str, code: str, number: int | None = None) -> Iterator[Report]:
        self.ran.append((language, code))
        name, _, words = code.partition(" ")
        (self.cwd / name).write_text(words)
        yield RunEnded("finished", 0.1)


@asynccontextmanager
async def working(folder: Path, *codes: str, **settings: object) -> AsyncIterator[ChatDriver]:
    replies = [[call(code, id=f"c{n}")] for n, code in enumerate(codes)]
    Computer.cwd, before = folder, Computer.cwd
    try:
        async with open_chat(*replies, [Text("Done.")], **settings) as ui:
            ui.computer.run = Writing.run.__get__(ui.computer)  # type: ignore[method-assign]
            await ui.type("%auto_run on")
            await ui.type("go")
            await ui.until(lambda: ui.view.session.messages and not ui.view.busy)
            yield ui
    finally:
        Computer.cwd = before


async def answered(ui: ChatDriver, key: str) -> None:
    """Answer the question that is there, or comes."""
    await ui.until(lambda: isinstance(ui.app.screen, ConfirmDialog) and ui.app.screen.armed)
    await ui.pilot.press(key)
    await ui.until(lambda: not isinstance(ui.app.screen, ConfirmDialog))


async def test_changed_files_stand_below_the_cell_and_u_puts_them_back(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("before")
    async with working(tmp_path, "data.csv after", "plot.png image") as ui:
        reported = "\n".join(screen_lines(ui))
        assert "files  ~ data.csv" in reported
        assert "files  + plot.png" in reported
        ui.view.conversation.transcript.focus()
        await ui.pilot.press("home", "up", "up", "up", "up", "down", "u")
        await ui.until(lambda: isinstance(ui.app.screen, ConfirmDialog))
        assert "data.csv: will be as it was" in "\n".join(screen_lines(ui))
        await answered(ui, "y")
        await ui.until(lambda: "Restored 1 file. %restore undo reverts this." in notes(ui))
        assert (tmp_path / "data.csv").read_text() == "before"
        await ui.type("%restore undo")
        await answered(ui, "y")
        await ui.until(lambda: (tmp_path / "data.csv").read_text() == "after")


async def test_no_is_no_and_a_key_that_was_on_its_way_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_guard, "QUIET", math.inf)
    async with working(tmp_path, "a.txt 1") as ui:
        await ui.type("%restore")
        await ui.pilot.press("y")
        assert isinstance(ui.app.screen, ConfirmDialog)
        await ui.pilot.press("n")
        assert (tmp_path / "a.txt").read_text() == "1"


async def test_going_back_offers_the_files_of_what_was_taken_back(tmp_path: Path) -> None:
    async with working(tmp_path, "a.txt 1", "b.txt 2") as ui:
        await ui.type("%undo")
        assert "Files changed meanwhile; %restore restores them." in notes(ui)
        ui.chat.prompt.text = ""
        await ui.type("%restore")
        await answered(ui, "y")
        await ui.until(lambda: "Restored 2 files" in notes(ui))
        assert not list(tmp_path.glob("*.txt"))


async def test_an_opened_conversation_knows_its_files(tmp_path: Path) -> None:
    async with working(tmp_path, "a.txt 1") as ui:
        id_ = ui.workspace.conversation.id
        await ui.type("%new")
        ui.chat.commands.open_conversation(id_)
        await ui.pilot.pause()
        assert "files  + a.txt" in "\n".join(screen_lines(ui))
        await ui.type("%files")
        assert f"[1] in {tmp_path}\n  + a.txt" in notes(ui)


async def test_what_cannot_be_put_back_is_reported(tmp_path: Path) -> None:
    async with working(tmp_path, ".env KEY=1") as ui:
        await ui.type("%restore 1")
        assert "Nothing can be restored:\n  .env: it could not be restored: it is a hidden file" in notes(ui)
        await ui.type("%restore 7")
        await ui.type("%restore undo")
        assert "No recorded file changes to restore" in notes(ui)
        assert "No restore to undo" in notes(ui)
        await ui.type("%files 7")
        assert "Cell 7 changed no files" in notes(ui)


async def test_the_setting_switches_it_off(tmp_path: Path) -> None:
    async with working(tmp_path, "a.txt 1", file_snapshots=False) as ui:
        assert "files  " not in "\n".join(screen_lines(ui))
        await ui.type("%files")
        assert "No cell changed files" in notes(ui)
