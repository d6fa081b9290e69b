"""What every screen has in common."""

from textual.app import App, ComposeResult
from textual.events import MouseDown, MouseMove, MouseUp
from textual.widgets import Static

from oi_tui.screens.base import BaseScreen


class Words(BaseScreen[None]):
    """A screen with words on it."""

    def compose(self) -> ComposeResult:
        yield Static("some words to click on")


async def test_a_click_on_a_widget_that_was_just_removed_does_nothing() -> None:
    app: App[None] = App()
    async with app.run_test() as pilot:
        screen = Words()
        await app.push_screen(screen)
        await pilot.pause()
        words = screen.query_one(Static)
        # As while it is being removed: detached, and still where the last layout put it.
        parent = words._parent
        words._detach()
        for kind in (MouseDown, MouseMove, MouseUp):
            screen._forward_event(kind(screen, 3, 0, 0, 0, 1, False, False, False, 3, 0))
        await pilot.pause()
        assert words._parent is None
        words._attach(parent)
        assert app.screen is screen
