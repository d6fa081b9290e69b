"""Screens are left once, however many keys came together."""

from collections.abc import Callable
from typing import Any

import pytest
from textual import events
from textual.app import App
from textual.screen import Screen
from textual.widgets import Static

from oi_tui.screens.confirm import ConfirmDialog
from oi_tui.screens.dialog import Palette
from oi_tui.screens.help import HelpScreen
from oi_tui.screens.pager import PagerScreen
from oi_tui.widgets.pager.long_text import LongText
from tests.pilot.waiting import until


def reader() -> PagerScreen:
    return PagerScreen("Output of [1]", LongText.of("a line"), "It is in /tmp/there.txt.")


SCREENS: dict[str, tuple[Callable[[], Screen[Any]], str]] = {
    "a page": (reader, "escape"),
    "a question": (lambda: ConfirmDialog("Delete it?", ["It is old."]), "n"),
    "the keys": (HelpScreen, "escape"),
    "the palette": (lambda: Palette(), "escape"),
}


@pytest.mark.parametrize("name", SCREENS)
async def test_keys_that_come_together_leave_one_screen(name: str) -> None:
    make, key = SCREENS[name]
    async with App[None]().run_test(size=(80, 24)) as pilot:
        app, below, answers = pilot.app, Screen[None](), []
        await app.push_screen(below)
        await app.push_screen(make(), answers.append)
        await pilot.pause()
        assert app._driver
        for _ in range(3):
            app._driver.send_message(events.Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: app.screen is below)
        await pilot.pause()
        assert app.screen is below
        assert len(answers) <= 1


async def test_what_was_opened_from_a_screen_goes_with_it() -> None:
    async with App[None]().run_test(size=(80, 24)) as pilot:
        app, answers, text = pilot.app, [], []
        page, question = reader(), ConfirmDialog("Delete it?", ["It is old."])
        await app.push_screen(page, answers.append)
        await app.push_screen(question, text.append)
        page.dismiss()
        await until(pilot, lambda: len(app.screen_stack) == 1)
        assert (answers, text) == ([None], [None])
        page.dismiss()
        await pilot.pause()
        assert len(app.screen_stack) == 1


async def test_a_search_that_ends_after_a_text_was_closed_ends_nothing_else() -> None:
    async with App[None]().run_test(size=(80, 24)) as pilot:
        page = reader()
        await pilot.app.push_screen(page)
        await pilot.press("/", *"line", "enter")
        await until(pilot, lambda: "in line 1" in str(page.query_one("#reader-status", Static).render()))
        page.action_again(False)
        searches = [worker for worker in pilot.app.workers if worker.node is page]
        await page.remove_children()
        assert searches
        await until(pilot, lambda: all(worker.is_finished for worker in searches))
        assert pilot.app.is_running
