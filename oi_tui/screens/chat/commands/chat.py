"""The commands of the chat screen."""

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from textual.screen import Screen

from oi_tui.actions.base import ConversationActions
from oi_tui.actions.targets import TargetActions
from oi_tui.engine.events import Event, Noticed
from oi_tui.engine.export.plain_text import write_plain_text
from oi_tui.engine.models.llamafile import is_source
from oi_tui.engine.open_interpreter import setup
from oi_tui.engine.review.permissions import Permission
from oi_tui.engine.settings.profile import Profile
from oi_tui.screens.chat.commands.cell_actions import CellActions
from oi_tui.screens.chat.commands.data import DataScreens
from oi_tui.screens.chat.commands.display import DisplaySettings
from oi_tui.screens.chat.commands.log import LogScreens
from oi_tui.screens.chat.commands.open_screens import ChatScreens
from oi_tui.screens.chat.commands.reading import ChatReading
from oi_tui.screens.chat.commands.switch_model import ModelSwitcher
from oi_tui.screens.chat.commands.turns import ChatLanguages, ChatRewind, ChatTurns
from oi_tui.screens.chat.first_run import NO_MODEL, THEIRS
from oi_tui.screens.confirm import ConfirmDialog
from oi_tui.screens.models import DEMO, ModelChoice
from oi_tui.screens.pager import PagerScreen
from oi_tui.terminal.external_editor import edit_outside, is_named
from oi_tui.text import clean_line, escape_controls
from oi_tui.widgets.conversation.cells.cell import CellBlock
from oi_tui.widgets.pager.long_text import LongText

if TYPE_CHECKING:
    from oi_tui.runtimes.remote.askpass import Wanted
    from oi_tui.screens.chat.interfaces import PromptScreen
    from oi_tui.screens.chat.view import ChatView

T = TypeVar("T")


class ChatCommands(ConversationActions):
    """Carries out commands; `oi_tui.commands.CommandActions` lists them."""

    data: DataScreens
    display: DisplaySettings
    restore_key = "f9"

    def __init__(self, chat: "PromptScreen", chat_view: "ChatView") -> None:
        super().__init__(chat_view.workspace)
        self._chat = chat
        self._view = chat_view
        self.target = TargetActions(self, chat_view.workspace, ask=self._ask_person)
        #: What a person does with a single cell.
        self.cells = CellActions(self, chat_view)
        self.data = DataScreens(self, chat, chat_view, self.files)
        self.log = LogScreens(self, chat_view)
        self.display = DisplaySettings(self, chat, chat_view)
        #: Which model answers.
        self.choosing = ModelSwitcher(self, chat_view.workspace)
        self.screens = ChatScreens(self, chat, chat_view, self.choosing)
        self.reading = ChatReading(chat, chat_view, self.cells)
        self.turn = ChatTurns(self, chat, chat_view, self.target)
        self.going_back = ChatRewind(self, chat, chat_view)
        self.languages = ChatLanguages(self, chat_view)

    @property
    def busy(self) -> bool:
        """Whether a turn is at work."""
        return self._view.busy

    def show_session(self) -> None:
        """Show the current conversation, and give the prompt the focus."""
        self._view.show_session()
        self._chat.prompt.focus()

    def put_back(self, text: str) -> None:
        """Give text back to the prompt."""
        self._chat.prompt.put_back(text)

    def show_screen(self, screen: Screen[T], then: Callable[[T | None], None]) -> None:
        """Push a screen, and pass on its result."""
        self._chat.app.push_screen(screen, then)

    def run_in_background(self, work: Callable[[], object]) -> None:
        """Run slow work in a thread, so that keys do not wait."""
        self._view.run_worker(work, thread=True, exit_on_error=False)

    def run_then(self, work: Callable[[], T], then: Callable[[T], object]) -> None:
        """Run slow work in a thread, so that keys do not wait, and pass on its result."""

        def finish(result: T) -> None:
            then(result)
            self._view.post_message(self._view.Changed())

        self.run_in_background(lambda: self._chat.app.call_later(finish, work()))

    def give_up_waiting(self) -> None:
        """Give up what waits for the person in a thread, because the application ends."""
        self.target.stop_connecting()
        self._workspace.mcp.stop_sign_ins()

    def show_missing_model(self) -> None:
        """Show how to get a model, where there is none and no key for one."""
        workspace = self._workspace

        def look() -> str:
            if workspace.model.find_key():
                return ""
            return NO_MODEL + (THEIRS if setup.detect(workspace.store) else "")

        self.run_then(look, lambda words: self.show_notice(words) if words else None)

    def edit(self, text: str, suffix: str) -> str:
        """Have the person edit a text in their own editor, if they named one."""
        return edit_outside(self._chat.app, text, suffix) if is_named() else text

    def confirm(self, question: str, details: Sequence[str], act: Callable[[], None]) -> None:
        """Ask in a dialog."""
        self._chat.app.push_screen(ConfirmDialog(question, details), lambda yes: act() if yes else None)

    def _ask_person(
        self, title: str, question: str, *, wanted: "Wanted", stopped: threading.Event
    ) -> str | None:
        if wanted == "nothing":
            self._chat.app.call_later(self.show_notice, escape_controls(question))
            return None
        # Few connections have a question, and the first frame does not wait for its module.
        from oi_tui.screens.question import Questioner

        asker = Questioner(self._chat.app)
        masked = wanted == "secret"
        return asker.ask(title, question, masked=masked, stopped=stopped)

    def restore_cell(self, key: str) -> None:
        """Restore the files that a cell changed."""
        cell = next((item for item in self._view.conversation.printing if item.key == key), None)
        if isinstance(cell, CellBlock):
            self.files.restore(str(cell.number))

    def start(self, events: Iterator[Event]) -> None:
        """Run a turn: show its events as they come."""
        self._view.show_end()
        self._view.start(events)

    def revoke(self, grant: Permission) -> None:
        """Revoke a permission."""
        self._view.session.permissions.revoke(grant)
        self.show_notice(f"Revoked: {clean_line(grant.words, 100)} will ask again.")

    def show_notice(self, text: str, *, warning: bool = False) -> None:
        """Show a notice in the conversation, where it can be read again; never within a reply."""
        if not self._view.busy:
            self._view.show(Noticed(text, "warning" if warning else "information"))
        elif "\n" in text:
            self._chat.app.push_screen(PagerScreen("Command output", LongText.of(text), ""))
        else:
            self._chat.notify(text, severity="warning" if warning else "information", markup=False)
            if not warning:
                self._view.turns.queue_notice(Noticed(text))

    def leave_printing(self) -> None:
        """End the application; the conversation is printed once the terminal is as it was."""
        self._chat.app.exit(write_plain_text(self._view.session.messages))

    def leave(self) -> None:
        """End the application."""
        self._chat.app.exit()

    def use_first_model(self, choice: ModelChoice | None) -> None:
        """Use the first model that the person chose, and save it."""
        self.choosing.use(choice)
        if choice is None:
            self.show_notice(NO_MODEL)
        if choice is None or choice == DEMO or is_source(choice.model):
            return
        if problem := self._workspace.save_settings(model=choice.model, api_base=choice.api_base):
            self.show_notice(problem, warning=True)

    def show_settings(self, profile: Profile) -> None:
        """Apply the settings that can be seen, and the one for other agents."""
        super().show_settings(profile)
        self._view.run_worker(self._view.host_cells.apply_profile(), exit_on_error=False)
        self.choosing.choose_local(lambda: None)
