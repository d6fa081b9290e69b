"""A part of OpenAI's Responses API: text, and code as calls of `code_interpreter` that run here.

Code that needs approval ends the response with an `mcp_approval_request`; the client answers it with an
`mcp_approval_response` and the response's id.
"""

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from oi_tui.engine.events import MessageGrew, MessageRecorded, MessageStarted, TurnEnded, UsageReported
from oi_tui.engine.output.plain import plain
from oi_tui.messages import Message
from oi_tui.server.completions import MODEL, content_messages
from oi_tui.server.context import context_of, read_object
from oi_tui.server.event_log import EventReader, GapError, LogItem, Question
from oi_tui.server.guard import RefusedError
from oi_tui.server.hosted_session import HostedSession

_LABEL = "oi-tui"
_FINAL = ("finished", "failed", "interrupted", "lost", "rejected", "skipped", "unfinished")
_IMAGES = {"base64.png": "image/png", "base64.jpeg": "image/jpeg"}
Event = dict[str, Any]


async def create_response(request: Request) -> Response:
    """Work on the input; streamed or whole."""
    body = await read_object(request)
    messages, approval = _input_of(body.get("input"))
    instructions = body.get("instructions")
    if instructions is not None and not isinstance(instructions, str):
        raise RefusedError(400, "instructions must be text.")
    if instructions and messages:
        messages = [*content_messages(instructions), *messages]
    session = await _session_of(request, body)
    events = _events(session, body, messages, approval)
    # What cannot begin is refused, before a stream is promised.
    last = await anext(events)
    if body.get("stream") is True:
        return StreamingResponse(_lines(last, events), media_type="text/event-stream")
    async for event in events:
        last = event
    return JSONResponse(last["response"])


async def _session_of(request: Request, body: Mapping[str, Any]) -> HostedSession:
    sessions = context_of(request).sessions
    earlier = body.get("previous_response_id")
    if earlier is None:
        return await sessions.create(disposable=True)
    head, _, _ = str(earlier).removeprefix("resp_").rpartition("_")
    return await sessions.find(head)


def _input_of(given: object) -> tuple[list[Message], Mapping[str, Any] | None]:
    """The new messages of the person, and the answer to a question. Raises RefusedError."""
    if isinstance(given, str):
        return content_messages(given), None
    if not isinstance(given, list) or not given or not all(isinstance(item, dict) for item in given):
        raise RefusedError(400, "input must be text or a list of items.")
    last = given[-1]
    if last.get("type") == "mcp_approval_response":
        return [], last
    if last.get("role") != "user":
        raise RefusedError(400, "input must end with a message of the user or an mcp_approval_response.")
    return [message for item in given for message in _messages_of(item)], None


def _messages_of(item: Mapping[str, Any]) -> list[Message]:
    """The messages of an item; a client that keeps the conversation itself sends what was said before."""
    match item.get("role"):
        case "user" | "system" | "developer":
            return content_messages(item.get("content"))
        case "assistant":
            content = item.get("content")
            parts = [{"text": content}] if isinstance(content, str) else content
            texts = [part.get("text") for part in parts or () if isinstance(part, dict)]
            said = "".join(text for text in texts if isinstance(text, str))
            return [Message(role="assistant", type="message", content=said)] if said else []
    return []


async def _events(
    session: HostedSession,
    body: Mapping[str, Any],
    messages: list[Message],
    approval: Mapping[str, Any] | None,
) -> AsyncIterator[Event]:
    """Begin a turn or answer its question, and tell what follows; the last event has the whole response."""
    builder = ResponseBuilder(session.id, body)
    with EventReader(session.log) as reader:
        await asyncio.to_thread(_begin, session, messages, approval)
        for event in builder.begin():
            yield event
        while not builder.is_over():
            try:
                entries = await reader.next()
            except GapError:
                builder.fail("The client read too slowly.")
                break
            for entry in entries:
                if not builder.is_over():
                    for event in builder.take(entry.item):
                        yield event
        yield builder.end()


def _begin(session: HostedSession, messages: list[Message], approval: Mapping[str, Any] | None) -> None:
    if approval is None:
        session.say(messages)
        return
    question = session.question
    decision = "run" if approval.get("approve") is True else "reject"
    shown = question.hash if question else ""
    session.answer(
        str(approval.get("approval_request_id")), shown, decision, reason=str(approval.get("reason") or "")
    )


