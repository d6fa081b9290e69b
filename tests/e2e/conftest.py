"""Programs for the end-to-end tests, ended when the test is over."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.program import Program

Start = Callable[..., Program]


@pytest.fixture
def start(workplace: Path) -> Iterator[Start]:
    """Start the program in the workplace; as the demo unless other arguments are given."""
    with ExitStack() as running:

        def start(*arguments: str, **options: object) -> Program:
            program = Program(*(arguments or ("--demo",)), cwd=workplace, **options)  # type: ignore[arg-type]
            return running.enter_context(program)

        yield start
