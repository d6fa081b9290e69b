"""The conversation: its blocks, a cursor that moves between them, and their painting."""

import re
from collections import deque
from collections.abc import Callable, Iterable
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.events import Click, MouseMove
from textual.geometry import Offset
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip

from oi_tui.widgets.conversation.block_keys import BLOCK_ACTIONS, KEYS, find_hint, format_hint
from oi_tui.widgets.conversation.block_view import BlockView
from oi_tui.widgets.conversation.blocks import Block, UserBlock
from oi_tui.widgets.conversation.layout import FoundRow
from oi_tui.widgets.conversation.rows import Row, RowTable
from oi_tui.widgets.conversation.selection import MARGIN, copy_rows, find_clicked_span, paint_selection
from oi_tui.widgets.idle import get_changed_keys
from oi_tui.widgets.truncate import measure_width

#: How many rows are kept as they were painted: those of a large screen, and some to scroll.
_PAINTINGS = 500
#: A header that stays at the top while its cell is read is underlined.
_ABOVE = Style(underline=True)
#: The style of matches other than the current one.
_ALSO_FOUND = Style(underline=True, bold=True)
#: The characters of the margin of the block with the cursor.
_FOCUSED = {" ": "▎", "╭": "┏", "│": "┃", "╰": "┗"}


