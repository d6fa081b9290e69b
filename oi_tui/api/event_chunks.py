"""Converts the events of a turn into Open Interpreter's chunks."""

from collections.abc import Iterator

from oi_tui.api.terminal import InputAnswerer
from oi_tui.engine.events import (
    ApprovalRequested,
    Event,
    MessageRecorded,
    RunReported,
    TurnEnded,
)
from oi_tui.engine.open_interpreter.chunks import Chunk, make_confirmation
from oi_tui.engine.open_interpreter.event_chunks import EventChunkWriter
from oi_tui.messages import InputRequested, Message


class EventChunks:
    """Turns the events of one turn into chunks. An `ApprovalRequested` becomes the question only."""

    def __init__(self, program_input: InputAnswerer) -> None:
        self._writer = EventChunkWriter()
        self._input = program_input

    def convert(self, event: Event) -> Iterator[Chunk]:
        """Yield the chunks of one event."""
        writer = self._writer
        match event:
            case MessageRecorded(Message(type="image") as message):
                yield from writer.piece("computer", "image", message.format, message.content)
            case ApprovalRequested(message):
                yield from writer.end()
                yield make_confirmation(message)
            case RunReported(id, InputRequested() as request):
                if notice := self._input.answer(request, id):
                    yield from writer.notice(notice)
            case MessageRecorded(Message(type="code", seconds=float(), state=state)) if state != "running":
                yield from writer.end_of_run(state)
            case TurnEnded("paused", str(reason), setting) if setting != "max_budget":
                yield from writer.notice(reason)
            case TurnEnded():
                yield from writer.end()
            case _:
                yield from writer.follow(event)
