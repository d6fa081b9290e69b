"""Converts the MCP servers that an editor names for a session into lines of the profile."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urldefrag

from oi_tui.acp.prompts import make_error
from oi_tui.engine.settings.mcp_servers import McpServer, McpServerError, read
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.settings.setting import ProfileError
from oi_tui.text import escape_controls

_LONGEST_NAME = 24
_NOT_FITTING = (
    "The MCP server {} cannot be used. It needs a command, or an address that begins with https://. Names of "
    "variables and headers may have letters, digits, - and _. Line breaks are not allowed."
)


def add_servers(profile: Profile, servers: Sequence[Any]) -> Profile:
    """Return the profile with the servers of an editor after its own. Raises RequestError."""
    if not servers:
        return profile
    names = {read(line).name for line in profile.mcp_servers}
    lines = []
    for server in servers:
        name = _make_name(server.name, names)
        names.add(name)
        lines.append(_read_server(server, name).line)
    try:
        return profile.with_changes(mcp_servers=(*profile.mcp_servers, *lines))
    except ProfileError as error:
        raise make_error(escape_controls(str(error))) from None


def _read_server(server: Any, name: str) -> McpServer:
    """Return a server of an editor as one of the profile. Raises RequestError."""
    kind = getattr(server, "type", "stdio")
    if kind == "stdio":
        values = {item.name: item.value for item in server.env}
        mcp_server = McpServer(name, (server.command, *server.args), values=values)
    elif kind in ("http", "sse"):
        mark = "#sse" if kind == "sse" else ""
        values = {item.name: item.value for item in server.headers}
        mcp_server = McpServer(name, url=urldefrag(server.url)[0] + mark, values=values)
    else:
        raise make_error(f"MCP servers of the type {kind} are not supported; use stdio, http or sse.")
    if not _fits(mcp_server):
        raise make_error(_NOT_FITTING.format(escape_controls(server.name)))
    return mcp_server


def _fits(server: McpServer) -> bool:
    """Return whether a line of the profile can hold the server, and then means the same."""
    try:
        return "\n" not in server.line and read(server.line) == server
    except McpServerError:
        return False


def _make_name(given: str, taken: set[str]) -> str:
    """Return a name that the profile takes and that no other server has."""
    plain = re.sub(r"[^a-z0-9_]+", "-", given.lower()).strip("-")[:_LONGEST_NAME]
    plain = plain if plain[:1].isalpha() and plain.isascii() else f"server-{plain}".rstrip("-")
    number = 1
    name = plain
    while name in taken:
        number += 1
        name = f"{plain}-{number}"
    return name
