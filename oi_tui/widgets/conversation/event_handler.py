"""Turns the events of a session into blocks of a transcript."""

import time
from collections.abc import Callable, Iterable
from typing import Protocol

from oi_tui.engine.events import (
    ApprovalRequested,
    Event,
    FilesChanged,
    MessageGrew,
    MessageRecorded,
    MessageStarted,
    Noticed,
    RetryScheduled,
    RunReported,
    TurnEnded,
    TurnStarted,
)
from oi_tui.messages import (
    InputReceived,
    InputRequested,
    LineReached,
    Message,
    Report,
    Started,
    Starting,
    Stopping,
)
from oi_tui.text import format_duration
from oi_tui.widgets.conversation.blocks import (
    Block,
    EndBlock,
    ImageBlock,
    NoticeBlock,
    OutputBlock,
    ProseBlock,
    ReasoningBlock,
    UserBlock,
)
from oi_tui.widgets.conversation.cells.cell import CellBlock
from oi_tui.widgets.conversation.inline_table import InlineTable
from oi_tui.widgets.conversation.output import Output
from oi_tui.widgets.images.image import ImageRow

#: A turn that took less is not timed, in seconds.
_LONG_TURN = 10.0


class BlockContainer(Protocol):
    """A widget that shows blocks."""

    def add(self, block: Block) -> None:
        """Put a block below the others."""

    def redraw(self, key: str) -> None:
        """Draw the block `key` again soon."""


