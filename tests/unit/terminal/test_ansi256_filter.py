"""On 256 colours a theme looks as it was meant, and can be read."""

import pytest
from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.theme import Theme

from oi_tui.terminal.ansi256_filter import Ansi256Filter
from oi_tui.terminal.graphics import HALF_BLOCK
from oi_tui.themes import LEGIBLE, THEMES, compute_contrast
from oi_tui.widgets.conversation.styles import get_styles


def show(style: Style, text: str = "word") -> Style:
    (segment,) = Ansi256Filter().apply([Segment(text, style)], Color(0, 0, 0))
    assert segment.style is not None
    return segment.style


def paint(ink: str, ground: str) -> Style:
    return Style(color=Color.parse(ink).rich_color, bgcolor=Color.parse(ground).rich_color)


@pytest.mark.parametrize("theme", THEMES, ids=["dark", "light"])
def test_a_calm_ground_stays_calm(theme: Theme) -> None:
    for ground in (theme.background, theme.surface, theme.panel):
        assert ground is not None
        shown = show(paint("#808080", ground)).bgcolor
        assert shown is not None
        wanted = Color.parse(ground)
        assert all(
            abs(one - other) < 16
            for one, other in zip(Color.from_rich_color(shown).rgb, wanted.rgb, strict=True)
        ), (ground, shown)


@pytest.mark.parametrize("theme", THEMES, ids=["dark", "light"])
def test_what_is_chosen_is_seen_on_its_ground(theme: Theme) -> None:
    look = get_styles(theme)
    for name in ("base", "code", "user", "inline_code"):
        assert show(look.selection).bgcolor != show(getattr(look, name)).bgcolor, name


@pytest.mark.parametrize("manner", [Style(), Style(reverse=True)])
def test_words_can_be_read_after_both_colours_moved(manner: Style) -> None:
    shown = show(paint("#7a7f88", "#1a1e25") + manner)
    assert shown.color
    assert shown.bgcolor
    ink, ground = Color.from_rich_color(shown.color), Color.from_rich_color(shown.bgcolor)
    assert compute_contrast(ink, ground) >= LEGIBLE


def test_lines_and_pixels_stay_as_faint_as_they_were_meant() -> None:
    for text in ("────", HALF_BLOCK):
        shown = show(paint("#1a1e25", "#1a1e25"), text)
        assert shown.color == shown.bgcolor


def test_colours_of_the_terminal_stay() -> None:
    style = Style(color=RichColor.from_ansi(3), bgcolor=RichColor.parse("default"))
    assert show(style) == style
