"""Decides when Python looks for garbage, so that no key waits for it."""

import gc
import time

#: So many objects are made before Python looks through the newest of them.
_NEW = 2_000
#: How often it has looked through those before a look through all is worth it.
_WORTH_IT = 10
#: Seconds without a key after which nobody waits.
_AT_REST = 1.0
#: The longest time between two looks through all while keys are pressed, in seconds.
_LONGEST = 60.0
#: A look through all is followed by at least so many times what it took, without another one.
_SHARE = 30


class GarbageCollector:
    """Looks through all objects while no key is pressed.

    Python does it at any time, and in a long reply it then holds the keys up for as long as five frames.
    """

    def __init__(self) -> None:
        self._next = 0.0
        self._overdue = 0.0

    def take_over(self) -> None:
        """Take what is here now for what stays, and have Python look only through what is new."""
        gc.freeze()  # first, or Python would begin with a look through all
        gc.set_threshold(_NEW, gc.get_threshold()[1], 1 << 30)
        gc.enable()
        self._overdue = time.monotonic() + _LONGEST

    def tend(self, last_key: float) -> None:
        """Look through all, unless it holds up somebody who types; to be called again and again."""
        began = time.monotonic()
        if gc.get_count()[2] < _WORTH_IT or began < self._next:
            return
        if began - last_key < _AT_REST and began < self._overdue:
            return
        gc.collect()
        now = time.monotonic()
        self._next = now + _SHARE * (now - began)
        self._overdue = now + _LONGEST
