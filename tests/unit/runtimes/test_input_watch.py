"""When a program is said to wait for input; on a clock that the test moves."""

import math
from typing import Any

import pytest

from oi_tui.messages import InputReceived, InputRequested, Printed, Report
from oi_tui.runtimes.processes import process_table
from oi_tui.runtimes.runs import input_watch, output
from oi_tui.runtimes.runs.input_watch import InputWatch
from oi_tui.runtimes.runs.output import RunOutput

NEVER = math.inf
BEGAN = 50.0


class Clock:
    now = BEGAN

    def monotonic(self) -> float:
        return self.now


class Terminal:
    foreground = 200
    device = 5
    echoing = True
    unread = False

    def __init__(self) -> None:
        #: Whether the terminal is set for lines longer than it keeps.
        self.takes_any_line = False

    def accept_any_line(self, any_line: bool = True) -> None:
        self.takes_any_line = any_line


class Process:
    pid = 100
    is_typing = False

    def __init__(self) -> None:
        self.terminal = Terminal()


class Watch:
    """The watch of a run, and a system in which a program reads the terminal, or does not."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = Clock()
        monkeypatch.setattr(input_watch, "time", self.clock)
        monkeypatch.setattr(output, "time", self.clock)
        self.process = Process()
        self.reports: list[Report] = []
        self.hidden: set[str] = set()
        #: Who reads the terminal; None where the system does not tell.
        self.readers: frozenset[tuple[str, bytes]] | None = frozenset()
        self.stopped: list[str] = []
        self.looks = 0
        self.questions: list[float] = []
        self.ends_late = False
        monkeypatch.setattr(process_table, "list_foreground", lambda pid, group: [pid, group])
        monkeypatch.setattr(process_table, "list_readers", self._list_readers)
        monkeypatch.setattr(process_table, "list_stopped", lambda pids: self.stopped if 100 in pids else [])
        self.output = RunOutput(self.reports.append, BEGAN)
        watched: Any = self.process
        interrupt: Any = self
        self.watch = InputWatch(watched, self.output, interrupt, self.hidden, self.reports.append, BEGAN)

    def _list_readers(self, pids: list[int], device: int) -> frozenset[tuple[str, bytes]] | None:
        assert (pids, device) == ([100, 200], 5)
        self.looks += 1
        return self.readers

    # -- the part of the interrupt that is used

    def repeat_for_question(self, asked_at: float, now: float) -> None:
        self.questions.append(now - asked_at)

    def ask_if_idle(self) -> bool:
        return self.ends_late

    # -- what happens

    def print(self, text: str) -> None:
        self.output.feed(text.encode())
        self.watch.note_printed()

    def read(self, who: str = "200") -> None:
        self.readers = frozenset({(who, b"read")})

    def pass_time(self, seconds: float) -> list[Report]:
        """Let time pass in small steps, and return what was reported meanwhile of input."""
        before = len(self.reports)
        end = self.clock.now + seconds - 1e-9
        while self.clock.now < end:
            self.clock.now += 0.01
            self.watch.check(self.clock.now, finished=False)
        return [report for report in self.reports[before:] if not isinstance(report, Printed)]


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    return Watch(monkeypatch)


def test_a_program_that_reads_at_a_prompt_is_reported_soon_and_once(watch: Watch) -> None:
    watch.print("line\nname? ")
    watch.read()
    assert watch.pass_time(0.05) == []
    assert watch.pass_time(0.10) == [InputRequested("name? ", False)]
    assert Printed("line\nname? ") in watch.reports
    assert watch.pass_time(2.0) == []


def test_without_a_prompt_it_is_looked_at_longer(watch: Watch) -> None:
    watch.read()
    assert watch.pass_time(0.16) == []
    assert watch.pass_time(0.08) == [InputRequested("", False)]


def test_a_program_that_prints_is_not_looked_at(watch: Watch) -> None:
    watch.read()
    for _ in range(20):
        watch.print("x")
        assert watch.pass_time(0.05) == []
    assert watch.looks == 0


def test_a_program_that_does_not_read_is_looked_at_ten_times_a_second_and_later_four_times(
    watch: Watch,
) -> None:
    assert watch.pass_time(4.9) == []
    assert 42 <= watch.looks <= 50
    watch.pass_time(0.5)
    watch.looks = 0
    watch.pass_time(10.0)
    assert 36 <= watch.looks <= 41


def test_what_is_answered_ends_the_wait_when_nothing_reads_any_more(watch: Watch) -> None:
    watch.print("? ")
    watch.read()
    watch.pass_time(0.2)
    watch.watch.note_typed("yes\n")
    watch.readers = frozenset()
    assert watch.pass_time(0.03) == [InputReceived()]
    assert watch.pass_time(1.0) == []


def test_another_question_after_an_answer_is_reported(watch: Watch) -> None:
    watch.print("a? ")
    watch.read()
    watch.pass_time(0.2)
    watch.watch.note_typed("yes\n")
    watch.print("\nb? ")
    watch.read("200 again")
    assert watch.pass_time(0.2) == [InputRequested("b? ", False)]


def test_typing_without_an_end_of_line_answers_nothing(watch: Watch) -> None:
    watch.print("a? ")
    watch.read()
    watch.pass_time(0.2)
    watch.watch.note_typed("ye")
    assert watch.pass_time(3.0) == []


@pytest.mark.parametrize("end", ["\n", "\r", "\x04"])
def test_a_reader_that_sleeps_on_after_an_answer_is_asked_again_after_two_seconds(
    end: str, watch: Watch
) -> None:
    watch.print("a? ")
    watch.read()
    watch.pass_time(0.2)
    watch.watch.note_typed("yes" + end)
    assert watch.pass_time(1.99) == []
    assert watch.pass_time(0.3) == [InputRequested("a? ", False)]


def test_what_was_typed_and_not_yet_read_is_waited_for(watch: Watch) -> None:
    watch.print("a? ")
    watch.read()
    watch.process.terminal.unread = True
    assert watch.pass_time(3.0) == []
    watch.process.terminal.unread = False
    assert watch.pass_time(0.3) == [InputRequested("a? ", False)]


def test_while_the_rest_of_a_long_line_is_typed_nothing_is_reported(watch: Watch) -> None:
    watch.print("a? ")
    watch.read()
    watch.process.is_typing = True
    assert watch.pass_time(1.0) == []
    watch.process.is_typing = False
    assert watch.pass_time(0.3) == [InputRequested("a? ", False)]


def test_a_reader_has_its_time_to_wake_from_the_end_of_a_long_line_on(watch: Watch) -> None:
    watch.print("a? ")
    watch.read()
    watch.pass_time(0.2)
    watch.watch.note_typed("yes\n")
    watch.process.is_typing = True
    assert watch.pass_time(3.0) == []
    watch.process.is_typing = False
    assert watch.pass_time(1.5) == []
    assert watch.pass_time(1.0) == [InputRequested("a? ", False)]


def test_a_program_that_hides_what_is_typed_is_reported_as_such(watch: Watch) -> None:
    watch.print("Password: ")
    watch.read()
    watch.process.terminal.echoing = False
    assert watch.pass_time(0.2) == [InputRequested("Password: ", True)]
    watch.watch.note_typed("secret\nother\n")
    assert watch.hidden == {"secret", "other"}
    # Echo comes back while it reads on: that is another question.
    watch.readers = frozenset({("201", b"read")})
    watch.process.terminal.echoing = True
    assert watch.pass_time(0.3) == [InputRequested("Password: ", False)]
    watch.watch.note_typed("seen\n")
    assert watch.hidden == {"secret", "other"}


def test_what_is_typed_before_anything_waits_is_no_secret(watch: Watch) -> None:
    watch.watch.note_typed("early\n")
    assert watch.hidden == set()


@pytest.mark.parametrize(("echoing", "reported"), [(True, []), (False, [InputRequested("pin: ", True)])])
def test_where_the_system_does_not_tell_who_reads_only_a_hidden_prompt_is_seen(
    echoing: bool, reported: list[Report], watch: Watch
) -> None:
    watch.print("pin: ")
    watch.readers = None
    watch.process.terminal.echoing = echoing
    assert watch.pass_time(0.29) == []
    assert watch.pass_time(0.25) == reported


def test_what_the_driver_reports_is_reported_at_once_and_not_looked_for(watch: Watch) -> None:
    watch.output.feed(b"name? ")
    watch.process.terminal.takes_any_line = True
    watch.watch.begin({"event": "input"})
    assert watch.reports == [Printed("name? "), InputRequested("name? ", False)]
    assert not watch.process.terminal.takes_any_line
    assert watch.watch.due == NEVER
    watch.pass_time(1.0)
    assert watch.looks == 0
    # A question that missed an interrupt is interrupted again.
    assert watch.questions[0] == pytest.approx(0.06, abs=0.011)
    watch.output.feed(b"\n")
    watch.process.terminal.takes_any_line = True
    watch.watch.end()
    assert watch.reports[2:] == [Printed("\n"), InputReceived()]
    assert not watch.process.terminal.takes_any_line
    assert watch.watch.due == pytest.approx(watch.clock.now + 0.06)
    watch.watch.end()
    assert len(watch.reports) == 4


def test_the_driver_may_say_the_prompt_and_the_terminal_that_the_answer_is_hidden(
    watch: Watch,
) -> None:
    watch.process.terminal.echoing = False
    watch.watch.begin({"event": "input", "prompt": "pin"})
    assert watch.reports == [InputRequested("pin", True)]
    watch.watch.note_typed("12\n")
    assert watch.hidden == {"12"}


def test_nothing_is_looked_for_once_the_run_is_over_or_has_to_end(watch: Watch) -> None:
    watch.print("? ")
    watch.read()
    for _ in range(20):
        watch.clock.now += 0.1
        watch.watch.check(watch.clock.now, finished=True)
    watch.ends_late = True
    assert watch.pass_time(1.0) == []
    assert watch.looks == 0
    watch.ends_late = False
    for name, value in (("foreground", 0), ("foreground", 200)):
        setattr(watch.process.terminal, name, value)
        found = watch.pass_time(1.0)
    assert found == [InputRequested("? ", False)]
    assert watch.looks > 0


def test_a_look_is_due_when_the_program_has_been_quiet_for_a_moment(watch: Watch) -> None:
    assert watch.watch.due == BEGAN + 0.06
    watch.clock.now += 0.06
    watch.watch.check(watch.clock.now, finished=False)
    assert watch.looks == 1
    assert watch.watch.due == pytest.approx(watch.clock.now + 0.1)
    watch.watch.note_typed("x")
    assert watch.watch.due == pytest.approx(watch.clock.now + 0.01)


def test_output_of_a_program_that_was_seen_to_wait_is_looked_at_once_it_is_quiet(watch: Watch) -> None:
    watch.clock.now += 10.0
    watch.print("? ")
    watch.read()
    watch.pass_time(0.3)
    watch.readers = frozenset()
    watch.print("gone on\n")
    assert watch.pass_time(0.05) == []
    assert watch.pass_time(0.03) == [InputReceived()]


@pytest.mark.parametrize(("size", "is_long"), [(1000, False), (1001, True)])
def test_a_line_that_some_terminals_do_not_keep_sets_the_terminal_for_it(
    size: int, is_long: bool, watch: Watch
) -> None:
    for text in ("x" * size, "short\n" + "x" * size, "é" * (size // 2) + "x" * (size % 2) + "\nshort"):
        watch.process.terminal.takes_any_line = False
        watch.watch.note_typed(text)
        assert watch.process.terminal.takes_any_line is is_long


def test_a_program_that_is_stopped_is_reported_after_three_looks_and_once(watch: Watch) -> None:
    told = Printed("\r\nStopped by a signal and not resumed: sleep, cat\r\n")
    watch.stopped = ["sleep", "cat"]
    watch.output.feed(b"before")
    watch.pass_time(0.2)
    assert told not in watch.reports
    watch.pass_time(0.13)
    assert watch.reports == [Printed("before"), told]
    watch.pass_time(1.0)
    assert watch.reports == [Printed("before"), told]
    watch.stopped = []
    watch.pass_time(0.2)
    watch.stopped = ["sleep", "cat"]
    watch.pass_time(1.0)
    assert watch.reports.count(told) == 2
