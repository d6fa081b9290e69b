"""Model servers on this machine are found quickly, whatever listens on their ports."""

from collections.abc import Iterator
from dataclasses import replace
from time import monotonic
from typing import Any

import pytest

from oi_tui.engine.models import local_servers
from oi_tui.engine.models.local_servers import SERVERS, LocalModel, ServerKind
from oi_tui.engine.settings.profile import Profile
from oi_tui.plain.run import _find_served_model
from tests.servers import openai_server as server
from tests.servers.openai_server import Answer, ModelServer

BY_NAME = {item.name: item for item in SERVERS}

LISTS: dict[str, tuple[dict[str, Any], tuple[str, int | None, int | None]]] = {
    "Ollama": (
        {"/api/tags": {"models": [{"name": "llama3.1:8b", "size": 4_700_000_000}]}},
        ("ollama/llama3.1:8b", 4_700_000_000, None),
    ),
    "LM Studio": (
        {
            "/api/v0/models": {
                "data": [
                    {"id": "nomic-embed", "type": "embeddings"},
                    {"id": "qwen2.5-7b", "type": "llm", "state": "loaded", "max_context_length": 32768},
                ]
            }
        },
        ("openai/qwen2.5-7b", None, 32768),
    ),
    "llama.cpp": (
        {
            "/v1/models": {"data": [{"id": "tiny.gguf", "meta": {"size": 533_000}}]},
            "/props": {"default_generation_settings": {"n_ctx": 4096}},
        },
        ("openai/tiny.gguf", 533_000, 4096),
    ),
    "Jan": ({"/v1/models": {"data": [{"id": "jan-nano"}]}}, ("openai/jan-nano", None, None)),
    "vLLM": ({"/v1/models": {"data": [{"id": "Q/w", "max_model_len": 8192}]}}, ("openai/Q/w", None, 8192)),
}


def listing(paths: dict[str, Any]) -> Answer:
    def answer(exchange: server.Exchange) -> None:
        found = exchange.path in paths
        server.refused(200 if found else 404, paths.get(exchange.path, {}))(exchange)

    return answer


@pytest.fixture
def running() -> Iterator[ModelServer]:
    with ModelServer(server.silent, questions=True) as each:
        yield each


@pytest.fixture(autouse=True)
def no_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OLLAMA_HOST", raising=False)


def make_server_kind(name: str, running: ModelServer) -> ServerKind:
    return replace(BY_NAME[name], port=running.port)


@pytest.mark.parametrize("name", LISTS)
def test_a_server_is_found_with_its_models(running: ModelServer, name: str) -> None:
    paths, (model, size, window) = LISTS[name]
    running.answer(listing(paths))
    suffix = "" if name == "Ollama" else "/v1"
    found = local_servers.find([make_server_kind(name, running)], timeout=5)
    assert found == [LocalModel(name, model, running.root + suffix, size, window)]


ODD = {
    "silence": server.silent,
    "a web page": server.refused(200, "<html>", "text/html"),
    "nothing": server.reset,
    "no list": server.refused(200, {"models": "none", "data": 7}),
    "odd entries": server.refused(200, {"models": [7, {}, {"name": 5}], "data": [None, {"id": ""}]}),
    "deep JSON": server.refused(200, "[" * 100_000),
    "an error": server.refused(500, {"error": "x"}),
}


@pytest.mark.parametrize("what", ODD)
@pytest.mark.parametrize("name", LISTS)
def test_something_else_on_the_port_is_no_server_and_costs_little_time(
    running: ModelServer, name: str, what: str
) -> None:
    running.answer(ODD[what])
    began = monotonic()
    assert local_servers.find([make_server_kind(name, running)]) == []
    assert monotonic() - began < 10


def test_all_are_asked_at_once(running: ModelServer) -> None:
    began = monotonic()
    assert local_servers.find([make_server_kind(name, running) for name in BY_NAME]) == []
    assert monotonic() - began < 10
    assert len(running.exchanges) >= len(BY_NAME)


