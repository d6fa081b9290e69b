"""What a run makes of what its language sends; on a clock that the test moves."""

import errno
import signal
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from oi_tui.messages import (
    Displayed,
    InputReceived,
    InputRequested,
    LineReached,
    Printed,
    Report,
    RunEnded,
    ValueBegan,
    ValueEnded,
)
from oi_tui.runtimes.languages import python
from oi_tui.runtimes.processes import process_table
from oi_tui.runtimes.processes.process import ProcessEnd
from oi_tui.runtimes.runs import input_watch, interrupt, output, run, stopping
from oi_tui.runtimes.runs.run import Cell, CellRun

KILLED = ProcessEnd(int(signal.SIGKILL))
BEGAN = 50.0


class Process:
    """A language's process that sends what the test says, and takes down what it is sent."""

    pid = 100
    is_sandboxed = False
    is_typing = False
    ended = False

    def __init__(self, clock: Any) -> None:
        self.clock = clock
        self.coming: list[Any] = []
        self.requests: list[str] = []
        self.signals: list[str] = []
        self.unplaced: dict[str, Any] | None = None
        self.error: OSError | None = None
        self.terminal = SimpleNamespace(
            foreground=100,
            echoing=True,
            unread=False,
            device=5,
            make_sane=lambda: None,
            accept_any_line=lambda any_line=True: None,
            end_program=lambda: self.signals.append("end program"),
        )
        self.channel = SimpleNamespace(
            line=None,
            folder=Path("/shm/ab/channel"),
            write_cell=self._write_cell,
            request=self._request,
            is_taken=lambda _: self.is_taken,
        )
        self.is_taken = True
        self.wakes = 0
        self.woken = threading.Event()

    def _write_cell(self, code: str, number: int | None, annotate: object, *, opens_pipes: bool) -> Path:
        assert annotate is None
        assert not opens_pipes
        if self.error:
            raise self.error
        self.requests.append(code)
        return Path(f"/shm/ab/cell-{number}")

    def _request(self, text: str, *, seconds: float = 1.0) -> int:
        self.requests.append(text)
        return len(self.requests)

    def read(self, seconds: float) -> list[Any]:
        assert seconds < 0.251
        coming, self.coming = self.coming, []
        return coming

    def find_unplaced(self, kind: str) -> dict[str, Any] | None:
        return self.unplaced

    def wake(self) -> None:
        self.wakes += 1
        self.woken.set()

    def forget_typed(self) -> None:
        self.requests.append("forget")

    def list_foreground_children(self, since: float) -> list[int]:
        return []

    def interrupt(self) -> None:
        self.signals.append("interrupt")

    def end_leftovers(self, *_: object, **__: object) -> None:
        self.signals.append("sweep")

    def send_signal_to_language(self, number: int) -> None:
        self.signals.append(signal.Signals(number).name)

    def send_signal_to_children(self, number: int, since: float) -> None: ...


