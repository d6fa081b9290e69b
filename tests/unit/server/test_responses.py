"""OpenAI's Responses API, with OpenAI's own library."""

import base64
import json
import os
import socket
import subprocess
import sys
import threading
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")
pytest.importorskip("uvicorn", reason="uvicorn (extra server) is not installed here")

from oi_tui.engine.events import MessageGrew, MessageRecorded, MessageStarted
from oi_tui.engine.llm.base import ErrorInfo, Text, Usage
from oi_tui.messages import Message
from oi_tui.server.hosted_session import HostedSession, Snapshot
from oi_tui.server.openai import response_store
from oi_tui.server.openai.response_builder import ResponseBuilder
from oi_tui.server.openai.response_request import read_request
from oi_tui.server.options import ServerLimits
from tests.fakes import Gate, call
from tests.unit.server.conftest import Serve
from tests.unit.server.running import Running
from tests.when_used import when_used

openai = when_used("openai")
USER = {"role": "user", "content": "x"}
TOOLS = [{"type": "code_interpreter", "container": {"type": "auto"}}]


def client_of(running: Running) -> Any:
    return running.openai("/openai", max_retries=0)


def test_text_and_code_come_as_items(serve: Serve) -> None:
    running = serve([Text("Look:"), call("print(1)")], [Text("Done.")], auto_run=True)
    with client_of(running) as client:
        response = client.responses.create(model="x", input="Print 1", tools=TOOLS)
    assert [item.type for item in response.output] == ["message", "code_interpreter_call", "message"]
    code = response.output[1]
    assert (code.code, code.status, code.outputs[0].logs) == ("print(1)", "completed", "out of print(1)")
    assert response.output_text == "Look:Done."
    assert response.status == "completed"


def test_code_is_approved_or_rejected_by_the_client(serve: Serve) -> None:
    running = serve([call("print(1)")], [call("print(2)")], [Text("Done.")])
    with client_of(running) as client:
        response = client.responses.create(model="x", input="Print 1", tools=TOOLS)
        for approve, code in ((True, "print(1)"), (False, "print(2)")):
            question = response.output[-1]
            assert question.type == "mcp_approval_request"
            assert json.loads(question.arguments)["code"] == code
            answer = {
                "type": "mcp_approval_response",
                "approval_request_id": question.id,
                "approve": approve,
            }
            given = {"model": "x", "previous_response_id": response.id, "input": [answer]}
            response = client.responses.create(**given)
            for streamed in (False, True):
                with pytest.raises(openai.ConflictError):
                    client.responses.create(**given, stream=streamed)
    assert response.output_text == "Done."
    assert running.computer.ran == [("python", "print(1)")]


