"""Loads the navigator's data in threads, and posts it as messages."""

import contextlib
import time
from collections.abc import Callable, Sequence

from textual.content import Content
from textual.message import Message
from textual.worker import get_current_worker

from oi_tui import messages as lmc
from oi_tui.engine.open_interpreter import conversations
from oi_tui.engine.storage.full_text_index import FullTextIndex
from oi_tui.engine.storage.library import Library
from oi_tui.engine.storage.listing import Listing, Summary
from oi_tui.engine.storage.search import Hit, search
from oi_tui.engine.storage.store import StoreError
from oi_tui.widgets.conversation.styles import Styles
from oi_tui.widgets.lists.conversation_preview import draw_preview

#: How often hits are handed over while a search is in progress, in seconds.
_INTERVAL = 0.15


class Listed(Message):
    """The list was read."""

    def __init__(self, listing: Listing, waiting: int = 0, deleted: Sequence[str] = ()) -> None:
        super().__init__()
        self.listing = listing
        #: What was deleted and can be brought back, the last first, by id.
        self.deleted = deleted
        #: How many conversations of Open Interpreter could be brought in.
        self.waiting = waiting


class ImportFinished(Message):
    """The import from Open Interpreter has ended, or has failed."""

    def __init__(self, text: str, page: str = "") -> None:
        super().__init__()
        #: In a sentence; and on a page what is wrong with some of them, "" where nothing is.
        self.text, self.page = text, page


class SearchFinished(Message):
    """A search has found conversations. `done` is set when all were searched."""

    def __init__(self, query: str, hits: list[Hit], done: bool) -> None:
        super().__init__()
        self.query, self.hits, self.done = query, hits, done


class ConversationLoader:
    """Reads conversations in threads and posts the results as messages.

    A method ends early when its worker is cancelled.
    """

    def __init__(self, library: Library, post: Callable[[Message], bool], clock: Callable[[], float]) -> None:
        self._library = library
        self._post = post
        self._clock = clock
        self._index = FullTextIndex(library.store.folder / "words.sqlite3")

    def list_conversations(self) -> None:
        """Read the list and post it as `Listed`."""
        store = self._library.store
        waiting = len(conversations.list_waiting(store, conversations.list_all_folders()))
        self._post(Listed(store.make_listing(), waiting, store.list_deleted()))

    def update_index(self) -> None:
        """Clean up, then add to the search index what changed since the last time."""
        worker = get_current_worker()
        self._library.store.delete_expired()
        self._index.update(self._library.store, lambda: worker.is_cancelled)

    def search(self, query: str, ids: list[str]) -> None:
        """Search the conversations with these ids for the words of `query`, and post what was found."""
        worker = get_current_worker()
        hits: list[Hit] = []
        posted = time.monotonic()
        for hit in search(self._library.store, query, ids, lambda: worker.is_cancelled, self._index):
            if hit is not None:
                hits.append(hit)
            if hits and time.monotonic() - posted > _INTERVAL:
                self._post(SearchFinished(query, hits, done=False))
                hits, posted = [], time.monotonic()
        if not worker.is_cancelled:
            self._post(SearchFinished(query, hits, done=True))

    def draw_preview(self, item: Summary, words: list[str], width: int, look: Styles) -> Content:
        """Return a preview of a conversation, `width` cells wide, with `words` marked."""
        messages: list[lmc.Message] = []
        with contextlib.suppress(StoreError):
            messages = self._library.store.read(item.id)
        return draw_preview(item, messages, words, self._clock(), width=width, look=look)

    def import_conversations(self) -> None:
        """Copy the conversations of Open Interpreter, and read the list again."""
        worker = get_current_worker()
        try:
            report = self._library.import_conversations(lambda: worker.is_cancelled)
        except OSError as error:
            result = ImportFinished(f"Could not import: {error.strerror or error}.")
        else:
            result = ImportFinished(str(report), report.page)
        self._post(result)
        self.list_conversations()
