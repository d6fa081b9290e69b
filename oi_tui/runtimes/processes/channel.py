"""Sends code to a language process and receives its events, apart from its terminal."""

import contextlib
import errno
import fcntl
import functools
import json
import os
import re
import select
import shutil
import stat
import struct
import tempfile
import termios
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Dict  # noqa: UP035

#: A report of a driver: `event` says which, `mark` where in the output it belongs, if anywhere.
Event = Dict[str, Any]  # noqa: UP006 -- evaluated on other machines too, by Python 3.8

#: The largest file that is taken from a driver, in bytes.
_LARGEST = 256 * 1024 * 1024
_LINE = struct.Struct("=i")
#: The longest event that is taken, in bytes: events carry images. A longer one is dropped.
LONGEST_EVENT = 64 * 1024 * 1024
#: How much is read at once, in bytes, so that a program that never stops writing blocks nothing. It is more
#: than a pipe holds: whatever was in it when the reading began has been read.
_READ_SIZE = 2 * 1024 * 1024

#: How the event that ends a run is recognized in a line that cannot be read.
_END_EVENT = re.compile(rb'"event": ?"finished"')
_END_NONCE = re.compile(rb'"nonce": ?"([0-9a-f]+)"')

_PREFIX = "oi-tui-"
#: A folder is made in several steps; one that is younger than this may not be held yet, in seconds.
_YOUNG = 60.0
#: The most room that a channel takes, in bytes and in files, for cells and values.
_ROOM_NEEDED = 4 * 10**6
_FILES_NEEDED = 32


def _find_folder_for_pipes() -> str | None:
    """Memory rather than disk: a full disk or an emptied /tmp then takes no run with it.

    Of memory there may be little: a container often has 64 MB, which programs use as well.
    """
    memory = "/dev/shm"
    try:
        room = os.statvfs(memory)
    except OSError:
        return None
    files = room.f_favail >= _FILES_NEEDED or room.f_files == 0
    fits = files and room.f_bavail * room.f_frsize >= _ROOM_NEEDED
    return memory if fits and os.access(memory, os.W_OK | os.X_OK) else None


@functools.lru_cache(maxsize=None)  # noqa: UP033 -- runs on other machines too, by Python 3.8
def _remove_abandoned(place: str) -> None:
    """Remove the folders of channels in `place` that nobody holds: application and guard were both killed."""
    for folder in Path(place).glob(f"{_PREFIX}*"):
        try:
            status = folder.lstat()
            if status.st_uid != os.getuid() or time.time() - status.st_mtime < _YOUNG:
                continue
            if not stat.S_ISFIFO((folder / "requests").lstat().st_mode):
                continue
            os.close(os.open(folder / "requests", os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC))
        except OSError as error:
            # Nobody reads: an application that lives holds both ends.
            if error.errno == errno.ENXIO:
                _remove_folder(folder)


def _remove_folder(folder: Path) -> None:
    """Remove a folder as far as possible: programs may have made folders in it that are too deep."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)


def _make_folder() -> Path:
    """Make the folder of a channel. Raises RuntimeError where there is no room, and OSError."""
    try:
        place = _find_folder_for_pipes() or tempfile.gettempdir()
        _remove_abandoned(place)
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
        try:
            for name in ("requests", "events"):
                os.mkfifo(folder / name, 0o600)
            (folder / "line").write_bytes(b"\0" * 3 * _LINE.size)
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            raise
    except OSError as error:
        if is_full(error):
            raise RuntimeError(explain_full(tempfile.gettempdir())) from None
        raise
    return folder


def is_full(error: OSError) -> bool:
    """Return whether the disk, or a person's share of it, is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def explain_full(place: object) -> str:
    """Say that there is no room in a folder, and what to do."""
    return f"there is no space left in {place}. Delete files there, or set TMPDIR"


