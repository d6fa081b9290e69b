"""Turns a conversation into the request that a model gets."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from oi_tui import paths
from oi_tui.engine import tools as mcp
from oi_tui.engine.llm import images, reasoning, signed_reasoning, system_message
from oi_tui.engine.llm.base import Request
from oi_tui.engine.llm.compaction import split_at_summary
from oi_tui.engine.llm.context_window import CHARACTERS, IMAGE, MessageGroup, compute_room, measure_size, trim
from oi_tui.engine.llm.profile_request import make_request
from oi_tui.engine.llm.signed_reasoning import SIGNATURE
from oi_tui.engine.output.model_output import shorten_for_model
from oi_tui.engine.output.standing_output import remove_erased
from oi_tui.engine.reply.reply_groups import ReplyGroups, is_of_reply
from oi_tui.engine.settings.profile import Profile
from oi_tui.messages import DETACHED, Message
from oi_tui.text import repair_surrogates

__all__ = ["PreparedRequest", "Request", "estimate", "write"]

_GO_ON = "Go on from where you stopped."
_BEFORE = "(The conversation begins with your own message.)"
#: Images that go with one request, and their bytes in all; providers refuse requests that are much larger.
_MOST_IMAGES = 20
_MOST_BYTES = 15_000_000
#: How near to its end an output must give the reason of a failure for it not to be repeated.
_LAST_LINES = 20
_GOOGLE = re.compile("gemini|vertex")
_NO_EMPTY_TEXT = re.compile("^gemini|^vertex|claude|^anthropic/|^bedrock/")
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """A request, how many of the conversation's messages it leaves out, and its size in tokens (a guess).

    `window` is what the model can take in, in tokens, as far as anybody knows.
    """

    request: Request
    left_out: int
    tokens: int
    window: int | None = None


def write(
    messages: Sequence[Message],
    profile: Profile,
    languages: Sequence[str],
    *,
    tools: bool,
    cwd: Path | None = None,
    notes: Sequence[str] = (),
    vision: bool | None = None,
    window: int | None = None,
    longest_reply: int | None = None,
    image_folder: Path | None = None,
    mcp_tools: Sequence[mcp.McpTool] = (),
) -> PreparedRequest:
    """Return the request for the next reply.

    With `tools` the model is offered the tool `execute`, and code that came as tool calls goes back as such;
    every call is answered exactly once, whatever became of it. Code that came as text stays text. `window`
    is what the model takes in, in tokens; None: nothing is left out. `vision` and `longest_reply` (tokens)
    are used where the profile says nothing. `image_folder` is the folder in which programs' images are kept.
    `mcp_tools` are tools of other programs.
    """
    if profile.supports_vision is not None:
        vision = profile.supports_vision
    longest_reply = profile.max_tokens or longest_reply
    notes = (*notes, *mcp.describe_tools(mcp_tools, as_text=not tools))
    system = system_message.write(profile, languages, tools=tools, cwd=cwd, notes=notes)
    head: list[dict[str, Any]] = [{"role": "system", "content": system}]
    offered = [make_tool(languages), *(item.offer for item in mcp_tools)] if tools else []
    units = _Conversation(profile, image_folder, cwd, tools=tools, vision=bool(vision)).make_units(messages)
    fixed = measure_size(head[0]) + len(json.dumps(offered))
    left_out = trim(units, None if window is None else compute_room(window, longest_reply) - fixed)
    body = [message for unit in units for message in unit.messages if not _is_blank(message)]
    if messages and (not body or body[0]["role"] != "user"):
        # Several providers, and most templates, want a person to speak first.
        body.insert(0, {"role": "user", "content": _GO_ON if not body else _BEFORE})
    if body and body[-1]["role"] == "assistant":
        body.append({"role": "user", "content": profile.loop_message if profile.loop else _GO_ON})
    request = replace(make_request(profile, head + _merge(body), offered), max_tokens=longest_reply)
    total = fixed + sum(measure_size(message) for message in body)
    return PreparedRequest(request, left_out, total // CHARACTERS, window)


def _repair_message(message: Message) -> Message:
    """Return the message without halves of characters, which no request can carry."""
    fields = {name: getattr(message, name) for name in ("content", "format", "proposed", "reason")}
    repairs = {
        name: repair_surrogates(text)
        for name, text in fields.items()
        if text and repair_surrogates(text) != text
    }
    return message.replace(**repairs) if repairs else message


def make_tool(languages: Sequence[str]) -> dict[str, Any]:
    """Return the one tool: run code in a language."""
    return {
        "type": "function",
        "function": {
            "name": "execute",
            "description": "Runs code on the user's computer once the user has approved it, and returns what "
            "it printed. Each language remembers its state from call to call.",
            "parameters": {
                "type": "object",
                "properties": {
                    "language": {
                        "type": "string",
                        "description": "The language of the code.",
                        "enum": list(languages),
                    },
                    "code": {"type": "string", "description": "The code to run."},
                },
                "required": ["language", "code"],
            },
        },
    }


def estimate(messages: Iterable[Message]) -> int:
    """Return about how many tokens the messages are."""
    return sum(IMAGE if m.type == "image" else len(m.content) for m in messages) // CHARACTERS


class _Conversation:
    """The writing of one request."""

    def __init__(
        self, profile: Profile, image_folder: Path | None, cwd: Path | None, *, tools: bool, vision: bool
    ) -> None:
        self._profile = profile
        self._image_folder = image_folder
        self._cwd = cwd
        #: Images that are too many, or too much, to be sent with each request; the newest count most.
        self._unsent: set[str] = set()
        self._tools = tools
        self._vision = vision
        #: What each piece of code printed and showed, by its id.
        self._results: dict[str, list[Message]] = {}
        #: The reasoning that goes back with a reply's tool calls, by reply.
        self._reasoning: dict[str, str] = {}
        self._ids: set[str] = set()
        self._last_words: str | None = None

    def make_units(self, messages: Sequence[Message]) -> list[MessageGroup]:
        """Return the conversation in units."""
        summary, messages = split_at_summary(messages)
        self._reasoning = reasoning.collect_reasoning(messages, self._profile)
        model_messages = [
            _repair_message(m) for m in messages if m.recipient != "user" and m.type != "reasoning"
        ]
        model_messages = remove_erased(model_messages)
        self._choose_images(model_messages)
        words = [m.id for m in model_messages if m.role == "user" and m.type == "message"]
        self._last_words = words[-1] if words else None
        groups = ReplyGroups(model_messages)
        self._results = groups.results
        units = [MessageGroup(True, True, 1, [_summarise(_repair_message(summary))])] if summary else []
        for group in groups:
            if is_of_reply(group[0]):
                units.append(self._reply(group))
            else:
                (message,) = group
                formatted = [self._format_message(message)]
                units.append(MessageGroup(message.role == "user", sources=1, messages=formatted))
        return units

    # -- what a person or a program wrote -----------------------------------------------------

    def _format_message(self, message: Message) -> dict[str, Any]:
        if message.type == "image":
            return self._build_image_entry(
                message, "" if message.role == "user" else "An image that a program showed:"
            )
        if message.type == "file":
            return {"role": "user", "content": f"File: {message.content}"}
        text = message.content
        if message.role == "computer":
            text = self._output([message]) or "(no output)"
        elif message.id == self._last_words or self._profile.always_apply_user_message_template:
            text = self._profile.user_message_template.replace("{content}", text)
        return {"role": "user", "content": text}

    def _choose_images(self, messages: Sequence[Message]) -> None:
        total = 0
        image_messages = [
            m for m in messages if m.type == "image" and m.format != "description" and self._shows_image(m)
        ]
        for number, message in enumerate(reversed(image_messages), 1):
            total += images.measure_size(message.format, message.content)
            if number > _MOST_IMAGES or total > _MOST_BYTES:
                self._unsent.add(message.id)

    def _describe(self, message: Message) -> str:
        folder = self._image_folder if message.format != "path" else None
        file = images.locate(message, folder) if folder else None
        return images.describe(message.format, message.content, file if file and file.is_file() else None)

    def _shows_image(self, image: Message) -> bool:
        """Return whether the model is given such images themselves, rather than words about them."""
        return self._vision and (image.role == "user" or self._profile.emit_images)

    def _leads_out(self, image: Message) -> bool:
        """Return whether the image's file is by now a link out of the folder.

        Each request reads the file again.
        """
        if image.format != "path" or self._cwd is None:
            return False
        return paths.find_outside(paths.expand_typed(image.content), self._cwd) is not None

    def _build_image_entry(self, message: Message, words: str) -> dict[str, Any]:
        if message.format == "description":
            return {"role": "user", "content": f"An image: {message.content}"}
        where = f"Image file: {message.content}" if message.format == "path" else ""
        is_sent = (
            self._shows_image(message) and message.id not in self._unsent and not self._leads_out(message)
        )
        shrink = self._profile.shrink_images
        url = images.make_data_url(message.format, message.content, shrink=shrink) if is_sent else None
        if url is None:
            described = self._describe(message)
            return {"role": "user", "content": f"{words} {described}".strip()}
        text = "\n".join(part for part in (words, where) if part)
        parts: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
        parts.append({"type": "image_url", "image_url": {"url": url}})
        return {"role": "user", "content": parts}

    # -- a reply and what came of it ----------------------------------------------------------

    def _reply(self, reply: Sequence[Message]) -> MessageGroup:
        """Write one reply: its text, its calls, the answer to each call, and the images of their runs."""
        unit = MessageGroup(person=False)
        words: list[str] = []
        calls: list[dict[str, Any]] = []
        answers: list[dict[str, Any]] = []
        lines: list[str] = []
        image_entries: list[dict[str, Any]] = []
        extra = signed_reasoning.collect_extra_content(reply, self._profile.model)
        for message in reply:
            results = self._results.get(message.id, [])
            unit.sources += 1 + len(results)
            if message.type != "code":
                words.append(message.content.strip())
                continue
            image_entries += [
                self._build_image_entry(result, "The image that the code showed:")
                for result in results
                if result.type == "image" and self._shows_image(result)
            ]
            if message.state in ("unfinished", "writing"):
                words.append(_write_fence(message.format or "", message.content))
                lines.append("Your reply was cut off, so its last code block was not run.")
            elif self._tools and message.call is not None:
                identity = self._make_call_id(message)
                call = _call(identity, message)
                if message.call in extra:
                    call["extra_content"] = extra[message.call]
                calls.append(call)
                outcome = self._describe_outcome(message, results).strip() or "No output"
                answers.append({"role": "tool", "tool_call_id": identity, "content": outcome})
            else:
                words.append(_write_fence(message.format or "", _describe_proposal(message)))
                lines.append(self._format_outcome(self._describe_outcome(message, results)))
        entry: dict[str, Any] = {"role": "assistant", "content": "\n\n".join(word for word in words if word)}
        if calls:
            entry["tool_calls"] = calls
            entry |= self._select_reasoning(reply)
            if not entry["content"] and _NO_EMPTY_TEXT.search(self._profile.model):
                # Google refuses an empty text, and LiteLLM puts words of its own in its place for Claude.
                entry["content"] = None
        if calls or entry["content"]:
            unit.messages.append(entry)
        unit.messages += answers
        sender = self._profile.code_output_sender
        unit.messages += [
            {"role": "assistant" if sender == "assistant" else "user", "content": text} for text in lines
        ]
        unit.messages += image_entries
        return unit

    def _select_reasoning(self, reply: Sequence[Message]) -> dict[str, Any]:
        """Return the fields with the reasoning that goes back with the tool calls of a reply."""
        if signed := signed_reasoning.select_fields(reply, self._profile.model):
            return signed
        thoughts = self._reasoning.get(reply[0].reply or "")
        return {"reasoning_content": thoughts} if thoughts else {}

    def _make_call_id(self, message: Message) -> str:
        """Return an id for the call that every provider accepts and that is unique in this request."""
        call_id = message.call or ""
        own = message.model in (None, self._profile.model) and _GOOGLE.match(self._profile.model)
        if SIGNATURE in call_id and not own:
            call_id = call_id.partition(SIGNATURE)[0]
        if not (_ID.fullmatch(call_id) or SIGNATURE in call_id) or call_id in self._ids:
            call_id = f"call_{message.id[:32]}"
        if "mistral" in self._profile.model:
            call_id = re.sub("[^A-Za-z0-9]", "", f"{message.id}")[:9].ljust(9, "0")
        self._ids.add(call_id)
        return call_id

    def _format_outcome(self, outcome: str) -> str:
        profile = self._profile
        if profile.code_output_sender == "assistant":
            return _write_fence("output", outcome or "No output")
        if not outcome:
            return profile.empty_code_output_template
        return profile.code_output_template.replace("{content}", outcome)

    def _describe_outcome(self, message: Message, results: Sequence[Message]) -> str:
        """Describe the outcome of the code with its output; empty if there is nothing to say."""
        parts: list[str] = []
        if message.proposed is not None and message.proposed != message.content:
            ran = _write_fence(message.format or "", message.content)
            parts.append(f"The user edited the code before it ran. What ran:\n{ran}\nIts output:")
        output = self._output(results)
        if output:
            parts.append(output)
        elif parts:
            parts.append("No output")
        note = _note(message, silent=not output)
        if note and not (message.state == "failed" and _is_in_output(note, output)):
            parts.append(note)
        return "\n".join(parts)

    def _output(self, results: Sequence[Message]) -> str:
        return shorten_for_model(
            results,
            self._profile.max_output,
            lambda image: "" if self._shows_image(image) else self._describe(image),
        )


def _summarise(summary: Message) -> dict[str, Any]:
    return {"role": "user", "content": f"Summary of the conversation so far:\n\n{summary.content}"}


def _note(message: Message, *, silent: bool) -> str:
    reason = message.reason or ""
    after = "" if message.seconds is None else f" after {message.seconds:.1f} s"
    match message.state:
        case "rejected":
            return (
                f"The user rejected this code. Reason: {reason}" if reason else "The user rejected this code."
            )
        case "skipped":
            return reason or (
                "This code was not run, because earlier code of the reply was rejected or interrupted."
            )
        case "interrupted" if reason.startswith(DETACHED):
            return f"The code was left running{after}: {reason[len(DETACHED) :]}"
        case "interrupted":
            return f"Interrupted by the user{after}" + (f". {reason}" if reason else "")
        case "lost":
            text = f"The {message.format} process ended; its variables are lost"
            return f"{text}: {reason}" if reason else text
        case "finished" | "failed":
            return reason
        case "running" | "waiting":
            return "The application ended while this code ran; whether it finished is unknown."
        case "queued":
            return "" if not silent else "This code was not run."
    return ""


def _is_in_output(reason: str, output: str) -> bool:
    """Return whether the output ends with the reason, as an error does; a trace may follow it."""
    first, *rest = (line.strip() for line in reason.strip().split("\n"))
    last = [line.strip() for line in output.splitlines()[-_LAST_LINES:]]
    return any(
        line.endswith(first) and all(later in last[place:] for later in rest)
        for place, line in enumerate(last)
    )


def _describe_proposal(message: Message) -> str:
    return message.content if message.proposed is None else message.proposed


def _call(identity: str, message: Message) -> dict[str, Any]:
    language = message.format or ""
    if mcp.is_tool(language):
        tool_arguments = mcp.parse_arguments(_describe_proposal(message))
        name = mcp.make_function_name(language)
        return {
            "id": identity,
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(tool_arguments or {}, ensure_ascii=False)},
        }
    arguments = json.dumps(
        {"language": message.format or "", "code": _describe_proposal(message)}, ensure_ascii=False
    )
    return {"id": identity, "type": "function", "function": {"name": "execute", "arguments": arguments}}


def _write_fence(word: str, code: str) -> str:
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{word}\n{code.rstrip(chr(10))}\n{fence}"


def _is_blank(message: dict[str, Any]) -> bool:
    """Return whether there is nothing in a message, which not every provider takes."""
    content = message["content"]
    return "tool_calls" not in message and isinstance(content, str) and not content.strip()


def _merge(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Merge neighbours of the same role into one message: many servers insist on roles that alternate."""
    merged: list[dict[str, Any]] = []
    for message in messages:
        last = merged[-1] if merged else None
        if (
            last is None
            or last["role"] != message["role"]
            or message["role"] == "tool"
            or "tool_calls" in last
            or "tool_calls" in message
        ):
            merged.append(dict(message))
        elif isinstance(last["content"], str) and isinstance(message["content"], str):
            last["content"] = f"{last['content']}\n\n{message['content']}"
        else:
            last["content"] = _make_parts(last["content"]) + _make_parts(message["content"])
    return merged


def _make_parts(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
