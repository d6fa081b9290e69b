"""Programs for the end-to-end tests, ended when the test is over."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.conftest import SETTLED
from tests.e2e.program import Program
from tests.quick_starts import fork_server
from tests.quick_starts.program import QuickPrograms

Start = Callable[..., Program]
#: Tests wait until nothing changes on the screen any more.
CALM = {"TEXTUAL_ANIMATIONS": "none"}


@pytest.fixture(scope="session")
def quick_programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QuickPrograms]:
    """Where the program starts in a fraction of its time."""
    address = tmp_path_factory.mktemp("programs") / "socket"
    environment = {**SETTLED, **CALM}
    with fork_server.run("programs", address, environment):
        yield QuickPrograms(address, environment)


@pytest.fixture(scope="session")
def commands_at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The address at which the program starts at once for who talks to it through pipes."""
    address = tmp_path_factory.mktemp("commands") / "socket"
    with fork_server.run("commands", address, SETTLED):
        yield address


@pytest.fixture
def quick_commands(commands_at: Path, quick_models: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """`python -m oi_tui` hands its streams to a fork of one that has imported what serves others."""
    monkeypatch.setenv(fork_server.COMMANDS, str(commands_at))


@pytest.fixture
def real_command(quick_commands: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a module with quick commands, this test starts and looks at the process of the command itself."""
    monkeypatch.delenv(fork_server.COMMANDS)


@pytest.fixture(autouse=True)
def quick_models(models_at: Path, own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model processes of programs are forks of one that has imported LiteLLM."""
    for name, value in fork_server.variables(fork_server.MODELS, models_at).items():
        monkeypatch.setenv(name, value)
    for name, value in CALM.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def start(workplace: Path, quick_programs: QuickPrograms) -> Iterator[Start]:
    """Start the program in the workplace; as the demo unless other arguments are given.

    With `quick=None` it is no fork, but starts with the import of its first module.
    """
    with ExitStack() as running:

        def start(*arguments: str, **options: object) -> Program:
            given = {"cwd": workplace, "quick": quick_programs, **options}
            return running.enter_context(Program(*(arguments or ("--demo",)), **given))  # type: ignore[arg-type]

        yield start
