"""`%snapshot`: keeps the variables of Python and R with the conversation, and brings them back."""

import json
import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from oi_tui.actions.interface import BUSY, UserInterface
from oi_tui.engine.events import Event, TurnEnded
from oi_tui.engine.storage.saved_variables import LANGUAGES, LEFT_OUT
from oi_tui.engine.variable_origins import find_cells_to_rerun

if TYPE_CHECKING:
    from oi_tui.workspace import Workspace

#: Says in R that what is kept may be replaced when the person leaves.
_OURS = "options(oi_tui.kept = TRUE)"
#: Keeps the variables of R. On a full disk R may write half of a file without an error, so it is read before
#: it takes the place of the old one.
_R = """\
save.image({coming})
if (inherits(try(load({coming}, new.env()), silent = TRUE), "try-error")) {{
  unlink({coming})
  stop({problem}, call. = FALSE)
}}
invisible(file.rename({coming}, {path}))
cat("Kept", length(ls()), "variables\\n"); unlink({left_out}); {ours}
"""
#: The most variables of a language that are named with the reason why they were not kept.
_LISTED = 10


class SnapshotInterface(UserInterface, Protocol):
    """A user interface that may have a key for what is restored."""

    restore_key: str


class VariableSnapshot:
    """Carries out `%snapshot`. The code that keeps or restores is shown, and runs as the person's own."""

    def __init__(self, ui: SnapshotInterface, workspace: "Workspace") -> None:
        self._ui = ui
        self._workspace = workspace

    def save(self) -> None:
        """Keep the variables of the languages that have some, in place of those that were kept before."""
        conversation = self._workspace.conversation
        names = [
            memory.language
            for memory in self._workspace.computer.inspector.read_memories()
            if memory.variables
        ]
        languages = [language for language in LANGUAGES if language in names]
        problem = self._explain_refusal()
        if not problem and not languages:
            problem = "Python and R have no variables yet."
        elif not problem and not conversation.is_saved:
            problem = "This conversation is not saved, so its variables cannot be kept."
        if problem:
            self._ui.show_notice(problem, warning=True)
            return
        saved = self._workspace.store.variables
        try:
            codes = {
                language: _describe_saving(language, saved.make_path(conversation.id, language))
                for language in languages
            }
        except OSError as error:
            self._ui.show_notice(f"Variables cannot be kept: {error.strerror or error}", warning=True)
            return
        self._ui.start(self._run(codes))

    def restore(self) -> None:
        """Bring back what was kept with this conversation."""
        codes = find_restoring_code(self._workspace)
        problem = self._explain_refusal()
        if not problem and not codes:
            problem = "No variables were kept with this conversation. %snapshot keeps them."
        if problem:
            self._ui.show_notice(problem, warning=True)
        else:
            self._ui.start(self._run(codes))

    def describe(self) -> str:
        """Say how to restore the variables that are kept with this conversation; "" if there are none."""
        conversation, saved = self._workspace.conversation.id, self._workspace.store.variables
        files = saved.find(conversation)
        if not files:
            return ""
        newest = max(path.stat().st_mtime for path in files.values())
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(newest))
        key = f"{self._ui.restore_key} or " if self._ui.restore_key else ""
        text = f"{key}%snapshot restore brings back the variables that were kept on {when}."
        numbers: set[int] = set()
        missing = []
        for language, left_out in saved.left_out(conversation).items():
            missing += [f"{name} ({why})" for name, why in list(left_out.items())[:_LISTED]]
            missing += [f"{len(left_out) - _LISTED:,} more"] * (len(left_out) > _LISTED)
            numbers.update(find_cells_to_rerun(self._workspace.session.messages, language, left_out))
        if missing:
            text += f" Not kept: {'; '.join(missing)}."
        if numbers:
            arguments = " ".join(map(str, sorted(numbers)))
            them = "the cell" if len(numbers) == 1 else "the cells"
            text += f" %rerun only {arguments} runs {them} that made it again, after a question."
        return text

    def _explain_refusal(self) -> str:
        return BUSY if self._ui.busy else explain_refusal_here(self._workspace)

    def _run(self, codes: dict[str, str]) -> Iterator[Event]:
        """Run a piece of code in each language, as one turn."""
        remaining_runs = len(codes)
        for language, code in codes.items():
            remaining_runs -= 1
            for event in self._workspace.session.run(language, code):
                if not remaining_runs or not isinstance(event, TurnEnded):
                    yield event


def explain_refusal_here(workspace: "Workspace") -> str:
    """Return why variables cannot be kept or restored where code runs now; "" where they can."""
    if workspace.computer.sandbox:
        # What is restored runs code, which code in the sandbox could have written.
        return "Variables cannot be kept or restored in the sandbox. %sandbox off turns it off."
    if workspace.computer.where:
        return "Variables can be kept only for code on this machine. %target local switches back."
    return ""


def find_restoring_code(workspace: "Workspace") -> dict[str, str]:
    """Return the code that brings back what was kept with the conversation, by language."""
    files = workspace.store.variables.find(workspace.conversation.id)
    return {language: _make_restore_code(language, path) for language, path in files.items()}


def _describe_saving(language: str, path: Path) -> str:
    if language == "python":
        return f"%snapshot save {shlex.quote(str(path))}"
    names = {"path": path, "coming": path.with_suffix(f"{path.suffix}.tmp")}
    names["left_out"] = path.with_suffix(f"{path.suffix}{LEFT_OUT}")
    problem = f"The variables could not be kept: no space left on the disk of {path.parent}"
    return _R.format(
        ours=_OURS, problem=json.dumps(problem), **{key: _quote(name) for key, name in names.items()}
    )


def _make_restore_code(language: str, path: Path) -> str:
    if language == "python":
        return f"%snapshot load {shlex.quote(str(path))}"
    return f'cat("Restored", length(load({_quote(path)})), "variables\\n"); {_OURS}'


def _quote(path: Path) -> str:
    """Return the path as a string of R."""
    return json.dumps(str(path), ensure_ascii=False)
