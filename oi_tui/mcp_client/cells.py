"""Tools of MCP servers as functions in cells: `tools.github.search(query="...")` in Python."""

import json
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from oi_tui.engine.tools import CALLING_LANGUAGES, CallableTools, McpTool
from oi_tui.mcp_client.connection import Hear, McpCallError
from oi_tui.mcp_client.elicitation import Form, fill_in
from oi_tui.mcp_client.runtime import Answer, CallAndHear
from oi_tui.runtimes.cell_socket import CellRequest, CellSocket, answer_request
from oi_tui.runtimes.language import Language, Start
from oi_tui.system import environment_names

#: The longest request, in bytes.
_LONGEST = 16_000_000
_NOT_NAMED = (
    "This cell may not call {0}, because the cell does not name it. Write {0}(...) in the cell itself, so "
    "that it is seen before the cell runs."
)
_NOT_THE_CELL = (
    "Only the process that runs the cell can call {0}, not a process that it starts. Call it "
    "in the cell itself."
)
_NOT_THIS_CELL = "The call of {0} did not begin in the cell that runs now."
_AMBIGUOUS = "{0} is the name of several tools: {1}. {2}"
_OTHER_SERVER = "Give one of the servers another name."
_NOT_IN_CELLS = "Code cannot call them. Call the right one directly, as a tool."


class CellTools:
    """Gives Python, JavaScript and TypeScript the object `tools`.

    `tools` gives those that may be used, `callable_tools` those that the running cell may call, and
    `is_running` says whether a process is the language that runs the cell. `ask_person` prints a text and a
    prompt in the output of that process's cell, and returns the line that is typed; `answer` gives it to the
    server that asks.
    """

    def __init__(
        self,
        tools: Callable[[], Sequence[McpTool]],
        call: CallAndHear,
        answer: Answer,
        ask_person: Callable[[int, str, str, threading.Event], str | None],
        callable_tools: Callable[[], CallableTools],
        is_running: Callable[[int], bool],
        wanted: Callable[[], bool],
    ) -> None:
        self._tools = tools
        self._call = call
        self._give_answer = answer
        self._ask_person = ask_person
        self._callable_tools = callable_tools
        self._is_running = is_running
        self._wanted = wanted
        self._socket = CellSocket("tools", self._answer)

    def add_to(self, languages: Sequence[Language]) -> tuple[Language, ...]:
        """Return the languages; those whose code can call tools have the object."""
        return tuple(self._add_object(item) if item.name in CALLING_LANGUAGES else item for item in languages)

    def close(self) -> None:
        """Stop answering requests."""
        self._socket.close()

    def _add_object(self, language: Language) -> Language:
        start = language.start

        def start_with_object(program: str, folder: Path) -> Start:
            begun = start(program, folder)
            if not self._wanted():
                return begun
            return replace(begun, env={**begun.env, environment_names.TOOLS: self._socket.make_path()})

        return replace(language, start=start_with_object, extended=True)

    def _answer(self, connection: socket.socket) -> None:
        # What began in an earlier cell does not get the rights of this one.
        callable_tools = self._callable_tools()

        def answer(request: CellRequest) -> None:
            request.send(self._make_reply(request.line, request.peer, callable_tools, request.stopped))

        answer_request(connection, _LONGEST, answer)

    def _make_reply(
        self, line: bytes, peer: int, callable_tools: CallableTools, stopped: threading.Event
    ) -> dict[str, Any]:
        try:
            request = json.loads(line)
            if "list" in request:
                return {"result": [_describe(tool) for tool in self._tools()]}
            path = f"{request['server']}.{request['tool']}"
            arguments: Mapping[str, Any] = dict(request["arguments"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return {"error": "The request is not understood, or longer than 16 MB."}
        tools = [tool for tool in self._tools() if tool.python_path == path]
        if problem := self._find_problem(f"tools.{path}", tools, peer, callable_tools):
            return {"error": problem}
        (tool,) = tools
        try:
            return {"result": self._call(tool, arguments, stopped, self._hear(tool, peer, stopped))}
        except McpCallError as error:
            return {"error": f"The MCP server {tool.server} failed: {error}"}

    def _hear(self, tool: McpTool, peer: int, stopped: threading.Event) -> Hear:
        """Return what has the person answer the questions of a server during a call."""

        def hear(record: Mapping[str, Any]) -> None:
            if "asks" in record:
                form = Form(tool.server, record["asks"])
                fill_in(form, lambda text, prompt: self._ask_person(peer, text, prompt, stopped))
                self._give_answer(tool, record["id"], form.result)

        return hear

    def _find_problem(
        self, name: str, found: Sequence[McpTool], peer: int, callable_tools: CallableTools
    ) -> str | None:
        """Return why a call is refused; None where it may go on."""
        if not found:
            return f"There is no tool {name}."
        if len(found) > 1:
            is_one_server = len({tool.server for tool in found}) == 1
            advice = _NOT_IN_CELLS if is_one_server else _OTHER_SERVER
            return _AMBIGUOUS.format(name, ", ".join(f"{tool.server}.{tool.name}" for tool in found), advice)
        if not callable_tools.allows(found[0]):
            return _NOT_NAMED.format(name)
        if not self._is_running(peer):
            return _NOT_THE_CELL.format(name)
        if callable_tools is not self._callable_tools():
            return _NOT_THIS_CELL.format(name)
        return None


def _describe(tool: McpTool) -> dict[str, Any]:
    server, _, name = tool.python_path.partition(".")
    return {
        "server": server,
        "tool": name,
        "description": tool.description,
        "schema": dict(tool.schema),
    }
