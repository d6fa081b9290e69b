"""Times of functions, in seconds of a processor."""

# mypy: ignore-errors
from __future__ import annotations

import time

__all__ = ["clock", "clock2", "timing", "timings"]
clock = time.process_time


def clock2():
    """Return the seconds of the program and of the system."""
    seconds = time.process_time()
    return seconds, 0.0


def timings(func, *args, **options):
    """Call a function once and return the seconds."""
    return timings_out(1, func, *args, **options)[:2]


def timings_out(reps, func, *args, **options):
    """Call a function so often; return the seconds, those of one call, and the last value."""
    value, start = None, clock()
    for _ in range(max(1, reps)):
        value = func(*args, **options)
    seconds = clock() - start
    return seconds, seconds / max(1, reps), value


def timing(func, *args, **options):
    """Return the seconds of one call."""
    return timings(func, *args, **options)[0]
