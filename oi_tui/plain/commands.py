"""The commands in plain mode."""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from oi_tui import log, paths, profiles
from oi_tui.actions.base import ConversationActions
from oi_tui.actions.interface import UserInterface
from oi_tui.actions.logging import LogActions
from oi_tui.commands import COMMANDS
from oi_tui.doctor.in_use import InUse
from oi_tui.doctor.report import report
from oi_tui.engine.events import Event
from oi_tui.engine.export.plain_text import plain_text
from oi_tui.engine.models import local_servers
from oi_tui.engine.output.plain import plain
from oi_tui.engine.settings.profile import Profile, ProfileError, explain
from oi_tui.engine.settings.setting import Value
from oi_tui.plain.event_handler import PlainEventHandler
from oi_tui.plain.keyboard import Keyboard
from oi_tui.terminal.external_editor import edit, is_named
from oi_tui.text import one_line, visible
from oi_tui.workspace import Workspace

T = TypeVar("T")

#: Conversations that are listed.
_LISTED = 20
#: Lines of the log that are shown.
_LOGGED = 40
_SCREEN_ONLY = "This needs the full screen: start oi-tui without --plain."
#: Lines that a search shows.
_FOUND = 50


class Interface(Protocol):
    """The plain conversation, as its commands see it."""

    story: PlainEventHandler
    keyboard: Keyboard
    #: Set to end the session.
    left: bool

    def ask_number(self, question: str, most: int) -> int | None:
        """Ask for a number from 1 to `most`, and return its index; None without an answer."""

    def work(self, events: Iterator[Event]) -> None:
        """Show the events of a turn."""

    def say(self, text: str | None) -> None:
        """Send a message to the model; None lets it continue."""


