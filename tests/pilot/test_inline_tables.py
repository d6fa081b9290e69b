"""Tables as results of cells, in the chat and with a real Python."""

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from oi_tui import paths
from oi_tui.app import OiTui
from oi_tui.engine.session import Session
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.storage.store import Store
from oi_tui.runtimes import Computer
from oi_tui.screens.chat.commands.chat import ChatCommands
from oi_tui.screens.chat.screen import ChatScreen
from oi_tui.screens.table import TableScreen
from oi_tui.widgets.conversation.blocks import WIDEST
from oi_tui.widgets.conversation.cells.cell import CellBlock
from oi_tui.workspace import Workspace
from tests.fakes import Llm
from tests.pilot.waiting import until

SETUP = """import numpy, pandas
wide = pandas.DataFrame({f"column_{n}": numpy.arange(5000) * 1.5 for n in range(60)})
odd = pandas.DataFrame([[1, 2.5, "東京", "x" * 500], [2, None, "Ulm", "line\\nbreak\\x1b[2J"]],
                       columns=["a", "a", "city", "long"])
empty = pandas.DataFrame({"a": [], "b": []})
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    """A computer with the Python of the tests, which has pandas."""
    pytest.importorskip("pandas", reason="pandas is not installed")
    computer = Computer(cwd=tmp_path_factory.mktemp("inline"), python=sys.executable)
    for _ in computer.run("python", SETUP):
        pass
    yield computer
    computer.close()


class Chat:
    """The chat, and what is seen of it."""

    def __init__(self, app: OiTui, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def lines(self) -> list[str]:
        strips = self.app.screen._compositor.render_strips()
        return ["".join(segment.text for segment in strip).rstrip() for strip in strips]

    def shows(self, *words: str) -> bool:
        text = "\n".join(self.lines)
        return all(word in text for word in words)

    async def reached(self, condition: Callable[[], object]) -> None:
        await until(self.pilot, condition)

    async def type(self, text: str) -> None:
        screen = self.app.screen
        assert isinstance(screen, ChatScreen)
        screen.prompt.insert(text)
        await self.pilot.press("enter")

    async def run(self, code: str) -> None:
        await self.type(f"%run python {code}")

    @property
    def commands(self) -> ChatCommands:
        """What runs code while another screen is open."""
        screen = self.app.screen
        assert isinstance(screen, ChatScreen)
        return screen.commands

    async def finished(self) -> None:
        """Wait until Python can be asked again."""
        await self.reached(lambda: all(cell.message.state == "finished" for cell in self.cells))

    @property
    def session(self) -> Session:
        screen = self.app.screen
        assert isinstance(screen, ChatScreen)
        return screen.chat_view.session

    @property
    def conversation(self) -> str:
        screen = self.app.screen
        assert isinstance(screen, ChatScreen)
        return screen.chat_view.workspace.conversation.id

    @property
    def cells(self) -> list[CellBlock]:
        screen = self.app.screen
        assert isinstance(screen, ChatScreen)
        found = screen.chat_view.conversation.printing
        return [block for block in found if isinstance(block, CellBlock)]

    @property
    def width(self) -> int:
        """The width for which the screen is laid out."""
        return self.app.screen.query_one("#body").size.width

    @property
    def pane(self) -> int:
        """The width of the conversation."""
        screen = self.app.screen
        assert isinstance(screen, ChatScreen)
        return screen.chat_view.conversation.transcript.size.width

    @property
    def table_head(self) -> str:
        """The names of the columns in the conversation."""
        found = (line[: self.pane].rstrip() for line in self.lines if "column_0" in line)
        return next(found, "")

    @property
    def table_fills_the_pane(self) -> bool:
        """Whether there would be no room for another column."""
        one = len("column_10") + 2
        return self.pane - 2 * one < len(self.table_head) < self.pane

    @property
    def head(self) -> str:
        return str(self.app.screen.query_one("#table-head", Static).render())


@asynccontextmanager
async def chatting(computer: Computer, conversation: str = "") -> AsyncIterator[Chat]:
    profile = Profile(model="openai/test")
    found = Store(paths.conversations()).open(conversation) if conversation else None
    workspace = Workspace(profile, llm=Llm(), computer=computer, borrowed=True, conversation=found)
    app = OiTui(lambda: workspace)
    async with app.run_test(size=(100, 40)) as pilot:
        chat = Chat(app, pilot)
        await chat.reached(lambda: isinstance(app.screen, ChatScreen) and app.screen.is_ready)
        yield chat
    workspace.close()


async def test_a_wide_table_is_shown_opened_and_fits_any_width(python: Computer) -> None:
    async with chatting(python) as chat:
        await chat.run("wide")
        await chat.reached(lambda: chat.shows("5,000 rows x 60 columns · ctrl+up, then up; enter opens"))
        assert chat.shows("column_0", "float64", "more", "… 4,988 rows not shown", "7498.5")
        assert not chat.shows("[5000 rows x 60 columns]", "<div>")
        before = "\n".join(chat.lines).count("column_")
        await chat.pilot.resize_terminal(60, 40)
        await chat.reached(lambda: "\n".join(chat.lines).count("column_") < before)
        assert chat.cells[-1].output.text.plain().endswith("[5000 rows x 60 columns]")
        await chat.finished()
        await chat.pilot.press("ctrl+up", "enter")
        await chat.reached(lambda: isinstance(chat.app.screen, TableScreen) and chat.shows("column_0", "1.5"))
        assert "wide · DataFrame · 5,000 rows, 60 columns" in chat.head
        await chat.pilot.press("escape")
        await chat.reached(lambda: isinstance(chat.app.screen, ChatScreen))


async def test_tables_and_text_take_the_width_of_the_pane(python: Computer) -> None:
    async with chatting(python) as chat:
        await chat.pilot.resize_terminal(230, 40)
        await chat.run("print('word ' * 60)\nwide")
        await chat.reached(lambda: chat.shows("5,000 rows x 60 columns"))
        columns = {}
        for width in (230, 170, 60, 230):
            await chat.pilot.resize_terminal(width, 40)
            await chat.reached(lambda width=width: chat.width == width and chat.table_fills_the_pane)
            columns[width] = chat.table_head.count("column_")
        assert columns[230] > columns[170] > columns[60]
        assert chat.pane > WIDEST + 30
        texts = [line[: chat.pane].rstrip() for line in chat.lines if line.startswith("│ │ word word")]
        assert chat.pane - 10 < max(map(len, texts)) <= chat.pane
        await chat.finished()


async def test_odd_tables(python: Computer) -> None:
    async with chatting(python) as chat:
        await chat.run("print('before')\ndisplay(odd)\ndisplay(empty)\nprint('after')")
        await chat.reached(lambda: chat.shows("0 rows x 2 columns", "2 rows x 4 columns", "after"))
        lines = [line[2:].removeprefix("│ ") for line in chat.lines]
        head = next(at for at, line in enumerate(lines) if "city" in line)
        assert lines[head].split()[:4] == ["a", "a", "city", "long"]
        assert lines[head + 2].split()[:4] == ["0", "1", "2.5", "東京"]
        assert lines[head + 2].endswith("…")
        assert "NaN" in lines[head + 3]
        assert "line\\nbreak" in lines[head + 3]
        assert lines[head - 1].startswith("before")


async def test_a_click_on_the_last_line_opens_the_table(python: Computer) -> None:
    async with chatting(python) as chat:
        await chat.run("display(odd)\nwide.head(3)")
        await chat.reached(lambda: chat.shows("3 rows x 60 columns"))
        await chat.finished()
        row = next(at for at, line in enumerate(chat.lines) if "2 rows x 4 columns" in line)
        await chat.pilot.click(offset=(12, row))
        await chat.reached(lambda: isinstance(chat.app.screen, TableScreen) and "odd" in chat.head)


async def test_a_table_without_a_name_stays_open_to_sorting(python: Computer) -> None:
    async with chatting(python) as chat:
        await chat.run("wide.describe()")
        await chat.reached(lambda: chat.shows("8 rows x 60 columns"))
        await chat.run("wide.head(2)")
        await chat.reached(lambda: chat.shows("2 rows x 60 columns"))
        await chat.finished()
        await chat.pilot.press("ctrl+up", "up", "enter")
        await chat.reached(lambda: isinstance(chat.app.screen, TableScreen) and "8 rows" in chat.head)
        assert chat.head.startswith("result")


async def test_a_saved_conversation_shows_its_tables_again(python: Computer) -> None:
    async with chatting(python) as chat:
        await chat.run("wide")
        await chat.reached(lambda: chat.shows("5,000 rows x 60 columns"))
        session, conversation = chat.session, chat.conversation
        await chat.reached(lambda: any(message.table for message in session.messages))
        (shown,) = [message for message in session.messages if message.table]
        assert shown.content.rstrip().endswith("[5000 rows x 60 columns]")
    async with chatting(python, conversation) as chat:
        await chat.reached(
            lambda: chat.shows("5,000 rows x 60 columns · ctrl+up, then up; enter opens", "column_0")
        )
        assert not chat.shows("[5000 rows x 60 columns]")


async def test_a_table_that_python_has_no_more_says_so(python: Computer) -> None:
    async with chatting(python) as chat:
        await chat.run("display(pandas.concat([wide] * 2))")
        await chat.reached(lambda: chat.shows("10,000 rows x 60 columns"))
        await chat.finished()
        await chat.pilot.press("ctrl+up", "enter")
        await chat.reached(lambda: isinstance(chat.app.screen, TableScreen) and "Run its cell" in chat.head)


async def test_a_file_that_cannot_be_opened_as_a_table_opens_no_screen(python: Computer) -> None:
    (python.cwd / "notes.md").touch()
    async with chatting(python) as chat:
        for name, why in (("nope.csv", "There is no file"), ("notes.md", "notes.md cannot be opened as a")):
            await chat.type(f"%table {name}")
            await chat.reached(lambda why=why: chat.shows(why))
            assert isinstance(chat.app.screen, ChatScreen)
            assert chat.app.screen.prompt.text == f"%table {name}"
            await chat.pilot.press("ctrl+u")


async def test_tables_are_opened_by_name_and_from_the_list_of_variables(python: Computer) -> None:
    async with chatting(python) as chat:
        await chat.type("%table wide")
        await chat.reached(lambda: isinstance(chat.app.screen, TableScreen) and "5,000 rows" in chat.head)
        await chat.reached(lambda: chat.shows("column_0", "float64", "1.5"))
        await chat.pilot.press("escape")
        await chat.reached(lambda: isinstance(chat.app.screen, ChatScreen))
        await chat.type("%variables odd")
        await chat.reached(lambda: chat.shows("enter open table"))
        await chat.pilot.press("enter")
        await chat.reached(lambda: isinstance(chat.app.screen, TableScreen) and "2 rows" in chat.head)
        await chat.reached(lambda: chat.shows("東京"))


async def test_an_open_table_shows_the_new_values_after_each_cell(python: Computer) -> None:
    async with chatting(python) as chat:
        await chat.run("live = pandas.DataFrame({'old': [f'old{n}' for n in range(5000)], 'n': range(5000)})")
        await chat.reached(lambda: chat.cells)
        await chat.finished()
        run = chat.commands.languages.run
        await chat.type("%table live")
        await chat.reached(lambda: isinstance(chat.app.screen, TableScreen) and chat.shows("old0"))
        await chat.pilot.press("G")
        await chat.reached(lambda: chat.shows("old4999"))
        # Values of the same rows; then of another frame of that shape, and in another order.
        run("python", "live.loc[4999, 'old'] = 'changed'")
        await chat.reached(lambda: chat.shows("changed", "old4998"))
        assert not chat.shows("has changed")
        await chat.pilot.press("s")
        await chat.reached(lambda: chat.shows("old ↑"))
        run("python", "live = pandas.DataFrame({'old': ['zzz', *live.old[1:]], 'n': range(5000)})")
        await chat.reached(lambda: chat.shows("zzz", "old ↑"))
        # Of a shorter frame, and of none.
        run("python", "live = live.head(7)")
        await chat.reached(lambda: chat.shows("live has changed; it is shown as it is now."))
        await chat.reached(lambda: "7 rows" in chat.head)
        run("python", "del live")
        await chat.reached(lambda: chat.shows("There is no variable live."))
