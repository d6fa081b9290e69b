"""A conversation that lost its end says so when it is opened, and no other does."""

import itertools
import os
import shutil
import signal
import threading
from pathlib import Path

import pytest

from oi_tui import paths
from oi_tui.engine.storage.end_notes import EndNotes, name_folder
from oi_tui.engine.storage.journal import Journal
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message
from tests.full_disk import full_disk
from tests.kill_points import killed_at

LOST = "The end of this conversation's file was lost, or an older copy has replaced it."


def make_message(text: str, id: str, role: str = "user") -> Message:
    return Message(role=role, type="message", content=text, id=id)  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "data" / "conversations")


def talk(journal: Journal) -> None:
    journal.put(make_message("one", "a"))
    journal.put(make_message("", "b", "assistant"))
    journal.grow("b", "He")
    journal.grow("b", "llo")
    journal.put(make_message("two", "c"))
    journal.put(make_message("three", "d"))
    journal.forget(["d"])


@pytest.fixture
def told(store: Store) -> Path:
    """The file of a conversation that was closed."""
    journal = store.create(cwd="/", model="m")
    talk(journal)
    journal.close()
    assert journal.path is not None
    return journal.path


def list_notices(path: Path) -> tuple[str, ...]:
    """What a program that opens the conversation says."""
    journal, _ = Store(path.parent).open(path.stem)
    journal.close()
    return journal.notices


def find_notes() -> list[Path]:
    return [path for path in (paths.state() / "ends").rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("records", "lost"),
    [
        (1, "3 messages, saved last, cannot be found."),
        (2, "2 messages, saved last, cannot be found."),
        (3, "1 message, saved last, cannot be found."),
        (4, "1 message, saved last, cannot be found."),
        (5, "1 message, saved last, cannot be found."),
        (6, "The last change cannot be found."),
        (7, "The last change cannot be found."),
    ],
)
def test_a_file_without_its_last_lines_says_so_until_it_is_written_to(
    records: int, lost: str, told: Path
) -> None:
    lines = told.read_bytes().splitlines(keepends=True)
    assert len(lines) == 8
    told.write_bytes(b"".join(lines[:records]))
    shown = f"{LOST} {lost} The rest is shown."
    assert list_notices(told) == (shown,)
    assert list_notices(told) == (shown,)
    journal, _ = Store(told.parent).open(told.stem)
    journal.put(make_message("on", "e"))
    journal.close()
    assert list_notices(told) == ()


def test_an_older_copy_in_the_place_of_the_file_is_told(store: Store, told: Path, tmp_path: Path) -> None:
    older = shutil.copy(told, tmp_path / "older")
    journal, _ = store.open(told.stem)
    journal.put(make_message("later", "e"))
    journal.close()
    assert list_notices(told) == ()
    os.replace(older, told)
    assert list_notices(told) == (f"{LOST} 1 message, saved last, cannot be found. The rest is shown.",)


def test_a_longer_file_that_went_on_from_an_older_state_is_told(told: Path) -> None:
    lines = told.read_bytes().splitlines(keepends=True)
    told.write_bytes(b"".join(lines[:5]))
    note = find_notes()[0].read_bytes()
    journal, _ = Store(told.parent).open(told.stem)
    for number in range(9):
        journal.put(make_message("elsewhere", f"x{number}"))
    journal.close()
    # As on a machine that had seen the conversation before.
    find_notes()[0].write_bytes(note)
    assert list_notices(told) == (f"{LOST} The last change cannot be found. The rest is shown.",)


def test_a_file_that_another_machine_wrote_more_to_is_complete(told: Path) -> None:
    note = find_notes()[0].read_bytes()
    journal, _ = Store(told.parent).open(told.stem)
    journal.put(make_message("elsewhere", "e"))
    journal.close()
    find_notes()[0].write_bytes(note)
    assert list_notices(told) == ()


def test_a_copy_that_was_written_at_once_is_told_when_it_is_cut(store: Store) -> None:
    messages = [make_message("one", "a"), make_message("two", "b")]
    journal = store.create(cwd="/", model="m", messages=messages)
    journal.save()
    journal.close()
    assert journal.path is not None
    assert list_notices(journal.path) == ()
    journal.path.write_bytes(b"".join(journal.path.read_bytes().splitlines(keepends=True)[:-1]))
    assert LOST in list_notices(journal.path)[0]


def test_a_last_line_that_is_torn_is_told_once(told: Path) -> None:
    told.write_bytes(told.read_bytes()[:-9])
    (notice,) = list_notices(told)
    assert notice.startswith("This conversation's file is damaged in 1 line.")


def test_killed_at_any_call_no_end_is_missed_and_what_was_saved_is_there(tmp_path: Path) -> None:
    for number in itertools.count():
        folder = tmp_path / str(number)
        saved = folder / "saved"

        def scenario(folder: Path = folder, saved: Path = saved) -> None:
            journal = Store(folder).create(cwd="/", model="m")
            for count in range(1, 4):
                journal.put(make_message("x", f"{count}"))
                with saved.open("a") as file:
                    file.write(".")
            journal.close()

        folder.mkdir()
        killed = killed_at(number, scenario)
        acknowledged = len(saved.read_text()) if saved.exists() else 0
        files = list(folder.glob("*.jsonl"))
        assert acknowledged == 0 or files
        for path in files:
            store = Store(folder)
            journal, messages = store.open(path.stem)
            assert len(messages) >= acknowledged
            assert not any(LOST in notice for notice in journal.notices)
            journal.close()
            # What was noted before the kill is enough to miss it.
            if acknowledged > 1:
                path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:acknowledged]))
                assert LOST in list_notices(path)[0], number
        if not killed:
            break
    assert number > 20


