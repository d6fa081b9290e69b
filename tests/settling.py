"""What a pilot waits for after each key: that no widget has anything left to do.

Textual's own pilot makes one pass: it puts a message into the queue of each widget, and waits until all were
taken. A message that is handed on meanwhile, from an input to its screen and from there to a list, comes
after that pass when the machine is busy, and so does a change of the focus that the next key relies on; and
on a screen with hundreds of widgets the passes take most of the time of a test. Here a pilot watches the
queues: it goes on once each widget waits for its next message.
"""

import asyncio
import time
import weakref
from typing import Any

from textual._queue import Queue
from textual.pilot import Pilot

#: What never comes to rest, a reply that streams for instance, is not waited for any longer; in seconds.
PATIENCE = 1.0
#: Queues that nobody takes from for so long, in seconds, belong to who has ended or waits for something.
_STUCK = 0.05

_put, _get, _one_pass = Queue.put_nowait, Queue.get, Pilot._wait_for_screen
#: The queues whose owners have something to do.
_busy: "weakref.WeakSet[Queue[Any]]" = weakref.WeakSet()
_taken = 0


def _noting_put(queue: Queue[Any], message: object) -> None:
    _busy.add(queue)
    _put(queue, message)


async def _noting_get(queue: Queue[Any]) -> object:
    global _taken
    if queue.empty():
        # Who asks for the next message is done with the one before.
        _busy.discard(queue)
    message = await _get(queue)
    _taken += 1
    if message is None:
        _busy.discard(queue)
    return message


async def settled(pilot: Pilot[Any], timeout: float = 30.0) -> bool:
    """Wait until every widget is done with its messages; whether all of them could be."""
    limit = time.monotonic() + PATIENCE
    taken, moved = _taken, time.monotonic()
    rounds = 0
    while rounds < 2:
        await asyncio.sleep(0 if _taken != taken or not _busy else 0.001)
        now = time.monotonic()
        rounds = 0 if _busy else rounds + 1
        if _taken != taken:
            taken, moved = _taken, now
        elif _busy and now - moved > _STUCK:
            stuck = list(_busy)
            done = await _one_pass(pilot, timeout)
            _busy.difference_update(stuck)
            return done
        if now > limit:
            break
    return not pilot.app._exception_event.is_set()


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Press the keys, each once what the one before it did is done."""
    for key in keys:
        await pilot.app._press_keys([key])
        await settled(pilot)


def install() -> None:
    """Let all pilots wait so."""
    Queue.put_nowait = _noting_put  # type: ignore[method-assign]
    Queue.get = _noting_get  # type: ignore[method-assign]
    Pilot._wait_for_screen = settled  # type: ignore[method-assign]
    Pilot.press = press  # type: ignore[method-assign]
