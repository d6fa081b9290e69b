"""Waiting within an event loop."""

import asyncio
from collections.abc import Callable


async def until(condition: Callable[[], object], seconds: float = 30.0) -> None:
    """Let the event loop work until the condition holds. Raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0)
