"""Adapts Python's own modules to cells: help, the debugger, and interrupts."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

#: Modules of ours that run between the statements of a cell.
_OURS = ["python_" + name for name in "driver cells channel sampler shows tasks magic_runner timing".split()]


def adjust(module):
    """Adjust a module that was just imported."""
    {"pydoc": _print_help, "bdb": _hide_driver, "signal": _keep_interrupt}[module.__name__](module)


def _print_help(pydoc):
    """Let `help()` print, where it would open a pager that a person has to quit."""
    pydoc.pager = getattr(pydoc, "plain_pager", None) or pydoc.plainpager


def _hide_driver(bdb):
    """Let debuggers step from statement to statement of a cell, not through the driver."""
    begin = bdb.Bdb.__init__

    def __init__(self, skip=None, *options, **more):
        begin(self, [*(skip or ()), *_OURS], *options, **more)

    bdb.Bdb.__init__ = __init__


def _keep_interrupt(signal):
    """Let an interrupt end the cell, also where the program set it to end the process."""
    import functools

    set_handler = signal.signal

    @functools.wraps(set_handler)
    def set_handler_or_keep(signalnum, handler):
        if signalnum == signal.SIGINT and handler == signal.SIG_DFL:
            handler = signal.default_int_handler
        return set_handler(signalnum, handler)

    signal.signal = set_handler_or_keep
