"""Converts messages and their pieces into the chunks of Open Interpreter 0.4.3."""

import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

from oi_tui.engine.export.formats import ORIGINAL
from oi_tui.engine.open_interpreter.messages import convert_entry
from oi_tui.engine.output.plain import EscapeFilter, LineEnds, make_plain
from oi_tui.engine.storage.records import parse_message
from oi_tui.messages import Message, MessageType, Role
from oi_tui.text import clean_line, escape_controls

#: A message or a piece of one, as Open Interpreter 0.4.3 shapes them.
Chunk = dict[str, Any]
#: How an image may be written; the kind of the data may follow, as in `base64.webp`.
_IMAGES = ("base64", "path", "description")
_FIELDS = ("role", "type", "format", "content", "recipient")
#: Types of signals between programs, which are no part of what a model reads.
_SIGNALS = frozenset({"command", "confirmation", "error", "review", "status"})
_TYPES = frozenset({*get_args(MessageType), "audio", *_SIGNALS})
#: Open Interpreter's server has its own role, and some histories begin with a system message.
_ROLES = frozenset({*get_args(Role), "server", "system"})
#: Fields of ours that decide what the model gets of a message.
_FOR_THE_MODEL = (
    "parent",
    "state",
    "decision",
    "proposed",
    "reason",
    "seconds",
    "call",
    "covers",
    "reply",
    "view",
)


class ChunkWriter:
    """Puts start and end flags around pieces that belong together.

    Console chunks share one block whatever their format, as in the original, so their flags carry none.
    """

    def __init__(self) -> None:
        self._open: tuple[str, str, str | None] | None = None
        self._escapes = EscapeFilter()
        self._line_ends = LineEnds()

    def start(self, role: str, kind: str, format: str | None) -> Iterator[Chunk]:
        """Open a block, closing the one before."""
        key = (role, kind, None if kind == "console" else format)
        if key == self._open:
            return
        yield from self.end()
        self._open = key
        self._escapes = EscapeFilter()
        yield {**_make_head(*key), "start": True}

    def piece(
        self, role: str, kind: str, format: str | None, content: object, **facts: object
    ) -> Iterator[Chunk]:
        """Yield a piece of content, with further facts; a blank one is dropped, as in the original."""
        if content == "":
            return
        yield from self.start(role, kind, format)
        yield {**_make_head(role, kind, format), "content": content, **facts}

    def output(self, text: str) -> Iterator[Chunk]:
        """Yield a piece of what a program printed, with line feeds, and without escape sequences."""
        yield from self.start("computer", "console", "output")
        text = self._line_ends.write(self._escapes.write(text))
        yield from self.piece("computer", "console", "output", text)

    def grow(self, message: Message, text: str) -> Iterator[Chunk]:
        """Yield more text of a message. Reasoning has no chunks."""
        if message.type == "console":
            yield from self.output(text)
        elif message.type != "reasoning":
            yield from self.piece(message.role, message.type, message.format, text)

    def notice(self, text: str) -> Iterator[Chunk]:
        """Send a notice that does not belong to the conversation, such as that a reply was cut off."""
        yield from self.piece("computer", "message", "notice", text)
        yield from self.end()

    def end_of_run(self, state: str | None) -> Iterator[Chunk]:
        """Report that no line is active, and how the run ended; then close its block."""
        yield from self.piece("computer", "console", "active_line", None, state=state)
        yield from self.end()

    def end(self) -> Iterator[Chunk]:
        """Close the open block."""
        if self._open:
            if returns := self._line_ends.close():
                yield {**_make_head("computer", "console", "output"), "content": returns}
            yield {**_make_head(*self._open), "end": True}
            self._open = None


def make_confirmation(message: Message) -> Chunk:
    """Return the chunk that asks whether code may run."""
    content = {"type": "code", "format": message.format, "content": message.content}
    return {"role": "computer", "type": "confirmation", "format": "execution", "content": content}


def merge_chunks(chunks: Iterable[Chunk]) -> list[Chunk]:
    """Return the messages that the chunks make up; active lines are passing and left out."""
    messages: list[Chunk] = []
    for chunk in chunks:
        if "content" not in chunk or chunk.get("format") == "active_line":
            continue
        last = messages[-1] if messages else {}
        if all(last.get(name) == chunk.get(name) for name in ("role", "type", "format")):
            last["content"] += chunk["content"]
        else:
            messages.append(dict(chunk))
    return messages


