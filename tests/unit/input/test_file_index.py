"""The files under a folder, found by a few letters."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from oi_tui.input.file_index import MOST, FileIndex


def make_index(root: Path) -> FileIndex:
    files = FileIndex(root)
    files.refresh()
    end = time.monotonic() + 60
    while files.listing:
        assert time.monotonic() < end, "the listing did not end"
        time.sleep(0.005)
    return files


def grow(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")


def git(root: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-c", "init.defaultBranch=main", *words], cwd=root, check=True, capture_output=True
    )


def test_names_that_begin_with_what_is_typed_come_first_and_shallow_ones_before_deep_ones(
    tmp_path: Path,
) -> None:
    grow(tmp_path, "a/b/sales.csv", "sales.csv", "old-sales.csv", "salt/x.txt", "a/other.txt")
    files = make_index(tmp_path)
    assert files.find("sal") == ["salt/", "sales.csv", "a/b/sales.csv", "salt/x.txt", "old-sales.csv"]
    assert files.find("SALES")[0] == "sales.csv"
    assert files.find("b/sa") == ["a/b/sales.csv"]
    assert files.find("slcv")[0] == "sales.csv", "letters in their order are enough where nothing else fits"
    assert files.find("nothing like it") == []


def test_hidden_files_are_found_only_when_a_dot_is_typed(tmp_path: Path) -> None:
    grow(tmp_path, ".secret/key", ".profile", "plain.txt", "sub/.hidden", "node_modules/deep/x.js")
    files = make_index(tmp_path)
    assert files.find("") == ["sub/", "plain.txt", "node_modules/"]
    assert set(files.find(".")) == {"./", "../"}
    assert files.find(".pro") == [".profile"]
    assert files.find("sub/.") == ["sub/.hidden"]


@pytest.mark.needs("git")
def test_in_a_repository_what_git_ignores_is_left_out(tmp_path: Path) -> None:
    git(tmp_path, "init")
    grow(tmp_path, "kept.py", "build/out.o", "sub/new.py", "sub/gone.py", ".github/flow.yml")
    (tmp_path / ".gitignore").write_text("build/\n")
    git(tmp_path, "add", ".")
    (tmp_path / "sub/gone.py").unlink()
    (tmp_path / "sub/later.py").write_text("x")
    files = make_index(tmp_path)
    assert files.find("") == ["sub/", "kept.py", "sub/new.py", "sub/later.py"]
    assert files.find("out") == []
    assert files.find(".gith") == [".github/", ".github/flow.yml"]
    assert make_index(tmp_path / "sub").find("") == ["new.py", "later.py"]


@pytest.mark.needs("git")
def test_a_repository_cannot_make_the_listing_run_a_program(tmp_path: Path) -> None:
    git(tmp_path, "init")
    program = tmp_path / "evil.sh"
    program.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n")
    program.chmod(0o755)
    git(tmp_path, "config", "core.fsmonitor", str(program))
    assert "evil.sh" in make_index(tmp_path).find("evil")
    assert not (tmp_path / "ran").exists()


def test_a_named_folder_is_looked_up_wherever_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grow(tmp_path, "home/notes.md", "home/.rc", "work/x")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    files = FileIndex(tmp_path / "work")
    assert files.find("~/") == ["~/notes.md"]
    assert files.find("~/.r") == ["~/.rc"]
    assert files.find("../ho") == ["../home/"]
    assert files.find(f"{tmp_path}/home/no") == [f"{tmp_path}/home/notes.md"]
    assert files.find("~nobody-of-this-name/") == files.find("/nowhere/at/all") == []


def test_names_that_cannot_be_typed_are_left_out_and_odd_ones_are_found(tmp_path: Path) -> None:
    grow(tmp_path, "a\x1b[2Jb", "line\nbreak", "with space.txt", "日本.csv", "ünï.txt")
    with open(os.fsencode(tmp_path) + b"/bad\xff.txt", "w"):
        pass
    assert sorted(make_index(tmp_path).find("")) == ["with space.txt", "ünï.txt", "日本.csv"]


def test_a_folder_that_cannot_be_read_or_is_gone_costs_nothing(tmp_path: Path) -> None:
    assert make_index(tmp_path / "gone").find("x") == []
    (tmp_path / "loop").symlink_to(tmp_path)
    assert make_index(tmp_path).find("") == ["loop"]


def test_something_is_found_among_a_hundred_thousand_files(tmp_path: Path) -> None:
    files = FileIndex(tmp_path)
    names = [f"folder{number % 100}/part{number % 1000}/file{number}.txt" for number in range(100_000)]
    files._paths = [*names, "folder7/wanted.py"]
    grow(tmp_path, "folder7/wanted.py", *names[:3])
    assert files.find("wanted") == ["folder7/wanted.py"]
    assert files.find("file")[0] == names[0]
    assert files.find("zzzz") == []
    assert MOST >= 100_000


def test_accents_are_found_in_whichever_form_they_are_written(tmp_path: Path) -> None:
    apart = "re\u0301sume\u0301.txt"  # as macOS gives them
    (tmp_path / apart).write_text("")
    (tmp_path / "d\u00e9j\u00e0.txt").write_text("")
    index = make_index(tmp_path)
    assert index.find("r\u00e9s") == [apart]
    assert index.find("re\u0301s") == [apart]
    assert index.find("D\u00c9J") == ["d\u00e9j\u00e0.txt"]
    assert index.find("./r\u00e9") == [f"./{apart}"]
