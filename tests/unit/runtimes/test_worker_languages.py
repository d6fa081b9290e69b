"""The languages of a worker: which run an interrupt reaches."""

import threading
from collections.abc import Generator
from typing import Any

from oi_tui.messages import Report, RunEnded
from oi_tui.runtimes.remote.worker_languages import WorkerLanguages


class Runtime:
    """Runs until it is told to go on, or is interrupted."""

    def __init__(self) -> None:
        self.goes_on, self.begun = threading.Event(), threading.Event()
        self.interrupts = 0

    def run(self, code: str, stopped: threading.Event, number: int | None) -> Generator[Report, None, None]:
        if not stopped.is_set():
            self.begun.set()
            assert self.goes_on.wait(10)
        yield RunEnded("interrupted" if stopped.is_set() or self.interrupts else "finished", 0.0)

    def interrupt(self) -> None:
        self.interrupts += 1
        self.goes_on.set()


class Outbox:
    """Keeps what is sent."""

    def __init__(self) -> None:
        self.ends: dict[int, str] = {}
        self.both = threading.Event()

    def list_runs(self) -> set[int]:
        return set()

    def send_report(self, number: int, report: Report) -> None:
        assert isinstance(report, RunEnded)
        self.ends[number] = report.state
        if len(self.ends) == 2:
            self.both.set()


def begin_two_runs() -> tuple[WorkerLanguages, Runtime, Outbox]:
    """Begin a run, and one that waits for its turn."""
    runtime, outbox = Runtime(), Outbox()
    stand_ins: Any = outbox, runtime
    languages = WorkerLanguages(stand_ins[0], lambda do, message: do(message))
    languages._runtimes["python"] = stand_ins[1]
    for number in (1, 2):
        languages.obey({"do": "run", "id": number, "language": "python", "code": "1", "number": number})
        assert runtime.begun.wait(10)
    return languages, runtime, outbox


def test_an_interrupt_of_a_waiting_run_leaves_the_run_before_it_alone() -> None:
    languages, runtime, outbox = begin_two_runs()
    languages.obey({"do": "interrupt", "id": 2, "language": "python"})
    assert runtime.interrupts == 0
    runtime.goes_on.set()
    assert outbox.both.wait(10)
    assert outbox.ends == {1: "finished", 2: "interrupted"}


def test_an_interrupt_reaches_the_run_whose_turn_it_is() -> None:
    languages, runtime, outbox = begin_two_runs()
    languages.obey({"do": "interrupt", "id": 1, "language": "python"})
    assert outbox.both.wait(10)
    assert (runtime.interrupts, outbox.ends[1]) == (1, "interrupted")
