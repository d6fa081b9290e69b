"""The test of a profile's model, step by step, over HTTP."""

import pytest

from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.models.model_check import check
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.settings.profile import Profile
from tests.servers import openai_server as server
from tests.servers.openai_server import Answer, Call, ModelServer, Say

CALL = server.spoken(Call('{"language":"python","code":"1"}'))
NO_TOOLS = server.error(400, "m does not support tools")
BEFORE = {"key": ["host"], "model": ["host", "key"], "reply": ["host", "key", "model"]}


def profile(base: str, **changes: object) -> Profile:
    return Profile(model="openai/m", api_base=base, **changes)  # type: ignore[arg-type]


def test_all_is_well(models: ModelProcess, served: ModelServer) -> None:
    served.answer(CALL)
    findings = list(
        check(models, profile(served.base, api_key="k-12345678"), facts=ModelInfo(context_window=8192))
    )
    assert [finding.step for finding in findings] == [
        "host",
        "key",
        "model",
        "reply",
        "tools",
        "streaming",
        "window",
    ]
    assert all(finding.good for finding in findings)
    assert "8,192" in findings[-1].sentence
    assert len(served.exchanges) == 1


def test_a_model_without_tools_is_asked_once_more(models: ModelProcess, served: ModelServer) -> None:
    served.answer(NO_TOOLS, server.spoken(Say("One two three")))
    findings = {item.step: item for item in check(models, profile(served.base))}
    assert findings["reply"].good
    assert findings["tools"].good is False
    assert findings["tools"].setting == "supports_functions"
    assert findings["window"].good is None
    assert len(served.exchanges) == 2


def test_a_model_that_only_thinks_is_well(models: ModelProcess, served: ModelServer) -> None:
    served.answer(server.deltas({"content": ""}, finish="length"))
    findings = {item.step: item.good for item in check(models, profile(served.base))}
    assert findings["reply"] is True
    assert findings["tools"] is None


@pytest.mark.parametrize(
    ("answer", "step", "setting"),
    [
        (server.error(401, "no"), "key", "api_key"),
        (server.error(404, "The model m does not exist", "model_not_found"), "model", "model"),
        (server.error(500, "no"), "reply", None),
        (server.refused(200, "<html>", "text/html"), "reply", "api_base"),
    ],
)
def test_the_first_step_that_fails_is_the_last(
    models: ModelProcess, served: ModelServer, answer: Answer, step: str, setting: str | None
) -> None:
    served.answer(answer)
    *passed, failed = check(models, profile(served.base, api_key="k-12345678"))
    assert [item.step for item in passed] == BEFORE[step]
    assert all(item.good for item in passed)
    assert (failed.step, failed.good, failed.setting) == (step, False, setting)


def test_nobody_is_there(models: ModelProcess) -> None:
    [failed] = check(models, profile("http://127.0.0.1:1/v1"))
    assert (failed.step, failed.good, failed.setting) == ("host", False, "api_base")
