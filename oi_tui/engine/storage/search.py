"""Finds words in what conversations say: messages, code and output."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from oi_tui.engine.storage import records
from oi_tui.engine.storage.full_text_index import FullTextIndex
from oi_tui.engine.storage.store import Store, StoreError
from oi_tui.messages import Message
from oi_tui.text import clean_line


@dataclass(frozen=True, slots=True)
class Hit:
    """A conversation that says all the words; `excerpt` is where one of them stands, on one line, or ""."""

    id: str
    excerpt: str


def split_words(query: str) -> list[str]:
    """Split the query into words, each once, in lower case."""
    return list(dict.fromkeys(query.lower().split()))


def is_worth_searching(query: str) -> bool:
    """Return whether what conversations say should be searched: one letter is in all, one 京 is not."""
    return len(query) > 1 or bool(query and not query.isascii())


#: How many of the conversations that the index finds are shown with an excerpt.
_EXCERPTS = 60
#: With fewer hits at the beginnings of words than this, the middles of words are searched as well.
_FEW = 20


def search(
    store: Store,
    query: str,
    ids: Sequence[str],
    stopped: Callable[[], bool] = lambda: False,
    index: FullTextIndex | None = None,
) -> Iterator[Hit | None]:
    """Look through the conversations; one result for each, None where there is no hit.

    All words must occur, in any of its messages. What the index finds by the beginnings of words comes first,
    in the order given. The others are read, and there any part of a word counts; those that the index covers
    are only read when it found few. Ends early when `stopped` says so.
    """
    words = split_words(query)
    looked_up = index.find(words) if index is not None else None
    if index is None or looked_up is None:
        yield from _scan(store, words, ids, stopped)
        return
    matches, covered = looked_up
    exact = index.is_exact(words)
    hits = read = 0
    for id_ in ids:
        if id_ in covered and id_ in matches:
            if stopped():
                return
            read += 1
            hit = _read(store, id_, words) if read <= _EXCERPTS or not exact else None
            if exact and hit is None:
                hit = Hit(id_, "")
            hits += hit is not None
            yield hit
    yield from _scan(store, words, (id_ for id_ in ids if id_ not in covered), stopped)
    rest = [id_ for id_ in ids if id_ in covered and id_ not in matches]
    if hits < _FEW:
        yield from _scan(store, words, rest, stopped)
    else:
        yield from (None for _ in rest)


def _read(store: Store, id_: str, words: list[str]) -> Hit | None:
    try:
        return _find(id_, store.read(id_), words)
    except StoreError:
        return None


def _scan(
    store: Store, words: list[str], ids: Iterable[str], stopped: Callable[[], bool]
) -> Iterator[Hit | None]:
    needles = [json.dumps(word, ensure_ascii=False)[1:-1].encode("utf-8", "replace") for word in words]
    ascii_needles = [needle for needle, word in zip(needles, words, strict=True) if word.isascii()]
    others = [needle for needle, word in zip(needles, words, strict=True) if not word.isascii()]
    for id_ in ids:
        if stopped():
            return
        try:
            raw = store.read_bytes(id_)
        except StoreError:
            yield None
            continue
        folded = raw.decode("utf-8", "replace").lower().encode() if others else raw.lower()
        # The raw text also holds our own field names and images, so a hit here is only a candidate.
        # A record with a lone surrogate has everything but ASCII escaped.
        candidate = all(needle in folded for needle in ascii_needles) and (
            all(needle in folded for needle in others) or b"\\u" in raw
        )
        yield _find(id_, records.parse(raw).messages.values(), words) if candidate else None


def _find(id_: str, messages: Iterable[Message], words: list[str]) -> Hit | None:
    missing = set(words)
    excerpt = ""
    for message in messages:
        if message.type == "image":
            continue
        text = message.content.lower()
        for word in words:
            at = text.find(word)
            if at >= 0:
                missing.discard(word)
                excerpt = excerpt or cut_around(message.content, at, len(word))
    return None if missing else Hit(id_, excerpt)


def cut_around(text: str, at: int, length: int, room: int = 100) -> str:
    """Return the text about a place, on one line, with "…" where it was cut."""
    start = max(0, at - room // 3)
    end = min(len(text), at + length + room)
    excerpt = clean_line(text[start:end], room + room // 2)
    return f"{'…' if start else ''}{excerpt}{'…' if end < len(text) and not excerpt.endswith('…') else ''}"
