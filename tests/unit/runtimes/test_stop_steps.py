"""Which step follows which when a run is stopped, and when; on a clock that the test moves."""

import signal
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from oi_tui.messages import Stopping
from oi_tui.runtimes.languages import python, shell
from oi_tui.runtimes.processes import process_table
from oi_tui.runtimes.runs import interrupt, stopping
from oi_tui.runtimes.runs.interrupt import Interrupt
from oi_tui.runtimes.runs.stopping import StopSteps

NEVER = float("inf")
#: A language with a memory, and one whose programs end by themselves.
REMEMBERS, FORGETS = python.LANGUAGE, replace(shell.LANGUAGE, keeps="")
LANGUAGE_PID, PROGRAM = 100, 200


class Clock:
    now = 50.0

    def monotonic(self) -> float:
        return self.now


class Process:
    """Takes down what is asked of a language's process."""

    def __init__(self) -> None:
        self.done: list[Any] = []
        self.has_children = False
        self.pid = LANGUAGE_PID
        self.terminal = SimpleNamespace(foreground=LANGUAGE_PID, end_program=self._note("end program"))
        self.channel = SimpleNamespace(request=self._request, folder=Path("/nowhere"))
        self.interrupt = self._note("interrupt")
        self.refuses = False

    def _note(self, what: str) -> Any:
        return lambda: self.done.append(what)

    def _request(self, text: str, *, seconds: float) -> None:
        assert seconds < 1
        self.done.append("request")
        if self.refuses:
            raise TimeoutError

    def list_foreground_children(self, since: float) -> list[int]:
        self.since = since
        return [7] if self.has_children else []

    def send_signal_to_language(self, number: int) -> None:
        self.done.append(("language", signal.Signals(number).name))

    def send_signal_to_children(self, number: int, since: float) -> None:
        self.done.append(("children", signal.Signals(number).name, since))

    def send_signal(self, number: int) -> None:
        self.done.append(("foreground", signal.Signals(number).name))

    def end_leftovers(self, groups: set[int], *, since: float, young_since: float) -> None:
        self.done.append(("leftovers", groups, since, young_since))

    def take(self) -> list[Any]:
        taken, self.done = self.done, []
        return [item for item in taken if item != "request"]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(stopping, "time", clock)
    monkeypatch.setattr(interrupt, "time", clock)
    return clock


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> dict[int, float]:
    """When each process group began, as the system says."""
    starts: dict[int, float] = {}
    monkeypatch.setattr(process_table, "find_start", lambda pid: starts.get(pid, 0.0))
    return starts


@pytest.fixture
def process(clock: Clock, starts: dict[int, float]) -> Process:
    return Process()


class Stop:
    def __init__(self, process: Process, clock: Clock, language: Any, hard: int | None = None) -> None:
        self.process, self.clock = process, clock
        self.reports: list[Stopping] = []
        self.steps = StopSteps(
            process,  # type: ignore[arg-type]
            "nonce",
            language,
            hard,
            self.reports.append,
            "Python and its variables",
            run_began=40.0,
        )

    def at(self, seconds: float) -> list[Any]:
        """Let so many seconds pass, and return what was done then."""
        self.clock.now += seconds
        self.steps.advance(self.clock.now)
        return self.process.take()


def test_nothing_is_due_before_a_stop(process: Process, clock: Clock) -> None:
    stop = Stop(process, clock, REMEMBERS)
    assert (stop.steps.begun, stop.steps.killing, stop.steps.due) == (False, False, NEVER)
    assert stop.at(100.0) == []
    assert stop.reports == []


def test_a_language_with_a_memory_is_interrupted_and_waited_for(process: Process, clock: Clock) -> None:
    stop = Stop(process, clock, REMEMBERS)
    stop.steps.press()
    assert process.take() == ["interrupt"]
    assert stop.reports == [Stopping("interrupt", None, "Python and its variables")]
    assert (stop.steps.begun, stop.steps.killing) == (True, False)
    for _ in range(20):
        assert not any(item == "end program" or item[0] == "language" for item in stop.at(60.0))
    assert len(stop.reports) == 1


