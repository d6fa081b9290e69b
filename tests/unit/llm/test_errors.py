"""Every trouble that a server can make, over HTTP: what a person is told, and which setting helps."""

import asyncio
import json
import ssl
import subprocess
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from oi_tui.engine.llm.base import Delta, ErrorInfo, LlmError, Request, Text
from oi_tui.engine.llm.error_table import Attempt
from oi_tui.engine.llm.errors import explain
from oi_tui.engine.llm.request import make_tool
from oi_tui.engine.llm.transport.client import ModelProcess
from tests.servers import openai_server as server
from tests.servers.openai_server import Answer, Call, ModelServer, Say

HTML = "<!DOCTYPE html><html><head><title>Welcome to nginx!</title></head><body>Hi</body></html>"


@dataclass(frozen=True)
class Trouble:
    """An answer, and what it must lead to."""

    answer: Answer
    kind: str
    setting: str | None
    says: str
    retryable: bool = False
    kept: str = ""
    retry_after: float | None = None
    request: dict[str, Any] = field(default_factory=dict)


def hang_up(exchange: server.Exchange) -> None:
    exchange.reset()


def end_early(exchange: server.Exchange) -> None:
    """The socket closes in order, but the body is not complete."""
    exchange.connection.close()


def later(exchange: server.Exchange) -> None:
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    server.error(429, "Slow down", Retry_After=moment)(exchange)


