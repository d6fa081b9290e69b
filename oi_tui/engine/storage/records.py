"""The records of a conversation's file, one JSON object on each line.

The first record is the header, `{"oi_tui": 1, "id": …, "created": …, "cwd": …, "model": …, "title": …}`.
After it come `{"message": {…}}` (a known id replaces what was there, in its old place), `{"grow": ID,
"at": N, "text": …}` (the message continues with `text` after its first N characters), `{"forget": [ID, …]}`
and `{"title": …}`. The order of records is the order of events; no time stamp decides anything. Every record
ends with `"n"`, the number of messages so far, so that a list can tell it from the last bytes of the file,
and with `"crc"`, the CRC-32 of the record without it. Records of older files have none, and are read too.

The header's number is the version that the records after it are written in. A file of an earlier version is
never rewritten: its records are brought up to date as they are read, and before the first new record another
header is added. A file with records of a version newer than ours is not written to; it is opened as a copy.
To make version 2: raise `VERSION`, put into `UPGRADES` at 1 what makes a record of version 1 one of version 2
(or None of it), and freeze a file of version 2 in
`tests/unit/storage/test_old_formats.py` beside that of version 1.
"""

import contextlib
import json
import math
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, cast, get_args

from oi_tui.engine.llm.signed_reasoning import parse_entries
from oi_tui.engine.storage.undo_history import MOST, UndoHistory, make_undo
from oi_tui.messages import Decision, Message, MessageType, Role, State, make_message_id
from oi_tui.text import clean_line

VERSION = 1
#: Upgrades a record to the next version, by the version that it was written in.
UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any] | None]] = {}

_KINDS = ("oi_tui", "message", "grow", "forget", "title")
#: Where a record begins. Within a JSON string the quote would have a backslash in front of it.
_RECORD_START = re.compile(r'\{"(?:' + "|".join(_KINDS) + r')":')
#: The end of a record that has a checksum.
_CHECKSUM = re.compile(rb',"crc":"([0-9a-f]{8})"\}$')
_ROLES, _TYPES = frozenset(get_args(Role)), frozenset(get_args(MessageType))
_STATES, _DECISIONS = frozenset(get_args(State)), frozenset(get_args(Decision))
_KNOWN_FIELDS = frozenset(f.name for f in fields(Message)) - {"unknown"}
#: The final state, and the reason, of code that was in a passing state when the application ended.
_ENDED: Mapping[str | None, tuple[State, str | None]] = {
    "writing": ("unfinished", "The application ended before this was complete."),
    "queued": ("skipped", "The application ended before it could ask."),
    "running": ("lost", "The application ended while this ran."),
    "waiting": ("lost", "The application ended while this waited for input."),
}
#: The reasons that reading adds; the code itself did not report them.
ENDED_REASONS = frozenset(reason for _, reason in _ENDED.values())


@dataclass(slots=True)
class JournalContents:
    """The contents of a file: header, messages by id in order, and what could not be used."""

    header: dict[str, Any] = field(default_factory=dict)
    messages: dict[str, Message] = field(default_factory=dict)
    #: What was taken back, step by step.
    taken_back: list[UndoHistory] = field(default_factory=list)
    #: The ids of the messages that were taken out, for good or not.
    forgotten: set[str] = field(default_factory=set)
    #: Records that this version does not know, unchanged.
    foreign: list[bytes] = field(default_factory=list)
    #: How many lines are not as they were written.
    damaged: int = 0
    #: How many messages are missing: the last record says how many there should be.
    missing: int = 0
    #: Whether records that were saved at the end are not there.
    has_lost_end: bool = False
    #: Whether the last reply was still being written.
    is_cut_off: bool = False
    #: How many messages lack a piece of their text.
    gaps: int = 0
    #: Whether a record counts fewer messages than there are before it.
    disordered: bool = False
    #: The version of the newest records.
    version: int = VERSION

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices for the user about the file."""
        notices_read = []
        if self.damaged:
            lines = "1 line" if self.damaged == 1 else f"{self.damaged:,} lines"
            notices_read.append(
                f"This conversation's file is damaged in {lines}. The readable part is shown; "
                "the file is kept as it is."
            )
        if self.has_lost_end and (self.missing or not self.damaged):
            notices_read.append(self._describe_lost_end())
        # A line that is damaged, or another version's, is said to be so; these are lines that are not there.
        elif self.missing and not self.damaged and not self.foreign:
            some = "1 message is" if self.missing == 1 else f"{self.missing:,} messages are"
            notices_read.append(f"{some} missing from this conversation's file. The rest is shown.")
        elif self.disordered and not self.damaged and not self.foreign:
            notices_read.append(
                "The messages may be in the wrong order: entries of this conversation's file are missing or "
                "doubled, or two programs wrote it."
            )
        if self.is_cut_off and not self.has_lost_end:
            notices_read.append("The last reply is not complete: oi-tui ended while it was written.")
        if self.gaps and not self.damaged:
            some = "1 message" if self.gaps == 1 else f"{self.gaps:,} messages"
            notices_read.append(f"Part of {some} is missing from this conversation's file.")
        if self.foreign:
            some = "1 entry" if len(self.foreign) == 1 else f"{len(self.foreign):,} entries"
            notices_read.append(
                f"{some} of this conversation came from another version of oi-tui and cannot be shown."
            )
        return tuple(notices_read)

    def _describe_lost_end(self) -> str:
        lost = "The last change"
        if self.missing:
            lost = "1 message" if self.missing == 1 else f"{self.missing:,} messages"
            lost = f"{lost}, saved last,"
        return (
            "The end of this conversation's file was lost, or an older copy has replaced it. "
            f"{lost} cannot be found. The rest is shown."
        )


def make_copy_title(title: str) -> str:
    """Return the title of a copy of the conversation."""
    return f"{title} (copy)".strip()


def make_title(message: Message) -> str:
    """Make a title of a person's request: its first words on one line."""
    text = clean_line(
        message.content if message.type == "message" else f"{message.type}: {message.content}", 200
    )
    if len(text) <= 60:
        return text
    return text[:60].rsplit(" ", 1)[0].rstrip(" ,;:.") + "…"


