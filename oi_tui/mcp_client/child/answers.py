"""Makes HTTP servers' answers fit for the package: their size is limited, and a refusal explained."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
from mcp.types import INTERNAL_ERROR

from oi_tui.mcp_client.child.stdio import LONGEST_LINE


async def refuse_compressed(response: httpx2.Response) -> None:
    """Refuse an answer that is compressed, which was not asked for: a small one could unpack to gigabytes."""
    encoding = response.headers.get("content-encoding", "identity").lower()
    if encoding != "identity":
        raise httpx2.ReadError(f"it sent a compressed answer ({encoding[:20]}), which it was not asked for")


async def explain_refusal(response: httpx2.Response) -> None:
    """Give the answer to a refused message the reason of HTTP, where the server gives none in JSON.

    The package would drop it. It finds by itself what a 404 means.
    """
    is_refused = response.is_error and response.status_code != httpx2.codes.NOT_FOUND
    has_reason = response.headers.get("content-type", "").startswith("application/json")
    is_message = "text/event-stream" in response.request.headers.get("accept", "")
    if not is_message or has_reason or not is_refused:
        return
    error = {"code": INTERNAL_ERROR, "message": describe_refusal(response)}
    if isinstance(response.stream, httpx2.AsyncByteStream):
        await response.stream.aclose()
    response.headers["content-type"] = "application/json"
    response.stream = httpx2.ByteStream(json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode())


def describe_refusal(response: httpx2.Response) -> str:
    """Return what an HTTP server did instead of taking a message."""
    reason = f"{response.status_code} {response.reason_phrase}".rstrip()
    if moved := response.next_request:
        address = moved.url.copy_with(userinfo=b"", query=None, fragment=None)
        return f"it sends requests on to {address} ({reason}), which is not followed"
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
        size = 0
        async for piece in self._stream:
            # An empty line ends an event; one that two pieces share is found with a later one.
            end = max(piece.rfind(mark) for mark in (b"\n\n", b"\r\n\r\n", b"\r\r"))
            size = size + len(piece) if end < 0 else len(piece) - end
            if size > LONGEST_LINE:
                raise httpx2.ReadError(f"it sent a message of more than {LONGEST_LINE // 1024 // 1024} MB")
            yield piece
