"""Finds the newest messages that can fit into a request, without writing out the rest."""

from collections.abc import Sequence

from oi_tui.engine.llm.compaction import split_at_summary
from oi_tui.engine.llm.context_window import CHARACTERS
from oi_tui.messages import Message


def select_recent(messages: Sequence[Message], window: int) -> tuple[Sequence[Message], int]:
    """Return the messages that may fit into a window of `window` tokens, and how many were left out.

    Some more may have to go once they are written. The work for a request would otherwise grow with every
    turn, for messages that are not sent.
    """
    summary, rest = split_at_summary(messages)
    start = _start(rest, window * CHARACTERS)
    if start == 0:
        return messages, 0
    head = [summary] if summary else []
    return [*head, *rest[start:]], sum(map(_is_for_model, rest[:start]))


def _start(messages: Sequence[Message], room: int) -> int:
    """Return the index to begin at: a user message with more after it than fits."""
    total = 0
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if message.role != "computer" and message.type in ("message", "code") and not message.recipient:
            # Output is shortened when it is written, and counts for nothing here.
            total += len(message.content.strip())
            if total > room and message.role == "user" and message.type == "message":
                return at
    return 0


def _is_for_model(message: Message) -> bool:
    """Return whether the message is one that a model would be given."""
    return message.recipient != "user" and message.type != "reasoning"
