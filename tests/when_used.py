"""Modules that are imported when they are first used.

Each worker collects all tests, and few of them run the tests that need these: together they take more than
five seconds of a processor to import.
"""

import importlib
from types import ModuleType
from typing import Any


class _Later(ModuleType):
    """Stands for a module that is not imported yet."""

    #: pytest and its plugins ask all that is in a module of tests for this.
    __test__ = False

    def __getattr__(self, name: str) -> Any:
        # pytest also asks all for their base classes, and for more that starts so.
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(importlib.import_module(self.__name__), name)


def when_used(name: str) -> Any:
    """Return what stands for the module; the first look at what is in it imports it."""
    return _Later(name)
