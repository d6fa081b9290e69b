"""Restores files to their state before a step, and can undo that."""

import contextlib
import os
import stat
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from oi_tui import paths
from oi_tui.file_changes.snapshots import FOLDER, Change, Snapshots, Step, is_link


@dataclass(frozen=True, slots=True)
class Action:
    """A planned change of one file: write its earlier contents, or remove it.

    `obstacle` says why it cannot be done, "" when it can; `since` is true when the file changed again since.
    """

    change: Change
    removes: bool
    obstacle: str = ""
    since: bool = False


def merged(steps: Sequence[Step]) -> Step | None:
    """Several steps as one, from the first to the last; None for none.

    Those in other folders and on other machines are let be.
    """
    if not steps:
        return None
    changes: dict[str, Change] = {}
    place = steps[0].target, steps[0].folder
    for step in steps:
        for change in step.changes if (step.target, step.folder) == place else ():
            first = changes.get(change.path)
            changes[change.path] = change if first is None else _join(first, change)
    # What came and went again in between was never there.
    left = [item for item in changes.values() if item.what != "created" or item.after is not None or item.why]
    return replace(steps[0], changes=tuple(left), note="")


def _join(first: Change, last: Change) -> Change:
    if first.what == "created":
        return replace(first, after=last.after, why=last.why)
    if last.what == "deleted":
        return replace(first, what="deleted", after=None)
    return replace(first, what="changed", after=last.after, why=first.why or last.why)


def plan(snapshots: Snapshots, step: Step) -> list[Action]:
    """Plan the changes that restore every file of the step."""
    return [_action(snapshots, Path(step.folder), change) for change in step.changes]


def restore(snapshots: Snapshots, step: Step, actions: Sequence[Action]) -> tuple[Step, list[str]]:
    """Do what has no obstacle. Returns the step that takes it back, and what could not be done, in sentences.

    A copy of each file is kept before it is changed; a file that cannot be kept is left alone. How to revert
    all of it is noted before the first file changes, under `make_revert_id`, and survives our end.
    """
    root = Path(step.folder)
    back = replace(step, id=make_revert_id(step.id), changes=(), note="")
    ready: list[tuple[Action, Change]] = []
    problems: list[str] = []
    for action in actions:
        if action.obstacle:
            continue
        try:
            ready.append((action, _invert(snapshots, root, action)))
        except OSError as error:
            problems.append(f"{action.change.path}: {error.strerror or error}.")
    if ready:
        try:
            snapshots.note(replace(back, changes=tuple(change for _, change in ready)))
        except OSError as error:
            why = f"the current files could not be saved first ({error.strerror or error})"
            return back, [*problems, f"No file was changed: {why}."]
    done: list[Change] = []
    for action, change in ready:
        try:
            _carry_out(snapshots, root, action)
        except OSError as error:
            problems.append(f"{action.change.path}: {error.strerror or error}.")
        else:
            done.append(change)
    back = replace(back, changes=tuple(done))
    if len(done) < len(ready):
        with contextlib.suppress(OSError):
            snapshots.note(back)
    return back, problems


def make_revert_id(id: str) -> str:
    """The name of the step that takes back what was done to the files of the step with this id."""
    return id if id.startswith("back-") else f"back-{id}"


def _action(snapshots: Snapshots, root: Path, change: Change) -> Action:
    removes = change.what == "created"
    action = Action(change, removes)
    path = _inside(root, change.path)
    if path is None:
        return replace(action, obstacle="a link is in its place")
    try:
        status: os.stat_result | None = path.lstat()
    except OSError:
        status = None
    if status is not None and not _can_be_kept(snapshots, path, status, change):
        return replace(action, obstacle="something that is not a file is in its place")
    if removes and change.after is None:
        return replace(action, obstacle=f"it could not be restored: {change.why or 'no copy was kept'}")
    if removes and status is None:
        return replace(action, obstacle="it no longer exists")
    if not removes and change.before is None:
        return replace(action, obstacle=change.why or "its earlier content could not be kept")
    if not removes and snapshots.content(change.before or "") is None:
        return replace(action, obstacle="its earlier content is no longer kept")
    now = None
    if status is not None:
        try:
            now = snapshots.keep(path)
        except OSError as error:
            return replace(action, obstacle=f"it cannot be read ({error.strerror or error})")
        if now is None:
            return replace(action, obstacle="its current content is too large to keep")
    same_mode = status is not None and stat.S_IMODE(status.st_mode) == change.mode
    if now == change.before and same_mode and not removes:
        return replace(action, obstacle="it is as it was")
    return replace(action, since=now != change.after)


def _can_be_kept(snapshots: Snapshots, path: Path, status: os.stat_result, change: Change) -> bool:
    """Whether what is there can be kept: a file, or the very link or empty folder that the code left."""
    if stat.S_ISREG(status.st_mode):
        return True
    try:
        return snapshots.keep(path) in {change.before, change.after} - {None}
    except OSError:
        return False


def _invert(snapshots: Snapshots, root: Path, action: Action) -> Change:
    """Build the action's inverse; the current contents are saved. Raises OSError."""
    change = action.change
    path = _inside(root, change.path)
    if path is None:
        raise OSError("a link is in its place")
    try:
        now = snapshots.keep(path)
    except FileNotFoundError:
        return Change(change.path, "created", None, change.before, change.mode)
    if now is None:
        raise OSError("its current content is too large to keep")
    mode = stat.S_IMODE(path.lstat().st_mode)
    if action.removes:
        return Change(change.path, "deleted", now, None, mode)
    return Change(change.path, "changed", now, change.before, mode)


def _carry_out(snapshots: Snapshots, root: Path, action: Action) -> None:
    """Write the file as it was, or remove it. It is the one or the other at any moment. Raises OSError."""
    change = action.change
    path = _inside(root, change.path)
    if path is None:
        raise OSError("a link is in its place")
    if action.removes:
        _remove(path)
        return
    content = snapshots.content(change.before or "")
    if content is None:
        raise OSError("its earlier content is no longer kept")
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    if change.before == FOLDER:
        if os.path.lexists(path):
            path.unlink()
        path.mkdir()
        path.chmod(change.mode)
        return
    if is_link(change.before):
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".") as folder:
            link = Path(folder) / "link"
            link.symlink_to(os.fsdecode(content))
            link.replace(path)
        return
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(descriptor, change.mode)
            paths.flush(descriptor)
        Path(temporary).replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink()


def _inside(root: Path, relative: str) -> Path | None:
    """The file's place; None when the way there leads out of the folder."""
    path = Path(relative)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        return None
    place = root
    for part in path.parts[:-1]:
        place /= part
        if place.is_symlink():
            return None
    return root / path
