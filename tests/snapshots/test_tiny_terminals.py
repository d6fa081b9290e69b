"""Screens survive a terminal of any size: one column, one row, a few of both."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from oi_tui import paths
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.storage.store import Store
from oi_tui.screens.navigator.screen import NavigatorScreen
from oi_tui.screens.profile.editor import ProfileEditor
from oi_tui.screens.variables import VariablesScreen
from oi_tui.themes import DARK
from tests.fakes import Computer
from tests.pilot import waiting
from tests.snapshots import test_screens, test_states
from tests.snapshots.staging import frame
from tests.snapshots.test_other_screens import Stage, saved, settled

SIZES = [(1, 1), (2, 2), (5, 3), (9, 1), (13, 4), (24, 6), (80, 24)]
_KNOWN = {**test_screens.STATES, **test_states.STATES}
#: One for each screen, dialog and bar. A failure in one of them ends the application.
STATES: dict[str, tuple[Callable[[], Any], Callable[[Pilot[None]], Awaitable[None]]]] = {
    "navigator": (lambda: Stage(NavigatorScreen(saved()), DARK.name), settled),
    "no conversations": (lambda: Stage(NavigatorScreen(Store(paths.conversations())), DARK.name), settled),
    "profile editor": (lambda: Stage(ProfileEditor(Profile()), DARK.name), settled),
    "variables": (lambda: Stage(VariablesScreen(Computer()), DARK.name), settled),
    **{
        name: _KNOWN[name]
        for name in (
            "asking about risks",
            "choosing a model",
            "choosing colours",
            "completing a command",
            "finding and replacing",
            "first approval",
            "granting everything",
            "help",
            "keys of a block",
            "looking at a plot",
            "a full-screen program",
            "palette",
            "permissions",
            "queue",
            "searching what was said",
            "the keys",
            "what was changed",
            "wide characters edited",
        )
    },
}


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.replace(" ", "_"))
async def test_a_terminal_of_any_size_is_survived(state: str) -> None:
    make, steps = STATES[state]
    app = make()
    async with app.run_test(size=(80, 24)) as pilot:
        await steps(pilot)
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await waiting.until(pilot, lambda lines=size[1]: len(frame(app)) == lines)
        assert app.is_running


async def test_a_low_terminal_shows_the_field_for_a_model_and_the_one_for_its_key() -> None:
    make, steps = STATES["choosing a model"]
    app = make()
    async with app.run_test(size=(40, 12)) as pilot:
        await steps(pilot)
        await typed_into(pilot, "#models-name", "openai/gpt-4o")
        await pilot.press("enter")
        await waiting.until(pilot, lambda: app.screen.query_one("#models-key").has_focus)
        await typed_into(pilot, "#models-key", "sk")


async def typed_into(pilot: Pilot[None], field: str, text: str) -> None:
    """Type, and see that all of the field is within its box, which is on the screen."""
    await pilot.press(*text)
    widget = pilot.app.screen.query_one(field, Input)
    await waiting.until(pilot, lambda: widget.value == text)
    box = pilot.app.screen.query_one("#models").content_region
    assert widget.region.height == 1
    assert box.contains_region(widget.region)
    assert pilot.app.screen.region.contains_region(box)


async def test_a_narrow_terminal_shows_settings_and_the_rows_of_more_than_one() -> None:
    make, steps = STATES["profile editor"]
    app = make()
    async with app.run_test(size=(40, 12)) as pilot:
        await steps(pilot)
        lines = ["".join(segment.text for segment in strip) for strip in frame(app)]
        assert sum("Server address" in line for line in lines) == 1
        assert not any("llm." in line for line in lines)
        assert any("API key" in line for line in lines)
        # The mark of a changed setting is whole, and others need none.
        await pilot.press("tab", "tab", *"x")
        await waiting.until(pilot, lambda: shows(app, "● changed"))
        assert not any(line.rstrip().endswith(" def") for line in lines)


@pytest.mark.parametrize("columns", [60, 80])
async def test_the_mark_of_a_setting_is_whole(columns: int) -> None:
    profile = Profile().with_changes("flag", model="openai/x")
    app = Stage(ProfileEditor(profile), DARK.name)
    async with app.run_test(size=(columns, 15)) as pilot:
        await settled(pilot)
        mark = pilot.app.screen.query(".field-mark").first(Static)
        await waiting.until(pilot, lambda: "● changed" in str(mark.render()))
        fields = pilot.app.screen.query_one("#profile-fields").content_region
        assert fields.contains_region(mark.region)
        assert shows(app, "set by a flag") == (columns == 80)


@pytest.mark.parametrize(
    ("state", "hints"),
    [("permissions", "enter revoke · esc close"), ("choosing a model", "enter choose · esc cancel")],
)
async def test_a_narrow_dialog_shows_the_hints_that_fit_and_always_the_way_out(
    state: str, hints: str
) -> None:
    make, steps = _KNOWN[state]
    app = make()
    async with app.run_test(size=(80, 24)) as pilot:
        await steps(pilot)
        assert not shows(app, hints), "there is room for more"
        await pilot.resize_terminal(40, 12)
        await waiting.until(pilot, lambda: shows(app, hints))


def shows(app: Any, words: str) -> bool:
    return any(words in "".join(segment.text for segment in strip) for strip in frame(app))
