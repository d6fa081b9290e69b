"""Shows text in a widget that stands still most of the time."""

from textual.content import Content
from textual.widgets import Static


def show_text(widget: Static, text: Content) -> None:
    """Show the text, unless it is there already: each update lays out and draws the whole screen again."""
    content = widget.content
    if not (isinstance(content, Content) and content.is_same(text)):
        widget.update(text)
