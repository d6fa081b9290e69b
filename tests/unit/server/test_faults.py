"""Clients that break off, never read, send garbage or come by the hundred."""

import base64
import json
import os
import socket
import threading
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")
pytest.importorskip("uvicorn", reason="uvicorn (extra server) is not installed here")

from oi_tui.engine.events import RunReported
from oi_tui.engine.llm.base import Text
from oi_tui.messages import ValueEnded
from oi_tui.server.event_log import EventLog
from oi_tui.server.options import ServerLimits
from tests import processes
from tests.fakes import call
from tests.unit.server.conftest import Serve
from tests.unit.server.running import Running

EVENTS = "/v1/sessions/default/events"
HELLO = {"type": "message", "content": "Hello"}
COMPLETE = {"role": "server", "type": "status", "content": "complete"}
MASK = b"\x00\x00\x00\x00"
#: Pieces of WebSocket frames: half of a header, half of a text, a frame without a mask, an unknown kind, a
#: length of 2^62 bytes, text that is not UTF-8, half of a fragmented message, a ping that is too long.
BROKEN = (
    b"\x81",
    b"\x81\x85" + MASK + b"ab",
    b"\x81\x02hi",
    b"\x83\x80" + MASK,
    b"\x81\xff" + b"\x40" + b"\x00" * 7 + MASK,
    b"\x81\x82" + MASK + b"\xff\xfe",
    b"\x01\x81" + MASK + b"{",
    b"\x89\xfe\x01\x00" + MASK + b"x" * 256,
    os.urandom(500),
)


