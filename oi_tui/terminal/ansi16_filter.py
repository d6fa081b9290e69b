"""Maps the colours of a theme to the nearest ones of a 16-colour terminal.

The nearest colour by distance would be grey for nearly all that a calm theme has: errors, keywords and
strings would look alike, and in a light theme a selection like what is around it.
"""

import colorsys
from functools import lru_cache

from rich.color import Color as RichColor
from rich.palette import Palette
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from oi_tui.terminal.graphics import HALF_BLOCK
from oi_tui.themes import compute_contrast

#: What the sixteen colours are taken for; what they are, only the terminal knows.
PALETTE = Palette(
    [
        *((0, 0, 0), (170, 0, 0), (0, 170, 0), (170, 85, 0)),
        *((0, 0, 170), (170, 0, 170), (0, 170, 170), (170, 170, 170)),
        *((85, 85, 85), (255, 85, 85), (85, 255, 85), (255, 255, 85)),
        *((85, 85, 255), (255, 85, 255), (85, 255, 255), (255, 255, 255)),
    ]
)
#: What they are in XTerm and in GNOME's terminal.
_XTERM = Palette(
    [
        *((0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0)),
        *((0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229)),
        *((127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0)),
        *((92, 92, 255), (255, 0, 255), (0, 255, 255), (255, 255, 255)),
    ]
)
_VTE = Palette(
    [
        *((23, 20, 33), (192, 28, 40), (38, 162, 105), (162, 115, 76)),
        *((18, 72, 139), (163, 71, 186), (42, 161, 179), (208, 207, 204)),
        *((94, 92, 100), (246, 97, 81), (51, 209, 122), (233, 173, 12)),
        *((42, 123, 222), (192, 97, 203), (51, 199, 222), (255, 255, 255)),
    ]
)
#: Red, yellow, green, cyan, blue, magenta: the number of the colour for each sixth of the circle of hues.
_HUES = (1, 3, 2, 6, 4, 5)
#: What stands for yellow, cyan and green on a light ground: XTerm's own, on its white, can hardly be read.
_ON_LIGHT = {3: 5, 6: 4, 2: 0}
#: The greys, each up to which lightness.
_GREYS = ((0.2, 0), (0.5, 8), (0.84, 7), (1.0, 15))
#: A colour less vivid than this is a grey, as a ground sooner than as ink.
_VIVID_INK, _VIVID_GROUND = 32, 40
#: A coloured ground darker than this is black: its plain colour would be loud.
_DARK_GROUND = 0.2
#: Text nearer to the colour behind it than this, in one of the terminals, cannot be read.
_LEAST = 3.0


class Ansi16Filter(LineFilter):
    """Replaces a theme's colours with the terminal's own."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """Return the segments in those colours. Half blocks are pixels, and need no contrast."""
        return [
            Segment(text, _find_style(text, style) if style else style, control)
            for text, style, control in segments
        ]


def _find_style(text: str, style: Style) -> Style:
    return _find_pixel_style(style) if _is_pixels(text) else convert_style(style)


def _is_pixels(text: str) -> bool:
    return text.startswith(HALF_BLOCK) and not text.strip(HALF_BLOCK)


@lru_cache(maxsize=4096)
def convert_style(style: Style) -> Style:
    """Return the style in sixteen colours; the terminal's own, and its default, stay as they are."""
    ground, ink = style.bgcolor, style.color
    if style.reverse:
        ground, ink = ink, ground
    under = None if ground is None or ground.is_default else _choose_background(ground)
    over = None if ink is None or ink.is_default else _find_ink(ink, under)
    if style.reverse:
        under, over = over, under
    return style + Style(
        color=None if over is None else _to_colour(over), bgcolor=None if under is None else _to_colour(under)
    )


@lru_cache(maxsize=4096)
def _find_pixel_style(style: Style) -> Style:
    """Return the style of two pixels: a colour may be seen on itself, and the ground is one of them."""
    ink, ground = (
        None if colour is None or colour.is_default else _to_colour(_choose_background(colour))
        for colour in (style.color, style.bgcolor)
    )
    return style + Style(color=ink, bgcolor=ground)


def _to_colour(number: int) -> RichColor:
    return RichColor.from_triplet(PALETTE[number])


def _find_hue(color: Color, vivid: int) -> int | None:
    """Return the number of the plain colour of that hue; None for a grey."""
    red, green, blue = color.r, color.g, color.b
    if max(red, green, blue) - min(red, green, blue) < vivid:
        return None
    hue, _, _ = colorsys.rgb_to_hls(red / 255, green / 255, blue / 255)
    return _HUES[round(hue * 6) % 6]


def _find_grey(color: Color) -> int:
    lightness = (max(color.rgb) + min(color.rgb)) / 510
    return next(number for most, number in _GREYS if lightness <= most)


def _choose_background(found: RichColor) -> int:
    color = Color.from_rich_color(found)
    hue = _find_hue(color, _VIVID_GROUND)
    light = (max(color.rgb) + min(color.rgb)) / 510
    if hue is None or light < _DARK_GROUND:
        return _find_grey(color)
    return hue + 8 if light > 0.5 else hue


def _find_ink(found: RichColor, under: int | None) -> int:
    color = Color.from_rich_color(found)
    ground = 0 if under is None else under
    hue = _find_hue(color, _VIVID_INK)
    dark = _find_contrast(15, ground) > _find_contrast(0, ground)
    ink = _find_grey(color) if hue is None else hue + 8 if dark else _ON_LIGHT.get(hue, hue)
    if _find_contrast(ink, ground) >= _LEAST:
        return ink
    return 15 if dark else 0


@lru_cache(maxsize=256)
def _find_contrast(ink: int, ground: int) -> float:
    """Return the contrast of the two where it is lowest."""
    return min(
        compute_contrast(Color(*palette[ink]), Color(*palette[ground])) for palette in (PALETTE, _XTERM, _VTE)
    )
