"""Which part of the chat view has the focus, and which gets it next."""

from typing import Protocol

from oi_tui.screens.chat.sidebar import SidebarControl
from oi_tui.widgets.approval.panel import ApprovalPanel
from oi_tui.widgets.conversation.conversation import Conversation
from oi_tui.widgets.conversation.find_bar import FindBar
from oi_tui.widgets.prompt.prompt import Prompt
from oi_tui.widgets.prompt.stdin_bar import StdinBar


class FocusableParts(Protocol):
    """The parts of the chat view that can have the focus."""

    prompt: Prompt
    conversation: Conversation
    approval: ApprovalPanel
    input_line: StdinBar
    find_line: FindBar
    sidebar: SidebarControl


def focus_next(view: FocusableParts) -> None:
    """Go to what waits for an answer, else between prompt, conversation and sidebar."""
    if view.conversation.cell_editor.is_open:
        return
    if view.input_line.display and not view.input_line.has_focus_within:
        view.input_line.focus_field()
    elif view.approval.display and not view.approval.has_focus_within:
        view.approval.focus()
    elif view.prompt.has_focus:
        view.conversation.transcript.enter()
    elif view.conversation.has_focus_within and view.sidebar.shown:
        view.sidebar.focus()
    else:
        view.prompt.focus()


def find_focused_part(view: FocusableParts) -> str:
    """Return the part that has the focus, as `status` names it; "" for any other."""
    if view.approval.has_focus_within:
        return view.approval.place
    if view.conversation.transcript.has_focus:
        return "blocks"
    if view.input_line.has_focus_within:
        return "input"
    if view.find_line.has_focus_within:
        return "finding"
    return "sidebar" if view.sidebar.has_focus else ""
