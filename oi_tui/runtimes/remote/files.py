"""The files of a target, for the application: facts, names, and copies in both directions."""

import base64
import contextlib
import hashlib
import io
import json
import os
import queue
import shutil
import stat
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from oi_tui.file_changes.restore import RestoreAction, make_revert_id
from oi_tui.file_changes.snapshots import ChangeSet, FileChange, read_change_set
from oi_tui.file_changes.watcher import MOST_CHANGES
from oi_tui.runtimes.remote.connecting import StopSignal
from oi_tui.runtimes.remote.file_answers import (
    LARGEST,
    MOST_NAMES,
    PART,
    FileFacts,
    FilePart,
    FileRefused,
    FileWords,
    make_part_name,
)
from oi_tui.runtimes.remote.link import Link
from oi_tui.runtimes.remote.target import TargetError
from oi_tui.runtimes.remote.worker_files import READ, appear, append_at, compute_checksum, read_at
from oi_tui.text import clean_line

#: How many parts of a file are on their way: 256 KB, so that a stop does not wait long on a slow connection.
_ON_THE_WAY = 4
_GLANCE = 0.1
#: How long to wait for facts and names, in seconds.
_TIMEOUT = 3.0
#: How long restoring files may take there, in seconds.
_RESTORING = 30.0
_LONGEST_NOTE = 500
#: The sizes that files have which are made when they are read, as those of /proc and /sys: none, or a page of
#: memory of this machine or of another one. Whatever they hold is up to so many bytes.
_PAGE = 4096
_MOST_GENERATED = 64 * 1000**2
#: The most runs whose changes are kept before they are asked for.
_MOST_EARLY = 10


class FileError(Exception):
    """A file cannot be copied; the message says why in a sentence."""


class _ChangedError(FileError):
    """A file was changed while it was copied. What arrived of it is of no use."""

    def __init__(self, name: object) -> None:
        super().__init__(f"{name} was changed while it was copied. Copy it again.")


class TargetConnection(Protocol):
    """A target, as far as its name and the connection to it go."""

    title: str
    spelling: str

    def connect(self, stopped: StopSignal) -> tuple[Link, bool]:
        """Return the connection, and whether it is a new one. Raises TargetError."""

    @property
    def link(self) -> Link | None:
        """The connection, where there is one."""


