"""Wakes plain mode when something happens or the user presses ctrl+c."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

#: How long the line editor may overlook ctrl+c, in seconds.
_TICK = 0.2


class Wakeup:
    """Wakes a `select` from any thread and from signal handlers; the waiting side watches `descriptor`."""

    def __init__(self) -> None:
        self.descriptor, self._bell = os.pipe()
        os.set_blocking(self.descriptor, False)
        os.set_blocking(self._bell, False)
        self._lock = threading.RLock()
        self._closed = False
        #: Whether ctrl+c was pressed and nobody has seen to it yet.
        self.interrupted = False

    def ring(self) -> None:
        """Wake the waiting side; ringing twice is as good as once."""
        with self._lock, suppress(BlockingIOError):
            if not self._closed:
                os.write(self._bell, b"!")

    def silence(self) -> None:
        """Wait for the next ring."""
        with suppress(BlockingIOError):
            while os.read(self.descriptor, 4096):
                pass

    @contextmanager
    def on_interrupt(self) -> Iterator[None]:
        """Make ctrl+c wake the waiting thread within the context, instead of raising KeyboardInterrupt.

        A job that a script started in the background has ctrl+c ignored, since it is meant for other jobs.
        """

        def note(_number: int, _frame: FrameType | None) -> None:
            self.interrupted = True
            self.ring()

        self.interrupted = False
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and not os.isatty(0):
            yield
            return
        before = signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    @contextmanager
    def allow_interrupt(self) -> Iterator[None]:
        """Make ctrl+c raise KeyboardInterrupt within the context, even if it was ignored at the start.

        The line editor overlooks a signal that comes just before it waits for keys; a clock wakes it.
        """
        interrupt = signal.signal(signal.SIGINT, signal.default_int_handler)
        tick = signal.signal(signal.SIGALRM, lambda *_: None)
        signal.setitimer(signal.ITIMER_REAL, _TICK, _TICK)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, tick)
            signal.signal(signal.SIGINT, interrupt)

    def close(self) -> None:
        """Give the descriptors back; ringing does nothing from now on."""
        with self._lock:
            self._closed = True
            os.close(self.descriptor)
            os.close(self._bell)