def handshake(running: Running, path: str) -> bytes:
    key = base64.b64encode(b"0123456789abcdef").decode()
    lines = [
        f"GET {path} HTTP/1.1",
        f"Host: 127.0.0.1:{running.options.port}",
        f"Authorization: Bearer {running.options.token}",
        *("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"),
        f"Sec-WebSocket-Key: {key}",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def dropped(running: Running, data: bytes) -> None:
    """Connect, send, and break off hard."""
    with socket.create_connection(("127.0.0.1", running.options.port), timeout=20) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        connection.sendall(data)


def still_works(running: Running) -> None:
    with running.socket() as client:
        client.say(HELLO)
        client.until(**COMPLETE)


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize("path", ["/", EVENTS])
def test_broken_frames_end_their_own_connection_only(serve: Serve, path: str) -> None:
    running = serve()
    for frame in BROKEN:
        dropped(running, handshake(running, path) + frame)
    still_works(running)


def test_a_client_may_break_off_at_every_step(serve: Serve) -> None:
    running = serve()
    whole = handshake(running, "/") + b"\x81\x80" + MASK
    for end in range(0, len(whole), 7):
        dropped(running, whole[:end])
    still_works(running)


def test_a_jupyter_client_may_break_off_at_every_step_and_the_kernel_goes_on(serve: Serve) -> None:
    running = serve(auto_run=True)
    with running.http() as client:
        kernel = client.post("/api/kernels", json={"name": "python3"}).json()
    path = f"/api/kernels/{kernel['id']}/channels"
    cell = {"header": {"msg_id": "1", "msg_type": "execute_request"}, "content": {"code": "flood"}}
    text = json.dumps({**cell, "channel": "shell"}).encode()
    frame = b"\x81" + bytes([0x80 | 126]) + len(text).to_bytes(2, "big") + MASK + text
    for end in (*range(0, len(frame), 11), len(frame)):
        dropped(running, handshake(running, path) + frame[:end])
    for broken in BROKEN:
        dropped(running, handshake(running, path) + broken)
    clients = running.app.state.context.kernels[kernel["id"]].clients
    assert processes.wait_until(lambda: not clients, 20)
    with running.socket(path) as client:
        client.send({**cell, "content": {"code": "print(1)"}})
        assert client.until(msg_type="execute_reply")[-1]["content"]["status"] == "ok"


def test_a_jupyter_client_that_leaves_after_its_last_message_is_no_failure(
    serve: Serve, caplog: pytest.LogCaptureFixture, recwarn: pytest.WarningsRecorder
) -> None:
    """Not even where that message is none, or asks for a cell that then has nobody to report to."""
    running = serve(auto_run=True)
    with running.http() as client:
        kernel = client.post("/api/kernels", json={"name": "python3"}).json()["id"]
    cell = {"header": {"msg_id": "1", "msg_type": "execute_request"}, "content": {"code": "print(1)"}}
    refused = {"header": {"msg_id": "1", "msg_type": "comm_open"}, "content": {"comm_id": ["x"]}}
    for frames in ([cell, cell, "["], [{**refused, "header": cell["header"]}, cell, "["], [cell, refused]):
        for _ in range(20):
            with running.socket(f"/api/kernels/{kernel}/channels") as client:
                for frame in frames:
                    client.send(frame)
    clients = running.app.state.context.kernels[kernel].clients
    assert processes.wait_until(lambda: not clients, 20)
    still_works(running)
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []
    assert [str(warning.message) for warning in recwarn if "never awaited" in str(warning.message)] == []


def test_a_thousand_connects_leave_nothing_behind(serve: Serve) -> None:
    if not Path("/proc/self/fd").exists():
        pytest.skip("/proc is not here: open files cannot be counted")
    running = serve()
    still_works(running)
    readers = running.app.state.context.sessions.all[0].log
    before = open_files(), threading.active_count()
    for number in range(1000):
        dropped(running, handshake(running, EVENTS) if number % 2 else b"")
    assert processes.wait_until(lambda: readers.readers == 0, 20)
    # Threads of asyncio's pool may be added up to its size, but not by the number of connects.
    assert processes.wait_until(lambda: open_files() <= before[0] + 5, 20)
    assert threading.active_count() <= before[1] + 10
    still_works(running)


@pytest.mark.parametrize("opening", ["sse", "websocket", "page"])
def test_a_client_that_never_reads_is_let_go(serve: Serve, opening: str) -> None:
    """Also one without a token, which asks for the page again and again."""
    running = serve([Text("word " * 20_000) for _ in range(4)], limits=ServerLimits(send_seconds=0.3))
    # The connections inherit it: little is kept for a client that does not read.
    running.listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    lines = (f"GET {EVENTS} HTTP/1.1", f"Host: 127.0.0.1:{running.options.port}", "X-API-KEY: {token}")
    requests = {
        "sse": "\r\n".join((*lines, "", "")).replace("{token}", running.options.token).encode(),
        "websocket": handshake(running, EVENTS),
        "page": "\r\n".join(("GET /page/page.js HTTP/1.1", lines[1], "", "")).encode() * 400,
    }
    connections = running.server.server_state.connections
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", running.options.port))
        deaf.sendall(requests[opening])
        assert processes.wait_until(lambda: len(connections) == 1, 20)
        if opening != "page":
            readers = running.app.state.context.sessions
            assert processes.wait_until(lambda: readers.all and readers.all[0].log.readers, 20)
            with running.http() as client:
                client.post("/v1/sessions/default/say", json={"content": "Hello"})
        assert processes.wait_until(lambda: not connections, 20)
    for session in running.app.state.context.sessions.all:
        assert processes.wait_until(lambda log=session.log: log.readers == 0, 20)  # type: ignore[misc]


def test_a_stream_ends_where_a_question_stays_open_so_that_nobody_passes_for_a_reader(serve: Serve) -> None:
    running = serve([call("print(1)")], limits=ServerLimits(unwatched_seconds=0.2))
    with running.http() as client, client.stream("GET", EVENTS) as stream:
        lines = stream.iter_lines()
        next(lines)
        client.post("/v1/sessions/default/say", json={"content": "Hello"})
        assert any("question.asked" in line for line in lines)
        assert not any("question.answered" in line for line in lines)
    session = running.app.state.context.sessions.all[0]
    assert session.wait(20)
    assert [message.state for message in session.messages if message.type == "code"] == ["skipped"]


def test_a_model_that_says_much_while_its_client_is_gone_is_kept_within_bounds(serve: Serve) -> None:
    running = serve([Text("word " * 20) for _ in range(2000)], limits=ServerLimits(history_bytes=50_000))
    with running.socket(EVENTS) as client:
        client.send({"do": "say", "content": "Hello"})
        client.until(event="message.grew")
    session = running.app.state.context.sessions.all[0]
    assert session.wait(30)
    assert session.log.kept_bytes <= 50_000
    assert session.messages[-1].content == "word " * 40_000


def test_the_forms_of_values_count_in_what_is_kept_of_events() -> None:
    log = EventLog(50_000)
    for _ in range(100):
        log.append(RunReported("a", ValueEnded({"text/markdown": "word " * 1000})))
    assert log.kept_bytes <= 50_000
    assert log.last - log.first < 10
