"""The sockets by which cells reach the application."""

import contextlib
import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from oi_tui.runtimes import cell_socket
from oi_tui.runtimes.cell_socket import CellRequest, CellSocket, answer_request

_BOUND = 10.0


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files with a path that is short enough for a socket."""
    path = Path(tempfile.mkdtemp(prefix="sockets-", dir="/tmp"))
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    yield path
    shutil.rmtree(path)


def leave_folder(folder: Path, name: str, made: float) -> Path:
    """What an application leaves behind that is killed."""
    made_in = folder / f"oi-tui-{name}"
    made_in.mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(made_in / "model"))
    os.utime(made_in, (made, made))
    return made_in


def test_what_killed_applications_left_is_removed_and_nothing_else(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    living = CellSocket("model", lambda _: None)
    lives = Path(living.make_path()).parent
    os.utime(lives, (0, 0))
    dead = leave_folder(folder, "dead", 0.0)
    young = leave_folder(folder, "young", lives.parent.stat().st_mtime)
    other = folder / "oi-tui-other"
    (other / "model").mkdir(parents=True)
    os.utime(other, (0, 0))
    monkeypatch.setattr(cell_socket, "_YOUNG", 600.0)
    fresh = CellSocket("model", lambda _: None)
    made = Path(fresh.make_path()).parent
    assert set(folder.iterdir()) == {lives, young, other, made}
    assert not dead.exists()
    for opened in (living, fresh):
        opened.close()
    assert set(folder.iterdir()) == {young, other}


def test_a_connection_for_which_no_thread_can_be_had_is_closed_and_the_next_one_answered(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering = CellSocket("model", lambda connection: connection.sendall(b"answer"))
    path = answering.make_path()
    start, failures = threading.Thread.start, [1]

    def start_later(thread: threading.Thread) -> None:
        if failures:
            failures.pop()
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_later)
    answers = []
    for _ in range(2):
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(10)
            client.connect(path)
            answers.append(client.recv(100))
    answering.close()
    assert answers == [b"", b"answer"]


def test_a_socket_fits_where_the_path_for_temporary_files_is_long(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = folder / ("x" * 90)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    opened = CellSocket("model", lambda connection: connection.sendall(b"x"))
    path = opened.make_path()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        assert client.recv(1) == b"x"
    opened.close()
    assert not Path(path).parent.exists()


def test_a_socket_that_cannot_be_made_leaves_nothing_and_fails_each_time(folder: Path) -> None:
    opened = CellSocket("x" * 120, lambda _: None)
    for _ in range(2):
        with pytest.raises(OSError, match="too long"):
            opened.make_path()
    assert not list(folder.iterdir())


def test_code_does_not_wait_for_an_answer_that_failed() -> None:
    def fail(_: CellRequest) -> None:
        raise LookupError

    def answer(connection: socket.socket) -> None:
        with contextlib.suppress(LookupError):
            answer_request(connection, 100, fail)

    ours, theirs = socket.socketpair()
    with theirs:
        theirs.settimeout(_BOUND)
        theirs.sendall(b"{}\n")
        answer(ours)
        assert theirs.recv(1) == b""
