"""Samples the line of the cell that the main thread executes."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import _thread
import sys

# A program may put another in its place.
from time import sleep

_LOOKS = 30.0  # a second


class Sampler:
    """Reports the active line, and flushes partial lines, in a separate thread while a cell runs.

    The end of a cell wakes nobody: the thread sees it when it looks next, so that cells which follow each
    other at once are spared handing the interpreter over.
    """

    def __init__(self, driver):
        self._driver = driver
        self._main = _thread.get_ident()
        self.busy = False
        self._begun = _thread.allocate_lock()
        self._begun.acquire()
        self.active_line = True
        _thread.start_new_thread(self._sample, ())

    def begin(self):
        self.busy = True
        if self._begun.locked():
            self._begun.release()

    def end(self):
        self.busy = False

    def _sample(self):
        frames = sys._current_frames
        while True:
            if not self.busy:
                self._begun.acquire()
                continue
            sleep(1 / _LOOKS)
            if not self.busy:
                continue
            try:
                if self.active_line:
                    line = self._find_line(frames().get(self._main))
                    # The run may have ended while we looked; its "no line" is the last word.
                    if line and self.busy:
                        self._driver.channel.line(line)
                        if not self.busy:
                            self._driver.channel.line(0)
                self._driver.streams.flush_terminal()
            except Exception:
                # What a program does to its streams and frames is no reason to stop looking.
                continue

    def _find_line(self, frame):
        name = self._driver.file_name
        while frame is not None:
            if frame.f_code.co_filename == name:
                return frame.f_lineno
            frame = frame.f_back
        line, awaited = 0, self._driver.coroutine
        while awaited is not None:
            frame = getattr(awaited, "cr_frame", None)
            if frame is None:
                break
            if frame.f_code.co_filename == name:
                line = frame.f_lineno
            awaited = awaited.cr_await
        return line
