"""The formats in which providers stream a reply, as their public documentation describes them.

Each wire turns a reply (words, thoughts, calls) into the lines of a response body, and finds what is wrong
with a conversation that it is sent.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Say:
    text: str


@dataclass(frozen=True)
class Think:
    text: str


@dataclass(frozen=True)
class Call:
    arguments: str
    id: str | None = "call_1"
    name: str | None = "execute"


Spoken = Say | Think | Call


def pieces(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def event(data: Any, name: str | None = None) -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


class OpenAi:
    """Chat completions: one `data:` line a chunk, `[DONE]` at the end."""

    thoughts = "reasoning_content"
    media = "text/event-stream"

    def chunk(self, delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        return event({**head, "choices": [choice], **more})

    def body(self, reply: Sequence[Spoken], size: int) -> Iterator[bytes]:
        yield self.chunk({"role": "assistant", "content": ""})
        index = 0
        for part in reply:
            if isinstance(part, Call):
                function = {"name": part.name, "arguments": ""}
                head = {"index": index, "id": part.id, "type": "function", "function": function}
                yield self.chunk({"tool_calls": [head]})
                for piece in pieces(part.arguments, size):
                    yield self.chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
                index += 1
            else:
                key = "content" if isinstance(part, Say) else self.thoughts
                for piece in pieces(part.text, size):
                    yield self.chunk({key: piece})
        yield self.chunk({}, "tool_calls" if index else "stop")
        yield event(
            {
                "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
                "choices": [],
                "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
            }
        )  # fmt: skip
        yield b"data: [DONE]\n\n"

    def error(self, message: str, code: str | None = None) -> dict[str, Any]:
        return {"error": {"message": message, "type": "error", "code": code, "param": None}}

    def problem(self, request: dict[str, Any]) -> str | None:
        """A call without an answer, an answer without a call, an id that occurs twice."""
        waiting: list[str] = []
        for message in request["messages"]:
            if message["role"] == "tool":
                if not waiting or message["tool_call_id"] not in waiting:
                    return f"no call for the result {message['tool_call_id']}"
                waiting.remove(message["tool_call_id"])
                continue
            if waiting:
                return f"no result for the call {waiting[0]}"
            calls = message.get("tool_calls") or ()
            waiting = [call["id"] for call in calls]
            if len(set(waiting)) < len(waiting):
                return "an id that occurs twice"
            for call in calls:
                json.loads(call["function"]["arguments"])
            if not (calls or message.get("content")):
                return f"a message of the {message['role']} with nothing in it"
        return f"no result for the call {waiting[0]}" if waiting else None


class OpenRouter(OpenAi):
    """As OpenAI's, with comments while the provider works, and `reasoning`."""

    thoughts = "reasoning"

    def body(self, reply: Sequence[Spoken], size: int) -> Iterator[bytes]:
        yield b": OPENROUTER PROCESSING\n\n"
        yield b": OPENROUTER PROCESSING\n\n"
        yield from super().body(reply, size)


class Anthropic:
    """Messages: named events, content blocks with an index."""

    media = "text/event-stream"

    def body(self, reply: Sequence[Spoken], size: int) -> Iterator[bytes]:
        message = {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 11, "output_tokens": 1},
        }  # fmt: skip
        yield event({"type": "message_start", "message": message}, "message_start")
        yield event({"type": "ping"}, "ping")
        called = False
        for index, part in enumerate(reply):
            block: dict[str, Any]
            match part:
                case Say(text):
                    block, kind, key = {"type": "text", "text": ""}, "text_delta", "text"
                case Think(text):
                    block, kind, key = {"type": "thinking", "thinking": ""}, "thinking_delta", "thinking"
                case Call(text, id, name):
                    called = True
                    block = {"type": "tool_use", "id": id, "name": name, "input": {}}
                    kind, key = "input_json_delta", "partial_json"
            start = {"type": "content_block_start", "index": index, "content_block": block}
            yield event(start, "content_block_start")
            for piece in pieces(text, size):
                delta = {"type": kind, key: piece}
                yield event(
                    {"type": "content_block_delta", "index": index, "delta": delta}, "content_block_delta"
                )
            yield event({"type": "content_block_stop", "index": index}, "content_block_stop")
        delta = {"stop_reason": "tool_use" if called else "end_turn", "stop_sequence": None}
        yield event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 7}}, "message_delta")
        yield event({"type": "message_stop"}, "message_stop")

    def error(self, message: str, code: str | None = None) -> dict[str, Any]:
        return {"type": "error", "error": {"type": code or "invalid_request_error", "message": message}}

    def problem(self, request: dict[str, Any]) -> str | None:
        """Calls and results that do not pair, odd ids, a role twice in a row, text with nothing in it."""
        waiting: list[str] = []
        ids: list[str] = []
        before = "assistant"
        for message in request["messages"]:
            if message["role"] == before:
                return f"the {before} speaks twice"
            before = message["role"]
            blocks = message["content"]
            blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks
            if not blocks or any(block["type"] == "text" and not block["text"].strip() for block in blocks):
                return "a text with nothing in it"
            kinds = [block["type"] == "tool_result" for block in blocks]
            if kinds != sorted(kinds, reverse=True):
                return "a result after something else"
            ids += [block["id"] for block in blocks if block["type"] == "tool_use"]
            if len(set(ids)) < len(ids) or not all(re.fullmatch("[A-Za-z0-9_-]+", item) for item in ids):
                return f"ids {ids}"
            given = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
            if sorted(given) != sorted(waiting):
                return f"tool_use {waiting} answered by {given}"
            waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        return f"tool_use {waiting} without an answer" if waiting else None


