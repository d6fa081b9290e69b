"""What a pilot waits for after each key: that no widget has anything left to do.

Textual's own pilot makes one pass: each widget answers once it has taken what was in its queue. A message
that is handed on meanwhile, from an input to its screen and from there to a list, comes after that pass when
the machine is busy, and so does a change of the focus that the next key relies on. Here a pilot makes passes
after every key, until one goes by in which nothing was handed on.
"""

import time
from functools import partial
from typing import Any

from textual import events
from textual._queue import Queue
from textual.pilot import Pilot

#: What never comes to rest, a reply that streams for instance, is not waited for any longer; in seconds.
PATIENCE = 1.0

_put, _one_pass = Queue.put_nowait, Pilot._wait_for_screen
_handed_on = 0


def _counting_put(queue: Queue[Any], message: object) -> None:
    global _handed_on
    _handed_on += not _is_of_a_pass(message)
    _put(queue, message)


def _is_of_a_pass(message: object) -> bool:
    """Whether it is what a pass itself puts into every queue."""
    callback = message.callback if isinstance(message, events.Callback) else None
    return isinstance(callback, partial) and callback.func.__module__ == Pilot.__module__


async def settled(pilot: Pilot[Any], timeout: float = 30.0) -> bool:
    """Wait until every widget of the screen is done with its messages; whether all of them could be."""
    limit = time.monotonic() + PATIENCE
    while True:
        before = _handed_on
        done = await _one_pass(pilot, timeout)
        if not done or _handed_on == before or time.monotonic() > limit:
            return done


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Press the keys, each once what the one before it did is done."""
    for key in keys:
        await pilot.app._press_keys([key])
        await settled(pilot)


def install() -> None:
    """Let all pilots wait so."""
    Queue.put_nowait = _counting_put  # type: ignore[method-assign]
    Pilot._wait_for_screen = settled  # type: ignore[method-assign]
    Pilot.press = press  # type: ignore[method-assign]
