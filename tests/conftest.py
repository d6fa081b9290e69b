"""What holds for every test: its own home, no keys, no process left behind."""

import contextlib
import faulthandler
import functools
import gc
import importlib
import importlib.metadata
import itertools
import os
import signal
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from oi_tui.engine.credentials import redaction
from tests import parsed_styles, processes, programs, settling
from tests.quick_starts import fork_server

# How fast a machine is at the moment is no fault of what is tried.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
settling.install()
parsed_styles.install()
# A shell starts what runs in the background deaf to ctrl+c, and so would be all programs of the tests.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# Also where the environment asks for none: each worker would compile all tests anew, 20 s of a processor.
sys.dont_write_bytecode = False

ROOT = Path(__file__).parent.parent
#: How long what a test started may take to end, in seconds.
TIMEOUT = 20.0
#: How long a test may go on after its time limit, in seconds: its clean-up has no limit of its own.
#: Its process ends then, with the stacks of all threads, and the other tests go on in another one.
GRACE = 90.0
#: The number of the real standard error.
STDERR = pytest.StashKey[int]()
#: Variables that could let a person's set-up, or the place where the tests run, into a test.
FOREIGN = ("API_KEY", "API_BASE", "BASE_URL", "_TOKEN", "_PROXY", "_proxy")
#: The terminal, the language and the time zone of all tests.
SETTLED = {
    "TERM": "xterm-256color",
    "COLORTERM": "truecolor",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}
#: New objects before a look for garbage, and looks at one generation before one at the next. With Python's
#: own 700 a worker that has drawn many screens spends half of its time on looking.
GARBAGE = (100_000, 10, 10)
#: A parameter of more characters does not stand in the name of its test.
LONGEST_NAME = 200
#: Files of tests that take long come first, so that no worker is alone with one of them at the end.
LONG = (
    "e2e/interfaces/test_acp.py",
    "e2e/faults/test_misbehaviour.py",
    "e2e/faults/test_soak.py",
    "e2e/faults/test_random_walk.py",
    "pilot/screens/test_profile_editor.py",
    "pilot/test_untrusted_text.py",
    "runtimes/languages/test_java.py",
    "unit/models/test_function_model.py",
    "unit/program/test_python_package.py",
    "unit/project/test_missing_programs.py",
    "unit/project/test_mutation.py",
    "unit/project/test_rerun_failures.py",
    "unit/review/test_checkers.py",
    "unit/server/test_responses.py",
)
_homes = itertools.count()
UNWANTED = (
    "COLUMNS",
    "EDITOR",
    "ESCDELAY",
    "LINES",
    "NO_COLOR",
    "PAGER",
    "PYTHONDONTWRITEBYTECODE",
    "SSH_CONNECTION",
    "SSH_TTY",
    "STY",
    "TERM_PROGRAM",
    "TMUX",
    "VISUAL",
    "VIRTUAL_ENV",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
)


def pytest_configure(config: pytest.Config) -> None:
    """Keep the real standard error, which a test's output does not reach, and collect garbage less often."""
    config.stash[STDERR] = os.dup(2)
    gc.set_threshold(*GARBAGE)


def pytest_xdist_auto_num_workers() -> int | None:
    """Two workers more than there are processors: tests of programs wait for them part of their time."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    return 2 + processes.count_processors()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Let each worker compile its share of the tests before all of them import all tests.

    They come to each file at the same moment: in a fresh clone, each would compile every one.
    """
    worker = getattr(session.config, "workerinput", None)
    if worker is None or worker["workercount"] == 1:
        return
    first = int(worker["workerid"].removeprefix("gw"))
    for file in find_tests(session.config.args)[first :: worker["workercount"]]:
        name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        # What is wrong with it is said when it is collected.
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(name)


