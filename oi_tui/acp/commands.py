"""The commands that an editor offers behind a slash: they read, or act within their session."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

from acp import schema

from oi_tui.acp.updates import write_fence
from oi_tui.actions.base import ConversationActions
from oi_tui.commands import COMMANDS, CommandActions, CommandError
from oi_tui.engine.events import Event, Noticed, TurnEnded
from oi_tui.workspace import Workspace

T = TypeVar("T")
#: What each does, and what may follow it. None of them lifts a limit, writes a file or runs code.
_OFFERED = {
    "variables": ("List the variables of all languages", "part of a name"),
    "table": ("Show the first rows of a data frame or a file", "NAME or FILE"),
    "files": ("List the files that cells changed", "number of a cell"),
    "tokens": ("Show tokens and cost", ""),
    "languages": ("List the languages", ""),
    "info": ("Show versions, model and folders", ""),
    "undo": ("Remove your last message and everything after it from what the model gets", ""),
    "redo": ("Restore what /undo removed", ""),
    "compact": ("Summarise older messages to save tokens; undo reverts it", "undo"),
    "restart": ("Restart the interpreters; the conversation stays", ""),
}
_NAMED = re.compile(rf"%(?=(?:{'|'.join(_OFFERED)})\b)")


def list_commands() -> schema.AvailableCommandsUpdate:
    """Return the commands, as an editor lists them."""
    commands = [
        schema.AvailableCommand(name=name, description=description, input=_describe_input(hint))
        for name, (description, hint) in _OFFERED.items()
    ]
    return schema.AvailableCommandsUpdate(
        session_update="available_commands_update", available_commands=commands
    )


def _describe_input(hint: str) -> schema.AvailableCommandInput | None:
    return schema.AvailableCommandInput(root=schema.UnstructuredCommandInput(hint=hint)) if hint else None


def split_command(blocks: Sequence[Any]) -> tuple[str, str] | None:
    """Return the command that a prompt is, and what follows its name; None for every other prompt."""
    if not blocks or any(block.type != "text" for block in blocks):
        return None
    name, _, argument = "".join(block.text for block in blocks).strip().partition(" ")
    return (name[1:], argument.strip()) if name[:1] == "/" and name[1:] in _OFFERED else None


class AcpCommands(ConversationActions):
    """Carries out one command; what it tells becomes text of the agent."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._texts: list[str] = []
        self._started: list[Iterator[Event]] = []

    def carry_out(self, name: str, argument: str) -> Iterator[Event]:
        """Do it, and return the events of that."""
        try:
            if argument and not _OFFERED[name][1]:
                raise CommandError(f"/{name} takes no argument.")
            # Those that are offered need nothing of a screen.
            COMMANDS[name].act(cast(CommandActions, self), argument)
        except CommandError as error:
            self.show_notice(str(error))
        for text in self._texts:
            text = _NAMED.sub("/", text)
            yield Noticed(write_fence("", text) if "\n" in text else text)
        for events in self._started:
            yield from events
        if not self._started:
            yield TurnEnded("done")

    @property
    def busy(self) -> bool:
        """Never: a command is a prompt, and prompts come one after the other."""
        return False

    def show_notice(self, text: str, *, warning: bool = False) -> None:  # noqa: ARG002
        """Show a notice."""
        self._texts.append(text)

    def start(self, events: Iterator[Event]) -> None:
        """Pass the events on."""
        self._started.append(events)

    def run_then(self, work: Callable[[], T], then: Callable[[T], object]) -> None:
        """Do it, and go on with what it gives."""
        then(work())

    def show_session(self) -> None:
        """Do nothing: the editor shows what it was sent."""

    def put_back(self, text: str) -> None:
        """Do nothing: the editor keeps its own prompts."""

    def edit(self, text: str, suffix: str) -> str:  # noqa: ARG002
        """Return the text unchanged: there is no editor here."""
        return text

    def confirm(self, question: str, details: Sequence[str], act: Callable[[], None]) -> None:
        """Do nothing: no command that is offered has anything to confirm."""