class LineReader:
    """Cuts what arrives into lines, at a price that grows with what arrives, and keeps no longer line."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._pieces: list[bytes] = []
        self._size = 0
        self._dropping = False

    def read(self, piece: bytes) -> Iterator[bytes | None]:
        """Yield the lines that end here, without their ends.

        None for one that was too long, at its beginning.
        """
        *ends, rest = piece.split(b"\n")
        for end in ends:
            dropped = self._dropping
            if self._add(end):
                yield b"".join(self._pieces)
            elif not dropped:
                yield None
            self._pieces, self._size, self._dropping = [], 0, False
        dropped = self._dropping
        if not self._add(rest) and not dropped:
            yield None

    def _add(self, piece: bytes) -> bool:
        """Add to the line; return False if it is too long, and keep nothing of it."""
        self._size += len(piece)
        if self._size > self._longest:
            self._dropping = True
            self._pieces = []
        elif piece:
            self._pieces.append(piece)
        return not self._dropping


def _parse_event(line: bytes) -> Event | None:
    """Return the event in a line; None if there is no event in it. `size` is its length in bytes.

    Texts of programs may be anything: bytes that are not UTF-8, and halves of characters.
    """
    try:
        event = json.loads(line.decode("utf-8", "replace"))
        if b"\\ud" in line or b"\\uD" in line:
            text = json.dumps(event, ensure_ascii=False).encode("utf-16-le", "surrogatepass")
            event = json.loads(text.decode("utf-16-le", "replace"))
    except (ValueError, RecursionError):
        event = _repair_end(line)
    if not (isinstance(event, dict) and isinstance(event.get("event"), str)):
        return None
    return {**event, "size": len(line)}


def _repair_end(line: bytes) -> Event | None:
    """Return the end of a run that a line which cannot be read reports; None where it reports none.

    Without its end, a run would go on for ever.
    """
    if not _END_EVENT.search(line) or not (nonce := _END_NONCE.search(line)):
        return None
    name = nonce[1].decode()
    reason = "the language reported the end of the run in a way that cannot be read"
    return {"event": "finished", "nonce": name, "mark": f"{name}.end", "state": "failed", "reason": reason}


class CellChannel:
    """A private folder with two named pipes, the cells, and a few bytes that say which line runs.

    The application holds both ends of both pipes, so that neither side ever waits for the other to open them
    and a driver sees the end of its requests exactly when the application is gone.
    """

    def __init__(self) -> None:
        self.folder = _make_folder()
        flags = os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC
        self._requests = self.events = self._line = self._directory = -1
        try:
            self._directory = self._open_folder()
            self._requests = os.open(self.folder / "requests", flags)
            self.events = os.open(self.folder / "events", flags)
            # Read as a file and not as memory: a program that cuts the file short would end us with a signal.
            self._line = os.open(self.folder / "line", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self.close()
            raise
        self._lines = LineReader(LONGEST_EVENT)
        self._highest = 0
        #: What was written of the last cell, by the names in the folder.
        self._cell_files: list[str] = []
        #: How much was written for the driver so far, in bytes.
        self._written = 0
        self._writing = threading.Lock()

    @property
    def line(self) -> int:
        """The line that runs now, as the driver last wrote it; 0 for none."""
        return self._read_numbers()[0]

    @property
    def cell(self) -> tuple[int, int]:
        """The cell's number, and which run of that number it is, as the Python driver wrote them; else 0."""
        _, cell, run = self._read_numbers()
        return cell, run

    def _read_numbers(self) -> tuple[int, int, int]:
        """Return the numbers that the driver writes; zeros where a program has cut them off."""
        data = os.pread(self._line, 3 * _LINE.size, 0).ljust(3 * _LINE.size, b"\0")
        line, cell, run = (int(_LINE.unpack_from(data, place * _LINE.size)[0]) for place in range(3))
        return line, cell, run

    def write_cell(
        self,
        code: str,
        number: int | None = None,
        annotate: Callable[[str], str] | None = None,
        *,
        opens_pipes: bool = False,
    ) -> Path:
        """Put code where the driver can read it; the path ends with the cell's number. Raises OSError.

        Without a number, the cell gets the one after the highest so far. What `annotate` makes of the code is
        beside it, in a file whose name begins with `marked-`. A driver that `opens_pipes` gets no cell where
        they were removed: its report would never arrive.
        """
        number = self._highest + 1 if number is None else number
        self._highest = max(self._highest, number)
        if opens_pipes:
            self._check_pipes()
        self._restore_folder()
        for name in self._cell_files:
            self.remove_file(name)
        name = f"cell-{number}"
        self._cell_files = [name]
        # Lines end as they do here: to a shell the other system's ends are part of its words. The mark that
        # editors put before a text is no part of it either.
        text = code[code.startswith("\ufeff") :].replace("\r\n", "\n")
        self.create_file(name, text.encode("utf-8", "surrogatepass"))
        if annotate:
            self._cell_files.append(f"marked-{name}")
            self.create_file(f"marked-{name}", annotate(text).encode("utf-8", "surrogatepass"))
        return self.folder / name

    def write_size(self, columns: int, rows: int) -> None:
        """Put the size of the terminal where a driver can read it that has no other way to know."""
        with contextlib.suppress(OSError):
            self.create_file("size.new", f"{columns} {rows}\n".encode())
            os.replace("size.new", "size", src_dir_fd=self._directory, dst_dir_fd=self._directory)

    # The program may be in the sandbox, and we are not: it may leave links and pipes in the folder, and move
    # the folders above it. So the folder is reached by its descriptor, and no link in it is followed.

    def _open_folder(self) -> int:
        return os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)

    def _check_pipes(self) -> None:
        """Raise OSError where somebody removed the pipes: no file is left that could get their names."""
        for name in ("requests", "events"):
            try:
                is_pipe = stat.S_ISFIFO(os.lstat(name, dir_fd=self._directory).st_mode)
            except FileNotFoundError:
                is_pipe = False
            if not is_pipe:
                raise OSError(f"the pipe {self.folder / name} was removed. Use %restart")

    def _restore_folder(self) -> None:
        """Make the folder again where somebody emptied the place that it is in."""
        with contextlib.suppress(FileExistsError):
            self.folder.mkdir(mode=0o700)
            directory = self._open_folder()
            os.close(self._directory)
            self._directory = directory

    def holds(self, name: str) -> bool:
        """Return whether the program left a file of this name in the folder."""
        try:
            status = os.stat(name, dir_fd=self._directory, follow_symlinks=False)
        except OSError:
            return False
        return stat.S_ISREG(status.st_mode)

    def read_file(self, name: str) -> bytes:
        """Read the file that the program left in the folder. Raises OSError when it is missing or huge."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(Path(name).name, flags, dir_fd=self._directory)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
                raise OSError(errno.EINVAL, "this file was not written by a driver", name)
            return file.read(_LARGEST)

    def create_file(self, name: str, data: bytes) -> None:
        """Make a new file; one that a program put there is removed, not written to. Raises OSError."""
        self.remove_file(name)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(name, flags, 0o600, dir_fd=self._directory), "wb") as file:
            file.write(data)

    def remove_file(self, name: str) -> None:
        """Remove a file of the folder, if it is there. Raises OSError."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(Path(name).name, dir_fd=self._directory)

    def request(self, line: str, seconds: float = 5.0) -> int:
        """Send one line to the driver, and return its place. Raises TimeoutError when it takes no more."""
        remaining_data = line.encode() + b"\n"
        until = time.monotonic() + seconds
        place = self._written
        while remaining_data:
            try:
                with self._writing:
                    size = os.write(self._requests, remaining_data)
                    self._written += size
                remaining_data = remaining_data[size:]
            except BlockingIOError:
                if time.monotonic() > until:
                    raise TimeoutError("the language process does not accept requests") from None
                select.select([], [self._requests], [], 0.05)
        return place

    def is_taken(self, place: int) -> bool:
        """Return whether the driver has begun to read the request at that place; true if not known."""
        try:
            with self._writing:
                unread = fcntl.ioctl(self._requests, termios.FIONREAD, b"\0" * _LINE.size)
                return self._written - int(_LINE.unpack(unread)[0]) > place
        except (OSError, ValueError):
            return True

    def read_events(self) -> list[Event]:
        """Return the events that have arrived. Anything else is ignored, and reported if it was too long."""
        events: list[Event] = []
        size = 0
        while size < _READ_SIZE:
            try:
                piece = os.read(self.events, 1 << 20)
            except BlockingIOError:
                break
            size += len(piece)
            for line in self._lines.read(piece):
                if line is None:
                    events.append({"event": "dropped"})
                elif (event := _parse_event(line)) is not None:
                    events.append(event)
        return events

    def end_requests(self) -> None:
        """Let the driver read the end of its requests, which tells it to leave; events are read as before."""
        if self._requests >= 0:
            os.close(self._requests)
            self._requests = -1

    def close(self) -> None:
        """Close the pipes and remove the folder."""
        self.end_requests()
        for number in (self.events, self._line, self._directory):
            if number >= 0:
                os.close(number)
        self._directory = -1
        _remove_folder(self.folder)