class EventHandler:
    """Keeps the blocks of a conversation up to date with its events. Ignores unknown messages."""

    def __init__(self, surface: BlockContainer, saved_as: Callable[[Message], str]) -> None:
        self._surface = surface
        self._saved_as = saved_as
        self.blocks: dict[str, Block] = {}
        #: Ids of console and image messages, with the block that shows them.
        self._outputs: dict[str, CellBlock | OutputBlock] = {}
        self._cells = 0
        self._last_cell: CellBlock | None = None
        self._remarks = 0
        self._turn_began = 0.0
        #: When the question that is open was asked; the time that a person takes is not the turn's.
        self._asked: float | None = None

    def find_cell(self, key: str) -> CellBlock | None:
        """Return the cell of a code message."""
        block = self.blocks.get(key)
        return block if isinstance(block, CellBlock) else None

    @property
    def outputs(self) -> list[CellBlock | OutputBlock]:
        """The blocks that show what programs printed."""
        return [block for block in self.blocks.values() if isinstance(block, CellBlock | OutputBlock)]

    def list_printed(self, key: str) -> list[str]:
        """Return the ids of the console and image messages that the block `key` shows, in their order."""
        return [output for output, block in self._outputs.items() if block.key == key]

    def apply(self, event: Event) -> None:
        """Show what happened."""
        match event:
            case TurnStarted():
                self._turn_began, self._asked = time.monotonic(), None
            case MessageStarted(message):
                self._begin(message)
            case MessageGrew(id=key, text=text):
                self._grow(key, text)
            case MessageRecorded(message):
                self._record(message)
            case ApprovalRequested(message):
                self._record(message)
                if cell := self.find_cell(message.id):
                    cell.awaits_approval = True
                    self._asked = time.monotonic()
            case RunReported(id=key, report=report):
                self._report(key, report)
            case FilesChanged(id=key, change_set=change_set):
                if cell := self.find_cell(key):
                    cell.files = change_set
                    self._surface.redraw(key)
            case Noticed(text, severity):
                self._say(NoticeBlock(self._make_remark_key(), text, severity))
            case RetryScheduled(reason, seconds):
                wait = format_duration(seconds) if seconds >= 60 else f"{max(seconds, 1):.0f} s"
                again = f"{reason.rstrip('.')}. Trying again in {wait}."
                self._say(NoticeBlock(self._make_remark_key(), again, "warning"))
            case TurnEnded():
                self._end_turn(event)
            case _:
                pass

    def _make_remark_key(self) -> str:
        self._remarks += 1
        return f"remark {self._remarks}"

    def _say(self, block: Block) -> None:
        self.blocks[block.key] = block
        self._surface.add(block)

    def _begin(self, message: Message) -> None:
        if message.id in self.blocks or message.id in self._outputs:
            return
        match message.role, message.type:
            case "assistant", "message":
                self._say(ProseBlock(message.id, message.content, live=True))
            case "assistant", "reasoning":
                self._say(ReasoningBlock(message.id, message.content, live=True))
            case "computer", "console":
                self._begin_output(message)
            case _:
                self._record(message)

    def _begin_output(self, message: Message) -> Output:
        self._outputs[message.id] = target = self._find_output(message)
        target.output.end_table()
        if message.table and (table := InlineTable.read(message.table)):
            target.output.begin_table(table)
        self._feed(target, _choose_page_text(message))
        return target.output

    def _feed(self, target: CellBlock | OutputBlock, text: str) -> None:
        clears = target.output.clears
        target.output.feed(text)
        if target.output.clears != clears and isinstance(target, CellBlock):
            target.clear_images()
        self._surface.redraw(target.key)

    def _find_output(self, message: Message) -> CellBlock | OutputBlock:
        """Return the cell whose run printed the message; of stored conversations that do not tell,
        the one above.
        """
        owner = self.find_cell(message.parent) if message.parent else self._last_cell
        if owner is None:
            self._say(block := OutputBlock(message.id))
            return block
        return owner

    def _grow(self, key: str, text: str) -> None:
        if not text:
            return
        if target := self._outputs.get(key):
            self._feed(target, text)
            return
        block = self.blocks.get(key)
        if isinstance(block, ProseBlock | ReasoningBlock | CellBlock):
            block.grow(text)
            self._surface.redraw(key)

    def _record(self, message: Message) -> None:
        if message.role == "computer":
            self._record_output(message)
            return
        block = self.blocks.get(message.id)
        match message.type:
            case "code":
                self._record_code(message, block)
            case "reasoning" if isinstance(block, ReasoningBlock):
                block.settle(message.content)
            case "reasoning":
                self._say(ReasoningBlock(message.id, message.content))
            case "image" if block is None:
                self._say(ImageBlock(self._make_image_row(message, message.id)))
            case "image":
                pass
            case _ if message.role == "user":
                text = f"file {message.content}" if message.type == "file" else message.content
                if isinstance(block, UserBlock):
                    block.text = text
                else:
                    self._say(UserBlock(message.id, text))
            case _ if isinstance(block, ProseBlock):
                block.settle(message.content)
            case _:
                self._say(ProseBlock(message.id, message.content))
        if block is not None:
            self._surface.redraw(message.id)

    def _record_output(self, message: Message) -> None:
        if message.format == "active_line":
            return
        if block := self._outputs.get(message.id):
            block.output.end_table()
            if message.type == "image" and isinstance(block, CellBlock):
                self._show_anew(block.images, message)
            return
        if isinstance(image_block := self.blocks.get(message.id), ImageBlock):
            self._show_anew(image_block.images, message)
            return
        if message.type != "image":
            self._begin_output(message).end_table()
            return
        owner = self.find_cell(message.parent) if message.parent else self._last_cell
        if owner is None:
            if message.id not in self.blocks:
                self._say(ImageBlock(self._make_image_row(message, message.id)))
            return
        self._outputs[message.id] = owner
        owner.images.show(self._make_image_row(message, owner.key))
        self._surface.redraw(owner.key)

    @staticmethod
    def _show_anew(images: Iterable[ImageRow], message: Message) -> None:
        for image in images:
            if image.message.id == message.id and image.message.content != message.content:
                image.replace(message)

    def _make_image_row(self, message: Message, key: str) -> ImageRow:
        return ImageRow(message, self._saved_as(message), lambda: self._surface.redraw(key))

    def _record_code(self, message: Message, block: Block | None) -> None:
        if isinstance(block, CellBlock):
            block.update_message(message)
        else:
            self._cells += 1
            self._say(block := CellBlock(message, self._cells))
        self._last_cell = block
        if message.decision is not None and self._asked is not None:
            self._turn_began += time.monotonic() - self._asked
            self._asked = None

    def _report(self, key: str, report: Report) -> None:
        cell = self.find_cell(key)
        if cell is None:
            return
        match report:
            case Starting() | Started():
                cell.starting = isinstance(report, Starting)
            case LineReached(line):
                cell.reach_line(line)
            case InputRequested(prompt, _):
                cell.prompt = prompt
            case InputReceived():
                cell.prompt = None
            case Stopping():
                cell.stopping = report
            case _:
                return
        self._surface.redraw(key)

    def _end_turn(self, event: TurnEnded) -> None:
        took = time.monotonic() - self._turn_began if self._turn_began else 0.0
        reason = event.reason or ""
        if event.setting and event.setting not in reason:
            end = "" if not reason or reason.endswith((".", "!", "?")) else "."
            reason = f"{reason}{end} The setting {event.setting} changes this.".strip()
        key = self._make_remark_key()
        match event.outcome:
            case "done" if took >= _LONG_TURN:
                self._say(EndBlock(key, f"done in {format_duration(took)}"))
            case "interrupted":
                self._say(EndBlock(key, f"stopped by you{': ' + reason if reason else ''}"))
            case "paused":
                self._say(NoticeBlock(key, reason or "The turn is paused.", "warning"))
            case "failed":
                self._say(NoticeBlock(key, reason or "The turn failed.", "error"))
            case _:
                pass


def _choose_page_text(message: Message) -> str:
    """Return what is shown of a page: its words, or nothing where the text above it says the same."""
    if message.type == "code" and message.recipient == "user":
        return ""
    return f"{message.view.rstrip()}\n" if message.type == "code" and message.view else message.content
