"""What stands on each line of a view, so that only lines that change are painted."""

from collections.abc import Sequence
from typing import NamedTuple

from oi_tui.widgets.conversation.rows import Row


class PaintedRow(NamedTuple):
    """The row on a line, None for an empty one, and what stands left of it."""

    row: Row | None
    margin: object


class PaintedRows:
    """The rows that were painted last, one for each line of the view."""

    def __init__(self) -> None:
        self._rows: Sequence[PaintedRow] = ()

    def forget(self) -> None:
        """Paint all lines again next time."""
        self._rows = ()

    def update(self, rows: Sequence[PaintedRow]) -> list[int] | None:
        """Take the rows that are there now. Returns the lines that differ; None if all have to be painted."""
        before, self._rows = self._rows, rows
        if len(before) != len(rows):
            return None
        return [
            y
            for y, (old, new) in enumerate(zip(before, rows, strict=True))
            if old.row is not new.row or old.margin != new.margin
        ]

    def replace(self, y: int, row: Row) -> bool:
        """Take another row, without a margin, on line `y`. Returns whether the view has that line."""
        if not 0 <= y < len(self._rows):
            return False
        self._rows = [*self._rows[:y], PaintedRow(row, None), *self._rows[y + 1 :]]
        return True
