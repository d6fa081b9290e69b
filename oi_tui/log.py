"""The log: a private file of limited size, and its newest lines in memory."""

import contextlib
import logging
import os
import sys
from collections import deque
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from oi_tui import paths
from oi_tui.engine.credentials.redaction import RedactingFormatter
from oi_tui.text import escape_controls

_root = logging.getLogger("oi_tui")
#: Bytes of the file before it is put aside, and how many that were are kept.
_LARGEST, _KEPT = 1_000_000, 2
#: Lines at hand, and characters of one.
_LINES, _WIDEST = 2000, 2000


def file() -> Path:
    """Return the log file."""
    return paths.state() / "oi-tui.log"


class RecentLines(logging.Handler):
    """Keeps the newest lines, without keys. `count` is how many there ever were."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: deque[str] = deque(maxlen=_LINES)
        self.count = 0
        self.setFormatter(RedactingFormatter("%(asctime)s  %(message)s", "%H:%M:%S"))

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the record, with one entry for each of its lines."""
        for line in self.format(record)[: 10 * _WIDEST].split("\n"):
            self.lines.append(line[:_WIDEST])
            self.count += 1


class _PrivateFile(RotatingFileHandler):
    """A file that is its owner's from the first byte on, and each that follows it too."""

    def _open(self) -> TextIOWrapper:
        descriptor = os.open(
            self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
        os.fchmod(descriptor, 0o600)
        return open(descriptor, "a", encoding="utf-8", errors="replace")  # noqa: PTH123

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Ignore the error: a full disk costs lines of the log, and nothing else."""


class _Printer(logging.Handler):
    """Prints lines on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print the record; nothing it says can control the terminal."""
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"log {escape_controls(self.format(record)[:_WIDEST])}\n")
            sys.stderr.flush()


#: The newest lines of this run of the program.
recent = RecentLines()
#: Why there is no file, where there is none.
_unkept: list[str] = []
_printer = _Printer()
_printer.setFormatter(RedactingFormatter("%(asctime)s  %(message)s", "%H:%M:%S"))


def print_lines(on: bool) -> None:
    """Print what is logged from now on, or no longer."""
    if on:
        _root.addHandler(_printer)
    else:
        _root.removeHandler(_printer)


def describe_place() -> str:
    """Describe where the log is, or why there is none."""
    if _unkept:
        return f"The log is not kept, only shown here (%log): {paths.shorten(file())}: {_unkept[0]}."
    return f"The log is kept in {paths.shorten(file())}."


def find_problem() -> str:
    """Return why the log is not kept in a file; empty where it is."""
    return describe_place() if _unkept else ""


def begin() -> None:
    """Start logging. Where the folder cannot be written to, there is no file, and all else works."""
    if recent in _root.handlers:
        return
    _unkept.clear()
    _root.addHandler(recent)
    _root.setLevel(logging.INFO)
    _root.propagate = False
    try:
        paths.make_private(paths.state())
        handler = _PrivateFile(file(), maxBytes=_LARGEST, backupCount=_KEPT, encoding="utf-8")
    except OSError as error:
        _unkept.append(error.strerror or str(error))
        return
    handler.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    _root.addHandler(handler)


def capture_other_loggers() -> None:
    """Log what other packages report too, which would go to standard error otherwise."""
    root = logging.getLogger()
    for handler in _root.handlers:
        if handler not in root.handlers:
            root.addHandler(handler)
