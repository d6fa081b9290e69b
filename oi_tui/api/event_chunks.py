"""Converts the events of a turn into Open Interpreter's chunks."""

from collections.abc import Iterator

from oi_tui.api.terminal import ProgramInput
from oi_tui.engine.events import (
    ApprovalRequested,
    Event,
    MessageGrew,
    MessageRecorded,
    MessageStarted,
    Noticed,
    RunReported,
    TurnEnded,
)
from oi_tui.engine.open_interpreter.chunks import Chunk, ChunkWriter, make_confirmation
from oi_tui.messages import InputRequested, LineReached, Message


class EventChunks:
    """Turns the events of one turn into chunks. An `ApprovalRequested` becomes the question only."""

    def __init__(self, program_input: ProgramInput) -> None:
        self._writer = ChunkWriter()
        self._started: dict[str, Message] = {}
        self._input = program_input

    def convert(self, event: Event) -> Iterator[Chunk]:
        """The chunks of one event."""
        writer = self._writer
        match event:
            case MessageStarted(message):
                self._started[message.id] = message
            case MessageGrew(id, text) if known := self._started.get(id):
                yield from writer.grow(known, text)
            case MessageRecorded(Message(type="image") as message):
                yield from writer.piece("computer", "image", message.format, message.content)
            case ApprovalRequested(message):
                yield from writer.end()
                yield make_confirmation(message)
            case RunReported(id, InputRequested() as request):
                if notice := self._input.answer(request, id):
                    yield from writer.notice(notice)
            case MessageRecorded(Message(type="code", state="running")):
                yield from writer.end()
                yield from writer.start("computer", "console", None)
            case RunReported(_, LineReached(int() as line)):
                yield from writer.piece("computer", "console", "active_line", line)
            case MessageRecorded(Message(type="code", seconds=float()) as message):
                yield from writer.end_of_run(message.state)
            case Noticed(text):
                yield from writer.notice(text)
            case TurnEnded("paused", str(reason), setting) if setting != "max_budget":
                yield from writer.notice(reason)
            case TurnEnded():
                yield from writer.end()
