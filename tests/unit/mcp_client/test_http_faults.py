"""MCP servers over HTTP that answer calls oddly: each call ends with a sentence, and the next one works."""

import contextlib
import gzip
import json
import queue
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from oi_tui.mcp_client.connection import McpCallError
from tests.unit.mcp_client.conftest import Open

#: A host that is not the server's; nothing listens there.
ELSEWHERE = "http://127.0.0.2:9/mcp"
RESULTS = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "odd", "version": "1"},
    },
    # The last page names itself as the next one.
    "tools/list": {"tools": [{"name": "add", "inputSchema": {"type": "object"}}], "nextCursor": "again"},
    "tools/call": {"content": [{"type": "text", "text": "added"}]},
}


class _Server(ThreadingHTTPServer):
    """Both transports; calls are answered with `status`, `headers` and `body`, and well without a status."""

    daemon_threads = True
    status = 0
    #: What a call returns over SSE, as it is written in JSON.
    added = "added"
    headers: dict[str, str]
    body = b""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.headers = {}
        self.lists = 0
        self.events: queue.SimpleQueue[Any] = queue.SimpleQueue()


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        if self.path not in ("/sse", "/events"):
            self.send_error(405)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(b"event: endpoint\ndata: /messages\n\n")
        with contextlib.suppress(OSError):
            while message := self.server.events.get():
                text = json.dumps(message).replace("added", self.server.added)
                self.wfile.write(f"event: message\ndata: {text}\n\n".encode())

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method, number = request["method"], request.get("id")
        if method == "tools/call" and self.server.status:
            self._send(self.server.status, self.server.body, **self.server.headers)
            return
        self.server.lists += method == "tools/list"
        result: dict[str, Any] = {"error": {"code": -32601, "message": "no"}}
        if method in RESULTS:
            result = {"result": RESULTS[method]}
        message = {"jsonrpc": "2.0", "id": number, **result}
        if number is not None and self.path.startswith("/messages"):
            self.server.events.put(message)
        elif number is not None:
            self._send(200, json.dumps(message).encode())
            return
        self._send(202)

    def _send(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content_Type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def odd() -> Iterator[_Server]:
    listening = _Server()
    serving = threading.Thread(target=listening.serve_forever)
    serving.start()
    yield listening
    listening.events.put(None)
    listening.shutdown()
    serving.join()
    listening.server_close()


HTML = {"Content_Type": "text/html"}


@pytest.mark.parametrize(
    ("path", "status", "headers", "named"),
    [
        (
            "sse",
            302,
            {"Location": ELSEWHERE},
            f"it redirects to {ELSEWHERE} (302 Found), and redirects are not followed",
        ),
        (
            "sse",
            307,
            {"Location": ELSEWHERE},
            f"it redirects to {ELSEWHERE} (307 Temporary Redirect)",
        ),
        ("sse", 307, {"Location": "/messages"}, "(307 Temporary Redirect), and redirects are not followed"),
        ("sse", 302, {}, "it refused the request: 302 Found"),
        ("sse", 304, {}, "it refused the request: 304 Not Modified"),
        ("sse", 500, HTML, "it refused the request: 500 Internal Server Error"),
        ("mcp", 403, HTML, "it refused the request: 403 Forbidden"),
        ("mcp", 500, HTML, "it refused the request: 500 Internal Server Error"),
        ("mcp", 200, {}, "what it sent is not valid JSON"),
        ("mcp", 200, {"Content_Encoding": "gzip"}, "it sent a compressed answer (gzip)"),
    ],
)
def test_a_call_that_http_does_not_answer_ends_and_says_why(
    open_workspace: Open, odd: _Server, path: str, status: int, headers: dict[str, str], named: str
) -> None:
    workspace = open_workspace(servers=[f"t = http://127.0.0.1:{odd.server_port}/{path}"])
    (add,) = workspace.mcp.tools()
    call = workspace.mcp.servers.call
    odd.status, odd.headers = status, headers
    odd.body = gzip.compress(b" " * 1_000_000) if headers.get("Content_Encoding") else b""
    with pytest.raises(McpCallError) as failure:
        call(add, {})
    assert named in str(failure.value)
    assert "\n" not in str(failure.value)
    odd.status = 0
    assert call(add, {})["content"][0]["text"] == "added"


OTHER = "it answered another request than the one that it got"


@pytest.mark.parametrize(
    ("status", "body", "named"),
    [
        (200, {"id": 999, "result": RESULTS["tools/call"]}, OTHER),
        (200, {"id": None, "error": {"code": -32600, "message": "No session."}}, "No session."),
        (200, {"method": "notifications/message", "params": {}}, OTHER),
        (200, {"id": "1", "method": "ping"}, OTHER),
        (403, {"detail": "no"}, "it refused the request: 403 Forbidden"),
        (500, {"id": 999, "error": {"code": -32603, "message": "No room."}}, "No room."),
    ],
)
def test_a_call_whose_answer_belongs_to_no_call_ends_and_says_so(
    open_workspace: Open, odd: _Server, status: int, body: dict[str, Any], named: str
) -> None:
    workspace = open_workspace(servers=[f"t = http://127.0.0.1:{odd.server_port}/mcp"])
    (add,) = workspace.mcp.tools()
    call = workspace.mcp.servers.call
    odd.status, odd.body = status, json.dumps({"jsonrpc": "2.0", **body}).encode()
    # A call that nothing answers goes on until somebody stops it.
    stopped = threading.Event()
    bound = threading.Timer(60.0, stopped.set)
    bound.start()
    with pytest.raises(McpCallError) as failure:
        call(add, {}, stopped)
    bound.cancel()
    assert str(failure.value) == named
    odd.status = 0
    assert call(add, {})["content"][0]["text"] == "added"


def test_a_message_is_posted_again_where_its_server_moves_it_within_itself(
    open_workspace: Open, odd: _Server
) -> None:
    workspace = open_workspace(servers=[f"t = http://127.0.0.1:{odd.server_port}/sse"])
    (add,) = workspace.mcp.tools()

    class Moving(_Handler):
        def do_POST(self) -> None:
            if self.path == "/messages":
                self._send(307, Location="/messages/")
            else:
                super().do_POST()

    odd.RequestHandlerClass = Moving
    assert workspace.mcp.servers.call(add, {})["content"][0]["text"] == "added"


def test_half_a_character_in_an_event_is_replaced(open_workspace: Open, odd: _Server) -> None:
    workspace = open_workspace(servers=[f"t = http://127.0.0.1:{odd.server_port}/sse"])
    (add,) = workspace.mcp.tools()
    odd.added = r"added \ud83d"
    assert workspace.mcp.servers.call(add, {})["content"][0]["text"] == "added ?"


@pytest.mark.parametrize("path", ["sse", "events#sse", "mcp"])
def test_a_list_that_names_an_earlier_page_as_the_next_ends(
    open_workspace: Open, odd: _Server, path: str
) -> None:
    workspace = open_workspace(servers=[f"t = http://127.0.0.1:{odd.server_port}/{path}"])
    (add,) = workspace.mcp.tools()
    assert add.name == "add"
    assert odd.lists == 2


class _SessionServer(_Server):
    """A server that forgets its sessions, as one does that was started again."""

    #: How a call of an unknown session is refused.
    refusal: tuple[int, str, bytes]
    session = "first"
    calls = 0

    def __init__(self) -> None:
        super().__init__()
        self.RequestHandlerClass = _SessionHandler


class _SessionHandler(_Handler):
    server: _SessionServer

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        request = json.loads(self.rfile.peek(length)[:length])  # type: ignore[attr-defined]
        if request["method"] == "initialize":
            self.rfile.read(length)
            answer = {"jsonrpc": "2.0", "id": request["id"], "result": RESULTS["initialize"]}
            self._send(200, json.dumps(answer).encode(), Mcp_Session_Id=self.server.session)
        elif self.headers["Mcp-Session-Id"] not in (None, self.server.session):
            self.rfile.read(length)
            status, kind, body = self.server.refusal
            self._send(status, body, Content_Type=kind)
        else:
            self.server.calls += request["method"] == "tools/call"
            super().do_POST()


UNKNOWN = json.dumps(
    {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "Session not found"}}
)
INVALID = UNKNOWN.replace("Session not found", "Bad Request: No valid session ID provided")


