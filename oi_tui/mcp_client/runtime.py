"""Calls one tool, as the runtime of the language that stands for it."""

import json
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any

from oi_tui.engine.tools import Tool, arguments_of
from oi_tui.mcp_client.connection import CallError
from oi_tui.mcp_client.images import read_image
from oi_tui.messages import Printed, Report, RunEnded, Started
from oi_tui.runtimes.language import Choices, Language, RuntimeWithoutTerminal, Start
from oi_tui.text import visible

#: Calls a tool with arguments; raises CallError, also once the event is set.
Call = Callable[[Tool, Mapping[str, Any], threading.Event], Mapping[str, Any]]


def language_of(tool: Tool, reached: str, call: Call) -> Language:
    """Return the language that stands for a tool; `reached` says how its server is reached."""

    def find(_: Choices) -> str:
        return reached

    def start(_: str, __: Any) -> Start:
        raise NotImplementedError("a tool has no process of its own")

    return Language(
        name=tool.language,
        title=f"the tool {tool.name} of {tool.server}",
        hint="It belongs to an MCP server of the profile.",
        keeps="",
        input="none",
        find=find,
        describe=lambda program: f"the MCP server {tool.server} ({program})",
        start=start,
        runtime=lambda language: ToolRuntime(language, tool, call),
        outside="MCP servers run outside of it",
    )


class ToolRuntime(RuntimeWithoutTerminal):
    """A tool at work; it remembers nothing."""

    def __init__(self, language: Language, tool: Tool, call: Call) -> None:
        self.language = language
        self._tool = tool
        self._call = call
        self._stop = threading.Event()
        self._notes: list[Report] = []

    def run(
        self,
        code: str,
        stopped: threading.Event,
        number: int | None = None,  # noqa: ARG002 -- as the interface has it
    ) -> Generator[Report, None, None]:
        """Call the tool with the arguments in the code."""
        began = time.monotonic()
        self._stop.clear()
        if stopped.is_set():
            self._stop.set()
        arguments = arguments_of(code)
        if arguments is None:
            yield RunEnded("failed", 0.0, "the arguments are not a JSON object")
            return
        yield Started()
        try:
            result = self._call(self._tool, arguments, self._stop)
        except CallError as error:
            seconds = time.monotonic() - began
            if self._stop.is_set():
                yield RunEnded("interrupted", seconds)
            else:
                reason = visible(f"The MCP server {self._tool.server} failed: {error}")
                yield Printed(reason.replace("\n", "\r\n") + "\r\n")
                yield RunEnded("failed", seconds, reason.partition("\n")[0])
            return
        yield from shown(result)
        failed = bool(result.get("isError"))
        yield RunEnded("failed" if failed else "finished", time.monotonic() - began)

    def interrupt(self) -> None:
        """Stop the call; its server goes on."""
        self._stop.set()

    def reset(self) -> None:
        """Stop the call."""
        self._stop.set()

    def close(self) -> None:
        """Stop the call."""
        self._stop.set()


def shown(result: Mapping[str, Any]) -> Iterator[Report]:
    """Return what a result shows: its texts and images, or its data where there is nothing else."""
    blocks = [block for block in result.get("content", ()) if isinstance(block, dict)]
    if not blocks and "structuredContent" in result:
        blocks = [{"type": "text", "text": json.dumps(result["structuredContent"], ensure_ascii=False)}]
    for block in blocks:
        if block.get("type") == "image" and (image := read_image(block)):
            yield image
        elif text := text_of(block):
            yield Printed(visible(text.replace("\r\n", "\n")).replace("\n", "\r\n") + "\r\n")


def text_of(block: Mapping[str, Any]) -> str:
    """Return a block of a result as text."""
    match block.get("type"):
        case "text":
            return str(block.get("text", ""))
        case "resource":
            resource = block.get("resource") or {}
            return str(resource.get("text") or f"[resource {resource.get('uri')}]")
        case "resource_link":
            return f"[resource {block.get('uri')}: {block.get('name')}]"
        case "image":
            return f"[an image of type {block.get('mimeType')} that cannot be read]"
        case kind:
            return f"[{kind} of type {block.get('mimeType')}]"
