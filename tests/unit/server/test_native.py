"""Today's protocol: events as JSON over WebSocket and server-sent events."""

import base64
import hashlib
import itertools
import json
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")
pytest.importorskip("uvicorn", reason="uvicorn (extra server) is not installed here")

from oi_tui import paths
from oi_tui.attach.address import parse
from oi_tui.attach.connection import SessionConnection
from oi_tui.engine.llm.base import Text
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message
from oi_tui.server import hosted_session
from oi_tui.server.options import ServerLimits, ServerOptions
from oi_tui.server.serve import add_port, listen
from tests.fakes import call
from tests.unit.server.conftest import Serve
from tests.unit.server.running import TIMEOUT, Running, Socket

EVENTS = "/v1/sessions/default/events"
ACTIONS = "/v1/sessions/default"


def texts(records: list[Any]) -> str:
    return "".join(record["text"] for record in records if record["event"] == "message.grew")


def answer(client: Socket, question: dict[str, Any], decision: str, **more: Any) -> None:
    given = {"question": question["id"], "hash": question["hash"], "decision": decision, **more}
    client.send({"do": "answer", **given})


def wait_for_question(client: Socket) -> dict[str, Any]:
    question: dict[str, Any] = client.until(event="question.asked")[-1]["question"]
    return question


def assert_no_gap(records: Sequence[dict[str, Any]]) -> None:
    """Check that each record has the number after that of the one before."""
    first = records[0]["number"]
    assert [record["number"] for record in records] == list(range(first, first + len(records)))


def test_a_turn_is_reported_as_numbered_events_after_the_state(serve: Serve) -> None:
    with serve([Text("Hi.")]).socket(EVENTS) as watcher:
        state = watcher.receive()
        assert (state["event"], state["messages"], state["busy"]) == ("state", [], False)
        watcher.send({"do": "say", "content": "Hello"})
        records = watcher.until(event="turn.ended")
    assert_no_gap(records)
    assert [record["event"] for record in records][:2] == ["turn.started", "message.recorded"]
    assert records[-1]["outcome"] == "done"


def test_a_question_is_an_object_with_the_exact_code_and_its_hash(serve: Serve) -> None:
    running = serve([call("print('ä')\n")])
    with running.socket(EVENTS) as watcher:
        watcher.send({"do": "say", "content": "Hello"})
        question = wait_for_question(watcher)
        assert question["code"] == "print('ä')\n"
        assert question["hash"] == hashlib.sha256("print('ä')\n".encode()).hexdigest()
        assert question["language"] == "python"
        with running.http() as client:
            assert client.get(ACTIONS).json()["question"] == question
        answer(watcher, question, "run")
        watcher.until(event="turn.ended")
    assert running.computer.ran == [("python", "print('ä')\n")]


def test_code_can_be_edited_and_rejected_with_a_reason(serve: Serve) -> None:
    running = serve([call("print(1)")], [call("print(2)")], [Text("As you like.")])
    with running.socket(EVENTS) as watcher:
        watcher.send({"do": "say", "content": "Hello"})
        answer(watcher, wait_for_question(watcher), "edit", code="print(3)")
        answer(watcher, wait_for_question(watcher), "reject", reason="Not this one.")
        records = watcher.until(event="turn.ended")
    assert running.computer.ran == [("python", "print(3)")]
    codes = [r["message"] for r in records if r.get("message", {}).get("type") == "code"]
    assert (codes[-1]["state"], codes[-1]["reason"]) == ("rejected", "Not this one.")
    assert "Not this one." in json.dumps(running.llm.requests[-1].messages, default=str)


def test_a_program_gets_its_input(serve: Serve) -> None:
    running = serve([call("ask")], auto_run=True)
    with running.socket(EVENTS) as watcher:
        watcher.send({"do": "say", "content": "Hello"})
        request = watcher.until(event="run.reported", report="input.requested")[-1]
        assert (request["prompt"], request["masked"]) == ("What is your name? ", False)
        watcher.send({"do": "input", "text": "Ada"})
        watcher.until(event="turn.ended")
        watcher.send({"do": "input", "text": "late"})
        assert watcher.until(event="error")[-1]["message"] == "No program is waiting for input."
    assert running.computer.typed == ["Ada\n"]


