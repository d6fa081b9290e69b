"""What a client of Open Interpreter's protocol still has to get. It outlives the client's connection."""

import copy
import secrets
from collections import deque
from typing import NamedTuple, Self

from oi_tui.engine.open_interpreter.chunks import Chunk
from oi_tui.server.chunks import ClientChunks
from oi_tui.server.event_log import ApprovalQuestion, LogEntry


class UnsentChunk(NamedTuple):
    """A chunk to send, and the id of the question whose code was before it; "" for none."""

    chunk: Chunk
    question: str = ""


class Feed:
    """Chunks to send, and the number of the event that they come after.

    The next client starts with a copy. So it gets what came while nobody was connected, and what the client
    before it did not acknowledge.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.chunks = ClientChunks()
        self.unsent: deque[UnsentChunk] = deque()
        #: The question whose code was sent, so that "go" cannot mean another one.
        self.shown = ""
        #: Whether the chunk before said that the answer is complete.
        self.complete = False

    def copy_for_next_client(self) -> Self:
        """Return a copy for another connection. The second form of "complete" is left out after the first."""
        other = copy.copy(self)
        other.chunks = copy.deepcopy(self.chunks)
        other.unsent = deque(item for item in self.unsent if not (self.complete and _completes(item.chunk)))
        return other

    def add(self, entry: LogEntry, *, number: bool) -> None:
        """Add the chunks of an event; with `number`, each has an id to acknowledge it by."""
        self.number = entry.number
        question = entry.item.id if isinstance(entry.item, ApprovalQuestion) else ""
        for chunk in self.chunks.convert(entry.item):
            numbered_chunk = {**chunk, "id": secrets.token_hex(8)} if number else chunk
            self.unsent.append(UnsentChunk(numbered_chunk, question if _completes(chunk) else ""))

    def note_sent(self) -> None:
        """Take away the first chunk: it arrived."""
        self.complete = _completes(self.unsent.popleft().chunk)


def _completes(chunk: Chunk) -> bool:
    return chunk.get("type") == "status"
