"""The number in the header of a cell is the one that its traceback names."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from oi_tui.app import OiTui
from oi_tui.engine.llm.base import Text
from oi_tui.engine.settings.profile import Profile
from oi_tui.messages import Message
from oi_tui.runtimes import Computer
from oi_tui.screens.chat.screen import ChatScreen
from oi_tui.screens.chat.view import ChatView
from oi_tui.widgets.conversation.cells.cell import CellBlock
from oi_tui.workspace import Workspace
from tests.fakes import Llm, call
from tests.pilot.waiting import until

FAILING = "1 / 0"


class Room:
    """The application with a real Python."""

    def __init__(self, workspace: Workspace, app: OiTui, pilot: Pilot[None]) -> None:
        self.workspace, self.app, self.pilot = workspace, app, pilot

    @property
    def chat(self) -> ChatScreen:
        return next(item for item in self.app.screen_stack if isinstance(item, ChatScreen))

    @property
    def view(self) -> ChatView:
        return self.chat.chat_view

    @property
    def cells(self) -> list[CellBlock]:
        return [block for block in self.view.conversation.transcript.blocks if isinstance(block, CellBlock)]

    async def say(self, text: str) -> None:
        """Type a message and wait until its turn is over."""
        before = self.workspace.session.messages
        self.chat.prompt.focus()
        self.chat.prompt.text = text
        await self.pilot.press("enter")
        await self.rest(before)

    async def rest(self, before: Sequence[Message]) -> None:
        """Wait until messages have come or gone and nothing is in progress."""
        await until(self.pilot, lambda: self.workspace.session.messages != before and not self.view.busy)

    def assert_same_numbers(self, *numbers: int) -> None:
        """The cells that failed have these numbers, in their headers and in their tracebacks."""
        failed = [cell for cell in self.cells if cell.message.state == "failed"]
        assert [cell.number for cell in failed] == list(numbers)
        for cell in failed:
            assert f'File "<cell {cell.number}>", line' in cell.output.text.plain()


@asynccontextmanager
async def room(
    folder: Path, *replies: Sequence[object], messages: Sequence[Message] = ()
) -> AsyncIterator[Room]:
    profile = Profile(model="openai/test").with_changes(auto_run=True)
    workspace = Workspace(profile, None, llm=Llm(*replies), computer=Computer(cwd=folder))
    workspace.session.bring_back(messages)
    app = OiTui(lambda: workspace)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ChatScreen) and app.screen.is_ready)
        yield Room(workspace, app, pilot)
    workspace.close()


async def test_cells_that_did_not_run_here_are_counted_too(tmp_path: Path) -> None:
    replies = [call(FAILING), [Text("Sorry.")], call("echo hi", "shell"), call(FAILING), [Text("Sorry.")]]
    async with room(tmp_path, *[reply if isinstance(reply, list) else [reply] for reply in replies]) as ui:
        await ui.say("go")
        await ui.say("go on")
        ui.assert_same_numbers(1, 3)


async def test_a_restart_of_the_language_begins_no_new_count(tmp_path: Path) -> None:
    async with room(tmp_path, [call(FAILING)], [Text("No.")], [call(FAILING)], [Text("No.")]) as ui:
        await ui.say("go")
        ui.workspace.computer.reset()
        await ui.say("again")
        ui.assert_same_numbers(1, 2)


async def test_after_going_back_cells_are_counted_as_they_are_shown(tmp_path: Path) -> None:
    async with room(tmp_path, [call(FAILING)], [Text("No.")], [call("[][7]")], [Text("No.")]) as ui:
        await ui.say("go")
        await ui.say("%undo")
        await ui.say("again")
        (cell,) = ui.cells
        assert (cell.number, cell.message.content) == (1, "[][7]")
        assert 'File "<cell 1, run 2>", line 1' in cell.output.text.plain()


async def test_code_that_runs_again_edited_has_the_number_of_its_new_cell(tmp_path: Path) -> None:
    async with room(tmp_path, [call("ratio = 1 / 1\nratio")], [Text("Yes.")]) as ui:
        await ui.say("go")
        before = ui.workspace.session.messages
        again = ui.cells[0].message.replace(content="ratio = 1 / 0\nratio")
        ui.view.start(ui.workspace.session.run_again([again]))
        await ui.rest(before)
        ui.assert_same_numbers(2)


async def test_a_resumed_conversation_counts_on(tmp_path: Path) -> None:
    earlier = [
        Message(role="user", type="message", content="before"),
        Message(role="assistant", type="code", format="python", content="1", state="finished", seconds=0.1),
        Message(role="assistant", type="code", format="shell", content="ls", state="rejected"),
    ]
    async with room(tmp_path, [call(FAILING)], [Text("No.")], messages=earlier) as ui:
        await ui.say("go")
        ui.assert_same_numbers(3)