BEGUN = b'data: {"choices":[{"index":0,"delta":{"content":"begun"}}]}\n\n'
TOOLS = {"tools": [make_tool(["python"])]}
TROUBLES = {
    "key": Trouble(
        server.error(401, "Incorrect API key provided: sk-canary-3.", "invalid_api_key"),
        "key",
        "api_key",
        "did not accept the API key",
    ),
    "forbidden": Trouble(server.error(403, "Not for you"), "key", "api_key", "refused"),
    "quota": Trouble(
        server.error(429, "You exceeded your current quota.", "insufficient_quota"),
        "quota",
        "model",
        "no credit",
    ),
    "payment": Trouble(server.error(402, "Payment required"), "quota", "model", "no credit"),
    "rate with seconds": Trouble(
        server.error(429, "Slow down", Retry_After="7"), "rate", "model", "7 s", True, retry_after=7
    ),
    "rate with milliseconds": Trouble(
        server.error(429, "Slow down", retry_after_ms="1500"),
        "rate",
        "model",
        "too many requests",
        True,
        retry_after=1.5,
    ),
    "rate with a date": Trouble(later, "rate", "model", "too many requests", True, retry_after=29),
    "rate in words": Trouble(
        server.error(429, "Rate limit reached. Please try again in 20s."),
        "rate",
        "model",
        "20 s",
        True,
        retry_after=20,
    ),
    "rate without a time": Trouble(
        server.error(429, "Slow down"), "rate", "model", "too many requests", True
    ),
    "wrong path": Trouble(
        server.refused(404, {"detail": "Not Found"}), "address", "api_base", "not at this path"
    ),
    "wrong path, a web page": Trouble(
        server.refused(404, HTML, "text/html"), "address", "api_base", "not at this path"
    ),
    "method not allowed": Trouble(
        server.refused(405, "Method Not Allowed", "text/plain"), "address", "api_base", "not at this path"
    ),
    "unknown model": Trouble(
        server.error(404, "The model `m` does not exist.", "model_not_found"),
        "model",
        "model",
        "has no model “m”",
    ),
    "unknown model, as bad request": Trouble(
        server.error(400, "m is not a valid model ID"), "model", "model", "has no model"
    ),
    "server error": Trouble(
        server.error(500, "The server had an error"), "server", None, "internal error (500)", True
    ),
    "bad gateway": Trouble(server.refused(502, HTML, "text/html"), "server", None, "(502)", True),
    "overloaded": Trouble(server.error(503, "Overloaded"), "server", None, "overloaded or down (503)", True),
    "overloaded with a time": Trouble(
        server.error(503, "Overloaded", Retry_After="3"), "server", None, "overloaded", True, retry_after=3
    ),
    "overloaded, by Anthropic's number": Trouble(
        server.error(529, "Overloaded"), "server", None, "(529)", True
    ),
    "gateway timeout": Trouble(server.error(504, "upstream timed out"), "timeout", "model", "gave up", True),
    "context": Trouble(
        server.error(400, "This model's maximum context length is 8192 tokens.", "context_length_exceeded"),
        "context",
        "context_window",
        "longer than this model takes",
    ),
    "context, llama.cpp": Trouble(
        server.error(400, "the request exceeds the available context size", "exceed_context_size_error"),
        "context",
        "context_window",
        "longer",
    ),
    "too large": Trouble(
        server.error(413, "Request entity too large"), "context", "context_window", "larger"
    ),
    "tools, OpenRouter": Trouble(
        server.error(404, "No endpoints found that support tool use."),
        "tools",
        "supports_functions",
        "does not support tool calls",
        request=TOOLS,
    ),
    "tools, Ollama": Trouble(
        server.error(400, "registry.ollama.ai/library/m does not support tools"),
        "tools",
        "supports_functions",
        "does not support tool calls",
        request=TOOLS,
    ),
    "tools, vLLM": Trouble(
        server.error(400, '"auto" tool choice requires --enable-auto-tool-choice'),
        "tools",
        "supports_functions",
        "does not support tool calls",
        request=TOOLS,
    ),
    "tools, llama.cpp": Trouble(
        server.error(500, "tools param requires --jinja flag"),
        "tools",
        "supports_functions",
        "does not support tool calls",
        request=TOOLS,
    ),
    "tools, unknown field": Trouble(
        server.error(422, "Extra inputs are not permitted: tools"),
        "tools",
        "supports_functions",
        "does not support tool calls",
        request=TOOLS,
    ),
    "bad request": Trouble(
        server.error(400, "temperature must be below 1"), "request", "model", "temperature must be below 1"
    ),
    "hang up": Trouble(server.reset, "network", "api_base", "without an answer", True),
    "cut stream": Trouble(
        server.broken_off(Say("partial text"), chunks=3, then=end_early),
        "cut",
        "api_base",
        "in the middle",
        True,
        "partial ",
    ),
    "reset stream": Trouble(
        server.broken_off(Say("partial text"), chunks=3, then=hang_up),
        "cut",
        "api_base",
        "in the middle",
        True,
        "partial ",
    ),
    "error in the stream": Trouble(
        server.raw(BEGUN, b'data: {"error":{"message":"Overloaded","code":503}}\n\n'),
        "server",
        None,
        "",
        True,
        "begun",
    ),
    "invalid JSON": Trouble(
        server.raw(BEGUN, b"data: {nonsense\n\n"), "cut", None, "interrupted", True, "begun"
    ),
    "web page": Trouble(server.refused(200, HTML, "text/html"), "empty", "api_base", "a web page: Welcome"),
    "JSON error with status 200": Trouble(
        server.refused(200, {"error": {"message": "no"}}), "empty", "api_base", "unexpected answer: no."
    ),
    "empty body": Trouble(server.raw(b""), "empty", "api_base", "an empty answer"),
    "only DONE": Trouble(server.raw(b"data: [DONE]\n\n"), "empty", "api_base", "an empty answer"),
    "an empty reply": Trouble(server.spoken(), "empty", "api_base", "an empty answer"),
    "only blanks": Trouble(server.spoken(Say(" \n ")), "empty", "api_base", "an empty answer", kept=" \n "),
    "no room for a reply": Trouble(
        server.deltas({"content": ""}, finish="length"), "empty", "max_tokens", "max_tokens"
    ),
    "filtered": Trouble(server.deltas({"content": ""}, finish="content_filter"), "empty", "model", "filter"),
}


def fails(models: ModelProcess, **changes: Any) -> tuple[str, ErrorInfo]:
    """The text of a reply that breaks off, and why it does."""
    values = {"model": "openai/m", "messages": [{"role": "user", "content": "Hi"}], "timeout": 20.0}
    heard: list[Delta] = []
    try:
        for delta in models.reply(Request(**{**values, **changes})):
            heard.append(delta)
    except LlmError as error:
        return "".join(delta.text for delta in heard if isinstance(delta, Text)), error.info
    raise AssertionError(f"no fault, but {heard}")


