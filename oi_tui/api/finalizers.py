"""Cleans up after objects that are no longer used.

The garbage collector may call a finalizer amid any other code of any thread, also while that thread holds the
lock that the clean-up needs. So a finalizer only leaves the work to a thread of this module.
"""

import atexit
import logging
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

_log = logging.getLogger(__name__)
_lock = threading.Lock()
_thread: threading.Thread | None = None
#: Putting into this kind of queue takes no lock of Python's.
_work: SimpleQueue[Callable[[], Any]] = SimpleQueue()
_exiting = False


def finalize(owner: object, clean_up: Callable[[], Any]) -> None:
    """Have `clean_up` called, which must not refer to the owner, once the owner or the program ends."""
    global _thread
    with _lock:
        if _thread is None:
            _thread = threading.Thread(target=_clean_up, name="finalizers", daemon=True)
            _thread.start()
    weakref.finalize(owner, _leave, clean_up)


def _leave(clean_up: Callable[[], Any]) -> None:
    if _exiting:
        clean_up()
    else:
        _work.put(clean_up)


def _clean_up() -> None:
    while True:
        clean_up = _work.get()
        try:
            clean_up()
        except Exception:  # noqa: BLE001  # there is nobody to report it to, and the others must still run
            _log.exception("Clean-up failed")


@atexit.register
def _exit() -> None:
    """Do what is left; the finalizers that run after this do their work themselves."""
    global _exiting
    _exiting = True
    with suppress(Empty):
        while True:
            _work.get_nowait()()
