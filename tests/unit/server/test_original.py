"""Open Interpreter's own server protocol."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")
pytest.importorskip("uvicorn", reason="uvicorn (extra server) is not installed here")

import websockets

from oi_tui.engine.llm.base import ErrorInfo, Text
from oi_tui.server import original
from tests.fakes import call
from tests.unit.server.conftest import Serve
from tests.unit.server.running import Socket

COMPLETE = {"role": "server", "type": "status", "content": "complete"}
HELLO = {"type": "message", "content": "Hello"}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
GO = {"role": "user", "type": "command", "content": "go"}


def content(chunks: list[Any], **values: Any) -> str:
    """The joined content of the chunks with these values."""
    fits = (c for c in chunks if all(c.get(name) == value for name, value in values.items()))
    return "".join(str(chunk.get("content") or "") for chunk in fits)


def test_a_message_gets_its_answer_between_flags(serve: Serve) -> None:
    with serve([Text("Hi "), Text("there.")]).socket() as socket:
        socket.say(HELLO)
        chunks = socket.until(**COMPLETE)
    assert chunks[0] == {"role": "assistant", "type": "message", "start": True}
    assert content(chunks, type="message") == "Hi there."
    assert {"role": "assistant", "type": "message", "end": True} in chunks


def test_code_waits_for_go_and_runs_as_it_was_shown(serve: Serve) -> None:
    running = serve([call("print(1)")], [Text("Done.")])
    with running.socket() as socket:
        socket.say(HELLO)
        chunks = socket.until(**COMPLETE)
        assert content(chunks, type="code") == "print(1)"
        assert [chunk["content"] for chunk in chunks if chunk["type"] == "review"] == ["<SAFE>"]
        assert running.computer.ran == []
        socket.send(GO)
        chunks = socket.until(**COMPLETE)
    assert running.computer.ran == [("python", "print(1)")]
    assert content(chunks, format="output") == "out of print(1)"
    assert content(chunks, type="message") == "Done."


def test_a_command_may_stand_between_flags(serve: Serve) -> None:
    running = serve([call("print(1)")])
    with running.socket() as socket:
        socket.say(HELLO)
        socket.until(**COMPLETE)
        socket.say({"type": "command", "content": "go"})
        socket.until(**COMPLETE)
    assert running.computer.ran == [("python", "print(1)")]


def test_go_without_a_question_runs_nothing(serve: Serve) -> None:
    running = serve([Text("Hi.")])
    with running.socket() as socket:
        socket.send(GO)
        assert socket.receive() == {
            "role": "server",
            "type": "error",
            "content": "There is no code to run.",
        }
    assert running.computer.ran == []


def test_code_of_the_client_is_no_code_of_the_model(serve: Serve) -> None:
    running = serve()
    with running.socket() as socket:
        socket.send({"role": "assistant", "type": "code", "format": "python", "start": True})
        assert socket.receive()["type"] == "error"
        socket.say({"type": "code", "format": "python", "content": "evil()"})
        assert socket.until(type="error")
        socket.send(GO)
        assert socket.until(type="error")
    assert running.computer.ran == []


def test_another_message_rejects_code_that_waits_and_is_answered_alone(serve: Serve) -> None:
    running = serve([call("print(1)")], [Text("Something else.")])
    with running.socket() as socket:
        socket.say(HELLO)
        socket.until(**COMPLETE)
        socket.say({"type": "message", "content": "No, something else"})
        chunks = socket.until(**COMPLETE)
    assert content(chunks, type="message") == "Something else."
    assert running.computer.ran == []


@pytest.mark.parametrize(
    "sent",
    [
        [{"type": "message", "content": "Hello", "start": True, "end": True}],
        [{"start": True}, {"type": "message", "content": "Hello", "end": True}],
    ],
)
def test_a_chunk_may_have_its_flags_and_its_content_at_once(serve: Serve, sent: list[dict[str, Any]]) -> None:
    running = serve([Text("Hi.")])
    with running.socket() as socket:
        for chunk in sent:
            socket.send({"role": "user", **chunk})
        socket.until(**COMPLETE)
    assert running.llm.requests[0].messages[-1]["content"] == "Hello"


def test_stop_ends_a_run(serve: Serve) -> None:
    running = serve([call("hang")], auto_run=True)
    with running.socket() as socket:
        socket.say(HELLO)
        assert running.computer.running.wait(20)
        socket.send({"role": "user", "type": "command", "content": "stop"})
        socket.until(**COMPLETE)
    assert running.computer.interrupted.is_set()


def test_parts_of_a_message_reach_the_model(serve: Serve) -> None:
    running = serve([Text("I see.")])
    with running.socket() as socket:
        socket.say(
            {"type": "message", "content": "Look "},
            {"type": "message", "content": "at this:"},
            {"type": "image", "format": "base64.png", "content": PNG},
            {"type": "file", "content": "/tmp/notes.txt"},
            {"type": "audio", "format": "wav", "content": "/tmp/a.wav"},
        )
        socket.until(**COMPLETE)
    sent = json.dumps(running.llm.requests[0].messages, default=str)
    for part in ("Look at this:", "/tmp/notes.txt", "/tmp/a.wav"):
        assert part in sent


def test_an_image_that_cannot_be_read_never_gets_into_the_conversation(serve: Serve) -> None:
    running = serve([Text("I see nothing.")])
    with running.socket() as socket:
        for broken in (PNG[:60], "%%%", "aGk=", ""):
            socket.say({"type": "image", "format": "base64.png", "content": broken})
            assert socket.receive()["content"].startswith("An image must be PNG, JPEG")
        socket.say(HELLO)
        socket.until(**COMPLETE)
    assert "image" not in json.dumps(running.llm.requests[0].messages, default=str)


def test_a_failed_request_is_an_error_and_complete(serve: Serve) -> None:
    fault = ErrorInfo("auth", "The key is wrong.")
    with serve([fault]).socket() as socket:
        socket.say(HELLO)
        chunks = socket.until(**COMPLETE)
    assert content(chunks, type="error").startswith("The key is wrong.")


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("{", "This is not JSON."),
        ("[" * 50_000, "This is not JSON."),
        ("[]", "A message must be a JSON object."),
        ('{"role": "user", "content": "x"}', 'Send {"role": "user", "start": true} first.'),
        ('{"role": "user", "end": true}', "The message is empty."),
        ('{"role": "user"}', "A chunk needs start, content or end."),
        ('{"role": "user", "type": "command", "content": "auto_run"}', 'The command must be "go" or "stop".'),
        ('{"role": "user", "type": "input", "content": "x"}', "No program is waiting for input."),
        (b"\x00\x01", "This is not JSON."),
        (b"\xff\xfe", "This is not JSON."),
        (b'{"role": "user", "end": true}', "The message is empty."),
        (r'{"auth": "\ud800"}', "The JSON has an escape that is not a character: half of a pair."),
    ],
)
def test_what_cannot_be_understood_is_answered_with_what_to_send(
    serve: Serve, sent: str | bytes, shown: str
) -> None:
    with serve().socket() as socket:
        socket.connection.send(sent)
        assert socket.receive()["content"] == shown


def test_the_auth_message_is_answered(serve: Serve) -> None:
    running = serve()
    with running.socket() as socket:
        socket.send({"auth": running.options.token})
        assert socket.receive() == {"auth": True}
        socket.send({"auth": "wrong"})
        assert socket.receive() == {"auth": False}


def test_each_chunk_waits_for_its_acknowledgement(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(original, "_ACKNOWLEDGE_SECONDS", 0.05)
    with serve([Text("Hi.")], acknowledge=True).socket() as socket:
        socket.say(HELLO)
        first = socket.receive()
        assert socket.receive() == first, "what is not acknowledged is sent again"
        seen = [first]
        while {name: seen[-1].get(name) for name in COMPLETE} != COMPLETE:
            socket.send({"ack": seen[-1]["id"]})
            while (record := socket.receive())["id"] == seen[-1]["id"]:
                pass
            seen.append(record)
    assert content(seen, type="message") == "Hi."


def acknowledged(socket: Socket, seen: list[Any], enough: Callable[[Any], bool]) -> None:
    """Receive and acknowledge each chunk once, up to one that is enough."""
    while not (seen and enough(seen[-1])):
        record = socket.receive()
        socket.send({"ack": record["id"]})
        if all(record["id"] != other["id"] for other in seen):
            seen.append(record)


def is_complete(chunk: Any) -> bool:
    return bool(chunk["type"] == "status")


def test_what_was_not_acknowledged_comes_again_on_the_next_connection_and_nothing_is_lost(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(original, "_ACKNOWLEDGE_SECONDS", 0.05)
    running = serve([Text("One, "), Text("two, "), Text("three.")], acknowledge=True)
    seen: list[Any] = []
    with running.socket() as socket:
        socket.say(HELLO)
        acknowledged(socket, seen, lambda chunk: "content" in chunk)
        lost = socket.receive()
        assert lost["id"] != seen[-1]["id"]
    with running.socket() as socket:
        first = socket.receive()
        assert first == lost, "the same chunk with the same id"
        socket.send({"ack": first["id"]})
        seen.append(first)
        acknowledged(socket, seen, is_complete)
    assert content(seen, type="message") == "One, two, three."
    assert [chunk.get("start") for chunk in seen].count(True) == 1


def test_a_client_that_is_let_go_because_it_acknowledges_nothing_gets_the_rest_later(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(original, "_ACKNOWLEDGE_SECONDS", 0.02)
    running = serve([Text("Hi.")], acknowledge=True)
    with running.socket() as socket:
        socket.say(HELLO)
        with pytest.raises(websockets.ConnectionClosed):
            socket.until(role="nobody")
    seen: list[Any] = []
    with running.socket() as socket:
        acknowledged(socket, seen, is_complete)
    assert content(seen, type="message") == "Hi."


def test_code_that_was_shown_before_the_connection_was_lost_can_be_approved_after_it(serve: Serve) -> None:
    running = serve([call("print(1)")], [Text("Done.")])
    with running.socket() as socket:
        socket.say(HELLO)
        socket.until(**COMPLETE)
    with running.socket() as socket:
        socket.send(GO)
        chunks = socket.until(**COMPLETE)
    assert running.computer.ran == [("python", "print(1)")]
    assert content(chunks, type="message") == "Done."


def test_who_leaves_after_the_first_complete_begins_the_next_answer_with_its_own_chunks(serve: Serve) -> None:
    running = serve([Text("One.")], [Text("Two.")], acknowledge=True)
    for expected in ("One.", "Two."):
        seen: list[Any] = []
        with running.socket() as socket:
            socket.say(HELLO)
            acknowledged(socket, seen, is_complete)
        assert content(seen, type="message") == expected


@pytest.mark.parametrize("again", [True, False])
def test_who_says_something_else_gets_no_rest_and_who_says_nothing_gets_it(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    if again:
        monkeypatch.setattr(original, "_REST_SECONDS", 20.0)
    running = serve([Text("One.")], [Text("Two.")], acknowledge=True)
    with running.socket() as socket:
        socket.say(HELLO)
        socket.receive()
    assert running.app.state.context.sessions.all[0].wait(20)
    seen: list[Any] = []
    with running.socket() as socket:
        if again:
            socket.say(HELLO)
        acknowledged(socket, seen, is_complete)
    assert content(seen, type="message") == ("Two." if again else "One.")


def test_the_turns_of_other_protocols_are_no_rest_for_the_next_client(serve: Serve) -> None:
    running = serve([Text("One.")], [Text("Other.")], [Text("Two.")])
    with running.socket() as socket:
        socket.say(HELLO)
        socket.until(**COMPLETE)
    with running.http() as client:
        client.post("/v1/sessions/default/say", json={"content": "Hello"})
    assert running.app.state.context.sessions.all[0].wait(20)
    with running.socket() as socket:
        socket.say(HELLO)
        assert content(socket.until(**COMPLETE), type="message") == "Two."


def test_sessions_do_not_see_each_other(serve: Serve) -> None:
    running = serve([Text("One.")], [Text("Two.")])
    with running.http() as client:
        other = client.post("/v1/sessions", json={}).json()["id"]
    with running.socket() as socket, running.socket(f"/?session={other}") as second:
        socket.say(HELLO)
        assert content(socket.until(**COMPLETE), type="message") == "One."
        second.say(HELLO)
        assert content(second.until(**COMPLETE), type="message") == "Two."
    assert [len(request.messages) for request in running.llm.requests] == [2, 2]


def test_settings_can_be_read_but_no_key(serve: Serve) -> None:
    running = serve()
    running.profile = running.profile.with_changes(api_key="sk-canary", custom_instructions="Only Python.")
    with running.http() as client:
        assert client.get("/settings/custom_instructions").json() == {"custom_instructions": "Only Python."}
        assert client.get("/settings/auto_run").json() == {"auto_run": False}
        assert client.get("/settings/messages").json() == {"messages": []}
        assert client.get("/settings/llm").json()["llm"]["model"] == "x"
        assert "canary" not in client.get("/settings/llm").text
        assert client.get("/settings/llm.api_key").status_code == 404
        assert client.get("/settings/_workspace").status_code == 404


CHANGES = {"llm": {"model": "gpt-4"}, "custom_instructions": "You only write Python code.", "auto_run": True}


def test_settings_are_changed_only_where_the_start_allows_it(serve: Serve) -> None:
    closed, open_ = serve(), serve(allow_settings=True)
    with closed.http() as client:
        assert client.post("/settings", json=CHANGES).status_code == 403
        assert client.get("/settings/auto_run").json() == {"auto_run": False}
    with open_.http() as client:
        assert client.post("/settings", json=CHANGES).json() == {"status": "success"}
        assert client.get("/settings/auto_run").json() == {"auto_run": True}
        assert client.get("/settings/llm").json()["llm"]["model"] == "gpt-4"
        assert client.post("/settings", json={"llm": {"nothing": 1}}).status_code == 404
        for given, says in (
            ({"auto_run": "perhaps"}, "auto_run: expected true or false"),
            ({"llm": {"temperature": "hot"}}, "llm.temperature: expected a number from 0 to 2"),
            ({"llm": "gpt-4"}, "llm: expected an object with settings"),
        ):
            answer = client.post("/settings", json=given)
            assert (answer.status_code, says in answer.text) == (400, True), answer.text


TALK = [
    {"role": "user", "type": "message", "content": "My name is Ada."},
    {"role": "assistant", "type": "message", "content": "Hello Ada."},
]


def test_the_messages_are_replaced_and_the_model_gets_them(serve: Serve) -> None:
    running = serve([Text("One.")], [Text("Ada.")], [Text("Who?")], allow_settings=True)
    with running.http() as client, running.socket("/v1/sessions/default/events") as watcher:
        assert watcher.receive()["messages"] == []
        with running.socket() as socket:
            socket.say(HELLO)
            socket.until(**COMPLETE)
            watcher.until(event="turn.ended")
            assert client.post("/settings", json={"messages": TALK}).json() == {"status": "success"}
            # Whoever watches gets the state again.
            state = watcher.receive()
            assert [item["content"] for item in state["messages"]] == ["My name is Ada.", "Hello Ada."]
            read = client.get("/settings/messages").json()["messages"]
            assert [(item["role"], item["content"]) for item in read] == [
                (item["role"], item["content"]) for item in TALK
            ]
            socket.say(HELLO)
            assert content(socket.until(**COMPLETE), type="message") == "Ada."
            assert client.post("/settings", json={"messages": []}).json() == {"status": "success"}
            socket.say(HELLO)
            socket.until(**COMPLETE)
    assert [len(request.messages) for request in running.llm.requests] == [2, 4, 2]


def test_messages_that_cannot_be_understood_change_nothing(serve: Serve) -> None:
    running = serve(allow_settings=True)
    with running.http() as client:
        for given, says in (
            (None, "messages: expected a list of messages"),
            ([1], "messages: expected a list of messages"),
            ([{"role": "king", "content": "x"}], "the role 'king'"),
            ([{"type": {}, "content": "x"}], "the type of a message must be text, not {}"),
            ([{"role": []}], "the role of a message must be text, not []"),
            ([{"role": "user", "content": [{"type": "sound"}]}], "sound"),
        ):
            answer = client.post("/settings", json={"messages": given, "auto_run": True})
            assert (answer.status_code, says in answer.text) == (400, True), answer.text
        assert client.get("/settings/messages").json() == {"messages": []}
        assert client.get("/settings/auto_run").json() == {"auto_run": False}


def test_messages_are_not_replaced_during_a_turn(serve: Serve) -> None:
    running = serve([call("print(1)")], allow_settings=True)
    with running.socket() as socket, running.http() as client:
        socket.say(HELLO)
        socket.until(**COMPLETE)
        answer = client.post("/settings", json={"messages": []})
        assert (answer.status_code, "during a turn" in answer.text) == (409, True)
        assert len(client.get("/settings/messages").json()["messages"]) == 2


async def documented_client(address: str, headers: dict[str, str], printed: Callable[[str], None]) -> None:
    """The client of Open Interpreter's documentation, with its token."""
    async with websockets.connect(address, additional_headers=headers) as websocket:
        # Send a multi-part user message
        await websocket.send(json.dumps({"role": "user", "start": True}))
        await websocket.send(
            json.dumps({"role": "user", "type": "message", "content": "Analyze this image:"})
        )
        await websocket.send(
            json.dumps({"role": "user", "type": "image", "format": "path", "content": "path/to/image.jpg"})
        )
        await websocket.send(json.dumps({"role": "user", "end": True}))

        # Receive and process messages
        while True:
            message = await websocket.recv()
            data = json.loads(message)

            if data.get("type") == "message":
                printed(f"Assistant: {data.get('content', '')}")
            elif data.get("type") == "review":
                printed(f"Code Review: {data.get('content')}")
            elif data.get("type") == "error":
                printed(f"Error: {data.get('content')}")
            elif data == {"role": "assistant", "type": "status", "content": "complete"}:
                printed("Interaction complete")
                break


