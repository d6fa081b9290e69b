"""Checks the fields of a request to the Responses API, and converts its items into messages."""

import hashlib
import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oi_tui.messages import Message
from oi_tui.server.fields import check_fields
from oi_tui.server.guard import RequestRefusedError
from oi_tui.server.openai import request_fields
from oi_tui.server.openai.content import MODEL, make_refusal, read_content

#: The server of MCP that OpenAI's clients think they approve calls of.
LABEL = "oi-tui"
#: The type of an item that stands for a stored one.
REFERENCE = "item_reference"
Item = dict[str, Any]
#: Fields that would change what happens, and cannot be honoured here.
_UNSUPPORTED = {
    "conversation": "use previous_response_id",
    "max_tool_calls": "leave it out, and approve each piece of code",
    "prompt": "send the words of the prompt as input",
    "top_logprobs": "leave it out",
}
_ROLES = ("user", "assistant", "system", "developer")
_MOST_ITEMS = 10_000


@dataclass(frozen=True, slots=True)
class ResponseRequest:
    """The fields of a request that are used."""

    items: tuple[Item, ...]
    model: str
    instructions: str | None
    previous: str | None
    tools: tuple[Item, ...]
    metadata: Mapping[str, str]
    stream: bool
    background: bool
    store: bool

    @property
    def approval(self) -> Item | None:
        """The answer to a question at the end of the input; None if the input ends otherwise."""
        return self.items[-1] if self.items[-1].get("type") == "mcp_approval_response" else None


def read_request(body: Mapping[str, Any]) -> ResponseRequest:
    """Read and check the body of a request. Raises RequestRefusedError, which names the field."""
    check_fields(body, request_fields.RESPONSE)
    for name, instead in _UNSUPPORTED.items():
        if body.get(name) not in (None, 0):
            raise RequestRefusedError(400, f"{name} is not supported: {instead}.", param=name)
    background, store = body.get("background") is True, body.get("store") is not False
    if background and not store:
        raise RequestRefusedError(
            400, "background needs store: a response that is not kept cannot be fetched."
        )
    _check_format(body.get("text"))
    if body.get("tool_choice") == "none" and body.get("tools"):
        raise RequestRefusedError(
            400, "tool_choice none is not supported: code runs where you approve it.", param="tool_choice"
        )
    return ResponseRequest(
        items=_read_items(body.get("input")),
        model=body.get("model") or MODEL,
        instructions=body.get("instructions"),
        previous=body.get("previous_response_id"),
        tools=_read_tools(body.get("tools")),
        metadata=body.get("metadata") or {},
        stream=body.get("stream") is True,
        background=background,
        store=store,
    )


def _check_format(text: Mapping[str, Any] | None) -> None:
    form = (text or {}).get("format") or {}
    if form.get("type") not in (None, "text"):
        raise RequestRefusedError(
            400, "text.format must be text: replies in a given form are not supported.", param="text.format"
        )


def _read_tools(given: Sequence[Any] | None) -> tuple[Item, ...]:
    for tool in given or ():
        kind = tool.get("type") if isinstance(tool, dict) else None
        own = kind == "mcp" and tool.get("server_label") == LABEL
        if kind != "code_interpreter" and not own:
            raise RequestRefusedError(
                400,
                f"tools: this server cannot call tools of the type {str(kind)[:50]}. Send "
                "code_interpreter or no tools; add tools to the profile as mcp_servers.",
                param="tools",
            )
    return tuple(given or ())


def _read_items(given: object) -> tuple[Item, ...]:
    """Return the items of the input in one form, each with an id."""
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    if not isinstance(given, list) or not given or not all(isinstance(item, dict) for item in given):
        raise RequestRefusedError(400, "input must be text or a list of items.", param="input")
    if len(given) > _MOST_ITEMS:
        raise RequestRefusedError(400, f"input may have at most {_MOST_ITEMS:,} items.", param="input")
    last = given[-1]
    if last.get("role") != "user" and last.get("type") != "mcp_approval_response":
        raise RequestRefusedError(
            400, "input must end with a message of the user or an mcp_approval_response.", param="input"
        )
    if last.get("type") == "mcp_approval_response":
        check_fields(last, request_fields.APPROVAL, f"input[{len(given) - 1}].")
    return tuple(_read_item(item, number) for number, item in enumerate(given))


