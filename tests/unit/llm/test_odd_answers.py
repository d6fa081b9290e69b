"""Answers of servers that nobody would expect: each ends in a sentence, or in the reply that was meant."""

import gzip
import json
import socket
import zlib
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from oi_tui.engine.llm.base import Delta, ErrorInfo, Finish, LlmError, Reasoning, Request, Text, ToolCallPiece
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.llm.transport.content_parts import IMAGE_NOT_SHOWN
from tests.servers import openai_server as server
from tests.servers.openai_server import Answer, Exchange, ModelServer
from tests.servers.wires import OpenAi

CHUNK = OpenAi().chunk
BEGUN = CHUNK({"content": "begun "})
END = CHUNK({}, "stop")
DONE = b"data: [DONE]\n\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
CHUNKED = HEAD.replace(b"Connection: close", b"Transfer-Encoding: chunked")
ROLE = CHUNK({"role": "assistant", "content": ""})
CODE = '{"language":"python","code":"1"}'
FUNCTION = {"name": "execute", "arguments": CODE}
LOOP = "127.0.0.1"


def send_bytes(*data: bytes) -> Answer:
    """These bytes, and the end of the connection."""

    def answer(exchange: Exchange) -> None:
        for item in data:
            exchange.connection.sendall(item)
        exchange.connection.shutdown(socket.SHUT_WR)

    return answer


def events(*data: bytes) -> Answer:
    return send_bytes(HEAD, *data)


