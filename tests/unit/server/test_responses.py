"""OpenAI's Responses API, with OpenAI's own library."""

import json
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")
pytest.importorskip("uvicorn", reason="uvicorn (extra server) is not installed here")

import openai

from oi_tui.engine.llm.base import ErrorInfo, Text
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
