"""The event loop of the cells: one for all of them, in which tasks go on between the cells as well."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import asyncio
import os
import select
import signal
import sys
import threading

_TASKS_FILE = asyncio.tasks.__file__


class Tasks:
    """What top-level `await` and `asyncio.create_task` of a cell run in.

    A cell's plain statements are no coroutine, so that `asyncio.run` and `run_until_complete` work in them;
    yet a task may be made there, as in a notebook. It continues while a later cell awaits, and at rest.
    """

    def __init__(self):
        self._loop = None
        self._pid = os.getpid()
        self._older = set()
        self._running = asyncio.get_running_loop
        asyncio.events.get_running_loop = asyncio.get_running_loop = self._get_running_loop

    def begin(self):
        """Make the loop the current one before a cell, and a new one if it was closed."""
        self._older = self._list_all()
        asyncio.set_event_loop(self._count_all())

    def run(self, coroutine):
        """Run a cell's coroutine to its end; its value."""
        loop = self._count_all()
        ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        try:
            if ours:
                signal.signal(signal.SIGINT, self._interrupt)
            return loop.run_until_complete(coroutine)
        except BaseException:
            if not any(task.get_coro() is coroutine for task in self._list_all()):
                # It was interrupted before it began, and need not complain of that.
                coroutine.close()
            raise
        finally:
            if ours and signal.getsignal(signal.SIGINT) == self._interrupt:
                signal.signal(signal.SIGINT, signal.default_int_handler)

    def _interrupt(self, number, frame):
        """Interrupt the awaiting cell, also when a task of an earlier cell has its turn.

        That task continues, and the interrupt comes as soon as it lets others have theirs; one that never
        does ends at the next step of those that stop a run.
        """
        if asyncio.current_task(self._loop) in self._older:
            self._loop.call_soon_threadsafe(signal.default_int_handler, number, frame)
        else:
            signal.default_int_handler(number, frame)

    def rest(self, number):
        """Between cells: let tasks go on until the descriptor has something to read, or nothing is left."""
        while self._is_busy() and not has_something_to_read(number):
            loop = self._loop
            try:
                loop.add_reader(number, loop.stop)
                loop.run_forever()
                loop.remove_reader(number)
            except SystemExit:
                continue
            except (OSError, ValueError):
                # The program closed what the loop looks at.
                self._forget()

    def cancel(self):
        """End what an interrupted cell began, within a second; tasks of earlier cells go on."""
        tasks = self._list_all() - self._older
        if not tasks:
            return
        for task in tasks:
            task.cancel()
        try:
            self._loop.run_until_complete(asyncio.wait(tasks, timeout=1))
        except BaseException:
            self._forget()
        for task in tasks:
            # The exception was shown once; asyncio need not complain that nobody fetched it.
            task._log_destroy_pending = False
            if task.done() and not task.cancelled():
                task.exception()

    def _get_running_loop(self):
        """`asyncio.get_running_loop`; for a cell's own statements it is the loop of the cells."""
        loop = asyncio._get_running_loop()
        if loop is not None:
            return loop
        asking = sys._getframe(1).f_code.co_filename
        if (
            (asking == _TASKS_FILE or asking.startswith("<cell "))
            and threading.current_thread() is threading.main_thread()
            and os.getpid() == self._pid
        ):
            return self._count_all()
        return self._running()

    def _list_all(self):
        return set() if self._loop is None or self._loop.is_closed() else asyncio.all_tasks(self._loop)

    def _count_all(self):
        if self._loop is not None:
            try:
                # A program may have closed any descriptor.
                os.fstat(self._loop._selector.fileno())
            except AttributeError:
                pass
            except (OSError, ValueError):
                self._forget()
        if self._loop is None or self._loop.is_closed():
            # A loop that an interrupt leaves half made would complain when it goes.
            signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
            try:
                self._loop = asyncio.new_event_loop()
                asyncio.set_event_loop(self._loop)
            finally:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT,))
        return self._loop

    def _is_busy(self):
        """Return whether something of the loop's could go on: a task, a call, a connection."""
        loop = self._loop
        if loop is None or loop.is_closed():
            return False
        try:
            return bool(
                loop._ready or loop._scheduled or len(loop._selector.get_map()) > 1 or self._list_all()
            )
        except (AttributeError, TypeError):
            return True

    def _forget(self):
        for task in self._list_all():
            task._log_destroy_pending = False
        self._loop = None


def has_something_to_read(number):
    """Return whether a descriptor could be read at once."""
    return bool(select.select([number], [], [], 0)[0])
