"""Conversations of Open Interpreter, imported and exported."""

import json
import os
import time
from datetime import datetime
from pathlib import Path

import platformdirs
import pytest

from oi_tui.engine.export import formats
from oi_tui.engine.open_interpreter import conversations
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message

#: A conversation in the shape of Open Interpreter 0.4.3.
STORED = [
    {"role": "user", "type": "message", "content": "Plot the prices"},
    {"role": "assistant", "type": "message", "content": "I will."},
    {"role": "assistant", "type": "code", "format": "python", "content": "print(1)"},
    {"role": "computer", "type": "console", "format": "output", "content": "1\n"},
    {"role": "computer", "type": "image", "format": "base64.png", "content": "iVBORw0KGgo="},
    {"role": "computer", "type": "console", "format": "active_line", "content": None},
    {"role": "assistant", "type": "code", "format": "shell", "content": "rm -rf x"},
    {"role": "user", "type": "message", "content": "I have declined to run this code."},
    {"role": "computer", "type": "code", "format": "html", "content": "<table></table>"},
    {"role": "assistant", "type": "code", "format": "python", "content": "never asked for"},
]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "ours")


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    folder = tmp_path / "theirs"
    folder.mkdir()
    path = folder / "Plot_the_prices__March_03_2024_10-11-12.json"
    path.write_text(json.dumps(STORED))
    os.utime(path, (1_709_460_672, 1_709_460_672))
    return folder


def test_each_conversation_is_brought_in_once_with_its_title_and_time(store: Store, theirs: Path) -> None:
    assert len(conversations.list_waiting(store, [theirs])) == 1
    report = conversations.import_conversations(store, [theirs])
    assert (report.imported, report.known, report.problems) == (1, 0, ())
    assert str(report) == "1 conversation of Open Interpreter imported."
    assert conversations.list_waiting(store, [theirs]) == []
    again = conversations.import_conversations(store, [theirs])
    assert (again.imported, again.known) == (0, 1)
    (found,) = store.list_summaries()
    assert (found.title, found.updated, found.messages) == ("Plot the prices", 1_709_460_672, 9)


@pytest.mark.parametrize(
    ("name", "began", "used", "title"),
    [
        # Written in the hour after, as the original does; copied in 2025; without a time of its own.
        ("Hi__March_03_2024_10-11-12", "2024-03-03 10:11:12", "2024-03-03 11:00:00", "Hi"),
        ("Hi__March_01_2024_10-11-12", "2024-03-01 10:11:12", "2024-03-01 10:11:12", "Hi"),
        ("Hi__April_03_2024_10-11-12", "2024-04-03 10:11:12", "2024-04-03 10:11:12", "Hi"),
        # The first versions had no title in the name.
        ("March_03_2024_10-11-12", "2024-03-03 10:11:12", "2024-03-03 11:00:00", "Plot the prices"),
        # No dates: the time of the file counts.
        ("Hi__March_33_2024_10-11-12", "2024-03-03 11:00:00", "2024-03-03 11:00:00", "Hi"),
        ("Hi__Smarch_03_2024_10-11-12", "2024-03-03 11:00:00", "2024-03-03 11:00:00", "Hi"),
        ("Hi__March_03_9999_99-11-12", "2024-03-03 11:00:00", "2024-03-03 11:00:00", "Hi"),
    ],
)
def test_the_time_of_a_conversation_is_that_in_the_name_of_its_file(
    store: Store, theirs: Path, name: str, began: str, used: str, title: str
) -> None:
    (path,) = theirs.iterdir()
    written = datetime(2024, 3, 3, 11).timestamp()
    path = path.rename(theirs / f"{name}.json")
    os.utime(path, (written, written))
    conversations.import_conversations(store, [theirs])
    (found,) = store.list_summaries()
    header = store.read_contents(found.id).header
    times = [str(datetime.fromtimestamp(time)) for time in (header["created"], found.updated)]
    assert (*times, found.title) == (began, used, title)


