"""A list of conversations, grouped by time, that draws only visible rows."""

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from oi_tui import paths
from oi_tui.engine.storage.listing import UNTITLED, Listing, Rows, Summary
from oi_tui.text import clean_line
from oi_tui.widgets.truncate import fit

#: Each conversation takes two lines.
_HEIGHT = 2


#: The last moment that has a date: a damaged disk, or a clock that was wrong, dates files beyond it.
_LAST = 253_000_000_000.0


def _make_datetime(seconds: float) -> datetime:
    return datetime.fromtimestamp(min(max(seconds, 0), _LAST))


def describe_age(then: float, now: float) -> str:
    """Describe an age: "now", "5 min", "3 h", "Tue", "12 Mar", "12 Mar 2024"."""
    moment, today = _make_datetime(then), _make_datetime(now)
    seconds = now - then
    if seconds < 60:
        return "now"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    if moment.date() == today.date():
        return f"{seconds / 3600:.0f} h"
    if today.date() - moment.date() < timedelta(days=7):
        return f"{moment:%a %H:%M}"
    return f"{moment.day} {moment:%b}" + ("" if moment.year == today.year else f" {moment.year}")


def find_group(summary: Summary, now: float) -> str:
    """Return the heading under which the conversation stands."""
    if summary.pinned:
        return "Pinned"
    days = (_make_datetime(now).date() - _make_datetime(summary.updated).date()).days
    if days <= 0:
        return "Today"
    if days == 1:
        return "Yesterday"
    return "This week" if days < 7 else "Older"


def group_rows(rows: Rows, now: float) -> Iterator[tuple[str, int]]:
    """Yield the headings over the conversations, and how many stand under each: of a search,
    where its words are.

    Where a group ends is looked for, and not asked of each one: there may be ten thousand, at every key.
    """
    if rows.groups:
        yield from rows.groups
        return
    start = 0
    while start < len(rows):
        name = find_group(rows[start], now)
        end = bisect_left(rows, True, lo=start, key=lambda row: find_group(row, now) != name)
        yield name, end - start
        start = end


