"""A program under observation: what it writes, how long a key waits, what it costs."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

ROOT = Path(__file__).parent.parent.parent
#: Letters that are rare in what programs write by themselves.
LETTERS = "QZXJKVWY"


class Patient:
    """A program in a pseudo-terminal of 120x40, whose output is read all the time."""

    def __init__(self, *arguments: str, **more: str) -> None:
        self._terminal, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        environment = {
            **os.environ,
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "PYTHONPATH": str(ROOT),
            **more,
        }
        self._process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=environment,
            stdin=child,
            stdout=child,
            stderr=child,
            start_new_session=True,
        )
        os.close(child)

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
                yield os.read(self._terminal, 1 << 16)
            except OSError:  # it has ended
                return

    def key(self, letter: str) -> float:
        """The milliseconds until the letter is drawn at the caret."""
        start = time.perf_counter()
        os.write(self._terminal, letter.encode())
        tail, waited = b"", 1_000.0
        for data in self.read(1.0):
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
        raise TimeoutError(text)

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
        self._process.terminate()
        for _ in self.read(3.0):
            if self._process.poll() is not None:
                break
        self._process.kill()
        self._process.wait()
        os.close(self._terminal)
