"""A conversation with code through the wire format of each provider, by way of LiteLLM."""

import json
from pathlib import Path
from typing import Any

import pytest

from oi_tui.engine.llm import request, request_gate
from oi_tui.engine.llm.base import Delta, Text, Usage
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.llm.usage_report import UsageTracker
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.reply.parser import (
    CodeEnded,
    CodeGrew,
    CodeStarted,
    Part,
    ReasoningPart,
    ReplyParser,
    TextPart,
    join,
)
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.storage.records import parse_message
from oi_tui.messages import Message, make_message_id
from tests.servers import openai_server as server
from tests.servers.openai_server import Call, ModelServer, Say, Think

#: Model names and the addresses that go with them.
WIRES = {
    "openai": ("openai/m", "/v1"),
    "deepseek": ("deepseek/m", "/v1"),
    "anthropic": ("anthropic/m", ""),
    "gemini": ("gemini/m", "/v1beta"),
    "ollama": ("ollama/m", ""),
    "openrouter": ("openrouter/a/m", "/api/v1"),
}
#: Models that get their reasoning back with their tool calls, and models that must not.
WITH_REASONING = {
    "deepseek": ("deepseek/deepseek-chat", "/v1"),
    "moonshot": ("moonshot/kimi-k2-thinking", "/v1"),
    "openrouter": ("openrouter/deepseek/deepseek-v3.2", "/api/v1"),
}
WITHOUT_REASONING = {
    "openai": ("openai/deepseek-chat", "/v1"),
    "anthropic": ("anthropic/m", ""),
    "gemini": ("gemini/m", "/v1beta"),
    "ollama": ("ollama/deepseek-r1", ""),
    "openrouter": ("openrouter/a/m", "/api/v1"),
}


class Talk:
    """A conversation in which every piece of code prints what is given."""

    def __init__(self, models: ModelProcess, profile: Profile) -> None:
        self._models = models
        self._profile = profile
        self.messages: list[Message] = []
        self.deltas: list[Delta] = []

    def ask(self, text: str | None = None) -> list[Part]:
        if text:
            self.messages.append(Message(role="user", type="message", content=text))
        written = request.write(
            self.messages, self._profile, ["python", "shell"], tools=True, cwd=Path("/"), vision=True
        )
        parser = ReplyParser(lambda word: word if word in ("python", "shell") else None, fences=False)
        reply = make_message_id()
        self.deltas = list(
            request_gate.send(self._models, written.request, self._profile, UsageTracker(), ModelInfo())
        )
        parts = join([part for delta in self.deltas for part in parser.feed(delta)] + parser.finish())
        for part in parts:
            match part:
                case TextPart(words):
                    self.messages.append(
                        Message(role="assistant", type="message", content=words, reply=reply)
                    )
                case ReasoningPart(thought):
                    self.messages.append(
                        Message(
                            role="assistant",
                            type="reasoning",
                            content=thought,
                            reply=reply,
                            model=self._profile.model,
                        )
                    )
                case CodeStarted(language, call):
                    self.messages.append(
                        Message(
                            role="assistant",
                            type="code",
                            format=language,
                            call=call,
                            state="finished",
                            reply=reply,
                        )
                    )
                case CodeGrew(code):
                    self.messages[-1] = self.messages[-1].replace(content=code)
                case _:
                    pass
        return parts

    def run(self, *outputs: str, **changes: Any) -> None:
        codes = [m for m in self.messages if m.type == "code"][-len(outputs) :]
        for code, output in zip(codes, outputs, strict=True):
            self.messages[self.messages.index(code)] = code.replace(**changes)
            self.messages.append(
                Message(role="computer", type="console", format="output", content=output, parent=code.id)
            )


def arguments(language: str, code: str) -> str:
    return json.dumps({"language": language, "code": code})


@pytest.mark.parametrize("name", WIRES)
def test_a_conversation_with_code_goes_through(models: ModelProcess, served: ModelServer, name: str) -> None:
    model, path = WIRES[name]
    served.answer(
        server.spoken(Think("Let me see."), Say("I look."), Call(arguments("shell", "ls"), "call_1")),
        server.spoken(
            Call(arguments("python", "print('é')"), "call_2"),
            Call(arguments("python", "2"), "call_3"),
            size=3,
        ),
        server.spoken(Say("Two files.")),
        server.spoken(Say("Bye.")),
    )
    profile = Profile(model=model, api_base=served.root + path, api_key="k-12345678", timeout=20.0)
    talk = Talk(models, profile)

    first = talk.ask("How many files?")
    assert first[0] == ReasoningPart("Let me see.")
    assert first[1] == TextPart("I look.")
    assert isinstance(first[2], CodeStarted)
    assert first[2].language == "shell"
    assert first[3:] == [CodeGrew("ls"), CodeEnded(True)]
    talk.run("a b")

    second = [part for part in talk.ask() if not isinstance(part, CodeStarted)]
    assert second == [CodeGrew("print('é')"), CodeEnded(True), CodeGrew("2"), CodeEnded(True)]
    talk.run("é", "", state="interrupted", seconds=1.0)

    assert talk.ask() == [TextPart("Two files.")]
    assert talk.ask("Thanks") == [TextPart("Bye.")]
    assert [(d.prompt_tokens, d.completion_tokens) for d in talk.deltas if isinstance(d, Usage)] == [(11, 7)]
    assert len(served.exchanges) == 4, "nothing else is asked"

    last = json.dumps(served.requests[-1], ensure_ascii=False)
    assert "How many files?" in last
    assert "a b" in last
    assert "Interrupted by the user after 1.0 s" in last
    assert "Let me see." not in last, "thoughts of an earlier turn are not sent back"
    assert "Empty message content" not in last, "nobody puts words into the model's mouth"


