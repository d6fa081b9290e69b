"""The field for the reason of a rejection, and for the word that lets everything run."""

from textual import on
from textual.widgets import Input

from oi_tui.widgets.approval.text import QUICK_REASONS
from oi_tui.widgets.field import Field


class ReasonField(Field):
    """Takes one line. While it takes a reason, a single digit becomes one of the reasons that are shown."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, select_on_focus=False)
        self._has_quick_reasons = False

    def ask(self, hint: str, *, quick_reasons: bool) -> None:
        """Take a new line, with a hint of what to type."""
        self._has_quick_reasons = quick_reasons
        self.value = ""
        self.placeholder = hint
        self.focus()

    @on(Input.Changed)
    def _fill_in_reason(self) -> None:
        if self._has_quick_reasons and self.value in ("1", "2", "3", "4"):
            self.value = QUICK_REASONS[int(self.value) - 1]
            self.cursor_position = len(self.value)
