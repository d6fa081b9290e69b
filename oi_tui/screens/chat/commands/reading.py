"""Moves in the conversation of the chat screen, and reads it."""

from typing import TYPE_CHECKING

from oi_tui.screens.chat.commands.cell_actions import CellActions
from oi_tui.widgets.conversation.cells.cell import CellBlock

if TYPE_CHECKING:
    from oi_tui.screens.chat.interfaces import PromptScreen
    from oi_tui.screens.chat.view import ChatView


class ChatReading:
    """Carries out `%find`, `%output`, `%focus` and their like."""

    def __init__(self, chat: "PromptScreen", view: "ChatView", cells: CellActions) -> None:
        self._chat = chat
        self._view = view
        self._cells = cells

    def find(self, text: str) -> None:
        """Search the conversation."""
        editor = self._view.conversation.cell_editor
        if editor.is_open:
            self._view.replace_line.open(text or editor.code_editor.selected_text)
        else:
            self._view.find_line.open(text)

    def read_output(self, number: int | None) -> None:
        """Show a whole output on its own screen."""
        self._cells.view_number(number)

    def copy_code(self) -> None:
        """Copy the last code of the conversation."""
        cells = [block for block in self._view.conversation.printing if isinstance(block, CellBlock)]
        if cells:
            self._view.copy(cells[-1].code, f"The code of cell {cells[-1].number}: ")
        else:
            self._chat.notify("There is no code to copy yet.", timeout=2)

    def search_history(self, text: str) -> None:
        """Offer earlier requests, above the prompt."""
        self._chat.prompt.focus()
        if text:
            self._chat.prompt.text = text
        self._chat.prompt.action_search_history()

    def use_terminal(self) -> None:
        """Give the running program the screen and the keys; with none, read the last output."""
        if self._view.foreground.open():
            return
        if any(block.output for block in self._view.conversation.printing):
            self.read_output(None)
        else:
            self._chat.notify("No program is running, and there is no output yet.", timeout=2)

    def focus_conversation(self) -> None:
        """Move by block."""
        self._view.conversation.transcript.enter()

    def focus_prompt(self) -> None:
        """Focus the prompt."""
        self._chat.prompt.focus()
