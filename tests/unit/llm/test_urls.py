"""Addresses of model servers: a wrong one is told of at once; no server passes a request on to another."""

import asyncio
import contextlib
import json
import os
from collections.abc import Callable
from typing import Any

import pytest

from oi_tui.engine.llm import endpoint, urls
from oi_tui.engine.llm.base import LlmError, Request, Text
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.llm.transport.process import Service
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.settings.setting import ProfileError
from tests.servers import openai_server as server
from tests.servers.openai_server import Answer, Exchange, ModelServer, Say

#: What is no address, and a word of what it must be.
WRONG = {
    "http://user:hunter2@127.0.0.1:9/v1": "without a name and password",
    "http://user:hun/ter2@127.0.0.1:9/v1": "port",
    "http://hunter2@127.0.0.1:9/v1": "without a name and password",
    "user:hunter2@127.0.0.1:9/v1": "begins with http://",
    "127.0.0.1:8000/v1": "begins with http://",
    "localhost": "begins with http://",
    "http:127.0.0.1:8000": "begins with http://",
    "ftp://127.0.0.1/v1": "begins with http://",
    "ws://127.0.0.1/v1": "begins with http://",
    '"http://127.0.0.1/v1"': "begins with http://",
    "unix:///run/model.sock": "socket",
    "http+unix://%2Frun%2Fmodel.sock/v1": "socket",
    "/run/model.sock": "socket",
    "http://": "host",
    "http:///v1": "host",
    "http://a..b/v1": "host",
    f"http://{'a' * 300}/v1": "host",
    "http://256.1.1.1/v1": "host",
    "http://<host>/v1": "host",
    "http://127.0.0.1:99999/v1": "port",
    "http://127.0.0.1:0/v1": "port",
    "http://127.0.0.1:-1/v1": "port",
    "http://127.0.0.1:port/v1": "port",
    "http://[::1:80/v1": "brackets",
    "http://::1:80/v1": "brackets",
    "http://my server/v1": "spaces",
    "http://127.0.0.1:80/v1\n": "do not show",
    "http://\u200b127.0.0.1/v1": "do not show",
}


@pytest.mark.parametrize("base", WRONG)
def test_a_wrong_address_is_reported_at_once_and_without_its_password(
    models: ModelProcess, base: str
) -> None:
    with pytest.raises(ProfileError, match=WRONG[base]) as refused:
        Profile().with_changes(api_base=base)
    with pytest.raises(LlmError) as failed:
        list(models.reply(Request(model="openai/m", messages=[], api_base=base)))
    fault = failed.value.info
    assert (fault.kind, fault.setting, fault.retryable) == ("address", "api_base", False)
    assert WRONG[base] in fault.sentence
    assert "\n" not in fault.sentence
    for reported in (str(refused.value), repr(fault)):
        assert "hunter2" not in reported
        assert "ter2" not in reported


@pytest.mark.parametrize(
    "base",
    [
        "http://localhost:11434/v1",
        "https://api.example.com",
        "HTTP://Host/V1/",
        "http://[::1]:8080/v1",
        "http://[fe80::1%25eth0]:80/v1",
        "http://192.168.0.2:1/v1?version=2",
        "http://my_box.lan/v1",
        "https://b\u00fccher.example/v1",
        "http://host/path/user@example.com/v1",
    ],
)
def test_a_good_address_is_taken(base: str) -> None:
    assert urls.explain_invalid(base) is None
    assert Profile().with_changes(api_base=base).api_base == base


# The providers' own variables

HI = [{"role": "user", "content": "Hi"}]
#: For models of each provider with such a variable, the one that says where it is.
VARIABLES = {
    "openai/m": "OPENAI_BASE_URL",
    "gpt-4o": "OPENAI_BASE_URL",
    "anthropic/claude-sonnet-4-5": "ANTHROPIC_API_BASE",
    "gemini/gemini-2.0-flash": "GEMINI_API_BASE",
    "deepseek/deepseek-chat": "DEEPSEEK_API_BASE",
    "groq/m": "GROQ_API_BASE",
    "xai/grok-4": "XAI_API_BASE",
    "openrouter/m": "OPENROUTER_API_BASE",
    "azure/m": "AZURE_API_BASE",
    "cohere/command-r": "COHERE_API_BASE",
    "ollama/m": "OLLAMA_API_BASE",
    "ollama_chat/m": "OLLAMA_API_BASE",
    "lm_studio/m": "LM_STUDIO_API_BASE",
    "llamafile/m": "LLAMAFILE_API_BASE",
    "hosted_vllm/m": "HOSTED_VLLM_API_BASE",
    "perplexity/m": "PERPLEXITY_API_BASE",
    "fireworks_ai/m": "FIREWORKS_API_BASE",
}


