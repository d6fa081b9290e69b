"""Finds model servers on this machine, and the models that they serve."""

import http.client
import json
import os
import re
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

#: Seconds to wait for all servers together; one that has not answered by then counts as missing.
TIMEOUT = 1.0
#: The most bytes that are read of an answer; lists of models are short.
_LONGEST = 2_000_000
_HERE = ("127.0.0.1", "localhost", "0.0.0.0", "::1")


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model that a server on this machine can run: `model` and `api_base` are what the profile needs.

    `size` is in bytes on disk, `context_window` in tokens; None where the server does not say.
    """

    server: str
    model: str
    api_base: str
    size: int | None = None
    context_window: int | None = None


@dataclass(frozen=True, slots=True)
class ReportedModelInfo:
    """The facts that a server on this machine reports about one of its models.

    `context_window` is what the model can take in, `loaded_window` what it was started with, in tokens;
    None where the server does not say.
    """

    server: str
    context_window: int | None = None
    loaded_window: int | None = None
    tools: bool | None = None
    vision: bool | None = None


@dataclass(frozen=True, slots=True)
class ServerKind:
    """A kind of model server: where it usually listens, and how to get it going."""

    name: str
    port: int
    #: Where the models are listed, likeliest first.
    lists: Sequence[str]
    #: What LiteLLM wants before the model's name, and after the address.
    prefix: str
    suffix: str
    hint: str


SERVERS = (
    ServerKind(
        "Ollama",
        11434,
        ("/api/tags",),
        "ollama/",
        "",
        "https://ollama.com, then get a model: ollama pull llama3.1",
    ),
    ServerKind(
        "LM Studio",
        1234,
        ("/api/v0/models", "/v1/models"),
        "openai/",
        "/v1",
        "https://lmstudio.ai, then start its server (Developer tab)",
    ),
    ServerKind(
        "llama.cpp",
        8080,
        ("/v1/models",),
        "openai/",
        "/v1",
        "llama-server -m MODEL.gguf --jinja",
    ),
    ServerKind(
        "Jan",
        1337,
        ("/v1/models",),
        "openai/",
        "/v1",
        "https://jan.ai, then start its local API server (settings)",
    ),
    ServerKind(
        "vLLM",
        8000,
        ("/v1/models",),
        "openai/",
        "/v1",
        "vllm serve MODEL --tool-call-parser NAME --enable-auto-tool-choice",
    ),
)


def find_with(api_base: str | None) -> list[LocalModel]:
    """Find the models that are served on this machine, those of the server at `api_base` first."""
    own = find_server(api_base)
    return find((own, *SERVERS)) if own else find()


def find_server(api_base: str | None) -> ServerKind | None:
    """Return the server at an address of this machine.

    None for other addresses, and for ports of `SERVERS`.
    """
    try:
        parts = urlsplit(api_base or "")
        port = parts.port
    except ValueError:
        return None
    if parts.hostname not in _HERE or parts.scheme != "http" or port is None:
        return None
    if any(server.port == port for server in SERVERS):
        return None
    suffix = parts.path.rstrip("/")
    return ServerKind(f"the server at port {port}", port, (f"{suffix}/models",), "openai/", suffix, "")


def find(servers: Iterable[ServerKind] = SERVERS, timeout: float = TIMEOUT) -> list[LocalModel]:
    """Return the models of all servers that answer on 127.0.0.1, in the order of `servers`.

    Takes at most about `timeout` seconds, and never raises. `OLLAMA_HOST` is read as Ollama reads it,
    as long as it names this machine.
    """
    until = time.monotonic() + timeout
    asked_servers = [
        replace(item, port=_find_ollama_port(item.port)) if item.name == "Ollama" else item
        for item in servers
    ]
    models_by_number: dict[int, list[LocalModel]] = {}

    def ask(number: int, server: ServerKind) -> None:
        models_by_number[number] = _parse_models(server, until)

    # Daemons: one that is fed a byte now and then must not keep the application from ending.
    threads = [threading.Thread(target=ask, args=item, daemon=True) for item in enumerate(asked_servers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return [model for number in range(len(asked_servers)) for model in models_by_number.get(number, ())]


def list_hints(servers: Iterable[ServerKind] = SERVERS, *, has_field: bool = False) -> list[str]:
    """Explain how to start each kind of server; with `has_field`, a field for a llamafile is below."""
    lines = [f"{server.name}: {server.hint}" for server in servers]
    if has_field:
        return [*lines, "Llamafile: give its address (https://...) or its file below"]
    return [*lines, "Llamafile: ctrl+l in oi-tui takes its address (https://...) or its file"]


def is_named(found: LocalModel, wanted: str) -> bool:
    """Return whether `wanted` means this model: its name with or without prefix or tag."""
    name = found.model.partition("/")[2]
    bare = wanted.partition("/")[2] if wanted.startswith(("ollama/", "ollama_chat/", "openai/")) else wanted
    return bare in (name, name.removesuffix(":latest"))


def is_local(model: str, api_base: str | None) -> bool:
    """Return whether a model is served on this machine, as far as its name and base tell."""
    if api_base:
        try:
            return urlsplit(api_base).hostname in _HERE
        except ValueError:
            return False
    return model.startswith(("ollama/", "ollama_chat/"))


def ask(model: str, api_base: str | None, timeout: float = 1.0) -> ReportedModelInfo | None:
    """Ask the model's server about it; None if that is not on this machine.

    Takes at most about `timeout` seconds for each question, and never raises.
    """
    if not is_local(model, api_base):
        return None
    until = time.monotonic() + timeout
    name = model.partition("/")[2] or model
    if model.startswith(("ollama/", "ollama_chat/")):
        port = _parse_port(api_base) if api_base else _find_ollama_port(11434)
        details = _get(port, "/api/show", until, {"model": name}) if port else None
        return _find_ollama_words(details) if isinstance(details, dict) else None
    port = _parse_port(api_base or "")
    if port is None:
        return None
    by_name = {server.name: replace(server, port=port) for server in SERVERS}
    # LM Studio's two lists are those of all the others, too.
    models = [
        item for item in _parse_models(by_name["LM Studio"], until) if item.model.partition("/")[2] == name
    ]
    reported = _add_window(by_name["llama.cpp"], models, until)
    window = reported[0].context_window if reported else None
    return ReportedModelInfo(f"the server at port {port}", loaded_window=window) if window else None


def _find_ollama_words(shown: dict[str, Any]) -> ReportedModelInfo:
    details = shown.get("model_info")
    lengths = [
        value
        for key, value in (details.items() if isinstance(details, dict) else ())
        if str(key).endswith(".context_length") and isinstance(value, int)
    ]
    reported = re.search(r"^num_ctx\s+(\d{1,9})$", str(shown.get("parameters") or ""), re.MULTILINE)
    able = shown.get("capabilities")
    return ReportedModelInfo(
        "Ollama",
        lengths[0] if lengths else None,
        int(reported[1]) if reported else None,
        "tools" in able if isinstance(able, list) else None,
        "vision" in able if isinstance(able, list) else None,
    )


def _parse_port(api_base: str) -> int | None:
    try:
        parts = urlsplit(api_base)
        return None if parts.scheme == "https" else parts.port or 80
    except ValueError:
        return None


def _find_ollama_port(usual: int) -> int:
    lines = os.environ.get("OLLAMA_HOST", "")
    try:
        address = urlsplit(lines if "//" in lines else f"//{lines}")
        local = address.hostname in _HERE
        return address.port or usual if local else usual
    except ValueError:
        return usual


def _parse_models(server: ServerKind, until: float) -> list[LocalModel]:
    for path in server.lists:
        answer = _get(server.port, path, until)
        entries = (
            answer.get("models" if path == "/api/tags" else "data") if isinstance(answer, dict) else None
        )
        if isinstance(entries, list):
            candidates = [_parse_model(server, entry) for entry in entries if isinstance(entry, dict)]
            models = [model for model in candidates if model is not None]
            return _add_window(server, models, until)
    return []


def _parse_model(server: ServerKind, entry: dict[str, Any]) -> LocalModel | None:
    name = entry.get("name") or entry.get("id")
    kind = entry.get("type", "llm")
    if not isinstance(name, str) or not name or kind in ("embeddings", "embedding"):
        return None
    meta = entry.get("meta") if isinstance(entry.get("meta"), dict) else {}
    window = (
        entry.get("loaded_context_length")
        or entry.get("max_model_len")
        or entry.get("max_context_length")
        or (meta or {}).get("n_ctx")
    )
    size = entry.get("size") or (meta or {}).get("size")
    return LocalModel(
        server.name,
        server.prefix + name,
        f"http://127.0.0.1:{server.port}{server.suffix}",
        size if isinstance(size, int) else None,
        window if isinstance(window, int) else None,
    )


def _add_window(server: ServerKind, models: list[LocalModel], until: float) -> list[LocalModel]:
    """Add the context window, which llama.cpp reports at another address."""
    if server.name != "llama.cpp" or not models or models[0].context_window:
        return models
    properties = _get(server.port, "/props", until)
    defaults = properties.get("default_generation_settings") if isinstance(properties, dict) else None
    window = defaults.get("n_ctx") if isinstance(defaults, dict) else None
    return [replace(model, context_window=window if isinstance(window, int) else None) for model in models]


def _get(port: int, path: str, until: float, question: dict[str, str] | None = None) -> Any:
    """Return the JSON at a path of a server on this machine, with or without a `question`, or None."""
    remaining_seconds = until - time.monotonic()
    if remaining_seconds <= 0:
        return None
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=remaining_seconds)
    try:
        if question is None:
            connection.request("GET", path, headers={"Accept": "application/json"})
        else:
            connection.request("POST", path, json.dumps(question), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return json.loads(answer.read(_LONGEST)) if answer.status == 200 else None
    except (OSError, ValueError, http.client.HTTPException, RecursionError):
        return None
    finally:
        connection.close()
