"""The conversation as one drawn surface that is scrolled."""

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from oi_tui.widgets.block_keys import KEYS, hint
from oi_tui.widgets.blocks import WIDEST, Block, UserBlock
from oi_tui.widgets.keyboard import remapped
from oi_tui.widgets.layout import Found, Layout
from oi_tui.widgets.look import Look, look_of
from oi_tui.widgets.means import Showing, means_of
from oi_tui.widgets.rows import width_of
from oi_tui.widgets.selecting import MARGIN, copied, selected
from oi_tui.widgets.still_pictures import StillPictures
from oi_tui.widgets.timing import later

if TYPE_CHECKING:
    from asyncio import TimerHandle

    from oi_tui.widgets.picture import Picture
    from oi_tui.widgets.rows import Row

#: Changes are drawn at most this often, in seconds.
FLUSH = 1 / 24


class Transcript(ScrollView, can_focus=True):
    """Draws blocks and follows their end; once the person scrolls up it holds still what they read."""

    #: Selecting text or turning the wheel leaves the focus where the person types.
    FOCUS_ON_CLICK = False

    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    class Acted(Message):
        """A letter was typed on the block that has the cursor."""

        def __init__(self, block: Block, what: str) -> None:
            super().__init__()
            self.block = block
            self.what = what

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.layout_of_blocks = Layout()
        self.cursor: int | None = None
        #: Called whenever rows may have moved on the screen, before they are painted.
        self.on_moved: Callable[[], None] = lambda: None
        #: Called when the end begins or ceases to be followed.
        self.on_following: Callable[[bool], None] = lambda _: None
        self._timer: TimerHandle | None = None
        self._flushed = 0.0
        #: Whether letters are answers to a question now, so that no block takes "e".
        self.question_open: Callable[[], bool] = lambda: False
        #: A row that is marked, by its block and its number there, and which of its characters.
        self._mark: tuple[int, int, tuple[int, int]] | None = None
        self._look: Look | None = None
        self._painted: list[Row | None] = []
        self._settling = False
        self._stills = StillPictures(self, self._pictures)
        self._following = True
        #: How far down the person has seen.
        self._seen = 0

    # Content

    @property
    def blocks(self) -> list[Block]:
        """What is shown, from the first to the last."""
        return self.layout_of_blocks.blocks

    def add(self, block: Block) -> None:
        """Put a block below the others."""
        self.layout_of_blocks.add(block)
        self._flush_soon()

    def replace(self, blocks: Iterable[Block] = ()) -> None:
        """Show these blocks and no others."""
        self.layout_of_blocks.replace(blocks)
        self.cursor = None
        self._seen = 0
        self._follow(True)
        self.flush()

    def changed(self, key: str) -> None:
        """The block `key` has to be drawn again."""
        index = self.layout_of_blocks.number(key)
        if index is not None:
            self.layout_of_blocks.touch(index)
            self._flush_soon()

    def _flush_soon(self) -> None:
        if self._timer is None and self.is_attached:
            wait = max(FLUSH - (time.monotonic() - self._flushed), 0.001)
            self._timer = later(self, wait, self.flush)

    def flush(self) -> None:
        """Draw what has changed."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self.size.width:
            return
        anchor = self._anchor()
        if self.layout_of_blocks.update(self.look):
            self._flush_soon()
        self._settle(anchor)
        self._flushed = time.monotonic()

    def flush_now(self) -> None:
        """Draw what has changed, if anything has."""
        if self._timer is not None:
            self.flush()

    # Layout

    @property
    def look(self) -> Look:
        """The styles to draw with."""
        if self._look is None:
            colourful, means = not self.app.no_color, means_of(self.app)
            self._look = look_of(self.app.current_theme, colourful=colourful, means=means)
        return self._look

    @property
    def block_width(self) -> int:
        """How wide blocks are, in cells."""
        return max(min(self.size.width - MARGIN - 1, WIDEST), 10)

    @property
    def following(self) -> bool:
        """Whether new rows are scrolled into view."""
        return self._following

    @property
    def new_below(self) -> int:
        """How many lines have come below what the person has seen."""
        return 0 if self._following else max(self.layout_of_blocks.total - self._seen, 0)

    def on_mount(self) -> None:
        """Be told of another theme, and of other means to show pictures."""
        self.app.theme_changed_signal.subscribe(self, self._change_look)
        if isinstance(self.app, Showing):
            self.app.means_changed.subscribe(self, self._change_look)

    def _change_look(self, _: object) -> None:
        self._look = None
        self.layout_of_blocks.repaint()
        self._painted.clear()
        self.flush()

    def on_resize(self) -> None:
        """Lay out for another width, or for pictures of another height."""
        anchor = self._anchor()
        before, self._look = self._look, None
        if self.block_width != self.layout_of_blocks.width or self.look is not before:
            self.layout_of_blocks.resize(self.block_width)
        self._painted.clear()
        self._settle(anchor)

    def _anchor(self) -> tuple[int, int] | None:
        """The block at the top of the view and which of its lines that is; None while following the end."""
        if self._following or not self.blocks:
            return None
        top = round(self.scroll_y)
        index = self.layout_of_blocks.at(top)
        return index, top - self.layout_of_blocks.top(index)

    def _settle(self, anchor: tuple[int, int] | None) -> None:
        """Bring size and scroll position in line with the blocks, holding still what the anchor names."""
        layout, height = self.layout_of_blocks, self.size.height
        target = -1
        while True:
            if anchor is None:
                wanted = max(layout.total - height, 0)
            else:
                index, line = anchor
                wanted = layout.top(index) + min(line, max(layout.height(index) - 1, 0))
            if wanted == target:
                break
            target = wanted
            layout.ensure_seen(target, height, self.look)
        moved = self._scroll_itself(target)
        self._after_move()
        self._repaint(whole=moved)

    def _scroll_itself(self, line: int) -> bool:
        """Show line `line` at the top, without taking that for the person's doing."""
        before = round(self.scroll_y)
        size = Size(self.size.width, self.layout_of_blocks.total)
        self._settling = True
        try:
            if self.virtual_size != size:
                self.virtual_size = size
            if before != line:
                self.scroll_to(y=line, animate=False, force=True)
        finally:
            self._settling = False
        return round(self.scroll_y) != before

    def _after_move(self) -> None:
        total = self.layout_of_blocks.total
        self._seen = total if self._following else max(self._seen, round(self.scroll_y) + self.size.height)
        self._seen = min(self._seen, total)
        self.layout_of_blocks.tidy()
        self.on_moved()

    def _repaint(self, *, whole: bool) -> None:
        """Have those lines painted whose rows are not the ones that were painted last."""
        before, top = self._painted, round(self.scroll_y)
        self._painted = [
            found.row if (found := self._found(top + y)) else None for y in range(self.size.height)
        ]
        if whole or len(before) != len(self._painted):
            self.refresh(Region(0, 0, *self.size))
            return
        for y, (old, new) in enumerate(zip(before, self._painted, strict=True)):
            if old is not new:
                self.refresh(Region(0, y, self.size.width, 1))

    def _found(self, line: int) -> Found | None:
        return self.layout_of_blocks.row(line, self.look)

    # Scrolling

    def _follow(self, following: bool) -> None:
        if following != self._following:
            self._following = following
            self.on_following(following)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Lay out what comes into view; blocks above that turn out higher do not push it down."""
        old, new = round(old_value), round(new_value)
        if not self._settling and old != new and self.blocks:
            layout, height = self.layout_of_blocks, self.size.height
            self._follow(new >= self.max_scroll_y)
            index = layout.at(old)
            before = layout.top(index)
            layout.ensure_seen(new, height, self.look)
            near = abs(new - old) <= 2 * height
            shift = layout.top(index) - before if near else 0
            if self._following:
                self._scroll_itself(max(layout.total - height, 0))
            elif shift or self.virtual_size.height != layout.total:
                self._scroll_itself(new + shift)
                layout.ensure_seen(round(self.scroll_y), height, self.look)
            self._painted.clear()
            self._after_move()
        super().watch_scroll_y(old_value, new_value)

    def action_page_up(self) -> None:
        """Read what is above."""
        self.scroll_to(y=max(round(self.scroll_y) - max(self.size.height - 2, 1), 0), animate=False)

    def action_page_down(self) -> None:
        """Read what is below."""
        self.scroll_to(y=round(self.scroll_y) + max(self.size.height - 2, 1), animate=False)

    def action_scroll_home(self) -> None:
        """Go to the beginning."""
        self._go(0)

    def action_scroll_end(self) -> None:
        """Go to the end and follow it."""
        self._follow(True)
        self._settle(None)

    def _go(self, line: int) -> None:
        """Show a line at the top, as far as there is enough below it."""
        line = max(line, 0)
        index = self.layout_of_blocks.at(line)
        if index < 0:
            return
        self._follow(line >= self.layout_of_blocks.total - self.size.height)
        self._painted.clear()
        self._settle(None if self._following else (index, line - self.layout_of_blocks.top(index)))

    # The block cursor

    def action_move(self, step: int) -> None:
        """Move the block cursor; where there is none yet, to the last block in view."""
        if not self.blocks:
            return
        if self.cursor is None:
            self.set_cursor(self._last_in_view())
        else:
            self.set_cursor(min(max(self.cursor + step, 0), len(self.blocks) - 1))

    def _last_in_view(self) -> int:
        return self.layout_of_blocks.at(round(self.scroll_y) + self.size.height - 1)

    def action_jump(self, step: int) -> None:
        """Move the block cursor to the next message of the person's own, above (-1) or below (1)."""
        start = len(self.blocks) if self.cursor is None else self.cursor
        places = range(start - 1, -1, -1) if step < 0 else range(start + 1, len(self.blocks))
        own = next((i for i in places if isinstance(self.blocks[i], UserBlock)), None)
        if own is not None:
            self.set_cursor(own)

    def set_cursor(self, index: int | None) -> None:
        """Put the block cursor on a block, and that block into view; None takes it away."""
        self.cursor = index
        if index is not None:
            self.show_block(index)
        self.refresh(Region(0, 0, *self.size))

    def enter(self) -> None:
        """Take the keys; letters act at once, on the last block in view, and nothing moves."""
        self.focus()
        if self.cursor is None and self.blocks:
            self.cursor = self._last_in_view()
            self.refresh(Region(0, 0, *self.size))

    def on_blur(self) -> None:
        """Without the focus no block takes letters."""
        self.set_cursor(None)

    def show_block(self, index: int) -> None:
        """Scroll so that a block can be read, from its beginning where it is higher than the view."""
        layout = self.layout_of_blocks
        if not self.size.height:
            return
        layout.ensure(index, self.look)
        self._settle(self._anchor())
        top = layout.top(index) + layout.gap(index)
        bottom = layout.top(index) + layout.height(index)
        view = round(self.scroll_y)
        if top < view or bottom - top >= self.size.height:
            self._go(top)
        elif bottom > view + self.size.height:
            self._go(bottom - self.size.height)

    def action_block(self, what: str) -> None:
        """Do something with the block that has the cursor."""
        if self.cursor is None and self.blocks:
            self.cursor = self._last_in_view()
        if self.cursor is not None and self.cursor < len(self.blocks):
            self.post_message(self.Acted(self.blocks[self.cursor], what))
        else:
            self.notify("Nothing was said yet.", timeout=2)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a question is open, "e" is its answer."""
        return not (action == "block" and parameters == ("edit",) and self.question_open())

    def mark(self, index: int, place: int, span: tuple[int, int]) -> None:
        """Mark characters of one row of a block, and bring that row into view."""
        self._mark = (index, place, span)
        layout = self.layout_of_blocks
        line = layout.top(index) + layout.gap(index) + place
        if not round(self.scroll_y) <= line < round(self.scroll_y) + self.size.height:
            self._go(line - self.size.height // 3)
        self.refresh(Region(0, 0, *self.size))

    def rows_of(self, index: int) -> "list[Row]":
        """The rows of a block, as they are drawn now."""
        return self.layout_of_blocks.draw(index, self.look)

    def unmark(self) -> None:
        """Mark nothing."""
        if self._mark is not None:
            self._mark = None
            self.refresh(Region(0, 0, *self.size))

    def place_of(self, key: str) -> int | None:
        """Where the block `key` begins on this widget, in lines from its top; None where there is none."""
        index = self.layout_of_blocks.number(key)
        if index is None:
            return None
        return self.layout_of_blocks.top(index) + self.layout_of_blocks.gap(index) - round(self.scroll_y)

    # Painting

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines; pictures that are painted over are drawn again where that is needed."""
        self._stills.painted(crop)
        return super().render_lines(crop)

    def _pictures(self) -> "list[tuple[Picture, int, int]]":
        """The pictures whose first line is in view, with the line and column where they begin."""
        top = round(self.scroll_y)
        rows = ((y, found.row) for y in range(self.size.height) if (found := self._found(top + y)))
        return [
            (row.picture[0], y, MARGIN + row.indent) for y, row in rows if row.picture and not row.picture[1]
        ]

    def render_line(self, y: int) -> Strip:
        """One line of the view."""
        look, width = self.look, self.size.width
        line = round(self.scroll_y) + y
        found = self._found(line)
        if found is None:
            return Strip.blank(width, look.base)
        row, index, place = found
        if row.picture is not None:
            row.picture[0].seen()
        selection = self.text_selection
        span = selection.get_span(line) if selection else None
        mark = self._mark[2] if self._mark and self._mark[:2] == (index, place) else None
        key = (line, width, index == self.cursor, place == 0, span, mark, look)
        if row.painted is None or row.painted[0] != key:
            row.painted = (key, self._paint(found, line, span, mark))
        return row.painted[1]

    def _paint(
        self, found: Found, line: int, span: tuple[int, int] | None, mark: tuple[int, int] | None
    ) -> Strip:
        look, row = self.look, found.row
        margin = Segment(" " * MARGIN, look.base)
        if found.number == self.cursor:
            margin = Segment("▎>" if found.place == 0 else "▎ ", look.cursor)
        elif mark is not None:
            margin = Segment(" >", look.cursor)
        strip = Strip([margin, *row.segments])
        if found.number == self.cursor and found.place == 0:
            strip = self._with_keys(strip)
        if row.fill is not None:
            strip = strip.extend_cell_length(MARGIN + self.block_width, row.fill)
        strip = strip.adjust_cell_length(self.size.width, look.base)
        if mark is not None:
            start = MARGIN + row.indent
            strip = selected(strip, (start + mark[0], start + mark[1]), look.selection)
        if span is not None and row.picture is None:
            strip = selected(strip, span, look.selection)
        return strip.apply_offsets(0, line)

    def _with_keys(self, strip: Strip) -> Strip:
        """The first row of the block with the cursor, with the keys that act on it at its right end."""
        room = MARGIN + self.block_width - strip.cell_length
        keys = hint(self.blocks[self.cursor or 0].keys, room - 2, remapped(self.app))
        if not keys:
            return strip
        gap = Segment(" " * (room - width_of(keys)), self.look.base)
        return Strip([*strip, gap, Segment(keys, self.look.muted)])

    # Selection

    def selection_updated(self, selection: Selection | None) -> None:  # noqa: ARG002
        """What is selected changed."""
        self.refresh(Region(0, 0, *self.size))

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text as its source has it: no margins, line numbers or breaks of wrapped lines."""
        total = self.layout_of_blocks.total
        first = selection.start.y if selection.start else 0
        last = selection.end.y if selection.end else total - 1
        found = (
            (self._found(n), selection.get_span(n)) for n in range(max(first, 0), min(last, total - 1) + 1)
        )
        return copied(((each.row if each else None), span) for each, span in found), "\n"
