"""Keeps the cells whose code runs up to date."""

from textual.timer import Timer

from oi_tui.widgets.conversation.cells.cell import CellBlock
from oi_tui.widgets.conversation.cells.line_follower import LineFollower
from oi_tui.widgets.conversation.transcript import Transcript

#: How often the running time of a program is updated, in seconds.
_TICK = 0.1


class RunningCells:
    """Counts the seconds of running cells, and keeps the active line of the newest one in view."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._cells: dict[str, CellBlock] = {}
        #: The time that each of them showed last.
        self._clocks: dict[str, str] = {}
        self.follower = LineFollower(transcript)
        self._timer: Timer | None = None

    def start_timer(self) -> None:
        """Make the timer, once the transcript is mounted."""
        self._timer = self._transcript.set_interval(_TICK, self._tick, pause=True)

    def watch(self, cell: CellBlock) -> None:
        """Note whether the cell runs by now."""
        began = cell.live and cell.key not in self._cells
        if cell.live:
            self._cells[cell.key] = cell
            if self._timer:
                self._timer.resume()
        else:
            self._cells.pop(cell.key, None)
            self.follower.end(cell)
        if began:
            self.follower.begin(cell)

    def clear(self) -> None:
        """Forget all cells."""
        self._cells.clear()
        self.follower = LineFollower(self._transcript)

    def _tick(self) -> None:
        for key, cell in self._cells.items():
            if self._clocks.get(key) != cell.clock:
                self._clocks[key] = cell.clock
                self._transcript.redraw(key)
        if not self._cells and self._timer:
            self._clocks.clear()
            self._timer.pause()
