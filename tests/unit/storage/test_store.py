"""Many conversations: listed, named, deleted and searched, whatever lies in the folder."""

import errno
import json
import os
import stat
import time
from pathlib import Path

import pytest

from oi_tui.engine.storage import search
from oi_tui.engine.storage import store as module
from oi_tui.engine.storage.full_text_index import FullTextIndex
from oi_tui.engine.storage.library import Library
from oi_tui.engine.storage.records import JournalContents
from oi_tui.engine.storage.store import Store, StoreError
from oi_tui.engine.storage.undo_history import list_restorable
from oi_tui.messages import Message
from tests.full_disk import full_disk


def make_message(text: str) -> Message:
    return Message(role="user", type="message", content=text)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "conversations")


def add(store: Store, *texts: str, model: str = "demo", cwd: str = "/work") -> str:
    begun = store.create(cwd=cwd, model=model)
    for text in texts:
        begun.put(make_message(text))
    begun.close()
    return begun.id


def test_a_summary_says_what_a_list_shows(store: Store) -> None:
    assert store.list_summaries() == []
    id_ = add(store, "Plot the  prices\nof March", "more", model="gpt-4o", cwd="/data/é")
    (found,) = store.list_summaries()
    assert (found.id, found.title, found.messages) == (id_, "Plot the prices of March", 2)
    assert (found.model, found.cwd, found.problem, found.pinned) == ("gpt-4o", "/data/é", None, False)
    assert abs(found.updated - time.time()) < 60


@pytest.mark.parametrize(
    ("request_", "title"),
    [
        ("word " * 40, "word word word word word word word word word word word word…"),
        ("x" * 500, "x" * 60 + "…"),
        ("\x1b]0;evil\x07 [red]hi[/]", "␛]0;evil␇ [red]hi[/]"),
        ("   ", ""),
    ],
)
def test_a_title_is_the_beginning_of_the_first_request(request_: str, title: str, store: Store) -> None:
    add(store, request_)
    assert store.list_summaries()[0].title == title


def test_the_last_written_comes_first_and_is_the_latest(store: Store) -> None:
    ids = [add(store, text) for text in "abc"]
    for age, id_ in zip((30, 10, 20), ids, strict=True):
        os.utime(store.folder / f"{id_}.jsonl", (time.time() + 60 - age,) * 2)
    assert [summary.title for summary in store.list_summaries()] == ["b", "c", "a"]
    assert store.find_latest() == ids[1]
    assert Store(store.folder / "none").find_latest() is None


def test_a_title_and_a_pin_given_by_a_person_stay(store: Store) -> None:
    id_ = add(store, "a")
    store.rename(id_, "first")
    store.rename(id_, "Ünal's [b]plan")
    store.pin(id_, True)
    (found,) = Store(store.folder).list_summaries()
    assert (found.title, found.pinned) == ("Ünal's [b]plan", True)
    opened, _ = store.open(id_)
    assert opened.title == "Ünal's [b]plan"
    opened.close()
    store.pin(id_, False)
    assert not store.list_summaries()[0].pinned


def test_a_suggested_title_gives_way_to_one_by_a_person(store: Store) -> None:
    other = add(store, "b")
    store.suggest_title(other, "suggested")
    assert store.given[other] == "suggested"
    store.delete(other)
    id_ = add(store, "a")
    store.rename(id_, "mine")
    store.suggest_title(id_, "a model's")
    assert store.given[id_] == store.list_summaries()[0].title == "mine"


def test_taking_a_conversation_in_closes_the_folder_to_others(store: Store) -> None:
    contents = store.read_contents(add(store, "a"))
    store.folder.chmod(0o755)
    store.add(contents, id="taken-in", title="t", cwd="/", model="m")
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700


def test_a_conversation_that_is_taken_in_keeps_its_date(store: Store) -> None:
    message = Message(role="user", type="message", content="hello")
    contents = JournalContents(messages={message.id: message})
    store.add(contents, id="dated", title="t", cwd="/", model="m", updated=1_000.0)
    (summary,) = store.list_summaries()
    assert summary.updated == 1_000.0
    assert store.read_contents("dated").header["created"] == 1_000.0
    # A date that the file system cannot hold is no reason not to take it in.
    store.add(contents, id="odd", title="t", cwd="/", model="m", updated=1e30)
    assert store.read("odd") == [message]


