"""Run tests against mutants: `python -m tests.mutation.worker`, in a copy of the project that may be changed.

A job comes as JSON on the standard input, results go as lines of JSON to the standard output.

The tests are collected once, and run once without any change; which lines each test runs is recorded.
Then each mutant gets a fork of a process that has collected the tests. A change inside a function
replaces the code of the function in the fork, and only the tests that run these lines are tried. Any
other change - a constant of the module, a line that no test runs in its own process, a line that runs
while the module is imported - is written to the copy; a fork that has not imported anything of the
project runs all files that test the module.
"""

import contextlib
import ctypes
import functools
import gc
import importlib
import inspect
import json
import os
import pickle
import select
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import hypothesis
import pytest

from tests import processes
from tests.mutation.mutants import Mutant, make_mutants

#: A test of a mutant may take this many times as long as without a change, and the timeout of the job more.
SLOWER = 4
#: Where results are written; the standard output of a fork goes to a file.
RESULTS = os.dup(1)
#: The pipe on which a fork that runs pytest says that it finished a test.
BEAT: list[int] = []
#: How long a process may take to import and collect the tests, in seconds.
START = 120.0
#: How long all tests of a suite, or all its mutants, may take.
LONGEST = 24 * 3600.0
#: A step that waits for something, and needs no processor, may take this many times its limit.
WAITING = 5
#: What is imported before a fork belongs to the plugins; no assertion in it is of interest.
NO_REWRITE = "ignore::pytest.PytestAssertRewriteWarning"
PYTEST = (
    "-o",
    "addopts=",
    "-n",
    "0",
    "-q",
    "-p",
    "no:cacheprovider",
    "--hypothesis-seed=0",
    "-W",
    NO_REWRITE,
)
#: Modules of these packages are never imported before a fork: their text may be changed.
OURS = tuple(path.stem for path in Path.cwd().iterdir() if path.stem.isidentifier())
PR_SET_CHILD_SUBREAPER = 36


@dataclass
class Baseline:
    """What the tests did without any change."""

    durations: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    #: For each file and line, the tests that run it.
    tests: dict[str, dict[int, set[str]]] = field(default_factory=dict)
    #: For each file, the lines that run while the tests are imported.
    imported: dict[str, set[int]] = field(default_factory=dict)
    #: What was imported from elsewhere.
    loaded: list[str] = field(default_factory=list)


class Tracer:
    """Records which lines of some files run."""

    def __init__(self, files: Sequence[str]) -> None:
        self.lines: dict[str, set[int]] = {file: set() for file in files}

    def __call__(self, frame: FrameType, event: str, _argument: object) -> Any:
        lines = self.lines.get(frame.f_code.co_filename)
        if lines is None:
            return None
        if event == "line":
            lines.add(frame.f_lineno)
        return self

    def start(self) -> None:
        sys.settrace(self)
        threading.settrace(self)

    def take(self) -> dict[str, set[int]]:
        """Return what was recorded since the last time."""
        taken = {file: set(lines) for file, lines in self.lines.items()}
        for lines in self.lines.values():
            lines.clear()
        return taken


def report(**result: object) -> None:
    """Write one result."""
    os.write(RESULTS, json.dumps(result).encode() + b"\n")


# Forks


def run_fork(action: Callable[[int], int], limits: Callable[[int], float]) -> tuple[int | None, int]:
    """Let a fork do something; return its exit status (None: it took too long) and the steps it finished.

    It writes a byte for each step; `limits` says how long each step may take, in seconds of the processor, so
    that what else the machine does makes no difference.
    """
    hear, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(hear)
        exit_status = 70
        try:
            exit_status = action(tell)
        except BaseException:  # noqa: BLE001 - it is written to the log
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(exit_status)
    os.close(tell)
    steps = 0
    status: int | None = None
    with open(hear, "rb", buffering=0) as heard:
        while True:
            ready = _hear(heard, pid, limits(steps))
            if not ready:
                break
            data = heard.read(1)
            if not data:
                break
            steps += 1
    ended = _wait(pid, 30.0 if ready else 0.0)
    if ended is not None:
        status = os.waitstatus_to_exitcode(ended)
    kill_descendants()
    return status, steps


def _hear(heard: Any, pid: int, limit: float) -> bool:
    """Wait until a fork finishes a step or ends; False when that takes too long."""
    end = time.monotonic() + WAITING * limit
    used = processor_seconds(pid)
    while time.monotonic() < end:
        if select.select([heard], [], [], max(0.0, min(limit, end - time.monotonic())))[0]:
            return True
        if processor_seconds(pid) - used > limit:
            return False
    return False


