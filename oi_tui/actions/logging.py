"""Decides what is logged, and shows the log."""

from abc import ABC, abstractmethod

from oi_tui import log
from oi_tui.actions.interface import UserInterface
from oi_tui.workspace import Workspace


class LogActions(ABC):
    """Carries out `%verbose`, `%debug` and `%log`."""

    def __init__(self, ui: UserInterface, workspace: Workspace) -> None:
        self._ui = ui
        self._workspace = workspace

    def switch(self, on: bool | None, *, words: bool) -> None:
        """Log, and show, what goes on, or only errors; with `words` also the text for the model."""
        profile = self._workspace.profile
        before = profile.debug if words else profile.verbose or profile.debug
        on = not before if on is None else on
        changes = {"debug": on} if words else {"verbose": on, "debug": profile.debug and on}
        self._workspace.use(profile.with_changes("changed", **changes))
        self.follow(on)
        self._ui.show_notice(
            f"Logging requests, runs, times and errors. {log.describe_place()}"
            + (" The text sent to and from the model is logged too, without keys." if words else "")
            if on
            else "Logging only errors from now on."
        )

    @abstractmethod
    def follow(self, on: bool) -> None:
        """Show the newest lines of the log as they come, or no longer."""

    @abstractmethod
    def open(self) -> None:
        """Show the log."""
