"""A full-text index of conversations, which can be deleted and rebuilt."""

import contextlib
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from oi_tui.engine.storage.list_index import DAMAGED, create_file, read_time
from oi_tui.engine.storage.store import Store, StoreError
from oi_tui.messages import Message

#: A conversation with more words of its own (hexadecimal dumps, say) is not covered: it is read instead.
_MAX_WORDS = 100_000
_LONGEST_WORD = 60
#: How many words of a long query are looked up. The conversations found are searched for the others.
_MOST_PARTS = 30
_WORD = re.compile(r"[^\W_]+")
#: Characters of scripts that put no blanks between words: Thai to Khmer, and from the radicals to Hangul.
_RUN = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
#: The version of the tables. An index of another version is rebuilt.
_LAYOUT = 2
#: How much work is committed at once, in seconds.
_BATCH_SECONDS = 0.25

#: Without the index of prefixes, the first two letters of a word take seconds in ten thousand conversations.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS conversations (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT UNIQUE NOT NULL,
    time INTEGER NOT NULL,
    size INTEGER NOT NULL,
    whole INTEGER NOT NULL
);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
    text, content = '', detail = none, tokenize = 'unicode61', prefix = '2 3'
);
"""
#: Deletes conversations that are gone, or have changed since they were indexed.
_STALE = """
DELETE FROM conversations WHERE NOT EXISTS (
    SELECT 1 FROM seen
    WHERE seen.id = conversations.id AND seen.time = conversations.time AND seen.size = conversations.size
)
"""
_MISSING = """
SELECT id, time, size FROM seen WHERE id NOT IN (SELECT id FROM conversations) ORDER BY time DESC
"""


class FullTextIndex:
    """Finds conversations by the beginnings of words. Every method may be called from any thread.

    A conversation that changed is given a new row; the words of its old one stay behind until the index is
    made again, which happens when a third of it is of no use. Where SQLite has no full-text search, or the
    disk refuses, nothing is ever covered and everything has to be searched without it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        #: Conversations that changed since the last time are no longer in it.
        self._current = False

    def update(self, store: Store, stopped: Callable[[], bool] = lambda: False) -> None:
        """Take in what changed, the last written first, until it is done or `stopped` says so."""
        with self._lock, contextlib.suppress(OSError, sqlite3.Error):
            try:
                self._update(store, stopped)
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorcode & 0xFF not in DAMAGED:
                    return
                # The index can be rebuilt. Its rollback journal belongs to it.
                for item in (self._path, Path(f"{self._path}-journal")):
                    item.unlink(missing_ok=True)
                self._update(store, stopped)

    @staticmethod
    def is_exact(words: Sequence[str]) -> bool:
        """Return whether the conversations that `find` returns have all these words, so
        that none has to be read.
        """
        parts = [part for word in words for part in _WORD.findall(word)]
        plain = all(len(part) <= _LONGEST_WORD and not _RUN.search(part) for part in parts)
        return plain and parts == list(words) and len(parts) <= _MOST_PARTS

    @property
    def covered(self) -> frozenset[str]:
        """The conversations whose words are all in the index."""
        try:
            with self._connect() as base:
                return self._find_covered(base)
        except (OSError, sqlite3.Error):
            return frozenset()

    def find(self, words: Sequence[str]) -> tuple[frozenset[str], frozenset[str]] | None:
        """Return the conversations that have a word beginning with each of these, and all that are covered.

        None when it cannot tell. Where the words are not `is_exact`, some of those found may lack some.
        """
        parts = {part for word in words for item in _WORD.findall(word) for part in _split_terms(item)}
        if not parts or not self._path.exists():
            return None
        terms = sorted(parts, key=len, reverse=True)[:_MOST_PARTS]
        query = " AND ".join(f'"{part}"*' for part in terms)
        try:
            with self._connect() as base:
                base.execute("BEGIN")  # both of the same moment
                rows = base.execute(
                    "SELECT id FROM words JOIN conversations ON row = words.rowid WHERE words MATCH ?",
                    (query,),
                )
                return frozenset(id_ for (id_,) in rows), self._find_covered(base)
        except (OSError, sqlite3.Error):
            return None

    def _find_covered(self, base: sqlite3.Connection) -> frozenset[str]:
        if not self._current:
            return frozenset()
        return frozenset(id_ for (id_,) in base.execute("SELECT id FROM conversations WHERE whole"))

    def _update(self, store: Store, stopped: Callable[[], bool]) -> None:
        with self._connect() as base:
            self._lay_out(base)
            base.execute("CREATE TEMP TABLE seen (id TEXT PRIMARY KEY, time, size) WITHOUT ROWID")
            files = ((id_, read_time(status), status.st_size) for id_, status in store.list_files())
            base.executemany("INSERT INTO seen VALUES (?, ?, ?)", files)
            if base.execute(_STALE).rowcount or not self._current:
                base.commit()
            if self._tidy(base):
                base.commit()
            self._current = True
            committed = time.monotonic()
            for id_, *stamp in base.execute(_MISSING).fetchall():
                if stopped():
                    break
                with contextlib.suppress(StoreError):
                    words = collect_words(store.read(id_))
                    whole = len(words) <= _MAX_WORDS
                    self._insert(base, id_, stamp, words if whole else set(), whole=whole)
                if time.monotonic() - committed > _BATCH_SECONDS:
                    base.commit()
                    committed = time.monotonic()
            base.commit()

    def _lay_out(self, base: sqlite3.Connection) -> None:
        (layout,) = base.execute("PRAGMA user_version").fetchone()
        if layout != _LAYOUT:
            base.executescript("DROP TABLE IF EXISTS conversations; DROP TABLE IF EXISTS words;")
        base.executescript(f"{_SCHEMA} PRAGMA user_version = {_LAYOUT};")

    def _insert(
        self, base: sqlite3.Connection, id_: str, stamp: Sequence[int], words: set[str], *, whole: bool
    ) -> None:
        base.execute("DELETE FROM conversations WHERE id = ?", (id_,))
        added = base.execute(
            "INSERT INTO conversations(id, time, size, whole) VALUES (?, ?, ?, ?)", (id_, *stamp, whole)
        )
        base.execute("INSERT INTO words(rowid, text) VALUES (?, ?)", (added.lastrowid, " ".join(words)))

    def _tidy(self, base: sqlite3.Connection) -> bool:
        """Drop the tables if too much in them is of no use; return whether that was done."""
        (live,) = base.execute("SELECT count(*) FROM conversations").fetchone()
        (last,) = base.execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence").fetchone()
        if last <= live * 1.5 + 100:
            return False
        base.executescript(
            "DROP TABLE conversations; DROP TABLE words; DELETE FROM sqlite_sequence;" + _SCHEMA
        )
        return True

    @contextlib.contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        create_file(self._path)
        base = sqlite3.connect(self._path, timeout=2)
        try:
            base.executescript(
                "PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -1000;"
            )
            yield base
        finally:
            base.close()


def collect_words(messages: Sequence[Message]) -> set[str]:
    """Return the words of messages, code and output, in lower case; too many once there are more
    than enough.
    """
    words: set[str] = set()
    for message in messages:
        if message.type != "image" and len(words) <= _MAX_WORDS:
            words.update(_WORD.findall(message.content.lower()))
    plain = {word for word in words if word.isascii() or not _RUN.search(word)}
    split = {part for word in words - plain for part in _split_terms(word)}
    return {word[:_LONGEST_WORD] for word in plain | split}


def _split_terms(word: str) -> list[str]:
    """Return the index terms of a word: itself, or its pairs of characters in scripts without blanks."""
    if word.isascii() or not _RUN.search(word):
        return [word[:_LONGEST_WORD]]
    pairs = [word[at : at + 2] for at in range(len(word) - 1)]
    # The last character too, because no pair begins with it, and a query of one character must find it.
    return [*pairs, word[-1]]
