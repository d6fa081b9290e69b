"""Requests of strangers, other pages and broken programs: none gets through, and the server goes on."""

import itertools
import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")
pytest.importorskip("uvicorn", reason="uvicorn (extra server) is not installed here")

from websockets.exceptions import ConnectionClosedError

from oi_tui.server.options import OptionError, ServerLimits, ServerOptions, read_environment
from tests.fakes import call
from tests.unit.server.conftest import Serve
from tests.unit.server.running import TIMEOUT, Running

LIMITS = ServerLimits(message_bytes=100_000, request_seconds=2)
WS = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)
JSON = "Content-Type: application/json"
HOST = "Host: 127.0.0.1:{port}"
TOKEN = "Authorization: Bearer {token}"
WRONG = "A" * 43

Request = tuple[str, tuple[str, ...], str, int]


def contradictions() -> Iterator[tuple[str, Request]]:
    """The right token beside a wrong one, which somebody in between may have read."""
    offered = "Sec-WebSocket-Protocol: oi-tui, oi-tui.token.{token}"
    for path in ("/v1/sessions", "/api/kernels"):
        first = f"GET {path}"
        yield (
            f"a wrong bearer: {path}",
            (first, (HOST, "X-API-KEY: {token}", f"Authorization: Bearer {WRONG}"), "", 401),
        )
        yield (
            f"an empty bearer: {path}",
            (first, (HOST, "X-API-KEY: {token}", "Authorization: Bearer"), "", 401),
        )
        yield f"a wrong key: {path}", (first, (HOST, TOKEN, f"X-API-KEY: {WRONG}"), "", 401)
        yield f"an empty key: {path}", (first, (HOST, TOKEN, "X-API-KEY: "), "", 401)
    for path in ("/", "/v1/sessions/default/events", "/api/kernels/x/channels"):
        first = f"GET {path}"
        two = f"{offered}, oi-tui.token.{WRONG}"
        yield f"two tokens of a page: {path}", (first, (HOST, *WS, two), "", 400)
        yield (
            f"a wrong bearer of a page: {path}",
            (first, (HOST, *WS, offered, f"Authorization: Bearer {WRONG}"), "", 401),
        )


