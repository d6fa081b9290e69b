"""The line that is shown as running is the line that runs: also in loops that never let anybody else look."""

import collections
import inspect
import os
import random
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, ModuleType

import pytest

from oi_tui.messages import LineReached
from oi_tui.runtimes import Computer
from oi_tui.runtimes.runs import active_line, python_line
from oi_tui.runtimes.runs.python_line import PythonLine
from oi_tui.runtimes.versions import find_version
from tests import programs
from tests.runtimes.playing import play, until

Make = Callable[..., Computer]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows a program's memory")

#: Each line repeats one statement so often that its loop costs next to nothing beside it.
WEIGHTS = (20, 40, 80)
ARITHMETIC = ["; ".join(["a = i * 3"] * weight) for weight in WEIGHTS]
CALLS = ["; ".join(["a = len(word)"] * weight) for weight in WEIGHTS]
LIBRARY = [f"a = sum(range(10**6, 10**6 + {weight * 50}))" for weight in WEIGHTS]


def loop(head: str, lines: list[str], indent: str = "    ") -> str:
    """Code whose lines 2 to 4 are the loop's."""
    return "\n".join([head, *(indent + line for line in lines)])


LOOPS = {
    "for": loop("for i in range(10**9):", ARITHMETIC),
    "while": loop("while True:", [line.replace("i *", "3 *") for line in ARITHMETIC]),
    "calls": loop("for word in iter(str, 1):", CALLS),
    "library": loop("while True:", LIBRARY),
    "function": "def work():\n"
    + "\n".join(
        f"        {line}" for line in ["for i in range(10**9):", *(f"    {item}" for item in ARITHMETIC)]
    )
    + "\nwork()",
}


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    """A Python that the tests share."""
    computer = Computer(cwd=tmp_path_factory.mktemp("lines"))
    assert play(computer, "python", "").state == "finished"
    yield computer
    computer.close()


def sample(computer: Computer, code: str, enough: Callable[[collections.Counter[int]], bool]) -> None:
    """Run the code, count how often each line is seen, and stop it once that is enough."""
    thread = threading.Thread(target=lambda: collections.deque(computer.run("python", code), 0))
    thread.start()
    try:
        until(lambda: computer.targets.running and computer.targets.running._run)  # type: ignore[union-attr]
        process = computer.targets.running._run._process  # type: ignore[union-attr]
        frames = PythonLine(process.pid, process.interpreter)
        pace, seen = threading.Event(), collections.Counter[int]()

        def look() -> bool:
            for _ in range(100):
                pace.wait(0.0005)
                seen[frames.read(*process.channel.cell) or 0] += 1
            return enough(seen)

        until(look, 20)
        frames.close()
    finally:
        computer.interrupt()
        thread.join()


@pytest.mark.parametrize("name", LOOPS)
def test_the_share_of_each_line_is_the_share_of_its_time(python: Computer, name: str) -> None:
    lines = LOOPS[name].splitlines()
    first = 1 + next(number for number, line in enumerate(lines) if " a = " in line)
    truth = [weight / sum(WEIGHTS) for weight in WEIGHTS]

    def agree(seen: collections.Counter[int]) -> bool:
        shares = [seen[first + n] / seen.total() for n in range(3)]
        return seen.total() >= 500 and shares == [pytest.approx(share, rel=0.2) for share in truth]

    # More samples make it truer; what favours a line never comes to agree.
    sample(python, LOOPS[name], agree)


@pytest.mark.parametrize("sandbox", [False, True])
def test_every_line_of_a_hot_loop_is_reported(make: Make, sandbox: bool) -> None:
    computer = make(sandbox=sandbox)
    seen: set[int | None] = set()

    def stop(report: object, _: str) -> None:
        if isinstance(report, LineReached):
            seen.add(report.line)
            if seen >= {2, 3, 4}:
                computer.interrupt()

    played = play(computer, "python", LOOPS["for"], on=stop)
    assert (played.state, played.lines[-1]) == ("interrupted", None)