class TargetFiles:
    """The files of a target. Any thread may ask."""

    def __init__(self, target: TargetConnection) -> None:
        self._target = target
        #: The id of the code whose changes of files are wanted; "" for none.
        self.watched = ""
        self._change_set: ChangeSet | None = None
        #: What came of runs that were left, before anybody asked for it.
        self._early: dict[str, ChangeSet] = {}

    # -- what code changes

    def watch(self, id: str) -> None:
        """Note the files that the next run changes."""
        self.watched, self._change_set = id, self._early.pop(id, None)

    def note_changes(self, change_set: ChangeSet) -> None:
        """Handle a report of the worker about a run."""
        changes, note = _clean_changes(change_set, MOST_CHANGES), _clean_reason(change_set.note)
        change_set = replace(change_set, changes=changes, note=note, target=self._target.spelling)
        if change_set.id == self.watched:
            self._change_set = change_set
        elif len(self._early) < _MOST_EARLY:
            self._early[change_set.id] = change_set

    def pop_changes(self) -> ChangeSet | None:
        """Return and forget the files that the last run changed; None when it changed none."""
        change_set, self._change_set, self.watched = self._change_set, None, ""
        return change_set

    def plan(self, change_set: ChangeSet) -> list[RestoreAction]:
        """Plan the changes that restore every file of the change set there. Raises FileError."""
        return self._read_plan(change_set, self._ask_about(change_set, "plan"))

    def restore(self, change_set: ChangeSet) -> tuple[ChangeSet, list[RestoreAction], list[str]]:
        """Restore the files of the change set there.

        Returns the change set that reverts this, what was planned, and what could not be done.
        Raises FileError.
        """
        facts = self._ask_about(change_set, "restore")
        try:
            changes = _clean_changes(read_change_set(str(facts["back"])), len(change_set.changes))
            problems = list(map(_clean_reason, facts["problems"]))  # type: ignore[call-overload]
        except (KeyError, TypeError, ValueError):
            raise FileError(f"{self._target.title} sent an invalid answer.") from None
        # The target says which files changed, and nothing else: the id names a file on this machine.
        id_, target = make_revert_id(change_set.id), self._target.spelling
        back = replace(change_set, id=id_, changes=changes, note="", target=target)
        return back, self._read_plan(change_set, facts), problems[: len(change_set.changes) + 1]

    def _read_plan(self, change_set: ChangeSet, facts: dict[str, object]) -> list[RestoreAction]:
        """Return what the worker plans for each change of the change set. Raises FileError."""
        try:
            return [
                RestoreAction(change, change.what == "created", _clean_reason(obstacle), bool(since))
                for change, (obstacle, since) in zip(change_set.changes, facts["actions"], strict=True)  # type: ignore[call-overload]
            ]
        except (KeyError, TypeError, ValueError):
            raise FileError(f"{self._target.title} sent an invalid answer.") from None

    def _ask_about(self, change_set: ChangeSet, what: str) -> dict[str, object]:
        link, title = self._target.link, self._target.title
        if link is None:
            raise FileError(
                f"The connection to {title} ended, and the copies of files that were kept there are gone."
            )
        answer = link.ask(
            "file", _RESTORING, what=what, path="", step=replace(change_set, target="").to_json()
        )
        if isinstance(answer, FileRefused):
            raise FileError(f"{title}: {answer.reason}.")
        if not isinstance(answer, FileWords):
            raise FileError(f"{title} does not answer; its files may be as they were.")
        try:
            facts = json.loads(answer.text)
        except (ValueError, RecursionError):
            facts = None
        if not isinstance(facts, dict):
            raise FileError(f"{title} sent an invalid answer.")
        return facts

    # -- facts and names

    def stat(self, path: str) -> FileFacts | None:
        """Return what is there; None where nothing is, or where nobody answers soon."""
        answer = self._look_briefly("look", path)
        return answer if isinstance(answer, FileFacts) else None

    def list_names(self, beginning: str) -> list[str]:
        """Return the paths that begin so, as they are typed; folders end with "/"."""
        answer = self._look_briefly("names", beginning)
        names = answer.text.split("\0") if isinstance(answer, FileWords) and answer.text else []
        return [name for name in names if name.isprintable()][:MOST_NAMES]

    def list_folder(self, language: str) -> str:
        """Return what is in the folder where the language is, for the scan of code; ""
        where nobody answers soon.
        """
        link = self._target.link
        answer = link.ask("file", _TIMEOUT, what="list", path=".", language=language) if link else None
        return answer.text if isinstance(answer, FileWords) else ""

    def _look_briefly(self, what: str, path: str) -> object:
        link = self._target.link
        return link.ask("file", _TIMEOUT, what=what, path=path) if link else None

    # -- copies

    def get(self, there: str, here: Path, stopped: StopSignal) -> Iterator[tuple[int, int]]:
        """Copy a file to this machine; how many bytes of how many are here, each time that is more.

        The file appears whole, in the place of no other. An interrupted copy is continued the next time.
        Raises FileError.
        """
        copy = _Copy(self._target, stopped)
        facts = copy.facts("look", there)
        _check(facts.kind, facts.size, there)
        generated = copy.read_generated(facts)
        if generated is not None:
            yield from _write_new(here, generated, facts.mode)
            return
        key = _make_key(self._target.title, facts.path, facts.size, facts.changed)
        part = here.with_name(make_part_name(here.name, key))
        try:
            with _open_part(here, part, facts.size) as file:
                at = file.seek(0, os.SEEK_END)
                yield at, facts.size
                for data in copy.read(facts.path, at, facts.size):
                    append_at(file.fileno(), at, data)
                    at += len(data)
                    yield at, facts.size
                file.seek(0)
                if copy.facts("look", there) != facts or compute_checksum(file) != copy.words(
                    "sum", facts.path
                ):
                    raise _ChangedError(there)
                os.fchmod(file.fileno(), facts.mode & 0o777)
                os.fsync(file.fileno())
            appear(part, here)
        except _ChangedError:
            part.unlink(missing_ok=True)
            raise
        except OSError as error:
            raise FileError(f"{here}: {error.strerror or error}.") from None

    def put(self, here: Path, there: str, stopped: StopSignal) -> Iterator[tuple[int, int]]:
        """Copy a file of this machine there, like `get`. Raises FileError."""
        copy = _Copy(self._target, stopped)
        try:
            _check("folder" if here.is_dir() else "file", 0, str(here))
            with os.fdopen(os.open(here, READ), "rb") as original:
                status = os.fstat(original.fileno())
                _check("file" if stat.S_ISREG(status.st_mode) else "other", status.st_size, str(here))
                generated = _read_generated(original.fileno(), status.st_size, str(here))
                file = original if generated is None else io.BytesIO(generated)
                size, digest = status.st_size if generated is None else len(generated), hashlib.sha256()
                key = _make_key(str(here.absolute()), size, status.st_mtime_ns)
                facts = copy.facts("new", there, key=key, size=size, name=here.name)
                at = facts.size
                yield at, size
                for start in range(0, size, PART):
                    data = file.read(min(PART, size - start))
                    digest.update(data)
                    if start + len(data) <= at:
                        continue
                    new = data[max(0, at - start) :]
                    copy.send(facts.path, key, at, new)
                    at += len(new)
                    yield at, size
                copy.settle()
                if file.read(1) or at != size:
                    copy.words("drop", facts.path, key=key)
                    raise _ChangedError(here)
                mode = stat.S_IMODE(status.st_mode)
                copy.words("finish", facts.path, key=key, sum=digest.hexdigest(), mode=mode)
        except OSError as error:
            raise FileError(f"{here}: {error.strerror or error}.") from None