@pytest.mark.parametrize(
    ("model", "path", "expected"),
    [(*item, True) for item in WITH_REASONING.values()]
    + [(*item, False) for item in WITHOUT_REASONING.values()],
)
def test_reasoning_goes_back_with_tool_calls_where_it_is_needed(
    models: ModelProcess, served: ModelServer, model: str, path: str, expected: bool
) -> None:
    served.answer(
        server.spoken(Think("I think of é."), Call(arguments("shell", "ls"), "call_1")),
        server.spoken(Say("Done.")),
        server.spoken(Say("Bye.")),
    )
    talk = Talk(models, Profile(model=model, api_base=served.root + path, api_key="k-12345678", timeout=20.0))
    talk.ask("Look")
    talk.run("a b")
    talk.ask()
    reopened = [parse_message(json.loads(json.dumps(message.to_dict()))) for message in talk.messages]
    assert reopened == talk.messages
    asked = json.dumps(served.requests[1], ensure_ascii=False)
    assert ("I think of é." in asked) == expected
    if expected:
        [reply] = [m for m in served.requests[1]["messages"] if m["role"] == "assistant"]
        assert reply["reasoning_content"] == "I think of é."
        assert reply["tool_calls"]
    talk.ask("Thanks")
    assert "I think of é." not in json.dumps(served.requests[2], ensure_ascii=False)


def test_claude_is_sent_no_words_of_the_library_for_a_reply_of_calls_only(
    models: ModelProcess, served: ModelServer
) -> None:
    served.answer(server.spoken(Call(arguments("shell", "true"), "call_1")), server.spoken(Say("Done.")))
    talk = Talk(models, Profile(model="anthropic/m", api_base=served.root, api_key="k-12345678"))
    talk.ask("Go")
    talk.run("")
    talk.ask()
    assert "tool_use" in json.dumps(served.requests[1])
    assert "[System: Empty message content" not in json.dumps(served.requests[1])


@pytest.mark.parametrize("name", WIRES)
def test_every_provider_is_offered_the_tool_and_the_system_message(
    models: ModelProcess, served: ModelServer, name: str
) -> None:
    model, path = WIRES[name]
    profile = Profile(
        model=model, api_base=served.root + path, api_key="k-12345678", system_message="Be brief."
    )
    Talk(models, profile).ask("Hi")
    asked = json.dumps(served.requests[0])
    assert "Be brief." in asked
    assert "Runs code on the user's computer" in asked


@pytest.mark.parametrize("name", sorted(WIRES.keys() - {"deepseek"}))  # its models do not see
def test_an_image_reaches_every_provider_that_takes_one(
    models: ModelProcess, served: ModelServer, name: str
) -> None:
    model, path = WIRES[name]
    profile = Profile(model=model, api_base=served.root + path, api_key="k-12345678")
    talk = Talk(models, profile)
    talk.messages.append(Message(role="user", type="image", format="base64.png", content="aGVsbG8="))
    talk.ask("What is this?")
    assert "aGVsbG8=" in json.dumps(served.requests[0])


@pytest.mark.parametrize("name", WIRES)
def test_cancelling_closes_the_connection_with_every_provider(
    models: ModelProcess, served: ModelServer, name: str
) -> None:
    model, path = WIRES[name]
    served.answer(server.broken_off(Say("words " * 50), chunks=12, then=lambda exchange: exchange.hang()))
    profile = Profile(model=model, api_base=served.root + path, api_key="k-12345678")
    message = Message(role="user", type="message", content="Go")
    reply = models.reply(request.write([message], profile, ["python"], tools=True).request)
    assert any(isinstance(delta, Text) for delta in iter(reply))
    reply.cancel()
    assert served.exchange().client_gone.wait(40)


def test_ollama_is_reported_the_window_because_it_would_cut_without_a_word(
    models: ModelProcess, served: ModelServer
) -> None:
    profile = Profile(model="ollama/m", api_base=served.root, context_window=16_000)
    Talk(models, profile).ask("Hi")
    assert served.requests[0]["options"]["num_ctx"] == 16_000


def test_anthropic_is_reported_what_to_keep_in_its_cache(models: ModelProcess, served: ModelServer) -> None:
    talk = Talk(models, Profile(model="anthropic/m", api_base=served.root, api_key="k-12345678"))
    talk.ask("Hi")
    talk.ask("And now?")
    asked = served.requests[-1]
    assert asked["system"][-1]["cache_control"] == {"type": "ephemeral"}
    assert asked["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    assert json.dumps(asked).count("cache_control") == 2
