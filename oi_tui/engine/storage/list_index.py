"""An SQLite index of the conversation list, so that only changed files are read again."""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from oi_tui import paths
from oi_tui.engine.storage.listing import Listing

#: SQLite's messages for a file that is not our index. A lock or a full disk has other messages.
DAMAGED = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT)
#: The version of the table. An index of another version is rebuilt.
_LAYOUT = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (
    id TEXT PRIMARY KEY, time INTEGER, size INTEGER,
    title, messages INTEGER, model, cwd, problem
) WITHOUT ROWID;
"""
#: The keys are sorted alone first: with all columns, sorting takes several times the memory.
_ORDERED = "CREATE TEMP TABLE listed AS SELECT * FROM seen ORDER BY pinned DESC, time DESC"
#: The known facts of each file; none for a file that is new or has changed.
_KNOWN = """
SELECT listed.id, listed.time, listed.size, pinned, title, messages, model, cwd, problem
FROM listed LEFT JOIN facts
ON facts.id = listed.id AND facts.time = listed.time AND facts.size = listed.size ORDER BY listed.rowid
"""


class ListEntry(NamedTuple):
    """The list entry of a file."""

    title: str
    messages: int
    model: str
    cwd: str
    problem: str | None = None


class ListIndex:
    """The facts of conversations by file, time and size; may be lost at any time, and is only for speed."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def make_listing(
        self,
        files: Callable[[], Iterable[tuple[str, os.stat_result]]],
        named: Mapping[str, Mapping[str, Any]],
        facts: Callable[[str], ListEntry],
    ) -> Listing:
        """Return all the files as a list, with the titles and pins that were given;
        `facts` reads one of them.
        """
        for attempt in range(2):
            try:
                with contextlib.closing(self._open_index()) as base:
                    return _list(base, files(), named, facts)
            except OSError:
                break
            except (sqlite3.Error, TypeError, ValueError, ArithmeticError, AttributeError) as error:
                code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
                if attempt or code & 0xFF not in DAMAGED:
                    break
                # The index can be rebuilt. Its rollback journal belongs to it.
                for item in (self._path, Path(f"{self._path}-journal")):
                    with contextlib.suppress(OSError):
                        item.unlink(missing_ok=True)
        # Without an index, everything is read again.
        with contextlib.closing(sqlite3.connect(":memory:")) as base:
            return _list(base, files(), named, facts)

    def _open_index(self) -> sqlite3.Connection:
        create_file(self._path)
        return sqlite3.connect(self._path, timeout=2)


def create_file(path: Path) -> None:
    """Create the file of an index unless it is there, for its owner only. Raises OSError.

    Its folder is not created: it may be on a disk that is not mounted, and an empty folder in its place would
    say that all conversations were deleted.
    """
    path.parent.stat()
    paths.make_private(path.parent)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))


def read_time(status: os.stat_result) -> int:
    """Return when a file was changed, in nanoseconds, or the nearest time that SQLite can store.

    An integer of SQLite has 64 bits, which are enough for the years 1678 to 2261.
    """
    return max(-(2**63), min(status.st_mtime_ns, 2**63 - 1))


def _list(
    base: sqlite3.Connection,
    files: Iterable[tuple[str, os.stat_result]],
    named: Mapping[str, Mapping[str, Any]],
    facts: Callable[[str], ListEntry],
) -> Listing:
    base.executescript("PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -200;")
    (layout,) = base.execute("PRAGMA user_version").fetchone()
    if layout != _LAYOUT:
        base.executescript(f"DROP TABLE IF EXISTS facts; {_SCHEMA} PRAGMA user_version = {_LAYOUT};")
    base.execute("CREATE TEMP TABLE seen (id TEXT, time INTEGER, size INTEGER, pinned INTEGER)")
    pinned = {id_ for id_, entry in named.items() if entry.get("pinned") is True}
    base.executemany(
        "INSERT INTO seen VALUES (?, ?, ?, ?)",
        ((id_, read_time(status), status.st_size, id_ in pinned) for id_, status in files),
    )
    base.execute(_ORDERED)
    listing = Listing()
    changed: list[tuple[object, ...]] = []
    cursor = base.execute(_KNOWN)
    # In batches: row by row takes three times as long, and all at once twice the memory.
    while rows := cursor.fetchmany(500):
        for place, (id_, time, size, pin, _, count, *_) in enumerate(rows):
            if count is None:
                fresh = _make_row(facts(id_))
                changed.append((id_, time, size, *fresh))
                rows[place] = (id_, time, size, pin, *fresh)
        ids, times, _, pins, titles, counts, models, folders, problems = zip(*rows, strict=True)
        listing.extend(
            ids,
            [_decode_title(named.get(id_), title) for id_, title in zip(ids, titles, strict=True)],
            [time / 1e9 for time in times],
            counts,
            [(_decode_text(cwd), _decode_text(model)) for cwd, model in zip(folders, models, strict=True)],
            pinned=sum(pins),
            problems={i: _decode_text(why) for i, why in zip(ids, problems, strict=True) if why is not None},
        )
    # What cannot be stored is read again the next time.
    with contextlib.suppress(sqlite3.Error):
        _save(base, changed, len(listing))
    return listing


def _save(base: sqlite3.Connection, changed: Sequence[tuple[object, ...]], count: int) -> None:
    base.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?, ?, ?, ?, ?)", changed)
    (row_count,) = base.execute("SELECT count(*) FROM facts").fetchone()
    if row_count > count:
        base.execute("DELETE FROM facts WHERE id NOT IN (SELECT id FROM seen)")
    base.commit()


def _decode_title(given: Mapping[str, Any] | None, own: str | bytes) -> str:
    return (given and (given.get("title") or given.get("suggested"))) or _decode_text(own)


def _make_storable(text: str) -> str | bytes:
    """Return the text, or its bytes: a name of odd bytes, or half a character, is no text to SQLite."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def _decode_text(stored: str | bytes) -> str:
    return stored if isinstance(stored, str) else stored.decode("utf-8", "surrogatepass")


def _make_row(facts: ListEntry) -> tuple[str | bytes, int, str | bytes, str | bytes, str | bytes | None]:
    problem = None if facts.problem is None else _make_storable(facts.problem)
    return (
        _make_storable(facts.title),
        facts.messages,
        _make_storable(facts.model),
        _make_storable(facts.cwd),
        problem,
    )
