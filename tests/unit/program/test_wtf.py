"""`oi-tui wtf`: what the model is asked."""

import subprocess
import time
from pathlib import Path

import pytest

from oi_tui.cli import main, wtf


@pytest.fixture(autouse=True)
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TMUX", "TMUX_PANE"):
        monkeypatch.delenv(name, raising=False)


def test_the_command_that_failed_is_part_of_the_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = wtf.request(["make", "test"])
    assert f"My working directory is {tmp_path}." in text
    assert "```\nmake test\n```" in text


def test_without_a_command_and_a_screen_the_command_line_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main.main(["wtf", "--demo", "--plain"]) == 2
    assert "there is nothing to explain: run oi-tui wtf in tmux" in capsys.readouterr().err


@pytest.mark.needs("tmux")
def test_in_tmux_the_screen_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmux = ["tmux", "-S", str(tmp_path / "tmux")]
    argv = ["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "cat"]
    subprocess.run([*tmux, *argv], check=True)
    try:
        subprocess.run(
            [*tmux, "send-keys", "cat: no such ```file```", "Enter", "$ oi-tui wtf", "Enter"], check=True
        )
        monkeypatch.setenv("TMUX", f"{tmp_path / 'tmux'},1,0")
        monkeypatch.setenv("TMUX_PANE", "%0")
        end = time.monotonic() + 10
        while "no such" not in (text := wtf.request(["x"])):
            assert time.monotonic() < end
        assert "```\ncat: no such '''file'''" in text
    finally:
        subprocess.run([*tmux, "kill-server"], check=True)