@pytest.fixture
def forgetful() -> Iterator[_SessionServer]:
    listening = _SessionServer()
    serving = threading.Thread(target=listening.serve_forever)
    serving.start()
    yield listening
    listening.shutdown()
    serving.join()
    listening.server_close()


@pytest.mark.parametrize(
    "refusal",
    [
        (404, "application/json", UNKNOWN.encode()),
        (404, "text/plain", b"Not Found"),
        (404, "application/json", b""),
        (400, "application/json", INVALID.encode()),
    ],
)
def test_a_server_that_was_started_again_gets_a_new_session_and_each_call_once(
    open_workspace: Open, forgetful: _SessionServer, refusal: tuple[int, str, bytes]
) -> None:
    workspace = open_workspace(servers=[f"t = http://127.0.0.1:{forgetful.server_port}/mcp"])
    (add,) = workspace.mcp.tools()
    call = workspace.mcp.servers.call
    assert call(add, {})["content"][0]["text"] == "added"
    forgetful.session, forgetful.refusal = "second", refusal
    made = [threading.Thread(target=call, args=(add, {})) for _ in range(3)]
    for thread in made:
        thread.start()
    for thread in made:
        thread.join()
    assert call(add, {})["content"][0]["text"] == "added"
    assert forgetful.calls == 5
    assert workspace.mcp.servers.status[0].state == "ready"


