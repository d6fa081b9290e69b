"""Repairs the bytes of a reply before a library reads them, and keeps their beginning for errors.

Clients skip whatever is no event: a web page, an error in a body with status 200, or a reply that was not
streamed looks to them like a reply with nothing in it.
"""

import codecs
import json
import re
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

from oi_tui.engine.llm.transport.chunk_repair import (
    describe_page,
    extract_error_code,
    extract_error_text,
    find_signed_fields,
    is_error,
    join_text,
    remove_traceback,
    repair,
)
from oi_tui.engine.llm.transport.foreign_format import ForeignFormat, recognise
from oi_tui.engine.llm.transport.sse_filter import SseFilter

#: What the providers' own words for the end of a reply mean where it is not complete.
_INCOMPLETE = {
    "model_context_window_exceeded": "length",
    "error_limit": "length",
    "safety": "content_filter",
    "recitation": "content_filter",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
    "spii": "content_filter",
    "sensitive": "content_filter",
    "refusal": "content_filter",
    "guardrail_intervened": "content_filter",
    "error_toxic": "content_filter",
    "malformed_function_call": "malformed",
    "malformed_response": "malformed",
    "unexpected_tool_call": "malformed",
    "too_many_tool_calls": "malformed",
    "missing_thought_signature": "malformed",
    "error": "given_up",
    "abort": "given_up",
    "aborted": "given_up",
    "cancelled": "given_up",
    "canceled": "given_up",
    "user_cancel": "given_up",
    "pause_turn": "given_up",
    "repetition": "given_up",
    "timeout": "given_up",
    "network_error": "given_up",
    "insufficient_system_resource": "given_up",
}
#: Other words for an end at a limit, such as Mistral's `model_length`, and for one by a filter.
_AT_LIMIT = re.compile(r"length|limit|(?:max|maximum)_.*tokens")
_BY_FILTER = re.compile(r"content_?filter")
#: Comments before a reply in one piece.
_COMMENTS = re.compile(r"\A(?:\s*:[^\n]*\n)+")
#: A line with data.
_DATA = re.compile(r"^data:(.*)$", re.MULTILINE)
#: A line of an event. A text in JSON may have the same word, but not at the beginning of a line.
_HAS_EVENTS = re.compile(rb"(?:\A(?:\xef\xbb\xbf)?|[\r\n])[\s\0\x1e]*data[ \t]*:", re.IGNORECASE)
#: How many bytes are kept to find out what they are.
_KEPT = 1_000_000


