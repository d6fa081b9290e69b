"""Reads the parts of a content that are not text: tool calls, and what cannot be shown."""

import json
import re
from typing import Any

#: Stands in a reply for an image.
IMAGE_NOT_SHOWN = "[The model sent an image, which cannot be shown.]"
#: Types of parts that are tool calls, in lower case without separators.
_CALLS = ("tooluse", "toolcall", "functioncall", "function")
#: Where a part has the fields of its call, if not in itself.
_WITHIN = ("toolUse", "tool_use", "tool_call", "toolCall", "functionCall", "function_call", "function")
#: Where a part has the list of its calls.
_LISTS = ("tool_calls", "toolCalls")
_NAMES = ("name", "toolName", "tool_name", "function_name")
_ARGUMENTS = ("arguments", "input", "args", "parameters", "partial_json")
_IDS = ("id", "call_id", "tool_call_id", "toolCallId", "toolUseId", "tool_use_id")
#: Parts that say nothing to a person: places of sources, keys of a provider, marks of a cache.
_SILENT = ("reference", "redactedthinking", "redactedreasoning", "signature", "cachepoint", "citation")
#: Fields of parts that are read as text, thoughts or images elsewhere.
_READ = ("text", "thinking", "summary", "content", "parts", "refusal", "reasoning", "transcript")


def move_calls(delta: dict[str, Any]) -> bool:
    """Move the tool calls among the parts of a content to where calls are. Returns whether there were any."""
    parts = delta.get("content")
    if isinstance(parts, dict):
        parts = parts["parts"] if isinstance(parts.get("parts"), list) else [parts]
    if not isinstance(parts, list):
        return False
    calls = [(part, call) for part in parts for call in _read_calls(part)]
    if not calls:
        return False
    delta["content"] = [part for part in parts if all(part is not moved for moved, _ in calls)]
    known = delta.get("tool_calls")
    known = [] if known is None else known if isinstance(known, list) else [known]
    # A server may send the same call in both places.
    moved = [call for _, call in calls if not any(_is_same(call, other) for other in known)]
    delta["tool_calls"] = [*known, *({"index": len(known) + n, **call} for n, call in enumerate(moved))]
    return True


def name_unknown(content: Any) -> Any:
    """Return a content in which text says which parts cannot be shown."""
    parts = content if isinstance(content, list) else [content]
    return [_describe_unknown(part) or part for part in parts]


def _describe_unknown(part: Any) -> str:
    """Say that a part cannot be shown; "" for one that can, or that says nothing."""
    if not isinstance(part, dict) or any(name in part for name in _READ):
        return ""
    kind = part.get("type")
    kind = kind if isinstance(kind, str) else next(iter(part), "")
    if not kind or _spell(kind) in (*_SILENT, "text", "outputtext"):
        return ""
    return describe_part(kind)


def describe_part(kind: str) -> str:
    """Say that a part of this type cannot be shown."""
    name = re.sub(r"[^\w./-]+", " ", kind).strip()[:40]
    return f"[The model sent a part of type {name}, which cannot be shown.]" if name else ""


def _read_calls(part: Any) -> list[dict[str, Any]]:
    """Return the calls that a part has: one, or those of a list; none for other parts."""
    call = _read_call(part)
    if call is not None or not isinstance(part, dict):
        return [] if call is None else [call]
    lists = (part[name] for name in _LISTS if isinstance(part.get(name), list))
    items: list[Any] = next(lists, [])
    calls = [_read_call({"type": "function", **item}) for item in items if isinstance(item, dict)]
    return [call for call in calls if call is not None]


def _read_call(part: Any) -> dict[str, Any] | None:
    """Return the call that a part is; None for other parts."""
    if not isinstance(part, dict):
        return None
    kind = part.get("type")
    inner: Any = next((part[name] for name in _WITHIN if isinstance(part.get(name), dict)), None)
    if isinstance(kind, str) and _spell(kind) not in _CALLS:
        return None
    if not isinstance(kind, str) and inner is None:
        return None
    holders = [holder for holder in (inner, (inner or {}).get("function"), part) if isinstance(holder, dict)]
    name = _find(holders, _NAMES)
    if name is None and isinstance(part.get("function"), str):
        name = part["function"]
    arguments, call_id = _find(holders, _ARGUMENTS), _find(holders, _IDS)
    if name is None and arguments is None:
        return None
    return {
        "id": None if call_id is None else str(call_id),
        "type": "function",
        "function": {"name": name, "arguments": {} if arguments is None else arguments},
    }


def _is_same(call: dict[str, Any], other: Any) -> bool:
    if not isinstance(other, dict):
        return False
    if call["id"] is not None and other.get("id") is not None:
        return str(call["id"]) == str(other["id"])
    function, known = call["function"], other.get("function")
    if not isinstance(known, dict) or known.get("name") != function["name"]:
        return False
    same: bool = _parse(known.get("arguments")) == _parse(function["arguments"])
    return same


def _parse(arguments: Any) -> Any:
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return arguments


def _find(holders: list[dict[str, Any]], names: tuple[str, ...]) -> Any:
    found = (holder[name] for holder in holders for name in names if holder.get(name) is not None)
    return next(found, None)


def _spell(kind: str) -> str:
    return re.sub(r"[^a-z]", "", kind.lower())
