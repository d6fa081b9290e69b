"""Asks the person at the host, and reads the answer."""

from collections.abc import Mapping
from typing import Any

from mcp.types import ElicitRequest, ElicitRequestFormParams, ElicitResult

from oi_tui.engine.export.formats import write_fence
from oi_tui.messages import InputRequested
from oi_tui.server.event_log import ApprovalQuestion
from oi_tui.text import clean_line, escape_controls

_RUN = "Run"
_DECISION = {
    "type": "object",
    "properties": {
        "decision": {"type": "string", "title": "Run this code?", "enum": [_RUN, "Do not run"]},
        "reason": {
            "type": "string",
            "title": "Reason",
            "description": "if not: why (optional)",
            # Hosts that make a form of this fill a field without a value with null, which is no text.
            "default": "",
        },
    },
    "required": ["decision"],
}
_LINE = {
    "type": "object",
    "properties": {"line": {"type": "string", "title": "Input"}},
    "required": ["line"],
}


def make_approval_question(question: ApprovalQuestion) -> ElicitRequest:
    """Ask whether code may run; the whole of it is shown."""
    message = question.request.message
    language = message.format or "code"
    parts = [
        f"Run this {language} code?",
        write_fence(escape_controls(message.content), language),
        *(escape_controls(words) for words in (question.request.caution, question.request.note) if words),
        f"It would run in {question.program}, in {question.folder}.",
    ]
    if question.findings:
        parts.append(f"What it does: {'; '.join(question.findings)}.")
    return _make_form("\n\n".join(parts), _DECISION)


def ask_for_line(request: InputRequested) -> ElicitRequest:
    """Ask for a line that the running program waits for."""
    return _make_form(
        f"The running program asks for input: {clean_line(request.prompt) or '(no prompt)'}", _LINE
    )


def is_yes(answer: ElicitResult | None) -> bool:
    """Return whether the answer is a clear yes."""
    return _read_content(answer).get("decision") == _RUN


def find_reason(answer: ElicitResult | None) -> str:
    """Return why the person said no, where they gave a reason."""
    reason = _read_content(answer).get("reason")
    return reason.strip() if isinstance(reason, str) else ""


def find_line(answer: ElicitResult | None) -> str | None:
    """Return the line that the person typed; None when they typed none."""
    line = _read_content(answer).get("line")
    return line.replace("\n", " ") if isinstance(line, str) else None


def _read_content(answer: ElicitResult | None) -> Mapping[str, Any]:
    return (answer.content or {}) if answer and answer.action == "accept" else {}


def _make_form(text: str, schema: dict[str, Any]) -> ElicitRequest:
    return ElicitRequest(params=ElicitRequestFormParams(message=text, requested_schema=schema))
