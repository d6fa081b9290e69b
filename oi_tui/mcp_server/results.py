"""Writes the results of code, and variables, for a host."""

from collections.abc import Mapping
from typing import Any

from mcp.types import CallToolResult, ContentBlock, ImageContent, TextContent

from oi_tui.text import clean_line, escape_controls
from oi_tui.window.report import Outcome

_MEMORY = {
    "unstarted": "not running yet",
    "starting": "starting",
    "busy": "busy; ask again later",
    "silent": "does not report variables",
}


def describe_run(outcome: Outcome, place: str, remark: str) -> CallToolResult:
    """Return how code ended. `remark` stands before all else."""
    files = f"Files changed: {', '.join(outcome.files)}" if outcome.files else ""
    parts = [part for part in (outcome.output, outcome.note, files) if part]
    text = "\n".join(filter(None, (remark, *(parts or ["The code printed nothing."]))))
    structured: dict[str, Any] = {
        "state": outcome.state,
        "output": outcome.output,
        "note": outcome.note,
        "files_changed": list(outcome.files),
        "place": place,
    }
    if outcome.seconds is not None:
        structured["seconds"] = outcome.seconds
    images = [ImageContent(data=data, mime_type=kind) for kind, data in outcome.images]
    return CallToolResult(
        content=[TextContent(text=escape_controls(text)), *images],
        structured_content=structured,
        is_error=outcome.state != "finished",
    )


def describe_variables(found: Mapping[str, Any]) -> CallToolResult:
    """Return the variables of languages."""
    lines = [line for language, memory in found.items() for line in _describe_language(language, memory)]
    return make_text_result("\n".join(lines) or "No language is running yet.", found)


def _describe_language(language: str, memory: Mapping[str, Any]) -> list[str]:
    if memory["state"] != "known":
        return [f"{language}: {_MEMORY.get(memory['state'], memory['state'])}"]
    variables = memory["variables"]
    total = memory["total"]
    lines = [f"{language}: {total} variable{'s' * (total != 1)}"]
    return [*lines, *(f"  {v['name']}: {v['type']}, {clean_line(v['summary'])}" for v in variables)]


def make_text_result(
    text: str, structured: Mapping[str, Any] | None = None, *, failed: bool = False
) -> CallToolResult:
    """Return a result that is text."""
    content: list[ContentBlock] = [TextContent(text=escape_controls(text))]
    return CallToolResult(
        content=content, structured_content=dict(structured) if structured else None, is_error=failed
    )
