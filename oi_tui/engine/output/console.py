"""Keeps program output within bounds: both ends in memory, all of it in a file."""

import contextlib
import re
from pathlib import Path
from types import TracebackType
from typing import TextIO

#: Characters of one run's output that are kept whole; of anything longer, half from each end.
KEPT = 100_000
#: Characters that the file of one run may take; what a runaway program prints beyond them is dropped.
FILE_LIMIT = 1_000_000_000
_NOT_SHOWN = re.compile("^… [0-9,]+ (?:lines?|characters) not shown(?:;.*)? …$", re.MULTILINE)
_KEPT_IN = re.compile(
    "^… [0-9,]+ (?:lines?|characters) not shown; (?:all|most) of it is in (.+) …$", re.MULTILINE
)


class ConsoleText:
    """Collects the output of one run.

    Up to `KEPT` characters stay as they are. Beyond that the whole output goes to a file in `folder`,
    and `content` is its two ends with a line between them that says how much is missing and where it is.
    """

    def __init__(self, name: str, folder: Path | None) -> None:
        self._name = name
        self._folder = folder
        self._head: list[str] = []
        self._tail: list[str] = []
        self._head_size = 0
        self._tail_size = 0
        self._newlines = self._size = 0
        self._file: TextIO | None = None
        self._file_size = 0
        self._path: Path | None = None

    def __enter__(self) -> "ConsoleText":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def whole(self) -> bool:
        """True while nothing had to be left out."""
        return not self._tail_size

    def write(self, text: str) -> None:
        """Take the next piece of output."""
        self._newlines += text.count("\n")
        self._size += len(text)
        room = KEPT - self._head_size
        if room > 0:
            self._head.append(text[:room])
            self._head_size += min(len(text), room)
            text = text[room:]
        if not text:
            return
        if self.whole:
            self._spill("".join(self._head))
        self._spill(text)
        self._tail.append(text)
        self._tail_size += len(text)
        if self._tail_size > 2 * KEPT:
            self._tail = ["".join(self._tail)[-KEPT // 2 :]]
            self._tail_size = KEPT // 2

    def content(self) -> str:
        """Return the recorded output."""
        head = "".join(self._head)
        if self.whole:
            return head
        self._flush()
        joined = head + "".join(self._tail)
        first, last = head[: KEPT // 2], joined[-KEPT // 2 :]
        # Ends are cut between lines, unless one line is so long that little else would be left.
        end, start = first.rfind("\n") + 1, last.find("\n") + 1
        if end >= len(first) // 2 and 0 < start <= len(last) // 2:
            first, last = first[:end], last[start:]
            count = max(self._newlines - first.count("\n") - last.count("\n"), 1)
            missing = f"{count:,} line{'s' * (count != 1)}"
        else:
            missing = f"{self._size - len(first) - len(last):,} characters"
            first += "\n"
        most = "most" if self._file_size >= FILE_LIMIT else "all"
        where = f"; {most} of it is in {self._path}" if self._path else ""
        return f"{first}… {missing} not shown{where} …\n{last}"

    def close(self) -> None:
        """Finish the file, if there is one."""
        file, self._file = self._file, None
        try:
            if file:
                file.close()
        except OSError:
            self._drop()

    def _flush(self) -> None:
        """Find out whether the disk takes all that was written so far."""
        try:
            if self._file:
                self._file.flush()
        except OSError:
            self._drop()

    def _spill(self, text: str) -> None:
        """Write to the file; a full or read-only disk costs only the file, never the run."""
        if self._folder is None:
            return
        try:
            if self._path is None:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._path = self._folder / f"{self._name}.txt"
                self._file = self._path.open("w", encoding="utf-8", errors="replace", newline="")
                self._path.chmod(0o600)
            if self._file and self._file_size < FILE_LIMIT:
                self._file.write(text)
                self._file_size += len(text)
        except OSError:
            self._drop()

    def _drop(self) -> None:
        """Do without the file, whose end is missing."""
        path, self._folder, self._path = self._path, None, None
        with contextlib.suppress(OSError):
            if path:
                path.unlink()
        self.close()


def find_gap(content: str) -> int | None:
    """Return where the line stands in an output that says what is missing; None where all of it is there."""
    match = _NOT_SHOWN.search(content)
    return match.start() if match else None


def find_output_file(content: str, folder: Path) -> Path | None:
    """Return the file that holds all of an output, if its recorded text says so and the file is in `folder`.

    A program can print such a line, and a stored conversation may have come from anywhere, so no other place
    is believed.
    """
    for match in _KEPT_IN.finditer(content):
        path = Path(match[1])
        with contextlib.suppress(OSError):  # such as a name that is too long
            if path.parent == folder and path.is_file() and not path.is_symlink():
                return path
    return None
