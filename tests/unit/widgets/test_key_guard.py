"""A key answers a question only when the question was seen, and nobody was typing, for half a second."""

from types import SimpleNamespace
from typing import Any

import pytest

from oi_tui.widgets.approval import key_guard
from oi_tui.widgets.approval.key_guard import KeyGuard


class Clock:
    """Stands still until a test moves it; in hundredths of a second, so that sums are exact."""

    def __init__(self) -> None:
        self.now = 100_000
        self.last_key = 0

    def monotonic(self) -> float:
        return self.now / 100


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(key_guard, "time", SimpleNamespace(monotonic=clock.monotonic))
    monkeypatch.setattr(key_guard, "find_last_activity", lambda _app: clock.last_key / 100)
    return clock


APP: Any = None


def lasted_after(guard: KeyGuard, clock: Clock, *steps: int) -> list[bool]:
    """What the guard says after each step, in hundredths of a second."""
    text = []
    for step in steps:
        clock.now += step
        text.append(guard.has_lasted(APP))
    return text


def test_a_question_is_answered_once_it_was_seen_for_half_a_second(clock: Clock) -> None:
    assert lasted_after(KeyGuard(), clock, 0, 10, 10, 10, 10, 9, 1, 10) == [False] * 6 + [True] * 2


def test_the_time_counts_from_the_moment_when_the_question_is_seen(clock: Clock) -> None:
    guard = KeyGuard()
    assert lasted_after(guard, clock, 20, 20) == [False, False]
    guard.begin()
    assert lasted_after(guard, clock, 20, 20, 9, 1) == [False, False, False, True]


def test_a_key_or_a_click_makes_the_question_wait_for_another_half_second(clock: Clock) -> None:
    guard = KeyGuard()
    lasted_after(guard, clock, 20, 20)
    clock.last_key = clock.now
    assert lasted_after(guard, clock, 20, 20, 9, 1) == [False, False, False, True]


def test_after_the_screen_stood_still_the_question_waits_again(clock: Clock) -> None:
    guard = KeyGuard()
    assert lasted_after(guard, clock, 20, 31, 20, 20, 9, 1) == [False] * 5 + [True]
    assert lasted_after(guard, clock, 29) == [True], "the screen was drawn often enough"
    assert lasted_after(guard, clock, 40) == [False]


def test_the_time_in_which_nobody_looked_before_the_question_began_does_not_count(clock: Clock) -> None:
    guard = KeyGuard()
    clock.now += 80
    guard.begin()
    assert lasted_after(guard, clock, 20, 20, 10) == [False, False, True]


def test_code_is_planned_to_run_until_somebody_types_or_it_is_cancelled(clock: Clock) -> None:
    guard = KeyGuard()
    assert not guard.plans_run(APP)
    clock.last_key = clock.now
    guard.plan_run()
    assert guard.plans_run(APP), "the key that asked for the run does not cancel it"
    clock.now += 20
    clock.last_key = clock.now
    assert not guard.plans_run(APP)
    guard.plan_run()
    assert guard.plans_run(APP)
    guard.cancel_run()
    assert not guard.plans_run(APP)
    clock.last_key = 0
    assert not guard.plans_run(APP)