@pytest.mark.slow
def test_each_is_where_its_variable_says(
    served: ModelServer, quick_model: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {name: f"{served.root}/{name.lower()}" for name in VARIABLES.values()}
    # The first of two that are set counts.
    places["OPENAI_API_BASE"] = places["ANTHROPIC_BASE_URL"] = f"{served.root}/other"
    for name, place in places.items():
        monkeypatch.setenv(name, place)
    with ModelProcess({**quick_model, **places}) as models:
        for model, name in VARIABLES.items():
            assert endpoint.find_base(Profile(model=model)) == places[name], model
            version = "2024-02-01" if model.startswith("azure") else None
            # Not every provider understands the answer.
            with contextlib.suppress(LlmError):
                list(models.reply(Request(model=model, messages=HI, api_key="sk-x", api_version=version)))
            assert served.exchanges[-1].path.startswith(f"/{name.lower()}"), model


@pytest.mark.parametrize("model", VARIABLES)
def test_a_wrong_one_is_reported_before_anything_is_sent(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, profile = VARIABLES[model], Profile(model=model)
    assert endpoint.find_refusal(profile) is None
    monkeypatch.setenv(name, "user:hunter2@127.0.0.1:9/v1")
    fault = endpoint.find_refusal(profile)
    assert fault is not None
    assert (fault.kind, fault.setting) == ("address", "api_base")
    assert f"variable {name} must be an address that begins with http://" in fault.sentence
    assert "hunter2" not in fault.sentence
    assert endpoint.find_refusal(profile.with_changes(api_base="http://127.0.0.1:9/v1")) is None
    monkeypatch.setenv(name, "http://127.0.0.1:9/v1")
    assert endpoint.find_refusal(profile.with_changes(offline=True, local=True)) is None


# What a server sends on

#: A model of each kind of wire, what its base ends in, and what the base would be elsewhere.
WIRES = {
    "openai/m": "/v1",
    "anthropic/claude-sonnet-4-5": "",
    "gemini/gemini-2.0-flash": "/v1beta",
    "ollama_chat/m": "",
    "openrouter/m": "/api/v1",
    "azure/m": "",
}


def sent_on(status: int, to: Callable[[], str]) -> Answer:
    def answer(exchange: Exchange) -> None:
        exchange.head(status, chunked=False, Location=to() + exchange.path, Content_Length="0")

    return answer


def ask(models: ModelProcess, model: str, base: str) -> str:
    request = Request(
        model=model,
        messages=HI,
        api_base=base,
        api_key="sk-canary-0123456789",
        api_version="2024-02-01" if model.startswith("azure") else None,
        timeout=20.0,
    )
    return "".join(delta.text for delta in models.reply(request) if isinstance(delta, Text))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("model", WIRES)
def test_neither_words_nor_key_go_to_a_server_that_was_not_named(
    models: ModelProcess, served: ModelServer, model: str, status: int
) -> None:
    with ModelServer(server.spoken(Say("I have them"))) as other:
        served.answer(sent_on(status, lambda: other.root))
        with pytest.raises(LlmError) as failed:
            ask(models, model, served.root + WIRES[model])
        assert not other.exchanges
    fault = failed.value.info
    assert (fault.kind, fault.setting, fault.retryable) == ("address", "api_base", False)
    assert f"127.0.0.1:{served.port} redirects to {other.root}{WIRES[model]}," in fault.sentence


def test_what_a_server_sends_on_to_itself_is_followed(models: ModelProcess, served: ModelServer) -> None:
    served.answer(sent_on(307, lambda: "/moved"), server.spoken(Say("Here I am")))
    assert ask(models, "openai/m", served.base) == "Here I am"
    assert [exchange.path for exchange in served.exchanges] == [
        "/v1/chat/completions",
        "/moved/v1/chat/completions",
    ]
    assert served.exchanges[1].request == served.exchanges[0].request


def test_going_round_in_circles_ends(models: ModelProcess, served: ModelServer) -> None:
    served.answer(sent_on(307, lambda: ""))
    with pytest.raises(LlmError) as failed:
        ask(models, "openai/m", served.base)
    assert failed.value.info.setting == "api_base"
    assert "in a loop" in failed.value.info.sentence
    assert len(served.exchanges) < 10


def test_a_mistake_of_ours_is_no_reply_without_words() -> None:
    class Wrong:
        async def stream(self, *_: object) -> None:
            raise KeyError("choices")

    source, target = os.pipe()

    async def serve() -> None:
        async def lines() -> Any:
            yield json.dumps({"do": "reply", "id": 1, "request": {}})
            await asyncio.sleep(0)

        service: Any = Service(target)
        await service.run(lines(), Wrong())

    asyncio.run(serve())
    os.close(target)
    with os.fdopen(source) as records:
        error, end = map(json.loads, records)
    assert error["error"]["kind"] == "unknown"
    assert "KeyError" in error["error"]["sentence"]
    assert end == {"id": 1, "end": True}
