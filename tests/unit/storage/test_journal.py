"""Conversations on disk: what is acknowledged is there, whatever happens."""

import errno
import json
import os
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oi_tui.engine.storage import append_file, journal, records
from oi_tui.engine.storage.journal import Journal
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message
from tests.processes import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable


def make_message(text: str, role: str = "user") -> Message:
    return Message(role=role, type="message", content=text)  # type: ignore[arg-type]


def list_contents(messages: list[Message]) -> list[str]:
    return [message.content for message in messages]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "data" / "conversations")


@pytest.fixture
def begun(store: Store) -> Journal:
    return store.create(cwd="/work", model="demo")


def stored(begun: Journal) -> list[str]:
    """What the file says, read by itself."""
    assert begun.path is not None
    return [m.content for m in records.parse(begun.path.read_bytes()).messages.values()]


# ---- What is written


def test_nothing_is_written_before_the_first_message(begun: Journal, store: Store) -> None:
    begun.close()
    assert not store.folder.exists()


def test_a_message_is_on_disk_when_put_returns(begun: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    real = os.fsync

    def noting(descriptor: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", noting)
    begun.put(make_message("a"))
    folder = str(begun.path.parent)  # type: ignore[union-attr]
    # The new folder and the file's name need the folders above them on disk too.
    assert {str(begun.path), folder, str(Path(folder).parent)} <= set(synced)
    synced.clear()
    begun.put(make_message("b"))
    assert synced == [str(begun.path)]
    assert stored(begun) == ["a", "b"]


def test_a_file_is_for_its_owner_only_and_named_by_nothing_but_chance(begun: Journal) -> None:
    before = os.umask(0)
    try:
        begun.put(make_message("../../etc/passwd\n\x1b]0;x\x07"))
    finally:
        os.umask(before)
    assert begun.path is not None
    assert stat.S_IMODE(begun.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(begun.path.parent.stat().st_mode) == 0o700
    assert begun.path.stem == begun.id
    assert len(begun.id) == 16
    assert int(begun.id, 16) >= 0


def test_a_conversation_that_begins_with_other_words_is_named_by_the_first_request(
    begun: Journal, store: Store
) -> None:
    begun.put(make_message("Hello", "assistant"))
    begun.put(make_message("Plot it"))
    begun.close()
    assert store.open(begun.id)[0].title == "Plot it"


def test_a_rescued_conversation_is_written_before_it_is_synced(
    begun: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun.put(make_message("a"))
    sizes: list[int] = []
    monkeypatch.setattr(journal.paths, "flush", lambda file: sizes.append(os.fstat(file).st_size))
    path = begun.rescue(tmp_path)
    assert sizes == [path.stat().st_size]


def test_a_known_id_takes_the_old_place_and_growth_is_added(begun: Journal, store: Store) -> None:
    first, second = make_message("one"), make_message("", "assistant")
    begun.put(first)
    begun.put(second)
    for piece in ("He", "llo", " \ud800 ✓"):
        begun.grow(second.id, piece)
    begun.put(first.replace(content="uno"))
    assert stored(begun) == ["uno", "Hello \ud800 ✓"]
    begun.forget([first.id, "nobody"])
    assert stored(begun) == ["Hello \ud800 ✓"]
    assert list_contents(begun.messages) == ["Hello \ud800 ✓"]
    begun.close()
    assert list_contents(store.open(begun.id)[1]) == ["Hello \ud800 ✓"]


def test_every_field_survives(begun: Journal, store: Store) -> None:
    whole = Message(
        role="assistant",
        type="code",
        format="python",
        content="x",
        recipient="user",
        parent="p",
        state="failed",
        decision="edited",
        proposed="y",
        reason="because",
        seconds=1.5,
        call="call_1",
        unknown={"later": {"a": [1, None]}},
    )
    begun.put(whole)
    begun.close()
    assert store.open(begun.id)[1] == [whole]


def test_the_clock_decides_nothing(begun: Journal, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for moment in (2e9, 0.0, 3e9, 1e9):
        monkeypatch.setattr(time, "time", lambda moment=moment: moment)
        begun.put(make_message(str(moment)))
    begun.close()
    assert list_contents(store.open(begun.id)[1]) == ["2000000000.0", "0.0", "3000000000.0", "1000000000.0"]


@pytest.mark.parametrize(
    ("state", "found"),
    [
        ("writing", "unfinished"),
        ("queued", "skipped"),
        ("running", "lost"),
        ("waiting", "lost"),
        ("finished", "finished"),
        ("interrupted", "interrupted"),
    ],
)
def test_what_was_under_way_when_the_application_died_is_reported_truthfully(
    state: str, found: str, begun: Journal, store: Store
) -> None:
    begun.put(Message(role="assistant", type="code", format="python", content="x", state=state))  # type: ignore[arg-type]
    begun.close()
    (message,) = store.open(begun.id)[1]
    assert message.state == found
    assert (message.reason is not None) == (state != found)


def test_an_unsaved_conversation_leaves_nothing(store: Store) -> None:
    memory = store.create_unsaved(cwd="/", model="m")
    memory.put(make_message("a"))
    memory.grow(memory.messages[0].id, "b")
    memory.close()
    assert list_contents(memory.messages) == ["ab"]
    assert memory.trouble is None
    assert not store.folder.exists()


def test_saving_a_conversation_that_has_no_file_on_purpose_makes_none(store: Store) -> None:
    begun = store.create_unsaved(cwd="/", model="m")
    begun.put(Message(role="user", type="message", content="hello"))
    begun.save()
    begun.close()
    assert (begun.path, begun.trouble) == (None, None)
    assert not store.folder.exists()


def test_nothing_waits_for_a_file_that_will_never_be(store: Store) -> None:
    memory = store.create_unsaved(cwd="/", model="m")
    memory.put(make_message("a" * 1000))
    assert memory._pending == []


def test_the_model_can_be_set_until_there_is_a_file(begun: Journal, store: Store) -> None:
    begun.use_model("chosen")
    begun.put(make_message("a"))
    begun.use_model("later")
    begun.path.unlink()  # type: ignore[union-attr]
    begun.put(make_message("b"))
    begun.close()
    assert [summary.model for summary in store.list_summaries()] == ["chosen"]


def test_only_known_messages_grow_and_no_text_is_no_growth(begun: Journal) -> None:
    message = make_message("a")
    begun.put(message)
    size = begun.path.stat().st_size  # type: ignore[union-attr]
    begun.grow(message.id, "")
    begun.grow("nobody", "text")
    assert begun.path.stat().st_size == size  # type: ignore[union-attr]
    assert list_contents(begun.messages) == ["a"]


# ---- Damage


def sample(store: Store) -> tuple[Path, list[str]]:
    begun = store.create(cwd="/work", model="demo")
    for number in range(12):
        begun.put(make_message(f"message {number} " + 'é{"message":' * (number % 4)))
    begun.close()
    assert begun.path is not None
    return begun.path, list_contents(begun.messages)


def test_a_file_cut_at_any_byte_gives_all_whole_messages(store: Store) -> None:
    path, texts = sample(store)
    raw = path.read_bytes()
    ends = [i for i, byte in enumerate(raw) if byte == ord("\n")][1:]
    for cut in range(len(raw) + 1):
        found = records.parse(raw[:cut])
        whole = sum(end <= cut for end in ends)
        assert list_contents(list(found.messages.values()))[:whole] == texts[:whole]
        assert len(found.messages) == whole
        assert bool(found.notices) == (found.damaged > 0)
        if raw[:cut] and raw[cut - 1 : cut] not in (b"\n", b"}"):
            assert found.damaged == 1


def test_a_torn_tail_is_closed_before_the_next_message(store: Store) -> None:
    path, texts = sample(store)
    raw = path.read_bytes()
    for cut in (len(raw) - 1, len(raw) - 20, len(raw) - 3):
        path.write_bytes(raw[:cut])
        opened, messages = store.open(path.stem)
        assert list_contents(messages)[:11] == texts[:11]
        opened.put(make_message("new"))
        opened.close()
        assert path.read_bytes().startswith(raw[:cut] + b"\n")
        found = records.parse(path.read_bytes())
        assert list_contents(list(found.messages.values()))[-1] == "new"


def test_zeros_a_foreign_line_and_joined_lines_cost_only_themselves(store: Store) -> None:
    path, texts = sample(store)
    lines = path.read_bytes().split(b"\n")
    lines[3] = b"\0" * 512
    lines[5] = b"\0" * 100 + lines[5]
    lines[7] = b"what is this"
    lines[9] += lines.pop(10)
    found = records.parse(b"\n".join(lines))
    assert list_contents(list(found.messages.values())) == [t for i, t in enumerate(texts) if i not in (2, 6)]
    assert found.damaged == 3
    assert found.notices[0].startswith("This conversation's file is damaged in 3 lines.")


def test_half_a_line_with_the_next_one_run_into_it_loses_only_the_half(store: Store) -> None:
    path, texts = sample(store)
    lines = path.read_bytes().split(b"\n")
    lines[4] = lines[4][:30] + lines.pop(5)
    found = records.parse(b"\n".join(lines))
    assert list_contents(list(found.messages.values())) == [t for i, t in enumerate(texts) if i != 3]


def test_flipped_bits_never_cost_more_than_their_lines(store: Store) -> None:
    path, texts = sample(store)
    raw = path.read_bytes()
    chance = random.Random(3)
    unnoticed = 0
    for _ in range(1000):
        flipped = bytearray(raw)
        at = chance.randrange(len(raw))
        flipped[at] ^= 1 << chance.randrange(8)
        parsed = records.parse(bytes(flipped))
        found = list_contents(list(parsed.messages.values()))
        assert sum(text in found for text in texts) >= len(texts) - 2
        unnoticed += not parsed.notices
    assert unnoticed <= 2  # only the first record's checksum can be lost without a trace


@pytest.mark.parametrize(("line", "missing"), [(1, 1), (2, 1), (3, 1)])
def test_a_line_that_is_not_there_is_told(line: int, missing: int, begun: Journal, store: Store) -> None:
    for number in range(4):
        begun.put(make_message(f"question {number}"))
    begun.close()
    assert begun.path is not None
    lines = begun.path.read_bytes().splitlines(keepends=True)
    begun.path.write_bytes(b"".join(lines[:line] + lines[line + 1 :]))
    opened, messages = store.open(begun.id)
    assert len(messages) == 4 - missing
    assert opened.notices == ("1 message is missing from this conversation's file. The rest is shown.",)
    # What is written from now on counts what is there.
    opened.put(make_message("one more"))
    opened.close()
    again, _ = store.open(begun.id)
    assert again.notices == ()
    again.close()


def test_a_piece_of_a_message_that_is_not_there_is_told(begun: Journal, store: Store) -> None:
    message = make_message("", "assistant")
    begun.put(message)
    for piece in ("one ", "two ", "three"):
        begun.grow(message.id, piece)
    begun.put(make_message("on"))
    begun.close()
    assert begun.path is not None
    lines = begun.path.read_bytes().splitlines(keepends=True)
    begun.path.write_bytes(b"".join(lines[:2] + lines[3:]))
    opened, messages = store.open(begun.id)
    assert list_contents(messages) == ["two three", "on"]
    assert opened.notices == ("Part of 1 message is missing from this conversation's file.",)
    # Put anew, the message is whole.
    opened.put(message.replace(content="one two three"))
    opened.close()
    again, _ = store.open(begun.id)
    assert again.notices == ()
    again.close()


@pytest.mark.parametrize("change", ["swapped", "no forget", "message again"])
def test_entries_that_are_out_of_order_are_told(change: str, begun: Journal, store: Store) -> None:
    first, second = make_message("first"), make_message("second")
    begun.put(first)
    begun.put(second)
    begun.forget([second.id])
    begun.put(make_message("third"))
    begun.close()
    assert begun.path is not None
    lines = begun.path.read_bytes().splitlines(keepends=True)
    match change:
        case "swapped":
            lines[1], lines[2] = lines[2], lines[1]
        case "no forget":
            del lines[3]
        case _:
            lines.insert(4, lines[2])
    begun.path.write_bytes(b"".join(lines))
    opened, _ = store.open(begun.id)
    assert [notice for notice in opened.notices if "may be in the wrong order" in notice]
    opened.close()


def test_records_that_are_there_twice_are_no_loss(begun: Journal, store: Store) -> None:
    first, second = make_message("first"), make_message("second")
    begun.put(first)
    begun.put(second)
    begun.grow(second.id, " goes on")
    begun.forget([first.id])
    begun.close()
    assert begun.path is not None
    lines = begun.path.read_bytes().splitlines(keepends=True)
    begun.path.write_bytes(b"".join(line * 2 for line in lines))
    opened, messages = store.open(begun.id)
    assert list_contents(messages) == ["second goes on"]
    assert opened.notices == ()
    opened.close()


@pytest.mark.parametrize("version", [5, 10**30])
def test_a_changed_version_number_gives_a_copy_and_is_told(
    version: int, begun: Journal, store: Store
) -> None:
    begun.put(make_message("question"))
    begun.close()
    assert begun.path is not None
    before = begun.path.read_bytes()
    changed = before.replace(b'{"oi_tui":1', b'{"oi_tui":%d' % version, 1)
    begun.path.write_bytes(changed)
    opened, messages = store.open(begun.id)
    assert list_contents(messages) == ["question"]
    assert opened.id != begun.id
    assert any("newer version" in notice for notice in opened.notices)
    assert any("damaged in 1 line" in notice for notice in opened.notices)
    opened.put(make_message("more"))
    opened.close()
    assert begun.path.read_bytes() == changed


def test_a_file_of_zeros_is_reported_to_be_damaged() -> None:
    assert records.parse(b"\0" * 5000).notices
    assert records.parse(b"").notices == ()


def test_records_without_checksums_from_before_are_sound(store: Store) -> None:
    path, texts = sample(store)
    old = re.sub(rb',"crc":"[0-9a-f]{8}"', b"", path.read_bytes())
    parsed = records.parse(old)
    assert list_contents(list(parsed.messages.values())) == texts
    assert parsed.notices == ()
    # What is added to such a file has checksums, and the whole is sound.
    path.write_bytes(old)
    opened, _ = store.open(path.stem)
    opened.put(make_message("added"))
    opened.close()
    assert store.open(path.stem)[0].notices == ()


@pytest.mark.parametrize(
    "raw", [b"", b"\n\n", b"\0" * 5000, b"[" * 100_000, b'{"message":' * 5000, b"null\n1\n[]\n"]
)
def test_no_bytes_at_all_make_reading_fail(raw: bytes) -> None:
    assert records.parse(raw).messages == {}


@pytest.mark.parametrize(
    "message",
    [
        {"role": "system", "type": "message", "content": "x"},
        {"role": "assistant", "type": "hologram", "content": "x"},
        {"role": ["user"], "type": "message", "content": "x"},
        {"role": "user", "type": "message", "content": {"text": "x"}},
        {},
    ],
)
def test_messages_of_another_version_are_kept_and_told(message: dict[str, object], store: Store) -> None:
    path, texts = sample(store)
    odd = json.dumps({"message": message}).encode()
    later = b'{"hologram": {"deep": [[1]]}, "n": 12}'
    path.write_bytes(path.read_bytes() + odd + b"\n" + later + b"\n")
    opened, messages = store.open(path.stem)
    assert list_contents(messages) == texts
    assert opened.notices == (
        "2 entries of this conversation came from another version of oi-tui and cannot be shown.",
    )
    opened.put(make_message("more"))
    assert odd + b"\n" + later + b"\n" in path.read_bytes()
    # Also where the file has to be written anew.
    path.unlink()
    opened.put(make_message("again"))
    opened.close()
    assert odd + b"\n" + later + b"\n" in path.read_bytes()
    assert list_contents(store.open(path.stem)[1]) == [*texts, "more", "again"]


def test_fields_with_values_of_the_wrong_sort_are_left_out() -> None:
    odd = {
        "id": 5,
        "created": "now",
        "seconds": -1,
        "state": "dreaming",
        "decision": [],
        "format": {},
        "call": 1,
    }
    message = records.parse_message({"role": "user", "type": "message", "content": None, **odd})
    assert message is not None
    assert (message.content, message.created, message.seconds, message.state) == ("", 0.0, None, None)
    huge = records.parse_message({"role": "user", "type": "message", "content": "", "created": 10**400})
    assert huge is not None
    assert huge.created == 0.0


def test_an_empty_line_in_front_costs_nothing(begun: Journal) -> None:
    begun.put(make_message("a"))
    begun.close()
    assert begun.path is not None
    raw = begun.path.read_bytes()
    assert records.parse(b"\n\n" + raw) == records.parse(raw)


@pytest.mark.parametrize("at", [-1, "1", None, 99])
def test_growth_at_an_impossible_place_is_added_at_the_end(at: object, begun: Journal) -> None:
    contents: dict[str, Message] = {"m": make_message("abc")}
    growth = records._Growth(contents)
    growth.add("m", at, "d")
    growth.settle()
    assert contents["m"].content == "abcd"


def test_a_title_is_cut_at_a_word_when_it_is_too_long() -> None:
    just = "word " * 11 + "words"
    assert len(just) == 60
    assert records.make_title(make_message(just)) == just
    assert records.make_title(make_message(f"{just}s")) == ("word " * 11).strip() + "…"


# ---- A disk that fails


class Disk:
    """Lets the n-th write or fsync of the conversation's file fail, once or for as long as `broken`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.calls = 0
        self.fail_at: Callable[[int], bool] = lambda _: False
        self.fault = errno.ENOSPC
        self.short = False
        #: A fault after half of the data was written.
        self.half = False
        self._folder = str(folder)
        self._write, self._sync = os.write, os.fsync
        monkeypatch.setattr(os, "write", self.write)
        monkeypatch.setattr(os, "fsync", self.sync)

    def _fails(self, descriptor: int) -> bool:
        if not os.readlink(f"/proc/self/fd/{descriptor}").startswith(self._folder):
            return False
        self.calls += 1
        return self.fail_at(self.calls)

    def write(self, descriptor: int, data: bytes) -> int:
        if not self._fails(descriptor):
            return self._write(descriptor, data)
        if self.short or self.half:
            written = self._write(descriptor, data[: len(data) // 2])
            if self.short:
                return written
        raise OSError(self.fault, os.strerror(self.fault))

    def sync(self, descriptor: int) -> None:
        if self._fails(descriptor):
            raise OSError(self.fault, os.strerror(self.fault))
        self._sync(descriptor)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch, store: Store) -> Disk:
    monkeypatch.setattr(journal, "RETRY_SECONDS", 0.02)
    return Disk(monkeypatch, store.folder)


def write_turns(begun: Journal, turns: int = 8) -> list[str]:
    for number in range(turns):
        begun.put(make_message(f"question {number}"))
        answer = make_message("", "assistant")
        begun.put(answer)
        begun.grow(answer.id, "so ")
        begun.grow(answer.id, f"{number}")
        begun.put(answer.replace(content=f"so {number}!"))
    return [text for number in range(turns) for text in (f"question {number}", f"so {number}!")]


@pytest.mark.slow
@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize("fault", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_a_fault_at_any_one_call_loses_nothing(
    fault: int, short: bool, store: Store, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk.fault, disk.short = fault, short
    for at in range(1, 60):
        disk.calls, disk.fail_at = 0, lambda call, at=at: call == at
        begun = store.create(cwd="/", model="m")
        expected = write_turns(begun)
        assert wait_until(lambda begun=begun: begun.trouble is None, 40)
        begun.close()
        assert stored(begun) == expected
        found = records.parse(begun.path.read_bytes())  # type: ignore[union-attr]
        # Only after an input-output error does nobody know what was written.
        assert found.damaged == 0 or fault == errno.EIO


def whole_records(begun: Journal) -> int:
    """How many lines of the file are JSON."""

    def is_whole(line: bytes) -> bool:
        try:
            return isinstance(json.loads(line), dict)
        except ValueError:
            return False

    assert begun.path is not None
    return sum(map(is_whole, begun.path.read_bytes().splitlines()))


@pytest.mark.parametrize("can_be_taken_back", [True, False])
def test_a_record_of_which_half_was_written_spoils_no_other(
    can_be_taken_back: bool, begun: Journal, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun.put(make_message("a"))
    before = whole_records(begun)
    if can_be_taken_back:
        disk.half, disk.fault = True, errno.EIO  # nobody knows that half of it was written
    else:
        disk.short = True

        def refuse(*_: object) -> None:
            raise OSError(errno.EIO, "no")

        monkeypatch.setattr(os, "ftruncate", refuse)
    last = disk.calls
    disk.fail_at = lambda call: call == last + 1
    begun.put(make_message("b"))
    assert wait_until(lambda: begun.trouble is None, 40)
    begun.close()
    assert stored(begun) == ["a", "b"]
    assert whole_records(begun) == before + 1


def test_a_conversation_says_that_it_is_used_when_it_is_first_saved_and_when_it_is_closed(
    begun: Journal,
) -> None:
    used: list[str] = []
    begun.used = used.append
    begun.put(make_message("a"))
    begun.put(make_message("b"))
    assert used == [begun.id]
    begun.close()
    assert used == [begun.id] * 2


def test_what_is_saved_after_closing_leaves_no_file_open(begun: Journal) -> None:
    begun.put(make_message("a"))
    begun.close()
    begun.put(make_message("b"))
    assert stored(begun) == ["a", "b"]
    links = [Path("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
    assert str(begun.path) not in [os.readlink(link) for link in links if link.is_symlink()]


def test_while_the_disk_is_full_the_file_stays_valid_and_then_catches_up_by_itself(
    begun: Journal, disk: Disk
) -> None:
    before = write_turns(begun, 2)
    disk.short, disk.fail_at = True, lambda _: True
    begun.put(make_message("lost?"))
    assert begun.trouble is not None
    assert begun.trouble.startswith("Not saved: no space left on the disk of ")
    write_turns(begun, 20)
    waiting = [thread for thread in threading.enumerate() if thread.name == "journal"]
    assert [thread.daemon for thread in waiting] == [True], "it does not keep the program from ending"
    assert stored(begun) == before
    assert records.parse(begun.path.read_bytes()).damaged == 0  # type: ignore[union-attr]
    disk.fail_at = lambda _: False
    assert wait_until(lambda: begun.trouble is None, 40)
    assert stored(begun) == [*before, "lost?", *write_turns(Journal(None, {"id": "x"}), 20)]
    begun.close()


def test_a_part_that_was_taken_back_leaves_no_line(begun: Journal, disk: Disk) -> None:
    begun.put(make_message("a"))
    disk.short, disk.fail_at = True, lambda _: True
    begun.put(make_message("b"))
    disk.fail_at = lambda _: False
    begun.save()
    begun.close()
    assert stored(begun) == ["a", "b"]
    assert b"\n\n" not in begun.path.read_bytes()  # type: ignore[union-attr]


def test_what_waited_is_not_written_twice_when_the_whole_conversation_is(begun: Journal, disk: Disk) -> None:
    disk.fail_at = lambda _: True
    begun.put(make_message("a"))
    begun.put(make_message("b"))
    disk.fail_at = lambda _: False
    begun.save()
    assert begun.trouble is None
    begun.close()
    assert begun.path.read_bytes().count(b'"content":"b"') == 1  # type: ignore[union-attr]


def test_what_a_reply_gains_while_the_disk_is_full_is_saved_and_its_newest_version_alone(
    begun: Journal, disk: Disk
) -> None:
    begun.put(make_message("a"))
    disk.fail_at = lambda _: True
    growing, replaced = make_message("", "assistant"), make_message("first version", "assistant")
    begun.put(growing)
    for piece in ("so ", "far"):
        begun.grow(growing.id, piece)
    begun.put(replaced)
    begun.put(replaced.replace(content="second version"))
    disk.fail_at = lambda _: False
    begun.save()
    begun.close()
    assert stored(begun) == ["a", "so far", "second version"]
    assert b"first version" not in begun.path.read_bytes()  # type: ignore[union-attr]


def test_a_message_that_is_taken_out_and_put_back_while_the_disk_is_full_is_saved(
    begun: Journal, disk: Disk
) -> None:
    first, second = make_message("first"), make_message("second")
    begun.put(first)
    disk.fail_at = lambda _: True
    begun.put(second)
    begun.forget([second.id])
    begun.put(second)
    assert begun.trouble
    disk.fail_at = lambda _: False
    begun.save()
    assert begun.trouble is None
    begun.close()
    assert stored(begun) == ["first", "second"]


def test_a_disk_that_is_full_from_the_start_leaves_no_empty_conversation(begun: Journal, disk: Disk) -> None:
    disk.short, disk.fail_at = True, lambda _: True
    begun.put(make_message("a"))
    assert begun.trouble is not None
    assert begun.path is not None
    assert wait_until(lambda: not begun.path.exists(), 40)  # type: ignore[union-attr]
    disk.fail_at = lambda _: False
    assert wait_until(lambda: begun.trouble is None, 40)
    assert stored(begun) == ["a"]
    begun.close()


def test_a_disk_that_is_full_for_the_second_time_is_tried_again_too(begun: Journal, disk: Disk) -> None:
    for text in ("a", "b"):
        disk.fail_at = lambda _: True
        begun.put(make_message(text))
        assert begun.trouble is not None
        disk.fail_at = lambda _: False
        assert wait_until(lambda: begun.trouble is None, 40)
        assert stored(begun)[-1] == text
    begun.close()


def test_after_a_failed_fsync_everything_since_the_last_good_one_is_written_again(
    begun: Journal, disk: Disk
) -> None:
    begun.put(make_message("a"))
    size = begun.path.stat().st_size  # type: ignore[union-attr]
    disk.fault = errno.EIO
    answer = make_message("", "assistant")
    begun.put(answer)
    begun.grow(answer.id, "never synced")
    written = disk.calls
    disk.fail_at = lambda call: call == written + 2
    begun.put(make_message("b"))
    assert wait_until(lambda: begun.trouble is None, 40)
    tail = begun.path.read_bytes()[size:]  # type: ignore[union-attr]
    assert tail.count(b"never synced") == 2
    assert tail.count(b'"content":"b"') == 2
    assert stored(begun) == ["a", "never synced", "b"]
    begun.close()


def test_what_two_failed_fsyncs_left_open_is_written_three_times_and_no_more(
    begun: Journal, disk: Disk
) -> None:
    begun.put(make_message("a"))
    written = disk.calls
    disk.fault = errno.EIO
    disk.fail_at = lambda call: call in (written + 2, written + 4)
    begun.put(make_message("once"))
    assert wait_until(lambda: begun.trouble is None, 40)
    assert begun.path.read_bytes().count(b'"content":"once"') == 3  # type: ignore[union-attr]
    assert stored(begun) == ["a", "once"]
    begun.close()


def test_what_a_retry_writes_is_synced(begun: Journal, disk: Disk) -> None:
    begun.put(make_message("a"))
    calls = disk.calls
    disk.fail_at = lambda call: call == calls + 1
    begun.put(make_message("b"))
    assert wait_until(lambda: begun.trouble is None, 40)
    # The write that failed, the same again, and its fsync.
    assert disk.calls == calls + 3
    begun.close()


def test_closing_while_nothing_can_be_saved_ends_and_says_so(begun: Journal, disk: Disk) -> None:
    disk.fail_at = lambda _: True
    begun.put(make_message("a"))
    begun.close()
    assert begun.trouble is not None
    assert not [thread for thread in threading.enumerate() if thread.name == "journal"]
    disk.fail_at = lambda _: False
    begun.put(make_message("b"))
    assert begun.trouble is None
    assert stored(begun) == ["a", "b"]


def test_a_folder_that_cannot_be_made_is_reported_and_the_conversation_goes_on(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where the folder should be")
    begun = Store(tmp_path / "data").create(cwd="/", model="m")
    begun.put(make_message("a"))
    assert begun.trouble is not None
    assert begun.trouble.startswith("Not saved: ")
    (tmp_path / "data").unlink()
    begun.put(make_message("b"))
    assert begun.trouble is None
    assert stored(begun) == ["a", "b"]
    begun.close()


@pytest.mark.parametrize("fault", [errno.EMFILE, errno.EACCES, errno.EROFS])
def test_a_file_that_cannot_be_opened_is_reported(
    fault: int, begun: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def refusing(path: str, *more: int, **named: int) -> int:
        if str(path).endswith(".jsonl"):
            raise OSError(fault, os.strerror(fault))
        return real(path, *more, **named)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refusing)
        begun.put(make_message("a"))
        assert begun.trouble is not None
    begun.put(make_message("b"))
    assert begun.trouble is None
    assert stored(begun) == ["a", "b"]
    begun.close()


# ---- Files that vanish


def test_a_deleted_or_moved_file_is_written_anew(begun: Journal, store: Store, tmp_path: Path) -> None:
    begun.put(make_message("a"))
    path = begun.path
    assert path is not None
    path.unlink()
    begun.put(make_message("b"))
    assert stored(begun) == ["a", "b"]
    path.rename(tmp_path / "moved")
    begun.put(make_message("c"))
    assert stored(begun) == ["a", "b", "c"]
    shutil.rmtree(store.folder)
    begun.put(make_message("d"))
    assert stored(begun) == ["a", "b", "c", "d"]
    assert begun.path == path
    begun.close()


@pytest.mark.parametrize("left", [0, 1, 2, 3, 5, 6])
@pytest.mark.parametrize(("is_torn", "is_closed"), [(False, False), (True, False), (False, True)])
def test_a_file_that_is_cut_off_while_it_is_written_gets_everything_again(
    left: int, is_torn: bool, is_closed: bool, begun: Journal, store: Store
) -> None:
    messages = [make_message(text) for text in ("a", "b", "dropped", "c")]
    for message in messages[:3]:
        begun.put(message)
    begun.forget([messages[2].id])
    begun.put(messages[3])
    path = begun.path
    assert path is not None
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 6
    # As by a program that copies an older state over the file.
    path.write_bytes(b"".join(lines[:left]) + (b'{"mess' if is_torn else b""))
    if is_closed:
        begun.close()
    begun.put(make_message("later"))
    begun.put(make_message("and on"))
    begun.close()
    opened, found = store.open(begun.id)
    assert list_contents(found) == ["a", "b", "c", "later", "and on"]
    assert opened.title == "a"
    assert [notice for notice in opened.notices if "damaged" not in notice] == []
    opened.close()
    # A file that is as long as it should be is left alone.
    assert path.read_bytes().count(b'"content":"b"') == (1 if left == 6 else 2 if left > 2 else 1)


@pytest.mark.parametrize("is_opened_again", [False, True])
def test_an_older_copy_in_the_place_of_the_file_brings_no_summary_back(
    begun: Journal, store: Store, is_opened_again: bool
) -> None:
    summary = make_message("summary", "assistant").replace(covers="x")
    begun.put(make_message("a"))
    begun.put(summary)
    assert begun.path is not None
    copy = begun.path.read_bytes()
    begun.forget([summary.id])
    journal = begun
    if is_opened_again:
        begun.close()
        journal, _ = store.open(begun.id)
    begun.path.write_bytes(copy)
    journal.put(make_message("later"))
    journal.close()
    assert list_contents(store.open(begun.id)[1]) == ["a", "later"]


def test_lines_of_another_version_stand_once_in_a_file_that_was_cut_off(begun: Journal, store: Store) -> None:
    begun.put(make_message("a"))
    begun.close()
    assert begun.path is not None
    with begun.path.open("ab") as file:
        file.write(b'{"mood":"good","n":1}\n')
    opened, _ = store.open(begun.id)
    opened.put(make_message("b"))
    begun.path.write_bytes(b"".join(begun.path.read_bytes().splitlines(keepends=True)[:-1]))
    opened.put(make_message("c"))
    opened.close()
    contents = store.read_contents(begun.id)
    assert contents.foreign == [b'{"mood":"good","n":1}']
    assert list_contents(list(contents.messages.values())) == ["a", "b", "c"]


def test_a_file_that_is_written_anew_holds_what_a_reply_has_gained(begun: Journal) -> None:
    answer = make_message("", "assistant")
    begun.put(answer)
    begun.grow(answer.id, "so ")
    assert begun.path is not None
    begun.path.unlink()
    begun.grow(answer.id, "far")
    assert stored(begun) == ["so far"]
    begun.close()


def test_a_file_that_is_written_anew_holds_nothing_twice_and_the_old_one_is_closed(
    begun: Journal, disk: Disk
) -> None:
    answer = make_message("", "assistant")
    begun.put(answer)
    begun.grow(answer.id, "so far")
    assert begun.path is not None
    begun.path.unlink()
    disk.fault, disk.calls = errno.EIO, 0
    # Three records are written, and then the system fails to keep them.
    disk.fail_at = lambda call: call == 4
    begun.put(make_message("b"))
    assert disk.calls >= 4
    assert wait_until(lambda: begun.trouble is None, 40)
    assert stored(begun) == ["so far", "b"]
    assert b'"grow"' not in begun.path.read_bytes()
    links = [Path("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
    assert f"{begun.path} (deleted)" not in [os.readlink(link) for link in links if link.is_symlink()]
    begun.close()


def test_a_conversation_that_was_taken_over_is_saved_as_a_whole_and_held(store: Store) -> None:
    begun = store.create(cwd="/", model="m", messages=[make_message("a"), make_message("b")])
    begun.save()
    assert begun.trouble is None
    assert stored(begun) == ["a", "b"]
    found, _ = Store(store.folder).open(begun.id)
    assert found.id != begun.id, "the first one holds it"
    found.close()
    begun.put(make_message("c"))
    begun.close()
    begun.put(make_message("d"))
    assert stored(begun) == ["a", "b", "c", "d"]
    assert len(list(store.folder.glob("*.jsonl"))) == 1
    begun.close()


def test_a_file_that_cannot_be_looked_at_for_a_moment_is_still_the_file(
    begun: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun.put(make_message("a"))
    path = begun.path

    def refuse(_: Path) -> None:
        raise PermissionError(errno.EACCES, "no")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "lstat", refuse)
        begun.put(make_message("b"))
    assert begun.path == path
    assert stored(begun) == ["a", "b"]
    begun.close()


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_what_took_the_files_place_is_not_touched(kind: str, begun: Journal, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    begun.put(make_message("a"))
    path, first = begun.path, begun.id
    assert path is not None
    path.unlink()
    {"file": lambda: path.write_text("other"), "link": lambda: path.symlink_to(victim), "folder": path.mkdir}[
        kind
    ]()
    begun.put(make_message("b"))
    assert begun.trouble is None
    assert begun.id != first
    assert stored(begun) == ["a", "b"]
    assert victim.read_text() == "precious"
    assert kind != "file" or path.read_text() == "other"
    begun.close()


def test_the_working_directory_may_vanish(
    begun: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    (tmp_path / "cwd").rmdir()
    begun.put(make_message("a"))
    assert stored(begun) == ["a"]
    begun.close()


# ---- Two at once


def test_the_second_to_open_a_conversation_gets_a_copy_and_is_reported(store: Store) -> None:
    path, texts = sample(store)
    first, _ = store.open(path.stem)
    second, messages = Store(store.folder).open(path.stem)
    assert list_contents(messages) == texts
    assert second.id != first.id
    assert second.title == f"{first.title} (copy)"
    assert second.notices == ("This conversation is open in another window; you are in a copy of it.",)
    for number in range(200):
        first.put(make_message(f"first {number}"))
        second.put(make_message(f"second {number}"))
    assert stored(first) == [*texts, *(f"first {n}" for n in range(200))]
    assert stored(second) == [*texts, *(f"second {n}" for n in range(200))]
    first.close()
    second.close()
    assert store.open(path.stem)[0].notices == ()


def test_a_copy_does_not_claim_that_what_runs_elsewhere_has_ended(store: Store, begun: Journal) -> None:
    begun.put(Message(role="assistant", type="code", format="python", content="x", state="running"))
    copy, (message,) = Store(store.folder).open(begun.id)
    assert (message.state, message.reason) == ("lost", "It continued in the other window.")
    begun.close()
    copy.close()


def test_opening_ones_own_conversation_again_is_no_conflict(store: Store, begun: Journal) -> None:
    begun.put(make_message("a"))
    again, messages = store.open(begun.id)
    assert (again.id, list_contents(messages), again.notices) == (begun.id, ["a"], ())
    again.put(make_message("b"))
    begun.put(make_message("c"))
    again.close()
    assert stored(again) == ["a", "b", "c"]


def test_without_locks_the_records_of_two_writers_follow_each_other(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(_file: int, _how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(append_file.fcntl, "flock", unsupported)
    path, texts = sample(store)
    first, second = store.open(path.stem)[0], Store(store.folder).open(path.stem)[0]
    assert first.id == second.id
    threads = [
        threading.Thread(
            target=lambda w=writer, n=name: [w.put(make_message(f"{n} {i}")) for i in range(100)]
        )
        for writer, name in ((first, "first"), (second, "second"))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first.close()
    second.close()
    found = records.parse(path.read_bytes())
    assert found.damaged == 0
    assert set(list_contents(list(found.messages.values()))) == {
        *texts,
        *(f"{name} {i}" for name in ("first", "second") for i in range(100)),
    }


# ---- Sudden death

WRITER = """
import sys
from pathlib import Path
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message
begun = Store(Path(sys.argv[1])).create(cwd="/", model="m")
number = 0
while True:
    answer = Message(role="assistant", type="code", format="python", state="writing")
    begun.put(answer)
    for piece in range(3):
        begun.grow(answer.id, "x" * 1000)
    text = f"{number} " + "y" * (number * 397 % 20_000)
    begun.put(answer.replace(content=text, state="finished"))
    print(begun.id, number, flush=True)
    number += 1
"""


@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.parametrize("round_", range(50 if os.environ.get("OI_TUI_SOAK") else 3))
def test_kills_at_random_moments_lose_no_acknowledged_message(round_: int, store: Store) -> None:
    chance = random.Random(round_)
    for _ in range(10):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(store.folder)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        )
        with child:
            assert child.stdout is not None
            acknowledged = [child.stdout.readline()]
            threading.Event().wait(chance.random() * 0.05)
            child.send_signal(signal.SIGKILL)
            acknowledged += [line for line in child.stdout.readlines() if line.endswith(b"\n")]
        id_, last = acknowledged[-1].decode().split()
        opened, messages = store.open(id_)
        assert [int(m.content.split()[0]) for m in messages[: int(last) + 1]] == list(range(int(last) + 1))
        assert all(m.state == "finished" for m in messages[: int(last) + 1])
        assert all(m.state in ("finished", "unfinished") for m in messages)
        assert opened.id == id_
        opened.put(make_message("and on it goes"))
        opened.close()
        assert list_contents(store.read(id_))[-1] == "and on it goes"


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(-1, 12), st.text("xy", max_size=4)), max_size=30)
)
@settings(max_examples=150, deadline=None)
def test_what_messages_gained_is_joined_as_if_it_had_been_added_one_by_one(
    steps: list[tuple[str, int, str]],
) -> None:
    lines, expected = [], dict[str, str]()
    for number, (id_, at, text) in enumerate(steps):
        if at == -1:
            lines.append({"forget": [id_]} if number % 2 else {"grow": id_, "text": text})
            if number % 2:
                expected.pop(id_, None)
            elif id_ in expected:
                expected[id_] += text
        elif at == 12:
            lines.append({"message": make_message(text).replace(id=id_).to_dict()})
            expected[id_] = text
        else:
            lines.append({"grow": id_, "at": at, "text": text})
            if id_ in expected:
                expected[id_] = expected[id_][:at] + text
    found = records.parse(b"".join(records.encode(line) for line in lines))
    assert {key: message.content for key, message in found.messages.items()} == expected
    assert (found.damaged, found.foreign) == (0, [])
