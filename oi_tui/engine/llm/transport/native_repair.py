"""Repairs records in the formats of Anthropic, Gemini and Ollama where LiteLLM would lose a part of them."""

import json
from typing import Any

from oi_tui.engine.llm.transport.content_parts import IMAGE_NOT_SHOWN, describe_part

#: Parts of Gemini's messages that LiteLLM passes over.
_PASSED_OVER = ("executableCode", "codeExecutionResult", "fileData")


class NativeRepair:
    """Reads the records of one reply in turn, and puts right what is odd in them."""

    def __init__(self) -> None:
        #: The input of a call that came with the beginning of its block, by the block's number.
        self._inputs: dict[int, str] = {}
        #: The blocks of calls that the server carries out itself.
        self._server_calls: set[int] = set()

    def repair(self, record: dict[str, Any]) -> list[dict[str, Any]] | None:
        """Return the records to read in place of this one; None for itself as it is."""
        match record:
            case {"type": "content_block_start", "index": int(index), "content_block": dict(block)}:
                return self._begin_block(record, index, block)
            case {"type": "content_block_delta", "index": int(index), "delta": {"partial_json": part}}:
                if part:
                    # The server sends the input in pieces, too.
                    self._inputs.pop(index, None)
                return [] if index in self._server_calls else None
            case {"type": "content_block_stop", "index": int(index)} if index in self._inputs:
                delta = {"type": "input_json_delta", "partial_json": self._inputs.pop(index)}
                return [{"type": "content_block_delta", "index": index, "delta": delta}, record]
            case {"candidates": [{"content": {"parts": [*parts]}}, *_]}:
                repaired = [_repair_part(part) for part in parts]
                return [record] if True in repaired else None
            case {"message": {"images": [_, *_] as images} as message, "done": bool()}:
                message["content"] = (message.get("content") or "") + len(images) * IMAGE_NOT_SHOWN
                del message["images"]
                return [record]
        return None

    def _begin_block(
        self, record: dict[str, Any], index: int, block: dict[str, Any]
    ) -> list[dict[str, Any]] | None:
        kind, given = block.get("type"), block.get("input")
        if kind == "server_tool_use":
            self._server_calls.add(index)
            return [{**record, "content_block": {"type": "text", "text": describe_part(kind)}}]
        if kind == "tool_use" and isinstance(given, dict) and given:
            self._inputs[index] = json.dumps(given)
            return [{**record, "content_block": {**block, "input": {}}}]
        return None


def _repair_part(part: Any) -> bool:
    """Repair a part of a message of Gemini, in place. Returns whether it was odd."""
    if not isinstance(part, dict):
        return False
    call = part.get("functionCall")
    if isinstance(call, dict) and call.get("args") is None:
        call["args"] = {}
        return True
    kind = next((name for name in _PASSED_OVER if name in part), None)
    data = part.get("inlineData")
    if isinstance(data, dict):
        medium = str(data.get("mimeType") or "inlineData")
        text = IMAGE_NOT_SHOWN if medium.startswith("image/") else describe_part(medium)
    elif kind is not None:
        text = describe_part(kind)
    else:
        return False
    part.clear()
    part["text"] = text
    return True
