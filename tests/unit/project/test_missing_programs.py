"""On a machine that lacks a program, the tests that need it are skipped, each with a reason."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import programs

ROOT = Path(__file__).parents[3]


def pytest_without_programs(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest where PATH is an empty folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TEXTUAL", "PYTEST"))}
    (tmp_path / "bin").mkdir()
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", *arguments],
        cwd=ROOT,
        env={**kept, "PATH": str(tmp_path / "bin")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_all_tests_are_collected_without_any_program(tmp_path: Path) -> None:
    done = pytest_without_programs(tmp_path, "--collect-only", "tests")
    assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.slow
def test_what_needs_a_missing_program_is_skipped_by_its_name(tmp_path: Path) -> None:
    tests = [
        "tests/runtimes/languages/test_shells.py",
        "tests/runtimes/values/test_variables.py",
        "tests/runtimes/languages/test_r.py",
        "tests/unit/input/test_file_index.py",
        "tests/unit/project/test_missing_programs.py::test_a_language_that_needs_no_program_runs",
        "tests/runtimes/test_contract.py::test_output_is_printed",
    ]
    done = pytest_without_programs(tmp_path, "-rs", *tests)
    assert done.returncode == 0, done.stdout[-4000:]
    reasons = set(re.findall(r"(\S+) is not installed here", done.stdout))
    assert reasons >= {"bash", "zsh", "dash", "R", "perl", "ruby", "lua5.4", "jshell", "git"}
    assert re.search(r"\d+ passed, \d+ skipped", done.stdout)


def test_a_language_that_needs_no_program_runs() -> None:
    assert [programs.of_language(name) for name in ("python", "html", "shell", "perl")] == [
        None,
        None,
        "bash",
        "perl",
    ]
    assert "is not installed here" in str(programs.why_not("no-such-program"))
