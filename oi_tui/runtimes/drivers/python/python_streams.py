"""The streams of the program: sends what they hold, and repairs them between cells."""

# mypy: ignore-errors

from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import _codecs
import sys

# A program may put others in their place.
from os import dup2, fstat


class Streams:
    """Standard input, output and error as they were at the start, on the terminal of the channel."""

    def __init__(self, channel):
        self._channel = channel
        self._device = fstat(channel.terminal).st_rdev
        self.stdin, self.stdout, self.stderr = sys.stdin, sys.stdout, sys.stderr

    def accept_all_text(self):
        """Let text be printed that cannot be encoded, which would be an error."""
        if self.stdout.errors in ("strict", "surrogateescape"):
            _codecs.register_error("oi_tui", _spell)
            self.stdout.reconfigure(errors="oi_tui")

    def print_plainly(self, text):
        """Write to the terminal itself, even if `sys.stderr` was replaced."""
        self._channel.write(self._channel.terminal, text.encode("utf-8", "replace"))

    def flush(self):
        """Send what the program's streams still hold; never raises for what a program did to them."""
        streams = [getattr(sys, "stdout", None), self.stdout, getattr(sys, "stderr", None), self.stderr]
        for stream in {id(item): item for item in streams}.values():
            try:
                stream.flush()
            except Exception:
                continue

    def flush_terminal(self):
        """Send what the terminal's own streams hold, such as a prompt or a bar without its newline."""
        self.stdout.flush()

    def prints_on_terminal(self):
        """Return whether `print` writes on the terminal."""
        return getattr(sys, "stdout", None) is self.stdout and self._is_on_terminal()

    def _is_on_terminal(self):
        """Return whether descriptor 1 is still the terminal, which it nearly always is."""
        try:
            return fstat(1).st_rdev == self._device
        except OSError:
            return True

    def repair(self):
        """Open again what a program closed: descriptors and streams."""
        for number in (0, 1, 2):
            try:
                fstat(number)
            except OSError:
                dup2(self._channel.terminal, number)
        self._channel.repair_terminal()
        for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
            if _is_closed(getattr(sys, name, None)):
                if _is_closed(getattr(self, name)):
                    stream = open(
                        number, mode, encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False
                    )
                    setattr(self, name, stream)
                setattr(sys, name, getattr(self, name))


def _is_closed(stream):
    """Return whether the stream is closed."""
    try:
        return stream is None or getattr(stream, "closed", False)
    except ValueError:
        # It was detached from its buffer.
        return True


def _spell(error):
    """Return what cannot be encoded, as names of files and cut texts may hold: bytes as they were,
    else escapes.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    invalid = error.object[error.start : error.end]
    codes = [ord(item) for item in invalid]
    if all(0xDC80 <= code <= 0xDCFF for code in codes):
        return bytes(code - 0xDC00 for code in codes), error.end
    return invalid.encode("ascii", "backslashreplace"), error.end
