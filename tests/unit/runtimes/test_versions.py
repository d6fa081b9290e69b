"""Asking a program for its version."""

from pathlib import Path

import pytest

from oi_tui.runtimes.versions import find_version


def write_program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of somebody else, in which oi-tui is."""
    folder = tmp_path / "cloned"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_a_stand_in_runs_nothing_that_a_file_of_the_folder_names(tmp_path: Path, folder: Path) -> None:
    stand_in = 'tool=$(cat .tool-versions) && exec "$tool"; echo ruby 3.2.2'
    ruby = write_program(tmp_path / "shims/ruby", stand_in)
    stranger = write_program(folder / "stranger", "touch was-run; echo ruby 6.6.6")
    (folder / ".tool-versions").write_text(str(stranger))
    assert find_version(str(ruby), "--version", "ruby ([0-9.]+)") == "3.2.2"
    assert not (folder / "was-run").exists()


def test_nothing_is_installed_to_tell_a_version(tmp_path: Path) -> None:
    go = write_program(tmp_path / "go", 'echo "go $GOTOOLCHAIN $RUSTUP_AUTO_INSTALL"')
    assert find_version(str(go), "version", "go (.*)") == "local 0"


def test_rustup_is_not_started_only_to_make_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_program(tmp_path / "bin/rustup", 'mkdir -p "$HOME/.rustup"; echo rustc 1.80.0')
    rustc = tmp_path / "bin/rustc"
    rustc.symlink_to("rustup")
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("RUSTUP_HOME", raising=False)
    assert find_version(str(rustc), "--version", "rustc ([0-9.]+)") == ""
    assert list(home.iterdir()) == []
    (home / ".rustup").mkdir()
    assert find_version(str(rustc), "--version", "rustc ([0-9.]+)") == "1.80.0"


def test_a_program_of_a_folder_on_path_is_found_from_there(folder: Path) -> None:
    write_program(folder / "bin/lua", "echo Lua 5.4.6")
    assert find_version("bin/lua", "-v", "Lua ([0-9.]+)") == "5.4.6"
