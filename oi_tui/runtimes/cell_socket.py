"""A socket by which code in a cell reaches the application."""

import contextlib
import json
import os
import shutil
import socket
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from io import BufferedRWPair
from pathlib import Path
from typing import Any

#: How many connections are answered at the same time; others wait.
_MOST = 64
#: How long to wait, in seconds, after a connection could not be accepted.
_PAUSE = 0.05
#: How long a connection may take to say what it wants, in seconds.
_TIMEOUT = 30.0
#: A folder that is younger, in seconds, may belong to a socket that is just being made.
_YOUNG = 60.0
_PREFIX = "oi-tui-"
#: The longest path of a folder for temporary files, in bytes, in which a socket fits on every system.
_LONGEST = 75
#: `SOL_LOCAL` and `LOCAL_PEERPID` of macOS, which Python has no names for.
_SOL_LOCAL, _LOCAL_PEERPID = 0, 2


def find_peer(connection: socket.socket) -> int:
    """Return the process that opened a connection; 0 where the system does not say."""
    with contextlib.suppress(OSError):
        if sys.platform == "darwin":
            return int(struct.unpack("i", connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID, 4))[0])
        return int(struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0])
    return 0


def _find_temporary_folder() -> str:
    """Return the folder for temporary files, or `/tmp` where its path is too long for a socket."""
    folder = tempfile.gettempdir()
    return folder if len(os.fsencode(folder)) < _LONGEST else "/tmp"


def _remove_dead(name: str) -> None:
    """Remove the folders of sockets with this name whose application was killed, and so left them behind."""
    for path in Path(_find_temporary_folder()).glob(f"{_PREFIX}*/{name}"):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as tried:
            status = path.parent.stat()
            if not path.is_socket() or status.st_uid != os.getuid() or time.time() - status.st_mtime < _YOUNG:
                continue
            tried.setblocking(False)
            try:
                tried.connect(str(path))
            except ConnectionRefusedError:
                shutil.rmtree(path.parent, ignore_errors=True)


class CellSocket:
    """Created when its path is first read. `answer` gets each connection, in a separate thread."""

    def __init__(self, name: str, answer: Callable[[socket.socket], None]) -> None:
        self._name = name
        self._answer = answer
        self._lock = threading.Lock()
        self._free = threading.BoundedSemaphore(_MOST)
        self._folder: str | None = None
        self._server: socket.socket | None = None

    def make_path(self) -> str:
        """Return the path of the socket, which is created if needed."""
        with self._lock:
            if self._folder is None:
                # Only this user may look into it, and the path is short enough for a socket.
                _remove_dead(self._name)
                folder = tempfile.mkdtemp(prefix=_PREFIX, dir=_find_temporary_folder())
                try:
                    server = socket.socket(socket.AF_UNIX)
                except OSError:
                    shutil.rmtree(folder, ignore_errors=True)
                    raise
                try:
                    server.bind(os.path.join(folder, self._name))  # noqa: PTH118
                    server.listen(_MOST)
                    # The thread looks whether its server is still the one in use.
                    self._folder, self._server = folder, server
                    threading.Thread(target=self._serve, args=(server,), daemon=True).start()
                except (OSError, RuntimeError):
                    self._folder = self._server = None
                    server.close()
                    shutil.rmtree(folder, ignore_errors=True)
                    raise
            return os.path.join(self._folder, self._name)  # noqa: PTH118

    def close(self) -> None:
        """Stop answering."""
        with self._lock:
            server, self._server = self._server, None
            folder, self._folder = self._folder, None
        if server:
            # Closing alone does not wake up the thread that waits for a connection.
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            server.close()
        if folder:
            shutil.rmtree(folder, ignore_errors=True)

    def _serve(self, server: socket.socket) -> None:
        while True:
            self._free.acquire()
            try:
                connection, _ = server.accept()
            except OSError:
                self._free.release()
                if server is not self._server:
                    return
                # Out of descriptors, for example: that may pass.
                time.sleep(_PAUSE)
                continue
            try:
                threading.Thread(target=self._answer_one, args=(connection,), daemon=True).start()
            except RuntimeError:
                # The system allows no more threads for the moment; later requests are answered all the same.
                connection.close()
                self._free.release()

    def _answer_one(self, connection: socket.socket) -> None:
        try:
            self._answer(connection)
        finally:
            connection.close()
            self._free.release()


class CellRequest:
    """A request of code, a line of JSON. `peer` is the process that sent it.

    `stopped` is set once the code no longer waits for the answer.
    """

    def __init__(self, line: bytes, peer: int, file: "BufferedRWPair") -> None:
        self.line = line
        self.peer = peer
        self.stopped = threading.Event()
        self._file = file
        self._lock = threading.Lock()

    def send(self, answer: Mapping[str, Any]) -> None:
        """Send an answer, or a part of it, as a line of JSON, from any thread. Raises OSError."""
        with self._lock:
            self._file.write(json.dumps(answer).encode() + b"\n")
            self._file.flush()


def answer_request(
    connection: socket.socket,
    longest: int,
    answer: Callable[[CellRequest], None],
    on_gone: Callable[[], None] = lambda: None,
) -> None:
    """Read a request of at most that many bytes and have it answered; what then cannot be sent is dropped.

    `on_gone` is called, in a thread of its own, when the code no longer waits, and when all is answered.
    """
    with contextlib.suppress(OSError), connection, connection.makefile("rwb") as file:
        connection.settimeout(_TIMEOUT)
        line = file.readline(longest)
        connection.settimeout(None)
        request = CellRequest(line, find_peer(connection), file)
        threading.Thread(target=_watch, args=(connection, request, on_gone), daemon=True).start()
        try:
            answer(request)
        finally:
            # Closing alone does not end the connection while a thread reads from it.
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def _watch(connection: socket.socket, request: CellRequest, on_gone: Callable[[], None]) -> None:
    """Wait until the code no longer waits for the answer."""
    with contextlib.suppress(OSError):
        connection.recv(1)
    request.stopped.set()
    on_gone()
