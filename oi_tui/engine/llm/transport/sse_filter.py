"""Removes the lines of a streamed reply that no client can parse."""

import json
import re
from typing import Any

from oi_tui.engine.llm.transport.chunk_repair import (
    describe_page,
    extract_error_code,
    find_signed_parts,
    is_chunk,
    repair,
)
from oi_tui.engine.llm.transport.cohere_stream import convert_record, is_cohere
from oi_tui.engine.llm.transport.foreign_format import ForeignFormat, recognise
from oi_tui.engine.llm.transport.native_repair import NativeRepair

#: Lines of server-sent events that carry no data.
_ABOUT = ("event:", "retry:", ":")
#: Lines with the name of a field alone, which stand for the field with nothing in it.
_EMPTY = ("data:", "data", "event", "id", "retry")
#: The beginning of a line with data, also as proxies spell it: twice, in capitals, after a control character.
_DATA = re.compile(r"[\s\0\x1e]*(?:data[ \t]*:[ \t]*)+", re.IGNORECASE)
#: Data that only keeps a connection open: a word, or a value of JSON with nothing in it.
_NOTHING = re.compile(r"null|\"\"|\[\]|\[?[A-Za-z][A-Za-z_ -]{0,20}\]?")
#: Fields of records that `NativeRepair` may have to put right.
_PERHAPS_ODD = re.compile(
    r'"(?:content_block_st\w+|partial_json|functionCall|inlineData|fileData|executableCode'
    r'|codeExecutionResult|images|(?:message|content|tool-plan|tool-call|citation)-(?:start|delta|end))"'
)
#: The field in which llama.cpp sent errors.
_ERROR = "error:"
#: The line that says that the data of an event is an error.
_ERROR_EVENT = re.compile(r"\s*event\s*:\s*error\s*", re.IGNORECASE)
#: Data of an error that says nothing.
_NO_WORDS = ("", "null", '""', "[]", "{}")