def test_an_image_is_named_by_its_address(serve: Serve) -> None:
    running = serve([call("image")], auto_run=True)
    with running.socket(EVENTS) as watcher, running.http() as client:
        watcher.send({"do": "say", "content": "Hello"})
        records = watcher.until(event="turn.ended")
        image = next(r["message"] for r in records if r.get("message", {}).get("type") == "image")
        assert image["content"] == ""
        assert client.get(image["url"]).content == base64.b64decode("aGk=")
        assert client.get(image["url"]).headers["content-type"] == "image/png"
        assert client.get(image["url"] + "x").status_code == 404


def test_a_client_that_comes_back_misses_nothing_and_gets_nothing_twice(serve: Serve) -> None:
    running = serve([Text(f"{number} ") for number in range(200)])
    seen: list[Any] = []
    with running.socket(EVENTS) as watcher:
        assert watcher.receive()["event"] == "state"
        watcher.send({"do": "say", "content": "Hello"})
        seen += [watcher.receive() for _ in range(20)]
    while seen[-1]["event"] != "turn.ended":
        with running.socket(f"{EVENTS}?after={seen[-1]['number']}") as watcher:
            for _ in range(30):
                seen.append(watcher.receive())
                if seen[-1]["event"] == "turn.ended":
                    break
    assert_no_gap(seen)
    assert texts(seen) == "".join(f"{number} " for number in range(200))


def test_whoever_is_too_late_for_the_events_gets_the_state(serve: Serve) -> None:
    running = serve([call("flood")], auto_run=True, limits=ServerLimits(history_bytes=20_000))
    with running.socket(EVENTS) as watcher, running.http() as client:
        watcher.send({"do": "say", "content": "Hello"})
        watcher.until(event="turn.ended")
        with running.socket(f"{EVENTS}?after=1") as late:
            state = late.receive()
        whole = client.get(ACTIONS).json()
    assert state == whole
    assert state["number"] > 1


def test_a_number_of_an_earlier_server_gets_the_state(serve: Serve) -> None:
    with serve([Text("Hi.")]).socket(EVENTS) as watcher:
        watcher.send({"do": "say", "content": "Hello"})
        last = watcher.until(event="turn.ended")[-1]["number"]
    again = serve([Text("Hello."), *[Text(f"{number} ") for number in range(20)]])
    with again.socket(EVENTS) as watcher:
        watcher.send({"do": "say", "content": "Another conversation"})
        watcher.until(event="turn.ended")
    with again.socket(f"{EVENTS}?after={last}") as watcher:
        assert watcher.receive()["event"] == "state"


def test_the_state_has_a_message_that_is_being_written(serve: Serve) -> None:
    hang = threading.Event()
    running = serve([Text("So far "), hang])
    with running.socket(EVENTS) as watcher, running.http() as client:
        watcher.send({"do": "say", "content": "Hello"})
        assert hang.wait(20)
        states = (client.get(ACTIONS).json() for _ in itertools.count())
        state = next(state for state in states if len(state["messages"]) == 2)
        assert state["messages"][-1]["content"] == "So far "
        assert state["busy"]
        watcher.send({"do": "stop"})
        assert watcher.until(event="turn.ended")[-1]["outcome"] == "interrupted"


def lines(response: httpx.Response) -> Iterator[Any]:
    for line in response.iter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def test_server_sent_events_are_the_same_and_resume(serve: Serve) -> None:
    running = serve([Text("Hi.")])
    with running.http() as client:
        client.post(f"{ACTIONS}/say", json={"content": "Hello"})
        with client.stream("GET", EVENTS, headers={"Last-Event-ID": "0"}) as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            records = []
            for record in lines(response):
                records.append(record)
                if record["event"] == "turn.ended":
                    break
        assert_no_gap(records)
        with client.stream("GET", EVENTS, headers={"Last-Event-ID": str(records[2]["number"])}) as response:
            assert next(lines(response)) == records[3]


def test_code_of_another_program_is_asked_for_too(serve: Serve) -> None:
    running = serve()
    with running.socket(EVENTS) as watcher:
        watcher.send({"do": "propose", "language": "python", "code": "print(1)"})
        question = wait_for_question(watcher)
        assert running.computer.ran == []
        answer(watcher, question, "run")
        watcher.until(event="turn.ended")
    assert running.computer.ran == [("python", "print(1)")]
    assert running.llm.requests == []


def test_a_busy_session_says_so(serve: Serve) -> None:
    running = serve([call("print(1)")])
    with running.socket(EVENTS) as watcher, running.http() as client:
        watcher.send({"do": "say", "content": "Hello"})
        wait_for_question(watcher)
        response = client.post(f"{ACTIONS}/say", json={"content": "More"})
        assert response.status_code == 409
        assert "busy" in response.json()["error"]["message"]


