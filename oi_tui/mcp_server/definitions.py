"""The tools that a host can call, as it sees them."""

from collections.abc import Sequence
from typing import Any

from mcp.types import Tool, ToolAnnotations

from oi_tui.engine.settings.profile import Profile

_ASKED = "The person is asked before the code runs, and may refuse."
_UNASKED = "Code runs without a question."


def list_definitions(languages: Sequence[str], profile: Profile) -> list[Tool]:
    """Return the tools for these languages."""
    language = {"type": "string", "enum": list(languages), "description": "the language"}
    name = {"type": "string", "description": "the name of the variable"}
    asking = _UNASKED if profile.auto_run else _ASKED
    return [
        Tool(
            name="run",
            title="Run code",
            description=(
                "Run code on this machine, in one of several languages. Each language keeps its variables "
                "between calls. Returns what the code printed, the images that it showed, and the files "
                f"that it changed. {asking}"
            ),
            input_schema=_make_schema(
                {"language": language, "code": {"type": "string", "description": "the code"}},
                ["language", "code"],
            ),
            annotations=ToolAnnotations(destructive_hint=True, open_world_hint=True),
        ),
        Tool(
            name="variables",
            title="List variables",
            description="List the variables of one language, or of all that are running.",
            input_schema=_make_schema({"language": language}, []),
            annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
        ),
        Tool(
            name="inspect",
            title="Inspect a variable",
            description="Return the type of a variable and the beginning of its value.",
            input_schema=_make_schema({"language": language, "name": name}, ["language", "name"]),
            annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
        ),
        Tool(
            name="interrupt",
            title="Interrupt the code",
            description=(
                "Stop the running code; its language keeps its variables. Called again, it ends the "
                "language, and the variables are lost."
            ),
            input_schema=_make_schema({}, []),
            annotations=ToolAnnotations(destructive_hint=True, open_world_hint=False),
        ),
        Tool(
            name="restart",
            title="Restart the languages",
            description="Stop the running code and end all languages. All variables are lost.",
            input_schema=_make_schema({}, []),
            annotations=ToolAnnotations(destructive_hint=True, open_world_hint=False),
        ),
        Tool(
            name="files_changed",
            title="List changed files",
            description="List the files in the working directory that the code has changed so far.",
            input_schema=_make_schema({}, []),
            annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
        ),
    ]


def _make_schema(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
