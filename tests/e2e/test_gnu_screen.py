"""oi-tui in GNU screen."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Start
from tests.e2e.program import Program

NAME = "oi-tui-test"


@pytest.fixture
def in_screen(start: Start, tmp_path: Path) -> Iterator[Program]:
    sockets = tmp_path / "screens"
    sockets.mkdir(mode=0o700)
    settings = tmp_path / "screenrc"
    settings.write_text("startup_message off\n")
    command = ("screen", "-c", str(settings), "-S", NAME, sys.executable, "-m", "oi_tui")
    own = {"SCREENDIR": str(sockets), "TERM": "xterm-256color"}
    try:
        yield start("--demo", command=command, env={**own, "STY": None, "TMUX": None}, quick=None)
    finally:
        # It stays when its terminal goes.
        subprocess.run(["screen", "-S", NAME, "-X", "quit"], env=own, check=False, capture_output=True)


@pytest.mark.needs("screen")
def test_escape_arrives_without_another_key(in_screen: Program) -> None:
    in_screen.begin()
    in_screen.press("f1")
    in_screen.wait_for("type to search keys")
    in_screen.press("escape")
    in_screen.wait_gone("type to search keys")
    # Who wants the mouse more can have it.
    assert b"\x1b[?1000h" not in in_screen.raw
    in_screen.say("%mouse on")
    in_screen.wait_for("Mouse support is on.")
    assert b"\x1b[?1000h" in in_screen.raw
