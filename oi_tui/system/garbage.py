"""Decides when Python collects garbage, so that no key waits for it."""

import asyncio
import gc
import time
from collections.abc import Callable, Mapping
from typing import Any

#: The number of new objects after which Python collects garbage among them.
_NEW = 2_000
#: The number of such collections after which a full one is due.
_DUE = 10
#: How often one looks whether keys are still pressed, in seconds.
_AGAIN = 1.0
#: Seconds without a key after which nobody waits.
_AT_REST = 1.0
#: The longest time between two full collections while keys are pressed, in seconds.
_LONGEST = 60.0
#: The pause after a full collection, as a multiple of the time that it took.
_PAUSE = 30


class GarbageCollector:
    """Makes full collections while no key is pressed.

    Python makes them at any time, and in a long reply each holds the keys up for as long as five frames.
    """

    def __init__(self) -> None:
        self._next = 0.0
        self._overdue = 0.0

    def take_over(self) -> None:
        """Exempt all present objects, and leave only collections of new objects to Python."""
        gc.freeze()  # first, or Python would begin with a full collection
        gc.set_threshold(_NEW, gc.get_threshold()[1], 1 << 30)
        gc.enable()
        self._overdue = time.monotonic() + _LONGEST

    async def run(self, find_last_key: Callable[[], float]) -> None:
        """Make the full collections that become due, until it is cancelled; without garbage nothing is done.

        `find_last_key` returns when a key was pressed last.
        """
        loop, due = asyncio.get_running_loop(), asyncio.Event()

        def note(phase: str, _: Mapping[str, Any]) -> None:
            # Python calls this in any thread.
            if phase == "stop" and not due.is_set() and is_due():
                loop.call_soon_threadsafe(due.set)

        gc.callbacks.append(note)
        try:
            while True:
                await due.wait()
                while not self.collect_if_quiet(find_last_key()):
                    await asyncio.sleep(_AGAIN)
                due.clear()
        finally:
            gc.callbacks.remove(note)

    def collect_if_quiet(self, last_key: float) -> bool:
        """Make a full collection if it holds up nobody who types. Return whether none is due now."""
        began = time.monotonic()
        if not is_due():
            return True
        if began < self._next:
            return False
        if began - last_key < _AT_REST and began < self._overdue:
            return False
        gc.collect()
        now = time.monotonic()
        self._next = now + _PAUSE * (now - began)
        self._overdue = now + _LONGEST
        return True


def is_due() -> bool:
    """Return whether there may be garbage that only a full collection finds."""
    return gc.get_count()[2] >= _DUE
