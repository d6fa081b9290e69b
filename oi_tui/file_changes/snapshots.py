"""Keeps private copies of files from before and after code ran, for a limited time."""

import contextlib
import errno
import hashlib
import json
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from oi_tui import paths

#: Limits of what is kept for all conversations together, in bytes and seconds.
MOST_BYTES = 500_000_000
MOST_SECONDS = 30 * 24 * 3600
#: A larger file is not kept.
LARGEST = 10_000_000

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")
_HASH = re.compile(r"[0-9a-f]{64}")
#: What an empty folder holds, and what stands before the name of what a link holds: where it points to.
FOLDER = "folder"
_LINK = "link-"


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of one file, link or empty folder. `path` is relative to the change set's folder.

    `before` and `after` name what is kept of its contents; None where there was nothing, or where `why` says
    why nothing is kept. `mode` is the file's permissions, before if it was there before.
    """

    path: str
    what: Literal["created", "changed", "deleted"]
    before: str | None = None
    after: str | None = None
    mode: int = 0o644
    why: str = ""

    @property
    def name(self) -> str:
        """The path as text: a folder ends with a slash, and a link shows its target."""
        states = (self.before, self.after)
        if FOLDER in states:
            return f"{self.path}/"
        return f"{self.path} (link)" if any(map(is_link, states)) else self.path


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """The files that changed while a piece of code ran; `note` says in a sentence what was not looked at.

    `target` names the other machine whose files they are, as a person types it, and "" this one; what the
    files held is kept there.
    """

    id: str
    folder: str
    changes: tuple[FileChange, ...]
    note: str = ""
    target: str = ""

    def to_json(self) -> str:
        """Return the change set as text."""
        return json.dumps(asdict(self))


_KINDS = {"path": (str,), "what": (str,), "mode": (int,), "why": (str,)}


def read_change_set(text: str | bytes) -> ChangeSet:
    """Read a change set from JSON. Raises ValueError where the text is not one."""
    try:
        record = json.loads(text)
        changes = tuple(_read_change(change) for change in record["changes"])
        texts = [record["id"], record["folder"], record["note"], record.get("target", "")]
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"no change set: {error}") from None
    if not all(isinstance(item, str) for item in texts):
        raise ValueError("no change set: a text was expected")
    return ChangeSet(texts[0], texts[1], changes, texts[2], texts[3])


def _read_change(values: dict[str, object]) -> FileChange:
    """Return the change of these fields. Raises TypeError or ValueError."""
    change = FileChange(**values)  # type: ignore[arg-type]
    maybe = (str, type(None))
    if not all(isinstance(value, _KINDS.get(name, maybe)) for name, value in values.items()):
        raise ValueError("no change of a file")
    if change.what not in ("created", "changed", "deleted"):
        raise ValueError("no change of a file")
    return change


class Snapshots:
    """Contents of files by their SHA-256, and steps by the id of their code, for their owner only."""

    def __init__(self, folder: Path) -> None:
        self._contents = folder / "contents"
        #: The folder is older than the name of the class.
        self._change_sets = folder / "steps"

    def save_file(
        self, path: Path | str, listed: os.stat_result | None = None, *, folder: int | None = None
    ) -> str | None:
        """Save what a file holds now, where a link points to, or that a folder is empty; return its name.

        `listed` is what is known of it: a file that took its place since is not read. With `folder`, the
        descriptor of one, `path` is a name in it. None when it is nothing of the kind, or too large. Raises
        OSError when it cannot be read or kept.
        """
        status = os.stat(path, dir_fd=folder, follow_symlinks=False)
        _check_is_listed(status, listed)
        if stat.S_ISLNK(status.st_mode):
            return _LINK + self.save(os.fsencode(os.readlink(path, dir_fd=folder)))
        descriptor = os.open(path, _READ, dir_fd=folder)
        try:
            status = os.fstat(descriptor)
            _check_is_listed(status, listed)
            if stat.S_ISDIR(status.st_mode):
                return None if os.listdir(descriptor) else FOLDER  # noqa: PTH208 -- not of a path
            if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
                return None
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                content = file.read(LARGEST + 1)
        finally:
            os.close(descriptor)
        return self.save(content) if len(content) <= LARGEST else None

    def save(self, content: bytes) -> str:
        """Save contents, and return their name. Raises OSError."""
        name = hashlib.sha256(content).hexdigest()
        path = self._contents / name
        with contextlib.suppress(FileNotFoundError):
            os.utime(path)
            return name
        paths.make_private(self._contents)
        with paths.writing(path):
            descriptor, temporary = tempfile.mkstemp(dir=self._contents, prefix=".new-")
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(content)
                Path(temporary).replace(path)
            except OSError:
                with contextlib.suppress(OSError):
                    Path(temporary).unlink()
                raise
        return name

    def read_content(self, name: str) -> bytes | None:
        """Return the contents with this name; None when they are missing or changed.

        Of a link: where it points to. Of a folder: nothing.
        """
        if name == FOLDER:
            return b""
        name = name[len(_LINK) :] if is_link(name) else name
        if not _HASH.fullmatch(name):
            return None
        try:
            content = (self._contents / name).read_bytes()
        except OSError:
            return None
        return content if hashlib.sha256(content).hexdigest() == name else None

    def save_change_set(self, change_set: ChangeSet) -> None:
        """Save a change set. Raises OSError, also where its id cannot be the name of a file."""
        if not _NAME.fullmatch(change_set.id):
            raise OSError(errno.EINVAL, "the id of the run is not a name")
        paths.make_private(self._change_sets)
        paths.replace_file(self._find_path(change_set.id), change_set.to_json())

    def find_change_set(self, id: str) -> ChangeSet | None:
        """Return the changes while the code with this id ran; None when unknown."""
        if not _NAME.fullmatch(id):
            return None
        try:
            return replace(read_change_set(self._find_path(id).read_bytes()), id=id)
        except (OSError, ValueError):
            return None

    def filter_kept(self, ids: Iterable[str]) -> list[str]:
        """Return the ids for which a change set is kept, in the given order."""
        try:
            names = {path.stem for path in self._change_sets.iterdir()}
        except OSError:
            return []
        return [item for item in ids if item in names]

    def find_latest(self, ids: Iterable[str]) -> str | None:
        """Return the id whose change set was kept last; None if there is no change set for any of them."""
        change_sets = []
        for item in self.filter_kept(ids):
            with contextlib.suppress(OSError):
                change_sets.append((self._find_path(item).lstat().st_mtime_ns, item))
        return max(change_sets)[1] if change_sets else None

    def delete_expired(self) -> None:
        """Delete what is old, and the oldest if there is too much."""
        limit = time.time() - MOST_SECONDS
        files: list[tuple[float, int, Path]] = []
        for folder in (self._change_sets, self._contents):
            with contextlib.suppress(OSError):
                for path in folder.iterdir():
                    status = path.lstat()
                    if status.st_mtime < limit:
                        path.unlink()
                    elif folder is self._contents:
                        files.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if total <= MOST_BYTES:
                return
            with contextlib.suppress(OSError):
                path.unlink()
            total -= size

    def _find_path(self, id: str) -> Path:
        return self._change_sets / f"{id}.json"


def _check_is_listed(status: os.stat_result, listed: os.stat_result | None) -> None:
    """Raise OSError where it is another file than the one that was listed."""
    if listed is not None and (status.st_ino, status.st_dev) != (listed.st_ino, listed.st_dev):
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))


def is_link(name: str | None) -> bool:
    """Return whether this name stands for the target of a link."""
    return name is not None and name.startswith(_LINK)