def parse(raw: bytes) -> JournalContents:
    """Read a journal's bytes. Never raises."""
    contents = JournalContents()
    growth = _Growth(contents.messages)
    has_checksums = False
    #: How many messages there should be after the last record that says so.
    count = 0
    for whole in _split_lines(raw):
        line = whole.strip(b"\0\r \t")
        if not line:
            contents.damaged += b"\0" in whole
            continue
        records = _read_line(line)
        is_sound = _is_checksum_right(line)
        # Among lines with a checksum, one that parses and has none was changed, or is another version's.
        has_lost_checksum = is_sound is None and has_checksums and _is_known(records.records)
        contents.damaged += records.torn or is_sound is False or has_lost_checksum
        has_checksums = has_checksums or is_sound is not None
        for record in records.records:
            _apply(record, line, contents, growth)
            stated = record.get("n")
            # A number that is not as it was written counts for nothing.
            if isinstance(stated, int) and is_sound is not False:
                count = stated
                contents.disordered = contents.disordered or stated < len(contents.messages)
    last = next(reversed(contents.messages.values()), None)
    # A reply that is complete is saved again as a whole.
    contents.is_cut_off = last is not None and _is_reply(last) and growth.has(last.id)
    growth.settle()
    contents.missing = max(0, count - len(contents.messages))
    contents.gaps = growth.gaps
    contents.messages = {key: _end_message(message) for key, message in contents.messages.items()}
    return contents


def _is_reply(message: Message) -> bool:
    """Return whether it is what a model says or thinks; code has a state that says whether it is complete."""
    return message.role == "assistant" and message.type in ("message", "reasoning")


def _split_lines(raw: bytes) -> Iterator[bytes]:
    """Yield the lines, one at a time: a large file is held once, not twice."""
    start = 0
    while start < len(raw):
        end = raw.find(b"\n", start)
        end = len(raw) if end < 0 else end
        yield raw[start:end]
        start = end + 1


def _upgrade(record: dict[str, Any], version: int) -> dict[str, Any] | None:
    """Upgrade a record of an earlier version; None where nothing is left of it."""
    updated: dict[str, Any] | None = record
    while updated is not None and version < VERSION:
        upgrade = UPGRADES.get(version)
        updated = upgrade(updated) if upgrade else updated
        version += 1
    return updated


def _is_checksum_right(line: bytes) -> bool | None:
    """Return whether a record is as it was written; None where it has no checksum."""
    checksum = _CHECKSUM.search(line[-20:])
    if checksum is None:
        return None
    payload = memoryview(line)[: len(line) - len(checksum[0])]
    return zlib.crc32(b"}", zlib.crc32(payload)) == int(checksum[1], 16)