class Gemini:
    """generateContent with `alt=sse`: every chunk is a whole response with parts."""

    media = "text/event-stream"

    def body(self, reply: Sequence[Spoken], size: int) -> Iterator[bytes]:
        def chunk(part: dict[str, Any], **more: Any) -> bytes:
            candidate = {"content": {"parts": [part], "role": "model"}, "index": 0, **more}
            usage = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}
            return event({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m"})

        for part in reply:
            match part:
                case Say(text):
                    for piece in pieces(text, size):
                        yield chunk({"text": piece})
                case Think(text):
                    for piece in pieces(text, size):
                        yield chunk({"text": piece, "thought": True})
                case Call(arguments, _, name):
                    yield chunk({"functionCall": {"name": name, "args": json.loads(arguments)}})
        yield chunk({"text": ""}, finishReason="STOP")

    def error(self, message: str, code: str | None = None) -> dict[str, Any]:
        return {"error": {"code": 400, "message": message, "status": code or "INVALID_ARGUMENT"}}

    def problem(self, request: dict[str, Any]) -> str | None:
        """Calls and responses that do not pair, a model that goes first, messages with nothing in them."""
        waiting = 0
        before = "model"
        for message in request["contents"]:
            if message.get("role", "user") == before == "model":
                return "the model speaks twice"
            before = message.get("role", "user")
            if not message["parts"] or any(part.get("text", "x") == "" for part in message["parts"]):
                return "a part with nothing in it"
            answers = sum(
                "functionResponse" in part or "function_response" in part for part in message["parts"]
            )
            if answers != waiting:
                return f"{waiting} calls, {answers} responses"
            waiting = sum("functionCall" in part or "function_call" in part for part in message["parts"])
        return f"{waiting} calls without a response" if waiting else None


class Ollama:
    """/api/chat: a JSON object a line."""

    media = "application/x-ndjson"

    def body(self, reply: Sequence[Spoken], size: int) -> Iterator[bytes]:
        def line(message: dict[str, Any], **more: Any) -> bytes:
            record = {
                "model": "m",
                "created_at": "2025-01-01T00:00:00Z",
                "message": message,
                "done": False,
                **more,
            }
            return json.dumps(record).encode() + b"\n"

        for part in reply:
            match part:
                case Say(text):
                    for piece in pieces(text, size):
                        yield line({"role": "assistant", "content": piece})
                case Think(text):
                    for piece in pieces(text, size):
                        yield line({"role": "assistant", "content": "", "thinking": piece})
                case Call(arguments, _, name):
                    function = {"name": name, "arguments": json.loads(arguments)}
                    yield line({"role": "assistant", "content": "", "tool_calls": [{"function": function}]})
        done = {"done": True, "done_reason": "stop", "prompt_eval_count": 11, "eval_count": 7}
        yield line({"role": "assistant", "content": ""}, **done)

    def error(self, message: str, code: str | None = None) -> dict[str, Any]:
        return {"error": message}

    def problem(self, request: dict[str, Any]) -> str | None:
        waiting = 0
        for message in request["messages"]:
            if message["role"] == "tool":
                waiting -= 1
            elif waiting:
                return "a call without a result"
            else:
                waiting = len(message.get("tool_calls") or ())
        return "a call without a result" if waiting else None


Wire = OpenAi | Anthropic | Gemini | Ollama


def wire(path: str) -> Wire:
    """The format that is spoken at a path."""
    if path.startswith("/api/v1/"):
        return OpenRouter()
    if path.startswith("/v1/messages"):
        return Anthropic()
    if "GenerateContent" in path or "generateContent" in path:
        return Gemini()
    if path.startswith("/api/chat"):
        return Ollama()
    return OpenAi()