def record(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def choice(**values: Any) -> bytes:
    return record({"id": "1", "choices": [{"index": 0, **values}]})


def refused(status: int, body: Any, media: str = "application/json", **headers: str) -> Answer:
    return server.refused(status, body, media, **headers)


def refuse_with_message(status: int, message: str, **more: Any) -> Answer:
    return refused(status, {"error": {"message": message, **more}})


def ask(
    models: ModelProcess,
    served: ModelServer,
    timeout: float = 30.0,
    seen: Callable[[Delta], object] = lambda _: None,
) -> tuple[list[Delta], ErrorInfo | None]:
    heard: list[Delta] = []
    request = Request(
        model="openai/m",
        messages=[{"role": "user", "content": "Hi"}],
        timeout=timeout,
        api_base=served.base,
        api_key="sk-canary-3",
        max_tokens=50,
        temperature=0.5,
    )
    try:
        for delta in models.reply(request):
            heard.append(delta)
            seen(delta)
    except LlmError as error:
        return heard, error.info
    return heard, None


def join_text(heard: Iterable[Delta]) -> str:
    return "".join(delta.text for delta in heard if isinstance(delta, Text))


#: An answer, and what is told of it: the kind, the setting, and some of the words.
FAULTS: dict[str, tuple[Answer, str, str | None, str]] = {
    "400, an empty answer": (refused(400, "", "text/plain"), "request", "model", "(400): Bad Request"),
    "406": (refused(406, "", "text/plain"), "request", "model", "Not Acceptable"),
    "408": (refused(408, "", "text/plain"), "timeout", "timeout", "longer timeout"),
    "409": (refused(409, "", "text/plain"), "server", None, "at the moment (409)"),
    "410": (refused(410, "", "text/plain"), "model", "model", "no longer has this model"),
    "413": (refused(413, "", "text/plain"), "context", "context_window", "larger"),
    "425": (refused(425, "", "text/plain"), "server", None, "at the moment (425)"),
    "431": (refused(431, "", "text/plain"), "request", "model", "Header Fields Too Large"),
    "451": (refused(451, "", "text/plain"), "key", "model", "legal reasons"),
    "498, of which nobody knows": (refused(498, "", "text/plain"), "request", "model", "gave no reason"),
    "507": (refused(507, "", "text/plain"), "server", None, "Insufficient Storage"),
    "511": (refused(511, "", "text/plain"), "network", None, "requires a login first"),
    "520": (refused(520, "", "text/plain"), "server", None, "(520)"),
    "529": (refused(529, "", "text/plain"), "server", None, "overloaded or down (529)"),
    "302 to nowhere": (refused(302, ""), "address", "api_base", "redirects elsewhere"),
    "304": (send_bytes(b"HTTP/1.1 304 Not Modified\r\n\r\n"), "address", "api_base", "(304)"),
    "a circle": (
        lambda exchange: refused(307, "", Location=exchange.path)(exchange),
        "address",
        "api_base",
        "in a loop",
    ),
    "a status that is none": (
        send_bytes(b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n"),
        "server",
        None,
        "gave no reason",
    ),
    "204": (send_bytes(b"HTTP/1.1 204 No Content\r\n\r\n"), "empty", "api_base", "an empty answer"),
    "an error in a list": (
        refused(400, [{"error": {"message": "odd one"}}]),
        "request",
        "model",
        ": odd one",
    ),
    "an error that is a string": (refused(400, {"error": "plain"}), "request", "model", "(400): plain"),
    "an error within an error": (
        refuse_with_message(400, json.dumps({"error": {"message": "inner"}})),
        "request",
        "model",
        "(400): inner",
    ),
    "a list of details": (
        refused(422, {"detail": [{"loc": ["body", "x"], "msg": "field required"}]}),
        "request",
        "model",
        "body.x: field required",
    ),
    "no error in it": (refused(400, {"foo": 1}), "request", "model", "foo"),
    "null": (refused(400, "null"), "request", "model", "(400)"),
    "broken JSON": (refused(400, "{broken"), "request", "model", "{broken"),
    "a page": (refused(502, "<html><h1>Bad Gateway</h1></html>", "text/html"), "server", None, "a web page"),
    "a broken archive": (
        send_bytes(HEAD.replace(b"Connection", b"Content-Encoding: gzip\r\nConnection"), b"nothing"),
        "network",
        "api_base",
        "not valid HTTP",
    ),
    "another protocol": (send_bytes(b"SSH-2.0-OpenSSH_9.0\r\n"), "network", "api_base", "not valid HTTP"),
    "a page without a head": (send_bytes(b"<html>hi</html>"), "network", "api_base", "not valid HTTP"),
    "two lengths": (
        send_bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabc"),
        "network",
        "api_base",
        "not valid HTTP",
    ),
    "a header without end": (
        send_bytes(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200_000 + b"\r\n\r\n"),
        "network",
        "api_base",
        "not valid HTTP",
    ),
    "half a head": (send_bytes(b"HTTP/1.1 200 OK\r\nContent-"), "network", "api_base", "without an answer"),
    "loading, llama.cpp": (
        refuse_with_message(503, "Loading model", code=503, type="unavailable_error"),
        "server",
        None,
        "still loading the model",
    ),
    "no memory, Ollama": (
        refused(500, {"error": "model requires more system memory (8.4 GiB) than is available (3.2 GiB)"}),
        "model",
        "model",
        "too large for the machine",
    ),
    "no model loaded, LM Studio": (
        refuse_with_message(404, "No models loaded. Please load a model in the developer page."),
        "model",
        "model",
        "has no model loaded",
    ),
    "no organisation": (
        refuse_with_message(401, "You must be a member of an organization to use the API"),
        "key",
        "api_key",
        "organisation",
    ),
    "country": (
        refuse_with_message(403, "Country, region, or territory not supported"),
        "key",
        "model",
        "in your region",
    ),
    "content": (
        refuse_with_message(400, "Your request was rejected as a result of our safety system."),
        "request",
        "model",
        "refused the request because of its content",
    ),
    "images": (
        refuse_with_message(400, "Invalid content type. image_url is only supported by certain models."),
        "request",
        "supports_vision",
        "takes no images",
    ),
    "words with success": (
        refused(200, "It works! Apache runs here.", "text/plain"),
        "empty",
        "api_base",
        "unexpected answer: It works! Apache runs here.",
    ),
    "an error with success, a string": (
        refused(200, {"error": "odd"}),
        "empty",
        "api_base",
        "unexpected answer: odd",
    ),
    "an error with success, a number": (
        refused(200, {"error": {"message": "slow down", "code": 429}}),
        "rate",
        "model",
        "too many requests",
    ),
    "an error in the first event": (
        events(record({"error": {"message": "Provider returned error", "code": 502}})),
        "server",
        None,
        "(502): Provider returned error",
    ),
    "an error event": (
        events(b'event: error\ndata: {"message":"upstream died"}\n\n'),
        "server",
        None,
        "upstream died",
    ),
    "a string as an error in the stream": (
        events(BEGUN, record({"error": "the disk is full"})),
        "cut",
        None,
        "interrupted: the disk is full",
    ),
    "a detail in the stream": (
        events(BEGUN, record({"detail": "GPU fell off"})),
        "cut",
        None,
        "GPU fell off",
    ),
    "a number as a string in the stream": (
        events(BEGUN, record({"error": {"message": "slow", "code": "429"}})),
        "rate",
        "model",
        "too many requests",
    ),
    "a login page with a refusal": (
        refused(403, "<!DOCTYPE html><title>Just a moment &amp; wait</title>", "text/html"),
        "address",
        "api_base",
        "a web page: Just a moment & wait (403), not like a model server",
    ),
    "more tokens than an account may send in a minute": (
        refuse_with_message(
            413, "Request too large for m on tokens per min (TPM): Limit 6000, Requested 9000"
        ),
        "context",
        "context_window",
        "may send in a minute",
    ),
    "errors, and no success": (
        refused(200, {"success": False, "errors": [{"code": 7003, "message": "no route"}]}),
        "empty",
        "api_base",
        "unexpected answer: no route",
    ),
    "an error with success, without words": (
        refused(200, {"error": {"type": "invalid", "code": "bad"}}),
        "empty",
        "api_base",
        'unexpected answer: {"error": {"type": "invalid", "code": "bad"}}',
    ),
    "a traceback with success": (
        refused(200, {"error": 'Traceback (most recent call last):\n  File "x", line 1\nKeyError: 7'}),
        "empty",
        "api_base",
        "unexpected answer: KeyError: 7",
    ),
    "a number": (refused(200, 42), "empty", "api_base", "unexpected answer: 42"),
    "no text": (
        refused(200, "\ufffd\0\x03", "application/octet-stream"),
        "empty",
        "api_base",
        "unexpected answer: data that is not text",
    ),
    "only comments": (events(b": hi\n\n", b": hi\n\n"), "empty", "api_base", "an empty answer"),
    "an error after comments": (
        events(b": hi\n\n", json.dumps({"error": {"message": "no gpu", "code": 500}}, indent=2).encode()),
        "server",
        None,
        "(500): no gpu",
    ),
    "an error as plain text": (
        events(b"event: error\ndata: no gpu is free\n\n", DONE),
        "server",
        None,
        "sent an error: no gpu is free",
    ),
    "an error as plain text in lines, without an end": (
        events(b"event:error\ndata:no gpu\ndata:is free"),
        "server",
        None,
        "sent an error: no gpu is free",
    ),
    "an error of one word": (
        events(b"event: Error\ndata: overloaded\n\n"),
        "server",
        None,
        "sent an error: overloaded",
    ),
    "an error as a string": (
        events(b'event: error\ndata: "no gpu is free"\n\n'),
        "server",
        None,
        "sent an error: no gpu is free",
    ),
    "an error as a number": (events(b"event: error\ndata: 503\n\n"), "server", None, "(503)"),
    "an error as a page": (
        events(b"event: error\ndata: <html><title>502 Bad Gateway</title></html>\n\n"),
        "server",
        None,
        "sent an error: a web page: 502 Bad Gateway",
    ),
    "only the beginning of gzip": (
        send_bytes(
            HEAD.replace(b"Connection", b"Content-Encoding: gzip\r\nConnection"), gzip.compress(BEGUN)[:10]
        ),
        "network",
        "api_base",
        "not valid HTTP",
    ),
    "no choices": (refused(200, {"choices": []}), "empty", "api_base", "an empty answer"),
    "only usage": (
        events(record({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 0}}), DONE),
        "empty",
        "api_base",
        "an empty answer",
    ),
    "a call without a function": (
        events(CHUNK({"tool_calls": [{"index": 0, "id": "c", "function": None}]}), END, DONE),
        "empty",
        "api_base",
        "an empty answer",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_an_odd_answer_ends_in_a_sentence(models: ModelProcess, served: ModelServer, name: str) -> None:
    answer, kind, setting, says = FAULTS[name]
    served.answer(answer)
    _, fault = ask(models, served)
    assert fault is not None
    assert (fault.kind, fault.setting) == (kind, setting), fault.sentence
    assert says in fault.sentence
    assert len(fault.sentence) < 800
    for never in ("Traceback", "Error code", "APIError", "sk-canary", "litellm", "None"):
        assert never not in fault.sentence


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 200 OK\r\nContent-",
        HEAD.replace(b"Connection: close", b"Content-Length: 99") + b"data",
        CHUNKED,
        CHUNKED + b"4",
        CHUNKED + b"400\r\ndata: {",
        CHUNKED + b"%x\r\n%s\r\n" % (len(ROLE), ROLE),
    ],
)
def test_a_reply_that_is_cut_before_its_first_word_may_be_asked_for_again(
    models: ModelProcess, served: ModelServer, data: bytes
) -> None:
    served.answer(send_bytes(data))
    _, fault = ask(models, served)
    assert fault is not None
    assert (fault.kind, fault.retryable) == ("network", True), fault.sentence
    assert "closed the connection without an answer" in fault.sentence


IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
#: The chunks of a reply.
PIECES = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in ("whole ", "reply")]
PIECES.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})  # type: ignore[list-item]
PACKED = HEAD.replace(b"Connection", b"Content-Encoding: gzip\r\nConnection")
#: Streams and bodies that are odd but hold a reply, with its words.
REPLIES: dict[str, tuple[Answer, str]] = {
    "comments": (events(b": hi\n\n", b": OPENROUTER PROCESSING\n\n", BEGUN, b": x\n", END, DONE), "begun "),
    "no blank after data": (events(*(item.replace(b": ", b":", 1) for item in (BEGUN, END, DONE))), "begun "),
    "CRLF": (events(*(item.replace(b"\n", b"\r\n") for item in (BEGUN, END, DONE))), "begun "),
    "CR": (events(*(item.replace(b"\n", b"\r") for item in (BEGUN, END, DONE))), "begun "),
    "a byte order mark": (events(b"\xef\xbb\xbf" + BEGUN, END, DONE), "begun "),
    "data on several lines": (
        events(b'data: {"id":"1","object":"chat.completion.chunk",\ndata: "choices":[{"index":0,"delta":'
               b'{"content":"begun "}}]}\n\n', END, DONE),
        "begun ",
    ),
    "no blank lines": (
        events(*(item.replace(b"\n\n", b"\n") for item in (BEGUN, CHUNK({"content": "b"}), END, DONE))),
        "begun b",
    ),
    "lines of JSON": (events(BEGUN[6:-1], CHUNK({"content": "b"})[6:-1], END[6:-1]), "begun b"),
    "no DONE": (events(BEGUN, END), "begun "),
    "DONE twice": (events(BEGUN, END, DONE, DONE), "begun "),
    "words after the finish": (events(BEGUN, END, CHUNK({"content": "more"}), DONE), "begun more"),
    "no last line break": (events(BEGUN, END.rstrip()), "begun "),
    "broken bytes": (events(BEGUN.replace(b"begun", b"beg\xff\xfeun"), END, DONE), "beg\ufffd\ufffdun "),
    "HTTP/1.0": (
        send_bytes(b"HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", BEGUN, END),
        "begun ",
    ),
    "another medium": (
        send_bytes(HEAD.replace(b"text/event-stream", b"text/html"), BEGUN, END, DONE),
        "begun ",
    ),
    "100 first": (send_bytes(b"HTTP/1.1 100 Continue\r\n\r\n", HEAD, BEGUN, END, DONE), "begun "),
    "gzip": (
        send_bytes(HEAD.replace(b"Connection", b"Content-Encoding: gzip\r\nConnection"),
             gzip.compress(BEGUN + END + DONE)),
        "begun ",
    ),
    "comments before a whole reply": (
        events(b": hi\n\n", b'{"choices":[{"message":{"content":"whole"}}]}'),
        "whole",
    ),
    "a whole reply": (refused(200, {"choices": [{"message": {"content": "whole"}}]}), "whole"),
    "a whole reply about events": (
        refused(200, {"choices": [{"message": {"content": "Lines begin with data: here."}}]}),
        "Lines begin with data: here.",
    ),
    "an array of chunks": (refused(200, PIECES), "whole reply"),
    "an array of chunks in lines": (
        events(b"[" + b",\n".join(json.dumps(piece).encode() for piece in PIECES) + b"]"),
        "whole reply",
    ),
    "an array of chunks as data": (events(record(PIECES), DONE), "whole reply"),
    "a whole reply in a list": (refused(200, [{"choices": [{"message": {"content": "whole"}}]}]), "whole"),
    "a completion": (refused(200, {"choices": [{"text": "whole"}]}), "whole"),
    "Ollama's own": (
        refused(200, {"model": "m", "message": {"role": "assistant", "content": "whole"}, "done": True}),
        "whole",
    ),
    "completion chunks": (events(choice(text="old "), choice(text="style"), END, DONE), "old style"),
    "messages for deltas": (events(choice(message={"content": "more"}), END, DONE), "more"),
    "an index that is a string": (
        events(record({"choices": [{"index": "0", "delta": {"content": "z"}}]}), END, DONE),
        "z",
    ),
    "a list as a reason": (events(BEGUN, choice(delta={}, finish_reason=["stop"]), DONE), "begun "),
    "a refusal": (events(CHUNK({"refusal": "I cannot do that."}), END, DONE), "I cannot do that."),
    "spoken": (events(CHUNK({"audio": {"transcript": "spoken"}}), END, DONE), "spoken"),
    "not a number": (
        events(b'data: {"choices":[{"index":0,"delta":{"content":"z"},"logprobs":NaN}]}\n\n', END, DONE),
        "z",
    ),
    "a header in UTF-8": (
        send_bytes(
            HEAD.replace(b"Connection", "X-Note: déjà vu 你好\r\nConnection".encode()), BEGUN, END, DONE
        ),
        "begun ",
    ),
    "a header in Latin-1": (
        send_bytes(HEAD.replace(b"Connection", b"X-Note: d\xe9j\xe0 vu\r\nConnection"), BEGUN, END, DONE),
        "begun ",
    ),
    "gzip in members": (
        send_bytes(PACKED, gzip.compress(BEGUN), gzip.compress(CHUNK({"content": "more"}) + END + DONE)),
        "begun more",
    ),
    "gzip in members, byte by byte": (
        send_bytes(
            PACKED,
            *(
                bytes([byte])
                for byte in gzip.compress(BEGUN) + gzip.compress(CHUNK({"content": "more"}) + END + DONE)
            ),
        ),
        "begun more",
    ),
    "gzip and padding": (send_bytes(PACKED, gzip.compress(BEGUN + END + DONE), bytes(20)), "begun "),
    "gzip by its old name": (
        send_bytes(PACKED.replace(b"gzip", b"x-gzip"), gzip.compress(BEGUN + END + DONE)),
        "begun ",
    ),
    "deflate": (
        send_bytes(HEAD.replace(b"Connection", b"Content-Encoding: deflate\r\nConnection"),
             zlib.compress(BEGUN + END + DONE)),
        "begun ",
    ),
    "an encoding that is none": (
        send_bytes(HEAD.replace(b"Connection", b"Content-Encoding: odd\r\nConnection"), BEGUN, END, DONE),
        "begun ",
    ),
    "no medium": (send_bytes(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", BEGUN, END, DONE), "begun "),
    "status 201": (send_bytes(HEAD.replace(b"200 OK", b"201 Created"), BEGUN, END, DONE), "begun "),
    "more promised than sent": (
        send_bytes(HEAD.replace(b"Connection", b"Content-Length: 9999\r\nConnection"), BEGUN, END, DONE),
        "begun ",
    ),
    "chunks without an end": (
        send_bytes(HEAD.replace(b"Connection", b"Transfer-Encoding: chunked\r\nConnection"),
             *(b"%x\r\n%b\r\n" % (len(item), item) for item in (BEGUN, END, DONE))),
        "begun ",
    ),
    "byte by byte": (events(*(bytes([byte]) for byte in BEGUN + END + DONE)), "begun "),
    "two choices at once": (
        events(record({"choices": [{"index": i, "delta": {"content": f"{i}"}} for i in (0, 1)]}), END, DONE),
        "0",
    ),
    "an image": (
        events(CHUNK({"content": "", "images": [IMAGE]}), CHUNK({"content": " Done"}), END, DONE),
        f"{IMAGE_NOT_SHOWN} Done",
    ),
    "an image alone": (events(CHUNK({"images": [IMAGE]}), END, DONE), IMAGE_NOT_SHOWN),
    "an image among parts": (
        events(CHUNK({"content": [{"type": "text", "text": "Look: "}, IMAGE]}), END, DONE),
        f"Look: {IMAGE_NOT_SHOWN}",
    ),
    "a role of tools": (events(CHUNK({"role": "tool", "content": "z"}), END, DONE), "z"),
    "a delta of null": (events(choice(delta=None), BEGUN, END, DONE), "begun "),
    "a date in words": (
        events(record({"created": "2024-01-01", "choices": [{"index": 0, "delta": {"content": "z"}}]}), END),
        "z",
    ),
    "an endless number": (events(b'data: {"created":%b}\n\n' % (b"9" * 5000), BEGUN, END, DONE), "begun "),
    "endless nesting": (events(b"data: " + b"[" * 100_000 + b"\n\n", BEGUN, END, DONE), "begun "),
    "a line of a megabyte": (events(CHUNK({"content": "q" * 1_000_000}), END, DONE), "q" * 1_000_000),
}  # fmt: skip


@pytest.mark.parametrize("name", REPLIES)
def test_an_odd_stream_is_read_for_what_it_means(
    models: ModelProcess, served: ModelServer, name: str
) -> None:
    answer, shown = REPLIES[name]
    served.answer(answer)
    heard, fault = ask(models, served)
    assert fault is None
    assert join_text(heard) == shown


@pytest.mark.parametrize(
    "calls",
    [
        [{"index": 0, "id": "c", "function": {"name": "execute", "arguments": json.loads(CODE)}}],
        [{"index": "0", "id": "c", "function": FUNCTION}],
        [{"index": None, "id": "c", "function": FUNCTION}],
        [{"id": "c", "function": FUNCTION}],
        [{"index": 0, "id": 5, "function": FUNCTION}],
        [{"index": 0, "id": "c", "type": None, "function": FUNCTION}],
        {"function": FUNCTION},
        [None, {"index": 0, "id": "c", "function": FUNCTION}],
    ],
)
def test_an_odd_call_is_a_call(models: ModelProcess, served: ModelServer, calls: object) -> None:
    served.answer(events(CHUNK({"tool_calls": calls}), END, DONE))
    heard, fault = ask(models, served)
    assert fault is None
    arguments = "".join(delta.arguments for delta in heard if isinstance(delta, ToolCallPiece))
    assert json.loads(arguments) == json.loads(CODE)


@pytest.mark.parametrize(
    "delta",
    [
        *({key: "hm"} for key in ("reasoning_content", "reasoning", "thinking", "reasoning_text", "thought")),
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]},
        {"content": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}]},
        {"reasoning_details": [{"type": "reasoning.summary", "summary": "hm"}]},
        {"reasoning": {"content": "hm"}},
        {"content": [{"type": "reasoning", "text": "hm"}, {"type": "text", "text": ""}]},
    ],
)
def test_a_thought_is_a_thought_wherever_it_stands(
    models: ModelProcess, served: ModelServer, delta: dict[str, Any]
) -> None:
    served.answer(events(CHUNK(delta), CHUNK({"content": "z"}), END, DONE))
    heard, _ = ask(models, served)
    assert "".join(delta.text for delta in heard if isinstance(delta, Reasoning)) == "hm"
    assert join_text(heard) == "z"