def test_a_call_of_a_server_that_knows_no_session_ends_and_says_so(
    open_workspace: Open, forgetful: _SessionServer
) -> None:
    workspace = open_workspace(servers=[f"t = http://127.0.0.1:{forgetful.server_port}/mcp"])
    (add,) = workspace.mcp.tools()
    forgetful.status, forgetful.body = 404, UNKNOWN.encode()
    with pytest.raises(McpCallError, match="it no longer knows this session"):
        workspace.mcp.servers.call(add, {})
    forgetful.status = 0
    assert workspace.mcp.servers.call(add, {})["content"][0]["text"] == "added"


def test_a_changed_tool_is_not_called_in_a_new_session(
    open_workspace: Open, forgetful: _SessionServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = open_workspace(servers=[f"t = http://127.0.0.1:{forgetful.server_port}/mcp"])
    (add,) = workspace.mcp.tools()
    forgetful.session, forgetful.refusal = "second", (404, "application/json", UNKNOWN.encode())
    changed = {"name": "add", "description": "Now it sends.", "inputSchema": {"type": "object"}}
    monkeypatch.setitem(RESULTS, "tools/list", {"tools": [changed]})
    with pytest.raises(McpCallError, match="its tool add has changed, or is gone"):
        workspace.mcp.servers.call(add, {})
    assert forgetful.calls == 0


async def test_an_event_ends_where_two_pieces_share_the_empty_line(monkeypatch: pytest.MonkeyPatch) -> None:
    httpx2 = pytest.importorskip("httpx2", reason="mcp is not installed here")
    answers = pytest.importorskip("oi_tui.mcp_client.child.answers", reason="mcp is not installed here")
    monkeypatch.setattr(answers, "LONGEST_LINE", 100)

    async def send(pieces: list[bytes]) -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    for pieces in ([b"data: x\n", b"\n"], [b"data: x\r\n\r", b"\n"], [b"data: x\r", b"\n", b"\r", b"\n"]):
        received = [piece async for piece in answers._BoundedEvents(send(pieces * 50))]
        assert received == pieces * 50
    with pytest.raises(httpx2.ReadError, match="it sent a message of more than"):
        [piece async for piece in answers._BoundedEvents(send([b"data: x\n"] * 50))]
