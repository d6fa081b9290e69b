"""Converts the events that mean the same to every reader of chunks."""

from collections.abc import Iterator

from oi_tui.engine.events import (
    Event,
    MessageGrew,
    MessageRecorded,
    MessageStarted,
    Noticed,
    RunReported,
    TurnStarted,
)
from oi_tui.engine.open_interpreter.chunks import Chunk, ChunkWriter
from oi_tui.messages import LineReached, Message


class EventChunkWriter(ChunkWriter):
    """A writer of chunks that follows the events of turns."""

    def __init__(self) -> None:
        super().__init__()
        #: The messages that began in this turn, by their ids.
        self._started: dict[str, Message] = {}

    def follow(self, event: Event) -> Iterator[Chunk]:
        """Yield the chunks of text that grows, of a run that begins, of its active line and of notices."""
        match event:
            case TurnStarted():
                self._started.clear()
            case MessageStarted(message):
                self._started[message.id] = message
            case MessageGrew(id, text) if started_message := self._started.get(id):
                yield from self.grow(started_message, text)
            case MessageRecorded(Message(type="code", state="running")):
                yield from self.end()
                yield from self.start("computer", "console", None)
            case RunReported(_, LineReached(int() as line)):
                yield from self.piece("computer", "console", "active_line", line)
            case Noticed(text):
                yield from self.notice(text)
