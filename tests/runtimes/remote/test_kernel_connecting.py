"""Connecting to a Jupyter server that does not answer in time: it can be stopped at once."""

import http.server
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from oi_tui.runtimes import Computer
from oi_tui.runtimes.remote.target import TargetError
from tests.runtimes.playing import until

pytest.importorskip("websockets", reason="websockets is not installed here (extra kernel)")
Make = Callable[..., Computer]
#: A server is waited for 40 seconds otherwise.
SOON = 5.0


class LateServer(http.server.ThreadingHTTPServer):
    """Starts a kernel only when `starting` is set, and opens no channels before `opening` is."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), LateHandler)
        self.asked: list[str] = []
        self.starting, self.opening = threading.Event(), threading.Event()
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()


class LateHandler(http.server.BaseHTTPRequestHandler):
    server: LateServer

    def do_GET(self) -> None:
        self.server.asked.append(f"GET {self.path}")
        if "channels" in self.path:
            self.server.opening.wait(60)
            return
        self._answer({"default": "python3", "kernelspecs": {"python3": {}}})

    def do_POST(self) -> None:
        self.server.asked.append(f"POST {self.path}")
        self.server.starting.wait(60)
        self._answer({"id": "0123-late", "name": "python3"})

    def do_DELETE(self) -> None:
        self.server.asked.append(f"DELETE {self.path}")
        self._answer({})

    def _answer(self, value: object) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def late() -> Iterator[LateServer]:
    server = LateServer()
    yield server
    server.starting.set()
    server.opening.set()
    server.shutdown()
    server.server_close()


def stop_connecting(make: Make, port: int, when: Callable[[], object]) -> float:
    """Stop connecting when that is so; how long the stop took, in seconds."""
    computer, stopped = make(), threading.Event()
    at: list[float] = []

    def stop() -> None:
        until(when)
        at.append(time.monotonic())
        stopped.set()

    thread = threading.Thread(target=stop)
    thread.start()
    with pytest.raises(TargetError, match=r"^Connecting was stopped\.$"):
        computer.targets.use(f"kernel:http://127.0.0.1:{port}/", stopped)
    thread.join()
    assert computer.where == ""
    return time.monotonic() - at[0]


def test_a_server_that_says_nothing_is_left_at_once(make: Make) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(20)
        taken: list[socket.socket] = []

        def take() -> list[socket.socket]:
            taken.append(silent.accept()[0])
            return taken

        assert stop_connecting(make, silent.getsockname()[1], take) < SOON
        # What was given up ends with it.
        taken[0].close()


def test_a_kernel_that_starts_after_the_stop_is_ended(make: Make, late: LateServer) -> None:
    took = stop_connecting(make, late.server_port, lambda: "POST /api/kernels" in late.asked)
    assert took < SOON
    assert not any(line.startswith("DELETE") for line in late.asked)
    late.starting.set()
    until(lambda: "DELETE /api/kernels/0123-late" in late.asked)


def test_a_kernel_whose_channels_do_not_open_is_ended_by_the_stop(make: Make, late: LateServer) -> None:
    late.starting.set()
    took = stop_connecting(make, late.server_port, lambda: any("channels" in line for line in late.asked))
    assert took < SOON
    until(lambda: "DELETE /api/kernels/0123-late" in late.asked)
