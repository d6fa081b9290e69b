"""Programs on PATH, and placeholders that are none."""

import sys
from pathlib import Path

import pytest

from oi_tui.runtimes.language import Choices
from oi_tui.runtimes.languages import java, python
from oi_tui.system import programs


@pytest.fixture
def mac(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder like /usr/bin of a Mac, on which nothing was installed yet."""
    for name in ("git", "python3", "jshell", "java", "perl"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(programs, "_PLACE", tmp_path)
    monkeypatch.setattr(
        programs, "_PLACEHOLDERS", dict.fromkeys(programs._PLACEHOLDERS, ("/bin/sh", "-c", "false"))
    )
    programs._try_command.cache_clear()
    return tmp_path


def test_a_placeholder_is_not_taken_for_the_program(mac: Path) -> None:
    assert [programs.find(name) for name in ("git", "python3", "jshell")] == [None, None, None]
    assert programs.find("perl") == str(mac / "perl")
    assert python.find(Choices()) == sys.executable
    assert java.find(Choices()) is None


def test_what_was_installed_is_used(mac: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_PLACEHOLDERS", {"git": ("/bin/sh", "-c", "true")})
    assert programs.find("git") == str(mac / "git")


def test_a_program_elsewhere_is_no_placeholder(mac: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_PLACE", mac / "elsewhere")
    assert programs.find("git") == str(mac / "git")


def test_other_systems_have_no_placeholders(mac: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    assert programs.find("git") == str(mac / "git")
    assert programs.find("nothing-like-it") is None


def test_what_cannot_be_asked_is_not_there() -> None:
    assert not programs._try_command(("/nowhere/xcode-select",))
