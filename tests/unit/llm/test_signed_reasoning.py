"""What a provider signed goes back to the same model with the tool calls of its reply, and to no other."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oi_tui.engine.events import TurnEnded
from oi_tui.engine.llm import request, request_gate
from oi_tui.engine.llm.base import Request, Signed
from oi_tui.engine.llm.context_window import measure_size
from oi_tui.engine.llm.signed_reasoning import SignedReasoning
from oi_tui.engine.llm.transport.chunk_repair import find_signed_parts
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.llm.usage_report import UsageTracker
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.session import Session
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.storage.records import parse_message
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message
from tests.fakes import Computer, Llm
from tests.servers import openai_server as server
from tests.servers.openai_server import ModelServer, Say
from tests.servers.wires import OpenAi, event

#: The names that odd replies are made of.
FIELDS = (
    "thinking_blocks", "reasoning_details", "tool_calls", "extra_content", "id", "type", "index", "text",
    "thinking", "signature", "data", "summary",
)  # fmt: skip
CODE = json.dumps({"language": "python", "code": "1"})
CHUNK = OpenAi().chunk


# -- replies as the providers document them ----------------------------------------------------------


def anthropic() -> list[bytes]:
    def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[bytes]:
        place = {"index": index}
        return [
            event({"type": "content_block_start", **place, "content_block": start}, "content_block_start"),
            *(
                event({"type": "content_block_delta", **place, "delta": delta}, "content_block_delta")
                for delta in deltas
            ),
            event({"type": "content_block_stop", **place}, "content_block_stop"),
        ]

    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 11, "output_tokens": 1},
    }  # fmt: skip
    thinking = {"type": "thinking", "thinking": "", "signature": ""}
    return [
        event({"type": "message_start", "message": message}, "message_start"),
        *block(
            0,
            thinking,
            {"type": "thinking_delta", "thinking": "Let me "},
            {"type": "thinking_delta", "thinking": "see."},
            {"type": "signature_delta", "signature": "SIGNED=="},
        ),
        *block(1, {"type": "redacted_thinking", "data": "HIDDEN=="}),
        *block(
            2,
            {"type": "tool_use", "id": "call_1", "name": "execute", "input": {}},
            {"type": "input_json_delta", "partial_json": CODE},
        ),
        event(
            {
                "type": "message_delta",
                "delta": {"stop_reason": "tool_use", "stop_sequence": None},
                "usage": {"output_tokens": 7},
            },
            "message_delta",
        ),
        event({"type": "message_stop"}, "message_stop"),
    ]


def anthropic_sent(asked: dict[str, Any]) -> Any:
    reply, *_ = [message for message in asked["messages"] if message["role"] == "assistant"]
    return reply["content"][:-1]


def gemini() -> list[bytes]:
    def chunk(part: dict[str, Any], **more: Any) -> bytes:
        candidate = {"content": {"parts": [part], "role": "model"}, "index": 0, **more}
        return event({"candidates": [candidate], "usageMetadata": {"promptTokenCount": 1}})

    call = {"functionCall": {"name": "execute", "args": json.loads(CODE)}}
    return [
        chunk({"text": "hm", "thought": True}),
        chunk({"text": "I look.", "thoughtSignature": "V09SRFM="}),
        chunk({**call, "thoughtSignature": "Q0FMTA=="}),
        chunk({"text": ""}, finishReason="STOP"),
    ]


def gemini_sent(asked: dict[str, Any]) -> Any:
    reply, *_ = [message for message in asked["contents"] if message["role"] == "model"]
    return [part.get("thoughtSignature") for part in reply["parts"]]


def called(**more: Any) -> bytes:
    function = {"name": "execute", "arguments": CODE}
    return CHUNK(
        {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function} | more]}
    )


END = (CHUNK({}, "tool_calls"), b"data: [DONE]\n\n")
TEXT = {"type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0}
HIDDEN = {"type": "reasoning.encrypted", "data": "HIDDEN==", "id": "r2", "index": 1}


def openrouter() -> list[bytes]:
    return [
        CHUNK({"reasoning": "Let me ", "reasoning_details": [TEXT | {"text": "Let me ", "signature": None}]}),
        CHUNK({"reasoning": "see.", "reasoning_details": [TEXT | {"text": "see."}]}),
        CHUNK({"content": "", "reasoning_details": [HIDDEN]}),
        called(),
        CHUNK({"content": "", "reasoning_details": [TEXT | {"text": "", "signature": "SIGNED=="}]}),
        *END,
    ]


def openrouter_sent(asked: dict[str, Any]) -> Any:
    reply, *_ = [message for message in asked["messages"] if message["role"] == "assistant"]
    assert "reasoning_content" not in reply
    return reply.get("reasoning_details")


def gemini_for_openai_clients() -> list[bytes]:
    return [called(extra_content={"google": {"thought_signature": "Q0FMTA=="}}), *END]


def call_sent(asked: dict[str, Any]) -> Any:
    reply, *_ = [message for message in asked["messages"] if message["role"] == "assistant"]
    return reply["tool_calls"][0].get("extra_content")


THOUGHT = {"type": "thinking", "thinking": "Let me see.", "signature": "SIGNED=="}
Sent = Callable[[dict[str, Any]], Any]
#: Model, address, reply, what is sent back of it, and what of it must be there.
PROVIDERS: dict[str, tuple[str, str, list[bytes], Sent, Any]] = {
    "anthropic": (
        "anthropic/claude-sonnet-4-5",
        "",
        anthropic(),
        anthropic_sent,
        [THOUGHT, {"type": "redacted_thinking", "data": "HIDDEN=="}],
    ),
    "gemini": ("gemini/m", "/v1beta", gemini(), gemini_sent, ["V09SRFM=", "Q0FMTA=="]),
    "openrouter": (
        "openrouter/anthropic/claude-sonnet-4.5",
        "/api/v1",
        openrouter(),
        openrouter_sent,
        [TEXT | {"text": "Let me see.", "signature": "SIGNED=="}, HIDDEN],
    ),
    "gemini for OpenAI clients": (
        "openai/gemini-3-pro",
        "/v1",
        gemini_for_openai_clients(),
        call_sent,
        {"google": {"thought_signature": "Q0FMTA=="}},
    ),
}
SIGNATURES = ("SIGNED==", "HIDDEN==", "V09SRFM=", "Q0FMTA==")


@pytest.mark.parametrize("name", PROVIDERS)
def test_what_is_signed_goes_back_to_the_model_that_signed_it_and_to_no_other(
    models: ModelProcess, served: ModelServer, tmp_path: Path, name: str
) -> None:
    model, path, reply, sent, expected = PROVIDERS[name]
    served.answer(server.raw(*reply), server.spoken(Say("One.")), server.spoken(Say("Again.")))
    profile = Profile(
        model=model, api_base=served.root + path, api_key="k-12345678", auto_run=True, supports_functions=True
    )
    store = Store(tmp_path)
    session = Session(profile, models, Computer(), store.create(cwd="/", model=model))
    events = list(session.turn("Go"))
    assert [item.outcome for item in events if isinstance(item, TurnEnded)] == ["done"]
    assert sent(served.requests[1]) == expected
    lived = session.messages
    session.close()

    [summary] = store.list_summaries()
    journal, messages = store.open(summary.id)
    assert messages == list(lived)
    resumed = Session(profile, models, Computer(), journal, messages=messages)
    list(resumed.turn("And once more?"))
    assert sent(served.requests[2]) == expected, "resumed, and in a later turn"
    resumed.close()

    other = profile.with_changes(model=f"{model}-2")
    written = request.write(messages, other, ["python"], tools=True).request
    assert "tool_calls" in str(written.messages)
    assert not any(signature in str(written.messages) for signature in SIGNATURES)


def test_a_reply_that_came_in_one_piece_keeps_what_is_signed(
    models: ModelProcess, served: ModelServer
) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "execute", "arguments": CODE}}
    message = {"role": "assistant", "content": "", "tool_calls": [call], "reasoning_details": [HIDDEN]}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
    whole = {**body, "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    for text in (json.dumps(whole), json.dumps(whole, indent=1)):
        served.answer(server.raw(text.encode(), media="application/json"), server.spoken(Say("One.")))
        profile = Profile(
            model="openai/m",
            api_base=served.base,
            api_key="k-12345678",
            auto_run=True,
            supports_functions=True,
        )
        session = Session(profile, models, Computer(), Store.create_unsaved(cwd="/", model="openai/m"))
        list(session.turn("Go"))
        assert openrouter_sent(served.requests[1]) == [HIDDEN]


# -- pieces -----------------------------------------------------------------------------------------


def collected(name: str, *entries: dict[str, Any]) -> Any:
    signed = SignedReasoning()
    for entry in entries:
        signed.add(Signed(name, [entry]))
    return (signed.content() or {}).get(name)


def test_a_thought_is_joined_to_its_signature_as_bedrock_sends_it() -> None:
    pieces = [{"type": "thinking", "thinking": text} for text in ("Let me ", "see.")]
    signature = {"type": "thinking", "thinking": "", "signature": "SIGNED=="}
    assert collected("thinking_blocks", *pieces, signature) == [THOUGHT]
    assert collected("thinking_blocks", *pieces) is None, "a thought without a signature would be refused"
    assert collected("thinking_blocks", signature) == [signature], "a thought that the provider withholds"


def test_details_of_different_thoughts_stay_apart() -> None:
    first, second = TEXT | {"text": "a"}, TEXT | {"text": "b", "index": 1}
    assert collected("reasoning_details", first, second, TEXT | {"text": "c"}) == [
        TEXT | {"text": "ac"},
        second,
    ]
    bare = {"type": "reasoning.text", "text": "a"}
    assert collected("reasoning_details", bare, bare, HIDDEN, bare) == [
        {"type": "reasoning.text", "text": "aa"},
        HIDDEN,
        bare,
    ]
    assert collected("reasoning_details", HIDDEN, HIDDEN) == [HIDDEN, HIDDEN]


def called_message(**changes: Any) -> Message:
    signed = {"thinking_blocks": [THOUGHT]}
    return Message(
        role="assistant", type="code", format="python", content="1", call="c1", state="finished",
        model="anthropic/m", signed=signed, reply="r",
    ).replace(**changes)  # fmt: skip


def written(message: Message, **changes: Any) -> Request:
    profile = Profile(model="anthropic/m").with_changes(**changes)
    ask = Message(role="user", type="message", content="Go")
    return request.write([ask, message], profile, ["python"], tools=changes.get("tools", True)).request


def test_signed_content_counts_in_the_size_of_a_request() -> None:
    [reply] = [item for item in written(called_message()).messages if item["role"] == "assistant"]
    assert reply["thinking_blocks"] == [THOUGHT]
    bare = {name: value for name, value in reply.items() if name != "thinking_blocks"}
    assert measure_size(reply) > measure_size(bare) + len("SIGNED==")


@pytest.mark.parametrize("odd", ["\ud800", float("nan")])
@pytest.mark.parametrize("name", ["thinking_blocks", "reasoning_details"])
def test_signed_content_that_no_request_can_carry_is_left_out(name: str, odd: object) -> None:
    entry = {"type": "redacted_thinking", "data": odd}
    assert collected(name, entry) is None
    message = parse_message({**called_message().to_dict(), "signed": {name: [entry]}})
    assert message is not None
    assert message.signed is None


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.slow
@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), ODD, max_size=6), max_size=6))
def test_odd_deltas_never_fail_and_give_what_can_be_sent(deltas: list[dict[str, Any]]) -> None:
    signed = SignedReasoning()
    for delta in deltas:
        for name, entries in find_signed_parts({"choices": [{"index": 0, "delta": delta}]}):
            signed.add(Signed(name, entries))
    kept = signed.content()
    message = called_message(signed=kept, model="anthropic/m")
    assert parse_message(json.loads(json.dumps(message.to_dict()))) == message
    for part in written(message).messages:
        assert measure_size(part) > 0
    json.dumps(kept, allow_nan=False)


@pytest.mark.parametrize("stored", ["x", 3, [], {}, {"thinking_blocks": "x"}, {"thinking_blocks": ["x"]}])
def test_damaged_signed_content_is_left_out(stored: object) -> None:
    message = parse_message({**called_message().to_dict(), "signed": stored})
    assert message is not None
    assert message.signed is None
    assert "thinking_blocks" not in str(written(message).messages)


def test_signed_content_with_a_key_in_it_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", "mk-1234567890abcdef")
    thought = THOUGHT | {"thinking": "The key is mk-1234567890abcdef."}
    llm = Llm()
    sent = written(called_message(signed={"thinking_blocks": [thought], "reasoning_details": [HIDDEN]}))
    request_gate.send(llm, sent, Profile(), UsageTracker(), ModelInfo())
    [reply] = [message for message in llm.requests[0].messages if message["role"] == "assistant"]
    assert "thinking_blocks" not in reply
    assert reply["reasoning_details"] == [HIDDEN]