class Player:
    """A run, and what it reported."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock: Any = SimpleNamespace(now=BEGAN, monotonic=lambda: self.clock.now)
        for module in (run, output, input_watch, stopping, interrupt):
            monkeypatch.setattr(module, "time", self.clock)
        # The code heeds signals as soon as the driver has taken its request.
        monkeypatch.setattr(interrupt, "_SETTLED", 0.0)
        #: Who reads the terminal.
        self.readers: frozenset[tuple[str, bytes]] = frozenset()
        monkeypatch.setattr(process_table, "list_foreground", lambda *_: [])
        monkeypatch.setattr(process_table, "list_stopped", lambda *_: [])
        monkeypatch.setattr(process_table, "list_readers", lambda *_: self.readers)
        monkeypatch.setattr(process_table, "find_output", lambda pid, seconds: "out.txt")
        self.process = Process(self.clock)
        self.runtime: Any = SimpleNamespace(
            language=replace(python.LANGUAGE, interrupt_request=None, active_line=None),
            active_line=True,
            stop_signal=None,
            later=[],
            places={},
            names=("df",),
            hidden_inputs=set(),
            database="",
        )
        self.reports: list[Report] = []
        self.run = self.make()

    def make(self, cell: Cell | None = None) -> CellRun:
        process: Any = self.process
        return CellRun(self.runtime, process, cell or Cell("code", 3), BEGAN)

    def start(self, *, news: str | None = None) -> list[Report]:
        self.run.start(news, threading.Event())
        return self.collect()

    def collect(self) -> list[Report]:
        new = self.run.collect()
        self.reports += new
        return new

    def step(self, *coming: Any, seconds: float = 0.1) -> list[Report]:
        """Let something come, and time pass; return what is reported."""
        self.process.coming += coming
        self.clock.now += seconds
        self.run.step()
        return self.collect()

    def finished(self, **more: Any) -> dict[str, Any]:
        return {"event": "finished", "nonce": self.run._nonce, "state": "finished", **more}


@pytest.fixture
def player(monkeypatch: pytest.MonkeyPatch) -> Player:
    return Player(monkeypatch)


def break_off(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def ended(reports: list[Report]) -> RunEnded:
    end = reports[-1]
    assert isinstance(end, RunEnded)
    return end


def test_the_code_is_sent_and_its_end_is_the_end(player: Player) -> None:
    assert player.start() == []
    assert player.process.requests[:2] == ["forget", "code"]
    assert player.run._nonce in player.process.requests[2]
    assert player.step(b"hello\n") == [Printed("hello\n")]
    assert not player.run.ended
    player.clock.now = 60.0
    assert player.step(player.finished(), seconds=0.0) == [RunEnded("finished", 10.0, None)]
    assert player.run.ended


def test_code_that_was_stopped_before_is_not_sent(player: Player) -> None:
    stopped = threading.Event()
    stopped.set()
    player.run.start("it was started anew", stopped)
    assert player.collect() == [RunEnded("interrupted", 0.0, "it was started anew")]
    assert player.process.requests == []


def test_code_that_is_stopped_while_it_is_sent_is_not_sent(player: Player) -> None:
    player.process.forget_typed = player.run.stop  # type: ignore[method-assign]
    player.start()
    assert ended(player.reports).state == "interrupted"
    assert player.process.requests == ["code"]
    assert player.process.signals == []


def test_a_signal_waits_until_the_language_has_taken_the_code(
    player: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interrupt, "_SETTLED", 0.05)
    player.process.is_taken = False
    player.start()
    player.run.stop()
    player.step(seconds=0.2)
    assert player.process.signals == []
    player.process.is_taken = True
    player.step(seconds=0.04)
    assert player.process.signals == []
    player.step(seconds=0.02)
    for _ in range(9):
        player.step(seconds=0.1)
    assert player.process.signals == ["interrupt"]


def test_a_start_that_breaks_off_before_the_code_is_sent_ends_the_run(
    player: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player.process.channel, "write_cell", break_off)
    with pytest.raises(KeyboardInterrupt):
        player.start()
    player.run.stop()
    assert ended(player.step()).state == "interrupted"
    assert player.process.signals == []


def test_a_start_that_breaks_off_while_the_code_is_sent_can_be_interrupted(
    player: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player.process.channel, "request", break_off)
    with pytest.raises(KeyboardInterrupt):
        player.start()
    player.run.stop()
    for _ in range(9):
        player.step()
    assert player.process.signals == ["interrupt"]


def test_a_signal_that_waits_is_sent_before_the_next_step(
    player: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stopping, "REPEATED", 0.0)
    player.process.is_taken = False
    player.start()
    player.run.stop()
    assert player.process.signals == []
    player.run.stop()
    assert player.process.signals == ["interrupt", "SIGINT"]


def test_a_language_that_does_not_take_the_code_is_interrupted_and_again_once_it_has(player: Player) -> None:
    player.process.is_taken = False
    player.start()
    player.run.stop()
    for _ in range(9):
        player.step(seconds=0.1)
    assert player.process.signals == ["interrupt"]
    player.process.is_taken = True
    for _ in range(9):
        player.step(seconds=0.1)
    assert player.process.signals == ["interrupt", "interrupt"]


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (TimeoutError("no answer"), "no answer"),
        (OSError(errno.ENOSPC, "x"), "there is no space left in /shm/ab. Delete files there, or set TMPDIR"),
        (OSError("broken"), "broken"),
    ],
)
def test_code_that_could_not_be_sent_failed(error: OSError, why: str, player: Player) -> None:
    player.process.error = error
    player.run.start(None, threading.Event())
    reason = f"the code could not be sent to the language: {why}"
    assert player.collect() == [RunEnded("failed", 0.0, reason)]


@pytest.mark.parametrize(
    ("event", "state", "reason"),
    [
        ({"state": "finished", "reason": "ignored"}, "finished", None),
        ({"state": "failed", "reason": "ValueError"}, "failed", "ValueError"),
        ({"state": "failed"}, "failed", None),
        ({"state": None}, "failed", None),
        ({"status": 0, "state": "failed"}, "finished", None),
        ({"status": 3}, "failed", "exit status 3"),
        ({"status": "3", "state": "finished"}, "finished", None),
    ],
)
def test_how_the_code_ended_is_reported(
    event: dict[str, Any], state: str, reason: str | None, player: Player
) -> None:
    player.start()
    end = ended(player.step(player.finished(**event)))
    assert (end.state, end.reason) == (state, reason)


def test_the_end_of_another_run_is_not_this_ones(player: Player) -> None:
    player.start()
    assert player.step({**player.finished(), "nonce": "other"}) == []
    player.process.unplaced = {**player.finished(), "nonce": "other"}
    assert player.step() == []
    assert not player.run.ended


def test_an_end_without_its_mark_is_waited_for_until_a_second_was_quiet(player: Player) -> None:
    player.start()
    player.process.unplaced = player.finished()
    assert player.step() == []
    assert player.step(b"late\n", seconds=0.9) == [Printed("late\n")]
    for _ in range(4):
        assert player.step(seconds=0.24) == []
    assert ended(player.step(seconds=0.06)).state == "finished"


def test_what_the_language_tells_at_its_end_is_kept(player: Player) -> None:
    player.start()
    player.step(player.finished(names=["a", 3, "not a name", "b"], database=f"a.db\n{'x' * 300}", leaving=1))
    assert player.runtime.names == ("a", "b")
    assert player.runtime.database == f"a.db {'x' * 195}"
    assert player.run.leaving


def test_without_names_and_a_database_there_are_none(player: Player) -> None:
    player.start()
    player.step(player.finished())
    assert (player.runtime.names, player.runtime.database, player.run.leaving) == ((), "", False)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"away": True}, "the output of Python goes to out.txt, not here"),
        ({"away": True, "leaving": True}, None),
        ({}, None),
    ],
)
def test_where_the_output_goes_is_told_while_the_language_goes_on(
    more: dict[str, Any], reason: str | None, player: Player
) -> None:
    player.start()
    assert ended(player.step(player.finished(**more))).reason == reason


def test_news_are_told_with_the_reason(player: Player) -> None:
    player.start(news="it was started anew")
    end = ended(player.step(player.finished(state="failed", reason="ValueError")))
    assert end.reason == "ValueError; it was started anew"


def test_a_process_that_ends_loses_the_run_and_its_variables(player: Player) -> None:
    player.start()
    end = ended(player.step(b"x", KILLED))
    assert (end.state, end.reason) == ("lost", "Python ended (killed by SIGKILL); its variables are lost: df")
    assert player.step(KILLED) == []


def test_an_interrupted_process_that_ends_says_so(player: Player) -> None:
    player.start()
    player.run.stop()
    assert player.process.signals == ["interrupt"]
    assert player.process.wakes == 1
    reason = "Python ended when it was interrupted (killed by SIGKILL); its variables are lost: df"
    assert ended(player.step(KILLED)).reason == reason


def test_a_process_that_had_to_be_killed_says_so_and_its_late_end_counts_for_nothing(player: Player) -> None:
    player.start()
    player.run.kill()
    assert player.process.signals == ["end program"]
    player.step(player.finished())
    assert not player.run.ended
    reason = "Python did not react to the interrupt, so it was ended; its variables are lost: df"
    assert ended(player.step(KILLED)).reason == reason


def test_code_that_ends_after_an_interrupt_was_interrupted(player: Player) -> None:
    player.start()
    player.run.stop()
    end = ended(player.step(player.finished(state="failed", reason="KeyboardInterrupt")))
    assert (end.state, end.reason) == ("interrupted", None)
    assert player.process.signals == ["interrupt", "sweep"]
    player.run.stop()
    player.run.kill()
    player.run.abandon()
    assert player.process.signals == ["interrupt", "sweep"]


def test_what_nobody_follows_is_interrupted_and_then_ended(player: Player) -> None:
    player.start()
    player.run.abandon()
    player.run.abandon()
    assert player.process.signals == ["interrupt"]
    player.step(seconds=10.1)
    assert "SIGINT" in player.process.signals


def test_a_second_press_names_what_it_would_end(player: Player) -> None:
    player.start()
    player.run.stop()
    report = player.collect()[0]
    assert getattr(report, "at_stake", "") == "python and its variables: df"
    player.runtime.names = ()
    player.run = player.make()
    player.run.stop()
    assert getattr(player.collect()[0], "at_stake", "") == "python and its variables"


def test_what_comes_after_the_end_is_reported_by_the_next_run(player: Player) -> None:
    player.start()
    player.step(b"one\n", player.finished(), b"late\n")
    assert player.runtime.later == [b"late\n"]
    player.run = player.make()
    player.start()
    assert player.runtime.later == []
    assert player.step() == [Printed("late\n")]


def test_a_process_that_ended_between_two_runs_ends_the_next(player: Player) -> None:
    player.runtime.later = [KILLED]
    assert ended(player.start()).state == "lost"
    assert player.process.requests == ["forget"]


def test_lines_are_reported_where_that_is_on(player: Player) -> None:
    player.start()
    assert player.step({"event": "line", "line": 2}, {"event": "line", "line": "3"}) == [LineReached(2)]
    assert player.step(player.finished())[0] == LineReached(None)
    player.runtime.active_line = False
    player.run = player.make()
    player.start()
    assert player.step({"event": "line", "line": 2}) == []


@pytest.mark.parametrize(("enclosed", "shown"), [(False, ["path", "page", "html"]), (True, ["html"])])
def test_a_program_in_the_sandbox_shows_no_file_of_the_outside(
    enclosed: bool, shown: list[str], player: Player
) -> None:
    player.process.is_sandboxed = enclosed
    player.start()
    events = [{"event": "display", "format": f, "content": "c", "key": "k"} for f in ("path", "page", "html")]
    assert player.step(*events) == [Displayed(kind, "c", None, "k") for kind in shown]


def test_values_views_and_input_are_passed_on(player: Player) -> None:
    player.start()
    events: list[Any] = [
        {"event": "value", "kind": "result", "key": "k"},
        {"event": "view", "content": "view", "table": "table"},
        b"1\n",
        {"event": "view_end"},
        {"event": "value_end"},
        b"2? ",
        {"event": "input"},
        {"event": "input_end"},
        {"event": "dropped"},
        {"event": "something new"},
    ]
    assert player.step(*events) == [
        ValueBegan("result", "k"),
        Printed("1\n", "view", "table"),
        ValueEnded(),
        Printed("2? "),
        InputRequested("2? ", False),
        InputReceived(),
        Printed("\r\nA display was omitted: it is larger than 64 MB.\r\n"),
    ]
    again = player.step({"event": "value", "kind": "result", "key": "k", "updates": True})
    assert again[-1] == ValueBegan("result", "k")
    player.step({"event": "value_end"}, {"event": "value", "key": "k", "updates": "yes"})


def test_the_end_of_a_run_ends_its_wait_for_input_and_reports_the_rest_of_its_output(player: Player) -> None:
    player.start()
    player.step({"event": "input", "prompt": "? "})
    reports = player.step(b"half \xc3", player.finished())
    assert [type(report) for report in reports] == [Printed, InputReceived, RunEnded]
    assert reports[0] == Printed("half \ufffd")


def test_paths_of_cells_are_shown_as_their_names(player: Player) -> None:
    player.start()
    assert player.step(b"/shm/ab/cell-3: line 1\n") == [Printed("cell 3: line 1\n")]


def test_a_cell_of_a_guest_language_is_sent_as_that_language(player: Player) -> None:
    guest = replace(player.runtime.language, name="guest", request=lambda nonce, path: f"guest {path}")
    player.run = player.make(Cell("code", 4, guest))
    player.start()
    assert player.process.requests[-1] == "guest /shm/ab/cell-4"


@pytest.mark.parametrize("is_over", [False, True])
def test_a_program_that_reads_the_terminal_waits_for_input_unless_its_run_is_over(
    is_over: bool, player: Player
) -> None:
    player.start()
    player.step(b"name? ")
    player.readers = frozenset({("100", b"read")})
    if is_over:
        player.process.unplaced = player.finished()
    reports = [report for _ in range(5) for report in player.step()]
    assert (InputRequested("name? ", False) in reports) is not is_over


def test_what_others_tell_the_person_stands_below_what_was_printed_before_it(player: Player) -> None:
    player.start()
    told = threading.Thread(target=player.run.questions.ask, args=("note\n", "", threading.Event()))
    told.start()
    assert player.process.woken.wait(10)
    assert player.step(b"out\n") == [Printed("out\n"), Printed("note\r\n")]
    told.join(10)
    assert not told.is_alive()
