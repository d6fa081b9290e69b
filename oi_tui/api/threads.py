"""Runs turns in threads: for asyncio, and for scripts that continue meanwhile."""

import asyncio
import threading
import time
import weakref
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from oi_tui.runtimes.runs.stopping import UNATTENDED

_T = TypeVar("_T")
#: How often to check whether the wait can still end, in seconds.
_TIMEOUT = 0.1
#: How long to wait for the event loop to close a stream, in seconds; a run that does not stop ends sooner.
_CLOSING = 30.0


class BackgroundTurn:
    """Work in a thread, and its result or error for the caller that waits.

    `work` gets a function, which it calls when it has begun; it is made when that is so.
    """

    def __init__(self, work: Callable[[Callable[[], None]], object]) -> None:
        self._error: BaseException | None = None
        self._work = work
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._run, name="oi-tui-chat", daemon=True)
        self._thread.start()
        self._begun.wait()

    def wait(self, give_up: Callable[[], bool]) -> bool:
        """Wait for the end, or until `give_up` says so; return whether it ended.

        Raises what the work raised.
        """
        while self._thread.is_alive():
            if give_up():
                return False
            self._thread.join(_TIMEOUT)
        if self._error:
            raise self._error
        return True

    def _run(self) -> None:
        try:
            self._work(self._begun.set)
        except BaseException as error:  # noqa: BLE001  # raised again by `wait`
            self._error = error
        finally:
            self._begun.set()


class AsyncStreams:
    """Makes the streams of one interpreter for asyncio.

    A loop that ends with `break` drops its stream, and the event loop closes it a little later; a task that
    is cancelled stops its turn first. The next turn waits for both. A stream that somebody reads is not
    waited for.

    Each stream has a thread of its own. The few threads of the event loop's executor are the program's: turns
    that wait for code or for a person would keep it from looking up names and reading files.
    """

    def __init__(self) -> None:
        self._states = weakref.WeakKeyDictionary[Generator[Any, None, None], _State]()

    def iterate(self, items: Generator[_T, None, None], stop: Callable[[], None]) -> AsyncGenerator[_T, None]:
        """Iterate a blocking generator without blocking the event loop.

        `stop` is called from the event loop when the task is cancelled while an item is produced; it must
        make the generator return soon. It is called again if the item takes long after that: a run that
        does not end at the first stop loses its language then.
        """
        state = _State()
        stream = self._iterate(items, stop, state)
        state.stream = weakref.ref(stream)
        self._states[items] = state
        return stream

    def wait_until_closed(self, items: Generator[Any, None, None]) -> None:
        """Wait until `items` is closed, if its reader has left and the event loop is about to close it."""
        if state := self._states.get(items):
            state.wait_until_closed()

    async def _iterate(
        self, items: Generator[_T, None, None], stop: Callable[[], None], state: "_State"
    ) -> AsyncGenerator[_T, None]:
        loop = asyncio.get_running_loop()
        state.loop, state.loop_thread = loop, threading.get_ident()
        thread = ThreadPoolExecutor(1, "oi-tui-achat")
        step: asyncio.Future[list[_T]] | None = None

        def read_next() -> list[_T]:
            return [item for _, item in zip((None,), items, strict=False)]

        try:
            while True:
                step = loop.run_in_executor(thread, read_next)
                next_items = await asyncio.shield(step)
                if not next_items:
                    return
                yield next_items[0]
        finally:
            state.is_closing = True
            try:
                if step is not None and not step.done():
                    stop()
                    again = loop.call_later(UNATTENDED, stop)
                    # Not when this wait ends: a task that is cancelled twice leaves the step at work.
                    step.add_done_callback(lambda _: again.cancel())
                    await asyncio.wait([step])
                await loop.run_in_executor(thread, items.close)
            finally:
                state.closed.set()
                thread.shutdown(wait=False)


class _State:
    """Whether a stream still has a reader, and whether it was closed."""

    def __init__(self) -> None:
        self.stream: Callable[[], object] = _do_nothing
        self.loop: asyncio.AbstractEventLoop | None = None
        self.loop_thread = 0
        self.is_closing = False
        self.closed = threading.Event()

    def wait_until_closed(self) -> None:
        # The event loop cannot close it while its thread waits here, or when it does not run any more. Its
        # thread may also wait for this one, which cannot be seen from here.
        if self.loop is None or self.loop_thread == threading.get_ident():
            return
        until = time.monotonic() + _CLOSING
        while (
            (self.is_closing or self.stream() is None)
            and self.loop.is_running()
            and time.monotonic() < until
            and not self.closed.wait(_TIMEOUT)
        ):
            pass


def _do_nothing() -> None:
    """Do nothing."""