def find_tests(arguments: list[str]) -> list[Path]:
    """The files of tests that were asked for, by files and folders, perhaps with `::` and a test."""
    named = [Path(argument.partition("::")[0]).absolute() for argument in arguments]
    files = {file for path in named for file in ([path] if path.is_file() else path.rglob("test_*.py"))}
    return sorted(file for file in files if file.is_relative_to(ROOT / "tests"))


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a long value by its beginning: names go to all workers and into each environment."""
    if isinstance(val, str | bytes) and len(val) > LONGEST_NAME:
        return f"{val[:40]!a}, {len(val)} long"
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files of tests that take long first."""
    first = {ROOT / "tests" / name for name in LONG}
    items.sort(key=lambda item: item.path not in first)


def pytest_collection_finish() -> None:
    """Leave what is here to stay, all tests above all, out of the looks for garbage."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[object]:
    """End the process when a test does not even end at its time limit."""
    mark = item.get_closest_marker("timeout")
    limit = float(mark.args[0] if mark and mark.args else item.config.getini("timeout"))
    _watch(item, limit + GRACE)
    try:
        return (yield)  # type: ignore[return-value]
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Watch anew: pytest ends the watch where a test has failed."""
    _watch(item, GRACE)


def _watch(item: pytest.Item, seconds: float) -> None:
    faulthandler.dump_traceback_later(seconds, exit=True, file=item.config.stash[STDERR])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose programs are not here, before anything is made for it."""
    programs.need(*programs.needed_by(item))


@pytest.fixture(autouse=True)
def own_world(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give the test a home folder of its own, and see that no process outlives it."""
    mark = uuid.uuid4().hex
    # An application that believes in its terminal has changed it for all later tests of this worker.
    gc.set_threshold(*GARBAGE)
    # Beside the folders of `tmp_path`, pytest would look through all of them for each new one.
    home = tmp_path_factory.getbasetemp() / "homes" / str(next(_homes))
    home.mkdir(parents=True)
    for name in os.environ:
        if name == "TEXTUAL_SNAPSHOT_TEMPDIR":  # the snapshot plugin's own
            continue
        if name in UNWANTED or name.endswith(FOREIGN) or name.startswith(("OI_TUI_", "TEXTUAL")):
            monkeypatch.delenv(name)
    monkeypatch.setenv(processes.MARK, mark)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("OI_TUI_HOME", str(home / "oi-tui"))
    monkeypatch.setenv("OI_TUI_DEMO_TOKENS_PER_SECOND", "0")
    # What programs.py says is here, every program that a test starts can find.
    monkeypatch.setenv("PATH", programs.PATH)
    for name, value in SETTLED.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    # Each secret that is known is looked for in each text: those of other tests would take most of the time.
    monkeypatch.setattr(redaction, "_learned", set(redaction._learned))
    if not _installed():
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
    before = processes.present()
    yield home

    def left() -> list[processes.Process]:
        return processes.started_since(before, os.getpid(), mark)

    if left() and not processes.wait_until(lambda: not left(), TIMEOUT):
        remaining = left()
        # Before they are killed: what they wait for says why they are there.
        words = "; ".join(map(str, remaining))
        processes.kill(remaining)
        pytest.fail(f"left behind: {words}")


@pytest.fixture(scope="session")
def models_at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The address at which model processes start at once."""
    address = tmp_path_factory.mktemp("models") / "socket"
    with fork_server.run("models", address):
        yield address


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of the test, with the data files of tests/data in it."""
    folder = tmp_path / "work"
    folder.mkdir()
    for file in (ROOT / "tests" / "data").iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def figures(record_property: Callable[[str, object], None]) -> dict[str, int]:
    """What a long test counts; written below the results, also when all is well."""
    counted: dict[str, int] = {}
    record_property("figures", counted)
    return counted


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write what the tests counted."""
    for report in (*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")):
        for name, counted in getattr(report, "user_properties", ()):
            if name == "figures" and report.when == "call" and counted:
                reported = ", ".join(f"{what} {count}" for what, count in counted.items())
                terminalreporter.write_line(f"{report.nodeid.rpartition('::')[2]}: {reported}")


@functools.cache
def _installed() -> bool:
    try:
        importlib.metadata.version("oi-tui")
    except importlib.metadata.PackageNotFoundError:
        return False
    return True
