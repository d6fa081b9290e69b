"""Converts the events of a session into updates of the Agent Client Protocol."""

import re
import time
from collections.abc import Iterable, Iterator
from typing import Any

from acp import schema

from oi_tui.engine.events import (
    ApprovalRequested,
    Event,
    MessageGrew,
    MessageRecorded,
    MessageStarted,
    Noticed,
    RetryScheduled,
)
from oi_tui.engine.output.plain import make_plain
from oi_tui.engine.tools import is_tool
from oi_tui.messages import Message
from oi_tui.text import clean_line, escape_controls

Update = Any
#: The newest characters of a run's output that an update repeats.
_OUTPUT = 20_000
#: Seconds between two updates of the output of one run; each repeats the images of the run.
_PAUSE, _PAUSE_WITH_IMAGES = 0.1, 1.0
#: So many characters of images are sent with one run.
_MOST_IMAGES = 4_000_000
_IMAGES = {"base64.png": "image/png", "base64.jpeg": "image/jpeg"}
_TITLE = 120
_STATUS = {
    "writing": "pending",
    "queued": "pending",
    "waiting": "pending",
    "running": "in_progress",
    "finished": "completed",
}
#: How an entry of a plan ended that did not finish.
_ENDS = {
    "failed": "failed",
    "lost": "failed",
    "interrupted": "interrupted",
    "rejected": "not run",
    "skipped": "not run",
    "unfinished": "not run",
}


def make_text_block(text: str) -> schema.TextContentBlock:
    """Return a block of text."""
    return schema.TextContentBlock(type="text", text=text)


def make_agent_text(text: str) -> schema.AgentMessageChunk:
    """Return text that the agent says."""
    return schema.AgentMessageChunk(session_update="agent_message_chunk", content=make_text_block(text))


