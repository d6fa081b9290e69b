"""The undo history: messages removed from the end, which can be restored until the conversation continues."""

from collections.abc import Sequence
from dataclasses import dataclass

from oi_tui.messages import Message

#: How many steps are remembered.
MOST = 100


@dataclass(frozen=True, slots=True)
class UndoHistory:
    """Messages that were dropped, and the number of messages left, with the id of the last one."""

    dropped: tuple[Message, ...]
    left: tuple[int, str | None]


def make_undo(dropped: Sequence[Message], count: int, last: str | None) -> UndoHistory | None:
    """Make the record of an undo that left `count` messages; None if only a summary was dropped."""
    if all(message.covers is not None for message in dropped):
        return None
    return UndoHistory(tuple(dropped), (count, last))


def list_restorable(steps: Sequence[UndoHistory], messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages of the last removal that can be restored; () once the conversation continued.

    A step that is wholly undone makes room for the one before it.
    """
    there = {message.id for message in messages}
    for step in reversed(steps):
        dropped = {message.id for message in step.dropped}
        count = len(messages)
        while count and messages[count - 1].id in dropped:
            count -= 1
        if step.left != (count, messages[count - 1].id if count else None):
            return ()
        if missing := tuple(message for message in step.dropped if message.id not in there):
            return missing
    return ()