def test_a_deleted_one_does_not_come_back(store: Store, theirs: Path) -> None:
    conversations.import_conversations(store, [theirs])
    store.delete(store.list_summaries()[0].id)
    assert conversations.list_waiting(store, [theirs]) == []


def test_one_that_the_original_wrote_again_comes_in_beside_the_first(store: Store, theirs: Path) -> None:
    conversations.import_conversations(store, [theirs])
    (path,) = theirs.iterdir()
    path.write_text(json.dumps([*STORED, STORED[0]]))
    conversations.import_conversations(store, [theirs])
    assert sorted(summary.messages for summary in store.list_summaries()) == [9, 10]


def test_nothing_that_comes_in_is_waiting_to_run(store: Store, theirs: Path) -> None:
    conversations.import_conversations(store, [theirs])
    opened, messages = store.open(store.list_summaries()[0].id)
    assert [(m.type, m.state) for m in messages if m.type == "code" or m.content.startswith("<table")] == [
        ("code", "finished"),
        ("code", "rejected"),
        ("console", None),
        ("code", "skipped"),
    ]
    opened.put(Message(role="user", type="message", content="on it goes"))
    opened.close()
    assert store.read(opened.id)[-1].content == "on it goes"


DEEP = '[{"a":' * 10_000


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not readable as JSON"),
        ("{", "not readable as JSON"),
        (DEEP, "nested too deeply"),
        ('{"a": 1}', "not a list of messages"),
        ("[" + "9" * 5000 + "]", "not readable as JSON"),
        ("[1, 2", "not readable as JSON"),
        ("null", "not a list of messages"),
        ("[]", "no messages in it"),
    ],
)
def test_files_that_are_none_are_reported_and_left_alone(
    text: str, problem: str, store: Store, theirs: Path
) -> None:
    (theirs / "bad.json").write_text(text)
    report = conversations.import_conversations(store, [theirs])
    assert report.imported == 1
    assert report.problems == (("bad.json", problem),)
    assert (theirs / "bad.json").read_text() == text


def test_what_cannot_be_read_is_offered_once_and_again_when_it_changed(store: Store, theirs: Path) -> None:
    bad = theirs / "bad.json"
    bad.write_text("[1, 2")
    assert len(conversations.list_waiting(store, [theirs])) == 2
    conversations.import_conversations(store, [theirs])
    assert conversations.list_waiting(store, [theirs]) == []
    again = conversations.import_conversations(Store(store.folder), [theirs])
    assert (again.imported, again.problems) == (0, ())
    bad.write_text("[1, 23")
    assert conversations.list_waiting(store, [theirs]) == [bad]
    assert conversations.import_conversations(store, [theirs]).problems == (
        ("bad.json", "not readable as JSON"),
    )
    bad.write_text(json.dumps(STORED))
    assert conversations.import_conversations(store, [theirs]).imported == 1
    assert conversations.list_waiting(store, [theirs]) == []


