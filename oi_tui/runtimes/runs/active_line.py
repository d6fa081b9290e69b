"""Tracks the line of a cell that runs now."""

import contextlib
import time
from collections.abc import Callable

from oi_tui.messages import LineReached, Report
from oi_tui.runtimes.language import Language
from oi_tui.runtimes.processes.channel import CellChannel
from oi_tui.runtimes.processes.process import LanguageProcess
from oi_tui.runtimes.runs.output import FRAME, RunOutput
from oi_tui.runtimes.runs.python_line import PythonLine
from oi_tui.runtimes.runs.shell_line import ShellLine


class ActiveLine:
    """Reports the active line: as the driver says it, or as it stands in the memory of the language.

    `due` is when `look` should be called next.
    """

    def __init__(self, output: RunOutput, report: Callable[[Report], None]) -> None:
        self._output = output
        self._report = report
        self._line = 0
        self._read: Callable[[], int | None] | None = None
        self._memory: ShellLine | PythonLine | None = None
        self.due = float("inf")

    def watch(self, process: LanguageProcess, language: Language, code: str) -> None:
        """Look up the line from now on, where the language does not send it."""
        if language.active_line == "cell":
            self._read = lambda: process.channel.line
            with contextlib.suppress(ValueError):
                self._memory = frames = PythonLine(process.pid, process.interpreter)
                self._read = lambda: _find_line(frames, process.channel)
        elif language.active_line == "memory":
            with contextlib.suppress(ValueError):
                self._memory = shell = ShellLine(process.pid, code)
                self._read = shell.read
        if self._read:
            self.due = time.monotonic()

    def check(self, now: float) -> None:
        """Report the line, if it is another one."""
        if self._read and now >= self.due:
            self.due = now + FRAME
            self.reach(self._read())

    def reach(self, line: int | None) -> None:
        """Report this line, if it is another one."""
        if line and line > 0 and line != self._line:
            self._line = line
            self._output.flush_if_any()
            self._report(LineReached(line))

    def close(self) -> None:
        """Report that no line is active."""
        if self._memory:
            self._memory.close()
        if self._line:
            self._report(LineReached(None))


def _find_line(frames: PythonLine, channel: CellChannel) -> int | None:
    """Return the line by the frames; where none is the cell's, as while it awaits something,
    by the driver.
    """
    cell, run = channel.cell
    line = frames.read(cell, run) if run else None
    return channel.line if line is None else line
