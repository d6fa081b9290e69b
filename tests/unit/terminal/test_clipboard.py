"""Copied text goes the best way that there is, and the way is named."""

import base64
import os
import re
import shutil
import stat
import sys
from pathlib import Path

import pyperclip
import pytest

from oi_tui import paths
from oi_tui.terminal.clipboard import LONGEST, copy


class Screen:
    """An application and its terminal, as far as copying goes."""

    def __init__(self) -> None:
        self.copied: list[str] = []
        self.written = ""
        self._driver = self

    def copy_to_clipboard(self, text: str) -> None:
        self.copied.append(text)

    def write(self, text: str) -> None:
        self.written += text


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION", "SSH_TTY", "TMUX", "STY"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def tool(folder: Path, name: str, script: str) -> Path:
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return folder


def test_without_a_display_the_terminal_is_asked(bare: pytest.MonkeyPatch) -> None:
    app = Screen()
    assert "OSC 52, unconfirmed" in copy("x = '日本'\n", app)
    assert app.copied == ["x = '日本'\n"]


def test_half_of_a_character_is_copied_as_the_sign_for_it(bare: pytest.MonkeyPatch) -> None:
    app = Screen()
    copy("a\ud800b \ud83d\ude00", app)
    assert app.copied == ["a\ufffdb \U0001f600"]


def test_with_a_display_a_tool_is_used_and_over_ssh_it_is_not(
    bare: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given: list[str] = []
    bare.setattr(pyperclip, "copy", given.append)
    bare.setenv("PATH", str(tmp_path))
    bare.setenv("DISPLAY", ":0")
    app = Screen()
    assert copy("here", app) == "copied"
    bare.setenv("SSH_CONNECTION", "1.2.3.4 5 6.7.8.9 22")
    assert "unconfirmed" in copy("there", app)
    assert (given, app.copied) == (["here"], ["there"])


@pytest.mark.needs("sh", "cat")
@pytest.mark.parametrize(
    ("variable", "name"), [("WAYLAND_DISPLAY", "wl-copy"), ("DISPLAY", "xclip"), ("DISPLAY", "xsel")]
)
def test_a_tool_without_its_desktop_has_copied_nothing(
    bare: pytest.MonkeyPatch, tmp_path: Path, variable: str, name: str
) -> None:
    cat = shutil.which("cat")
    folder = tool(tmp_path / "bin", name, f"{cat} >{tmp_path}/given")
    bare.setenv("PATH", str(folder))
    bare.setenv(variable, ":0")
    app = Screen()
    assert copy("é", app) == "copied"
    assert (tmp_path / "given").read_text(encoding="utf-8") == "é"
    tool(tmp_path / "bin", name, "echo no display >&2; exit 1")
    assert "unconfirmed" in copy("x", app)
    assert app.copied == ["x"]


def test_a_tool_that_fails_leaves_it_to_the_terminal(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(_: str) -> None:
        raise pyperclip.PyperclipException("no tool")

    bare.setattr(pyperclip, "copy", fail)
    bare.setenv("PATH", str(tmp_path))
    bare.setenv("WAYLAND_DISPLAY", "wayland-0")
    app = Screen()
    assert "unconfirmed" in copy("x", app)
    assert app.copied == ["x"]


@pytest.mark.needs("sh", "cat")
def test_in_tmux_its_buffer_takes_the_text_of_any_length(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tool(tmp_path / "bin", "tmux", f'echo "$@" >{tmp_path}/words; cat >{tmp_path}/given')
    bare.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    bare.setenv("TMUX", "/tmp/socket,1,0")
    app = Screen()
    for text in ("short é\n", "x" * (LONGEST * 10)):
        assert "copied to tmux" in copy(text, app)
        assert (tmp_path / "given").read_text() == text
    assert (tmp_path / "words").read_text() == "load-buffer -w -\n"
    assert app.copied == []


def test_a_tmux_that_refuses_or_is_gone_leaves_it_to_the_terminal(
    bare: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bare.setenv("TMUX", "/tmp/socket,1,0")
    app = Screen()
    bare.setenv("PATH", str(tool(tmp_path / "bin", "tmux", "exit 1")))
    assert "unconfirmed" in copy("a", app)
    bare.setenv("PATH", str(tmp_path))
    assert "unconfirmed" in copy("b", app)
    assert app.copied == ["a", "b"]


def test_gnu_screen_hands_the_sequence_on_in_pieces(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("STY", "123.pts-0")
    app = Screen()
    text = "line\n" * 1000
    assert "unconfirmed" in copy(text, app)
    pieces = re.findall(r"\x1bP(.*?)\x1b\\", app.written, re.DOTALL)
    assert "".join(f"\x1bP{piece}\x1b\\" for piece in pieces) == app.written
    assert max(map(len, pieces)) <= 768
    sent = "".join(pieces).removeprefix("\x1b]52;c;").removesuffix("\x07")
    assert base64.b64decode(sent).decode() == text


def test_what_no_terminal_takes_is_written_to_a_private_file_in_full(bare: pytest.MonkeyPatch) -> None:
    app = Screen()
    for text in ("é" * LONGEST, "y" * (LONGEST + 1)):
        assert "copied.txt" in copy(text, app)
        path = paths.state() / "copied.txt"
        assert path.read_text(encoding="utf-8") == text
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert app.copied == []


def test_a_file_that_cannot_be_written_is_reported(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    bare.setenv("OI_TUI_HOME", str(tmp_path / "file"))
    assert copy("y" * (LONGEST + 1), Screen()).startswith("not copied")


@pytest.mark.needs("cat")
def test_on_macos_the_text_is_utf8_whatever_the_locale_is(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tool(tmp_path / "bin", "pbcopy", f'cat >{tmp_path}/copied; echo "$LC_ALL" >{tmp_path}/locale')
    bare.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    bare.setattr(sys, "platform", "darwin")
    bare.setenv("LC_ALL", "C")
    app = Screen()
    assert copy("é 日本", app) == "copied"
    assert (tmp_path / "copied").read_text(encoding="utf-8") == "é 日本"
    assert (tmp_path / "locale").read_text().strip().endswith("UTF-8")
    tool(tmp_path / "bin", "pbcopy", "exit 1")
    assert "unconfirmed" in copy("x", app)
    (folder / "pbcopy").unlink()
    assert "unconfirmed" in copy("x", app)
