"""Limits the size of HTTP servers' answers, to protect memory."""

from collections.abc import AsyncIterator
from typing import Any

import httpx2

from oi_tui.mcp_client.child.stdio import LONGEST_LINE


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
