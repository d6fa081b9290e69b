"""Actions of the commands on a conversation, shared by the full screen and plain mode."""

import itertools
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from oi_tui import log, paths
from oi_tui.actions import targets
from oi_tui.actions.confirm_trust import numbered
from oi_tui.actions.info import info
from oi_tui.actions.manage_skills import save_skill, tell_skills, trust_skill
from oi_tui.actions.restore_files import FileRestorer
from oi_tui.actions.rewind import Rewind
from oi_tui.actions.switch_profile import ProfileSwitcher
from oi_tui.actions.tables import find_table, first_rows
from oi_tui.actions.trust_folder import trust_folder
from oi_tui.engine import rerun
from oi_tui.engine.events import Event
from oi_tui.engine.export.formats import ENDINGS, FORMATS, export, file_name, kind_of, script_suffix
from oi_tui.engine.open_interpreter import conversations
from oi_tui.engine.settings.execution import host_pattern
from oi_tui.engine.settings.profile import Profile, settings
from oi_tui.engine.settings.setting import ProfileError
from oi_tui.engine.storage.store import StoreError
from oi_tui.input.history import History
from oi_tui.input.history_browser import HistoryBrowser
from oi_tui.runtimes.availability import told
from oi_tui.runtimes.tables import TableError, TableSource
from oi_tui.text import one_line, visible
from oi_tui.workspace import Workspace

T = TypeVar("T")

#: Entries of a list that is told in words.
_LISTED = 100


