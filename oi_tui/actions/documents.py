"""Exports the conversation, and starts a conversation from a file of messages."""

import itertools
import os
from collections.abc import Callable
from pathlib import Path

from oi_tui import paths
from oi_tui.actions.interface import UserInterface
from oi_tui.engine.export.formats import (
    ENDINGS,
    FORMATS,
    export,
    find_format,
    find_script_suffix,
    make_file_name,
)
from oi_tui.engine.open_interpreter import conversations
from oi_tui.text import clean_line
from oi_tui.workspace import Workspace


class DocumentActions:
    """Carries out `%export`, `%load_message` and their like."""

    def __init__(self, ui: UserInterface, workspace: Workspace, show_other: Callable[[], None]) -> None:
        """`show_other` shows another conversation."""
        self._ui = ui
        self._workspace = workspace
        self._show_other = show_other

    def export(self, format: str, path: str) -> None:
        """Write the conversation as a document; without a path, into the working directory.

        The format may also be an ending, or be left out before a path that has one.
        """
        messages = self._workspace.session.messages
        file_format = FORMATS.get(format.lower())
        if file_format is None and "." not in format:
            file_format = find_format(Path(f"x.{format}"))
        if file_format is None:
            path = f"{format} {path}".strip()
            file_format = find_format(Path(path))
        if file_format is None:
            choices = ", ".join(FORMATS)
            text = f"Unknown format “{clean_line(path, 40)}”. Formats: {choices}."
            self._ui.show_notice(f"{text} You can also use a file name that ends in {ENDINGS}.", warning=True)
            return
        if not messages:
            self._ui.show_notice("There is nothing to export yet.", warning=True)
            return
        first_request = next((m.content for m in messages if m.role == "user"), "conversation")
        title = clean_line(self._workspace.conversation.title or first_request, 60)
        suffix = find_script_suffix(messages) if file_format.name == "script" else file_format.suffix
        try:
            target = paths.expand_typed(path)
            if not target.is_absolute():
                target = paths.find_cwd() / target
            if target.is_dir():
                target = _find_unused(target / make_file_name(title, suffix))
            if target.suffix == "":
                target = target.with_name(target.name + suffix)
            if os.path.lexists(target):
                self._ui.show_notice(f"{target} already exists; choose another name.", warning=True)
                return
            if reason := self._workspace.explain_way_out(target):
                self._ui.show_notice(f"Not written. {reason}.", warning=True)
                return
            files = export(file_format, title, messages, target)
        except OSError as error:
            self._ui.show_notice(f"Could not write: {paths.explain_write_error(error)}.", warning=True)
        except ValueError as error:  # a name that cannot be one
            self._ui.show_notice(f"Could not write: {error}.", warning=True)
        else:
            self._ui.show_notice(f"Saved {', '.join(map(str, files))}.")

    def load(self, path: str) -> None:
        """Begin a conversation with the messages of a file."""
        source = paths.expand_typed(path)
        if source.suffix == "" and not os.path.lexists(source):
            source = source.with_name(source.name + ".json")
        try:
            conversation = conversations.read(source)
        except (OSError, ValueError) as error:
            self._ui.show_notice(f"Could not load {source}: {error}", warning=True)
            return
        messages = tuple(conversation.contents.messages.values())
        self._workspace.conversation.begin(messages)
        self._show_other()
        count = "1 message" if len(messages) == 1 else f"{len(messages):,} messages"
        self._ui.show_notice(
            ". ".join([f"{count} from {source}", *map(_describe_result, conversation.problems)]) + "."
        )


def _describe_result(words: str) -> str:
    return words[:1].upper() + words[1:]


def _find_unused(path: Path) -> Path:
    """Return the path, or the first one with a number that names no file yet."""
    numbered = (path.with_stem(f"{path.stem}-{number}") for number in itertools.count(2))
    return next(item for item in itertools.chain((path,), numbered) if not os.path.lexists(item))
