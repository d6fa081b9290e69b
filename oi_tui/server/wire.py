"""Converts the events of a session into JSON, for the current protocol."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from oi_tui import messages
from oi_tui.engine import events
from oi_tui.engine.events import FilesChanged, MessageRecorded, MessageStarted, RunReported
from oi_tui.messages import Message
from oi_tui.server.event_log import ApprovalQuestion, LogEntry, LogItem, QuestionAnswered, SessionEnded
from oi_tui.server.hosted_session import HostedSession
from oi_tui.text import clean_line, list_hidden_characters

#: The names of the events, by their classes. Clients get ApprovalQuestion in place of ApprovalRequested.
NAMES: Mapping[type[Any], str] = {
    events.TurnStarted: "turn.started",
    events.LibraryLoading: "model.loading",
    events.ModelCalled: "model.called",
    events.ModelConnecting: "model.connecting",
    events.MessageStarted: "message.started",
    events.MessageGrew: "message.grew",
    events.MessageRecorded: "message.recorded",
    ApprovalQuestion: "question.asked",
    QuestionAnswered: "question.answered",
    events.RunReported: "run.reported",
    events.FilesChanged: "files.changed",
    events.FileCopied: "file.copied",
    events.RetryScheduled: "model.retry",
    events.Noticed: "notice",
    events.UsageReported: "usage",
    events.TurnEnded: "turn.ended",
    SessionEnded: "session.ended",
}
#: The names of a run's reports, by their classes.
REPORTS: Mapping[type[Any], str] = {
    messages.Starting: "starting",
    messages.Started: "started",
    messages.LineReached: "line",
    messages.InputRequested: "input.requested",
    messages.InputReceived: "input.received",
    messages.Stopping: "stopping",
    messages.RunEnded: "ended",
    messages.Printed: "printed",
    messages.Displayed: "displayed",
    messages.ValueBegan: "value.began",
    messages.ValueEnded: "value.ended",
}


def encode_entry(entry: LogEntry, session: str) -> dict[str, Any]:
    """Return an event as an object, with its number. A client names the number to continue after it."""
    return {"number": entry.number, **encode_event(entry.item, session)}


def encode_event(item: LogItem, session: str) -> dict[str, Any]:
    """Return an event as an object, without its number."""
    head = {"event": NAMES[type(item)]}
    match item:
        case ApprovalQuestion():
            return {**head, "question": describe_question(item)}
        case MessageStarted(message) | MessageRecorded(message):
            return {**head, "message": describe_message(message, session)}
        case RunReported(id, report):
            return {**head, "id": id, "report": REPORTS[type(report)], **_read_values(report)}
        case FilesChanged(id, change_set):
            changes = [{"path": change.name, "what": change.what} for change in change_set.changes]
            return {**head, "id": id, "changes": changes, "note": change_set.note}
    return {**head, **_read_values(item)}


def describe_question(question: ApprovalQuestion) -> dict[str, Any]:
    """Return a question as an object: the exact code, its hash, and what the scan found."""
    message = question.request.message
    return {
        "id": question.id,
        "message_id": message.id,
        "language": message.format,
        "code": message.content,
        "hash": question.hash,
        "caution": question.request.caution,
        "note": question.request.note,
        "findings": list(question.findings),
        "harmless": question.harmless,
        "hidden_characters": list_hidden_characters(message.content),
        "program": question.program,
        "folder": question.folder,
        "answers": ["run", "edit", "reject", *(["always"] if question.offers else [])],
        "always": [clean_line(offer.offer, 200) for offer in question.offers],
    }


def describe_message(message: Message, session: str) -> dict[str, Any]:
    """Return a message as an object; of an image it has the address."""
    record = message.to_dict()
    if message.type == "image":
        record["content"] = ""
        record["url"] = f"/v1/sessions/{session}/images/{message.id}"
    return record


def describe_state(session: HostedSession) -> dict[str, Any]:
    """Return the whole state of a session; events after `number` continue from it."""
    state = session.snapshot()
    question, request = state.question, state.waits_for
    return {
        "event": "state",
        "number": state.number,
        **describe_session(session),
        "messages": [describe_message(message, session.id) for message in state.messages],
        "question": describe_question(question) if question else None,
        "input": {"prompt": request.prompt, "masked": request.masked} if request else None,
    }


def describe_session(session: HostedSession) -> dict[str, Any]:
    """Return a session as an entry of a list."""
    return {
        "id": session.id,
        "conversation": session.backend.conversation,
        "title": session.backend.title[:200],
        "created": session.created,
        "busy": session.busy,
        "waiting": session.question is not None or session.waits_for is not None,
    }


def _read_values(item: object) -> Mapping[str, Any]:
    return {field.name: getattr(item, field.name) for field in fields(item)}  # type: ignore[arg-type]
