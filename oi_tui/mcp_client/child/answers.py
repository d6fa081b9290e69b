"""Makes HTTP servers' answers fit for the package: their size is limited, and a refusal explained."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx2
from mcp.types import INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND

from oi_tui.mcp_client.child.stdio import LONGEST_LINE

#: The reason of an error that stands for: the server no longer knows the session, and has done nothing.
SESSION_OVER = "it no longer knows this session"
_SESSION = "mcp-session-id"


async def refuse_compressed(response: httpx2.Response) -> None:
    """Refuse an answer that is compressed, which was not asked for: a small one could unpack to gigabytes."""
    encoding = response.headers.get("content-encoding", "identity").lower()
    if encoding != "identity":
        raise httpx2.ReadError(f"it sent a compressed answer ({encoding[:20]}), which was not asked for")


async def explain_refusal(response: httpx2.Response) -> None:
    """Give the answer to a refused message the reason of HTTP, where the server gives none in JSON.

    The package would drop it. Without a session, it finds by itself what a 404 means.
    """
    is_refused = response.is_error and (
        _SESSION in response.request.headers or response.status_code != httpx2.codes.NOT_FOUND
    )
    has_reason = response.headers.get("content-type", "").startswith("application/json")
    is_message = "text/event-stream" in response.request.headers.get("accept", "")
    if not is_message or has_reason or not is_refused:
        return
    if isinstance(response.stream, httpx2.AsyncByteStream):
        await response.stream.aclose()
    reason = SESSION_OVER if _ends_session(response, None) else describe_refusal(response)
    _replace(response, None, {"code": INTERNAL_ERROR, "message": reason})


def _ends_session(response: httpx2.Response, error: Mapping[str, Any] | None) -> bool:
    """Return whether a refusal means that the server no longer knows the session, such as after a restart.

    The protocol has 404 for it. Many servers answer 400, as an example of the TypeScript SDK does.
    """
    if _SESSION not in response.request.headers:
        return False
    error = error or {}
    if response.status_code == httpx2.codes.NOT_FOUND:
        return error.get("code") != METHOD_NOT_FOUND
    says_so = "session" in str(error.get("message")).lower()
    return response.status_code == httpx2.codes.BAD_REQUEST and says_so


async def check_answer(response: httpx2.Response) -> None:
    """Have the answer to a request be one to this request; the package would wait on for another one."""
    is_message = "text/event-stream" in response.request.headers.get("accept", "")
    is_json = response.headers.get("content-type", "").lower().startswith("application/json")
    if not (is_message and is_json) or response.request.method != "POST":
        return
    number, stream = _read_number(response.request), response.stream
    if number is None or not isinstance(stream, httpx2.AsyncByteStream):
        return
    try:
        body = b"".join([piece async for piece in stream])
    finally:
        await stream.aclose()
    response.stream = httpx2.ByteStream(body)
    if error := _find_error(response, number, body):
        _replace(response, number, error)


def _find_error(response: httpx2.Response, number: int | str, body: bytes) -> Mapping[str, Any] | None:
    """Return the error to report in the place of an answer; None where the package can use the answer."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    error = answer.get("error") if isinstance(answer, dict) else None
    if response.is_error:
        if _ends_session(response, error if isinstance(error, dict) else None):
            return {"code": INTERNAL_ERROR, "message": SESSION_OVER}
        is_readable = isinstance(error, dict) and isinstance(error.get("code"), int)
        # The package finds by itself what a 404 means, and reads errors of the protocol.
        if is_readable or response.status_code == httpx2.codes.NOT_FOUND:
            return None
        return {"code": INTERNAL_ERROR, "message": describe_refusal(response)}
    # Of what is not valid JSON, the package says so.
    if not isinstance(answer, dict) or ("method" not in answer and str(answer.get("id")) == str(number)):
        return None
    if answer.get("id") is None and isinstance(error, dict):
        # The server refused the request before it knew the number.
        return error
    return {"code": INVALID_REQUEST, "message": "it answered another request than the one that it got"}


def _read_number(request: httpx2.Request) -> int | str | None:
    """Return the number of the request in a message; None for one that needs no answer."""
    message = json.loads(request.content)
    number = message.get("id") if "method" in message else None
    return number if isinstance(number, int | str) else None


def _replace(response: httpx2.Response, number: int | str | None, error: Mapping[str, Any]) -> None:
    """Put an error in the place of what a server has sent."""
    response.headers["content-type"] = "application/json"
    text = json.dumps({"jsonrpc": "2.0", "id": number, "error": error})
    response.stream = httpx2.ByteStream(text.encode())


def describe_refusal(response: httpx2.Response) -> str:
    """Return what an HTTP server did instead of taking a message."""
    reason = f"{response.status_code} {response.reason_phrase}".rstrip()
    if moved := response.next_request:
        address = moved.url.copy_with(userinfo=b"", query=None, fragment=None)
        return f"it redirects to {address} ({reason}), and redirects are not followed"
    return f"it refused the request: {reason}"


async def limit(response: httpx2.Response) -> None:
    """End an answer that is longer than a message may be; the events of a stream are limited one by one."""
    if not response.headers.get("content-type", "").startswith("text/event-stream"):
        response.stream = _Bounded(response.stream)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._stream:
            size += len(piece)
            if size > LONGEST_LINE:
                raise httpx2.ReadError(f"it sent a message of more than {LONGEST_LINE // 1024 // 1024} MB")
            yield piece

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()


async def limit_events(response: httpx2.Response) -> None:
    """End a stream with an event that is longer than a message may be."""
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        response.stream = _BoundedEvents(response.stream)


class _BoundedEvents(_Bounded):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, tail = 0, b""
        async for piece in self._stream:
            # An empty line ends an event; two pieces may share it.
            text = tail + piece
            end = max(text.rfind(mark) for mark in (b"\n\n", b"\r\n\r\n", b"\r\r"))
            size = size + len(piece) if end < 0 else len(text) - end
            tail = text[-3:]
            if size > LONGEST_LINE:
                raise httpx2.ReadError(f"it sent a message of more than {LONGEST_LINE // 1024 // 1024} MB")
            yield piece
