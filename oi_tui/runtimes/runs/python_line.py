"""Reads the line that Python executes from its memory.

A thread of Python's own sees the others only where they let it have the interpreter, which a loop does at its
end: its last line would be shown all the time. From outside every moment is as likely as any other, and the
program pays nothing for it.

The places are those of 64-bit builds with a lock, by CPython's headers: `PyThreadState` in cpython/pystate.h,
`_PyInterpreterFrame` in internal/pycore_frame.h (from 3.14 on in internal/pycore_interpframe_structs.h) and
`PyCodeObject` in cpython/code.h. What is found there is believed only where it is a frame of the cell, by the
name of its file, at an instruction within its code.
"""

import itertools
import struct
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

#: How many frames are looked at, from the innermost outwards.
_DEEPEST = 300
#: So often a look is repeated that met a frame as it came or went.
_LOOKS = 3
#: No table of lines is longer than this, in bytes.
_LONGEST_TABLE = 4 * 1024 * 1024
#: Code in a cell has at most so many instructions that have a line.
_MOST_INSTRUCTIONS = 500_000
#: How many code objects, and instructions of them, are kept; the program may make up any number.
_MOST_CODES = 10_000
_MOST_KEPT = 2_000_000
_POINTER = struct.Struct("=Q")


@dataclass(frozen=True, slots=True)
class _StructOffsets:
    """Offsets in the memory of one version of Python, in bytes from the start of each structure."""

    #: In the thread: its innermost frame, or what points to a place that holds it at `frame_of`.
    thread: int
    frame_of: int | None
    #: In a frame: its code, the frame that called it, the instruction.
    code: int
    previous: int
    instruction: int
    #: In code: its first line, the name of its file, the table of its lines.
    first_line: int
    file_name: int
    table: int
    #: In a text of ASCII: the characters.
    text: int


_PLACES = {
    (3, 11): _StructOffsets(56, 8, 32, 48, 56, 72, 112, 136, 48),
    (3, 12): _StructOffsets(56, 0, 0, 8, 56, 68, 112, 136, 40),
    (3, 13): _StructOffsets(72, None, 0, 8, 56, 68, 112, 136, 40),
    (3, 14): _StructOffsets(72, None, 0, 8, 56, 68, 112, 136, 40),
}
#: The lowest bits of a reference to an object, which say how it is counted (from 3.14 on).
_TAG = 7


class _TornError(Exception):
    """The memory changed while it was read."""


class _NoCodeError(Exception):
    """A frame has no code: from Python 3.13 on, one in which C called Python has None in its place."""