def processor_seconds(pid: int) -> float:
    """Return how long a process, and its children that ended, have had a processor."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _wait(pid: int, seconds: float) -> int | None:
    """Return the status of a child; kill it when it does not end in time."""
    limit = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        if time.monotonic() >= limit:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return None
        time.sleep(0.005)


def kill_descendants() -> None:
    """Kill whatever a fork left behind; orphans are children of this process, which is a subreaper."""
    processes.kill(processes.descendants(os.getpid()))
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def adopt_orphans() -> None:
    """Make this process the parent of any descendant that lost its own."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def be_silent(log: Path) -> None:
    """Send the output of this process to a file."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(file, 1)
    os.dup2(file, 2)


# Changing code that is loaded


def swap_code(file: str, source: bytes, changed: bytes) -> bool:
    """Replace the code of the functions that differ; False when something else differs or is not loaded."""
    pairs = _different_functions(compile(source, file, "exec"), compile(changed, file, "exec"))
    if not pairs:
        return False
    functions = [o for o in gc.get_objects() if type(o) is FunctionType and o.__code__.co_filename == file]
    swapped = 0
    for old, new in pairs:
        for function in functions:
            if function.__code__ == old:
                if function.__code__.co_freevars != new.co_freevars:
                    return False
                function.__code__ = new
                swapped += 1
    for cached in [o for o in gc.get_objects() if isinstance(o, functools._lru_cache_wrapper)]:
        if str(cached.__module__).startswith(OURS):
            cached.cache_clear()
    return swapped > 0


def _different_functions(old: CodeType, new: CodeType) -> list[tuple[CodeType, CodeType]] | None:
    """Return the functions that differ; None when code that runs at import differs."""
    pairs: list[tuple[CodeType, CodeType]] = []
    inner_old, inner_new = _inner(old), _inner(new)
    if len(inner_old) != len(inner_new):
        return None if not _is_function(old) else [(old, new)]
    if _is_function(old):
        if old != new:
            pairs.append((old, new))
    elif _own_part(old) != _own_part(new):
        return None
    for one, other in zip(inner_old, inner_new, strict=True):
        below = _different_functions(one, other)
        if below is None:
            return None
        pairs += below
    return pairs


def _inner(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _is_function(code: CodeType) -> bool:
    return bool(code.co_flags & inspect.CO_OPTIMIZED)


def _own_part(code: CodeType) -> tuple[object, ...]:
    constants = tuple(repr(c) for c in code.co_consts if not isinstance(c, CodeType))
    return code.co_code, code.co_names, constants


# Running tests


class Plugin:
    """Makes pytest run the tests as this module wants it."""

    def __init__(self, loop: Callable[[pytest.Session], None]) -> None:
        self._loop = loop

    def pytest_collection(self) -> None:
        """A failure need not be made small."""
        phases = [hypothesis.Phase.explicit, hypothesis.Phase.reuse, hypothesis.Phase.generate]
        hypothesis.settings.register_profile("mutation", hypothesis.settings(), phases=phases)
        hypothesis.settings.load_profile("mutation")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._loop(session)
        return True


def run_tests(session: pytest.Session, items: Sequence[pytest.Item], beat: int) -> int:
    """Run tests until one fails; return 1 when one did."""
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            return 1
        os.write(beat, b".")
    return 0


@dataclass
class Suite:
    """Some test files, the modules whose mutants they are to notice, and the mutants."""

    root: Path
    tests: list[str]
    mutants: dict[str, dict[int, Mutant]]
    #: In seconds.
    timeout: float
    kills: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    baseline: Baseline = field(default_factory=Baseline)

    def file(self, module: str) -> str:
        return str(self.root / module)

    def limit(self, test: str | None) -> float:
        return self.timeout + SLOWER * self.baseline.durations.get(test or "", 1.0)

    def all_mutants(self) -> Iterator[tuple[str, int, Mutant]]:
        for module, mutants in self.mutants.items():
            for number, mutant in mutants.items():
                yield module, number, mutant

    def order(self, tests: Iterable[str]) -> list[str]:
        """What noticed most first, then what is quickest."""
        durations = self.baseline.durations
        return sorted(tests, key=lambda test: (-self.kills[test], durations.get(test, 0.0)))

    def covering(self, module: str, mutant: Mutant) -> list[str]:
        """The tests that run the changed lines in their own process."""
        by_line = self.baseline.tests.get(self.file(module), {})
        return sorted({t for n in range(mutant.first, mutant.last + 1) for t in by_line.get(n, ())})

    def near(self, module: str) -> list[str]:
        """The tests of all files that run anything of the module in their own process, or simply all."""
        touching = set().union(*self.baseline.tests.get(self.file(module), {}).values())
        files = {test.partition("::")[0] for test in touching}
        tests = [test for test in self.baseline.durations if test.partition("::")[0] in files]
        return tests or list(self.baseline.durations)

    def runs_at_import(self, module: str, mutant: Mutant) -> bool:
        lines = self.baseline.imported.get(self.file(module), set())
        return any(number in lines for number in range(mutant.first, mutant.last + 1))


def run_pytest(suite: Suite, loop: Callable[[pytest.Session], None], log: Path) -> int:
    """Collect the tests of a suite in this process and hand them to the loop."""
    be_silent(log)
    return int(pytest.main([*PYTEST, *suite.tests], plugins=[Plugin(loop)]))


def measure(suite: Suite, log: Path) -> Baseline:
    """Run the tests without any change, in a fork; return what they did."""
    out = log.with_suffix(".baseline")
    tracer = Tracer([suite.file(module) for module in suite.mutants])

    def loop(session: pytest.Session) -> None:
        imported = tracer.take()
        baseline = Baseline(imported=imported, tests={file: defaultdict(set) for file in imported})
        for item, following in zip(session.items, [*session.items[1:], None], strict=True):
            failed, began = session.testsfailed, time.monotonic()
            tracer.start()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            baseline.durations[item.nodeid] = time.monotonic() - began
            for file, lines in tracer.take().items():
                for line in lines:
                    baseline.tests[file][line].add(item.nodeid)
            if session.testsfailed > failed:
                baseline.failed.append(item.nodeid)
        sys.settrace(None)
        baseline.loaded = [name for name in sys.modules if not name.startswith(OURS)]
        out.write_bytes(pickle.dumps(baseline))

    def action(_beat: int) -> int:
        tracer.start()
        return run_pytest(suite, loop, log)

    run_fork(action, lambda _steps: LONGEST)
    if not out.is_file():
        raise SystemExit(f"The tests did not run: {' '.join(suite.tests)}\n{log.read_text()[-3000:]}")
    baseline: Baseline = pickle.loads(out.read_bytes())
    return baseline


def try_in_process(suite: Suite, log: Path) -> list[tuple[str, int]]:
    """Collect the tests once and give each change of a function a fork; return the mutants that need more."""
    later = log.with_suffix(".later")
    later.write_text("")

    def loop(session: pytest.Session) -> None:
        items = {item.nodeid: item for item in session.items if item.nodeid not in suite.baseline.failed}
        adopt_orphans()
        for module, number, mutant in suite.all_mutants():
            tests = suite.order([test for test in suite.covering(module, mutant) if test in items])
            verdict = "later"
            if tests and not suite.runs_at_import(module, mutant):
                verdict = _try_fork(suite, session, [items[test] for test in tests], module, mutant)
            if verdict == "later":
                with later.open("a") as file:
                    file.write(json.dumps([module, number]) + "\n")
            else:
                report(module=module, number=number, verdict=verdict)

    run_fork(lambda _beat: run_pytest(suite, loop, log), lambda _steps: LONGEST)
    return [tuple(json.loads(line)) for line in later.read_text().splitlines()]


def _try_fork(
    suite: Suite, session: pytest.Session, items: list[pytest.Item], module: str, mutant: Mutant
) -> str:
    source = Path(suite.file(module)).read_bytes()

    def action(beat: int) -> int:
        if not swap_code(suite.file(module), source, mutant.apply(source)):
            return 71
        return run_tests(session, items, beat)

    names = [item.nodeid for item in items]
    status, steps = run_fork(action, lambda step: suite.limit(names[step] if step < len(names) else None))
    if status == 71:
        return "later"
    if status != 0 and steps < len(names):
        suite.kills[names[steps]] += 1
    return _verdict(status)


def _verdict(status: int | None) -> str:
    return "survived" if status == 0 else "stopped" if status is None else "noticed"


def try_in_copy(suite: Suite, module: str, mutant: Mutant, log: Path) -> str:
    """Write the mutant to the copy, and run all tests of the module in a process that imports it anew."""
    path = Path(suite.file(module))
    source = path.read_bytes()
    covering = set(suite.covering(module, mutant))
    near = suite.near(module)

    def loop(session: pytest.Session) -> None:
        items = {item.nodeid: item for item in session.items if item.nodeid not in suite.baseline.failed}
        order = suite.order([test for test in near if test in items])
        order.sort(key=lambda test: test not in covering)
        os._exit(run_tests(session, [items[test] for test in order], BEAT[0]))

    def action(beat: int) -> int:
        BEAT[:] = [beat]
        return run_pytest(suite, loop, log) or 1

    longest = max(suite.baseline.durations.values(), default=1.0)
    path.write_bytes(mutant.apply(source))
    try:
        status, _ = run_fork(action, lambda step: START if step == 0 else suite.timeout + SLOWER * longest)
    finally:
        path.write_bytes(source)
    return _verdict(status)


def warm_up(names: Sequence[str]) -> None:
    """Import what the tests import from elsewhere, so that a fork need not."""
    for name in names:
        if not name.startswith("_") and name not in sys.modules:
            with contextlib.suppress(Exception):
                importlib.import_module(name)


def work(job: dict[str, Any], logs: Path) -> None:
    """Try all mutants of a job."""
    root = Path.cwd()
    adopt_orphans()
    for index, described in enumerate(job["suites"]):
        log = logs / f"{index}.log"
        mutants = {}
        for module, numbers in described["mutants"].items():
            made = make_mutants((root / module).read_bytes())
            mutants[module] = {number: made[number] for number in numbers}
        suite = Suite(root, described["tests"], mutants, job["timeout"])
        suite.baseline = measure(suite, log)
        report(tests=len(suite.baseline.durations), failed=suite.baseline.failed)
        warm_up(suite.baseline.loaded)
        for module, number in try_in_process(suite, log):
            report(
                module=module, number=number, verdict=try_in_copy(suite, module, mutants[module][number], log)
            )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        work(json.load(sys.stdin), Path(folder))
