"""A wrong type in each field of each request: an error that says so, or nothing, and never a failure."""

import copy
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")
pytest.importorskip("uvicorn", reason="uvicorn (extra server) is not installed here")

from tests.unit.server.conftest import Serve

ODD: tuple[Any, ...] = (None, True, -1, 2**70, "", "\x00\ud800", [], {}, [[None]], {"a": {}})
IMAGE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNg"
    "YGAAAAAEAAH2FzhVAAAAAElFTkSuQmCC"
)
FILE = "data:text/plain;base64,aGk="
BODIES: dict[str, list[dict[str, Any]]] = {
    "/v1/sessions": [{"conversation": "x"}],
    "/v1/sessions/default/say": [{"content": "hi", "images": [IMAGE]}],
    "/v1/sessions/default/propose": [{"language": "python", "code": "1"}],
    "/v1/sessions/default/answer": [
        {"question": "x", "hash": "y", "decision": "edit", "code": "1", "reason": "r"}
    ],
    "/v1/sessions/default/input": [{"text": "x"}],
    "/settings": [
        {
            "llm": {"model": "x", "temperature": 0.5},
            "messages": [
                {"role": "user", "type": "message", "content": "x"},
                {"role": "assistant", "type": "code", "format": "python", "content": "1", "id": "a"},
            ],
        }
    ],
    "/v1/chat/completions": [
        {
            "messages": [
                {"role": "system", "content": "s"},
                {"role": "user", "content": [{"type": "image_url", "image_url": {"url": IMAGE}}]},
                {"role": "assistant", "content": "a"},
                {"role": "user", "content": [{"type": "file", "file": {"filename": "a", "file_data": FILE}}]},
            ],
            "metadata": {"a": "b"},
        },
        {"messages": [{"role": "user", "content": "x"}], "stream": True, "stream_options": {}},
    ],
    "/v1/responses": [
        {
            "input": [
                {"role": "user", "content": [{"type": "input_image", "image_url": IMAGE}]},
                {
                    "type": "code_interpreter_call",
                    "id": "q",
                    "code": "1",
                    "container_id": "c",
                    "status": "completed",
                    "outputs": [{"type": "logs", "logs": "x"}],
                },
                {"role": "assistant", "content": [{"type": "output_text", "text": "t", "annotations": []}]},
                {"role": "user", "content": "b"},
            ],
            "tools": [{"type": "code_interpreter", "container": {"type": "auto"}}],
            "reasoning": {"effort": "low"},
        },
    ],
    "/api/kernels": [{"name": "none", "env": {"A": "b"}, "ends_with_client": True}],
    "/api/sessions": [{"path": "x", "name": "y", "kernel": {"name": "none"}, "notebook": {"path": "p"}}],
}


def list_places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to each value within a value, and to itself."""
    yield place
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from list_places(item, (*place, key))


def put(body: dict[str, Any], place: tuple[Any, ...], odd: Any) -> Any:
    if not place:
        return odd
    changed: Any = copy.deepcopy(body)
    holder = changed
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = odd
    return changed


@pytest.mark.slow
def test_no_value_in_any_field_makes_the_server_fail(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    running = serve(auto_run=True, allow_settings=True)
    failures = []
    with running.http(headers={**running.headers, "Content-Type": "application/json"}) as client:
        client.get("/v1/sessions/default")
        for path, bodies in BODIES.items():
            # Each place gets some of the odd values, and over all places each of them comes often.
            for number, (body, place) in enumerate((b, p) for b in bodies for p in list_places(b)):
                for odd in ODD[number % 4 :: 4]:
                    answer = client.post(path, content=json.dumps(put(body, place, odd)))
                    if answer.status_code not in (200, 201, 202, 400, 403, 404, 409):
                        failures.append((path, place, odd, answer.status_code))
        assert client.get("/v1/sessions/default").status_code == 200
    assert failures == []
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
