"""Streams with something odd in them: what is good is kept, what is missing is told, nothing torn runs."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from oi_tui.engine.events import ApprovalRequested, Noticed
from oi_tui.engine.llm.base import (
    BROKEN_OFF,
    ConnectionState,
    Delta,
    Finish,
    Gap,
    LlmError,
    Reasoning,
    Request,
    Text,
    ToolCallPiece,
    Usage,
)
from oi_tui.engine.llm.question import ModelQuestion
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.llm.transport.line_ends import split
from oi_tui.engine.llm.transport.sse_filter import SseFilter
from oi_tui.engine.llm.usage_report import UsageTracker
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.settings.profile import Profile
from tests.fakes import Llm, call
from tests.servers import openai_server as server
from tests.servers.openai_server import Answer, Call, Exchange, ModelServer, Say
from tests.servers.wires import Ollama, OpenAi
from tests.unit.engine.test_session import codes, make, run_turn, select
from tests.unit.llm.test_provider_formats import WIRES

CHUNK = OpenAi().chunk
END = (CHUNK({}, "stop"), b"data: [DONE]\n\n")


def reply(models: ModelProcess, served: ModelServer, **changes: Any) -> list[Delta]:
    values = {"model": "openai/m", "messages": [{"role": "user", "content": "Hi"}], "timeout": 20.0}
    values |= {"api_base": served.base, "api_key": "k-12345678"}
    return list(models.reply(Request(**{**values, **changes})))


def join_text(deltas: list[Delta]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, Text))


def torn(*words: Say | Call, after: int) -> Answer:
    """A reply with a line in it that nobody can read."""

    def answer(exchange: Exchange) -> None:
        exchange.head()
        for number, data in enumerate(exchange.wire.body(words, 4)):
            if number == after:
                broken = b'{"model": "m", "mess\n' if isinstance(exchange.wire, Ollama) else b"data: {br\n\n"
                exchange.send(broken)
            exchange.send(data)
        exchange.end()

    return answer


@pytest.mark.parametrize("name", WIRES)
def test_a_broken_line_costs_only_itself_and_is_reported(
    models: ModelProcess, served: ModelServer, name: str
) -> None:
    model, path = WIRES[name]
    served.answer(torn(Say("one two three four five six "), after=5))
    deltas = reply(models, served, model=model, api_base=served.root + path)
    assert join_text(deltas) == "one two three four five six "
    assert [delta for delta in deltas if isinstance(delta, Gap)] == [Gap(1)]
    assert isinstance(next(delta for delta in deltas if not isinstance(delta, ConnectionState)), Text)


@pytest.mark.parametrize(
    "usage",
    ["none", [], 7, {"prompt_tokens": "many", "completion_tokens": None}, {"total_tokens": -4}, None, True],
)
def test_a_usage_that_is_none_costs_nothing(models: ModelProcess, served: ModelServer, usage: object) -> None:
    served.answer(server.raw(CHUNK({"content": "All "}), CHUNK({"content": "well."}, usage=usage), *END))
    assert join_text(reply(models, served)) == "All well."


def test_a_good_usage_is_kept(models: ModelProcess, served: ModelServer) -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
    served.answer(server.raw(CHUNK({"content": "Well."}), CHUNK({}, "stop", usage=usage), *END))
    [reported] = [delta for delta in reply(models, served) if isinstance(delta, Usage)]
    assert (reported.prompt_tokens, reported.completion_tokens) == (5, 3)


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        ([{"type": "text", "text": "in "}, {"type": "text", "text": "parts"}], "in parts"),
        (["a", "b"], "ab"),
        (42, "42"),
        (1.5, "1.5"),
        (True, "true"),
        ({"type": "text", "text": "one part"}, "one part"),
    ],
)
def test_content_that_is_no_string_is_shown(
    models: ModelProcess, served: ModelServer, content: object, seen: str
) -> None:
    served.answer(server.raw(CHUNK({"content": content}), *END))
    assert join_text(reply(models, served)) == seen


@pytest.mark.parametrize("choices", [7, "x", [None], [[]], [{"index": 0, "delta": 7}]])
def test_choices_that_are_none_do_no_harm(models: ModelProcess, served: ModelServer, choices: object) -> None:
    odd = b"data: " + json.dumps({"id": "1", "choices": choices}).encode() + b"\n\n"
    served.answer(server.raw(CHUNK({"content": "Good."}), odd, *END))
    assert join_text(reply(models, served)).startswith("Good.")


def test_a_thought_that_is_no_string_is_a_thought(models: ModelProcess, served: ModelServer) -> None:
    served.answer(server.raw(CHUNK({"reasoning_content": ["hm", 1]}), CHUNK({"content": "Yes"}), *END))
    deltas = reply(models, served)
    assert "".join(d.text for d in deltas if isinstance(d, Reasoning)) == "hm1"


def test_a_line_that_is_broken_at_the_end_is_a_reply_that_broke_off(
    models: ModelProcess, served: ModelServer
) -> None:
    served.answer(server.raw(CHUNK({"content": "Half"}), b"data: {nonsense\n\n"))
    with pytest.raises(LlmError) as raised:
        reply(models, served)
    assert raised.value.info.kind == "cut"


def test_code_with_something_missing_in_it_never_runs_by_itself() -> None:
    begun = '{"language": "python", "code": "rm -r build'
    session = make([ToolCallPiece(0, "c1", "execute", begun), Gap(1), ToolCallPiece(0, None, None, '/tmp"}')])
    session.auto_run = True
    events = run_turn(session)
    assert select(events, ApprovalRequested) == []
    assert session.computer.ran == []
    assert codes(session)[0].state == "unfinished"
    assert any("could not be read" in item.text for item in select(events, Noticed))


def test_a_block_with_something_missing_in_it_is_asked_for_even_in_auto_run() -> None:
    words = [Text("```python\nrm(\n"), Gap(2), Text("keep)\n```\nand\n```python\nls\n```\n")]
    session = make(words, supports_functions=False)
    session.auto_run = True
    events = run_turn(session)
    assert ["cut off" in item.caution for item in select(events, ApprovalRequested)] == [True]
    assert [code for _, code in session.computer.ran][-1].strip() == "ls"


def test_what_is_missing_from_the_words_does_not_touch_the_code_after_them() -> None:
    session = make([Text("So "), Gap(1), Text("this:"), call("1 + 1")])
    session.auto_run = True
    run_turn(session)
    assert [code for _, code in session.computer.ran] == ["1 + 1"]


def sieved(*lines: str) -> tuple[list[str], int]:
    sse_filter = SseFilter()
    passed = [item for line in lines for item in sse_filter.feed(line)]
    return passed + sse_filter.end(), sse_filter.pop_gaps()


def test_data_on_several_lines_is_one_record() -> None:
    assert sieved("data: {", 'data: "a": 1}', "") == (['data: {"a": 1}', ""], 0)


def test_broken_lines_and_pages_pass_as_they_are() -> None:
    for lines in (
        ["{", ' "a": 1', "}"],
        ["<html>", "", "words"],
        ["", ": x", ""],
    ):
        assert sieved(*lines) == (lines, 0)


def test_an_event_goes_with_its_data() -> None:
    lines = ["event: a", "data: {}", "", "event: b", "data: {", "", "event: c", "data: {}", ""]
    assert sieved(*lines) == (["event: a", "data: {}", "", "event: c", "data: {}", ""], 1)


#: What may stand between the records of a stream, and means nothing to us.
BETWEEN = (
    b"id: 1\n",
    b"retry: 3000\n\n",
    b"event: ping\n\n",
    b"event: ping\ndata:\n\n",
    b'event: ping\ndata: {"type": "ping"}\n\n',
    b"event: message\nid: 2\nretry: 10\n",
    b": keep-alive\n\n",
    b"id: 1\n\n: x\n\nretry: 5\n\n",
    b": keep-alive\n\nid: 1\n",
    b": keep-alive\r\n\r\nid: 1\r\nretry: 5\r\n",
    b"data\n\n",
    b"data\nevent\nid\nretry\n\n",
)


@pytest.mark.parametrize("between", BETWEEN)
def test_fields_of_events_without_data_are_no_faults(
    between: bytes, models: ModelProcess, served: ModelServer
) -> None:
    words = [CHUNK({"content": "Hel"}), CHUNK({"content": "lo"}), *END]
    served.answer(server.raw(*(part for item in words for part in (between, item)), between))
    assert join_text(reply(models, served)) == "Hello"


def given_up(*words: Say | Call, without: int) -> Answer:
    """A reply whose last pieces the server does not send, although it ends the stream properly."""

    def answer(exchange: Exchange) -> None:
        exchange.head()
        for data in list(exchange.wire.body(words, 4))[:-without]:
            exchange.send(data)
        exchange.end()

    return answer


@pytest.mark.parametrize("without", [4, 6])
@pytest.mark.parametrize("name", WIRES)
def test_a_reply_that_the_server_gives_up_is_not_passed_for_complete(
    models: ModelProcess, served: ModelServer, name: str, without: int
) -> None:
    model, path = WIRES[name]
    served.answer(given_up(Say("one two three four five six seven "), without=without))
    deltas = reply(models, served, model=model, api_base=served.root + path)
    assert join_text(deltas).startswith("one two ")
    assert [delta for delta in deltas if isinstance(delta, Finish)][-1] == Finish("missing")


@pytest.mark.parametrize("name", WIRES)
def test_a_complete_reply_is_complete(models: ModelProcess, served: ModelServer, name: str) -> None:
    model, path = WIRES[name]
    served.answer(server.spoken(Say("one two three")))
    deltas = reply(models, served, model=model, api_base=served.root + path)
    assert [delta.reason for delta in deltas if isinstance(delta, Finish)] == ["stop"]


@pytest.mark.parametrize("name", WIRES)
def test_lines_end_at_newlines_only(models: ModelProcess, served: ModelServer, name: str) -> None:
    model, path = WIRES[name]
    words = "a\u2028b\u2029c\x85d"

    def answer(exchange: Exchange) -> None:
        exchange.head()
        for data in exchange.wire.body([Say(words)], 400):
            unescaped = data.decode()
            for character in words:
                unescaped = unescaped.replace(f"\\u{ord(character):04x}", character)
            exchange.send(unescaped.encode())
        exchange.end()

    served.answer(answer)
    assert join_text(reply(models, served, model=model, api_base=served.root + path)) == words


@pytest.mark.parametrize(
    ("name", "usual", "reason", "meant"),
    [
        ("anthropic", "end_turn", "model_context_window_exceeded", "length"),
        ("gemini", "STOP", "MALFORMED_FUNCTION_CALL", "malformed"),
        ("gemini", "STOP", "UNEXPECTED_TOOL_CALL", "malformed"),
        ("openai", "stop", "abort", "given_up"),
        ("openai", "stop", "network_error", "given_up"),
        ("deepseek", "stop", "insufficient_system_resource", "given_up"),
        ("openrouter", "stop", "error", "given_up"),
        ("openrouter", "stop", "max_output_tokens", "length"),
        ("openai", "stop", "safety", "content_filter"),
        ("openai", "stop", "recitation", "content_filter"),
    ],
)
@pytest.mark.parametrize("words", ["one two ", ""])
def test_the_providers_own_word_for_a_bad_end_is_understood(
    models: ModelProcess, served: ModelServer, name: str, usual: str, reason: str, meant: str, words: str
) -> None:
    model, path = WIRES[name]

    def answer(exchange: Exchange) -> None:
        exchange.head()
        for data in exchange.wire.body([Say(words)], 4):
            exchange.send(data.replace(json.dumps(usual).encode(), json.dumps(reason).encode()))
        exchange.end()

    served.answer(answer)
    if words:
        deltas = reply(models, served, model=model, api_base=served.root + path)
        assert join_text(deltas) == words
        assert [delta for delta in deltas if isinstance(delta, Finish)][-1] == Finish(meant)
    else:
        with pytest.raises(LlmError) as caught:
            reply(models, served, model=model, api_base=served.root + path)
        assert "sent an empty answer" not in caught.value.info.sentence


@pytest.mark.parametrize(
    ("texts", "lines"),
    [
        (["a\nb"], ["a", "b"]),
        (["a\r", "\nb\r\n\r\n"], ["a", "b", ""]),
        (["a\rb\r"], ["a", "b"]),
        (["a", "", "b", "c\nd"], ["abc", "d"]),
        (["a\x0b\x0c\x1c\x85\u2028\u2029b\n"], ["a\x0b\x0c\x1c\x85\u2028\u2029b"]),
        ([], []),
        (["\n"], [""]),
    ],
)
async def test_pieces_are_joined_to_lines(texts: list[str], lines: list[str]) -> None:
    async def given() -> AsyncIterator[str]:
        for piece in texts:
            yield piece

    assert [line async for line in split(given())] == lines


@pytest.mark.parametrize("tail", [b"data: [done]\n\n", b"data: DONE\n\n", b"data: {br", b"bye\n"])
def test_what_comes_after_the_end_of_a_reply_does_no_harm(
    models: ModelProcess, served: ModelServer, tail: bytes
) -> None:
    served.answer(server.raw(CHUNK({"content": "Hello"}), CHUNK({}, "stop"), tail))
    deltas = reply(models, served)
    assert join_text(deltas) == "Hello"
    assert [delta.reason for delta in deltas if isinstance(delta, Finish)] == ["stop"]


def test_a_chunk_in_a_list_of_one_is_a_chunk(models: ModelProcess, served: ModelServer) -> None:
    chunk = CHUNK({"content": "Hello"}).decode().removeprefix("data: ").strip()
    served.answer(server.raw(f"data: [{chunk}]\n\n".encode(), *END))
    deltas = reply(models, served)
    assert join_text(deltas) == "Hello"
    assert not [delta for delta in deltas if isinstance(delta, Gap)]


@pytest.mark.parametrize(
    ("reason", "ends"),
    [("stop", ["stop"]), ("length", ["stop", "length"]), ("abort", ["stop", "given_up"])],
)
def test_the_end_of_a_reply_in_one_piece_is_known(
    models: ModelProcess, served: ModelServer, reason: str, ends: list[str]
) -> None:
    message = {"role": "assistant", "content": "Hello"}
    body = {"object": "chat.completion", "choices": [{"message": message, "finish_reason": reason}]}
    served.answer(server.raw(json.dumps(body).encode(), media="application/json"))
    deltas = reply(models, served)
    assert join_text(deltas) == "Hello"
    assert [delta.reason for delta in deltas if isinstance(delta, Finish)] == ends


@pytest.mark.parametrize("end", [*map(Finish, BROKEN_OFF), Gap(1)])
def test_half_an_answer_to_a_question_is_none(end: Delta) -> None:
    llm = Llm([Text("Half"), end])
    question = ModelQuestion(llm, Profile(model="m"), "What?", (), UsageTracker(), ModelInfo())
    with pytest.raises(LlmError, match="broke off"):
        question.answer()
