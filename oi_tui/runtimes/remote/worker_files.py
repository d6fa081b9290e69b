"""Files of the remote host: facts about them, their bytes, and new files that appear whole or not at all."""

import base64
import hashlib
import itertools
import json
import os
import re
import shutil
import stat
import time
from pathlib import Path

from oi_tui import paths
from oi_tui.runtimes.remote.file_answers import (
    LARGEST,
    LISTING_SECONDS,
    MOST_LISTED,
    MOST_NAMES,
    PART,
    FileFacts,
    FilePart,
    FileRefused,
    FileWords,
    make_part_name,
)
from oi_tui.runtimes.remote.wire import Frame

_KEY = re.compile(r"[0-9a-f]{16}")
#: How a file is opened; one that nobody writes to, such as a pipe, is not waited for.
READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC


def answer(message: Frame, folder: Path, current: "Path | None" = None) -> object:
    """Carry out one request about files; paths that are not whole begin at the folder.

    `current` is the folder that is listed: the one in which a language is.
    """
    try:
        if message["what"] == "list":
            return _list_folder(current, folder)
        return _REQUESTS[message["what"]](message, _find_path(message["path"], folder))
    except _RefusedError as refused:
        return FileRefused(str(refused))
    except OSError as error:
        return FileRefused(error.strerror or str(error))


class _RefusedError(Exception):
    """The request is not carried out; the message says why."""


def _find_path(typed: str, folder: Path) -> Path:
    if "\0" in typed:
        raise _RefusedError("is no path")
    return folder / os.path.expanduser(typed)  # noqa: PTH111 -- "~x" may be nobody


def _read_facts(path: Path, status: "os.stat_result") -> FileFacts:
    kind = "file" if stat.S_ISREG(status.st_mode) else "folder" if stat.S_ISDIR(status.st_mode) else "other"
    return FileFacts(
        os.path.abspath(path),  # noqa: PTH100 -- links stay as they are
        kind,
        status.st_size,
        status.st_mtime_ns,
        stat.S_IMODE(status.st_mode),
    )


def _read_stat(_: Frame, path: Path) -> FileFacts:
    return _read_facts(path, path.stat())


def _complete_names(message: Frame, _: Path) -> FileWords:
    """Return the names that begin as `path` does, each as it would be typed; folders end with "/"."""
    path = message["path"]
    before, slash, beginning = path.rpartition("/")
    names = []
    with os.scandir(_find_path(before + slash or ".", Path.cwd())) as entries:
        for entry in entries:
            is_hidden = entry.name.startswith(".") and not beginning.startswith(".")
            if is_hidden or not entry.name.startswith(beginning) or not entry.name.isprintable():
                continue
            names.append(f"{before}{slash}{entry.name}{'/' if paths.is_folder(entry) else ''}")
            if len(names) >= 100 * MOST_NAMES:
                break
    return FileWords("\0".join(sorted(names)[:MOST_NAMES]))


def _list_folder(folder: "Path | None", root: Path) -> FileWords:
    """Return what is in the folder and the folders in it, as JSON: kinds, and where links lead.

    Folders of which all names are there are named, since not everything has room. `root` is where languages
    start.
    """
    if folder is None:
        raise _RefusedError("is not known")
    entries: dict[str, list[object]] = {}
    listed_folders: list[str] = []
    waiting = [""]
    end = time.monotonic() + LISTING_SECONDS
    while waiting and time.monotonic() < end:
        place = waiting.pop(0)
        try:
            with os.scandir(folder / place) as scan:
                names = list(itertools.islice(scan, MOST_LISTED + 1 - len(entries)))
        except OSError:
            continue
        if len(entries) + len(names) > MOST_LISTED:
            continue
        listed_folders.append(place)
        for entry in names:
            name = f"{place}/{entry.name}" if place else entry.name
            is_link = entry.is_symlink()
            kind = _find_kind(entry.path)
            entries[name] = [kind, os.path.realpath(entry.path) if is_link else None]
            if kind == "folder" and not is_link and not entry.name.startswith("."):
                waiting.append(name)
    return FileWords(
        json.dumps(
            {
                "real": os.path.realpath(folder),
                "real_root": os.path.realpath(root),
                "home": os.path.expanduser("~"),  # noqa: PTH111 -- there may be none
                "search_path": os.environ.get("PATH", "").split(os.pathsep),
                "listed": listed_folders,
                "entries": entries,
            }
        )
    )


def _find_kind(path: str) -> str:
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116
    except OSError:
        return ""
    return "file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else "other"


