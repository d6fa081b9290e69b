"""The state of a conversation for the scripts: what was asked, and what happened to the code."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

#: The last line of what Python, Node or a shell says when something went wrong.
_ERROR = re.compile(r"^(?:Uncaught )?([A-Za-z_.]*(?:Error|Exception|Exit|Warning)\b.*)$", re.MULTILINE)
#: How a request tells what became of code (engine/llm/request.py).
_REJECTED = re.compile(r"The user rejected this code\.(?: Reason: (.+))?", re.DOTALL)
_INTERRUPTED = re.compile(r"^Interrupted by the user(?: after [\d.]+ s)?$", re.MULTILINE)
_EDITED = re.compile(r"The user edited the code before it ran\..*?^Its output:$\n?", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Say:
    """Words of a reply, in Markdown."""

    text: str


@dataclass(frozen=True, slots=True)
class Think:
    """Reasoning before the text."""

    text: str


@dataclass(frozen=True, slots=True)
class CodeToRun:
    """Code that the reply asks to run."""

    language: str
    code: str


Reply = Sequence[Say | Think | CodeToRun]


@dataclass(frozen=True)
class TaskStep:
    """A piece of code that was offered, and what came back for it."""

    language: str
    code: str
    #: All that the request says of it: what it printed, and what became of it.
    result: str

    @property
    def outcome(self) -> Literal["ran", "failed", "rejected", "interrupted"]:
        """The outcome of the code."""
        if _REJECTED.search(self.result):
            return "rejected"
        if _INTERRUPTED.search(self.result):
            return "interrupted"
        return "failed" if self.error else "ran"

    @cached_property
    def output(self) -> str:
        """The output of the code."""
        return _INTERRUPTED.sub("", _EDITED.sub("", self.result, count=1))

    @property
    def edited(self) -> bool:
        """Whether the person changed the code before it ran."""
        return _EDITED.search(self.result) is not None

    @property
    def error(self) -> str:
        """The line that names the error; empty where there was none."""
        errors = _ERROR.findall(self.output)
        return str(errors[-1]).strip() if errors else ""

    @property
    def reason(self) -> str:
        """Why the user rejected the code, in the user's words; empty where they gave none."""
        match = _REJECTED.search(self.result)
        return " ".join((match[1] or "").split()) if match else ""


@dataclass(frozen=True, slots=True)
class Talk:
    """A request and the steps taken since; `before` is the one that came earlier."""

    request: str
    steps: tuple[TaskStep, ...] = ()
    before: "Talk | None" = None

    @property
    def last(self) -> TaskStep | None:
        """The latest step."""
        return self.steps[-1] if self.steps else None


def read(messages: Sequence[Mapping[str, Any]]) -> Talk:
    """Return the talk that stands in the messages of a chat-completion request, with tools or
    with fenced code.
    """
    talk = Talk("")
    codes: dict[str, tuple[str, str]] = {}
    fenced: tuple[str, str] | None = None
    for message in messages:
        role, text = message.get("role"), _get_text(message.get("content"))
        if role == "assistant":
            calls = message.get("tool_calls") or ()
            codes.update({str(call.get("id")): _get_code(call) for call in calls})
            blocks = [] if calls else _FENCE.findall(text)
            fenced = blocks[-1] if blocks else None
        elif role == "tool":
            language, code = codes.get(str(message.get("tool_call_id")), ("", ""))
            talk = Talk(talk.request, (*talk.steps, TaskStep(language, code, text)), talk.before)
        elif role == "user" and fenced is not None:
            talk = Talk(talk.request, (*talk.steps, TaskStep(*fenced, text)), talk.before)
            fenced = None
        elif role == "user" and text.strip():
            # An image that a run showed comes from the user's side too; it is not a new request.
            is_image = not isinstance(message.get("content"), str) and talk.steps
            talk = talk if is_image else Talk(text.strip(), (), talk)
    return talk


def _get_text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(str(part.get("text") or "") for part in content if isinstance(part, dict))


def _get_code(call: Mapping[str, Any]) -> tuple[str, str]:
    try:
        arguments = json.loads(call["function"]["arguments"])
        return str(arguments["language"]), str(arguments["code"])
    except (KeyError, TypeError, ValueError):
        return "", ""
