"""The records that the model process writes while no part of a reply comes."""

import json
import os
import queue
import select
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from oi_tui.engine.credentials.keys import Secrets
from oi_tui.engine.llm import request_gate
from oi_tui.engine.llm.base import Request, Text
from oi_tui.engine.llm.transport import client, completion
from oi_tui.engine.llm.transport.child import ModelChild
from oi_tui.engine.llm.transport.completion import CompletionCall
from oi_tui.engine.llm.transport.process import Service
from oi_tui.engine.llm.transport.provider import Provider
from oi_tui.engine.llm.usage_report import UsageTracker
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.settings.setting import Value
from oi_tui.services.model import ModelService
from tests.event_loop import until

REQUEST = Request(
    model="openai/m", messages=[{"role": "user", "content": "Hi"}], api_base="http://127.0.0.1:9/v1"
)


def make_provider(stream: AsyncIterator[Any] | None = None) -> Provider:
    """A provider that answers with the stream, without LiteLLM."""

    async def acompletion(**_: object) -> AsyncIterator[Any] | None:
        return stream

    async def prepare(*names: object) -> None:
        prepared.append(names)

    prepared: list[object] = []
    errors = {"UnsupportedParamsError": ValueError, "BadRequestError": ValueError}
    parts = {
        "address": lambda request: (request["model"], request["api_base"], None),
        "missing_keys": lambda _model, _base: (),
        "prepare": prepare,
        "prepared": prepared,
    }
    litellm = SimpleNamespace(acompletion=acompletion, **errors)
    return cast(Provider, SimpleNamespace(litellm=litellm, **parts))


@pytest.mark.parametrize(("interval", "reports"), [(0.0, 4), (60.0, 1)])
async def test_a_server_that_sends_no_words_is_reported_to_be_alive_now_and_then(
    interval: float, reports: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def send_nothing() -> AsyncIterator[Any]:
        for _ in range(4):
            yield SimpleNamespace(choices=[])

    monkeypatch.setattr(completion, "_WAITING", interval)
    records: list[dict[str, Any]] = []
    provider = make_provider(send_nothing())
    await CompletionCall(provider, asdict(REQUEST), lambda **record: records.append(record)).run()
    assert records[:-1] == [{"waiting": True}] * reports
    assert records[-1]["error"]["kind"] == "empty"


def test_a_report_that_the_server_is_alive_is_no_part_of_the_reply() -> None:
    answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    for record in ({"waiting": True}, {"text": "Hi"}, {"waiting": True}, {"end": True}):
        answers.put(record)
    child = SimpleNamespace(ask=lambda *_: answers, forget=lambda _: None)
    assert list(client.ModelReply(cast(ModelChild, child), 1, REQUEST)) == [Text("Hi")]


async def test_a_reply_that_is_cancelled_before_it_begins_ends_and_does_not_stop_preparations() -> None:
    async def list_lines(*orders: dict[str, Any]) -> AsyncIterator[str]:
        for order in orders:
            yield json.dumps(order)

    source, target = os.pipe()
    os.set_blocking(source, False)
    try:
        service, provider = Service(target), make_provider()
        orders = [{"do": "reply", "id": 7, "request": asdict(REQUEST)}, {"do": "cancel", "id": 7}]
        await service.run(list_lines(*orders), provider)
        await until(lambda: select.select([source], [], [], 0)[0])
        assert json.loads(os.read(source, 1000)) == {"id": 7, "end": True}
        await service.run(list_lines({"do": "prepare", "id": 0, "model": "m", "api_base": None}), provider)
        await until(lambda: cast(Any, provider).prepared)
        assert cast(Any, provider).prepared == [("m", None)]
    finally:
        os.close(source)
        os.close(target)


def test_requests_that_may_use_no_proxy_have_a_process_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[Any, list[str]]] = []

    def start(environment: Mapping[str, str]) -> SimpleNamespace:
        asked: list[str] = []
        started.append((environment, asked))
        ask = lambda _number, order: asked.append(order["request"]["model"])  # noqa: E731
        return SimpleNamespace(gone=False, ask=ask, end=lambda: None)

    monkeypatch.setattr(client, "start_child", start)
    proxied = {"HTTPS_PROXY": "http://proxy.example:1", "no_proxy": "a.example", "HOME": "/h"}
    with client.ModelProcess(proxied, keys=lambda _model, _base: "key") as models:
        for model, direct in (("far", False), ("near", True), ("far", False), ("near", True)):
            models.reply(replace(REQUEST, model=model, direct=direct))
    direct_environment = {"HOME": "/h", "NO_PROXY": "*", "no_proxy": "*"}
    assert started == [(proxied, ["far", "far"]), (direct_environment, ["near", "near"])]
    started.clear()
    monkeypatch.setattr(sys, "platform", "linux")
    with client.ModelProcess({"HOME": "/h"}, keys=lambda _model, _base: "key") as models:
        for direct in (True, False):
            models.reply(replace(REQUEST, direct=direct))
    assert len(started) == 1, "without proxies one process does for both"


@pytest.mark.parametrize("changes", [{"local": True}, {"offline": True}, {}])
def test_the_process_that_is_warmed_up_is_that_of_the_first_request(
    changes: dict[str, Value], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Mapping[str, str]] = []
    orders: queue.Queue[dict[str, Any]] = queue.Queue()

    def ask(_number: int, order: dict[str, Any]) -> "queue.Queue[dict[str, Any]]":
        orders.put(order)
        answers: queue.Queue[dict[str, Any]] = queue.Queue()
        answers.put({})
        return answers

    def start(environment: Mapping[str, str]) -> SimpleNamespace:
        started.append(environment)
        return SimpleNamespace(gone=False, ask=ask, send=orders.put, end=lambda: None)

    monkeypatch.setattr(client, "start_child", start)
    proxied = {"HTTPS_PROXY": "http://proxy.example:1"}
    profile = Profile(model=REQUEST.model, api_base=REQUEST.api_base, **changes)
    with client.ModelProcess(proxied, keys=lambda _model, _base: "key") as models:
        ModelService(profile, Secrets(), process=models).warm_up()
        assert [orders.get(timeout=10)["do"] for _ in range(2)] == ["prepare", "facts"]
        request_gate.send(models, REQUEST, profile, UsageTracker(), ModelInfo())
    assert len(started) == 1
    assert ("NO_PROXY" in started[0]) is bool(changes)
