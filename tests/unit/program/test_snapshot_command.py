"""`%snapshot`: what is run for it, when it is refused, and when its files are deleted."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from oi_tui.actions.snapshot import VariableSnapshot
from oi_tui.engine.events import Event, TurnEnded
from oi_tui.engine.storage.saved_variables import SavedVariables
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message


class World:
    """The interface and the workspace at once, as far as they are used."""

    def __init__(self, folder: Path, *used: str, **facts: Any) -> None:
        self.restore_key = facts.get("restore_key", "")
        self.messages: tuple[Message, ...] = ()
        self.busy = facts.get("busy", False)
        self.told: list[str] = []
        self.ran: list[tuple[str, str]] = []
        self.passed: list[Event] = []
        memories = [SimpleNamespace(language=name, variables=("x",)) for name in used]
        self.computer = SimpleNamespace(
            sandbox=facts.get("sandbox", False),
            where=facts.get("where", ""),
            inspector=SimpleNamespace(read_memories=lambda: memories),
        )
        self.conversation = SimpleNamespace(id="talk", is_saved=facts.get("is_saved", True))
        self.store = SimpleNamespace(variables=SavedVariables(folder))
        self.session = self

    def show_notice(self, text: str, *, warning: bool = False) -> None:
        self.told.append(text)

    def start(self, events: Iterator[Event]) -> None:
        self.passed += events

    def run(self, language: str, code: str) -> Iterator[Event]:
        self.ran.append((language, code))
        yield TurnEnded("done")


def snapshot(world: World) -> VariableSnapshot:
    return VariableSnapshot(world, world)  # type: ignore[arg-type]


def test_the_languages_with_variables_are_kept_in_one_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OI_TUI_HOME", str(tmp_path / "of ana's"))
    world = World(tmp_path, "shell", "r", "python")
    snapshot(world).save()
    folder = world.store.variables.make_path("talk", "r").parent
    quoted = str(folder).replace("'", "'\"'\"'")
    (python, r) = world.ran
    assert python == ("python", f"%snapshot save '{quoted}/talk.pickle'")
    assert r[1].splitlines()[0] == f'save.image("{folder}/talk.rdata.tmp")'
    assert f'file.rename("{folder}/talk.rdata.tmp", "{folder}/talk.rdata")' in r[1]
    assert r[1].splitlines()[-1] == (
        'cat("Kept", length(ls()), "variables\\n"); '
        f'unlink("{folder}/talk.rdata.left_out"); options(oi_tui.kept = TRUE)'
    )
    assert world.passed == [TurnEnded("done")]
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.needs("Rscript")
def test_on_a_full_disk_r_keeps_what_was_kept_before(tmp_path: Path) -> None:
    world = World(tmp_path, "r")
    snapshot(world).save()
    ((_, code),) = world.ran
    path = world.store.variables.make_path("talk", "r")
    path.write_text("old")
    script = tmp_path / "script.R"
    script.write_text(f"x <- 1\n{code}")
    full = "trap '' XFSZ; ulimit -f 0; exec Rscript --vanilla $0"
    done = subprocess.run(["sh", "-c", full, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode
    assert f"no space left on the disk of {path.parent}" in " ".join(done.stderr.split())
    assert path.read_text() == "old"
    assert [item.name for item in path.parent.iterdir()] == [path.name]


def test_what_was_kept_is_restored(tmp_path: Path) -> None:
    world = World(tmp_path)
    path = world.store.variables.make_path("talk", "r")
    path.touch()
    assert (
        snapshot(world)
        .describe()
        .startswith("%snapshot restore brings back the variables that were kept on 2")
    )
    snapshot(world).restore()
    code = f'cat("Restored", length(load("{path}")), "variables\\n"); options(oi_tui.kept = TRUE)'
    assert world.ran == [("r", code)]


def test_what_was_not_kept_is_listed_with_the_cells_that_made_it(tmp_path: Path) -> None:
    world = World(tmp_path, restore_key="f9")
    saved = world.store.variables
    header = {"left_out": {"link": "Socket: cannot be pickled", "rows": "2 GB"}}
    saved.make_path("talk", "python").write_text(json.dumps(header) + "\n")
    saved.make_path("talk", "r").touch()
    saved.make_path("talk", "r").with_suffix(".rdata.left_out").write_text('{"left_out": {"m": "no room"}}')
    codes = [("python", "link = 1"), ("python", "rows = link"), ("r", "m <- 1"), ("python", "x = rows")]
    world.messages = tuple(
        Message(role="user", type="code", format=language, content=code, state="finished")
        for language, code in codes
    )
    text = snapshot(world).describe()
    assert text.startswith("f9 or %snapshot restore brings back")
    assert "Not kept: link (Socket: cannot be pickled); rows (2 GB); m (no room). " in text
    assert "%rerun only 1 2 3 runs the cells that made it again" in text


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"sandbox": True}, "in the sandbox"),
        ({"where": "on gpu1 as ana"}, "only for code on this machine"),
        ({"busy": True}, "Busy. Press esc to stop first."),
    ],
)
def test_where_it_is_not_possible_nothing_runs(tmp_path: Path, facts: dict[str, Any], sentence: str) -> None:
    world = World(tmp_path, "python", **facts)
    world.store.variables.make_path("talk", "python").touch()
    snapshot(world).save()
    snapshot(world).restore()
    assert world.ran == []
    assert [sentence in text for text in world.told] == [True, True]


def test_without_variables_a_file_or_a_conversation_it_says_so(tmp_path: Path) -> None:
    empty, unsaved = World(tmp_path, "shell"), World(tmp_path, "python", is_saved=False)
    snapshot(empty).save()
    snapshot(empty).restore()
    snapshot(unsaved).save()
    assert [text.split(".")[0] for text in (*empty.told, *unsaved.told)] == [
        "Python and R have no variables yet",
        "No variables were kept with this conversation",
        "This conversation is not saved, so its variables cannot be kept",
    ]
    assert snapshot(empty).describe() == ""


def test_the_files_are_deleted_once_the_conversation_cannot_be_restored_any_more(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for name in ("here", "thrown"):
        (tmp_path / f"{name}.jsonl").touch()
    for name in ("here", "thrown", "gone"):
        store.variables.make_path(name, "python").touch()
    folder = store.variables.make_path("here", "r").parent
    (folder / "notes.txt").touch()
    (folder / "gone.rdata.left_out").touch()
    (folder / "here.pickle.7.tmp").touch()
    os.utime(folder / "here.pickle.7.tmp", (0, 0))
    (folder / "here.pickle.8.tmp").touch()
    store.delete("thrown")
    store.delete_expired()
    assert sorted(path.name for path in folder.iterdir()) == [
        "here.pickle",
        "here.pickle.8.tmp",
        "notes.txt",
        "thrown.pickle",
    ]
    assert not folder.is_relative_to(store.folder)
