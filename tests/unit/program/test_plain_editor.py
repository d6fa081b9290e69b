"""Texts that plain commands have edited in the person's own editor."""

import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest

from oi_tui.engine.settings.profile import Profile
from oi_tui.plain.commands import PlainCommands
from oi_tui.workspace import Workspace
from tests.fakes import Computer, Llm


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> Iterator[PlainCommands]:
    """Commands with somebody at the terminal."""
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    workspace = Workspace(Profile(), llm=Llm(), computer=Computer())
    yield PlainCommands(Mock(), workspace)
    workspace.close()


def editor(folder: Path, line: str) -> str:
    """A program that edits the file it is given."""
    path = folder / "editor.sh"
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o700)
    return str(path)


def test_the_editor_that_is_named_edits(
    commands: PlainCommands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", editor(tmp_path, 'echo more >> "$1"; echo "$1" > seen'))
    monkeypatch.chdir(tmp_path)
    assert commands.edit("text\n", ".md") == "text\nmore\n"
    assert (tmp_path / "seen").read_text().strip().endswith(".md")


def test_an_editor_that_fails_changes_nothing_and_is_named(
    commands: PlainCommands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", editor(tmp_path, "exit 3"))
    told: list[str] = []
    monkeypatch.setattr(commands, "show_notice", lambda text, warning=False: told.append(text))
    assert commands.edit("text\n", ".md") == "text\n"
    assert "ended with 3" in told[0]


@pytest.mark.parametrize("missing", ["editor", "terminal"])
def test_without_an_editor_or_a_terminal_the_text_stays_as_it_is(
    missing: str, commands: PlainCommands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if missing == "terminal":
        monkeypatch.setenv("EDITOR", editor(tmp_path, 'echo more >> "$1"'))
        monkeypatch.setattr(sys.stdin, "isatty", lambda: False, raising=False)
    assert commands.edit("text\n", ".md") == "text\n"
