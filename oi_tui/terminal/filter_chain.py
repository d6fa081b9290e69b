"""All filters of a line as one, which keeps the lines that it has made."""

from collections.abc import Sequence

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter


class FilterChain(LineFilter):
    """Applies filters one after the other.

    Textual keeps what a filter made of a line as long as it is given the same filter, and makes a line for
    each filter: one object for all of them, that stays, saves most of the work of drawing.
    """

    def __init__(self, filters: Sequence[LineFilter]) -> None:
        super().__init__()
        self.filters = tuple(filters)

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments as the last filter returns them."""
        for line_filter in self.filters:
            segments = line_filter.apply(segments, background)
        return segments