class RawReply:
    """Reads along with a stream of LiteLLM; does nothing where the stream does not show what it reads."""

    def __init__(self, stream: Any, alive: Callable[[], None] = lambda: None) -> None:
        """`alive` is called whenever something arrives, be it only a comment that keeps the line open."""
        self._note_arrival = alive
        self._beginning = bytearray()
        self._is_event_stream = False
        self._filter = SseFilter()
        source = getattr(stream, "completion_stream", None)
        make = getattr(stream, "make_call", None)
        if source is not None or make is None:
            self._follow(source)
            return

        async def made(**arguments: Any) -> Any:
            source = await make(**arguments)
            self._follow(source)
            return source

        # The connection is only made when the first piece is wanted.
        stream.make_call = made

    def _follow(self, source: Any) -> None:
        response = getattr(source, "response", None)
        if source is not None and hasattr(source, "streaming_response"):
            source.streaming_response = self._read_lines(source.streaming_response)
        elif response is not None and hasattr(response, "aiter_bytes"):
            response.aiter_bytes = partial(self._read_bytes, response.aiter_bytes)

    def pop_gaps(self) -> int:
        """Return and reset the number of unreadable lines that were dropped."""
        return self._filter.pop_gaps()

    def pop_signed(self) -> list[tuple[str, list[dict[str, Any]]]]:
        """Return and reset the signed parts that came in chunks in the format of OpenAI."""
        return self._filter.pop_signed()

    @property
    def is_chunked(self) -> bool:
        """Return whether the reply comes in chunks in the format of OpenAI."""
        return self._filter.chunks

    async def _read_bytes(self, given: Callable[[], AsyncIterator[bytes]]) -> AsyncIterator[bytes]:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        rest: list[str] = []
        first = True
        async for data in given():
            self._read_data(data)
            text = decoder.decode(data)
            if first and text:
                text, first = text.removeprefix("\ufeff"), False
            *lines, last = text.split("\n")
            if lines:
                lines[0] = "".join([*rest, lines[0]])
                rest.clear()
            rest.append(last)
            # One line at a time, so that each error is reported between the lines around it.
            for line in lines:
                # A line may end with a carriage return alone.
                for part in line.rstrip("\r").split("\r"):
                    for good in self._filter.feed(part):
                        yield f"{good}\n".encode("utf-8", "replace")
        ends = "".join([*rest, decoder.decode(b"", True)])
        tail = [good for part in ends.split("\r") for good in self._filter.feed(part)]
        yield "\n".join([*tail, *self._filter.end()]).encode("utf-8", "replace")

    async def _read_lines(self, given: AsyncIterator[Any]) -> AsyncIterator[Any]:
        first = True
        async for line in given:
            if not isinstance(line, str):
                yield line
                continue
            self._read_data(line.encode("utf-8", "replace") + b"\n")
            if first:
                line, first = line.removeprefix("\ufeff"), False
            for item in self._filter.feed(line):
                yield item
        for item in self._filter.end():
            yield item

    @property
    def incomplete(self) -> str | None:
        """Why the reply is not complete although the stream has ended; None if it is, or if nothing says so.

        LiteLLM takes most of these for a good end.
        """
        if self._filter.begun and not self._filter.ended:
            return "missing"
        return _explain_end(self._filter.reason)

    def _read_data(self, data: bytes) -> None:
        self._note_arrival()
        if not self._is_event_stream and len(self._beginning) < _KEPT:
            self._beginning += data
            self._is_event_stream = _HAS_EVENTS.search(self._beginning[:4096]) is not None

    def find_messages(self, provider: str = "") -> list[dict[str, Any]]:
        """Return the message of a reply that came in one piece, or its pieces in an array of chunks.

        `provider` is whose model was asked: only from its own models comes a reply in Anthropic's format.
        """
        body = self._parse_body()
        match body:
            case {"type": "message", "content": list(content)} if (
                self.foreign and provider in self.foreign.providers
            ):
                body = {"message": {"role": "assistant", "content": content}}
        messages = [_find_message(record) for record in (body if isinstance(body, list) else [body])]
        return [message for message in messages if message is not None]

    def find_whole_end(self) -> str | None:
        """Return why a reply that came in one piece is not complete; None if it is, or if nothing says so."""
        body = self._parse_body()
        # In an array of chunks, the last one with a choice has the reason.
        records = [record for record in body if _find_message(record)] if isinstance(body, list) else [body]
        match records[-1] if records else None:
            case (
                {"choices": [{"finish_reason": str(reason)}, *_]}
                | {"done_reason": str(reason)}
                | {"stop_reason": str(reason)}
            ):
                return _explain_end(reason)
        return None

    def find_error(self) -> tuple[str, int | None] | None:
        """Find the message and number of an error that came with a status of success in place of a reply,
        or in the midst of one.
        """
        if self._filter.error:
            return self._filter.error
        body = self._parse_body()
        match body:
            case (
                {"error": _}
                | {"errors": _}
                | {"detail": _}
                | [{"error": _}, *_]
                | {"message": str()}
                | {"msg": str()}
            ):
                return _find_error(body)
            case dict() if is_error(body):
                return _find_error(body)
        return None

    def describe(self) -> str:
        """Describe bytes that are no reply; "" when there is nothing to say."""
        if error := self.find_error():
            return error[0]
        text = self._read_text()[:100_000] or self._find_first_data()
        if page := describe_page(text):
            return page
        body = self._parse_body()
        if body is None and text.startswith(("{", "[")) and not text.rstrip().endswith(("}", "]")):
            return "only the beginning of a reply"
        is_reply = '"choices"' in text and (not isinstance(body, dict) or "choices" in body)
        if self.foreign or is_reply:
            return ""
        sentence = " ".join(text[:1000].split())[:100]
        return "" if not sentence else sentence if _is_readable(sentence) else "data that is not text"

    @property
    def foreign(self) -> ForeignFormat | None:
        """The format of the reply if it is a known one other than OpenAI's."""
        return None if self._filter.chunks else self._filter.foreign or recognise(self._parse_body())

    def _read_text(self) -> str:
        """Return the reply without the comments that kept the connection open; "" for one in events."""
        if self._is_event_stream:
            return ""
        text = self._beginning.decode("utf-8", "replace").removeprefix("\ufeff")
        return _COMMENTS.sub("", text)

    def _find_first_data(self) -> str:
        """Return the first data in a stream of events without one chunk, as it came, or ""."""
        if self._filter.begun or self._filter.chunks:
            return ""
        text = self._beginning[:100_000].decode("utf-8", "replace")
        data = (match[1].strip() for match in _DATA.finditer(text))
        return next((item for item in data if item not in ("", "[DONE]")), "")

    def _parse_body(self) -> Any:
        try:
            return json.loads(self._read_text())
        except (ValueError, RecursionError):
            return None


