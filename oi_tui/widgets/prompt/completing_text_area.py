"""A text area that offers completions: commands, mentions, code, and messages of the history."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.message import Message

from oi_tui import commands
from oi_tui.input.history_browser import HistoryBrowser
from oi_tui.text import clean_line
from oi_tui.widgets.editor.code_completion import COMPLETABLE
from oi_tui.widgets.prompt.completion import CompletionChoice, CompletionQuery
from oi_tui.widgets.prompt.completion_list import CompletionOffer
from oi_tui.widgets.prompt.text_area import PromptTextArea

#: Code that is typed after the name of its language.
_CONSOLE = re.compile(r"%(?:run\s+)?(?P<language>[^\W\d_][\w+#.-]*)\s+")

#: The place that is typed after %target or %on, and what was left there after %attach.
_TARGET = re.compile(r"[%/](?P<command>target|on|attach)[ \t]+(?P<place>\S*)")


class CompletingTextArea(PromptTextArea):
    """Knows what at the caret can be completed, and puts the chosen offer in its place.

    The offers are drawn elsewhere. They count only for the text that they were made for, so that a key can
    never take one that has gone stale.
    """

    @dataclass
    class Asked(Message, namespace="prompt"):
        """A request for completions of the mention being typed, answered with `offer`."""

        query: CompletionQuery

    @dataclass
    class Offered(Message, namespace="prompt"):
        """Other completions are offered, or another one is chosen; none when there are none."""

        offers: Sequence[CompletionOffer]
        chosen: int
        note: str

    def __init__(self, history: Sequence[str], *, placeholder: Content, id: str | None) -> None:
        """`history` is what was sent in earlier sessions."""
        super().__init__(
            soft_wrap=True,
            show_line_numbers=False,
            highlight_cursor_line=False,
            placeholder=placeholder,
            id=id,
        )
        self._recall = HistoryBrowser(history)
        self._choice = CompletionChoice()
        self._shows_offers = False
        #: Whether what is typed is what the history is searched for.
        self._searching = False

    def action_search_history(self) -> None:
        """Offer what was sent before and holds the words that are typed."""
        self._searching = True
        self._choice = CompletionChoice()
        self._find_offers()

    def offer(self, query: CompletionQuery, offers: Sequence[CompletionOffer], note: str = "") -> None:
        """Take offers for a mention; they are forgotten when something else is typed by now."""
        if query == self._find_query():
            is_awaited = self._choice.set_offers(query, offers, note)
            self._post_offers()
            if is_awaited:
                self._accept_offer()

    def _find_query(self) -> CompletionQuery | None:
        """Return the completable text at the cursor."""
        if self._searching:
            return CompletionQuery("history", self.text, 0)
        row, column = self.cursor_location
        if self.selection.start != self.selection.end:
            return None
        if (name := self._find_typed_name()) is not None and (row, column) == self.document.end:
            return CompletionQuery("command", name, 0)
        if (match := _TARGET.fullmatch(self.text)) and (row, column) == self.document.end:
            return CompletionQuery("target", match["place"], match.start("place"), language=match["command"])
        if self.text.startswith("%"):
            return self._find_console_query(row, column)
        before = self.document.get_line(row)[:column]
        if "@" not in before or self.text.startswith(("%", "!")):
            return None
        from oi_tui.input import mentions

        mention = mentions.find_typed_mention(before)
        return None if mention is None else CompletionQuery("mention", mention, before.rindex("@"), row)

    def _find_console_query(self, row: int, column: int) -> CompletionQuery | None:
        """Return the code at the caret, of `%python CODE`."""
        before = self.get_text_range((0, 0), (row, column))
        match = _CONSOLE.match(before)
        if not match or match["language"].lower() in commands.COMMANDS or not COMPLETABLE.search(before):
            return None
        return CompletionQuery("console", before[match.end() :], column, row, match["language"])

    def _find_offers(self) -> None:
        """Find offers for what is typed now, or close the list."""
        query = self._find_query()
        if query is None or self._choice.was_closed(query):
            self._choice.forget()
            self._post_offers()
        elif query != self._choice.query:
            self._choice.begin(query)
            match query.kind:
                case "command":
                    self._choice.set_offers(query, _complete_commands(query.text))
                    self._post_offers()
                case "history":
                    entries = self._recall.find_containing(query.text, 100)
                    offers = [CompletionOffer(entry, clean_line(entry)) for entry in entries]
                    note = "enter accepts, esc closes" if entries else "no match in your messages"
                    self._choice.set_offers(query, offers, note)
                    self._post_offers()
                case "mention" | "console" | "code" | "target":
                    self.post_message(self.Asked(query))

    def _complete(self) -> bool:
        """Take the chosen offer; False when there is nothing that could be completed."""
        self._find_offers()
        query = self._find_query()
        if query is None or self._choice.was_closed(query):
            return False
        if self._choice.is_for(query):
            self._accept_offer()
            return True
        return self._choice.wait(query)

    def _accept_offer(self) -> None:
        """Replace what was typed with the chosen offer."""
        query, offer = self._find_query(), self._choice.chosen
        if query is None or offer is None or not self._choice.is_for(query):
            self._close_offers()
            return
        if query.kind in ("mention", "target"):
            end = self.cursor_location
            text = offer.text
            if text.endswith(" ") and self.document.get_line(end[0])[end[1] : end[1] + 1].isspace():
                text = text[:-1]
            self.replace(text, (query.row, query.start), end, maintain_selection_offset=False)
        elif query.kind == "console":
            row, column = self.cursor_location
            start = row, max(column - offer.typed, 0)
            self.replace(offer.text, start, (row, column), maintain_selection_offset=False)
        else:
            self._searching = False
            self.replace(offer.text, (0, 0), self.document.end, maintain_selection_offset=False)
        self._close_offers()
        if offer.text.endswith({"mention": "/", "target": ":"}.get(query.kind, "\n")):
            # A folder leads on to what is in it, and a kind of target to those of this kind.
            self._choice = CompletionChoice()
            self._find_offers()

    def _move_choice(self, by: int) -> None:
        """Choose another offer."""
        self._choice.move(by)
        self._post_offers()

    def _close_offers(self) -> None:
        query = self._find_query()
        self._searching = False
        self._choice.close(query)
        self._post_offers()

    def _post_offers(self) -> None:
        choice = self._choice
        note = choice.note if self._searching or choice.offers else ""
        if choice.offers or note or self._shows_offers:
            self._shows_offers = bool(choice.offers or note)
            self.post_message(self.Offered(choice.offers, choice.number, note))

    def on_blur(self) -> None:
        """Hide the completions, which belong to the caret."""
        self._close_offers()

    def on_text_area_selection_changed(self) -> None:
        """Hide the completions if the caret left what they complete."""
        self._find_offers()

    def _find_typed_name(self) -> str | None:
        """Return the beginning of a command's name, while nothing else is typed."""
        text = self.text
        if text[:1] not in ("%", "/"):
            return None
        return text if len(text) == 1 or text[1:].replace("_", "").isalnum() else None


def _complete_commands(typed: str) -> list[CompletionOffer]:
    """Return the commands that begin with, or else contain, what is typed; none for a complete name."""
    matches = commands.find_commands(typed)
    if not matches:
        matches = [command for command in commands.COMMANDS.values() if typed[1:].lower() in command.name]
    if len(matches) == 1 and matches[0].name == typed[1:]:
        return []
    return [
        CompletionOffer(
            f"{typed[0]}{item.name}" + (" " if item.usage else ""),
            item.title.replace("%", typed[0], 1),
            item.summary,
        )
        for item in matches
    ]
