"""Continues turns in plain mode."""

from collections.abc import Callable

from oi_tui.actions.turns import RewindingInterface, TurnActions
from oi_tui.workspace import Workspace


class PlainTurns(TurnActions):
    """The turns of plain mode: commands are typed between them."""

    def __init__(
        self, ui: RewindingInterface, workspace: Workspace, say: Callable[[str | None], None]
    ) -> None:
        """`say` sends a message to the model; None lets it continue."""
        super().__init__(ui, workspace)
        self._say = say

    def stop(self) -> None:
        """Do nothing: while commands are typed, nothing is in progress."""
        self._ui.show_notice("Nothing is running. ctrl+c stops what is running.")

    def continue_turn(self) -> None:
        """Let the model continue."""
        if self._workspace.session.messages:
            self._say(None)
        else:
            self._ui.show_notice("There is nothing to continue yet; type a request first.")
