"""Lists the files that code changed, and restores them."""

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from oi_tui import paths
from oi_tui.actions.interface import BUSY, UserInterface
from oi_tui.file_changes import restore as restoring
from oi_tui.file_changes.restore import RestoreAction
from oi_tui.file_changes.snapshots import ChangeSet
from oi_tui.runtimes.remote.target import LOCAL
from oi_tui.text import clean_line
from oi_tui.workspace import Workspace

if TYPE_CHECKING:
    from oi_tui.runtimes.remote.files import TargetFiles

T = TypeVar("T")
#: How many files are named in the question, and in the list of all.
_NAMED = 12
MARKS = {"created": "+", "changed": "~", "deleted": "-"}


class FileRestorer:
    """Lists the files that each cell changed, and puts them back when the person asks and says yes."""

    def __init__(
        self, ui: UserInterface, workspace: Workspace, undone: Callable[[], Sequence[str]] = tuple
    ) -> None:
        """`undone` gives the ids of the messages that were taken back just now."""
        self._ui = ui
        self._workspace = workspace
        self._undone = undone
        #: What takes the last restoring back.
        self._back: ChangeSet | None = None

    def show(self, number: int | None) -> None:
        """Show the files that the cell with this number changed, counted from 1; of all cells for None."""
        lines = []
        for cell, change_set in list_change_sets(self._workspace):
            if number in (None, cell):
                lines.append(f"[{cell}] in {_describe_place(change_set)}")
                lines += [f"  {line}" for line in _list(change_set)]
        computer = self._workspace.computer
        if (where := computer.where) and computer.targets.files_on() is None:
            lines.append(
                f"What code changes {clean_line(where, 200)} is not listed, and %restore cannot undo it."
            )
        which = "No cell" if number is None else f"Cell {number}"
        self._ui.show_notice(
            "\n".join([*lines, "%restore N restores the files of cell N."])
            if lines
            else f"{which} changed files in {paths.shorten(self._workspace.computer.cwd)}."
            if number is None
            else f"{which} changed no files, as far as oi-tui could see."
        )

    def restore(self, wanted: str) -> None:
        """Put the files of a cell back (its number), of all cells ("all"), or undo that ("undo").

        Without a number: those of what was taken back just now, else those of the last cell that changed
        any.
        """
        if self._ui.busy:
            self._ui.show_notice(BUSY, warning=True)
            return
        if wanted == "undo":
            back = self._back or self._find_stored_change_set()
            if back is None:
                self._ui.show_notice("No restore to undo.", warning=True)
            else:
                self._ask("Undo the restore?", back)
            return
        change_sets = list_change_sets(self._workspace)
        snapshots = self._workspace.snapshots
        undone_sets = [
            undone_set
            for id_ in snapshots.filter_kept(self._undone())
            if (undone_set := snapshots.find_change_set(id_))
        ]
        change_set: ChangeSet | None
        if wanted == "all":
            in_one_place = self._select_in_one_place([change_set for _, change_set in change_sets])
            change_set, what = restoring.merge(in_one_place), "all cells"
        elif wanted:
            change_set, what = next((s for n, s in change_sets if str(n) == wanted), None), f"cell {wanted}"
        elif undone_sets:
            change_set, what = restoring.merge(undone_sets), "what was taken back"
        else:
            number, change_set = change_sets[-1] if change_sets else (0, None)
            what = f"cell {number}"
        if change_set is None or not change_set.changes:
            self._ui.show_notice("No recorded file changes to restore.", warning=True)
        else:
            self._ask(f"Restore the files of {what}?", change_set)

    def _select_in_one_place(self, change_sets: Sequence[ChangeSet]) -> Sequence[ChangeSet]:
        """Select the change sets of where code runs now, else all: one place is restored at a time."""
        target = self._workspace.computer.targets.home
        here = [change_set for change_set in change_sets if (change_set.target or LOCAL) == target]
        return here or change_sets

    def _ask(self, question: str, change_set: ChangeSet) -> None:
        if change_set.target:
            self._ask_elsewhere(question, change_set)
        else:
            actions = restoring.plan(self._workspace.snapshots, change_set)
            self._confirm(question, actions, lambda: self._restore(change_set, actions))

    def _ask_elsewhere(self, question: str, change_set: ChangeSet) -> None:
        """Ask about files of another machine, which plans what would be done."""
        files = self._workspace.computer.targets.files_on(change_set.target)
        target = clean_line(change_set.target, 200)
        if files is None:
            self._ui.show_notice(
                f"These files are on {target}, and their copies were kept there until the connection ended. "
                "They cannot be restored.",
                warning=True,
            )
            return
        question = f"{question[:-1]} on {target}?"

        def confirm(planned: Sequence[RestoreAction] | str) -> None:
            if isinstance(planned, str):
                self._ui.show_notice(planned, warning=True)
            else:
                self._confirm(question, planned, lambda: self._restore_elsewhere(files, change_set))

        self._ui.run_then(lambda: _try(lambda: files.plan(change_set)), confirm)

    def _restore_elsewhere(self, files: "TargetFiles", change_set: ChangeSet) -> None:
        def show_result(done: "tuple[ChangeSet, list[RestoreAction], list[str]] | str") -> None:
            if isinstance(done, str):
                self._ui.show_notice(done, warning=True)
                return
            back, actions, problems = done
            with contextlib.suppress(OSError):
                self._workspace.snapshots.save_change_set(back)
            self._report(back, actions, problems)

        self._ui.run_then(lambda: _try(lambda: files.restore(change_set)), show_result)

    def _confirm(self, question: str, actions: Sequence[RestoreAction], act: Callable[[], None]) -> None:
        details = [_describe(action) for action in actions]
        if not any(not action.obstacle for action in actions):
            self._ui.show_notice(
                "\n".join(["Nothing can be restored:", *(f"  {detail}" for detail in details)])
            )
            return
        self._ui.confirm(question, details, act)

    def _restore(self, change_set: ChangeSet, actions: Sequence[RestoreAction]) -> None:
        back, problems = restoring.restore(self._workspace.snapshots, change_set, actions)
        self._report(back, actions, problems)

    def _report(self, back: ChangeSet, actions: Sequence[RestoreAction], problems: Sequence[str]) -> None:
        """Report what was restored; `back` reverts it."""
        self._back = back
        count = len(back.changes)
        files = "1 file" if count == 1 else f"{count:,} files"
        lines = [f"Restored {files}. %restore undo reverts this."]
        lines += [f"  skipped {_describe(action)}" for action in actions if action.obstacle]
        lines += [f"  skipped {problem}" for problem in problems]
        self._ui.show_notice("\n".join(lines), warning=bool(problems))

    def _find_stored_change_set(self) -> ChangeSet | None:
        """Find the change set that reverts the last restore of an earlier session."""
        codes = [m.id for m in self._workspace.session.messages if m.type == "code"]
        latest = self._workspace.snapshots.find_latest(map(restoring.make_revert_id, codes))
        return self._workspace.snapshots.find_change_set(latest) if latest else None