def test_a_torn_catalogue_costs_one_name(store: Store) -> None:
    one, two = add(store, "a"), add(store, "b")
    store.rename(one, "first")
    catalogue = store.folder / "catalogue.jsonl"
    catalogue.write_bytes(catalogue.read_bytes() + b'{"id": "' + two.encode())
    store.rename(two, "second")
    assert {summary.title for summary in store.list_summaries()} == {"first", "second"}
    catalogue.write_bytes(b"\0\0 [" + catalogue.read_bytes() + b'\n[1]\n{"id": "x", "title": 5}\n"')
    assert {summary.title for summary in store.list_summaries()} == {"a", "second"}


def test_a_name_that_does_not_fit_on_the_disk_is_refused_and_spoils_no_other(store: Store) -> None:
    one, two = add(store, "a"), add(store, "b")
    store.rename(one, "first")
    catalogue = store.folder / "catalogue.jsonl"
    size = catalogue.stat().st_size
    with full_disk(size + 20), pytest.raises(OSError, match="No space left on device") as caught:
        store.rename(two, "never")
    assert caught.value.filename == str(catalogue)
    store.rename(two, "second")
    assert {summary.title for summary in store.list_summaries()} == {"first", "second"}
    store.pin(one, True)
    first, torn, *others = catalogue.read_bytes().splitlines()
    assert [json.loads(line)["id"] for line in (first, *others)] == [one, two, one]
    assert len(torn) == 20


