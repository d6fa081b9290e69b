"""Which files changed while code ran, what is kept of them, and how they are put back."""

import hashlib
import itertools
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from oi_tui import paths
from oi_tui.file_changes import restore, snapshots, watcher
from oi_tui.file_changes.snapshots import ChangeSet, FileChange, Snapshots
from oi_tui.file_changes.watcher import FileWatcher
from tests.full_disk import full_disk


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def kept() -> Snapshots:
    return Snapshots(paths.data() / "snapshots")


@pytest.fixture
def watching(place: Path, kept: Snapshots) -> FileWatcher:
    return FileWatcher(kept, place)


def step(watching: FileWatcher, act: Callable[[], object], id: str = "code1") -> ChangeSet | None:
    watching.before()
    act()
    return watching.after(id)


def describe_changes(found: ChangeSet | None) -> dict[str, str]:
    return {change.path: change.what for change in found.changes} if found else {}


def undo(kept: Snapshots, found: ChangeSet | None) -> tuple[ChangeSet, list[str]]:
    assert found is not None
    return restore.restore(kept, found, restore.plan(kept, found))


def test_what_was_created_changed_and_deleted_is_listed_and_put_back(
    watching: FileWatcher, place: Path, kept: Snapshots
) -> None:
    (place / "data.csv").write_text("1\n")
    (place / "data.csv").chmod(0o640)
    (place / "old.txt").write_text("old")
    (place / "same.txt").write_text("same")

    def act() -> None:
        (place / "data.csv").write_text("2\n")
        (place / "old.txt").unlink()
        (place / "new").mkdir()
        (place / "new" / "plot.png").write_bytes(b"\x89PNG")
        (place / "same.txt").write_text("same")

    found = step(watching, act)
    assert describe_changes(found) == {"data.csv": "changed", "new/plot.png": "created", "old.txt": "deleted"}
    assert kept.find_change_set("code1") == found
    back, problems = undo(kept, found)
    assert not problems
    assert (place / "data.csv").read_text() == "1\n"
    assert stat.S_IMODE((place / "data.csv").stat().st_mode) == 0o640
    assert (place / "old.txt").read_text() == "old"
    assert not (place / "new" / "plot.png").exists()
    undo(kept, back)
    assert (place / "data.csv").read_text() == "2\n"
    assert not (place / "old.txt").exists()
    assert (place / "new" / "plot.png").read_bytes() == b"\x89PNG"


def test_nothing_is_reported_where_nothing_changed(watching: FileWatcher, place: Path) -> None:
    (place / "a").write_text("a")
    assert step(watching, lambda: None) is None
    assert step(watching, lambda: os.utime(place / "a")) is None


def test_what_a_person_did_between_two_runs_is_not_the_codes_doing(
    watching: FileWatcher, place: Path
) -> None:
    assert step(watching, lambda: None) is None
    (place / "mine.txt").write_text("mine")
    assert describe_changes(step(watching, lambda: (place / "its.txt").write_text("its"))) == {
        "its.txt": "created"
    }


@pytest.mark.parametrize("name", [".git", "node_modules", "__pycache__", ".venv", "own-venv"])
def test_folders_of_tools_are_let_be(name: str, watching: FileWatcher, place: Path) -> None:
    (place / name / "deep").mkdir(parents=True)
    if name == "own-venv":
        (place / name / "pyvenv.cfg").write_text("")
    found = step(watching, lambda: (place / name / "deep" / "x").write_text("x"))
    assert found is None


def test_hidden_and_large_files_are_listed_and_nothing_of_them_is_kept(
    watching: FileWatcher, place: Path, kept: Snapshots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "LARGEST", 100)
    monkeypatch.setattr(snapshots, "LARGEST", 100)
    (place / ".env").write_text("TOKEN=1")
    (place / "big.bin").write_bytes(b"x" * 101)

    def act() -> None:
        (place / ".env").write_text("TOKEN=22")
        (place / "big.bin").write_bytes(b"y" * 102)

    found = step(watching, act)
    assert describe_changes(found) == {".env": "changed", "big.bin": "changed"}
    assert found is not None
    reported = {action.change.path: action.obstacle for action in restore.plan(kept, found)}
    assert "secrets" in reported[".env"]
    assert "larger than" in reported["big.bin"]
    assert not undo(kept, found)[0].changes
    assert (place / ".env").read_text() == "TOKEN=22"
    private = paths.data() / "snapshots" / "contents"
    assert not private.exists() or not list(private.iterdir())