def test_a_stream_tells_each_step_and_ends_with_the_whole(serve: Serve) -> None:
    running = serve([Text("One "), Text("two."), call("print(1)")], [Text("Done.")], auto_run=True)
    with client_of(running) as client:
        events = list(client.responses.create(model="x", input="Print 1", stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    kinds = [event.type for event in events]
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert "response.code_interpreter_call.interpreting" in kinds
    texts = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(texts) == "One two.Done." == events[-1].response.output_text


def test_a_response_is_whole_also_where_events_of_its_session_are_gone(serve: Serve) -> None:
    """The newest event alone is kept here, so that most are gone before they are read."""

    def answers(**options: Any) -> list[Any]:
        words = [Text(f"{number} ") for number in range(60)]
        running = serve([*words, call("image")], [call("flood")], [*words, call("fail")], **options)
        with client_of(running) as client:
            found, question, response = [], None, None
            while not found or question:
                given: dict[str, Any] = {"input": "Go"}
                if response:
                    answer = {"type": "mcp_approval_response", "approval_request_id": question}
                    given = {"previous_response_id": response.id, "input": [{**answer, "approve": True}]}
                *events, last = client.responses.create(model="x", stream=True, **given)
                response = last.response
                texts = "".join(e.delta for e in events if e.type == "response.output_text.delta")
                assert texts == response.output_text
                question = next((i.id for i in response.output if i.type == "mcp_approval_request"), None)
                found.append((last.type, [shown(item) for item in response.output]))
        return found

    def shown(item: Any) -> Any:
        if item.type == "code_interpreter_call":
            outputs = [(o.type, getattr(o, "logs", "")[:50]) for o in item.outputs]
            return item.type, item.status, item.code, outputs
        return item.type, item.content[0].text if item.type == "message" else item.name

    whole = answers()
    assert [kind for kind, _ in whole] == ["response.completed"] * 4
    assert answers(limits=ServerLimits(history_bytes=1)) == whole


def test_an_image_keeps_its_place_where_its_event_and_those_after_it_are_gone() -> None:
    builder = ResponseBuilder("r", read_request({"input": "Go"}))
    messages = [
        Message(role="assistant", type="code", format="python", content="x", id="c", state="running"),
        Message(role="computer", type="console", content="before", id="1", parent="c"),
        Message(role="computer", type="image", format="base64.png", content="iVBO", id="2", parent="c"),
        Message(role="computer", type="console", content="after", id="3", parent="c"),
    ]
    now = Snapshot(9, messages, frozenset({"c", "3"}), None, None, None)
    for item in builder.rebuild_missed(now):
        list(builder.feed(item))
    outputs = builder.response["output"][0]["outputs"]
    assert [output.get("logs", "image") for output in outputs] == ["before", "image", "after"]


def test_finished_output_has_the_lines_that_a_terminal_shows() -> None:
    builder = ResponseBuilder("r", read_request({"input": "Go"}))
    code = Message(role="assistant", type="code", format="python", content="x", id="c", state="running")
    console = Message(role="computer", type="console", id="1", parent="c")
    for item in (
        MessageStarted(code),
        MessageStarted(console),
        *(MessageGrew("1", text) for text in ("10%", "\r20%", "\r100%\r\n", "done")),
        MessageRecorded(console.replace(content="100%\ndone")),
        MessageRecorded(code.replace(state="finished", seconds=1.0)),
    ):
        list(builder.feed(item))
    (call,) = builder.response["output"]
    assert call["outputs"] == [{"type": "logs", "logs": "100%\ndone"}]


def test_a_conversation_goes_on_by_the_id_of_the_last_response(serve: Serve) -> None:
    running = serve([Text("One.")], [Text("Two.")], [Text("Three.")])
    with client_of(running) as client:
        first = client.responses.create(model="x", input="1")
        client.responses.create(model="x", input="2", previous_response_id=first.id)
        client.responses.create(model="x", input="3")
    assert [len(request.messages) for request in running.llm.requests] == [2, 4, 2]


def test_a_failed_turn_is_a_failed_response(serve: Serve) -> None:
    running = serve([ErrorInfo("auth", "The key is wrong.")])
    with client_of(running) as client:
        response = client.responses.create(model="x", input="1")
    assert (response.status, response.error.message) == ("failed", "The key is wrong.")


def test_a_response_whose_session_has_ended_is_continued_with_its_history(serve: Serve) -> None:
    running = serve(*([Text("Hi.")] for _ in range(6)), limits=ServerLimits(sessions=2))
    with client_of(running) as client:
        first = client.responses.create(model="x", input="first words")
        for _ in range(4):
            assert client.responses.create(model="x", input="1").output_text == "Hi."
        client.responses.create(model="x", input="last words", previous_response_id=first.id)
    asked = json.dumps(running.llm.requests[-1].messages)
    places = [asked.index(words) for words in ("first words", "Hi.", "last words")]
    assert places == sorted(places)


def test_of_the_sessions_that_clients_left_the_newest_ones_are_kept(serve: Serve) -> None:
    running = serve(*([Text("Hi.")] for _ in range(7)), limits=ServerLimits(disposable_sessions=3))
    with client_of(running) as client, running.http() as http:
        first, second, *_ = [client.responses.create(model="x", input=str(n)) for n in range(3)]
        own = http.post("/v1/sessions", json={}).json()["id"]
        # The first one is used again, so that the second one is the oldest.
        client.responses.create(model="x", input="again", previous_response_id=first.id)
        client.responses.create(model="x", input="3")
        titles = [item["title"] for item in http.get("/v1/sessions").json()["sessions"]]
        assert titles == ["0", "2", "", "3"]
        assert own in [item["id"] for item in http.get("/v1/sessions").json()["sessions"]]
        assert (
            client.responses.create(model="x", input="4", previous_response_id=second.id).output_text == "Hi."
        )


@pytest.mark.parametrize(
    "given", [{}, {"input": []}, {"input": [1]}, {"input": [{"role": "assistant", "content": "x"}]}]
)
def test_an_input_that_is_none_is_refused(serve: Serve, given: dict[str, Any]) -> None:
    running = serve()
    with running.http() as client:
        assert client.post("/openai/responses", json=given).status_code == 400
        assert client.get("/v1/sessions").json()["sessions"] == []


def test_the_events_of_code_come_in_the_order_of_openai(serve: Serve) -> None:
    running = serve([Text("Look:"), call("image")], [Text("Done.")], auto_run=True)
    with client_of(running) as client:
        events = list(client.responses.create(model="x", input="Show", tools=TOOLS, stream=True))
    added = [event.item for event in events if event.type == "response.output_item.added"]
    code = next(item.id for item in added if item.type == "code_interpreter_call")
    kinds = [event.type for event in events if getattr(event, "item_id", None) == code]
    short = [kind.removeprefix("response.code_interpreter_call") for kind in kinds]
    assert short[0] == ".in_progress"
    assert short[-3:] == ["_code.done", ".interpreting", ".completed"]
    assert set(short[1:-3]) == {"_code.delta"}
    deltas = [e.delta for e in events if e.type == "response.code_interpreter_call_code.delta"]
    assert "".join(deltas) == "image"
    outputs = next(item for item in events[-1].response.output if item.id == code).outputs
    assert [output.type for output in outputs] == ["logs", "image", "logs"]
    assert outputs[1].url == "data:image/png;base64,aGk="


def test_usage_is_that_of_all_requests_of_the_response(serve: Serve) -> None:
    usage = Usage(100, 20, None, 30)
    running = serve([call("print(1)"), usage], [Text("Done."), usage], auto_run=True)
    with client_of(running) as client:
        used = client.responses.create(model="x", input="Print 1").usage
    assert (used.input_tokens, used.output_tokens, used.total_tokens) == (200, 40, 240)
    assert used.input_tokens_details.cached_tokens == 60


def test_a_client_that_keeps_the_conversation_itself_is_understood(serve: Serve) -> None:
    running = serve([Text("Three.")])
    history = [
        {"role": "user", "content": "first words"},
        {
            "role": "assistant",
            "content": [{"type": "output_text", "text": "second words", "annotations": []}],
        },
        {"type": "reasoning", "id": "r", "summary": []},
        {"role": "user", "content": [{"type": "input_text", "text": "third words"}]},
    ]
    with client_of(running) as client:
        response = client.responses.create(model="x", input=history, instructions="Be brief.")
    assert response.instructions == "Be brief."
    asked = json.dumps(running.llm.requests[0].messages)
    places = [asked.index(words) for words in ("Be brief.", "first words", "second words", "third words")]
    assert places == sorted(places)


def test_files_of_text_come_with_the_input(serve: Serve) -> None:
    running = serve([Text("Read.")])
    data = "data:text/csv;base64," + base64.b64encode(b"a,b\n1,2\n").decode()
    file = {"type": "input_file", "filename": "small.csv", "file_data": data}
    with client_of(running) as client:
        client.responses.create(model="x", input=[{"role": "user", "content": [file]}])
        assert "File: small.csv" in json.dumps(running.llm.requests[0].messages)
        wrong = {**file, "file_data": "data:image/gif;base64,/w=="}
        with pytest.raises(openai.BadRequestError, match=r"small\.csv\): file_data must be"):
            client.responses.create(model="x", input=[{"role": "user", "content": [wrong]}])


def test_errors_have_the_form_of_openai(serve: Serve) -> None:
    running = serve()
    with client_of(running) as client:
        lost, earlier = "previous_response_not_found", "previous_response_id"
        for error, kind, code, param, given in (
            (openai.BadRequestError, "invalid_request_error", None, "input", {"input": []}),
            (openai.BadRequestError, "invalid_request_error", lost, earlier, {"input": "x", earlier: "no_1"}),
        ):
            with pytest.raises(error) as raised:
                client.responses.create(model="x", **given)
            assert (raised.value.type, raised.value.code, raised.value.param) == (kind, code, param)
    with (
        running.openai("/openai", api_key="wrong", max_retries=0) as client,
        pytest.raises(openai.AuthenticationError) as refused,
    ):
        client.responses.create(model="x", input="x")
    assert (refused.value.type, refused.value.code) == ("authentication_error", "invalid_api_key")


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"tools": [{"type": "function", "name": "f", "parameters": {}}]}, "tools of the type function"),
        ({"tools": 1}, "tools must be a list"),
        (
            {"text": {"format": {"type": "json_schema", "name": "n", "schema": {}}}},
            "text.format must be text",
        ),
        ({"conversation": "conv_1"}, "use previous_response_id"),
        ({"input": [{"type": "item_reference"}, USER]}, "input[0].id must be text"),
        ({"background": True, "store": False}, "background needs store"),
        ({"max_tool_calls": 1}, "max_tool_calls is not supported"),
        ({"top_logprobs": 2}, "top_logprobs is not supported"),
        (
            {"tools": [{"type": "code_interpreter", "container": {"type": "auto"}}], "tool_choice": "none"},
            "tool_choice none is not supported",
        ),
        ({"stream": "yes"}, "stream must be true or false"),
        ({"instructions": 1}, "instructions must be text"),
        ({"metadata": {"a": 1}}, "metadata must be an object of at most 16 texts"),
        ({"temperature": "hot"}, "temperature must be a number from 0 to 2"),
        ({"max_output_tokens": -1}, "max_output_tokens must be a whole number of at least 1"),
        ({"truncation": "some"}, "truncation must be one of auto, disabled"),
        ({"reasoning": {"effort": 1}}, "reasoning.effort must be text"),
        ({"text": {"format": "json"}}, "text.format must be an object"),
        ({"text": "json"}, "text must be an object"),
        ({"include": "all"}, "include must be a list of texts"),
        (
            {"input": [{"type": "mcp_approval_response", "approval_request_id": "x", "approve": "yes"}]},
            "input[0].approve must be true or false",
        ),
        ({"model": ["x"]}, "model must be text"),
        ({"input": [{"role": "owner", "content": "x"}, USER]}, "input[0].role must be one of user"),
        ({"input": [{"type": 5}, USER]}, "input[0].type must be text"),
        (
            {"input": [USER, {"role": "user", "content": [{"type": "input_text"}]}]},
            "input[1].content[0].text",
        ),
        ({"input": [USER, {"role": "user"}]}, "input[1].content must be text or a list"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name(serve: Serve, given: dict[str, Any], names: str) -> None:
    running = serve()
    with running.http() as client:
        answer = client.post("/v1/responses", json={"input": "x", **given})
        assert answer.status_code == 400
        assert names in answer.json()["error"]["message"]
        assert client.get("/v1/sessions").json()["sessions"] == []


def test_a_reference_stands_for_a_stored_item(serve: Serve) -> None:
    """As the AI SDK sends the history: the words of the person, and references to what was answered."""
    running = serve([Text("One."), call("x = 1")], [Text("Two.")], [Text("Three.")], auto_run=True)
    with client_of(running) as client:
        first = client.responses.create(model="x", input="first", tools=TOOLS)
        named = [{"type": "item_reference", "id": item.id} for item in first.output]
        given = [{"role": "user", "content": "first"}, *named, named[1], {"role": "user", "content": "next"}]
        second = client.responses.create(model="x", input=given)
        assert second.output_text == "Three."
        sent = [(item["role"], item["content"]) for item in running.llm.requests[-1].messages]
        assert [words for role, words in sent if role == "user"] == ["first", "next"]
        assert [words for role, words in sent if role == "tool"] == ["out of x = 1"]
        # The same session, with its variables.
        with running.http() as http:
            assert len(http.get("/v1/sessions").json()["sessions"]) == 1
        client.responses.delete(first.id)
        for lost in ("msg_unknown", first.output[0].id):
            with pytest.raises(openai.NotFoundError, match="Send the item itself") as refused:
                client.responses.create(model="x", input=[{"id": lost}, USER])
            assert refused.value.param == "input[0].id"


def test_a_response_is_fetched_listed_and_deleted(serve: Serve) -> None:
    running = serve([Text("One.")], [Text("Two.")])
    with client_of(running) as client:
        first = client.responses.create(model="x", input="1", metadata={"a": "b"})
        second = client.responses.create(model="x", input="2", previous_response_id=first.id)
        assert client.responses.retrieve(second.id) == second
        assert client.responses.retrieve(first.id).metadata == {"a": "b"}
        inputs = client.responses.input_items.list(second.id, order="asc", limit=2)
        assert [item.content[0].text for item in inputs.data] == ["1", "One."]
        assert [item.content[0].text for item in inputs] == ["1", "One.", "2"]
        assert [item.content[0].text for item in client.responses.input_items.list(second.id)] == [
            "2",
            "One.",
            "1",
        ]
        client.responses.delete(second.id)
        for lost in (client.responses.retrieve, client.responses.delete, client.responses.cancel):
            with pytest.raises(openai.NotFoundError, match="There is no response"):
                lost(second.id)
        with running.http() as plain:
            assert plain.get("/v1/sessions").json()["sessions"] == []


def test_what_the_client_does_not_want_kept_cannot_be_fetched_or_continued(serve: Serve) -> None:
    running = serve([Text("One.")])
    with client_of(running) as client:
        response = client.responses.create(model="x", input="1", store=False)
        with pytest.raises(openai.NotFoundError):
            client.responses.retrieve(response.id)
        with pytest.raises(openai.BadRequestError):
            client.responses.create(model="x", input="2", previous_response_id=response.id)


def test_what_clients_send_counts_in_what_is_kept_of_responses(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_store, "_MOST_BYTES", 150_000)
    running = serve()
    with client_of(running) as client:
        first, second = (client.responses.create(model="x", input=text * 100_000) for text in "ab")
        assert client.responses.retrieve(second.id) == second
        with pytest.raises(openai.NotFoundError, match="There is no response"):
            client.responses.retrieve(first.id)


def test_two_answers_to_one_response_are_two_conversations(serve: Serve) -> None:
    running = serve([Text("One.")], [Text("Two.")], [Text("Three.")])
    with client_of(running) as client:
        first = client.responses.create(model="x", input="start")
        client.responses.create(model="x", input="left", previous_response_id=first.id)
        client.responses.create(model="x", input="right", previous_response_id=first.id)
    asked = json.dumps(running.llm.requests[-1].messages)
    assert ("start" in asked, "One." in asked, "left" in asked, "right" in asked) == (True, True, False, True)


def test_a_response_in_the_background_is_watched_from_any_event_on(serve: Serve) -> None:
    gate = Gate()
    running = serve([Text("One "), gate, Text("two.")])
    with client_of(running) as client:
        begun = client.responses.create(model="x", input="1", background=True)
        assert (begun.status, begun.background) == ("in_progress", True)
        seen = []
        with client.responses.retrieve(begun.id, stream=True) as stream:
            for event in stream:
                seen.append(event)
                if event.type == "response.output_text.delta":
                    break
        gate.set()
        rest = list(client.responses.retrieve(begun.id, stream=True, starting_after=seen[-1].sequence_number))
        numbers = [event.sequence_number for event in (*seen, *rest)]
        assert numbers == list(range(len(numbers)))
        assert rest[-1].response == client.responses.retrieve(begun.id)
        assert rest[-1].response.output_text == "One two."


def test_a_cancelled_response_says_so_and_its_stream_ends(serve: Serve) -> None:
    hanging = threading.Event()
    running = serve([Text("One "), hanging], [Text("Two.")])
    with client_of(running) as client:
        begun = client.responses.create(model="x", input="1", background=True)
        assert hanging.wait(20)
        assert client.responses.cancel(begun.id).status == "cancelled"
        assert client.responses.cancel(begun.id).status == "cancelled"
        last = list(client.responses.retrieve(begun.id, stream=True))[-1]
        assert (last.type, last.response.status) == ("response.incomplete", "cancelled")
        assert last.response.output[0].content[0].text.startswith("One ")
        again = client.responses.create(model="x", input="2", previous_response_id=begun.id)
        assert again.output_text == "Two."


@pytest.mark.parametrize("streamed", [False, True])
def test_a_client_that_leaves_stops_the_response(serve: Serve, streamed: bool) -> None:
    hanging = threading.Event()
    running = serve([Text("One "), hanging])
    body = json.dumps({"input": "1", "stream": streamed}).encode()
    head = (
        f"POST /v1/responses HTTP/1.1\r\nHost: 127.0.0.1:{running.options.port}\r\n"
        f"Authorization: Bearer {running.options.token}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", running.options.port)) as connection:
        connection.sendall(head.encode() + body)
        assert hanging.wait(20)
    with running.http() as client:
        session = client.get("/v1/sessions").json()["sessions"][0]["id"]
        with running.socket(f"/v1/sessions/{session}/events?after=0") as events:
            end = events.until(event="turn.ended")[-1]
    assert end["outcome"] == "interrupted"


