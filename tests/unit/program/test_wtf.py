"""`oi-tui wtf`: what the model is asked."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from oi_tui.cli import main, wtf
from tests.terminal import ROOT, Terminal


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


#: For each shell: the file of its settings, a loop of several lines, and settings for a plain prompt.
_SHELLS = {
    "bash": (".bashrc", "for i in 1 2; do\necho 'a\\nb\nc' $i >o\ndone; cat o\n", "PS1='ready> '"),
    "zsh": (
        ".zshrc",
        "for i in 1 2; do\necho 'a\\nb\nc' $i >o\ndone; cat o\n",
        "PS1='ready> '; unsetopt prompt_sp",
    ),
    "fish": (
        ".config/fish/config.fish",
        "for i in 1 2\necho 'a\\nb\nc' $i >o\nend; cat o\n",
        "function fish_prompt; echo 'ready> '; end; function fish_greeting; end",
    ),
}


@pytest.mark.parametrize(
    "shell", [pytest.param(name, marks=pytest.mark.needs(name)) for name in ("bash", "zsh", "fish")]
)
def test_the_function_of_the_guide_hands_over_the_last_command_and_never_itself(
    shell: str, tmp_path: Path
) -> None:
    guide = (ROOT / "docs/guide/computer.md").read_text()
    function = guide.split(f"```{shell}\n", 1)[1].split("```", 1)[0]
    name, loop, prompt = _SHELLS[shell]
    settings = tmp_path / name
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(f"{prompt}\n{function}")
    # Without this folder, fish reads all manual pages in the background when it is used first.
    (tmp_path / ".local/share/fish/generated_completions").mkdir(parents=True)
    said = tmp_path / "said"
    program = tmp_path / "bin" / "oi-tui"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf "%s" "$2" >{said}.new\nmv {said}.new {said}\n')
    program.chmod(0o755)
    environment = {"HOME": str(tmp_path), "PATH": f"{program.parent}:{os.environ['PATH']}", "TERM": "xterm"}
    with Terminal(command=(shell, "-i"), cwd=tmp_path, env=environment) as terminal:

        def asked(line: str) -> str:
            said.unlink(missing_ok=True)
            terminal.send(f"{line}\r")
            terminal.wait_for(lambda _: said.exists())
            return said.read_text()

        terminal.wait_for("ready>")
        terminal.send(loop.replace("\n", "\r"))
        terminal.wait_for("\nc 2")
        heard = [asked("wtf"), asked("wtf"), asked(" wtf "), asked("wtf")]
        assert len(set(heard)) == 1
        # bash keeps the words of a loop in one line; a text in quotes keeps its own.
        assert heard[0].split(";")[0].split("\n")[0].strip().startswith("for i in 1 2")
        assert "echo 'a\\nb\nc' $i >o" in heard[0]
        assert "\n" in heard[0].partition("echo")[0] or shell == "bash"
        terminal.send("false\r")
        assert asked("wtf").strip() == "false"