def test_everything_kept_is_for_its_owner_only(watching: FileWatcher, place: Path) -> None:
    step(watching, lambda: (place / "a").write_text("a"))
    found = list((paths.data() / "snapshots").rglob("*"))
    assert {stat.S_IMODE(path.stat().st_mode) for path in found if path.is_file()} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in found if path.is_dir()} == {0o700}


def test_in_a_huge_folder_the_search_ends_and_says_so_once(
    watching: FileWatcher, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "MOST_FILES", 50)
    for number in range(40):
        (place / f"top{number}").write_text("")
    (place / "deep").mkdir()
    for number in range(40):
        (place / "deep" / f"x{number}").write_text("")
    first = step(watching, lambda: (place / "top1").write_text("new"))
    assert describe_changes(first) == {"top1": "changed"}
    assert first is not None
    assert "holds more than is looked at" in first.note
    second = step(watching, lambda: (place / "deep" / "x1").write_text("new"), "code2")
    assert second is None


def test_a_search_that_is_stopped_claims_no_deletions(watching: FileWatcher, place: Path) -> None:
    (place / "a").write_text("a")
    watching.before()
    found = watching.after("code1", lambda: True)
    assert describe_changes(found) == {}


def test_a_home_folder_is_only_looked_at_on_its_surface(kept: Snapshots) -> None:
    home = Path.home()
    (home / "letters").mkdir()
    watching = FileWatcher(kept, home)
    found = step(watching, lambda: [(home / n).write_text("x") for n in ("top.txt", "letters/deep.txt")])
    assert describe_changes(found) == {"top.txt": "created"}


def test_links_are_neither_followed_nor_written_through(
    watching: FileWatcher, place: Path, kept: Snapshots, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "a").write_text("precious")
    (place / "sub").mkdir()
    (place / "sub" / "a").write_text("1")
    found = step(watching, lambda: (place / "sub" / "a").write_text("2"))
    (place / "sub" / "a").unlink()
    (place / "sub").rmdir()
    (place / "sub").symlink_to(victim)
    assert not undo(kept, found)[0].changes
    assert (victim / "a").read_text() == "precious"
    (place / "sub").unlink()
    (place / "sub").mkdir()
    (place / "sub" / "a").symlink_to(victim / "a")
    assert not undo(kept, found)[0].changes
    assert (victim / "a").read_text() == "precious"


@pytest.mark.parametrize("removes", [False, True])
def test_a_link_that_takes_the_place_of_a_folder_just_then_is_not_followed(
    watching: FileWatcher, place: Path, kept: Snapshots, monkeypatch: pytest.MonkeyPatch, removes: bool
) -> None:
    victim, sub = place.parent / "victim", place / "sub"
    for folder in (victim, sub):
        folder.mkdir()
    (victim / "a").write_text("precious")
    if removes:
        found = step(watching, lambda: (sub / "a").write_text("1"))
    else:
        (sub / "a").write_text("1")
        found = step(watching, lambda: (sub / "a").unlink())
    look, looks = restore._is_inside, itertools.count()
    assert found is not None
    actions = restore.plan(kept, found)

    def swap(root: Path, relative: str) -> bool:
        inside = look(root, relative)
        if next(looks) == 1:
            # The last look, just before the file is written or removed.
            sub.rename(place / "moved")
            sub.symlink_to(victim)
        return inside

    monkeypatch.setattr(restore, "_is_inside", swap)
    back, problems = restore.restore(kept, found, actions)
    assert (back.changes, len(problems)) == ((), 1)
    assert (victim / "a").read_text() == "precious"
    assert [path.name for path in victim.iterdir()] == ["a"]


