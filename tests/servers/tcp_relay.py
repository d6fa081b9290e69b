"""Passes connections on to a loopback port, until it is told to cut, hold, slow down or delay them."""

import contextlib
import socket
import threading
import time

_PIECE = 65536
#: So many seconds' worth of bytes pass at once while the rate is limited.
_TURN = 0.05


class TcpRelay:
    """`cut` ends all connections at once; while `refusing`, new ones are ended at once too.

    Between `hold` and `let_go` nothing passes and nothing ends, as when a network cable is pulled out.
    `rate` is the most bytes per second that pass in each direction, `delay` the seconds by which they are
    late; 0 for neither.
    """

    def __init__(self, port: int) -> None:
        self._to = port
        self.refusing = False
        self.rate = 0.0
        self.delay = 0.0
        #: How many bytes came from the server so far.
        self.passed = 0
        self._flows = threading.Event()
        self._flows.set()
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
                arguments = (source, sink, sink is here)
                threading.Thread(target=self._pass, args=arguments, daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, is_answer: bool) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(max(1, int(self.rate * _TURN)) if self.rate else _PIECE):
                time.sleep(self.delay + (len(piece) / self.rate if self.rate else 0))
                self._flows.wait()
                sink.sendall(piece)
                self.passed += len(piece) if is_answer else 0
        # Nothing is heard of an end either while nothing passes.
        self._flows.wait()
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        # The thread of the other direction closes the other one.
        source.close()

    def hold(self) -> None:
        self._flows.clear()

    def let_go(self) -> None:
        self._flows.set()

    def cut(self) -> None:
        with self._lock:
            cut, self._open = self._open, set()
        for end in cut:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self.let_go()

    def close(self) -> None:
        # It wakes the thread that waits for connections.
        self._listening.shutdown(socket.SHUT_RDWR)
        self._accepting.join(5)
        self._listening.close()
        self.cut()
