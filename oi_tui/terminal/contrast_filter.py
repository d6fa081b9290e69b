"""Keeps text legible: changes colours that are too close to their background, in every theme."""

from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from oi_tui.themes import LEGIBLE, compute_contrast, make_legible


class ContrastFilter(LineFilter):
    """Gives words a contrast of at least 4.5:1, whichever theme and widget chose their colours.

    Lines, bars and other signs that say nothing stay as faint as they were meant to be.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """Return the segments, the same list where all of it could be read."""
        for _, style, _ in segments:
            if style is not None and make_readable(style) is not style:
                return [
                    Segment(text, make_readable(style), control)
                    if style and has_text(text)
                    else Segment(text, style, control)
                    for text, style, control in segments
                ]
        return segments


@lru_cache(maxsize=4096)
def make_readable(style: Style) -> Style:
    """Return the style, or one with a colour that can be read on its ground."""
    if style.color is None or style.bgcolor is None or style.color.is_default or style.bgcolor.is_default:
        return style
    ink, ground = Color.from_rich_color(style.color), Color.from_rich_color(style.bgcolor)
    if style.reverse:
        ink, ground = ground, ink
    if compute_contrast(ink, ground) >= LEGIBLE:
        return style
    moved = make_legible(ink, ground).rich_color
    return style + (Style(bgcolor=moved) if style.reverse else Style(color=moved))


@lru_cache(maxsize=4096)
def has_text(text: str) -> bool:
    """Return whether there are words to read in it."""
    return any(character.isalnum() for character in text)
