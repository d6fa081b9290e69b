"""Builds a response of OpenAI's Responses API from the events of a session."""

import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

from oi_tui.engine.events import (
    MessageGrew,
    MessageRecorded,
    MessageStarted,
    RunReported,
    TurnEnded,
    UsageReported,
)
from oi_tui.engine.output.plain import make_plain
from oi_tui.messages import InputRequested, Message
from oi_tui.server.event_log import ApprovalQuestion, LogItem
from oi_tui.server.hosted_session import Snapshot
from oi_tui.server.openai.content import write_input_notice
from oi_tui.server.openai.response_request import LABEL, Item, ResponseRequest

_FINAL = ("finished", "failed", "interrupted", "lost", "rejected", "skipped", "unfinished")
#: States of code that has begun to run.
_RAN = ("running", "finished", "failed", "interrupted", "lost")
_IMAGES = {"base64.png": "image/png", "base64.jpeg": "image/jpeg"}
#: So much of what one call prints is sent, in characters.
_MOST_LOGS = 1_000_000
_CUT = "\n(More was printed than can be sent. The conversation in oi-tui has the rest.)\n"
Event = dict[str, Any]


class ResponseBuilder:
    """Builds a response and the events of its stream."""

    def __init__(
        self,
        id: str,
        request: ResponseRequest,
        known: frozenset[str] = frozenset(),
        before: Sequence[Message] = (),
    ) -> None:
        """`known` are the ids of messages that the client sent; `before` are the earlier messages."""
        self._number = -1
        self._known = known
        self._before = {message.id: message for message in before}
        self._items: dict[str, tuple[int, Event]] = {}
        self._outputs: dict[str, Event] = {}
        #: The printed pieces of each output; a later one may write over an earlier one.
        self._printed: dict[str, list[str]] = {}
        #: Output whose call has no item here yet.
        self._late: list[Event] = []
        self._over = False
        self.response: Event = {
            "id": id,
            "object": "response",
            "created_at": int(time.time()),
            "completed_at": None,
            "status": "in_progress",
            "background": request.background,
            "error": None,
            "incomplete_details": None,
            "instructions": request.instructions,
            "max_output_tokens": None,
            "metadata": dict(request.metadata),
            "model": request.model,
            "output": [],
            "parallel_tool_calls": False,
            "previous_response_id": request.previous,
            "store": request.store,
            "temperature": None,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": list(request.tools),
            "top_p": None,
            "truncation": "disabled",
            "usage": None,
        }

    def is_over(self) -> bool:
        """Return whether only the last event is missing."""
        return self._over

    def begin(self) -> Iterator[Event]:
        """Yield the first events of the stream."""
        yield self._event("response.created", response=self.response)
        yield self._event("response.in_progress", response=self.response)

    def end(self) -> Event:
        """Return the last event of the stream, with the whole response."""
        response = self.response
        if response["status"] == "in_progress":
            response["status"] = "completed"
        if response["status"] == "completed":
            response["completed_at"] = int(time.time())
        for item in response["output"]:
            if item.get("status") in ("in_progress", "interpreting"):
                item["status"] = "incomplete"
        # A stream of OpenAI's has no event for what was cancelled; the status of the response says it.
        kind = {"cancelled": "incomplete"}.get(response["status"], response["status"])
        return self._event(f"response.{kind}", response=response)

    def fail(self, why: str) -> None:
        """Mark the response as failed, with the reason."""
        self._over = True
        self.response["status"] = "failed"
        self.response["error"] = {"code": "server_error", "message": why}

    def feed(self, item: LogItem) -> Iterator[Event]:
        """Yield the events of the stream for an event of the session."""
        match item:
            case MessageStarted(message) | MessageRecorded(message) if message.id in self._known:
                return
            case MessageStarted(Message(role="assistant", type="message") as message):
                yield from self._begin_text(message.id)
            case MessageStarted(Message(role="assistant", type="code") as message):
                yield from self._begin_call(message, message.id)
            case MessageStarted(Message(type="console", parent=str(parent)) as message):
                if parent in self._items:
                    logs = self._outputs[message.id] = {"type": "logs", "logs": ""}
                    self._items[parent][1]["outputs"].append(logs)
            case MessageRecorded(Message(type="console", parent=str(parent)) as message):
                if message.id in self._outputs:
                    self._settle(message.id)
                else:
                    # The run began in an earlier response, which ended when its program waited for input.
                    logs = {"type": "logs", "logs": make_plain(message.content)[:_MOST_LOGS]}
                    late = self._items[parent][1]["outputs"] if parent in self._items else self._late
                    late.append(logs)
            case MessageGrew(id, text):
                yield from self._grow(id, text)
            case MessageRecorded(Message(role="assistant", type="message") as message):
                yield from self._finish_text(message)
            case MessageRecorded(Message(role="assistant", type="code") as message):
                yield from self._record_code(message)
            case MessageRecorded(Message(type="image", parent=str(parent)) as message):
                kind = _IMAGES.get(message.format or "")
                if kind and parent in self._items and message.id not in self._outputs:
                    image = {"type": "image", "url": f"data:{kind};base64,{message.content}"}
                    self._outputs[message.id] = image
                    self._items[parent][1]["outputs"].append(image)
            case UsageReported():
                self._count(item)
            case ApprovalQuestion():
                yield from self._ask(item)
            case RunReported(code, InputRequested(prompt)):
                call_id = f"{code}_input_{self._number}"
                notice = Message(
                    role="assistant", type="message", content=write_input_notice(prompt), id=call_id
                )
                yield from self._finish_text(notice)
                self._over = True
            case TurnEnded(outcome, reason):
                self._over = True
                if outcome in ("failed", "paused"):
                    self.fail(reason or "The turn ended early.")
                elif outcome == "interrupted":
                    self.response["status"] = "cancelled"

    def rebuild_missed(self, state: Snapshot) -> Iterator[LogItem]:
        """Yield events for those of the session that were dropped. `state` is the session after them."""
        messages = [
            message
            for message in state.messages
            if message.id not in self._known and self._before.get(message.id) != message
        ]
        for message in messages:
            yield from self._catch_up(message)
        recorded = [message for message in messages if message.id not in state.unfinished]
        # Code is over once all is there that it has shown.
        for message in sorted(recorded, key=lambda message: message.type == "code"):
            yield MessageRecorded(message)
        if state.question:
            yield state.question
        elif state.waits_for:
            code = next(message.id for message in reversed(state.messages) if message.type == "code")
            yield RunReported(code, state.waits_for)
        elif state.ended:
            yield state.ended

    def _catch_up(self, message: Message) -> Iterator[LogItem]:
        """Update a message to its current content, without its end."""
        if message.type == "image":
            # An image is whole, and has its place between what is printed.
            yield MessageRecorded(message)
            return
        if message.id in self._before:
            if message.id not in self._items and message.state in _RAN:
                yield MessageRecorded(message.replace(state="running"))
            return
        if logs := self._outputs.get(message.id):
            logs["logs"] = make_plain(message.content)[:_MOST_LOGS]
            self._printed[message.id] = [message.content]
            return
        earlier_text = ""
        if message.id in self._items:
            item = self._items[message.id][1]
            earlier_text = item["content"][0]["text"] if item["type"] == "message" else item["code"]
        else:
            yield MessageStarted(message.replace(content=""))
        yield MessageGrew(message.id, message.content[len(earlier_text) :])

    def _grow(self, id: str, text: str) -> Iterator[Event]:
        if logs := self._outputs.get(id):
            if len(logs["logs"]) < _MOST_LOGS:
                self._printed.setdefault(id, []).append(text)
                logs["logs"] += make_plain(text)
                if len(logs["logs"]) >= _MOST_LOGS:
                    logs["logs"] = logs["logs"][:_MOST_LOGS] + _CUT
        elif id in self._items:
            item = self._items[id][1]
            if item["type"] == "message":
                item["content"][0]["text"] += text
                yield self._make_item_event(id, "output_text.delta", content_index=0, delta=text, logprobs=[])
            else:
                item["code"] += text
                yield self._make_item_event(id, "code_interpreter_call_code.delta", delta=text)

    def _settle(self, id: str) -> None:
        """Give finished output the lines that a terminal shows, such as the last state of a progress bar."""
        logs, whole = self._outputs[id], "".join(self._printed.pop(id, ()))
        if whole and len(logs["logs"]) < _MOST_LOGS:
            logs["logs"] = make_plain(whole)

    def _begin_text(self, id: str) -> Iterator[Event]:
        item: Event = {
            "id": id,
            "type": "message",
            "role": "assistant",
            "status": "in_progress",
            "content": [],
        }
        yield from self._add(id, item)
        # Clients add each part to the item themselves.
        part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        item["content"].append(part)
        yield self._make_item_event(id, "content_part.added", content_index=0, part=part)

    def _finish_text(self, message: Message) -> Iterator[Event]:
        if message.id not in self._items:
            if not message.content:
                return
            # A reply that came in one piece.
            yield from self._begin_text(message.id)
        item = self._items[message.id][1]
        if item["status"] == "completed":
            return
        part = item["content"][0]
        part["text"], item["status"] = message.content, "completed"
        yield self._make_item_event(
            message.id, "output_text.done", content_index=0, text=message.content, logprobs=[]
        )
        yield self._make_item_event(message.id, "content_part.done", content_index=0, part=part)
        yield self._finish_item(message.id)

    def _record_code(self, message: Message) -> Iterator[Event]:
        if message.id not in self._items:
            # Clients keep one item for each id, and the response that asked had this code as well.
            yield from self._begin_call(message, f"{message.id}_run")
            self._items[message.id][1]["outputs"].extend(self._late)
            self._late.clear()
        item = self._items[message.id][1]
        if not item["code"] and message.content:
            yield self._make_item_event(message.id, "code_interpreter_call_code.delta", delta=message.content)
        item["code"] = message.content
        ends = message.state in _FINAL and item["status"] in ("in_progress", "interpreting")
        if item["status"] == "in_progress" and (ends or message.state == "running"):
            item["status"] = "interpreting"
            yield self._make_item_event(message.id, "code_interpreter_call_code.done", code=message.content)
            if message.state == "running":
                yield self._make_item_event(message.id, "code_interpreter_call.interpreting")
        if ends:
            item["status"] = "completed" if message.state == "finished" else "failed"
            if message.reason:
                item["outputs"].append({"type": "logs", "logs": message.reason})
            yield self._make_item_event(message.id, "code_interpreter_call.completed")
            yield self._finish_item(message.id)

    def _ask(self, question: ApprovalQuestion) -> Iterator[Event]:
        message = question.request.message
        arguments = {"language": message.format, "code": message.content, "hash": question.hash}
        request = {
            "id": question.id,
            "type": "mcp_approval_request",
            "name": "run",
            "server_label": LABEL,
            "arguments": json.dumps(arguments),
        }
        yield from self._add(question.id, request)
        yield self._finish_item(question.id)
        self._over = True

    def _count(self, usage: UsageReported) -> None:
        """Add a request of the model to the usage of the response."""
        before = self.response["usage"] or {"input_tokens": 0, "output_tokens": 0}
        cached = before.get("input_tokens_details", {}).get("cached_tokens", 0)
        input_tokens = before["input_tokens"] + usage.prompt_tokens
        output_tokens = before["output_tokens"] + usage.completion_tokens
        self.response["usage"] = {
            "input_tokens": input_tokens,
            "input_tokens_details": {"cached_tokens": cached + usage.cached_tokens},
            "output_tokens": output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": input_tokens + output_tokens,
        }

    def _begin_call(self, message: Message, id: str) -> Iterator[Event]:
        yield from self._add(message.id, self._call(message, id))
        yield self._make_item_event(message.id, "code_interpreter_call.in_progress")

    def _call(self, message: Message, id: str) -> Event:
        return {
            "id": id,
            "type": "code_interpreter_call",
            "status": "in_progress",
            "code": "",
            # Not OpenAI's: more languages run here than Python.
            "language": message.format,
            "container_id": self.response["id"],
            "outputs": [],
        }

    def _add(self, id: str, item: Event) -> Iterator[Event]:
        output: list[Item] = self.response["output"]
        self._items[id] = (len(output), item)
        output.append(item)
        yield self._event("response.output_item.added", output_index=len(output) - 1, item=item)

    def _finish_item(self, id: str) -> Event:
        index, item = self._items[id]
        return self._event("response.output_item.done", output_index=index, item=item)

    def _make_item_event(self, id: str, kind: str, **more: Any) -> Event:
        index, item = self._items[id]
        return self._event(f"response.{kind}", item_id=item["id"], output_index=index, **more)

    def _event(self, kind: str, **values: Any) -> Event:
        self._number += 1
        return {"type": kind, "sequence_number": self._number, **values}
