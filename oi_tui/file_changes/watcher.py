"""Detects which files of the working directory changed while code ran."""

import contextlib
import errno
import os
import stat
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from oi_tui import paths
from oi_tui.file_changes.snapshots import LARGEST, ChangeSet, FileChange, Snapshots

#: Limits of a scan, in files and seconds. The rest of the folder is not watched.
MOST_FILES = 10_000
SCAN_SECONDS = 0.5
#: Limits of what is kept before the first run, in bytes and seconds.
KEEP_BYTES = 200_000_000
KEEP_SECONDS = 1.0
#: More changes than these are counted, but not listed.
MOST_CHANGES = 1_000
#: Folders of tools, which are made again and not restored; hidden folders are left alone, too.
IGNORED = frozenset(
    {
        *("node_modules", "__pycache__", "venv", "env", "site-packages", "bower_components", "target"),
        *("build", "dist", "lost+found", "Library"),
    }
)


@dataclass(slots=True)
class FolderListing:
    """A listing of a folder and everything below it, by relative path; "" is the folder itself.

    `files` are files, links, and folders that hold nothing.
    """

    files: dict[str, os.stat_result] = field(default_factory=dict)
    #: The folders that were listed whole, and all that were seen.
    folders: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)
    whole: bool = True

    def covers(self, path: str) -> bool:
        """Return whether a file would have been found there: its folder was listed,
        or would have been if it was.
        """
        folder = path.rpartition("/")[0]
        while folder and folder not in self.seen:
            folder = folder.rpartition("/")[0]
        return folder in self.folders


def scan(
    root: Path,
    stopped: Callable[[], bool] = lambda: False,
    *,
    avoid: Path | None = None,
    shallow: bool = False,
) -> FolderListing:
    """List files, links and empty folders, from the top down and never through links, until it is too much.

    `shallow`: those of the folder itself only. The folder `avoid` is left alone.
    """
    listing = FolderListing(seen={""})
    end = time.monotonic() + SCAN_SECONDS
    #: Folders, each with what is known of it: one that turns out to hold nothing is listed itself.
    waiting: deque[tuple[str, os.stat_result | None]] = deque([("", None)])
    device = None
    while waiting:
        folder, itself = waiting.popleft()
        inside: list[tuple[str, os.stat_result | None]] = []
        empty = itself is not None
        try:
            with _open_folder(root / folder, itself) as descriptor, os.scandir(descriptor) as entries:
                for entry in entries:
                    empty = False
                    if len(listing.files) >= MOST_FILES or time.monotonic() > end or stopped():
                        listing.whole = False
                        return listing
                    name = f"{folder}/{entry.name}" if folder else entry.name
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except OSError:  # gone meanwhile
                        continue
                    device = status.st_dev if device is None else device
                    if stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
                        listing.files[name] = status
                    elif stat.S_ISDIR(status.st_mode):
                        listing.seen.add(name)
                        if status.st_dev == device and not _is_ignored(root / name, avoid):
                            inside.append((name, status))
        except OSError:
            continue
        listing.folders.add(folder)
        if empty and itself is not None:
            listing.files[folder] = itself
        waiting.extend(() if shallow else sorted(inside, key=lambda item: item[0]))
    return listing


