"""The list of many conversations: in order, filtered, and kept in an index that may be lost."""

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from oi_tui.engine.storage.full_text_index import FullTextIndex
from oi_tui.engine.storage.listing import Listing, Summary
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message

LIST = Listing.of(
    [
        Summary("a", "Plot the prices", 50, 2, "gpt", "/data/plot"),
        Summary("b", "Größe der Datei", 40, 1, "gpt", "/data"),
        Summary("c", "old prices", 10, 3, "llama", "/database", pinned=True),
        Summary("d", "damaged", 30, 0, "", "", problem="not a regular file"),
    ]
)


def ids(rows: object) -> str:
    return "".join(row.id for row in rows)  # type: ignore[attr-defined]


def test_pinned_ones_come_first_and_then_the_last_written() -> None:
    assert ids(LIST) == "cabd"
    assert LIST.readable == ["c", "a", "b"]
    assert LIST.all()[3].problem == "not a regular file"
    assert ids(LIST.all()[1:3]) == "ab"


@pytest.mark.parametrize(
    ("words", "folder", "found", "expected"),
    [
        (["prices"], None, (), "ca"),
        (["prices", "gpt"], None, (), "a"),
        (["größe"], None, (), "b"),
        (["data"], None, (), "cab"),
        ([], "/data", (), "ab"),
        (["prices"], "/data", (), "a"),
        (["needle"], None, {"b", "c"}, "cb"),
        (["prices"], "/data", {"b", "c"}, "ab"),
        (["prices"], None, {"b"}, "cab"),
        (["data"], None, {"b"}, "bca"),
        (["nothing"], None, (), ""),
    ],
)
def test_words_are_looked_for_in_title_folder_and_model(
    words: list[str], folder: str | None, found: set[str], expected: str
) -> None:
    assert ids(LIST.matching(words, folder, found)) == expected


def test_what_is_found_comes_in_groups_with_the_best_first() -> None:
    found = LIST.matching(["data"], None, {"b"})
    assert found.groups == (("In messages", 1), ("In the folder or the model", 2))
    assert (found.place_of("b"), found.place_of("a"), found.place_of("d")) == (0, 2, None)
    assert LIST.matching(["old"]).groups == (("In the title", 1),)
    assert LIST.matching([]).groups == ()


def test_a_list_that_is_shown_stays_as_it_is_while_another_one_is_made() -> None:
    shown = LIST.matching(["prices"])
    assert ids(LIST.copy_without("c")) == "abd"
    pinned = LIST.copy_with(Summary("b", "now first", 60, 1, "gpt", "/data", pinned=True))
    assert ids(pinned) == "bcad"
    assert pinned.all().place_of("a") == 2
    assert pinned.all().place_of("z") is None
    assert ids(shown) == "ca"


def create_conversation(store: Store, title: str, cwd: str = "/") -> str:
    begun = store.create(cwd=cwd, model="m", title=title)
    begun.put(Message(role="user", type="message", content="hello"))
    begun.close()
    return begun.id


def test_half_a_character_and_a_folder_of_odd_bytes_come_back_as_they_were(tmp_path: Path) -> None:
    store = Store(tmp_path)
    odd = os.fsdecode(b"/data/\xff\xfe")
    create_conversation(store, "half \ud800 a character", odd)
    for _ in range(2):
        (found,) = Store(tmp_path).make_listing()
        assert (found.title, found.cwd) == ("half \ud800 a character", odd)


def test_an_index_that_another_program_holds_or_that_cannot_be_written_is_done_without(
    tmp_path: Path,
) -> None:
    store = Store(tmp_path)
    first = create_conversation(store, "first")
    assert ids(store.make_listing()) == first
    holding = sqlite3.connect(tmp_path / "list.sqlite3", isolation_level=None)
    try:
        holding.execute("BEGIN EXCLUSIVE")
        second = create_conversation(store, "second")
        assert {item.id for item in store.make_listing()} == {first, second}
    finally:
        holding.close()
    (tmp_path / "list.sqlite3").unlink()
    (tmp_path / "list.sqlite3").symlink_to(tmp_path / "elsewhere")
    assert {item.id for item in store.make_listing()} == {first, second}
    assert not (tmp_path / "elsewhere").exists()


def test_values_of_the_wrong_sort_in_the_index_are_read_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    create_conversation(store, "right")
    before = list(store.make_listing())
    with sqlite3.connect(tmp_path / "list.sqlite3") as base:
        base.execute("UPDATE facts SET title = 5, messages = 'many'")
    base.close()
    assert list(store.make_listing()) == before


@pytest.mark.parametrize("nanoseconds", [2**63, -(2**63) - 1])
def test_a_file_with_a_date_that_is_too_far_for_the_index_is_listed(
    nanoseconds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    ordinary, odd = create_conversation(store, "ordinary"), create_conversation(store, "odd")
    list_files = Store.list_files

    def list_with_odd_date(self: Store, *, everything: bool = False) -> Iterator[tuple[str, os.stat_result]]:
        # Not every file system can keep such a date.
        for id_, status in list_files(self, everything=everything):
            date = {"st_mtime_ns": nanoseconds if id_ == odd else status.st_mtime_ns}
            yield id_, os.stat_result(tuple(status), date)

    monkeypatch.setattr(Store, "list_files", list_with_odd_date)
    for _ in range(2):
        assert {item.id for item in store.make_listing()} == {ordinary, odd}
    index = FullTextIndex(tmp_path / "words.sqlite3")
    index.update(store)
    assert index.covered == {ordinary, odd}
