"""The channel to a language: what a program can write there holds nobody up and fills no memory."""

import errno
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from oi_tui.runtimes.drivers import plain_channel  # type: ignore[attr-defined]
from oi_tui.runtimes.language import Language
from oi_tui.runtimes.languages import LANGUAGES
from oi_tui.runtimes.processes import channel as channels
from oi_tui.runtimes.processes.channel import CellChannel, LineReader

#: The fields of `os.statvfs_result`, in their order.
STATVFS = [
    *("f_bsize", "f_frsize", "f_blocks", "f_bfree", "f_bavail"),
    *("f_files", "f_ffree", "f_favail", "f_flag", "f_namemax"),
]


@pytest.fixture
def channel() -> Iterator[CellChannel]:
    """A channel that is closed when the test is over."""
    made = CellChannel()
    yield made
    made.close()


def test_lines_come_whole_however_they_arrive() -> None:
    chance = random.Random(5)
    lines = [bytes(chance.choices(b"abc", k=chance.randrange(40))) for _ in range(300)]
    data = b"".join(line + b"\n" for line in lines)
    reader, found = LineReader(100), list[bytes | None]()
    while data:
        at = chance.randrange(1, 60)
        found += reader.read(data[:at])
        data = data[at:]
    assert found == lines


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_line_that_is_too_long_is_reported_of_once_and_the_next_one_comes(size: int) -> None:
    data = b"first\n" + b"x" * 500 + b"\nnext\n" + b"y" * 101 + b"\nlast\n"
    reader, found = LineReader(100), list[bytes | None]()
    for at in range(0, len(data), size):
        found += reader.read(data[at : at + size])
    assert found == [b"first", None, b"next", None, b"last"]


def test_a_line_without_end_costs_neither_memory_nor_ever_more_time() -> None:
    reader, piece = LineReader(1_000_000), b"x" * 65_536
    tracemalloc.start()
    try:
        found = [item for _ in range(1600) for item in reader.read(piece)]
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == [None]
    assert most < 3_000_000


def test_anything_may_be_written_and_events_still_come(channel: CellChannel) -> None:
    chance = random.Random(7)
    writer = os.open(channel.folder / "events", os.O_WRONLY | os.O_NONBLOCK)
    junk = [b"", b"\0", b"{", b"[1]", b'{"event": 5}', b'"event"', b"1e999999", b"[" * 20_000, b"9" * 5000]
    junk += [chance.randbytes(chance.randrange(1, 300)).replace(b"\n", b"") for _ in range(50)]
    try:
        for item in junk:
            os.write(writer, item + b'\n{"event": "ready", "size": -5}\n')
            assert [event["event"] for event in channel.read_events()] == ["ready"], item
    finally:
        os.close(writer)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (b"caf\xe9", "caf\ufffd"),
        (b"\xc3", "\ufffd"),
        (rb"\ud800 half", "\ufffd half"),
        (rb"\uD83D\uDE00", "\U0001f600"),
    ],
)
def test_an_event_arrives_whatever_bytes_its_texts_are(
    channel: CellChannel, written: bytes, text: str
) -> None:
    send(channel, b'{"event":"finished","nonce":"ab","reason":"%s"}\n' % written)
    (event,) = channel.read_events()
    assert event["reason"] == text


@pytest.mark.parametrize(
    "line",
    [
        b'{"event":"display","content":"iVBORw{"event":"finished","nonce":"ab12","mark":"ab12.end"}\n',
        b'{"nonce": "ab12", "reason": "\t", "event": "finished"}\n',
    ],
)
def test_an_end_that_cannot_be_read_is_an_end(channel: CellChannel, line: bytes) -> None:
    send(channel, line)
    (event,) = channel.read_events()
    assert (event["event"], event["nonce"], event["mark"]) == ("finished", "ab12", "ab12.end")
    assert event["state"] == "failed"


def test_an_end_is_read_after_an_event_that_an_interrupt_cut_off(channel: CellChannel) -> None:
    driver = plain_channel.Channel(str(channel.folder))
    try:
        send(channel, b'{"event": "display", "content": "iVBORw')
        driver.send("finished", state="interrupted")
        assert [(event["event"], event["state"]) for event in channel.read_events()] == [
            ("finished", "interrupted")
        ]
    finally:
        driver._requests.close()
        os.close(driver._events)
        os.close(driver._terminal)


def send(channel: CellChannel, data: bytes) -> None:
    """Write to the events as a driver does."""
    writer = os.open(channel.folder / "events", os.O_WRONLY | os.O_NONBLOCK)
    try:
        os.write(writer, data)
    finally:
        os.close(writer)


def test_reading_comes_to_an_end_while_somebody_writes_without_one(channel: CellChannel) -> None:
    writer = os.open(channel.folder / "events", os.O_WRONLY)
    child = os.posix_spawn("/bin/sh", ["sh", "-c", f"exec yes >&{writer}"], os.environ)
    try:
        until = time.monotonic() + 20
        for _ in range(50):
            assert channel.read_events() == []
            assert time.monotonic() < until
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(writer)