def _read_item(item: Mapping[str, Any], number: int) -> Item:
    if item.get("type") == REFERENCE or set(item) == {"id"}:
        return _read_reference(item.get("id"), number)
    kind, role = item.get("type", "message"), item.get("role")
    if not isinstance(kind, str):
        raise make_refusal(f"input[{number}].type", "must be text.")
    if role not in _ROLES and (kind == "message" or "role" in item):
        raise make_refusal(f"input[{number}].role", f"must be one of {', '.join(_ROLES)}.")
    item_id = item.get("id")
    name = item_id if isinstance(item_id, str) and item_id else f"msg_{secrets.token_hex(12)}"
    if "role" not in item:
        return {**item, "id": name}
    content = item.get("content")
    if isinstance(content, str):
        own = {"type": "output_text", "annotations": []} if role == "assistant" else {"type": "input_text"}
        content = [{**own, "text": content}]
    return {"id": name, "type": "message", "role": role, "status": "completed", "content": content}


def _read_reference(id: object, number: int) -> Item:
    if not isinstance(id, str):
        raise make_refusal(f"input[{number}].id", "must be text.")
    return {"type": REFERENCE, "id": id}


def make_messages(items: Iterable[Item], first: int = 0) -> list[Message]:
    """Convert items into messages.

    `first` is the number of the first item in the input. Raises RequestRefusedError, which names the item.
    """
    return [message for number, item in enumerate(items, first) for message in _read_messages(item, number)]


def _read_messages(item: Item, number: int) -> Iterator[Message]:
    match item:
        case {"role": "user" | "system" | "developer", "content": content}:
            yield from read_content(content, f"input[{number}].content")
        case {"role": "assistant"}:
            if words := _join_texts(item):
                yield Message(role="assistant", type="message", content=words)
        case {"type": "code_interpreter_call", "code": str(code), "status": "completed" | "failed" as status}:
            state, language = ("finished" if status == "completed" else "failed"), item.get("language")
            form = language if isinstance(language, str) else "python"
            call = Message(role="assistant", type="code", format=form, content=code, state=state)  # type: ignore[arg-type]
            yield call
            if logs := _join_logs(item):
                yield Message(role="computer", type="console", format="output", content=logs, parent=call.id)


def _join_texts(item: Item) -> str:
    content = item.get("content")
    texts = (
        [part.get("text") for part in content if isinstance(part, dict)] if isinstance(content, list) else ()
    )
    return "".join(text for text in texts if isinstance(text, str))


def _join_logs(item: Item) -> str:
    outputs = item.get("outputs")
    entries = outputs if isinstance(outputs, list) else ()
    texts = [output.get("logs") for output in entries if isinstance(output, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def compute_digests(items: Sequence[Item], start: bytes = b"") -> list[bytes]:
    """Return a digest for each item, of the conversation up to it. `start` is the digest before the first."""
    digests, digest = [], start
    for item in items:
        if essence := _reduce(item):
            text = json.dumps(essence, sort_keys=True).encode("utf-8", "surrogatepass")
            digest = hashlib.sha256(digest + text).digest()
        digests.append(digest)
    return digests


def _reduce(item: Item) -> list[Any] | None:
    """Reduce an item to its content, in any form that clients use; None for what changes nothing."""
    match item:
        case {"role": "assistant"}:
            return ["assistant", _join_texts(item)]
        case {"role": role, "content": content}:
            parts = content if isinstance(content, list) else [content]
            return [role, [part.get("text") or part if isinstance(part, dict) else part for part in parts]]
        case {"type": "code_interpreter_call", "code": code}:
            return ["code", code]
        case {"type": "mcp_approval_request", "id": id}:
            return ["asked", id]
        case {"type": "mcp_approval_response", "approval_request_id": id}:
            return ["answered", id, item.get("approve") is True]
    return None