async def test_the_documented_websocket_client_runs(serve: Serve) -> None:
    running, printed = serve([Text("A cat.")]), list[str]()
    address = running.address.replace("http", "ws") + "/"
    await asyncio.wait_for(documented_client(address, running.headers, printed.append), 20)
    assert "Assistant: A cat." in printed
    assert printed[-1] == "Interaction complete"


def test_the_openai_client_is_answered_whole_and_streamed(serve: Serve) -> None:
    openai = pytest.importorskip("openai")
    running = serve([Text("Paris.")], [call("print(1)")], [Text("It ran.")], [Text("No.")])
    with running.openai("/openai") as client:

        def ask(words: str, **options: Any) -> Any:
            messages = [
                {"role": "system", "content": "You are a helpful assistant."},
                {"role": "user", "content": words},
            ]
            return client.chat.completions.create(model="gpt-3.5-turbo", messages=messages, **options)

        assert ask("What's the capital of France?").choices[0].message.content == "Paris."
        pieces = [chunk.choices[0].delta.content or "" for chunk in ask("Print 1", stream=True)]
        asked = "".join(pieces)
        assert "```python\nprint(1)\n```" in asked
        assert asked.endswith("Do you want to run this code?")
        assert running.computer.ran == []
        assert "It ran." in ask("Yes.").choices[0].message.content
        assert running.computer.ran == [("python", "print(1)")]
        with pytest.raises(openai.PermissionDeniedError, match="--allow-settings"):
            ask("{AUTO_RUN_ON}")
        assert client.models.list().data[0].id == "open-interpreter"