@pytest.mark.parametrize("moment", ["plan", "restore"])
@pytest.mark.parametrize("left", ["file", "link"])
def test_a_link_that_takes_the_place_of_a_folder_just_then_is_not_read_through(
    watching: FileWatcher,
    place: Path,
    kept: Snapshots,
    monkeypatch: pytest.MonkeyPatch,
    moment: str,
    left: str,
) -> None:
    victim, sub = place.parent / "victim", place / "sub"
    for folder in (victim, sub):
        folder.mkdir()
    if left == "file":
        (victim / "a").write_text("precious")
    else:
        (victim / "a").symlink_to("precious")
    (sub / "a").write_text("1")
    found = step(watching, lambda: (sub / "a").write_text("2"))
    assert found is not None
    actions = restore.plan(kept, found)
    look = restore._is_inside

    def swap(root: Path, relative: str) -> bool:
        inside = look(root, relative)
        if not sub.is_symlink():
            sub.rename(place / "moved")
            sub.symlink_to(victim)
        return inside

    monkeypatch.setattr(restore, "_is_inside", swap)
    if moment == "plan":
        restore.plan(kept, found)
    else:
        assert restore.restore(kept, found, actions)[0].changes == ()
    assert sub.is_symlink()
    assert kept.read_content(hashlib.sha256(b"precious").hexdigest()) is None