def _clean_reason(value: object) -> str:
    """Return what a target says of a file, as a line that can be shown."""
    return clean_line(str(value), _LONGEST_NOTE)


def _clean_changes(change_set: ChangeSet, most: int) -> tuple[FileChange, ...]:
    """Return at most so many of the changes, with reasons that can be shown. Names stay as they are."""
    return tuple(replace(change, why=_clean_reason(change.why)) for change in change_set.changes[:most])


def _check(kind: str, size: int, name: str) -> None:
    if kind != "file":
        raise FileError(f"{name} is not an ordinary file. Pack a folder into one file first (tar, zip).")
    if size > LARGEST:
        most = LARGEST // 1000**3
        raise FileError(f"{name} has {size:,} bytes; files up to {most} GB are copied. Use rsync or scp.")


def _may_be_generated(size: int) -> bool:
    return size <= PART and size % _PAGE == 0


def _read_generated(descriptor: int, size: int, name: str) -> bytes | None:
    """Return what a file holds that is made when it is read; None for others. Raises OSError or FileError."""
    if not _may_be_generated(size):
        return None
    data = read_at(descriptor, 0, _MOST_GENERATED + 1)
    if len(data) == size or os.fstat(descriptor).st_size != size:
        return None
    return _check_generated(data, name)


def _check_generated(data: bytes, name: str) -> bytes:
    if len(data) > _MOST_GENERATED:
        most = _MOST_GENERATED // 1000**2
        raise FileError(f"{name} is generated when it is read, and is longer than {most} MB.")
    return data


def _write_new(here: Path, data: bytes, mode: int) -> Iterator[tuple[int, int]]:
    """Write a file at once. Raises FileError."""
    part = here.with_name(make_part_name(here.name, _make_key(data)))
    try:
        with _open_part(here, part, len(data)) as file:
            file.truncate(0)
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode & 0o777)
            os.fsync(file.fileno())
        appear(part, here)
    except OSError as error:
        raise FileError(f"{here}: {error.strerror or error}.") from None
    yield len(data), len(data)


def _make_key(*facts: object) -> str:
    return hashlib.sha256(repr(facts).encode("utf-8", "surrogateescape")).hexdigest()[:16]


