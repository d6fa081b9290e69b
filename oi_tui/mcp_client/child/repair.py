"""Repairs results of which the package would refuse the whole, because a part does not fit the protocol."""

from collections.abc import Mapping
from typing import Any

#: Kinds of content that the protocol has.
_KINDS = frozenset({"text", "image", "audio", "resource", "resource_link"})


def repair_result(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result in which one odd tool, or one odd part of an answer, does not damage the others."""
    if isinstance(tools := result.get("tools"), list):
        named = (tool for tool in tools if isinstance(tool, dict) and isinstance(tool.get("name"), str))
        return {**result, "tools": [_repair_tool(tool) for tool in named]}
    content = result.get("content")
    if isinstance(content, list):
        return {**result, "content": [_repair_part(part) for part in content]}
    if content is None and "structuredContent" in result:
        return {**result, "content": []}
    return result


def _repair_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    repaired = {**tool, "inputSchema": _repair_schema(tool.get("inputSchema"))}
    output = tool.get("outputSchema")
    if not isinstance(output, dict) or output.get("type") != "object":
        # The package would refuse all tools of the server.
        repaired.pop("outputSchema", None)
    if not isinstance(repaired.get("description", ""), str):
        del repaired["description"]
    return repaired


def _repair_schema(schema: object) -> dict[str, Any]:
    """Return a schema of an object, which models of all providers take; the whole where nothing
    of it is usable.
    """
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        return {"type": "object"}
    if not isinstance(schema.get("properties", {}), dict) or not isinstance(schema.get("required", []), list):
        return {"type": "object"}
    return {**schema, "type": "object"}


def _repair_part(part: object) -> object:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str) or kind in _KINDS:
        return part
    return {"type": "text", "text": f"[content of the type {kind[:50]}, which is not part of the protocol]"}
