"""Exports a conversation as plain text, for the scrollback of a terminal.

Marks in the first column are the program's own: "> " the person, "[" code, "| " output. What the model says
is indented, so that it cannot look like any of them.
"""

from collections.abc import Sequence

from oi_tui.engine.output.plain import make_plain
from oi_tui.messages import Message
from oi_tui.text import clean_line, escape_controls

_ENDS = {None: "", "finished": "", "queued": "not run"}


def write_plain_text(messages: Sequence[Message]) -> str:
    """Return messages, code and output as text without terminal control characters; "" for no messages."""
    return "\n\n".join(part for message in messages if (part := _write_part(message)))


def _write_part(message: Message) -> str:
    text = escape_controls(make_plain(message.content)).strip("\n")
    match message.type:
        case "console":
            return _write_separator("| ", text) if text.strip() else ""
        case "image":
            return "| (an image)"
        case "reasoning":
            return ""
        case "code":
            state = _ENDS.get(message.state, str(message.state))
            reason = clean_line(message.reason or "")
            ended = f" ({state}{': ' + reason if reason else ''})" if state else ""
            return f"[{clean_line(message.format or 'code', 30)}]{ended}\n{_write_separator('    ', text)}"
        case _:
            return _write_separator("> " if message.role == "user" else "  ", text)


def _write_separator(mark: str, text: str) -> str:
    return "\n".join(f"{mark}{line}".rstrip() for line in text.split("\n"))
