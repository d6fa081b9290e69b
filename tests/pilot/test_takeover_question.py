"""A person who takes the mouse from the model is asked whether it may go on."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from textual.pilot import Pilot

from oi_tui.computer_api import Takeover
from oi_tui.engine.events import TurnEnded
from oi_tui.screens.chat.turn.takeover_question import TakeoverQuestion
from oi_tui.screens.confirm import ConfirmDialog
from oi_tui.screens.pager import PagerScreen
from oi_tui.widgets.idle import IdleClock
from oi_tui.widgets.pager.long_text import LongText
from tests.pilot.waiting import until


@asynccontextmanager
async def taken_over(
    *, busy: bool = True
) -> AsyncIterator[tuple[Pilot[Any], TakeoverQuestion, Takeover, list[str]]]:
    app, takeover, stops = IdleClock(), Takeover(), list[str]()
    view: Any = SimpleNamespace(
        app=app,
        busy=busy,
        session=SimpleNamespace(interrupt=lambda: stops.append("stopped")),
        workspace=SimpleNamespace(languages=SimpleNamespace(takeover=takeover)),
    )
    async with app.run_test(size=(80, 24)) as pilot:
        question = TakeoverQuestion(view, lambda: app.call_later(question.open))
        # The guard of mouse and keyboard says it, and then the code itself.
        assert takeover.begin()
        assert takeover.begin()
        yield pilot, question, takeover, stops


@pytest.mark.parametrize(("key", "stopped"), [("y", []), ("n", ["stopped"]), ("escape", ["stopped"])])
async def test_code_waits_for_the_answer(key: str, stopped: list[str]) -> None:
    async with taken_over() as (pilot, _, takeover, stops):
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog) and pilot.app.screen.armed)
        assert takeover.is_open
        counts: list[int] = []
        waiting = threading.Thread(target=lambda: counts.append(takeover.wait()))
        waiting.start()
        await pilot.press(key)
        await until(pilot, lambda: counts)
        waiting.join()
        assert counts == [1]
        assert stops == stopped
        assert len(pilot.app.screen_stack) == 1


async def test_the_end_of_the_turn_takes_the_question_away() -> None:
    async with taken_over() as (pilot, question, takeover, stops):
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
        question.follow(TurnEnded("interrupted"))
        await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
        assert not takeover.is_open
        assert stops == []


async def test_a_question_under_another_screen_ends_with_its_turn() -> None:
    async with taken_over() as (pilot, question, takeover, stops):
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
        old = pilot.app.screen
        above = PagerScreen("Help", LongText.of("text"), "")
        await pilot.app.push_screen(above)
        question.follow(TurnEnded("interrupted"))
        assert not takeover.is_open
        # The screen of the person stays, and the next turn asks anew.
        assert pilot.app.screen is above
        assert takeover.begin()
        await until(pilot, lambda: len(pilot.app.screen_stack) == 4)
        question.follow(TurnEnded("interrupted"))
        await until(pilot, lambda: pilot.app.screen is above)
        await pilot.press("escape")
        await until(pilot, lambda: old not in pilot.app.screen_stack)
        assert len(pilot.app.screen_stack) == 1
        assert stops == []


async def test_nobody_is_asked_when_the_turn_is_over() -> None:
    async with taken_over(busy=False) as (pilot, _, takeover, stops):
        await until(pilot, lambda: not takeover.is_open)
        assert len(pilot.app.screen_stack) == 1
        assert stops == []


async def test_a_view_that_was_left_asks_no_more() -> None:
    async with taken_over() as (pilot, question, takeover, _):
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
        question.leave()
        assert not takeover.is_open
        assert not takeover.begin()
