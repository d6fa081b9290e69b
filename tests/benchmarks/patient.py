"""A program under observation: what it writes, how long a key waits, what it costs."""

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Self

ROOT = Path(__file__).parent.parent.parent
#: Letters that are rare in what programs write by themselves.
LETTERS = "QZXJKVWY"
#: So many bytes that it wrote last are kept.
_RECENT = 20_000


class Patient:
    """A program in a pseudo-terminal of 120x40, whose output is read all the time.

    It is this Python with the arguments, unless `program` names another program; `folder` is where it runs.
    """

    def __init__(
        self, *arguments: str, program: str = sys.executable, folder: Path = ROOT, **more: str
    ) -> None:
        self._terminal, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        mark = uuid.uuid4().hex
        environment = {
            **os.environ,
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "PYTHONPATH": str(ROOT),
            **more,
            "PATIENT": mark,
        }
        self._mark = f"PATIENT={mark}".encode()
        self._process = subprocess.Popen(
            [program, *arguments],
            cwd=folder,
            env=environment,
            stdin=child,
            stdout=child,
            stderr=child,
            start_new_session=True,
        )
        os.close(child)
        self._recent = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, seconds: float) -> Iterator[bytes]:
        """What it writes in the next so many seconds."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            if not select.select([self._terminal], [], [], left)[0]:
                return
            try:
                data = os.read(self._terminal, 1 << 16)
            except OSError:  # it has ended
                return
            self._recent = (self._recent + data)[-_RECENT:]
            yield data

    def sees(self, text: bytes, seconds: float) -> bool:
        """Whether it has written the text lately, or does in the next so many seconds."""
        if text in self._recent:
            return True
        return any(text in self._recent for _ in self.read(seconds))

    def pause(self, seconds: float) -> None:
        """Take what it writes, for so long."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            for _ in self.read(end - time.perf_counter()):
                pass

    def key(self, letter: str, seconds: float = 1.0) -> float:
        """The milliseconds until the letter is drawn at the caret, so many seconds at most."""
        start = time.perf_counter()
        os.write(self._terminal, letter.encode())
        tail, waited = b"", 1_000.0 * seconds
        for data in self.read(seconds):
            tail = tail[-40:] + data
            if letter.encode() in tail:
                waited = (time.perf_counter() - start) * 1000
                break
        return waited

    def keys(self, count: int) -> list[float]:
        """The milliseconds of so many keys, the quickest first."""
        waits = []
        for number in range(count):
            waits.append(self.key(LETTERS[number % len(LETTERS)]))
            for _ in self.read(0.03 + (number % 7) * 0.005):
                pass
        return sorted(waits)

    def type(self, text: str) -> None:
        """Send keys without waiting for anything."""
        os.write(self._terminal, text.encode())

    def wait_for(self, text: bytes, seconds: float = 60.0) -> None:
        """Read until it has written the text."""
        seen = b""
        for data in self.read(seconds):
            seen = seen[-len(text) :] + data
            if text in seen:
                return
        raise TimeoutError(f"{text.decode()} did not appear")

    def _processes(self) -> Iterator[Path]:
        """The folders in /proc of the program and of all that it started, also where that left it."""
        # Some leave for a session of their own, and some write their title over their environment.
        family = {self._process.pid} if self._process.poll() is None else set()
        for folder in sorted(Path("/proc").glob("[0-9]*"), key=lambda folder: int(folder.name)):
            with contextlib.suppress(OSError):
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                if parent in family or self._mark in (folder / "environ").read_bytes():
                    family.add(int(folder.name))
        yield from (Path(f"/proc/{pid}") for pid in family)

    def family_megabytes(self) -> float:
        """The memory that it and all that it started occupy, with shared memory counted once."""
        total = 0
        for folder in self._processes():
            with contextlib.suppress(OSError):
                text = (folder / "smaps_rollup").read_text()
                total += next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
        return total / 1e3

    def family_cpu(self) -> float:
        """The seconds of CPU that it and all that it started have used."""
        ticks = 0
        for folder in self._processes():
            with contextlib.suppress(OSError):
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        """The memory that it occupies now."""
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def cpu(self) -> float:
        """The seconds of CPU that it has used."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End it, and with it what it started."""
        family = list(self._processes())
        self._process.terminate()
        for _ in self.read(3.0):
            if self._process.poll() is not None:
                break
        self._process.kill()
        self._process.wait()
        for folder in family:
            with contextlib.suppress(OSError):
                os.kill(int(folder.name), signal.SIGKILL)
        os.close(self._terminal)
