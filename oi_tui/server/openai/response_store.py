"""The responses of the server: each has its own task, and is kept for clients that come back."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from oi_tui.messages import Message
from oi_tui.server.event_log import EventReader, GapError
from oi_tui.server.guard import RequestRefusedError
from oi_tui.server.hosted_session import HostedSession
from oi_tui.server.openai.response_builder import Event, ResponseBuilder
from oi_tui.server.openai.response_request import REFERENCE, Item, ResponseRequest, compute_digests

#: So many responses are kept, and about so many bytes of their requests and events.
_MOST_KEPT = 1_000
_MOST_BYTES = 64_000_000


class StoredResponse:
    """A running or finished response with the events of its stream. It belongs to one event loop."""

    def __init__(
        self, request: ResponseRequest, session: HostedSession, earlier: "StoredResponse | None"
    ) -> None:
        self.id = f"resp_{secrets.token_hex(24)}"
        self.request = request
        self.session = session
        #: All that was said before, by the client and by this server.
        self.history: tuple[Item, ...] = earlier.items if earlier else ()
        self._history_digest = earlier.digest if earlier else b""
        #: The instructions that the session got last.
        self.instructions: str | None = request.instructions or (earlier.instructions if earlier else None)
        #: What it takes in memory, about: the items of its request, and its events.
        self.bytes = len(json.dumps(request.items))
        self.over = False
        #: The digest of the whole conversation, once the response is over.
        self.digest: bytes = b""
        self._builder = ResponseBuilder(self.id, request)
        self._lines: list[bytes] = []
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def response(self) -> Event:
        """The response in its current state."""
        return self._builder.response

    @property
    def inputs(self) -> tuple[Item, ...]:
        """The items before the response: earlier ones, and those of its request."""
        return (*self.history, *self.request.items)

    @property
    def items(self) -> tuple[Item, ...]:
        """All items of the conversation, up to the end of the response."""
        return (*self.inputs, *self.response["output"])

    async def begin(self, work: Callable[[], None], messages: Sequence[Message]) -> None:
        """Call `work`, and collect its events in a task. Raises what `work` raises."""
        message_ids = frozenset(message.id for message in messages)
        self._builder = ResponseBuilder(self.id, self.request, message_ids, self.session.messages)
        reader = EventReader(self.session.log)
        reader.__enter__()
        try:
            await asyncio.to_thread(work)
        except BaseException:
            reader.__exit__(None, None, None)
            raise
        for event in self._builder.begin():
            self._add(event)
        self._task = asyncio.create_task(self._follow(reader))

    async def _follow(self, reader: EventReader) -> None:
        try:
            while not self._builder.is_over():
                try:
                    items = [entry.item for entry in await reader.next()]
                except GapError:
                    state = self.session.snapshot()
                    reader.number = state.number
                    items = list(self._builder.rebuild_missed(state))
                for item in items:
                    if not self._builder.is_over():
                        for event in self._builder.feed(item):
                            self._add(event)
        finally:
            reader.__exit__(None, None, None)
            self.over = True
            self._add(self._builder.end())
            new = (*self.request.items, *self.response["output"])
            self.digest = compute_digests(new, self._history_digest)[-1]

    def _add(self, event: Event) -> None:
        line = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
        self._lines.append(line)
        self.bytes += len(line)
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def stream_lines(self, after: int = -1) -> AsyncIterator[bytes]:
        """Yield the events after a number as server-sent events, up to the last one."""
        place = after + 1
        while True:
            while place < len(self._lines):
                yield self._lines[place]
                place += 1
            if self.over:
                return
            await self._changed.wait()

    async def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end, at most `seconds`. Returns whether the response has ended."""
        if self._task and not self.over:
            await asyncio.wait([self._task], timeout=seconds)
        return self.over

    async def cancel(self, seconds: float) -> None:
        """Stop the work and wait for its end, at most `seconds`. A second call ends the language."""
        question = self.session.question
        own = question is not None and any(item["id"] == question.id for item in self.response["output"])
        if not self.over or own:
            await asyncio.to_thread(self.session.stop)
            await self.wait(seconds)
        if own:
            # The response was over with its question, and the turn is not yet.
            await asyncio.to_thread(self.session.wait, seconds)


