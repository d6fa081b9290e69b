"""Reads the system's process table: descendants, sessions, and processes that wait for the keyboard."""

import contextlib
import os
import platform
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

_LINUX = sys.platform.startswith("linux")
#: By its full path: PATH may lead elsewhere.
_PS = "/bin/ps"
_LSOF = "/usr/sbin/lsof"
#: The numbers of read, poll, select, pselect6, ppoll, epoll_wait and epoll_pwait, from the kernel's tables.
_CALLS = {
    "x86_64": (0, 7, 23, 270, 271, 232, 281),
    "aarch64": (63, None, None, 72, 73, None, 22),
}.get(platform.machine())
_TERMINAL_OF_ONES_OWN = os.makedev(5, 0)  # /dev/tty
#: Whether the kernel lists the children of a process, as nearly every one does. A quiet run is looked at many
#: times a second, and reading the whole process table would take most of the time of that.
_LISTS_CHILDREN = Path("/proc/thread-self/children").exists()
_POLLIN = 0x001
#: Reading, writing and edges (EPOLLIN, EPOLLOUT, EPOLLET).
_WATCHED_ONCE = 0x80000005


def list_descendants(pid: int) -> list[int]:
    """Return the processes that descend from one, itself not included."""
    list_children = _list_children if _LINUX and _LISTS_CHILDREN else _read_family()
    processes = []
    following = [pid]
    while following:
        below = list_children(following.pop())
        processes += below
        following += below
    return processes


def _read_family() -> Callable[[int], list[int]]:
    """Read the parents of all processes once, and return what gives the children of each."""
    children: dict[int, list[int]] = {}
    for child, parent in _list_parents():
        children.setdefault(parent, []).append(child)
    return lambda pid: children.get(pid, [])


def _list_children(pid: int) -> list[int]:
    """Return the children of a process, read twice: where one ends at this moment,
    another can be left out.
    """
    children: list[int] = []
    before = None
    for _ in range(5):
        children = []
        with contextlib.suppress(OSError):
            for thread in _list_numbers(f"/proc/{pid}/task"):
                with contextlib.suppress(OSError):
                    children += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_bytes().split())
        if children == before:
            break
        before = children
    return children


def _list_numbers(folder: str = "/proc") -> list[str]:
    return [path.name for path in Path(folder).iterdir() if path.name.isdigit()]


def _list_parents() -> Iterator[tuple[int, int]]:
    if _LINUX:
        for name in _list_numbers():
            if name.isdigit():
                with contextlib.suppress(OSError, ValueError):
                    stat = Path("/proc", name, "stat").read_bytes()
                    yield int(name), int(stat.rpartition(b")")[2].split()[1])
        return
    for child, parent, *_ in _list_processes("pid=,ppid="):
        yield int(child), int(parent)


def _list_processes(columns: str, *pids: int) -> Iterator[list[str]]:
    """Yield what `ps` says of some processes, or of all, on systems without /proc."""
    selection = ["-p", ",".join(map(str, pids))] if pids else ["-A"]
    with contextlib.suppress(OSError):
        done = subprocess.run([_PS, *selection, "-o", columns], capture_output=True, text=True, check=False)
        yield from (line.split() for line in done.stdout.splitlines() if line.strip())


def find_start(pid: int) -> float:
    """Return when a process began, on the monotonic clock; now, where that is not known.

    Without /proc it is known to the second, and given too late rather than too early.
    """
    now = time.monotonic()
    if not _LINUX:
        return next((now - _parse_seconds(words[0]) for words in _list_processes("etime=", pid)), now)
    try:
        words = Path("/proc", str(pid), "stat").read_bytes().rpartition(b")")[2].split()
        return min(now, int(words[19]) / os.sysconf("SC_CLK_TCK") - _measure_sleep())
    except (OSError, ValueError, IndexError, AttributeError):
        return now


def _measure_sleep() -> float:
    """Return how long the system slept since its start, in seconds: the times of processes count that, too.

    A wait for a processor between the two clocks would count as sleep, so the quickest of a few tries counts.
    """
    tries: list[tuple[float, float]] = []
    for _ in range(5):
        before = time.monotonic()
        since_start = time.clock_gettime(time.CLOCK_BOOTTIME)
        took = time.monotonic() - before
        tries.append((took, since_start - before))
        if took < 0.001:
            break
    return min(tries)[1]


def _parse_seconds(elapsed: str) -> int:
    """Return the seconds in `[[days-]hours:]minutes:seconds`."""
    days, _, clock = elapsed.rpartition("-")
    hours, minutes, seconds = [0, 0, *map(int, clock.split(":"))][-3:]
    return ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds


