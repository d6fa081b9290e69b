"""The model is sent the same history, whether it was lived, read from disk or passed in as messages."""

import json
import random
import threading
from typing import Any

import pytest

from oi_tui.api.interpreter import OpenInterpreter, TurnError
from oi_tui.engine.llm import request
from oi_tui.engine.open_interpreter.chunks import convert_messages, to_message
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.storage import records
from oi_tui.messages import Message
from tests.unit.llm.test_requests import conversation

PASSING = ("writing", "queued", "running", "waiting")


def body(messages: list[Message], *, tools: bool) -> Any:
    profile = Profile(model="openai/x")
    return request.write(messages, profile, ["python"], tools=tools, vision=True).request.messages


def from_disk(messages: list[Message]) -> list[Message]:
    raw = b"".join(records.encode({"message": message.to_dict()}) for message in messages)
    return list(records.parse(raw).messages.values())


def passed_in(messages: list[Message]) -> list[Message]:
    return [to_message(record) for record in json.loads(json.dumps(convert_messages(messages)))]


@pytest.mark.parametrize("tools", [True, False], ids=["tools", "text"])
def test_the_history_that_goes_out_is_the_same_in_all_three_ways(tools: bool) -> None:
    for seed in range(300):
        source = random.Random(seed)
        reply = ""
        lived = []
        for message in conversation(source):
            reply = f"r{source.randrange(9)}" if source.random() < 0.4 else reply
            if message.role == "assistant":
                message = message.replace(reply=reply or None)
            if message.state not in PASSING:
                lived.append(message)
        expected = body(lived, tools=tools)
        assert body(from_disk(lived), tools=tools) == expected, seed
        assert body(passed_in(lived), tools=tools) == expected, seed


def test_a_rejection_is_still_one_when_the_messages_are_passed_in() -> None:
    rejected = Message(
        role="assistant", type="code", format="python", content="1", state="rejected", reason="No", call="c"
    )
    [message] = passed_in([rejected])
    assert (message.state, message.reason, message.call) == ("rejected", "No", "c")


def test_a_second_chat_at_the_same_time_is_refused() -> None:
    arrived, leave = threading.Event(), threading.Event()

    def answer(**_: Any) -> Any:
        arrived.set()
        leave.wait(10)
        yield "Hello"

    with OpenInterpreter() as interpreter:
        interpreter.llm.completions = answer
        first = threading.Thread(target=lambda: interpreter.chat("one", display=False))
        first.start()
        try:
            assert arrived.wait(10)
            with pytest.raises(TurnError, match="is running"):
                interpreter.chat("two", display=False)
        finally:
            leave.set()
            first.join(10)
        assert [item["content"] for item in interpreter.messages] == ["one", "Hello"]
        interpreter.chat("three", display=False)
        assert len(interpreter.messages) == 4
