"""What is drawn when something changes on a screen that lies below another one."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from rich.console import RenderableType
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static

from oi_tui.screens.base import BaseScreen
from oi_tui.screens.dialog import Dialog, Page
from tests.pilot.waiting import until

SIZE = (40, 12)
LAST_ROW = SIZE[1] - 1


class CountingApp(App[None]):
    """An application that notes which rows are written to the terminal."""

    CSS = """
    Box { align: center middle; }
    Box Static { width: 10; height: 1; }
    Numbers Static { height: 1fr; }
    Numbers #seconds { height: 1; }
    """

    rows: set[int]

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        if isinstance(renderable, LayoutUpdate):
            self.rows |= set(range(SIZE[1]))
        elif isinstance(renderable, ChopsUpdate):
            self.rows |= {y for y, _, _ in renderable.spans}
        super()._display(screen, renderable)


class Numbers(BaseScreen[None]):
    """A screen with text, and a second that is counted in its last row."""

    frames = 0

    def compose(self) -> ComposeResult:
        yield Static("text")
        yield Static("0 s", id="seconds")

    def _compositor_refresh(self) -> None:
        super()._compositor_refresh()
        self.frames += 1

    async def change(self, pilot: Pilot[None], work: Callable[[], object]) -> None:
        """Change something, and wait until this screen has drawn it."""
        frames = self.frames
        work()
        await until(pilot, lambda: self.frames > frames)

    async def count(self, pilot: Pilot[None], seconds: int) -> None:
        """Count a second."""
        await self.change(pilot, lambda: self.query_one("#seconds", Static).update(f"{seconds} s"))


class Box(Dialog[None]):
    """A dialog of one row."""

    def compose(self) -> ComposeResult:
        yield Static("dialog")


class WholePage(Page[None]):
    """A screen that covers what lies below."""

    def compose(self) -> ComposeResult:
        yield Static("page")


@asynccontextmanager
async def opened(*screens: Screen[None]) -> AsyncIterator[tuple[CountingApp, Pilot[None], Numbers]]:
    """Open the screens over one that counts seconds, all of which has changed since."""
    app, below = CountingApp(), Numbers()
    app.rows = set()
    async with app.run_test(size=SIZE) as pilot:
        for screen in (below, *screens):
            await app.push_screen(screen)
            await pilot.pause()
        await below.change(pilot, below.refresh)
        await pilot.pause()
        app.rows.clear()
        yield app, pilot, below


def show(app: CountingApp) -> str:
    """Return what the terminal shows after the last frame."""
    return app.export_screenshot().replace("&#160;", " ")


async def test_a_second_that_is_counted_below_a_dialog_draws_its_row_alone() -> None:
    async with opened(Box()) as (app, pilot, below):
        for second in (1, 2):
            app.rows.clear()
            await below.count(pilot, second)
            await until(pilot, lambda: app.rows)
            assert app.rows == {LAST_ROW}
            assert f"{second} s" in show(app)


async def test_below_a_page_nothing_is_drawn_until_it_closes() -> None:
    page = WholePage()
    async with opened(page) as (app, pilot, below):
        await below.count(pilot, 1)
        await pilot.pause()
        assert not app.rows
        page.dismiss()
        await until(pilot, lambda: app.rows)
        assert app.rows == set(range(SIZE[1]))
        assert "1 s" in show(app)


async def test_a_dialog_draws_its_own_changes_along_with_those_below() -> None:
    box = Box()
    async with opened(box) as (app, pilot, below):
        own = box.query_one(Static)
        for number in (1, 2):
            app.rows.clear()
            own.update(f"dialog {number}")
            await below.count(pilot, number)
            await until(pilot, lambda: len(app.rows) > 1)
            assert app.rows == {own.region.y, LAST_ROW}
