"""What makes the tests quick changes nothing of what they see."""

import os
import sys
import unittest
from pathlib import Path

import pytest
from textual.css.stylesheet import Stylesheet

from tests import conftest, programs
from tests.when_used import when_used


def _sheet(text: str, **variables: str) -> Stylesheet:
    sheet = Stylesheet(variables=variables)
    sheet.add_source(text, ("a file", ""))
    sheet.parse()
    return sheet


def test_style_sheets_are_parsed_once_for_each_set_of_variables() -> None:
    text = "Label { color: $mine; }"
    red, again, blue = _sheet(text, mine="red"), _sheet(text, mine="red"), _sheet(text, mine="blue")
    assert red.rules[0] is again.rules[0]
    assert "color: #FF0000" in red.css
    assert "color: #0000FF" in blue.css
    red.set_variables({"mine": "green"})
    red.reparse()
    assert "color: #008000" in red.css
    assert "color: #FF0000" in again.css


def test_a_module_is_imported_when_it_is_used_and_not_when_tests_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "rarely_used.py").write_text("ANSWER = 42\n")
    monkeypatch.syspath_prepend(folder)
    module = when_used("rarely_used")
    assert not module.__test__
    # pytest asks so whether it is a class of tests.
    with pytest.raises(TypeError):
        issubclass(module, unittest.TestCase)
    assert "rarely_used" not in sys.modules
    assert module.ANSWER == 42
    assert "rarely_used" in sys.modules


def test_a_script_that_stands_for_python_is_passed_by(tmp_path: Path) -> None:
    script = tmp_path / "python3"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    script.chmod(0o755)
    assert programs.pass_by_scripts(f"{tmp_path}:/bin") == f"{Path(sys.executable).parent}:{tmp_path}:/bin"
    script.write_text("#!/bin/sh\nexit 127\n")
    assert programs.pass_by_scripts(str(tmp_path)) == str(tmp_path)
    script.unlink()
    script.symlink_to(sys.executable)
    assert programs.pass_by_scripts(str(tmp_path)) == str(tmp_path)
    assert programs.pass_by_scripts("/nowhere") == "/nowhere"


def test_there_are_two_workers_more_than_processors_unless_somebody_says_how_many(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    assert pytestconfig.hook.pytest_xdist_auto_num_workers(config=pytestconfig) == 4
    monkeypatch.setenv("PYTEST_XDIST_AUTO_NUM_WORKERS", "1")
    assert pytestconfig.hook.pytest_xdist_auto_num_workers(config=pytestconfig) == 1


def test_the_files_of_tests_that_take_long_exist() -> None:
    folder = Path(conftest.__file__).parent
    assert [name for name in conftest.LONG if not (folder / name).is_file()] == []


def test_workers_share_the_files_that_were_asked_for_and_no_other() -> None:
    folder = Path(conftest.__file__).parent
    every = conftest.find_tests([str(folder)])
    assert Path(__file__) in every
    assert folder / "snapshots" / "test_states.py" in every
    assert folder / "conftest.py" not in every
    named = [f"{__file__}::test_x", str(folder / "unit" / "widgets" / "test_vi.py")]
    assert conftest.find_tests(named) == [Path(__file__), folder / "unit" / "widgets" / "test_vi.py"]
    assert conftest.find_tests(["/nowhere", "tests/nowhere"]) == []
    for file in every:
        # Else the name that it is imported by would be another one.
        assert (file.parent / "__init__.py").is_file(), file
