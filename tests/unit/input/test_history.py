"""What was typed is offered again, but for secrets, and a damaged file harms nobody."""

import os
import stat
import threading
from pathlib import Path

import pytest

from oi_tui import paths
from oi_tui.input.history import KEPT, PromptHistory
from tests.full_disk import full_disk


def test_what_was_added_comes_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "state" / "history.jsonl"
    for text in ("one", "two\nlines", "drei ⟨ü⟩"):
        PromptHistory(path).add(text)
    assert PromptHistory(path).load() == ["one", "two\nlines", "drei ⟨ü⟩"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "text", ["use sk-abcdefghijklmnopqrstuvwx", "password: hunter2", "API_KEY=12345", "my token = abc"]
)
def test_what_looks_like_a_secret_is_not_kept(tmp_path: Path, text: str) -> None:
    history = PromptHistory(tmp_path / "history.jsonl")
    history.add(text)
    assert history.load() == []


def test_words_about_secrets_are_kept(tmp_path: Path) -> None:
    history = PromptHistory(tmp_path / "history.jsonl")
    history.add("how do I rotate an api key?")
    assert history.load() == ["how do I rotate an api key?"]


def test_damaged_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(b'"good"\n{"not": "text"}\n\x00\xff\n"torn\n"last"\n')
    assert PromptHistory(path).load() == ["good", "last"]


def test_a_long_file_is_cut_down_to_the_newest(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text("".join(f'"{i}"\n' for i in range(3 * KEPT)))
    assert PromptHistory(path).load()[-1] == str(3 * KEPT - 1)
    assert len(path.read_text().splitlines()) == KEPT


def test_what_is_added_while_another_program_cuts_the_file_down_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text("".join(f'"{i}"\n' for i in range(3 * KEPT)))
    adding = threading.Thread(target=PromptHistory(path).add, args=("late",))
    replace = paths.replace_file

    def replace_late(target: Path, text: str) -> None:
        adding.start()
        adding.join(0.05)
        replace(target, text)

    monkeypatch.setattr(paths, "replace_file", replace_late)
    PromptHistory(path).load()
    adding.join()
    entries = PromptHistory(path).load()
    assert entries[-1] == "late"
    assert len(entries) == KEPT


def test_a_line_that_a_full_disk_cut_off_spoils_no_other(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    history = PromptHistory(path)
    history.add("one")
    with full_disk(path.stat().st_size + 3):
        history.add("two")
    history.add("three")
    assert history.load() == ["one", "three"]


def test_a_file_that_cannot_be_cut_down_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text("".join(f'"{i}"\n' for i in range(3 * KEPT)))
    before = path.read_bytes()
    with full_disk(100):
        assert len(PromptHistory(path).load()) == KEPT
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_to_is_no_trouble(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    history = PromptHistory(file / "history.jsonl")
    history.add("lost")
    assert history.load() == []


def test_adding_leaves_no_file_open(tmp_path: Path) -> None:
    before = os.listdir("/proc/self/fd")
    PromptHistory(tmp_path / "history.jsonl").add("one")
    assert os.listdir("/proc/self/fd") == before
