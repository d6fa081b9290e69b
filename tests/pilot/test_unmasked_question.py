"""The person is asked before code gets a screenshot that may show passwords."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from oi_tui.computer_api import UnmaskedScreen
from oi_tui.engine.events import TurnEnded
from oi_tui.screens.chat.turn.unmasked_question import UnmaskedQuestion
from oi_tui.screens.confirm import ConfirmDialog
from oi_tui.widgets.idle import IdleClock
from tests.pilot.waiting import until

WHY = "Programs of these windows do not say where their password fields are: 'Vault'."


class Wanting:
    """Code that wants a screenshot, in a thread of its own."""

    def __init__(self, screen: UnmaskedScreen) -> None:
        self.answers: list[bool] = []
        self._thread = threading.Thread(target=lambda: self.answers.append(screen.is_allowed(WHY)))
        self._thread.start()

    def join(self) -> None:
        self._thread.join()


@asynccontextmanager
async def wanted(
    *, busy: bool = True
) -> AsyncIterator[tuple[Pilot[Any], UnmaskedQuestion, UnmaskedScreen, Wanting]]:
    app, screen = IdleClock(), UnmaskedScreen()
    view: Any = SimpleNamespace(
        app=app, busy=busy, workspace=SimpleNamespace(languages=SimpleNamespace(unmasked_screen=screen))
    )
    async with app.run_test(size=(80, 24)) as pilot:
        question = UnmaskedQuestion(view, lambda why: app.call_later(question.open, why))
        code = Wanting(screen)
        try:
            yield pilot, question, screen, code
        finally:
            question.leave()
            code.join()


@pytest.mark.parametrize(("key", "allowed"), [("y", True), ("n", False), ("escape", False)])
async def test_the_answer_holds_until_the_conversation_is_left(key: str, allowed: bool) -> None:
    async with wanted() as (pilot, _, screen, code):
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog) and pilot.app.screen.armed)
        assert "'Vault'" in str(pilot.app.screen.query_one("#confirm-details", Static).render())
        assert code.answers == []
        await pilot.press(key)
        await until(pilot, lambda: code.answers)
        assert code.answers == [allowed]
        assert screen.is_allowed(WHY) is allowed
        assert len(pilot.app.screen_stack) == 1
        screen.forget()
        again = Wanting(screen)
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
        screen.answer(None)
        again.join()


async def test_the_end_of_the_turn_takes_the_question_away_and_gives_no_screenshot() -> None:
    async with wanted() as (pilot, question, screen, code):
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
        question.follow(TurnEnded("interrupted"))
        await until(pilot, lambda: len(pilot.app.screen_stack) == 1 and code.answers)
        assert code.answers == [False]
        # No answer is no refusal: the next turn asks again.
        assert not screen.is_open
        again = Wanting(screen)
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
        screen.answer(None)
        again.join()


async def test_a_question_under_another_screen_ends_with_its_turn() -> None:
    async with wanted() as (pilot, question, _, code):
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
        above = ConfirmDialog("Leave?", ())
        await pilot.app.push_screen(above)
        question.follow(TurnEnded("interrupted"))
        await until(pilot, lambda: code.answers)
        assert code.answers == [False]
        assert pilot.app.screen is above
        await pilot.press("n")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 1)


async def test_nobody_is_asked_when_the_turn_is_over() -> None:
    async with wanted(busy=False) as (pilot, _, _, code):
        await until(pilot, lambda: code.answers)
        assert code.answers == [False]
        assert len(pilot.app.screen_stack) == 1


def test_where_nobody_can_be_asked_there_is_no_screenshot() -> None:
    assert not UnmaskedScreen().is_allowed(WHY)
