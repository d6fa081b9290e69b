"""The newest events of a session, numbered, for readers of any speed."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from oi_tui.engine.events import ApprovalRequested, Event, MessageGrew, MessageRecorded, RunReported
from oi_tui.engine.review.permissions import Permission
from oi_tui.messages import ValueEnded

#: What an event takes in memory besides its text, in bytes.
_OVERHEAD = 400
#: Events that a reader gets at once.
_BATCH = 64


@dataclass(frozen=True, slots=True)
class ApprovalQuestion:
    """Asks whether code may run. An answer names the id and the hash of the code that was shown."""

    id: str
    request: ApprovalRequested = field(repr=False)
    hash: str
    #: The program that would run the code, its folder, and what the scan of the code found.
    program: str
    folder: str
    findings: tuple[str, ...]
    harmless: bool
    #: Permissions that may be given with "always", from narrow to wide; none unless the server allows them.
    offers: tuple[Permission, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionAnswered:
    """The question is closed; `withdrawn` where nobody answered it."""

    id: str
    decision: Literal["run", "edit", "reject", "withdrawn"]


@dataclass(frozen=True, slots=True)
class MessagesReplaced:
    """The conversation has other messages now."""


#: What clients get when their session is ended.
SESSION_ENDED = "The session was ended."


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """The session was ended. Nothing follows."""

    message: str = SESSION_ENDED


#: What a log holds.
LogItem = Event | ApprovalQuestion | QuestionAnswered | MessagesReplaced | SessionEnded


@dataclass(frozen=True, slots=True)
class LogEntry:
    """An event and its number, one more than that of the event before."""

    number: int
    item: LogItem


class GapError(Exception):
    """The next events of a reader are no longer kept; it needs the whole state instead."""


class EventLog:
    """Keeps the newest events, up to a number of bytes. Threads write it, tasks of an event loop read it.

    The numbers begin with the time, in milliseconds: after a restart of the server they are greater than all
    before, so that a client that comes back with an old one gets the whole state.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._lock = threading.Lock()
        self._entries: deque[tuple[LogEntry, int]] = deque()
        self._bytes = 0
        #: The number before the first.
        self.start = self._last = time.time_ns() // 1_000_000
        self._readers: set[EventReader] = set()
        #: Whether the last event is that the session was ended.
        self._is_over = False
        #: The event loops that are about to wake their readers.
        self._waking: set[asyncio.AbstractEventLoop] = set()

    @property
    def last(self) -> int:
        """The number of the newest event, or of the one that would come before the first."""
        return self._last

    @property
    def first(self) -> int:
        """The number of the oldest event that is kept, or of the next one where none is."""
        with self._lock:
            return self._entries[0][0].number if self._entries else self._last + 1

    @property
    def kept_bytes(self) -> int:
        """About how many bytes the kept events take."""
        return self._bytes

    @property
    def readers(self) -> int:
        """The number of readers whose owner can answer questions."""
        return sum(reader.watches for reader in self._readers)

    def is_over_at(self, number: int) -> bool:
        """Return whether nothing will follow after `number`, because the session was ended."""
        with self._lock:
            return self._is_over and number >= self._last

    def append(self, item: LogItem) -> None:
        """Add an event, drop the oldest ones if there are too many bytes, and wake the readers.

        After SessionEnded, do nothing.
        """
        with self._lock:
            if self._is_over:
                return
            self._is_over = isinstance(item, SessionEnded)
            self._last += 1
            size = _OVERHEAD + _measure(item)
            self._entries.append((LogEntry(self._last, item), size))
            self._bytes += size
            while self._bytes > self._most and len(self._entries) > 1:
                self._bytes -= self._entries.popleft()[1]
            sleeping = {reader.loop for reader in self._readers if not reader.is_awake} - self._waking
            self._waking |= sleeping
        # Once for all readers of a loop: each call is a system call, during which other threads may go first.
        for loop in sleeping:
            try:
                loop.call_soon_threadsafe(self._wake, loop)
            except RuntimeError:  # the loop is closed
                self._waking.discard(loop)

    def _wake(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wake the readers of a loop, in that loop."""
        with self._lock:
            self._waking.discard(loop)
            readers = [reader for reader in self._readers if reader.loop is loop]
        for reader in readers:
            reader.wake()

    def after(self, number: int) -> Sequence[LogEntry]:
        """Return some events that follow `number`. Raises GapError where the next one is no longer kept."""
        with self._lock:
            if number >= self._last:
                return ()
            first = self._entries[0][0].number if self._entries else self._last + 1
            if number + 1 < first:
                raise GapError
            start = number + 1 - first
            stop = min(start + _BATCH, len(self._entries))
            return [self._entries[place][0] for place in range(start, stop)]

    def add(self, reader: "EventReader") -> None:
        """Wake this reader from now on."""
        with self._lock:
            self._readers.add(reader)

    def remove(self, reader: "EventReader") -> None:
        """Stop waking this reader."""
        with self._lock:
            self._readers.discard(reader)


class EventReader:
    """One reader of a log, in the event loop in which it is made. Use it as a context manager."""

    def __init__(self, log: EventLog, after: int | None = None, *, watches: bool = True) -> None:
        self._log = log
        #: Whether its owner can answer questions.
        self.watches = watches
        self.loop = asyncio.get_running_loop()
        self._ready = asyncio.Event()
        self.number = log.last if after is None else after

    def __enter__(self) -> "EventReader":
        self._log.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._log.remove(self)

    @property
    def is_awake(self) -> bool:
        """Whether it will look for events by itself."""
        return self._ready.is_set()

    def wake(self) -> None:
        """Wake the reader: there are more events. Called in its event loop."""
        self._ready.set()

    def skip(self) -> None:
        """Continue after the newest event."""
        self.number = self._log.last

    async def next(self, timeout: float | None = None) -> Sequence[LogEntry]:
        """Return the next events, at least one; none after `timeout` seconds. Raises GapError."""
        while True:
            self._ready.clear()
            if events := self._log.after(self.number):
                self.number = events[-1].number
                return events
            try:
                await asyncio.wait_for(self._ready.wait(), timeout)
            except TimeoutError:
                return ()


def _measure(item: LogItem) -> int:
    match item:
        case MessageGrew(_, text):
            return len(text)
        case MessageRecorded(message):
            return len(message.content)
        case ApprovalQuestion(request=request):
            return len(request.message.content)
        case RunReported(_, ValueEnded(forms)):
            return sum(map(len, forms.values()))
    return 0
