"""Reads the line that a shell executes from its memory, without slowing it down."""

import os
import re
import stat
import struct
from pathlib import Path

#: A function defined in a shell: only then can a line inside a function be one of the cell.
_DEFINES = re.compile(r"\(\s*\)|^[^\S\n]*function\s", re.MULTILINE)
#: For each shell the variables for: the line, the files being sourced, the functions entered.
_SYMBOLS = {
    # `line_number` is also the parser's; this one is set by each command and stays while it is waited for.
    "bash": ("line_number_for_err_trap", "sourcelevel", "variable_context"),
    "zsh": ("lineno", "sourcelevel", "locallevel"),
}
#: A shell has one or two million bytes, a hundred sections and some thousand symbols.
_LONGEST_PROGRAM = 64 * 1024 * 1024
_LONGEST_MAPS = 1_000_000
_MOST_SECTIONS = 1000
_MOST_SYMBOLS = 100_000
_LONGEST_NAME = 200
_MOST_PROGRAMS = 8
#: The addresses in the programs that were read, by device, file and time of change.
_programs: dict[tuple[int, int, int], dict[str, int]] = {}


class ShellLine:
    """Reads the line of the sourced `code` that the shell `pid` executes.

    Raises ValueError where the system or the shell does not let its memory be read: other systems than Linux,
    a shell without symbols.
    """

    def __init__(self, pid: int, code: str) -> None:
        try:
            exe = Path(f"/proc/{pid}/exe")
            program = exe.readlink()
            names = _SYMBOLS[program.name]
            # The name may lead to anything by now; opened this way, it is what the process executes.
            symbols = _find_symbols(exe)
            base = _find_base(pid, program)
            self._addresses = [base + symbols[name] for name in names]
            self._memory = Path(f"/proc/{pid}/mem").open("rb", buffering=0)  # noqa: SIM115
        except (OSError, KeyError, IndexError, OverflowError, struct.error) as error:
            raise ValueError(f"the memory of process {pid} tells no line") from error
        self._defines = bool(_DEFINES.search(code))
        self._lines = code.count("\n") + 1
        # What the variable holds before the cell begins is left from before.
        self._stale = self._read_integers()[0]

    def read(self) -> int | None:
        """Return the line, counted from 1; None while it is unknown."""
        line, sourced, entered = self._read_integers()
        if line == self._stale or sourced != 1 or (entered and not self._defines):
            return None
        self._stale = 0
        return line if 1 <= line <= self._lines else None

    def close(self) -> None:
        """Close the memory."""
        self._memory.close()

    def _read_integers(self) -> tuple[int, int, int]:
        try:
            integers = []
            for address in self._addresses:
                self._memory.seek(address)
                integers.append(struct.unpack("=i", self._memory.read(4))[0])
            return integers[0], integers[1], integers[2]
        except (OSError, OverflowError, struct.error):
            return 0, 0, 0


def _find_base(pid: int, program: Path) -> int:
    with Path(f"/proc/{pid}/maps").open(errors="replace") as file:
        lines = file.read(_LONGEST_MAPS).splitlines()
    for line in lines:
        words = line.split(maxsplit=5)
        if len(words) == 6 and words[5] == str(program) and words[2] == "00000000":
            return int(words[0].split("-")[0], 16)
    raise ValueError("not mapped")


def _find_symbols(program: Path) -> dict[str, int]:
    """Return the addresses of the wanted variables in a program. Raises as `ShellLine` expects."""
    descriptor = os.open(program, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LONGEST_PROGRAM:
            raise ValueError("too large for a shell")
        key = status.st_dev, status.st_ino, status.st_mtime_ns
        if key not in _programs:
            addresses = _read_symbols(file.read(status.st_size))
            if len(_programs) >= _MOST_PROGRAMS:
                _programs.clear()
            _programs[key] = addresses
            return addresses
        return _programs[key]


# No library: pyelftools takes 156 ms for bash and 311 ms to import; this takes 1 ms and 20 lines.
def _read_symbols(data: bytes) -> dict[str, int]:
    """Return the addresses of the wanted variables, relative to where the program begins (ELF, 64 bits).

    Code may have written the program: what it says of itself is believed within bounds.
    """
    if data[:5] != b"\x7fELF\x02":
        raise ValueError("not a 64-bit ELF program")
    (kind,) = struct.unpack_from("=H", data, 16)
    (table,) = struct.unpack_from("=Q", data, 0x28)
    size, count = struct.unpack_from("=HH", data, 0x3A)
    symbols = {name.encode(): name for names in _SYMBOLS.values() for name in names}
    if count > _MOST_SECTIONS:
        raise ValueError("too many sections for a shell")
    sections = [struct.unpack_from("=IIQQQQIIQQ", data, table + size * n) for n in range(count)]
    addresses: dict[str, int] = {}
    origin = 0 if kind == 3 else 0x400000
    # A program has one such section (SHT_DYNSYM).
    section = next((item for item in sections if item[1] == 11), None)
    if section is None or section[5] > 24 * _MOST_SYMBOLS:
        raise ValueError("no symbols of a shell")
    strings = sections[section[6]][4]
    for at in range(section[4], section[4] + section[5], 24):
        name_at, _, _, _, value, _ = struct.unpack_from("=IBBHQQ", data, at)
        begin = strings + name_at
        name = symbols.get(data[begin : begin + _LONGEST_NAME].partition(b"\0")[0])
        if name and value:
            addresses[name] = value - origin
    return addresses
