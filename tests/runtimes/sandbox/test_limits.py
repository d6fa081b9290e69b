"""The limits of the sandbox: each is kept, and whoever is over it is told which, and by which setting."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from oi_tui.messages import Report, RunEnded
from oi_tui.runtimes import Computer
from oi_tui.runtimes.sandbox import confinement, limits, sandbox
from oi_tui.runtimes.sandbox.confinement import Confinement, SandboxRules
from oi_tui.runtimes.sandbox.limits import LimitWatch, SandboxLimits
from tests.runtimes.playing import play

pytestmark = pytest.mark.skipif((why := sandbox.explain_unavailable()) is not None, reason=str(why))
Make = Callable[..., Computer]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A working directory of a test's own."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def limited(make: Make, project: Path, **limits: float) -> Computer:
    return make(cwd=project, sandbox=True, sandbox_rules=SandboxRules(limits=SandboxLimits(**limits)))


def test_many_processes_end(make: Make, project: Path) -> None:
    computer = limited(make, project, processes=60)
    played = play(computer, "shell", "for i in $(seq 300); do sleep 60 & done 2>/dev/null; wait; echo over")
    assert played.state == "lost" or "over" not in played.text
    assert "limit of 60 processes; the setting sandbox_processes" in played.reason


def test_memory_of_one_process_is_an_error_of_its_own(make: Make, project: Path) -> None:
    computer = limited(make, project, memory_gb=0.3)
    played = play(computer, "python", "x = bytearray(600_000_000)")
    assert "MemoryError" in played.text
    assert play(computer, "python", "print('alive')").text.strip() == "alive"


def test_memory_of_many_processes_ends_them(make: Make, project: Path) -> None:
    computer = limited(make, project, memory_gb=0.3)
    code = (
        "import os, time\nfor _ in range(3):\n    if not os.fork():\n"
        "        x = b'x' * 150_000_000; time.sleep(60)\n"
    )
    played = play(computer, "python", code + "time.sleep(60)")
    assert "memory limit of 0.3 GB; the setting sandbox_memory" in played.reason


@pytest.mark.parametrize(
    "opened",
    ["os.fdopen(os.memfd_create('x'), 'wb')", "open(f'{glob.glob(\"/dev/shm/oi-tui-*\")[0]}/x', 'wb')"],
)
def test_memory_of_files_counts(make: Make, project: Path, opened: str) -> None:
    """Files without a name, and those in the channel's folder, are in the memory of the machine."""
    computer = limited(make, project, memory_gb=0.3)
    code = f"import glob, os, time\nfile = {opened}\nfor _ in range(40): file.write(bytes(10_000_000))\n"
    played = play(computer, "python", code + "time.sleep(60)")
    assert "memory limit of 0.3 GB; the setting sandbox_memory" in played.reason


def test_temporary_files_are_limited(make: Make, project: Path) -> None:
    computer = limited(make, project, memory_gb=0.2)
    for folder in ("/tmp", "/var/tmp", "/dev/shm"):
        played = play(computer, "shell", f"head -c 80000000 /dev/zero >{folder}/x; echo over")
        assert "No space left" in played.text, folder


def test_one_large_file_is_refused(make: Make, project: Path) -> None:
    computer = limited(make, project, disk_gb=0.02)
    played = play(computer, "python", "open('x', 'wb').write(bytes(40_000_000))")
    # The whole of what was written may be seen first.
    assert "File too large" in played.text or "sandbox_disk" in played.reason
    assert (project / "x").stat().st_size <= 20_000_000


def test_many_files_end_what_writes_them(make: Make, project: Path) -> None:
    computer = limited(make, project, disk_gb=0.02)
    code = (
        "import os, time\nfor n in range(4):\n    open(f'x{n}', 'wb').write(os.urandom(10_000_000))\n"
        "os.sync()\ntime.sleep(60)"
    )
    played = play(computer, "python", code)
    assert "disk limit of 0.02 GB; the setting sandbox_disk" in played.reason


def test_a_run_ends_in_time(make: Make, project: Path) -> None:
    computer = limited(make, project, minutes=0.01)
    began = time.monotonic()
    played = play(computer, "shell", "sleep 60")
    assert time.monotonic() - began < 30
    assert "limit of 0.01 minutes and was stopped; the setting sandbox_time" in played.text


def test_limits_are_reported_in_words() -> None:
    words = str(SandboxLimits(memory_gb=4, processes=50, disk_gb=2, minutes=1.5))
    assert (
        words == "memory 4 GB, 50 processes, 2 GB written to the working directory, 1.5 minutes for each run"
    )


def test_limits_that_cannot_be_kept_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oi_tui.runtimes.sandbox.limits._LINUX", False)
    assert SandboxLimits().find_problem() is None
    assert str(SandboxLimits()) == "none for memory, processes and disk on this system, no limit of time"
    assert "cannot be enforced" in str(SandboxLimits(memory_gb=4).find_problem())


def test_code_that_ignores_the_interrupt_at_the_limit_of_time_is_interrupted_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confinement, "_GRACE", 0.01)
    rules = SandboxRules(limits=SandboxLimits(minutes=0.0001))
    watching = Confinement(tmp_path, enabled=True, passed=(), rules=rules)
    interrupts = threading.Semaphore(0)

    def run() -> Iterator[Report]:
        assert all(interrupts.acquire(timeout=10) for _ in range(2))
        yield RunEnded("lost", 0.0)

    *printed, end = watching.watch_run(run(), interrupts.release)
    assert end == RunEnded("lost", 0.0)
    assert "limit of 0.0001 minutes" in str(printed)


def test_code_that_ends_at_the_limit_of_time_is_interrupted_once(tmp_path: Path) -> None:
    rules = SandboxRules(limits=SandboxLimits(minutes=0.0001))
    watching = Confinement(tmp_path, enabled=True, passed=(), rules=rules)
    interrupted = threading.Event()
    count: list[int] = []

    def interrupt() -> None:
        count.append(1)
        interrupted.set()

    def run() -> Iterator[Report]:
        assert interrupted.wait(10)
        yield RunEnded("interrupted", 0.0)

    *printed, _ = watching.watch_run(run(), interrupt)
    assert "sandbox_time" in str(printed)
    timers = [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]
    for timer in timers:
        timer.join(5)
    assert count == [1]


def test_a_folder_that_takes_too_long_to_measure_counts_with_all_the_space_that_was_lost(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_TIMEOUT", 0.0)
    watch = LimitWatch(os.getpid(), project, project, SandboxLimits(disk_gb=1), lambda _: None)
    watch.close()
    watch._free += 50 * 10**9
    before = watch._free
    assert watch._count_written_bytes() > 40 * 10**9
    assert watch._free == before
