"""Odd replies of providers: nothing of them is lost, and nothing runs that was not offered."""

import json
from typing import Any

import pytest

from oi_tui.engine.events import Noticed
from oi_tui.engine.llm.base import Delta, ErrorInfo, LlmError, Request, Text
from oi_tui.engine.llm.transport.client import ModelProcess
from tests.servers.openai_server import Answer, ModelServer
from tests.unit.engine.test_session import make, run_turn, select
from tests.unit.llm.test_odd_answers import (
    BEGUN,
    CHUNK,
    CODE,
    DONE,
    END,
    choice,
    events,
    join_text,
    record,
    refused,
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
#: Cases for other clients of LiteLLM than that for OpenAI: each reads a stream in its own way.
OTHERS = ("Anthropic", "the end model_length", "whole", "OpenRouter's error in a reply", "Bedrock's Converse")


def ask(models: ModelProcess, served: ModelServer, model: str) -> tuple[list[Delta], ErrorInfo | None]:
    heard: list[Delta] = []
    request = Request(
        model=model,
        messages=[{"role": "user", "content": "Hi"}],
        timeout=30.0,
        api_base=served.base,
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
    case = CASES[name]
    served.answer(case.answer)
    heard, fault = ask(models, served, model)
    session = make(heard, [Text("ok")])
    session.auto_run = True
    notices = [event.text for event in select(run_turn(session), Noticed)]
    assert (join_text(heard), [code for _, code in session.computer.ran]) == (case.text, list(case.ran))
    told = [*notices, *([fault.sentence] if fault else [])]
    assert any(case.told in text for text in told or [""]), told
    assert bool(told) == bool(case.told), told
