"""When the active line is reported, and where it is looked up."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from oi_tui.messages import LineReached, Printed, Report
from oi_tui.runtimes.language import Language
from oi_tui.runtimes.languages import python
from oi_tui.runtimes.runs import active_line
from oi_tui.runtimes.runs.active_line import ActiveLine
from oi_tui.runtimes.runs.output import FRAME, RunOutput


class Memory:
    """The memory of a language, in which a line stands; the real one cannot be read without a process."""

    line: int | None = 3
    closed = 0

    def read(self, *_: object) -> int | None:
        return self.line

    def close(self) -> None:
        self.closed += 1


class Watched:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, kind: Any, memory: Memory | None) -> None:
        self.reports: list[Report] = []
        self.output = RunOutput(self.reports.append, 0.0)
        self.active = ActiveLine(self.output, self.reports.append)
        self.clock: Any = SimpleNamespace(now=50.0, monotonic=lambda: self.clock.now)
        monkeypatch.setattr(active_line, "time", self.clock)

        def find(*_: object) -> Memory:
            if memory is None:
                raise ValueError("not a language whose memory is known")
            return memory

        monkeypatch.setattr(active_line, "PythonLine", find)
        monkeypatch.setattr(active_line, "ShellLine", find)
        self.channel = SimpleNamespace(line=7, cell=(1, 1))
        process: Any = SimpleNamespace(pid=1, interpreter="python", channel=self.channel)
        language: Language = replace(python.LANGUAGE, active_line=kind)
        self.active.watch(process, language, "code")

    def look(self) -> list[int | None]:
        """Let a frame pass, and return the lines that were reported since the last time."""
        self.clock.now += FRAME
        before = len(self.reports)
        self.active.check(self.clock.now)
        return [report.line for report in self.reports[before:] if isinstance(report, LineReached)]


def test_a_line_that_the_driver_sends_is_reported_when_it_is_another_one() -> None:
    reports: list[Report] = []
    output = RunOutput(reports.append, 0.0)
    active = ActiveLine(output, reports.append)
    assert active.due == float("inf")
    output.feed(b"one\n")
    for line in (1, 1, 2, 0, -1, None, 2, 1):
        active.reach(line)
    assert reports == [Printed("one\n"), LineReached(1), LineReached(2), LineReached(1)]
    active.check(100.0)
    active.close()
    assert reports[4:] == [LineReached(None)]


def test_where_no_line_was_reached_none_ends() -> None:
    reports: list[Report] = []
    ActiveLine(RunOutput(reports.append, 0.0), reports.append).close()
    assert reports == []


@pytest.mark.parametrize("kind", ["cell", "memory"])
def test_the_line_in_the_memory_is_looked_up_once_in_a_frame(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory()
    watched = Watched(monkeypatch, kind, memory)
    assert watched.active.due == 50.0
    watched.active.check(50.0)
    assert watched.reports == [LineReached(3)]
    assert watched.active.due == 50.0 + FRAME
    memory.line = 4
    watched.active.check(50.0 + FRAME / 2)
    assert watched.reports == [LineReached(3)]
    assert watched.look() == [4]
    watched.active.close()
    assert memory.closed == 1


def test_where_the_frames_have_no_line_of_the_cell_it_is_the_drivers(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory()
    watched = Watched(monkeypatch, "cell", memory)
    assert watched.look() == [3]
    memory.line = None
    assert watched.look() == [7]
    # Before the driver has begun a run, its frames say nothing.
    memory.line, watched.channel.cell, watched.channel.line = 5, (1, 0), 8
    assert watched.look() == [8]


def test_a_python_whose_memory_is_not_known_tells_its_line_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(monkeypatch, "cell", None)
    assert watched.look() == [7]
    watched.active.close()
    assert watched.reports[-1] == LineReached(None)


@pytest.mark.parametrize("kind", ["memory", "events"])
def test_nothing_is_looked_up_where_nothing_can_be_known(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(monkeypatch, kind, None)
    assert watched.active.due == float("inf")
    assert watched.look() == []
    watched.active.close()
    assert watched.reports == []
