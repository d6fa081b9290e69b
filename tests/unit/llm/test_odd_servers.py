"""Servers that send calls, blocks and answers in odd forms: each has a defined end, and no half code runs."""

import gzip
import json
import socket
import struct
import threading
from dataclasses import dataclass
from typing import Any

import pytest

from oi_tui.engine.events import ApprovalRequested, Noticed
from oi_tui.engine.llm.base import Text
from oi_tui.engine.llm.transport.client import ModelProcess
from tests.servers.openai_server import Answer, Exchange, ModelServer
from tests.unit.engine.test_session import make, run_turn, select
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

FIRST, LAST = CODE[:20], CODE[20:]
OTHER = CODE.replace('"1"', '"2"')
ONE, TWO = ["1"], ["1", "2"]
CALLED = CHUNK({}, "tool_calls")
UNREADABLE = "could not be read"
NOT_CLOSED = "did not close this code block"
JSON_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"


@dataclass
class Case:
    """An answer; the words of the reply, the code that runs, and some words of what the person is told."""

    answer: Answer
    text: str = ""
    ran: tuple[str, ...] | list[str] = ()
    told: str = ""


def call(arguments: Any = CODE, **more: Any) -> dict[str, Any]:
    return {"index": 0, "id": "c", "function": {"name": "execute", "arguments": arguments}, **more}


def more(arguments: Any, index: int = 0) -> dict[str, Any]:
    return {"index": index, "function": {"arguments": arguments}}


def calls(*pieces: Any, end: bytes = CALLED) -> Answer:
    return events(*(CHUNK({"tool_calls": [piece]}) for piece in pieces), end, DONE)


def named(name: Any, arguments: Any = CODE) -> Answer:
    return calls(call(function={"name": name, "arguments": arguments}))


def block(code: str, *ends: bytes) -> Answer:
    return events(CHUNK({"content": f"```python\n{code}"}), *ends)


def headed(line: bytes, *data: bytes) -> Answer:
    return send_bytes(HEAD.replace(b"Connection", line + b"\r\nConnection"), *data)


def reset(*data: bytes) -> Answer:
    """These bytes, and a connection that is not closed but broken."""

    def answer(exchange: Exchange) -> None:
        for item in data:
            exchange.connection.sendall(item)
        exchange.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        exchange.connection.close()

    return answer


def answer_whole(finish: str, **message: Any) -> Answer:
    return refused(
        200, {"choices": [{"index": 0, "message": {"content": None, **message}, "finish_reason": finish}]}
    )


def numbered(index: int, finish: str | None = None, **delta: Any) -> bytes:
    return record({"choices": [{"index": index, "delta": delta, "finish_reason": finish}]})