def hostile() -> Iterator[tuple[str, Request]]:
    """A name for each request, and: first line, headers, body, status of the answer."""
    paths = (
        "GET /v1/sessions",
        "GET /v1/sessions/default",
        "GET /v1/sessions/default/events",
        "GET /v1/sessions/default/images/x",
        "GET /settings/messages",
        "GET /openai/models",
        "GET /openapi.json",
        "GET /nothing",
        "POST /",
        "POST /run",
        "POST /v1/sessions",
        "POST /settings",
        "POST /openai/chat/completions",
        "POST /v1/sessions/default/say",
        "POST /v1/sessions/default/propose",
        "POST /v1/sessions/default/answer",
        "DELETE /v1/sessions/default",
        "GET /api",
        "GET /api/kernels",
        "POST /api/kernels",
        "POST /api/kernels/x/interrupt",
        "DELETE /api/kernels/x",
    )
    for path in paths:
        yield f"no token: {path}", (path, (HOST, JSON), "{}", 401)
    tokens = (
        f"Authorization: Bearer {WRONG}",
        "Authorization: Bearer ",
        "Authorization: Bearer",
        "Authorization: Basic {token}",
        "Authorization: {token}",
        f"X-API-KEY: {WRONG}",
        "X-API-KEY: {token}x",
        "X-API-KEY: ",
        "Cookie: token={token}",
        "Authorization: Bearer \xff\xfe",
    )
    for header in tokens:
        yield f"token: {header}", ("GET /v1/sessions", (HOST, header), "", 401)
    for query in ("token", "auth", "api_key", "key", "X-API-KEY"):
        first = f"GET /v1/sessions?{query}={{token}}"
        yield f"token in the address: {query}", (first, (HOST, TOKEN), "", 400)
    hosts = (
        "evil.invalid",
        "evil.invalid:{port}",
        "127.0.0.1.evil.invalid:{port}",
        "127.0.0.1:1",
        "127.0.0.1",
        "localhost.:{port}",
        "[::1]:1",
        "0.0.0.0:{port}",
        "127.1:{port}",
        "2130706433:{port}",
        "127.0.0.1@evil.invalid",
    )
    for host in hosts:
        yield f"host {host}", ("GET /v1/sessions", (f"Host: {host}", TOKEN), "", 421)
    yield "the page at a foreign host", ("GET /", ("Host: evil.invalid:{port}",), "", 421)
    yield "two hosts", ("GET /v1/sessions", (HOST, "Host: evil.invalid", TOKEN), "", 400)
    origins = (
        "http://evil.invalid",
        "null",
        "http://localhost:9",
        "http://localhost",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1:{port}.evil.invalid",
        "http://127.0.0.1:{port}/",
        "file://",
        "",
    )
    for origin in origins:
        headers = (HOST, f"Origin: {origin}", TOKEN)
        yield f"origin {origin}", ("GET /v1/sessions", headers, "", 403)
        yield f"WebSocket of origin {origin}", ("GET /", (*headers, *WS), "", 403)
    preflight = (HOST, "Origin: http://evil.invalid", "Access-Control-Request-Method: POST")
    yield "preflight", ("OPTIONS /v1/sessions", preflight, "", 403)
    yield "another page", ("GET /v1/sessions", (HOST, TOKEN, "Sec-Fetch-Site: cross-site"), "", 403)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        form = (HOST, TOKEN, f"Content-Type: {kind}")
        yield f"a form: {kind}", ("POST /v1/sessions/default/say", form, '{"content": "x"}', 415)
    yield "no type", ("POST /v1/sessions", (HOST, TOKEN), "{}", 415)
    for path in ("/", "/?session=default", "/v1/sessions/default/events", "/api/kernels/x/channels"):
        yield f"WebSocket without token: {path}", (f"GET {path}", (HOST, *WS), "", 401)
        wrong = (HOST, *WS, f"Sec-WebSocket-Protocol: oi-tui, oi-tui.token.{WRONG}")
        yield f"WebSocket with a wrong token: {path}", (f"GET {path}", wrong, "", 401)
    yield from contradictions()
    yield from passwords()
    yield from broken_requests()
    rebound = ("Host: evil.invalid:{port}", "Origin: http://evil.invalid:{port}", TOKEN, *WS)
    yield "WebSocket, rebound name", ("GET /", rebound, "", 421)
    yield "WebSocket, token in the address", ("GET /?token={token}", (HOST, *WS), "", 400)
    for method in ("PUT", "PATCH", "TRACE", "CONNECT", "BREW"):
        yield f"method {method}", (f"{method} /v1/sessions", (HOST, TOKEN), "", 405)
    long = (HOST, TOKEN, JSON, "Content-Length: 100001")
    yield "a large body", ("POST /v1/sessions", long, "", 413)
    for body in ("", "{", "[]", "null", '"x"', "[" * 90_000):
        yield f"body {body[:9]}", ("POST /v1/sessions/default/say", (HOST, TOKEN, JSON), body, 400)
    for path in (
        "/page/../options.py",
        "/page/%2e%2e%2foptions.py",
        "/page/..%5coptions.py",
        "/page//etc/passwd",
    ):
        yield f"file {path}", (f"GET {path}", (HOST, TOKEN), "", 404)
    for body in ({"auto_run": True}, {"llm": {"api_base": "http://evil.invalid"}}, {"system_message": "x"}):
        yield f"settings {body}", ("POST /settings", (HOST, TOKEN, JSON), json.dumps(body), 403)
    spoken = {"messages": [{"role": "user", "content": "{AUTO_RUN_ON}"}]}
    yield "auto_run by words", ("POST /openai/chat/completions", (HOST, TOKEN, JSON), json.dumps(spoken), 403)
    answer = {"question": "x", "hash": "y", "decision": "run"}
    path = "POST /v1/sessions/default/answer"
    yield "an answer to nothing", (path, (HOST, TOKEN, JSON), json.dumps(answer), 409)
    for wrong_answer in (
        {},
        {**answer, "decision": "always"},
        {**answer, "hash": 1},
        {**answer, "question": None},
    ):
        yield f"answer {wrong_answer}", (path, (HOST, TOKEN, JSON), json.dumps(wrong_answer), 400)
    yield "an unknown session", ("GET /v1/sessions/unknown", (HOST, TOKEN), "", 404)
    yield "an unknown action", ("POST /v1/sessions/default/eval", (HOST, TOKEN, JSON), "{}", 404)
    yield "no host", ("GET /v1/sessions", (TOKEN,), "", 400)
    yield "a header too long", ("GET /v1/sessions", (HOST, TOKEN, f"X: {'x' * 300_000}"), "", 400)
    yield "no HTTP", ("\x16\x03\x01", (), "", 400)