def test_a_key_that_repeats_asks_once_and_a_second_press_ends_the_language(
    process: Process, clock: Clock
) -> None:
    stop = Stop(process, clock, REMEMBERS)
    for _ in range(3):
        stop.steps.press()
        clock.now += 0.49
    assert process.take() == ["interrupt"]
    clock.now += 0.51
    stop.steps.press()
    assert process.take() == [("language", "SIGINT"), ("children", "SIGTERM", 40.0 - 0.02)]
    assert stop.reports[1:] == [Stopping("terminate", 0.8)]


def test_a_press_just_after_that_time_is_another_one(process: Process, clock: Clock) -> None:
    stop = Stop(process, clock, REMEMBERS)
    stop.steps.press()
    clock.now += 0.5
    stop.steps.press()
    assert [report.step for report in stop.reports] == ["interrupt", "terminate"]


def test_a_program_without_a_memory_is_ended_by_itself_step_by_step(process: Process, clock: Clock) -> None:
    stop = Stop(process, clock, FORGETS)
    stop.steps.press()
    assert stop.reports == [Stopping("interrupt", 1.0)]
    process.take()
    stop.at(0.99)
    assert len(stop.reports) == 1
    assert stop.at(0.01) == [("language", "SIGINT"), ("children", "SIGTERM", 40.0 - 0.02)]
    assert stop.steps.due == clock.now + 0.4
    assert stop.at(0.39) == []
    assert stop.at(0.01) == [("children", "SIGKILL", 40.0 - 0.02)]
    assert stop.at(0.39) == []
    assert (stop.steps.begun, stop.steps.killing) == (True, False)
    assert stop.at(0.01) == ["end program"]
    assert (stop.steps.begun, stop.steps.killing) == (True, True)
    assert [(report.step, report.seconds) for report in stop.reports] == [
        ("interrupt", 1.0),
        ("terminate", 0.8),
        ("kill", 1.0),
    ]
    # It is killed again each second, and no further step is reported.
    assert stop.at(0.99) == []
    assert stop.at(0.01) == ["end program"]
    assert stop.at(0.99) == []
    assert stop.at(0.01) == ["end program"]
    assert len(stop.reports) == 3


def test_each_press_is_a_step_where_nothing_can_be_lost(process: Process, clock: Clock) -> None:
    stop = Stop(process, clock, FORGETS)
    for step in ("interrupt", "terminate", "kill", "kill"):
        stop.steps.press()
        assert stop.reports[-1].step == step
    assert len(stop.reports) == 3


def test_with_child_processes_the_language_comes_last(process: Process, clock: Clock) -> None:
    process.has_children = True
    stop = Stop(process, clock, REMEMBERS)
    stop.steps.press()
    assert process.since == 40.0 - 0.02
    at_stake = "child processes, and if needed Python and its variables"
    assert stop.reports == [Stopping("interrupt", None, at_stake)]
    clock.now += 1.0
    stop.steps.press()
    assert stop.reports[1:] == [Stopping("terminate", 1.6)]
    assert process.take() == ["interrupt", ("children", "SIGTERM", 40.0 - 0.02)]
    assert stop.at(0.4) == [("children", "SIGKILL", 40.0 - 0.02)]
    assert stop.at(0.4) == [("language", "SIGINT")]
    assert stop.at(0.4) == []
    assert stop.at(0.39) == []
    assert stop.at(0.01) == ["end program"]
    assert stop.reports[-1] == Stopping("kill", 1.0)


@pytest.mark.parametrize("has_children", [True, False])
def test_a_language_with_a_signal_for_it_gets_that_at_once(
    has_children: bool, process: Process, clock: Clock
) -> None:
    process.has_children = has_children
    stop = Stop(process, clock, REMEMBERS, hard=signal.SIGQUIT)
    stop.steps.begin_next()
    stop.steps.begin_next()
    assert process.take() == ["interrupt", ("language", "SIGQUIT"), ("children", "SIGTERM", 40.0 - 0.02)]


def test_the_last_step_needs_no_other_before_it(process: Process, clock: Clock) -> None:
    process.has_children = True
    stop = Stop(process, clock, REMEMBERS)
    stop.steps.begin_last()
    stop.steps.begin_last()
    assert process.take() == ["end program"]
    assert stop.reports == [Stopping("kill", 1.0)]


