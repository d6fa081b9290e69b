"""The channel to a language: what a program can write there holds nobody up and fills no memory."""

import errno
import os
import random
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

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
