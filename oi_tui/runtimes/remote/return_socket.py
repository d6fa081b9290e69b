"""The way back to a worker that keeps running: a Unix socket in its private folder, for one application.

`ReturnSocket` is the side of the worker that was left. `pass_on` is a new worker that only passes frames on
between its own streams and the socket of the one that was left.
"""

import contextlib
import os
import select
import socket
import stat
import struct
import sys
import threading
import time
from pathlib import Path

from oi_tui.runtimes.remote.outbox import Stream
from oi_tui.runtimes.remote.wire import SILENCE, Frame, FrameReader, WireError, encode_frame

#: Its file. Workers that an earlier version left have this name, too.
_NAME = "door"
#: How long a program that connects may take to say what it wants, in seconds.
_FIRST_WORDS = 5.0
_GONE = "what was left there is no longer running: it ended, or the machine was restarted"


def read_first_frame(source: int, seconds: float = SILENCE) -> "tuple[Frame, FrameReader]":
    """Return the first message, and what reads those after it.

    Raises OSError or WireError where none comes.
    """
    frames = FrameReader()
    until = time.monotonic() + seconds
    while select.select([source], [], [], max(0.0, until - time.monotonic()))[0]:
        piece = os.read(source, 1 << 18)
        if not piece:
            raise WireError("it ended")
        for message, _ in frames.read(piece):
            return message, frames
    raise WireError("nothing came")


class Caller:
    """A program that connected, and what it wants."""

    def __init__(self, connection: socket.socket, message: Frame, frames: FrameReader) -> None:
        self._connection = connection
        self._frames = frames
        self.message = message

    def refuse(self, reason: str) -> None:
        """Say why they cannot come in."""
        _refuse(self._connection.fileno(), reason)
        self._connection.close()

    def stream(self) -> Stream:
        """Return the connection to them."""
        connection = self._connection.detach()
        return Stream(connection, os.dup(connection), self._frames)


class ReturnSocket:
    """A socket that only this user can reach."""

    def __init__(self, folder: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        path = str(Path(folder, _NAME))
        self._socket.bind(path)
        os.chmod(path, 0o600)  # noqa: PTH101
        self._socket.listen(4)

    def fileno(self) -> int:
        """Return the file descriptor, for `select`."""
        return self._socket.fileno()

    def receive(self) -> "Caller | None":
        """Return the program that connects, if it is of this user and says what it wants; else None."""
        connection, _ = self._socket.accept()
        try:
            if not _is_ours(connection):
                raise WireError("another user")
            message, frames = read_first_frame(connection.fileno(), _FIRST_WORDS)
        except (OSError, WireError):
            connection.close()
            return None
        return Caller(connection, message, frames)


def pass_on(message: Frame, rest: bytes, source: int, sink: int) -> None:
    """Bring the application that sent this message to the worker that it left; until one of them ends.

    `rest` are the bytes that came after it.
    """
    connection = _connect(str(message["attach"]))
    if connection is None:
        _refuse(sink, _GONE, gone=True)
        return
    with connection:
        connection.sendall(encode_frame(message) + rest)
        # The worker has the last word: it may still have to end what it started.
        threading.Thread(target=_copy, args=(source, connection.fileno(), connection), daemon=True).start()
        _copy(connection.fileno(), sink)


def _copy(source: int, sink: int, connection: "socket.socket | None" = None) -> None:
    with contextlib.suppress(OSError):
        while piece := os.read(source, 1 << 18):
            view = memoryview(piece)
            while view:
                view = view[os.write(sink, view) :]
    if connection:
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_WR)


def _refuse(sink: int, reason: str, *, gone: bool = False) -> None:
    with contextlib.suppress(OSError):
        os.write(sink, encode_frame({"is": "refused", "reason": reason, "gone": gone}))


def _connect(folder: str) -> "socket.socket | None":
    """Return a connection to the worker of that folder, if it is there and belongs to this user."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        status = os.lstat(folder)
        private = stat.S_ISDIR(status.st_mode) and not status.st_mode & 0o077
        if private and status.st_uid == os.getuid():
            connection.connect(str(Path(folder, _NAME)))
            if _is_ours(connection):
                return connection
    except (OSError, ValueError):
        pass
    connection.close()
    return None


def _is_ours(connection: socket.socket) -> bool:
    """Return whether the process at the other end belongs to this user;
    the folder lets no other one in either.
    """
    if sys.platform != "linux":
        return True
    size = struct.calcsize("3i")
    facts = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    return bool(struct.unpack("3i", facts)[1] == os.getuid())