@dataclass(frozen=True, slots=True)
class _Code:
    """The code of the cell, or of a function in it: where its instructions begin, and the line of each."""

    begin: int
    lines: Sequence[int]

    def line(self, instruction: int) -> int:
        """Return the line of the instruction at an address; 0 where it has none. Raises _TornError."""
        at = instruction - self.begin
        if not 0 <= at < 2 * len(self.lines):
            raise _TornError
        return self.lines[at // 2]


class PythonLine:
    """Reads the line of a cell that the main thread of the Python process `pid` executes.

    `interpreter` is what the driver says of itself: `version`; `thread`, the address of its thread; and
    `code`, the size of a code object without its instructions, which follow it. Raises ValueError where the
    memory cannot be read: another system than Linux, another build, no permission.
    """

    def __init__(self, pid: int, interpreter: object) -> None:
        if not isinstance(interpreter, dict):
            raise ValueError("the driver reports no position")
        version, thread, code = (interpreter.get(name) for name in ("version", "thread", "code"))
        places = next((place for candidate, place in _PLACES.items() if list(candidate) == version), None)
        if places is None or not isinstance(thread, int) or not isinstance(code, int):
            raise ValueError("the memory layout of this Python version is unknown")
        self._places, self._thread, self._instructions = places, thread, code
        self._codes: dict[int, _Code | None] = {}
        self._kept = 0
        self._file_name = b""
        self._missed = 0
        try:
            self._memory = Path(f"/proc/{pid}/mem").open("rb", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise ValueError(f"the memory of process {pid} cannot be read") from error
        try:
            self._read_word(thread)
        except _TornError as error:
            self._memory.close()
            raise ValueError(f"no thread at {thread} in process {pid}") from error

    def read(self, cell: int, run: int = 1) -> int | None:
        """Return the line of this run of the cell; 0 where it could not be seen, None where it has no frame.

        The driver names the cell's file with both numbers (`file_name` in python_cells.py).
        """
        name = f"<cell {cell}>".encode() if run == 1 else f"<cell {cell}, run {run}>".encode()
        if name != self._file_name:
            self._file_name = name
            self._forget_codes()
        for _ in range(_LOOKS):
            try:
                line = self._sample()
            except _TornError:
                continue
            self._missed = 0 if line is not None else self._missed + 1
            return line if line is not None or self._missed > 1 else 0
        return 0

    def close(self) -> None:
        """Close the memory."""
        self._memory.close()

    def _sample(self) -> int | None:
        frame = self._read_word(self._thread + self._places.thread)
        if self._places.frame_of is not None:
            frame = self._read_word(frame + self._places.frame_of)
        for _ in range(_DEEPEST):
            if not frame:
                return None
            data = self._read_bytes(frame, 64)
            (address,) = _POINTER.unpack_from(data, self._places.code)
            code = self._find_code(address & ~_TAG)
            if code is not None:
                return code.line(*_POINTER.unpack_from(data, self._places.instruction))
            (frame,) = _POINTER.unpack_from(data, self._places.previous)
        return None

    def _find_code(self, address: int) -> _Code | None:
        """Read the code object at the address, if it is the cell's own."""
        if address not in self._codes:
            try:
                code = self._read_code(address) if self._is_of_the_cell(address) else None
            except _NoCodeError:
                return None
            self._kept += len(code.lines) if code else 0
            if self._kept > _MOST_KEPT or len(self._codes) >= _MOST_CODES:
                self._forget_codes()
            self._codes[address] = code
            return code
        return self._codes[address]

    def _forget_codes(self) -> None:
        self._codes.clear()
        self._kept = 0

    def _is_of_the_cell(self, address: int) -> bool:
        """Return whether a code object has the name of the cell's file. Raises _NoCodeError."""
        file_name = self._file_name
        try:
            name = self._read_word(address + self._places.file_name)
            return (
                self._read_word(name + 16) == len(file_name)
                and self._read_bytes(name + self._places.text, len(file_name)) == file_name
            )
        except _TornError:
            raise _NoCodeError from None

    def _read_code(self, address: int) -> _Code:
        places = self._places
        table = self._read_word(address + places.table)
        # Bytes hold their length at 16 and begin at 32, in every version.
        size = self._read_word(table + 16)
        if size > _LONGEST_TABLE:
            raise _TornError
        (first,) = struct.unpack("=i", self._read_bytes(address + places.first_line, 4))
        numbers = _read_line_table(self._read_bytes(table + 32, size), first)
        try:
            lines = array("i", itertools.islice(numbers, _MOST_INSTRUCTIONS))
        except OverflowError as error:
            raise _TornError from error
        return _Code(address + self._instructions, lines)

    def _read_word(self, address: int) -> int:
        return int(_POINTER.unpack(self._read_bytes(address, 8))[0])

    def _read_bytes(self, address: int, size: int) -> bytes:
        try:
            self._memory.seek(address)
            data = self._memory.read(size)
        except (OSError, OverflowError, ValueError) as error:
            raise _TornError from error
        if len(data) != size:
            raise _TornError
        return data


def _read_line_table(table: bytes, line: int) -> Iterator[int]:
    """Yield the line of each instruction, 0 for none, by CPython's Objects/locations.md (3.11 and later)."""
    entries = iter(table)
    for first in entries:
        kind, count = first >> 3 & 15, (first & 7) + 1
        if kind == 15:
            yield from itertools.repeat(0, count)
            continue
        if kind >= 13:
            number = _read_number(entries)
            line += -(number >> 1) if number & 1 else number >> 1
            for _ in range(3 if kind == 14 else 0):
                _read_number(entries)
        else:
            line += max(kind - 10, 0)
            for _ in range(2 if kind >= 10 else 1):
                next(entries, 0)
        yield from itertools.repeat(line, count)


def _read_number(entries: Iterator[int]) -> int:
    """Return a number of six bits a byte, the lowest first; bit 6 says that more follow."""
    number = shift = 0
    while True:
        byte = next(entries, 0)
        number |= (byte & 63) << shift
        if not byte & 64 or shift > 60:
            return number
        shift += 6
