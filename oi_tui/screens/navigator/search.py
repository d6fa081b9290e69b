"""The search in what conversations say, while a person types."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.widget import Widget
from textual.worker import Worker

from oi_tui.engine.storage.search import is_worth_searching
from oi_tui.screens.navigator.loader import ConversationLoader, SearchFinished
from oi_tui.widgets.timer import schedule

if TYPE_CHECKING:
    from asyncio import TimerHandle

#: How long a person must pause before conversations are searched, in seconds.
_PAUSE = 0.12


class TextSearch:
    """Searches the messages of the listed conversations in a thread, and keeps the result of one query.

    The loader posts `SearchFinished`; the receiver passes it to `add_hits`. `list_ids` returns the ids of the
    conversations, `on_started` is called when a search starts.
    """

    def __init__(
        self,
        widget: Widget,
        loader: ConversationLoader,
        list_ids: Callable[[], list[str]],
        on_started: Callable[[], None],
    ) -> None:
        self._widget = widget
        self._loader = loader
        self._list_ids = list_ids
        self._on_started = on_started
        #: Where the words were found, by the ids of conversations.
        self.excerpts: dict[str, str] = {}
        self._query = ""
        self._worker: Worker[None] | None = None
        self._pause: TimerHandle | None = None

    @property
    def is_running(self) -> bool:
        """Whether a search is running."""
        return self._worker is not None

    def start_soon(self, query: str) -> None:
        """Drop the last result, and search for `query` when the person stops typing."""
        self.excerpts = {}
        self._query = query
        if self._worker is not None:
            self._worker.cancel()
            self._worker = None
        if self._pause is not None:
            self._pause.cancel()
            self._pause = None
        if is_worth_searching(query):
            self._pause = schedule(self._widget, _PAUSE, self.start)

    def start(self) -> None:
        """Search now; an empty query has no effect."""
        query = self._query
        if is_worth_searching(query):
            ids = self._list_ids()
            self._worker = self._widget.run_worker(
                lambda: self._loader.search(query, ids), thread=True, group="search", exclusive=True
            )
            self._on_started()

    def add_hits(self, event: SearchFinished) -> None:
        """Add what was found to the result."""
        if event.done:
            self._worker = None
        self.excerpts |= {hit.id: hit.excerpt for hit in event.hits}
