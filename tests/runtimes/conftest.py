import fcntl
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from oi_tui.runtimes import Computer
from oi_tui.runtimes.language import Choices
from oi_tui.runtimes.languages import java
from tests import processes, programs
from tests.programs import PATH, why_not
from tests.runtimes.playing import kept_running, living, play
from tests.runtimes.samples import IN_CONTAINER, PYTHON, SHELL, Sample
from tests.servers.container import Container, NoContainerError
from tests.servers.sshd import HOST, Sshd


def sample_of(request: pytest.FixtureRequest) -> Sample | None:
    """The language that the test is given as a parameter."""
    callspec = getattr(request.node, "callspec", None)
    return callspec.params.get("sample") if callspec else None


def options_of(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the test's sample wants its computer to be made with."""
    sample = sample_of(request)
    return dict(sample.options) if sample else {}


def there(options: dict[str, Any], container: Container | None) -> dict[str, Any]:
    """The options with the working directory as the folder of the target, where there is one."""
    if options.get("target") == f"ssh:{HOST}":
        return {**options, "target": f"{options['target']}{options['cwd']}"}
    if options.get("target") == IN_CONTAINER and container:
        return {**options, "target": container.target(options["cwd"])}
    return options


@pytest.fixture(scope="session")
def started_container(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container | str]:
    """The container that all tests of a worker share, or why there is none."""
    try:
        found = Container(tmp_path_factory.mktemp("container"), tmp_path_factory.getbasetemp())
    except NoContainerError as error:
        yield str(error)
        return
    yield found
    found.close()


@pytest.fixture
def container(own_world: Path, request: pytest.FixtureRequest) -> Container | None:
    """The container, if the sample of the test runs in one; the test is skipped where none can be started."""
    if options_of(request).get("target") != IN_CONTAINER:
        return None
    with pytest.MonkeyPatch.context() as patch:
        # It lives longer than the test that needs it first.
        patch.delenv(processes.MARK)
        found = request.getfixturevalue("started_container")
    if isinstance(found, str):
        pytest.skip(found)
    return found


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
    """A home in which Java starts quickly: what it needs for that is made once for all tests and workers."""
    common = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        common = common.parent
    home = common / "java-home"
    home.mkdir(mode=0o700, exist_ok=True)
    program = java.find(Choices())
    if program:
        with open(home / "lock", "w") as lock, pytest.MonkeyPatch.context() as patch:
            fcntl.flock(lock, fcntl.LOCK_EX)
            patch.setenv("OI_TUI_HOME", str(home))
            if not (home / "made").exists():
                subprocess.run(java.make_cache_command(program), check=True)
                (home / "made").touch()
    return home


def needs_java(request: pytest.FixtureRequest) -> bool:
    """Whether a test says that it runs Java."""
    return "jshell" in programs.needed_by(request.node)


@pytest.fixture(autouse=True)
def java_starts_quickly(own_world: Path, request: pytest.FixtureRequest) -> None:
    """Each home of a test that runs Java has that of Java."""
    if needs_java(request):
        state = own_world / "oi-tui" / "state"
        state.mkdir(mode=0o700, parents=True)
        (state / "java").symlink_to(request.getfixturevalue("java_home") / "state" / "java")


@pytest.fixture
def make(
    tmp_path: Path, request: pytest.FixtureRequest, container: Container | None
) -> Iterator[Callable[..., Computer]]:
    """Computers that are closed when the test is over."""
    made: list[Computer] = []

    def computer(**options: Any) -> Computer:
        made.append(Computer(**there({"cwd": tmp_path, **options_of(request), **options}, container)))
        return made[-1]

    yield computer
    for computer_ in made:
        computer_.close()


@pytest.fixture
def computer(make: Callable[..., Computer]) -> Computer:
    """A computer of the test's own."""
    return make()


class Shared:
    """A computer for each set of options; a language starts when the first test asks for it.

    What it starts lives longer than that test, and has nothing of its environment.
    """

    def __init__(self, tmp_path_factory: pytest.TempPathFactory, path: str) -> None:
        self._factory = tmp_path_factory
        self._path = path
        self._home = tmp_path_factory.mktemp("home")
        self.computers: dict[str, Computer] = {}

    def get(
        self,
        options: dict[str, Any],
        wanted: list[Sample],
        java_home: Path | None,
        container: Container | None,
    ) -> Computer:
        """The computer with these options, in which the languages of some samples run."""
        key = str(options)
        running = living(self.computers[key]) if key in self.computers else {}
        missing = [sample for sample in wanted if sample.language not in running]
        if key in self.computers and not missing:
            return self.computers[key]
        before = processes.descendants(os.getpid())
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv(processes.MARK)
            patch.setenv("PATH", self._path)
            patch.setenv("HOME", str(self._home))
            patch.setenv("OI_TUI_HOME", str(java_home or self._home))
            if key not in self.computers:
                folder = self._factory.mktemp("shared")
                self.computers[key] = Computer(**there({"cwd": folder, **options}, container))
            computer = self.computers[key]
            for sample in missing:
                assert play(computer, sample.language, sample.hello).state == "finished", sample.name
        processes.lasting.update(set(processes.descendants(os.getpid())) - set(before))
        return computer


@pytest.fixture(scope="session")
def shared_computers(tmp_path_factory: pytest.TempPathFactory, sshd: Path | None) -> Iterator[Shared]:
    """The computers that tests share."""
    found = Shared(tmp_path_factory, f"{sshd}:{PATH}" if sshd else PATH)
    yield found
    for computer in found.computers.values():
        computer.close()


@pytest.fixture
def shared(
    shared_computers: Shared, request: pytest.FixtureRequest, own_world: Path, container: Container | None
) -> Iterator[Computer]:
    """A computer for tests that leave a language as they found it; without a sample, with Python and bash."""
    sample = sample_of(request)
    wanted = [one for one in ((sample,) if sample else (PYTHON, SHELL)) if one.here]
    java_home = request.getfixturevalue("java_home") if needs_java(request) else None
    computer = shared_computers.get(options_of(request), wanted, java_home, container)
    with kept_running(computer):
        yield computer
