"""A connection through the proxy carries one request, for the host that was allowed, and ends."""

import contextlib
import random
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from oi_tui.runtimes.drivers import forwarder
from oi_tui.runtimes.sandbox import proxy
from oi_tui.runtimes.sandbox.proxy import HostProxy
from oi_tui.runtimes.sandbox.proxy_request import BodyError, RefusedError, RequestBody, parse

GOOD, EVIL = "good.example.com", "evil.example.org"
HEAD = f"POST http://{GOOD}/x HTTP/1.1\r\nHost: {GOOD}\r\n".encode()
SECOND = f"GET / HTTP/1.1\r\nHost: {EVIL}\r\n\r\n".encode()
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Recorder:
    """A server that keeps its connections open, and records what it receives until the client ends."""

    def __init__(self) -> None:
        self.received: list[bytes] = []
        self.ended = threading.Event()
        self.is_silent = self.is_curt = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Stop listening."""
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(self._listener.accept()[0],), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.settimeout(20)
            while not self.is_curt and (piece := connection.recv(65536)):
                self.received.append(piece)
                if not self.is_silent:
                    connection.sendall(ANSWER)
            if self.is_silent:
                self.ended.wait(20)
        self.ended.set()


@pytest.fixture
def server() -> Iterator[Recorder]:
    made = Recorder()
    yield made
    made.ended.set()
    made.close()


@pytest.fixture
def through(tmp_path: Path, server: Recorder, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The socket of a proxy that allows one host, behind which the recorder is."""
    connect = socket.create_connection
    monkeypatch.setattr(
        proxy.socket, "create_connection", lambda _, __: connect(("127.0.0.1", server.port), 20)
    )
    made = HostProxy(tmp_path / "proxy", [GOOD, "*.example.com"], lambda _: None, lambda _, __: ["8.8.8.8"])
    yield tmp_path / "proxy"
    made.close()


