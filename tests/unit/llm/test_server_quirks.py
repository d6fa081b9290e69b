"""What providers and local servers send beside their documentation: read for what it means, or told truly."""

import gzip
import json
from typing import Any

import pytest

from oi_tui.engine.llm.base import Finish, Gap, Reasoning, Text, ToolCallPiece, Usage
from oi_tui.engine.llm.transport.client import ModelProcess
from tests.servers.openai_server import Answer, ModelServer
from tests.unit.engine.test_session import make, run_turn
from tests.unit.llm.test_odd_answers import (
    BEGUN,
    CHUNK,
    CODE,
    DONE,
    END,
    HEAD,
    ask,
    choice,
    events,
    join_text,
    record,
    refused,
    send_bytes,
)

COUNTS = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
FIRST, SECOND = CODE[:12], CODE[12:]
LATIN = "é😀".encode()


def calls(*deltas: Any) -> Answer:
    return events(*(CHUNK({"tool_calls": delta}) for delta in deltas), END, DONE)


def call(name: str | None, arguments: Any, **more: Any) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {"index": 0, "function": function, **more}


def answer_whole(value: Any) -> Answer:
    return refused(200, value)


#: A call, in the pieces in which it comes.
CALLS: dict[str, Answer] = {
    "id in every piece": calls([call("execute", FIRST, id="c")], [call(None, SECOND, id="c")]),
    "name in every piece": calls([call("execute", FIRST, id="c")], [call("execute", SECOND)]),
    "all in every piece": calls([call("execute", FIRST, id="c")], [call("execute", SECOND, id="c")]),
    "empty words later": calls([call("execute", FIRST, id="c")], [call("", SECOND, id="")]),
    "name in pieces": calls([call("exe", "", id="c")], [call("cute", CODE)]),
    "name last": calls([call(None, FIRST, id="c")], [call("execute", SECOND)]),
    "no arguments first": calls([call("execute", None, id="c")], [call(None, CODE)]),
    "an empty object first": calls([call("execute", "{}", id="c")], [call(None, CODE)]),
    "no index": calls(
        [{"id": "c", "function": {"name": "execute", "arguments": FIRST}}],
        [{"function": {"arguments": SECOND}}],
    ),
    "index from one": calls([call("execute", FIRST, id="c", index=1)], [call(None, SECOND, index=1)]),
    "index that grows": calls([call("execute", FIRST, id="c")], [call(None, SECOND, id="c", index=1)]),
    "another id": calls([call("execute", FIRST, id="c")], [call(None, SECOND, id="d")]),
    "written twice": calls([call("execute", CODE, id="c")], [call("execute", CODE, id="c")]),
    "string of a string": calls([call("execute", json.dumps(CODE), id="c")]),
    "no function around it": calls([{"index": 0, "id": "c", "name": "execute", "arguments": CODE}]),
    "parameters": calls([{"index": 0, "function": {"name": "execute", "parameters": json.loads(CODE)}}]),
    "function_call": events(
        CHUNK({"function_call": {"name": "execute", "arguments": FIRST}}),
        CHUNK({"function_call": {"arguments": SECOND}}),
        CHUNK({}, "function_call"),
    ),
    "a finish in each piece": events(
        choice(delta={"tool_calls": [call("execute", FIRST, id="c")]}, finish_reason="tool_calls"),
        choice(delta={"tool_calls": [call(None, SECOND)]}, finish_reason="tool_calls"),
    ),
    "in the error of Groq": refused(
        400,
        {"error": {"message": "See 'failed_generation'", "failed_generation": f"<function=execute>{CODE}"}},
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_runs_its_code_once(models: ModelProcess, served: ModelServer, name: str) -> None:
    served.answer(CALLS[name])
    heard, fault = ask(models, served)
    assert fault is None
    session = make(heard, [Text("ok")])
    session.auto_run = True
    run_turn(session)
    assert session.computer.ran == [("python", "1")]


#: Streams and bodies with their words; no line of them is missing.
REPLIES: dict[str, tuple[Answer, str]] = {
    "Azure's filter": (
        events(
            record({"id": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]}),
            BEGUN,
            choice(delta={}, finish_reason="stop", content_filter_results={}),
            choice(content_filter_offsets={"check_offset": 1}, finish_reason=None),
            DONE,
        ),
        "begun ",
    ),
    "usage and no choices": (events(BEGUN, END, record({"choices": None, "usage": COUNTS}), DONE), "begun "),
    "usage in the choice": (events(BEGUN, choice(delta={}, finish_reason="stop", usage=COUNTS)), "begun "),
    "no data": (events(b"data:\n\n", b"data: \n\n", BEGUN, b"data:\n\n", END, DONE), "begun "),
    "null": (events(b"data: null\n\n", BEGUN, b'data: ""\n\n', b"data: []\n\n", END, DONE), "begun "),
    "a word": (events(b"data: ping\n\n", BEGUN, b"data: [HEARTBEAT]\n\n", END, DONE), "begun "),
    "data of data": (events(b"data: " + BEGUN, b"data: " + END, b"data: " + DONE), "begun "),
    "blanks first": (events(b"  " + BEGUN, b"\t" + END, b" " + DONE), "begun "),
    "capitals": (events(BEGUN.replace(b"data", b"DATA"), END.replace(b"data", b"Data"), DONE), "begun "),
    "a blank before the colon": (events(*(b.replace(b":", b" :", 1) for b in (BEGUN, END, DONE))), "begun "),
    "separators of records": (events(*(b"\x1e" + item for item in (BEGUN, END, DONE))), "begun "),
    "NUL": (events(b"\0", BEGUN, b"\0\0\n", END, DONE), "begun "),
    "two marks of byte order": (events(b"\xef\xbb\xbf" + BEGUN, END, DONE), "begun "),
    "split characters": (
        events(
            b'data: {"choices":[{"index":0,"delta":{"content":"' + LATIN[:1],
            LATIN[1:4],
            LATIN[4:] + b'"}}]}\n\n',
            END,
            DONE,
        ),
        "é😀",
    ),
    "finish is empty": (
        events(
            choice(delta={"content": "a"}, finish_reason=""),
            choice(delta={"content": "b"}, finish_reason="null"),
            END,
        ),
        "ab",
    ),
    "finish in each": (events(*(choice(delta={"content": c}, finish_reason="stop") for c in "ab")), "ab"),
    "finish is a number": (events(BEGUN, choice(delta={}, finish_reason=1), DONE), "begun "),
    "finish has another name": (events(BEGUN, choice(delta={}, finish_reason="eos_token"), DONE), "begun "),
    "a role in each": (events(*(CHUNK({"role": "assistant", "content": c}) for c in "ab"), END), "ab"),
    "a role of null": (events(CHUNK({"role": None, "content": "a"}), END, DONE), "a"),
    "another id in each": (
        events(
            *(
                record({"id": c, "model": c, "choices": [{"index": 0, "delta": {"content": c}}]})
                for c in "ab"
            ),
            END,
        ),
        "ab",
    ),
    "no index": (events(record({"choices": [{"delta": {"content": "a"}}]}), END, DONE), "a"),
    "error of null": (
        events(record({"error": None, "choices": [{"index": 0, "delta": {"content": "a"}}]}), END),
        "a",
    ),
    "calls of null": (events(CHUNK({"content": "a", "tool_calls": None}), END, DONE), "a"),
    "a finish for calls that are none": (
        events(CHUNK({"content": "a", "tool_calls": []}), CHUNK({}, "tool_calls")),
        "a",
    ),
    "thousands of pings": (events(b": ping\n\n" * 2000, BEGUN, END, DONE), "begun "),
    "extensions and trailers": (
        send_bytes(
            HEAD.replace(b"Connection", b"Transfer-Encoding: chunked\r\nConnection"),
            *(b"%x;ext=1\r\n%b\r\n" % (len(item), item) for item in (BEGUN, END, DONE)),
            b"0\r\nX: 1\r\n\r\n",
        ),
        "begun ",
    ),
    "early hints": (
        send_bytes(b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n", HEAD, BEGUN, END, DONE),
        "begun ",
    ),
    "gzip without its end": (
        send_bytes(
            HEAD.replace(b"Connection", b"Content-Encoding: gzip\r\nConnection"),
            gzip.compress(BEGUN + END + DONE)[:-12],
        ),
        "begun ",
    ),
}


@pytest.mark.parametrize("name", REPLIES)
def test_a_reply_is_read_whole(models: ModelProcess, served: ModelServer, name: str) -> None:
    answer, shown = REPLIES[name]
    served.answer(answer)
    heard, fault = ask(models, served)
    assert (join_text(heard), fault) == (shown, None)
    assert not [delta for delta in heard if isinstance(delta, Gap)]
    assert Finish("missing") not in heard
    [usage] = [delta for delta in heard if isinstance(delta, Usage)]
    assert "usage" not in name or (usage.prompt_tokens, usage.completion_tokens) == (5, 3)


@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
        {"reasoning": "hm", "reasoning_content": "hm"},
        {"reasoning": {"text": "hm"}},
    ],
)
def test_a_thought_that_comes_twice_is_one(
    models: ModelProcess, served: ModelServer, delta: dict[str, Any]
) -> None:
    served.answer(events(CHUNK(delta), CHUNK({"content": "z"}), END, DONE))
    heard, _ = ask(models, served)
    assert "".join(delta.text for delta in heard if isinstance(delta, Reasoning)) == "hm"


