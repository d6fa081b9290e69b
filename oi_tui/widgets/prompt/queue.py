"""Messages that wait for the end of the turn."""

from textual.content import Content
from textual.widget import Widget

from oi_tui.text import clean_line

#: How many of them are shown.
MOST_ROWS = 4


class PromptQueue(Widget):
    """Shows the requests that wait while a turn is in progress, in the order in which they will be sent."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._texts: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def add(self, text: str) -> None:
        """Add a message."""
        self._texts.append(text)
        self._show()

    def pop_first(self) -> str:
        """Remove and return the first message."""
        text = self._texts.pop(0)
        self._show()
        return text

    def pop_last(self) -> str:
        """Remove and return the newest message."""
        text = self._texts.pop()
        self._show()
        return text

    def pop_all(self) -> list[str]:
        """Remove and return all messages."""
        texts, self._texts = self._texts, []
        self._show()
        return texts

    def _show(self) -> None:
        self.display = bool(self._texts)
        self.styles.height = min(len(self._texts), MOST_ROWS)
        self.refresh()

    def render(self) -> Content:
        """Render the first messages, how many follow, and how to edit them."""
        width = self.content_size.width
        rows = [f"» queued: {clean_line(text, 200)}" for text in self._texts[:MOST_ROWS]]
        if (more := len(self._texts) - MOST_ROWS) > 0:
            rows[-1] = f"» and {more + 1} more"
        key = "  up edits the last"
        lines = [Content(row).truncate(max(1, width - len(key)), ellipsis=True) for row in rows]
        if lines:
            space = " " * max(0, width - lines[-1].cell_length - len(key))
            lines[-1] = Content.assemble(lines[-1], space, (key, "$text-muted italic"))
        return Content("\n").join(lines)
