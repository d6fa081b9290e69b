"""Which part of the chat view has the focus, and which gets it next."""

from typing import Protocol

from textual.widget import Widget

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


def return_focus(view: FocusableParts, origin: Widget | None) -> None:
    """Go back to what had the keyboard before, as far as it is still there, else to the prompt."""
    if origin is view.approval and view.approval.display:
        view.approval.take_keys_back()
        return
    here = origin if origin is not None and origin.is_attached and is_shown(origin) else view.prompt
    here.focus()
    if here is view.prompt and not view.prompt.text and view.approval.display:
        # The question that came meanwhile gets the keyboard as it would have without the search.
        view.approval.take_keys_back()


def is_shown(widget: Widget) -> bool:
    """Return whether a widget can get the keyboard: neither it nor what it is in is hidden."""
    return widget.focusable and all(node.display for node in widget.ancestors_with_self)


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
