"""Many connects to the server, and many sessions whose readers are slow; OI_TUI_SOAK=1 takes more of both."""

import os
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")
pytest.importorskip("uvicorn", reason="uvicorn (extra server) is not installed here")

from tests.e2e.interfaces.test_acp import in_use
from tests.e2e.interfaces.test_server import EVENTS, Server
from tests.processes import descendants, wait_until
from tests.servers.openai_server import Exchange, ModelServer, Say, spoken
from tests.unit.server.running import Socket, socket_to

SOAK = bool(os.environ.get("OI_TUI_SOAK"))
CONNECTS = 1000 if SOAK else 60
SESSIONS = 200 if SOAK else 6
#: Each reply is this many words, in pieces of four characters.
WORDS = 4000 if SOAK else 1000
_BOUND = 1200 if SOAK else 60
MASK = b"\x00\x00\x00\x00"

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="/proc is not here")


def requests(server: Server) -> list[bytes]:
    """What the connects send before they break off: nothing, halves, and whole requests of each kind."""
    host = urlsplit(server.address).netloc
    head = f"Host: {host}\r\nAuthorization: Bearer {server.token}\r\n"
    upgrade = (
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    )
    watching = f"GET {EVENTS} HTTP/1.1\r\n{head}{upgrade}\r\n".encode()
    return [
        b"",
        b"GET /v1/sess",
        f"GET /v1/sessions HTTP/1.1\r\n{head}\r\n".encode(),
        f"GET {EVENTS} HTTP/1.1\r\n{head}\r\n".encode(),
        f"POST /v1/sessions/default/say HTTP/1.1\r\n{head}Content-Length: 99\r\n\r\n{{".encode(),
        f"GET / HTTP/1.1\r\n{head}{upgrade}\r\n".encode(),
        watching,
        watching + b"\x81\x8a" + MASK + b'{"do"',
        watching + b"\x88\x80" + MASK,
        os.urandom(300),
    ]


@pytest.mark.soak
@pytest.mark.timeout(_BOUND)
def test_connects_leave_no_process_no_thread_and_no_open_file(workplace: Path) -> None:
    server = Server()
    try:
        kinds = requests(server)
        place = urlsplit(server.address)

        def connect(number: int) -> None:
            with socket.create_connection((place.hostname, place.port), timeout=_BOUND) as connection:
                data = kinds[number % len(kinds)]
                connection.sendall(data)
                if number % 3 and b"\r\n\r\n" in data:
                    connection.recv(1000)
                if number % 2:
                    # A hard end, as of a machine that vanishes.
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

        with server.socket() as client:
            client.until(event="state")
        for number in range(2 * len(kinds)):
            connect(number)
        pid = server.process.pid
        assert wait_until(lambda: in_use(pid)[0] < 40, 20), in_use(pid)
        files, threads = in_use(pid)
        children = len(descendants(pid))
        for number in range(CONNECTS):
            connect(number)
        # The pool of threads may grow to its size, whatever the number of connects.
        assert wait_until(lambda: in_use(pid)[0] <= files + 1 and in_use(pid)[1] <= threads + 8, 30), in_use(
            pid
        )
        assert len(descendants(pid)) <= children
        with server.socket() as client:
            assert client.receive()["event"] == "state"
    finally:
        status, errors = server.end()
    assert (status, errors) == (0, "")


def memory(pid: int) -> int:
    """The memory of a process, in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) // 1024


def many_words(exchange: Exchange) -> None:
    """Reply with numbered words that only this conversation has."""
    asked = str(exchange.request["messages"][-1]["content"])
    spoken(Say(expected(asked)), size=400)(exchange)


def expected(asked: str) -> str:
    return " ".join(f"{asked}{number}" for number in range(WORDS))


def read_all(client: Socket) -> str:
    """Read what came while nobody read; return the text of the reply, put together from what was sent."""
    texts: dict[str, str] = {}
    numbers: list[int] = []
    while True:
        record = client.receive()
        if record["event"] == "state":
            # Events that are kept no longer: all that they said is in it.
            texts = {message["id"]: message["content"] for message in record["messages"]}
            numbers = [record["number"]]
            if texts and not record["busy"]:
                break
            continue
        if record["event"] == "error":
            pytest.fail(str(record))
        assert not numbers or record["number"] == numbers[-1] + 1, (numbers[-1], record)
        numbers.append(record["number"])
        if record["event"] == "message.grew":
            texts[record["id"]] = texts.get(record["id"], "") + record["text"]
        elif record["event"] in ("message.recorded", "message.started"):
            texts[record["message"]["id"]] = record["message"]["content"]
        elif record["event"] == "turn.ended":
            break
    return "\n".join(texts.values())


@pytest.mark.soak
@pytest.mark.timeout(_BOUND)
def test_sessions_with_slow_readers_lose_nothing_and_take_bounded_memory(
    workplace: Path, figures: dict[str, int]
) -> None:
    """The readers read nothing until every session has its reply."""
    with ModelServer(*[many_words] * SESSIONS) as model:
        server = Server("-m", "openai/tester", "-ab", model.base, "-ak", "sk-test-key", "-c", "200000")
        try:
            figures["MB before"] = memory(server.process.pid)
            clients = []
            for number in range(SESSIONS):
                made = server.post("/v1/sessions", {})
                path = f"/v1/sessions/{made['id']}/events"
                # A small queue: what is not read waits at the server.
                client = socket_to(server.address, path, server.headers, max_queue=1)
                client.__enter__()
                clients.append(client)
                client.send({"do": "say", "content": f"s{number}w"})

            def busy() -> bool:
                return any(item["busy"] for item in server.get("/v1/sessions")["sessions"])

            assert wait_until(lambda: len(model.requests) == SESSIONS and not busy(), _BOUND, 0.2)
            figures["MB with all replies"] = memory(server.process.pid)
            with ThreadPoolExecutor(8) as pool:
                texts = list(pool.map(read_all, clients))
            figures["MB after"] = memory(server.process.pid)
            lost = [n for n, text in enumerate(texts) if expected(f"s{n}w") not in text]
            assert lost == [], texts[lost[0]][-3000:]
            # A session's events take 4 MB at most, besides what its conversation takes.
            assert figures["MB with all replies"] < figures["MB before"] + 60 + 6 * SESSIONS
            for client in clients:
                client.__exit__(None, None, None)
        finally:
            status, errors = server.end()
    assert (status, errors) == (0, "")