class ConversationList(ScrollView, can_focus=True):
    """Conversations under headings; `>` marks the selected one. Costs the same for ten or ten thousand."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "conversation-list--title",
        "conversation-list--facts",
        "conversation-list--heading",
        "conversation-list--selected",
        "conversation-list--match",
        "conversation-list--warning",
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Up", show=False, id="conversations.up"),
        Binding("down", "move(1)", "Down", show=False, id="conversations.down"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="conversations.page-up"),
        Binding("pagedown", "page(1)", "Page down", show=False, id="conversations.page-down"),
        Binding("home", "move(-1_000_000_000)", "First", show=False, id="conversations.first"),
        Binding("end", "move(1_000_000_000)", "Last", show=False, id="conversations.last"),
        Binding("enter", "open", "Open", show=False, id="conversations.open"),
    ]

    class Selected(Message):
        """Another conversation is selected; None when the list is empty."""

        def __init__(self, summary: Summary | None) -> None:
            super().__init__()
            self.summary = summary

    class Opened(Message):
        """A conversation was chosen."""

        def __init__(self, summary: Summary) -> None:
            super().__init__()
            self.summary = summary

    def __init__(self, *, clock: Callable[[], float] = time.time, id: str | None = None) -> None:
        super().__init__(id=id)
        self._clock = clock
        self._items = Listing().all()
        #: Headings, each with the number of the first item below it and the line on which it stands.
        self._headings: list[tuple[str, int, int]] = []
        self._selected = 0
        #: What was searched for, and stands out.
        self.words: Sequence[str] = ()
        self._excerpts: Mapping[str, str] = {}
        #: The conversation that a second key press would delete.
        self.marked_for_deletion: str | None = None

    @property
    def items(self) -> Rows:
        """The conversations shown, from top to bottom."""
        return self._items

    @property
    def selected(self) -> Summary | None:
        """The selected conversation, or None."""
        return self._items[self._selected] if self._items else None

    def show(
        self,
        rows: Rows,
        *,
        words: Sequence[str] = (),
        excerpts: Mapping[str, str] | None = None,
        select: str | None = None,
    ) -> None:
        """Show these conversations.

        `words` are made to stand out, `excerpts` (by id) take the place of a conversation's facts, and the
        conversation `select` is selected, else the first.
        """
        self._items, self._headings = rows, []
        line = first = 0
        for name, count in group_rows(rows, self._clock()):
            line += 1 if self._headings else 0  # a blank line above all headings but the first
            self._headings.append((name, first, line))
            first += count
            line += 1 + _HEIGHT * count
        self.words, self._excerpts = words, excerpts or {}
        self._selected = 0
        if select is not None:
            self._selected = rows.place_of(select) or 0
        self.virtual_size = Size(self.size.width, line)
        self.scroll_to(y=0, animate=False)
        self._select(self._selected)
        self.refresh()

    def cancel_delete(self) -> None:
        """Take a first key press back that a second one would make a deletion."""
        if self.marked_for_deletion is not None:
            self.marked_for_deletion = None
            self.refresh()

    def find_line(self, index: int) -> int:
        """Return the line on which the item begins, counted from the top of the whole list."""
        below = [(first, line) for _, first, line in self._headings if first <= index]
        first, line = below[-1]
        return line + 1 + (index - first) * _HEIGHT

    def find_item(self, line: int) -> int | None:
        """Return the number of the item that covers the line; None for headings and blank lines."""
        for _, first, start in reversed(self._headings):
            if line > start:
                index = first + (line - start - 1) // _HEIGHT
                return index if index < len(self._items) and self.find_line(index) <= line else None
        return None

    def action_move(self, by: int) -> None:
        """Move the selection down."""
        self._select(self._selected + by)

    def action_page(self, by: int) -> None:
        """Select the item a screenful further down."""
        self._select(self._selected + by * max(1, self.size.height // _HEIGHT - 1))

    def action_open(self) -> None:
        """Choose the selected conversation."""
        if self.selected is not None:
            self.post_message(self.Opened(self.selected))

    def on_click(self, event: events.Click) -> None:
        """Select with the first click, open with a double one."""
        index = self.find_item(int(event.y + self.scroll_offset.y))
        if index is not None:
            self._select(index)
            if event.chain > 1:
                self.action_open()

    def on_resize(self) -> None:
        """Keep what is selected in sight."""
        self.virtual_size = Size(self.size.width, self.virtual_size.height)
        self._reveal()

    def _select(self, index: int) -> None:
        before = self._selected
        self._selected = max(0, min(index, len(self._items) - 1))
        # A search may end between the two key presses, and leave the same one selected.
        if self.selected is None or self.selected.id != self.marked_for_deletion:
            self.marked_for_deletion = None
        self._reveal()
        for item in {before, self._selected} if self._items else ():
            self.refresh_lines(self.find_line(item), _HEIGHT)
        self.post_message(self.Selected(self.selected))

    def _reveal(self) -> None:
        if self._items and self.size.height:
            top = self.find_line(self._selected)
            # The first of a group is shown with its heading.
            above = 1 if any(first == self._selected for _, first, _ in self._headings) else 0
            self.scroll_to_region(
                Region(0, top - above, self.size.width, _HEIGHT + above), animate=False, force=True
            )

    # ---- Drawing

    def render_line(self, y: int) -> Strip:
        """Render one line of the screen."""
        line = y + self.scroll_offset.y
        width = self.size.width
        for name, _, start in self._headings:
            if start == line:
                return Strip([Segment(set_cell_size(f"  {name}", width), self._style("heading"))], width)
        index = self.find_item(line)
        if index is None:
            return Strip.blank(width, self.rich_style)
        draw = self._draw_title if line == self.find_line(index) else self._draw_facts
        return Strip(draw(self._items[index], index == self._selected, width), width)

    def _style(self, name: str, selected: bool = False) -> Style:
        ink = self.get_component_rich_style(f"conversation-list--{name}")
        paper = self.get_component_rich_style("conversation-list--selected") if selected else self.rich_style
        return paper + Style(color=ink.color, bold=ink.bold)

    def _draw_title(self, item: Summary, selected: bool, width: int) -> list[Segment]:
        mark = "> " if selected else "  "
        when = f" {describe_age(item.updated, self._clock())} "
        room = max(1, width - cell_len(mark) - cell_len(when))
        title = clean_line(item.title, 300) or UNTITLED
        style = self._style("warning" if item.problem else "title", selected)
        return [
            Segment(mark, style),
            *self._mark_matches(fit(title, room), style, selected),
            Segment(when, self._style("facts", selected)),
        ]

    def _draw_facts(self, item: Summary, selected: bool, width: int) -> list[Segment]:
        style = self._style("facts", selected)
        if item.id == self.marked_for_deletion:
            text = "  delete? d again deletes, any other key cancels"
            return [Segment(fit(text, width), self._style("warning", selected))]
        if item.problem:
            return [Segment(fit(f"  cannot be read: {clean_line(item.problem)}", width), style)]
        excerpt = self._excerpts.get(item.id)
        if excerpt and not all(word in item.title.lower() for word in self.words):
            return self._mark_matches(fit(f"  {excerpt}", width), style, selected)
        count = "1 message" if item.messages == 1 else f"{item.messages:,} messages"
        folder = clean_line(paths.shorten(item.cwd), 200)
        facts = " · ".join(part for part in (count, clean_line(item.model, 60)) if part)
        room = width - cell_len(facts) - 6
        if folder and room > 8:
            folder = folder if cell_len(folder) <= room else "…" + folder[-(room - 1) :]
            facts = f"{folder} · {facts}"
        return self._mark_matches(fit(f"  {facts}", width), style, selected)

    def _mark_matches(self, text: str, style: Style, selected: bool) -> list[Segment]:
        """Highlight what was searched for."""
        lowered = text.lower()
        if not self.words or len(lowered) != len(text):
            return [Segment(text, style)]
        spots = bytearray(len(text))
        for word in self.words:
            at = lowered.find(word)
            while at >= 0:
                spots[at : at + len(word)] = b"\1" * len(word)
                at = lowered.find(word, at + 1)
        match = self._style("match", selected)
        segments, start = [], 0
        for end in range(1, len(text) + 1):
            if end == len(text) or spots[end] != spots[start]:
                segments.append(Segment(text[start:end], match if spots[start] else style))
                start = end
        return segments
