"""A scrollbar that costs little while a reply moves it."""

from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.geometry import Region
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip


class QuickScrollBar(ScrollBar):
    """A vertical scrollbar of one column, without border or padding.

    Its cells are few different ones, each of which is made and filtered once. Textual makes them all again
    whenever the bar moves, which takes as long as the text beside it.
    """

    def render_lines(self, crop: Region) -> list[Strip]:
        """Render the bar."""
        bar = self.render()
        assert isinstance(bar, ScrollBarRender)
        assert not isinstance(bar.style, str)
        segments = bar.render_bar(
            size=self.size.height,
            virtual_size=bar.virtual_size,
            window_size=bar.window_size,
            position=bar.position,
            back_color=bar.style.bgcolor or Color.parse("#555555").rich_color,
            bar_color=bar.style.color or Color.parse("bright_magenta").rich_color,
        ).segments
        base, background = self.rich_style, self.background_colors[1]
        strips = [_make_strip(cell, base) for cell in list(segments)[crop.y : crop.bottom]]
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, background) for strip in strips]
        return strips


@lru_cache(maxsize=256)
def _make_strip(cell: Segment, base: Style) -> Strip:
    return Strip([Segment(cell.text, base + cell.style)], 1)
