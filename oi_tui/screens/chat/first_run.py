"""The first start: choose a model, learn how approval works, choose a theme. Each step can be skipped."""

import os
import time
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from textual.worker import get_current_worker

from oi_tui import paths, profiles
from oi_tui.engine.events import Event
from oi_tui.engine.open_interpreter import setup
from oi_tui.engine.storage.store import Store
from oi_tui.screens.confirm import ConfirmDialog
from oi_tui.screens.models import ModelChoice, ModelsScreen
from oi_tui.screens.themes import ThemesScreen
from oi_tui.widgets.idle import find_last_key
from oi_tui.widgets.timer import schedule

if TYPE_CHECKING:
    from oi_tui.screens.chat.interfaces import ChatInterface
    from oi_tui.screens.chat.view import ChatView
    from oi_tui.workspace import Workspace

#: The code that a new user approves: harmless, with a visible result.
SAMPLE = {
    "python": 'from pathlib import Path\n\nprint(f"2 + 2 = {2 + 2}, in {Path.cwd()}")',
    "shell": 'echo "2 + 2 = $((2 + 2)), in $PWD"',
}
_BEFORE = (
    "Code from a model always appears like this. Nothing runs until you approve it. "
    "Try it with this harmless code: y runs it, e edits it, n rejects it, escape skips this step."
)
_LATER = "Nothing was imported. oi-tui --import does it later."
_AFTER = "Done. {}{} Now type a request; f1 shows keys and commands."
_ASKS = "Nothing runs without your approval."
_ASKS_NOT = "Code runs without your approval; %auto_run off changes that."
_SANDBOX = " %sandbox on also limits code to this folder, without network."
NO_MODEL = (
    "No model is set; %model (ctrl+l) chooses one. Until then you can run code yourself: ! runs a shell "
    "command, %python CODE runs Python; other languages work the same way."
)
THEIRS = " Open Interpreter was found on this machine: oi-tui --import imports its settings."
#: No dialog opens until the keyboard has been idle for so long, in seconds.
_QUIET = 0.5
#: More conversations than this take a moment to import, which is said.
_MANY = 200


def is_due(workspace: "Workspace") -> bool:
    """Return whether this is the first start; true once, and never where that cannot be saved."""
    if not workspace.is_new:
        return False
    marker = paths.state() / "welcomed"
    try:
        paths.make_private(marker.parent)
        os.close(os.open(marker, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except OSError:
        return False
    return True


def _import_all(store: Store) -> setup.Imported | str:
    """Import everything, until the program ends. Returns what came in, or why that failed."""
    worker = get_current_worker()
    try:
        imported = setup.import_all(store, stopped=lambda: worker.is_cancelled)
        if imported.default:
            profiles.make_default(imported.default)
    except OSError as error:
        return f"It could not be imported: {error.strerror or error}."
    return imported


class FirstRun:
    """Leads through the questions, one after the other, on top of the working screen."""

    def __init__(self, ui: "ChatInterface", view: "ChatView") -> None:
        self._ui = ui
        self._view = view

    def begin(self) -> None:
        """Offer to bring in what Open Interpreter left; where there is nothing, ask for a model."""
        store = self._view.workspace.store
        # The requests of the home screen are no part of the questions above it.
        self._view.screen.add_class("-welcome")
        self._ui.run_then(lambda: setup.detect(store), self._offer)

    def _offer(self, found: setup.Setup) -> None:
        if not found:
            self._ask_for_model()
            return
        question = "Import your settings from Open Interpreter?"
        dialog = ConfirmDialog(question, ["It was found on this machine:", *found.describe()])
        self._view.app.push_screen(dialog, partial(self._bring_in, found.conversations))

    def _bring_in(self, conversations: int, wanted: bool | None) -> None:
        if not wanted:
            self._ui.show_notice(_LATER)
            self._ask_for_model()
            return
        if conversations > _MANY:
            self._ui.show_notice(f"Importing {conversations:,} conversations …")
        store = self._view.workspace.store
        self._ui.run_then(lambda: _import_all(store), self._finish_import)

    def _finish_import(self, result: setup.Imported | str) -> None:
        self._view.screen.remove_class("-welcome")
        self._ui.show_notice(str(result), warning=isinstance(result, str))
        if isinstance(result, str) or result.default is None:
            self._ask_for_model()
            return
        self._ui.switch_profile(result.default.stem, self._conclude)

    def _ask_for_model(self) -> None:
        """Ask for a model; what was found is chosen already."""
        workspace = self._view.workspace
        asks = not self._view.session.auto_run
        models = ModelsScreen(workspace.profile.model, workspace.secrets, welcome=True, asks=asks)
        self._view.app.push_screen(models, self._explain)

    def _explain(self, choice: ModelChoice | None) -> None:
        """Take the model, and let the person approve a piece of code."""
        self._view.screen.remove_class("-welcome")
        self._ui.use_first_model(choice)
        languages = self._view.workspace.computer.languages
        language = next((name for name in SAMPLE if name in languages), None)
        if language is None or self._view.busy or self._view.session.auto_run:
            self._choose_colours()
            return
        self._ui.show_notice(_BEFORE)
        self._view.start(self._show_harmless_code(language))

    def _show_harmless_code(self, language: str) -> Iterator[Event]:
        yield from self._view.session.run_unrecorded(language, SAMPLE[language])
        # Posted behind the last event, so that all of the turn is on the screen by then.
        self._view.call_later(self._choose_colours)

    def _choose_colours(self) -> None:
        view = self._view
        is_chosen = "theme" in view.workspace.profile.origins
        quiet = time.monotonic() - find_last_key(view.app) > _QUIET
        if is_chosen or view.busy or view.prompt.text or not view.screen.is_active:
            self._conclude()
        elif quiet:
            view.app.push_screen(ThemesScreen(welcome=True), self._end)
        else:
            schedule(view, 0.1, self._choose_colours)

    def _end(self, theme: str | None) -> None:
        if theme is not None:
            self._ui.display.save_theme(theme)
        self._conclude()

    def _conclude(self) -> None:
        """Say what comes next, with the sandbox where it works on this machine."""
        workspace, session = self._view.workspace, self._view.session

        def finish(offered: bool) -> None:
            approval = _ASKS_NOT if session.auto_run else _ASKS
            self._ui.show_notice(_AFTER.format(approval, _SANDBOX if offered else ""))

        self._ui.run_then(
            lambda: not workspace.profile.sandbox and workspace.computer.explain_no_sandbox() is None, finish
        )