class ResponseStore:
    """Keeps responses, by their ids and by their history. The oldest ones are dropped."""

    def __init__(self) -> None:
        self._responses: dict[str, StoredResponse] = {}
        #: The newest response of each session: the only one that the session itself can continue.
        self._newest: dict[str, StoredResponse] = {}

    def put(self, stored: StoredResponse) -> None:
        """Add the newest response of its session.

        It can be found by its id if the client has asked for that.
        """
        self._newest[stored.session.id] = stored
        if stored.request.store:
            self._responses[stored.id] = stored
        self._forget_old()

    def find(self, id: str, *, param: str | None = None) -> StoredResponse:
        """Return the response with this id.

        Raises RequestRefusedError, with `param` as the name of the field.
        """
        if response := self._responses.get(id):
            return response
        # OpenAI answers so, and clients that send the whole conversation then look at the two.
        status, code = (400, "previous_response_not_found") if param else (404, None)
        raise RequestRefusedError(
            status,
            f"There is no response {id[:100]!r}: it was deleted or not stored, or the server was restarted.",
            param=param,
            code=code,
        )

    def resolve(self, items: Sequence[Item]) -> tuple[Item, ...]:
        """Return the items, with stored ones in the place of references to them.

        A second reference to an item stays: it adds nothing. Raises RequestRefusedError.
        """
        references = {item["id"]: number for number, item in enumerate(items) if item["type"] == REFERENCE}
        if not references:
            return tuple(items)
        stored = [response for response in self._responses.values() if response.over]
        groups = [response.request.items for response in stored]
        # The server's own items come last, so that none of a client takes their place.
        groups += [response.response["output"] for response in stored]
        items_by_id = {item["id"]: item for group in groups for item in group if item["id"] in references}
        for name, number in references.items():
            if name not in items_by_id:
                raise RequestRefusedError(
                    404,
                    f"There is no item {name[:100]!r}: its response was deleted or not stored, or the server "
                    "was restarted. Send the item itself.",
                    param=f"input[{number}].id",
                )
        return tuple(
            items_by_id.pop(item["id"], item) if item["type"] == REFERENCE else item for item in items
        )

    def continues(self, stored: StoredResponse) -> bool:
        """Return whether nothing happened in the session of a response since the response ended."""
        return self._newest.get(stored.session.id) is stored and not stored.session.closed

    def match(self, items: Sequence[Item]) -> tuple[StoredResponse, int] | None:
        """Return the response whose whole conversation begins `items`, and how many items that is.

        None for none.
        """
        places = {digest: place for place, digest in enumerate(compute_digests(items)[:-1], 1)}
        matches = [
            (places[stored.digest], stored)
            for stored in self._newest.values()
            if stored.over and stored.request.store and stored.digest in places and self.continues(stored)
        ]
        if not matches:
            return None
        place, stored = max(matches, key=lambda item: item[0])
        return stored, place

    def find_by_question(self, id: str) -> StoredResponse | None:
        """Return the response that ended with this open question; None for none."""
        for stored in self._newest.values():
            question = stored.session.question
            if question is not None and secrets.compare_digest(question.id.encode(), id.encode()):
                return stored
        return None

    def remove(self, id: str) -> StoredResponse | None:
        """Drop a response. Returns it if it was the last one of its session, else None."""
        stored = self.find(id)
        del self._responses[id]
        if self._newest.get(stored.session.id) is not stored:
            return None
        del self._newest[stored.session.id]
        return stored

    def _forget_old(self) -> None:
        self._newest = {name: stored for name, stored in self._newest.items() if not stored.session.closed}
        total = sum(stored.bytes for stored in self._responses.values())
        for stored in list(self._responses.values()):
            if len(self._responses) <= _MOST_KEPT and total <= _MOST_BYTES:
                return
            if stored.over:
                total -= stored.bytes
                del self._responses[stored.id]


def list_items(items: Sequence[Item], *, after: str | None, limit: int, ascending: bool) -> dict[str, Any]:
    """Return a page of items in OpenAI's list format. Raises RequestRefusedError."""
    ordered = list(items if ascending else reversed(items))
    if after is not None:
        place = next((place for place, item in enumerate(ordered, 1) if item.get("id") == after), None)
        if place is None:
            raise RequestRefusedError(400, "after must be the id of an item of this response.", param="after")
        ordered = ordered[place:]
    data = ordered[:limit]
    return {
        "object": "list",
        "data": data,
        "first_id": data[0].get("id") if data else None,
        "last_id": data[-1].get("id") if data else None,
        "has_more": len(ordered) > limit,
    }
