"""The real application with a driver that keeps what would go to the terminal, and what that may be."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

from rich.cells import cell_len
from textual.app import App
from textual.drivers.headless_driver import HeadlessDriver
from textual.geometry import Region
from textual.message import Message as Notification
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget

from oi_tui.app import OiTui
from oi_tui.engine.events import Event
from oi_tui.engine.settings.profile import Profile
from oi_tui.screens.chat.commands.chat import ChatCommands
from oi_tui.screens.chat.screen import ChatScreen
from oi_tui.screens.chat.view import ChatView
from oi_tui.text import clean_text
from oi_tui.workspace import Workspace
from tests.fakes import Computer, Llm
from tests.pilot.waiting import until

WIDTH, HEIGHT = 100, 30
#: What Textual and we ourselves write: colours, places, frames, modes of mouse and caret, the bell, the
#: window's title and a notification of the desktop, with text that ends no sequence.
OURS = re.compile(
    r"\x1b\[(?:(?:0|[1-9]|2[1-9]|3[0-79]|4[0-79]|9[0-7]|10[0-7]|[34]8;5;\d+|[34]8;2;\d+;\d+;\d+)(?:;(?=\d)|(?=m)))*m"
    r"|\x1b\[\d+;\d+H|\x1b\[\?(?:2026|25|100[0236]|1015)[hl]|\x1b\[2[23];0t"
    r"|\x1b\]22;[a-z-]*\x07|\x1b\](?:0|2|9);(?!EVIL)[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\)|\x07(?=$|\x1b)"
)
#: Frames follow each other without a line end; within one, rows are parted by a newline.
_BETWEEN = re.compile(r"\r?\n|\u200d")


class Wire(HeadlessDriver):
    """Keeps what is written."""

    is_headless = False  # type: ignore[assignment]
    _written: list[str]

    def write(self, data: str) -> None:
        self.__dict__.setdefault("_written", []).append(data)

    def _enable_mouse_support(self) -> None:
        """There is no mouse."""

    def _disable_mouse_support(self) -> None:
        """There is no mouse."""

    def taken(self) -> str:
        return "".join(self.__dict__.pop("_written", []))


class Witnessed(OiTui):
    """The application, whose exceptions reach the test although it believes in its terminal."""

    def _handle_exception(self, error: Exception) -> None:
        App._handle_exception(self, error)

    def _note_size(self) -> None:
        """The size of the terminal in which the tests run is no concern of it."""


class Stage:
    """Shows texts where a place says, and looks at what becomes of them."""

    def __init__(self, pilot: Pilot[None], workspace: Workspace, computer: Computer, folder: Path) -> None:
        self.pilot = pilot
        self.app = pilot.app
        self.workspace = workspace
        self.computer = computer
        self.folder = folder
        self._count = 0

    @property
    def chat(self) -> ChatScreen:
        return next(item for item in self.app.screen_stack if isinstance(item, ChatScreen))

    @property
    def view(self) -> ChatView:
        return self.chat.chat_view

    @property
    def commands(self) -> ChatCommands:
        return self.chat.commands

    def fresh(self) -> str:
        """A name that no message had so far."""
        self._count += 1
        return f"id{self._count}"

    def show(self, *events: Event) -> None:
        """Let these things happen in a turn."""
        for event in events:
            self.view.handle_event(event)
        self.view.conversation.scroll_end()

    def open(self, screen: Screen[object]) -> None:
        """Put a screen over the conversation."""
        self.app.push_screen(screen)

    def post(self, message: Notification) -> None:
        """Tell the chat screen something."""
        self.chat.post_message(message)

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for something."""
        await until(self.pilot, condition)

    async def settle(self) -> None:
        """Wait until all workers are done and everything is drawn."""
        await self.pilot.pause()
        await self.until(lambda: all(worker.is_finished for worker in self.app.workers))
        await self.pilot.pause()

    async def clear(self) -> None:
        """As it was before."""
        while not isinstance(self.app.screen, ChatScreen):
            self.app.pop_screen()
            await self.pilot.pause()
        view = self.view
        if view.conversation.cell_editor.is_open:
            view.conversation.cell_editor.cancel()
        for item in (view.replace_line, view.find_line, view.approval, view.input_line):
            item.dismiss()
        view.log_panel.display = False
        view._queue_bar.pop_all()
        view.session.permissions.clear()
        view.conversation.clear()
        self.app.clear_notifications()
        self.chat.prompt.clear()
        self.chat.prompt.focus()
        await self.pilot.pause()


#: Shows a foreign text in one place.
Place = Callable[[Stage, str], Awaitable[object] | None]


_OUR_ACTIONS = ("screen.press(", "screen.press_below(", "screen.choose(")


def problems(stage: Stage) -> Iterator[str]:
    """What is wrong with the screen as it stands, and with what was written to bring it there."""
    rest = OURS.sub("", stage.app._driver.taken())
    left = _BETWEEN.sub("", rest)
    if clean_text(left) != left:
        bad = next(at for at, character in enumerate(left) if clean_text(character) != character)
        yield f"goes to the terminal: {left[max(0, bad - 30) : bad + 30]!r}"
    screen = stage.app.screen
    for number, strip in enumerate(screen._compositor.render_strips()):
        text = strip.text
        if cell_len(text) != screen.size.width:
            yield f"row {number} takes {cell_len(text)} of {screen.size.width} cells: {text!r}"
        if "seen" in text.lower() and "[b]seen" not in text.lower():
            yield f"markup was read: {text!r}"
        for segment in strip:
            action = segment.style.meta.get("@click", "") if segment.style else ""
            # Hints at the border of a dialog and rows of the help press keys, or choose commands, of our own.
            if action and not str(action).startswith(_OUR_ACTIONS):
                yield f"a click acts: {segment.text!r}"
            if segment.style and segment.style.link:
                yield f"a link that cannot be seen: {segment.style.link!r}"
    for widget in screen.walk_children(Widget):
        if widget.is_attached and widget.display and widget.size.area:
            for strip in widget.render_lines(Region(0, 0, *widget.outer_size)):
                if cell_len(strip.text) != strip.cell_length:
                    yield f"{widget!r} says {strip.cell_length} for {cell_len(strip.text)}: {strip.text!r}"


@asynccontextmanager
async def stage(folder: Path) -> AsyncIterator[Stage]:
    """The application at work in a folder, with stand-ins for model and languages."""
    computer = Computer()
    computer.cwd = folder  # type: ignore[assignment]
    workspace = Workspace(Profile(model="gpt-4o"), None, llm=Llm(), computer=computer)
    app = Witnessed(lambda: workspace)
    app.driver_class = Wire
    async with app.run_test(headless=False, size=(WIDTH, HEIGHT), notifications=True) as pilot:
        one = Stage(pilot, workspace, computer, folder)
        await one.until(lambda: app.screen.query("ChatView #conversation") and one.chat.is_ready)
        await one.settle()
        yield one
