"""A fault of our own ends the program with a sentence, not with a page of its insides."""

import sys
from pathlib import Path

from oi_tui import paths
from tests.terminal import Terminal

BROKEN = """
from oi_tui.screens.chat.commands.open_screens import ChatScreens

def open_help(self):
    key = "sk-canary-in-a-local"
    raise RuntimeError("it broke \\x1b]52;c;QQ==\\x07")

ChatScreens.open_help = open_help
from oi_tui.cli.main import main
raise SystemExit(main(["--demo"]))
"""


def test_an_exception_leaves_the_terminal_as_it_was_and_tells_where_to_look(tmp_path: Path) -> None:
    with Terminal(command=(sys.executable, "-c", BROKEN), cwd=tmp_path) as terminal:
        terminal.wait_for("ready")
        terminal.press("f1")
        assert terminal.wait_exit() == 1
        assert "oi-tui failed and has to quit: RuntimeError: it broke" in terminal.screen
        assert "Traceback" not in terminal.screen
        assert 1049 not in terminal.modes
        assert b"\x1b]52" not in terminal.raw
        assert b"canary" not in terminal.raw
    log = paths.state() / "oi-tui.log"
    assert "Traceback" in log.read_text()
    assert log.stat().st_mode & 0o077 == 0