BALANCE = {
    "id": "x",
    "choices": None,
    "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"},
}
DEAD = {"object": "error", "message": "engine is dead", "type": "InternalServerError", "code": 500}
#: Errors in place of a reply or in the middle of one: the kind, and some of the words.
FAULTS: dict[str, tuple[Answer, str, str]] = {
    "llama.cpp": (
        events(BEGUN, b'error: {"code":500,"message":"no context shift"}\n\n'),
        "server",
        "no context shift",
    ),
    "llama.cpp, at once": (events(b'error: {"message":"no context shift"}\n\n'), "empty", "no context shift"),
    "vLLM": (events(BEGUN, record(DEAD), DONE), "server", "(500): engine is dead"),
    "vLLM, whole": (answer_whole(DEAD), "server", "(500): engine is dead"),
    "FastChat": (
        events(record({"text": "HIGH TRAFFIC", "error_code": 50001})),
        "server",
        "sent an error: HIGH TRAFFIC",
    ),
    "FastChat, whole": (
        answer_whole({"text": "HIGH TRAFFIC", "error_code": 50001}),
        "empty",
        "answer: HIGH TRAFFIC",
    ),
    "MiniMax": (events(record(BALANCE)), "quota", "no credit"),
    "MiniMax, whole": (answer_whole(BALANCE), "quota", "no credit"),
    "Baidu": (
        answer_whole({"error_code": 17, "error_msg": "daily limit"}),
        "empty",
        "unexpected answer: daily limit",
    ),
    "DashScope": (
        events(BEGUN, record({"code": "Throttled", "message": "too busy"})),
        "cut",
        "interrupted: too busy",
    ),
    "an error in the choice": (
        events(BEGUN, choice(delta={"content": ""}, error={"message": "died", "code": 500}), DONE),
        "server",
        "(500): died",
    ),
    "an announced error": (
        events(BEGUN, b'event: error\ndata: {"type":"server_error","message":"had an error"}\n\n'),
        "cut",
        "interrupted: had an error",
    ),
    "LM Studio": (
        events(b'event: error\ndata: {"error":{"message":"crashed"}}\n\n'),
        "server",
        "sent an error: crashed",
    ),
    "Text Generation Inference": (
        events(b'data:{"error":"too long","error_type":"validation"}\n\n'),
        "server",
        "too long",
    ),
    "two messages": (
        refused(400, {"message": ["a must be x", "b"], "error": "Bad Request"}),
        "request",
        "a must be x",
    ),
    "errors by field": (refused(400, {"errors": {"model": ["is invalid"]}}), "request", "model: is invalid"),
    "Cloudflare": (
        events(record({"response": "hi"}), DONE),
        "empty",
        "Workers AI. Let api_base end in /ai/v1.",
    ),
    "Cloudflare, whole": (
        answer_whole({"result": {"response": "hi"}, "success": True}),
        "empty",
        "Workers AI",
    ),
    "events of something else": (
        events(record({"temperature": 21})),
        "empty",
        'unexpected answer: {"temperature": 21}',
    ),
    "a reply within something": (
        answer_whole({"data": {"choices": [{"message": {"content": "hi"}}]}}),
        "empty",
        'answer: {"data"',
    ),
    "a page about the wait": (
        refused(429, "<title>429</title>", "text/html", Retry_After="12"),
        "rate",
        "a pause of 12 s",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_an_error_is_told_in_its_own_words(models: ModelProcess, served: ModelServer, name: str) -> None:
    answer, kind, says = FAULTS[name]
    served.answer(answer)
    heard, fault = ask(models, served)
    assert fault is not None
    assert says in fault.sentence
    assert fault.kind == kind
    assert join_text(heard) in ("", "begun ")
    assert not [delta for delta in heard if isinstance(delta, ToolCallPiece)]
