"""Odd replies of providers: nothing of them is lost, and nothing runs that was not offered."""

import json
from typing import Any

import pytest

from oi_tui.engine.events import Noticed
from oi_tui.engine.llm.base import Delta, ErrorInfo, LlmError, Request, Text
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.llm.transport.content_parts import IMAGE_NOT_SHOWN
from tests.servers.openai_server import Answer, ModelServer
from tests.unit.engine.test_session import make, run_turn, select
from tests.unit.llm.test_odd_answers import (
    BEGUN,
    CHUNK,
    CODE,
    DONE,
    END,
    HEAD,
    choice,
    events,
    join_text,
    lines_of,
    record,
    refused,
    send_bytes,
)
from tests.unit.llm.test_odd_servers import (
    CALLED,
    ONE,
    OTHER,
    TWO,
    UNREADABLE,
    Case,
    answer_whole,
    call,
    calls,
)

ARGUMENTS = json.loads(CODE)
WORD = {"type": "text", "text": "z"}
USE = {"type": "tool_use", "id": "c", "name": "execute", "input": ARGUMENTS}
CUT_OFF, WITHHELD, GIVEN_UP = "maximum length", "withheld the rest", "gave up the reply"


def parts(*content: Any, end: bytes = CALLED) -> Answer:
    return events(CHUNK({"content": list(content)}), end, DONE)


def ends(reason: str) -> Answer:
    return events(BEGUN, choice(delta={}, finish_reason=reason), DONE)


def vague(raw: str) -> dict[str, Any]:
    return {"error": {"message": "Provider returned error", "code": 502, "metadata": {"raw": raw}}}


