"""A text of any length, of which only requested lines are read."""

import io
import os
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from pathlib import Path

#: Line ends are counted for this many bytes at a time; the counts are all that is kept of a file.
_BLOCK = 64 * 1024
#: How many bytes are counted, or searched, before others have their turn.
_SLICE = 4 * 1024 * 1024
#: Of a longer line the beginning is shown, in bytes.
LONGEST_LINE = 5_000


class LongText:
    """Lines of a file, or of a text. `index` has to be called until it returns False to know them all.

    The file is read where it is needed and never mapped: a file cut short costs lines, not the program.
    """

    def __init__(self, read: Callable[[int, int], bytes], size: int, close: Callable[[], None]) -> None:
        """`read` takes an offset and how many bytes are wanted; it may give fewer at the end."""
        self.size = size
        self.close = close
        self._read = read
        #: How many line ends come before each block, and before the block that is counted next.
        self._before = [0]
        self._unfinished_line = 0

    @classmethod
    def of(cls, text: str) -> "LongText":
        """Return lines of a text in memory."""
        data = io.BytesIO(text.encode("utf-8", "replace"))
        view = data.getbuffer()
        size = len(view)

        def close() -> None:
            view.release()
            data.close()

        return cls(lambda offset, count: bytes(view[offset : offset + count]), size, close)

    @classmethod
    def open(cls, path: Path) -> "LongText":
        """Open the lines of a file at its current length. Raises OSError."""
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

        def read(offset: int, count: int) -> bytes:
            try:
                return os.pread(file, count, offset)
            except OSError:
                return b""

        return cls(read, os.fstat(file).st_size, lambda: os.close(file))

    # Lines

    @property
    def complete(self) -> bool:
        """Whether all lines are known."""
        return (len(self._before) - 1) * _BLOCK >= self.size

    @property
    def line_count(self) -> int:
        """The number of lines known so far."""
        return self._before[-1] + self._unfinished_line

    def index(self, budget: int = _SLICE) -> bool:
        """Count the lines of the next `budget` bytes; whether there is more to count."""
        end = min((len(self._before) - 1) * _BLOCK + budget, self.size)
        while (start := (len(self._before) - 1) * _BLOCK) < end:
            self._before.append(self._before[-1] + self._read(start, _BLOCK).count(b"\n"))
        if self.complete and self.size:
            self._unfinished_line = int(self._read(self.size - 1, 1) != b"\n")
        return not self.complete

    def index_all(self) -> None:
        """Count all lines."""
        while self.index():
            pass

    def _find_offset(self, line: int) -> int:
        """Return the offset of a known line."""
        if line <= 0:
            return 0
        block = bisect_left(self._before, line) - 1
        data = self._read(block * _BLOCK, _BLOCK)
        at = -1
        for _ in range(line - self._before[block]):
            at = data.find(b"\n", at + 1)
            if at < 0:
                return self.size
        return block * _BLOCK + at + 1

    def _find_line(self, offset: int) -> int:
        """Return the line to which a byte belongs."""
        while not self.complete and len(self._before) * _BLOCK <= offset + _BLOCK:
            self.index()
        block = offset // _BLOCK
        start = block * _BLOCK
        return self._before[block] + self._read(start, offset - start).count(b"\n")

    def lines(self, first: int, last: int) -> list[str]:
        """Return the lines from `first` to before `last`, counted from 0; fewer at the end."""
        lines_read: list[str] = []
        last = min(last, self.line_count)
        if first >= last:
            return lines_read
        offset = self._find_offset(first)
        data, at = self._read(offset, _BLOCK), 0
        while len(lines_read) < last - first and offset < self.size:
            end = data.find(b"\n", at)
            if end < 0 and offset + len(data) >= self.size:
                end = len(data)
            if end >= 0:
                lines_read.append(_render(data[at:end], end - at))
                at = end + 1
                if at > len(data):
                    break
            elif not data:
                break
            elif at:
                offset += at
                data, at = self._read(offset, _BLOCK), 0
            else:
                number = first + len(lines_read) + 1
                after = self._find_offset(number) if number <= self._before[-1] else self.size + 1
                lines_read.append(_render(data, after - 1 - offset))
                offset = after
                data, at = self._read(offset, _BLOCK), 0
        return lines_read

    # Search

    def find(self, text: str, line: int, *, back: bool = False) -> Iterator[int | None]:
        """Look for a text, in either case, from the line after (or before) `line` on, and around the end.

        Gives None after each part of the search, and in the end the line, or -1 when it is nowhere.
        """
        pattern = _make_pattern(text)
        here = self._find_offset(line) if line < self.line_count else self.size
        after = self._find_offset(line + 1) if line + 1 < self.line_count else self.size
        longest = 4 * len(text)
        for start, end in ((0, here), (here, self.size)) if back else ((after, self.size), (0, after)):
            for part in _split_parts(start, end, back=back):
                data = self._read(part, min(_SLICE + longest, end - part))
                hits = [match.start() for match in pattern.finditer(data)] if back else None
                first = None if back else pattern.search(data)
                if hits:
                    yield self._find_line(part + hits[-1])
                    return
                if first:
                    yield self._find_line(part + first.start())
                    return
                yield None
        yield -1


def _split_parts(start: int, end: int, *, back: bool) -> Iterator[int]:
    parts = range(start, end, _SLICE)
    return iter(reversed(parts)) if back else iter(parts)


def _render(line: bytes, length: int) -> str:
    text = line[:LONGEST_LINE].decode("utf-8", "replace")
    return (
        text if length <= LONGEST_LINE else f"{text} … {length - LONGEST_LINE:,} bytes of this line not shown"
    )


def _make_pattern(text: str) -> re.Pattern[bytes]:
    if text.isascii():
        return re.compile(re.escape(text.encode()), re.IGNORECASE)
    parts = []
    for character in text:
        cases = {
            item.encode("utf-8", "replace") for item in (character, character.lower(), character.upper())
        }
        parts.append(b"(?:" + b"|".join(re.escape(case) for case in sorted(cases)) + b")")
    return re.compile(b"".join(parts))