def test_names_are_for_their_owner_only_also_where_they_are_the_first_file(store: Store) -> None:
    store.rename("x", "named")
    catalogue = store.folder / "catalogue.jsonl"
    assert stat.S_IMODE(catalogue.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700


def test_names_that_are_no_text_or_in_no_regular_file_count_for_nothing(store: Store) -> None:
    id_ = add(store, "a")
    catalogue = store.folder / "catalogue.jsonl"
    catalogue.write_text(f'{{"id": "{id_}", "title": 5, "suggested": ["b"]}}\n')
    assert [summary.title for summary in store.list_summaries()] == ["a"]
    assert not store.is_named(id_)
    catalogue.unlink()
    os.mkfifo(catalogue)
    assert [summary.title for summary in store.list_summaries()] == ["a"]


def test_a_name_is_on_disk_when_it_returns(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    id_ = add(store, "a")
    synced: list[str] = []
    monkeypatch.setattr(
        module.paths, "flush", lambda file: synced.append(os.readlink(f"/proc/self/fd/{file}"))
    )
    before = os.listdir("/proc/self/fd")
    catalogue, folder = str(store.folder / "catalogue.jsonl"), str(store.folder)
    for expected in ([catalogue, folder], [catalogue]):
        synced.clear()
        store.rename(id_, "named")
        assert synced == expected
    assert os.listdir("/proc/self/fd") == before


def test_a_deleted_conversation_can_be_restored_and_goes_after_a_month(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = add(store, "a")
    store.rename(id_, "mine")
    store.delete(id_)
    assert store.list_summaries() == []
    with pytest.raises(StoreError, match="No conversation"):
        store.open(id_)
    store.restore(id_)
    assert [summary.title for summary in store.list_summaries()] == ["mine"]
    store.delete(id_)
    now = time.time()
    monkeypatch.setattr(module.time, "time", lambda: now + 29 * 86400)
    store.list_summaries()
    monkeypatch.setattr(module.time, "time", lambda: now + 31 * 86400)
    store.restore(id_)
    store.delete(id_)
    store.list_summaries()
    with pytest.raises(OSError, match="No such file"):
        store.restore(id_)


def test_a_conversation_is_known_while_it_is_here_or_can_be_restored(store: Store) -> None:
    id_ = add(store, "a")
    assert store.knows(id_)
    store.delete(id_)
    assert store.knows(id_)
    assert not store.knows("0123456789abcdef")


def test_a_restoring_that_was_cut_short_is_finished_by_the_next(store: Store) -> None:
    id_ = add(store, "a")
    store.delete(id_)
    os.link(store.folder / "deleted" / f"{id_}.jsonl", store.folder / f"{id_}.jsonl")
    store.restore(id_)
    assert store.list_deleted() == []
    assert [message.content for message in store.read(id_)] == ["a"]


def test_a_conversation_that_cannot_be_opened_has_no_messages_in_the_list(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, "a")

    def refuse(*_: object) -> None:
        raise StoreError("not now")

    monkeypatch.setattr(store, "_open", refuse)
    (found,) = store.list_summaries()
    assert (found.problem, found.messages) == ("not now", 0)


def test_a_conversation_whose_restoring_was_cut_short_can_be_deleted(store: Store) -> None:
    id_ = add(store, "a")
    store.delete(id_)
    os.link(store.folder / "deleted" / f"{id_}.jsonl", store.folder / f"{id_}.jsonl")
    store.delete(id_)
    assert not (store.folder / f"{id_}.jsonl").exists()
    assert store.list_deleted() == [id_]


def test_a_copy_ends_with_the_message_that_is_named(store: Store) -> None:
    id_ = add(store, "a", "b", "c")
    second = list(store.read_contents(id_).messages)[1]
    copies = [store.fork(id_, second), store.fork(id_, "nobody"), store.fork(id_)]
    kept = [[m.content for m in store.read_contents(copy).messages.values()] for copy in copies]
    assert kept == [["a", "b"], ["a", "b", "c"], ["a", "b", "c"]]


def test_noting_the_last_conversation_leaves_no_file_open(store: Store) -> None:
    add(store, "a")
    before = len(os.listdir("/proc/self/fd"))
    add(store, "b")
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_file_that_vanishes_while_it_is_listed_is_reported(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = add(store, "a")
    path = store.folder / f"{id_}.jsonl"
    listed = [(id_, path.stat())]
    path.unlink()
    monkeypatch.setattr(store, "list_files", lambda **_: iter(listed))
    (found,) = store.list_summaries()
    assert (found.problem, found.messages) == ("No such file or directory", 0)


def test_what_can_be_restored_is_listed_and_nothing_else_of_that_folder(store: Store) -> None:
    first, second = add(store, "a"), add(store, "b")
    store.delete(second)
    store.delete(first)
    trash = next(path for path in store.folder.iterdir() if path.is_dir())
    (trash / "0123456789abcdef").write_text("no conversation: its name has no ending")
    (trash / "notes.txt").write_text("nor this")
    assert store.list_deleted() == [first, second]


def test_a_change_of_names_is_durable_when_it_returns(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    id_ = add(store, "a")
    contents = store.read_contents(id_)
    synced: list[Path] = []
    monkeypatch.setattr(module.paths, "sync", synced.append)
    store.add(contents, id="taken-in", title="t", cwd="/", model="m")
    assert synced == [store.folder]
    store.delete(id_)
    assert synced[-2:] == [store.folder / "deleted", store.folder]
    synced.clear()
    store.restore(id_)
    assert synced == [store.folder]


def test_restoring_never_replaces_what_is_there_by_now(store: Store) -> None:
    id_ = add(store, "a")
    raw = (store.folder / f"{id_}.jsonl").read_bytes()
    store.delete(id_)
    (store.folder / f"{id_}.jsonl").write_bytes(raw + b"newer")
    with pytest.raises(FileExistsError):
        store.restore(id_)
    assert (store.folder / f"{id_}.jsonl").read_bytes() == raw + b"newer"


@pytest.mark.parametrize(
    "name", ["../../x", "/etc/passwd", "~/x", ".", "..", "-rf/", "a\0b", "a\nb", "x" * 300, "", "é"]
)
def test_no_name_leads_outside_the_folder(name: str, store: Store) -> None:
    add(store, "a")
    for act in (store.open, store.delete, store.restore, store.read_bytes, lambda n: store.rename(n, "t")):
        with pytest.raises(StoreError, match="No conversation"):
            act(name)


def test_a_conversation_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    id_ = add(store, "a")
    for name in ("aaaa1", "aaaa2"):
        (store.folder / f"{name}.jsonl").write_text("")
    assert store.find(id_) == id_
    assert store.find("aaaa1") == "aaaa1"
    if not id_.startswith("a"):
        assert store.find(id_[:6]) == id_
    with pytest.raises(StoreError, match="2 conversations begin with"):
        store.find("aaaa")
    with pytest.raises(StoreError, match="No conversation"):
        store.find("nope")


def test_odd_things_in_the_folder_are_listed_and_never_waited_for(store: Store, tmp_path: Path) -> None:
    good = add(store, "good")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    folder = store.folder
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "folder.jsonl").mkdir()
    (folder / "link.jsonl").symlink_to(victim)
    (folder / "zero.jsonl").symlink_to("/dev/zero")
    with (folder / "sparse.jsonl").open("wb") as file:
        file.truncate(4 << 30)
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "noise.jsonl").write_bytes(b"\0\xff" * 1000)
    (folder / "notes.txt").write_text("not ours")
    start = time.monotonic()
    summaries = store.list_summaries()
    assert time.monotonic() - start < 15
    found = {summary.id: summary.problem for summary in summaries}
    assert {summary.messages for summary in summaries if summary.problem} == {0}
    assert found.pop(good) is None
    assert found == {
        "pipe": "not a regular file",
        "folder": "not a regular file",
        "link": "not a regular file",
        "zero": "not a regular file",
        "sparse": "too large",
        "empty": "empty",
        "noise": "nothing in it can be read",
    }
    for name in ("pipe", "folder", "link", "zero", "sparse"):
        with pytest.raises(StoreError):
            store.open(name)
    for name in ("empty", "noise"):
        opened, messages = store.open(name)
        assert messages == []
        opened.close()
    assert victim.read_text() == "precious"


def test_a_damaged_conversation_does_not_touch_another(store: Store) -> None:
    bad, good = add(store, "bad", "x", "y"), add(store, "good")
    path = store.folder / f"{bad}.jsonl"
    path.write_bytes(b"\0" * 40 + path.read_bytes()[40:])
    found = {summary.id: summary for summary in store.list_summaries()}
    assert found[good].title == "good"
    assert (found[bad].messages, found[bad].problem) == (3, None)
    opened, messages = store.open(bad)
    assert [m.content for m in messages] == ["bad", "x", "y"]
    assert len(opened.notices) == 1
    opened.close()


def test_a_list_that_was_read_before_opens_no_conversation_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [add(store, f"number {n}") for n in range(20)]
    before = store.list_summaries()
    opened: list[str] = []
    real = os.open

    def noting(path: object, *more: int, **named: int) -> int:
        opened.append(str(path))
        return real(path, *more, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", noting)
    again = Store(store.folder)
    assert again.list_summaries() == before
    assert not [path for path in opened if path.endswith(".jsonl") and "catalogue" not in path]
    changed, _ = again.open(ids[3])
    changed.put(make_message("more"))
    changed.close()
    opened.clear()
    assert again.list_summaries()[0].messages == 2
    assert [path for path in opened if path.endswith(f"{ids[3]}.jsonl")]
    assert not [path for path in opened if path.endswith(f"{ids[4]}.jsonl")]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"x": 1}', '{"x": [1, 2, 3, 4, 5, 6, 7]}', "[" * 100_000])
def test_a_broken_index_is_made_again(text: str, store: Store) -> None:
    add(store, "a")
    before = store.list_summaries()
    (store.folder / "list.sqlite3").write_text(text)
    assert store.list_summaries() == before
    assert stat.S_IMODE((store.folder / "list.sqlite3").stat().st_mode) == 0o600


def test_the_number_of_messages_is_right_after_changes(store: Store) -> None:
    begun = store.create(cwd="/", model="m")
    messages = [make_message(str(n)) for n in range(5)]
    for message in messages:
        begun.put(message)
    begun.put(messages[0].replace(content="x" * 10_000))
    begun.grow(messages[1].id, "y" * 10_000)
    assert store.list_summaries()[0].messages == 5
    begun.forget([messages[4].id])
    assert store.list_summaries()[0].messages == 4
    begun.close()


# ---- Search


def create_conversations(store: Store) -> dict[str, str]:
    ids = {}
    for name, said_, code, output in (
        ("prices", "Plot the prices", "frame.plot()", 'Zürich 12.5\n"quoted" back\\slash'),
        ("files", "Largest files", "import os", "total 42"),
        ("plots", "Nothing of the kind", "x = 1", "plot saved"),
    ):
        begun = store.create(cwd="/", model="m")
        begun.put(make_message(said_))
        begun.put(Message(role="assistant", type="code", format="python", content=code))
        begun.put(Message(role="computer", type="console", format="output", content=output))
        begun.put(Message(role="computer", type="image", format="base64.png", content="cGxvdA" * 10))
        begun.close()
        ids[name] = begun.id
    return ids


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("plot", ["prices", "plots"]),
        ("PLOT", ["prices", "plots"]),
        ("plot saved", ["plots"]),
        ("saved kind", ["plots"]),
        ("zÜrich", ["prices"]),
        ('"quoted"', ["prices"]),
        ("back\\slash", ["prices"]),
        ("os", ["files"]),
        ("import", ["files"]),
        ("role", []),
        ("base64", []),
        ("cGxvdA", []),
        ("\ud800", []),
    ],
)
def test_words_are_found_in_messages_code_and_output_only(query: str, names: list[str], store: Store) -> None:
    ids = create_conversations(store)
    hits = [hit for hit in search.search(store, query, ids.values()) if hit is not None]
    assert [hit.id for hit in hits] == [ids[name] for name in names]


@pytest.mark.parametrize(("query", "is_worth_it"), [("", False), ("a", False), ("ab", True), ("京", True)])
def test_one_letter_is_not_searched_and_one_character_that_is_a_word_is(
    query: str, is_worth_it: bool
) -> None:
    assert search.is_worth_searching(query) == is_worth_it


def test_only_the_first_hits_of_the_index_have_an_excerpt(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_EXCERPTS", 2)
    ids = [add(store, "needle") for _ in range(4)]
    index = FullTextIndex(store.folder / "words.sqlite3")
    index.update(store)
    hits = list(search.search(store, "needle", ids, index=index))
    assert [hit and hit.excerpt for hit in hits] == ["needle", "needle", "", ""]


def test_a_conversation_that_vanishes_while_it_is_restored_is_reported(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.delete(add(store, "a"))
    library = Library(store)
    library.load_deleted(store.list_deleted())
    monkeypatch.setattr(store, "restore", lambda _: None)
    with pytest.raises(FileNotFoundError, match="it no longer exists") as caught:
        library.undo()
    assert caught.value.errno == errno.ENOENT


def test_an_excerpt_shows_the_words_where_they_stand(store: Store) -> None:
    id_ = add(store, "first", "a" * 500 + " the\nneedle\x1b[2J here " + "b" * 500)
    (hit,) = search.search(store, "needle", [id_])
    assert hit is not None
    assert "the needle␛[2J here" in hit.excerpt
    assert hit.excerpt.startswith("…")
    assert hit.excerpt.endswith("…")
    assert len(hit.excerpt) < 200


def test_a_search_ends_when_it_is_reported_to_and_skips_what_cannot_be_read(store: Store) -> None:
    ids = [add(store, "needle") for _ in range(5)]
    assert len(list(search.search(store, "needle", [*ids, "gone"]))) == 6
    found = []
    for hit in search.search(store, "needle", ids, lambda: len(found) > 1):
        found.append(hit)
    assert len(found) == 2


def test_the_last_used_is_the_latest_although_the_clock_went_backwards(store: Store) -> None:
    wrong, right = add(store, "dated in the future"), add(store, "begun after the clock was set right")
    os.utime(store.folder / f"{wrong}.jsonl", (4_000_000_000, 4_000_000_000))
    opened, _ = store.open(right)
    opened.put(make_message("used last"))
    assert Store(store.folder).find_latest() == right
    opened.close()
    assert Store(store.folder).find_latest() == right
    opened, _ = store.open(wrong)
    opened.put(make_message("and now this one"))
    opened.close()
    os.utime(store.folder / f"{wrong}.jsonl", (1_000_000_000, 1_000_000_000))
    assert Store(store.folder).find_latest() == wrong


@pytest.mark.parametrize("text", ["", "[", "[]", '{"id": 5, "newest": 1}', '{"id": "x"}', "9" * 5_000])
def test_a_broken_note_of_the_last_one_is_no_matter(text: str, store: Store) -> None:
    add(store, "a")
    last = add(store, "b")
    (store.folder / "last").write_text(text)
    os.utime(store.folder / f"{last}.jsonl", (4_000_000_000, 4_000_000_000))
    assert store.find_latest() == last


def test_what_was_taken_back_and_only_half_brought_back_is_not_lost(store: Store) -> None:
    messages = [make_message(str(number)) for number in range(6)]
    begun = store.create(cwd="/", model="m")
    for message in messages:
        begun.put(message)
    begun.grow(messages[5].id, " and more")
    begun.forget([message.id for message in messages[2:]])
    begun.put(messages[2])
    begun.close()
    opened, left = store.open(begun.id)
    missing = list_restorable(opened.taken_back, left)
    assert [message.content for message in missing] == ["3", "4", "5 and more"]
    opened.put(make_message("it went on"))
    assert list_restorable(opened.taken_back, opened.messages) == ()
    opened.close()


def test_only_what_a_killed_program_left_behind_is_tidied_away(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = add(store, "a")
    left_behind = [".coming-x", ".list.tmp", "index.json"]
    others = [".hidden", "notes.tmp", "coming-x", "end."]
    (store.folder / ".coming-x").mkdir()
    (store.folder / ".coming-x" / "half.jsonl").write_text("{")
    for name in [*left_behind[1:], *others]:
        (store.folder / name).write_text("x")
    everything = {path.name for path in store.folder.iterdir()}
    store.delete_expired()
    assert {path.name for path in store.folder.iterdir()} == everything, "it may be in use"
    later = time.time() + 25 * 3600
    monkeypatch.setattr(module.time, "time", lambda: later)
    store.delete_expired()
    assert {path.name for path in store.folder.iterdir()} == everything - set(left_behind)
    assert [summary.id for summary in store.list_summaries()] == [kept]


def test_a_link_is_no_conversation(store: Store, tmp_path: Path) -> None:
    original = add(store, "a")
    (tmp_path / "elsewhere").mkdir()
    real = tmp_path / "elsewhere" / "linked.jsonl"
    real.write_bytes((store.folder / f"{original}.jsonl").read_bytes())
    (store.folder / "linked.jsonl").symlink_to(real)
    assert [name for name, _ in store.list_files()] == [original]
    assert {name for name, _ in store.list_files(everything=True)} == {original, "linked"}


def test_a_file_that_was_emptied_is_told_and_a_link_is_called_one(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (tmp_path / "emptied.jsonl").touch()
    (tmp_path / "link.jsonl").symlink_to("emptied.jsonl")
    opened, messages = store.open("emptied")
    assert messages == []
    assert opened.notices == ("This conversation's file is empty. Its messages are lost.",)
    opened.close()
    with pytest.raises(StoreError, match=r"'link': it is a symbolic link\."):
        store.open("link")


def test_variables_stay_while_the_folder_of_their_conversation_is_away(store: Store) -> None:
    id_ = add(store, "hello")
    variables = store.variables.make_path(id_, "python")
    variables.write_bytes(b"kept")
    away = store.folder.rename(store.folder.with_name("away"))
    for _ in range(2):
        store.list_summaries()
        FullTextIndex(store.folder / "words.sqlite3").update(store)
    assert variables.exists()
    away.rename(store.folder)
    store.delete(id_)
    store.list_summaries()
    assert variables.exists(), "it can be restored"
    (store.folder / "deleted" / f"{id_}.jsonl").unlink()
    store.list_summaries()
    assert not variables.exists()
