"""Completions in the code editor: tab shows and accepts them, escape closes the list."""

import re
from collections.abc import Callable, Sequence
from typing import Protocol

from oi_tui.widgets.prompt.completion import CompletionChoice, CompletionQuery
from oi_tui.widgets.prompt.completion_list import CompletionOffer

#: Tab completes behind a word, where a member is named, and where an argument, a key or a file name begins.
COMPLETABLE = re.compile(r"(?:(?<!\w)[^\W\d]\w*|[.('\"/,$@\[]|, |::|->)\Z")


class CompletingEditor(Protocol):
    """What the completions use of an editor."""

    @property
    def before_caret(self) -> str | None:
        """The code before the caret; None while something is selected."""

    def complete_with(self, text: str, typed: int) -> None:
        """Replace `typed` characters before the caret."""

    def indent(self) -> None:
        """Do what tab does where nothing is completed."""

    def ask(self, query: CompletionQuery) -> None:
        """Ask for completions; the answer comes by `CodeCompletion.offer`."""

    def show_offers(self, offers: Sequence[CompletionOffer], chosen: int, note: str) -> None:
        """Show the list, or close it where there is nothing."""


class CodeCompletion:
    """What is offered in an editor. An answer counts only for the code that it was asked for."""

    def __init__(self, editor: CompletingEditor) -> None:
        self._editor = editor
        self._choice = CompletionChoice()
        self._is_shown = False
        #: What tab asked about and has no answer to yet.
        self._pending: CompletionQuery | None = None
        self.language = ""
        #: Whether completions of a language can be had now; must answer at once.
        self.is_available: Callable[[str], bool] = lambda _: False

    def handle_key(self, key: str) -> bool:
        """Handle a key if it means something for completions; return whether it does."""
        if key == "escape" and self._is_shown:
            self.close()
        elif key in ("up", "down") and self._choice.is_for(self._make_query()):
            self._choice.move(-1 if key == "up" else 1)
            self._show()
        elif key in ("tab", "enter") and self._choice.is_for(self._make_query()):
            self._accept()
        elif key == "tab" and (query := self._make_query()) and self.is_available(self.language):
            self._pending = query
            self._editor.ask(query)
        else:
            return False
        return True

    def offer(self, query: CompletionQuery, offers: Sequence[CompletionOffer], note: str) -> None:
        """Take an answer. The only completion of what was typed is put in at once."""
        if query != self._make_query():
            return
        was_asked, self._pending = query == self._pending, None
        if was_asked and not offers and not note:
            self._editor.indent()
            return
        self._choice.set_offers(query, offers, note)
        if was_asked and len(offers) == 1 and offers[0].typed:
            self._accept()
        else:
            self._show()

    def follow(self) -> None:
        """Ask for completions again after the code or the caret changed, while the list is open."""
        if not self._is_shown or self._choice.query == (query := self._make_query()):
            return
        if query is None:
            self.close()
        else:
            self._editor.ask(query)

    def close(self) -> None:
        """Offer nothing."""
        self._pending = None
        self._choice.forget()
        self._show()

    def _accept(self) -> None:
        offer = self._choice.chosen
        self.close()
        if offer is not None:
            self._editor.complete_with(offer.text, offer.typed)

    def _show(self) -> None:
        choice = self._choice
        if choice.offers or choice.note or self._is_shown:
            self._is_shown = bool(choice.offers or choice.note)
            self._editor.show_offers(choice.offers, choice.number, choice.note)

    def _make_query(self) -> CompletionQuery | None:
        before = self._editor.before_caret
        if before is None or not COMPLETABLE.search(before):
            return None
        return CompletionQuery("code", before, len(before), language=self.language)