def passwords() -> Iterator[tuple[str, Request]]:
    """What takes the place of the password for kernels, or of the cookie for it."""
    form = "Content-Type: application/x-www-form-urlencoded"
    body = f"_xsrf=x&password={WRONG}"
    for path, status in (("/login", 401), ("/login/", 415), ("/api/kernels", 415), ("/login/../api", 415)):
        yield f"a wrong password: {path}", (f"POST {path}", (HOST, form), body, status)
    yield "a foreign page signs in", ("POST /login", (HOST, form, "Origin: http://evil.invalid"), body, 403)
    yield "signing in at a foreign host", ("POST /login", ("Host: evil.invalid", form), body, 421)
    yield "a large form", ("POST /login", (HOST, form, "Content-Length: 100001"), "", 413)
    for value in ("oi-tui-kernels=x", "oi-tui-kernels=", "oi-tui-kernels={token}", "=;;\xff", "a" * 9_000):
        cookie = (HOST, f"Cookie: {value}", "X-XSRFToken: x")
        yield f"a cookie: {value[:40]}", ("GET /api/kernels", cookie, "", 401)
        status = 401 if len(value) < 8_000 else 431
        path = "GET /api/kernels/x/channels"
        yield f"WebSocket with a cookie: {value[:40]}", (path, (*cookie, *WS), "", status)


