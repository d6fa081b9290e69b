"""Calls one tool, as the runtime of the language that stands for it."""

import json
import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any

from oi_tui.engine.llm.foreign_images import read_image
from oi_tui.engine.tools import McpTool, parse_arguments
from oi_tui.mcp_client.connection import McpCallError, OnReport
from oi_tui.mcp_client.elicitation import Form
from oi_tui.messages import InputReceived, InputRequested, Printed, Report, RunEnded, Started
from oi_tui.runtimes.language import Choices, Language, RuntimeWithoutTerminal, Start
from oi_tui.system.failures import describe_failure
from oi_tui.text import clean_line, escape_controls

#: Calls a tool; `OnReport` gets what its server says. Raises McpCallError, also once the event is set.
CallTool = Callable[[McpTool, Mapping[str, Any], threading.Event, OnReport], Mapping[str, Any]]
#: Gives a server the answer to its question during a call, which has a number.
Answer = Callable[[McpTool, int, Mapping[str, Any]], None]
#: Seconds between two looks at what was typed.
_FRAME = 0.05
#: Removes a line of progress.
_ERASE = "\r\x1b[K"


def make_language(tool: McpTool, reached: str, call: CallTool, answer: Answer) -> Language:
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
        input="reported",
        find=find,
        describe=lambda program: f"the MCP server {tool.server} ({program})",
        start=start,
        runtime=lambda language: ToolRuntime(language, tool, call, answer),
        outside="MCP servers run outside of it",
    )


class ToolRuntime(RuntimeWithoutTerminal):
    """A tool at work; it remembers nothing."""

    def __init__(self, language: Language, tool: McpTool, call: CallTool, answer: Answer) -> None:
        self.language = language
        self._tool = tool
        self._call = call
        self._answer = answer
        self._stop = threading.Event()
        self._typed: queue.SimpleQueue[str] = queue.SimpleQueue()

    def run(
        self,
        code: str,
        stopped: threading.Event,
        number: int | None = None,  # noqa: ARG002 -- as the interface has it
    ) -> Generator[Report, None, None]:
        """Call the tool with the arguments in the code."""
        began = time.monotonic()
        self._stop.clear()
        self._typed = queue.SimpleQueue()
        if stopped.is_set():
            self._stop.set()
        arguments = parse_arguments(code)
        if arguments is None:
            yield RunEnded("failed", 0.0, "the arguments are not a JSON object")
            return
        yield Started()
        try:
            result = yield from self._carry_out(arguments)
        except McpCallError as error:
            seconds = time.monotonic() - began
            if self._stop.is_set():
                yield RunEnded("interrupted", seconds)
            else:
                reason = escape_controls(f"The MCP server {self._tool.server} failed: {error}")
                yield Printed(reason.replace("\n", "\r\n") + "\r\n")
                yield RunEnded("failed", seconds, reason.partition("\n")[0])
            return
        yield from report_result(result)
        failed = bool(result.get("isError"))
        yield RunEnded("failed" if failed else "finished", time.monotonic() - began)

    def _carry_out(self, arguments: Mapping[str, Any]) -> Generator[Report, None, Mapping[str, Any]]:
        """Call the tool, show its progress, and ask the person what it asks. Raises McpCallError."""
        messages: queue.SimpleQueue[Mapping[str, Any] | McpCallError] = queue.SimpleQueue()

        def call() -> None:
            try:
                messages.put({"result": self._call(self._tool, arguments, self._stop, messages.put)})
            except McpCallError as error:
                messages.put(error)
            except Exception as error:  # noqa: BLE001 -- the end of the thread; whoever waits gets the reason
                messages.put(McpCallError(f"{type(error).__name__}: {error}"))

        try:
            threading.Thread(target=call, name=f"{self.language.name} call", daemon=True).start()
        except RuntimeError as error:
            raise McpCallError(describe_failure(error)) from None
        progress = False
        try:
            while True:
                record = messages.get()
                if progress:
                    yield Printed(_ERASE)
                    progress = False
                if isinstance(record, McpCallError):
                    raise record
                if "result" in record:
                    return dict(record["result"])
                if "asks" in record:
                    yield from self._ask(record)
                elif "progress" in record:
                    yield Printed(_describe_progress(record))
                    progress = True
        except GeneratorExit:
            self._stop.set()
            raise

    def _ask(self, record: Mapping[str, Any]) -> Iterator[Report]:
        """Ask the person, and give the server the answer."""
        form = Form(self._tool.server, record["asks"])
        yield Printed(form.introduction.replace("\n", "\r\n"))
        while prompt := form.prompt:
            yield Printed(prompt)
            yield InputRequested(prompt, masked=False)
            while not self._stop.is_set():
                try:
                    line = self._typed.get(timeout=_FRAME)
                except queue.Empty:
                    continue
                yield InputReceived()
                problem = form.answer(line)
                yield Printed(f"{problem}\r\n" if problem else "\r\n")
                break
            else:
                yield InputReceived()
                return
        yield Printed(f"{form.outcome}\r\n")
        self._answer(self._tool, record["id"], form.result)

    def send_input(self, text: str) -> None:
        """Take a line that the person types for the server."""
        lines = text.split("\n")
        for line in lines if lines[-1] else lines[:-1]:
            self._typed.put(line)

    def interrupt(self) -> None:
        """Stop the call; its server keeps running."""
        self._stop.set()

    def reset(self) -> None:
        """Stop the call."""
        self._stop.set()

    def close(self) -> None:
        """Stop the call."""
        self._stop.set()


def _describe_progress(record: Mapping[str, Any]) -> str:
    """Return a line that says how far a call is; the next one takes its place."""
    done, total, message = record["progress"], record.get("total"), record.get("message")
    amount = f"{_format_amount(done)} of {_format_amount(total)}" if total else _format_amount(done)
    return escape_controls(clean_line(f"{amount}: {message}" if message else amount, 100))


def _format_amount(number: float) -> str:
    # A server may send an infinite amount, which cannot be rounded.
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:g}"


def report_result(result: Mapping[str, Any]) -> Iterator[Report]:
    """Return what a result shows: its texts and images, or its data where there is nothing else."""
    blocks = [block for block in result.get("content", ()) if isinstance(block, dict)]
    if not blocks and "structuredContent" in result:
        blocks = [{"type": "text", "text": json.dumps(result["structuredContent"], ensure_ascii=False)}]
    for block in blocks:
        if block.get("type") == "image" and (image := read_image(str(block.get("data", "")))):
            yield image
        elif text := format_block(block):
            yield Printed(escape_controls(text.replace("\r\n", "\n")).replace("\n", "\r\n") + "\r\n")


def format_block(block: Mapping[str, Any]) -> str:
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
