"""Asks whether the model may continue after the person moved the mouse."""

from collections.abc import Callable

from oi_tui.engine.events import Event, TurnEnded
from oi_tui.screens.chat.turn.foreground import ForegroundHost
from oi_tui.screens.confirm import ConfirmDialog

_QUESTION = "May the model continue to use mouse and keyboard?"
_DETAILS = (
    "You moved the mouse, or pressed escape twice, while the model used them. Nothing is held down.",
    "",
    "Yes: the code stops here, and the model looks at the screen and continues.",
    "No: the turn stops.",
)


class TakeoverQuestion:
    """The question, and what follows from the answer. Code waits for it before it presses anything.

    `call` has `open` called by the application; it is called from any thread.
    """

    def __init__(self, view: ForegroundHost, call: Callable[[], object]) -> None:
        self._view = view
        self._call = call
        self._takeover = view.workspace.languages.takeover
        self._takeover.ask = call
        self._dialog: ConfirmDialog | None = None

    def open(self) -> None:
        """Ask, unless the turn has ended or the question is already open."""
        if not self._view.busy:
            self._takeover.answer()
        elif self._dialog is None:
            dialog = self._dialog = ConfirmDialog(_QUESTION, _DETAILS)
            self._view.app.push_screen(dialog, lambda goes_on: self._answer(dialog, goes_on))

    def follow(self, event: Event) -> None:
        """Answer the question when the turn ends."""
        if isinstance(event, TurnEnded):
            self._close()

    def leave(self) -> None:
        """Stop asking, because this view is removed."""
        if self._takeover.ask is self._call:
            self._takeover.ask = None
        self._close()

    def _close(self) -> None:
        dialog, self._dialog = self._dialog, None
        self._takeover.answer()
        if dialog:
            dialog.withdraw()

    def _answer(self, dialog: ConfirmDialog, goes_on: bool | None) -> None:
        if dialog is not self._dialog:  # the turn that it asked about has ended
            return
        self._dialog = None
        if goes_on is False:
            self._view.session.interrupt()
        self._takeover.answer()
