import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from oi_tui.runtimes import Computer
from oi_tui.runtimes.language import Choices
from oi_tui.runtimes.languages import java
from tests.programs import PATH, why_not
from tests.runtimes.playing import kept_running, play
from tests.runtimes.samples import ALL
from tests.servers.sshd import HOST, Sshd


def options_of(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the test's sample wants its computer to be made with."""
    callspec = getattr(request.node, "callspec", None)
    sample = callspec.params.get("sample") if callspec else None
    return dict(sample.options) if sample else {}


def there(options: dict[str, Any]) -> dict[str, Any]:
    """The options with the working directory as the folder of the target, where there is one."""
    if options.get("target") == f"ssh:{HOST}":
        return {**options, "target": f"{options['target']}{options['cwd']}"}
    return options


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path | None]:
    """The folder with an `ssh` that knows another machine: this one, over a real server. None without one."""
    if why_not("sshd") or why_not("ssh"):
        yield None
        return
    server = Sshd(tmp_path_factory.mktemp("sshd"))
    yield server.bin
    server.close()


@pytest.fixture
def path_with_ssh(sshd: Path | None) -> str:
    """PATH with that `ssh` first."""
    return f"{sshd}:{PATH}" if sshd else PATH


@pytest.fixture(autouse=True)
def node_with_types(own_world: Path, path_with_ssh: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """TypeScript can be run, and the other machine be reached."""
    monkeypatch.setenv("PATH", path_with_ssh)


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
        made.append(Computer(**there({"cwd": tmp_path, **options_of(request), **options})))
        return made[-1]

    yield computer
    for computer_ in made:
        computer_.close()


@pytest.fixture
def computer(make: Callable[..., Computer]) -> Computer:
    """A computer of the test's own."""
    return make()


@pytest.fixture(scope="session")
def computers(
    tmp_path_factory: pytest.TempPathFactory, java_home: Path, sshd: Path | None
) -> Iterator[dict[str, Computer]]:
    """A computer for each set of options; its processes run before the first test."""
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setenv("LC_ALL", "C.UTF-8")
        patch.setenv("PATH", f"{sshd}:{PATH}" if sshd else PATH)
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("OI_TUI_HOME", str(java_home))
        found: dict[str, Computer] = {}
        for sample in filter(lambda sample: sample.here, ALL):
            key = str(dict(sample.options))
            if key not in found:
                options = {"cwd": tmp_path_factory.mktemp("shared"), **dict(sample.options)}
                found[key] = Computer(**there(options))
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
