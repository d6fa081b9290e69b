"""Keeps the active line of running code in view, where the code is taller than the view."""

from typing import TYPE_CHECKING

from oi_tui.widgets.conversation.cells.cell import CellBlock
from oi_tui.widgets.conversation.transcript import Transcript
from oi_tui.widgets.timer import schedule

if TYPE_CHECKING:
    from asyncio import TimerHandle

#: The view moves to a line that stays out of it for this long, in seconds: a loop must not shake the view.
TIMEOUT = 0.3


class LineFollower:
    """Moves the view of a transcript to the active line of one running cell.

    Once the person scrolls, the view is theirs until the run ends. While the program waits for input, the
    end is shown, where its question stands.
    """

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._cell: CellBlock | None = None
        self._timer: TimerHandle | None = None

    def begin(self, cell: CellBlock) -> None:
        """Follow the lines of a cell that begins to run."""
        self._cell = cell
        self._transcript.scroll_mode.scrolled = False

    def end(self, cell: CellBlock) -> None:
        """Follow the end of the conversation again, if this cell was followed."""
        if self._cell is cell:
            self._cell = None
            self._cancel()
            self._transcript.lead(None)

    @property
    def waits(self) -> bool:
        """Whether the view is about to move."""
        return self._timer is not None

    def follow(self) -> None:
        """Move the view soon if the active line is out of it."""
        if self._find_hidden_row() is None:
            self._cancel()
        elif self._timer is None:
            self._timer = schedule(self._transcript, TIMEOUT, self._move)
        if self._cell and self._cell.prompt is not None:
            self._transcript.lead(None)

    def _move(self) -> None:
        self._timer = None
        row = self._find_hidden_row()
        if row is not None and self._cell is not None:
            self._transcript.lead(self._cell.key, row)

    def _find_hidden_row(self) -> int | None:
        """Return the row of the cell to scroll to; None if nothing has to be scrolled."""
        view, cell = self._transcript, self._cell
        row = (
            cell.active_row
            if cell and view.scroll_mode.follows_end and not view.scroll_mode.scrolled
            else None
        )
        place = view.find_block_top(cell.key) if cell else None
        if row is None or place is None:
            return None
        # The header covers the first line of the view, and the count of new lines its last.
        return None if 0 < place + row < view.size.height - 1 else row

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
