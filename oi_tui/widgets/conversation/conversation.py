"""The conversation widget; one of its cells at a time can be edited in place."""

from collections.abc import Callable

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.events import Click
from textual.message import Message as Notification
from textual.widget import Widget
from textual.widgets import Static, TextArea

from oi_tui.engine.events import ApprovalRequested, Event, MessageRecorded, RunReported
from oi_tui.messages import Message
from oi_tui.widgets.conversation.activity import ActivityLine
from oi_tui.widgets.conversation.blocks import Block, ImageBlock, OutputBlock, UserBlock
from oi_tui.widgets.conversation.cells.cell import CellBlock
from oi_tui.widgets.conversation.cells.cell_editor import CellEditor
from oi_tui.widgets.conversation.cells.running_cells import RunningCells
from oi_tui.widgets.conversation.event_handler import EventHandler
from oi_tui.widgets.conversation.inline_table import InlineTable
from oi_tui.widgets.conversation.output import count_lines
from oi_tui.widgets.conversation.search import Match, build_pattern, find_place, unfold
from oi_tui.widgets.conversation.transcript import Transcript
from oi_tui.widgets.editor.code_editor import CodeEditor
from oi_tui.widgets.images.image import ImageRow

#: Why a letter did nothing to a block. The other letters are for code only.
_WHY_NOT = {
    "image": "This block has no image.",
    "copy": "This block has nothing to copy.",
    "copy_output": "This block has no output to copy.",
    "open": "This block has no output to open.",
    "fold": "This block cannot be folded.",
    "enter": "This block has no table and cannot be folded.",
    "view": "This block has no output.",
    "edit": "Only code and your own messages can be edited.",
}


class NewBelow(Static):
    """A line at the lower edge that counts new lines below; a click goes there."""

    class Pressed(Notification):
        """The person wants to see it."""

    def on_click(self, event: Click) -> None:
        """Go to the end."""
        event.stop()
        self.post_message(self.Pressed())


