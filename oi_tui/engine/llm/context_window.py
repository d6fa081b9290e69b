"""Fits requests into a model's context window: estimates sizes, and omits the oldest messages."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from oi_tui.engine.llm import signed_reasoning
from oi_tui.engine.llm.base import Request

#: A token is about four characters; an image counts as this many characters.
CHARACTERS = 4
IMAGE = 4000


@dataclass(slots=True)
class MessageGroup:
    """Messages that stay or go together: a person's words, or one reply with all that came of it."""

    person: bool
    #: It stays, whatever else goes.
    pinned: bool = False
    sources: int = 0
    messages: list[dict[str, Any]] = field(default_factory=list)


def weigh(text: str) -> int:
    """Return the number of characters.

    Those outside of ASCII count as many as they have bytes, because they make more tokens.
    """
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def measure_size(message: Mapping[str, Any]) -> int:
    """Return the number of characters, with a little for what surrounds every message."""
    content = message["content"]
    if isinstance(content, str):
        size = weigh(content)
    else:
        size = sum(IMAGE if part["type"] == "image_url" else weigh(part["text"]) for part in content or ())
    size += weigh(message.get("reasoning_content", "")) + signed_reasoning.measure_size(message)
    for call in message.get("tool_calls", ()):
        size += weigh(call["function"]["arguments"]) + 60
    return size + 16


def estimate_tokens(request: Request) -> int:
    """Return the size of a whole request in tokens, a guess."""
    offered = len(json.dumps(list(request.tools))) if request.tools else 0
    return (sum(map(measure_size, request.messages)) + offered) // CHARACTERS


def compute_room(window: int, max_tokens: int | None) -> int:
    """Return characters that a request may have, what the reply needs being taken off."""
    reply = min(window // 5, 4096) if max_tokens is None else min(max_tokens, window // 2)
    return (window - reply - 25) * CHARACTERS


def trim(units: list[MessageGroup], room: int | None) -> int:
    """Take the oldest units out until the rest fits; returns how many messages went with them.

    The person's last words stay, and a request begins with words of the person wherever it can.
    """
    if room is None:
        return 0
    sizes = [sum(measure_size(message) for message in unit.messages) for unit in units]
    total = sum(sizes)
    if total <= room:
        return 0
    last = max((at for at, unit in enumerate(units) if unit.person), default=-1)
    dropped: set[int] = set()
    for at in range(len(units) - 1):
        fits = total <= room
        if at == last or units[at].pinned or (fits and (at > last or units[at].person)):
            if fits:
                break
            continue
        total -= sizes[at]
        dropped.add(at)
    left_out = sum(units[at].sources for at in dropped)
    units[:] = [unit for at, unit in enumerate(units) if at not in dropped]
    return left_out
