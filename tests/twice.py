"""Run the tests, and once more, one after the other, those that failed: `python -m tests.twice [arguments]`.

What passes then is printed under FLAKY, and the status is 0. What fails again is printed too, with status 1.
Which tests failed is written by this module as a plugin of pytest, so no cache is needed.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests import processes

#: Names the file that the results are written to.
RESULTS = "OI_TUI_TEST_RESULTS"
#: More failures than this are no accident; they are not tried again.
MOST = 40
#: How long all tests may take, in seconds; several times what they need.
LIMIT = 45 * 60.0


@dataclass
class Results:
    """One run of pytest: its exit status, and what passed and failed."""

    status: int
    passed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


Run = Callable[[Sequence[str]], Results]


class Recorder:
    """Collects the results of the tests; with several workers, those of all of them."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._running: dict[str, None] = {}
        self._passed: dict[str, None] = {}
        #: What each test that failed has to say.
        self._failed: dict[str, str] = {}

    def pytest_sessionstart(self) -> None:
        signal.signal(signal.SIGTERM, self._give_up)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._running[nodeid] = None

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._running.pop(nodeid, None)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed[report.nodeid] = report.longreprtext
        elif report.when == "call":
            self._passed[report.nodeid] = None

    def pytest_sessionfinish(self) -> None:
        passed = [item for item in self._passed if item not in self._failed]
        self._file.write_text(json.dumps({"passed": passed, "failed": list(self._failed)}))

    def _give_up(self, *_: object) -> None:
        """Name the tests that did not end, and end."""
        failed = [f"{name}\n{text}" for name, text in self._failed.items()]
        print("\nNOT ENDED", *self._running, "FAILED", *failed, sep="\n  ", flush=True)  # noqa: T201
        processes.kill(processes.descendants(os.getpid()))
        os._exit(1)


def pytest_configure(config: pytest.Config) -> None:
    """Record the results where all of them arrive: not in a worker."""
    if RESULTS in os.environ and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(Path(os.environ[RESULTS])))


def run_pytest(arguments: Sequence[str], limit: float = LIMIT) -> Results:
    """Run pytest with its output as it comes, for `limit` seconds at most."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "results.json")
        command = [sys.executable, "-m", "pytest", "-p", "tests.twice"]
        environment = {**os.environ, RESULTS: str(file)}
        began, used = time.monotonic(), read_processor_time()
        with subprocess.Popen([*command, *arguments], env=environment) as process:
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                process.terminate()
                status = process.wait()
        print(describe_use(time.monotonic() - began, read_processor_time() - used), flush=True)  # noqa: T201
        return Results(status, **json.loads(file.read_text())) if file.exists() else Results(status or 1)


def read_processor_time() -> float:
    """The seconds of processors that our children used, with theirs, as far as each was waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def describe_use(seconds: float, used: float, processors: int | None = None) -> str:
    """Say how busy the tests kept the processors: where they are idle, more workers would help."""
    processors = processors or processes.count_processors()
    share = used / (seconds * processors)
    return f"The tests used {used:,.0f} s of processors in {seconds:,.0f} s: {share:.0%} of {processors}."


def run_twice(arguments: Sequence[str], run: Run, write: Callable[[str], object] = print) -> int:
    """Run the tests and then what failed; the exit status of both."""
    first = run(arguments)
    if first.status == 0:
        return 0
    if first.status != pytest.ExitCode.TESTS_FAILED or not first.failed:
        return first.status
    if len(first.failed) > MOST:
        write(f"{len(first.failed)} tests failed: too many to try them again")
        return 1
    write(f"\nOnce more, one after the other: {len(first.failed)} that failed")
    second = run(["-n", "1", *first.failed])
    flaky = [item for item in first.failed if item in second.passed]
    again = [item for item in first.failed if item not in second.passed]
    _list(write, "FLAKY: failed, then passed", flaky)
    _list(write, "FAILED TWICE", again)
    return 1 if again else 0


def _list(write: Callable[[str], object], heading: str, names: Sequence[str]) -> None:
    if names:
        write("\n".join(["", heading, *(f"  {name}" for name in names)]))


if __name__ == "__main__":
    sys.exit(run_twice(sys.argv[1:], run_pytest))
