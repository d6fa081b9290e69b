"""Lists the files that code changed, and restores them."""

from collections.abc import Callable, Sequence

from oi_tui import paths
from oi_tui.actions.interface import BUSY, UserInterface
from oi_tui.engine.files import restore as restoring
from oi_tui.engine.files.restore import Action
from oi_tui.engine.files.snapshots import Step
from oi_tui.text import one_line
from oi_tui.workspace import Workspace

#: So many files are named in the question, and in the list of all.
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
        self._back: Step | None = None

    def show(self, number: int | None) -> None:
        """The files that the cell with this number changed, counted from 1; of all cells for None."""
        lines = []
        for cell, step in steps_of(self._workspace):
            if number in (None, cell):
                lines.append(f"[{cell}] in {one_line(paths.short(step.folder), 200)}")
                lines += [f"  {line}" for line in _list(step)]
        if where := self._workspace.computer.where:
            lines.append(
                f"What code changes {one_line(where, 200)} is not listed, and %restore cannot undo it."
            )
        which = "No cell" if number is None else f"Cell {number}"
        self._ui.tell(
            "\n".join([*lines, "%restore N restores the files of cell N."])
            if lines
            else f"{which} changed files in {paths.short(self._workspace.computer.cwd)}."
            if number is None
            else f"{which} changed no files, as far as oi-tui could see."
        )

    def restore(self, wanted: str) -> None:
        """Put the files of a cell back (its number), of all cells ("all"), or undo that ("undo").

        Without a number: those of what was taken back just now, else those of the last cell that changed
        any.
        """
        if self._ui.busy:
            self._ui.tell(BUSY, warning=True)
            return
        if wanted == "undo":
            back = self._back or self._noted()
            if back is None:
                self._ui.tell("No restore to undo.", warning=True)
            else:
                self._ask("Undo the restore?", back)
            return
        steps = steps_of(self._workspace)
        snapshots = self._workspace.snapshots
        taken = [found for id_ in snapshots.known(self._undone()) if (found := snapshots.step(id_))]
        step: Step | None
        if wanted == "all":
            step, what = restoring.merged([step for _, step in steps]), "all cells"
        elif wanted:
            step, what = next((s for n, s in steps if str(n) == wanted), None), f"cell {wanted}"
        elif taken:
            step, what = restoring.merged(taken), "what was taken back"
        else:
            number, step = steps[-1] if steps else (0, None)
            what = f"cell {number}"
        if step is None or not step.changes:
            self._ui.tell("No recorded file changes to restore.", warning=True)
        else:
            self._ask(f"Restore the files of {what}?", step)

    def _ask(self, question: str, step: Step) -> None:
        actions = restoring.plan(self._workspace.snapshots, step)
        details = [_describe(action) for action in actions]
        if not any(not action.obstacle for action in actions):
            self._ui.tell("\n".join(["Nothing can be restored:", *(f"  {detail}" for detail in details)]))
            return
        self._ui.confirm(question, details, lambda: self._restore(step, actions))

    def _restore(self, step: Step, actions: Sequence[Action]) -> None:
        self._back, problems = restoring.restore(self._workspace.snapshots, step, actions)
        count = len(self._back.changes)
        files = "1 file" if count == 1 else f"{count:,} files"
        lines = [f"Restored {files}. %restore undo reverts this."]
        lines += [f"  skipped {_describe(action)}" for action in actions if action.obstacle]
        lines += [f"  skipped {problem}" for problem in problems]
        self._ui.tell("\n".join(lines), warning=bool(problems))

    def _noted(self) -> Step | None:
        """Find the step that reverts the last restore of an earlier session."""
        codes = [m.id for m in self._workspace.session.messages if m.type == "code"]
        latest = self._workspace.snapshots.latest(map(restoring.back_id, codes))
        return self._workspace.snapshots.step(latest) if latest else None


def steps_of(workspace: Workspace) -> list[tuple[int, Step]]:
    """List the steps of the conversation at work that changed files, with the numbers of their cells."""
    codes = [m.id for m in workspace.session.messages if m.type == "code" and m.role != "computer"]
    snapshots = workspace.snapshots
    numbered = {id_: number for number, id_ in enumerate(codes, 1)}
    steps = ((numbered[id_], snapshots.step(id_)) for id_ in snapshots.known(codes))
    return [(number, step) for number, step in steps if step is not None]


def _list(step: Step) -> list[str]:
    lines = [
        f"{MARKS[change.what]} {one_line(change.name, 200)}"
        + (f"  (no copy: {change.why})" if change.why else "")
        for change in step.changes[:_NAMED]
    ]
    if (more := len(step.changes) - _NAMED) > 0:
        lines.append(f"… {more:,} more")
    return lines


def _describe(action: Action) -> str:
    name = one_line(action.change.name, 200)
    if action.obstacle:
        return f"{name}: {action.obstacle}"
    doing = "removed" if action.removes else "as it was"
    return f"{name}: {doing}" + (", although it changed again since" if action.since else "")
