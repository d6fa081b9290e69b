"""Shows the log: its newest lines above the prompt, or all of it on its own screen."""

from typing import TYPE_CHECKING

from oi_tui import log
from oi_tui.actions.logging import LogActions
from oi_tui.screens.pager import PagerScreen
from oi_tui.widgets.pager.long_text import LongText

if TYPE_CHECKING:
    from oi_tui.actions.interface import UserInterface
    from oi_tui.screens.chat.view import ChatView

_EMPTY = "Nothing has been logged yet."


class LogScreens(LogActions):
    """The log of the chat screen."""

    def __init__(self, ui: "UserInterface", view: "ChatView") -> None:
        super().__init__(ui, view.workspace)
        self._view = view

    def follow(self, on: bool) -> None:
        """Show or hide the newest lines of the log above the prompt."""
        self._view.log_panel.display = on

    def open(self) -> None:
        """Show the whole log on its own screen."""
        try:
            text = LongText.open(log.file())
        except OSError:
            text = LongText.of("\n".join(log.recent.lines))
        self._view.app.push_screen(PagerScreen("Log", text, log.describe_place(), empty=_EMPTY))
