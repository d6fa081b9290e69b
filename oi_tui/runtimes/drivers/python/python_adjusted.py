"""Adapts Python's own modules to cells: they show a program without the driver that runs it."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import os
import sys

import python_cells

_HERE = os.path.dirname(os.path.abspath(__file__))
#: Modules of ours that run between the statements of a cell.
_OURS = ["python_" + name for name in "driver cells channel sampler shows tasks magic_runner timing".split()]


def adjust(module):
    """Adjust a module that was just imported."""
    _ADJUSTMENTS[module.__name__](module)


def _is_ours(frame):
    return frame.f_code.co_filename.startswith(_HERE)


def _print_help(pydoc):
    """Let `help()` print, where it would open a pager that a person has to quit."""
    pydoc.pager = getattr(pydoc, "plain_pager", None) or pydoc.plainpager


def _hide_driver(bdb):
    """Let debuggers step from statement to statement of a cell, not through the driver."""
    begin = bdb.Bdb.__init__

    def __init__(self, skip=None, *options, **more):
        begin(self, [*(skip or ()), *_OURS], *options, **more)

    bdb.Bdb.__init__ = __init__
    get_whole = bdb.Bdb.get_stack

    def get_stack(self, frame, trace):
        stack, index = get_whole(self, frame, trace)
        index -= sum(_is_ours(place[0]) for place in stack[:index])
        return [place for place in stack if not _is_ours(place[0])], index

    bdb.Bdb.get_stack = get_stack


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


def _hide_in_stacks(traceback):
    """Leave the driver's frames out of what `print_stack` and `logging` show."""
    walk = traceback.walk_stack

    def walk_stack(f):
        # A generator would be a frame more, and which frame is the first is found by counting.
        return filter(lambda place: not _is_ours(place[0]), walk(f))

    traceback.walk_stack = walk_stack


def _hide_in_frames(inspect):
    """Leave the driver's frames out of `inspect.stack()`, and find the cell that a class is from."""
    get_outer, get_file = inspect.getouterframes, inspect.getfile

    def getouterframes(frame, context=1):
        return [place for place in get_outer(frame, context) if not _is_ours(place.frame)]

    def getfile(object):
        try:
            return get_file(object)
        except (OSError, TypeError):
            # The file of a class is that of its module, and cells have none.
            name = isinstance(object, type) and object.__module__ == "__main__" and _find_class(object)
            if not name:
                raise
            return name

    inspect.getouterframes, inspect.getfile = getouterframes, getfile


def _find_class(wanted):
    """Return the file name of the last cell that defines a class of this name; None without one."""
    import re

    pattern = re.compile(r"^\s*class\s+{}\b".format(re.escape(wanted.__name__)), re.MULTILINE)
    return next((name for name, source in reversed(python_cells.ran) if pattern.search(source)), None)


def _place_warnings(warnings):
    """Have a warning that names the caller of a cell say what it says where nothing calls a program."""
    begin = warnings.WarningMessage.__init__
    place = ("sys", 1) if sys.version_info < (3, 12) else ("<sys>", 0)

    def __init__(self, message, category, filename, lineno, *more, **options):
        if str(filename).startswith(_HERE):
            filename, lineno = place
        begin(self, message, category, filename, lineno, *more, **options)

    warnings.WarningMessage.__init__ = __init__


def _show_lines_of_threads(threading):
    """Show the lines of cells in errors of threads; before 3.13, Python looks for them in files only."""
    if sys.version_info >= (3, 13):
        return

    def excepthook(args, /):
        if args.exc_type is SystemExit:
            return
        import traceback

        stream = sys.stderr if sys.stderr is not None else getattr(args.thread, "_stderr", None)
        if stream is None:
            return
        name = args.thread.name if args.thread is not None else threading.get_ident()
        print("Exception in thread {}:".format(name), file=stream, flush=True)
        traceback.print_exception(args.exc_type, args.exc_value, args.exc_traceback, file=stream)
        stream.flush()

    threading.excepthook = threading.__excepthook__ = excepthook


_ADJUSTMENTS = {
    "pydoc": _print_help,
    "bdb": _hide_driver,
    "signal": _keep_interrupt,
    "traceback": _hide_in_stacks,
    "inspect": _hide_in_frames,
    "warnings": _place_warnings,
    "threading": _show_lines_of_threads,
}