def test_sessions_are_made_listed_and_deleted(serve: Serve) -> None:
    with serve([Text("Hi.")]).http() as client:
        made = client.post("/v1/sessions", json={}).json()["id"]
        assert [session["id"] for session in client.get("/v1/sessions").json()["sessions"]] == [made]
        assert client.delete(f"/v1/sessions/{made}").status_code == 204
        assert client.get(f"/v1/sessions/{made}").status_code == 404


def test_whoever_watches_a_session_that_is_deleted_is_told_so(serve: Serve) -> None:
    running = serve()
    with running.http() as client, running.http() as watcher:
        place = f"/v1/sessions/{client.post('/v1/sessions', json={}).json()['id']}"
        with (
            running.socket(f"{place}/events") as socket,
            watcher.stream("GET", f"{place}/events") as response,
        ):
            records = lines(response)
            assert socket.receive()["event"] == next(records)["event"] == "state"
            assert client.delete(place).status_code == 204
            assert socket.receive()["event"] == "session.ended"
            with pytest.raises(ConnectionClosed):
                socket.receive()
            assert (socket.connection.close_code, socket.connection.close_reason) == (
                4410,
                "The session was ended.",
            )
            assert [record["message"] for record in records] == ["The session was ended."]


def test_clients_of_the_original_and_other_terminals_are_told_that_their_session_was_deleted(
    serve: Serve,
) -> None:
    running = serve()
    with running.http() as client:
        name = client.post("/v1/sessions", json={}).json()["id"]
        rung = threading.Semaphore(0)
        terminal = SessionConnection(
            parse(f"{running.address}#token={running.options.token}"), name, rung.release
        )
        with running.socket(f"/?session={name}") as socket, closing(terminal):
            socket.send({"auth": running.options.token})
            assert socket.receive() == {"auth": True}
            assert rung.acquire(timeout=TIMEOUT)
            assert client.delete(f"/v1/sessions/{name}").status_code == 204
            assert socket.receive()["content"] == "The session was ended."
            with pytest.raises(ConnectionClosed, match="4410"):
                socket.receive()
            records: list[dict[str, Any]] = []
            while not records or records[-1]["event"] != "connection.ended":
                assert rung.acquire(timeout=TIMEOUT)
                records += terminal.pop_records()
            assert records[-1]["message"] == "The session has ended."


def test_a_session_whose_turn_does_not_stop_still_ends_for_those_who_watch(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosted_session, "_CLOSING", 0.05)
    running = serve(auto_run=True)
    with running.http() as client:
        place = f"/v1/sessions/{client.post('/v1/sessions', json={}).json()['id']}"
        with running.socket(f"{place}/events") as socket:
            socket.receive()
            client.post(f"{place}/propose", json={"language": "python", "code": "stubborn"})
            assert running.computer.running.wait(TIMEOUT)
            assert client.delete(place).status_code == 204
            *_, turn, session = socket.until(event="session.ended")
            assert (turn["event"], turn["reason"]) == ("turn.ended", session["message"])