class PlainCommands(ConversationActions):
    """Carries commands out in words; `oi_tui.commands.CommandActions` lists them."""

    def __init__(self, conversation: Interface, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._conversation = conversation
        self.log = PlainLog(self, workspace)
        self.display = NoDisplay(self)

    @property
    def busy(self) -> bool:
        """Never: commands are typed between the turns."""
        return False

    def tell(self, text: str, *, warning: bool = False) -> None:  # noqa: ARG002
        """Say it."""
        self._conversation.story.note(text)

    def show_session(self) -> None:
        """Tell the conversation that is at work now, from its beginning."""
        text = plain_text(self._workspace.session.messages)
        self.tell(text or "A new conversation.")

    def put_back(self, text: str) -> None:
        """Let the person's next line begin with it."""
        self._conversation.keyboard.draft = text.replace("\n", " ")

    def open_help(self) -> None:
        """Commands, one a line."""
        width = max(len(command.title) for command in COMMANDS.values())
        rows = [f"  {command.title:<{width}}  {command.summary}" for command in COMMANDS.values()]
        self.tell(
            "Type a request, or a command. At a question: y runs, n rejects, e edits, a always runs the "
            "language.\nctrl+c stops; ctrl+d quits. ! or %% before a line runs it in your shell.\n"
            + "\n".join(rows)
        )

    def open_navigator(self) -> None:
        """The newest conversations; one of them is opened by its number."""
        summaries = self._workspace.store.summaries()[:_LISTED]
        if not summaries:
            self.tell("There are no saved conversations yet.")
            return
        rows = [f"  {number}  {one_line(summary.title, 70)}" for number, summary in enumerate(summaries, 1)]
        self.tell("Saved conversations, newest first:\n" + "\n".join(rows))
        if (number := self._conversation.ask_number("Open which number? ", len(summaries))) is not None:
            self.open_conversation(summaries[number].id)

    def open_profile(self, name: str) -> None:
        """Every setting with its value, and where settings are changed; or those of the profile named."""
        if name:
            self.switch_profile(name)
            return
        profile, path = self._workspace.profile, self._workspace.profile_path
        rows = [f"  {key}: {one_line(value)}  ({origin})" for key, value, origin in explain(profile)]
        where = f"\nChange them in {paths.short(path)}, or with flags." if path else ""
        others = f"\n%profile NAME switches to another: {', '.join(map(one_line, profiles.names()))}"
        self.tell("Settings:\n" + "\n".join(rows) + where + others)

    def open_models(self, name: str) -> None:
        """Switch to the model named, or choose one by its number."""
        if name:
            self._use(model=name, api_base=self._workspace.model.base_for(name))
            return
        found = local_servers.find()
        rows = [
            f"  {number}  {item.model}  ({item.server} is running)" for number, item in enumerate(found, 1)
        ]
        rows.append(f"  {len(found) + 1}  demo  (a script, not an AI: needs no key and no network)")
        self.tell(
            f"Current model: {self._workspace.profile.model}. Found on this machine:\n"
            + "\n".join(map(one_line, rows))
        )
        self.tell("%model NAME accepts any LiteLLM name.")
        number = self._conversation.ask_number("Which number? ", len(rows))
        if number is None:
            return
        if number == len(found):
            self._use(model="demo", api_base=None)
        else:
            self._use(model=found[number].model, api_base=found[number].api_base)

    def edit(self, text: str, suffix: str) -> str:
        """Have the person edit a text in their own editor, if they named one and sit at a terminal."""
        if not (is_named() and sys.stdin.isatty() and sys.stdout.isatty()):
            return text
        edited, problem = edit(text, suffix)
        if problem:
            self.tell(problem, warning=True)
        return edited

    def confirm(self, question: str, details: Sequence[str], act: Callable[[], None]) -> None:
        """Show what would be done, and ask."""
        self.tell("\n".join([question, *(f"  {detail}" for detail in details), "  1  yes, do that"]))
        if self._conversation.ask_number("1, or enter for no: ", 1) is not None:
            act()

    def aside(self, work: Callable[[], T], then: Callable[[T], object]) -> None:
        """Do it, and go on with what it gives."""
        then(work())

    def start(self, events: Iterator[Event]) -> None:
        """Work through a session's events."""
        self._conversation.work(events)

    def list_keys(self) -> None:
        """There are no keys where whole lines are read."""
        self.tell("Plain mode reads lines; it has no key bindings.")

    def open_permissions(self) -> None:
        """List the auto-approvals, to be revoked by number."""
        session = self._workspace.session
        if not (found := session.permissions):
            self.tell("No auto-approvals: all code needs your approval.")
            return
        rows = [f"  {number}  {one_line(item.words, 100)}" for number, item in enumerate(found, 1)]
        self.tell("Auto-approvals of this conversation:\n" + "\n".join(rows))
        if (number := self._conversation.ask_number("Revoke which number? ", len(found))) is not None:
            session.revoke(found[number])
            self.tell(f"Revoked: {one_line(found[number].words, 100)} will ask again.")

    def run_by_hand(self, language: str, code: str) -> None:
        """Run the person's own code."""
        resolved = self._workspace.computer.resolve(language)
        if resolved is None:
            names = ", ".join(self._workspace.computer.languages)
            self.tell(f"Unknown language “{one_line(language, 40)}”. Languages: {names}.")
            self.put_back(f"%run {language} {code}")
        else:
            self._conversation.work(self._workspace.session.run(resolved, code))

    def examine(self) -> None:
        """Say what is wrong here and how to put it right."""
        in_use = InUse(self._workspace.profile, self._workspace.profile_path)
        self.tell(report(in_use, ask_terminal=False)[0])

    def stop(self) -> None:
        """Nothing is in progress while commands are typed."""
        self.tell("Nothing is running. ctrl+c stops what is running.")

    def go_on(self) -> None:
        """Let the model go on from here."""
        if self._workspace.session.messages:
            self._conversation.say(None)
        else:
            self.tell("There is nothing to continue yet; type a request first.")

    def find(self, text: str) -> None:
        """The lines of the conversation in which the text occurs."""
        if not text:
            self.tell("Type the text to find: %find text")
            return
        lines = plain_text(self._workspace.session.messages).split("\n")
        found = [line for line in lines if text.lower() in line.lower()]
        more = f"\n… {len(found) - _FOUND} more" if len(found) > _FOUND else ""
        self.tell("\n".join(found[:_FOUND]) + more if found else f"“{one_line(text, 60)}” not found.")

    def read_output(self, number: int | None) -> None:
        """All that is kept of the output of a run."""
        codes = [m for m in self._workspace.session.messages if m.type == "code" and m.role != "computer"]
        if not codes or (number is not None and not 0 < number <= len(codes)):
            self.tell("No such output." if codes else "There is no output yet.")
            return
        code = codes[-1 if number is None else number - 1]
        printed = [m for m in self._workspace.session.messages if m.parent == code.id and m.type == "console"]
        self.tell("\n".join(visible(plain(m.content)) for m in printed).strip("\n") or "It has no output.")

    def leave(self) -> None:
        """End the session; the conversation is saved."""
        self._conversation.left = True

    def leave_printing(self) -> None:
        """The same: all of it stands in the terminal already."""
        self.leave()

    def open_palette(self) -> None:
        """The commands, which %help lists."""
        self.open_help()

    def use_terminal(self) -> None:
        """Say that there is no screen."""
        self.tell(_SCREEN_ONLY)

    def copy_code(self) -> None:
        """Say that there is no screen."""
        self.tell(_SCREEN_ONLY)

    def focus_conversation(self) -> None:
        """Say that there is no screen."""
        self.tell(_SCREEN_ONLY)

    def focus_prompt(self) -> None:
        """Say that this is it."""
        self.tell("You are at the prompt.")

    def _use(self, **changes: Value) -> None:
        try:
            self._workspace.use(self._workspace.profile.with_changes("changed", **changes))
        except ProfileError as error:
            self.tell(str(error))
            return
        self.tell(f"The model is now {one_line(self._workspace.profile.model)}.")


class PlainLog(LogActions):
    """The log in plain mode: its newest lines go to standard error."""

    def follow(self, on: bool) -> None:
        """Print the lines of the log as they come, or no longer."""
        log.print_lines(on)

    def open(self) -> None:
        """The newest lines of the log."""
        newest = list(log.recent.lines)[-_LOGGED:]
        self._ui.tell("\n".join([*newest, log.where()]))


class NoDisplay:
    """Where lines are printed, there is nothing to look different."""

    def __init__(self, ui: UserInterface) -> None:
        self._ui = ui

    def apply(self, profile: Profile) -> None:
        """Do nothing."""

    def switch_theme(self, name: str) -> None:  # noqa: ARG002
        """Say that there is no screen."""
        self._ui.tell(_SCREEN_ONLY)

    def switch_mouse(self, on: bool | None) -> None:  # noqa: ARG002
        """Say that there is nothing to point at."""
        self._ui.tell("Plain mode does not use the mouse.")

    def switch_sidebar(self, on: bool | None) -> None:  # noqa: ARG002
        """Say that there is no sidebar, and what there is instead."""
        self._ui.tell("Plain mode has no sidebar; use %variables, %files and %tokens.")
