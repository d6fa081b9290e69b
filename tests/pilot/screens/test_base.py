"""What every screen has in common."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import pytest
from textual import work
from textual._compositor import ChopsUpdate, Compositor, LayoutUpdate
from textual.app import App, ComposeResult
from textual.events import Key, MouseDown, MouseMove, MouseUp, Resize
from textual.geometry import Size
from textual.widgets import Static

from oi_tui.engine.settings.profile import Profile
from oi_tui.screens.base import BaseScreen
from oi_tui.screens.glance import GlanceScreen
from oi_tui.screens.help import HelpScreen
from oi_tui.screens.pager import PagerScreen
from oi_tui.screens.profile.editor import ProfileEditor
from oi_tui.screens.themes import ThemesScreen
from oi_tui.widgets.field import Field
from oi_tui.widgets.pager.long_text import LongText
from tests.pilot.test_chat import open_chat
from tests.pilot.waiting import until

SCREENS: dict[str, Callable[[], BaseScreen]] = {
    "glance": lambda: GlanceScreen([("Group", [("a", "does it")])]),
    "help": lambda: HelpScreen(),
    "pager": lambda: PagerScreen("Title", LongText.of("text"), "escape closes"),
    "themes": ThemesScreen,
    "profile": lambda: ProfileEditor(Profile(), None),
}


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


@pytest.mark.parametrize("name", SCREENS)
async def test_a_screen_that_is_closed_while_it_opens_fails_nowhere(name: str) -> None:
    async with open_chat() as ui:
        app, pilot = ui.app, ui.pilot
        before = len(app.screen_stack)
        for steps in (0, 1, 2, 3, 5, 8, 11):
            screen = SCREENS[name]()
            app.push_screen(screen)
            for _ in range(steps):
                await asyncio.sleep(0)
            screen.post_message(Resize(Size(60, 20), Size(60, 20)))
            screen.dismiss(None)
            screen.post_message(Key("x", "x"))
            screen.post_message(Resize(Size(80, 24), Size(80, 24)))
            await pilot.pause()
            # A busy machine takes longer than a pause: only the topmost screen can be closed.
            await ui.until(lambda: len(app.screen_stack) == before)


class Searching(Words):
    """A screen whose search goes on for a moment after it was cancelled, as that of Textual's palette."""

    @work
    async def search(self) -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        self.query_one(Static)


async def test_a_search_that_goes_on_after_its_screen_was_closed_fails_nowhere() -> None:
    async with open_chat() as ui:
        screen = Searching()
        await ui.app.push_screen(screen)
        screen.call_later(screen.search)
        await ui.until(lambda: any(worker.node is screen for worker in ui.app.workers))
        search = next(worker for worker in ui.app.workers if worker.node is screen)
        screen.dismiss(None)
        await ui.until(lambda: search.is_finished)
        assert search.error is not None
        await ui.pilot.pause()
        assert ui.app.return_code is None


@pytest.mark.parametrize(("name", "action"), [("pager", "leave"), ("pager", "search"), ("profile", "search")])
async def test_a_key_for_a_screen_that_is_not_there_yet_or_no_longer_fails_nowhere(
    name: str, action: str
) -> None:
    async with open_chat() as ui:
        app, pilot = ui.app, ui.pilot
        screen = SCREENS[name]()
        app.push_screen(screen)
        await app.run_action(action, screen)
        await ui.until(lambda: screen.is_mounted or not screen.is_attached)
        if screen.is_attached:
            screen.dismiss(None)
        await ui.until(lambda: not screen.is_attached)
        await app.run_action(action, screen)
        await pilot.pause()
        assert app.screen is ui.chat


async def test_a_key_that_comes_while_the_application_ends_does_nothing() -> None:
    async with open_chat() as ui:
        pass
    assert ui.app.screen_stack == []
    await ui.app.on_event(Key("x", "x"))


class TwoFields(BaseScreen[None]):
    def compose(self) -> ComposeResult:
        yield Field(id="first")
        yield Field(id="second")


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is drawn from here on: the whole screen, or a part of it."""
    frames: list[str] = []
    render_all, render_part = Compositor.render_full_update, Compositor.render_partial_update

    def count_all(compositor: Compositor, *, simplify: bool = False) -> LayoutUpdate:
        frames.append("all")
        return render_all(compositor, simplify)

    def count_part(compositor: Compositor) -> ChopsUpdate | None:
        update = render_part(compositor)
        frames.extend(["part"] if update else [])
        return update

    monkeypatch.setattr(Compositor, "render_full_update", count_all)
    monkeypatch.setattr(Compositor, "render_partial_update", count_part)
    return frames


async def test_another_focused_field_does_not_draw_the_whole_screen(drawn: list[str]) -> None:
    screen = TwoFields()
    async with App[None]().run_test(size=(40, 20)) as pilot:
        await pilot.app.push_screen(screen)
        await until(pilot, lambda: screen.size == (40, 20) and not screen._repaint_required)
        drawn.clear()
        await pilot.press("tab")
        await pilot.pause()
        assert screen.focused is screen.query_one("#second")
        assert "all" not in drawn
        screen.refresh()
        await until(pilot, lambda: "all" in drawn)


async def test_a_screen_is_drawn_once_where_a_layout_and_a_repaint_are_due(drawn: list[str]) -> None:
    screen = TwoFields()
    async with App[None]().run_test(size=(40, 20)) as pilot:
        await pilot.app.push_screen(screen)
        await until(pilot, lambda: screen.size == (40, 20) and not screen._repaint_required)
        drawn.clear()
        screen.query_one("#first").styles.display = "none"
        screen.refresh(layout=True)
        screen._on_timer_update()
        assert drawn == ["all"]


async def test_a_screen_is_not_laid_out_again_for_the_size_that_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with open_chat() as ui:
        sizes: list[object] = []
        monkeypatch.setattr(Compositor, "reflow", lambda _self, _parent, size: sizes.append(size))
        ui.chat.post_message(Resize(ui.app.size, ui.app.size))
        await ui.pilot.pause()
        assert sizes == []


@pytest.mark.slow
@pytest.mark.parametrize("name", SCREENS)
async def test_opening_and_closing_a_screen_draws_two_whole_frames_each_at_most(
    name: str, drawn: list[str]
) -> None:
    async with open_chat() as ui:
        drawn.clear()
        screen = SCREENS[name]()
        await ui.app.push_screen(screen)
        await ui.until(lambda: "all" in drawn and not (screen._repaint_required or screen._layout_required))
        await ui.pilot.pause()
        assert drawn.count("all") <= 2, drawn
        drawn.clear()
        screen.dismiss(None)
        await ui.until(lambda: "all" in drawn and not screen.is_attached)
        await ui.pilot.pause()
        assert drawn.count("all") <= 2, drawn
