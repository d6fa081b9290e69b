"""What the clients that watch a session are sent, as JSON that is made once for all of them."""

import asyncio
import json
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from oi_tui.server import wire
from oi_tui.server.event_log import EventReader, GapError, LogEntry, MessagesReplaced
from oi_tui.server.hosted_session import HostedSession

#: Characters of events that are kept as JSON. Clients that are about as far as others share them.
_KEPT = 500_000
#: A state is sent to further clients until so many events have followed.
_STATE_AGE = 256
#: Events that a client gets before it is the turn of the next client.
_AT_ONCE = 16
#: Clients that are sent something in one turn of the event loop.
_CLIENTS_AT_ONCE = 2


class Turnstile:
    """Lets a few tasks go on in each turn of the event loop, so that requests are answered in between.

    Each send is a system call, after which the loop may have to wait for the thread of a session.
    """

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def wait(self) -> None:
        """Wait for the caller's turn."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self._let_in, loop)
        turn = loop.create_future()
        self._waiting.append(turn)
        await turn

    def _let_in(self, loop: asyncio.AbstractEventLoop) -> None:
        for _ in range(min(_CLIENTS_AT_ONCE, len(self._waiting))):
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
        if self._waiting:
            loop.call_soon(self._let_in, loop)


class SessionRecord(NamedTuple):
    """An event or the whole state of a session as JSON. The next record continues after its number."""

    number: int
    text: str


class SessionRecords:
    """The records of one session, for any number of clients in one event loop."""

    def __init__(self, session: HostedSession, turnstile: Turnstile) -> None:
        self.session = session
        self._turnstile = turnstile
        self._texts: OrderedDict[int, str] = OrderedDict()
        self._characters = 0
        self._state: SessionRecord | None = None
        #: The part of the state that changes without an event, such as the title.
        self._head: Mapping[str, Any] = {}
        self._readers = 0

    async def read(
        self, after: int | None, heartbeat: float | None = None
    ) -> AsyncIterator[Sequence[SessionRecord]]:
        """Yield the events after `after`. Without it, or if they are not kept, the whole state comes first.

        0 stands for the beginning. Nothing is in what is yielded after so many seconds without an event. The
        end of the session is the end.
        """
        log = self.session.log
        after = log.start if after == 0 else after
        can_continue = after is not None and after <= log.last
        with self._counted(), EventReader(log, after if can_continue else None) as reader:
            if not can_continue:
                # Found at once: what the client does next is no part of it.
                state = self._continue_from_state(reader)
                await self._turnstile.wait()
                yield [state]
            while not log.is_over_at(reader.number):
                try:
                    entries = await reader.next(heartbeat)
                except GapError:
                    await self._turnstile.wait()
                    yield [self._continue_from_state(reader)]
                    continue
                replaced = [entry.number for entry in entries if isinstance(entry.item, MessagesReplaced)]
                if replaced:
                    # What came before is in the state, too.
                    await self._turnstile.wait()
                    yield [self._continue_from_state(reader, replaced[-1])]
                    continue
                for start in range(0, max(len(entries), 1), _AT_ONCE):
                    await self._turnstile.wait()
                    part = entries[start : start + _AT_ONCE]
                    yield [SessionRecord(entry.number, self._encode(entry)) for entry in part]

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Drop everything once the last reader is gone."""
        self._readers += 1
        try:
            yield
        finally:
            self._readers -= 1
            if not self._readers:
                self._texts.clear()
                self._characters, self._state = 0, None

    def _continue_from_state(self, reader: EventReader, least: int = 0) -> SessionRecord:
        """Return the whole state with a number of at least `least`; the reader continues after it."""
        session, state = self.session, self._state
        head = wire.describe_session(session)
        oldest = max(least, session.log.first - 1, session.log.last - _STATE_AGE)
        if state is None or state.number < oldest or head != self._head:
            described = wire.describe_state(session)
            state = self._state = SessionRecord(described["number"], json.dumps(described))
            self._head = head
        reader.number = state.number
        return state

    def _encode(self, entry: LogEntry) -> str:
        text = self._texts.get(entry.number)
        if text is None:
            text = json.dumps(wire.encode_entry(entry, self.session.id))
            self._texts[entry.number] = text
            self._characters += len(text)
            while self._characters > _KEPT and len(self._texts) > 1:
                self._characters -= len(self._texts.popitem(last=False)[1])
        return text
