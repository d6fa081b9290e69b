"""How long clients that watch a session of the server keep its other clients waiting, as ratios of one run.

Run as `python -m tests.benchmarks.watchers [WATCHERS]`. A long message comes into a conversation that one
client watches or many; then all of them connect again and get the whole conversation. They never read.
Meanwhile another client asks for the heartbeat again and again: the longest that it waits is how long the
server was busy.
"""

import json
import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from urllib.parse import urlsplit

from tests.e2e.interfaces.test_server import EVENTS, Server
from tests.servers.openai_server import ModelServer, Say, spoken

WATCHERS = 100
MEGABYTES = 3
_TICKS = os.sysconf("SC_CLK_TCK")


@contextmanager
def watching(server: Server, count: int) -> Iterator[list[socket.socket]]:
    """Open WebSockets on the events of the session; none of them reads more than the answer."""
    place = urlsplit(server.address)
    request = (
        f"GET {EVENTS} HTTP/1.1\r\nHost: {place.netloc}\r\nAuthorization: Bearer {server.token}\r\n"
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    connections = []
    try:
        for _ in range(count):
            connections.append(socket.create_connection((place.hostname, place.port), timeout=30))
            connections[-1].sendall(request.encode())
        for connection in connections:
            assert connection.recv(12) == b"HTTP/1.1 101"
        yield connections
    finally:
        for connection in connections:
            connection.close()


@contextmanager
def waits(server: Server, found: dict[str, float], name: str) -> Iterator[None]:
    """Note the seconds of CPU meanwhile, and the longest time that a heartbeat took."""
    over, longest = threading.Event(), [0.0]

    def ask() -> None:
        with closing(HTTPConnection(urlsplit(server.address).netloc, timeout=60)) as connection:
            while not over.wait(0.005):
                began = time.perf_counter()
                connection.request("GET", "/heartbeat", headers=server.headers)
                connection.getresponse().read()
                longest[0] = max(longest[0], time.perf_counter() - began)

    asking, before = threading.Thread(target=ask), cpu(server.process.pid)
    asking.start()
    try:
        yield
    finally:
        found[f"{name}: CPU s"] = round(cpu(server.process.pid) - before, 2)
        over.set()
        asking.join()
        found[f"{name}: longest wait ms"] = round(longest[0] * 1000, 1)


def measure(watchers: int) -> dict[str, float]:
    """Measure with so many watchers."""
    found: dict[str, float] = {}
    with ModelServer(spoken(Say("Seen."))) as model, tempfile.TemporaryDirectory() as world:
        os.environ |= {"HOME": world, "OI_TUI_HOME": world}
        server = Server("-m", "openai/tester", "-ab", model.base, "-ak", "sk-test-key", "-c", "200000")
        try:
            with watching(server, watchers), waits(server, found, "message"):
                words = "words " * (MEGABYTES * 1_000_000 // 6)
                server.post("/v1/sessions/default/say", {"content": words})
                while server.get("/v1/sessions")["sessions"][0]["busy"]:
                    time.sleep(0.1)
            with waits(server, found, "connecting"), watching(server, watchers):
                server.get("/v1/sessions")
        finally:
            server.end()
    return found


def cpu(pid: int) -> float:
    """Seconds that the process has used."""
    with open(f"/proc/{pid}/stat") as file:
        values = file.read().rpartition(")")[2].split()
    return (int(values[11]) + int(values[12])) / _TICKS


def main() -> None:
    """Print the figures as JSON."""
    watchers = int(sys.argv[1]) if sys.argv[1:] else WATCHERS
    alone, many = measure(1), measure(watchers)
    ratios = {what: round(many[what] / max(alone[what], 0.01), 1) for what in alone}
    print(json.dumps({"1 watcher": alone, f"{watchers} watchers": many, "ratio": ratios}, indent=1))


if __name__ == "__main__":
    main()