UNKNOWN = "z[The model sent a part of type {}, which cannot be shown.]"
CASES: dict[str, Case] = {
    # Calls among the parts of a content.
    "Anthropic": Case(parts(WORD, USE), "z", ONE),
    "Mistral": Case(
        parts(WORD, {"type": "tool_call", "id": "c", "name": "execute", "arguments": CODE}), "z", ONE
    ),
    "OpenAI": Case(
        parts(WORD, {"type": "function", "id": "c", "function": {"name": "execute", "arguments": CODE}}),
        "z",
        ONE,
    ),
    "Responses": Case(
        parts(WORD, {"type": "function_call", "call_id": "c", "name": "execute", "arguments": CODE}), "z", ONE
    ),
    "Vercel": Case(
        parts(WORD, {"type": "tool-call", "toolCallId": "c", "toolName": "execute", "args": ARGUMENTS}),
        "z",
        ONE,
    ),
    "Bedrock": Case(
        parts({"text": "z"}, {"toolUse": {"toolUseId": "c", "name": "execute", "input": ARGUMENTS}}), "z", ONE
    ),
    "Gemini": Case(
        events(
            CHUNK(
                {
                    "content": {
                        "role": "model",
                        "parts": [
                            {"text": "z"},
                            {"functionCall": {"name": "execute", "args": ARGUMENTS}},
                        ],
                    }
                }
            ),
            CALLED,
            DONE,
        ),
        "z",
        ONE,
    ),
    "a call within a part": Case(
        parts(
            WORD,
            {"type": "tool_call", "tool_call": {"function": {"name": "execute", "arguments": CODE}}},
        ),
        "z",
        ONE,
    ),
    "a list of calls within a part": Case(
        parts(WORD, {"type": "tool_calls", "tool_calls": [call(), call(OTHER, id="d")]}),
        "z",
        TWO,
    ),
    "a list of calls without types": Case(
        parts(WORD, {"type": "tool_calls", "toolCalls": [{"name": "execute", "arguments": CODE}]}), "z", ONE
    ),
    "two": Case(parts(WORD, USE, {**USE, "id": "d", "input": json.loads(OTHER)}), "z", TWO),
    "two without ids, one after the other": Case(
        events(
            CHUNK({"content": [{**USE, "id": None}]}),
            CHUNK({"content": [{**USE, "id": None, "input": json.loads(OTHER)}]}),
            CALLED,
        ),
        ran=TWO,
    ),
    "in both places": Case(
        events(CHUNK({"content": [WORD, USE], "tool_calls": [call()]}), CALLED, DONE), "z", ONE
    ),
    "in both places without an id": Case(
        events(CHUNK({"content": [WORD, {**USE, "id": None}], "tool_calls": [call()]}), CALLED), "z", ONE
    ),
    "whole": Case(answer_whole("tool_calls", content=[WORD, USE]), "z", ONE),
    "whole, not in a list": Case(answer_whole("tool_calls", content=USE), ran=ONE),
    "with the reason of a reply without calls": Case(parts(USE, end=END), ran=ONE),
    "cut off": Case(
        parts({**USE, "input": CODE[:20]}, end=CHUNK({}, "model_length")),
        told=CUT_OFF,
    ),
    "not offered": Case(parts(WORD, {**USE, "name": "delete_all", "input": {}}), "z", told=UNREADABLE),
    "without input": Case(parts(WORD, {"type": "tool_use", "name": "execute"}), "z", told=UNREADABLE),
    "nothing but a type": Case(parts(WORD, {"type": "tool_use"}, end=END), UNKNOWN.format("tool_use")),
    "input beside null": Case(
        calls(call(function={"name": "execute", "arguments": None, "input": ARGUMENTS})), ran=ONE
    ),
    # Other parts.
    "a search by the server": Case(
        parts(WORD, {"type": "server_tool_use", "name": "web_search", "input": {}}, end=END),
        UNKNOWN.format("server_tool_use"),
    ),
    "code that the server ran": Case(
        parts(WORD, {"executableCode": {"language": "PYTHON", "code": "1"}}, end=END),
        UNKNOWN.format("executableCode"),
    ),
    "audio": Case(parts(WORD, {"type": "audio", "audio": {"data": "x"}}, end=END), UNKNOWN.format("audio")),
    "a refusal": Case(parts({"type": "refusal", "refusal": "No."}, end=END), "No."),
    "the number of a source": Case(
        parts(WORD, {"type": "reference", "reference_ids": [1]}, WORD, end=END), "zz"
    ),
    # Reasons for an end.
    **{
        f"the end {reason}": Case(ends(reason), "begun ", told=told)
        for told, reasons in (
            (CUT_OFF, ("model_length", "MAX_TOKENS", "max_completion_tokens", "ERROR_LIMIT", "token_limit")),
            (WITHHELD, ("sensitive", "ERROR_TOXIC", "guardrail_intervened", "content_filtered")),
            (GIVEN_UP, ("USER_CANCEL", "pause_turn", "repetition")),
        )
        for reason in reasons
    },
    "model_length in a whole reply": Case(answer_whole("model_length", content="w"), "w", told=CUT_OFF),
    "sensitive in a whole reply": Case(answer_whole("sensitive", content="w"), "w", told=WITHHELD),
    "model_length alone": Case(
        events(choice(delta={}, finish_reason="model_length"), DONE), told="before its first word"
    ),
    # Errors, and other formats.
    "OpenRouter's error": Case(
        refused(502, vague('{"error": {"message": "too hot"}}')), told="(502): too hot"
    ),
    "OpenRouter's error in a reply": Case(events(BEGUN, record(vague("too hot"))), "begun ", told="too hot"),
    "Cohere, version 1": Case(
        refused(200, {"text": "a", "generation_id": "g"}), told="Set model to cohere_chat/m"
    ),
    "Bedrock's Converse": Case(
        refused(200, {"output": {"message": {"content": [{"text": "a"}]}}, "stopReason": "end_turn"}),
        told="in Bedrock's format",
    ),
}


def named(*records: dict[str, Any]) -> Answer:
    """Events whose names are the types of their records."""
    return events(*(f"event: {item['type']}\n".encode() + record(item) for item in records))


def claude(reason: str, *blocks: tuple[dict[str, Any], dict[str, Any] | None]) -> Answer:
    """A reply of Anthropic: blocks, each with one delta or none."""
    begun = {"id": "m", "type": "message", "role": "assistant", "content": [], "usage": {"input_tokens": 1}}
    records: list[dict[str, Any]] = [{"type": "message_start", "message": begun}]
    for index, (block, delta) in enumerate(blocks):
        records.append({"type": "content_block_start", "index": index, "content_block": block})
        if delta:
            records.append({"type": "content_block_delta", "index": index, "delta": delta})
        records.append({"type": "content_block_stop", "index": index})
    ended = {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 1}}
    return named(*records, ended, {"type": "message_stop"})