def broken_requests() -> Iterator[tuple[str, Request]]:
    """What is read in more than one way, and what the parser of WebSockets does not take."""
    yield "WebSocket, long address", (f"GET /?{'x' * 9_000}", (HOST, *WS), "", 431)
    many = tuple(f"X-{number}: x" for number in range(200))
    yield "WebSocket, many headers", ("GET /", (HOST, TOKEN, *many, *WS), "", 431)
    yield "WebSocket, no key", ("GET /", (HOST, TOKEN, *WS[:-1]), "", 400)
    version = "Sec-WebSocket-Version: 8"
    yield "WebSocket, another version", ("GET /", (HOST, TOKEN, *WS[:2], version, WS[3]), "", 400)
    # Nothing behind what one reader takes for the end of a request may count.
    inner = "GET /v1/sessions HTTP/1.1\r\nHost: x\r\n\r\n"
    for lengths in (
        ("Content-Length: 0", "Content-Length: 50"),
        ("Content-Length: 0, 50",),
        ("Content-Length: -1",),
        ("Content-Length: +5",),
        ("Content-Length: 0x5",),
        ("Content-Length: 5_0",),
        ("Content-Length: \xb2",),
        ("Content-Length : 5",),
        ("Content-Length: 5", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: chunked", "Transfer-Encoding: identity", "X: Content-Length"),
        ("Transfer-Encoding: xchunked", "X: Content-Length"),
        ("Transfer-Encoding: chunked, identity", "X: Content-Length"),
        ("Transfer-Encoding:\x0bchunked", "X: Content-Length"),
    ):
        yield f"two lengths: {lengths}", ("POST /v1/sessions", (HOST, TOKEN, JSON, *lengths), inner, 400)
    for header in ("X\x00: a", "X : a", ": a", "X: a\x00b", "no colon"):
        yield f"header {header!r}", ("GET /v1/sessions", (HOST, TOKEN, header), "", 400)


CASES = dict(hostile())


def raw(running: Running, request: Request) -> bytes:
    first, headers, body, _ = request
    given = {"port": running.options.port, "token": running.options.token}
    lines = [
        f"{first} HTTP/1.1",
        *headers,
        *([] if "Content-Length" in str(headers) else [f"Content-Length: {len(body)}"]),
    ]
    text = "\r\n".join(lines)
    for name, value in given.items():
        text = text.replace(f"{{{name}}}", str(value))
    return (text + "\r\n\r\n").encode("latin-1") + body.encode()


def status_of(running: Running, data: bytes) -> int:
    with socket.create_connection(("127.0.0.1", running.options.port), timeout=TIMEOUT) as connection:
        connection.sendall(data)
        answer = b""
        while b"\r\n" not in answer:
            piece = connection.recv(1000)
            if not piece:
                return 0
            answer += piece
    return int(answer.split()[1])


def test_at_least_sixty_hostile_requests_and_none_gets_through(serve: Serve) -> None:
    assert len(CASES) >= 60
    running = serve(limits=LIMITS)
    with running.http() as client:
        client.get("/v1/sessions/default")
    found = {name: status_of(running, raw(running, request)) for name, request in CASES.items()}
    expected = {name: request[3] for name, request in CASES.items()}
    assert found == expected
    # Nothing happened, and the server still works.
    with running.http() as client:
        state = client.get("/v1/sessions/default").json()
        assert client.get("/settings/auto_run").json() == {"auto_run": False}
        assert len(client.get("/v1/sessions").json()["sessions"]) == 1
    assert state["messages"] == []
    assert running.computer.ran == []


def test_an_answer_never_lets_another_origin_read(serve: Serve) -> None:
    with serve().http() as client:
        for headers in ({"Origin": "http://evil.invalid"}, {}):
            answer = client.get("/v1/sessions", headers=headers)
            assert "access-control-allow-origin" not in answer.headers
            assert answer.headers["x-frame-options"] == "DENY"
            assert answer.headers["cache-control"] == "no-store"
            assert "server" not in answer.headers


def test_a_named_origin_may_ask_and_read(serve: Serve) -> None:
    origin = "https://notes.example"
    with serve(origins=(origin,)).http(headers={"Origin": origin}) as client:
        assert client.options("/v1/sessions").headers["access-control-allow-origin"] == origin
        assert client.get("/v1/sessions").status_code == 401


def test_public_paths_hold_no_secret(serve: Serve) -> None:
    running = serve()
    with running.http(headers={}) as client:
        assert client.get("/heartbeat").json() == {"status": "alive"}
        page = client.get("/")
        assert page.status_code == 200
        assert running.options.token not in page.text


def test_an_answer_counts_once_and_only_for_the_code_that_was_shown(serve: Serve) -> None:
    running = serve([call("print(1)")])
    with running.http() as client, running.socket("/v1/sessions/default/events") as watcher:
        watcher.send({"do": "say", "content": "Hello"})
        question = watcher.until(event="question.asked")[-1]["question"]
        path = "/v1/sessions/default/answer"
        answer = {"question": question["id"], "hash": question["hash"], "decision": "run"}
        for wrong in ({"hash": "0" * 64}, {"question": "x"}, {"hash": question["hash"].upper()}):
            assert client.post(path, json={**answer, **wrong}).status_code == 409
        assert running.computer.ran == []
        statuses = [client.post(path, json=answer).status_code for _ in range(3)]
        assert statuses == [202, 409, 409]
        watcher.until(event="turn.ended")
    assert running.computer.ran == [("python", "print(1)")]


def test_a_large_frame_closes_the_connection_and_nothing_else(serve: Serve) -> None:
    running = serve(limits=LIMITS)
    with running.socket() as sender, pytest.raises(ConnectionClosedError, match="1009"):
        sender.answer_to("x" * 200_000)
    with running.http() as client:
        assert client.get("/v1/sessions").status_code == 200


def test_slow_headers_and_slow_bodies_are_closed(serve: Serve) -> None:
    running = serve(limits=replace(LIMITS, request_seconds=1), allow_settings=True)
    whole = raw(running, ("POST /settings", (HOST, TOKEN, JSON, "Content-Length: 100"), "", 0))
    for part, status in ((b"", b""), (whole[:40], b""), (whole + b"{", b"408")):
        with socket.create_connection(("127.0.0.1", running.options.port), timeout=TIMEOUT) as connection:
            connection.sendall(part)
            answer = b"".join(iter(lambda: connection.recv(1000), b""))
            assert status in answer.split(b"\r\n")[0]


@pytest.mark.parametrize(("headers", "status"), [((HOST, JSON), b"401"), ((HOST, TOKEN), b"415")])
def test_a_refused_request_may_send_its_body_before_the_answer_comes(
    serve: Serve, headers: tuple[str, ...], status: bytes
) -> None:
    running = serve()
    head = raw(running, ("POST /v1/sessions", (*headers, "Content-Length: 2"), "", 0))
    with socket.create_connection(("127.0.0.1", running.options.port), timeout=TIMEOUT) as connection:
        connection.sendall(head)
        connection.settimeout(0.2)
        with pytest.raises(TimeoutError):
            connection.recv(1000)
        connection.settimeout(TIMEOUT)
        connection.sendall(b"{}")
        answer = b"".join(iter(lambda: connection.recv(1000), b""))
        assert status in answer.split(b"\r\n")[0]


def test_a_slow_request_is_closed_also_where_another_one_came_before_it(serve: Serve) -> None:
    running = serve(limits=replace(LIMITS, request_seconds=1))
    alive = raw(running, ("GET /heartbeat", (HOST,), "", 0))
    with socket.create_connection(("127.0.0.1", running.options.port), timeout=TIMEOUT) as connection:
        connection.sendall(alive)
        while b"alive" not in connection.recv(1000):
            pass
        connection.sendall(alive[:20])
        assert connection.recv(1000) == b""


def test_a_body_that_comes_byte_by_byte_is_given_up(serve: Serve) -> None:
    running = serve(limits=replace(LIMITS, request_seconds=1))
    head = raw(running, ("POST /v1/sessions", (HOST, TOKEN, JSON, "Content-Length: 100000"), "", 0))
    with socket.create_connection(("127.0.0.1", running.options.port), timeout=TIMEOUT) as connection:
        connection.sendall(head)
        connection.settimeout(0.1)
        for _ in range(100):
            connection.sendall(b" ")
            try:
                answer = connection.recv(100)
                break
            except TimeoutError:
                continue
    assert answer.startswith(b"HTTP/1.1 408 ")
    with running.http() as client:
        assert client.get("/v1/sessions").json()["sessions"] == []


def test_more_connections_than_allowed_are_refused_and_given_back(serve: Serve) -> None:
    running = serve(limits=replace(LIMITS, connections=20))
    address = ("127.0.0.1", running.options.port)
    crowd = [socket.create_connection(address, timeout=TIMEOUT) for _ in range(30)]
    data = raw(running, ("GET /v1/sessions", (HOST, TOKEN), "", 0))
    assert status_of(running, data) == 503
    for connection in crowd:
        connection.close()
    assert any(status_of(running, data) == 200 for _ in range(200))


def test_sessions_are_limited(serve: Serve) -> None:
    running = serve(limits=replace(LIMITS, sessions=2))
    with running.http() as client:
        statuses = [client.post("/v1/sessions", json={}).status_code for _ in range(3)]
        assert statuses == [201, 201, 503]


def test_a_question_that_nobody_can_answer_ends_as_not_run(serve: Serve) -> None:
    running = serve([call("print(1)")], limits=replace(LIMITS, unwatched_seconds=0.2))
    with running.socket("/v1/sessions/default/events") as watcher:
        watcher.send({"do": "say", "content": "Hello"})
        watcher.until(event="question.asked")
    with running.http() as client:
        states = (client.get("/v1/sessions/default").json() for _ in itertools.count())
        state = next(state for state in states if not state["busy"])
    assert [m["state"] for m in state["messages"] if m["type"] == "code"] == ["skipped"]
    assert running.computer.ran == []


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"token": "short"}, "INTERPRETER_API_KEY"),
        ({"token": "x" * 43 + "\n"}, "INTERPRETER_API_KEY"),
        ({"port": 70_000}, "--port"),
        ({"origins": ("*",)}, "--allow-origin"),
        ({"origins": ("http://*.example",)}, "--allow-origin"),
        ({"hosts": ("*",)}, "--allow-host"),
        ({"hosts": ("a.example:80",)}, "--allow-host"),
        ({"certificate": Path("cert.pem")}, "--tls-key"),
        ({"certificate": Path("none.pem"), "key": Path("none.pem")}, "--tls-cert"),
    ],
)
def test_options_that_are_not_safe_are_refused(options: dict[str, Any], named: str) -> None:
    with pytest.raises(OptionError, match=named):
        ServerOptions(**options)


def test_each_start_has_another_token_of_256_bits() -> None:
    tokens = {ServerOptions().token for _ in range(100)}
    assert len(tokens) == 100
    assert all(len(token) >= 43 for token in tokens)
    assert not any(token in repr(ServerOptions(token=token)) for token in tokens)


def test_the_variables_of_open_interpreter_count() -> None:
    given = {
        "INTERPRETER_HOST": "127.0.0.2",
        "INTERPRETER_PORT": "9000",
        "INTERPRETER_API_KEY": WRONG,
        "INTERPRETER_REQUIRE_ACKNOWLEDGE": "True",
    }
    assert read_environment(given) == {"host": "127.0.0.2", "port": 9000, "token": WRONG, "acknowledge": True}
    with pytest.raises(OptionError, match="INTERPRETER_PORT"):
        read_environment({"INTERPRETER_PORT": "x"})