def test_code_waits_until_the_question_or_its_response_is_answered(serve: Serve) -> None:
    running = serve([call("print(1)")], [Text("Other.")])
    with client_of(running) as client:
        asked = client.responses.create(model="x", input="Print 1")
        with pytest.raises(openai.ConflictError, match="send an mcp_approval_response, or cancel"):
            client.responses.create(model="x", input="2", previous_response_id=asked.id)
        client.responses.cancel(asked.id)
        other = client.responses.create(model="x", input="2", previous_response_id=asked.id)
    assert other.output_text == "Other."
    assert running.computer.ran == []


def test_a_cancelled_question_is_closed_when_the_client_gets_the_answer(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = serve([call("print(1)")], [Text("Other.")])
    withdraw, go, order = HostedSession._withdraw_question, threading.Event(), []

    def withdraw_late(session: HostedSession) -> None:
        if session._stopping and session.question:
            assert go.wait(60)
            order.append("withdrawn")
        withdraw(session)

    monkeypatch.setattr(HostedSession, "_withdraw_question", withdraw_late)
    with client_of(running) as client:
        asked = client.responses.create(model="x", input="Print 1")

        def cancel() -> None:
            client.responses.cancel(asked.id)
            order.append("cancelled")

        cancelling = threading.Thread(target=cancel)
        cancelling.start()
        cancelling.join(0.5)
        go.set()
        cancelling.join()
        assert order == ["withdrawn", "cancelled"]
        other = client.responses.create(model="x", input="2", previous_response_id=asked.id)
    assert other.output_text == "Other."


def test_a_client_that_sends_the_whole_conversation_goes_on_in_the_same_session(serve: Serve) -> None:
    running = serve([call("print(1)")], [Text("Done.")], [Text("Again.")], [Text("New.")])
    items: list[Any] = [{"role": "user", "content": "Print 1"}]
    with client_of(running) as client:

        def send() -> Any:
            response = client.responses.create(model="x", input=items, instructions="Be brief.", tools=TOOLS)
            items.extend(item.model_dump(exclude_unset=True) for item in response.output)
            return response

        question = send().output[-1]
        answer = {"type": "mcp_approval_response", "approval_request_id": question.id, "approve": True}
        items.append(answer)
        assert send().output_text == "Done."
        items.append({"role": "user", "content": "once more"})
        assert send().output_text == "Again."
        with running.http() as plain:
            assert len(plain.get("/v1/sessions").json()["sessions"]) == 1
        # Another history is another conversation, with what was run and printed in it.
        items[0] = {"role": "user", "content": "Print one"}
        items.append({"role": "user", "content": "the last"})
        assert send().output_text == "New."
    assert running.computer.ran == [("python", "print(1)")]
    assert json.dumps(running.llm.requests[2].messages).count("Be brief.") == 1
    asked = json.dumps(running.llm.requests[3].messages)
    places = [
        asked.index(words) for words in ("Print one", "print(1)", "out of print(1)", "Done.", "the last")
    ]
    assert places == sorted(places)


def test_the_client_of_a_stream_puts_the_same_response_together(serve: Serve) -> None:
    running = serve([Text("Look:"), call("image")], [Text("Done.")], auto_run=True)
    with (
        client_of(running) as client,
        client.responses.stream(model="x", input="Show", tools=TOOLS) as stream,
    ):
        snapshots = [event.snapshot for event in stream if event.type == "response.output_text.delta"]
        assert snapshots == ["Look:", "Done."]
        final = stream.get_final_response()
        assert client.responses.retrieve(final.id).output_text == "Look:Done."


_LITELLM = """
import json, sys
import litellm

to = json.loads(sys.stdin.read())
first = litellm.responses(input="1", **to)
assert first.output[0].content[0].text == "One.", first
second = litellm.responses(input="2", previous_response_id=first.id, **to)
question = second.output[-1]
answer = {"type": "mcp_approval_response", "approval_request_id": question.id, "approve": True}
stream = litellm.responses(input=[answer], previous_response_id=second.id, stream=True, **to)
kinds = [event.type for event in stream]
assert (kinds[0], kinds[-1]) == ("response.created", "response.completed"), kinds
assert litellm.get_responses(first.id, **to).output[0].content[0].text == "One."
print(litellm.completion(messages=[{"role": "user", "content": "3"}], **to).choices[0].message.content)
"""


@pytest.mark.slow
def test_litellm_is_a_client(serve: Serve) -> None:
    running = serve([Text("One.")], [call("print(1)")], [Text("Two.")], [Text("Three.")])
    given = {
        "api_base": f"{running.address}/v1",
        "api_key": running.options.token,
        "model": "openai/open-interpreter",
    }
    command = [sys.executable, "-W", "ignore", "-c", _LITELLM]
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    done = subprocess.run(
        command,
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
    )
    assert done.stdout.splitlines()[-1:] == ["Three."], done.stderr
    assert running.computer.ran == [("python", "print(1)")]


def test_addresses_and_methods_that_do_not_exist_have_errors_in_json(serve: Serve) -> None:
    running = serve()
    with running.http() as client:
        for method, path, status in (("GET", "/v1/nothing", 404), ("POST", "/v1/models", 405)):
            answer = client.request(method, path)
            assert answer.status_code == status
            assert "/openapi.json" in answer.json()["error"]["message"]
        assert client.get("/v1/models/open-interpreter").json()["id"] == "open-interpreter"
        assert client.get("/v1/models/other").json()["error"]["code"] == "model_not_found"


def test_a_program_that_waits_for_input_gets_the_next_response_of_the_client(serve: Serve) -> None:
    running = serve([call("ask")], [Text("Hello Anna.")], auto_run=True)
    with client_of(running) as client:
        asked = client.responses.create(model="x", input="Ask", tools=TOOLS)
        assert asked.output_text == "The program waits for input: What is your name?"
        answered = client.responses.create(model="x", input="Anna", previous_response_id=asked.id)
    assert running.computer.typed == ["Anna\n"]
    assert answered.output_text == "Hello Anna."
    assert answered.output[0].outputs[0].logs == "out of ask"
