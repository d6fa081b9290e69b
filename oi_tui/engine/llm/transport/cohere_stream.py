"""Converts the records of Cohere's streams into those that LiteLLM reads: each a line of JSON alone."""

from typing import Any

#: The types of records in a stream of Cohere's.
_TYPES = frozenset(
    f"{subject}-{step}"
    for subject in ("message", "content", "tool-plan", "tool-call", "citation")
    for step in ("start", "delta", "end")
)
_REASONS = {"TOOL_CALL": "tool_calls"}


def is_cohere(record: Any) -> bool:
    """Return whether it is a record of a stream of Cohere's."""
    return isinstance(record, dict) and isinstance(record.get("type"), str) and record["type"] in _TYPES


def convert_record(record: dict[str, Any]) -> dict[str, Any]:
    """Return the record as LiteLLM reads it. It reads the ends of messages and the calls in another form."""
    match record:
        case {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": str(plan)}}}:
            return {"type": "content-delta", "delta": {"message": {"content": {"text": plan}}}}
        case {
            "type": "tool-call-start" | "tool-call-delta",
            "delta": {"message": {"tool_calls": dict(call)}},
        }:
            function = call.get("function")
            function = function if isinstance(function, dict) else {}
            fields = {
                "id": call.get("id"),
                "name": function.get("name"),
                "arguments": function.get("arguments") or "",
            }
            index = record.get("index")
            return {
                "type": "tool-call-delta",
                "index": index if isinstance(index, int) else 0,
                "delta": {"tool_calls": [fields]},
            }
        case {"type": "message-end", "delta": dict(delta)}:
            reason = str(delta.get("finish_reason") or "stop")
            ended = {**delta, "finish_reason": _REASONS.get(reason, reason)}
            error = delta.get("error")
            problem = {"error": {"message": error}} if isinstance(error, str) and error else {}
            return {**record, "event": "message-end", "delta": ended, "data": {"delta": ended}, **problem}
    return record
