"""Every text of the conversation can be read in every theme."""

import pytest
from rich.style import Style
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from oi_tui.themes import LEGIBLE, THEMES, compute_contrast, make_legible
from oi_tui.widgets.conversation.styles import Styles, adapt_program_style, get_styles

PAINTED = [theme for theme in (*THEMES, *BUILTIN_THEMES.values()) if not theme.ansi]
NATIVE = [theme for theme in BUILTIN_THEMES.values() if theme.ansi]


def inks(look: Styles) -> dict[str, Style]:
    named = (
        {name: getattr(look, name) for name in look.__slots__ if not name.startswith("_")}
        if hasattr(look, "__slots__")
        else dict(vars(look))
    )
    styles = {name: style for name, style in named.items() if isinstance(style, Style) and name != "rule"}
    return {**styles, **{str(kind): style for kind, style in look.syntax.items()}}


def ratio(style: Style) -> float:
    assert style.color is not None
    assert style.bgcolor is not None
    return compute_contrast(Color.from_rich_color(style.color), Color.from_rich_color(style.bgcolor))


def test_contrast_is_that_of_wcag() -> None:
    assert compute_contrast(Color.parse("#000"), Color.parse("#fff")) == pytest.approx(21)
    assert compute_contrast(Color.parse("#777"), Color.parse("#fff")) == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", PAINTED, ids=lambda theme: theme.name)
def test_every_ink_is_legible_on_its_ground(theme: Theme) -> None:
    for name, style in inks(get_styles(theme)).items():
        assert ratio(style) >= LEGIBLE - 0.05, name


@pytest.mark.parametrize("theme", PAINTED, ids=lambda theme: theme.name)
def test_the_colours_of_programs_are_legible(theme: Theme) -> None:
    look = get_styles(theme)
    for number in range(16):
        assert ratio(adapt_program_style(look, Style.parse(f"color({number})"))) >= LEGIBLE - 0.05
        assert ratio(adapt_program_style(look, Style.parse(f"default on color({number})"))) >= LEGIBLE - 0.05
    for name in ("#000000", "#ffffff", "#808080", "color(232)", "color(255)"):
        assert ratio(adapt_program_style(look, Style.parse(name))) >= LEGIBLE - 0.05


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_the_variables_of_our_own_themes_are_legible(theme: Theme) -> None:
    variables = theme.to_color_system().generate()
    for ground in ("background", "surface", "panel"):
        for ink in ("foreground", "text-muted", "primary", "accent", "warning", "error", "success"):
            found = compute_contrast(Color.parse(variables[ink]), Color.parse(variables[ground]))
            assert found >= LEGIBLE, (ink, ground)


@pytest.mark.parametrize("theme", NATIVE, ids=lambda theme: theme.name)
def test_native_themes_leave_the_colours_to_the_terminal(theme: Theme) -> None:
    look = get_styles(theme)
    assert look.base.bgcolor is not None
    assert look.base.bgcolor.is_default
    assert look.code_active.reverse


def test_states_differ_without_colours() -> None:
    look = get_styles(THEMES[0], colourful=False)
    assert not look.colourful
    assert get_styles(THEMES[0], colourful=False) is look


def test_legible_moves_a_colour_no_further_than_needed() -> None:
    white, grey = Color.parse("#ffffff"), Color.parse("#999999")
    assert compute_contrast(make_legible(grey, white), white) >= LEGIBLE
    assert compute_contrast(make_legible(grey, white), white) < 7
    assert make_legible(Color.parse("#000000"), white) == Color.parse("#000000")