CUT = CHUNK({"tool_calls": [call(FIRST)]})
PAGE = "text/html"
CASES: dict[str, Case] = {
    # Calls that are not whole.
    "a call, and the end": Case(events(CUT), told=UNREADABLE),
    "a call, and DONE": Case(events(CUT, DONE), told=UNREADABLE),
    "a call, and a finish": Case(calls(call(FIRST), end=CHUNK({}, "stop")), told=UNREADABLE),
    "a call, and the finish of calls": Case(calls(call(FIRST)), told=UNREADABLE),
    "a call, and no room": Case(calls(call(FIRST), end=CHUNK({}, "length")), told="maximum length"),
    "a call, and an error": Case(
        events(CUT, record({"error": {"message": "died"}}), DONE), told="interrupted: died"
    ),
    "a call, and a finish of errors": Case(
        events(CUT, choice(delta={}, finish_reason="error")), told="interrupted"
    ),
    "a call, and a reset": Case(reset(HEAD, CUT), told=UNREADABLE),
    "a call in a chunk that breaks off": Case(
        headed(b"Transfer-Encoding: chunked", b"%x\r\n" % (len(CUT) + 9) + CUT), told="connection broke"
    ),
    "a call with a broken line": Case(
        events(CUT, b"data: {broken\n\n", CHUNK({"tool_calls": [more(LAST)]}), CALLED, DONE),
        told="part of it is missing",
    ),
    "a call of the old form": Case(
        events(CHUNK({"function_call": {"name": "execute", "arguments": FIRST}}), DONE), told=UNREADABLE
    ),
    "a call in a whole reply": Case(answer_whole("tool_calls", tool_calls=[call(FIRST)]), told=UNREADABLE),
    "a call in a whole reply, no room": Case(
        answer_whole("length", tool_calls=[call(FIRST)]), told="maximum length"
    ),
    "pieces in the wrong order": Case(calls(more(FIRST), call(LAST)), told=UNREADABLE),
    "objects in pieces": Case(calls(call({"language": "python"}), more({"code": "1"})), told=UNREADABLE),
    "no code": Case(calls(call({"language": "python"})), told=UNREADABLE),
    "code of null": Case(calls(call({"language": "python", "code": None})), told=UNREADABLE),
    "no language": Case(calls(call({"code": "1"})), told=UNREADABLE),
    "a NUL in the code": Case(calls(call('{"language":"python","code":"1\\u0000"}'))),
    "a language that is none": Case(calls(call({"language": "cobol", "code": "1"}))),
    # Blocks that are not whole.
    "a block, and the end": Case(block("1"), "```python\n1", ONE, NOT_CLOSED),
    "a block, and no room": Case(block("1", CHUNK({}, "length"), DONE), "```python\n1", ONE, NOT_CLOSED),
    "a block, and a filter": Case(
        block("1", CHUNK({}, "content_filter"), DONE), "```python\n1", ONE, NOT_CLOSED
    ),
    "half of a whole reply": Case(
        send_bytes(JSON_HEAD, b'{"choices":[{"index":0,"message":{"content":"```python\\n1'),
        told="only the beginning of a reply",
    ),
    "a block in a thought without end": Case(
        events(CHUNK({"content": "<think>```python\n1\n```"}), END, DONE), "<think>```python\n1\n```"
    ),
    "a block before the end of thoughts": Case(
        events(CHUNK({"content": "```python\n1\n```\n</think>z"}), END, DONE), "```python\n1\n```\n</think>z"
    ),
    "a call in a thought": Case(
        events(CHUNK({"reasoning_content": f"<tool_call>{CODE}</tool_call>"}), CHUNK({"content": "z"}), END),
        "z",
    ),
    # Calls that are whole.
    "no finish after a call": Case(events(CHUNK({"tool_calls": [call()]})), ran=ONE, told="may be cut off"),
    "no room after a call": Case(calls(call(), end=CHUNK({}, "length")), ran=ONE, told="maximum length"),
    "a filter after a call": Case(calls(call(), end=CHUNK({}, "content_filter")), ran=ONE, told="withheld"),
    "an abort after a call": Case(calls(call(), end=CHUNK({}, "abort")), ran=ONE, told="gave up the reply"),
    "a finish before the call": Case(
        events(CHUNK({}, "stop"), CHUNK({"tool_calls": [call()]}), DONE), ran=ONE
    ),
    "a call after DONE": Case(events(BEGUN, END, DONE, CHUNK({"tool_calls": [call()]})), "begun "),
    "two calls in turns": Case(
        calls(call(FIRST), call(OTHER[:20], index=1, id="d"), more(LAST), more(OTHER[20:], 1)), ran=TWO
    ),
    "two calls with one index": Case(calls(call(), call(OTHER, id="d")), ran=TWO),
    "two calls with one id": Case(calls(call(), call(OTHER, index=1)), ran=TWO),
    "two calls in one": Case(calls(call(CODE + OTHER)), ran=TWO),
    "both forms of a call": Case(
        events(
            CHUNK({"function_call": {"name": "execute", "arguments": CODE}, "tool_calls": [call()]}), CALLED
        ),
        ran=ONE,
    ),
    "the old form with an object": Case(
        events(CHUNK({"function_call": {"name": "execute", "arguments": json.loads(CODE)}}), END), ran=ONE
    ),
    "the old form, whole": Case(
        answer_whole("function_call", function_call={"name": "execute", "arguments": json.loads(CODE)}),
        ran=ONE,
    ),
    "a brace too many": Case(calls(call(CODE + "}")), ran=ONE),
    "a key twice": Case(calls(call('{"language":"python","code":"1","code":"2"}')), ran=ONE),
    "a line end in a string": Case(calls(call('{"language":"python","code":"1\n2"}')), ran=["1\n2"]),
    "single quotes": Case(calls(call("{'language':'python','code':'1'}")), ran=ONE),
    "arguments in a list": Case(calls(call([json.loads(CODE)])), ran=ONE),
    "code in lines": Case(calls(call({"language": "python", "code": ["1", "2"]})), ran=["1\n2"]),
    "code of a number": Case(calls(call({"language": "python", "code": 1})), ran=ONE),
    "a language in a list": Case(calls(call({"language": ["python"], "code": "1"})), ran=ONE),
    "a language with blanks": Case(calls(call({"language": " Python ", "code": "1"})), ran=ONE),
    "an index below zero": Case(calls(call(index=-1)), ran=ONE),
    "an index of a billion": Case(calls(call(index=10**9)), ran=ONE),
    "an index that is true": Case(calls(call(index=True)), ran=ONE),
    "an id in a list": Case(calls(call(id=["a"])), ran=ONE),
    "a name with its space": Case(named("functions.execute"), ran=ONE),
    "a name with blanks": Case(named(" execute "), ran=ONE),
    "a name in capitals": Case(named("Execute"), ran=ONE),
    "a name of null": Case(named(None), ran=ONE),
    "calls as a string": Case(
        events(CHUNK({"tool_calls": json.dumps([call()])}), CALLED, DONE), told="none that can be read"
    ),
    "a function as a string": Case(calls(call(function="execute")), told="none that can be read"),
    # Choices.
    "only choice 1": Case(events(numbered(1, content="a"), numbered(1, "stop"), DONE), "a"),
    "only choice 1, a call": Case(
        events(numbered(1, tool_calls=[call()]), numbered(1, "tool_calls"), DONE), ran=ONE
    ),
    "a call in two choices": Case(
        events(
            record(
                {
                    "choices": [
                        {"index": number, "delta": {"tool_calls": [call(code)]}}
                        for number, code in enumerate((CODE, OTHER))
                    ]
                }
            ),
            CALLED,
            DONE,
        ),
        ran=ONE,
    ),
    "choices as an object": Case(events(record({"choices": {"delta": {"content": "a"}}}), END, DONE), "a"),
    "choices as a string": Case(events(record({"choices": "a"}), DONE), told="an empty answer"),
    # What is no reply.
    "DONE at once": Case(events(DONE), told="an empty answer"),
    "packed without a word": Case(events(gzip.compress(BEGUN + END)), told="data that is not text"),
    "UTF-16": Case(events((BEGUN + END).decode().encode("utf-16")), told="data that is not text"),
    "packed, as it says": Case(headed(b"Content-Encoding: gzip", BEGUN, END), told="not valid HTTP"),
    "a length too short": Case(
        send_bytes(HEAD.replace(b"Connection", b"Content-Length: 40\r\nConnection") + BEGUN + END),
        told="not valid HTTP",
    ),
    "a chunk of a size that is none": Case(
        send_bytes(
            HEAD.replace(b"Connection", b"Transfer-Encoding: chunked\r\nConnection") + b"zz\r\n" + BEGUN
        ),
        told="not valid HTTP",
    ),
    "a chunk that breaks off": Case(
        headed(b"Transfer-Encoding: chunked", b"%x\r\n" % (len(BEGUN) + 50), BEGUN), "begun ", told="broke"
    ),
    "another protocol": Case(send_bytes(b"SSH-2.0-OpenSSH_9\r\n"), told="not valid HTTP"),
    "an alert of TLS": Case(send_bytes(b"\x15\x03\x01\x00\x02\x02\x46"), told="not valid HTTP"),
    "nothing": Case(send_bytes(), told="closed the connection without an answer"),
    "only 100": Case(send_bytes(b"HTTP/1.1 100 Continue\r\n\r\n"), told="without an answer"),
    "401 with a page": Case(refused(401, "<html>Log in</html>", PAGE), told="answered with a web page"),
    "402": Case(refused(402, {"error": "pay"}), told="no credit"),
    "404 with a page": Case(refused(404, "<html>none</html>", PAGE), told="not at this path"),
    "405": Case(refused(405, "", "text/plain"), told="not at this path"),
    "415": Case(refused(415, "", "text/plain"), told="Unsupported Media Type"),
    "421": Case(refused(421, "elsewhere", "text/plain"), told="(421): elsewhere"),
    "524": Case(refused(524, "", "text/plain"), told="gave up waiting"),
    "530": Case(refused(530, "error code: 1033", "text/plain"), told="error code: 1033"),
    "308 to another server": Case(
        refused(308, "", Location="https://127.0.0.1:9/v1"), told="which oi-tui does not follow"
    ),
}


