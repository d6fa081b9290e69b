"""On a machine that lacks a program, the tests that need it are skipped, each with a reason."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import programs

ROOT = Path(__file__).parents[3]
#: Leaves only the tests whose names begin so, once all of them are collected.
ONLY = """
def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if item.nodeid.startswith({chosen!r})]
"""
CHOSEN = (
    "tests/runtimes/languages/test_shells.py",
    "tests/runtimes/values/test_variables.py",
    "tests/runtimes/languages/test_r.py",
    "tests/unit/input/test_file_index.py",
    "tests/unit/project/test_missing_programs.py::test_a_language_that_needs_no_program_runs",
    "tests/runtimes/test_contract.py::test_output_is_printed",
)


@pytest.mark.slow
def test_without_any_program_all_tests_are_collected_and_those_that_need_one_are_skipped(
    tmp_path: Path,
) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TEXTUAL", "PYTEST"))}
    (tmp_path / "bin").mkdir()
    (tmp_path / "only.py").write_text(ONLY.format(chosen=CHOSEN))
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", "-p", "only", "-rs", "tests"],
        cwd=ROOT,
        env={**kept, "PATH": str(tmp_path / "bin"), "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
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