def _explain_end(reason: str) -> str | None:
    """Return why a reply is not complete by the provider's word for its end; None if it is complete."""
    reason = reason.lower()
    if reason in _INCOMPLETE:
        return _INCOMPLETE[reason]
    if _AT_LIMIT.search(reason):
        return "length"
    return "content_filter" if _BY_FILTER.search(reason) else None


def _find_message(record: Any) -> dict[str, Any] | None:
    """Return the message of a record, or its piece of one; None if it has none."""
    match record:
        case {"choices": [{"message": dict(found)} | {"delta": dict(found)}, *_]}:
            message: dict[str, Any] = found
        case {"message": {"role": str()} as found}:
            message = found
        case {"choices": [{"text": str(text)}, *_]}:
            message = {"content": text}
        case _:
            return None
    repair({"choices": [{"delta": message}]})
    return message


def _find_error(body: Any) -> tuple[str, int | None] | None:
    text = " ".join(remove_traceback(extract_error_text(body)[:20_000]).split())[:300]
    return (text, extract_error_code(body)) if text else None


def _is_readable(text: str) -> bool:
    return text.isprintable() and "\ufffd" not in text


def split_delta(delta: Any) -> list[tuple[str, Any]]:
    """Return the pieces of a delta, or of a whole message; its parts are objects or dictionaries."""
    pieces_read: list[tuple[str, Any]] = []
    if reasoning := _get(delta, "reasoning_content"):
        pieces_read.append(("reasoning", str(reasoning)))
    if text := _get(delta, "content"):
        pieces_read.append(("text", join_text(text)))
    for number, call in enumerate(_get(delta, "tool_calls") or ()):
        function = _get(call, "function")
        index = _get(call, "index", number if isinstance(call, dict) else 0) or 0
        arguments = _decode_text(_get(function, "arguments"))
        pieces_read.append(("call", [index, _get(call, "id"), _get(function, "name"), arguments]))
    if isinstance(delta, dict):
        pieces_read += [("signed", list(part)) for part in find_signed_fields(delta)]
    if legacy := _get(delta, "function_call"):
        pieces_read.append(("call", [0, None, _get(legacy, "name"), _decode_text(_get(legacy, "arguments"))]))
    return pieces_read


def _get(holder: Any, name: str, otherwise: Any = None) -> Any:
    return holder.get(name, otherwise) if isinstance(holder, dict) else getattr(holder, name, otherwise)


def _decode_text(arguments: Any) -> str:
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)
