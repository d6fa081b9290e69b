"""The commands in plain mode."""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from oi_tui import log
from oi_tui.actions.base import ConversationActions
from oi_tui.actions.interface import UserInterface
from oi_tui.actions.logging import LogActions
from oi_tui.engine.events import Event
from oi_tui.engine.export.plain_text import write_plain_text
from oi_tui.engine.settings.profile import Profile
from oi_tui.plain.event_handler import PlainEventHandler
from oi_tui.plain.reading import SCREEN_ONLY, PlainReading
from oi_tui.plain.screens import PlainScreens
from oi_tui.plain.stdin_reader import StdinReader
from oi_tui.plain.turns import PlainTurns
from oi_tui.terminal.external_editor import edit, is_named
from oi_tui.workspace import Workspace

T = TypeVar("T")

#: Lines of the log that are shown.
_LOGGED = 40


class PlainInterface(Protocol):
    """The plain conversation, as its commands see it."""

    handler: PlainEventHandler
    keyboard: StdinReader
    #: Set to end the session.
    left: bool

    def ask_number(self, question: str, most: int) -> int | None:
        """Ask for a number from 1 to `most`, and return its index; None without an answer."""

    def ask_yes(self, question: str) -> bool:
        """Ask for a yes; anything else is a no."""

    def run_turn(self, events: Iterator[Event]) -> None:
        """Show the events of a turn."""

    def say(self, text: str | None) -> None:
        """Send a message to the model; None lets it continue."""


class PlainCommands(ConversationActions):
    """Carries commands out in words; `oi_tui.commands.CommandActions` lists them."""

    def __init__(self, conversation: PlainInterface, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._conversation = conversation
        self.log = PlainLog(self, workspace)
        self.display = NoDisplay(self)
        self.screens = PlainScreens(self, workspace, conversation.ask_number)
        self.reading = PlainReading(self, workspace)
        self.turn = PlainTurns(self, workspace, conversation.say)

    @property
    def busy(self) -> bool:
        """Never: commands are typed between the turns."""
        return False

    def show_notice(self, text: str, *, warning: bool = False) -> None:  # noqa: ARG002
        """Show a notice."""
        self._conversation.handler.print_notice(text)

    def show_session(self) -> None:
        """Print the current conversation from its beginning."""
        text = write_plain_text(self._workspace.session.messages)
        self.show_notice(text or "A new conversation.")

    def put_back(self, text: str) -> None:
        """Put the text at the beginning of the person's next line."""
        self._conversation.keyboard.draft = text.replace("\n", " ")

    def edit(self, text: str, suffix: str) -> str:
        """Have the person edit a text in their own editor, if they named one and sit at a terminal."""
        if not (is_named() and sys.stdin.isatty() and sys.stdout.isatty()):
            return text
        edited, problem = edit(text, suffix)
        if problem:
            self.show_notice(problem, warning=True)
        return edited

    def confirm(self, question: str, details: Sequence[str], act: Callable[[], None]) -> None:
        """Show what would be done, and ask."""
        self.show_notice("\n".join([question, *(f"  {detail}" for detail in details)]))
        if self._conversation.ask_yes("y for yes, or enter for no: "):
            act()
        else:
            self.show_notice("Nothing was done.")

    def run_then(self, work: Callable[[], T], then: Callable[[T], object]) -> None:
        """Do it, and go on with what it gives."""
        then(work())

    def start(self, events: Iterator[Event]) -> None:
        """Work through a session's events."""
        self._conversation.run_turn(events)

    def leave(self) -> None:
        """End the session; the conversation is saved."""
        self._conversation.left = True

    def leave_printing(self) -> None:
        """Leave as usual: all of it stands in the terminal already."""
        self.leave()


class PlainLog(LogActions):
    """The log in plain mode: its newest lines go to standard error."""

    def follow(self, on: bool) -> None:
        """Print the lines of the log as they come, or no longer."""
        log.print_lines(on)

    def open(self) -> None:
        """Print the newest lines of the log."""
        newest = list(log.recent.lines)[-_LOGGED:]
        self._ui.show_notice("\n".join([*newest, log.describe_place()]))


class NoDisplay:
    """Where lines are printed, there is nothing to look different."""

    def __init__(self, ui: UserInterface) -> None:
        self._ui = ui

    def apply(self, profile: Profile) -> None:
        """Do nothing."""

    def switch_theme(self, name: str) -> None:  # noqa: ARG002
        """Say that there is no screen."""
        self._ui.show_notice(SCREEN_ONLY)

    def switch_mouse(self, on: bool | None) -> None:  # noqa: ARG002
        """Say that there is nothing to point at."""
        self._ui.show_notice("Plain mode does not use the mouse.")

    def switch_sidebar(self, on: bool | None) -> None:  # noqa: ARG002
        """Say that there is no sidebar, and what there is instead."""
        self._ui.show_notice("Plain mode has no sidebar; use %variables, %files and %tokens.")