class ResponseBuilder:
    """Puts a response together, and tells each step as an event of its stream."""

    def __init__(self, session: str, body: Mapping[str, Any]) -> None:
        self._number = -1
        self._items: dict[str, tuple[int, Event]] = {}
        self._outputs: dict[str, Event] = {}
        self._over = False
        self._response: Event = {
            "id": f"resp_{session}_{secrets.token_hex(4)}",
            "object": "response",
            "created_at": int(time.time()),
            "status": "in_progress",
            "error": None,
            "incomplete_details": None,
            "instructions": body.get("instructions"),
            "metadata": {},
            "model": str(body.get("model") or MODEL),
            "output": [],
            "parallel_tool_calls": False,
            "previous_response_id": body.get("previous_response_id"),
            "temperature": None,
            "tool_choice": "auto",
            "tools": [],
            "top_p": None,
            "usage": None,
        }

    def is_over(self) -> bool:
        """Whether nothing follows but the end."""
        return self._over

    def begin(self) -> Iterator[Event]:
        """The first events."""
        yield self._event("response.created", response=self._response)
        yield self._event("response.in_progress", response=self._response)

    def end(self) -> Event:
        """The last event, with the whole response."""
        if self._response["status"] == "in_progress":
            self._response["status"] = "completed"
        return self._event(f"response.{self._response['status']}", response=self._response)

    def fail(self, why: str) -> None:
        """End the response as failed."""
        self._over = True
        self._response["status"] = "failed"
        self._response["error"] = {"code": "server_error", "message": why}

    def take(self, item: LogItem) -> Iterator[Event]:
        """The events of the stream for one of the session."""
        match item:
            case MessageStarted(Message(role="assistant", type="message") as message):
                yield from self._add(message.id, _text(message.id))
                part = {"type": "output_text", "text": "", "annotations": []}
                yield self._of(message.id, "content_part.added", content_index=0, part=part)
            case MessageStarted(Message(role="assistant", type="code") as message):
                yield from self._begin_call(message)
            case MessageStarted(Message(type="console", parent=str(parent)) as message):
                if parent in self._items:
                    logs = self._outputs[message.id] = {"type": "logs", "logs": ""}
                    self._items[parent][1]["outputs"].append(logs)
            case MessageGrew(id, text):
                yield from self._grow(id, text)
            case MessageRecorded(Message(role="assistant", type="message") as message):
                yield from self._finish_text(message)
            case MessageRecorded(Message(role="assistant", type="code") as message):
                yield from self._record_code(message)
            case MessageRecorded(Message(type="image", parent=str(parent)) as message):
                kind = _IMAGES.get(message.format or "")
                if kind and parent in self._items:
                    image = {"type": "image", "url": f"data:{kind};base64,{message.content}"}
                    self._items[parent][1]["outputs"].append(image)
            case UsageReported():
                self._count(item)
            case Question():
                yield from self._ask(item)
            case TurnEnded(outcome, reason):
                self._over = True
                if outcome in ("failed", "paused"):
                    self.fail(reason or "The turn ended early.")

    def _grow(self, id: str, text: str) -> Iterator[Event]:
        if logs := self._outputs.get(id):
            logs["logs"] += plain(text)
        elif id in self._items:
            item = self._items[id][1]
            if item["type"] == "message":
                item["content"][0]["text"] += text
                yield self._of(id, "output_text.delta", content_index=0, delta=text, logprobs=[])
            else:
                item["code"] += text
                yield self._of(id, "code_interpreter_call_code.delta", delta=text)

    def _finish_text(self, message: Message) -> Iterator[Event]:
        if message.id not in self._items:
            return
        item = self._items[message.id][1]
        part = item["content"][0]
        part["text"], item["status"] = message.content, "completed"
        yield self._of(message.id, "output_text.done", content_index=0, text=message.content, logprobs=[])
        yield self._of(message.id, "content_part.done", content_index=0, part=part)
        yield self._finish_item(message.id)

    def _record_code(self, message: Message) -> Iterator[Event]:
        if message.id not in self._items:
            yield from self._begin_call(message)
        item = self._items[message.id][1]
        if not item["code"] and message.content:
            yield self._of(message.id, "code_interpreter_call_code.delta", delta=message.content)
        item["code"] = message.content
        if message.state == "running":
            item["status"] = "interpreting"
            yield self._of(message.id, "code_interpreter_call_code.done", code=message.content)
            yield self._of(message.id, "code_interpreter_call.interpreting")
        elif message.state in _FINAL:
            item["status"] = "completed" if message.state == "finished" else "failed"
            if message.reason:
                item["outputs"].append({"type": "logs", "logs": message.reason})
            yield self._of(message.id, "code_interpreter_call.completed")
            yield self._finish_item(message.id)

    def _ask(self, question: Question) -> Iterator[Event]:
        message = question.request.message
        shown = {"language": message.format, "code": message.content, "hash": question.hash}
        request = {
            "id": question.id,
            "type": "mcp_approval_request",
            "name": "run",
            "server_label": _LABEL,
            "arguments": json.dumps(shown),
        }
        yield from self._add(question.id, request)
        yield self._finish_item(question.id)
        self._over = True

    def _count(self, usage: UsageReported) -> None:
        """Add a request of the model to the usage of the response."""
        before = self._response["usage"] or {"input_tokens": 0, "output_tokens": 0}
        cached = before.get("input_tokens_details", {}).get("cached_tokens", 0)
        read = before["input_tokens"] + usage.prompt_tokens
        written = before["output_tokens"] + usage.completion_tokens
        self._response["usage"] = {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": cached + usage.cached_tokens},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": read + written,
        }

    def _begin_call(self, message: Message) -> Iterator[Event]:
        yield from self._add(message.id, self._call(message))
        yield self._of(message.id, "code_interpreter_call.in_progress")

    def _call(self, message: Message) -> Event:
        return {
            "id": message.id,
            "type": "code_interpreter_call",
            "status": "in_progress",
            "code": "",
            "container_id": self._response["id"],
            "outputs": [],
        }

    def _add(self, id: str, item: Event) -> Iterator[Event]:
        output: list[Event] = self._response["output"]
        self._items[id] = (len(output), item)
        output.append(item)
        yield self._event("response.output_item.added", output_index=len(output) - 1, item=item)

    def _finish_item(self, id: str) -> Event:
        index, item = self._items[id]
        return self._event("response.output_item.done", output_index=index, item=item)

    def _of(self, id: str, kind: str, **more: Any) -> Event:
        return self._event(f"response.{kind}", item_id=id, output_index=self._items[id][0], **more)

    def _event(self, kind: str, **values: Any) -> Event:
        self._number += 1
        return {"type": kind, "sequence_number": self._number, **values}


def _text(id: str) -> Event:
    part = {"type": "output_text", "text": "", "annotations": []}
    return {"id": id, "type": "message", "role": "assistant", "status": "in_progress", "content": [part]}


async def _lines(first: Event, events: AsyncIterator[Event]) -> AsyncIterator[bytes]:
    yield _line(first)
    async for event in events:
        yield _line(event)


def _line(event: Event) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
