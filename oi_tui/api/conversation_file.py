"""Saves the conversation of an interpreter among those of the application."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from oi_tui.engine.open_interpreter.chunks import Chunk, from_messages, read_chunk
from oi_tui.engine.settings.profile import Profile, conversations
from oi_tui.engine.storage.journal import Journal
from oi_tui.engine.storage.records import title_of
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message, new_id


class ConversationFile:
    """Follows what a script does with `messages`: what it changed is changed in the file, too.

    A list that begins differently is another conversation with a file of its own.
    """

    def __init__(self) -> None:
        #: The title in the list of conversations; the first words if it is empty.
        self.title = ""
        self._journal: Journal | None = None
        self._place: Path | None = None
        self._chunks: list[Chunk] = []
        self._messages: tuple[Message, ...] = ()

    @property
    def id(self) -> str | None:
        """The id of the conversation that was saved last; None where there is none."""
        return self._journal.id if self._journal and self._journal.path else None

    def open(
        self, chunks: Sequence[Chunk], profile: Profile, cwd: Path
    ) -> tuple[Journal, tuple[Message, ...]]:
        """Return the journal for the next turn, and the messages before it."""
        same = _common(chunks, self._chunks)
        messages = _distinct(
            (*self._messages[:same], *(message for chunk in chunks[same:] for message in read_chunk(chunk)))
        )
        added = messages[same:]
        place = conversations(profile) if profile.conversation_history else None
        journal = self._journal
        if journal is None or place != self._place or (not same and self._messages):
            journal = self._create(place, profile, cwd, messages)
        else:
            journal.forget([message.id for message in self._messages[same:]])
            for message in added:
                journal.put(message)
        self._journal, self._place = journal, place
        return journal, messages

    def note(self, messages: Sequence[Message]) -> list[Chunk]:
        """Remember the conversation after a turn, let go of its file, and return it as chunks."""
        self._messages = tuple(messages)
        contents = from_messages(messages)
        self._chunks = [dict(chunk) for chunk in contents]
        if self._journal:
            self._journal.close()
        return contents

    def forget(self) -> None:
        """Save what follows as another conversation."""
        self._journal, self._messages, self._chunks = None, (), []

    def _create(
        self, place: Path | None, profile: Profile, cwd: Path, messages: Sequence[Message]
    ) -> Journal:
        create = Store(place).create if place else Store.unsaved
        requests = (title_of(message) for message in messages if message.role == "user")
        title = self.title or next(requests, "")
        return create(cwd=cwd, model=profile.model, title=title, messages=messages)


def _distinct(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages, each with an id of its own: one that is there already gets a new one."""
    seen: set[str] = set()
    distinct = []
    for message in messages:
        distinct.append(message.but(id=new_id()) if message.id in seen else message)
        seen.add(message.id)
    return tuple(distinct)


def _common(one: Sequence[Chunk], other: Sequence[Chunk]) -> int:
    """Return how many items both lists begin with."""
    return next(_differences(one, other), min(len(one), len(other)))


def _differences(one: Sequence[Chunk], other: Sequence[Chunk]) -> Iterator[int]:
    return (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
