"""Requests that can be read in two ways: none gets through, whatever stands before or behind it."""

import gzip
import json
import re
import socket
from collections.abc import Iterator

import pytest

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")
pytest.importorskip("uvicorn", reason="uvicorn (extra server) is not installed here")

from tests.unit.server.conftest import Serve
from tests.unit.server.running import TIMEOUT, Running
from tests.unit.server.test_faults import EVENTS, MASK, handshake
from tests.unit.server.test_hostile import HOST, JSON, LIMITS, TOKEN, WRONG, WS

SAY = '{"content": "smuggled"}'
#: A whole request that would do something, without a token.
INNER = (
    f"POST /v1/sessions/default/say HTTP/1.1\r\n{HOST}\r\n{JSON}\r\nContent-Length: {len(SAY)}\r\n\r\n{SAY}"
)


def make_request(first: str, *headers: str, body: str = "", version: str = "1.1") -> str:
    return "\r\n".join((f"{first} HTTP/{version}", *headers)) + f"\r\n\r\n{body}"


def hostile() -> Iterator[tuple[str, str | bytes]]:
    """A name for each, and what is sent. Each answer must be an error, or the connection must end."""
    post = "POST /v1/sessions/default/say"
    chunked = "Transfer-Encoding: chunked"
    for length in ("4", "0"):
        both = (HOST, JSON, f"Content-Length: {length}", chunked)
        yield f"two lengths, {length} and chunks", make_request(post, *both, body=f"0\r\n\r\n{INNER}")
        words = '{"content": "x"}'
        body = f"{len(words):x}\r\n{words}\r\n0\r\n\r\n"
        yield f"{length} and chunks with a token", make_request(post, TOKEN, *both, body=body)
    lengths = (HOST, TOKEN, JSON, "Content-Length: 2", f"Content-Length: {len(INNER) + 2}")
    yield "two different lengths", make_request(post, *lengths, body="{}" + INNER)
    for length in ("+2", "-1", "0x2", "2,3", "2 3", "\u0662"):
        yield (
            f"length {length!a}",
            make_request(post, HOST, TOKEN, JSON, f"Content-Length: {length}", body="{}").encode(),
        )
    for coding in ("xchunked", "chunked, identity", "identity", "gzip, chunked", "\x0bchunked"):
        headers = (HOST, TOKEN, JSON, f"Transfer-Encoding: {coding}")
        yield f"coding {coding!r}", make_request(post, *headers, body=f"0\r\n\r\n{INNER}")
    for size in ("FFFFFFFFFFFFFFFFFF", "-1", "2;" + "x" * 200_000, "0x2", "2\n"):
        yield (
            f"chunk {size[:9]!r}",
            make_request(post, HOST, TOKEN, JSON, chunked, body=f"{size}\r\n{{}}\r\n0\r\n\r\n"),
        )
    yield "absolute address", make_request("GET http://evil.invalid/v1/sessions", HOST)
    yield (
        "absolute address and host",
        make_request("GET http://127.0.0.1/v1/sessions", "Host: evil.invalid", TOKEN),
    )
    yield "authority", make_request("CONNECT evil.invalid:443", HOST, TOKEN)
    yield "asterisk", make_request("OPTIONS *", HOST)
    yield "a folded host", make_request("GET /v1/sessions", "Host: 127.0.0.1:{port}\r\n .evil.invalid", TOKEN)
    yield "a folded token", make_request("GET /v1/sessions", HOST, "Authorization: Bearer\r\n {token}")
    yield (
        "a token folded by a tab",
        make_request("GET /v1/sessions", HOST, "Authorization:\r\n\tBearer {token}"),
    )
    yield "a folded header beside a token", make_request("GET /v1/sessions", HOST, TOKEN, "X: a\r\n b")
    yield "a header folded by a bare line feed", make_request("GET /v1/sessions", HOST, TOKEN, "X: a\n b")
    yield "a folded header of a WebSocket", make_request(f"GET {EVENTS}", HOST, TOKEN, *WS, "X: a\r\n b")
    yield "a space before the colon", make_request("GET /v1/sessions", "Host : 127.0.0.1:{port}", TOKEN)
    yield "a header without a name", make_request("GET /v1/sessions", HOST, ": x", TOKEN)
    yield "a NUL in a header", make_request("GET /v1/sessions", HOST, TOKEN, "X: a\0b")
    yield (
        "a bare line feed before a token",
        make_request(f"GET /v1/sessions HTTP/1.1\n{HOST}\nX: y", f"X-API-KEY: {WRONG}"),
    )
    yield "HTTP/0.9", "GET /v1/sessions\r\n\r\n"
    yield "HTTP/1.0 without a host", make_request("GET /v1/sessions", TOKEN, version="1.0")
    yield "HTTP/1.0 without a token", make_request("GET /v1/sessions", HOST, version="1.0")
    yield "HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    h2c = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__")
    yield "an upgrade to HTTP/2", make_request("GET /v1/sessions", HOST, *h2c)
    for name in (
        "localhost.evil.invalid",
        "127.0.0.1.nip.example",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "127.000.000.001",
        "0x7f000001",
        "0177.0.0.1",
        "localhost%00.evil.invalid",
        "user@127.0.0.1",
        "127.0.0.1:{port}:80",
        "\u2460\u2461\u2466.0.0.1",
        "localhost.",
        "127.0.0.1.",
        "127.1",
        "2130706433",
        "[0:0:0:0:0:0:0:1]",
        "[::1%25lo]",
        "::1",
        "localhost\t",
    ):
        yield f"host {name!a}", make_request("GET /v1/sessions", f"Host: {name}:{{port}}", TOKEN).encode()
    for path in (
        "/page/%252e%252e/options.py",
        "/page/%c0%ae%c0%ae/options.py",
        "/page/....//options.py",
        "/page/%00",
        "/page/./../../server/options.py",
        "/page/%5c..%5coptions.py",
        "/v1/sessions/%2e%2e/%2e%2e/etc/passwd",
        "/v1/sessions/default/images/..%2f..%2f..%2fetc%2fpasswd",
        "//evil.invalid/%2e%2e",
        "/page/" + "a/" * 5_000,
    ):
        yield f"path {path[:40]}", make_request(f"GET {path}", HOST, TOKEN)
    private = ("Origin: http://evil.invalid", "Access-Control-Request-Private-Network: true")
    asked = ("Access-Control-Request-Method: GET", "Access-Control-Request-Headers: authorization")
    yield "a preflight to a private network", make_request("OPTIONS /v1/sessions", HOST, *private, *asked)
    yield (
        "two origins",
        make_request("GET /v1/sessions", HOST, TOKEN, "Origin: http://127.0.0.1:{port}", "Origin: null"),
    )
    for origin in (
        "http://127.0.0.1.:{port}",
        "http://127.0.0.1:{port}.evil.invalid",
        "http://user@127.0.0.1:{port}",
        "http://127.0.0.1:{port}/",
        "http://127.0.0.1",
        "https://127.0.0.1:{port}",
        "http://[::ffff:127.0.0.1]:{port}",
        "http://127.0.0.1:0{port}",
        "file://",
        "null",
        "",
    ):
        yield f"origin {origin}", make_request("GET /v1/sessions", HOST, TOKEN, f"Origin: {origin}")
    for place in (
        "Authorization: Basic Onh7dG9rZW59",
        "Proxy-Authorization: Bearer {token}",
        "X-Token: {token}",
        "Authorization: {token}",
        "Authorization: Bearer",
        "Authorization: Bearer {token}, Bearer {token}",
        "Authorization: Bearer {token}\0",
        "Sec-WebSocket-Protocol: {token}",
    ):
        yield f"a token as {place}", make_request("GET /v1/sessions", HOST, place)
    for query in ("%74oken={token}", "TOKEN={token}", "x=1&token={token}", ";token={token}", "a={token}"):
        yield f"a token in ?{query}", make_request(f"GET /v1/sessions?{query}", HOST)
    yield "a token in a path", make_request("GET /v1/sessions/{token}", HOST)
    yield "a cookie", make_request("GET /v1/sessions", HOST, "Cookie: token={token}; session=default")
    yield (
        "two tokens, the wrong one first",
        make_request("GET /v1/sessions", HOST, f"Authorization: Bearer {WRONG}", TOKEN),
    )
    yield (
        "two tokens, the wrong one last",
        make_request("GET /v1/sessions", HOST, TOKEN, f"Authorization: Bearer {WRONG}"),
    )
    forwarded = ("X-Forwarded-Host: 127.0.0.1", "X-Forwarded-For: 127.0.0.1", "Forwarded: host=127.0.0.1")
    yield "a proxy that vouches", make_request("GET /v1/sessions", "Host: evil.invalid", TOKEN, *forwarded)
    override = ("X-HTTP-Method-Override: GET", "X-Original-URL: /heartbeat", "X-Rewrite-URL: /heartbeat")
    yield "another method and address", make_request("POST /v1/sessions", HOST, JSON, *override)
    yield (
        "thousands of headers",
        make_request("GET /v1/sessions", HOST, TOKEN, *(f"X{n}: y" for n in range(20_000))),
    )
    packed = gzip.compress(b'{"content": "' + b" " * 50_000_000 + b'"}')
    head = make_request(post, HOST, TOKEN, JSON, "Content-Encoding: gzip", f"Content-Length: {len(packed)}")
    yield "a bomb", head.encode() + packed
    for coding in ("gzip", "deflate, gzip", "br"):
        coded = (HOST, TOKEN, JSON, f"Content-Encoding: {coding}", "Content-Length: 2")
        yield f"a body in {coding}", make_request("POST /v1/sessions", *coded, body="{}")
    deep = json.dumps({"content": []})[:-2] + "[" * 90_000
    yield "deep", make_request(post, HOST, TOKEN, JSON, f"Content-Length: {len(deep)}", body=deep)
    old = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
    yield "an old WebSocket", make_request(f"GET {EVENTS}", HOST, *old, "Sec-WebSocket-Version: 8")
    yield "a WebSocket by POST", make_request(f"POST {EVENTS}", HOST, JSON, *old, "Sec-WebSocket-Version: 13")


