"""Disks that fail, folders that vanish, clocks that jump: said in words, survived, and nothing is lost."""

import errno
import itertools
import json
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from oi_tui import paths
from oi_tui.engine.storage.store import Store
from tests.e2e import faulty
from tests.e2e.conftest import Start
from tests.e2e.program import Program

Fail = Callable[..., None]


@pytest.fixture
def fail(tmp_path: Path) -> Fail:
    """Says what fails from now on; nothing does at first."""
    file = tmp_path / "faults.json"
    numbers = itertools.count(1)

    def fail(errors: dict[str, int] | None = None, clock: float = 0) -> None:
        made = file.with_suffix(".new")
        made.write_text(
            json.dumps({"below": os.environ["OI_TUI_HOME"], "errors": errors or {}, "clock": clock})
        )
        os.utime(made, (next(numbers),) * 2)
        made.replace(file)

    fail()
    return fail


@pytest.fixture
def program(start: Start, fail: Fail, tmp_path: Path) -> Program:
    command = (sys.executable, faulty.__file__, str(tmp_path / "faults.json"))
    program = start("--demo", command=command, rows=40)
    program.begin()
    return program


def run_shell(program: Program, word: str) -> None:
    program.say(f"%run python print('{word}', 6 * 7)")
    program.wait_for(f"│ {word} 42")
    program.idle()


def printed() -> list[str]:
    store = Store(paths.conversations())
    (one,) = store.list_summaries()
    contents = store.read_contents(one.id)
    assert contents.damaged == 0
    return [m.content.strip() for m in contents.messages.values() if m.role == "computer"]


def quit_program(program: Program) -> None:
    program.press("ctrl+q")
    assert program.wait_exit() == 0


@pytest.mark.parametrize(
    "errors",
    [{"fsync": errno.EIO}, {"write": errno.EIO}, {"write": errno.ENOSPC}, {"write": errno.EDQUOT}],
    ids=["fsync", "write", "full", "quota"],
)
def test_a_disk_that_fails_during_a_session_is_reported_and_catches_up(
    errors: dict[str, int], program: Program, fail: Fail
) -> None:
    run_shell(program, "one")
    fail(errors)
    program.say("%run python print('two', 6 * 7)")
    program.wait_for("│ two 42")
    program.wait_for("Not saved")
    run_shell(program, "three")
    fail()
    program.wait_for("Saving works again.")
    quit_program(program)
    assert printed() == ["one 42", "two 42", "three 42"]


def test_a_home_that_becomes_read_only_is_reported_wherever_something_would_be_written(
    program: Program, fail: Fail
) -> None:
    run_shell(program, "one")
    fail(faulty.READ_ONLY)
    program.say("%run python print('two', 6 * 7)")
    program.wait_for("│ two 42")
    program.wait_for("Not saved")
    program.press("ctrl+r")
    program.wait_for("1 saved")
    program.press("down")
    program.wait_for("d d delete")
    program.press("p")
    program.wait_for("Could not pin: ~/oi-tui/data/conversations is on a read-only disk")
    for key in ("d", "d"):
        program.press(key)
    program.wait_for("Could not delete: ~/oi-tui/data/conversations is on a read-only disk")
    program.press("escape")
    program.begin()
    fail()
    program.wait_for("Saving works again.")
    quit_program(program)
    assert printed() == ["one 42", "two 42"]


def test_a_data_folder_that_is_removed_is_made_again_with_all_that_was_written(program: Program) -> None:
    run_shell(program, "one")
    shutil.rmtree(paths.data())
    run_shell(program, "two")
    quit_program(program)
    assert printed() == ["one 42", "two 42"]


def test_a_clock_that_jumps_changes_neither_the_order_nor_the_screens(program: Program, fail: Fail) -> None:
    now = 1_800_000_000
    for word, moment in (("one", 0), ("two", 1), ("three", 2**31), ("four", 9e9), ("five", now - 3600)):
        fail(clock=moment - now)
        run_shell(program, word)
        program.press("ctrl+r")
        program.wait_for("1 saved")
        program.press("escape")
        program.begin()
    quit_program(program)
    assert printed() == [f"{word} 42" for word in ("one", "two", "three", "four", "five")]


def test_data_may_lie_behind_a_link(start: Start, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    home = Path(os.environ["OI_TUI_HOME"])
    home.mkdir(parents=True)
    (home / "data").symlink_to(elsewhere)
    program = start("--demo", rows=40)
    program.begin()
    run_shell(program, "one")
    quit_program(program)
    assert len(list((elsewhere / "conversations").glob("*.jsonl"))) == 1
    again = start("--demo", "--resume", rows=40)
    again.wait_for("│ one 42")


@pytest.mark.parametrize("state", ["locked", "damaged", "a folder"])
def test_an_index_that_is_of_no_use_costs_nothing_but_time(state: str, start: Start) -> None:
    program = start("--demo", rows=40)
    program.begin()
    run_shell(program, "needle")
    quit_program(program)
    path = paths.conversations() / "words.sqlite3"
    holder = None
    if state == "a folder":
        path.mkdir()
    elif state == "damaged":
        path.write_bytes(b"SQLite format 3\0" + os.urandom(20_000))
    else:
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN EXCLUSIVE")
    again = start("--demo", rows=40)
    again.begin()
    again.press("ctrl+r")
    again.wait_for("1 saved")
    again.send("eedle")
    again.wait_for(lambda screen: "needle 42" in screen and "1 of 1" in screen)
    again.press("enter")
    again.wait_for("│ needle 42")
    if holder is not None:
        holder.close()
