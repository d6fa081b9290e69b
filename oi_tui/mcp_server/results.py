"""What a host gets of code and variables."""

from collections.abc import Iterable, Mapping
from typing import Any

from mcp.types import CallToolResult, ContentBlock, ImageContent, TextContent

from oi_tui.messages import Message
from oi_tui.runtimes.variables import Memory
from oi_tui.text import one_line, visible

_STATES = {
    "failed": "The code failed.",
    "interrupted": "The code was interrupted; variables are kept.",
    "lost": "The language ended, and its variables are lost.",
    "unfinished": "The code was not run.",
    "skipped": "The code was not run.",
}
_MEMORY = {
    "unstarted": "not running yet",
    "starting": "starting",
    "busy": "busy; ask again later",
    "silent": "does not report variables",
}


def note(code: Message | None) -> str:
    """Say how the code ended; "" where there is nothing to say."""
    if code is None:
        return "The code was not run."
    reason = one_line(code.reason or "", 500)
    if code.state == "rejected":
        return (
            f"The person did not allow this code: {reason}"
            if reason
            else "The person did not allow this code."
        )
    if code.state == "finished":
        return reason
    return " ".join(filter(None, (_STATES.get(code.state or "", ""), reason)))


def images(results: Iterable[Message]) -> list[ImageContent]:
    """Return the images that the code showed."""
    return [
        ImageContent(data=message.content, mime_type=f"image/{message.format.removeprefix('base64.')}")
        for message in results
        if message.type == "image" and message.format in ("base64.png", "base64.jpeg")
    ]


def described(memory: Memory) -> list[str]:
    """Describe the variables of a language in lines."""
    if memory.state != "known":
        return [f"{memory.language}: {_MEMORY[memory.state]}"]
    lines = [f"{memory.language}: {memory.total} variables"]
    return [*lines, *(f"  {v.name}: {v.type}, {one_line(v.summary)}" for v in memory.variables)]


def text_result(
    text: str, structured: Mapping[str, Any] | None = None, *, failed: bool = False
) -> CallToolResult:
    """Return a result that is text."""
    content: list[ContentBlock] = [TextContent(text=visible(text))]
    return CallToolResult(
        content=content, structured_content=dict(structured) if structured else None, is_error=failed
    )
