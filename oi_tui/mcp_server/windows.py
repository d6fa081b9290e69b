"""Runs the code of a host in the person's open window, while there is one."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from oi_tui.window.client import WindowClient, WindowClosedError, find
from oi_tui.window.report import Outcome

_CLOSED = "The window was closed before the code ended; how it ended is not known."
#: Seconds between two reports that a run continues.
_PULSE = 1.0


class Windows:
    """Finds a window for each call, and stays with it until it is closed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._window: WindowClient | None = None
        self._lock = asyncio.Lock()

    async def find(self, host: str) -> WindowClient | None:
        """Return the window in use, or another one that is open now."""
        async with self._lock:
            if self._window is None or not self._window.is_open:
                self._window = await find(host, self._folder)
            return self._window

    async def close(self) -> None:
        """Leave the window."""
        if self._window:
            await self._window.close()


async def run(
    window: WindowClient, language: str, code: str, pulse: Callable[[float], Coroutine[Any, Any, None]]
) -> Outcome:
    """Run code in a window. Calls `pulse` every second with the seconds so far. Raises WindowError.

    Cancelled, it gives the code up.
    """
    began = time.monotonic()
    call = asyncio.ensure_future(window.call("run", language=language, code=code))
    try:
        while not (await asyncio.wait([call], timeout=_PULSE))[0]:
            await pulse(time.monotonic() - began)
        return Outcome.of_dict(await call)
    except WindowClosedError:
        return Outcome("lost", "", _CLOSED)
    finally:
        call.cancel()


def describe_interrupt(found: Mapping[str, Any]) -> str:
    """Say what became of an interrupt."""
    if not found.get("stopped"):
        return "No code is running."
    return (
        "The code was stopped." if found.get("ended") else "The code has not ended yet; call interrupt again."
    )
