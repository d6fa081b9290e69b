"""The pieces of a reply as records of the protocol between application and model process."""

from collections.abc import Mapping
from typing import Any

from oi_tui.engine.llm.base import (
    ConnectionState,
    Delta,
    Finish,
    Gap,
    Reasoning,
    Signed,
    Text,
    ToolCallPiece,
    Usage,
)


def record_of(delta: Delta) -> dict[str, Any]:
    """Return the record of a piece."""
    match delta:
        case Text(text):
            return {"text": text}
        case Reasoning(text):
            return {"reasoning": text}
        case ToolCallPiece(index, id, name, arguments):
            return {"call": [index, id, name, arguments]}
        case Signed(name, entries):
            return {"signed": [name, list(entries)]}
        case Usage(prompt, completion, cost, cached):
            return {"usage": [prompt, completion, cost, cached]}
        case Finish(reason):
            return {"finish": reason}
        case Gap(lines):
            return {"gap": lines}
        case ConnectionState(accepted):
            return {"accepted": accepted}


def parse_delta(record: Mapping[str, Any]) -> Delta | None:
    """Return the piece that a record tells; None where it tells something else."""
    match record:
        case {"text": str(text)}:
            return Text(text)
        case {"reasoning": str(text)}:
            return Reasoning(text)
        case {"call": [int(index), call, name, str(arguments)]}:
            return ToolCallPiece(index, call, name, arguments)
        case {"signed": [str(name), [*entries]]} if all(isinstance(entry, dict) for entry in entries):
            return Signed(name, entries)
        case {"usage": [int(prompt), int(completion), cost, int(cached)]}:
            return Usage(prompt, completion, cost, cached)
        case {"finish": str(reason)}:
            return Finish(reason)
        case {"gap": int(lines)}:
            return Gap(lines)
        case {"accepted": bool(accepted)}:
            return ConnectionState(accepted)
    return None