def gemini(*content: dict[str, Any]) -> Answer:
    candidate = {"content": {"role": "model", "parts": content}, "finishReason": "STOP", "index": 0}
    return events(record({"candidates": [candidate]}))


def cohere(reason: str, *records: dict[str, Any], **more: Any) -> Answer:
    ended = {"type": "message-end", "delta": {"finish_reason": reason, **more}}
    return named({"type": "message-start", "id": "m"}, *records, ended)


def of_cohere(kind: str, **message: Any) -> dict[str, Any]:
    return {"type": kind, "index": 0, "delta": {"message": message}}


SAID = ({"type": "text", "text": ""}, {"type": "text_delta", "text": "z"})
SEARCH = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
QUERY = {"type": "input_json_delta", "partial_json": '{"query": "x"}'}
SAID_BY_COHERE = of_cohere("content-delta", content={"text": "z"})
IMAGE = {"role": "assistant", "content": "z", "images": ["aGk="]}
#: Replies in the format of their provider, with the model and the end of the address.
NATIVE: dict[str, tuple[str, str, Case]] = {
    "Anthropic, input at once": ("anthropic/m", "", Case(claude("tool_use", (USE, None)), ran=ONE)),
    "Anthropic, input at once and in pieces": (
        "anthropic/m",
        "",
        Case(claude("tool_use", (USE, {"type": "input_json_delta", "partial_json": CODE})), ran=ONE),
    ),
    "Anthropic, a search by the server": (
        "anthropic/m",
        "",
        Case(
            claude("end_turn", (SEARCH, QUERY), SAID),
            "[The model sent a part of type server_tool_use, which cannot be shown.]z",
        ),
    ),
    "Anthropic, whole": (
        "anthropic/m",
        "",
        Case(
            refused(
                200,
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [WORD, USE],
                    "stop_reason": "max_tokens",
                },
            ),
            "z",
            ONE,
            CUT_OFF,
        ),
    ),
    "Gemini, a call without arguments": (
        "gemini/m",
        "/v1beta",
        Case(gemini({"functionCall": {"name": "execute"}}), told=UNREADABLE),
    ),
    "Gemini, an image": (
        "gemini/m",
        "/v1beta",
        Case(
            gemini({"text": "z"}, {"inlineData": {"mimeType": "image/png", "data": "aGk="}}),
            f"z{IMAGE_NOT_SHOWN}",
        ),
    ),
    "Gemini, code that the server ran": (
        "gemini/m",
        "/v1beta",
        Case(
            gemini({"text": "z"}, {"executableCode": {"language": "PYTHON", "code": "1"}}),
            UNKNOWN.format("executableCode"),
        ),
    ),
    "Ollama, an image": (
        "ollama_chat/m",
        "",
        Case(lines_of({"model": "m", "message": IMAGE, "done": True}), f"z{IMAGE_NOT_SHOWN}"),
    ),
    "Cohere": ("cohere_chat/m", "/v2/chat", Case(cohere("COMPLETE", SAID_BY_COHERE), "z")),
    "Cohere, a plan and a call": (
        "cohere_chat/m",
        "/v2/chat",
        Case(
            cohere(
                "TOOL_CALL",
                of_cohere("tool-plan-delta", tool_plan="z"),
                of_cohere(
                    "tool-call-start",
                    tool_calls={"id": "c", "function": {"name": "execute", "arguments": ""}},
                ),
                of_cohere("tool-call-delta", tool_calls={"function": {"arguments": CODE[:9]}}),
                of_cohere("tool-call-delta", tool_calls={"function": {"arguments": CODE[9:]}}),
                {"type": "tool-call-end", "index": 0},
            ),
            "z",
            ONE,
        ),
    ),
    "Cohere, at its limit": (
        "cohere_chat/m",
        "/v2/chat",
        Case(cohere("MAX_TOKENS", SAID_BY_COHERE), "z", told=CUT_OFF),
    ),
    "Cohere, an error": (
        "cohere_chat/m",
        "/v2/chat",
        Case(cohere("ERROR", SAID_BY_COHERE, error="the model fell over"), "z", told="the model fell over"),
    ),
}
#: Cases for other clients of LiteLLM than that for OpenAI: each reads a stream in its own way.
OTHERS = ("Anthropic", "the end model_length", "whole", "OpenRouter's error in a reply", "Bedrock's Converse")


