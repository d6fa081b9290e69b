"""Passes connections on to a loopback port, until it is told to cut them."""

import contextlib
import socket
import threading


class TcpRelay:
    """`cut` ends all connections at once; while `refusing`, new ones are ended at once too."""

    def __init__(self, port: int) -> None:
        self._to = port
        self.refusing = False
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def _accept(self) -> None:
        while True:
            try:
                here, _ = self._listening.accept()
            except OSError:
                return
            if self.refusing:
                here.close()
                continue
            there = socket.create_connection(("127.0.0.1", self._to))
            with self._lock:
                self._open |= {here, there}
            for source, sink in ((here, there), (there, here)):
                threading.Thread(target=self._pass, args=(source, sink), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(65536):
                sink.sendall(piece)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        # The thread of the other direction closes the other one.
        source.close()

    def cut(self) -> None:
        with self._lock:
            cut, self._open = self._open, set()
        for end in cut:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        # It wakes the thread that waits for connections.
        self._listening.shutdown(socket.SHUT_RDWR)
        self._accepting.join(5)
        self._listening.close()
        self.cut()