def split_parts(chunk: Chunk) -> list[Chunk]:
    """Return a message whose content is a list of parts, as OpenAI has it, as one message for each part.

    Raises TypeError for a part that no message can be.

    >>> parts = [{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {"url": "a.png"}}]
    >>> [(item["type"], item["content"]) for item in split_parts({"role": "user", "content": parts})]
    [('message', 'Look:'), ('image', 'a.png')]
    """
    parts, kind = chunk.get("content"), chunk.get("type", "message")
    if not isinstance(parts, list | tuple):
        return [chunk]
    if kind != "message" or not parts:
        raise TypeError(f"the content of a message of the type {kind!r} cannot be {parts!r}")
    return [{**chunk, **_convert_part(part)} for part in parts]


def _convert_part(part: object) -> Chunk:
    match part:
        case str(text) | {"type": "text" | "input_text" | "output_text", "text": str(text)}:
            return {"type": "message", "content": text}
        case {"type": "image_url", "image_url": {"url": str(url)} | str(url)}:
            if url.startswith(("http:", "https:")):
                raise TypeError(
                    f"an image must be a path or a data: URL; download {clean_line(url, 80)} first"
                )
            if url.startswith("data:"):
                return {"type": "image", "content": url}
            return {"type": "image", "format": "path", "content": url.removeprefix("file://")}
        case {"type": kind}:
            raise TypeError(f"a part of a message has the type {kind!r}; the types are text and image_url")
    raise TypeError(f"a part of a message must be a text or a dictionary with a type, not {part!r}")


def read_chunk(chunk: Mapping[str, Any]) -> list[Message]:
    """Return the messages in a dictionary: one in today's form, or those of an entry of version 0.1.

    >>> [message.type for message in read_chunk({"role": "assistant", "message": "Look:", "code": "1"})]
    ['message', 'code']
    """
    has_calls = chunk.get("tool_calls") or chunk.get("function_call")
    if "type" in chunk or ("content" in chunk and not has_calls):
        return [to_message(chunk)]
    return convert_entry(dict(chunk))


def to_message(chunk: Mapping[str, Any]) -> Message:
    """Convert a dictionary to a message; one without a role is the person's, as in the original."""
    fields = {name: chunk[name] for name in _FIELDS if chunk.get(name) is not None}
    fields.setdefault("role", "user")
    fields.setdefault("type", "message")
    fields["content"] = str(fields.get("content", ""))
    if fields["type"] == "audio":
        # The model gets the path, and code can read what is there.
        fields["type"] = "file"
        fields.pop("format", None)
    if fields["type"] == "image" and fields["content"].startswith("data:image/"):
        # A data URL says itself what it is.
        head, _, fields["content"] = fields["content"].partition(",")
        fields["format"] = f"base64.{head.removeprefix('data:image/').partition(';')[0]}"
    signal = _is_signal(chunk)
    if signal or fields["role"] == "system":
        # A system message is sent with that of the profile, not as words of the person.
        fields["recipient"] = "user"
    # Only messages that others refer to have an id of ours; what a program calls "id" may be anything.
    own = {"id": chunk["id"]} if "id" in chunk and fields["type"] != "code" and "covers" not in chunk else {}
    entries = {name: value for name, value in chunk.items() if name not in own}
    parsed_message = parse_message({"created": time.time(), **entries, **fields})
    message = parsed_message or Message(
        **fields, unknown={name: entries[name] for name in entries if name not in _FIELDS}
    )
    if unknown := {**message.unknown, **own}:
        message = message.replace(unknown={name: _make_storable(value) for name, value in unknown.items()})
    return message.replace(unknown={ORIGINAL: [json.dumps(chunk, default=str)]}) if signal else message


def _make_storable(value: object) -> object:
    """Return what a script added to a message as JSON can have it: other things as text."""
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return str(value)
    return value


def _is_signal(chunk: Mapping[str, Any]) -> bool:
    """Return whether this is a chunk of a stream that is no part of a message, such
    as a question or a flag.
    """
    is_flag = "content" not in chunk and ("start" in chunk or "end" in chunk)
    return chunk.get("type") in _SIGNALS or chunk.get("format") == "active_line" or is_flag