class Transcript(BlockView, can_focus=True):
    """Blocks with a cursor that moves between them, marked matches, and a text selection."""

    #: Selecting text or turning the wheel leaves the focus where the person types.
    FOCUS_ON_CLICK = False

    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    class BlockKeyPressed(Message):
        """A letter was typed on the block that has the cursor."""

        def __init__(self, block: Block, what: str) -> None:
            super().__init__()
            self.block = block
            self.what = what

    class TableChosen(Message):
        """A table was clicked."""

        def __init__(self, table: RowTable) -> None:
            super().__init__()
            self.table = table

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        #: The number of the block that has the cursor.
        self.cursor: int | None = None
        #: The number of the block under the mouse: a click on one of its keys acts on it.
        self.pointed: int | None = None
        #: Whether letters are answers to a question now, so that no block takes "e".
        self.question_open: Callable[[], bool] = lambda: False
        #: A row that is marked, by its block and its number there, and which of its characters.
        self._mark: tuple[int, int, tuple[int, int]] | None = None
        #: The text searched for; other matches are underlined.
        self._sought: re.Pattern[str] | None = None
        #: The rows that were painted last: what is kept for one takes a hundred times its text.
        self._paintings: deque[Row] = deque()

    def replace(self, blocks: Iterable[Block] = ()) -> None:
        """Show these blocks and no others."""
        self.cursor = self.pointed = None
        super().replace(blocks)

    # The block cursor

    def action_move(self, step: int) -> None:
        """Move the block cursor; where there is none yet, to the last block in view."""
        if not self.blocks:
            return
        if self.cursor is None:
            self.set_cursor(self._find_last_in_view())
        else:
            self.set_cursor(min(max(self.cursor + step, 0), len(self.blocks) - 1))

    def _find_last_in_view(self) -> int:
        return self.layout_of_blocks.find_block_at(round(self.scroll_y) + self.size.height - 1)

    def action_jump(self, step: int) -> None:
        """Move the block cursor to the next message of the person's own, above (-1) or below (1)."""
        start = len(self.blocks) if self.cursor is None else self.cursor
        places = range(start - 1, -1, -1) if step < 0 else range(start + 1, len(self.blocks))
        own = next((i for i in places if isinstance(self.blocks[i], UserBlock)), None)
        if own is not None:
            self.set_cursor(own)

    def set_cursor(self, index: int | None) -> None:
        """Put the block cursor on a block and scroll to it; None removes the cursor."""
        self.cursor = index
        if index is not None:
            self.show_block(index)
        self.repaint()

    def restore_cursor(self, index: int | None) -> None:
        """Put the block cursor where it was, without scrolling."""
        self.cursor = index if index is not None and index < len(self.blocks) else None
        self.repaint()

    def enter(self) -> None:
        """Take the focus without moving; letters then act on the last block in view."""
        self.focus()
        if self.cursor is None and self.blocks:
            self.cursor = self._find_last_in_view()
            self.repaint()

    def on_blur(self) -> None:
        """Remove the block cursor: without the focus, no block takes letters."""
        self.set_cursor(None)

    def on_mouse_move(self, event: MouseMove) -> None:
        """Show the keys of the block under the mouse, unless text is being selected."""
        found_row = None if event.button else self.find_row(round(self.scroll_y) + event.y)
        self._point(found_row.number if found_row else None)

    def on_leave(self) -> None:
        """Show no keys of a block without the cursor."""
        self._point(None)

    def _point(self, number: int | None) -> None:
        if number != self.pointed:
            self.pointed = number
            self.repaint()

    def on_click(self, event: Click) -> None:
        """Press a key of the block, open a table, an image or what is folded, or select words."""
        found_row = self.find_row(round(self.scroll_y) + event.y)
        if event.chain > 1:
            # Textual would select the whole conversation.
            event.prevent_default()
            event.stop()
            self._select_around(event)
            return
        if found_row is None or self.text_selection is not None:
            return
        if event.y == 0:
            found_row = self.layout_of_blocks.find_sticky_header(found_row, self.look) or found_row
        if key := self._find_key(found_row, event.x):
            event.stop()
            self._press(found_row.number, key)
            return
        what = "image" if found_row.row.image is not None else found_row.row.click
        if found_row.row.table is not None:
            event.stop()
            self.post_message(self.TableChosen(found_row.row.table))
        elif what:
            event.stop()
            self.post_message(self.BlockKeyPressed(self.blocks[found_row.number], what))

    def _find_key(self, found: FoundRow, cell: int) -> str:
        """Return the key whose words stand at a cell of the first row of a block; "" where there is none."""
        if found.place or found.number not in (self.cursor, self.pointed):
            return ""
        strip = Strip([self.get_margin(found), *found.row.segments])
        hint = self._format_keys(found.number, strip)
        start = MARGIN + self.block_width - measure_width(hint)
        return find_hint(self.blocks[found.number].keys, hint, cell - start) if hint else ""

    def _press(self, number: int, key: str) -> None:
        """Do what a key of a block does. Only the list of all keys takes the focus."""
        if key == "?":
            self.focus()
            self.set_cursor(number)
            self.app.call_later(self.app.run_action, "help_here")
        elif self.check_action("block", (BLOCK_ACTIONS[key],)):
            self.post_message(self.BlockKeyPressed(self.blocks[number], BLOCK_ACTIONS[key]))

    def _select_around(self, event: Click) -> None:
        """Select the word that was clicked twice, or the row that was clicked three times."""
        _, offset = self.screen.get_widget_and_offset_at(event.screen_x, event.screen_y)
        found_row = self.find_row(offset.y) if offset else None
        if offset is None or found_row is None or not found_row.row.text:
            return
        start = MARGIN + found_row.row.indent
        if span := find_clicked_span(found_row.row.text, offset.x - start, event.chain):
            first, end = (Offset(start + at, offset.y) for at in span)
            self.screen.selections = {self: Selection(first, end)}

    def action_block(self, what: str) -> None:
        """Do something with the block that has the cursor."""
        if self.cursor is None and self.blocks:
            self.cursor = self._find_last_in_view()
            self.repaint()
        if self.cursor is not None and self.cursor < len(self.blocks):
            self.post_message(self.BlockKeyPressed(self.blocks[self.cursor], what))
        else:
            self.notify("The conversation is empty.", timeout=2)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable `e` of a block while a question is open, which it answers."""
        return not (action == "block" and parameters == ("edit",) and self.question_open())

    def mark(self, index: int, place: int, span: tuple[int, int], sought: re.Pattern[str]) -> None:
        """Mark characters of one row of a block, and bring that row into view.

        Everything else in the conversation that matches `sought` is underlined.
        """
        self._mark = (index, place, span)
        self._sought = sought
        line = self.layout_of_blocks.find_first_row(index) + place
        if not round(self.scroll_y) <= line < round(self.scroll_y) + self.size.height:
            self.show_line(line - self.size.height // 3)
        self.repaint()

    def unmark(self) -> None:
        """Mark nothing."""
        if self._mark is not None:
            self._mark = self._sought = None
            self.repaint()

    # Painting

    def render_line(self, y: int) -> Strip:
        """Render one line of the view."""
        look, width = self.look, self.size.width
        line = round(self.scroll_y) + y
        found_row = self.find_row(line)
        if (
            y == 0
            and found_row is not None
            and (header := self.layout_of_blocks.find_sticky_header(found_row, look)) is not None
        ):
            strip = Strip([self.get_margin(header), *header.row.segments])
            if header.number == self.pointed:
                strip = self._add_keys(strip, header.number)
            strip = Strip([*strip, Segment(" ", look.base)])
            return strip.adjust_cell_length(width, look.base).apply_style(_ABOVE)
        if found_row is None:
            tail = self.layout_of_blocks.tail
            if tail is None or not self.layout_of_blocks.is_tail(line):
                return Strip.blank(width, look.base)
            strip = Strip([Segment(" " * MARGIN, look.base), *tail.segments])
            return strip.adjust_cell_length(width, look.base)
        row, index, place = found_row
        if row.image is not None:
            row.image[0].note_seen()
        selection = self.text_selection
        span = selection.get_span(line) if selection else None
        mark = self._mark[2] if self._mark and self._mark[:2] == (index, place) else None
        margin = self.get_margin(found_row)
        pointed = place == 0 and index == self.pointed
        key = (line, width, index == self.cursor, place == 0, pointed, margin, span, mark, self._sought, look)
        if row.painted is not None and row.painted[0] == key:
            return row.painted[1]
        strip = self._paint(found_row, line, margin, span, mark)
        row.painted = (key, strip)
        self._paintings.append(row)
        if len(self._paintings) > _PAINTINGS:
            self._paintings.popleft().painted = None
        return strip

    def _paint(
        self,
        found: FoundRow,
        line: int,
        margin: Segment,
        span: tuple[int, int] | None,
        mark: tuple[int, int] | None,
    ) -> Strip:
        look, row = self.look, found.row
        if found.number == self.cursor:
            bar = _FOCUSED.get(margin.text[0], margin.text[0])
            margin = Segment(f"{bar}>" if found.place == 0 else f"{bar} ", look.cursor)
        elif mark is not None:
            margin = Segment(" >", look.cursor)
        strip = Strip([margin, *row.segments])
        if found.number in (self.cursor, self.pointed) and found.place == 0:
            strip = self._add_keys(strip, found.number)
        if row.fill is not None:
            strip = strip.extend_cell_length(MARGIN + self.block_width, row.fill)
        strip = strip.adjust_cell_length(self.size.width, look.base)
        start = MARGIN + row.indent
        if self._sought is not None and row.text:
            for first, end in (match.span() for match in self._sought.finditer(row.text)):
                strip = paint_selection(strip, (start + first, start + end), _ALSO_FOUND)
        if mark is not None:
            strip = paint_selection(strip, (start + mark[0], start + mark[1]), look.selection)
        if span is not None and row.image is None:
            strip = paint_selection(strip, span, look.selection)
        return strip.apply_offsets(0, line)

    def get_margin(self, found: FoundRow) -> Segment:
        """Return the left margin of a row, with the mark of its block.

        Only the program itself can put one there.
        """
        block = self.blocks[found.number]
        layout = self.layout_of_blocks
        count = layout.get_height(found.number) - layout.get_gap(found.number)
        mark = block.margin(found.place, count)
        return Segment(mark.ljust(MARGIN), block.mark_style(self.look) if mark else self.look.base)

    def _format_keys(self, number: int, strip: Strip) -> str:
        """Return the keys that act on a block, as many as there is room for behind its first row."""
        room = MARGIN + self.block_width - strip.cell_length
        return format_hint(self.blocks[number].keys, room - 2, get_changed_keys(self.app))

    def _add_keys(self, strip: Strip, number: int) -> Strip:
        """Add the keys that act on a block at the right end of its first row."""
        keys = self._format_keys(number, strip)
        if not keys:
            return strip
        gap = Segment(
            " " * (MARGIN + self.block_width - strip.cell_length - measure_width(keys)), self.look.base
        )
        return Strip([*strip, gap, Segment(keys, self.look.muted)])

    # Selection

    def selection_updated(self, selection: Selection | None) -> None:  # noqa: ARG002
        """Redraw after the selection changed."""
        self.repaint()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text as its source has it: no margins, line numbers or breaks
        of wrapped lines.
        """
        total = self.layout_of_blocks.total
        first = selection.start.y if selection.start else 0
        last = selection.end.y if selection.end else total - 1
        rows = (
            (self.find_row(n), selection.get_span(n)) for n in range(max(first, 0), min(last, total - 1) + 1)
        )
        return copy_rows(((item.row if item else None), span) for item, span in rows), "\n"
