"""Maps the colours of a theme to the nearest ones of a terminal that shows 256.

Rich would take a dark grey with a trace of blue for navy, because it looks at the hue before the distance: a
calm header would become a loud one. Colours that come near each other are moved apart again, so that text
can be read.
"""

import math
from functools import lru_cache

from rich.color import Color as RichColor
from rich.color import ColorType
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from oi_tui.terminal.contrast_filter import has_text
from oi_tui.themes import LEGIBLE, compute_contrast, list_moves

#: The levels of red, green and blue in the cube of colours 16 to 231.
_LEVELS = (0, 95, 135, 175, 215, 255)


class Ansi256Filter(LineFilter):
    """Replaces a theme's colours with those that every terminal of 256 colours has in common."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """Return the segments in those colours."""
        return [
            Segment(text, convert_style(style, is_read=has_text(text)) if style else style, control)
            for text, style, control in segments
        ]


@lru_cache(maxsize=4096)
def convert_style(style: Style, *, is_read: bool) -> Style:
    """Return the style in those colours, with legible ink where it is of words."""
    ink, ground = _convert(style.color), _convert(style.bgcolor)
    if is_read and ink is not None and ground is not None:
        if style.reverse:
            ground = _make_legible(ground, ink)
        else:
            ink = _make_legible(ink, ground)
    return style + Style(color=ink, bgcolor=ground)


def _convert(color: RichColor | None) -> RichColor | None:
    if color is None or color.type is not ColorType.TRUECOLOR or color.triplet is None:
        return color
    return _find_nearest(*color.triplet)


def _make_legible(ink: RichColor, ground: RichColor) -> RichColor:
    """Return the ink, or the first colour on its way to white or black that can be read on the ground."""
    if ink.is_default or ground.is_default:
        return ink
    behind = Color.from_rich_color(ground)
    moves = [_find_nearest(*moved.rgb) for moved in list_moves(Color.from_rich_color(ink), behind)]
    return next((moved for moved in moves if _is_legible(moved, behind)), moves[-1])


def _is_legible(ink: RichColor, ground: Color) -> bool:
    return compute_contrast(Color.from_rich_color(ink), ground) >= LEGIBLE


@lru_cache(maxsize=4096)
def _find_nearest(red: int, green: int, blue: int) -> RichColor:
    """Return the nearest of the colours 16 to 255; what 0 to 15 look like, only the terminal knows."""
    colour = (red, green, blue)
    level = tuple(_find_level(part) for part in colour)
    grey = min(max(round((sum(colour) / 3 - 8) / 10), 0), 23)
    candidates = {
        16 + 36 * level[0] + 6 * level[1] + level[2]: tuple(_LEVELS[part] for part in level),
        232 + grey: (8 + 10 * grey,) * 3,
    }
    return RichColor.from_ansi(min(candidates, key=lambda number: math.dist(candidates[number], colour)))


def _find_level(part: int) -> int:
    return min(range(len(_LEVELS)), key=lambda level: abs(_LEVELS[level] - part))
