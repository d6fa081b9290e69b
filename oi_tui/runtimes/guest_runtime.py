"""A language that runs in the process of another one and shares its variables."""

import threading
from collections.abc import Generator

from oi_tui.messages import Report
from oi_tui.runtimes.completions import CompletionSet
from oi_tui.runtimes.language import Language
from oi_tui.runtimes.pty_runtime import PtyRuntime
from oi_tui.runtimes.variables import Detail, Memory


class GuestRuntime:
    """A language whose cells the driver of another language runs: SQL in the process of Python.

    The process belongs to the host: it starts with the first cell of either, and ends for both.
    """

    def __init__(self, language: Language, host: PtyRuntime) -> None:
        self.language = language
        self.host = host

    def run(
        self, code: str, stopped: threading.Event, number: int | None = None
    ) -> Generator[Report, None, None]:
        """Run code; its reports as they come, `RunEnded` last. Closed early, the run is interrupted first."""
        return self.host.run(code, stopped, number, self.language)

    def read_memory(self) -> Memory:
        """Return the variables that the language reports."""
        return self.host.read_memory(self.language)

    def inspect(self, name: str) -> Detail | None:
        """Return None: single values are those of the host."""

    def complete(self, before: str) -> CompletionSet | None:
        """Return what completes the code before the caret."""
        return self.host.complete(before, self.language)

    def send_input(self, text: str) -> None:
        """Type to the program."""
        self.host.send_input(text)

    def interrupt(self) -> None:
        """Interrupt the run; called again, end the host with what it remembers."""
        self.host.interrupt()

    def resize(self, columns: int, rows: int) -> None:
        """Tell programs the size of their terminal."""
        self.host.resize(columns, rows)

    def reset(self) -> None:
        """Reset the host."""
        self.host.reset()

    def close(self) -> None:
        """Do nothing: the host ends its own process."""
