"""A model server on 127.0.0.1 that answers as a test tells it to and records what it was asked."""

import json
import select
import socket
import ssl
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic
from types import TracebackType
from typing import Any, Self

from tests.servers.wires import Call, OpenAi, Say, Spoken, Think, Wire, wire

__all__ = ["Call", "Exchange", "ModelServer", "Say", "Think"]


@dataclass
class Exchange:
    """One request, and the way to answer it."""

    path: str
    headers: dict[str, str]
    request: dict[str, Any]
    wire: Wire
    connection: socket.socket
    began: float = field(default_factory=monotonic)
    #: Set when the client closed the connection before the answer was complete.
    client_gone: threading.Event = field(default_factory=threading.Event)
    #: Set when the exchange is over, one way or the other.
    over: threading.Event = field(default_factory=threading.Event)
    stopping: threading.Event = field(default_factory=threading.Event)
    _chunked: bool = False

    def head(
        self, status: int = 200, media: str | None = None, *, chunked: bool = True, **headers: str
    ) -> None:
        lines = [
            f"HTTP/1.1 {status} Status",
            f"Content-Type: {media or self.wire.media}",
            "Connection: close",
        ]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        if chunked:
            lines.append("Transfer-Encoding: chunked")
        self._chunked = chunked
        self.connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())

    def send(self, data: bytes) -> None:
        if self._chunked:
            data = b"%x\r\n%b\r\n" % (len(data), data)
        self.connection.sendall(data)

    def end(self) -> None:
        if self._chunked:
            self.connection.sendall(b"0\r\n\r\n")

    def hang(self, seconds: float = 60.0) -> None:
        """Say nothing until the client goes away."""
        until = monotonic() + seconds
        while monotonic() < until and not self.stopping.is_set():
            readable, _, _ = select.select([self.connection], [], [], 0.02)
            if readable:
                with suppress(OSError):
                    if self.connection.recv(1, socket.MSG_PEEK):
                        continue
                self.client_gone.set()
                return

    def reset(self) -> None:
        """Break the connection off."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.connection.close()


Answer = Callable[[Exchange], None]


def spoken(*reply: Spoken, size: int = 4, **headers: str) -> Answer:
    """A whole reply in small pieces."""

    def answer(exchange: Exchange) -> None:
        exchange.head(**headers)
        for data in exchange.wire.body(reply, size):
            exchange.send(data)
        exchange.end()

    return answer


def broken_off(*reply: Spoken, chunks: int, then: Callable[[Exchange], None], size: int = 4) -> Answer:
    """The first chunks of a reply, and then something else."""

    def answer(exchange: Exchange) -> None:
        exchange.head()
        for number, data in enumerate(exchange.wire.body(reply, size)):
            if number == chunks:
                break
            exchange.send(data)
        then(exchange)

    return answer


def refused(status: int, body: Any, media: str = "application/json", **headers: str) -> Answer:
    """An answer that is no reply. `body`: an object for JSON, or text."""

    def answer(exchange: Exchange) -> None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        exchange.head(status, media, chunked=False, Content_Length=str(len(data)), **headers)
        exchange.send(data)

    return answer


def error(status: int, message: str, code: str | None = None, **headers: str) -> Answer:
    """The provider's own kind of error."""

    def answer(exchange: Exchange) -> None:
        refused(status, exchange.wire.error(message, code), **headers)(exchange)

    return answer


def raw(*data: bytes, media: str = "text/event-stream") -> Answer:
    """Whatever bytes."""

    def answer(exchange: Exchange) -> None:
        exchange.head(media=media)
        for item in filter(None, data):
            exchange.send(item)
        exchange.end()

    return answer


def deltas(*deltas: dict[str, Any], finish: str = "stop") -> Answer:
    """A reply in OpenAI's format, delta by delta."""
    chunk = OpenAi().chunk
    return raw(*(chunk(delta) for delta in deltas), chunk({}, finish), b"data: [DONE]\n\n")


def silent(exchange: Exchange) -> None:
    """Nothing at all, not even headers."""
    exchange.hang()


def reset(exchange: Exchange) -> None:
    """The connection breaks before there is an answer."""
    exchange.reset()


class ModelServer:
    """Serves while it is entered; answers the n-th request with the n-th answer, later ones with the last."""

    def __init__(
        self,
        *answers: Answer,
        tls: ssl.SSLContext | None = None,
        strict: bool = True,
        questions: bool = False,
    ) -> None:
        """With `questions`, those about the server's models are exchanges, too; else nothing is known."""
        self.exchanges: list[Exchange] = []
        self._questions = questions
        self._answers: Sequence[Answer] = answers
        self._strict = strict
        self._lock = threading.Lock()
        self._arrived = threading.Condition(self._lock)
        self._stopping = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                outer._serve(self)

            def do_GET(self) -> None:
                outer._serve(self)

            def log_message(self, *_: object) -> None:
                pass

        self._http = _Server(("127.0.0.1", 0), Handler)
        if tls:
            self._http.socket = tls.wrap_socket(self._http.socket, server_side=True)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        for exchange in self.exchanges:
            exchange.stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base(self) -> str:
        """The address as OpenAI's clients want it."""
        return f"{self.root}/v1"

    def answer(self, *answers: Answer) -> None:
        """Forget what was asked; from now on, these answers."""
        with self._lock:
            self._answers = answers
            self.exchanges.clear()

    def exchange(self, number: int = 0, timeout: float = 60.0) -> Exchange:
        """The n-th request since the answers were set, once it has arrived."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.exchanges) > number, timeout), "no request arrived"
            return self.exchanges[number]

    @property
    def requests(self) -> list[dict[str, Any]]:
        """What was asked so far."""
        with self._lock:
            return [exchange.request for exchange in self.exchanges]

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        if not self._questions and (handler.command == "GET" or handler.path == "/api/show"):
            handler.connection.sendall(b"HTTP/1.1 404 Nothing\r\nContent-Length: 0\r\n\r\n")
            return
        exchange = Exchange(
            handler.path,
            {name.lower(): value for name, value in handler.headers.items()},
            json.loads(body) if body else {},
            wire(handler.path),
            handler.connection,
            stopping=self._stopping,
        )
        with self._arrived:
            number = len(self.exchanges)
            self.exchanges.append(exchange)
            answers = self._answers
            self._arrived.notify_all()
        answer = answers[min(number, len(answers) - 1)]
        problem = exchange.wire.problem(exchange.request) if self._strict and body else None
        if problem:
            answer = error(400, f"invalid conversation: {problem}")
        try:
            answer(exchange)
        except (BrokenPipeError, ConnectionResetError):
            exchange.client_gone.set()
        finally:
            exchange.over.set()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is part of the tests; anything else fails the test by what it sees."""
