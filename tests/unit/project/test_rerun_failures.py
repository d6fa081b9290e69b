"""What fails is run once more, and what passes then is named."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import wait_until
from tests.twice import MOST, Results, describe_use, run_twice

FAILED = pytest.ExitCode.TESTS_FAILED


def run_of(*results: Results) -> tuple[int, list[list[str]], str]:
    """The status, what was run each time, and what was written, with runs that end so."""
    waiting, asked, written = list(results), [], []

    def run(arguments: object) -> Results:
        asked.append(list(arguments))  # type: ignore[call-overload]
        return waiting.pop(0)

    status = run_twice(["-x"], run, written.append)
    assert not waiting
    return status, asked, "\n".join(written)


def test_a_run_that_passes_is_not_repeated() -> None:
    assert run_of(Results(0, ["a"])) == (0, [["-x"]], "")


def test_what_passes_the_second_time_is_flaky_and_the_status_is_0() -> None:
    status, asked, written = run_of(Results(FAILED, ["c"], ["a", "b"]), Results(0, ["a", "b"]))
    assert (status, asked[1]) == (0, ["-n", "1", "a", "b"])
    assert "\nFLAKY: failed, then passed\n  a\n  b" in written
    assert "TWICE" not in written


def test_what_fails_again_fails_the_run() -> None:
    status, _, written = run_of(Results(FAILED, [], ["a", "b"]), Results(FAILED, ["b"], ["a"]))
    assert status == 1
    assert "FLAKY: failed, then passed\n  b" in written
    assert "FAILED TWICE\n  a" in written


def test_what_was_not_found_again_counts_as_failed() -> None:
    status, _, written = run_of(Results(FAILED, [], ["a"]), Results(pytest.ExitCode.USAGE_ERROR))
    assert status == 1
    assert "FAILED TWICE\n  a" in written


@pytest.mark.parametrize("how", [pytest.ExitCode.INTERRUPTED, pytest.ExitCode.NO_TESTS_COLLECTED, -9])
def test_a_run_that_broke_off_is_not_repeated(how: int) -> None:
    assert run_of(Results(how, ["a"], ["b"])) == (how, [["-x"]], "")


def test_too_many_failures_are_no_accident() -> None:
    many = [str(n) for n in range(MOST + 1)]
    status, asked, written = run_of(Results(FAILED, [], many))
    assert (status, len(asked)) == (1, 1)
    assert "too many" in written


def test_a_run_says_how_busy_it_kept_the_processors() -> None:
    assert describe_use(800, 1200, 2) == "The tests used 1,200 s of processors in 800 s: 75% of 2."


@pytest.mark.slow
def test_the_real_pytest_is_run_twice_with_workers_and_without_a_cache(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -q -p no:cacheprovider\n")
    (tmp_path / "test_it.py").write_text(
        "import pathlib, pytest\n"
        "@pytest.fixture\n"
        "def broken(): raise OSError('once more')\n"
        "@pytest.mark.parametrize('name', ['a b', 'ü/[x]::y', 'c\\nd'])\n"
        "def test_flaky(name):\n"
        "    mark = pathlib.Path(__file__).with_name(str(abs(hash(name) % 7)) + str(len(name)))\n"
        "    assert mark.exists() or mark.touch() is not None\n"
        "def test_bad(broken): pass\n"
        "def test_good(): pass\n"
    )
    done = _run_inner("tests.twice", "-n", "2", str(tmp_path), folder=tmp_path, PYTHONHASHSEED="0")
    assert done.returncode == 1, done.stdout + done.stderr
    flaky, _, failed = done.stdout.partition("FLAKY")[2].partition("FAILED TWICE")
    assert flaky.count("test_it.py::test_flaky") == 3
    assert failed.split() == ["test_it.py::test_bad"]
    assert "1 passed" in done.stdout
    assert re.search(r"The tests used [1-9]\d* s of processors in \d+ s: \d+% of \d+\.", done.stdout)


HANGS = """
import threading, pytest
@pytest.fixture
def stuck():
    yield
    threading.Event().wait()
