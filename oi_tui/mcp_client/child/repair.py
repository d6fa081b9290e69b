"""Repairs messages that the package would refuse as a whole, because a part does not fit the protocol."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mcp.shared.message import SessionMessage
from mcp.types import (
    INTERNAL_ERROR,
    BlobResourceContents,
    ContentBlock,
    ErrorData,
    JSONRPCError,
    JSONRPCResponse,
    Prompt,
    Resource,
    TextResourceContents,
    Tool,
    jsonrpc_message_adapter,
)
from pydantic import TypeAdapter, ValidationError

from oi_tui.json_lines import parse_damaged

#: Kinds of content that the protocol has, and what is needed of a part of each.
_KINDS: Mapping[str, tuple[str, ...]] = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource": ("resource",),
    "resource_link": ("uri", "name"),
}
_part_adapter: TypeAdapter[Any] = TypeAdapter(ContentBlock)
#: Other lists, with the type of their entries, and what is needed of one.
_LISTS: tuple[tuple[str, TypeAdapter[Any], tuple[str, ...]], ...] = (
    ("resources", TypeAdapter(Resource), ("uri", "name")),
    ("prompts", TypeAdapter(Prompt), ("name", "arguments")),
    ("contents", TypeAdapter(TextResourceContents | BlobResourceContents), ("uri", "text", "blob")),
)


def parse_line(line: bytes | str) -> Iterator[SessionMessage | Exception]:
    """Yield the messages of a line, repaired; the error where it cannot be read."""
    try:
        yield repair_message(SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False)))
    except ValueError as error:
        yield from _rescue(line, error)


def repair_message(item: SessionMessage) -> SessionMessage:
    """Return a message from a server; the result in it is repaired."""
    if isinstance(item.message, JSONRPCResponse):
        item.message = item.message.model_copy(update={"result": repair_result(item.message.result)})
    return item


def repair_refused(error: Exception) -> Iterator[SessionMessage | Exception]:
    """Yield the messages of an event that the package has refused."""
    refused = error.errors(include_url=False)[0]["input"] if isinstance(error, ValidationError) else None
    if isinstance(refused, dict):
        refused = json.dumps(refused)
    yield from _rescue(refused, error) if isinstance(refused, bytes | str) else [error]


def _rescue(line: bytes | str, error: Exception) -> Iterator[SessionMessage | Exception]:
    """Yield what can be made of a line, so that whoever waits for it gets an answer; else the error."""
    try:
        payload = parse_damaged(line)
    except ValueError:
        yield error
        return
    for item in payload if isinstance(payload, list) else [payload]:
        try:
            message = jsonrpc_message_adapter.validate_python({**item, "jsonrpc": "2.0"}, by_name=False)
            yield repair_message(SessionMessage(message))
        except (TypeError, ValueError) as problem:
            answer = _answer_instead(item)
            yield SessionMessage(answer) if answer else problem


def _answer_instead(item: object) -> JSONRPCError | None:
    """Return an error in the place of an answer that is not valid."""
    number = item.get("id") if isinstance(item, dict) and "method" not in item else None
    if isinstance(number, bool) or not isinstance(number, int | str):
        return None
    assert isinstance(item, dict)
    error = item.get("error")
    reason = error.get("message") if isinstance(error, dict) else None
    reason = reason if isinstance(reason, str) else "its answer has neither a result nor an error"
    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=INTERNAL_ERROR, message=reason))


def repair_result(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result in which one odd tool, or one odd part of an answer, does not damage the others."""
    if isinstance(tools := result.get("tools"), list):
        named_tools = (tool for tool in tools if isinstance(tool, dict) and isinstance(tool.get("name"), str))
        return {**result, "tools": [_repair_tool(tool) for tool in named_tools]}
    for name, adapter, needed in _LISTS:
        if isinstance(entries := result.get(name), list):
            usable = (_simplify(adapter, entry, needed) for entry in entries)
            return {**result, name: [entry for entry in usable if entry is not None]}
    if isinstance(messages := result.get("messages"), list):
        return {**result, "messages": [_repair_prompt_message(item) for item in messages]}
    content = result.get("content")
    if isinstance(content, list):
        rest = {name: value for name, value in result.items() if (name, value) != ("isError", None)}
        return {**rest, "content": [_repair_part(part) for part in content]}
    if content is None and "structuredContent" in result:
        return {**result, "content": []}
    return result


def _repair_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool that the package takes: as it is, else without what a call does not need."""
    repaired = {**tool, "inputSchema": _repair_schema(tool.get("inputSchema"))}
    output = tool.get("outputSchema")
    if not isinstance(output, dict) or output.get("type") != "object":
        repaired.pop("outputSchema", None)
    needed = {"name": tool["name"]}
    if isinstance(description := tool.get("description"), str):
        needed["description"] = description
    else:
        repaired.pop("description", None)
    for candidate in (repaired, {**needed, "inputSchema": repaired["inputSchema"]}):
        try:
            Tool.model_validate(candidate, by_name=False)
        except ValidationError:
            continue
        return candidate
    return {**needed, "inputSchema": {"type": "object"}}


def _repair_schema(schema: object) -> dict[str, Any]:
    """Return a schema of an object, which models of all providers take; the whole where nothing
    of it is usable.
    """
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        return {"type": "object"}
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        return {"type": "object"}
    fits = all(isinstance(item, dict | bool) for item in properties.values())
    if not (fits and all(isinstance(name, str) for name in required)):
        return {"type": "object"}
    if not isinstance(schema.get("$schema", ""), str):
        return {"type": "object"}
    return {**schema, "type": "object"}


def _repair_part(part: object) -> object:
    """Return a part of a result that the package takes: as it is, else without what is not needed of it."""
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(part, dict) or not isinstance(kind, str):
        return _note("content that is not valid")
    if kind not in _KINDS:
        return _note(f"content of the type {kind[:50]}, which is not part of the protocol")
    valid_part = _simplify(_part_adapter, part, ("type", *_KINDS[kind]))
    return _note(f"content of the type {kind}, which is not valid") if valid_part is None else valid_part


def _repair_prompt_message(message: object) -> object:
    if not isinstance(message, dict):
        return message
    return {**message, "content": _repair_part(message.get("content"))}


def _simplify(adapter: TypeAdapter[Any], entry: object, names: Sequence[str]) -> dict[str, Any] | None:
    """Return an entry as it is, else only the fields that are needed of it; None where that is not valid."""
    if not isinstance(entry, dict):
        return None
    for candidate in (entry, {name: entry[name] for name in names if name in entry}):
        if _is_valid(adapter, candidate):
            return candidate
    return None


def _is_valid(adapter: TypeAdapter[Any], value: object) -> bool:
    try:
        adapter.validate_python(value, by_name=False)
    except ValidationError:
        return False
    return True


def _note(text: str) -> dict[str, str]:
    return {"type": "text", "text": f"[{text}]"}
