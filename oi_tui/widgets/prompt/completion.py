"""Finds completions for the text being typed, and tracks the chosen one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from oi_tui.widgets.prompt.completion_list import CompletionOffer


@dataclass(frozen=True, slots=True)
class CompletionQuery:
    """The text being typed, and where it begins.

    It is a command, a mention, words to search in the history, code in the editor ("code"), code in the
    prompt ("console"), or a place where code can run ("target"). Of code it is all that is before the caret.
    """

    kind: Literal["command", "mention", "history", "code", "console", "target"]
    text: str
    start: int
    row: int = 0
    language: str = ""


class CompletionChoice:
    """Offers for one query; never used for another one."""

    def __init__(self) -> None:
        self.query: CompletionQuery | None = None
        self.offers: Sequence[CompletionOffer] = ()
        self.number = 0
        self.note = ""
        self._answered: CompletionQuery | None = None
        self._closed: CompletionQuery | None = None
        self._awaited: CompletionQuery | None = None

    @property
    def chosen(self) -> CompletionOffer | None:
        """The offer that would be taken."""
        return self.offers[self.number] if self.offers else None

    def is_for(self, query: CompletionQuery | None) -> bool:
        """Return whether there are offers, and for this query."""
        return query is not None and query == self._answered and bool(self.offers)

    def was_closed(self, query: CompletionQuery) -> bool:
        """Return whether the person closed the list of just this query."""
        return query == self._closed

    def begin(self, query: CompletionQuery) -> None:
        """Start another query; the list stays until there is an answer."""
        self.query, self._closed, self._awaited = query, None, None

    def set_offers(self, query: CompletionQuery, offers: Sequence[CompletionOffer], note: str = "") -> bool:
        """Set the offers for a query. Returns whether the person waits to accept the first one.

        A choice that was made before stays.
        """
        choice = self.chosen if query == self._answered else None
        is_awaited = query == self._awaited and bool(offers)
        self.query = self._answered = query
        self.offers, self.note, self._awaited = offers, note, None
        self.number = offers.index(choice) if choice is not None and choice in offers else 0
        return is_awaited

    def wait(self, query: CompletionQuery) -> bool:
        """Take the first offer once there is an answer; False when that has come and was empty."""
        if query == self._answered:
            return False
        self._awaited = query
        return True

    def move(self, by: int) -> None:
        """Choose another offer, around the ends; a search that found none stays as it is."""
        if self.offers:
            self.number = (self.number + by) % len(self.offers)

    def close(self, query: CompletionQuery | None) -> None:
        """Hide the completions of this query."""
        self.forget()
        self._closed = query

    def forget(self) -> None:
        """Hide the list: nothing that could be completed is being typed."""
        self.query = self._answered = self._awaited = None
        self.offers, self.number, self.note = (), 0, ""
