"""The signals that end the program, and how they wait until what has to be ended first has ended."""

import contextlib
import signal
import threading
from collections.abc import Iterator, Sequence

_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def list_ending_signals() -> Sequence[signal.Signals]:
    """Return the signals that end a program without a screen in order.

    SIGHUP is not one of them where our parent had it ignored: nohup starts programs so, to outlive a logout.
    """
    ignores_hangup = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return tuple(number for number in _NUMBERS if number != signal.SIGHUP or not ignores_hangup)


@contextlib.contextmanager
def note_ending_signals() -> Iterator[list[int]]:
    """Have signals that would end our program at once wait until the end of the block, in the main thread.

    Yields the list in which they are noted; they end the program at the end of the block. A program that
    connects to a target has a session of its own, so that no ctrl+c reaches it. Left alone, it would wait on:
    ssh for its host, or a job for its machine.
    """
    if threading.current_thread() is not threading.main_thread():
        yield []
        return
    noted: list[int] = []
    ending = [number for number in _NUMBERS if signal.getsignal(number) is signal.SIG_DFL]
    for number in ending:
        signal.signal(number, lambda number, _: noted.append(number))
    try:
        yield noted
    finally:
        for number in ending:
            signal.signal(number, signal.SIG_DFL)
        if noted:
            signal.raise_signal(noted[0])
