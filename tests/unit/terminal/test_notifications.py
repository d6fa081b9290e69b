"""A person who looks elsewhere is called, in the way of their terminal, with text that stays text."""

from pathlib import Path

import pytest

from oi_tui.terminal.notifications import (
    KEEP_TITLE,
    RESTORE_TITLE,
    Notifier,
    find_tool_command,
    make_desktop_sequence,
    make_title_sequence,
)

EVIL = "\x1b]52;c;RVZJTA==\x07\x1b\\\u202e\x9b;x\n"


@pytest.mark.parametrize(
    ("environment", "begins"),
    [
        ({"TERM": "xterm-kitty"}, "\x1b]99;"),
        ({"TERM": "foot"}, "\x1b]777;notify;"),
        ({"TERM": "rxvt-unicode-256color"}, "\x1b]777;notify;"),
        ({"TERM_PROGRAM": "iTerm.app"}, "\x1b]9;"),
        ({"TERM_PROGRAM": "WezTerm"}, "\x1b]9;"),
        ({"TERM": "xterm-ghostty"}, "\x1b]9;"),
        ({"LC_TERMINAL": "iTerm2", "TMUX": "x"}, "\x1bPtmux;\x1b\x1b]9;"),
    ],
)
def test_each_terminal_is_reported_in_its_own_way(environment: dict[str, str], begins: str) -> None:
    assert make_desktop_sequence("oi-tui", "Run this?", environment).startswith(begins)


@pytest.mark.parametrize("environment", [{}, {"TERM": "xterm-256color"}, {"TERM": "linux"}])
def test_a_terminal_that_is_not_known_is_reported_nothing(environment: dict[str, str]) -> None:
    assert make_desktop_sequence("oi-tui", "Run this?", environment) == ""


@pytest.mark.parametrize("term", ["xterm-kitty", "foot", "xterm-ghostty"])
def test_no_foreign_text_ends_a_sequence_or_begins_one(term: str) -> None:
    reported = make_desktop_sequence("oi-tui", EVIL, {"TERM": term})
    assert reported.count("\x1b") == make_desktop_sequence("oi-tui", "x", {"TERM": term}).count("\x1b")
    assert not set("\x07\x9b\u202e\n") & set(reported)
    assert reported.count(";") == make_desktop_sequence("oi-tui", "x", {"TERM": term}).count(";")
    titled = make_title_sequence(EVIL)
    assert titled.count("\x1b") == 2
    assert not set("\x07\x9b\u202e\n") & set(titled)


def test_the_desktops_tool_is_used_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "notify-send"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    here = {"DISPLAY": ":0"}
    assert find_tool_command("oi-tui", "-a <b>x</b>", here)[-3:] == [
        "--",
        "oi-tui",
        "-a &lt;b&gt;x&lt;/b&gt;",
    ]
    assert find_tool_command("oi-tui", "x", {}) == []
    assert find_tool_command("oi-tui", "x", {**here, "SSH_CONNECTION": "x"}) == []
    tool.unlink()
    assert find_tool_command("oi-tui", "x", here) == []


@pytest.mark.parametrize(
    ("mode", "written"),
    [("desktop", "\x1b]777;notify;oi-tui;Run this?\x1b\\\a"), ("bell", "\a"), ("off", "")],
)
def test_a_person_chooses_how_to_be_called(mode: str, written: str) -> None:
    sent: list[str] = []
    Notifier(sent.append, {"TERM": "foot"}).call(mode, "Run this?")
    assert "".join(sent) == written


def test_the_windows_own_title_comes_back() -> None:
    sent: list[str] = []
    attention = Notifier(sent.append, {})
    assert attention.restore() == ""
    for title in ("ready", "ready", "running"):
        attention.show_title(title)
    assert sent == [KEEP_TITLE + make_title_sequence("ready"), make_title_sequence("running")]
    assert attention.restore() == RESTORE_TITLE