@pytest.mark.parametrize("first", ["interrupt", "nothing", "terminate"])
def test_what_nobody_follows_any_more_is_ended_by_itself(first: str, process: Process, clock: Clock) -> None:
    stop = Stop(process, clock, REMEMBERS)
    if first != "nothing":
        stop.steps.begin_next()
    if first == "terminate":
        stop.steps.begin_next()
    stop.steps.leave_alone()
    if first == "interrupt":
        stop.at(9.99)
        assert len(stop.reports) == 1
        stop.at(0.01)
        assert stop.reports[-1].step == "terminate"
    elif first == "nothing":
        assert stop.steps.due == NEVER
        stop.steps.begin_next()
        assert stop.reports == [Stopping("interrupt", 1.0)]
    else:
        assert stop.steps.due == clock.now + 0.4


def test_the_foreground_is_followed_only_until_the_next_step(process: Process, clock: Clock) -> None:
    stop = Stop(process, clock, FORGETS)
    stop.steps.begin_next()
    assert stop.steps.due == clock.now + 0.01
    stop.at(0.01)
    assert stop.steps.due == pytest.approx(clock.now + 0.03)
    stop.at(0.99)
    assert stop.steps.due == clock.now + 0.4


def test_what_a_run_leaves_behind_is_ended_with_what_came_since(process: Process, clock: Clock) -> None:
    stop = Stop(process, clock, REMEMBERS)
    process.terminal.foreground = PROGRAM
    stop.steps.press()
    process.take()
    process.terminal.foreground = 300
    stop.steps.sweep()
    assert process.take() == [("leftovers", {PROGRAM, 300}, 40.0 - 0.02, 50.0 - 0.1)]


# ---- Interrupt


def make_interrupt(process: Process, **changes: Any) -> Interrupt:
    language = replace(shell.LANGUAGE, **{"interrupt_request": None, **changes})
    return Interrupt(process, language, "abc")  # type: ignore[arg-type]


def test_a_program_that_has_run_for_a_while_is_interrupted_once(
    process: Process, clock: Clock, starts: dict[int, float]
) -> None:
    process.terminal.foreground = PROGRAM
    starts[PROGRAM] = 49.9
    interrupting = make_interrupt(process)
    interrupting.send()
    for _ in range(5):
        clock.now += 0.03
        interrupting.follow(clock.now)
    assert process.take() == ["interrupt"]


def test_a_program_that_has_just_begun_is_interrupted_until_it_is_older(
    process: Process, clock: Clock, starts: dict[int, float]
) -> None:
    process.terminal.foreground = PROGRAM
    starts[PROGRAM] = 49.95
    interrupting = make_interrupt(process)
    interrupting.send()
    for seconds, signals in ((0.02, 1), (0.02, 1), (0.02, 1), (0.02, 0), (1.0, 0)):
        clock.now += seconds
        process.take()
        interrupting.follow(clock.now)
        assert process.take() == [("foreground", "SIGINT")] * signals


