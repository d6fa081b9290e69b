"""The MCP servers of a profile, each in one line: NAME = COMMAND or NAME = URL.

Variables stand before a command (`TOKEN=...`), headers behind an address (`Authorization=...`). `${NAME}` is
replaced by the environment variable of that name when the server starts, so that no key is in the profile.
"""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from oi_tui.engine.settings.setting import ProfileError
from oi_tui.engine.settings.yaml_file import read as read_entries

if TYPE_CHECKING:
    from oi_tui.engine.settings.yaml_parser import YamlEntry

KEY = "mcp_servers"
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_PAIR = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_FIELDS = ("command", "args", "env", "url", "headers")
_EXPECTED = "NAME = COMMAND, or NAME = https://..., with a name of lower-case letters, digits, - and _"


class McpServerError(ValueError):
    """A line that names no server, or a server that cannot be reached as it stands; in a sentence."""


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server: a command with its variables, or an address with its headers."""

    name: str
    command: tuple[str, ...] = ()
    url: str = ""
    #: Variables of the command, or headers of the requests.
    values: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def shown(self) -> str:
        """How it is reached, without variables and headers."""
        return self.url or shlex.join(self.command)

    @property
    def line(self) -> str:
        """The server as a line of the profile."""
        pairs = [f"{name}={shlex.quote(value)}" for name, value in self.values.items()]
        parts = [self.url, *pairs] if self.url else [*pairs, shlex.join(self.command)]
        return f"{self.name} = {' '.join(parts)}"

    def fill(self, environment: Mapping[str, str]) -> "McpServer":
        """Return the server with the values of environment variables. Raises McpServerError."""

        def value(match: re.Match[str]) -> str:
            if match[1] not in environment:
                raise McpServerError(f"The environment variable {match[1]} is not set.")
            return environment[match[1]]

        return replace(
            self,
            command=tuple(_VARIABLE.sub(value, part) for part in self.command),
            url=_VARIABLE.sub(value, self.url),
            values={name: _VARIABLE.sub(value, text) for name, text in self.values.items()},
        )


def read(line: str) -> McpServer:
    """Return the server that a line names. Raises McpServerError."""
    name, equals, rest = (part.strip() for part in line.partition("="))
    if not equals or not _NAME.fullmatch(name):
        raise McpServerError(f"expected {_EXPECTED}")
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise McpServerError(f"{name}: {str(error).lower()}") from None
    if words and re.match(r"https?://", words[0]):
        return McpServer(name, url=words[0], values=dict(_split_pair(name, word) for word in words[1:]))
    values = {}
    while words and (pair := _PAIR.fullmatch(words[0])):
        values[pair[1]] = pair[2]
        words.pop(0)
    if not words:
        raise McpServerError(f"{name}: expected a command or an address (https://...)")
    return McpServer(name, command=tuple(words), values=values)


def _split_pair(name: str, word: str) -> tuple[str, str]:
    pair = _PAIR.fullmatch(word)
    if pair is None:
        raise McpServerError(f"{name}: expected HEADER=VALUE behind the address")
    return pair[1], pair[2]


def check_line(line: str) -> str | None:
    """Say what the line must be, unless it names a server."""
    try:
        read(line)
    except McpServerError:
        return _EXPECTED
    return None


def fold_groups(entries: Mapping[str, "YamlEntry"]) -> Mapping[str, "YamlEntry"]:
    """Return a profile's entries with servers that are written as groups of settings as lines.

    Raises ProfileError.
    """
    if not any(key.startswith(f"{KEY}.") for key in entries):
        return entries
    rest = {key: entry for key, entry in entries.items() if not key.startswith(f"{KEY}.")}
    groups: dict[str, dict[str, YamlEntry]] = {}
    for key, entry in entries.items():
        if key.startswith(f"{KEY}."):
            _, name, *inner = key.split(".", 2)
            groups.setdefault(name, {})[inner[0] if inner else ""] = entry
    first = next(iter(next(iter(groups.values())).values()))
    lines = [_format_line(name, group) for name, group in groups.items()]
    return {**rest, KEY: replace(first, value=lines)}


def refuse_groups(path: Path) -> None:
    """Refuse to write servers into a file that has them as groups of settings. Raises ProfileError."""
    if not path.exists():
        return
    for key, entry in read_entries(path).items():
        if key.startswith(f"{KEY}."):
            problem = "the servers are written as groups of settings; change them in the file"
            raise ProfileError(problem, key=KEY, path=path, line=entry.line)


def _format_line(name: str, group: Mapping[str, "YamlEntry"]) -> str:
    command: list[str] = []
    url = ""
    values: dict[str, str] = {}
    for key, entry in group.items():
        kind, _, inner = key.partition(".")
        value = entry.value
        if kind in ("env", "headers") and inner and not isinstance(value, (list, bool)):
            values[inner] = str(value)
        elif kind == "command" and isinstance(value, str):
            command.insert(0, value)
        elif kind == "args" and isinstance(value, list):
            command += [str(item) for item in value]
        elif kind == "url" and isinstance(value, str):
            url = value
        elif not (kind in ("env", "headers", "args") and value in ({}, None)):
            problem = f"{name}.{key} is not understood; a server has {', '.join(_FIELDS)}"
            raise ProfileError(problem, key=KEY, line=entry.line)
    if bool(url) == bool(command) or not _NAME.fullmatch(name):
        line = next(iter(group.values())).line
        raise ProfileError(f"{name}: a server has either a command or a url", key=KEY, line=line)
    return McpServer(name, tuple(command), url, values).line
