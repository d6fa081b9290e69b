"""The OpenAPI and AsyncAPI documents say what the server does."""

from typing import Any, get_args

import pytest

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")
pytest.importorskip("uvicorn", reason="uvicorn (extra server) is not installed here")

from starlette.routing import Route, WebSocketRoute

from oi_tui.engine.events import ApprovalRequested
from oi_tui.messages import Report
from oi_tui.server import documents, wire
from oi_tui.server.application import list_routes
from oi_tui.server.event_log import LogItem, MessagesReplaced
from tests.fakes import call
from tests.unit.server.conftest import Serve

EVENTS = "/v1/sessions/default/events"


def test_every_route_is_described_with_its_methods(serve: Serve) -> None:
    with serve().http() as client:
        found = client.get("/openapi.json").json()["paths"]
    declared = {route.path: route for route in list_routes() if isinstance(route, Route)}
    assert set(found) == set(declared)
    for path, operations in found.items():
        for operation in operations.values():
            assert operation["summary"].endswith("."), path
            assert all(f"{{{parameter['name']}}}" in path for parameter in operation["parameters"])


def test_only_what_needs_no_token_is_described_so(serve: Serve) -> None:
    running = serve()
    with running.http() as client:
        found = client.get("/openapi.json").json()["paths"]
        free = {path for path, operations in found.items() if operations.get("get", {}).get("security") == []}
        assert free == {"/", "/page/{name}", "/heartbeat", "/login"}
        for path, operations in found.items():
            if "get" in operations:
                answer = client.get(path.replace("{", "").replace("}", ""), headers={"Authorization": ""})
                assert (answer.status_code == 401) == (path not in free), path


def test_every_websocket_is_described(serve: Serve) -> None:
    with serve().http() as client:
        found = client.get("/asyncapi.json").json()["channels"]
    declared = {route.path for route in list_routes() if isinstance(route, WebSocketRoute)}
    assert {channel["address"] for channel in found.values()} == declared


def test_every_event_and_every_report_has_a_name() -> None:
    # A Question takes the place of an ApprovalRequested, and the state that of MessagesReplaced.
    assert set(get_args(LogItem)) - {ApprovalRequested, MessagesReplaced} == set(wire.NAMES)
    assert set(get_args(Report)) == set(wire.REPORTS)
    for names in (wire.NAMES, wire.REPORTS):
        assert len(set(names.values())) == len(names)


def test_events_have_the_fields_that_are_described(serve: Serve) -> None:
    schema = documents.make_asyncapi_document([])["components"]["messages"]["Event"]["payload"]
    described = {item["properties"]["event"]["const"]: set(item["properties"]) for item in schema["oneOf"]}
    running = serve([call("image")])
    seen: list[Any] = []
    with running.socket(EVENTS) as client:
        client.send({"do": "say", "content": "Hello"})
        seen += client.until(event="question.asked")
        question = seen[-1]["question"]
        answer = {"question": question["id"], "hash": question["hash"], "decision": "run"}
        client.send({"do": "answer", **answer})
        seen += client.until(event="turn.ended")
    for record in seen:
        assert set(record) <= described[record["event"]], record
    assert len({record["event"] for record in seen}) > 8


@pytest.mark.parametrize("action", documents.ACTIONS)
def test_what_an_action_needs_is_what_is_described(serve: Serve, action: str) -> None:
    required, _ = documents.ACTIONS[action]
    with serve().http() as client:
        status = client.post(f"/v1/sessions/default/{action}", json={}).status_code
    assert status == (400 if required else 202)
