"""Screens survive a terminal of any size: one column, one row, a few of both."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot

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