class ConversationActions(ABC):
    """Carries those commands out that need no screen; the screen and the plain session add the others.

    They say how to `tell` something, whether something is in progress (`busy`), how the session at work is
    shown anew (`show_session`), how text goes back to where the person types (`put_back`), how to `confirm`
    something, and how events are worked through (`start`).
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        #: What a person does to come back to an earlier state.
        self.going_back = Rewind(self, workspace)
        self._restoring = FileRestorer(self, workspace)
        self._switching = ProfileSwitcher(self, workspace)

    @property
    @abstractmethod
    def busy(self) -> bool:
        """Whether a turn is at work."""

    @abstractmethod
    def tell(self, text: str, *, warning: bool = False) -> None:
        """Say something where it can be read again."""

    @abstractmethod
    def show_session(self) -> None:
        """Another conversation is at work, or this one has changed."""

    @abstractmethod
    def put_back(self, text: str) -> None:
        """Give text back to where the person types."""

    @abstractmethod
    def confirm(self, question: str, details: Sequence[str], act: Callable[[], None]) -> None:
        """Ask whether to act, showing what would be done."""

    def tell_files(self, number: int | None) -> None:
        """List the files that the cells changed."""
        self._restoring.tell_files(number)

    def restore_files(self, wanted: str) -> None:
        """Put files back."""
        self._restoring.restore(wanted, self.going_back.taken)

    @abstractmethod
    def aside(self, work: Callable[[], T], then: Callable[[T], object]) -> None:
        """Do what takes its time, and go on with what it gives."""

    @abstractmethod
    def start(self, events: Iterator[Event]) -> None:
        """Work through a session's events."""

    def start_conversation(self) -> None:
        """Begin anew; the conversation so far is saved."""
        self._workspace.conversation.begin()
        self._show_other()

    def knows_language(self, name: str) -> bool:
        """Whether code can be run in what is called so: `%python print(1)`."""
        return self._workspace.computer.resolve(name) is not None

    def reset_languages(self) -> None:
        """Let the languages forget."""
        self._workspace.session.interrupt()
        self._workspace.conversation.reset_languages()
        self.tell("Interpreters restarted; variables, imports and working directories were cleared.")

    def undo_message(self) -> None:
        """Take the last message back, into the prompt."""
        self.going_back.undo()

    def redo_message(self) -> None:
        """Bring back what was taken back."""
        self.going_back.redo()

    def rewind(self, number: int | None) -> None:
        """Go back to an own message; without a number, show which there are."""
        if number is not None:
            self.going_back.rewind(number)
        elif own := self.going_back.own:
            listed = "\n".join(f"  {n}: {one_line(m.content, 100)}" for n, m in enumerate(own, 1))
            self.tell(f"Use %rewind N to go back to before one of these messages:\n{listed}")
        else:
            self.tell("You have not sent a message yet.", warning=True)

    def run_again(self, number: int | None) -> None:
        """Run the cells again that ran before."""
        if codes := self.going_back.earlier(number):
            self.start(self._workspace.session.run_again(codes))

    def run_blocks(self) -> None:
        """Ask to run the code blocks in the text of the last reply."""
        if self.busy:
            self.tell("Stop the current activity first (escape).", warning=True)
        else:
            self.start(self._workspace.session.run_blocks())

    def fork(self) -> None:
        """Go on in a copy."""
        self.going_back.branch()

    def switch_profile(self, name: str) -> None:
        """Go on with another profile: its name, path or address."""
        self._switching.to(name)

    def take_profile(self, profile: Profile) -> None:
        """Go on with these settings, show those that are seen, and say what waits."""
        before = self._workspace.profile
        wanted, actual = profile.target, self._workspace.computer.target
        if wanted != actual:
            # It is reached first; until then nothing says that code runs there.
            profile = profile.with_changes("changed", target=actual)
        changed = before.differences(profile)
        self._workspace.use(profile)
        self.show_settings(profile)
        waiting = [setting for setting in settings() if setting.name in changed and setting.later]
        for later in dict.fromkeys(item.later for item in waiting):
            keys = [item.key for item in waiting if item.later == later]
            self.tell(f"{', '.join(keys)} take{'s' * (len(keys) == 1)} effect {later}.")
        if wanted != actual:
            self.switch_target(wanted)
        if "auto_run" in changed and profile.auto_run != self._workspace.session.auto_run:
            self.switch_auto_run(profile.auto_run)

    @abstractmethod
    def show_settings(self, profile: Profile) -> None:
        """Show those settings that are seen: colours, mouse."""

    def trust_folder(self) -> None:
        """Show the folder's own settings, and use them once they are trusted."""
        trust_folder(self, self._workspace)

    def switch_auto_run(self, on: bool | None) -> None:
        """Ask or do not ask; only ever by a person's own command."""
        session = self._workspace.session
        session.auto_run = not session.auto_run if on is None else on
        if session.auto_run:
            self.tell("Code now runs without asking. %auto_run off turns this off.", warning=True)
        else:
            session.grants.clear()
            self.tell("All code now needs your approval.")

    def switch_sandbox(self, on: bool | None) -> None:
        """Hold programs in the working directory, or let them out after a question."""
        computer, now = self._workspace.computer, self._workspace.profile.sandbox
        on = not now if on is None else on
        if on == now:
            self.tell(f"The sandbox is already {'on' if on else 'off'}.{self._hosts_allowed() if on else ''}")
        elif on:
            self.aside(computer.why_no_sandbox, self._enclose)
        else:
            details = (
                (
                    "Approved code can then do whatever you can do, such as read all your files and use the "
                    "network."
                ),
            )
            self.confirm("Turn the sandbox off?", details, self._let_out)

    def switch_os_mode(self, on: bool | None) -> None:
        """Let the model use screen, mouse and keyboard, or stop that; its code is still asked for."""
        workspace = self._workspace
        now = workspace.profile.os
        on = not now if on is None else on
        if on == now:
            self.tell(f"OS mode is already {'on' if on else 'off'}.")
        elif self.busy:
            self.tell("Stop the current activity first (escape).", warning=True)
        elif problem := workspace.languages.why_no_os_mode() if on else None:
            self.tell(f"OS mode stays off: {problem}", warning=True)
        else:
            workspace.switch_os_mode(on)
            words = "on: the model can use your screen, mouse and keyboard" if on else "off"
            self.tell(f"OS mode {words}. Python restarts, so its variables are lost.", warning=on)

    def allow_host(self, host: str) -> None:
        """Let programs in the sandbox reach a host for the rest of this conversation; "" lists such hosts."""
        computer = self._workspace.computer
        if not self._workspace.profile.sandbox:
            self.tell("The sandbox is off, so programs can reach every host.")
        elif not host:
            self.tell(f"The sandbox is on.{self._hosts_allowed()} %sandbox allow HOST allows another one.")
        elif expected := host_pattern(host):
            self.tell(f"{one_line(host, 100)} cannot be allowed: expected {expected}.", warning=True)
        elif problem := computer.allow_host(host):
            self.tell(problem, warning=True)
        else:
            self.tell(
                f"Programs in the sandbox can reach {host} until you leave this conversation. To allow it "
                "always, add it to the setting sandbox_hosts."
            )

    def _hosts_allowed(self) -> str:
        hosts = self._workspace.computer.hosts
        return f" Programs can reach {', '.join(hosts)}." if hosts else " Programs can reach no host."

    def _enclose(self, problem: str | None) -> None:
        if problem:
            self.tell(f"The sandbox stays off: {problem}", warning=True)
            return
        self._use_sandbox(True)
        folder = one_line(str(self._workspace.computer.cwd), 200)
        self.tell(f"Sandbox on: programs can change only {folder}. Interpreters restarted.")

    def _let_out(self) -> None:
        self._use_sandbox(False)
        self.tell("Sandbox off. Interpreters restarted. %sandbox on turns it on again.", warning=True)

    def _use_sandbox(self, on: bool) -> None:
        self.take_profile(self._workspace.profile.with_changes("changed", sandbox=on))

    def switch_target(self, name: str) -> None:
        """Run code elsewhere from now on, or say where it runs."""
        computer = self._workspace.computer
        if not name:
            self.tell(targets.overview(computer.target, computer.where))
        elif self.busy:
            self.tell("Stop the current activity first (escape).", warning=True)
        else:
            self.tell(f"Connecting to {one_line(name, 200)} …")
            self.aside(lambda: targets.reach(computer, name), self._arrive)

    def _arrive(self, problem: str | None) -> None:
        """Say where code runs now; nothing that was allowed elsewhere is allowed there."""
        computer, session = self._workspace.computer, self._workspace.session
        place = one_line(computer.where or "on this machine", 300)
        if problem:
            self.tell(f"{one_line(problem, 500)} Code still runs {place}.", warning=True)
        else:
            self.tell(f"Code now runs {place}. It has its own variables and needs its own approvals.")
        profile = self._workspace.profile
        if computer.target != profile.target:
            self.take_profile(profile.with_changes("changed", target=computer.target, auto_run=False))
        if not problem and session.auto_run:
            self.switch_auto_run(False)
        session.grants.enter(computer.place_key)

    def switch_verbose(self, on: bool | None, *, words: bool) -> None:
        """Note in the log, and show, what goes on; with `words` what is said to the model, too."""
        profile = self._workspace.profile
        before = profile.debug if words else profile.verbose or profile.debug
        on = not before if on is None else on
        changes = {"debug": on} if words else {"verbose": on, "debug": profile.debug and on}
        self._workspace.use(profile.with_changes("changed", **changes))
        self.show_log(on)
        self.tell(
            f"Logging requests, runs, times and errors. {log.where()}"
            + (" The text sent to and from the model is logged too, without keys." if words else "")
            if on
            else "Logging only errors from now on."
        )

    @abstractmethod
    def show_log(self, on: bool) -> None:
        """Show the newest lines of the log as they come, or no longer."""

    def open_variables(self, sought: str) -> None:
        """List what the languages remember."""
        lines = []
        for memory in self._workspace.computer.memories():
            lines += [
                f"  {memory.language}  {one_line(variable.name, 60)}  {one_line(variable.summary, 80)}"
                for variable in memory.variables
                if sought.lower() in variable.name.lower()
            ]
        hidden = len(lines) - _LISTED
        more = [f"  {hidden:,} more; %variables TEXT filters them"] if hidden > 0 else []
        text = "\n".join(["Variables:", *lines[:_LISTED], *more])
        self.tell(text if lines else "No matching variables.")

    def load_table(self, name: str) -> TableSource:
        """The table of this name: a file, or a variable of Python. Raises TableError; may take a moment."""
        return find_table(name, self._workspace.computer)

    def open_table(self, name: str) -> None:
        """Tell the first rows of a table."""
        try:
            self.tell(first_rows(self.load_table(name)))
        except TableError as error:
            self.tell(str(error), warning=True)

    def switch_mouse(self, on: bool | None) -> None:  # noqa: ARG002
        """Without a screen there is nothing to point at."""
        self.tell("Plain mode does not use the mouse.")

    def switch_sidebar(self, on: bool | None) -> None:  # noqa: ARG002
        """Without a screen there is no side."""
        self.tell("Plain mode has no sidebar; use %variables, %files and %tokens.")

    def search_history(self, text: str) -> None:
        """List what was said before and holds the words."""
        found = HistoryBrowser(History().load()).containing(text, _LISTED)
        listed = "\n".join(f"  {one_line(item, 200)}" for item in found)
        self.tell(f"Matches, newest first:\n{listed}" if found else "No matching messages.")

    def export(self, format: str, path: str) -> None:
        """Write the conversation as a document; without a path, into the working directory.

        The format may also be an ending, or be left out before a path that has one.
        """
        messages = self._workspace.session.messages
        chosen = FORMATS.get(format.lower())
        if chosen is None and "." not in format:
            chosen = kind_of(Path(f"x.{format}"))
        if chosen is None:
            path = f"{format} {path}".strip()
            chosen = kind_of(Path(path))
        if chosen is None:
            known = ", ".join(FORMATS)
            text = f"Unknown format “{one_line(path, 40)}”. Formats: {known}."
            self.tell(f"{text} You can also use a file name that ends in {ENDINGS}.", warning=True)
            return
        if not messages:
            self.tell("There is nothing to export yet.", warning=True)
            return
        said = next((m.content for m in messages if m.role == "user"), "conversation")
        title = one_line(self._workspace.conversation.title or said, 60)
        suffix = script_suffix(messages) if chosen.name == "script" else chosen.suffix
        try:
            target = paths.typed(path)
            if target.is_dir():
                target = _unused(target / file_name(title, suffix))
            if target.suffix == "":
                target = target.with_name(target.name + suffix)
            if target.exists():
                self.tell(f"{target} already exists; choose another name.", warning=True)
                return
            written = export(chosen, title, messages, target.absolute())
        except OSError as error:
            self.tell(f"Could not write: {error.strerror or error}.", warning=True)
        except ValueError as error:  # a name that cannot be one
            self.tell(f"Could not write: {error}.", warning=True)
        else:
            self.tell(f"Saved {', '.join(map(str, written))}.")

    def load_messages(self, path: str) -> None:
        """Begin a conversation with the messages of a file."""
        source = paths.typed(path)
        if source.suffix == "" and not os.path.lexists(source):
            source = source.with_name(source.name + ".json")
        try:
            found = conversations.read(source)
        except (OSError, ValueError) as error:
            self.tell(f"Could not load {source}: {error}", warning=True)
            return
        messages = tuple(found.contents.messages.values())
        self._workspace.conversation.begin(messages)
        self._show_other()
        count = "1 message" if len(messages) == 1 else f"{len(messages):,} messages"
        self.tell(". ".join([f"{count} from {source}", *map(_sentence, found.problems)]) + ".")

    def tell_tokens(self, prompt: str) -> None:
        """Report the tokens of the next request, with the prompt if there is one, and the cost of all
        requests.
        """
        workspace = self._workspace
        if self.busy:
            self.tell(workspace.session.token_report(None, prompt))
        else:
            self.start(workspace.session.count_tokens(workspace.model.count, prompt))

    def compact(self, *, undo: bool) -> None:
        """Have the model summarise older history, or take the last summary back."""
        if self.busy:
            self.tell("Stop the current activity first (escape).", warning=True)
        elif not undo:
            self.start(self._workspace.session.compact())
        elif self._workspace.session.uncompact():
            self.show_session()
            self.tell("Summary removed; the model gets the full conversation again.")
        else:
            self.tell("There is no summary to remove.", warning=True)

    def tell_info(self) -> None:
        """Versions, model and key, folders, languages; their programs and a keyring are asked."""
        self.aside(lambda: info(self._workspace), self.tell)

    def trust_language(self, name: str) -> None:
        """Show the file of a language of the person's own whole, and let it run if they want."""
        own = self._workspace.languages.custom
        try:
            shown = own.show(name)
        except (OSError, ProfileError) as error:
            self.tell(f"Could not read it: {error}", warning=True)
            return
        if shown is None:
            self.tell(f"No profile defines a language {one_line(name, 40)}.", warning=True)
            return

        def accept() -> None:
            try:
                self.tell(own.trust(shown))
            except OSError as error:
                self.tell(f"Could not save that: {error.strerror or error}", warning=True)

        lines = numbered(shown)
        question = f"Trust {one_line(name, 40)} with exactly these {len(lines)} lines?"
        self.confirm(question, [visible(shown.place), "", *lines], accept)

    def tell_skills(self) -> None:
        """List the skills."""
        tell_skills(self, self._workspace.skills)

    def trust_skill(self, name: str) -> None:
        """Show a project's skill, and use it if the person wants."""
        trust_skill(self, self._workspace.skills, name)

    def manage_servers(self, action: str, name: str, rest: str) -> None:
        """List MCP servers, or test, add, remove or review one."""
        # Loaded when it is needed: most people have no such servers.
        from oi_tui.actions.manage_servers import ServerManager

        ServerManager(self, self._workspace).do(action, name, rest)

    def save_skill(self, name: str) -> None:
        """Make a skill of the code that ran."""
        save_skill(self, self._workspace, name)

    def tell_languages(self) -> None:
        """The languages here, and how to get others."""
        self.tell(told(self._workspace.computer.standings()))

    def open_conversation(self, id: str) -> None:
        """Show a saved conversation and go on with it."""
        try:
            self._workspace.conversation.resume(id)
        except StoreError as error:
            self.tell(f"Could not open the conversation: {error}", warning=True)
            return
        self._show_other()
        if told := rerun.lost(self._workspace.session.messages):
            self.tell(told)

    def _show_other(self) -> None:
        """Show another conversation, with what should be known of how it was stored."""
        self.show_session()
        for notice in self._workspace.conversation.notices:
            self.tell(notice, warning=True)


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _unused(path: Path) -> Path:
    """The path, or the first one with a number that names no file yet."""
    numbered = (path.with_stem(f"{path.stem}-{number}") for number in itertools.count(2))
    return next(item for item in itertools.chain((path,), numbered) if not item.exists())
