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