def test_lines_are_reported_where_the_memory_cannot_be_read(
    computer: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise ValueError

    monkeypatch.setattr(active_line, "PythonLine", refuse)
    played = play(computer, "python", "import time\ntime.sleep(0.1)\ntime.sleep(0.1)")
    assert played.lines[-2:] == [3, None]


def test_what_is_awaited_is_reported_by_its_line(python: Computer) -> None:
    code = "import asyncio\nasync def wait():\n    x = 1\n    await asyncio.sleep(0.3)\nawait wait()"
    assert 4 in play(python, "python", code).lines


@pytest.mark.parametrize("module", [inspect, random, collections])
def test_the_table_of_lines_is_read_as_python_reads_it(module: ModuleType) -> None:
    following = [compile(inspect.getsource(module), "<module>", "exec")]
    while following:
        code = following.pop()
        following += [const for const in code.co_consts if isinstance(const, CodeType)]
        lines = [line or 0 for begin, end, line in code.co_lines() for _ in range(begin, end, 2)]
        assert list(python_line._read_line_table(code.co_linetable, code.co_firstlineno)) == lines


@pytest.mark.parametrize(
    "interpreter",
    [
        None,
        {},
        [],
        {"version": [2, 7], "thread": 1, "code": 184},
        {"version": "3.11", "thread": 1, "code": 184},
        {"version": [3, 11], "thread": "1", "code": 184},
        {"version": [3, 11], "thread": -1, "code": 184},
        {"version": [3, 11], "thread": 2**90, "code": 184},
        {"version": [[], {}], "thread": 8, "code": 184},
    ],
)
def test_a_driver_that_says_nothing_of_use_is_not_believed(interpreter: object) -> None:
    with pytest.raises(ValueError, match=r"^the driver|^the memory|^no thread"):
        PythonLine(os.getpid(), interpreter)


def test_what_a_program_says_of_its_code_is_kept_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each byte says that eight instructions have no line.
    table = b"\xff" * 100_000
    codes = [compile("1", "<cell 1>", "exec").replace(co_linetable=table) for _ in range(6)]
    others = [compile("1", "<other>", "exec") for _ in range(20)]
    interpreter = {"version": list(sys.version_info[:2]), "thread": id(codes), "code": 184}
    frames = PythonLine(os.getpid(), interpreter)
    assert frames.read(1) in (0, None)
    for code in codes:
        frames._find_code(id(code))
        lengths = [len(code.lines) for code in frames._codes.values() if code]
        assert lengths
        assert max(lengths) <= 500_000
        assert sum(lengths) <= 2_500_000
    monkeypatch.setattr(python_line, "_MOST_CODES", 8)
    for other in others:
        frames._find_code(id(other))
    assert 0 < len(frames._codes) <= 8
    frames.close()


def test_any_address_may_be_given() -> None:
    chance = random.Random(3)
    around = id(chance)
    for _ in range(300):
        version = [3, chance.choice([11, 12, 13, 14])]
        thread = around + chance.randrange(-50_000, 50_000)
        interpreter = {"version": version, "thread": thread, "code": chance.randrange(-9, 900)}
        try:
            frames = PythonLine(os.getpid(), interpreter)
        except ValueError:
            continue
        assert frames.read(1) in (0, None)
        frames.close()


def find_python(version: str) -> str:
    """Another Python of this machine. The test is skipped where it is missing."""
    name = f"python{version}"
    programs.need(name)
    found = Path(shutil.which(name) or name)
    # What pyenv puts on PATH starts only the version that is chosen there.
    ours = sorted(found.parent.parent.glob(f"versions/{version}.*/bin/{name}"))
    program = str(ours[-1] if ours else found)
    if not find_version(program, "--version", r"Python (\S+)").startswith(version):
        pytest.skip(f"{name} does not start")
    return program


@pytest.mark.parametrize("version", ["3.12", "3.13", "3.14"])
def test_other_versions_are_read_through_frames_of_c(make: Make, version: str) -> None:
    python = make(python=find_python(version))
    code = "import time\ndef wait(_):\n    time.sleep(0.2)\nlist(map(wait, [1]))"
    assert 3 in play(python, "python", code).lines
    code = "import asyncio\nasync def wait():\n    x = 1\n    await asyncio.sleep(0.2)\nawait wait()"
    assert 4 in play(python, "python", code).lines
    code = "import re, time\nre.sub('a', lambda _: str(time.sleep(0.2)), 'a')\nimport json"
    assert 2 in play(python, "python", code).lines
