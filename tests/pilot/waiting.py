"""Waiting for what is to become true on a screen."""

import asyncio
import time
from collections.abc import Callable

from textual.pilot import Pilot

#: A bound, not a time to keep: a busy machine may take many times what an idle one does.
SECONDS = 40.0


async def until(pilot: Pilot[None], condition: Callable[[], object], seconds: float = SECONDS) -> None:
    """Let the application work until the condition holds; fail with what is shown when the time is up."""
    end = time.monotonic() + seconds
    await pilot.pause()
    while not condition():
        if time.monotonic() > end:
            strips = pilot.app.screen._compositor.render_strips()
            shown = "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)
            raise AssertionError(f"it did not come to pass within {seconds:.0f} s\n{shown}")
        # A pause would go through the queue of every widget again.
        await asyncio.sleep(0.01)
    await pilot.pause()