@pytest.mark.parametrize("name", TROUBLES)
def test_trouble_is_reported_in_a_sentence_with_the_setting_that_helps(
    models: ModelProcess, served: ModelServer, name: str
) -> None:
    trouble = TROUBLES[name]
    served.answer(trouble.answer)
    kept, fault = fails(models, api_base=served.base, api_key="sk-canary-3", **trouble.request)
    assert (fault.kind, fault.setting, fault.retryable) == (trouble.kind, trouble.setting, trouble.retryable)
    assert trouble.says in fault.sentence
    assert kept == trouble.kept
    assert fault.retry_after == pytest.approx(trouble.retry_after, abs=1) if trouble.retry_after else True
    assert "sk-canary" not in repr(fault)
    assert "Traceback" not in fault.sentence
    assert "litellm" not in fault.sentence.lower()
    assert len(served.exchanges) == 1, "the request was sent more than once"


def test_there_are_enough_of_them() -> None:
    assert len(TROUBLES) >= 20


def test_a_missing_v1_is_hinted_at(models: ModelProcess, served: ModelServer) -> None:
    served.answer(server.refused(404, {"error": "not found"}))
    _, fault = fails(models, api_base=served.root)
    assert (fault.kind, fault.setting) == ("address", "api_base")
    assert "It usually ends in /v1" in fault.sentence


def test_nobody_answers(models: ModelProcess) -> None:
    _, fault = fails(models, api_base="http://127.0.0.1:1/v1")
    assert (fault.kind, fault.setting, fault.retryable) == ("refused", "api_base", False)
    assert "127.0.0.1:1" in fault.sentence


def test_there_is_no_such_host(models: ModelProcess) -> None:
    _, fault = fails(models, api_base="http://no-such-host.invalid/v1")
    assert (fault.kind, fault.setting) == ("address", "api_base")


@pytest.mark.parametrize("base", ["127.0.0.1:8000/v1", "localhost", "ftp://127.0.0.1/v1", "http://"])
def test_an_address_that_is_none(models: ModelProcess, base: str) -> None:
    _, fault = fails(models, api_base=base)
    assert fault.kind in ("address", "refused")
    assert fault.setting == "api_base"


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("gpt-4o", "OPENAI_API_KEY"),
        ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("groq/llama", "GROQ_API_KEY"),
        ("claude-opus-9", "ANTHROPIC_API_KEY"),
    ],
)
def test_there_is_no_key(models: ModelProcess, model: str, says: str) -> None:
    _, fault = fails(models, model=model)
    assert (fault.kind, fault.setting) == ("no_key", "api_key")
    assert says in fault.sentence


def test_the_provider_is_missing(models: ModelProcess) -> None:
    _, fault = fails(models, model="llama-9")
    assert (fault.kind, fault.setting) == ("model", "model")
    assert "ollama/llama-9" in fault.sentence


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("deepseek-chat", "deepseek/deepseek-chat"),
        ("mistral-large-latest", "mistral/mistral-large-latest"),
        ("codestral-9", "mistral/codestral-9"),
        ("grok-4", "xai/grok-4"),
        ("command-r", "cohere/command-r"),
        ("gpt-99", "openai/gpt-99"),
        ("sonar", "perplexity/sonar"),
    ],
)
def test_the_right_provider_is_proposed(models: ModelProcess, name: str, advice: str) -> None:
    _, fault = fails(models, model=name)
    assert (fault.kind, fault.setting, fault.retryable) == ("model", "model", False)
    assert fault.sentence.endswith(f"Put the provider before the name: {advice}.")


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("claude-2", "ANTHROPIC_API_KEY"),
        ("claude-3.5", "ANTHROPIC_API_KEY"),
        ("claude", "ANTHROPIC_API_KEY"),
        ("gemini-pro", "GEMINI_API_KEY"),
        ("@cf/meta/llama-2-7b-chat-int8", "CLOUDFLARE_API_KEY"),
        ("@hf/thebloke/codellama-7b-instruct-awq", "CLOUDFLARE_API_KEY"),
        ("command", "COHERE_API_KEY"),
        ("command-medium-beta", "COHERE_API_KEY"),
        ("command-nightly", "COHERE_API_KEY"),
        ("j2-light", "AI21_API_KEY"),
        ("dolphin", "NLP_CLOUD_API_KEY"),
    ],
)
def test_names_of_open_interpreter_find_their_provider(models: ModelProcess, name: str, key: str) -> None:
    _, fault = fails(models, model=name)
    assert fault.kind == "no_key"
    assert key in fault.sentence


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("i", "no longer exists"),
        ("palm/chat-bison", "gemini/"),
        ("anyscale/meta-llama/Llama-2", "no longer serves"),
        ("petals/x", "cannot be used"),
        ("vllm/facebook/opt", "Set api_base to the address of your server"),
    ],
)
def test_models_that_are_gone_say_so_in_a_sentence(models: ModelProcess, name: str, says: str) -> None:
    _, fault = fails(models, model=name)
    assert (fault.kind, fault.setting, fault.retryable) == ("model", "model", False)
    assert says in fault.sentence


