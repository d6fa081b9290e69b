"""Prints values as the results of cells are printed."""

# mypy: ignore-errors
from __future__ import annotations

import builtins
import sys
from contextlib import contextmanager
from io import StringIO

__all__ = [
    "PrettyPrinter",
    "RepresentationPrinter",
    "for_type",
    "for_type_by_name",
    "pprint",
    "pretty",
]
MAX_SEQ_LENGTH = 1000


def pretty(obj, verbose=False, max_width=79, newline="\n", max_seq_length=MAX_SEQ_LENGTH):
    """Return the text of a value."""
    stream = StringIO()
    printer = RepresentationPrinter(stream, verbose, max_width, newline, max_seq_length)
    printer.pretty(obj)
    printer.flush()
    return stream.getvalue()


def pprint(obj, verbose=False, max_width=79, newline="\n", max_seq_length=MAX_SEQ_LENGTH):
    """Print a value."""
    sys.stdout.write(pretty(obj, verbose, max_width, newline, max_seq_length) + newline)


def for_type(typ, func):
    """Have `func(value, printer, cycle)` print the values of a type; returns what did before."""
    return builtins.get_ipython().display_formatter.formatters["text/plain"].for_type(typ, func)


def for_type_by_name(type_module, type_name, func):
    """Have a function print the values of a type that need not be imported yet."""
    formatter = builtins.get_ipython().display_formatter.formatters["text/plain"]
    return formatter.for_type_by_name(type_module, type_name, func)


class PrettyPrinter:
    """Lays text out in lines, and writes it to a file."""

    def __init__(self, output, max_width=79, newline="\n", max_seq_length=MAX_SEQ_LENGTH):
        self.output = output
        self._printer = builtins.get_ipython()._make_printer()
        self._printer.max_width, self._printer.newline = max_width, newline
        self._printer.max_seq_length = max_seq_length

    def __getattr__(self, name):
        return getattr(self._printer, name)

    def flush(self):
        """Write what is laid out."""
        self.output.write(self._printer.finish())
        del self._printer._done[:]

    @contextmanager
    def group(self, indent=0, open="", close=""):
        """Break all lines within, or none."""
        with self._printer.group(indent, open, close):
            yield


class RepresentationPrinter(PrettyPrinter):
    """Prints values."""

    def __init__(
        self, output, verbose=False, max_width=79, newline="\n", max_seq_length=MAX_SEQ_LENGTH, **options
    ):
        super().__init__(output, max_width, newline, max_seq_length)
        self._printer.verbose = verbose

    def pretty(self, obj):
        """Print a value."""
        self._printer.pretty(obj)