def test_a_wrong_chunk_size_in_the_middle_of_a_reply_ends_it_at_once(
    models: ModelProcess, served: ModelServer
) -> None:
    read = threading.Event()

    def answer(exchange: Exchange) -> None:
        exchange.head()
        exchange.send(BEGUN)
        assert read.wait(30)
        exchange.connection.sendall(b"zz\r\n" + END)
        # The connection stays open until the client closes it.
        exchange.hang()

    served.answer(answer)
    heard, fault = ask(
        models, served, timeout=300.0, seen=lambda delta: isinstance(delta, Text) and read.set()
    )
    assert (join_text(heard), fault and fault.kind) == ("begun ", "cut")


@pytest.mark.parametrize("name", CASES)
def test_an_odd_server_ends_in_a_defined_state_and_no_half_code_runs(
    models: ModelProcess, served: ModelServer, name: str
) -> None:
    case = CASES[name]
    served.answer(case.answer)
    heard, fault = ask(models, served)
    session = make(heard, [Text("ok")])
    session.auto_run = True
    seen = run_turn(session)
    questions = [event.caution for event in select(seen, ApprovalRequested)]
    told = [*questions, *(event.text for event in select(seen, Noticed)), fault.sentence if fault else ""]
    assert (join_text(heard), [code for _, code in session.computer.ran]) == (case.text, list(case.ran))
    assert any(case.told in text for text in told), told
    assert bool(questions) == (case.told == NOT_CLOSED)
