"""The index of words: quick, complete for what it covers, and never the truth itself."""

import contextlib
import os
import sqlite3
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oi_tui.engine.storage import full_text_index, search
from oi_tui.engine.storage.full_text_index import FullTextIndex
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "conversations")


@pytest.fixture
def index(store: Store) -> FullTextIndex:
    return FullTextIndex(store.folder / "words.sqlite3")


def add(store: Store, *texts: str) -> str:
    begun = store.create(cwd="/", model="m")
    for text in texts:
        begun.put(Message(role="computer", type="console", format="output", content=text))
    begun.close()
    return begun.id


def hits(store: Store, index: FullTextIndex, query: str) -> list[str]:
    ids = [summary.id for summary in store.list_summaries()]
    return [hit.id for hit in search.search(store, query, ids, index=index) if hit is not None]


def test_the_beginnings_of_words_are_found_without_opening_other_files(
    store: Store, index: FullTextIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = add(store, "frame.plot_all()", "Zürich 12.5")
    others = [add(store, f"number {n}") for n in range(5)]
    index.update(store)
    assert index.covered == {wanted, *others}
    read: list[str] = []
    real = Store.read_bytes
    monkeypatch.setattr(Store, "read_bytes", lambda self, id_: read.append(id_) or real(self, id_))  # type: ignore[func-returns-value]
    ids = [summary.id for summary in store.list_summaries()]
    for query in ("plot_all", "FRAME.pl", "zür", "12.5 frame", "all zürich"):
        found = next(hit for hit in search.search(store, query, ids, index=index) if hit)
        assert found.id == wanted
        assert found.excerpt
    assert set(read) == {wanted}
    assert hits(store, index, "plot nothing") == []


def test_where_few_words_begin_so_their_middles_are_found_too(store: Store, index: FullTextIndex) -> None:
    inside, begins = add(store, "a dataframe"), add(store, "a frame")
    index.update(store)
    assert hits(store, index, "frame") == [begins, inside]
    assert hits(store, index, "atafra") == [inside]


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        (
            "東京都の人口は千四百万人です",
            ["人口", "京都", "都", "です", "東京都の人口は", "人口 千四百", "万"],
        ),
        ("한국어로 말해요, ภาษาไทยง่าย", ["국어", "말해", "ไทย"]),
        ("ship it 🚀 now 👩‍💻", ["🚀", "🚀 now", "👩‍💻", "it 🚀"]),
        ('a->b [x*y] "quoted text" NEAR(1)', ["a->b", '"quoted', "x*y", "NEAR(1)", "*", "-", "[x", 'text"']),
        ("Größe: café, naïve, ΑΒΓ", ["größe:", "café", "ïve", "αβγ"]),
        ("deadbeef" * 40, ["deadbeef" * 9, "beefdead"]),
    ],
)
def test_what_a_person_types_is_found_in_any_script_and_with_any_sign(
    text: str, queries: list[str], store: Store, index: FullTextIndex
) -> None:
    wanted = add(store, text)
    for n in range(3):
        add(store, f"now it is text {n} near quoted a b x y 京 人")
    index.update(store)
    for query in queries:
        assert hits(store, index, query) == [wanted], query
        assert hits(store, FullTextIndex(store.folder / "none"), query) == [wanted], query


ODD = [
    "NEAR",
    "AND OR NOT",
    "a AND",
    '"',
    '""',
    "'",
    "*",
    "-a",
    "a*b",
    "^a",
    "{a b}:c",
    "(",
    ")",
    "a:b",
    "\\",
    "%",
]
ODD += [
    "x" * 10_240,
    "lorem ipsum " * 900,
    " ".join(f"w{n}" for n in range(2_500)),
    "\0",
    "a\0b",
    "\ud800",
    "\x1b[31m",
]


@pytest.mark.parametrize("query", ODD, ids=[str(n) for n in range(len(ODD))])
def test_no_query_is_too_odd_and_none_finds_what_is_not_there(
    query: str, store: Store, index: FullTextIndex
) -> None:
    add(store, "nothing of the kind")
    wanted = add(store, f"this: {query} is it")
    index.update(store)
    assert hits(store, index, query) == [wanted]


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text("abcABC12_-*\"'()é東京🚀 \n\t.", min_size=1, max_size=60), st.data())
def test_any_part_of_what_was_written_is_found(tmp_path_factory: Any, text: str, data: st.DataObject) -> None:
    store = Store(tmp_path_factory.mktemp("store"))
    index = FullTextIndex(store.folder / "words.sqlite3")
    wanted = add(store, text)
    add(store, "abc 東 é 12 a b c京")
    index.update(store)
    start = data.draw(st.integers(0, len(text) - 1))
    query = text[start : data.draw(st.integers(start + 1, len(text)))]
    if search.split_words(query):
        assert wanted in hits(store, index, query)


