"""A scrolled view of blocks, which keeps what is being read in place."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from oi_tui.widgets.conversation.blocks import WIDEST, Block
from oi_tui.widgets.conversation.draw_timer import DrawTimer
from oi_tui.widgets.conversation.layout import Anchor, FoundRow, Layout, Place
from oi_tui.widgets.conversation.painted_rows import PaintedRow, PaintedRows
from oi_tui.widgets.conversation.read_position import ReadPosition
from oi_tui.widgets.conversation.scroll_mode import ScrollMode
from oi_tui.widgets.conversation.scrollbar import QuickScrollBar
from oi_tui.widgets.conversation.selection import MARGIN
from oi_tui.widgets.conversation.styles import Styles, get_styles
from oi_tui.widgets.images.protocol import ImageSupportMixin, find_image_support
from oi_tui.widgets.images.sixel_overlay import SixelOverlay

if TYPE_CHECKING:
    from textual.scrollbar import ScrollBar

    from oi_tui.widgets.conversation.rows import Row, RowImage


class BlockView(ScrollView):
    """Lays blocks out and follows their end; once the person scrolls up, what they read stays in place.

    How a line of it is painted is left to `render_line`.
    """

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.layout_of_blocks = Layout()
        #: Called whenever rows may have moved on the screen, before they are painted.
        self.on_moved: Callable[[], None] = lambda: None
        self._timer = DrawTimer(self, self._draw)
        self._look: Styles | None = None
        self._painted = PaintedRows()
        self._settling = False
        self._stills = SixelOverlay(self, self._list_images)
        self.scroll_mode = ScrollMode()
        #: Where the person reads since the last resize, and the line at the top that this led to.
        self._place: tuple[Place, int] | None = None
        self._seen = ReadPosition(self.layout_of_blocks)

    @property
    def vertical_scrollbar(self) -> "ScrollBar":
        """The scrollbar, made when it is first needed."""
        if self._vertical_scrollbar is None:
            self._vertical_scrollbar = bar = QuickScrollBar(name="vertical")
            bar.display = False
            self.app._start_widget(self, bar)
        return self._vertical_scrollbar

    # Content

    @property
    def blocks(self) -> list[Block]:
        """The blocks, from first to last."""
        return self.layout_of_blocks.blocks

    def add(self, block: Block) -> None:
        """Put a block below the others."""
        self.layout_of_blocks.add(block)
        self._timer.start()

    def replace(self, blocks: Iterable[Block] = ()) -> None:
        """Show these blocks and no others."""
        self.layout_of_blocks.replace(blocks)
        self._seen.forget()
        self._place = None
        self.scroll_mode.lead = None
        self.scroll_mode.follows_end = True
        self._timer.draw_now()

    def redraw(self, key: str) -> None:
        """Draw the block `key` again soon."""
        index = self.layout_of_blocks.find_block(key)
        if index is not None:
            self.layout_of_blocks.touch(index)
            self._timer.start()

    def flush(self) -> None:
        """Draw what has changed, if anything has."""
        if self._timer.is_waiting:
            self._timer.draw_now()

    def _draw(self) -> None:
        anchor = self._find_anchor()
        self._update()
        self._settle(anchor)

    def _update(self) -> None:
        if self.layout_of_blocks.update(self.look):
            self._timer.start()

    # Layout

    @property
    def look(self) -> Styles:
        """The styles to draw with."""
        if self._look is None:
            colourful, image_support = not self.app.no_color, find_image_support(self.app)
            self._look = get_styles(self.app.current_theme, colourful=colourful, image_support=image_support)
        return self._look

    @property
    def block_width(self) -> int:
        """The width of blocks, in cells."""
        return min(self.room, WIDEST)

    @property
    def room(self) -> int:
        """The width that a block can have at most, in cells; tables take all of it."""
        return max(self.size.width - MARGIN - 1, 10)

    @property
    def new_below(self) -> int:
        """The number of new lines below what the user has seen."""
        return 0 if self.scroll_mode.shows_end else self._seen.below

    def on_mount(self) -> None:
        """Watch the theme, and the ways in which the terminal shows images."""
        self.app.theme_changed_signal.subscribe(self, self._change_look)
        if isinstance(self.app, ImageSupportMixin):
            self.app.image_support_changed.subscribe(self, self._change_look)

    def _change_look(self, _: object) -> None:
        self._look = None
        if not self.size.width:
            return
        self._painted.forget()
        anchor = self._find_anchor()
        with self._seen.keep(self.look):
            self.layout_of_blocks.repaint()
            self._update()
        self._settle(anchor)

    def on_resize(self) -> None:
        """Lay out for another width, or for images of another height."""
        anchor, place = self._find_anchor(), self._find_place()
        before, self._look = self._look, None
        if self.room != self.layout_of_blocks.room or self.look is not before:
            with self._seen.keep(self.look):
                self.layout_of_blocks.resize(self.block_width, self.room)
            if place is not None:
                anchor = self.layout_of_blocks.find_again(place, self.look)
        self._painted.forget()
        self._settle(anchor)
        self._place = place and (place, round(self.scroll_y))

    def _find_place(self) -> Place | None:
        """Return where the person reads, in the text of a block; None while the end is followed.

        Until they scroll it stays that of before the first resize, so that sizes in between move nothing.
        """
        if self.scroll_mode.follows_end or not self.blocks:
            return None
        if self._place is not None and self._place[1] == round(self.scroll_y):
            return self._place[0]
        anchor = self.layout_of_blocks.find_anchor(round(self.scroll_y))
        return self.layout_of_blocks.find_place(anchor, self.look)

    def _find_anchor(self) -> Anchor | None:
        """Return what stays at the top of the view; None while the end is followed."""
        if self.scroll_mode.follows_end or not self.blocks:
            return self.scroll_mode.lead
        return self.layout_of_blocks.find_anchor(round(self.scroll_y))

    def _settle(self, anchor: Anchor | None) -> None:
        """Update size and scroll position to the blocks, keeping the anchor in place."""
        line = self.layout_of_blocks.settle(anchor, self.size.height, self.look)
        moved = self._scroll_itself(line)
        self._follow_move()
        self._repaint(whole=moved)

    def _scroll_itself(self, line: int) -> bool:
        """Show line `line` at the top, without counting it as a scroll by the person."""
        before = round(self.scroll_y)
        size = Size(self.size.width, self.layout_of_blocks.end)
        self._settling = True
        try:
            if self.virtual_size != size:
                # The scrollbar is always there, so that no widget moves: the screen needs no new layout.
                self.set_reactive(BlockView.virtual_size, size)
                self.vertical_scrollbar.window_virtual_size = size.height
            if before != line:
                self.scroll_to(y=line, animate=False, force=True)
        finally:
            self._settling = False
        return round(self.scroll_y) != before

    def _follow_move(self) -> None:
        if self.scroll_mode.shows_end:
            self._seen.reach(self.layout_of_blocks.total, just=True)
        else:
            self._seen.reach(round(self.scroll_y) + self.size.height)
        self.layout_of_blocks.tidy()
        self.on_moved()

    def _repaint(self, *, whole: bool) -> None:
        """Repaint the lines whose rows are not the ones that were painted last."""
        top = round(self.scroll_y)
        lines = self._painted.update([self._find_visible_row(top + y) for y in range(self.size.height)])
        if whole or lines is None:
            self.repaint()
            return
        for y in lines:
            self.refresh(Region(0, y, self.size.width, 1))

    def repaint(self) -> None:
        """Paint all lines of the view."""
        self.refresh(Region(0, 0, *self.size))

    def show_tail(self, row: "Row | None") -> None:
        """Show a row below the last block; None removes it."""
        layout = self.layout_of_blocks
        before, layout.tail = layout.tail, row
        if bool(before) != bool(row):
            self._timer.start()
        elif row is not None and before is not None and row.segments != before.segments:
            y = layout.end - 1 - round(self.scroll_y)
            if self._painted.replace(y, row):
                self.refresh(Region(0, y, self.size.width, 1))

    def _find_visible_row(self, line: int) -> PaintedRow:
        if self.layout_of_blocks.is_tail(line):
            return PaintedRow(self.layout_of_blocks.tail, None)
        found_row = self.find_row(line)
        if found_row is not None and line == round(self.scroll_y):
            found_row = self.layout_of_blocks.find_sticky_header(found_row, self.look) or found_row
        return PaintedRow(found_row.row, self.get_margin(found_row)) if found_row else PaintedRow(None, None)

    def get_margin(self, found: FoundRow) -> object:  # noqa: ARG002 -- for those who paint one
        """Return what stands left of a row; where that changes, the line is painted again."""
        return None

    def find_row(self, line: int) -> FoundRow | None:
        """Return the row on a line of the whole conversation; None for an empty one."""
        return self.layout_of_blocks.find_row(line, self.look)

    # Scrolling

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Lay out what comes into view, without moving it when blocks above turn out higher."""
        old, new = round(old_value), round(new_value)
        if not self._settling and old != new and self.blocks:
            layout, height = self.layout_of_blocks, self.size.height
            self.scroll_mode.begin_scrolling()
            self.scroll_mode.follows_end = new >= self.max_scroll_y
            index = layout.find_block_at(old)
            before = layout.find_top(index)
            layout.ensure_seen(new, height, self.look)
            near = abs(new - old) <= 2 * height
            shift = layout.find_top(index) - before if near else 0
            if self.scroll_mode.follows_end:
                self._scroll_itself(max(layout.end - height, 0))
            elif shift or self.virtual_size.height != layout.end:
                self._scroll_itself(new + shift)
                layout.ensure_seen(round(self.scroll_y), height, self.look)
            self._painted.forget()
            self._follow_move()
        super().watch_scroll_y(old_value, new_value)

    def lead(self, key: str | None, row: int = 0) -> None:
        """While the end is followed, show a row of a block instead, or with None the end again."""
        index = None if key is None else self.layout_of_blocks.find_block(key)
        mode = self.scroll_mode
        before, mode.lead = mode.lead, None
        if index is not None:
            layout = self.layout_of_blocks
            top = layout.find_first_row(index) + row - self.size.height // 3
            if top < layout.end - self.size.height:
                mode.lead = layout.find_anchor(max(top, 0))
        if mode.follows_end and mode.lead != before:
            self._settle(mode.lead)

    def action_page_up(self) -> None:
        """Read what is above."""
        self.scroll_to(y=max(round(self.scroll_y) - max(self.size.height - 2, 1), 0), animate=False)

    def action_page_down(self) -> None:
        """Read what is below."""
        self.scroll_to(y=round(self.scroll_y) + max(self.size.height - 2, 1), animate=False)

    def action_scroll_home(self) -> None:
        """Go to the beginning."""
        self.show_line(0)

    def action_scroll_end(self) -> None:
        """Go to the end and follow it."""
        self.scroll_mode.begin_scrolling()
        self.scroll_mode.follows_end = True
        self._settle(None)

    def show_line(self, line: int) -> None:
        """Show a line at the top, as far as there is enough below it."""
        line = max(line, 0)
        if not self.blocks:
            return
        self.scroll_mode.begin_scrolling()
        self.scroll_mode.follows_end = line >= self.layout_of_blocks.end - self.size.height
        self._painted.forget()
        self._settle(None if self.scroll_mode.follows_end else self.layout_of_blocks.find_anchor(line))

    def show_block(self, index: int) -> None:
        """Scroll so that a block can be read, from its beginning where it is higher than the view."""
        layout = self.layout_of_blocks
        if not self.size.height:
            return
        layout.ensure(index, self.look)
        self._settle(self._find_anchor())
        top = layout.find_first_row(index)
        bottom = layout.find_top(index) + layout.get_height(index)
        view = round(self.scroll_y)
        if top < view or bottom - top >= self.size.height:
            self.show_line(top)
        elif bottom > view + self.size.height:
            self.show_line(bottom - self.size.height)

    def reveal(self, key: str) -> None:
        """Scroll so that the block `key` can be read, from its beginning where it is higher than the view."""
        self.flush()
        index = self.layout_of_blocks.find_block(key)
        if index is not None:
            self.show_block(index)

    def draw_block(self, index: int) -> "list[Row]":
        """Return the rows of a block, as they are drawn now."""
        return self.layout_of_blocks.draw(index, self.look)

    def find_block_top(self, key: str) -> int | None:
        """Return the line where a block begins, from the widget's top; None for an unknown block."""
        index = self.layout_of_blocks.find_block(key)
        if index is None:
            return None
        return self.layout_of_blocks.find_first_row(index) - round(self.scroll_y)

    # Painting

    def render_lines(self, crop: Region) -> list[Strip]:
        """Render the lines, and draw images again that are painted over.

        The view has no border, padding or tint. Without Textual's work for these, a row that stays in view
        keeps its strip, with what the filters and the terminal made of it.
        """
        self._stills.note_painted(crop)
        background = self.background_colors[1]
        strips = [self.render_line(y) for y in crop.line_range]
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, background) for strip in strips]
        if crop.column_span == (0, self.size.width):
            return strips
        return [strip.crop(*crop.column_span) for strip in strips]

    def _list_images(self) -> "list[tuple[RowImage, int, int]]":
        """Return the images whose first line is in view, with the line and column where they begin."""
        top = round(self.scroll_y)
        rows = ((y, found_row.row) for y in range(self.size.height) if (found_row := self.find_row(top + y)))
        return [(row.image[0], y, MARGIN + row.indent) for y, row in rows if row.image and not row.image[1]]
