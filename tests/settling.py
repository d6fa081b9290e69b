"""What a pilot waits for after each key: that no widget has anything left to do.

Textual's own pilot makes one pass: it puts a message into the queue of each widget, and waits until all were
taken. A message that is handed on meanwhile, from an input to its screen and from there to a list, comes
after that pass when the machine is busy, and so does a change of the focus that the next key relies on; and
on a screen with hundreds of widgets the passes take most of the time of a test. It then sleeps 20 ms at a
time until the process uses no more time of a processor, twice for each key. Here a pilot watches the queues:
it goes on once each widget waits for its next message, what a thread was given a moment ago is done, what is
to happen in a moment has happened, and the screen is drawn.

Until then a screen is drawn only a few times a second. Nobody sees what is drawn between a key and the rest
that follows, and sixty frames a second were a sixth of what tests with a pilot cost.

How long it waits is counted in time that this process could use. On a busy machine the threads of a test wait
for a processor as long as the test does, so that the bounds below are as good there as elsewhere.
"""

import asyncio
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import textual.app
import textual.pilot
import textual.screen
from textual._queue import Queue
from textual.pilot import Pilot

#: What never comes to rest, a reply that streams for instance, is not waited for any longer; in seconds.
TIMEOUT = 1.0
#: Queues that nobody takes from for so long, in seconds, belong to who has ended or waits for something.
_STUCK = 0.05

#: How long work in a thread is waited for, in seconds from its beginning; a turn for instance takes longer.
_THREAD = 0.15
#: What one look counts at most: if it took longer, other processes had the processor; in seconds.
_LOOK = 0.004
#: What a widget does so many seconds later belongs to the key: a return key that may be part of a paste.
_SOON = 0.05

#: How long a screen that is not at rest goes without a frame, in seconds.
_FRAME = 0.125

_put, _get, _one_pass = Queue.put_nowait, Queue.get, Pilot._wait_for_screen
_submit = ThreadPoolExecutor.submit
#: The queues whose owners have something to do.
_busy: "weakref.WeakSet[Queue[Any]]" = weakref.WeakSet()
_taken = 0
#: What threads were given to do, and until when it is waited for, by the clock below.
_given: dict[Future[Any], float] = {}
#: The time that this process could use while a pilot waited, in seconds.
_used = 0.0


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
    global _used
    limit = _used + TIMEOUT
    taken, moved = _taken, _used
    rounds = 0
    while rounds < 2:
        before = time.monotonic()
        await asyncio.sleep(0.001 if rounds or (_busy and _taken == taken) or _given else 0)
        now = time.monotonic()
        _used += min(now - before, _LOOK)
        rounds = 0 if _busy or _works() or _comes(now) or _draw(pilot) else rounds + 1
        if _taken != taken:
            taken, moved = _taken, _used
        elif _busy and _used - moved > _STUCK:
            stuck = list(_busy)
            done = await _one_pass(pilot, timeout)
            _busy.difference_update(stuck)
            return done
        if _used > limit:
            break
    return not pilot.app._exception_event.is_set()


def _noting_submit(
    pool: ThreadPoolExecutor, work: Callable[..., Any], /, *args: Any, **more: Any
) -> Future[Any]:
    future = _submit(pool, work, *args, **more)
    _given[future] = _used + _THREAD
    return future


def _works() -> bool:
    """Whether a thread is at work on what it was given a moment ago."""
    for future, until in list(_given.items()):
        if future.done() or _used > until:
            del _given[future]
    return bool(_given)


def _comes(now: float) -> bool:
    """Whether a widget does something in a moment (`oi_tui.widgets.timer`)."""
    scheduled: list[asyncio.TimerHandle] = asyncio.get_running_loop()._scheduled  # type: ignore[attr-defined]
    return any(
        handle.when() < now + _SOON
        and not handle.cancelled()
        and getattr(handle._callback, "__name__", "") == "call_next"  # type: ignore[attr-defined]
        for handle in scheduled
    )


def _draw(pilot: Pilot[Any]) -> bool:
    """Draw now what the screen would draw with its next frame; whether there was anything."""
    screen = pilot.app.screen
    if not screen._update_timer._active.is_set():
        return False
    screen._on_timer_update()
    return True


async def _go_on(*_: float) -> None:
    """Stand in for the wait until the process is idle: `settled` knows better."""
    await asyncio.sleep(0)


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Press the keys, each once what the one before it did is done."""
    for key in keys:
        await pilot.app._press_keys([key])
        await settled(pilot)


def install() -> None:
    """Let all pilots wait so."""
    Queue.put_nowait = _noting_put  # type: ignore[method-assign]
    Queue.get = _noting_get  # type: ignore[method-assign]
    textual.app.wait_for_idle = textual.pilot.wait_for_idle = _go_on  # type: ignore[attr-defined]
    ThreadPoolExecutor.submit = _noting_submit  # type: ignore[method-assign,assignment]
    textual.screen.UPDATE_PERIOD = _FRAME
    Pilot._wait_for_screen = settled  # type: ignore[method-assign]
    Pilot.press = press  # type: ignore[method-assign]