@pytest.mark.parametrize("prefix", ["vllm", "LMStudio", "llamacpp", "localai", "text-generation-webui"])
def test_names_of_servers_before_a_model_are_not_part_of_its_name(
    models: ModelProcess, served: ModelServer, prefix: str
) -> None:
    asked = Request(
        model=f"{prefix}/org/m", messages=[{"role": "user", "content": "Hi"}], api_base=served.base
    )
    list(models.reply(asked))
    assert served.exchange().request["model"] == "org/m"


@pytest.mark.parametrize("body", [b"hello", b"data: 5\n\n", b"data: {\n\n", b"\x00\x00\x00\x10abcdefghijkl"])
@pytest.mark.parametrize(
    "model", ["cohere/command-r", "bedrock/anthropic.claude-3", "anthropic/m", "gemini/m"]
)
def test_what_cannot_be_read_is_no_trouble_of_the_network(
    models: ModelProcess, served: ModelServer, model: str, body: bytes
) -> None:
    served.answer(server.raw(body))
    _, fault = fails(models, model=model, api_base=served.root, api_key="k-12345678")
    assert fault.kind not in ("network", "refused", "unknown")
    assert not fault.retryable, "the same answer would come again"
    assert "Could not connect" not in fault.sentence
    assert "Traceback" not in fault.sentence + fault.detail
    assert len(fault.sentence) < 400


@pytest.mark.parametrize(
    ("words", "package"),
    [
        ("No module named 'boto3'", "boto3"),
        ("No module named 'google.auth'", "google-cloud-aiplatform"),
        ("Missing boto3 to call bedrock. Run 'pip install boto3'.", "boto3"),
    ],
)
def test_a_missing_package_is_named(words: str, package: str) -> None:
    class APIConnectionError(Exception):
        pass

    fault = explain(APIConnectionError(f"litellm.APIConnectionError: {words}"), Attempt("bedrock/x"))
    assert (fault.kind, fault.retryable) == ("model", False)
    assert fault.sentence.endswith(f"pip install {package}")


@pytest.mark.parametrize(
    ("cause", "kind", "retryable"),
    [
        (ConnectionResetError(104, "Connection reset by peer"), "network", True),
        (OSError(113, "No route to host"), "network", True),
        (ConnectionRefusedError(111, "Connection refused"), "refused", True),
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number"), "network", False),
        (KeyError(0), "server", False),
        (ValueError("Expecting value: line 1 column 1 (char 0)"), "server", False),
        (TypeError("'int' object is not subscriptable"), "server", False),
    ],
)
def test_a_failure_of_the_network_is_reported_from_one_of_litellm(
    cause: Exception, kind: str, retryable: bool
) -> None:
    class APIConnectionError(Exception):
        status_code = 500

    APIConnectionError.__module__ = "litellm.exceptions"
    error = APIConnectionError("litellm.APIConnectionError: 0")
    error.__cause__ = cause
    fault = explain(error, Attempt("openai/m", "http://model.example/v1"))
    assert (fault.kind, fault.retryable) == (kind, retryable)


def test_ollama_that_is_not_running_is_named_with_the_way_to_start_it(models: ModelProcess) -> None:
    _, fault = fails(models, model="ollama/m", api_base="http://127.0.0.1:1")
    assert fault.sentence == "Ollama is not running at 127.0.0.1:1. Start it with: ollama serve"
    assert not fault.retryable


