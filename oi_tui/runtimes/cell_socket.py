"""A socket by which code in a cell reaches the application."""

import contextlib
import os
import socket
import tempfile
import threading
from collections.abc import Callable


class CellSocket:
    """Exists once somebody asks for its path. `answer` gets each connection, in a thread of its own."""

    def __init__(self, name: str, answer: Callable[[socket.socket], None]) -> None:
        self._name = name
        self._answer = answer
        self._lock = threading.Lock()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._server: socket.socket | None = None

    def path(self) -> str:
        """The path of the socket, which exists from now on."""
        with self._lock:
            if self._folder is None:
                # Only this user may look into it, and the path is short enough for a socket.
                self._folder = tempfile.TemporaryDirectory(prefix="oi-tui-")
                self._server = socket.socket(socket.AF_UNIX)
                self._server.bind(os.path.join(self._folder.name, self._name))  # noqa: PTH118
                self._server.listen(16)
                threading.Thread(target=self._serve, args=(self._server,), daemon=True).start()
            return os.path.join(self._folder.name, self._name)  # noqa: PTH118

    def close(self) -> None:
        """Answer nothing any more."""
        with self._lock:
            server, self._server = self._server, None
            folder, self._folder = self._folder, None
        if server:
            # Closing alone does not wake up the thread that waits for a connection.
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            server.close()
        if folder:
            folder.cleanup()

    def _serve(self, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = server.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()
