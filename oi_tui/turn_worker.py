"""Runs one turn in a thread, and posts its events in batches."""

import logging
import threading
from collections.abc import Callable, Iterator

from oi_tui.engine.events import Event, MessageGrew, MessageRecorded, MessageStarted, TurnEnded
from oi_tui.engine.llm import request_log
from oi_tui.engine.turn_log import TurnLog
from oi_tui.system.failures import describe_failure

_log = logging.getLogger(__name__)
#: Events that may wait for the screen; then the thread waits, and the program that floods it too.
_MOST_WAITING = 256
#: Events that only add to what is shown, so that they may wait for the next frame.
_GROWTH = (MessageStarted, MessageGrew, MessageRecorded)


class TurnWorker:
    """Iterates a session's events in a worker thread and wakes the screen when there are some to take.

    It wakes the screen for the first of them, and once more when one should not wait; see `is_urgent`.
    """

    def __init__(self, events: Iterator[Event], wake: Callable[["TurnWorker"], object]) -> None:
        self._events = events
        self._wake = wake
        self._lock = threading.Lock()
        self._room = threading.Event()
        self._room.set()
        self._waiting: list[Event] = []
        self._is_urgent = False
        self._abandoned = False
        self._log = TurnLog()

    def run(self) -> None:
        """Do the work; the body of the thread."""
        try:
            for event in self._events:
                if line := self._log.describe(event):
                    request_log.log_step("%s", line)
                self._put(event)
        except Exception as error:  # noqa: BLE001 -- the end of the worker; it reports
            _log.exception("A turn failed")
            self._put(
                TurnEnded(
                    "failed",
                    f"An internal error ended the turn ({describe_failure(error)}); %log shows details.",
                )
            )

    @property
    def is_urgent(self) -> bool:
        """Whether the events that wait should be taken now: more than growth is among them, or many wait."""
        return self._is_urgent

    def pop_events(self) -> list[Event]:
        """Return and forget the events since the last call."""
        with self._lock:
            events, self._waiting = self._waiting, []
            self._is_urgent = False
            self._room.set()
        return events

    def abandon(self) -> None:
        """Let the thread run to its end without waiting: nothing reads its events."""
        self._abandoned = True
        self._room.set()

    def _put(self, event: Event) -> None:
        while not self._abandoned and not self._room.wait(1.0):
            pass
        with self._lock:
            is_full = len(self._waiting) + 1 >= _MOST_WAITING
            becomes_urgent = not self._is_urgent and (is_full or not isinstance(event, _GROWTH))
            wakes = becomes_urgent or not self._waiting
            self._waiting.append(event)
            self._is_urgent = self._is_urgent or becomes_urgent
            if is_full and not self._abandoned:
                self._room.clear()
            if self._abandoned:
                self._waiting.clear()
        if wakes and not self._abandoned:
            self._wake(self)
