"""Running code and seeing what it reports, with a bound on every wait."""

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import pytest

from oi_tui.messages import (
    Displayed,
    InputReceived,
    InputRequested,
    LineReached,
    Printed,
    Report,
    RunEnded,
    Stopping,
)
from oi_tui.runtimes import Computer
from oi_tui.runtimes.pty_runtime import PtyRuntime
from oi_tui.runtimes.runs import stopping
from tests.programs import need_language


@dataclass
class Played:
    """A run that is over: its reports, each with the seconds since the run began."""

    reports: list[tuple[float, Report]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(r.text for _, r in self.reports if isinstance(r, Printed)).replace("\r\n", "\n")

    @property
    def end(self) -> RunEnded:
        last = self.reports[-1][1]
        assert isinstance(last, RunEnded)
        assert sum(isinstance(r, RunEnded) for _, r in self.reports) == 1
        return last

    @property
    def state(self) -> str:
        return self.end.state

    @property
    def reason(self) -> str:
        return self.end.reason or ""

    @property
    def lines(self) -> list[int | None]:
        return [r.line for _, r in self.reports if isinstance(r, LineReached)]

    @property
    def shown(self) -> list[Displayed]:
        return [r for _, r in self.reports if isinstance(r, Displayed)]

    @property
    def asked(self) -> list[InputRequested]:
        return [r for _, r in self.reports if isinstance(r, InputRequested)]

    @property
    def answered(self) -> int:
        return sum(isinstance(r, InputReceived) for _, r in self.reports)

    @property
    def steps(self) -> list[str]:
        return [r.step for _, r in self.reports if isinstance(r, Stopping)]

    @property
    def seconds(self) -> float:
        return self.reports[-1][0]

    def when(self, text: str) -> float:
        """The moment at which the output so far held the text."""
        so_far = ""
        for at, report in self.reports:
            if isinstance(report, Printed):
                so_far += report.text
                if text in so_far:
                    return at
        raise AssertionError(f"{text!r} was not printed: {so_far[-500:]!r}")


def play(
    computer: Computer,
    language: str,
    code: str,
    *,
    answers: tuple[str, ...] = (),
    stop_at: str | None = None,
    stops: int = 1,
    insists: bool = False,
    number: int | None = None,
    on: Callable[[Report, str], None] | None = None,
) -> Played:
    """Run the code; answer each question in turn; interrupt once the output holds `stop_at`.

    With `insists`, interrupt a second time where the run waits for that.
    """
    need_language(computer, language)
    played = Played()
    waiting = list(answers)
    began = time.monotonic()
    so_far = ""
    for report in computer.run(language, code, number):
        played.reports.append((time.monotonic() - began, report))
        if isinstance(report, Printed):
            # A flood may bring much at once: what has just come is whole.
            so_far = so_far[-100_000:] + report.text
        if isinstance(report, InputRequested) and waiting:
            computer.send_input(waiting.pop(0))
        if stop_at is not None and stop_at in so_far:
            stop_at = None
            for _ in range(stops):
                computer.interrupt()
        if insists and isinstance(report, Stopping) and report.seconds is None:
            with patch.object(stopping, "REPEATED", 0.0):
                computer.interrupt()
        if on:
            on(report, so_far)
    return played


def check_cells(computer: Computer, language: str, cells: Iterable[tuple[str, str]]) -> None:
    """Run cells one after the other, each of which must finish and print its text."""
    for code, text in cells:
        played = play(computer, language, code)
        assert (played.text, played.state) == (text, "finished"), code


def until(condition: Callable[[], object], seconds: float = 40.0) -> None:
    """Wait until the condition holds; fail when it does not within the time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition did not come true in time"
        time.sleep(0.01)


def alive(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return stat.rpartition(b")")[2].split()[0] not in (b"Z", b"X")


def marked(word: str) -> list[int]:
    """The processes that have a word among their arguments."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            with contextlib.suppress(OSError):
                arguments = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
                if word.encode() in arguments and alive(int(name)):
                    found.append(int(name))
    return found


def take(reports: Iterator[Report], kind: type) -> Report:
    """The next report of a kind."""
    for report in reports:
        if isinstance(report, kind):
            return report
    raise AssertionError(f"no {kind.__name__} came")


@contextlib.contextmanager
def kept_running(computer: Computer) -> Iterator[None]:
    """Fail when a language that runs now has ended afterwards, and end the languages started meanwhile.

    A language started again during a test belongs to that test, which may leave no process behind. If it were
    killed by that check, the next test would start it again, and so on.
    """
    before = living(computer)
    yield
    after = living(computer)
    # What the system lists of children may lack one while another ends.
    ended = [name for name, pid in before.items() if not alive(pid) or after.get(name, pid) != pid]
    started = [name for name, pid in after.items() if before.get(name) != pid]
    # What has ended is put away as well: until that is noticed, the next run would be lost with it.
    for name in {*ended, *started}:
        computer.targets.current.runtimes[name].reset()
    if ended:
        pytest.fail("ended in the shared computer: " + ", ".join(ended))


def living(computer: Computer) -> dict[str, int]:
    """Return the process ids of the languages whose process is alive."""
    hosts = {name: getattr(item, "host", item) for name, item in computer.targets.current.runtimes.items()}
    runtimes = {name: item for name, item in hosts.items() if isinstance(item, PtyRuntime)}
    processes = {name: runtime._process for name, runtime in runtimes.items()}
    found = {name: process.pid for name, process in processes.items() if process and alive(process.pid)}
    return {**found, **_living_there(computer)}


def _living_there(computer: Computer) -> dict[str, int]:
    """The processes of a worker whose host is this machine after all: each is the child of a guard."""
    place = computer.targets.remote
    if place is None or place.link is None:
        return {}
    found = {}
    for guard in children(place._facts["pid"]):
        for pid in children(guard):
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode()
            for name in computer.targets.current.runtimes:
                if command and alive(pid) and place.find_program(name) == command:
                    found[name] = pid
    return found


def children(pid: int) -> list[int]:
    """The children of a process, whichever of its threads started them."""
    found = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found += [int(word) for word in (thread / "children").read_text().split()]
    return found


def holds_once(check: Callable[[], object], tries: int = 5) -> bool:
    """Whether it holds at least once: what else the machine does may hide it, but not each time."""
    return any(check() for _ in range(tries))
