"""The full screen of a running program, with one line that says how to return."""

import time
from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from oi_tui import paths
from oi_tui.screens.dialog import Page
from oi_tui.text import format_duration
from oi_tui.widgets.emulator.view import TerminalView
from oi_tui.widgets.status_bar import StatusBar


class ProgramScreen(Page[bool]):
    """Shows the running program's terminal and sends it every key but one.

    It closes with True when the person goes back to the conversation, and with False when it learns that
    there is nothing to show any more. `what` runs since `since`, in seconds on the monotonic clock. `typed`
    gets what is typed, `resized` the columns and rows of the terminal.
    """

    CSS_PATH = paths.styles() / "program.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        # Priority, because the terminal takes every other key.
        Binding(
            "ctrl+right_square_bracket", "back", "Back to the conversation", id="program.back", priority=True
        )
    ]

    def __init__(
        self,
        what: str,
        since: float,
        *,
        typed: Callable[[str], object],
        resized: Callable[[int, int], object],
    ) -> None:
        super().__init__(classes="-program")
        self._what = what
        self._since = since
        self._resized = resized
        self.view = TerminalView(typed, id="terminal")
        self._line = StatusBar(id="program-line", keeps_right=True)

    def compose(self) -> ComposeResult:
        """Mount the terminal above the line."""
        yield self.view
        yield self._line

    def on_mount(self) -> None:
        """Give the program the keyboard."""
        self.view.focus()
        self._update_line()
        self.set_interval(0.5, self._update_line)

    @on(TerminalView.Resized)
    def handle_resized(self, event: TerminalView.Resized) -> None:
        """Tell programs the new size of their terminal."""
        event.stop()
        self._resized(event.columns, event.rows)

    def action_back(self) -> None:
        """Go back to the conversation; the program runs on."""
        self.dismiss(True)

    def _update_line(self) -> None:
        took = format_duration(time.monotonic() - self._since)
        self._line.left = ((self._what, "$text-accent bold"), (took, "$text-muted"))
        self._line.right = (
            ("ctrl+] back", ""),
            ("other keys go to the program", "$text-muted"),
        )