def test_a_copy_of_the_shell_is_interrupted_again_once_it_is_the_program_however_late(
    process: Process, clock: Clock, starts: dict[int, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = {PROGRAM}
    monkeypatch.setattr(process_table, "is_copy_that_catches", lambda pid, number: pid in copies)
    process.terminal.foreground = PROGRAM
    starts[PROGRAM] = 40.0
    interrupting = make_interrupt(process)
    interrupting.send()
    assert process.take() == ["interrupt"]
    for now, is_copy, signals in ((51.0, True, 0), (55.0, True, 0), (56.0, False, 1), (57.0, False, 0)):
        if not is_copy:
            copies.clear()
        interrupting.follow(now)
        assert (now, process.take()) == (now, [("foreground", "SIGINT")] * signals)


def test_a_copy_of_the_shell_that_takes_the_keyboard_later_is_interrupted_at_once_and_as_the_program(
    process: Process, clock: Clock, starts: dict[int, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = {300}
    monkeypatch.setattr(process_table, "is_copy_that_catches", lambda pid, number: pid in copies)
    interrupting = make_interrupt(process)
    interrupting.send()
    interrupting.follow(50.2)
    process.take()
    process.terminal.foreground, starts[300] = 300, 40.0
    for now, is_copy, signals in ((51.0, True, 1), (52.0, True, 0), (53.0, False, 1), (54.0, False, 0)):
        if not is_copy:
            copies.clear()
        interrupting.follow(now)
        assert (now, process.take()) == (now, [("foreground", "SIGINT")] * signals)


def test_a_program_that_takes_the_keyboard_later_is_interrupted_too(
    process: Process, clock: Clock, starts: dict[int, float]
) -> None:
    process.terminal.foreground = PROGRAM
    interrupting = make_interrupt(process)
    interrupting.send()
    process.take()
    process.terminal.foreground, starts[300] = 300, 40.0
    clock.now += 5.0
    interrupting.follow(clock.now)
    interrupting.follow(clock.now)
    assert process.take() == [("foreground", "SIGINT")]


def test_children_that_just_begin_are_interrupted_for_a_moment(process: Process, clock: Clock) -> None:
    interrupting = make_interrupt(process)
    interrupting.send()
    process.take()
    since = 50.0 - 0.02
    for seconds, expected in (
        (0.05, [("children", "SIGINT", since)]),
        (0.06, [("children", "SIGINT", since)]),
    ):
        clock.now += seconds
        interrupting.follow(clock.now)
        assert process.take() == expected
    interrupting.follow(clock.now)
    assert process.take() == []


def test_the_foreground_is_looked_at_more_rarely_after_two_seconds(process: Process, clock: Clock) -> None:
    interrupting = make_interrupt(process)
    interrupting.send()
    assert interrupting.due == 50.0 + 0.01
    for now, due in ((51.99, 0.03), (52.0, 0.25), (60.0, 0.25)):
        interrupting.follow(now)
        assert interrupting.due == now + due


def test_a_language_that_may_miss_an_interrupt_gets_one_more(process: Process, clock: Clock) -> None:
    for may_miss in (True, False):
        clock.now = 50.0
        interrupting = make_interrupt(process, may_miss_interrupt=may_miss)
        interrupting.send()
        interrupting.follow(50.05)
        process.take()
        for now, signals in ((50.09, 0), (50.2, int(may_miss)), (50.4, 0)):
            interrupting.follow(now)
            assert process.take().count(("language", "SIGINT")) == signals


def requests(process: Process) -> int:
    count = process.done.count("request")
    process.done.clear()
    return count


def test_what_goes_along_with_an_interrupt_is_asked_again_ever_more_rarely(
    process: Process, clock: Clock
) -> None:
    process.refuses = True
    interrupting = make_interrupt(process, interrupt_request="end {nonce}")
    interrupting.send()
    assert requests(process) == 1
    for now, count in ((50.1, 0), (50.16, 1), (50.3, 0), (50.32, 1), (60.0, 1), (60.99, 0), (61.2, 1)):
        clock.now = now
        interrupting.follow(now)
        assert (now, requests(process)) == (now, count)


@pytest.mark.parametrize(("request_", "count"), [(None, 0), ("end", 1)])
def test_what_makes_sure_of_no_end_is_asked_once(
    request_: str | None, count: int, process: Process, clock: Clock
) -> None:
    interrupting = make_interrupt(process, interrupt_request=request_)
    interrupting.send()
    clock.now = 60.0
    interrupting.follow(60.0)
    assert requests(process) == count


@pytest.mark.parametrize(
    ("request_", "reads", "asks"), [("{nonce}", True, True), ("{nonce}", False, False), ("end", True, False)]
)
def test_an_idle_language_is_asked_for_the_end_of_a_run_whose_interrupt_came_late(
    request_: str, reads: bool, asks: bool, process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        process_table,
        "reads_file",
        lambda pid, path: reads and (pid, path) == (LANGUAGE_PID, Path("/nowhere/requests")),
    )
    interrupting = make_interrupt(process, interrupt_request=request_)
    assert interrupting.ask_if_idle() is asks
    assert requests(process) == asks


def test_a_question_that_is_open_long_after_the_interrupt_is_interrupted_once_more(
    process: Process, clock: Clock
) -> None:
    interrupting = make_interrupt(process)
    interrupting.send()
    process.take()
    # One that was asked after the interrupt, or too short a time: nothing.
    interrupting.repeat_for_question(50.0, 60.0)
    interrupting.repeat_for_question(49.0, 51.0)
    assert process.take() == []
    interrupting.repeat_for_question(49.0, 51.1)
    interrupting.repeat_for_question(49.0, 59.0)
    assert process.take() == [("language", "SIGINT")]
