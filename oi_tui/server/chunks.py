"""Converts the events of a session into the chunks of Open Interpreter's server."""

from collections.abc import Iterator
from typing import Any

from oi_tui.engine.events import (
    MessageRecorded,
    RunReported,
    TurnEnded,
)
from oi_tui.engine.open_interpreter.chunks import Chunk
from oi_tui.engine.open_interpreter.event_chunks import EventChunkWriter
from oi_tui.messages import InputRequested, Message
from oi_tui.server.event_log import (
    ApprovalQuestion,
    LogItem,
    MessagesReplaced,
    QuestionAnswered,
    SessionEnded,
)

#: The answer to a message is complete, or waits for "go". The documentation of Open Interpreter shows both
#: forms, the program itself sent the second one.
COMPLETE: tuple[dict[str, Any], ...] = (
    {"role": "assistant", "type": "status", "content": "complete"},
    {"role": "server", "type": "status", "content": "complete"},
)
#: The review of code in which nothing was found.
SAFE = "<SAFE>"


def make_error(text: str) -> Chunk:
    """Return a chunk that reports an error."""
    return {"role": "server", "type": "error", "content": text}


class ClientChunks:
    """Turns events into chunks, for one client."""

    def __init__(self) -> None:
        self._writer = EventChunkWriter()
        #: Turns whose end is not sent, because the client has begun another one.
        self.superseded = 0

    def convert(self, item: LogItem) -> Iterator[Chunk]:
        """Yield the chunks of one event."""
        writer = self._writer
        match item:
            case MessageRecorded(Message(type="image", role="computer") as message):
                yield from writer.piece("computer", "image", message.format, message.content)
            case ApprovalQuestion():
                yield from writer.end()
                yield _describe_question(item)
                yield from COMPLETE
            case RunReported(_, InputRequested(prompt)):
                yield from writer.notice(f"The program waits for input: {prompt}".rstrip())
            case MessageRecorded(Message(type="code", seconds=float(), state=state)) if state != "running":
                yield from writer.piece("computer", "console", "active_line", None)
                yield from writer.end()
            case TurnEnded():
                yield from writer.end()
                yield from self._end(item)
            case SessionEnded(message):
                yield make_error(message)
            case QuestionAnswered() | MessagesReplaced():
                pass
            case _:
                yield from writer.follow(item)

    def _end(self, ended: TurnEnded) -> Iterator[Chunk]:
        if self.superseded:
            self.superseded -= 1
            return
        if ended.outcome in ("failed", "paused"):
            setting = f" (setting {ended.setting})" if ended.setting else ""
            yield make_error(f"{ended.reason or 'The turn ended early.'}{setting}")
        yield from COMPLETE


def _describe_question(question: ApprovalQuestion) -> Chunk:
    content = SAFE if question.harmless else "; ".join(question.findings)
    caution = question.request.caution
    return {
        "role": "assistant",
        "type": "review",
        "content": f"{caution} {content}" if caution else content,
        "hash": question.hash,
    }