def test_a_name_and_password_in_the_address_are_refused_at_once(models: ModelProcess) -> None:
    _, fault = fails(models, api_base="http://user:hunter2@127.0.0.1:1/v1")
    assert (fault.kind, fault.setting, fault.retryable) == ("address", "api_base", False)
    assert "without a name and password" in fault.sentence
    assert "hunter2" not in fault.sentence


def test_ollama_says_how_to_get_a_model(models: ModelProcess, served: ModelServer) -> None:
    served.answer(server.error(404, "model 'nope' not found, try pulling it first"))
    _, fault = fails(models, model="ollama/nope", api_base=served.root)
    assert (fault.kind, fault.setting) == ("model", "model")
    assert "ollama pull nope" in fault.sentence


@pytest.mark.needs("openssl")
def test_a_certificate_that_nobody_knows(models: ModelProcess, tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1",
         "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with ModelServer(server.spoken(Say("x")), tls=context) as served:
        _, fault = fails(models, api_base=served.base.replace("http:", "https:"))
        assert (fault.kind, fault.setting) == ("network", "api_base")
        assert "certificate" in fault.sentence


def test_https_to_a_server_that_speaks_http(models: ModelProcess, served: ModelServer) -> None:
    _, fault = fails(models, api_base=served.base.replace("http:", "https:"))
    assert (fault.kind, fault.setting) == ("network", "api_base")
    assert "http://" in fault.sentence


@pytest.mark.parametrize(
    ("model", "root"),
    [("anthropic/m", ""), ("gemini/m", "/v1beta"), ("ollama_chat/m", ""), ("openrouter/a/m", "/api/v1")],
)
@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [(401, "key", False), (429, "rate", True), (500, "server", True), (503, "server", True)],
)
def test_the_status_decides_with_every_provider(
    models: ModelProcess, served: ModelServer, model: str, root: str, status: int, kind: str, retryable: bool
) -> None:
    served.answer(server.error(status, "Something", Retry_After="4"))
    _, fault = fails(models, model=model, api_base=served.root + root, api_key="k-12345678")
    assert (fault.kind, fault.retryable) == (kind, retryable)
    assert len(served.exchanges) == 1
    if status == 429:
        assert fault.retry_after == 4


@pytest.mark.parametrize(
    ("model", "root"),
    [("anthropic/m", ""), ("gemini/m", "/v1beta"), ("ollama_chat/m", ""), ("openrouter/a/m", "/api/v1")],
)
def test_silence_is_a_timeout_with_every_provider(
    models: ModelProcess, served: ModelServer, model: str, root: str
) -> None:
    served.answer(server.silent)
    _, fault = fails(models, model=model, api_base=served.root + root, api_key="k-12345678", timeout=1.0)
    assert fault.kind == "timeout"
    assert served.exchange().client_gone.wait(40)


def test_a_call_that_was_begun_is_kept_when_the_stream_is_cut(
    models: ModelProcess, served: ModelServer
) -> None:
    served.answer(server.broken_off(Call('{"language":"python","code":"1"}'), chunks=5, then=hang_up))
    _, fault = fails(models, api_base=served.base)
    assert fault.kind == "cut"


@pytest.mark.slow
def test_a_proxy_that_refuses(served: ModelServer, quick_model: dict[str, str]) -> None:
    served.answer(server.refused(407, "Proxy Authentication Required", "text/plain"))
    proxy = {"HTTP_PROXY": served.root, "http_proxy": served.root}
    with ModelProcess({**quick_model, **proxy}) as models:
        _, fault = fails(models, api_base="http://model.invalid/v1")
    assert fault.kind == "network"
    assert "HTTP_PROXY" in fault.sentence


@pytest.mark.parametrize(
    "error",
    [
        ValueError("x"),
        KeyError(),
        RuntimeError(""),
        json.JSONDecodeError("x", "y", 0),
        OSError(5, "x"),
        asyncio.InvalidStateError(),
    ],
)
def test_whatever_is_raised_is_a_fault_with_a_sentence(error: Exception) -> None:
    fault = explain(error, Attempt("openai/m"))
    assert fault.sentence


def test_an_error_that_is_its_own_cause_ends() -> None:
    error = RuntimeError("a")
    other = RuntimeError("b")
    error.__cause__, other.__cause__ = other, error
    assert explain(error, Attempt("openai/m")).kind == "unknown"