def _read(message: Frame, path: Path) -> FilePart:
    descriptor = os.open(path, READ)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _RefusedError("is not an ordinary file")
        data = read_at(descriptor, message["offset"], min(message["size"], PART))
        return FilePart(base64.b64encode(data).decode())
    finally:
        os.close(descriptor)


def read_at(descriptor: int, offset: int, size: int) -> bytes:
    """Return `size` bytes of a file, or those up to its end: files of /proc give less at once.

    Raises OSError.
    """
    data = b""
    while len(data) < size and (piece := os.pread(descriptor, size - len(data), offset + len(data))):
        data += piece
    return data


def _compute_sum(_: Frame, path: Path) -> FileWords:
    descriptor = os.open(path, READ)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _RefusedError("is not an ordinary file")
        return FileWords(compute_checksum(file))


def compute_checksum(file: object) -> str:
    """Return the checksum of an open file, from its beginning to its end."""
    digest = hashlib.sha256()
    while piece := file.read(1 << 20):  # type: ignore[attr-defined]
        digest.update(piece)
    return digest.hexdigest()


def _begin_file(message: Frame, path: Path) -> FileFacts:
    """Begin a file, or go on with the copy that was interrupted; how much of it is there already."""
    size = message["size"]
    if path.is_dir():
        path = path / os.path.basename(message["name"])  # noqa: PTH119 -- no name leads elsewhere
    elif message["path"].endswith("/"):
        raise _RefusedError("is no folder")
    if os.path.lexists(path):
        raise _RefusedError("exists already")
    if size > LARGEST:
        raise _RefusedError("would be too large")
    part = _find_part_path(path, message["key"])
    descriptor = os.open(part, _WRITE | os.O_CREAT, 0o600)
    try:
        status = os.fstat(descriptor)
        if status.st_size > size:
            os.ftruncate(descriptor, 0)
            status = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    if shutil.disk_usage(path.parent).free < size - status.st_size:
        if not status.st_size:
            os.unlink(part)  # noqa: PTH108
        raise _RefusedError("does not fit on the disk there")
    return _read_facts(path, status)


def _append(message: Frame, path: Path) -> FileWords:
    data = base64.b64decode(message["data"], validate=True)
    descriptor = os.open(_find_part_path(path, message["key"]), _WRITE)
    try:
        if os.fstat(descriptor).st_size != message["offset"]:
            raise _RefusedError("was changed while it was copied")
        append_at(descriptor, message["offset"], data)
    finally:
        os.close(descriptor)
    return FileWords("")


def append_at(descriptor: int, offset: int, data: bytes) -> None:
    """Write bytes at the end of a file, zeros as a hole: a copy takes no more room than its original.

    Raises OSError.
    """
    if data.count(0) == len(data):
        os.ftruncate(descriptor, offset + len(data))
        return
    view = memoryview(data)
    while view:
        byte_count = os.pwrite(descriptor, view, offset)
        view, offset = view[byte_count:], offset + byte_count


def _finish(message: Frame, path: Path) -> FileWords:
    """Give a file its name, if it is what was to be copied."""
    part = _find_part_path(path, message["key"])
    descriptor = os.open(part, _WRITE)
    with os.fdopen(descriptor, "rb") as file:
        if compute_checksum(file) != message["sum"]:
            part.unlink()
            raise _RefusedError("arrived with different content; copy it again")
        os.fchmod(descriptor, message["mode"] & 0o777)
        os.fsync(descriptor)
    appear(part, path)
    return FileWords(os.path.abspath(path))  # noqa: PTH100 -- links stay as they are


def _drop(message: Frame, path: Path) -> FileWords:
    """Remove what arrived of a file that is not copied any more."""
    _find_part_path(path, message["key"]).unlink()
    return FileWords("")


def appear(part: Path, path: Path) -> None:
    """Give a file its final name; never in the place of another. Raises OSError."""
    try:
        os.link(part, path, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:
        # Not every file system has links.
        if os.path.lexists(path):
            raise FileExistsError(17, "exists already") from None
        part.rename(path)
        return
    part.unlink()


def _find_part_path(path: Path, key: str) -> Path:
    if not _KEY.fullmatch(key):
        raise _RefusedError("has no key")
    return path.with_name(make_part_name(path.name, key))


_REQUESTS = {
    "look": _read_stat,
    "names": _complete_names,
    "read": _read,
    "sum": _compute_sum,
    "new": _begin_file,
    "append": _append,
    "finish": _finish,
    "drop": _drop,
}
