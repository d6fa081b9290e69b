"""Asks the questions of the Python API on the terminal, if there is one."""

import sys
from collections.abc import Callable
from getpass import getpass

from oi_tui.messages import InputRequested

#: What reading standard input raises where nothing can be read: at its end, where it is closed, is missing,
#: is captured by a test runner, or belongs to a notebook that runs by itself.
_UNREADABLE = (EOFError, OSError, RuntimeError, ValueError, AttributeError)
_END_OF_INPUT = "\x04"
_NOBODY = "The program asked for input, but standard input had none. It got end of input."


#: Returns the line that a program gets; None is the end of input.
OnInput = Callable[[InputRequested], str | None]


class NoInputError(Exception):
    """A question could not be asked, or standard input ended before it was answered."""


def ask_approval() -> bool:
    """Ask whether to run the code. Raises NoInputError."""
    try:
        return input("\nRun this code? (y/n) ").strip().lower() in ("y", "yes")
    except _UNREADABLE as error:
        raise NoInputError(str(error) or type(error).__name__) from error


class InputAnswerer:
    """Answers programs that wait for input: with what `on_input` returns, else with what a person types.

    Where there is neither, they get the end of input.
    """

    def __init__(self, send: Callable[[str], None], on_input: OnInput | None = None) -> None:
        self._send = send
        self._on_input = on_input
        self._noticed_run: str | None = None

    def answer(self, request: InputRequested, run: str = "") -> str:
        """Answer a request. Returns a notice for the person, or ""; there is one notice for each `run`."""
        line = self._on_input(request) if self._on_input else _read_line(request)
        self._send(_END_OF_INPUT if line is None else f"{line}\n")
        if line is not None or self._on_input or run == self._noticed_run:
            return ""
        self._noticed_run = run
        return _NOBODY


def _read_line(request: InputRequested) -> str | None:
    """Return a line from the terminal; None at the end of input, or without a terminal."""
    read = getpass if request.masked else input
    try:
        return read("\nThe program is waiting for input: ") if sys.stdin.isatty() else None
    except _UNREADABLE:
        return None
