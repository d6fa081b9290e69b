"""Actions of the commands on a conversation, shared by the full screen and plain mode."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from oi_tui.actions.copies import FileCopies
from oi_tui.actions.data import DataActions
from oi_tui.actions.databases import DatabaseActions
from oi_tui.actions.documents import DocumentActions
from oi_tui.actions.info import describe_conversation
from oi_tui.actions.interface import BUSY, DisplayActions
from oi_tui.actions.languages import LanguageActions
from oi_tui.actions.logging import LogActions
from oi_tui.actions.manage_skills import SkillActions
from oi_tui.actions.restore_files import FileRestorer
from oi_tui.actions.rewind import Rewind
from oi_tui.actions.sandbox import SandboxActions
from oi_tui.actions.snapshot import VariableSnapshot
from oi_tui.actions.switch_profile import ProfileSwitcher
from oi_tui.actions.targets import TargetActions
from oi_tui.actions.trust_folder import trust_folder
from oi_tui.engine import rerun
from oi_tui.engine.events import Event
from oi_tui.engine.settings.profile import Profile, list_settings
from oi_tui.engine.storage.store import StoreError
from oi_tui.runtimes.remote import left_targets
from oi_tui.workspace import Workspace

T = TypeVar("T")


class ConversationActions(ABC):
    """Carries out the commands that need no screen; the screen and the plain session add the others.

    Subclasses say how to show a notice, whether something is in progress (`busy`), how the open session is
    shown again (`show_session`), how text goes back to where the person types (`put_back`), how to `confirm`
    something, and how the events of a turn are handled (`start`).
    """

    #: The key that brings variables back; "" where there are no keys.
    restore_key = ""
    #: The log, and what the interface looks like: set by each interface.
    log: LogActions
    display: DisplayActions

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        #: What a person does to come back to an earlier state.
        self.going_back = Rewind(self, workspace)
        self.files = FileRestorer(self, workspace, lambda: self.going_back.taken)
        self.documents = DocumentActions(self, workspace, self._show_other)
        self.sandbox = SandboxActions(self, workspace)
        self.data = DataActions(self, workspace)
        self.target = TargetActions(self, workspace)
        self.copies = FileCopies(self, workspace)
        self.databases = DatabaseActions(self, workspace)
        self.snapshot = VariableSnapshot(self, workspace)
        self.languages = LanguageActions(self, workspace)
        self.skills = SkillActions(self, workspace)
        self._switching = ProfileSwitcher(self, workspace)

    @property
    @abstractmethod
    def busy(self) -> bool:
        """Whether a turn is at work."""

    @abstractmethod
    def show_notice(self, text: str, *, warning: bool = False) -> None:
        """Show a notice where it can be read again."""

    @abstractmethod
    def show_session(self) -> None:
        """Show that another conversation is at work, or that this one has changed."""

    @abstractmethod
    def put_back(self, text: str) -> None:
        """Give text back to where the person types."""

    @abstractmethod
    def edit(self, text: str, suffix: str) -> str:
        """Have the person edit a text in their own editor; without one, return it unchanged."""

    @abstractmethod
    def confirm(self, question: str, details: Sequence[str], act: Callable[[], None]) -> None:
        """Ask whether to act, showing what would be done."""

    @abstractmethod
    def run_then(self, work: Callable[[], T], then: Callable[[T], object]) -> None:
        """Run slow work in the background, and pass its result on."""

    @abstractmethod
    def start(self, events: Iterator[Event]) -> None:
        """Work through a session's events."""

    def start_conversation(self) -> None:
        """Start a new one; the conversation so far is saved."""
        self._workspace.conversation.begin()
        self._show_other()

    def switch_profile(self, name: str, then: Callable[[], object] | None = None) -> None:
        """Switch to another profile by its name, path or address; `then` is called once that is done."""
        self._switching.switch_to(name, then)

    def apply_profile(self, profile: Profile) -> None:
        """Use these settings, show those that are visible, and say which of them apply later."""
        before = self._workspace.profile
        target, actual = profile.target, self._workspace.computer.targets.home
        if target != actual:
            # It is reached first; until then nothing says that code runs there.
            profile = profile.with_changes("changed", target=actual)
        changed = before.find_differences(profile)
        self._workspace.use(profile)
        self.show_settings(profile)
        waiting = [setting for setting in list_settings() if setting.name in changed and setting.later]
        for later in dict.fromkeys(item.later for item in waiting):
            keys = [item.key for item in waiting if item.later == later]
            self.show_notice(f"{', '.join(keys)} take{'s' * (len(keys) == 1)} effect {later}.")
        if target != actual:
            self.target.switch(target)
        if "auto_run" in changed and profile.auto_run != self._workspace.session.auto_run:
            self.switch_auto_run(profile.auto_run)

    def show_settings(self, profile: Profile) -> None:
        """Apply those settings that are seen."""
        self.display.apply(profile)
        self.log.follow(profile.verbose or profile.debug)

    def trust_folder(self) -> None:
        """Show the folder's own settings, and use them once they are trusted."""
        trust_folder(self, self._workspace)

    def switch_auto_run(self, on: bool | None) -> None:
        """Ask or do not ask; only ever by a person's own command."""
        session = self._workspace.session
        session.auto_run = not session.auto_run if on is None else on
        if session.auto_run:
            self.show_notice("Code now runs without asking. %auto_run off turns this off.", warning=True)
        else:
            session.permissions.clear()
            self.show_notice("All code now needs your approval.")

    def switch_os_mode(self, on: bool | None) -> None:
        """Let the model use screen, mouse and keyboard, or stop that; its code is still asked for."""
        workspace = self._workspace
        now = workspace.profile.os
        on = not now if on is None else on
        if on == now:
            self.show_notice(f"OS mode is already {'on' if on else 'off'}.")
        elif self.busy:
            self.show_notice(BUSY, warning=True)
        elif problem := workspace.languages.explain_no_os_mode() if on else None:
            self.show_notice(f"OS mode stays off: {problem}", warning=True)
        else:
            workspace.switch_os_mode(on)
            words = "on: the model can use your screen, mouse and keyboard" if on else "off"
            sentences = [f"OS mode {words}. Python restarts, so its variables are lost."]
            self.show_notice(" ".join(sentences + workspace.languages.explain_no_screen()), warning=on)

    def report_tokens(self, prompt: str) -> None:
        """Report the tokens of the next request, with the prompt if there is one, and the cost of all
        requests.
        """
        workspace = self._workspace
        if self.busy:
            self.show_notice(workspace.session.context.describe(None, prompt))
        else:
            self.start(workspace.session.count_tokens(workspace.model.count, prompt))

    def compact(self, *, undo: bool) -> None:
        """Have the model summarise older history, or take the last summary back."""
        if self.busy:
            self.show_notice(BUSY, warning=True)
        elif not undo:
            self.start(self._workspace.session.compact())
        elif self._workspace.session.context.uncompact():
            self.show_session()
            self.show_notice("Summary removed; the model gets the full conversation again.")
        else:
            self.show_notice("There is no summary to remove.", warning=True)

    def show_info(self) -> None:
        """Show versions, model and key, folders and languages; this asks their programs and a keyring."""
        self.run_then(lambda: describe_conversation(self._workspace), self.show_notice)

    def manage_servers(self, action: str, name: str, rest: str) -> None:
        """List MCP servers, or test, add, remove or review one."""
        # Loaded when it is needed: most people have no such servers.
        from oi_tui.actions.manage_servers import ServerManager

        ServerManager(self, self._workspace).do(action, name, rest)

    def open_conversation(self, id: str, *, returning_to: str = "") -> None:
        """Show a saved conversation and go on with it.

        `returning_to` is a target on which it left something running, and which is connected next.
        """
        try:
            self._workspace.conversation.resume(id)
        except StoreError as error:
            self.show_notice(f"Could not open the conversation: {error}", warning=True)
            return
        self._show_other(returning_to)
        if left_targets.list_for_conversation(id):
            # Its variables are not gone, and a notice says where they are.
            return
        if notice := rerun.describe_lost(self._workspace.session.messages):
            self.show_notice(" ".join(filter(None, (notice, self.snapshot.describe()))))

    def _show_other(self, returning_to: str = "") -> None:
        """Show another conversation, with what should be known of how it was stored and what it left."""
        self.show_session()
        conversation = self._workspace.conversation
        for notice in (*conversation.notices, *conversation.describe_left(returning_to)):
            self.show_notice(notice, warning=True)
