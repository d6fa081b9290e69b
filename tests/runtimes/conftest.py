import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from oi_tui.runtimes import Computer
from oi_tui.runtimes.language import Choices
from oi_tui.runtimes.languages import java
from tests.programs import PATH
from tests.runtimes.playing import kept_running, play
from tests.runtimes.samples import ALL


def options_of(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the test's sample wants its computer to be made with."""
    callspec = getattr(request.node, "callspec", None)
    sample = callspec.params.get("sample") if callspec else None
    return dict(sample.options) if sample else {}


@pytest.fixture(autouse=True)
def node_with_types(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TypeScript can be run."""
    monkeypatch.setenv("PATH", PATH)


@pytest.fixture(scope="session")
def java_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which Java starts quickly: what it needs for that is made once, and not in every test."""
    home = tmp_path_factory.mktemp("java-home")
    program = java.find(Choices())
    if program:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OI_TUI_HOME", str(home))
            subprocess.run(java.making_of(program), check=True)
    return home


@pytest.fixture(autouse=True)
def java_starts_quickly(own_world: Path, java_home: Path) -> None:
    """Each home has that of Java."""
    state = own_world / "oi-tui" / "state"
    state.mkdir(mode=0o700, parents=True)
    (state / "java").symlink_to(java_home / "state" / "java")


@pytest.fixture
def make(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Callable[..., Computer]]:
    """Computers that are closed when the test is over."""
    made: list[Computer] = []

    def computer(**options: Any) -> Computer:
        made.append(Computer(**{"cwd": tmp_path, **options_of(request), **options}))
        return made[-1]

    yield computer
    for computer_ in made:
        computer_.close()


@pytest.fixture
def computer(make: Callable[..., Computer]) -> Computer:
    """A computer of the test's own."""
    return make()


@pytest.fixture(scope="session")
def computers(tmp_path_factory: pytest.TempPathFactory, java_home: Path) -> Iterator[dict[str, Computer]]:
    """A computer for each set of options; its processes run before the first test."""
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setenv("LC_ALL", "C.UTF-8")
        patch.setenv("PATH", PATH)
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("OI_TUI_HOME", str(java_home))
        found: dict[str, Computer] = {}
        for sample in filter(lambda sample: sample.here, ALL):
            key = str(dict(sample.options))
            if key not in found:
                found[key] = Computer(cwd=tmp_path_factory.mktemp("shared"), **dict(sample.options))
                stack.callback(found[key].close)
            assert play(found[key], sample.language, sample.hello).state == "finished", sample.name
        yield found


@pytest.fixture
def shared(
    computers: dict[str, Computer], request: pytest.FixtureRequest, own_world: Path
) -> Iterator[Computer]:
    """A computer for tests that leave a language as they found it."""
    computer = computers[str(options_of(request))]
    with kept_running(computer):
        yield computer
