"""The preview of the selected conversation, beside the list."""

from typing import TYPE_CHECKING

from textual import on
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from oi_tui.engine.storage.listing import Summary
from oi_tui.screens.navigator.loader import ConversationLoader
from oi_tui.widgets.conversation.styles import Styles, get_styles
from oi_tui.widgets.timer import schedule

if TYPE_CHECKING:
    from asyncio import TimerHandle

#: How long a person must pause before another conversation is shown, in seconds.
_PAUSE = 0.06


class Preview(VerticalScroll, can_focus=False):
    """Shows the facts of a conversation and its messages, from the first match on. It is read in a thread."""

    class Drawn(Message):
        """The preview of a conversation is ready."""

        def __init__(self, summary: Summary, content: Content) -> None:
            super().__init__()
            self.summary, self.content = summary, content

    def __init__(self, loader: ConversationLoader, *, id: str) -> None:
        self._text = Static(id="navigator-preview", markup=False)
        super().__init__(self._text, id=id)
        self._loader = loader
        self._item: Summary | None = None
        self._words: list[str] = []
        self._pause: TimerHandle | None = None

    def show_soon(self, item: Summary | None, words: list[str]) -> None:
        """Show this conversation, None for none, with the words of the search marked."""
        self._item, self._words = item, words
        if self._pause is not None:
            self._pause.cancel()
        self._pause = schedule(self, _PAUSE, self._read)

    def _read(self) -> None:
        item, words = self._item, self._words
        if item is None:
            self._text.update("")
            return
        width = self.scrollable_content_region.width - 1
        look = get_styles(self.app.current_theme, colourful=not self.app.no_color)
        self.run_worker(
            lambda: self._draw(item, words, width, look),
            thread=True,
            group="preview",
            exclusive=True,
        )

    def _draw(self, item: Summary, words: list[str], width: int, look: Styles) -> None:
        self.post_message(self.Drawn(item, self._loader.draw_preview(item, words, width, look)))

    @on(Drawn)
    def handle_drawn(self, event: Drawn) -> None:
        """Show the preview, unless another conversation is selected by now."""
        event.stop()
        if self._item == event.summary:
            self._text.update(event.content)
            self.scroll_home(animate=False)