def ask(models: ModelProcess, model: str, base: str) -> tuple[list[Delta], ErrorInfo | None]:
    heard: list[Delta] = []
    request = Request(
        model=model,
        messages=[{"role": "user", "content": "Hi"}],
        timeout=30.0,
        api_base=base,
        api_key="sk-canary-3",
    )
    try:
        for delta in models.reply(request):
            heard.append(delta)
    except LlmError as error:
        return heard, error.info
    return heard, None


@pytest.mark.parametrize(
    ("model", "name"),
    [
        *(("openai/m", name) for name in CASES),
        *((f"{provider}/m", name) for provider in ("mistral", "openrouter", "azure_ai") for name in OTHERS),
    ],
)
def test_an_odd_reply_is_read_or_reported(
    models: ModelProcess, served: ModelServer, model: str, name: str
) -> None:
    served.answer(CASES[name].answer)
    check(CASES[name], *ask(models, model, served.base))


@pytest.mark.parametrize("name", NATIVE)
def test_an_odd_reply_in_the_format_of_its_provider_is_read_or_reported(
    models: ModelProcess, served: ModelServer, name: str
) -> None:
    model, path, case = NATIVE[name]
    served.answer(case.answer)
    check(case, *ask(models, model, f"{served.root}{path}"))


BEGUN_BY_ANTHROPIC = {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
IN_CHUNKS = HEAD.replace(b"Connection: close", b"Transfer-Encoding: chunked")
FIRST_RECORD = record(BEGUN_BY_ANTHROPIC)
OLLAMA_BEGUN = {"model": "m", "message": {"role": "assistant", "content": ""}, "done": False}
#: What ends a reply before its first word, in the format of the provider.
EARLY_ENDS: dict[str, tuple[str, Answer, tuple[str, str]]] = {
    "Anthropic, an error": (
        "anthropic/m",
        named(BEGUN_BY_ANTHROPIC, OVERLOADED),
        ("server", "Overloaded"),
    ),
    "Anthropic, a broken connection": (
        "anthropic/m",
        send_bytes(IN_CHUNKS, b"%x\r\n" % len(FIRST_RECORD), FIRST_RECORD, b"\r\n"),
        ("network", "Not enough data"),
    ),
    "Ollama, an error": (
        "ollama_chat/m",
        lines_of(OLLAMA_BEGUN, {"error": "the model crashed"}),
        ("request", "the model crashed"),
    ),
}


@pytest.mark.parametrize("name", EARLY_ENDS)
def test_an_error_before_the_first_word_keeps_its_kind(
    models: ModelProcess, served: ModelServer, name: str
) -> None:
    model, answer, (kind, words) = EARLY_ENDS[name]
    served.answer(answer)
    heard, fault = ask(models, model, served.root)
    assert (join_text(heard), fault is not None) == ("", True)
    assert fault is not None
    assert (fault.kind, words in fault.detail) == (kind, True), fault
    # Nothing was said, so that nothing is said twice when it is asked for again.
    assert fault.retryable == (kind != "request"), fault


def check(case: Case, heard: list[Delta], fault: ErrorInfo | None) -> None:
    """Compare what was heard, what ran and what the person is told."""
    session = make(heard, [Text("ok")])
    session.auto_run = True
    notices = [event.text for event in select(run_turn(session), Noticed)]
    assert (join_text(heard), [code for _, code in session.computer.ran]) == (case.text, list(case.ran))
    told = [*notices, *([fault.sentence] if fault else [])]
    assert any(case.told in text for text in told or [""]), told
    assert bool(told) == bool(case.told), told