def test_a_unix_socket_is_for_its_owner_and_needs_the_token(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "s"
    running = serve(socket=path)
    assert path.stat().st_mode & 0o777 == 0o600
    transport = httpx.HTTPTransport(uds=str(path))
    with httpx.Client(transport=transport, base_url="http://localhost") as client:
        assert client.get("/v1/sessions").status_code == 401
        assert client.get("/v1/sessions", headers=running.headers).status_code == 200


def test_a_port_that_is_taken_is_reported(serve: Serve) -> None:
    from oi_tui.server.options import OptionError

    running = serve()
    with pytest.raises(OptionError, match="choose another --port"):
        listen(running.options)


def test_port_0_becomes_the_port_that_was_given() -> None:
    options = ServerOptions(port=0)
    with listen(options) as listening:
        assert add_port(options, listening).port == listening.getsockname()[1]


def test_the_state_has_both_ends_of_long_output_while_it_is_printed(serve: Serve) -> None:
    running = serve([call("flood and hang")], auto_run=True)
    with running.http() as client, running.socket(EVENTS) as watcher:
        watcher.send({"do": "say", "content": "Hello"})
        assert running.computer.running.wait(TIMEOUT)
        while "line 299" not in (output := client.get(ACTIONS).json()["messages"][-1]["content"]):
            pass
        assert output.startswith("line 0 ")
        assert len(output) < 101_000
        assert "lines not shown" in output
        watcher.send({"do": "stop"})
        watcher.until(event="turn.ended")


def slow_reader(running: Running) -> socket.socket:
    """A WebSocket whose client does not read."""
    key = base64.b64encode(b"0123456789abcdef").decode()
    lines = [
        f"GET {EVENTS}?after=0 HTTP/1.1",
        f"Host: 127.0.0.1:{running.options.port}",
        f"Authorization: Bearer {running.options.token}",
        *("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"),
        f"Sec-WebSocket-Key: {key}",
    ]
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(20)
    connection.connect(("127.0.0.1", running.options.port))
    connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
    return connection


@pytest.mark.slow
def test_two_hundred_slow_readers_hold_nobody_up_and_lose_nothing(serve: Serve) -> None:
    limits = ServerLimits(history_bytes=100_000, connections=1000)
    running = serve([call("flood")], [Text("Done.")], auto_run=True, limits=limits)
    with running.http() as client, running.socket(EVENTS) as quick, ExitStack() as stack:
        assert quick.receive()["event"] == "state"
        slow = [stack.enter_context(slow_reader(running)) for _ in range(200)]
        session = running.app.state.context.sessions.all[0]
        while session.log.readers < 201:
            client.get("/heartbeat")
        quick.send({"do": "say", "content": "Hello"})
        # A state comes instead of events where the server was quicker than this reader.
        while (record := quick.receive())["event"] != "turn.ended" and record.get("busy") is not False:
            pass
        last = client.get(ACTIONS).json()["number"]
        # What is kept for all of them together does not grow with their number.
        assert session.log.kept_bytes <= limits.history_bytes
        # Each of them still comes to the same end, by events or by the state.
        for reader in slow[:10]:
            data = b""
            while f'"number": {last},'.encode() not in data:
                data = data[-100_000:] + reader.recv(100_000)


def test_saved_conversations_are_listed_searched_and_opened(serve: Serve) -> None:
    running = serve([call("print(1)")], [Text("Printed.")], [Text("Welcome back.")], auto_run=True)
    with running.http() as client:
        with running.socket(EVENTS) as socket:
            socket.send({"do": "say", "content": "Count the zebras"})
            socket.until(event="turn.ended")
        (saved,) = client.get("/v1/conversations").json()["conversations"]
        assert (saved["title"], saved["session"]) == ("Count the zebras", "default")
        client.delete("/v1/sessions/default")
        for words, found in (("ZEBRAS count", 1), ("printed", 1), ("zebras lions", 0), ("\N{ZEBRA FACE}", 0)):
            listed = client.get("/v1/conversations", params={"search": words}).json()["conversations"]
            assert [item["session"] for item in listed] == [None] * found, words
        opened = client.post("/v1/sessions", json={"conversation": saved["id"]}).json()
        assert opened["messages"][0]["content"] == "Count the zebras"
        assert client.post("/v1/sessions", json={"conversation": saved["id"]}).json()["id"] == opened["id"]
        with running.socket(f"/v1/sessions/{opened['id']}/events") as socket:
            socket.send({"do": "say", "content": "Go on"})
            events = socket.until(event="turn.ended")
        # Once, before the first turn: the variables are gone.
        notices = [event["text"] for event in events if event["event"] == "notice"]
        assert "variables are gone" in notices[0]
        before = len(client.get("/v1/sessions").json()["sessions"])
        for wrong, status in (("0123456789abcdef", 404), ("../../etc/passwd", 404), (5, 400), (["x"], 400)):
            assert client.post("/v1/sessions", json={"conversation": wrong}).status_code == status, wrong
        assert len(client.get("/v1/sessions").json()["sessions"]) == before


def test_a_saved_conversation_that_another_window_has_open_is_opened_as_a_copy_and_says_so(
    serve: Serve,
) -> None:
    window = Store(paths.conversations()).create(cwd="/", model="m")
    window.put(Message(role="user", type="message", content="Count the zebras"))
    running = serve([Text("Counted.")])
    with running.http() as client:
        opened = client.post("/v1/sessions", json={"conversation": window.id}).json()
        with running.socket(f"/v1/sessions/{opened['id']}/events") as socket:
            socket.send({"do": "say", "content": "Go on"})
            events = socket.until(event="turn.ended")
    notices = [event["text"] for event in events if event["event"] == "notice"]
    assert notices == ["This conversation is open in another window; you are in a copy of it."]
    window.close()
    store = Store(paths.conversations())
    assert [message.content for message in store.read(window.id)] == ["Count the zebras"]
    assert len(list(store.list_files())) == 2
