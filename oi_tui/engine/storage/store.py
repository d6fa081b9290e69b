"""All conversations on disk: a journal for each, and an index of the names that people gave them."""

import contextlib
import errno
import json
import os
import re
import shutil
import stat
import tempfile
import time
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path

from oi_tui import paths
from oi_tui.engine.storage import records
from oi_tui.engine.storage.append_file import lock, put_in_place
from oi_tui.engine.storage.end_notes import EndNotes
from oi_tui.engine.storage.journal import COMING, Journal, make_header, make_id
from oi_tui.engine.storage.list_index import ListEntry, ListIndex
from oi_tui.engine.storage.listing import Listing, Summary
from oi_tui.engine.storage.records import JournalContents
from oi_tui.engine.storage.saved_variables import SavedVariables
from oi_tui.engine.storage.titles import TitleIndex
from oi_tui.messages import Message

_SUFFIX = ".jsonl"
_CATALOGUE = "catalogue"
#: Which conversation was used last, in a few bytes. Programs take what ends with .json for conversations.
_LAST, _SHORT = "last", 1_000
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
_COUNT = re.compile(rb'"n":(\d{1,9})(?:,"crc":"[0-9a-f]{8}")?\}\s*$')
#: The largest file that is read. A sparse file may claim to be larger.
_MAX_BYTES = 1 << 30
#: How long a deleted conversation can be restored, in seconds.
_KEEP_DELETED = 30 * 24 * 3600
#: An unfinished file older than this has no writer left, in seconds.
_LEFT_BEHIND = 24 * 3600
#: Where earlier versions kept what a list shows.
_FORMER_INDEX = "index.json"


_ELSEWHERE = "This conversation is open in another window; you are in a copy of it."
_NEWER = (
    "This conversation was written by a newer version of oi-tui; you are in a copy of what this version "
    "can read. The original stays as it is."
)


_EMPTY = "This conversation's file is empty. Its messages are lost."


class StoreError(OSError):
    """A conversation that cannot be opened, in a sentence that names it."""


class NoConversationError(StoreError):
    """There is no conversation of that id."""


