"""Stops and continues turns on the chat screen, goes back in them, and runs the person's own code."""

from typing import TYPE_CHECKING

from oi_tui.actions.languages import LanguageActions
from oi_tui.actions.rewind import Rewind
from oi_tui.actions.turns import RewindingInterface, TurnActions

if TYPE_CHECKING:
    from oi_tui.actions.interface import UserInterface
    from oi_tui.actions.targets import TargetActions
    from oi_tui.screens.chat.interfaces import PromptScreen
    from oi_tui.screens.chat.view import ChatView


class ChatTurns(TurnActions):
    """The turns of the chat screen."""

    def __init__(
        self, ui: RewindingInterface, chat: "PromptScreen", view: "ChatView", targets: "TargetActions"
    ) -> None:
        super().__init__(ui, view.workspace)
        self._chat = chat
        self._view = view
        self._targets = targets

    def stop(self) -> None:
        """Stop what is in progress. Pressed twice while idle, go back to an earlier message."""
        resting = not self._view.busy and self._chat.prompt.has_focus
        if not self._view.busy and self._view.sidebar.close_drawer():
            return
        if not self._view.busy and self._targets.stop_connecting():
            return
        is_second = self._chat.prompt.note_escape(at_rest=resting)
        self._view.stop()
        if is_second:
            self._go_back()

    def continue_turn(self) -> None:
        """Let the model continue."""
        if self._view.busy:
            self._chat.notify("The model is already working.", timeout=2)
        elif not self._view.session.messages:
            self._ui.show_notice("There is nothing to continue yet; type a message first.", warning=True)
        else:
            self._view.send(None)

    def _go_back(self) -> None:
        """Clear what is typed (undo restores it); with nothing typed, choose an earlier message."""
        if self._chat.prompt.text:
            self._chat.prompt.action_clear()
        elif self._ui.going_back.own:
            self._ui.going_back.rewind(None)


class ChatRewind(Rewind):
    """Goes back in the conversation of the chat screen."""

    def __init__(self, ui: "UserInterface", chat: "PromptScreen", view: "ChatView") -> None:
        super().__init__(ui, view.workspace)
        self._chat = chat
        self._view = view

    def _choose(self) -> None:
        """Let the person choose one of their messages: by its block."""
        transcript = self._view.conversation.transcript
        transcript.focus()
        transcript.set_cursor(None)
        transcript.action_jump(-1)
        self._chat.notify("shift+up selects the previous message, b goes back to it", timeout=4)


class ChatLanguages(LanguageActions):
    """The languages of the chat screen."""

    def __init__(self, ui: "UserInterface", view: "ChatView") -> None:
        super().__init__(ui, view.workspace)
        self._view = view

    def run(self, name: str, code: str) -> None:
        """Run the person's own code, after what is in progress. Raises CommandError."""
        if self.is_language(name) and self._view.busy:
            self._view.queued.add(f"! {code}" if name == "shell" else f"%run {name} {code}")
        else:
            super().run(name, code)

    def restart(self) -> None:
        """Restart the languages, and clear their variables in the sidebar."""
        super().restart()
        self._view.sidebar.forget()
