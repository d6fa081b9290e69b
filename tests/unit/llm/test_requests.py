"""Whatever became of a conversation, each provider takes it: also after a switch of the model."""

import random
from pathlib import Path

import pytest

from oi_tui.engine.llm import request
from oi_tui.engine.llm.base import LlmError, Text
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.settings.profile import Profile
from oi_tui.messages import Message, State
from tests.servers.openai_server import ModelServer
from tests.unit.llm.test_provider_formats import WIRES
from tests.unit.llm.test_request import PNG

STATES: tuple[State, ...] = (
    "finished", "failed", "interrupted", "lost", "rejected", "skipped", "unfinished", "running", "queued",
    "writing", "waiting",
)  # fmt: skip
#: Ids as providers, templates and earlier versions of a conversation have them.
CALLS = (
    None,
    "call_1",
    "call_1",
    "toolu_01A",
    "functions.execute:0",
    "chatcmpl-tool-9f",
    "a b",
    "",
    "é",
    "x" * 90,
)
WORDS = ("Go on.", "", "  ", "\n", "Ünï \u200b", "```python\n1\n```", '{"role": "user"}', "a" * 3000)


def conversation(source: random.Random) -> list[Message]:
    """Turns in any order and state, as interrupts, edits, rejections, undos and repairs may leave them."""
    messages: list[Message] = []
    codes: list[Message] = []
    for _ in range(source.randrange(1, 14)):
        word = source.choice(WORDS)
        match source.randrange(8):
            case 0 | 1:
                messages.append(Message(role="user", type="message", content=word))
            case 2:
                messages.append(Message(role="assistant", type="message", content=word))
            case 3 | 4 | 5:
                state = source.choice(STATES)
                proposed = "before" if source.random() < 0.2 else None
                codes.append(
                    Message(role="assistant", type="code", format=source.choice(["python", "cobol", ""]),
                            content=source.choice(["1", "", "print('x')"]), state=state, proposed=proposed,
                            call=source.choice(CALLS), reason=source.choice([None, "No.", ""]))
                )  # fmt: skip
                messages.append(codes[-1])
            case 6:
                parent = source.choice(codes).id if codes and source.random() < 0.8 else None
                messages.append(
                    Message(role="computer", type="console", format="output", content=word, parent=parent)
                )
            case 7:
                parent = source.choice(codes).id if codes else None
                messages.append(
                    Message(role="computer", type="image", format="base64.png", content=PNG, parent=parent)
                )
    return messages


@pytest.mark.slow
@pytest.mark.parametrize("tools", [True, False], ids=["tools", "text"])
@pytest.mark.parametrize("wire", WIRES)
def test_every_provider_takes_any_conversation(
    models: ModelProcess, served: ModelServer, wire: str, tools: bool
) -> None:
    """The server answers 400 to what the provider's documentation does not allow."""
    model, path = WIRES[wire]
    profile = Profile(model=model, api_base=served.root + path, api_key="k-12345678", timeout=60.0)
    for seed in range(40):
        messages = conversation(random.Random(seed))
        written = request.write(
            messages, profile, ["python", "shell"], tools=tools, cwd=Path("/"), vision=seed % 2 == 0
        )
        try:
            heard = list(models.reply(written.request))
        except LlmError as error:
            pytest.fail(f"seed {seed}: {error.info.sentence}")
        assert "".join(delta.text for delta in heard if isinstance(delta, Text)) == "Hello there"
