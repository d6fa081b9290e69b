"""Another profile for the conversation at work, from the screen."""

from pathlib import Path

import pytest

from oi_tui import paths
from tests.e2e.conftest import Start


@pytest.fixture
def folder() -> Path:
    return paths.make_private(paths.profiles())


def test_a_program_is_trusted_within_the_screen_and_the_theme_follows(start: Start, folder: Path) -> None:
    (folder / "work.yaml").write_text("theme: oi-light\npython: /usr/bin/python3\nllm.model: demo\n")
    (folder / "mine.py").write_text("interpreter.llm.model = 'demo'\ninterpreter.verbose = True\n")
    program = start("--no-auto-run", "-m", "demo")
    program.begin()
    program.say("%profile work")
    program.wait_for("python takes effect at the next start.")
    program.say("%profile mine")
    screen = program.wait_for("y yes")
    assert "interpreter.verbose = True" in screen
    assert "with your permissions" in screen
    program.press("n")
    program.wait_gone("y yes")
    program.say("%profile mine")
    program.wait_for("y yes")
    program.wait_quiet(0.6)
    program.press("y")
    program.wait_for("Switched to profile mine; the model is demo.")
    program.say("break something")
    program.asked()
    program.answer("n")


def test_the_editor_and_the_palette_lead_to_another_profile(start: Start, folder: Path) -> None:
    (folder / "work.yaml").write_text("llm.model: demo\n")
    program = start("--no-auto-run", "-m", "demo")
    program.begin()
    program.press("f2")
    program.wait_for("search settings")
    program.press("f3")
    program.wait_for("Switch to another profile")
    program.press("enter")
    program.wait_for("Switch profile")
    program.press("down")
    program.press("enter")
    program.wait_for("Switched to profile")
    program.press("ctrl+p")
    program.wait_for("Search for commands")
    program.send("profile work")
    program.wait_for("Switch to profile work")
    program.wait_quiet(0.3)
    program.press("enter")
    program.wait_for("Switched to profile work")
