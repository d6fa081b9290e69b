"""The list of completions above the prompt."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from textual.content import Content
from textual.widget import Widget

from oi_tui.text import clean_line
from oi_tui.widgets.truncate import cut_beginning, cut_end

#: Rows that the list takes at most.
MOST_ROWS = 8


@dataclass(frozen=True, slots=True)
class CompletionOffer:
    """A completion: the text that takes the place of what was typed, how it is listed, its description.

    Of code, `typed` is how many characters before the caret it takes the place of.
    """

    text: str
    label: str
    facts: str = ""
    typed: int = 0


class Completions(Widget):
    """Lists offers; `>` marks the one that tab takes. It lies over the conversation, and moves nothing."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._offers: Sequence[CompletionOffer] = ()
        self._chosen = 0
        self._note = ""

    def show(self, offers: Sequence[CompletionOffer], chosen: int, note: str = "") -> None:
        """Show offers with the chosen one marked, and a remark in its own line; nothing hides the list."""
        self._offers, self._chosen, self._note = offers, chosen, note
        rows = min(len(offers), MOST_ROWS) + bool(note)
        self.display = rows > 0
        if rows:
            self.styles.height = rows
            self.styles.offset = (0, 0 if self.has_class("-beside") else -rows)
        self.refresh()

    def render(self) -> Content:
        """Render the rows around the chosen offer."""
        width = self.content_size.width
        first = max(0, min(self._chosen - MOST_ROWS // 2, len(self._offers) - MOST_ROWS))
        rows = self._offers[first : first + MOST_ROWS]
        column = max((cell_len(clean_line(row.label, 200)) for row in rows), default=0)
        column = min(column, max(12, width * 2 // 3))
        lines = []
        for number, offer in enumerate(rows, first):
            is_chosen = number == self._chosen
            label = _fit(clean_line(offer.label, 200), column)
            facts = cut_end(clean_line(offer.facts, 200), max(0, width - column - 4))
            lines.append(
                Content.assemble(
                    ("> " if is_chosen else "  ", "$accent bold"),
                    (label, "bold" if is_chosen else ""),
                    "  ",
                    (facts, "$text-muted"),
                )
            )
        if self._note:
            lines.append(Content.styled(_fit(f"  {clean_line(self._note)}", width), "$text-muted italic"))
        return Content("\n").join(lines)


def _fit(text: str, width: int) -> str:
    """Fit the text into exactly `width` cells; show the end of a long one."""
    return set_cell_size(cut_beginning(text, width), max(0, width))
