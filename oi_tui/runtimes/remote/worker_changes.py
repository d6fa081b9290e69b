"""The files of the remote host that code changes: compared around each run, and restored on request.

What files held is kept in the worker's own folder, which is removed at its end. So an undo is possible while
the connection lasts, and no content crosses it.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from oi_tui import paths
from oi_tui.file_changes import restore as restoring
from oi_tui.file_changes.snapshots import ChangeSet, Snapshots, read_change_set
from oi_tui.file_changes.watcher import FileWatcher
from oi_tui.runtimes.remote.file_answers import FileRefused, FileWords
from oi_tui.runtimes.remote.wire import Frame

#: How much is kept of files, in bytes, and at most which part of what is free there.
_MOST, _PART = 100_000_000, 10


class WorkerChanges:
    """Watches the folder in which languages start."""

    def __init__(self, folder: Path) -> None:
        data = paths.make_private(paths.data())
        self._snapshots = Snapshots(data / "snapshots")
        most = min(_MOST, shutil.disk_usage(data).free // _PART)
        self._watcher = FileWatcher(self._snapshots, folder, most)

    def before(self, stopped: Callable[[], bool]) -> None:
        """Look at the folder; code is about to run."""
        self._watcher.before(stopped)

    def after(self, id: str) -> ChangeSet | None:
        """Return what changed while the code with this id ran; None when nothing did."""
        return self._watcher.after(id)

    def answer(self, message: Frame) -> object:
        """Carry out a request: say what restoring a change set would do, or restore it."""
        try:
            change_set = read_change_set(message["step"])
        except ValueError as error:
            return FileRefused(str(error))
        actions = restoring.plan(self._snapshots, change_set)
        facts: dict[str, object] = {"actions": [[action.obstacle, action.since] for action in actions]}
        if message["what"] == "restore":
            back, problems = restoring.restore(self._snapshots, change_set, actions)
            facts.update(back=back.to_json(), problems=problems)
        return FileWords(json.dumps(facts))
