"""The variables of Textual that would end the program, and what is said of them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import COLOR_SYSTEMS

from oi_tui.doctor import terminal
from oi_tui.terminal import textual_variables

WRONG = [
    ("TEXTUAL_COLOR_SYSTEM", "nonsense", "one of auto, standard, 256, truecolor, windows"),
    ("TEXTUAL_COLOR_SYSTEM", "TRUECOLOR", "one of auto, standard, 256, truecolor, windows"),
    ("TEXTUAL_DRIVER", "nonsense", "module:Class of a Textual driver"),
    ("TEXTUAL_DRIVER", ":Driver", "module:Class of a Textual driver"),
    ("TEXTUAL_DRIVER", "nonsense:Driver", "No module named 'nonsense'"),
    ("TEXTUAL_DRIVER", "os:nonsense", "has no attribute 'nonsense'"),
    ("TEXTUAL_DRIVER", "os:path", "module:Class of a Textual driver"),
    ("TEXTUAL_DRIVER", "pathlib:Path", "module:Class of a Textual driver"),
    ("TEXTUAL_LOG", "/dev/null/textual.log", "a file in a folder that exists"),
    ("TEXTUAL_LOG", "/", "a file in a folder that exists"),
    ("TEXTUAL_SCREENSHOT_LOCATION", "/dev/null/images", "a folder that exists"),
]


@pytest.mark.parametrize(("name", "value", "expected"), WRONG)
def test_a_value_that_cannot_be_used_is_named_with_what_it_may_be(
    name: str, value: str, expected: str
) -> None:
    problem = textual_variables.find_problem({name: value})
    assert problem.startswith(f"{name} is {value!r}; expected ")
    assert expected in problem


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("TEXTUAL_COLOR_SYSTEM", name) for name in ("auto", *COLOR_SYSTEMS)),
        ("TEXTUAL_DRIVER", "textual.drivers.headless_driver:HeadlessDriver"),
        ("TEXTUAL_LOG", "textual.log"),
        ("TEXTUAL_SCREENSHOT_LOCATION", "/"),
        ("TEXTUAL_THEME", "nonsense"),
        ("TEXTUAL_FPS", "nonsense"),
    ],
)
def test_a_value_that_textual_can_use_is_no_problem(name: str, value: str) -> None:
    assert textual_variables.find_problem({name: value}) == ""


def test_an_empty_variable_is_not_set() -> None:
    environment = dict.fromkeys(("TEXTUAL_COLOR_SYSTEM", "TEXTUAL_DRIVER", "TEXTUAL_LOG"), "")
    textual_variables.drop_empty(environment)
    assert environment == {}


@pytest.mark.parametrize(
    ("name", "value"), [("TEXTUAL_COLOR_SYSTEM", "nonsense"), ("TEXTUAL_DRIVER", "nonsense:Driver")]
)
@pytest.mark.slow
def test_the_program_ends_with_a_sentence_about_the_variable(name: str, value: str, tmp_path: Path) -> None:
    code = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"
    ended = subprocess.run(
        [sys.executable, "-c", code, sys.executable, "-m", "oi_tui", "--demo"],
        cwd=tmp_path,
        env={**os.environ, "TERM": "xterm-256color", name: value},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.stdout.strip().startswith(f"oi-tui: {name} is {value!r}; expected ")
    assert ended.returncode == 2


def test_the_doctor_tells_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXTUAL_COLOR_SYSTEM", "nonsense")
    problems = [finding for finding in terminal.check_terminal(ask=False) if finding.good is False]
    assert any("TEXTUAL_COLOR_SYSTEM is 'nonsense'" in problem.words for problem in problems)
