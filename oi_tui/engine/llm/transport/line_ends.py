"""Ends the lines of a streamed reply only where formats of events end them.

httpx also ends lines at characters such as U+2028, which may stand unescaped in the texts of JSON.
"""

import io
from collections.abc import AsyncIterator
from typing import Any


def split_at_newlines_only() -> None:
    """Have all responses of httpx in this process end lines at LF, CR LF and CR only.

    That is what https://html.spec.whatwg.org/multipage/server-sent-events.html says of events.
    """
    import httpx

    async def aiter_lines(response: httpx.Response) -> AsyncIterator[str]:
        async for line in split(response.aiter_text()):
            yield line

    httpx.Response.aiter_lines = aiter_lines  # type: ignore[assignment,method-assign]


async def split(texts: AsyncIterator[Any]) -> AsyncIterator[str]:
    """Yield the lines of a text that comes in pieces, without their ends."""
    ends = io.IncrementalNewlineDecoder(None, translate=True)
    pieces: list[str] = []
    async for text in texts:
        first, *more = ends.decode(text).split("\n")
        pieces.append(first)
        for line in more:
            yield "".join(pieces)
            pieces = [line]
    pieces.append(ends.decode("", final=True).rstrip("\n"))
    if last := "".join(pieces):
        yield last
