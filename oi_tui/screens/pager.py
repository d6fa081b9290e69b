"""A full screen to read a long text in, and to search it."""

import asyncio
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static

from oi_tui import paths
from oi_tui.screens.dialog import Page
from oi_tui.text import clean_line
from oi_tui.widgets.field import Field
from oi_tui.widgets.key_hints import find_key, press
from oi_tui.widgets.pager.long_text import LongText
from oi_tui.widgets.pager.text_view import TextView

_KEYS = ("/ search", "n next", "N previous", "s about", "esc back")


class PagerScreen(Page[None]):
    """Shows a long text, from its beginning.

    `where` is a sentence about the text, such as where it is saved; "" for none. `empty` is shown if there
    is no text.
    """

    CSS_PATH = paths.styles() / "reader.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", id="reader.leave"),
        Binding("q", "leave", "Back", show=False, id="reader.quit"),
        Binding("slash,ctrl+f", "search", "Search", id="reader.search"),
        Binding("n", "again(False)", "Next match", id="reader.next"),
        Binding("N", "again(True)", "Previous match", id="reader.previous"),
        Binding("s", "where", "About this text", id="reader.where"),
    ]

    def __init__(
        self, title: str, text: LongText, where: str, *, empty: str = "Nothing was printed."
    ) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._where = where
        self._empty = empty
        self._sought = ""
        self._remark = ""
        self._line = ""
        self._view = TextView(text, id="reader-text")
        self._field = Field(placeholder="search; enter finds it", id="reader-search", select_on_focus=True)
        self._field.display = False

    def compose(self) -> ComposeResult:
        """Mount the title, the text, the search field, and the key hints."""
        yield Static(Content(clean_line(self._title, 200)), id="reader-title", markup=False)
        yield self._view
        yield Static(Content(self._empty), id="reader-empty", markup=False)
        yield self._field
        yield Static(id="reader-status", markup=False)

    def on_mount(self) -> None:
        """Focus the text."""
        self._view.focus()

    def on_unmount(self) -> None:
        """Close the file of the text."""
        self._text.close()

    @on(TextView.Moved)
    def handle_moved(self) -> None:
        """Show which lines are in view, and the keys that act."""
        count, top = self._text.line_count, self._view.top
        last = min(top + self._view.size.height, count)
        total = f"{count:,}" if self._text.complete else f"at least {count:,}"
        lines = f"lines {min(top + 1, count):,}-{last:,} of {total}" if count else ""
        keys = [key for key in _KEYS if self._where or not key.startswith("s ")]
        parts = [part for part in (self._remark, lines, *(keys if count else keys[-1:])) if part]
        self.set_class(not count, "-empty")
        # What does not fit goes, from the least needed key on; the way back stays.
        while len(" · ".join(parts)) > self.size.width - 2 and len(parts) > 2:
            del parts[-2]
        self._line = " · ".join(parts)
        # There is none any more where a search or a scroll ends as the screen closes.
        for status in self.query("#reader-status").results(Static):
            status.update(Content(self._line))

    @on(events.Click, "#reader-status")
    def handle_hint(self, event: events.Click) -> None:
        """Press the key of the hint that was clicked."""
        offset = event.get_content_offset(self.query_one("#reader-status"))
        if offset is not None and (key := find_key(self._line, offset.x, _KEYS)):
            press(self.app, key)

    def _say(self, remark: str) -> None:
        self._remark = remark
        self.handle_moved()

    # Search

    def action_search(self) -> None:
        """Open the search field."""
        self._field.display = True
        self._field.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the first match at or below the top of the view."""
        self._end_search()
        self._sought = event.value
        if self._sought:
            self._seek(max(self._view.top - 1, -1), back=False)

    def _end_search(self) -> None:
        self._field.display = False
        self._view.focus()

    def action_again(self, back: bool) -> None:
        """Go to the next match, with `back` to the previous one."""
        if not self._sought:
            self.action_search()
            return
        self._seek(self._view.found[0] if self._view.found else self._view.top, back=back)

    @work(exclusive=True)
    async def _seek(self, line: int, *, back: bool) -> None:
        sought, label = self._sought, clean_line(self._sought, 40)
        for place in self._text.find(sought, line, back=back):
            if place is None:
                self._say(f"searching “{label}”")
                await asyncio.sleep(0)
            elif place < 0:
                self._view.found = None
                self._view.refresh()
                self._say(f"“{label}” not found")
            else:
                self._view.show(place, sought)
                self._say(f"“{label}” in line {place + 1:,}")

    # The rest

    def action_where(self) -> None:
        """Show where the text is saved."""
        if self._where:
            self.notify(self._where, markup=False)

    def action_leave(self) -> None:
        """Close the search field if it is open, else the screen."""
        if self._field.display:
            self._end_search()
        else:
            self.dismiss()