def test_a_conversation_of_too_many_words_is_read_instead(
    store: Store, index: FullTextIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(full_text_index, "_MAX_WORDS", 100)
    huge = add(store, " ".join(f"w{n}" for n in range(200)), "needle")
    small = add(store, "needle too")
    for item in (index, FullTextIndex(store.folder / "words.sqlite3")):
        item.update(store)
        assert item.covered == {small}
        assert set(hits(store, item, "needle")) == {huge, small}


def test_an_index_that_somebody_holds_locked_is_left_alone(
    store: Store, index: FullTextIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, timeout: real(path, timeout=0.05))
    id_ = add(store, "needle")
    index.update(store)
    path = store.folder / "words.sqlite3"
    second = add(store, "needle too")
    holder = real(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    made = path.stat().st_ino
    index.update(store)
    assert set(hits(store, index, "needle")) == {id_, second}
    holder.close()
    assert path.stat().st_ino == made
    index.update(store)
    assert index.covered == {id_, second}


def test_an_index_of_another_layout_is_made_again(store: Store, index: FullTextIndex) -> None:
    id_ = add(store, "needle")
    with index._connect() as base:
        base.executescript("CREATE TABLE conversations (id TEXT, words TEXT); PRAGMA user_version = 1;")
    index.update(store)
    assert index.covered == {id_}
    assert hits(store, index, "needle") == [id_]


def test_what_is_not_covered_yet_is_searched_all_the_same(store: Store, index: FullTextIndex) -> None:
    first = add(store, "needle one")
    index.update(store)
    second = add(store, "needle two")
    assert set(hits(store, index, "needle")) == {first, second}
    index.update(store)
    assert index.covered == {first, second}
    assert set(hits(store, index, "needle")) == {first, second}


def test_changes_and_deletions_are_taken_in(store: Store, index: FullTextIndex) -> None:
    id_ = add(store, "needle")
    index.update(store)
    opened, (message,) = store.open(id_)
    opened.put(message.replace(content="thread"))
    opened.close()
    index.update(store)
    assert hits(store, index, "needle") == []
    assert hits(store, index, "thread") == [id_]
    store.delete(id_)
    index.update(store)
    assert index.covered == frozenset()
    assert index.find(["thread"]) == (frozenset(), frozenset())


def test_an_index_full_of_what_is_gone_is_made_again(store: Store, index: FullTextIndex) -> None:
    id_ = add(store, "start")
    opened, (message,) = store.open(id_)
    for number in range(110):
        opened.put(message.replace(content=f"version{number}"))
        index.update(store)
    assert hits(store, index, "version109") == [id_]
    assert hits(store, index, "version10") == [id_]
    with index._connect() as base:
        (row,) = base.execute("SELECT max(row) FROM conversations").fetchone()
    assert row < 60
    opened.close()


@pytest.mark.parametrize("damage", [b"", b"not a database at all" * 100, None])
def test_a_damaged_index_is_thrown_away(damage: bytes | None, store: Store, index: FullTextIndex) -> None:
    id_ = add(store, "needle")
    index.update(store)
    path = store.folder / "words.sqlite3"
    raw = path.read_bytes()
    path.write_bytes(raw[:4096] + os.urandom(len(raw) - 4096) if damage is None else damage)
    again = FullTextIndex(path)
    again.update(store)
    assert hits(store, again, "needle") == [id_]


def test_without_full_text_search_everything_is_still_found(
    store: Store, index: FullTextIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = add(store, "needle")
    monkeypatch.setattr(full_text_index, "_SCHEMA", "CREATE VIRTUAL TABLE words USING nothing(text);")
    index.update(store)
    assert index.covered == frozenset()
    assert hits(store, index, "needle") == [id_]


def test_a_disk_that_refuses_costs_the_index_only(store: Store, tmp_path: Path) -> None:
    id_ = add(store, "needle")
    (tmp_path / "file").write_text("")
    index = FullTextIndex(tmp_path / "file" / "words.sqlite3")
    index.update(store)
    assert hits(store, index, "needle") == [id_]


def test_the_index_is_for_its_owner_only_and_not_written_through_a_link(
    store: Store, index: FullTextIndex, tmp_path: Path
) -> None:
    id_ = add(store, "needle")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    path = store.folder / "words.sqlite3"
    path.symlink_to(victim)
    index.update(store)
    assert victim.read_text() == "precious"
    assert hits(store, index, "needle") == [id_]
    path.unlink(missing_ok=True)
    before = os.umask(0)
    try:
        index.update(store)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert index.covered == {id_}


def test_taking_in_stops_when_told_to_and_goes_on_later(store: Store, index: FullTextIndex) -> None:
    ids = {add(store, f"needle {n}") for n in range(6)}
    asked = iter([False, False, True])
    index.update(store, lambda: next(asked))
    assert len(index.covered) == 2
    index.update(store)
    assert index.covered == ids


def test_a_search_before_there_is_an_index_makes_none(store: Store, index: FullTextIndex) -> None:
    add(store, "needle")
    assert index.find(["needle"]) is None
    assert not (store.folder / "words.sqlite3").exists()
    index.update(store)
    assert index.find([]) is None
    assert index.find([",", "-"]) is None


def test_a_long_update_saves_what_it_has_from_time_to_time(
    store: Store, index: FullTextIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(full_text_index, "_BATCH_SECONDS", -1)
    for number in range(3):
        add(store, f"needle {number}")
    saved: list[int] = []

    def count() -> bool:
        with contextlib.closing(sqlite3.connect(store.folder / "words.sqlite3")) as base:
            saved.extend(base.execute("SELECT count(*) FROM conversations").fetchone())
        return False

    index.update(store, count)
    assert saved == [0, 1, 2]


def test_two_at_once_do_not_disturb_each_other(store: Store) -> None:
    ids = {add(store, f"needle {n}") for n in range(30)}
    indexes = [FullTextIndex(store.folder / "words.sqlite3") for _ in range(4)]
    threads = [threading.Thread(target=item.update, args=(store,)) for item in indexes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for item in indexes:
        assert set(hits(store, item, "needle")) == ids
