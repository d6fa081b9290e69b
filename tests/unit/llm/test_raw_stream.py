"""Replies that break the rules of their format and can be read all the same."""

from typing import Any

import pytest

from oi_tui.engine.llm import request as request_writer
from oi_tui.engine.llm.base import Delta, Request, Text, ToolCallPiece
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.settings.profile import Profile
from oi_tui.messages import Message
from oi_tui.text import repair_surrogates
from tests.servers import openai_server as server
from tests.servers.openai_server import ModelServer

BEGUN = b'data: {"choices":[{"index":0,"delta":{"content":"begun "}}]}\n\n'


def heard(models: ModelProcess, served: ModelServer) -> list[Delta]:
    request = Request(
        model="openai/m", messages=[{"role": "user", "content": "Hi"}], api_base=served.base, timeout=20.0
    )
    return list(models.reply(request))


def join_text(deltas: list[Delta]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, Text))


def whole_reply(message: dict[str, Any]) -> server.Answer:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    return server.refused(200, {"id": "x", "object": "chat.completion", "choices": [choice]})


def test_a_reply_that_was_not_streamed_is_a_reply(models: ModelProcess, served: ModelServer) -> None:
    served.answer(whole_reply({"content": "All at once."}))
    assert join_text(heard(models, served)) == "All at once."


def test_calls_of_a_reply_that_was_not_streamed_are_calls(models: ModelProcess, served: ModelServer) -> None:
    calls = [
        {"id": name, "type": "function", "function": {"name": "execute", "arguments": arguments}}
        for name, arguments in (("a", "{}"), ("b", {"code": "1"}))
    ]
    served.answer(whole_reply({"content": None, "tool_calls": calls}))
    found = [delta for delta in heard(models, served) if isinstance(delta, ToolCallPiece)]
    assert [(call.index, call.id, call.arguments) for call in found] == [
        (0, "a", "{}"),
        (1, "b", '{"code": "1"}'),
    ]


@pytest.mark.parametrize("bad", [b"\xff\xfe", b"\xc3", b"\xed\xa0\x80"])
def test_bytes_that_are_no_text_do_not_end_a_reply(
    models: ModelProcess, served: ModelServer, bad: bytes
) -> None:
    broken = b'data: {"choices":[{"index":0,"delta":{"content":"' + bad + b'"}}]}\n\n'
    served.answer(server.raw(BEGUN, broken, BEGUN, b"data: [DONE]\n\n"))
    reported = join_text(heard(models, served))
    assert reported.strip("begun ").strip("\ufffd") == ""
    assert reported.count("begun") == 2
    assert "\ufffd" in reported


@pytest.mark.parametrize(
    ("broken", "mended"),
    [
        ("a\ud83d\ude00b", "a\U0001f600b"),
        ("a\ud83d", "a\ufffd"),
        ("\udc00é", "\ufffdé"),
        ("plain é", "plain é"),
    ],
)
def test_halves_of_characters_are_joined_or_replaced(broken: str, mended: str) -> None:
    assert repair_surrogates(broken) == mended


def test_a_conversation_with_half_a_character_can_be_sent() -> None:
    messages = [
        Message(role="user", type="message", content="x\ud800"),
        Message(
            role="assistant", type="code", format="py\ud800", content="1\udc00", call="a", state="finished"
        ),
        Message(role="computer", type="console", format="output", content="\udcff"),
    ]
    written = request_writer.write(messages, Profile(), ["python"], tools=True)
    assert "\ufffd" in repr(written.request.messages).encode("utf-8").decode()
    for message in written.request.messages:
        assert "\\ud" not in ascii(message).replace("\\ufffd", "")
