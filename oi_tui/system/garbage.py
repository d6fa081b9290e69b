"""Decides when Python collects garbage, so that no key waits for it."""

import gc
import time

#: The number of new objects after which Python collects garbage among them.
_NEW = 2_000
#: The number of such collections after which a full one is due.
_DUE = 10
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

    def tend(self, last_key: float) -> None:
        """Make a full collection if one is due and holds up nobody who types; call it again and again."""
        began = time.monotonic()
        if gc.get_count()[2] < _DUE or began < self._next:
            return
        if began - last_key < _AT_REST and began < self._overdue:
            return
        gc.collect()
        now = time.monotonic()
        self._next = now + _PAUSE * (now - began)
        self._overdue = now + _LONGEST
