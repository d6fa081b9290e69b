"""Printers of errors, for `sys.excepthook`: they print as cells do."""

# mypy: ignore-errors
from __future__ import annotations

import sys
import traceback


class TBTools:
    """Prints an error, or returns its text."""

    def __init__(self, mode="Plain", *args, ostream=None, **options):
        self.mode, self.ostream = mode, ostream

    def set_mode(self, mode=None):
        """Choose how much is printed."""
        self.mode = mode or self.mode

    def text(self, etype, value, tb, *args, **options):
        """Return the text of an error."""
        return "".join(traceback.format_exception(etype, value, tb))

    def structured_traceback(self, etype=None, value=None, tb=None, *args, **options):
        """Return the lines of an error."""
        etype, value, tb = (etype, value, tb) if etype else sys.exc_info()
        return self.text(etype, value, tb).splitlines()

    def stb2text(self, stb):
        """Return lines as a text."""
        return "\n".join(stb)

    def __call__(self, etype=None, evalue=None, etb=None, *args, **options):
        """Print an error."""
        text = self.text(*((etype, evalue, etb) if etype else sys.exc_info()))
        (self.ostream or sys.stderr).write(text)


class ListTB(TBTools):
    """Prints an error."""


class VerboseTB(TBTools):
    """Prints an error."""


class FormattedTB(TBTools):
    """Prints an error."""


class AutoFormattedTB(FormattedTB):
    """Prints an error."""


class ColorTB(FormattedTB):
    """Prints an error."""
