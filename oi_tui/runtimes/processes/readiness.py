"""Waits for several descriptors at once, on every system."""

import select
import sys
from collections.abc import Collection

#: On macOS poll does not know every kind of terminal; select does.
POLL_KNOWS_TERMINALS = sys.platform != "darwin"


class Readiness:
    """Waits until one of these descriptors can be read; of `writable`, whether it takes more is asked too."""

    def __init__(self, numbers: Collection[int], *, poll: bool | None = None) -> None:
        self._numbers = list(numbers)
        self._poll: select.poll | None = None
        if POLL_KNOWS_TERMINALS if poll is None else poll:
            self._poll = select.poll()
            for number in self._numbers:
                self._poll.register(number, select.POLLIN)

    def wait(self, seconds: float, *, writable: int | None = None) -> set[int]:
        """Wait at most `seconds`, and return the descriptors that are ready."""
        seconds = max(0.0, seconds)
        if self._poll is None:
            writing = [] if writable is None else [writable]
            readable, taking, _ = select.select(self._numbers, writing, [], seconds)
            return {*readable, *taking}
        if writable is None:
            return {number for number, _ in self._poll.poll(seconds * 1000)}
        self._poll.modify(writable, select.POLLIN | select.POLLOUT)
        try:
            return {number for number, _ in self._poll.poll(seconds * 1000)}
        finally:
            self._poll.modify(writable, select.POLLIN)
