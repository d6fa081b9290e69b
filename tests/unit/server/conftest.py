"""A server with a model that recites, at a free port of this machine."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.unit.server.running import Running

Serve = Callable[..., Running]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a server; it is ended after the test."""
    with ExitStack() as stack:
        yield lambda *replies, **options: stack.enter_context(Running(*replies, **options))
