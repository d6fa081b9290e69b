"""Converts the entries of other programs' conversations into messages.

Open Interpreter stored its own messages in three ways: since 0.2 as role, type, format and content; in 0.1 as
one entry with `message`, `code`, `language`, `output` or `image`; before that as OpenAI's interface has them,
with `function_call` and the role `function`. Hand-made files hold tool calls, content in parts, and anything
else. What cannot be a message is shown as it stands, and is not sent to a model.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from oi_tui.engine.export.formats import ORIGINAL, make_original_entry, write_fence
from oi_tui.engine.storage.records import parse_message
from oi_tui.messages import Message, Role
from oi_tui.text import clean_line

_ROLES: Mapping[str, Role] = {
    **{role: role for role in get_args(Role)},
    **dict.fromkeys(("human", "person"), "user"),
    **dict.fromkeys(("ai", "bot", "model"), "assistant"),
    **dict.fromkeys(("function", "tool"), "computer"),
}
#: Which keys an entry of version 0.1 has, and what each becomes; in the order in which it was written.
_SPOKEN = ("message", "code", "output", "image")
_DATA_URI = "data:image/"


def is_odd(message: Message) -> bool:
    """Return whether this is an entry that is no message, shown as it stands."""
    return bool(message.unknown.get("odd"))


def convert_entry(entry: object) -> list[Message]:
    """Convert one entry into messages, in order. Raises RecursionError, and nothing else.

    Where the messages would not be written as the entry was, the first one keeps the entry to be given back.
    """
    messages = list(_read(entry)) if isinstance(entry, dict) else [_make_note(entry)]
    if len(messages) == 1 and make_original_entry(messages[0]) == entry:
        return messages
    # As text: however deep it is nested, the record that it is kept in is not.
    stored = json.dumps(entry)
    for number, message in enumerate(messages):
        unknown = {**message.unknown, ORIGINAL: [] if number else [stored]}
        messages[number] = message.replace(unknown=unknown)
    return messages


def _read(entry: Mapping[str, Any]) -> Iterator[Message]:
    role = entry.get("role")
    speaker = _ROLES.get(role.strip().lower() if isinstance(role, str) else "user")
    if speaker is None:
        yield _make_note(entry)
    elif "type" in entry:
        yield from _convert_typed(entry, speaker)
    elif calls := list(_convert_calls(entry)):
        yield from _convert_parts(entry.get("content") or None, speaker)
        yield from calls
    elif any(name in entry for name in _SPOKEN):
        yield from _read_old_entry(entry, speaker)
    elif "content" in entry and (speaker != "computer" or isinstance(entry["content"], str)):
        parts = list(_convert_parts(entry["content"], speaker))
        yield from parts or [_make_note(entry)]
    else:
        yield _make_note(entry)


def _convert_typed(entry: Mapping[str, Any], speaker: Role) -> Iterator[Message]:
    """Read an entry of version 0.2 or later."""
    kind, content = entry["type"], entry.get("content")
    kind = {"text": "message", "output": "console"}.get(kind, kind) if isinstance(kind, str) else None
    if kind == "message" and isinstance(content, list):
        parts = list(_convert_parts(content, speaker))
        yield from parts or [_make_note(entry)]
        return
    if isinstance(content, bool | int | float):
        content = str(content)
    fields = {name: entry[name] for name in ("format", "recipient") if name in entry}
    message = parse_message({**fields, "role": speaker, "type": kind, "content": content})
    if message is None or (message.type == "image" and not message.content):
        yield _make_note(entry)
    elif message.type == "console" and message.format != "active_line":
        yield message.replace(role="computer", format="output")
    elif message.role == "computer" and message.type in ("code", "message"):
        # Rich display of a result. As code it would look like something to run.
        yield message.replace(type="console", format="output")
    elif message.type == "code":
        yield message.replace(role="assistant", format=message.format or "python")
    elif message.format != "active_line":
        yield message


def _read_old_entry(entry: Mapping[str, Any], speaker: Role) -> Iterator[Message]:
    """Read an entry of version 0.1: its text, the code that followed, what it printed."""
    if any(not isinstance(entry.get(name), str | None) for name in (*_SPOKEN, "language")):
        yield _make_note(entry)
        return
    code: Message | None = None
    lines = [(name, entry[name]) for name in _SPOKEN if entry.get(name)]
    for name, text in lines:
        if name == "message":
            yield _convert_text(speaker, text)
        elif name == "code":
            code = Message(
                role="assistant", type="code", format=entry.get("language") or "python", content=text
            )
            yield code
        elif name == "output":
            yield Message(
                role="computer",
                type="console",
                format="output",
                content=text,
                parent=code.id if code else None,
            )
        else:
            yield _convert_image("user" if speaker == "user" else "computer", text)
    if not lines:
        yield _convert_text(speaker, "")


def _convert_calls(entry: Mapping[str, Any]) -> Iterator[Message]:
    """Yield the code in an entry of OpenAI's interface."""
    calls = entry.get("tool_calls")
    wrapped = calls if isinstance(calls, list) else []
    for call in (
        entry.get("function_call"),
        *(item.get("function") for item in wrapped if isinstance(item, dict)),
    ):
        if not isinstance(call, dict):
            continue
        arguments = call.get("parsed_arguments") or call.get("arguments")
        if isinstance(arguments, str):
            try:
                read = json.loads(arguments, strict=False)
            except ValueError:
                read = {"language": "python", "code": arguments}
            arguments = read
        if not isinstance(arguments, dict):
            arguments = {}
        language, code = arguments.get("language"), arguments.get("code")
        if isinstance(code, str):
            name = language if isinstance(language, str) and language else "python"
            yield Message(role="assistant", type="code", format=name, content=code)
        else:
            yield _make_note(call)


