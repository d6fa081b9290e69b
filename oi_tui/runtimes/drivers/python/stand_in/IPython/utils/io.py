"""What is printed."""

# mypy: ignore-errors
from __future__ import annotations

import builtins
import sys

from IPython.utils.capture import capture_output

__all__ = ["Tee", "ask_yes_no", "capture_output", "raw_print", "raw_print_err"]


class Tee:
    """Writes to a file what is printed, too."""

    def __init__(self, file_or_name, mode="w", channel="stdout"):
        self.file = file_or_name if hasattr(file_or_name, "write") else open(file_or_name, mode)
        self._channel, self._own = channel, self.file is not file_or_name
        self.ostream = getattr(sys, channel)
        setattr(sys, channel, self)
        self._closed = False

    def write(self, data):
        """Write to both."""
        self.ostream.write(data)
        self.ostream.flush()
        self.file.write(data)

    def flush(self):
        """Write what is held back."""
        self.ostream.flush()
        self.file.flush()

    def close(self):
        """Print as before."""
        if self._closed:
            return
        self._closed = True
        self.flush()
        setattr(sys, self._channel, self.ostream)
        if self._own:
            self.file.close()


def ask_yes_no(prompt, default=None, interrupt=None):
    """Ask the person."""
    return builtins.get_ipython().ask_yes_no(prompt, default, interrupt)


def raw_print(*args, **options):
    """Print to the terminal."""
    print(*args, file=sys.__stdout__, **options)


def raw_print_err(*args, **options):
    """Print to the terminal, as an error."""
    print(*args, file=sys.__stderr__, **options)


rprint, rprinte = raw_print, raw_print_err
