"""Turns failures of model requests into sentences for the user.

Facts about the exceptions of LiteLLM 1.105: the class for one and the same trouble differs from provider to
provider, so the status code decides; errors within a stream come wrapped; connection trouble claims status
500 and hides its cause further down the chain; headers are kept in `litellm_response_headers`.
"""

import ast
import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from oi_tui.engine.credentials.keys import find_variable_name
from oi_tui.engine.credentials.redaction import redact
from oi_tui.engine.llm.base import ErrorInfo
from oi_tui.engine.llm.error_table import CONNECTION, MISSING_MODULE, TROUBLES, Attempt
from oi_tui.engine.llm.transport.chunk_repair import (
    VAGUE,
    describe_page,
    extract_error_text,
    remove_traceback,
)
from oi_tui.engine.llm.transport.foreign_format import ForeignFormat
from oi_tui.engine.llm.urls import hide_password
from oi_tui.engine.models.model_names import explain_gone, suggest_name
from oi_tui.system.extras import make_install_command
from oi_tui.system.failures import describe_refusal

#: Longest piece of a provider's own words that is kept.
_DETAIL = 600
#: And as much as is looked at.
_LONGEST = 20_000
#: No server asks for a longer wait, in seconds, and means it.
_LONGEST_WAIT = 366 * 86400.0
#: A length of time as providers write it: hours, minutes, seconds and milliseconds.
_NUMBER = r"(?:(\d{1,15}(?:\.\d{0,15})?) ?"
_LENGTH = re.compile(rf"{_NUMBER}h)?{_NUMBER}m(?!s))?{_NUMBER}s)?{_NUMBER}ms)?")
_CODE = re.compile(r"\AError code: \d+(?: - |\Z)")
#: The bytes of a body, as Python shows them, after names of exceptions.
_BODY = re.compile(
    r"""\A(?:(?:\w+(?:Error|Exception)\b[\s:-]*)*b["']"""
    r"""|(?:'message', )?Got unexpected response from Ollama: )"""
    r"(?=[{\[])"
)
#: What LiteLLM puts behind the words of some providers.
_BEHIND = re.compile(r",? Metadata: \{[^{}]{0,200}\}(?:, User ID:.{0,100})?\s*\Z")
#: What is added to a base to make a request.
_REQUEST = re.compile(
    r"(?:/(?:chat/completions|(?:v1/)?messages|api/chat|models/[^/?]*|openai/deployments/.*)/?)?(?:[?#].*)?\Z"
)
_NETWORK = re.compile(
    r"OSError|ConnectionError|ConnectError|TransportError|ClientError|ProtocolError|RequestError|Timeout"
    r"|IncompleteRead|ProxyError|SSLError"
)
#: The variables that name files of certificates, or of keys of connections. An error in one is an OSError.
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE")
#: Packages that are imported by another name than they are installed by.
_PACKAGES = {"google": "google-cloud-aiplatform", "vertexai": "google-cloud-aiplatform", "botocore": "boto3"}
_PREFIX = re.compile(
    r"^\s*(?:litellm\.)?(?:[A-Z]\w*(?:Error|Exception|Timeout)?|[a-z]\w*Exception)\s*(?::|-)\s+(?=\S)"
)


def explain(error: BaseException, attempt: Attempt) -> ErrorInfo:
    """Return what an exception means for the person."""
    chain = list(_list_causes(error))
    # Whole pages and dumps come as the words of an error.
    words = " ".join(f"{type(item).__name__}: {str(item)[:_LONGEST]}" for item in chain)
    status = _find_status(chain)
    detail = _format_detail(chain[0], attempt) or _find_phrase(status) or "it gave no reason"
    if detail == VAGUE:
        detail = _find_upstream_words(chain, attempt) or detail
    retry_after = _retry_after(chain, words)
    attempt = replace(attempt, led=_find_redirect(chain, words, status), on_the_way=_on_the_way(chain, words))
    if attempt.begun and status in (None, 408) and re.search(r"[Tt]imeout|timed out", words):
        return describe_timeout(attempt)
    for trouble in TROUBLES:
        if (
            (trouble.statuses is None or status in trouble.statuses)
            and (not trouble.message or re.search(trouble.message, words, re.IGNORECASE))
            and trouble.when(attempt)
        ):
            break
    setting = trouble.setting if trouble.setting != "base" else "api_base" if attempt.api_base else "model"
    sentence = trouble.sentence.format(
        model=attempt.model,
        name=attempt.name,
        provider=attempt.provider,
        host=attempt.host,
        api_base=attempt.api_base,
        place=attempt.place,
        advice=suggest_name(attempt.model),
        module=(module := _find_missing_module(words)),
        install=make_install_command(module),
        broke=_describe_break(chain, attempt),
        timeout=attempt.timeout,
        led=attempt.led,
        status=status,
        detail=detail,
        reason=_format_detail(chain[-1], attempt) or detail,
        variable=" or ".join(attempt.missing) or find_variable_name(attempt.model) or "of its provider",
        wait="" if not retry_after else f" It asks for a pause of {_format_duration(retry_after)}.",
    )
    return ErrorInfo(
        trouble.kind, redact(sentence, attempt.api_key), setting, trouble.retryable, retry_after, detail
    )


