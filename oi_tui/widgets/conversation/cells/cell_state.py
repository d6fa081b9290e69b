"""The state of a cell in words: whether it ran, how it ended, and who decided that it may run."""

from oi_tui.engine import rerun
from oi_tui.messages import DETACHED, Message
from oi_tui.text import clean_line, format_duration
from oi_tui.widgets.conversation.rows import Span
from oi_tui.widgets.conversation.styles import Styles

_DECISIONS = {"approved": "you approved it", "edited": "you edited it first", "auto": "auto-run"}
_BEFORE_RUN = {"writing": "writing…", "queued": "not run yet", None: "not run yet"}
#: Ends that are followed by how long the run took.
_TIMED = ("failed", "interrupted", "lost")


def describe_state(message: Message, look: Styles, reason: str) -> list[Span]:
    """Return the state of code that is not running, with the reason of its end."""
    if message.state in _BEFORE_RUN:
        return [(_BEFORE_RUN[message.state], look.muted)]
    return [*_end(message, look, reason), *describe_run(message, look)]


def describe_run(message: Message, look: Styles) -> list[Span]:
    """Return what follows the state of code that began to run: its time, and the decision to run it."""
    spans = [("continued", look.muted)] if rerun.is_continued(message) else []
    if message.seconds is not None and message.state in _TIMED:
        spans.append((format_duration(message.seconds), look.muted))
    if message.decision in _DECISIONS:
        spans.append((_describe_decision(message), look.muted))
    return spans


def _end(message: Message, look: Styles, reason: str) -> list[Span]:
    with_reason = f"{message.state}: {reason}" if reason else f"{message.state}"
    match message.state:
        case "finished":
            took = format_duration(message.seconds) if message.seconds is not None else ""
            warning = [(reason, look.warning)] if reason else []
            return [(f"finished {took}".strip(), look.success), *warning]
        case "failed":
            return [(with_reason, look.error)]
        case "interrupted":
            is_detached = (message.reason or "").startswith(DETACHED)
            words = "left running" if is_detached else "interrupted, variables kept"
            return [(reason or words, look.warning)]
        case "lost":
            words = f"{clean_line(message.format or 'the process', 30)} ended and lost its variables"
            return [(f"{words}: {reason}" if reason else words, look.error)]
        case "rejected":
            return [(with_reason, look.warning)]
        case "skipped":
            return [(with_reason, look.muted)]
        case "unfinished":
            return [("the reply was cut off; this code cannot run", look.warning)]
        case _:
            return []


def _describe_decision(message: Message) -> str:
    """Return who decided that the code may run."""
    if message.decision == "auto" and message.grant:
        return f"auto-approved: {clean_line(message.grant, 80)}"
    if message.recipient == "user" and message.decision == "approved":
        # Code that ran again has a parent.
        is_foreign = message.role == "assistant" and message.parent is None
        return f"{'of another program, approved' if is_foreign else 'you ran it'}; the model does not see it"
    return _DECISIONS[message.decision or ""]
