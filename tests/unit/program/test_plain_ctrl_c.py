"""ctrl+c in plain mode stops what is in progress; the session goes on. Other signals end it in order."""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest

from oi_tui.engine.settings.profile import Profile
from oi_tui.plain.conversation import PlainConversation
from oi_tui.plain.event_handler import PlainEventHandler
from oi_tui.plain.run import _handle_signals, run_guarded
from oi_tui.plain.stdin_reader import StdinReader
from oi_tui.plain.wakeup import Wakeup
from oi_tui.workspace import Workspace
from tests.fakes import Computer, Llm, Targets


class SlowTargets(Targets):
    """The person presses ctrl+c while a target connects."""

    def use(self, spelling: str, stopped: object = None, *, ask: object = None) -> None:
        signal.raise_signal(signal.SIGINT)


def test_ctrl_c_during_a_command_stops_the_command_only() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"%target ssh:slow\nhello\n")
    os.close(writing)
    notes: list[str] = []
    computer = Computer()
    computer.targets = SlowTargets()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with closing(Wakeup()) as alarm, closing(Workspace(Profile(), llm=Llm(), computer=computer)) as space:
            handler = PlainEventHandler(notes.append, notes.append, lambda _: "", echoes=False)
            keyboard = StdinReader(alarm, reading)
            PlainConversation(space, handler, keyboard, alarm, seen=False).converse()
            messages = [message.content for message in space.session.messages if message.role == "user"]
    finally:
        signal.signal(signal.SIGINT, before)
        os.close(reading)
    assert "Stopped." in "".join(notes)
    assert messages == ["hello"]


@pytest.fixture
def ignored(request: pytest.FixtureRequest) -> Iterator[int]:
    """A signal that our parent had ignored."""
    before = signal.signal(request.param, signal.SIG_IGN)
    try:
        yield request.param
    finally:
        signal.signal(request.param, before)


@pytest.mark.parametrize("ignored", [signal.SIGHUP], indirect=True)
def test_plain_lines_that_nohup_started_outlive_a_logout(ignored: int) -> None:
    with _handle_signals():
        signal.raise_signal(ignored)
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    assert signal.getsignal(ignored) is signal.SIG_IGN


@pytest.mark.parametrize("ignored", [signal.SIGINT], indirect=True)
def test_a_background_job_of_a_script_ignores_ctrl_c(ignored: int) -> None:
    with closing(Wakeup()) as alarm, alarm.on_interrupt():
        signal.raise_signal(ignored)
        assert not alarm.interrupted


def test_a_second_signal_does_not_cut_the_end_of_plain_lines_short() -> None:
    steps: list[str] = []

    def close() -> None:
        signal.raise_signal(signal.SIGHUP)
        steps.append("closed")

    def work(stack: ExitStack) -> int:
        stack.callback(close)
        signal.raise_signal(signal.SIGHUP)
        return 0

    # Whoever runs the tests may ignore it, as nohup does.
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        assert run_guarded(work) == 128 + signal.SIGHUP
    finally:
        signal.signal(signal.SIGHUP, before)
    assert steps == ["closed"]
