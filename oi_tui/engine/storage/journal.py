"""Writes one conversation to an append-only file. Each record is on disk before it is shown.

Each record goes to the system in one `write`, so that two writers never tear each other's lines, and a line
that was cut off by a crash or a full disk is taken back or closed with a newline before the next one.
"""

import contextlib
import errno
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oi_tui import paths
from oi_tui.engine.storage import records
from oi_tui.engine.storage.append_file import (
    explain_not_saved,
    has_newline_at_end,
    lock,
    open_for_adding,
    put_in_place,
)
from oi_tui.engine.storage.records import JournalContents, encode, make_title
from oi_tui.engine.storage.undo_history import MOST, UndoHistory, make_undo
from oi_tui.messages import Message, make_message_id

#: The pause after a failed attempt before the next one is made automatically, in seconds.
RETRY_SECONDS = 2.0
#: Where a whole conversation is written before it has its name.
COMING = ".coming-"


class Journal:
    """A conversation that is being written. Made by `Store`; every method may be called from any thread.

    Trouble with the disk never raises. What could not be saved stays in memory, is tried again with every
    call and by itself every two seconds, and `trouble` says in a sentence what is wrong until it is saved.
    The file comes into being with the first message, so an unused conversation leaves nothing behind.
    """

    def __init__(
        self,
        path: Path | None,
        header: Mapping[str, Any],
        contents: JournalContents | None = None,
        *,
        descriptor: int | None = None,
        exists: bool = False,
        notices: Iterable[str] = (),
    ) -> None:
        contents = contents or JournalContents()
        #: None: this conversation is not saved, on purpose.
        self._path = path
        self._header = dict(header)
        self._messages = dict(contents.messages)
        self._taken_back = list(contents.taken_back)
        #: What messages that are being written have gained, in pieces, and their lengths with it: joining
        #: them each time would make the last word of a long reply cost more than its first.
        self._gained: dict[str, list[str]] = {}
        self._lengths: dict[str, int] = {}
        #: The ids of messages that were taken out. An older copy of the file may have them.
        self._forgotten = set(contents.forgotten)
        self._foreign = list(contents.foreign)
        #: The file was written in an earlier version, and says so until the first new record.
        self._older = exists and contents.version < records.VERSION
        #: What the person should know about the file, in sentences: damage, or that this is a copy.
        self.notices = (*notices, *contents.notices)
        #: Why the newest messages are not on disk, in a sentence; None when they are.
        self.trouble: str | None = None
        self._lock = threading.RLock()
        self._file = descriptor
        self._exists = exists
        self._torn = descriptor is not None and not has_newline_at_end(descriptor)
        #: Where the last record that was written ends. A file that is shorter was cut off by somebody else.
        self._end = 0 if descriptor is None else os.fstat(descriptor).st_size
        self._pending: list[_Record] = []
        #: Written but not yet known to be on disk. A failed fsync may have thrown it away.
        self._unsynced: list[_Record] = []
        self._folder_synced = exists
        #: Called with the conversation's id when it is first written to, and once more when it is closed.
        self.used: Callable[[str], None] = lambda _: None
        #: Called with the conversation's id and its last record whenever one is on disk.
        self.saved: Callable[[str, bytes], None] = lambda _id, _record: None
        self._was_used = False
        self._closed = threading.Event()
        self._retrying: threading.Thread | None = None

    @property
    def id(self) -> str:
        """The conversation's name in the store."""
        return str(self._header["id"])

    @property
    def title(self) -> str:
        """The conversation's title, as it was when this journal was opened or begun."""
        return str(self._header.get("title") or "")

    def use_model(self, name: str) -> None:
        """Note the model that the conversation is begun with; it counts until there is a file."""
        with self._lock:
            if not self._exists:
                self._header["model"] = name

    @property
    def path(self) -> Path | None:
        """The file; None when the conversation is not saved. It need not exist yet."""
        return self._path

    @property
    def messages(self) -> list[Message]:
        """The messages as they stand, in order."""
        with self._lock:
            self._join()
            return list(self._messages.values())

    def put(self, message: Message) -> None:
        """Save the message, in place of the one with its id if there is one.

        It is on disk when this returns, unless there is `trouble`.
        """
        with self._lock:
            if not self.title and message.role == "user":
                self._header["title"] = make_title(message)
                if self._exists:
                    self._add("title", self.title)
            self._messages[message.id] = message
            self._forgotten.discard(message.id)
            self._gained.pop(message.id, None)
            self._add("message", message.to_dict(), message.id)
            self._flush(sync=True)

    def grow(self, id: str, text: str) -> None:
        """Add text to a message that was `put` before.

        It survives the end of the application, but not a power cut.
        """
        with self._lock:
            before = self._messages.get(id)
            if before is None or not text:
                return
            pieces = self._gained.setdefault(id, [])
            at = self._lengths[id] if pieces else len(before.content)
            pieces.append(text)
            self._lengths[id] = at + len(text)
            self._add("grow", id, id, at=at, text=text)
            self._flush(sync=False)

    def _join(self) -> None:
        """Put what messages have gained into them."""
        for key, pieces in self._gained.items():
            if before := self._messages.get(key):
                self._messages[key] = before.replace(content="".join([before.content, *pieces]))
        self._gained.clear()

    def forget(self, ids: Iterable[str]) -> None:
        """Take messages out of the conversation."""
        with self._lock:
            self._join()
            dropped = [entry for key in ids if (entry := self._messages.pop(key, None)) is not None]
            if dropped:
                self._forgotten |= {message.id for message in dropped}
                last = next(reversed(self._messages), None)
                if step := make_undo(dropped, len(self._messages), last):
                    self._taken_back = [*self._taken_back, step][-MOST:]
                self._add("forget", [message.id for message in dropped])
                self._flush(sync=True)

    @property
    def taken_back(self) -> tuple[UndoHistory, ...]:
        """The messages removed from the end, step by step, also before it was opened."""
        with self._lock:
            return tuple(self._taken_back)

    def save(self) -> None:
        """Write what is not on disk yet, and the whole conversation if there is no file."""
        with self._lock:
            if self._path is not None and not self._exists:
                self._appear(self._path)
            self._flush(sync=True)

    def close(self) -> None:
        """Write what is left and close the file. What comes later is still saved."""
        self._closed.set()
        with self._lock:
            if self._pending or self._unsynced:
                self._flush(sync=True)
            self._let_go()
            if self._was_used:
                self.used(self.id)
            retrying = self._retrying
        if retrying is not None and retrying is not threading.current_thread():
            retrying.join()

    def rescue(self, folder: Path) -> Path:
        """Write the whole conversation to another folder, for its owner only. Raises OSError.

        The file is one that the store can open once it lies with the others.
        """
        with self._lock:
            path = folder / f"{self.id}.jsonl"
            file = open_for_adding(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
            try:
                with os.fdopen(file, "wb") as stream:
                    stream.writelines(record.data for record in self._list_everything())
                    stream.flush()
                    paths.flush(file)
            except OSError:
                path.unlink(missing_ok=True)
                raise
            return path

    # ---- Records

    def _add(self, kind: str, value: object, key: str | None = None, **more: object) -> None:
        if self._older:
            self._older = False
            self._add("oi_tui", records.VERSION)
        record = self._make_record(kind, value, key, **more)
        if kind == "message":
            # While nothing can be saved, a newer version replaces an older one that waits.
            # In front of a record that takes it out it would be lost.
            taken_out = [i for i, waiting in enumerate(self._pending) if waiting.kind == "forget"]
            first = taken_out[-1] + 1 if taken_out else 0
            places = [i for i in range(first, len(self._pending)) if self._pending[i].key == key]
            whole = [i for i in places if self._pending[i].kind == "message"]
            if whole:
                self._pending[whole[0]] = record
                places.remove(whole[0])
            for place in reversed(places):
                del self._pending[place]
            if whole:
                return
        self._pending.append(record)

    def _make_record(self, kind: str, value: object, key: str | None = None, **more: object) -> "_Record":
        return _Record(encode({kind: value, **more, "n": len(self._messages)}), key, kind)

    def _list_everything(self, *, begins: bool = True) -> list["_Record"]:
        """Return records that say all there is to say, for a file that `begins` with them."""
        self._join()
        count = len(self._messages)
        header = {"oi_tui": records.VERSION, **self._header, "n": 0 if begins else count}
        return [
            _Record(encode(header), None, "oi_tui"),
            *(_Record(line + b"\n", None, "foreign") for line in self._foreign),
            *(
                _Record(encode({"message": message.to_dict(), "n": count}), key, "message")
                for key, message in self._messages.items()
            ),
        ]

    # ---- Disk

    def _flush(self, *, sync: bool) -> None:
        if self._path is None:
            self._pending.clear()
            return
        try:
            file = self._open(self._path)
            last = self._pending[-1].data if self._pending else None
            while self._pending:
                self._write(file, self._pending[0].data)
                self._unsynced.append(self._pending.pop(0))
            if sync:
                self._sync(file, self._path.parent)
                if not self._was_used:
                    self._was_used = True
                    self.used(self.id)
                if last is not None:
                    self.saved(self.id, last)
            if self._closed.is_set():
                self._let_go()
        except OSError as error:
            self.trouble = explain_not_saved(error, self._path)
            self._remove_empty(self._path)
            self._retry_later()
        else:
            self.trouble = None

    def _remove_empty(self, path: Path) -> None:
        """Remove a file to which nothing could be written, which would otherwise count as a conversation."""
        with contextlib.suppress(OSError):
            if self._file is not None and os.fstat(self._file).st_size == 0:
                if self._is_still_there(self._file, path):
                    path.unlink()
                self._let_go()
                self._exists = False

    def _appear(self, path: Path) -> None:
        """Begin the file with all records, completely or not at all. If that fails, `_flush` reports it."""
        with contextlib.suppress(OSError):
            paths.make_private(path.parent)
            with tempfile.TemporaryDirectory(dir=path.parent, prefix=COMING) as folder:
                put_in_place(self.rescue(Path(folder)), path)
            self._exists = True
            self._pending.clear()
            self.saved(self.id, self._list_everything()[-1].data)
            self._file = open_for_adding(path, os.O_RDWR)
            lock(self._file)

    def _write(self, file: int, record: bytes) -> None:
        data = b"\n" + record if self._torn else record
        try:
            byte_count = os.write(file, data)
        except OSError as error:
            # Without space nothing was written; after any other error that is unknown.
            self._torn = self._torn or error.errno not in (errno.ENOSPC, errno.EDQUOT)
            raise
        if byte_count == len(data):
            self._torn = False
            self._end = os.lseek(file, 0, os.SEEK_CUR)
            return
        # On a full disk a write is cut short without an error. Taking it back works even then; it is only
        # done when nobody else wrote after us.
        torn, self._torn = self._torn, True
        with contextlib.suppress(OSError):
            end = os.lseek(file, 0, os.SEEK_CUR)
            if os.fstat(file).st_size == end:
                os.ftruncate(file, end - byte_count)
                self._torn = torn
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _sync(self, file: int, folder: Path) -> None:
        try:
            paths.flush(file)
            if not self._folder_synced:
                paths.sync(folder)
                self._folder_synced = True
        except OSError:
            # The system may have dropped what it failed to write and say "all well" the next time: only
            # writing it again helps.
            self._pending = [*self._unsynced, *self._pending]
            self._unsynced.clear()
            raise
        self._unsynced.clear()

    def _open(self, path: Path) -> int:
        if self._file is not None:
            if self._is_still_there(self._file, path):
                self._restore_end(self._file)
                return self._file
            self._let_go()
            self._exists = False
        if self._exists:
            try:
                self._file = open_for_adding(path, os.O_RDWR)
                self._torn = not has_newline_at_end(self._file)
                self._restore_end(self._file)
                return self._file
            except FileNotFoundError:
                self._exists = False
        try:
            self._file = self._create(path)
        except FileExistsError:
            # Another file has this name now, and it must not be touched.
            self._header["id"] = make_id()
            self._path = path = path.with_name(f"{self.id}.jsonl")
            self._file = self._create(path)
        self._exists = True
        self._folder_synced = False
        self._torn = False
        self._end = 0
        self._unsynced.clear()
        self._pending = self._list_everything()
        return self._file

    def _restore_end(self, file: int) -> None:
        """Write everything again where the file was cut off, or overwritten with an older copy."""
        if os.fstat(file).st_size >= self._end:
            return
        self._torn = not has_newline_at_end(file)
        self._end = 0
        self._unsynced.clear()
        everything = self._list_everything(begins=False)
        if self._foreign:
            lines = _read_lines(file)
            everything = [item for item in everything if item.kind != "foreign" or item.data not in lines]
        forgotten = sorted(self._forgotten - self._messages.keys())
        self._pending = [self._make_record("forget", forgotten), *everything]

    def _create(self, path: Path) -> int:
        paths.make_private(path.parent)
        file = open_for_adding(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        lock(file)
        return file

    def _is_still_there(self, file: int, path: Path) -> bool:
        try:
            path_status, file_status = path.lstat(), os.fstat(file)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True
        return (path_status.st_dev, path_status.st_ino) == (file_status.st_dev, file_status.st_ino)

    def _let_go(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = None

    def _retry_later(self) -> None:
        if self._closed.is_set() or self._retrying is not None:
            return
        self._retrying = threading.Thread(target=self._retry, name="journal", daemon=True)
        self._retrying.start()

    def _retry(self) -> None:
        while not self._closed.wait(RETRY_SECONDS):
            with self._lock:
                self._flush(sync=True)
                if self.trouble is None:
                    self._retrying = None
                    return


@dataclass(frozen=True, slots=True)
class _Record:
    data: bytes
    key: str | None
    kind: str


def _read_lines(file: int) -> set[bytes]:
    with os.fdopen(os.dup(file), "rb") as stream:
        stream.seek(0)
        return set(stream)


def make_id() -> str:
    """Make an id for a conversation that reveals nothing, not even the time."""
    return make_message_id()[:16]


def make_header(id: str, *, cwd: str, model: str, title: str = "") -> dict[str, Any]:
    """Make the header with which a conversation begins."""
    return {"id": id, "created": time.time(), "cwd": cwd, "model": model, "title": title}
