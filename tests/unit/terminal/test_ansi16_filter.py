"""On sixteen colours, and without any, what matters can be told apart, in dark and in light."""

from collections.abc import Callable, Iterator

import pytest
from pygments.token import Token
from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import Monochrome

from oi_tui.terminal.ansi16_filter import Ansi16Filter
from oi_tui.terminal.graphics import HALF_BLOCK
from oi_tui.themes import LIGHT, THEMES
from oi_tui.widgets.conversation.styles import Styles, get_styles

LOOKS = [get_styles(theme) for theme in THEMES]
#: Pairs of which one must never be taken for the other, where both are seen at once.
APART = (
    ("selection", "base"),
    ("selection", "code"),
    ("hidden", "code"),
    ("error", "success"),
    ("error", "base"),
    ("warning", "success"),
    ("accent", "base"),
    ("muted", "base"),
    ("code_changed", "code_muted"),
)
KINDS = (Token.Keyword, Token.Literal.String, Token.Literal.Number, Token.Comment)


def in_sixteen(style: Style, text: str = "x") -> Style:
    """As a terminal of sixteen colours is told."""
    (segment,) = Ansi16Filter().apply([Segment(text, style)], Color(0, 0, 0))
    assert segment.style is not None
    reported = Style(
        color=segment.style.color.downgrade(ColorSystem.STANDARD) if segment.style.color else None,
        bgcolor=segment.style.bgcolor.downgrade(ColorSystem.STANDARD) if segment.style.bgcolor else None,
    )
    return Style.combine([segment.style, reported])


def in_grey(style: Style) -> Style:
    (segment,) = Monochrome().apply([Segment("x", style)], Color(0, 0, 0))
    assert segment.style is not None
    return segment.style


def every(look: Styles) -> Iterator[tuple[str, Style]]:
    for name, value in vars(look).items():
        if isinstance(value, Style):
            yield name, value
    yield from ((str(kind), style) for kind, style in look.syntax.items())


@pytest.mark.parametrize("look", LOOKS, ids=["dark", "light"])
def test_in_sixteen_colours_nothing_vanishes_in_its_ground(look: Styles) -> None:
    for name, style in every(look):
        shown = in_sixteen(style)
        assert shown.color != shown.bgcolor, name


@pytest.mark.parametrize("look", LOOKS, ids=["dark", "light"])
@pytest.mark.parametrize(("one", "other"), APART)
def test_in_sixteen_colours_these_are_reported_apart(look: Styles, one: str, other: str) -> None:
    assert in_sixteen(getattr(look, one)) != in_sixteen(getattr(look, other))


@pytest.mark.parametrize("look", LOOKS, ids=["dark", "light"])
def test_in_sixteen_colours_code_has_colours(look: Styles) -> None:
    # On a light ground no green of all terminals can be read, and strings are like names.
    kinds = [kind for kind in KINDS if look.dark or kind is not Token.Literal.String]
    shown = [in_sixteen(look.token(kind)) for kind in (*kinds, Token.Name)]
    assert len(set(shown)) == len(shown)


def test_in_a_light_theme_nothing_is_written_in_yellow_cyan_or_green() -> None:
    for name, style in every(get_styles(LIGHT)):
        shown = in_sixteen(style)
        assert shown.bgcolor is not None
        if shown.bgcolor.number in (7, 15):
            assert shown.color is not None
            assert shown.color.number not in (2, 3, 6, 10, 11, 14), name


@pytest.mark.parametrize("reported", [in_sixteen, in_grey], ids=["sixteen", "none"])
@pytest.mark.parametrize("look", LOOKS, ids=["dark", "light"])
def test_a_selection_is_seen_wherever_it_lies(look: Styles, reported: Callable[[Style], Style]) -> None:
    for name in ("base", "code", "user", "inline_code"):
        assert reported(look.selection).bgcolor != reported(getattr(look, name)).bgcolor, name


def test_pixels_of_one_colour_stay_one_colour() -> None:
    for pixel in ((255, 255, 255), (0, 0, 0), (200, 30, 30)):
        style = Style(color=RichColor.from_rgb(*pixel), bgcolor=RichColor.from_rgb(*pixel))
        shown = in_sixteen(style, HALF_BLOCK * 3)
        assert shown.color == shown.bgcolor, pixel