@pytest.mark.parametrize("moment", ["before it is listed", "before it is kept"])
def test_a_link_that_takes_the_place_of_a_folder_just_then_shows_nothing(
    watching: FileWatcher, place: Path, kept: Snapshots, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    victim, sub = place.parent / "victim", place / "sub"
    for folder in (victim, sub):
        folder.mkdir()
    for path in (victim / "a", victim / "b"):
        path.write_text("precious")
    (sub / "a").write_text("1")
    owner, name = (watcher, "_is_ignored") if moment == "before it is listed" else (kept, "save_file")
    act = getattr(owner, name)

    def swap(*arguments: object) -> object:
        if not sub.is_symlink():
            sub.rename(place / ".moved")
            sub.symlink_to(victim)
        return act(*arguments)

    monkeypatch.setattr(owner, name, swap)
    watching.before()
    assert kept.read_content(hashlib.sha256(b"precious").hexdigest()) is None
    assert watching._before is not None
    assert "sub/b" not in watching._before.files


def test_a_folder_that_cannot_be_looked_at_is_named_and_restores_nothing(
    kept: Snapshots, place: Path
) -> None:
    name = kept.save(b"text")
    found = ChangeSet("s", str(place), (FileChange(f"{'x' * 300}/deep/a", "deleted", name),))
    assert [action.obstacle for action in restore.plan(kept, found)] == [
        "it cannot be read (File name too long)"
    ]
    assert undo(kept, found)[0].changes == ()


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x", ""])
def test_no_remembered_name_leads_outside(path: str, kept: Snapshots, place: Path) -> None:
    name = kept.save(b"evil")
    found = ChangeSet("s", str(place), (FileChange(path, "deleted", name),))
    assert [action.obstacle for action in restore.plan(kept, found)] == ["a link is in its place"]


def test_a_file_that_changed_again_is_reported_and_can_be_had_back(
    watching: FileWatcher, place: Path, kept: Snapshots
) -> None:
    (place / "a").write_text("1")
    found = step(watching, lambda: (place / "a").write_text("2"))
    assert found is not None
    (place / "a").write_text("3")
    assert [action.since for action in restore.plan(kept, found)] == [True]
    back, _ = undo(kept, found)
    assert (place / "a").read_text() == "1"
    undo(kept, back)
    assert (place / "a").read_text() == "3"


def test_what_is_no_longer_kept_or_was_tampered_with_is_reported(
    watching: FileWatcher, place: Path, kept: Snapshots
) -> None:
    (place / "a").write_text("1")
    found = step(watching, lambda: (place / "a").write_text("2"))
    for path in (paths.data() / "snapshots" / "contents").iterdir():
        path.write_text("other")
    assert found is not None
    assert [a.obstacle for a in restore.plan(kept, found)] == ["its earlier content is no longer kept"]


def test_several_steps_go_back_to_before_the_first(
    watching: FileWatcher, place: Path, kept: Snapshots
) -> None:
    (place / "a").write_text("1")
    steps = [
        step(watching, lambda: [(place / "a").write_text("2"), (place / "t").write_text("t")], "one"),
        step(watching, lambda: [(place / "a").unlink(), (place / "t").unlink()], "two"),
        step(watching, lambda: [(place / "a").write_text("4"), (place / "b").write_text("b")], "three"),
    ]
    whole = restore.merge([item for item in steps if item])
    assert describe_changes(whole) == {"a": "changed", "b": "created"}
    undo(kept, whole)
    assert sorted(path.name for path in place.iterdir()) == ["a"]
    assert (place / "a").read_text() == "1"


def test_trouble_with_the_disk_is_reported_and_stops_nothing(
    watching: FileWatcher, place: Path, kept: Snapshots, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Snapshots, "save", full)
    monkeypatch.setattr(Snapshots, "save_change_set", full)
    found = step(watching, lambda: (place / "a").write_text("2"))
    assert found is not None
    assert describe_changes(found) == {"a": "created"}
    assert "No space left" in found.changes[0].why
    assert "cannot be restored" in found.note


def test_on_a_full_disk_a_file_is_not_restored_because_it_could_not_be_kept(
    watching: FileWatcher, place: Path, kept: Snapshots
) -> None:
    (place / "a").write_text("1")
    found = step(watching, lambda: (place / "a").write_text("2"))
    assert found is not None
    (place / "a").write_text("3")
    with full_disk():
        (action,) = restore.plan(kept, found)
    assert action.obstacle.startswith("its current content could not be kept (")
    assert "contents: " in action.obstacle
    _, problems = undo(kept, found)
    assert not problems
    assert (place / "a").read_text() == "1"


def test_a_folder_that_vanishes_is_no_crash(watching: FileWatcher, place: Path) -> None:
    assert step(watching, place.rmdir) is None


def test_what_is_old_and_what_is_too_much_goes(
    kept: Snapshots, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [kept.save(bytes([number]) * 100) for number in range(5)]
    contents = paths.data() / "snapshots" / "contents"
    for age, name in enumerate(names):
        found = (contents / name).stat()
        os.utime(contents / name, (found.st_atime, found.st_mtime - 10 * age))
    os.utime(contents / names[0], (0, 0))
    monkeypatch.setattr(snapshots, "MOST_BYTES", 200)
    kept.delete_expired()
    assert [kept.read_content(name) is not None for name in names] == [False, True, True, False, False]


@pytest.mark.parametrize("text", ["", "[]", '{"changes": 1}', '{"folder": "/", "changes": [{}], "note": ""}'])
def test_a_damaged_step_is_none(text: str, kept: Snapshots) -> None:
    kept.save_change_set(ChangeSet("code1", "/", ()))
    (paths.data() / "snapshots" / "steps" / "code1.json").write_text(text)
    assert kept.find_change_set("code1") is None
    assert kept.find_change_set("../../etc/passwd") is None


@pytest.mark.parametrize("id_", ["../keys", "/nowhere/keys", "a\0", "\ud800", "", "a\n"])
def test_a_step_whose_id_is_no_name_is_not_written(id_: str, kept: Snapshots) -> None:
    with pytest.raises(OSError, match="not a name"):
        kept.save_change_set(ChangeSet(id_, "/", ()))
    assert not list(paths.data().rglob("*.json"))


def test_permissions_that_code_changed_are_listed_and_put_back(
    watching: FileWatcher, place: Path, kept: Snapshots
) -> None:
    (place / "run.sh").write_text("echo")
    (place / "run.sh").chmod(0o600)
    found = step(watching, lambda: (place / "run.sh").chmod(0o755))
    assert describe_changes(found) == {"run.sh": "changed"}
    back, problems = undo(kept, found)
    assert not problems
    assert stat.S_IMODE((place / "run.sh").stat().st_mode) == 0o600
    undo(kept, back)
    assert stat.S_IMODE((place / "run.sh").stat().st_mode) == 0o755


def test_a_renamed_file_of_any_bytes_comes_back_under_its_name(
    watching: FileWatcher, place: Path, kept: Snapshots
) -> None:
    content = os.urandom(100_000)
    odd = os.fsdecode(b"a\xff\n\x1b[31m.bin")
    (place / odd).write_bytes(content)
    found = step(watching, lambda: (place / odd).rename(place / "b.bin"))
    assert describe_changes(found) == {odd: "deleted", "b.bin": "created"}
    undo(kept, found)
    assert (place / odd).read_bytes() == content
    assert not (place / "b.bin").exists()
    assert kept.find_change_set("code1") == found


def test_a_git_repository_is_left_alone_to_the_last_byte(
    watching: FileWatcher, place: Path, kept: Snapshots
) -> None:
    (place / ".git" / "objects").mkdir(parents=True)
    for name in ("index", "HEAD", "objects/aa"):
        (place / ".git" / name).write_text(name)
    (place / "main.py").write_text("old")

    def state() -> list[tuple[str, int, bytes]]:
        files = sorted(path for path in (place / ".git").rglob("*") if path.is_file())
        return [(str(path), path.stat().st_mtime_ns, path.read_bytes()) for path in files]

    before = state()
    found = step(watching, lambda: (place / "main.py").write_text("new"))
    undo(kept, found)
    assert (place / "main.py").read_text() == "old"
    assert state() == before


def test_how_to_take_a_restoring_back_is_known_after_the_end_of_the_program(
    watching: FileWatcher, place: Path, kept: Snapshots
) -> None:
    (place / "a").write_text("old")
    found = step(watching, lambda: (place / "a").write_text("new"))
    undo(kept, found)
    latest = Snapshots(paths.data() / "snapshots").find_latest(
        restore.make_revert_id(id_) for id_ in ("none", "code1")
    )
    assert latest == "back-code1"
    undo(kept, kept.find_change_set(latest))
    assert (place / "a").read_text() == "new"
    assert kept.find_latest(["none"]) is None


def test_links_and_empty_folders_are_listed_and_put_back(
    watching: FileWatcher, place: Path, kept: Snapshots
) -> None:
    (place / "data.csv").write_text("1")
    (place / "latest").symlink_to("data.csv")
    (place / "gone").symlink_to("nowhere")
    (place / "was a file").write_text("text")
    (place / "empty").mkdir()
    (place / "full").mkdir()
    (place / "full" / "a").write_text("a")

    def act() -> None:
        (place / "latest").unlink()
        (place / "latest").symlink_to("other.csv")
        (place / "gone").unlink()
        (place / "was a file").unlink()
        (place / "was a file").symlink_to("data.csv")
        (place / "empty").rmdir()
        (place / "full" / "a").unlink()
        (place / "made").mkdir()
        (place / "new link").symlink_to("data.csv")

    found = step(watching, act)
    assert describe_changes(found) == {
        "latest": "changed",
        "gone": "deleted",
        "was a file": "changed",
        "empty": "deleted",
        "full/a": "deleted",
        "made": "created",
        "new link": "created",
    }
    assert found is not None
    assert {"latest (link)", "empty/", "made/"} < {change.name for change in found.changes}
    after = list_contents(place)
    back, problems = undo(kept, found)
    assert problems == []
    assert list_contents(place) == {
        "data.csv": "1",
        "latest": "-> data.csv",
        "gone": "-> nowhere",
        "was a file": "text",
        "empty": "/",
        "full": "/",
        "full/a": "a",
    }
    _, problems = undo(kept, back)
    assert problems == []
    assert list_contents(place) == after


def list_contents(place: Path) -> dict[str, str]:
    return {
        str(path.relative_to(place)): f"-> {path.readlink()}"
        if path.is_symlink()
        else "/"
        if path.is_dir()
        else path.read_text()
        for path in place.rglob("*")
    }


def test_a_folder_that_somebody_filled_since_and_a_link_that_somebody_set_are_let_be(
    watching: FileWatcher, place: Path, kept: Snapshots
) -> None:
    (place / "link").symlink_to("a")

    def act() -> None:
        (place / "made").mkdir()
        (place / "link").unlink()
        (place / "link").symlink_to("b")

    found = step(watching, act)
    (place / "made" / "mine").write_text("mine")
    (place / "link").unlink()
    (place / "link").symlink_to("c")
    assert not undo(kept, found)[0].changes
    assert list_contents(place) == {"made": "/", "made/mine": "mine", "link": "-> c"}
