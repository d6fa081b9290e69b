"""A question of the program that connects: who sees the answer, and how the question ends."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from oi_tui.runtimes.remote.target import TargetError
from oi_tui.screens.question import QuestionDialog, Questioner
from oi_tui.widgets.approval import key_guard
from oi_tui.widgets.idle import IdleClock
from tests.fakes import Targets
from tests.pilot.test_chat import open_chat
from tests.pilot.waiting import until


class Asking:
    """A thread that waits for an answer, as the one of a connection does."""

    def __init__(self, app: IdleClock, *, masked: bool) -> None:
        self.app = app
        self.stopped = threading.Event()
        self.answers: list[str | None] = []
        self._masked = masked
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self._thread.start()

    def _ask(self) -> None:
        questioner = Questioner(self.app)
        answer = questioner.ask("To connect", "Password:", masked=self._masked, stopped=self.stopped)
        self.answers.append(answer)

    @property
    def dialog(self) -> QuestionDialog | None:
        screen = self.app.screen
        return screen if isinstance(screen, QuestionDialog) else None

    @property
    def field(self) -> Input | None:
        found = list(self.dialog.query(Input)) if self.dialog else []
        return found[0] if found else None


@asynccontextmanager
async def asking(*, masked: bool) -> AsyncIterator[tuple[Pilot[None], Asking]]:
    app = IdleClock()
    async with app.run_test(size=(80, 24)) as pilot:
        asked = Asking(app, masked=masked)
        try:
            await until(pilot, lambda: asked.field)
            yield pilot, asked
        finally:
            asked.stopped.set()


@pytest.mark.parametrize("masked", [True, False])
async def test_the_answer_goes_to_whoever_waits(masked: bool) -> None:
    async with asking(masked=masked) as (pilot, asked):
        await until(pilot, lambda: asked.field and not asked.field.disabled)
        assert asked.field.password is masked
        await pilot.press("y", "e", "s", "enter")
        await until(pilot, lambda: asked.answers)
        assert asked.answers == ["yes"]
        assert asked.dialog is None


async def test_keys_that_were_meant_for_the_prompt_are_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_guard, "QUIET", float("inf"))
    async with asking(masked=True) as (pilot, asked):
        await pilot.press(*"some text", "enter")
        assert asked.field.value == ""
        assert asked.answers == []
        await pilot.press("escape")
        await until(pilot, lambda: asked.answers)
        assert asked.answers == [None]


async def test_a_question_goes_when_nobody_waits_for_its_answer() -> None:
    async with asking(masked=True) as (pilot, asked):
        asked.stopped.set()
        await until(pilot, lambda: asked.answers and asked.dialog is None)
        assert asked.answers == [None]


class EndlessTargets(Targets):
    """Connects until that is stopped."""

    stopped: threading.Event | None = None

    def use(self, spelling: str, stopped: object = None, *, ask: object = None) -> None:
        assert isinstance(stopped, threading.Event)
        self.stopped = stopped
        stopped.wait(20)
        raise TargetError("Connecting was stopped.")


async def test_who_leaves_while_a_target_connects_does_not_wait_for_it() -> None:
    async with open_chat() as ui:
        ui.computer.targets = targets = EndlessTargets()
        await ui.type("%target ssh:endless")
        await ui.until(lambda: targets.stopped)
        assert targets.stopped
        assert not targets.stopped.is_set()
    assert targets.stopped.is_set()
