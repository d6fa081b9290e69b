"""Programs for the end-to-end tests, ended when the test is over."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.program import Program
from tests.quick_starts import nursery

Start = Callable[..., Program]


@pytest.fixture(scope="session")
def models_at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The address at which model processes start at once."""
    address = tmp_path_factory.mktemp("models") / "socket"
    with nursery.nursery("models", address):
        yield address


@pytest.fixture(autouse=True)
def quick_models(models_at: Path, own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model processes of programs are forks of one that has imported LiteLLM."""
    for name, value in nursery.variables(nursery.MODELS, models_at).items():
        monkeypatch.setenv(name, value)
    # Tests wait until nothing changes on the screen any more.
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")


@pytest.fixture
def start(workplace: Path) -> Iterator[Start]:
    """Start the program in the workplace; as the demo unless other arguments are given."""
    with ExitStack() as running:

        def start(*arguments: str, **options: object) -> Program:
            program = Program(*(arguments or ("--demo",)), cwd=workplace, **options)  # type: ignore[arg-type]
            return running.enter_context(program)

        yield start
