"""Which processes a test started, found by a mark in their environment or by their parents, through /proc."""

import os
import signal
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

MARK = "OI_TUI_TEST_RUN"
#: How often the environment of a process that seems to have none is read.
_LOOKS = 20
#: PF_KTHREAD in the flags of /proc/PID/stat: it never has an environment.
_KERNEL_THREAD = 0x00200000


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    parent: int = field(compare=False)
    state: str = field(compare=False)
    #: In clock ticks since the machine started; with the pid it names a process for good.
    started: int
    command: str = field(compare=False)

    def __str__(self) -> str:
        waits = f"{self.state} in {read_wait(self.pid)}"
        return f"{self.pid} ({waits}, child of {describe_threads(self.parent)}) {self.command}"


#: Processes that may outlive the test which started them: those that the tests of a worker share.
lasting: set[Process] = set()
#: The numbers of programs that the tests of a worker share, with all that they start.
shared_by_tests: set[int] = set()


def count_processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def marked(mark: str) -> list[Process]:
    """The living processes that inherited the mark, whoever their parent is now."""
    return [process for pid in _pids() if _has_mark(pid, mark) for process in _read(pid)]


def descendants(pid: int) -> list[Process]:
    """The living children of a process, theirs, and so on."""
    children: dict[int, list[Process]] = {}
    for item in _pids():
        for process in _read(item):
            children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += [process.pid for process in below]
    return found


def present() -> frozenset[int]:
    """The numbers of all processes."""
    return frozenset(_pids())


def started_since(before: Collection[int], pid: int, mark: str) -> list[Process]:
    """The living processes that were not there before, and that are below this one or inherited the mark.

    Only what is new is looked at: this comes after every test, and there may be hundreds of others.
    """
    new = [process for item in _pids() if item not in before for process in _read(item)]
    return [
        process
        for process in new
        if process not in lasting and (_is_below(process, pid) or _has_mark(process.pid, mark))
    ]


def kill(processes: Collection[Process]) -> None:
    """End the processes at once; those that are gone already are no matter."""
    for process in processes:
        if process in _read(process.pid):
            try:
                os.kill(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


def wait_until(condition: Callable[[], object], seconds: float, pause: float = 0.02) -> bool:
    """Whether the condition came true within so many seconds."""
    limit = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > limit:
            return False
        time.sleep(pause)
    return True


def read_wait(pid: int) -> str:
    """The function of the kernel that a process waits in, and its system call with its arguments."""
    with suppress(OSError):
        return " ".join(Path(f"/proc/{pid}/{name}").read_text().strip() for name in ("wchan", "syscall"))
    return "?"


def describe_threads(pid: int) -> str:
    """The number of a process with the state of each of its threads: one of them can outlive the first."""
    try:
        threads = sorted(os.listdir(f"/proc/{pid}/task"), key=int)
        stats = [Path(f"/proc/{pid}/task/{thread}/stat").read_text(errors="replace") for thread in threads]
    except OSError:
        return f"{pid}, which is gone"
    name = stats[0].partition("(")[2].rpartition(")")[0]
    return f"{pid} {name} [{''.join(stat.rpartition(')')[2].split()[0] for stat in stats)}]"


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _has_mark(pid: int, mark: str) -> bool:
    environment = b""
    try:
        for _ in range(_LOOKS):
            environment = Path(f"/proc/{pid}/environ").read_bytes()
            if environment or not _may_begin(pid):
                break
            time.sleep(0.002)
    except OSError:
        return False
    return f"{MARK}={mark}".encode() in environment.split(b"\0")


def _may_begin(pid: int) -> bool:
    """Whether it may just be starting a program: it has no environment for that moment."""
    fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    return fields[0] not in "ZX" and not int(fields[6]) & _KERNEL_THREAD


def _is_below(process: Process, pid: int) -> bool:
    """Whether the process is below another one, and not below one that the tests share."""
    seen = {process.pid}
    parent = process.parent
    while parent != pid:
        if parent in shared_by_tests:
            return False
        above = _read(parent) if parent not in seen else []
        if not above:
            return False
        seen.add(parent)
        parent = above[0].parent
    return True


def _read(pid: int) -> list[Process]:
    """The process as a list of one; of none when it has ended, also while nobody has collected it."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return []
    name, _, rest = stat.partition("(")[2].rpartition(")")
    fields = rest.split()
    if fields[0] in "ZX":
        return []
    words = command.replace(b"\0", b" ").decode(errors="replace").strip() or f"[{name}]"
    return [Process(pid, int(fields[1]), fields[0], int(fields[19]), words)]
