"""Modules that are imported when they are first used.

Each worker collects all tests, and few of them run the tests that need these: together they take more than
three seconds of a processor to import.
"""

import importlib.util
import sys
from typing import Any


def when_used(name: str) -> Any:
    """Return the module; the first look at what is in it imports it."""
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.find_spec(name)
    assert spec
    assert spec.loader
    loader = importlib.util.LazyLoader(spec.loader)
    spec.loader = loader
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