def describe_timeout(attempt: Attempt) -> ErrorInfo:
    """Return the error for a model that sent nothing for as long as the profile allows."""
    silence = f"{attempt.timeout:g} s"
    sentence = (
        f"The reply stopped: no data for {silence}. The received part is kept."
        if attempt.begun
        else f"{attempt.host} did not answer within {silence}."
    )
    return ErrorInfo("timeout", f"{sentence} Slow models need a longer timeout.", "timeout", retryable=True)


def _list_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and what caused it, the wrappers of streams taken off."""
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        link = todo.pop(0)
        if link is None or id(link) in seen or len(seen) > 12:
            continue
        seen.add(id(link))
        inner = getattr(link, "original_exception", None)
        if isinstance(inner, BaseException):
            todo.insert(0, inner)
        else:
            yield link
        todo += [link.__cause__, link.__context__]


def _find_status(chain: list[BaseException]) -> int | None:
    # What never reached the server, or broke on the way, claims status 500.
    unsent = any(CONNECTION.fullmatch(type(item).__name__) for item in chain)
    for item in chain:
        status = getattr(item, "status_code", None)
        if not isinstance(status, int) and type(item).__name__ == "APIError":
            # An error within a stream has its number in the record itself.
            code = str(getattr(item, "code", None))
            status = int(code) if code.isdecimal() else None
            unsent = unsent and status is None
        if isinstance(status, int) and 300 <= status < 600 and not unsent:
            return status
    return None


def _on_the_way(chain: list[BaseException], words: str) -> bool:
    """Return whether the network failed.

    LiteLLM reports that for each error it does not know, without the cause.
    """
    real = any(
        _NETWORK.search(kind.__name__)
        for item in chain
        for kind in type(item).__mro__
        if not kind.__module__.startswith(("litellm", "openai"))
    )
    return real or re.search(r"Connection error\.|Network|\b(?:Errno|WinError) ", words) is not None


def _find_missing_module(words: str) -> str:
    """Return the name under which the package that is missing can be installed."""
    match = MISSING_MODULE.search(words)
    module = next(filter(None, match.groups()), "") if match else ""
    return _PACKAGES.get(module.partition(".")[0], module.rstrip("."))


def _describe_break(chain: list[BaseException], attempt: Attempt) -> str:
    """Say in a few words what could not be read."""
    detail = _format_detail(chain[0], attempt).partition(", Received chunk")[0]
    return detail[:200] or type(chain[-1]).__name__


def _format_duration(seconds: float) -> str:
    """Return a length of time as a person says it: "20 s", "5 min", "24 h"."""
    if seconds < 120:
        return f"{max(seconds, 1):.0f} s"
    if seconds < 2 * 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.0f} days"


def _find_headers(error: BaseException) -> Mapping[str, Any]:
    for holder in (error, getattr(error, "response", None)):
        for name in ("litellm_response_headers", "headers"):
            headers = getattr(holder, name, None)
            if headers is not None and hasattr(headers, "get") and len(headers):
                return dict(headers.items())
    return {}


def _find_redirect(chain: list[BaseException], words: str, status: int | None) -> str:
    """Return the base address to which the server redirects; empty where it does not."""
    address = ""
    if status in range(300, 400):
        headers = [pair for item in chain for pair in _find_headers(item).items()]
        names = ("location", "llm_provider-location")
        address = next((str(value) for name, value in headers if str(name).lower() in names), "")
    elif match := re.search(r"Redirect location: '([^'\s]+)'", words):
        address = match[1]
    return hide_password(_REQUEST.sub("", address[:_DETAIL]))


def _retry_after(chain: list[BaseException], words: str) -> float | None:
    for item in chain:
        headers = {
            str(k).lower().removeprefix("llm_provider-"): str(v) for k, v in _find_headers(item).items()
        }
        if text := headers.get("retry-after-ms"):
            return _read_limit_wait(_parse_length(f"{text}ms"))
        if text := headers.get("retry-after"):
            return _read_limit_wait(_parse_seconds(text))
    match = re.search(r'(?:retryDelay"?\s*:\s*"?|(?:try again|retry) in )([\d.]+ ?[hms][\w.]{0,40})', words)
    return _read_limit_wait(_parse_length(match[1])) if match else None


def _read_limit_wait(seconds: float | None) -> float | None:
    """Return the seconds of a wait that a server asks for; None where they cannot be meant."""
    if seconds is None or not math.isfinite(seconds) or seconds > _LONGEST_WAIT:
        return None
    return max(0.0, seconds)


def _parse_length(text: str) -> float | None:
    """Return the seconds of a duration such as `7m12.5s` or `320ms`; None for any other text."""
    match = _LENGTH.match(text)
    if not match or not any(match.groups()):
        return None
    hours, minutes, seconds, milliseconds = (float(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000


def _parse_seconds(text: str) -> float | None:
    """Return the seconds of a header Retry-After: a number, a length of time, or a date."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return _parse_length(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - datetime.now(UTC)).total_seconds()


