"""The doctor on a terminal, and within the application."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Start
from tests.e2e.program import Program
from tests.processes import wait_until


class Silent(Program):
    """In a terminal that answers nothing by itself."""

    def describe(self) -> None:
        """Say nothing."""


@pytest.fixture
def program(workplace: Path) -> Iterator[Program]:
    with Silent("--doctor", cwd=workplace, rows=100) as program:
        yield program


def test_the_terminal_is_asked_and_left_as_it_was(program: Program) -> None:
    assert wait_until(lambda: b"\x1b[c" in program.raw, 30)
    program.send("\x1b[?0u\x1b_Gi=31;OK\x1b\\\x1bP>|kitty(0.39.1)\x1b\\\x1b[?62;c")
    screen = program.wait_for("No problem was found.")
    assert "images by the Kitty protocol" in screen
    assert "the keyboard protocol distinguishes all keys" in screen
    assert program.wait_exit() == 0
    assert program.attributes() == program.attributes_before
    assert program.modes == set()


def test_a_terminal_that_does_not_answer_is_not_waited_for(program: Program) -> None:
    screen = program.wait_for("No problem was found.", 30)
    assert "did not report its features in time" in screen
    assert program.wait_exit() == 0


def test_within_the_application_it_has_a_page_of_its_own(start: Start) -> None:
    program = start(env={"OPENAI_API_KEY": "sk-canary-0123456789", "OI_TUI_MODEL": "openai/x"})
    program.begin()
    program.say("%doctor")
    program.wait_for("Doctor: no problem")
    program.press("pagedown")
    program.wait_for("OPENAI_API_KEY is set")
    program.press("escape")
    program.begin()
    assert b"canary" not in bytes(program.raw)
    assert os.environ["HOME"] not in program.screen


def test_within_the_application_the_profile_at_work_is_looked_at(start: Start) -> None:
    program = start("--plain", rows=120)
    program.wait_for("No model is set")
    program.say("%profile safe")
    program.wait_for("Switched to profile safe")
    program.say("%doctor")
    program.wait_for("preset profile safe", 30)
