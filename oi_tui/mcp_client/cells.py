"""Tools of MCP servers as functions in cells: `tools.github.search(query="...")` in Python."""

import json
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from oi_tui.engine.tools import CALLING_LANGUAGES, CallableTools, McpTool, find_called
from oi_tui.mcp_client.connection import McpCallError, OnReport
from oi_tui.mcp_client.elicitation import Form, fill_in
from oi_tui.mcp_client.runtime import Answer, CallTool
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
        call: CallTool,
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
            launch = start(program, folder)
            if not self._wanted():
                return launch
            return replace(launch, env={**launch.env, environment_names.TOOLS: self._socket.make_path()})

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
                tools = self._tools()
                return {"result": [_describe(tool, tools) for tool in tools]}
            path = f"{request['server']}.{request['tool']}"
            arguments: Mapping[str, Any] = dict(request["arguments"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return {"error": "The request is not understood, or longer than 16 MB."}
        tools = find_called(self._tools(), path)
        if problem := self._find_problem(path, tools, peer, callable_tools):
            return {"error": problem}
        (tool,) = tools
        try:
            return {"result": self._call(tool, arguments, stopped, self._make_listener(tool, peer, stopped))}
        except McpCallError as error:
            return {"error": f"The MCP server {tool.server} failed: {error}"}

    def _make_listener(self, tool: McpTool, peer: int, stopped: threading.Event) -> OnReport:
        """Return what has the person answer the questions of a server during a call."""

        def on_report(record: Mapping[str, Any]) -> None:
            if "asks" in record:
                form = Form(tool.server, record["asks"])
                fill_in(form, lambda text, prompt: self._ask_person(peer, text, prompt, stopped))
                self._give_answer(tool, record["id"], form.result)

        return on_report

    def _find_problem(
        self, path: str, found: Sequence[McpTool], peer: int, callable_tools: CallableTools
    ) -> str | None:
        """Return why a call is refused; None where it may go on."""
        name = f"tools.{path}"
        if not found:
            return f"There is no tool {name}."
        if len(found) > 1:
            return _explain_ambiguous(name, found)
        if not callable_tools.allows(path, found[0]):
            return _NOT_NAMED.format(name)
        if not self._is_running(peer):
            return _NOT_THE_CELL.format(name)
        if callable_tools is not self._callable_tools():
            return _NOT_THIS_CELL.format(name)
        return None


def _explain_ambiguous(name: str, found: Sequence[McpTool]) -> str:
    """Return why a name of several tools is refused, and what to do."""
    names = ", ".join(f"{tool.server}.{tool.name}" for tool in found)
    if len({tool.server for tool in found}) > 1:
        return _AMBIGUOUS.format(name, names, _OTHER_SERVER)
    advice = " ".join(f"Write tools.{tool.exact_path} for {tool.name}." for tool in found)
    return _AMBIGUOUS.format(name, names, advice)


def _describe(tool: McpTool, tools: Sequence[McpTool]) -> dict[str, Any]:
    """Return what a cell shows of a tool, under a name that means this one."""
    path = tool.python_path if find_called(tools, tool.python_path) == [tool] else tool.exact_path
    server, _, name = path.partition(".")
    return {
        "server": server,
        "tool": name,
        "description": tool.description,
        "schema": dict(tool.schema),
    }
