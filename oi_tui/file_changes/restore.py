"""Restores files to their state before a run, and can undo that."""

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from oi_tui import paths
from oi_tui.file_changes.snapshots import FOLDER, ChangeSet, FileChange, Snapshots, is_link

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class RestoreAction:
    """A planned change of one file: write its earlier contents, or remove it.

    `obstacle` says why it cannot be done, "" when it can; `since` is true when the file changed again since.
    """

    change: FileChange
    removes: bool
    obstacle: str = ""
    since: bool = False


def merge(change_sets: Sequence[ChangeSet]) -> ChangeSet | None:
    """Several change sets as one, from the first to the last; None for none.

    Those in other folders and on other machines are left alone.
    """
    if not change_sets:
        return None
    changes: dict[str, FileChange] = {}
    place = change_sets[0].target, change_sets[0].folder
    for change_set in change_sets:
        for change in change_set.changes if (change_set.target, change_set.folder) == place else ():
            first = changes.get(change.path)
            changes[change.path] = change if first is None else _join(first, change)
    # What came and went again in between was never there.
    net_changes = [
        item for item in changes.values() if item.what != "created" or item.after is not None or item.why
    ]
    return replace(change_sets[0], changes=tuple(net_changes), note="")


def _join(first: FileChange, last: FileChange) -> FileChange:
    if first.what == "created":
        return replace(first, after=last.after, why=last.why)
    if last.what == "deleted":
        return replace(first, what="deleted", after=None)
    return replace(first, what="changed", after=last.after, why=first.why or last.why)


def plan(snapshots: Snapshots, change_set: ChangeSet) -> list[RestoreAction]:
    """Plan the changes that restore every file of the change set."""
    return [_choose_action(snapshots, Path(change_set.folder), change) for change in change_set.changes]


def restore(
    snapshots: Snapshots, change_set: ChangeSet, actions: Sequence[RestoreAction]
) -> tuple[ChangeSet, list[str]]:
    """Do what has no obstacle.

    Returns the change set that takes it back, and what could not be done, in sentences.

    A copy of each file is kept before it is changed; a file that cannot be kept is left alone. How to revert
    all of it is noted before the first file changes, under `make_revert_id`, and survives our end.
    """
    root = Path(change_set.folder)
    back = replace(change_set, id=make_revert_id(change_set.id), changes=(), note="")
    ready: list[tuple[RestoreAction, FileChange]] = []
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
            snapshots.save_change_set(replace(back, changes=tuple(change for _, change in ready)))
        except OSError as error:
            why = f"the current files could not be saved first ({paths.explain_write_error(error)})"
            return back, [*problems, f"No file was changed: {why}."]
    done: list[FileChange] = []
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
            snapshots.save_change_set(back)
    return back, problems


def make_revert_id(id: str) -> str:
    """Return the id of the change set that reverts the restoring of the one with this id."""
    return id if id.startswith("back-") else f"back-{id}"


def _choose_action(snapshots: Snapshots, root: Path, change: FileChange) -> RestoreAction:
    action = RestoreAction(change, removes=change.what == "created")
    with contextlib.ExitStack() as stack:
        folder, name = None, ""
        try:
            folder, name = stack.enter_context(_open_parent(root, change.path, make=False))
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            return replace(action, obstacle=_explain_read_error(error))
        return _compare(snapshots, action, folder, name)


def _compare(snapshots: Snapshots, action: RestoreAction, folder: int | None, name: str) -> RestoreAction:
    """Return the action with what stands against it; `folder` is open, and None where there is none."""
    change, removes = action.change, action.removes
    status: os.stat_result | None = None
    if folder is not None:
        with contextlib.suppress(OSError):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if status is not None and not _can_be_kept(snapshots, folder, name, status, change):
        return replace(action, obstacle="something that is not a file is in its place")
    if removes and change.after is None:
        return replace(action, obstacle=f"it could not be restored: {change.why or 'no copy was kept'}")
    if removes and status is None:
        return replace(action, obstacle="it no longer exists")
    if not removes and change.before is None:
        return replace(action, obstacle=change.why or "its earlier content could not be kept")
    if not removes and snapshots.read_content(change.before or "") is None:
        return replace(action, obstacle="its earlier content is no longer kept")
    now = None
    if status is not None:
        try:
            now = snapshots.save_file(name, folder=folder)
        except OSError as error:
            if error.filename == name or not isinstance(error.filename, str):
                return replace(action, obstacle=_explain_read_error(error))
            why = paths.explain_write_error(error)
            return replace(action, obstacle=f"its current content could not be kept ({why})")
        if now is None:
            return replace(action, obstacle="its current content is too large to keep")
    same_mode = status is not None and stat.S_IMODE(status.st_mode) == change.mode
    if now == change.before and same_mode and not removes:
        return replace(action, obstacle="it is as it was")
    return replace(action, since=now != change.after)


