"""Mounts what the chat screen has after its first frame: the home screen and the conversation.

The screen itself imports neither, so that the prompt is there at once. What their parts want comes here, and
goes on to the screen.
"""

from typing import Protocol

from textual import on
from textual.app import ComposeResult
from textual.widget import Widget

from oi_tui.screens.chat.commands.chat import ChatCommands
from oi_tui.screens.chat.focus import return_focus
from oi_tui.screens.chat.home import Home
from oi_tui.screens.chat.view import ChatView
from oi_tui.text import clean_text
from oi_tui.widgets.approval.panel import ApprovalPanel
from oi_tui.widgets.conversation.conversation import Conversation
from oi_tui.widgets.conversation.find_bar import FindBar
from oi_tui.widgets.prompt.prompt import Prompt
from oi_tui.widgets.sidebar.sidebar import Sidebar


class BodyScreen(Protocol):
    """The screen around the body."""

    prompt: Prompt

    @property
    def commands(self) -> ChatCommands:
        """Carries out commands."""

    def type_into_prompt(self, text: str | None) -> None:
        """Go to the prompt, with what was typed elsewhere."""

    def action_changes(self) -> None:
        """Show what the person changed in the code in question."""

    def call_person(self, why: str) -> None:
        """Call a person who looks elsewhere."""

    def ask_for_key(self) -> None:
        """Ask for the key that the model needs."""

    def refresh_status(self) -> None:
        """Update the two status lines."""


class ChatBody(Widget):
    """The home screen, which is shown while the conversation is empty, above the chat view."""

    def __init__(self, chat: BodyScreen, view: ChatView, home: Home) -> None:
        super().__init__(id="body")
        self._chat = chat
        self._view = view
        self._home = home

    def compose(self) -> ComposeResult:
        """Mount both; one of them is visible at a time."""
        yield self._home
        yield self._view

    @on(Home.RequestChosen)
    def handle_request_chosen(self, event: Home.RequestChosen) -> None:
        """Put the request into the prompt, where it can be changed."""
        self._chat.prompt.put_back(event.text)
        self._chat.prompt.focus()

    @on(Home.ConversationChosen)
    def handle_conversation_chosen(self, event: Home.ConversationChosen) -> None:
        """Open an earlier conversation."""
        self._chat.commands.open_conversation(event.key)

    @on(Home.FocusReturned)
    def handle_home_focus_returned(self, event: Home.FocusReturned) -> None:
        """Go back to the prompt, with what was typed elsewhere."""
        self._chat.type_into_prompt(clean_text(event.text))

    @on(Sidebar.Chosen)
    def handle_sidebar_chosen(self, event: Sidebar.Chosen) -> None:
        """Insert or show a variable, or restore files."""
        self._chat.commands.data.act_on_sidebar(event.row, look=event.look)

    @on(Sidebar.FocusReturned)
    def handle_sidebar_focus_returned(self, event: Sidebar.FocusReturned) -> None:
        """Go back to the prompt, with what was typed elsewhere."""
        if event.closed:
            self._view.sidebar.close_drawer()
        self._chat.type_into_prompt(clean_text(event.text))

    @on(Conversation.TableRequested)
    def handle_table_requested(self, event: Conversation.TableRequested) -> None:
        """Open a table of the conversation."""
        table = event.table
        self._chat.commands.data.open_shown_table(table.key, table.name, table.language)

    @on(Conversation.ActionRequested)
    def handle_action_requested(self, event: Conversation.ActionRequested) -> None:
        """Carry out an action on a cell."""
        commands = self._chat.commands
        match event.what:
            case "back":
                commands.going_back.rewind_to(event.key)
            case "restore":
                commands.restore_cell(event.key)
            case "branch":
                commands.going_back.branch(event.key)
            case _:
                commands.cells.act(event.key, event.what)

    @on(ApprovalPanel.HelpRequested)
    def handle_help_requested(self) -> None:
        """Explain the answers."""
        self._chat.commands.screens.open_help()

    @on(ApprovalPanel.DiffRequested)
    def handle_diff_requested(self) -> None:
        """Show what the person changed in the code."""
        self._chat.action_changes()

    @on(FindBar.Closed)
    def handle_find_closed(self, event: FindBar.Closed) -> None:
        """Go back to where the keyboard was."""
        return_focus(self._view, event.origin)

    @on(ChatView.AttentionRequested)
    def handle_attention_requested(self, event: ChatView.AttentionRequested) -> None:
        """Call the person, as the profile says."""
        self._chat.call_person(event.why)

    @on(ChatView.ApiKeyRequested)
    def handle_api_key_requested(self) -> None:
        """Ask for the key, once typing stops, unless something else was typed or opened by then."""
        self._chat.ask_for_key()

    @on(ChatView.CellEnded)
    def handle_cell_ended(self, event: ChatView.CellEnded) -> None:
        """Show what an open table holds now."""
        event.stop()
        self._chat.commands.data.follow_table()

    @on(ChatView.Changed)
    def handle_changed(self, event: ChatView.Changed) -> None:
        """Update the status lines."""
        event.stop()
        self._chat.refresh_status()
