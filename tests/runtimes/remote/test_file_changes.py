"""Files of a target that code changes there: listed after each run, and restored when that is asked for."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from oi_tui.file_changes import watcher
from oi_tui.file_changes.snapshots import ChangeSet, FileChange, read_change_set
from oi_tui.runtimes import Computer
from oi_tui.runtimes.remote.files import FileError, TargetFiles
from tests.runtimes.playing import play, until
from tests.runtimes.remote.test_remote import worker_folder, worker_pid

Make = Callable[..., Computer]
CODE = """
import os
open('new.txt', 'w').write('new')
open('old.txt', 'a').write(' and more')
os.remove('gone.txt')
"""


@pytest.fixture
def there(tmp_path: Path) -> Path:
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "old.txt").write_text("old")
    (folder / "gone.txt").write_text("still here")
    (folder / "gone.txt").chmod(0o640)
    return folder


@pytest.fixture
def computer(make: Make, there: Path) -> Computer:
    return make(target=f"command:env -C {there}")


def changed_by(computer: Computer, code: str, id: str = "c1") -> ChangeSet | None:
    files = files_of(computer)
    files.watch(id)
    assert play(computer, "python", code, number=1).state == "finished"
    return files.pop_changes()


def files_of(computer: Computer) -> TargetFiles:
    files = computer.target_files
    assert files
    return files


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_files_that_code_changes_are_restored_there_and_that_is_reverted(
    computer: Computer, there: Path
) -> None:
    before = contents(there)
    step = changed_by(computer, CODE)
    assert step
    assert (step.id, step.folder, step.target) == ("c1", str(there), computer.targets.home)
    assert [(change.path, change.what) for change in step.changes] == [
        ("gone.txt", "deleted"),
        ("new.txt", "created"),
        ("old.txt", "changed"),
    ]
    after = contents(there)
    files = files_of(computer)
    (there / "old.txt").write_text("changed since")
    assert [(action.removes, action.obstacle, action.since) for action in files.plan(step)] == [
        (False, "", False),
        (True, "", False),
        (False, "", True),
    ]
    back, _, problems = files.restore(step)
    assert (contents(there), problems) == (before, [])
    assert (there / "gone.txt").stat().st_mode & 0o777 == 0o640
    assert back.target == computer.targets.home
    files.restore(back)
    assert contents(there) == {**after, "old.txt": "changed since"}
    assert changed_by(computer, "1 + 1") is None


def test_only_what_is_asked_for_is_looked_at(computer: Computer, there: Path) -> None:
    assert play(computer, "python", CODE, number=1).state == "finished"
    assert files_of(computer).pop_changes() is None
    folder = worker_folder(computer)
    assert not list(folder.rglob("snapshots"))


def test_copies_are_private_and_end_with_the_connection(computer: Computer, there: Path) -> None:
    step = changed_by(computer, CODE)
    assert step
    pid = worker_pid(computer)
    folder = worker_folder(computer)
    kept = next(folder.rglob("contents"))
    assert kept.stat().st_mode & 0o777 == 0o700
    os.kill(pid, signal.SIGKILL)
    until(lambda: not folder.exists())
    until(computer.pop_losses)
    with pytest.raises(FileError, match="copies of files that were kept there are gone"):
        files_of(computer).restore(step)
    assert play(computer, "python", "1").state == "finished"
    assert [action.obstacle for action in files_of(computer).plan(step)] == [
        "its earlier content is no longer kept",
        "",
        "its earlier content is no longer kept",
    ]


def test_a_step_that_leads_out_of_its_folder_restores_nothing(
    computer: Computer, there: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").write_text("mine")
    step = ChangeSet(
        "c1", str(there), (FileChange("../outside", "created", None, "0" * 64),), target=computer.targets.home
    )
    _, actions, _ = files_of(computer).restore(step)
    assert [action.obstacle for action in actions] == ["a link is in its place"]
    assert (tmp_path / "outside").read_text() == "mine"


BAD_STEPS = [
    "[]",
    "{}",
    "null",
    json.dumps({"id": 1, "folder": "x", "changes": [], "note": ""}),
    json.dumps({"id": "x", "folder": "x", "changes": [1], "note": ""}),
    json.dumps({"id": "x", "folder": "x", "changes": [{"path": "a", "what": "exploded"}], "note": ""}),
    json.dumps({"id": "x", "folder": "x", "changes": [{"path": 1, "what": "created"}], "note": ""}),
    json.dumps({"id": "x", "folder": "x", "changes": [{"path": "a", "what": "created", "x": 1}], "note": ""}),
]


@pytest.mark.parametrize("text", BAD_STEPS)
def test_what_is_no_step_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no step|no change"):
        read_change_set(text)


def test_a_remote_host_cannot_report_for_another_run_or_without_end(computer: Computer) -> None:
    files = files_of(computer)
    files.watch("c2")
    files.note_changes(ChangeSet("c1", "/", (FileChange("a", "created"),)))
    assert files.pop_changes() is None
    files.watch("c2")
    many = tuple(
        FileChange(f"{n}", "created", why="\x1b[2J" + "x" * 5000) for n in range(watcher.MOST_CHANGES + 5)
    )
    files.note_changes(ChangeSet("c2", "/", many, "x" * 5000, "local"))
    step = files.pop_changes()
    assert step
    assert {(len(change.why), "\x1b" in change.why) for change in step.changes} == {(500, False)}
    assert (len(step.changes), len(step.note), step.target) == (
        watcher.MOST_CHANGES,
        500,
        computer.targets.home,
    )
