"""Runs code of the conversation again, and what a reply offers as text."""

from collections.abc import Sequence
from typing import Protocol

from oi_tui.actions.interface import BUSY, UserInterface
from oi_tui.actions.rewind import Rewind
from oi_tui.workspace import Workspace


class RewindingInterface(UserInterface, Protocol):
    """A user interface in which one can go back."""

    going_back: Rewind


class TurnActions:
    """Carries out `%rerun` and `%offer`; each interface adds how a turn is stopped and continued."""

    def __init__(self, ui: RewindingInterface, workspace: Workspace) -> None:
        self._ui = ui
        self._workspace = workspace

    def run_again(self, number: int | None) -> None:
        """Run the cells again that ran before, up to cell `number`; None means all."""
        if codes := self._ui.going_back.find_earlier(number):
            self._ui.start(self._workspace.session.run_again(codes))

    def run_only(self, numbers: Sequence[int]) -> None:
        """Run the cells with these numbers again, in the order of the conversation."""
        if codes := self._ui.going_back.find_chosen(numbers):
            self._ui.start(self._workspace.session.run_again(codes))

    def run_blocks(self) -> None:
        """Ask to run the code blocks in the text of the last reply."""
        if self._ui.busy:
            self._ui.show_notice(BUSY, warning=True)
        else:
            self._ui.start(self._workspace.session.run_blocks())
