"""Enforces the limits of a sandbox: memory, processes and disk of all its programs together.

The kernel's own limits hold for single processes, and not for root. So the whole of a sandbox is measured as
well, a few times a second, and ended when it is over a limit.
"""

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_LINUX = sys.platform.startswith("linux")
#: In seconds, between two looks.
_INTERVAL = 0.2
#: What may be started, and written in bytes, where a person says nothing.
_PROCESSES = 1000
_DISK = 20 * 10**9
#: Of the machine's memory, where a person says nothing.
_SHARE = 0.75
_GB = 10**9
#: So long a look at the working directory may take, in seconds.
_TIMEOUT = 2.0


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """The limits that the user set; None means the default, and no limit of time."""

    memory_gb: float | None = None
    processes: int | None = None
    disk_gb: float | None = None
    minutes: float | None = None

    @property
    def memory(self) -> int:
        """In bytes."""
        return int(_SHARE * _read_machine_memory() if self.memory_gb is None else self.memory_gb * _GB)

    @property
    def most_processes(self) -> int:
        """The largest number of processes at once."""
        return self.processes or _PROCESSES

    @property
    def disk(self) -> int:
        """In bytes."""
        return _DISK if self.disk_gb is None else int(self.disk_gb * _GB)

    @property
    def temporary(self) -> int:
        """The size limit of each folder of temporary files, which is memory, in bytes."""
        return min(self.memory // 4, self.disk)

    def __str__(self) -> str:
        """Return all of them in words."""
        run = f"{self.minutes:g} minutes for each run" if self.minutes else "no limit of time"
        if not _LINUX:
            return f"none for memory, processes and disk on this system, {run}"
        return (
            f"memory {_format_size(self.memory)}, {self.most_processes} processes, "
            f"{_format_size(self.disk)} written to the working directory, {run}"
        )

    def find_problem(self) -> str | None:
        """Return why the user's limits cannot be enforced on this system; None when they can, or none was
        set.
        """
        if _LINUX or self == SandboxLimits(minutes=self.minutes):
            return None
        return "sandbox_memory, sandbox_processes and sandbox_disk cannot be enforced on this system"


#: Nothing set by the person.
USUAL = SandboxLimits()


class LimitWatch:
    """Looks at what descends from a process, and says once which limit it is over.

    `channel` is the folder of the programs' way to the application, which is kept in memory where possible.
    """

    def __init__(
        self, pid: int, cwd: Path, channel: Path, limits: SandboxLimits, over: Callable[[str], object]
    ) -> None:
        self._pid = pid
        self._cwd = cwd
        self._channel = channel
        self._limits = limits
        self._over = over
        self._began = time.time()
        self._free = _free(cwd)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="sandbox limits", daemon=True)
        if _LINUX:
            self._thread.start()

    def close(self) -> None:
        """Stop looking."""
        self._stop.set()

    def _watch(self) -> None:
        while not self._stop.wait(_INTERVAL):
            reason = self._find_exceeded()
            if reason and not self._stop.is_set():
                self._over(reason)
                return

    def _find_exceeded(self) -> str | None:
        limits = self._limits
        pids = list(_list_descendants(self._pid))
        if len(pids) > limits.most_processes:
            return f"the sandbox's limit of {limits.most_processes} processes; the setting sandbox_processes"
        if (
            sum(map(_read_memory, pids))
            + _measure_shared_memory(pids)
            + _measure_written_since(self._channel)[0]
            > limits.memory
        ):
            return f"the sandbox's memory limit of {_format_size(limits.memory)}; the setting sandbox_memory"
        if self._count_written_bytes() > limits.disk:
            return f"the sandbox's disk limit of {_format_size(limits.disk)}; the setting sandbox_disk"
        return None

    def _count_written_bytes(self) -> int:
        """Return the bytes written to the working directory since the start."""
        lost_space = self._free - _free(self._cwd)
        if lost_space <= self._limits.disk:
            return 0
        # Another program may have filled the disk.
        written_bytes, is_complete = _measure_written_since(self._cwd, self._began)
        if not is_complete:
            return lost_space
        if written_bytes <= self._limits.disk:
            self._free -= lost_space - written_bytes
        return written_bytes


def _list_descendants(pid: int) -> Iterator[int]:
    """Yield the descendants of a process."""
    following = [pid]
    while following:
        parent = following.pop()
        for thread in _list_names(f"/proc/{parent}/task"):
            try:
                children = Path(f"/proc/{parent}/task/{thread}/children").read_text().split()
            except OSError:
                continue
            yield from map(int, children)
            following += map(int, children)


def _list_names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 -- names are all that is needed, many times a second
    except OSError:
        return []


def _read_memory(pid: int) -> int:
    """Return the unshared memory of a process, in bytes."""
    try:
        lines = Path(f"/proc/{pid}/status").read_bytes().splitlines()
    except OSError:
        return 0
    prefixes = (b"RssAnon:", b"VmSwap:")
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(prefixes))


def _measure_shared_memory(pids: Iterable[int]) -> int:
    """Return the memory of files without a name that processes hold open (`memfd_create`), in bytes.

    It belongs to none of them, and counts also where nobody has mapped it.
    """
    sizes: dict[tuple[int, int], int] = {}
    for pid in pids:
        for number in _list_names(f"/proc/{pid}/fd"):
            path = Path(f"/proc/{pid}/fd/{number}")
            try:
                if str(path.readlink()).startswith("/memfd:"):
                    status = path.stat()
                    sizes[status.st_dev, status.st_ino] = status.st_blocks * 512
            except OSError:
                continue
    return sum(sizes.values())


def _measure_written_since(folder: Path, since: float = 0.0) -> tuple[int, bool]:
    """Return the bytes of the files that changed since then, and whether there was time to see all files."""
    total = 0
    until = time.monotonic() + _TIMEOUT
    folders = [folder]
    while folders and time.monotonic() < until:
        try:
            entries = list(os.scandir(folders.pop()))
        except OSError:
            continue
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    folders.append(Path(entry.path))
                elif status.st_ctime >= since:
                    total += status.st_blocks * 512
            except OSError:
                continue
    return total, not folders


def _free(folder: Path) -> int:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 0


def _read_machine_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _format_size(number: int) -> str:
    return f"{number / _GB:.3g} GB"
