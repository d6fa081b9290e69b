"""Asks whether code may see the screen where it is not known where password fields are."""

from collections.abc import Callable

from oi_tui.engine.events import Event, TurnEnded
from oi_tui.screens.chat.turn.foreground import ForegroundHost
from oi_tui.screens.confirm import ConfirmDialog
from oi_tui.text import clean_line

_QUESTION = "May code take screenshots that may show passwords?"
_ANSWERS = (
    "",
    "Yes: screenshots show these windows as you see them, until you leave this conversation.",
    "No: code gets no screenshots of them.",
)
_LONGEST = 1_000


class UnmaskedQuestion:
    """The question, and what follows from the answer. Code waits for it before it gets a screenshot.

    `call` has `open` called by the application, with the reason; it is called from any thread.
    """

    def __init__(self, view: ForegroundHost, call: Callable[[str], object]) -> None:
        self._view = view
        self._call = call
        self._screen = view.workspace.languages.unmasked_screen
        self._screen.ask = call
        self._dialog: ConfirmDialog | None = None

    def open(self, why: str) -> None:
        """Ask, unless the turn has ended."""
        if not self._view.busy:
            self._screen.answer(None)
        elif self._dialog is None:
            dialog = self._dialog = ConfirmDialog(_QUESTION, (clean_line(why, _LONGEST), *_ANSWERS))
            self._view.app.push_screen(dialog, lambda allowed: self._answer(dialog, allowed))

    def follow(self, event: Event) -> None:
        """Close the question when the turn ends."""
        if isinstance(event, TurnEnded):
            self._close()

    def leave(self) -> None:
        """Stop asking here; another view of the conversation may ask."""
        if self._screen.ask is self._call:
            self._screen.ask = None
        self._close()

    def _close(self) -> None:
        dialog, self._dialog = self._dialog, None
        self._screen.answer(None)
        if dialog:
            dialog.withdraw()

    def _answer(self, dialog: ConfirmDialog, allowed: bool | None) -> None:
        if dialog is not self._dialog:  # the turn that it asked about has ended
            return
        self._dialog = None
        self._screen.answer(allowed)