def explain_body(words: str, code: int | None, attempt: Attempt) -> ErrorInfo | None:
    """Explain an error that came in a body with a status of success; None if it is of no known kind."""
    info = explain(_BodyError(words, code), attempt)
    return None if info.kind == "unknown" else info


def find_failed_reply(error: BaseException) -> str:
    """Return the reply that came within an error, because the server could not read the call in it; else "".

    Groq has it in `failed_generation`.
    """
    body = getattr(error, "body", None)
    if not isinstance(body, dict):
        words = str(error)[:_LONGEST]
        try:
            body = json.loads(words[words.index("{") :])
        except (ValueError, RecursionError):
            return ""
    match body.get("error", body):
        case {"failed_generation": str(reply)}:
            return reply
    return ""


class _BodyError(Exception):
    """An error that came as the words of a reply."""

    def __init__(self, words: str, code: int | None) -> None:
        super().__init__(words)
        self.status_code = code


def _find_phrase(status: int | None) -> str:
    """Return the standard phrase of a status."""
    try:
        return HTTPStatus(status or 0).phrase
    except ValueError:
        return ""


def _extract_text(text: str) -> str:
    """Return the words within an error that came as a structure."""
    text = _CODE.sub("", text)
    if (start := _BODY.search(text[:200])) is not None:
        text = text[start.end() :].removesuffix("'").removesuffix('"')
    if text[:1] not in ("{", "["):
        return "" if text == "None" else text
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        try:
            body = ast.literal_eval(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            return text
    return extract_error_text(body) or ("" if not body else text)


def _find_upstream_words(chain: list[BaseException], attempt: Attempt) -> str:
    """Return the words of the provider behind OpenRouter, where the body of an error has them; else ""."""
    for error in chain:
        if isinstance(body := getattr(error, "body", None), dict):
            words = extract_error_text(body if "error" in body else {"error": body})
            return "" if words == VAGUE else _format_detail(_BodyError(words, None), attempt)
    return ""


def _format_detail(error: BaseException, attempt: Attempt) -> str:
    text = str(getattr(error, "message", "") or error)[:_LONGEST].partition(" Handle with `litellm")[0]
    text = _BEHIND.sub("", remove_traceback(text))
    while (match := _PREFIX.match(text)) and len(match.group()) < 60:
        text = text[match.end() :]
    text = _extract_text(text.strip())
    text = describe_page(text) or text
    flat = " ".join(redact(text[:_LONGEST], attempt.api_key).split())
    return flat if len(flat) <= _DETAIL else flat[: _DETAIL - 1] + "…"


def make_empty_reply_error(
    attempt: Attempt, finish: str | None, instead: str = "", foreign: ForeignFormat | None = None
) -> ErrorInfo:
    """Explain a reply that ended without a word, a call or a thought.

    `instead` is what came in its place, and `foreign` its format where that is another than OpenAI's.
    """
    if finish == "length":
        return ErrorInfo(
            "empty",
            "The reply was cut off before its first word: max_tokens is too small, or the conversation fills "
            "the context window.",
            "max_tokens",
        )
    if finish == "content_filter":
        return ErrorInfo("empty", f"{attempt.host} withheld the reply (content filter).", "model")
    if finish == "malformed":
        return ErrorInfo(
            "empty", f"{attempt.host} could not read the tool call that the model wrote. Try again.", "model"
        )
    if finish in ("tool_calls", "function_call") and not instead:
        return ErrorInfo(
            "empty",
            f"{attempt.host} announced a tool call and sent none that can be read. Try again, or set "
            "llm.supports_functions to false.",
            "supports_functions",
        )
    if finish == "given_up":
        return ErrorInfo(
            "empty", f"{attempt.host} gave up the reply before its first word. Try again.", "model"
        )
    base = attempt.api_base
    if foreign and not instead and attempt.provider not in foreign.providers:
        hint = foreign.advice.format(name=attempt.name)
        return ErrorInfo("empty", f"{attempt.host} answered {foreign.title}. {hint}.", foreign.setting)
    if instead:
        words = redact(instead, attempt.api_key)
        text = f"{attempt.host} sent an unexpected answer: {words.rstrip('.')}."
        return ErrorInfo("empty", text, "api_base" if base else "model", detail=words)
    if base and not re.search(r"/v\d", urlsplit(base).path) and attempt.provider == "openai":
        hint = f"If {base} is not the API address, correct api_base: it usually ends in /v1."
    else:
        hint = "Try again, or choose another model."
    return ErrorInfo("empty", f"{attempt.host} sent an empty answer. {hint}", "api_base" if base else "model")


def make_address_error(base: str, wanted: str) -> ErrorInfo:
    """Explain that the base is not a valid address; `wanted` says what it must be."""
    return ErrorInfo("address", f"api_base must be {wanted}, not {hide_password(base)}.", "api_base")


def explain_no_provider(model: str) -> ErrorInfo:
    """Explain that the name of a model does not say, or not rightly, whose model it is."""
    if reason := explain_gone(model):
        return ErrorInfo("model", reason, "model")
    return ErrorInfo("model", f"The provider of “{model}” is unknown. {suggest_name(model)}", "model")


def make_internal_error(error: Exception) -> ErrorInfo:
    """Return the error for a bug in this program."""
    text = redact(f"{type(error).__name__}: {error}"[:_DETAIL])
    return ErrorInfo("unknown", f"The request failed inside oi-tui. {text}", detail=text)


def explain_import_failed(error: Exception) -> ErrorInfo:
    """LiteLLM cannot be loaded: its installation is broken, or certificates that it reads are."""
    text = redact(f"{type(error).__name__}: {error}"[:_DETAIL])
    if refusal := describe_refusal(text):
        return ErrorInfo(
            "process", f"LiteLLM, which talks to models, cannot be loaded: {refusal}.", detail=text
        )
    variables = [f"{name} ({os.environ[name]})" for name in _CERTIFICATES if os.environ.get(name)]
    advice = f"Install it again: {make_install_command('litellm', '--force-reinstall')}"
    if isinstance(error, OSError) and variables:
        advice = f"Correct or unset {' and '.join(variables)}"
    return ErrorInfo("process", f"LiteLLM, which talks to models, cannot be loaded. {text}. {advice}.")


def explain_process_cannot_begin(reason: str, last_words: str) -> ErrorInfo:
    """Explain that the process that talks to models ended before it answered anything."""
    last = last_words.rpartition("\n")[2].strip()
    why = describe_refusal(last_words) or redact(last[:_DETAIL])
    sentence = f"The model process {reason} as it began"
    return ErrorInfo(
        "process", f"{sentence}: {why.rstrip('.')}." if why else f"{sentence}.", detail=redact(last_words)
    )


def explain_process_ended(reason: str) -> ErrorInfo:
    """Explain that the process that talks to models has ended."""
    return ErrorInfo(
        "process",
        f"The model process {reason}. It restarts with the next message.",
        None,
        retryable=True,
    )