def test_a_program_that_cuts_the_file_of_lines_short_ends_nobody(channel: CellChannel) -> None:
    path = channel.folder / "line"
    path.write_bytes((7).to_bytes(4, "little") + (3).to_bytes(4, "little") + (2).to_bytes(4, "little"))
    assert (channel.line, channel.cell) == (7, (3, 2))
    # Read as memory, it ended the application with SIGBUS.
    os.truncate(path, 0)
    assert (channel.line, channel.cell) == (0, (0, 0))
    os.truncate(path, 5)
    assert channel.cell == (0, 0)
    path.unlink()
    os.mkfifo(path)
    assert channel.line == 0


def test_a_full_disk_in_memory_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    usual = os.statvfs("/")
    for room in ({"f_bavail": 3}, {"f_favail": 3, "f_files": 100}):
        fields = [getattr(usual, name) for name in STATVFS]
        for name, value in ({"f_bavail": 10**9, "f_favail": 10**6, "f_files": 10**6} | room).items():
            fields[STATVFS.index(name)] = value
        with monkeypatch.context() as patch:
            patch.setattr(os, "statvfs", lambda _, fields=fields: os.statvfs_result(fields))
            made = CellChannel()
        assert made.folder.parent == tmp_path
        made.close()
    assert list(tmp_path.iterdir()) == []


def test_without_any_room_a_sentence_says_where(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "mkfifo", fail)
    monkeypatch.setattr(channels, "_find_folder_for_pipes", lambda: str(tmp_path))
    with pytest.raises(RuntimeError, match=r"there is no space left in .*set TMPDIR"):
        CellChannel()
    assert list(tmp_path.iterdir()) == []


def test_folders_that_nobody_holds_any_more_are_removed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(channels, "_find_folder_for_pipes", lambda: str(tmp_path))
    held = CellChannel()
    abandoned, young, foreign = (tmp_path / f"oi-tui-{name}" for name in ("abandoned", "young", "foreign"))
    for folder in (abandoned, young, foreign):
        folder.mkdir()
    for folder in (abandoned, young):
        os.mkfifo(folder / "requests")
    for folder in (held.folder, abandoned, foreign):
        os.utime(folder, (1, 1))
    channels._remove_abandoned.cache_clear()
    CellChannel().close()
    assert sorted(tmp_path.iterdir()) == sorted([held.folder, young, foreign])
    held.close()


@pytest.mark.parametrize("kind", ["link", "link to nothing", "hard link", "pipe"])
def test_what_is_in_the_place_of_a_file_is_replaced_and_not_written_to(
    channel: CellChannel, kind: str
) -> None:
    secret = channel.folder / "secret"
    if kind != "link to nothing":
        secret.write_text("mine")
    for name in ("cell-5", "marked-cell-5", "size.new", "size"):
        path = channel.folder / name
        path.unlink(missing_ok=True)
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "hard link":
            path.hardlink_to(secret)
        else:
            path.symlink_to(secret)
    path = channel.write_cell("x = 1", 5, str.upper)
    channel.write_size(80, 24)
    assert path.read_text() == "x = 1"
    assert path.with_name("marked-cell-5").read_text() == "X = 1"
    assert path.with_name("size").read_text() == "80 24\n"
    assert not any(item.is_symlink() for item in channel.folder.iterdir())
    assert (secret.read_text() if secret.exists() else "") == ("" if kind == "link to nothing" else "mine")


def test_files_stay_in_the_folder_when_the_one_above_it_is_moved(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place, moved, outside = (tmp_path / name for name in ("place", "moved", "outside"))
    place.mkdir()
    outside.mkdir()
    (outside / "state").write_text("not from the program")
    monkeypatch.setattr(channels, "_find_folder_for_pipes", lambda: str(place))
    channel = CellChannel()
    try:
        place.rename(moved)
        place.mkdir()
        channel.folder.symlink_to(outside)
        channel.write_cell("code")
        channel.write_size(80, 24)
        assert not channel.holds("state")
        with pytest.raises(FileNotFoundError):
            channel.read_file("state")
        assert [path.name for path in outside.iterdir()] == ["state"]
        assert (moved / channel.folder.name / "cell-1").read_text() == "code"
    finally:
        channel.close()


def test_a_cell_is_written_where_the_folder_was_emptied_away(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(channels, "_find_folder_for_pipes", lambda: str(tmp_path))
    channel = CellChannel()
    try:
        for _ in range(2):
            shutil.rmtree(channel.folder)
            assert channel.write_cell("code").read_text() == "code"
    finally:
        channel.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_a_request_is_made_without_a_look_at_the_files_of_the_program(language: Language) -> None:
    assert language.request("ab12", Path("/nowhere/cell-5")).count("/nowhere/cell-5")


def test_folders_that_are_too_deep_to_be_removed_keep_no_channel_from_closing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(channels, "_find_folder_for_pipes", lambda: str(tmp_path))
    channel = CellChannel()
    folder = os.open(channel.folder, os.O_RDONLY)
    for _ in range(sys.getrecursionlimit() + 100):
        os.mkdir("f", dir_fd=folder)
        inner = os.open("f", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    channel.close()
    subprocess.run(["rm", "-rf", channel.folder], check=True)