def answers_to(running: Running, data: str | bytes, least: int = 1) -> list[int]:
    """The statuses of the answers; fewer than `least` where the connection ended."""
    data = data.encode("latin-1", "replace") if isinstance(data, str) else data
    for name in ("port", "token"):
        data = data.replace(f"{{{name}}}".encode(), str(getattr(running.options, name)).encode())
    found: list[bytes] = []
    answer = b""
    with socket.create_connection(("127.0.0.1", running.options.port), timeout=TIMEOUT) as connection:
        try:
            connection.sendall(data)
            while len(found) < least and (piece := connection.recv(65536)):
                answer += piece
                found = re.findall(rb"HTTP/1\.1 (\d{3})", answer)
        except ConnectionError:
            pass
    assert b"evil.invalid" not in answer
    return [int(status) for status in found]


def test_requests_with_two_meanings_do_nothing(serve: Serve) -> None:
    running = serve(limits=LIMITS)
    with running.http() as client:
        client.get("/v1/sessions/default")
    cases = dict(hostile())
    found = {name: answers_to(running, data) for name, data in cases.items()}
    through = {name: statuses for name, statuses in found.items() if any(status < 400 for status in statuses)}
    assert through == {}
    with running.http() as client:
        assert client.get("/v1/sessions/default").json()["messages"] == []
        assert len(client.get("/v1/sessions").json()["sessions"]) == 1
    assert running.computer.ran == []