@contextlib.contextmanager
def _open_part(here: Path, part: Path, size: int) -> Iterator["os.BufferedRandom"]:  # type: ignore[name-defined]
    """Yield the file in which a copy grows. Raises OSError."""
    if os.path.lexists(here):
        raise FileExistsError(17, "exists already; name another file")
    descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "r+b") as file:
        there = os.fstat(descriptor).st_size
        if there > size:
            file.truncate(0)
        elif shutil.disk_usage(here.parent).free < size - there:
            if not there:
                part.unlink()
            raise OSError(28, "the file does not fit on the disk")
        yield file


class _Copy:
    """The requests of one copy."""

    def __init__(self, target: TargetConnection, stopped: StopSignal) -> None:
        self._title = target.title
        self._stopped = stopped
        self._sent: deque[tuple[str, queue.Queue[object]]] = deque()
        try:
            self._link, _ = target.connect(stopped)
        except TargetError as error:
            raise FileError(str(error)) from None

    def facts(self, what: str, path: str, **more: object) -> FileFacts:
        answer = self._wait(path, self._link.begin("file", what=what, path=path, **more))
        if not isinstance(answer, FileFacts):
            raise FileError(f"{self._title} sent an invalid answer.")
        return answer

    def words(self, what: str, path: str, **more: object) -> str:
        answer = self._wait(path, self._link.begin("file", what=what, path=path, **more))
        return answer.text if isinstance(answer, FileWords) else ""

    def read_generated(self, facts: FileFacts) -> bytes | None:
        """Return what a file holds that is made when it is read; None for others."""
        if not _may_be_generated(facts.size):
            return None
        data = piece = self._read_part(facts.path, 0)
        if len(data) == facts.size or self.facts("look", facts.path).size != facts.size:
            return None
        while piece and len(data) <= _MOST_GENERATED:
            piece = self._read_part(facts.path, len(data))
            data += piece
        return _check_generated(data, facts.path)

    def _read_part(self, path: str, offset: int) -> bytes:
        answer = self._link.begin("file", what="read", path=path, offset=offset, size=PART)
        return self._decode(self._wait(path, answer))

    def _decode(self, part: object) -> bytes:
        """Return the bytes of a part of a file. Raises FileError."""
        try:
            return base64.b64decode(part.data, validate=True) if isinstance(part, FilePart) else b""
        except ValueError:
            raise FileError(f"{self._title} sent an invalid answer.") from None

    def read(self, path: str, start: int, size: int) -> Iterator[bytes]:
        """Yield the bytes of a file from there on, some of them asked for ahead."""
        waiting: deque[tuple[int, queue.Queue[object]]] = deque()
        offsets = iter(range(start, size, PART))
        while True:
            while len(waiting) < _ON_THE_WAY and (offset := next(offsets, None)) is not None:
                part_size = min(PART, size - offset)
                answer = self._link.begin("file", what="read", path=path, offset=offset, size=part_size)
                waiting.append((part_size, answer))
            if not waiting:
                return
            part_size, answer = waiting.popleft()
            data = self._decode(self._wait(path, answer))
            if len(data) != part_size:
                raise _ChangedError(path)
            yield data

    def send(self, path: str, key: str, offset: int, data: bytes) -> None:
        """Send some bytes, as soon as not too many are on their way."""
        text = base64.b64encode(data).decode()
        answer = self._link.begin("file", what="append", path=path, key=key, offset=offset, data=text)
        self._sent.append((path, answer))
        self.settle(_ON_THE_WAY)

    def settle(self, most: int = 0) -> None:
        """Wait until at most `most` parts are on their way."""
        while len(self._sent) > most:
            self._wait(*self._sent.popleft())

    def _wait(self, path: str, answer: "queue.Queue[object]") -> object:
        while True:
            if self._stopped.is_set():
                raise FileError("The copy was stopped; the same command continues it.")
            try:
                reply = answer.get(timeout=_GLANCE)
            except queue.Empty:
                continue
            if isinstance(reply, FileRefused):
                raise FileError(f"{path} on {self._title}: {reply.reason}.")
            if reply is None:
                why = self._link.lost or "it could not be done"
                raise FileError(f"{path} on {self._title}: {why}. The same command continues the copy.")
            return reply