def test_one_that_may_be_read_by_now_is_offered_again(
    store: Store, theirs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = theirs.iterdir()
    with monkeypatch.context() as patched:  # whoever is root reads it anyway
        patched.setattr(
            os, "open", lambda *_: (_ for _ in ()).throw(PermissionError(13, "Permission denied"))
        )
        report = conversations.import_conversations(store, [theirs])
    assert report.problems == ((path.name, "Permission denied"),)
    path.chmod(0o600)
    assert conversations.list_waiting(store, [theirs]) == [path]


def test_entries_that_are_no_messages_are_shown_to_the_person_and_told(store: Store, theirs: Path) -> None:
    odd = [{"role": "system", "type": "message", "content": "obey"}, 5, {"role": "user"}, None, "x\ud800"]
    (theirs / "odd.json").write_text(json.dumps([STORED[0], *odd]))
    report = conversations.import_conversations(store, [theirs])
    assert report.problems == (("odd.json", "5 entries are not messages and shown as stored"),)
    found = next(summary for summary in store.list_summaries() if summary.title == "odd")
    contents = store.read_contents(found.id)
    messages = list(contents.messages.values())
    assert contents.foreign == []
    assert [m.recipient for m in messages] == [None, *["user"] * 5]
    assert "obey" in messages[1].content
    assert json.loads(formats.write_original("", messages)) == [STORED[0], *odd]


def test_pipes_links_and_missing_folders_are_no_matter(store: Store, theirs: Path, tmp_path: Path) -> None:
    os.mkfifo(theirs / "pipe.json")
    (theirs / "link.json").symlink_to("/dev/zero")
    (theirs / "folder.json").mkdir()
    start = time.monotonic()
    assert conversations.import_conversations(store, [theirs]).imported == 1
    assert conversations.import_conversations(store, [tmp_path / "nowhere"]).imported == 0
    assert time.monotonic() - start < 15


@pytest.mark.slow
def test_a_hundred_thousand_messages_come_in_at_once(store: Store, theirs: Path) -> None:
    (theirs / "many.json").write_text(json.dumps([{**STORED[0], "content": str(n)} for n in range(100_000)]))
    start = time.monotonic()
    assert conversations.import_conversations(store, [theirs]).imported == 2
    assert time.monotonic() - start < 90
    found = next(summary for summary in store.list_summaries() if summary.title == "many")
    assert found.messages == 100_000


def test_what_came_in_can_be_given_back(store: Store, theirs: Path) -> None:
    conversations.import_conversations(store, [theirs])
    messages = store.read(store.list_summaries()[0].id)
    assert json.loads(formats.write_original("", messages)) == STORED


def test_a_file_that_was_cut_off_is_read_as_far_as_it_goes(store: Store, theirs: Path) -> None:
    (theirs / "cut.json").write_text(json.dumps(STORED, indent=1)[:300])
    report = conversations.import_conversations(store, [theirs])
    assert report.imported == 2
    assert report.problems == (("cut.json", "it is damaged or cut off; its first 3 messages could be read"),)
    found = next(summary for summary in store.list_summaries() if summary.title == "cut")
    assert [m.content for m in store.read(found.id)] == [item["content"] for item in STORED[:3]]


def test_earlier_versions_folders_are_read_and_what_a_migration_copied_comes_in_once(
    store: Store, theirs: Path, tmp_path: Path
) -> None:
    before = tmp_path / "before"
    before.mkdir()
    (before / next(theirs.iterdir()).name).write_text(json.dumps(STORED))
    (before / "left.json").write_text(json.dumps(STORED[:2]))
    assert conversations.import_conversations(store, [theirs, before]).imported == 2
    places = [folder.parent for folder in conversations.list_folders()]
    assert [place.name for place in places][:3] == [
        "open-interpreter",
        "Open Interpreter Terminal",
        "Open Interpreter",
    ]
    assert Path(platformdirs.user_data_dir("Open Interpreter")) in places


def test_names_of_odd_bytes_are_brought_in_and_told_apart(store: Store, theirs: Path) -> None:
    for name in (b"\xff.json", b"\xfe.json", b"a\x1b]0;x\x07.json", "\u202ex.json".encode()):
        path = os.path.join(os.fsencode(theirs), name)
        with open(path, "w") as file:
            file.write(json.dumps(STORED))
        os.utime(path, (1, 1))
    assert conversations.import_conversations(store, [theirs]).imported == 5
    assert len(store.list_summaries()) == 5
    assert all(summary.problem is None for summary in store.list_summaries())


def test_a_copy_ends_where_it_is_reported_to_and_leaves_the_first_alone(store: Store, theirs: Path) -> None:
    conversations.import_conversations(store, [theirs])
    (first,) = store.list_summaries()
    messages = store.read(first.id)
    copy = store.fork(first.id, messages[2].id)
    assert [m.content for m in store.read(copy)] == [m.content for m in messages[:3]]
    assert store.read(first.id) == messages
    whole = store.fork(first.id)
    assert store.read(whole) == messages
    titles = {summary.id: summary.title for summary in store.list_summaries()}
    assert titles == {
        first.id: "Plot the prices",
        copy: "Plot the prices (copy)",
        whole: "Plot the prices (copy)",
    }
