"""Tools of MCP servers as functions in Python cells: `tools.github.search(query="...")`."""

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from oi_tui import environment_names
from oi_tui.engine.tools import Tool
from oi_tui.mcp_client.connection import CallError
from oi_tui.mcp_client.runtime import Call
from oi_tui.runtimes.cell_socket import CellSocket
from oi_tui.runtimes.language import Language, Start

#: The longest request, in bytes.
_LONGEST = 16_000_000
_NOT_NAMED = (
    "This cell may not call {0}, because the cell does not name it. Write {0}(...) in the cell itself, so "
    "that it is seen before the cell runs."
)


class CellTools:
    """Gives Python the object `tools`.

    `tools` gives those that may be used, `may_call` says whether the running cell may call one.
    """

    def __init__(
        self,
        tools: Callable[[], Sequence[Tool]],
        call: Call,
        may_call: Callable[[Tool], bool],
        wanted: Callable[[], bool],
    ) -> None:
        self._tools = tools
        self._call = call
        self._may_call = may_call
        self._wanted = wanted
        self._socket = CellSocket("tools", self._answer)

    def given_to(self, languages: Sequence[Language]) -> tuple[Language, ...]:
        """Return the languages, of which Python has the object."""
        return tuple(self._with_object(each) if each.name == "python" else each for each in languages)

    def close(self) -> None:
        """Answer nothing any more."""
        self._socket.close()

    def _with_object(self, python: Language) -> Language:
        start = python.start

        def start_with_object(program: str, folder: Path) -> Start:
            begun = start(program, folder)
            if not self._wanted():
                return begun
            return replace(begun, env={**begun.env, environment_names.TOOLS: self._socket.path()})

        return replace(python, start=start_with_object, extended=True)

    def _answer(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection, connection.makefile("rwb") as file:
            line = file.readline(_LONGEST)
            stopped = threading.Event()
            threading.Thread(target=_watch, args=(connection, stopped), daemon=True).start()
            file.write(json.dumps(self._reply(line, stopped)).encode() + b"\n")
            file.flush()
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _reply(self, line: bytes, stopped: threading.Event) -> dict[str, Any]:
        try:
            request = json.loads(line)
            if "list" in request:
                return {"result": [_described(tool) for tool in self._tools()]}
            path = f"{request['server']}.{request['tool']}"
            arguments: Mapping[str, Any] = dict(request["arguments"])
        except (ValueError, KeyError, TypeError):
            return {"error": "The request is not understood, or longer than 16 MB."}
        tool = next((tool for tool in self._tools() if tool.python_path == path), None)
        if tool is None:
            return {"error": f"There is no tool tools.{path}."}
        if not self._may_call(tool):
            return {"error": _NOT_NAMED.format(f"tools.{path}")}
        try:
            return {"result": self._call(tool, arguments, stopped)}
        except CallError as error:
            return {"error": f"The MCP server {tool.server} failed: {error}"}


def _watch(connection: socket.socket, stopped: threading.Event) -> None:
    """Wait until the cell no longer waits for the answer."""
    with contextlib.suppress(OSError):
        connection.recv(1)
    stopped.set()


def _described(tool: Tool) -> dict[str, Any]:
    server, _, name = tool.python_path.partition(".")
    return {
        "server": server,
        "tool": name,
        "description": tool.description,
        "schema": dict(tool.schema),
    }
