"""The edit field over the selected conversation: for its title, or the path of an export."""

from collections.abc import Callable

from textual.message import Message
from textual.widgets import Input

from oi_tui.engine.storage.listing import Summary
from oi_tui.widgets.field import Field
from oi_tui.widgets.footer import Keys
from oi_tui.widgets.lists.conversation_list import ConversationList


class EditLine(Field):
    """Edits a text on the line of the selected conversation. Enter confirms it."""

    class Closed(Message):
        """The line was closed."""

    def __init__(self, rows: ConversationList, *, id: str) -> None:
        super().__init__(id=id, select_on_focus=True)
        self._rows = rows
        self._item: Summary | None = None
        self._act: Callable[[Summary, str], None] | None = None
        #: The keys that act now; none while nothing is asked.
        self.keys: Keys = ()

    def ask(self, text: str, keys: Keys, act: Callable[[Summary, str], None]) -> None:
        """Open the line with `text`, and call `act` with the conversation and the edited text on enter.

        `keys` are the key hints that are shown meanwhile.
        """
        item = self._rows.selected
        if item is None:
            return
        self._item, self._act, self.keys = item, act, keys
        self.value = text
        self._place_over(item)
        self.screen.add_class("-asking")
        self.screen.set_focus(self)

    def _place_over(self, item: Summary) -> None:
        rows = self._rows
        line = rows.find_line(rows.items.place_of(item.id) or 0) - rows.scroll_offset.y
        self.styles.offset = (rows.region.x + 1, rows.region.y + line)
        self.styles.width = max(10, rows.scrollable_content_region.width - 1)

    def follow(self) -> None:
        """Move to the line of the conversation, after the list was resized."""
        if self._item is not None and self._rows.items.place_of(self._item.id) is not None:
            self._place_over(self._item)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close the line and act on the text."""
        event.stop()
        item, act = self._item, self._act
        self.leave()
        if item is not None and act is not None:
            act(item, event.value)

    def leave(self) -> None:
        """Close the line without an action, and focus the list."""
        self.screen.set_focus(self._rows)
        self._item, self._act, self.keys = None, None, ()
        self.screen.remove_class("-asking")
        self.post_message(self.Closed())