def test_nothing_is_missed_while_another_window_writes(store: Store) -> None:
    journal = store.create(cwd="/", model="m")
    journal.put(make_message("one", "a"))
    done = threading.Event()

    def write() -> None:
        for number in itertools.count():
            journal.put(make_message("x", f"{number}"))
            if done.is_set():
                return

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(40):
            copy, _messages = Store(store.folder).open(journal.id)
            copy.close()
            assert [notice for notice in copy.notices if LOST in notice] == []
    finally:
        done.set()
        writer.join()
        journal.close()


@pytest.mark.parametrize(
    "note", [b"", b"\0" * 48, b'"n":1,"crc":"', b'"n":99,"crc":"0123456z"}\n', b"\xff" * 99]
)
def test_a_note_that_cannot_be_read_says_nothing(note: bytes, told: Path) -> None:
    (path,) = find_notes()
    path.write_bytes(note)
    assert list_notices(told) == ()


def test_a_note_is_for_its_owner_only_and_follows_no_link(store: Store, told: Path, tmp_path: Path) -> None:
    (path,) = find_notes()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    other = tmp_path / "other"
    other.write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(other)
    before = other.read_bytes()
    journal, _ = store.open(told.stem)
    journal.put(make_message("later", "e"))
    journal.close()
    assert journal.trouble is None
    assert other.read_bytes() == before


def test_where_no_note_can_be_kept_the_conversation_is_saved_all_the_same(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oi_tui.paths.state", lambda: Path("/dev/null/state"))
    journal = Store(store.folder).create(cwd="/", model="m")
    talk(journal)
    journal.close()
    assert journal.trouble is None
    assert journal.path is not None
    assert list_notices(journal.path) == ()


def test_a_note_that_did_not_fit_on_the_disk_says_nothing(tmp_path: Path) -> None:
    notes = EndNotes(tmp_path)
    record = b'{"title":"x","n":3,"crc":"01234567"}\n'
    with full_disk(20):
        notes.save("a", record)
    assert notes.read("a") is None
    notes.save("a", record)
    assert notes.read("a") == (b'"n":3,"crc":"01234567"}', 3)


def test_only_records_with_a_checksum_at_their_end_are_noted(tmp_path: Path) -> None:
    notes = EndNotes(tmp_path)
    notes.save("a", b'{"title":"x","n":3}\n')
    notes.save("b", b'{"title":"x","n":3,"crc":"01234567"}x\n')
    assert notes.read("a") is None
    assert notes.read("b") is None
    assert find_notes() == []


def test_notes_go_with_their_conversations_and_stay_while_those_can_be_restored(
    store: Store, told: Path
) -> None:
    (note,) = find_notes()
    store.delete(told.stem)
    store.list_summaries()
    assert find_notes() == [note]
    store.restore(told.stem)
    store.list_summaries()
    assert find_notes() == [note]
    told.unlink()
    store.list_summaries()
    assert find_notes() == []


def test_a_folder_that_cannot_be_listed_costs_no_note(store: Store, told: Path) -> None:
    store.folder.rename(store.folder.with_name("moved"))
    store.list_summaries()
    assert len(find_notes()) == 1


CUT_OFF = "The last reply is not complete: oi-tui ended while it was written."


@pytest.mark.parametrize("kind", ["message", "reasoning"])
@pytest.mark.parametrize("pieces", [("I am",), ("I am", " the")])
def test_a_reply_that_was_being_written_when_the_program_was_killed_is_told(
    kind: str, pieces: tuple[str, ...], tmp_path: Path
) -> None:
    answer = Message(role="assistant", type=kind, content="", id="b")  # type: ignore[arg-type]

    def die_while_writing() -> None:
        journal = Store(tmp_path).create(cwd="/", model="m")
        journal.put(make_message("go", "a"))
        journal.put(answer)
        for piece in pieces:
            journal.grow("b", piece)
        os.kill(os.getpid(), signal.SIGKILL)

    assert killed_at(1_000, die_while_writing)
    (path,) = tmp_path.glob("*.jsonl")
    assert list_notices(path) == (CUT_OFF,)
    journal, messages = Store(tmp_path).open(path.stem)
    assert messages[-1].content == "".join(pieces)
    # A window that is still writing it has not ended.
    assert CUT_OFF not in Store(tmp_path).open(path.stem)[0].notices
    journal.put(answer.replace(content="I am the end."))
    journal.close()
    assert list_notices(path) == ()


def test_only_the_last_reply_is_told_to_be_incomplete(store: Store) -> None:
    journal = store.create(cwd="/", model="m")
    journal.put(make_message("", "b", "assistant"))
    journal.grow("b", "I am")
    journal.put(make_message("on", "c"))
    journal.close()
    assert journal.path is not None
    assert list_notices(journal.path) == ()


def test_each_folder_has_notes_of_its_own_under_a_name_that_stays(tmp_path: Path) -> None:
    assert name_folder(Path("/home/ada/conversations")) == "1e88e0a61d30b558"
    record = b'{"n":3,"crc":"01234567"}\n'
    EndNotes(tmp_path / "a").save("x", record)
    assert EndNotes(tmp_path / "a").read("x") is not None
    assert EndNotes(tmp_path / "b").read("x") is None


def test_notes_leave_no_file_open(tmp_path: Path) -> None:
    notes = EndNotes(tmp_path)
    before = os.listdir("/proc/self/fd")
    notes.save("x", b'{"n":3,"crc":"01234567"}\n')
    notes.read("x")
    assert os.listdir("/proc/self/fd") == before
