"""Saves the conversation of an interpreter among those of the application."""

import json
import re
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from oi_tui.engine.open_interpreter.chunks import Chunk, convert_messages, read_chunk
from oi_tui.engine.settings.profile import Profile, find_conversations_folder
from oi_tui.engine.storage.journal import Journal
from oi_tui.engine.storage.records import make_title
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message, make_message_id
from oi_tui.paths import replace_file

#: What Open Interpreter leaves out of the names of files, and what no name can have: NUL, and half of a
#: character.
_NOT_IN_NAMES = re.compile(r'[<>:"/\\|?*!\n\0\ud800-\udfff]')


class ConversationFile:
    """Follows what a script does with `messages`: what it changed is changed in the file, too.

    A list that begins differently is another conversation with a file of its own.

    Programs read what Open Interpreter writes, a JSON list of messages. Where they chose the name or the
    folder of the file, it is written there after each turn.
    """

    def __init__(self) -> None:
        #: The title in the list of conversations; the first words if it is empty.
        self.title = ""
        #: The name of the JSON file; "" before it has one.
        self.name = ""
        self._is_named = False
        self._is_exported = False
        self._journal: Journal | None = None
        self._place: Path | None = None
        self._chunks: list[Chunk] = []
        self._messages: tuple[Message, ...] = ()

    @property
    def id(self) -> str | None:
        """The id of the conversation that was saved last, or None."""
        return self._journal.id if self._journal and self._journal.path else None

    def call(self, name: str) -> None:
        """Save what follows as another conversation with this name; "" for the first words."""
        self.forget()
        self.name = Path(name).name
        self.title = self.name.removesuffix(".json")
        self._is_named = bool(name)

    def open(
        self, chunks: Sequence[Chunk], profile: Profile, cwd: Path, *, export: bool = False
    ) -> tuple[Journal, tuple[Message, ...]]:
        """Return the journal for the next turn, and the messages before it.

        With `export`, a JSON file is written as well, whether it was given a name or not.
        """
        same = _count_common(chunks, self._chunks)
        messages = _make_ids_unique(
            (*self._messages[:same], *(message for chunk in chunks[same:] for message in read_chunk(chunk)))
        )
        added = messages[same:]
        place = find_conversations_folder(profile) if profile.conversation_history else None
        journal = self._journal
        if journal is None or place != self._place or (not same and self._messages):
            journal = self._create(place, profile, cwd, messages)
            self.name = self.name if self._is_named else ""
        else:
            journal.forget([message.id for message in self._messages[same:]])
            for message in added:
                journal.put(message)
        self._journal, self._place = journal, place
        self._is_exported = place is not None and (export or self._is_named)
        return journal, messages

    def finish_turn(self, messages: Sequence[Message]) -> list[Chunk]:
        """Store the conversation after a turn, release its file, and return it as chunks."""
        self._messages = tuple(messages)
        contents = convert_messages(messages)
        self._chunks = [dict(chunk) for chunk in contents]
        if self._journal:
            self._journal.close()
        if self._is_exported and contents:
            self._export(contents)
        return contents

    def forget(self) -> None:
        """Save what follows as another conversation."""
        self._journal, self._messages, self._chunks = None, (), []

    def _export(self, contents: Sequence[Chunk]) -> None:
        """Write the JSON file; warn if that fails, because the conversation is saved all the same."""
        if self._place is None:
            return
        self.name = self.name or _make_file_name(contents)
        path = self._place / (self.name if self.name.endswith(".json") else f"{self.name}.json")
        try:
            replace_file(path, json.dumps(contents))
        except (OSError, ValueError) as error:
            # A ValueError: a program chose a name that no file can have.
            warnings.warn(f"The conversation was not written to {path}: {error}", stacklevel=2)

    def _create(
        self, place: Path | None, profile: Profile, cwd: Path, messages: Sequence[Message]
    ) -> Journal:
        create = Store(place).create if place else Store.create_unsaved
        requests = (make_title(message) for message in messages if message.role == "user")
        title = self.title or next(requests, "")
        return create(cwd=cwd, model=profile.model, title=title, messages=messages)


def _make_file_name(contents: Sequence[Chunk]) -> str:
    """Return the name that Open Interpreter gives the file: the first words and the time.

    >>> _make_file_name([{"content": "Plot the prices of 2024, please"}]).partition("__")[0]
    'Plot_the_prices_of_2024,'
    """
    first = str(contents[0].get("content", ""))
    words = first[:25].split(" ")
    start = "_".join(words[:-1]) if len(words) > 2 else first[:15]
    return f"{_NOT_IN_NAMES.sub('', start)}{time.strftime('__%B_%d_%Y_%H-%M-%S')}.json"


def _make_ids_unique(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages, each with a unique id: an id that is taken is replaced."""
    seen: set[str] = set()
    distinct = []
    for message in messages:
        distinct.append(message.replace(id=make_message_id()) if message.id in seen else message)
        seen.add(message.id)
    return tuple(distinct)


def _count_common(one: Sequence[Chunk], other: Sequence[Chunk]) -> int:
    """Return how many items both lists begin with."""
    return next(_find_differences(one, other), min(len(one), len(other)))


def _find_differences(one: Sequence[Chunk], other: Sequence[Chunk]) -> Iterator[int]:
    return (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