def _is_known(found: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether all records are of kinds that this version writes."""
    return all(
        any(kind in record for kind in _KINDS)
        and (not isinstance(record.get("message"), dict) or parse_message(record["message"]) is not None)
        for record in found
    )


class _Line(NamedTuple):
    """The records of a line: one, or what can be saved of a torn line."""

    records: list[dict[str, Any]]
    torn: bool


def _read_line(line: bytes) -> _Line:
    records = _read_records(line)
    for record in records.records:
        record.pop("crc", None)
    return records


def _read_records(line: bytes) -> _Line:
    if line.startswith(b"{"):
        with contextlib.suppress(ValueError, RecursionError):
            record = json.loads(line)
            if isinstance(record, dict):
                return _Line([record], torn=False)
    if b'{"' not in line:  # as nearly all lines of a file that is not ours
        return _Line([], torn=True)
    text = line.decode("utf-8", "replace").replace("\0", "")
    decoder = json.JSONDecoder(strict=False)
    records, position = [], 0
    while match := _RECORD_START.search(text, position):
        try:
            record, position = decoder.raw_decode(text, match.start())
            records.append(record)
        except (ValueError, RecursionError):
            position = match.start() + 1
    return _Line(records, torn=True)


class _Growth:
    """Appended text of messages, in pieces: a long reply is written in many thousands of them."""

    def __init__(self, messages: dict[str, Message]) -> None:
        self._messages = messages
        self._pieces: dict[str, list[str]] = {}
        self._lengths: dict[str, int] = {}
        self._with_gaps: set[str] = set()

    @property
    def gaps(self) -> int:
        """How many messages lack a piece of their text."""
        return len(self._with_gaps & self._messages.keys())

    def has(self, id: str) -> bool:
        """Return whether text was added to the message since it was saved as a whole."""
        return id in self._pieces

    def add(self, id: str, at: object, text: str) -> None:
        """Note that the message continues with the text after its first `at` characters."""
        if id not in self._messages:
            return
        pieces = self._pieces.get(id)
        if pieces is None:
            pieces = self._pieces[id] = [self._messages[id].content]
            self._lengths[id] = len(pieces[0])
        if isinstance(at, int) and 0 <= at < self._lengths[id]:
            pieces[:] = ["".join(pieces)[:at]]
            self._lengths[id] = at
        elif isinstance(at, int) and at > self._lengths[id]:
            self._with_gaps.add(id)
        pieces.append(text)
        self._lengths[id] += len(text)

    def forget(self, id: str) -> None:
        """Note that the message was removed or replaced."""
        self._pieces.pop(id, None)
        self._with_gaps.discard(id)

    def settle(self) -> None:
        """Add the appended text to the messages."""
        for key, pieces in self._pieces.items():
            self._messages[key] = self._messages[key].replace(content="".join(pieces))
        self._pieces.clear()


def _apply(record: dict[str, Any], line: bytes, contents: JournalContents, growth: _Growth) -> None:
    messages = contents.messages
    version = record.get("oi_tui")
    if isinstance(version, int) and not isinstance(version, bool) and version > 0:
        contents.version = version
    if contents.version < VERSION:
        brought = _upgrade(record, contents.version)
        if brought is None:
            return
        record = brought
    match record:
        case {"oi_tui": _}:
            contents.header = {**contents.header, **record}
        case {"message": dict(stored)}:
            message = parse_message(stored)
            if message is None:
                contents.foreign.append(line)
            else:
                messages[message.id] = message
                contents.forgotten.discard(message.id)
                growth.forget(message.id)
        case {"grow": str(key), "text": str(text)}:
            growth.add(key, record.get("at"), text)
        case {"forget": list(keys)}:
            growth.settle()
            ids = [key for key in keys if isinstance(key, str)]
            contents.forgotten.update(ids)
            dropped = [_end_message(messages.pop(key)) for key in dict.fromkeys(ids) if key in messages]
            last = next(reversed(messages), None)
            if step := make_undo(dropped, len(messages), last):
                contents.taken_back = [*contents.taken_back, step][-MOST:]
        case {"title": str(title)}:
            contents.header["title"] = title
        case _:
            contents.foreign.append(line)


def parse_message(stored: Mapping[str, Any]) -> Message | None:
    """Read a stored message; None for a kind that this version does not know.

    A field with a value of the wrong sort is left out; fields that are not ours are kept in `unknown`.
    """
    role, kind, content = stored.get("role"), stored.get("type"), stored.get("content", "")
    if not isinstance(role, str) or not isinstance(kind, str) or role not in _ROLES or kind not in _TYPES:
        return None
    if content is None:
        content = ""
    elif not isinstance(content, str):
        return None
    state, decision, recipient = stored.get("state"), stored.get("decision"), stored.get("recipient")
    return Message(
        role=cast("Role", role),
        type=cast("MessageType", kind),
        content=content,
        format=_read_text(stored.get("format")),
        recipient=recipient if recipient in ("user", "assistant") else None,
        id=_read_text(stored.get("id")) or make_message_id(),
        created=_read_number(stored.get("created")) or 0.0,
        parent=_read_text(stored.get("parent")),
        state=cast("State", state) if isinstance(state, str) and state in _STATES else None,
        decision=cast("Decision", decision) if isinstance(decision, str) and decision in _DECISIONS else None,
        proposed=_read_text(stored.get("proposed")),
        reason=_read_text(stored.get("reason")),
        grant=_read_text(stored.get("grant")),
        where=_read_text(stored.get("where")),
        seconds=_read_number(stored.get("seconds")),
        call=_read_text(stored.get("call")),
        covers=_read_text(stored.get("covers")),
        reply=_read_text(stored.get("reply")),
        model=_read_text(stored.get("model")),
        signed=parse_entries(stored.get("signed")),
        view=_read_text(stored.get("view")),
        table=_read_text(stored.get("table")),
        unknown={key: value for key, value in stored.items() if key not in _KNOWN_FIELDS},
    )


def _read_text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _read_number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _end_message(message: Message) -> Message:
    if message.state not in _ENDED:
        return message
    state, reason = _ENDED[message.state]
    return message.replace(state=state, reason=message.reason or reason)


def encode(record: Mapping[str, object]) -> bytes:
    """Return the record as a line of the file, with its checksum and newline."""
    try:
        body = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # a lone surrogate
        body = json.dumps(record, separators=(",", ":")).encode()
    return b'%b,"crc":"%08x"}\n' % (body[:-1], zlib.crc32(body))