@contextlib.contextmanager
def _open_folder(path: Path, listed: os.stat_result | None) -> Iterator[int]:
    """Open the folder that was listed. Raises OSError where a link or another folder is in its place now.

    A program that still runs, perhaps in the sandbox, could otherwise show us files of other folders.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if listed is not None and (status.st_ino, status.st_dev) != (listed.st_ino, listed.st_dev):
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        yield descriptor
    finally:
        os.close(descriptor)


def _is_ignored(path: Path, avoid: Path | None) -> bool:
    if path.name in IGNORED or path.name.startswith(".") or path == avoid:
        return True
    return os.path.exists(path / "pyvenv.cfg")  # noqa: PTH110 -- Path.exists raises where nobody may look


@dataclass(frozen=True, slots=True)
class _FileState:
    stamp: tuple[int, ...]
    mode: int
    content: str | None
    why: str


class FileWatcher:
    """Looks at a folder before and after each run, and keeps what files were.

    What could not be read or kept is reported; nothing here raises, and nothing takes longer than the
    limits above. Methods may be called from any thread, one at a time.
    """

    def __init__(self, snapshots: Snapshots, folder: Path, most: int | None = None) -> None:
        """`most` is how many bytes are kept of files before the first run, instead of the usual limit."""
        self._most = most
        self.snapshots = snapshots
        self.folder = folder
        self._lock = threading.Lock()
        self._known: dict[str, _FileState] = {}
        self._before: FolderListing | None = None
        self._reported = False
        self._kept = 0
        # A person's home, and whatever is above it, is no place of work: it holds everything.
        home = paths.find_home()
        self._shallow = folder in (home, *home.parents)

    def before(self, stopped: Callable[[], bool] = lambda: False) -> None:
        """Look at the folder; code is about to run."""
        with self._lock:
            self._before = self._list_folder(stopped)

    def after(self, id: str, stopped: Callable[[], bool] = lambda: False) -> ChangeSet | None:
        """Look again: what changed while the code with this id ran; None when nothing did."""
        with self._lock:
            before, self._before = self._before, None
            if before is None:
                return None
            states = dict(self._known)
            now = self._list_folder(stopped)
            changes = self._find_changes(before, states, now)
            note = "" if before.whole and now.whole else self._describe_partial(now)
            if len(changes) > MOST_CHANGES:
                more = f"{len(changes) - MOST_CHANGES:,} more files changed; they are not listed."
                note = f"{more} {note}".strip()
                changes = changes[:MOST_CHANGES]
            if not changes and (not note or self._reported):
                return None
            change_set = ChangeSet(id, str(self.folder), tuple(changes), "" if self._reported else note)
            self._reported = self._reported or bool(note)
            if changes:
                try:
                    self.snapshots.save_change_set(change_set)
                except OSError as error:
                    why = paths.explain_write_error(error)
                    warning = f"They cannot be restored: their earlier contents could not be saved ({why})."
                    return ChangeSet(
                        id, change_set.folder, change_set.changes, f"{change_set.note} {warning}".strip()
                    )
            return change_set

    def _list_folder(self, stopped: Callable[[], bool]) -> FolderListing:
        listing = scan(self.folder, stopped, avoid=paths.data(), shallow=self._shallow)
        end = time.monotonic() + KEEP_SECONDS
        states: dict[str, _FileState] = {}
        for path, status in listing.files.items():
            stamp = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
            old = self._known.get(path)
            if old is not None and old.stamp == stamp:
                states[path] = old
                continue
            content, why = None, ""
            if path.rpartition("/")[2].startswith("."):
                why = "it is a hidden file, which may contain secrets"
            elif status.st_size > LARGEST:
                why = f"it is larger than {LARGEST // 1_000_000} MB"
            elif (
                self._kept + status.st_size > (self._most or KEEP_BYTES)
                or time.monotonic() > end
                or stopped()
            ):
                why = "there was too much to keep"
            else:
                try:
                    content = self.snapshots.save_file(self.folder / path, status)
                    self._kept += status.st_size
                except OSError as error:
                    why = f"it could not be saved ({paths.explain_write_error(error)})"
            states[path] = _FileState(stamp, stat.S_IMODE(status.st_mode), content, why)
        self._known = states
        return listing

    def _find_changes(
        self, before: FolderListing, known: dict[str, _FileState], now: FolderListing
    ) -> list[FileChange]:
        changes: list[FileChange] = []
        for path, new in self._known.items():
            old = known.get(path) if path in before.files else None
            if old is None:
                # A folder that was there with something in it is no new one.
                if before.covers(path) and path not in before.seen:
                    changes.append(FileChange(path, "created", None, new.content, new.mode, new.why))
            elif old.stamp != new.stamp and (
                old.content is None or (old.content, old.mode) != (new.content, new.mode)
            ):
                changes.append(
                    FileChange(path, "changed", old.content, new.content, old.mode, old.why or new.why)
                )
        for path in before.files.keys() - now.files.keys():
            if now.covers(path) and path in known and path not in now.seen:
                old = known[path]
                changes.append(FileChange(path, "deleted", old.content, None, old.mode, old.why))
        return sorted(changes, key=lambda change: change.path)

    def _describe_partial(self, now: FolderListing) -> str:
        folder = paths.shorten(self.folder)
        return (
            f"{folder} holds more than is looked at: changes of files outside the first {len(now.folders):,} "
            "of its folders are not listed."
        )
