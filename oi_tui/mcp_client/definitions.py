"""The servers' definitions of their tools: made safe to show and to send, and pinned by a hash.

The definitions of a server are kept when it is first used. A changed one is not used until a person
was shown the difference.
"""

import difflib
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from oi_tui import paths
from oi_tui.engine.credentials import private_file
from oi_tui.engine.settings.mcp_servers import McpServer
from oi_tui.engine.tools import McpTool
from oi_tui.text import escape_controls

#: How many tools of a server are used, and how many characters of a name, a description and a schema.
MOST_TOOLS = 128
_NAME = 128
_DESCRIPTION = 2_000
_SCHEMA = 20_000
#: How many parts a schema may have once its references are filled in.
_PARTS = 10_000
#: The most characters of all definitions of a server.
ALL_CHARACTERS = 400_000
#: The fields of a definition that change what the tool seems to do.
_PINNED = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
Definition = Mapping[str, Any]

_NOT_AT_TOP = ("anyOf", "oneOf", "allOf", "not", "enum")


def parse_tool(server: str, definition: Definition) -> McpTool | None:
    """Return the tool of a definition, its texts made safe; None where it cannot be used."""
    original, description = definition.get("name"), definition.get("description") or ""
    name = make_usable_name(original) if isinstance(original, str) else ""
    if not name:
        return None
    schema = _sanitize(definition.get("inputSchema") or {})
    if not isinstance(schema, dict) or len(json.dumps(schema)) > _SCHEMA or _expands_too_far(schema):
        # A model that has no schema takes the arguments from the description.
        schema = {"type": "object"}
    # OpenAI refuses every request with these at the top; the server itself checks the arguments anyway.
    schema = {key: value for key, value in schema.items() if key not in _NOT_AT_TOP}
    text = escape_controls(str(description))
    text = text if len(text) <= _DESCRIPTION else text[:_DESCRIPTION] + "…"
    return McpTool(server, name, text, schema, "" if name == original else str(original))


def make_usable_name(name: str) -> str:
    """Return a name without spaces and control characters, of 128 characters at most; "" if none is left.

    >>> make_usable_name("search the web")
    'search_the_web'
    """
    usable = "_".join("".join(char if char.isprintable() else " " for char in name).split())
    if len(usable) <= _NAME:
        return usable
    return f"{usable[: _NAME - 9]}_{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()[:8]}"


def _sanitize(value: Any, depth: int = 0) -> Any:
    if depth > 20:
        return {}
    if isinstance(value, str):
        return escape_controls(value)
    if isinstance(value, dict):
        return {escape_controls(str(key)): _sanitize(item, depth + 1) for key, item in value.items()}
    return [_sanitize(item, depth + 1) for item in value] if isinstance(value, list) else value


def _expands_too_far(schema: Mapping[str, Any]) -> bool:
    """Return whether a schema has too many parts once its references are filled in.

    For some providers that is done before a request; a few references can stand for millions of parts.
    """
    remaining_parts = _PARTS
    waiting: list[tuple[Any, frozenset[str]]] = [(schema, frozenset())]
    while waiting and remaining_parts:
        value, within = waiting.pop()
        remaining_parts -= 1
        if isinstance(value, dict):
            waiting += ((item, within) for item in value.values())
            reference = value.get("$ref")
            if isinstance(reference, str) and reference not in within:
                waiting.append((_look_up(schema, reference), within | {reference}))
        elif isinstance(value, list):
            waiting += ((item, within) for item in value)
    return bool(waiting)


def _look_up(schema: Mapping[str, Any], reference: str) -> Any:
    """Return what a reference such as `#/$defs/Point` names; None where there is nothing."""
    node: Any = schema
    for name in reference.removeprefix("#").split("/")[1:]:
        node = node.get(name) if isinstance(node, dict) else None
    return node if reference.startswith("#/") else None


def limit_definitions(offered: Sequence[Definition]) -> list[Definition]:
    """Return the first definitions of a server, as many as are used."""
    definitions: list[Definition] = []
    total = 0
    for entry in offered[:MOST_TOOLS]:
        total += len(json.dumps(entry))
        if total > ALL_CHARACTERS:
            break
        definitions.append(entry)
    return definitions


def select_pinned(definition: Definition) -> dict[str, Any]:
    """Return the fields of a definition that are pinned."""
    return {key: definition[key] for key in _PINNED if key in definition}


def compute_digest(definition: Definition) -> str:
    """Return the SHA-256 of a definition."""
    text = json.dumps(select_pinned(definition), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def describe_difference(before: Iterable[Definition], after: Iterable[Definition]) -> list[str]:
    """Return the lines that differ, as a person reads them."""
    old, new = (_describe_lines(definitions) for definitions in (before, after))
    lines = difflib.unified_diff(old, new, "used so far", "offered now", lineterm="")
    return [escape_controls(line) for line in lines]


def _describe_lines(definitions: Iterable[Definition]) -> list[str]:
    ordered = sorted(
        (select_pinned(entry) for entry in definitions), key=lambda entry: str(entry.get("name"))
    )
    return json.dumps(ordered, indent=2, sort_keys=True, ensure_ascii=False).splitlines()


class Pins:
    """The definitions that are used, by server: a file in the configuration folder, for its owner only."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or paths.config() / "mcp_tools.json"

    def of(self, server: McpServer) -> list[Definition] | None:
        """Return the pinned definitions of a server; None for one that was never used. Raises OSError."""
        definitions = private_file.read(self._path).get(_describe_server(server))
        return definitions if isinstance(definitions, list) else None

    def pin(self, server: McpServer, definitions: Sequence[Definition]) -> None:
        """Pin these definitions: only they are used from now on. Raises OSError."""
        with private_file.edit(self._path) as record:
            record[_describe_server(server)] = [select_pinned(entry) for entry in definitions]

    def forget(self, server: McpServer) -> None:
        """Forget a server. Raises OSError."""
        with private_file.edit(self._path) as record:
            record.pop(_describe_server(server), None)


def _describe_server(server: McpServer) -> str:
    """Return a server by its name and how it is reached: another program
    of the same name is another server.
    """
    reached = hashlib.sha256(json.dumps([server.command, server.url]).encode()).hexdigest()[:16]
    return f"{server.name} {reached}"
