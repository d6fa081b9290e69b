"""The messages of a conversation in progress, each saved before it is shown."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from oi_tui.engine.events import Event, MessageGrew, MessageRecorded, MessageStarted, Noticed, Steps
from oi_tui.engine.llm import images
from oi_tui.engine.protocols import NullRecorder, Recorder
from oi_tui.messages import Message

SAVES_AGAIN = "Saving works again."


class MessageLog:
    """The messages so far, in order; can be read and cut from any thread at any time."""

    def __init__(
        self, recorder: Recorder, messages: Iterable[Message] = (), outputs: Path | None = None
    ) -> None:
        self._recorder = recorder
        self._messages = {message.id: message for message in messages}
        self._outputs = outputs
        self._trouble: str | None = None
        self._lock = threading.Lock()
        self._numbers: dict[str, int] = {}
        self.count_cells()

    @property
    def messages(self) -> tuple[Message, ...]:
        """All of them, in order."""
        with self._lock:
            return tuple(self._messages.values())

    def __getitem__(self, id: str) -> Message:
        """Return the message as it stands now."""
        return self._messages[id]

    def number(self, id: str) -> int:
        """Return the number of a cell as screens show it: counted from 1, in the order of appearance."""
        return self._numbers[id]

    def count_cells(self) -> None:
        """Count the cells again, as for a screen that shows the conversation from its beginning."""
        with self._lock:
            cells = [message for message in self._messages.values() if message.is_cell]
            # A turn in another thread reads the numbers at any time, so they are replaced at once.
            self._numbers = {message.id: number for number, message in enumerate(cells, 1)}

    def _count(self, message: Message) -> None:
        """Give a new cell its number; the caller holds the lock."""
        if message.is_cell:
            self._numbers.setdefault(message.id, len(self._numbers) + 1)

    def record(self, message: Message) -> Iterator[Event]:
        """Save a message or its new version, then yield its event.

        Report trouble with saving once, and once that it is over.
        """
        self._store(message)
        yield MessageRecorded(message)
        trouble = self._recorder.trouble
        if trouble and trouble != self._trouble:
            self._trouble = trouble
            yield Noticed(trouble, "warning")
        elif self.saves_again():
            yield Noticed(SAVES_AGAIN)

    def record_events(self, events: Iterable[Event], *, growth: bool = True) -> Steps[Any]:
        """Save what the events say before it is shown; text in flight only with `growth`.

        Returns what the events' own generator returns.
        """
        steps = iter(events)
        while True:
            try:
                event = next(steps)
            except StopIteration as end:
                return end.value
            match event:
                case MessageRecorded(message):
                    if self._outputs and message.role == "computer" and message.type == "image":
                        images.save(message, self._outputs, replace=message.id in self._messages)
                    yield from self.record(message)
                    continue
                case MessageStarted(message):
                    with self._lock:
                        self._count(message)
                    self._recorder.put(message)
                case MessageGrew(id, text) if growth:
                    self._recorder.grow(id, text)
            yield event

    def forget(self, dropped: Sequence[Message]) -> None:
        """Drop these messages, here and where they are saved."""
        ids = [message.id for message in dropped]
        with self._lock:
            for item in ids:
                del self._messages[item]
        if any(message.is_cell for message in dropped):
            self.count_cells()
        self._recorder.forget(ids)

    def from_on(self, id: str, *, keep: bool = False) -> tuple[Message, ...]:
        """Return the message and all that followed; with `keep` only what followed it and what it printed."""
        messages = self.messages
        place = next((i for i, m in enumerate(messages) if m.id == id), len(messages))
        if keep:
            own = (i for i, m in enumerate(messages) if m.role == "computer" and m.parent == id)
            place = max((place, *own)) + 1
        return messages[place:]

    def bring_back(self, dropped: Iterable[Message]) -> None:
        """Put what was dropped at the end again."""
        for message in dropped:
            self._store(message)

    @contextmanager
    def pause_recording(self) -> Iterator[None]:
        """Save nothing within the block, and forget afterwards what came in it."""
        recorder, self._recorder = self._recorder, NullRecorder()
        before = set(self._messages)
        try:
            yield
        finally:
            self._recorder = recorder
            with self._lock:
                self._messages = {item: m for item, m in self._messages.items() if item in before}

    @property
    def fails_to_save(self) -> bool:
        """Whether saving failed, and it is not known yet that it works again."""
        return self._trouble is not None

    def saves_again(self) -> bool:
        """Return whether what could not be saved before is saved by now; true once."""
        with self._lock:
            recovered = self._trouble is not None and self._recorder.trouble is None
            if recovered:
                self._trouble = None
        return recovered

    def _store(self, message: Message) -> None:
        with self._lock:
            self._count(message)
            self._messages[message.id] = message
        self._recorder.put(message)