@pytest.mark.parametrize("form", ["127.0.0.1:{}", "http://localhost:{}", "0.0.0.0:{}"])
def test_ollama_is_looked_for_where_it_was_reported_to_listen(
    running: ModelServer, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    running.answer(listing(LISTS["Ollama"][0]))
    monkeypatch.setenv("OLLAMA_HOST", form.format(running.port))
    [model] = local_servers.find([replace(BY_NAME["Ollama"], port=1)], timeout=5)
    assert model.api_base == running.root


@pytest.mark.parametrize("reported", ["example.invalid:5", "::::", "x:y", "127.0.0.1:99999999"])
def test_a_host_elsewhere_is_not_asked(
    running: ModelServer, monkeypatch: pytest.MonkeyPatch, reported: str
) -> None:
    running.answer(listing(LISTS["Ollama"][0]))
    monkeypatch.setenv("OLLAMA_HOST", reported)
    assert len(local_servers.find([make_server_kind("Ollama", running)], timeout=5)) == 1


def test_there_is_a_hint_for_every_server() -> None:
    assert [hint.split(":")[0] for hint in local_servers.list_hints()] == [
        *(item.name for item in SERVERS),
        "Llamafile",
    ]


LLAMA = LocalModel("Ollama", "ollama/llama3.1:latest", "http://127.0.0.1:11434")
QWEN = LocalModel("LM Studio", "openai/qwen", "http://127.0.0.1:1234/v1")


@pytest.mark.parametrize(
    ("named", "found", "model", "says"),
    [
        (None, [QWEN, LLAMA], "openai/qwen", "The model is openai/qwen (LM Studio"),
        ("llama3.1", [QWEN, LLAMA], "ollama/llama3.1:latest", "Ollama at http://127.0.0.1:11434"),
        ("ollama/llama3.1", [LLAMA], "ollama/llama3.1", ""),
        ("missing", [QWEN], "missing", "No server on this machine has missing. There are: openai/qwen"),
        (None, [], "gpt-4o", "No model server found on this machine. Ollama: "),
    ],
)
def test_a_plain_session_in_local_mode_takes_what_is_served_here(
    monkeypatch: pytest.MonkeyPatch, named: str | None, found: list[LocalModel], model: str, says: str
) -> None:
    monkeypatch.setattr(local_servers, "find", lambda: found)
    profile = Profile().with_changes(local=True, **({"model": named} if named else {}))
    reported: list[str] = []
    is_local = local_servers.is_local(profile.model, None)
    taken = profile if is_local else _find_served_model(profile, reported.append)
    assert taken.model == model
    assert all(line.endswith("\n") for line in reported)
    assert says in "".join(reported).replace("\n", " ")


def test_a_thousand_models_are_listed_whatever_they_are_called(running: ModelServer) -> None:
    odd = ["\x1b]52;c;QQ==\x07", "[red]x[/]", "a\nb", "\u202egnol", "x" * 5000, "\ud83d", "%run", "../../etc"]
    names = odd + [f"model-{number}" for number in range(1000)]
    running.answer(listing({"/api/tags": {"models": [{"name": name} for name in names]}}))
    found = local_servers.find([make_server_kind("Ollama", running)], timeout=5)
    assert [item.model for item in found] == [f"ollama/{name}" for name in names]


def test_the_models_of_the_server_in_use_are_found_first(running: ModelServer) -> None:
    running.answer(listing({"/v1/models": {"data": [{"id": "alpha"}]}}))
    found = local_servers.find_with(f"http://127.0.0.1:{running.port}/v1")
    assert (found[0].model, found[0].server) == ("openai/alpha", f"the server at port {running.port}")


def test_the_server_that_a_profile_names_is_asked_too() -> None:
    own = local_servers.find_server("http://127.0.0.1:4177/v1")
    assert own is not None
    assert (own.port, own.lists, own.prefix, own.suffix) == (4177, ("/v1/models",), "openai/", "/v1")
    for other in (
        None,
        "",
        "http://127.0.0.1:11434",
        "https://api.example.com/v1",
        "http://localhost:port",
        "x",
    ):
        assert local_servers.find_server(other) is None
