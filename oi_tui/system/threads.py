"""Threads for work that others need not wait for."""

import threading
from collections.abc import Callable


def start_thread(work: Callable[[], object], name: str) -> threading.Thread | None:
    """Do the work in a daemon thread; at the end of the program do it at once, and return None.

    From Python 3.12 on, no thread begins once the program ends, and what is ended then (a language of the
    user's own, a kernel) would be left.
    """
    thread = threading.Thread(target=work, name=name, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        if threading.main_thread().is_alive():
            raise
        work()
        return None
    return thread