def find_unknown_part(chunk: Mapping[str, Any]) -> str | None:
    """Say what of a message is no role or no type; None where both are known.

    >>> find_unknown_part({"role": "king", "type": "message", "content": "Hello"})
    "a message has the role 'king'; the roles are user, assistant and computer"
    """
    role, kind = chunk.get("role", "user"), chunk.get("type", "message")
    for name, value in (("role", role), ("type", kind)):
        if value is not None and not isinstance(value, str):
            return f"the {name} of a message must be text, not {value!r}"
    if "type" not in chunk and "content" not in chunk:
        # Entries of version 0.1 and before are read with what they are made of.
        return None
    if kind not in _TYPES:
        return f"a message has the type {kind!r}; the types are {', '.join(get_args(MessageType))}"
    if kind not in _SIGNALS and role not in _ROLES:
        return f"a message has the role {role!r}; the roles are user, assistant and computer"
    form = chunk.get("format")
    if kind == "image" and form is not None and str(form).partition(".")[0] not in _IMAGES:
        return (
            f"an image has the format {form!r}; the formats are base64.png, base64.jpeg, path and description"
        )
    return None


def list_system_texts(chunks: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the texts of the system messages in a conversation."""
    return [str(chunk.get("content") or "") for chunk in chunks if chunk.get("role") == "system"]


def convert_messages(messages: Sequence[Message]) -> list[Chunk]:
    """Return the messages as dictionaries; a reply that is one message between a person's needs no id."""
    neighbours = [None, *messages, None]
    return [
        convert_message(message.replace(reply=None) if _stands_alone(before, message, after) else message)
        for before, message, after in zip(neighbours, messages, neighbours[2:], strict=False)
    ]


def _stands_alone(before: Message | None, message: Message, after: Message | None) -> bool:
    beside = (item for item in (before, after) if item is not None)
    return message.type == "message" and all(item.role == "user" for item in beside)


def convert_message(message: Message) -> Chunk:
    """Convert a message to a dictionary: the original's fields, and what the model must get again.

    Without the latter a rejected piece of code would look as if it had run. A signal is what it was.
    """
    if signal := _find_signal(message):
        return signal
    if message.type == "console":
        message = message.replace(content=make_plain(message.content))
    values = ((name, getattr(message, name)) for name in (*_FIELDS, *_FOR_THE_MODEL))
    chunk = {name: value for name, value in values if value is not None}
    linked = message.type == "code" and message.role != "computer"
    return {**message.unknown, **chunk, **({"id": message.id} if linked or message.covers else {})}


def _find_signal(message: Message) -> Chunk | None:
    """Return the signal that the message was made of; None for other messages."""
    match message.unknown.get(ORIGINAL):
        case [str(stored)] if message.recipient == "user":
            try:
                signal = json.loads(stored)
            except (ValueError, RecursionError):
                return None
            return signal if isinstance(signal, dict) and _is_signal(signal) else None
        case _:
            return None


def _make_head(role: str, kind: str, format: str | None) -> Chunk:
    return {"role": role, "type": kind, **({"format": format} if format else {})}


class ChunkPrinter:
    """Prints what a person reads of chunks; messages, code and output begin on lines of their own."""

    def __init__(self, *, flush: bool = True) -> None:
        """`flush` shows each piece at once."""
        self._flush = flush
        self._has_printed = False
        self._line_is_open = False
        #: What is printed before the next text of a message that began.
        self._heading: str | None = None

    def show(self, chunk: Chunk) -> None:
        """Print what there is to read of a chunk."""
        if chunk.get("end"):
            self._end_line()
        elif chunk.get("start"):
            self._heading = f"[{chunk.get('format')}]\n" if chunk["type"] == "code" else ""
        elif chunk.get("format") == "output" or chunk["type"] in ("message", "code"):
            self._print(escape_controls(str(chunk.get("content") or "")))

    def _print(self, text: str) -> None:
        if not text:
            return
        if self._heading is not None:
            self._end_line()
            between = "\n" if self._has_printed else ""
            text = f"{between}{self._heading}{text}"
            self._heading = None
        print_text(text, flush=self._flush)
        self._has_printed, self._line_is_open = True, not text.endswith("\n")

    def _end_line(self) -> None:
        if self._line_is_open:
            print_text("\n", flush=self._flush)
            self._line_is_open = False


def print_text(text: str, *, flush: bool = True) -> None:
    """Print text, with `?` for what the encoding of standard output does not have."""
    # A program may have put an object in its place that can only write.
    flush = flush and hasattr(sys.stdout, "flush")
    try:
        print(text, end="", flush=flush)  # noqa: T201 -- it is what `display` is for
    except UnicodeEncodeError:
        encoding = getattr(sys.stdout, "encoding", None) or "ascii"
        print(text.encode(encoding, "replace").decode(encoding), end="", flush=flush)  # noqa: T201