def lines_of(*records: Any) -> Answer:
    return send_bytes(
        HEAD.replace(b"text/event-stream", b"application/x-ndjson"),
        *(json.dumps(item).encode() + b"\n" for item in records),
    )


#: Answers in the formats of other providers, and what is told of them.
FORMATS: dict[str, tuple[Answer, str]] = {
    "Ollama": (
        lines_of({"message": {"role": "assistant", "content": "hi"}, "done": False}, {"done": True}),
        "in Ollama's own format. Let api_base end in /v1, or set model to ollama_chat/m.",
    ),
    "Ollama, generate": (lines_of({"response": "hi", "done": True}), "in Ollama's own format"),
    "Anthropic": (
        events(
            record({"type": "message_start", "message": {"id": "x", "role": "assistant", "content": []}}),
            record(
                {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}}
            ),
            record({"type": "message_stop"}),
        ),
        "in Anthropic's format. Set model to anthropic/m.",
    ),
    "Anthropic, whole": (
        refused(200, {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "hi"}]}),
        "in Anthropic's format",
    ),
    "Gemini": (
        events(record({"candidates": [{"content": {"parts": [{"text": "hi"}]}, "finishReason": "STOP"}]})),
        "in Gemini's format. Set model to gemini/m.",
    ),
    "Gemini, a list": (refused(200, [{"candidates": []}, {"candidates": []}]), "in Gemini's format"),
    "Cohere": (
        events(record({"type": "message-start"}), record({"type": "content-delta", "delta": {}})),
        "in Cohere's format. Set model to cohere_chat/m.",
    ),
    "Cohere, whole": (
        refused(200, {"finish_reason": "COMPLETE", "message": {"role": "assistant", "content": []}}),
        "in Cohere's format",
    ),
    "responses": (
        events(record({"type": "response.created", "response": {}})),
        "in the format of OpenAI's Responses API. Set model to openai/responses/m.",
    ),
    "responses, whole": (refused(200, {"object": "response", "output": []}), "OpenAI's Responses API"),
    "Text Generation Inference": (
        events(record({"token": {"id": 1, "text": "hi"}, "generated_text": None})),
        "in the format of Text Generation Inference. Let api_base end in /v1.",
    ),
    "llama.cpp": (events(record({"content": "hi", "stop": True})), "in llama.cpp's own format"),
    "a list of models": (refused(200, {"object": "list", "data": []}), "with a list of its models."),
}


