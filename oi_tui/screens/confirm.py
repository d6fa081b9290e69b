"""A question with details that only a deliberate yes answers."""

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.reactive import reactive
from textual.timer import Timer
from textual.widgets import Static

from oi_tui.screens.dialog import Dialog, link_hints
from oi_tui.text import clean_line, escape_controls
from oi_tui.widgets.approval.key_guard import LOOK, SETTLE, KeyGuard
from oi_tui.widgets.timer import schedule

if TYPE_CHECKING:
    from asyncio import TimerHandle


class ConfirmDialog(Dialog[bool]):
    """Dismissed with True when the person says yes, under the same guard as the question about code."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "yes", "Yes", id="confirm.yes"),
        Binding("n,escape", "dismiss(False)", "No", id="confirm.no"),
    ]

    #: Whether a yes counts.
    armed = reactive(False)

    def __init__(self, question: str, details: Sequence[str]) -> None:
        super().__init__()
        self._question = question
        self._details = details
        self._quiet = KeyGuard()
        self._settle: TimerHandle | None = None
        #: Ticks while no yes counts.
        self._clock: Timer | None = None
        self._armed_at = math.inf
        self._is_withdrawn = False

    def withdraw(self) -> None:
        """Close without an answer: at once, or as soon as nothing lies over it that the person opened."""
        self._is_withdrawn = True
        if self.is_active:
            self.dismiss(None)

    def on_screen_resume(self) -> None:
        """Close if it was withdrawn while another screen lay over it."""
        if self._is_withdrawn and self.is_active:
            self.dismiss(None)

    def compose(self) -> ComposeResult:
        """Mount the question, its details, and the answers."""
        with VerticalScroll(id="confirm") as page:
            page.border_title = Content(clean_line(self._question, 200))
            yield Static(
                Content("\n".join(map(escape_controls, self._details))), id="confirm-details", markup=False
            )

    def on_mount(self) -> None:
        """Start the guard: the question counts from when it is visible."""
        self._quiet.begin()
        self._clock = self.set_interval(LOOK, self._arm_when_quiet)

    def watch_armed(self) -> None:
        """Say what the keys answer."""
        if self._clock and not self.armed:
            self._clock.reset()
        self._armed_at = time.monotonic()
        answers = "y yes · n no" if self.armed else "y when you stop typing · n no"
        self.query_one("#confirm").border_subtitle = link_hints(answers)

    def on_key(self, event: events.Key) -> None:
        """Take a yes as text if another key follows at once, or if it is part of a word."""
        if self._settle is not None:
            self._settle.cancel()
            self._settle = None
            self.armed = False
        elif event.is_printable and not self._is_yes(event.key):
            self.armed = False

    def on_paste(self) -> None:
        """Ignore a paste: it never answers."""
        self.armed = False

    def action_yes(self) -> None:
        """Answer yes, unless the key was meant for something else."""
        if self.armed:
            self._settle = schedule(self, SETTLE, self._finish_settling)

    def action_press(self, key: str) -> None:
        """Take a click on yes only if the button went down while a yes counts."""
        if key != "y" or (self.armed and self.clicked_at >= self._armed_at):
            super().action_press(key)

    def _is_yes(self, key: str) -> bool:
        binding = self.active_bindings.get(key)
        return binding is not None and binding.binding.action == "yes"

    def _finish_settling(self) -> None:
        self._settle = None
        if self.armed:
            self.dismiss(True)

    def _arm_when_quiet(self) -> None:
        if not self.armed:
            self.armed = self._quiet.has_lasted(self.app)
        elif self._clock:
            self._clock.pause()
