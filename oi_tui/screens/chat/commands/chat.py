"""The commands of the chat screen."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from textual.screen import Screen

from oi_tui.actions.base import ConversationActions
from oi_tui.actions.targets import TargetActions
from oi_tui.commands.registry import CommandError
from oi_tui.engine.events import Event, Noticed
from oi_tui.engine.export.plain_text import plain_text
from oi_tui.engine.models.llamafile import is_source
from oi_tui.engine.review.permissions import Permission
from oi_tui.engine.settings.profile import Profile
from oi_tui.runtimes.availability import describe
from oi_tui.screens.chat.commands.cell_actions import CellActions
from oi_tui.screens.chat.commands.data import DataScreens
from oi_tui.screens.chat.commands.display import DisplaySettings
from oi_tui.screens.chat.commands.log import LogScreens
from oi_tui.screens.chat.commands.switch_model import ModelSwitcher
from oi_tui.screens.chat.first_run import NO_MODEL
from oi_tui.screens.confirm import ConfirmDialog
from oi_tui.screens.help import HelpScreen
from oi_tui.screens.keymap import here
from oi_tui.screens.models import DEMO, ModelChoice
from oi_tui.screens.navigator.screen import NavigatorScreen
from oi_tui.screens.pager import PagerScreen
from oi_tui.screens.permissions import PermissionsScreen
from oi_tui.screens.profile.editor import ProfileEditor
from oi_tui.terminal.external_editor import edit_outside, is_named
from oi_tui.text import one_line
from oi_tui.widgets.conversation.cell import CellBlock
from oi_tui.widgets.idle import remapped
from oi_tui.widgets.pager.long_text import LongText

if TYPE_CHECKING:
    from oi_tui.screens.chat.interfaces import PromptScreen
    from oi_tui.screens.chat.view import ChatView

T = TypeVar("T")
#: A second escape at rest within this many seconds goes back.
_TWICE = 1.0


class ChatCommands(ConversationActions):
    """Carries commands out; `oi_tui.commands.CommandActions` lists them."""

    data: DataScreens
    display: DisplaySettings

    def __init__(self, chat: "PromptScreen", chat_view: "ChatView") -> None:
        super().__init__(chat_view.workspace)
        self._chat = chat
        self._view = chat_view
        self.target = TargetActions(self, chat_view.workspace, ask=self._ask_person)
        #: When escape was last pressed with nothing to stop.
        self._rested = -_TWICE
        #: What a person does with a single cell.
        self.cells = CellActions(self, chat_view)
        self.data = DataScreens(self, chat, chat_view, self.files)
        self.log = LogScreens(self, chat_view)
        self.display = DisplaySettings(self, chat, chat_view)
        #: Which model answers.
        self.choosing = ModelSwitcher(self, chat_view.workspace)

    @property
    def busy(self) -> bool:
        """Whether a turn is at work."""
        return self._view.busy

    def show_session(self) -> None:
        """Show the conversation that is at work now, and be ready to be typed to."""
        self._view.show_session()
        self._chat.prompt.focus()

    def put_back(self, text: str) -> None:
        """Give text back to the prompt."""
        self._chat.prompt.put_back(text)

    def open_help(self) -> None:
        """Keys and commands."""
        self._chat.app.push_screen(HelpScreen(*here(self._chat)))

    def open_navigator(self) -> None:
        """Earlier conversations; the chosen one is shown at once."""
        navigator = NavigatorScreen(self._workspace.store, folder=self._workspace.computer.cwd)
        self._chat.app.push_screen(navigator, lambda chosen: self._open(chosen, navigator.sought))

    def open_profile(self, name: str) -> None:
        """The settings, or those of the profile named."""
        if name:
            self.switch_profile(name)
            return
        workspace = self._workspace
        editor = ProfileEditor(
            workspace.profile,
            workspace.profile_path,
            check=workspace.side_requests.check,
            secrets=workspace.secrets,
            moved=workspace.edit_file,
            switch=self.switch_profile,
        )
        self._chat.app.push_screen(editor, self._use)

    def open_models(self, name: str) -> None:
        """Switch to the model named, or choose one."""
        if name:
            self.choosing.by_name(name)
        else:
            self.choosing.from_list()

    def show_screen(self, screen: Screen[T], then: Callable[[T | None], None]) -> None:
        """Put a screen over the conversation, and go on with what it gives."""
        self._chat.app.push_screen(screen, then)

    def in_background(self, work: Callable[[], object]) -> None:
        """Do what takes its time without letting a key wait for it."""
        self._view.run_worker(work, thread=True, exit_on_error=False)

    def aside(self, work: Callable[[], T], then: Callable[[T], object]) -> None:
        """Do what takes its time without letting a key wait for it, and go on with what it gives."""
        self.in_background(lambda: self._chat.app.call_later(then, work()))

    def tell_of_no_model(self) -> None:
        """Say how to get a model, where there is none and no key for one."""
        self.aside(self._workspace.model.look_for_key, lambda there: None if there else self.tell(NO_MODEL))

    def open_palette(self) -> None:
        """Search all commands."""
        self._chat.app.action_command_palette()

    def reset_languages(self) -> None:
        """Restart the interpreters."""
        super().reset_languages()
        self._view.sidebar.forget()

    def search_history(self, text: str) -> None:
        """Offer earlier requests, above the prompt."""
        self._chat.prompt.focus()
        if text:
            self._chat.prompt.text = text
        self._chat.prompt.action_search_history()

    def rewind(self, number: int | None) -> None:
        """Go back to an own message; without a number, choose it by its block."""
        if number is not None or not self.going_back.own:
            super().rewind(number)
            return
        transcript = self._view.conversation.transcript
        transcript.focus()
        transcript.set_cursor(None)
        transcript.action_jump(-1)
        self._chat.notify("shift+up selects the previous message, b goes back to it", timeout=4)

    def edit(self, text: str, suffix: str) -> str:
        """Have the person edit a text in their own editor, if they named one."""
        return edit_outside(self._chat.app, text, suffix) if is_named() else text

    def confirm(self, question: str, details: Sequence[str], act: Callable[[], None]) -> None:
        """Ask on a page of its own."""
        self._chat.app.push_screen(ConfirmDialog(question, details), lambda yes: act() if yes else None)

    def _ask_person(
        self, title: str, question: str, *, masked: bool, repeated: bool, stopped: threading.Event
    ) -> str | None:
        # Few connections have a question, and the first frame does not wait for its module.
        from oi_tui.screens.question import Questioner

        asker = Questioner(self._chat.app)
        return asker.ask(title, question, masked=masked, repeated=repeated, stopped=stopped)

    def restore_cell(self, key: str) -> None:
        """Put the files back that a cell changed."""
        cell = next((item for item in self._view.conversation.printing if item.key == key), None)
        if isinstance(cell, CellBlock):
            self.files.restore(str(cell.number))

    def start(self, events: Iterator[Event]) -> None:
        """Work through a session's events, in sight."""
        self._view.conversation.scroll_end()
        self._view.start(events)

    def list_keys(self) -> None:
        """The names of all that has a key, to be used in the setting `keys`."""
        from oi_tui.screens.keymap import listed

        names = LongText.of(listed(remapped(self._chat.app)))
        where = "To change a key, edit keys in the profile (f2), for example command.new: ctrl+t"
        self._chat.app.push_screen(PagerScreen("Key bindings; * marks yours", names, where))

    def open_permissions(self) -> None:
        """Open the list of auto-approvals, to revoke them."""
        self._chat.app.push_screen(PermissionsScreen(self._view.session))

    def revoke(self, grant: Permission) -> None:
        """Ask again for what was granted."""
        self._view.session.revoke(grant)
        self.tell(f"Revoked: {one_line(grant.words, 100)} will ask again.")

    def run_by_hand(self, language: str, code: str) -> None:
        """Run the person's own code."""
        resolved = self._workspace.computer.resolve(language)
        if resolved is None:
            names = ", ".join(self._workspace.computer.languages)
            raise CommandError(f"Unknown language “{one_line(language, 40)}”. Languages: {names}.")
        if self._view.busy:
            self._view.queued.add(f"! {code}" if language == "shell" else f"%run {language} {code}")
        else:
            self._view.start(self._view.session.run(resolved, code))

    def examine(self) -> None:
        """Say on a page of its own what is wrong here and how to put it right."""
        from oi_tui.doctor.in_use import InUse
        from oi_tui.screens.chat.commands.doctor import show

        show(self._chat.app, InUse(self._workspace.profile, self._workspace.profile_path))

    def tell_languages(self) -> None:
        """The languages here; their programs are asked without holding the screen up."""
        self.aside(lambda: describe(self._workspace.computer.standings()), self.tell)

    def stop(self) -> None:
        """Stop what is in progress; pressed twice at rest, go back to what was typed before."""
        resting = not self._view.busy and self._chat.prompt.has_focus
        if not self._view.busy and self._view.sidebar.close_drawer():
            return
        now = time.monotonic()
        twice = resting and now - self._rested < _TWICE
        self._rested = now if resting and not twice else -_TWICE
        self._view.stop()
        if twice:
            self._go_back()

    def _go_back(self) -> None:
        """Clear what is typed (undo restores it); with nothing typed, choose an earlier message."""
        if self._chat.prompt.text:
            self._chat.prompt.action_clear()
        elif self.going_back.own:
            self.rewind(None)

    def go_on(self) -> None:
        """Let the model go on from here."""
        if self._view.busy:
            self._chat.notify("The model is already working.", timeout=2)
        elif not self._view.session.messages:
            self.tell("There is nothing to continue yet; type a message first.", warning=True)
        else:
            self._view.send(None)

    def use_terminal(self) -> None:
        """Give the running program the screen and the keys; with none, read the last output."""
        if self._view.foreground.open():
            return
        if any(block.output for block in self._view.conversation.printing):
            self.read_output(None)
        else:
            self._chat.notify("No program is running, and there is no output yet.", timeout=2)

    def copy_code(self) -> None:
        """Copy the last code of the conversation."""
        cells = [block for block in self._view.conversation.printing if isinstance(block, CellBlock)]
        if cells:
            self._view.copy(cells[-1].code, f"The code of cell {cells[-1].number}: ")
        else:
            self._chat.notify("There is no code to copy yet.", timeout=2)

    def focus_conversation(self) -> None:
        """Move by block."""
        self._view.conversation.transcript.enter()

    def focus_prompt(self) -> None:
        """Go back to typing."""
        self._chat.prompt.focus()

    def tell(self, text: str, *, warning: bool = False) -> None:
        """Say something in the conversation, where it can be read again; never within a reply."""
        if not self._view.busy:
            self._view.show(Noticed(text, "warning" if warning else "information"))
        elif "\n" in text:
            self._chat.app.push_screen(PagerScreen("Answer", LongText.of(text), "escape closes"))
        else:
            self._chat.notify(text, severity="warning" if warning else "information", markup=False)
            if not warning:
                self._view.keep(Noticed(text))

    def find(self, text: str) -> None:
        """Search the conversation."""
        if self._view.conversation.editing:
            self._view.replace_line.open(text or self._view.conversation.editor.selected_text)
        else:
            self._view.find_line.open(text)

    def read_output(self, number: int | None) -> None:
        """All of an output, on a screen of its own."""
        self.cells.view_number(number)

    def leave_printing(self) -> None:
        """End the application; the conversation is printed once the terminal is as it was."""
        self._chat.app.exit(plain_text(self._view.session.messages))

    def leave(self) -> None:
        """End the application."""
        self._chat.app.exit()

    def use_first_model(self, choice: ModelChoice | None) -> None:
        """Take a newcomer's model, now and the next time."""
        self.choosing.take(choice)
        if choice is None:
            self.tell(NO_MODEL)
        elif choice != DEMO and not is_source(choice.model):
            self._workspace.keep(model=choice.model, api_base=choice.api_base)

    def _open(self, id: str | None, sought: str = "") -> None:
        """Show a conversation, where it says what was looked for."""
        if id is None:
            return
        self.open_conversation(id)
        if sought:
            text = "\n".join(m.content for m in self._view.session.messages).lower()
            whole = sought if sought.lower() in text else max(sought.split(), key=len)
            self._view.call_after_refresh(self._view.find_line.show, whole)

    def _use(self, profile: Profile | None) -> None:
        if profile is not None:
            self.take_profile(profile)

    def show_settings(self, profile: Profile) -> None:
        """Apply those settings that are seen, and let other agents find the window or not."""
        super().show_settings(profile)
        self._view.run_worker(self._view.host_cells.adapt(), exit_on_error=False)
        self.choosing.local(lambda: None)