def list_session(session: int) -> list[tuple[int, int]]:
    """Return the processes of a session, each with its process group."""
    if not _LINUX:
        return _list_members(session)
    processes = []
    for name in _list_numbers():
        with contextlib.suppress(OSError, ValueError, IndexError):
            state, _, group, of = Path("/proc", name, "stat").read_bytes().rpartition(b")")[2].split()[:4]
            if int(of) == session and state not in (b"Z", b"X"):
                processes.append((int(name), int(group)))
    return processes


def _list_members(session: int) -> list[tuple[int, int]]:
    processes = []
    for pid, group, state, *_ in _list_processes("pid=,pgid=,stat="):
        with contextlib.suppress(OSError):
            if os.getsid(int(pid)) == session and not state.startswith("Z"):
                processes.append((int(pid), int(group)))
    return processes


def find_folder(pid: int) -> Path | None:
    """Return the working directory of a process; None where that is not known."""
    if _LINUX:
        with contextlib.suppress(OSError):
            return Path("/proc", str(pid), "cwd").readlink()
        return None
    with contextlib.suppress(OSError):
        words = [_LSOF, "-a", "-p", str(pid), "-d", "cwd", "-F", "n"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        return next((Path(line[1:]) for line in done.stdout.splitlines() if line.startswith("n/")), None)
    return None


def ignores(pid: int, number: int) -> bool:
    """Return whether a process ignores a signal; False where that is not known."""
    return bool(_read_signals(pid, b"SigIgn:") >> (number - 1) & 1)


def is_copy_that_catches(pid: int, number: int) -> bool:
    """Return whether a process is still a copy of its parent and has the parent's handler of a signal.

    So it is between its start and the program that it becomes: what reaches the handler there is lost.
    """
    with contextlib.suppress(OSError, ValueError, IndexError):
        parent = int(Path("/proc", str(pid), "stat").read_bytes().rpartition(b")")[2].split()[1])
        caught = _read_signals(pid, b"SigCgt:")
        return (
            bool(caught >> (number - 1) & 1)
            and caught == _read_signals(parent, b"SigCgt:")
            and Path("/proc", str(pid), "exe").samefile(Path("/proc", str(parent), "exe"))
        )
    return False


def _read_signals(pid: int, kind: bytes) -> int:
    """Return a set of signals, a bit for each, from what the system says of a process; 0 if unknown."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc", str(pid), "status").read_bytes().splitlines():
            if line.startswith(kind):
                return int(line.split()[1], 16)
    return 0


def read_command_line(pid: int) -> bytes:
    """Return the arguments of a process, each followed by NUL; empty if unknown."""
    with contextlib.suppress(OSError):
        return Path("/proc", str(pid), "cmdline").read_bytes()
    return b""


def count_oom_kills() -> int:
    """Return how often the system killed a process for lack of memory; 0 if it does not report that."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        group = Path("/proc/self/cgroup").read_text().rpartition("0::/")[2].strip()
        return _count("oom_kill", Path("/sys/fs/cgroup", group, "memory.events"))
    with contextlib.suppress(OSError, ValueError, IndexError):
        return _count("oom_kill", Path("/proc/vmstat"))
    return 0


def _count(name: str, path: Path) -> int:
    """Return the number behind a name in a file of such lines.

    Raises OSError or IndexError if there is none.
    """
    counts = [line.split()[1] for line in path.read_text().splitlines() if line.split()[:1] == [name]]
    return int(counts[0])


def kill_marked(variable: str, leader: int) -> None:
    """Kill what has `NAME=value` in its environment, and the session of `leader`, until none is left.

    Without /proc the environment is not seen: what descends from `leader` is killed instead.
    """
    for _ in range(20):
        pids = _find_marked(variable, leader) if _LINUX else _list_below(leader)
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not pids:
            return


def _find_marked(variable: str, leader: int) -> list[int]:
    entry = variable.encode()
    pids = []
    for pid in map(int, _list_numbers()):
        with contextlib.suppress(OSError):
            if pid != os.getpid() and (
                (leader and os.getsid(pid) == leader)
                or entry in Path("/proc", str(pid), "environ").read_bytes().split(b"\0")
            ):
                pids.append(pid)
    return pids


def _list_below(leader: int) -> list[int]:
    """Return what lives in the session of a process, and what descends from it; nothing for no process."""
    if not leader:
        return []
    alive = {int(pid) for pid, state, *_ in _list_processes("pid=,stat=") if not state.startswith("Z")}
    return [pid for pid in {*list_descendants(leader), *dict(list_session(leader))} if pid in alive]


def list_foreground(leader: int, group: int) -> list[int]:
    """Return the processes of `leader`'s session that are in its foreground `group`; empty without /proc."""
    if not _LINUX:
        return []  # each look would start a program, many times a second
    members = [group] if group != leader else []
    for pid in [leader, *list_descendants(leader)]:
        with contextlib.suppress(OSError):
            if pid not in members and os.getpgid(pid) == group:
                members.append(pid)
    return members


def list_stopped(pids: Iterable[int]) -> list[str]:
    """Return those of the processes that a signal has stopped, each as `name (number)`."""
    labels = []
    for pid in pids if _LINUX else ():
        with contextlib.suppress(OSError):
            about, _, rest = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")
            if rest.split()[0] == "T":
                labels.append(f"{about.partition('(')[2]} ({pid})")
    return labels


def list_readers(pids: Iterable[int], terminal: int) -> frozenset[tuple[str, bytes]] | None:
    """Return the threads of the processes that sleep until somebody types, each with how often it has slept.

    A thread that is woken and reads again has slept once more. `terminal` is the device number of its
    terminal. None where that cannot be known: a process belongs to somebody else (sudo), or the system does
    not tell.
    """
    if not _LINUX or _CALLS is None:
        return None
    readers = set()
    denied = False
    for pid in pids:
        try:
            for thread in _list_numbers(f"/proc/{pid}/task")[:32]:
                if _thread_reads(pid, thread, terminal):
                    readers.add((thread, _count_sleeps(pid, thread)))
        except PermissionError:
            denied = True
        except OSError:
            continue
    return None if denied and not readers else frozenset(readers)


def _count_sleeps(pid: int, thread: str) -> bytes:
    """Return how often a thread has gone to sleep, in digits."""
    status = Path(f"/proc/{pid}/task/{thread}/status").read_bytes()
    return status.partition(b"\nvoluntary_ctxt_switches:")[2].partition(b"\n")[0].strip()


def find_output(pid: int, seconds: float) -> str | None:
    """Return the file that the standard output of a process goes to; None where that is no file,
    or not known.

    A shell may lend its output to one of its commands for a moment; wait at most `seconds` for it.
    """
    until = time.monotonic() + seconds
    while pid and time.monotonic() < until:
        with contextlib.suppress(OSError):
            place = Path("/proc", str(pid), "fd", "1")
            if place.is_file():
                return os.readlink(place)  # noqa: PTH115 -- runs elsewhere too, with Python 3.8
        time.sleep(0.005)
    return None


def reads_file(pid: int, path: Path) -> bool:
    """Return whether the main thread of a process sleeps in reading this file.

    False where that is not known.
    """
    if not _LINUX or _CALLS is None:
        return False
    try:
        words = Path(f"/proc/{pid}/syscall").read_text().split()
        if not words[0].isdigit() or int(words[0]) != _CALLS[0]:
            return False
        return Path(f"/proc/{pid}/fd/{int(words[1], 16)}").samefile(path)
    except (OSError, IndexError):
        return False


def _thread_reads(pid: int, thread: str, terminal: int) -> bool:
    assert _CALLS is not None
    words = Path(f"/proc/{pid}/task/{thread}/syscall").read_text().split()
    if not words or not words[0].isdigit():
        return False
    call, first, second = int(words[0]), int(words[1], 16), int(words[2], 16)
    read, poll, select, pselect, ppoll, epoll, epoll_p = _CALLS
    if call == read:
        return _is_terminal(pid, first, terminal)
    if call in (select, pselect):
        return _select_any(pid, first, second, terminal)
    if call in (poll, ppoll):
        return _poll_any(pid, first, second, terminal)
    if call in (epoll, epoll_p):
        return any(_is_terminal(pid, number, terminal) for number in _list_watched(pid, first))
    return False


def _is_terminal(pid: int, number: int, terminal: int) -> bool:
    try:
        device = Path(f"/proc/{pid}/fd/{number}").stat().st_rdev
    except PermissionError:
        raise
    except OSError:
        return False
    return device in (terminal, _TERMINAL_OF_ONES_OWN)


def _read_memory(pid: int, address: int, size: int) -> bytes:
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(size)


def _poll_any(pid: int, address: int, count: int, terminal: int) -> bool:
    if not 0 < count <= 64:
        return False
    for number, events, _ in struct.iter_unpack("=ihh", _read_memory(pid, address, count * 8)):
        if number >= 0 and events & _POLLIN and _is_terminal(pid, number, terminal):
            return True
    return False


def _select_any(pid: int, highest: int, address: int, terminal: int) -> bool:
    if not (0 < highest <= 1024 and address):
        return False
    bits = int.from_bytes(_read_memory(pid, address, (highest + 7) // 8), sys.byteorder)
    return any(bits >> number & 1 and _is_terminal(pid, number, terminal) for number in range(highest))


def _list_watched(pid: int, number: int) -> Iterator[int]:
    """Yield the descriptors that an epoll descriptor waits on for something to read.

    Runtimes such as that of Deno watch a terminal once for all, for reading and writing, also where the
    program only writes.
    """
    for line in Path(f"/proc/{pid}/fdinfo/{number}").read_text().splitlines():
        if line.startswith("tfd:"):
            words = line.split()
            events = int(words[3], 16)
            if events & _POLLIN and events & _WATCHED_ONCE != _WATCHED_ONCE:
                yield int(words[1])
