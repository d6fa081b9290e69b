"""Every word on every screen can be read, in every theme."""

from collections.abc import Sequence

import pytest
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import BUILTIN_THEMES

from oi_tui.app import OiTui
from oi_tui.terminal.ansi256_filter import Ansi256Filter
from oi_tui.terminal.filter_chain import FilterChain
from oi_tui.themes import LEGIBLE, THEMES, compute_contrast
from tests.snapshots.test_screens import STATES

NAMES = [theme.name for theme in (*THEMES, *BUILTIN_THEMES.values()) if not theme.ansi]
#: Where the most colours come together.
TRIED = ("asking about risks", "finding and replacing", "what was changed", "finished", "help", "granting")


def faint(app: OiTui, filters: Sequence[LineFilter] = ()) -> list[str]:
    """The words on the screen that are too near to their ground, as they go to the terminal."""
    found = []
    for strip in app.screen._compositor.render_strips():
        for text, style, _ in FilterChain(filters).apply(list(strip), Color(0, 0, 0)):
            if not style or not any(map(str.isalnum, text)):
                continue
            if style.color is None or style.bgcolor is None or style.bgcolor.is_default:
                continue
            ink, ground = (Color.from_rich_color(item) for item in (style.color, style.bgcolor))
            if compute_contrast(ink, ground) < LEGIBLE:
                found.append(f"{text!r} {ink.hex} on {ground.hex}")
    return found


@pytest.mark.parametrize("state", TRIED)
async def test_every_word_can_be_read_in_every_theme(state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oi_tui.engine.models.local_servers.find", list)
    make, steps = STATES[state]
    app = make()
    wrong: dict[str, list[str]] = {}
    async with app.run_test(size=(100, 30)) as pilot:
        await steps(pilot)
        for name in NAMES:
            app.theme = name
            await pilot.pause()
            if found := faint(app) + faint(app, [Ansi256Filter()]):
                wrong[name] = found
    assert wrong == {}


def contrast_of(app: OiTui, words: str) -> float:
    """The contrast of a text on the screen with its ground."""
    for strip in app.screen._compositor.render_strips():
        for text, style, _ in strip:
            if words in text and style and style.color and style.bgcolor:
                return compute_contrast(
                    Color.from_rich_color(style.color), Color.from_rich_color(style.bgcolor)
                )
    raise AssertionError(f"{words!r} is not on the screen")


async def test_in_every_theme_muted_text_does_not_stand_out_from_other_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("oi_tui.engine.models.local_servers.find", list)
    make, steps = STATES["finished"]
    app = make()
    async with app.run_test(size=(100, 30)) as pilot:
        await steps(pilot)
        for name in NAMES:
            app.theme = name
            await pilot.pause()
            # The hints of the status line, and the model in the header: both are legible, which is about
            # all that can be had where a theme is pale.
            assert contrast_of(app, "settings") < 1.1 * contrast_of(app, "gpt-4o"), name
