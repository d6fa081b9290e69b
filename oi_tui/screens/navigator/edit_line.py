"""The edit field over the selected conversation: for its title, or the path of an export."""

from collections.abc import Callable

from textual.message import Message
from textual.widgets import Input

from oi_tui.engine.storage.listing import Summary
from oi_tui.widgets.footer import Keys
from oi_tui.widgets.lists.conversation_list import ConversationList


class EditLine(Input):
    """Shown while something is asked; enter acts."""

    class Closed(Message):
        """Nothing is asked any more."""

    def __init__(self, rows: ConversationList, *, id: str) -> None:
        super().__init__(id=id, select_on_focus=True)
        self._rows = rows
        self._item: Summary | None = None
        self._act: Callable[[Summary, str], None] | None = None
        #: The keys that act now; none while nothing is asked.
        self.keys: Keys = ()

    def ask(self, text: str, keys: Keys, act: Callable[[Summary, str], None]) -> None:
        """Let the text be edited on top of the selected conversation, and act on what becomes of it."""
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
        line = rows.line_of(rows.items.place_of(item.id) or 0) - rows.scroll_offset.y
        self.styles.offset = (rows.region.x + 1, rows.region.y + line)
        self.styles.width = max(10, rows.scrollable_content_region.width - 1)

    def follow(self) -> None:
        """Stay on top of the same conversation after the list was resized."""
        if self._item is not None and self._rows.items.place_of(self._item.id) is not None:
            self._place_over(self._item)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Act on what was typed."""
        event.stop()
        item, act = self._item, self._act
        self.leave()
        if item is not None and act is not None:
            act(item, event.value)

    def leave(self) -> None:
        """Ask no more, and go back to the list."""
        self.screen.set_focus(self._rows)
        self._item, self._act, self.keys = None, None, ()
        self.screen.remove_class("-asking")
        self.post_message(self.Closed())