class Store:
    """The conversations in a folder. The folder need not exist; it is made with the first conversation."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._trash = folder / "deleted"
        self.variables = SavedVariables(folder)
        self._ends = EndNotes(folder)
        self._catalogue = TitleIndex(folder / f"{_CATALOGUE}{_SUFFIX}")
        #: The titles that people, or a model, gave to conversations that were opened or named here.
        self.given: dict[str, str] = {}
        self._index = ListIndex(folder / "list.sqlite3")
        self._journals: weakref.WeakSet[Journal] = weakref.WeakSet()

    def create(
        self, *, cwd: Path | str, model: str, title: str = "", messages: Sequence[Message] = ()
    ) -> Journal:
        """Create a conversation. Nothing is written before its first message, or before `save`."""
        header = make_header(make_id(), cwd=str(cwd), model=model, title=title)
        contents = JournalContents(messages={message.id: message for message in messages})
        return self._note_journal(Journal(self._make_path(header["id"]), header, contents))

    @staticmethod
    def create_unsaved(
        *, cwd: Path | str, model: str, title: str = "", messages: Sequence[Message] = ()
    ) -> Journal:
        """Create a conversation that is kept in memory only."""
        contents = JournalContents(messages={message.id: message for message in messages})
        return Journal(None, make_header(make_id(), cwd=str(cwd), model=model, title=title), contents)

    def add(
        self,
        contents: JournalContents,
        *,
        id: str,
        title: str,
        cwd: str,
        model: str,
        created: float | None = None,
        updated: float | None = None,
    ) -> None:
        """Save a whole conversation that was read elsewhere. Raises OSError if it cannot be saved."""
        header = make_header(id, cwd=cwd, model=model, title=title)
        header["created"] = created or updated or header["created"]
        target = self._make_path(id)
        # Written completely or not at all: half of a copy would count as the conversation.
        paths.make_private(self.folder)
        with tempfile.TemporaryDirectory(dir=self.folder, prefix=COMING) as folder:
            journal = Journal(target, header, contents).rescue(Path(folder))
            if updated is not None:
                with contextlib.suppress(OSError, OverflowError):
                    os.utime(journal, (updated, updated))
            put_in_place(journal, target)
        paths.sync(self.folder)

    def fork(self, id: str, last: str | None = None) -> str:
        """Copy a conversation, up to the message `last` if given; returns the copy's id. Raises OSError."""
        contents = self.read_contents(id)
        if last in contents.messages:
            messages = list(contents.messages)
            for key in messages[messages.index(last) + 1 :]:
                del contents.messages[key]
        fresh = make_id()
        title = self._catalogue.find_title(id) or contents.header.get("title")
        cwd, model = (str(contents.header.get(name) or "") for name in ("cwd", "model"))
        self.add(contents, id=fresh, title=records.make_copy_title(title or ""), cwd=cwd, model=model)
        return fresh

    def knows(self, id: str) -> bool:
        """Return whether the conversation is here, or was deleted and can still be restored."""
        name = self._make_path(id).name
        return (self.folder / name).exists() or (self._trash / name).exists()

    def _list_ids(self) -> set[str]:
        """Return the ids of all that is here or can be restored. Raises OSError where that is not known."""
        names = os.listdir(self.folder)  # noqa: PTH208 -- of ten thousand names, none is made a path
        with contextlib.suppress(FileNotFoundError):
            names += os.listdir(self._trash)  # noqa: PTH208
        return {name.removesuffix(_SUFFIX) for name in names}

    def open(self, id: str) -> tuple[Journal, list[Message]]:
        """Open a stored conversation and read its messages. Raises StoreError.

        A conversation that is open elsewhere is opened as a copy of its own; the journal's `notices` say so.
        """
        path = self._make_path(id)
        for mine in self._journals:
            if mine.id == id:
                # Opened again by this program: the earlier one is closed.
                mine.close()
        descriptor, writable = self._open(path, id)
        try:
            note = self._ends.read(id)
            raw = _read_all(descriptor, id)
            contents = records.parse(raw)
            if raw and note is not None and note.end not in raw:
                contents.has_lost_end = True
                contents.missing = max(contents.missing, note.messages - len(contents.messages))
            # A file that is understood only in part is left alone.
            newer = contents.version > records.VERSION
            claimed = writable and not newer and lock(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        header = {**make_header(id, cwd="", model=""), **contents.header, "id": id}
        if title := self._catalogue.find_title(id):
            header["title"] = self.given[id] = title
        header.pop("oi_tui", None)
        if claimed:
            emptied = () if raw else (_EMPTY,)
            journal = Journal(path, header, contents, descriptor=descriptor, exists=True, notices=emptied)
        elif writable or newer:
            os.close(descriptor)
            header |= {"id": make_id(), "forked": id}
            if header["title"]:
                header["title"] = records.make_copy_title(header["title"])
            notice = _NEWER if newer else _ELSEWHERE
            contents.is_cut_off = contents.is_cut_off and newer
            for key, message in contents.messages.items():
                if message.reason in records.ENDED_REASONS and not newer:
                    contents.messages[key] = message.replace(reason="It continued in the other window.")
            journal = Journal(self._make_path(header["id"]), header, contents, notices=(notice,))
        else:
            os.close(descriptor)
            journal = Journal(path, header, contents, exists=True)
        return self._note_journal(journal), journal.messages

    def read(self, id: str) -> list[Message]:
        """Return the messages of a conversation, without claiming it. Raises StoreError."""
        return list(self.read_contents(id).messages.values())

    def read_contents(self, id: str) -> JournalContents:
        """Return everything in a conversation's file, without claiming it. Raises StoreError."""
        return records.parse(self.read_bytes(id))

    def read_bytes(self, id: str) -> bytes:
        """Return the bytes of a conversation's file. Raises StoreError."""
        descriptor, _ = self._open(self._make_path(id), id, os.O_RDONLY)
        try:
            return _read_all(descriptor, id)
        finally:
            os.close(descriptor)

    def find_latest(self) -> str | None:
        """Return the id of the conversation that was last written to, also
        when the clock went backwards since.
        """
        times = {id_: status.st_mtime_ns for id_, status in self.list_files()}
        newest = max(times, key=times.__getitem__, default=None)
        noted, mark = self._read_last_id()
        # Dated after everything that was there then: it was written to later.
        return noted if noted in times and newest is not None and times[newest] <= mark else newest

    def _note_last(self, id: str) -> None:
        """Note that the conversation is used now, and the newest date that any has: clocks are set back."""
        mark = max((status.st_mtime_ns for _, status in self.list_files()), default=0)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        # Cut short or lost, it is done without.
        with contextlib.suppress(OSError):
            descriptor = os.open(self.folder / _LAST, flags, 0o600)
            try:
                os.write(descriptor, json.dumps({"id": id, "newest": mark}).encode())
            finally:
                os.close(descriptor)

    def _read_last_id(self) -> tuple[str | None, int]:
        try:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with os.fdopen(os.open(self.folder / _LAST, flags), "rb") as file:
                note = json.loads(file.read(_SHORT))
            match note:
                case {"id": str(id_), "newest": int(mark)}:
                    return id_, mark
        except (OSError, ValueError, RecursionError):
            pass
        return None, 0

    def find(self, wanted: str) -> str:
        """Return the id that is, or alone begins with, what was asked for. Raises StoreError."""
        ids = [name for name, _ in self.list_files()]
        if wanted in ids:
            return wanted
        matches = [name for name in ids if wanted and name.startswith(wanted)]
        if len(matches) > 1:
            raise StoreError(f"{len(matches)} conversations begin with {wanted!r}.")
        if not matches:
            raise StoreError(f"No conversation {wanted!r}.")
        return matches[0]

    def explain_unreadable(self) -> str | None:
        """Return why no conversation can be listed, though there may be some; None where they can be."""
        try:
            os.scandir(self.folder).close()
        except FileNotFoundError:  # nothing was saved yet
            return None
        except OSError as error:
            return f"The folder {paths.shorten(self.folder)} cannot be read: {error.strerror or error}."
        return None

    def make_listing(self) -> Listing:
        """List every conversation; those that cannot be read say so."""
        return self._index.make_listing(
            lambda: self.list_files(everything=True), self._catalogue.read_entries(), self._read_facts
        )

    def list_summaries(self) -> list[Summary]:
        """Return every conversation, the last written first; those that cannot be read say so."""
        self.delete_expired()
        return sorted(self.make_listing(), key=lambda summary: summary.updated, reverse=True)

    def rename(self, id: str, title: str) -> None:
        """Give the conversation a title. Raises OSError."""
        self._make_path(id)
        self._catalogue.save(id, title=title)
        self.given[id] = self._catalogue.find_title(id) or title

    def suggest_title(self, id: str, title: str) -> None:
        """Give the conversation a title that counts until a person gives it one. Raises OSError."""
        self._make_path(id)
        self._catalogue.save(id, suggested=title)
        self.given[id] = self._catalogue.find_title(id) or title

    def is_named(self, id: str) -> bool:
        """Return whether it has a title other than its first words."""
        return self._catalogue.find_title(id) is not None

    def pin(self, id: str, pinned: bool) -> None:
        """Keep the conversation at the top of lists, or no longer. Raises OSError."""
        self._make_path(id)
        self._catalogue.save(id, pinned=pinned)

    def delete(self, id: str) -> None:
        """Put the conversation aside; it can be restored for 30 days. Raises OSError."""
        paths.make_private(self._trash)
        path = self._make_path(id)
        trash_path = self._trash / path.name
        if _is_same(path, trash_path):
            # Bringing it back was cut short; renaming one name of a file to another of its own does nothing.
            trash_path.unlink()
        path.rename(trash_path)
        paths.sync(self._trash)
        paths.sync(self.folder)

    def restore(self, id: str) -> None:
        """Bring a deleted conversation back. Raises OSError."""
        target = self._make_path(id)
        trash_path = self._trash / target.name
        if _is_same(target, trash_path):
            trash_path.unlink()
        else:
            put_in_place(trash_path, target)
        paths.sync(self.folder)

    def list_deleted(self) -> list[str]:
        """Return the ids of the conversations that can be restored, the last deleted first."""
        conversations = []
        with contextlib.suppress(OSError):
            for path in self._trash.iterdir():
                name = path.name.removesuffix(_SUFFIX)
                if name != path.name and _ID.fullmatch(name):
                    conversations.append((path.lstat().st_ctime_ns, name))
        return [name for _, name in sorted(conversations, reverse=True)]

    # ---- Files

    def _note_journal(self, opened: Journal) -> Journal:
        opened.used = self._note_last
        opened.saved = self._ends.save
        self._journals.add(opened)
        return opened

    def _make_path(self, id: str) -> Path:
        if not _ID.fullmatch(id) or id == _CATALOGUE:
            raise NoConversationError(f"No conversation {id!r}.")
        return self.folder / f"{id}{_SUFFIX}"

    def list_files(self, *, everything: bool = False) -> Iterator[tuple[str, os.stat_result]]:
        """Yield the id and status of each conversation's file; with `everything` also
        of what cannot be one.
        """
        try:
            with os.scandir(self.folder) as entries:
                for entry in entries:
                    name = entry.name.removesuffix(_SUFFIX)
                    if name in (entry.name, _CATALOGUE) or not _ID.fullmatch(name):
                        continue
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except OSError:  # gone meanwhile
                        continue
                    if everything or stat.S_ISREG(status.st_mode):
                        yield name, status
        except OSError:
            return

    def _open(self, path: Path, id: str, access: int = os.O_RDWR) -> tuple[int, bool]:
        flags = os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            try:
                descriptor, writable = os.open(path, access | flags), access == os.O_RDWR
            except PermissionError:
                descriptor, writable = os.open(path, os.O_RDONLY | flags), False
            except OSError as error:
                if error.errno != errno.EROFS:
                    raise
                descriptor, writable = os.open(path, os.O_RDONLY | flags), False
        except FileNotFoundError:
            raise NoConversationError(f"No conversation {id!r}.") from None
        except OSError as error:
            # No link is followed, and the system's words for that speak of many.
            reason = "it is a symbolic link" if error.errno == errno.ELOOP else error.strerror
            raise StoreError(f"Could not open the conversation {id!r}: {reason}.") from None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise StoreError(f"Could not open the conversation {id!r}: it is not a regular file.")
        return descriptor, writable

    def _read_facts(self, id: str) -> ListEntry:
        """Read a file's list entry from its first and last bytes."""
        try:
            status = self._make_path(id).lstat()
        except OSError as error:
            return ListEntry(id, 0, "", "", str(error.strerror))
        if not stat.S_ISREG(status.st_mode):
            return ListEntry(id, 0, "", "", "not a regular file")
        if status.st_size > _MAX_BYTES:
            return ListEntry(id, 0, "", "", "too large")
        try:
            descriptor, _ = self._open(self._make_path(id), id, os.O_RDONLY)
        except StoreError as error:
            return ListEntry(id, 0, "", "", str(error))
        try:
            head = os.pread(descriptor, 8192, 0)
            tail = os.pread(descriptor, 64, max(0, status.st_size - 64))
            header: object = None
            with contextlib.suppress(ValueError, RecursionError):
                header = json.loads(head.partition(b"\n")[0])
            match = _COUNT.search(tail)
            if not isinstance(header, dict) or not header.get("title") or match is None:
                contents = records.parse(_read_all(descriptor, id))
                header = contents.header
                count = len(contents.messages)
                if not header and not count:
                    problem = "nothing in it can be read" if status.st_size else "empty"
                    return ListEntry(id, 0, "", "", problem)
            else:
                count = int(match.group(1))
        except OSError as error:
            return ListEntry(id, 0, "", "", str(error))
        finally:
            os.close(descriptor)
        title, model, cwd = (value if isinstance(value, str) else "" for value in map(header.get, _SHOWN))
        return ListEntry(title, count, model, cwd)

    def delete_expired(self) -> None:
        """Delete permanently what was deleted a month ago, and remove unfinished files."""
        # The time of deletion is the time of the last change to the directory entry, not to the contents.
        limit = time.time() - _KEEP_DELETED
        with contextlib.suppress(OSError):
            for path in self._trash.iterdir():
                if path.lstat().st_ctime < limit:
                    path.unlink()
        self.variables.delete_unknown(self._list_ids)
        self._ends.delete_unknown(self._list_ids)
        with contextlib.suppress(OSError):
            for name in os.listdir(self.folder):  # noqa: PTH208 -- of ten thousand names, none is made a path
                # What a program left behind that was killed while it wrote.
                if not name.startswith(".") and name != _FORMER_INDEX:
                    continue
                path = self.folder / name
                if path.lstat().st_mtime < time.time() - _LEFT_BEHIND:
                    if name.startswith(COMING):
                        shutil.rmtree(path, ignore_errors=True)
                    elif path.suffix == ".tmp" or name == _FORMER_INDEX:
                        path.unlink()


_SHOWN = ("title", "model", "cwd")


def _is_same(one: Path, other: Path) -> bool:
    """Return whether both are names of the same file."""
    try:
        return os.path.samestat(one.lstat(), other.lstat())
    except OSError:
        return False


def _read_all(descriptor: int, id: str) -> bytes:
    size = os.fstat(descriptor).st_size
    if size > _MAX_BYTES:
        raise StoreError(f"Could not open the conversation {id!r}: it is too large ({size:,} bytes).")
    pieces, position = [], 0
    while piece := os.pread(descriptor, 1 << 22, position):
        pieces.append(piece)
        position += len(piece)
    return b"".join(pieces)