class Conversation(Widget):
    """The conversation, from the first message to the last.

    `apply` takes the events of a session. `edit` puts an editor over the code of a cell, where it stands.
    """

    class Copied(Notification):
        """The person wants `text` on the clipboard; `what` names it: "the code", "the output"…"""

        def __init__(self, text: str, what: str) -> None:
            super().__init__()
            self.text = text
            self.what = what

    class ActionRequested(Notification):
        """The person wants something done with the block `key`.

        Of a cell: "view", "diff", "run", "edit", "save" or "restore" its files. Of one that shows images:
        look at the "image". Of any block: "read" all of it, see the "model_view" of it, go "back"
        to it, or "branch" there.
        """

        def __init__(self, key: str, what: str) -> None:
            super().__init__()
            self.key = key
            self.what = what

    class TableRequested(Notification):
        """The person wants to see all of a table."""

        def __init__(self, table: InlineTable) -> None:
            super().__init__()
            self.table = table

    def __init__(self, id: str | None = None, *, saved_as: Callable[[Message], str] | None = None) -> None:
        """`saved_as` tells under which path the image of an image message is found, "" for none."""
        super().__init__(id=id)
        self.transcript = Transcript()
        self.transcript.on_moved = self._move_overlays
        self.transcript.scroll_mode.on_change = self._hold_outputs
        self.transcript.question_open = lambda: any(
            isinstance(block, CellBlock) and block.awaits_approval for block in self._story.outputs
        )
        self.cell_editor = CellEditor(self, self.transcript)
        self._new_below = NewBelow(id="new-below")
        self._saved_as = saved_as or (lambda _: "")
        self._story = EventHandler(self.transcript, self._saved_as)
        #: The cell whose beginning is kept in view while it waits for approval.
        self._held: CellBlock | None = None
        self._running_cells = RunningCells(self.transcript)
        #: What is being waited for, where the answer will appear.
        self.activity_line = ActivityLine(self.transcript)

    def compose(self) -> ComposeResult:
        """Yield the transcript; above it, when needed, the editor and the line about what came below."""
        self._new_below.display = False
        yield self.transcript
        yield from self.cell_editor.widgets()
        yield self._new_below

    def on_mount(self) -> None:
        """Start the timers."""
        self._running_cells.start_timer()
        self.activity_line.start_timer()

    def apply(self, event: Event) -> None:
        """Show what happened. Events about unknown messages are ignored."""
        if isinstance(event, MessageRecorded | ApprovalRequested):
            self._handle_recorded(event.message)
        self._story.apply(event)
        if isinstance(event, MessageRecorded) and (cell := self._story.find_cell(event.message.id)):
            self._watch(cell)
        elif isinstance(event, RunReported):
            self._running_cells.follower.follow()
        elif isinstance(event, ApprovalRequested) and (cell := self._story.find_cell(event.message.id)):
            self.transcript.redraw(cell.key)
            if self.transcript.scroll_mode.follows_end:
                self._held = cell
                self.call_after_refresh(self._show_held)

    def clear(self) -> None:
        """Show an empty conversation."""
        self.cell_editor.cancel()
        self._story = EventHandler(self.transcript, self._saved_as)
        self._held = None
        self._running_cells.clear()
        self.transcript.replace()

    def _handle_recorded(self, message: Message) -> None:
        """Close the editor when its code was answered elsewhere."""
        if self.cell_editor.key == message.id and message.decision is not None:
            self.cell_editor.cancel()

    def _watch(self, cell: CellBlock) -> None:
        self._running_cells.watch(cell)
        if self._held is cell and not cell.awaits_approval:
            self._held = None
            self.transcript.action_scroll_end()

    def _show_held(self) -> None:
        if self._held is not None and not self.cell_editor.is_open:
            self.reveal(self._held.key)

    def _hold_outputs(self, following: bool) -> None:
        """Freeze the shown end of running output while the person reads above."""
        for block in self._story.outputs:
            if not following and isinstance(block, CellBlock) and block.live:
                block.output.freeze()
            elif following and block.output.thaw():
                self.transcript.redraw(block.key)

    @property
    def printing(self) -> list[CellBlock | OutputBlock]:
        """The blocks that show what programs printed, or will."""
        return self._story.outputs

    @property
    def images(self) -> list[tuple[str, ImageRow]]:
        """All images, each with the key of the block that shows it."""
        blocks = self._story.blocks.values()
        own = (block for block in blocks if isinstance(block, CellBlock | ImageBlock))
        return [(block.key, image) for block in own for image in block.images]

    def block(self, key: str) -> Block | None:
        """Return the block with this key."""
        return self._story.blocks.get(key)

    def list_printed(self, key: str) -> list[str]:
        """Return the ids of the messages with what the cell `key` printed, plotted and showed."""
        return self._story.list_printed(key)

    # Editing in place

    def edit(self, message_id: str) -> bool:
        """Open an editor over the code of a cell, with the focus; False when there is no such cell."""
        cell = self._story.find_cell(message_id)
        if cell is None:
            return False
        self.cell_editor.open(cell)
        return True

    def show_code(self, message_id: str, code: str) -> None:
        """Show code in a cell that the person edited elsewhere."""
        cell = self._story.find_cell(message_id)
        if cell is not None:
            cell.set_edited(code)
            self.transcript.redraw(cell.key)

    def flag(self, message_id: str, lines: frozenset[int]) -> None:
        """Mark lines of a cell, counted from 1, as worth a look."""
        cell = self._story.find_cell(message_id)
        if cell is not None and cell.flag(lines):
            self.transcript.redraw(cell.key)

    @on(TextArea.Changed)
    @on(CodeEditor.Wrapped)
    def _fit_editor(self) -> None:
        self.cell_editor.fit()

    @on(CodeEditor.CompletionsOffered)
    def _list_completions(self, event: CodeEditor.CompletionsOffered) -> None:
        event.stop()
        self.cell_editor.list_completions(event)

    def _move_overlays(self) -> None:
        """Move what lies above the transcript after it was scrolled or laid out."""
        self.cell_editor.move()
        below = self.transcript.new_below
        self._new_below.display = below > 0
        if below:
            self._new_below.update(Content(f"↓ {count_lines(below)} new below · end"))

    # Moving about

    def reveal(self, message_id: str) -> None:
        """Scroll so that a message can be read, from its beginning where it is higher than the view."""
        self.transcript.reveal(message_id)

    @property
    def first_in_view(self) -> int:
        """The number of the first block that is in view."""
        return self.transcript.layout_of_blocks.find_block_at(round(self.transcript.scroll_y))

    def mark(self, match: Match | None, text: str) -> None:
        """Show a match of the search, and mark it; None removes the mark."""
        self.transcript.flush()
        index = self.transcript.layout_of_blocks.find_block(match.key) if match else None
        if match is None or index is None:
            self.transcript.unmark()
            return
        block = self.transcript.blocks[index]
        if unfold(block, match):
            self.transcript.redraw(block.key)
            self.transcript.flush()
        row, span = find_place(block, self.transcript.draw_block(index), match, text)
        self.transcript.mark(index, row, span, build_pattern(text))

    def scroll_end(self, *_: object, **__: object) -> None:
        """Go to the end and follow it."""
        self.transcript.action_scroll_end()

    def page_up(self) -> None:
        """Read what is above."""
        self.transcript.action_page_up()

    def page_down(self) -> None:
        """Read what is below."""
        self.transcript.action_page_down()

    def move_cursor(self, step: int) -> None:
        """Move the block cursor up (-1) or down (1) and give it the keys."""
        self.transcript.focus()
        self.transcript.action_move(step)

    def count_hidden_lines(self, message_id: str) -> int:
        """Return the number of code lines of a cell below the view; 0 where there is no such cell."""
        cell = self._story.find_cell(message_id)
        self.transcript.flush()
        place = self.transcript.find_block_top(message_id)
        if cell is None or place is None:
            return 0
        return cell.count_lines_below(self.transcript.size.height - place)

    @on(NewBelow.Pressed)
    def _to_end(self) -> None:
        self.scroll_end()

    def on_resize(self) -> None:
        """Keep the cell that waits for an answer in view, and the editor over its cell."""
        self.call_after_refresh(self._show_held)
        self.call_after_refresh(self._fit_editor)
        self.call_after_refresh(self._running_cells.follower.follow)

    @on(Transcript.TableChosen)
    def _open_table(self, event: Transcript.TableChosen) -> None:
        event.stop()
        if isinstance(event.table, InlineTable):
            self.post_message(self.TableRequested(event.table))

    @on(Transcript.BlockKeyPressed)
    def _act(self, event: Transcript.BlockKeyPressed) -> None:
        event.stop()
        block = event.block
        match event.what:
            case "enter" if isinstance(block, CellBlock | OutputBlock) and (tables := block.output.tables):
                self.post_message(self.TableRequested(tables[-1]))
            case "enter" | "fold" if block.fold():
                self.transcript.redraw(block.key)
            case "copy" if text := block.source():
                self.post_message(self.Copied(text, block.name))
            case "copy_output" if isinstance(block, CellBlock | OutputBlock) and block.output:
                self.post_message(self.Copied(block.output.text.plain(), "the output"))
            case "open" if isinstance(block, CellBlock) and block.open_output():
                self.transcript.redraw(block.key)
            case "open" if isinstance(block, OutputBlock) and block.fold():
                self.transcript.redraw(block.key)
            case "view" if isinstance(block, CellBlock | OutputBlock):
                self.post_message(self.ActionRequested(block.key, event.what))
            case "diff" | "run" | "edit" | "save" | "restore" if isinstance(block, CellBlock):
                self.post_message(self.ActionRequested(block.key, event.what))
            case "image" if isinstance(block, CellBlock | ImageBlock) and block.images:
                self.post_message(self.ActionRequested(block.key, "image"))
            case "edit" if isinstance(block, UserBlock):
                self.post_message(self.ActionRequested(block.key, "branch"))
            case "back" | "branch" | "model_view" | "read":
                self.post_message(self.ActionRequested(block.key, event.what))
            case what:
                self.notify(_WHY_NOT.get(what, "This works on code only."), timeout=2)
