"""The debugger of Python, under the names of IPython's."""

# mypy: ignore-errors
from __future__ import annotations

import pdb
import sys

__all__ = ["Pdb", "set_trace"]


class Pdb(pdb.Pdb):
    """Python's own debugger."""

    def __init__(self, *args, color_scheme=None, context=None, **options):
        super().__init__(*args, **options)


def set_trace(frame=None, header=None):
    """Stop here, and let the person look around."""
    debugger = Pdb()
    if header is not None:
        debugger.message(header)
    debugger.set_trace(frame or sys._getframe().f_back)