def _try(work: Callable[[], T]) -> T | str:
    """Return the result, or why it failed in a sentence."""
    from oi_tui.runtimes.remote.files import FileError

    try:
        return work()
    except FileError as error:
        return clean_line(str(error), 500)


def _describe_place(change_set: ChangeSet) -> str:
    """Return the folder of the change set, with the machine that it is on."""
    if change_set.target:
        return f"{clean_line(change_set.folder, 200)} on {clean_line(change_set.target, 200)}"
    return clean_line(paths.shorten(change_set.folder), 200)


def list_change_sets(workspace: Workspace) -> list[tuple[int, ChangeSet]]:
    """List the change sets of the open conversation, with the numbers of their cells."""
    codes = [m.id for m in workspace.session.messages if m.type == "code" and m.role != "computer"]
    snapshots = workspace.snapshots
    numbered = {id_: number for number, id_ in enumerate(codes, 1)}
    change_sets = ((numbered[id_], snapshots.find_change_set(id_)) for id_ in snapshots.filter_kept(codes))
    return [(number, change_set) for number, change_set in change_sets if change_set is not None]


def _list(change_set: ChangeSet) -> list[str]:
    lines = [
        f"{MARKS[change.what]} {clean_line(change.name, 200)}"
        + (f"  (no copy: {change.why})" if change.why else "")
        for change in change_set.changes[:_NAMED]
    ]
    if (more := len(change_set.changes) - _NAMED) > 0:
        lines.append(f"… {more:,} more")
    return lines


def _describe(action: RestoreAction) -> str:
    name = clean_line(action.change.name, 200)
    if action.obstacle:
        return f"{name}: {action.obstacle}"
    doing = "will be removed" if action.removes else "will be as it was"
    return f"{name}: {doing}" + (", although it changed again since" if action.since else "")
