"""Ends streams that their readers left without closing them."""

import gc
import inspect
from collections.abc import Generator, Iterable
from typing import Any
from weakref import ReferenceType

#: A stream, which is not kept alive.
StreamReference = ReferenceType[Generator[Any, None, None]]


def end_left_streams(streams: Iterable[StreamReference]) -> None:
    """Collect what nobody refers to any more, if one of the streams waits for its reader.

    A web framework whose client went away leaves its stream in a cycle of references. Python would close it
    much later, and meanwhile it would keep the next turn or run from beginning.
    """
    if any(_is_waiting(stream) for stream in streams):
        gc.collect()


def _is_waiting(reference: StreamReference) -> bool:
    stream = reference()
    return stream is not None and inspect.getgeneratorstate(stream) == inspect.GEN_SUSPENDED