def test_a_token_counts_for_its_own_request_only(serve: Serve) -> None:
    """Also where a public request, or one with a token, came before it on the same connection."""
    running = serve(limits=LIMITS)
    allowed, bare = make_request("GET /v1/sessions", HOST, TOKEN), make_request("GET /v1/sessions", HOST)
    assert answers_to(running, allowed + bare, 2) == [200, 401]
    assert answers_to(running, make_request("GET /heartbeat", HOST) + bare, 2) == [200, 401]
    assert answers_to(running, make_request("GET /heartbeat", HOST) + INNER, 2) == [200, 401]
    # What looks like a request in a body is a body.
    inner = INNER.replace("{port}", str(running.options.port))
    headers = (HOST, TOKEN, JSON, f"Content-Length: {len(inner)}")
    assert answers_to(running, make_request("POST /v1/sessions/default/say", *headers, body=inner)) == [400]


def test_a_folded_header_is_refused_wherever_it_comes(serve: Serve) -> None:
    """Also behind another request on the same connection. A body may have lines with spaces before them."""
    running = serve(limits=LIMITS)
    allowed = make_request("GET /v1/sessions", HOST, TOKEN)
    folded = make_request("GET /v1/sessions", HOST, TOKEN, "X: a\r\n b")
    body = '{\n  "title": "x",\n\n\t"y": 1}'
    post = make_request("POST /v1/sessions", HOST, TOKEN, JSON, f"Content-Length: {len(body)}", body=body)
    assert answers_to(running, allowed + folded, 2) == [200, 400]
    assert answers_to(running, post + allowed, 2) == [201, 200]
    assert answers_to(running, post + folded, 2) == [201, 400]


def test_thousands_of_pings_and_an_open_message_hold_nobody_up(serve: Serve) -> None:
    running = serve(limits=LIMITS)
    address = ("127.0.0.1", running.options.port)
    with socket.create_connection(address, timeout=TIMEOUT) as flood:
        flood.sendall(handshake(running, EVENTS))
        assert b" 101 " in flood.recv(1000)
        flood.sendall((b"\x89\x80" + MASK) * 5_000 + (b"\x01\x81" + MASK + b"{"))
        with running.http() as client:
            assert client.get("/v1/sessions").status_code == 200
        # Pieces of one message that never ends: the whole of it is limited.
        try:
            for _ in range(200):
                flood.sendall(b"\x00\xfe\x03\xe8" + MASK + b"x" * 1000)
            flood.settimeout(TIMEOUT)
            while flood.recv(65536):
                pass
        except ConnectionError:
            pass
    with running.http() as client:
        assert client.get("/v1/sessions").status_code == 200


def test_compression_is_never_agreed_on_so_that_nothing_small_becomes_large(serve: Serve) -> None:
    running = serve(limits=LIMITS)
    offer = b"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n"
    address = ("127.0.0.1", running.options.port)
    with socket.create_connection(address, timeout=TIMEOUT) as bomb:
        bomb.sendall(handshake(running, EVENTS)[:-2] + offer)
        answer = bomb.recv(4096)
        assert b" 101 " in answer
        assert b"deflate" not in answer.lower()
        # A frame that says it is compressed all the same.
        bomb.sendall(b"\xc1\x82" + MASK + b"xx")
        ended = b""
        while piece := bomb.recv(65536):
            ended += piece
        # 1002: a protocol error.
        assert b"\x03\xea" in ended