class SseFilter:
    """Takes lines and gives back those that can be read, odd values in them put right.

    A line that is no JSON would end the reply with every client, although the next one may well be good. So
    it is held back: once a good line follows, it is dropped and counted; at the end of the reply it is given
    back, and the client says what is wrong with it.
    """

    def __init__(self) -> None:
        #: Chunks came in the format of OpenAI.
        self.chunks = False
        #: Records came in a format that marks the end of a reply, and one of them did.
        self.begun = self.ended = False
        #: The format of the first record that has another than OpenAI's.
        self.foreign: ForeignFormat | None = None
        #: The message and the number of an error that came among the records. Some clients pass over it.
        self.error: tuple[str, int | None] | None = None
        #: The provider's own word for why the reply ended.
        self.reason = ""
        #: How many lines were dropped since somebody asked; see `pop_gaps`.
        self._gaps = 0
        #: The signed parts that came since somebody asked; see `pop_signed`.
        self._signed: list[tuple[str, list[dict[str, Any]]]] = []
        self._native = NativeRepair()
        #: The records are those of Cohere, which LiteLLM reads only where nothing stands between them.
        self._is_cohere = False
        self._held: list[str] = []
        #: The data held since the last blank line: what is broken up into lines may be whole together.
        self._broken: list[str] = []
        #: Lines about an event whose data is still to come.
        self._about: list[str] = []
        #: The last line passed on was data, and no blank line has come after it.
        self._open = False

    def feed(self, line: str) -> list[str]:
        """Return the lines to pass on, given without their line breaks."""
        if match := _DATA.match(line):
            line = f"data: {line[match.end() :]}"
        bare = line.strip("\0\x1e \t\r\n\v\f")
        if bare in _EMPTY or bare.startswith("id:"):
            # OpenAI's client keeps an id for later events, and takes a comment after it for one without data.
            self._about.append(":")
            return []
        if self._is_cohere and not bare:
            return []
        if _PERHAPS_ODD.search(line) and (lines := self._repair_native(bare)) is not None:
            return lines
        if self.chunks and bare.startswith(_ERROR) and (error := _parse(bare[len(_ERROR) :])):
            bare = line = f"data: {json.dumps({'error': error})}"
        if bare.startswith("data:"):
            data = bare[5:].lstrip()
            is_error = data not in _NO_WORDS and _announce_error(self._about)
            if _NOTHING.fullmatch(data) and not self._broken and data != "[DONE]" and not is_error:
                self._about.append(":")
                return []
            if (records := _parse_chunks(data)) is not None:
                return [line for item in records for line in (*self.feed(f"data: {json.dumps(item)}"), "")]
        elif bare.startswith("{"):
            data = bare
        elif bare.startswith(_ABOUT):
            self._about.append(line)
            return []
        else:
            if not bare:
                error = self._take_plain_error()
                self._broken = []
                self._open = False
                if error:
                    return [error, line]
            return self._filter_other(line, bare)
        event = self.chunks or bare.startswith("data:")
        read = self._read(data, event=event)
        if read is None and self._broken:
            whole = "".join([*self._broken, data])
            read = self._read(whole, event=event)
            if read is not None:
                self._held = self._held[: len(self._held) - len(self._broken)]
                line, data = f"data: {whole}", whole
        if read is None:
            self._held += [*self._about, line]
            self._broken.append(data)
            self._about = []
            return []
        if self._held:
            self._gaps += 1
            self._held = []
        self._broken = []
        about, self._about = self._about, []
        if self._open:
            # Without a blank line in between, clients would take two records for one.
            about.insert(0, "")
        line = line if read is data else line[: line.index(data)] + read
        if self.chunks and not line.lstrip().startswith("data:"):
            line = f"data: {line.strip()}"
        self._open = line.lstrip().startswith("data:")
        return [*about, line]

    def _repair_native(self, line: str) -> list[str] | None:
        """Return what replaces a line in a provider's own format; None where it is not odd."""
        begin = line.find("{")
        record = _parse(line[begin:]) if begin >= 0 else None
        if record is not None and is_cohere(record):
            self._is_cohere, self._about = True, []
            read = self._read(json.dumps(convert_record(record)), event=True)
            return [] if read is None else [read]
        records = self._native.repair(record) if isinstance(record, dict) else None
        if records is None:
            return None
        if len(records) != 1:
            # The name of the event is not that of each of them.
            self._about = []
        return [text for item in records for text in (*self.feed(line[:begin] + json.dumps(item)), "")]

    def end(self) -> list[str]:
        """Return the lines that were held back to the end."""
        if error := self._take_plain_error():
            return [error, "", ""]
        lines = [*self._held, *(self._about if self._held else ())]
        self._held, self._about = [], []
        # What follows the end does not belong to the reply, such as a `[done]` in another spelling.
        return [] if self.ended else lines

    def pop_gaps(self) -> int:
        """Return and reset the number of dropped lines."""
        gaps, self._gaps = self._gaps, 0
        return gaps

    def pop_signed(self) -> list[tuple[str, list[dict[str, Any]]]]:
        """Return and reset the signed parts, each with the name of its field.

        Clients drop a chunk in which there is nothing else.
        """
        signed, self._signed = self._signed, []
        return signed

    def _take_plain_error(self) -> str:
        """Return the error that the event announces and tells in plain text, as clients read it; else ""."""
        if not self._broken or not _announce_error([*self._held, *self._about]):
            return ""
        text = "\n".join(self._broken)
        value = _parse(text)
        words = describe_page(text) or (value if isinstance(value, str) else text)
        code = value if isinstance(value, int) else None
        self._held, self._about, self._broken = [], [], []
        return f"data: {json.dumps({'error': {'message': words, 'code': code}})}"

    def _filter_other(self, line: str, bare: str) -> list[str]:
        about, self._about = self._about, []
        if not bare:
            # An event without data, such as a ping or `retry:`, is dropped, since some clients fail on it.
            about = [line for line in about if line.lstrip().startswith(":")]
        if self._held and bare:
            # The data continues, so that what was held may be the beginning of it.
            lines, self._held = self._held, []
            return [*lines, *about, line]
        if self._held:
            self._held += [*about, line]
            return []
        return [*about, line]

    def _read(self, data: str, *, event: bool) -> str | None:
        """Return the data as it can be read by a client; None if it cannot.

        `event`: it is that of an event; lines that are only JSON have another format of errors.
        """
        if data.startswith("[DONE]") or not data:
            self.ended = self.ended or bool(data)
            return data
        try:
            record = json.loads(data)
        except (ValueError, RecursionError):
            return None
        if isinstance(record, list) and len(record) == 1:
            [record] = record
            data = json.dumps(record)
        if not isinstance(record, dict):
            return None
        self.foreign = self.foreign or recognise(record)
        if (reason := read_end(record)) is not None:
            self._note_end(reason)
        announced = _announce_error(self._about)
        if not announced and not (is_chunk(record) and (event or "choices" in record)):
            return data
        self._signed += find_signed_parts(record)
        changed = repair(record, error=announced)
        self._note(record)
        return json.dumps(record) if changed else data

    def _note(self, record: dict[str, Any]) -> None:
        match record.get("error"):
            case {"message": str(message)} if message:
                self.error = message, extract_error_code(record)
        match record.get("choices"):
            case [dict(choice), *_] if "delta" in choice:
                self.chunks = True
                self._note_end(str(choice.get("finish_reason") or ""))

    def _note_end(self, reason: str) -> None:
        self.begun = True
        self.ended = self.ended or bool(reason)
        if self.reason in ("", "stop"):
            # What says more than that the reply stopped is kept.
            self.reason = reason or self.reason


def _announce_error(lines: list[str]) -> bool:
    """Return whether lines about an event say that its data is an error."""
    return any(map(_ERROR_EVENT.fullmatch, lines))


def _parse_chunks(data: str) -> list[dict[str, Any]] | None:
    """Return the chunks of a reply that are in one array; None for other data."""
    records = _parse(data) if data.startswith("[") else None
    if isinstance(records, list) and len(records) > 1 and all(map(_is_choice_chunk, records)):
        return records
    return None


def _is_choice_chunk(record: Any) -> bool:
    return isinstance(record, dict) and "choices" in record


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def read_end(record: dict[str, Any]) -> str | None:
    """Return the reason for the end of a reply in a record of a provider's own format; "" in one
    that continues.

    None for other records. The formats are those of Anthropic, Gemini, Ollama, Cohere, and OpenAI's
    responses.
    """
    match record:
        case {"type": "message_delta", "delta": {"stop_reason": reason}}:
            return str(reason or "")
        case {"type": "message-end", "delta": {"finish_reason": str(reason)}}:
            return reason
        case {"type": "message_stop" | "message-end"}:
            return "stop"
        case {"type": "message_start" | "content_block_delta" | "message-start" | "content-delta"}:
            return ""
        case {"type": "response.completed" | "response.incomplete" | "response.failed"}:
            return "stop"
        case {"type": str(kind)} if kind.startswith("response."):
            return ""
        case {"candidates": [dict(candidate), *_]}:
            return str(candidate.get("finishReason") or "")
        case {"promptFeedback": {"blockReason": str(reason)}}:
            return reason
        case {"done": bool(done), "message": _} | {"done": bool(done), "response": _}:
            return str(record.get("done_reason") or "stop") if done else ""
    return None
