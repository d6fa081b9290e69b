"""OpenAI's Responses API, with OpenAI's own library."""

import base64
import json
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")
pytest.importorskip("uvicorn", reason="uvicorn (extra server) is not installed here")

import openai

from oi_tui.engine.llm.base import ErrorInfo, Text, Usage
from oi_tui.server.options import Limits
from tests.fakes import call
from tests.unit.server.conftest import Serve
from tests.unit.server.running import Running

TOOLS = [{"type": "code_interpreter", "container": {"type": "auto"}}]


def client_of(running: Running) -> Any:
    return openai.OpenAI(base_url=f"{running.address}/openai", api_key=running.options.token, max_retries=0)


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


def test_old_responses_give_way_to_new_ones(serve: Serve) -> None:
    running = serve(*([Text("Hi.")] for _ in range(6)), limits=Limits(sessions=2))
    with client_of(running) as client:
        first = client.responses.create(model="x", input="1")
        for _ in range(4):
            assert client.responses.create(model="x", input="1").output_text == "Hi."
        with pytest.raises(openai.NotFoundError):
            client.responses.create(model="x", input="1", previous_response_id=first.id)


@pytest.mark.parametrize(
    "given", [{}, {"input": []}, {"input": [1]}, {"input": [{"role": "assistant", "content": "x"}]}]
)
def test_an_input_that_is_none_is_refused(serve: Serve, given: dict[str, Any]) -> None:
    running = serve()
    with running.http() as client:
        assert client.post("/openai/responses", json=given).status_code == 400
        assert client.get("/v1/sessions").json()["sessions"] == []


def test_the_events_of_code_come_in_the_order_of_openai(serve: Serve) -> None:
    running = serve([Text("Look:"), call("picture")], [Text("Done.")], auto_run=True)
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
    assert "".join(deltas) == "picture"
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
        with pytest.raises(openai.BadRequestError, match=r"small\.csv: file_data must be"):
            client.responses.create(model="x", input=[{"role": "user", "content": [wrong]}])


def test_errors_have_the_form_of_openai(serve: Serve) -> None:
    running = serve()
    with client_of(running) as client:
        for error, kind, given in (
            (openai.BadRequestError, "invalid_request_error", {"input": []}),
            (openai.NotFoundError, "not_found_error", {"input": "x", "previous_response_id": "resp_no_1"}),
        ):
            with pytest.raises(error) as raised:
                client.responses.create(model="x", **given)
            assert (raised.value.type, raised.value.code, raised.value.param) == (kind, None, None)
    with (
        openai.OpenAI(base_url=f"{running.address}/openai", api_key="wrong", max_retries=0) as client,
        pytest.raises(openai.AuthenticationError) as refused,
    ):
        client.responses.create(model="x", input="x")
    assert refused.value.type == "authentication_error"
