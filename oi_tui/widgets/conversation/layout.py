"""The positions of stacked blocks; only visible ones are drawn."""

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterable
from typing import NamedTuple

from oi_tui.widgets.conversation.blocks import Block
from oi_tui.widgets.conversation.heights import Heights
from oi_tui.widgets.conversation.rows import Row
from oi_tui.widgets.conversation.styles import Styles

#: How many blocks keep their rows after they were seen.
_KEPT = 150


class FoundRow(NamedTuple):
    """A row of the conversation, its block's number, and its place in the block."""

    row: Row
    number: int
    place: int


class Anchor(NamedTuple):
    """What stays at the top of a view: a block, and one of its lines."""

    block: int
    line: int


class Place(NamedTuple):
    """A row of a block, found again at another width: the letters before it, and rows without any since."""

    block: int
    letters: int
    blank: int


class Layout:
    """Blocks with their heights: estimated until a block is seen, then those of its rows.

    Blocks are numbered from 0, lines of the whole conversation too.
    """

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.width = 40
        #: The width of the pane, which tables may take; the same as `width` where that is more.
        self.room = 40
        #: A row below the last block, after an empty line: the activity.
        self.tail: Row | None = None
        self._numbers: dict[str, int] = {}
        self._heights = Heights()
        self._known: set[int] = set()
        self._rows: OrderedDict[int, list[Row]] = OrderedDict()
        self._changed: set[int] = set()

    @property
    def total(self) -> int:
        """The total number of lines."""
        return self._heights.total

    @property
    def end(self) -> int:
        """The number of lines with those of the tail, which stands below the last block."""
        return self.total + (2 if self.tail and self.blocks else 0)

    def find_block(self, key: str) -> int | None:
        """Return the number of the block with this key."""
        return self._numbers.get(key)

    def add(self, block: Block) -> None:
        """Put a block below the others."""
        index = len(self.blocks)
        block.room = self.room
        self.blocks.append(block)
        self._numbers[block.key] = index
        self._heights.append(block.estimate(self.width) + self.get_gap(index))

    def replace(self, blocks: Iterable[Block]) -> None:
        """Replace all blocks with these."""
        self.blocks = list(blocks)
        self._numbers = {block.key: index for index, block in enumerate(self.blocks)}
        self._rows.clear()
        self._changed.clear()
        self.resize(self.width, self.room)

    def resize(self, width: int, room: int) -> None:
        """Draw for other widths: all heights are estimates again."""
        self.width, self.room = width, max(room, width)
        for block in self.blocks:
            block.room = self.room
        self._known.clear()
        self._rows.clear()
        estimates = [block.estimate(width) + self.get_gap(index) for index, block in enumerate(self.blocks)]
        self._heights = Heights(estimates)

    def repaint(self) -> None:
        """Draw everything again when it is seen next."""
        self._changed.update(self._known)
        self._rows.clear()

    def touch(self, index: int) -> None:
        """Note that block `index` changed; `update` will draw it again."""
        self._changed.add(index)

    def update(self, look: Styles) -> bool:
        """Draw what changed. Return whether a block lags behind and has to be drawn again soon."""
        changed, self._changed = self._changed, set()
        last = len(self.blocks) - 1
        behind = False
        for index in changed:
            if index in self._known or index >= last - 1:
                self.draw(index, look)
                if self.blocks[index].behind:
                    self._changed.add(index)
                    behind = True
            else:
                self._heights.change(index, self.blocks[index].estimate(self.width) + self.get_gap(index))
        return behind

    def get_gap(self, index: int) -> int:
        """Return the empty lines above a block: one, but none above the first or between two notices."""
        together = self.blocks[index].remark and self.blocks[index - 1].remark
        return 0 if index == 0 or together else 1

    def find_top(self, index: int) -> int:
        """Return the line at which a block begins, with the empty line above it."""
        return self._heights.find_top(index)

    def find_first_row(self, index: int) -> int:
        """Return the line of the first row of a block, below the empty line above it."""
        return self.find_top(index) + self.get_gap(index)

    def is_tail(self, line: int) -> bool:
        """Return whether the row below the last block stands on this line."""
        return self.end > self.total and line == self.end - 1

    def find_anchor(self, line: int) -> Anchor:
        """Return the block to which a line belongs, and which of its lines that is."""
        index = self.find_block_at(line)
        return Anchor(index, line - self.find_top(index))

    def find_place(self, anchor: Anchor, look: Styles) -> Place | None:
        """Return the place of an anchor in the text of its block; None for its first row."""
        row = anchor.line - self.get_gap(anchor.block)
        starts = self._count_letters(anchor.block, look)
        if not 0 < row < len(starts):
            return None
        return Place(anchor.block, starts[row], row - bisect_left(starts, starts[row]))

    def find_again(self, place: Place, look: Styles) -> Anchor:
        """Return the row in which a place is at the width of now."""
        starts = self._count_letters(place.block, look)
        first, last = bisect_left(starts, place.letters), bisect_right(starts, place.letters) - 1
        row = min(first + place.blank, last) if first <= last else last
        return Anchor(place.block, max(row, 0) + self.get_gap(place.block))

    def _count_letters(self, index: int, look: Styles) -> list[int]:
        """Return for each row of a block how many letters are above it."""
        starts, above = [], 0
        for row in self._rows.get(index) or self.draw(index, look):
            starts.append(above)
            above += len("".join((row.text or "").split()))
        return starts

    def settle(self, anchor: Anchor | None, height: int, look: Styles) -> int:
        """Return the first line of a view of `height` lines that begins at the anchor, or ends at the end.

        What comes into that view is drawn, so that no height in it is an estimate.
        """
        line = -1
        while True:
            if anchor is None:
                target = max(self.end - height, 0)
            else:
                last = max(self.get_height(anchor.block) - 1, 0)
                target = self.find_top(anchor.block) + min(anchor.line, last)
            if target == line:
                return line
            line = target
            # One view above as well, so that the scrollbar does not depend on what was painted meanwhile.
            above = min(line, height)
            self.ensure_seen(line - above, above + height, look)

    def get_height(self, index: int) -> int:
        """Return the lines of a block, with the empty line above it."""
        return self._heights[index]

    def find_block_at(self, line: int) -> int:
        """Return the block to which a line belongs; -1 when there are none."""
        return self._heights.find(max(line, 0))

    def draw(self, index: int, look: Styles) -> list[Row]:
        """Draw a block and measure its height."""
        rows = self.blocks[index].rows(self.width, look)
        self._rows[index] = rows
        self._rows.move_to_end(index)
        self._known.add(index)
        self._heights.change(index, len(rows) + self.get_gap(index))
        return rows

    def ensure(self, index: int, look: Styles) -> None:
        """Draw a block if its height is an estimate."""
        if index not in self._known:
            self.draw(index, look)

    def ensure_seen(self, line: int, count: int, look: Styles) -> None:
        """Draw the blocks on `count` lines from `line` on whose heights are estimates."""
        index = self.find_block_at(line)
        while 0 <= index < len(self.blocks) and self.find_top(index) < line + count:
            self.ensure(index, look)
            index += 1

    def find_row(self, line: int, look: Styles) -> FoundRow | None:
        """Return the row on a line; None for an empty line and beyond the end."""
        if not 0 <= line < self.total:
            return None
        index = self.find_block_at(line)
        place = line - self.find_top(index) - self.get_gap(index)
        rows = self._rows.get(index)
        if rows is None:
            rows = self.draw(index, look)
        return FoundRow(rows[place], index, place) if 0 <= place < len(rows) else None

    def find_sticky_header(self, found: FoundRow, look: Styles) -> FoundRow | None:
        """Return the first row of the block of a row, where that stays in sight above the other rows."""
        if found.place == 0 or not self.blocks[found.number].sticky:
            return None
        return self.find_row(self.find_first_row(found.number), look)

    def tidy(self) -> None:
        """Drop rows that were not seen for a long time."""
        while len(self._rows) > _KEPT:
            index, _ = self._rows.popitem(last=False)
            self.blocks[index].forget()
