"""Shows a question of another program, such as a password prompt of ssh, with a field for the answer."""

import queue
from typing import TYPE_CHECKING, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static

from oi_tui.screens.dialog import Dialog, DialogBox
from oi_tui.text import clean_line, escape_controls
from oi_tui.widgets.approval.key_guard import LOOK, KeyGuard
from oi_tui.widgets.field import Field

if TYPE_CHECKING:
    import threading

#: The lines of a question that are shown, and the characters of each: the other machine may choose the words.
_LINES, _WIDTH = 12, 300
_GLANCE = 0.1


class QuestionDialog(Dialog[str | None]):
    """Dismissed with the answer, or with None when the person cancels. The answer is stored nowhere."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Cancel", id="question.cancel")]

    def __init__(self, title: str, question: str, *, masked: bool) -> None:
        super().__init__()
        self._title = title
        self._question = question
        self._masked = masked
        self._quiet = KeyGuard()

    def compose(self) -> ComposeResult:
        """Yield the question, and the field, which takes no keys that were meant for the prompt."""
        lines = [escape_controls(line[:_WIDTH]) for line in self._question.splitlines()[:_LINES]]
        with DialogBox(id="ask") as box:
            box.border_title = Content(clean_line(self._title, 60))
            box.hints = "the field opens when you stop typing · esc cancel"
            yield Static(Content("\n".join(lines)), id="ask-words", markup=False)
            yield Field(password=self._masked, id="ask-answer", disabled=True)

    def on_mount(self) -> None:
        """Open the field when no key has come for a moment."""
        self._quiet.begin()
        self._looking = self.set_interval(LOOK, self._open_when_quiet)

    def _open_when_quiet(self) -> None:
        if self._quiet.has_lasted(self.app):
            self._looking.stop()
            field = self.query_one(Input)
            field.disabled = False
            field.focus()
            self.query_one("#ask", DialogBox).hints = "enter send · esc cancel"

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close the screen with the answer."""
        event.stop()
        self.dismiss(event.value)


class Questioner:
    """Shows questions over the screen, for threads that wait for the answer."""

    def __init__(self, app: App[object]) -> None:
        self._app = app

    def ask(self, title: str, question: str, *, masked: bool, stopped: "threading.Event") -> str | None:
        """Ask and wait. Returns None when the person cancels, or when `stopped` is set."""
        answers: queue.Queue[str | None] = queue.Queue()
        dialog = QuestionDialog(title, question, masked=masked)
        self._app.call_later(self._app.push_screen, dialog, answers.put)
        while not stopped.is_set():
            try:
                return answers.get(timeout=_GLANCE)
            except queue.Empty:
                continue
        self._app.call_later(dialog.dismiss)
        return None