def _convert_parts(content: object, speaker: Role) -> Iterator[Message]:
    """Convert content that is a text, or a list of texts and images."""
    if isinstance(content, str):
        yield _convert_text(speaker, content)
        return
    for part in content if isinstance(content, list) else ():
        match part:
            case str(text) | {"type": "text" | "input_text" | "output_text", "text": str(text)}:
                yield _convert_text(speaker, text)
            case {"type": "image_url", "image_url": {"url": str(url)} | str(url)}:
                yield _convert_image(speaker, url)
            case _:
                yield _make_note(part)


def _convert_text(speaker: Role, text: str) -> Message:
    if speaker == "computer":
        return Message(role="computer", type="console", format="output", content=text)
    return Message(role=speaker, type="message", content=text)


def _convert_image(speaker: Role, source: str) -> Message:
    """Read an image, given by its data or its path."""
    role: Role = "user" if speaker == "user" else "computer"
    head, mark, data = source.partition(";base64,")
    if mark and head.startswith(_DATA_URI):
        kind = "base64.jpeg" if head.removeprefix(_DATA_URI) in ("jpeg", "jpg") else "base64.png"
        return Message(role=role, type="image", format=kind, content=data)
    if source.startswith(("http:", "https:", "file:", "data:")):
        return _make_note({"image": source})
    kind = "path" if len(source) < 4096 and "\n" not in source and "." in source else "base64.png"
    return Message(role=role, type="image", format=kind, content=source)


def _make_note(entry: object) -> Message:
    """Make a message, for the person only, of an entry that is no message."""
    text = json.dumps(entry, indent=2, ensure_ascii=False)
    role = entry.get("role") if isinstance(entry, dict) else None
    who = f"An entry of the role “{clean_line(role, 40)}”" if isinstance(role, str) else "An entry"
    words = f"{who} that is not a message, as stored:\n\n{write_fence(text, 'json')}"
    return Message(role="assistant", type="message", recipient="user", content=words, unknown={"odd": True})


def add_silent(message: Message, entry: object) -> Message:
    """Return the message with an entry that says nothing, to be given back behind it."""
    stored = message.unknown.get(ORIGINAL)
    before = stored if isinstance(stored, list) else [json.dumps(make_original_entry(message))]
    return message.replace(unknown={**message.unknown, ORIGINAL: [*before, json.dumps(entry)]})


def link_outputs(messages: Sequence[Message]) -> list[Message]:
    """Return the messages, with what printed each output where nothing but the order tells."""
    linked_messages: list[Message] = []
    latest: str | None = None
    for message in messages:
        if message.role == "computer":
            linked_messages.append(
                message.replace(parent=latest) if message.parent is None and latest else message
            )
            continue
        latest = message.id if message.type == "code" else None
        linked_messages.append(message)
    return linked_messages