def _explain_read_error(error: OSError) -> str:
    return f"it cannot be read ({error.strerror})" if error.strerror else str(error)


def _can_be_kept(
    snapshots: Snapshots, folder: int | None, name: str, status: os.stat_result, change: FileChange
) -> bool:
    """Return whether what is there can be kept: a file, or the very link or empty folder
    that the code left.
    """
    if stat.S_ISREG(status.st_mode):
        return True
    try:
        return snapshots.save_file(name, folder=folder) in {change.before, change.after} - {None}
    except OSError:
        return False


def _invert(snapshots: Snapshots, root: Path, action: RestoreAction) -> FileChange:
    """Build the action's inverse; the current contents are saved. Raises OSError."""
    change = action.change
    try:
        with _open_parent(root, change.path, make=False) as (folder, name):
            now = snapshots.save_file(name, folder=folder)
            mode = stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return FileChange(change.path, "created", None, change.before, change.mode)
    if now is None:
        raise OSError("its current content is too large to keep")
    if action.removes:
        return FileChange(change.path, "deleted", now, None, mode)
    return FileChange(change.path, "changed", now, change.before, mode)


def _carry_out(snapshots: Snapshots, root: Path, action: RestoreAction) -> None:
    """Write the file as it was, or remove it. It is the one or the other at any moment. Raises OSError."""
    change = action.change
    content = snapshots.read_content(change.before or "")
    if content is None and not action.removes:
        raise OSError("its earlier content is no longer kept")
    with _open_parent(root, change.path, make=not action.removes) as (folder, name):
        if action.removes or _is_folder(folder, name):
            _remove(folder, name)
        if action.removes or content is None:
            return
        if change.before == FOLDER:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            _make_folder(folder, name, change.mode)
        else:
            _replace(folder, name, change, content)


def _replace(folder: int, name: str, change: FileChange, content: bytes) -> None:
    """Put a file or a link in the place of what is there. Raises OSError."""
    temporary = f".restored-{secrets.token_hex(8)}"
    try:
        if is_link(change.before):
            os.symlink(os.fsdecode(content), temporary, dir_fd=folder)
        else:
            descriptor = os.open(temporary, _NEW_FILE, 0o600, dir_fd=folder)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fchmod(descriptor, change.mode)
                paths.flush(descriptor)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


def _make_folder(folder: int, name: str, mode: int) -> None:
    os.mkdir(name, 0o700, dir_fd=folder)
    descriptor = os.open(name, _FOLDER, dir_fd=folder)
    try:
        os.fchmod(descriptor, mode)
    finally:
        os.close(descriptor)


def _remove(folder: int, name: str) -> None:
    if _is_folder(folder, name):
        os.rmdir(name, dir_fd=folder)
    else:
        os.unlink(name, dir_fd=folder)


def _is_folder(folder: int, name: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def _open_parent(root: Path, relative: str, *, make: bool) -> Iterator[tuple[int, str]]:
    """Open the folder of a file, and with `make` create it; yield it and the file's name. Raises OSError.

    No link is followed on the way. A program that still runs, perhaps in the sandbox, could otherwise put a
    link in the place of a folder just before a file is read or written there, and so read and write anywhere.
    """
    if not _is_inside(root, relative):
        raise OSError("a link is in its place")
    *parts, name = Path(relative).parts
    folder = os.open(root, _FOLDER & ~os.O_NOFOLLOW)
    try:
        for part in parts:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=folder)
            outer, folder = folder, os.open(part, _FOLDER, dir_fd=folder)
            os.close(outer)
        yield folder, name
    finally:
        os.close(folder)


def _is_inside(root: Path, relative: str) -> bool:
    """Return whether the way to the file stays in the folder."""
    path = Path(relative)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        return False
    place = root
    for part in path.parts[:-1]:
        place /= part
        if os.path.islink(place):  # noqa: PTH114 -- that of Path raises where it cannot look
            return False
    return True
