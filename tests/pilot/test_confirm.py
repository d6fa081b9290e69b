"""A question on a page is answered by a deliberate yes alone."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual import events
from textual.content import Content
from textual.pilot import Pilot

from oi_tui.screens import confirm
from oi_tui.screens.confirm import ConfirmDialog
from oi_tui.widgets.approval import key_guard
from oi_tui.widgets.idle import IdleClock
from tests.pilot.waiting import until


@asynccontextmanager
async def open_dialog() -> AsyncIterator[tuple[Pilot[str], ConfirmDialog, list[bool | None]]]:
    app, answers = IdleClock(), []
    async with app.run_test(size=(80, 24)) as pilot:
        question = ConfirmDialog("Delete it?", ["It is old."])
        await app.push_screen(question, answers.append)
        question.query_one("#confirm").styles.border = ("round", "white")
        yield pilot, question, answers


def hints(question: ConfirmDialog) -> str:
    return Content.from_markup(str(question.query_one("#confirm").border_subtitle)).plain


async def click(pilot: Pilot[str], question: ConfirmDialog, hint: str) -> None:
    """Click on a hint in the lower border."""
    region = question.query_one("#confirm").region
    column = region.right - 2 - len(hints(question)) + hints(question).index(hint)
    await pilot.click(offset=(column, region.bottom - 1))


async def test_a_click_on_yes_counts_when_the_button_went_down_while_it_counts() -> None:
    async with open_dialog() as (pilot, question, answers):
        await click(pilot, question, "y")
        await until(pilot, lambda: question.armed)
        question.clicked_at = 0.0
        question.action_press("y")
        await pilot.pause()
        assert answers == []
        await click(pilot, question, "y yes")
        await until(pilot, lambda: answers)
        assert answers == [True]


async def test_a_click_on_no_counts_at_once() -> None:
    async with open_dialog() as (pilot, question, answers):
        await click(pilot, question, "n no")
        await until(pilot, lambda: answers)
        assert answers == [False]


async def test_a_yes_counts_once_it_was_seen_and_nobody_types() -> None:
    async with open_dialog() as (pilot, question, answers):
        assert "when you stop typing" in hints(question)
        await until(pilot, lambda: question.armed)
        assert hints(question) == "y yes · n no"
        await pilot.press("y")
        await until(pilot, lambda: answers)
        assert answers == [True]


async def test_a_yes_within_a_word_is_none_however_long_the_question_was_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with open_dialog() as (pilot, question, answers):
        await until(pilot, lambda: question.armed)
        # From here on it would wait for ever, so that its waiting is seen however slow the machine.
        monkeypatch.setattr(key_guard, "QUIET", float("inf"))
        await pilot.press(*"really")
        assert not question.armed
        assert answers == []
        await pilot.press("n")
        assert answers == [False]


@pytest.mark.parametrize("key", ["e", "enter", "y"])
async def test_a_yes_that_a_key_follows_at_once_is_none(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confirm, "SETTLE", 30.0)
    async with open_dialog() as (pilot, question, answers):
        await until(pilot, lambda: question.armed)
        await pilot.press("y", key)
        await until(pilot, lambda: not question.armed or answers)
        assert answers == []


async def test_a_paste_is_no_answer_and_moving_about_keeps_the_question_open() -> None:
    async with open_dialog() as (pilot, question, answers):
        await until(pilot, lambda: question.armed)
        await pilot.press("down", "pagedown")
        assert question.armed
        pilot.app.post_message(events.Paste("y"))
        await until(pilot, lambda: not question.armed)
        assert answers == []
