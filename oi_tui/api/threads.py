"""Runs turns in threads: for asyncio, and for scripts that continue meanwhile."""

import asyncio
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_T = TypeVar("_T")
#: How often to check whether the wait can still end, in seconds.
_TIMEOUT = 0.1


class BackgroundTurn:
    """Work in a thread, and its result or error for the caller that waits."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._error: BaseException | None = None
        self._work = work
        self._thread = threading.Thread(target=self._run, name="oi-tui-chat", daemon=True)
        self._thread.start()

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
            self._work()
        except BaseException as error:  # noqa: BLE001  # raised again by `wait`
            self._error = error


class AsyncStreams:
    """Makes the streams of one interpreter for asyncio.

    A loop that ends with `break` drops its stream, and the event loop closes it a little later. The next
    stream waits for that. One that somebody still holds is not waited for.

    Each stream has a thread of its own. The few threads of the event loop's executor are the program's: turns
    that wait for code or for a person would keep it from looking up names and reading files.
    """

    def __init__(self) -> None:
        self._newest: _Stream | None = None

    def iterate(self, items: Generator[_T, None, None], stop: Callable[[], None]) -> AsyncGenerator[_T, None]:
        """Iterate a blocking generator without blocking the event loop.

        `stop` is called from the event loop when the task is cancelled while an item is produced; it must
        make the generator return soon.
        """
        state = _Stream()
        stream = self._iterate(items, stop, state)
        state.held = weakref.ref(stream)
        return stream

    async def _iterate(
        self, items: Generator[_T, None, None], stop: Callable[[], None], state: "_Stream"
    ) -> AsyncGenerator[_T, None]:
        loop = asyncio.get_running_loop()
        thread = ThreadPoolExecutor(1, "oi-tui-achat")
        step: asyncio.Future[list[_T]] | None = None

        def read_next() -> list[_T]:
            return [item for _, item in zip((None,), items, strict=False)]

        if self._newest and self._newest.held() is None:
            await loop.run_in_executor(thread, self._newest.ended.wait)
        self._newest = state
        try:
            while True:
                step = loop.run_in_executor(thread, read_next)
                found = await asyncio.shield(step)
                if not found:
                    return
                yield found[0]
        finally:
            try:
                if step is not None and not step.done():
                    stop()
                    await asyncio.wait([step])
                await loop.run_in_executor(thread, items.close)
            finally:
                state.ended.set()
                thread.shutdown(wait=False)


class _Stream:
    """Whether a stream still has a reader, and whether it has ended."""

    def __init__(self) -> None:
        self.held: Callable[[], object] = _do_nothing
        self.ended = threading.Event()


def _do_nothing() -> None:
    """Do nothing."""
