"""Finds earlier code that can run again after its variables are lost."""

from collections.abc import Sequence

from oi_tui.messages import Message, make_message_id
from oi_tui.text import clean_line, format_duration

#: How code begins that keeps or restores variables: to run it again would change what is kept.
_SNAPSHOT = ("%snapshot ", "save.image(", 'cat("Restored", length(load(')


def list_completed(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the code that finished, in order, each once however often it ran.

    What failed, was stopped or was rejected left nothing to bring back.
    """
    return tuple(
        message
        for message in messages
        if message.type == "code"
        and message.role != "computer"
        and message.state == "finished"
        and message.decision != "rejected"
        and message.parent is None
        and not message.content.startswith(_SNAPSHOT)
    )


def has_not_run(message: Message) -> bool:
    """Return whether this is code of the model about which nothing was decided yet."""
    return message.type == "code" and message.role == "assistant" and message.state in (None, "queued")


def copy_for_rerun(earlier: Message) -> Message:
    """Return the same code as a new message of the person's own, which the model does not see."""
    return Message(
        role="user",
        type="code",
        format=earlier.format,
        content=earlier.content,
        recipient="user",
        parent=earlier.id,
        state="queued",
    )


def copy_for_following(earlier: Message | None, language: str, code: str, id: str) -> Message:
    """Return a new message for code that was left running; `earlier` may be in another conversation.

    Without it, the model does not see the code: it may be the person's own.
    """
    parent = id or make_message_id()
    if earlier is None:
        return Message(
            role="assistant",
            type="code",
            format=language,
            content=code,
            recipient="user",
            parent=parent,
            decision="approved",
        )
    return Message(
        role=earlier.role,
        type="code",
        format=earlier.format,
        content=earlier.content,
        recipient=earlier.recipient,
        parent=parent,
        decision=earlier.decision,
        grant=earlier.grant,
    )


def is_continued(message: Message) -> bool:
    """Return whether this cell shows how code went on that was left running."""
    return message.is_cell and message.role == "assistant" and message.parent is not None


def sum_seconds(codes: Sequence[Message]) -> float:
    """Return the total running time of the codes."""
    return sum(code.seconds or 0.0 for code in codes)


def describe_lost(
    messages: Sequence[Message], way_back: str = "%rerun asks, and runs these cells again in order."
) -> str:
    """Describe which variables of an earlier conversation are lost; "" where nothing ran."""
    codes = list_completed(messages)
    if not any(message.type == "code" and message.seconds is not None for message in messages) and not codes:
        return ""
    text = "This is an earlier conversation. Its variables are gone"
    if not codes:
        return f"{text}."
    parts = []
    for language in dict.fromkeys(code.format or "" for code in codes):
        own = [code for code in codes if (code.format or "") == language]
        took = f", {format_duration(sum_seconds(own))}" if sum_seconds(own) else ""
        parts.append(f"{clean_line(language, 30)} ({count_cells(len(own))}{took})")
    return f"{text}: {'; '.join(parts)}. {way_back}"


def note_for_model(messages: Sequence[Message]) -> str:
    """Tell the model what its languages have forgotten of these messages; "" where nothing ran."""
    count = len(list_completed(messages))
    if not count:
        return ""
    which = "first piece" if count == 1 else f"first {count:,} pieces"
    return (
        f"The languages were restarted after the {which} of code that ran in this conversation, and their "
        "variables are gone. Unless they were restored since, define again what you need."
    )


def count_cells(count: int) -> str:
    """Return "1 cell" or "2 cells"."""
    return "1 cell" if count == 1 else f"{count:,} cells"
