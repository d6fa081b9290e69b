"""Handles signals: cells keep their own handlers, and between cells no signal can raise."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import _signal
import faulthandler

_TIMERS = (
    (_signal.ITIMER_REAL, _signal.SIGALRM),
    (_signal.ITIMER_VIRTUAL, _signal.SIGVTALRM),
    (_signal.ITIMER_PROF, _signal.SIGPROF),
)
_NONE = (0.0, 0.0)


class Signals:
    """What a program does with signals, timers and the mask, kept apart from the driver's own business.

    What it set up stays for the next cell. But a timer that nobody hears would end the process, and goes with
    its cell; and the timers, the watchdog and the mask of a cell that broke off were meant for that cell.
    """

    def __init__(self, interrupt_at_rest, stop, complain):
        self._interrupt_at_rest, self._stop, self._complain = interrupt_at_rest, stop, complain
        self.stop_number = getattr(_signal, "SIGRTMAX", _signal.SIGUSR2)
        if self.stop_number != _signal.SIGUSR2:
            self.stop_number -= 1
        self._own = (_signal.SIGINT, self.stop_number)
        self._handlers = {}
        self._complained = False
        self._running = []
        self._mask = None
        self._take_back()

    def hand_over(self):
        """Give the cell's program its own signals again."""
        self._running = [_signal.getitimer(timer) != _NONE for timer, _ in _TIMERS]
        self._mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, ())
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)
        while self._handlers:
            number, handler = self._handlers.popitem()
            if _signal.getsignal(number) == self._hear:
                _signal.signal(number, handler)

    def take_back(self):
        """Keep signals from disturbing the driver after a cell. Raises what came until then."""
        late = None
        for _ in range(100):
            try:
                self._take_back()
                break
            except BaseException as error:
                late = error
        if late is not None:
            raise late

    def tidy(self, whole):
        """End the timers of a cell that nobody would expect to go on; `whole` when it came to its end."""
        for (timer, number), before in zip(_TIMERS, self._running):
            unheard = _signal.getsignal(number) == _signal.SIG_DFL
            if (unheard or not (whole or before)) and _signal.getitimer(timer) != _NONE:
                _signal.setitimer(timer, 0)
        if not whole:
            faulthandler.cancel_dump_traceback_later()
            _signal.pthread_sigmask(_signal.SIG_SETMASK, self._mask)

    def _take_back(self):
        _signal.signal(_signal.SIGINT, self._interrupt_at_rest)
        _signal.signal(self.stop_number, self._stop)
        self._complained = False
        for number in range(1, _signal.NSIG):
            if number in self._own:
                continue
            handler = _signal.getsignal(number)
            # All but SIG_DFL, SIG_IGN and what was not set from Python.
            if callable(handler) and handler != self._hear:
                self._handlers[number] = handler
                _signal.signal(number, self._hear)

    def _hear(self, number, frame):
        """Pass a signal that comes between cells to its handler, which may fail."""
        try:
            self._handlers[number](number, frame)
        except BaseException as error:
            # A timer might make it fail over and over.
            if not self._complained:
                self._complained = True
                self._complain(error)