def test_stuck(stuck): pass
@pytest.mark.timeout(0.2)
def test_limited(stuck): threading.Event().wait()
def test_good(): pass
"""


@pytest.mark.slow
def test_a_clean_up_without_end_fails_one_test_only(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -q -p no:cacheprovider\ntimeout = 300\n")
    conftest = (Path(__file__).parents[2] / "conftest.py").read_text().replace("GRACE = 90.0", "GRACE = 0.5")
    (tmp_path / "conftest.py").write_text(conftest)
    (tmp_path / "test_it.py").write_text(HANGS)
    done = _run_inner("pytest", "-n", "1", "-k", "not stuck", folder=tmp_path)
    assert "1 passed" in done.stdout, done.stdout + done.stderr
    assert "test_it.py::test_limited" in done.stdout
    # On a busy machine the test itself may have to be ended, at its limit and the grace.
    assert "Timeout (0:00:00." in done.stderr


#: Says that a test has begun, in the process that is ended, once its recorder has heard of it.
SAYS_BEGUN = """
import pathlib, pytest
class Begun:
    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logstart(self, nodeid):
        if nodeid.endswith("stuck"): pathlib.Path(__file__).with_name("begun").touch()
def pytest_configure(config):
    if not hasattr(config, "workerinput"): config.pluginmanager.register(Begun())
"""


@pytest.mark.slow
def test_a_run_that_is_ended_names_the_tests_that_did_not_end(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -q -p no:cacheprovider\n")
    tests = "import threading\ndef test_bad(): assert 6 == 9\ndef test_stuck(): threading.Event().wait()\n"
    (tmp_path / "test_it.py").write_text(tests)
    (tmp_path / "conftest.py").write_text(SAYS_BEGUN)
    command = [sys.executable, "-m", "pytest", "-p", "tests.twice", "-n", "1"]
    environment = _environment(OI_TUI_TEST_RESULTS=str(tmp_path / "results"))
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE) as inner:
        begun = wait_until((tmp_path / "begun").exists, 120)
        inner.terminate()
        written = inner.communicate(timeout=60)[0].decode()
    assert begun
    assert "NOT ENDED\n  test_it.py::test_stuck" in written
    assert "FAILED\n  test_it.py::test_bad\n" in written
    assert "assert 6 == 9" in written
    assert inner.returncode == 1


@pytest.mark.slow
def test_a_run_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -q -p no:cacheprovider\n")
    (tmp_path / "test_it.py").write_text(HANGS)
    program = f"from tests.twice import run_pytest; print(run_pytest([{str(tmp_path)!r}, '-n', '0'], 2))"
    done = _run_inner("-c", program, folder=tmp_path)
    assert "Results(status=" in done.stdout, done.stdout + done.stderr
    assert "Results(status=0" not in done.stdout


def _run_inner(*arguments: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python or one of its modules beside this run of pytest."""
    command = [sys.executable, *([] if arguments[0] == "-c" else ["-m"]), *arguments]
    return subprocess.run(
        command, cwd=folder, env=_environment(**variables), capture_output=True, text=True, check=False
    )


def _environment(**variables: str) -> dict[str, str]:
    # The inner run would delete the folder of this run's snapshots at its end.
    inherited = {name: value for name, value in os.environ.items() if name != "TEXTUAL_SNAPSHOT_TEMPDIR"}
    # The other plugins import Textual and more in each worker.
    plugins = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist.plugin,pytest_timeout"}
    return {**inherited, **plugins, "PYTHONPATH": str(Path(__file__).parents[3]), **variables}


@pytest.mark.parametrize("value", ["\n" * 100_000, b"\0" * 100_000])
def test_a_long_parameter_gives_a_test_a_short_name(
    value: str | bytes, request: pytest.FixtureRequest
) -> None:
    assert len(value) == 100_000
    assert "100000 long" in request.node.name
    assert len(request.node.nodeid) < 400
