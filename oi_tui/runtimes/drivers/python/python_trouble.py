"""Formats the traceback of an exception without the lines of the driver."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import os
import sys
import traceback

_LARGEST_REASON = 300
#: How errors are shown, in IPython's words: Plain, Context, Verbose or Minimal.
mode = "Context"
_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def show(error, print_plainly):
    """Print the exception as the program wants it printed, else as Python does, else plainly."""
    _strip(error, set())
    trace = error.__traceback__
    # For looking at it afterwards, with pdb.pm() or %tb.
    sys.last_type, sys.last_value, sys.last_traceback, sys.last_exc = type(error), error, trace, error
    hook = getattr(sys, "excepthook", sys.__excepthook__)
    try:
        if hook is not sys.__excepthook__:
            hook(type(error), error.with_traceback(trace), trace)
        else:
            _print(error, trace)
        sys.stderr.flush()
    except BaseException:
        try:
            text = "".join(traceback.format_exception(type(error), error, trace))
        except BaseException:
            text = type(error).__name__ + "\n"
        print_plainly(text)


def _print(error, trace):
    if mode == "Minimal":
        sys.stderr.write("".join(traceback.format_exception_only(type(error), error)))
    elif mode == "Verbose":
        report = traceback.TracebackException(type(error), error, trace, capture_locals=True)
        _keep_named(report)
        sys.stderr.write("".join(report.format()))
    else:
        traceback.print_exception(type(error), error, trace, file=sys.stderr)


def _keep_named(shown):
    """Of all variables of the cells, show only those that the line names."""
    for frame in shown.stack:
        if frame.locals and frame.name == "<module>":
            line = frame.line or ""
            frame.locals = {name: text for name, text in frame.locals.items() if name in line} or None


def describe_error(error):
    """Return the exception in one line."""
    try:
        text = str(error)
    except Exception:
        text = ""
    name = type(error).__name__
    whole = "{}: {}".format(name, text.strip().splitlines()[0]) if text.strip() else name
    return whole[:_LARGEST_REASON]


def _strip(error, seen):
    """Leave the driver's own frames out of the traceback of an exception and of those of its causes."""
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        trace = error.__traceback__
        if trace is not None and _is_ours(trace.tb_frame):
            while trace is not None and not trace.tb_frame.f_code.co_filename.startswith("<cell "):
                trace = trace.tb_next
            error.__traceback__ = trace
        while trace is not None:
            while trace.tb_next is not None and _is_ours(trace.tb_next.tb_frame):
                trace.tb_next = trace.tb_next.tb_next
            trace = trace.tb_next
        error = error.__cause__ or error.__context__


def _is_ours(frame):
    return frame.f_code.co_filename.startswith(_HERE)
