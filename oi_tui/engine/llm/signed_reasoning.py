"""Keeps what a provider signed in a reply, to send it back with the tool calls of that reply.

Some models check that their own reasoning comes back unchanged when they get the result of a tool call, and
refuse the request or answer worse without it:

- `thinking_blocks`: Claude's reasoning with its signature, or encrypted (`redacted_thinking`).
- `reasoning_details`: the same for all models behind OpenRouter.
- `thought_signatures`: Gemini's signature of the words before a call. That of a call is in the call's id.
- `extra_content`: Gemini's signature of a call at its address for OpenAI clients, here with the call's id.

Only the model that wrote the reply gets these fields: others cannot read them, and may refuse them.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from oi_tui.engine.llm.base import Signed
from oi_tui.messages import Message

#: The fields of a message in a request that hold signed content.
FIELDS = ("thinking_blocks", "reasoning_details", "provider_specific_fields")
#: The entries of `reasoning_details` that arrive in pieces, and the text that grows.
_GROWING = {"reasoning.text": "text", "reasoning.summary": "summary"}
#: What LiteLLM puts between the id of a call and Gemini's signature of it.
SIGNATURE = "__thought__"


class SignedReasoning:
    """Collects the signed parts of one reply."""

    def __init__(self) -> None:
        self._entries: dict[str, list[dict[str, Any]]] = {}

    def add(self, part: Signed) -> None:
        """Take the next part of a field."""
        entries = self._entries.setdefault(part.name, [])
        for entry in part.entries:
            _ADD.get(part.name, _append)(entries, dict(entry))

    def content(self) -> dict[str, list[dict[str, Any]]] | None:
        """Return the entries of each field; None where nothing was signed."""
        fields = {
            name: [entry for entry in entries if not _is_open(entry)]
            for name, entries in self._entries.items()
        }
        return {
            name: entries for name, entries in fields.items() if entries and _can_be_sent(entries)
        } or None


def select_fields(reply: Sequence[Message], model: str) -> dict[str, Any]:
    """Return the fields that go back to `model` with the tool calls of its reply."""
    signed = _select_signed(reply, model)
    fields: dict[str, Any] = {
        name: list(signed[name]) for name in ("thinking_blocks", "reasoning_details") if signed.get(name)
    }
    if signatures := [entry.get("signature") for entry in signed.get("thought_signatures", ())]:
        fields["provider_specific_fields"] = {"thought_signatures": signatures}
    return fields


def collect_extra_content(reply: Sequence[Message], model: str) -> dict[str, Any]:
    """Return the `extra_content` that goes back with each call, by the id that the provider gave the call."""
    return {
        entry["id"]: entry["extra_content"]
        for entry in _select_signed(reply, model).get("extra_content", ())
        if isinstance(entry.get("id"), str) and "extra_content" in entry
    }


def measure_size(message: Mapping[str, Any]) -> int:
    """Return the characters of the signed fields of a message in a request."""
    return sum(len(json.dumps(message[name])) for name in FIELDS if name in message)


def parse_entries(stored: object) -> dict[str, list[dict[str, Any]]] | None:
    """Return signed content as it was stored; None where it is damaged or missing."""
    if not isinstance(stored, Mapping):
        return None
    sound = all(
        isinstance(name, str)
        and isinstance(entries, list)
        and all(isinstance(entry, dict) for entry in entries)
        and _can_be_sent(entries)
        for name, entries in stored.items()
    )
    return dict(stored) or None if sound else None


def _can_be_sent(entries: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a request can carry the entries; changed for that,
    they would no longer fit their signature.
    """
    try:
        json.dumps(entries, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):  # also half a character
        return False
    return True


def _select_signed(reply: Sequence[Message], model: str) -> Mapping[str, Any]:
    return next((m.signed for m in reply if m.signed and m.call and m.model == model), {})


def _append(kept: list[dict[str, Any]], entry: dict[str, Any]) -> None:
    if entry not in kept:
        kept.append(entry)


def _add_block(kept: list[dict[str, Any]], block: dict[str, Any]) -> None:
    """Join a piece of a thought to the pieces before it, until the signature comes.

    The signature comes with the whole thought (Anthropic) or with nothing (Bedrock).
    """
    if not (kept and _is_open(kept[-1]) and block.get("type") == "thinking"):
        kept.append(block)
        return
    previous_text, new_text = str(kept[-1].get("thinking") or ""), str(block.get("thinking") or "")
    whole = new_text if new_text and block.get("signature") else previous_text + new_text
    kept[-1] = {**kept[-1], **block, "thinking": whole}


def _is_open(entry: Mapping[str, Any]) -> bool:
    """Return whether the entry is a thought whose signature has not come."""
    return entry.get("type") == "thinking" and not entry.get("signature")


def _add_detail(kept: list[dict[str, Any]], detail: dict[str, Any]) -> None:
    """Join a piece to the entry that it continues: the one of its kind with the same index."""
    grows = _GROWING.get(str(detail.get("type")))
    entry = _find_begun(kept, detail) if grows else None
    if grows is None or entry is None:
        kept.append(detail)
        return
    text = f"{entry.get(grows) or ''}{detail.get(grows) or ''}"
    entry.update({name: value for name, value in detail.items() if value is not None})
    entry[grows] = text


def _find_begun(kept: Sequence[dict[str, Any]], detail: Mapping[str, Any]) -> dict[str, Any] | None:
    candidates: Iterator[dict[str, Any]] = reversed(kept)
    if detail.get("index") is None:
        candidates = iter(kept[-1:])
    return next(
        (
            entry
            for entry in candidates
            if (entry.get("type"), entry.get("index")) == (detail.get("type"), detail.get("index"))
        ),
        None,
    )


_ADD: Mapping[str, Callable[[list[dict[str, Any]], dict[str, Any]], None]] = {
    "thinking_blocks": _add_block,
    "reasoning_details": _add_detail,
}
