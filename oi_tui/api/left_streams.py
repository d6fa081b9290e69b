"""Ends streams that their readers left without closing them."""

import gc
import inspect
import threading
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import ReferenceType, WeakSet, ref

#: A stream, which is not kept alive.
StreamReference = ReferenceType[Generator[Any, None, None]]
#: How long to wait between two looks at the streams, in seconds: at first, and at most.
_PAUSE, _LONGEST_PAUSE = 0.1, 5.0


def end_left_streams(streams: Iterable[StreamReference]) -> None:
    """Collect what nobody refers to any more, if one of the streams waits for its reader.

    A web framework whose client went away leaves its stream in a cycle of references. Python would close it
    much later, and meanwhile it would keep the next turn or run from beginning.
    """
    if any(_is_waiting(stream) for stream in streams):
        gc.collect()


@contextmanager
def end_streams_left_meanwhile(streams: WeakSet[Generator[Any, None, None]]) -> Iterator[None]:
    """Do so now and again while the caller waits for something that one of these streams may keep."""
    done = threading.Event()

    def watch() -> None:
        pause = _PAUSE
        while not done.wait(pause):
            end_left_streams([ref(stream) for stream in list(streams)])
            pause = min(2 * pause, _LONGEST_PAUSE)

    # One of them is the caller's own.
    if len(streams) > 1:
        threading.Thread(target=watch, name="left streams", daemon=True).start()
    try:
        yield
    finally:
        done.set()


def _is_waiting(reference: StreamReference) -> bool:
    stream = reference()
    return stream is not None and inspect.getgeneratorstate(stream) == inspect.GEN_SUSPENDED
