"""Converts the records of a server into the events of a turn."""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from typing import Any

from oi_tui.engine.events import (
    Event,
    FileCopied,
    FilesChanged,
    MessageGrew,
    MessageRecorded,
    MessageStarted,
    Noticed,
    RetryScheduled,
    RunReported,
    TurnEnded,
)
from oi_tui.engine.output.console import find_gap
from oi_tui.engine.storage.records import parse_message
from oi_tui.file_changes.snapshots import ChangeSet, FileChange
from oi_tui.messages import Message, Report
from oi_tui.server import wire

#: The classes of a run's reports, by the names that the server gives them.
_REPORTS = {name: kind for kind, name in wire.REPORTS.items()}


class RecordReader:
    """Remembers what was shown of each message, so that a state sent again shows only what is new."""

    def __init__(self) -> None:
        self._lengths: dict[str, int] = {}
        self._recorded: dict[str, str | None] = {}

    def events(self, record: Mapping[str, Any]) -> Iterator[Event]:
        """Return the events of a record. What this version does not know gives none."""
        try:
            yield from self._read_events(record)
        except (KeyError, TypeError, ValueError, AttributeError):
            yield Noticed("The server sent a record that this version does not understand.", "warning")

    def _read_events(self, record: Mapping[str, Any]) -> Iterator[Event]:
        match record.get("event"):
            case "state":
                yield from self._read_state(record)
            case "message.started":
                yield from self._read_message(record["message"], whole=False)
            case "message.grew":
                message_id, text = str(record["id"]), str(record["text"])
                self._lengths[message_id] = self._lengths.get(message_id, 0) + len(text)
                yield MessageGrew(message_id, text)
            case "message.recorded":
                yield from self._read_message(record["message"], whole=True)
            case "run.reported" if kind := _REPORTS.get(str(record.get("report"))):
                yield RunReported(str(record["id"]), _build_report(kind, record))
            case "files.changed":
                yield FilesChanged(str(record["id"]), _read_change_set(record))
            case "file.copied":
                yield FileCopied(str(record["name"]), int(record["done"]), int(record["size"]))
            case "model.retry":
                yield RetryScheduled(str(record["reason"]), float(record["seconds"]))
            case "notice":
                yield Noticed(str(record["text"]))
            case "turn.ended":
                reason = record.get("reason")
                yield TurnEnded(record["outcome"], None if reason is None else str(reason))

    def _read_state(self, record: Mapping[str, Any]) -> Iterator[Event]:
        messages = list(record["messages"])
        for number, item in enumerate(messages):
            yield from self._continue_after_gap(item)
            # The newest one may still be written.
            yield from self._read_message(item, whole=number < len(messages) - 1 or not record.get("busy"))

    def _continue_after_gap(self, item: Mapping[str, Any]) -> Iterator[Event]:
        """Continue long output after the part that this terminal was too slow for."""
        message = parse_message(item)
        if message is None or message.type != "console" or message.id in self._recorded:
            return
        length, missing = self._lengths.get(message.id), find_gap(message.content)
        if length is not None and missing is not None and length >= missing:
            self._lengths[message.id] = max(length, len(message.content))
            yield MessageGrew(message.id, f"\n{message.content[missing:]}")

    def _read_message(self, item: Mapping[str, Any], *, whole: bool) -> Iterator[Event]:
        message = parse_message(item)
        if message is None:
            return
        if message.role != "user":
            yield from self._read_growth(message)
        if whole and self._recorded.get(message.id, "") != message.state:
            self._recorded[message.id] = message.state
            yield MessageRecorded(message)

    def _read_growth(self, message: Message) -> Iterator[Event]:
        """Show the part of a message that was not shown yet."""
        length = self._lengths.get(message.id)
        if length is None:
            yield MessageStarted(message)
        if len(message.content) > (length or 0) and message.type in ("message", "console"):
            yield MessageGrew(message.id, message.content[length or 0 :])
        self._lengths[message.id] = max(length or 0, len(message.content))


def _build_report(kind: type[Any], record: Mapping[str, Any]) -> Report:
    """Build a report from the fields of a record that it has."""
    values = {item.name: record[item.name] for item in fields(kind) if item.name in record}
    missing = [
        item.name
        for item in fields(kind)
        if item.name not in values and item.default is MISSING and item.default_factory is MISSING
    ]
    if missing:
        raise ValueError(f"no {missing[0]}")
    report: Report = kind(**values)
    return report


def _read_change_set(record: Mapping[str, Any]) -> ChangeSet:
    """Read which files changed. What they held is known on the server only."""
    changes = (_read_change(str(item["path"]), str(item["what"])) for item in record["changes"])
    return ChangeSet(str(record["id"]), "", tuple(changes), str(record.get("note") or ""))


def _read_change(path: str, what: str) -> FileChange:
    match what:
        case "created" | "deleted":
            return FileChange(path, what)
    return FileChange(path, "changed")


def find_prompt(event: Event) -> Message | None:
    """Return the message where the event says what a person wrote."""
    match event:
        case MessageRecorded(Message(role="user", type="message") as message):
            return message
    return None
