"""Cleans up after objects that are no longer used.

The garbage collector may call a finalizer within any other code of any thread, also while that thread holds
the lock that the clean-up needs. So a finalizer only leaves the work to a thread of this module.
"""

import atexit
import gc
import inspect
import logging
import os
import threading
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

#: A stream, which is not kept alive.
StreamReference = weakref.ReferenceType[Generator[Any, None, None]]
#: How long to wait between two looks at the streams, in seconds: at first, and at most.
_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
#: How long the clean-up may take when the program ends, in seconds.
_TIMEOUT = 30.0
_log = logging.getLogger(__name__)
_lock = threading.Lock()
_thread: threading.Thread | None = None
#: Putting into this kind of queue takes no lock of Python's. None ends the thread.
_work: SimpleQueue[Callable[[], Any] | None] = SimpleQueue()
_exiting = False


def finalize(owner: object, clean_up: Callable[[], Any]) -> None:
    """Call `clean_up`, which must not refer to the owner, once the owner or the program ends."""
    global _thread
    with _lock:
        if _thread is None:
            _thread = threading.Thread(target=_clean_up, name="finalizers", daemon=True)
            _thread.start()
    weakref.finalize(owner, _leave, os.getpid(), clean_up)


def end_left_streams(streams: Iterable[StreamReference]) -> None:
    """Collect what nobody refers to any more, if one of the streams waits for its reader.

    A web framework whose client went away leaves its stream in a cycle of references. Python would close it
    much later, and meanwhile it would keep the next turn or run from beginning.
    """
    if any(_is_waiting(stream) for stream in streams):
        gc.collect()


@contextmanager
def end_streams_left_meanwhile(streams: weakref.WeakSet[Generator[Any, None, None]]) -> Iterator[None]:
    """End left streams now and again while the caller waits for something that one of these may keep."""
    done = threading.Event()

    def watch() -> None:
        pause = _PAUSE
        while not done.wait(pause):
            end_left_streams([weakref.ref(stream) for stream in list(streams)])
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


def _leave(process: int, clean_up: Callable[[], Any]) -> None:
    if process != os.getpid():
        # In a forked process: what is to be ended belongs to its parent.
        return
    if _exiting:
        clean_up()
    else:
        _work.put(clean_up)


def _clean_up() -> None:
    while clean_up := _work.get():
        try:
            clean_up()
        except Exception:  # noqa: BLE001  # there is nobody to report it to, and the others must still run
            _log.exception("Clean-up failed")


def _start_anew() -> None:
    """Forget the thread of the parent, and the work that it has left."""
    global _lock, _thread, _work
    _lock, _thread, _work = threading.Lock(), None, SimpleQueue()


os.register_at_fork(after_in_child=_start_anew)


@atexit.register
def _exit() -> None:
    """Wait for what is left; the finalizers that run after this do their work themselves."""
    global _exiting
    _exiting = True
    if _thread is not None:
        _work.put(None)
        # Cut off in the midst of its work, the thread could leave a process behind.
        _thread.join(_TIMEOUT)