def send(path: Path, data: bytes) -> bytes:
    """Send bytes, end, and return the whole answer."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(str(path))
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(65536), b""))


@pytest.mark.parametrize(
    "body",
    [
        b"\r\n",
        b"Content-Length: 0\r\n\r\n",
        b"Content-Length: 3\r\n\r\nabc",
        b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        b"Transfer-Encoding: Chunked\r\n\r\n1;a=b\r\nx\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\n",
        b"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAA\r\nConnection: Upgrade, HTTP2-Settings\r\n\r\n",
    ],
)
@pytest.mark.parametrize("tunnel", [b"", f"CONNECT {GOOD}:80 HTTP/1.1\r\n\r\n".encode()])
def test_nothing_behind_a_request_reaches_the_server(
    through: Path, server: Recorder, body: bytes, tunnel: bytes
) -> None:
    head = HEAD.replace(f"http://{GOOD}".encode(), b"") if tunnel else HEAD
    assert ANSWER in send(through, tunnel + head + body + SECOND)
    [sent] = [b"".join(server.received)]
    assert EVIL.encode() not in sent
    assert sent.endswith(body.partition(b"\r\n\r\n")[2])
    assert b"pgrade" not in sent


def test_what_follows_later_does_not_reach_the_server_either(through: Path, server: Recorder) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(str(through))
        client.sendall(HEAD + b"Content-Length: 3\r\n\r\n")
        for piece in (b"a", b"bc", SECOND):
            client.sendall(piece)
        client.shutdown(socket.SHUT_WR)
        assert ANSWER in b"".join(iter(lambda: client.recv(65536), b""))
    assert b"".join(server.received).endswith(b"\r\n\r\nabc")


@pytest.mark.parametrize(
    "fields",
    [
        "Content-Length: 3\r\nContent-Length: 40",
        "Content-Length: 3\r\ncontent-length: 3",
        "Content-Length: 3, 3",
        "Content-Length: +3",
        "Content-Length: 0x3",
        "Content-Length:\r\n 3",
        "Content-Length : 3",
        "Content-Length: 3\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding\x0b: chunked",
        "X: y\nTransfer-Encoding: chunked",
        "X: y\rTransfer-Encoding: chunked",
        "no field",
    ],
)
def test_a_request_whose_length_servers_could_take_differently_is_refused(
    through: Path, server: Recorder, fields: str
) -> None:
    assert send(through, HEAD + fields.encode() + b"\r\n\r\nabc").startswith(b"HTTP/1.1 403")
    assert server.received == []


@pytest.mark.parametrize("version", ["HTTP/1.0", "HTTP/1", "HTTP/1.2", "HTTP/1.1x", "HTTP/2"])
def test_only_known_versions_are_sent_on(version: str) -> None:
    head = HEAD.strip().replace(b"HTTP/1.1", version.encode())
    if version == "HTTP/1.0":
        assert parse(head).head.startswith(b"POST /x HTTP/1.0\r\n")
        with pytest.raises(RefusedError):
            parse(head + b"\r\nTransfer-Encoding: chunked")
    else:
        with pytest.raises(RefusedError):
            parse(head)


@pytest.mark.parametrize(
    "body",
    [
        b"zz\r\n",
        b"-1\r\n",
        b"3\nabc",
        b"3\r\nabcX\r\n",
        b"3\r\nabc\n",
        b"0\r\n\n",
        b"1" * 20 + b"\r\n",
        b";" * 9_000,
        b"1;" + b"x" * 9_000,
        b"\r\n",
    ],
)
def test_chunks_that_are_not_written_as_they_must_be_end_the_request(through: Path, body: bytes) -> None:
    with pytest.raises(BodyError):
        RequestBody(chunked=True).take(body)
    answer = send(through, HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + body)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 403")


def test_a_line_between_chunks_may_be_long_and_no_longer() -> None:
    longest = b"1;".ljust(8_190, b"x") + b"\r\n"
    assert RequestBody(chunked=True).take(longest) == longest
    with pytest.raises(BodyError):
        RequestBody(chunked=True).take(longest.replace(b";", b";x"))


def test_a_body_ends_where_it_ends_however_it_is_cut() -> None:
    dice = random.Random(11)
    body = b""
    for size in (1, 15, 16, 300):
        body += b"%X\r\n" % size + dice.randbytes(size) + b"\r\n"
    body += b"0\r\nTrailer: x\r\n\r\n"
    for _ in range(300):
        reader, taken, data = RequestBody(chunked=True), b"", body + SECOND
        while data:
            at = dice.randint(1, 40)
            taken += reader.take(data[:at])
            data = data[at:]
        assert taken == body
        assert reader.is_complete


@pytest.mark.parametrize("label", ["a" * 64, "a" * 300, "", ".", "\xe4" * 70])
def test_a_name_that_is_none_is_answered(
    through: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, label: str
) -> None:
    path = tmp_path / "other"
    other = HostProxy(path, ["*.example.com"], lambda _: None)
    answer = send(path, f"CONNECT {label}.example.com:443 HTTP/1.1\r\n\r\n".encode("latin-1"))
    other.close()
    assert answer.startswith((b"HTTP/1.1 502", b"HTTP/1.1 403"))
    assert send(through, HEAD.replace(b"example.com/", b"example.com:0/") + b"\r\n").startswith(
        b"HTTP/1.1 403"
    )


def test_a_server_that_goes_on_for_nobody_keeps_no_place(
    through: Path, server: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy, "_SILENCE", 0.05)
    server.is_silent = True
    for _ in range(proxy._MOST_AT_ONCE + 1):
        # Each client is killed while its server is silent, and would keep its place for ever.
        assert send(through, HEAD + b"\r\n") == b""


def test_a_client_that_keeps_an_ended_connection_keeps_no_place(
    through: Path, server: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy, "_SILENCE", 0.05)
    server.is_curt = True
    with contextlib.ExitStack() as kept:

        def ask() -> bytes:
            client = kept.enter_context(socket.socket(socket.AF_UNIX))
            client.settimeout(20)
            client.connect(str(through))
            client.sendall(HEAD + b"\r\n")
            return client.recv(65536)

        assert {ask() for _ in range(proxy._MOST_AT_ONCE)} == {b""}
        assert any(ask() == b"" for _ in range(500))


class FewThreads(threading.Thread):
    """The system allows no thread at first."""

    refused = 3

    def start(self) -> None:
        """Start, or fail as Python does."""
        if FewThreads.refused > 0:
            FewThreads.refused -= 1
            raise RuntimeError("can't start new thread")
        super().start()


def test_a_thread_that_cannot_begin_ends_one_connection_only(
    through: Path, server: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FewThreads, "refused", 3)
    monkeypatch.setattr(proxy, "threading", SimpleNamespace(**vars(threading) | {"Thread": FewThreads}))
    answers = []
    for _ in range(6):
        with contextlib.suppress(ConnectionError):
            answers.append(send(through, HEAD + b"\r\n"))
    assert ANSWER in answers[-1]


def test_the_forwarder_outlives_a_thread_that_cannot_begin(
    through: Path, server: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as inside:
        threading.Thread(target=forwarder._serve, args=(inside, str(through)), daemon=True).start()
        monkeypatch.setattr(FewThreads, "refused", 1)
        monkeypatch.setattr(forwarder, "threading", SimpleNamespace(Thread=FewThreads))
        answers = []
        for _ in range(4):
            with socket.create_connection(inside.getsockname(), 20) as client, contextlib.suppress(OSError):
                client.sendall(HEAD + b"\r\n")
                answers.append(client.recv(65536))
        assert ANSWER in answers