def write_fence(language: str, text: str) -> str:
    """Return text as a block of Markdown that nothing in the text can end."""
    longest = max((len(ticks) for ticks in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def describe(code: Message, warnings: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return how a piece of code appears: its first line, the whole of it, and its language."""
    language = code.format or "code"
    texts = [*filter(None, warnings), write_fence(language, escape_controls(code.content))]
    return {
        "tool_call_id": code.id,
        "title": _make_title(code),
        "kind": "execute",
        "content": [_make_content(text) for text in texts],
        "raw_input": {"language": language, "command": code.content},
    }


def _make_title(code: Message) -> str:
    language, lines = code.format or "code", code.content.splitlines()
    # The first line of arguments says nothing.
    first = " ".join(lines) if is_tool(language) else next((line for line in lines if line.strip()), "")
    return clean_line(f"{language}: {first.strip()}", _TITLE)


def plan(codes: Iterable[Message]) -> schema.AgentPlanUpdate:
    """Return the pieces of code of one reply as a plan, with what became of each."""
    entries = []
    for code in codes:
        end = _ENDS.get(code.state or "")
        status: Any = "in_progress" if code.state == "running" else "pending"
        if end or code.state == "finished":
            status = "completed"
        content = f"{_make_title(code)} ({end})" if end else _make_title(code)
        entries.append(schema.PlanEntry(content=content, priority="medium", status=status))
    return schema.AgentPlanUpdate(session_update="plan", entries=entries)


def _make_content(text: str) -> schema.ContentToolCallContent:
    return schema.ContentToolCallContent(type="content", content=make_text_block(text))


class Updates:
    """Turns the events of one session into updates."""

    def __init__(self) -> None:
        self._known: dict[str, Message] = {}
        self._codes: dict[str, Message] = {}
        self._output: dict[str, str] = {}
        self._sent_at: dict[str, float] = {}
        #: The images of each run, as pairs of a type and the data.
        self._images: dict[str, list[tuple[str, str]]] = {}

    def convert(self, event: Event) -> Iterator[Update]:
        """Return the updates for an event of a turn."""
        match event:
            case MessageStarted(message):
                self._known[message.id] = message
            case MessageGrew(id, text) if started_message := self._known.get(id):
                yield from self._convert_growth(started_message, text)
            case MessageRecorded(Message(type="code") as message):
                yield from self._make_code_updates(message)
            case ApprovalRequested(message):
                yield from self._make_code_updates(message)
            case MessageRecorded(Message(type="image", role="computer", parent=str()) as message):
                yield from self._convert_image(message)
            case Noticed(text):
                yield make_agent_text(escape_controls(text) + "\n\n")
            case RetryScheduled(reason, seconds):
                yield make_agent_text(f"{escape_controls(reason)} Trying again in {seconds:.0f} s.\n\n")

    def replay(self, event: Event) -> Iterator[Update]:
        """Return the updates for an event of a conversation that was saved before."""
        if not isinstance(event, MessageRecorded):
            return
        message = event.message
        block = make_text_block(escape_controls(message.content))
        if message.type == "message" and message.role == "user":
            yield schema.UserMessageChunk(session_update="user_message_chunk", content=block)
        elif message.type == "code":
            yield from self._make_code_updates(message)
        elif message.type in ("message", "reasoning", "console"):
            yield from self._convert_growth(message, message.content, at_once=True)
        elif message.type == "image" and message.role == "computer":
            yield from self._convert_image(message)

    def _convert_growth(self, message: Message, text: str, *, at_once: bool = False) -> Iterator[Update]:
        if message.type == "message" and message.role != "user":
            yield make_agent_text(escape_controls(text))
        elif message.type == "reasoning":
            block = make_text_block(escape_controls(text))
            yield schema.AgentThoughtChunk(session_update="agent_thought_chunk", content=block)
        elif message.type == "console" and (code := self._codes.get(message.parent or "")):
            self._output[code.id] = (self._output.get(code.id, "") + text)[-_OUTPUT:]
            pause = _PAUSE_WITH_IMAGES if code.id in self._images else _PAUSE
            if at_once or time.monotonic() - self._sent_at.get(code.id, 0) >= pause:
                self._sent_at[code.id] = time.monotonic()
                yield self._make_progress(code)

    def _convert_image(self, message: Message) -> Iterator[Update]:
        code = self._codes.get(message.parent or "")
        if code is None:
            return
        images = self._images.setdefault(code.id, [])
        size = len(message.content) + sum(len(data) for _, data in images)
        if message.format in _IMAGES and size <= _MOST_IMAGES:
            images.append((_IMAGES[message.format], message.content))
            yield self._make_progress(code)
        else:
            note = "[The code showed an image that is too large to be sent.]\n"
            yield from self._convert_growth(message.replace(type="console"), note)

    def _make_code_updates(self, message: Message) -> Iterator[Update]:
        if message.state == "writing":
            return
        before = self._codes.get(message.id)
        self._codes[message.id] = message
        together = [code for code in self._codes.values() if code.reply and code.reply == message.reply]
        if len(together) > 1 and (before is None or before.state != message.state):
            yield plan(together)
        if before is None:
            yield schema.ToolCallStart(
                session_update="tool_call", status=self._find_status(message), **describe(message)
            )
        elif before != message:
            yield self._make_progress(message)

    def _make_progress(self, code: Message) -> schema.ToolCallProgress:
        described = describe(code, (escape_controls(code.reason or ""),))
        output = escape_controls(make_plain(self._output.get(code.id, "")))
        if output:
            described["content"].append(_make_content(write_fence("", output)))
        for kind, data in self._images.get(code.id, ()):
            image = schema.ImageContentBlock(type="image", mime_type=kind, data=data)
            described["content"].append(schema.ContentToolCallContent(type="content", content=image))
        return schema.ToolCallProgress(
            session_update="tool_call_update",
            status=self._find_status(code),
            raw_output={"state": code.state, "output": output},
            **described,
        )

    def _find_status(self, code: Message) -> Any:
        return _STATUS.get(code.state or "", "failed")
