"""A question with details that only a deliberate yes answers."""

import time
from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from oi_tui.screens.leaving import Dialog
from oi_tui.text import one_line, visible
from oi_tui.widgets.approval_panel import QUIET


class Confirm(Dialog[bool]):
    """Dismissed with True when the person says yes, once the question was seen for a moment."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "yes", "Yes", id="confirm.yes"),
        Binding("n,escape", "dismiss(False)", "No", id="confirm.no"),
    ]

    def __init__(self, question: str, details: Sequence[str]) -> None:
        super().__init__()
        self._question = question
        self._details = details
        self._since = time.monotonic()

    def compose(self) -> ComposeResult:
        """The question, what it is about, and the answers."""
        with VerticalScroll(id="confirm") as page:
            page.border_title = Content(one_line(self._question, 200))
            page.border_subtitle = "y yes · n no"
            yield Static(Content("\n".join(map(visible, self._details))), id="confirm-details", markup=False)

    def on_mount(self) -> None:
        """The question counts from when it is seen."""
        self._since = time.monotonic()

    def action_yes(self) -> None:
        """Yes, unless the key was meant for what was there before."""
        if time.monotonic() - self._since >= QUIET:
            self.dismiss(True)