@pytest.mark.parametrize("name", FORMATS)
def test_an_answer_in_another_format_is_called_by_its_name(
    models: ModelProcess, served: ModelServer, name: str
) -> None:
    answer, says = FORMATS[name]
    served.answer(answer)
    _, fault = ask(models, served)
    assert fault is not None
    assert f" answered {says}" in fault.sentence or says in fault.sentence
    assert fault.setting == ("model" if "set model" in says.lower() else fault.setting)


def test_an_empty_reply_in_the_format_of_its_provider_is_empty(
    models: ModelProcess, served: ModelServer
) -> None:
    served.answer(lines_of({"model": "m", "message": {"role": "assistant", "content": ""}, "done": True}))
    request = Request(
        model="ollama_chat/m",
        messages=[{"role": "user", "content": "Hi"}],
        api_base=served.root,
        timeout=30.0,
    )
    with pytest.raises(LlmError, match="sent an empty answer"):
        list(models.reply(request))


@pytest.mark.parametrize(
    ("headers", "message", "wait"),
    [
        ({"Retry-After": "5s"}, "slow", 5.0),
        ({"Retry-After": "1m30s"}, "slow", 90.0),
        ({"Retry-After": "-5"}, "slow", 0.0),
        ({"Retry-After": "99999999999999999999"}, "slow", None),
        ({"Retry-After": "nan"}, "slow", None),
        ({"Retry-After": "soon"}, "slow", None),
        ({"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}, "slow", 0.0),
        ({"Retry-After-Ms": "1500"}, "slow", 1.5),
        ({"Retry-After-Ms": "9" * 400}, "slow", None),
        ({}, "Rate limit reached. Please try again in 7m12.5s. Visit", 432.5),
        ({}, "Rate limit reached. Please try again in 320ms. Visit", 0.32),
        ({}, "Rate limit reached. Please try again in 1h2m. Visit", 3720.0),
        ({}, "Please try again in a while", None),
    ],
)
def test_a_server_says_in_many_ways_how_long_to_wait(
    models: ModelProcess, served: ModelServer, headers: dict[str, str], message: str, wait: float | None
) -> None:
    served.answer(refused(429, {"error": {"message": message}}, **headers))
    _, fault = ask(models, served)
    assert fault is not None
    assert (fault.kind, fault.retry_after) == ("rate", wait)
    assert "pause of 0 s" not in fault.sentence


def test_a_stream_that_just_ends_is_reported_from_one_that_is_complete(
    models: ModelProcess, served: ModelServer
) -> None:
    served.answer(events(BEGUN))
    assert Finish("missing") in ask(models, served)[0]
    served.answer(events(BEGUN, END))
    assert Finish("missing") not in ask(models, served)[0]


def test_comments_keep_a_slow_reply_alive(models: ModelProcess, served: ModelServer) -> None:
    def slow(exchange: Exchange) -> None:
        exchange.head()
        for _ in range(6):
            exchange.send(b": still at it\n\n")
            exchange.stopping.wait(0.5)
        for data in (BEGUN, END, DONE):
            exchange.send(data)
        exchange.end()

    served.answer(slow)
    heard, fault = ask(models, served, timeout=2.5)
    assert (join_text(heard), fault) == ("begun ", None)


def test_a_page_of_megabytes_is_a_sentence(models: ModelProcess, served: ModelServer) -> None:
    served.answer(refused(500, "x" * 1_000_000, "text/plain"))
    _, fault = ask(models, served)
    assert fault is not None
    assert fault.kind == "server"
    assert len(fault.sentence) < 800


@pytest.mark.parametrize(
    ("message", "without"),
    [
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens"),
        ("Unsupported value: 'temperature' does not support 0.5 with this model.", "temperature"),
        ("Unknown parameter: 'stream_options'.", "stream_options"),
    ],
)
def test_a_parameter_that_is_not_known_is_left_out(
    models: ModelProcess, served: ModelServer, message: str, without: str
) -> None:
    served.answer(refuse_with_message(400, message), server.spoken(server.Say("fine")))
    heard, fault = ask(models, served)
    assert (join_text(heard), fault) == ("fine", None)
    first, second = served.requests
    assert without in first
    assert without not in second
    assert ("max_completion_tokens" in second) == ("max_completion_tokens" in message)


def test_an_error_in_a_stream_of_ollamas_is_reported_in_its_own_words(
    models: ModelProcess, served: ModelServer
) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.head()
        for number, data in enumerate(exchange.wire.body([server.Say("hello there")], 4)):
            exchange.send(data if number < 2 else b'{"error":"the runner has died"}\n')
            if number == 2:
                break
        exchange.end()

    served.answer(answer)
    request = Request(
        model="ollama_chat/m",
        messages=[{"role": "user", "content": "Hi"}],
        api_base=served.root,
        timeout=30.0,
    )
    with pytest.raises(LlmError) as raised:
        list(models.reply(request))
    assert raised.value.info.sentence == "The reply was interrupted: the runner has died"
