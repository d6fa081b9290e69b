"""The search field of the conversation."""

import time
from asyncio import TimerHandle
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from oi_tui.widgets.conversation.conversation import Conversation
from oi_tui.widgets.conversation.search import MOST, Match, find_matches
from oi_tui.widgets.field import Field
from oi_tui.widgets.timer import schedule

#: Seconds after the last key before the search begins, and how long its matches are taken to be all.
_CALM = 0.1
_FRESH = 1.0


class FindBar(Widget):
    """One line that searches while it is typed into, and says which match is shown: "3 of 17"."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "step(1)", "Next match", show=False, id="find.next"),
        Binding("up,shift+enter", "step(-1)", "Previous match", show=False, id="find.previous"),
        Binding("escape", "close", "Back to where you were", id="find.close"),
    ]

    @dataclass
    class Closed(Message):
        """It had the keyboard and is hidden now: the keys go back to `origin`, which had them before."""

        origin: Widget | None

    def __init__(self, conversation: Conversation, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._conversation = conversation
        self._matches: list[Match] = []
        self._current: Match | None = None
        self._sought = ""
        self._searched = 0.0
        self._timer: TimerHandle | None = None
        #: What had the keyboard before, and the block that had the cursor there.
        self._origin: Widget | None = None
        self._block: int | None = None

    def compose(self) -> ComposeResult:
        """Mount the label, the field and the count."""
        yield Static("find", id="find-name", markup=False)
        yield Field(id="find-text", placeholder="find text, code or output", select_on_focus=True)
        yield Static(id="find-count", markup=False)

    def open(self, text: str = "") -> None:
        """Take the keys; with a text, look for it at once."""
        if not self.has_focus_within:
            self._origin = self.screen.focused
            self._block = self._conversation.transcript.cursor
        self.show(text)
        self.query_one(Input).focus()

    def show(self, text: str = "") -> None:
        """Look for a text and show the first match; the keyboard stays where it is."""
        self.display = True
        if text:
            self.query_one(Input).value = text
        self._search_now()

    def dismiss(self) -> None:
        """Hide the bar, and give the keys back if it has them; the text stays in the field."""
        self._stop_timer()
        match, self._matches, self._current, self._sought = self._current, [], None, ""
        if not self.display:
            return
        self._conversation.mark(None, "")
        if self.has_focus_within:
            transcript = self._conversation.transcript
            if self._origin is transcript:
                # What was found is in view, and the keys of a block act on it.
                block = transcript.layout_of_blocks.find_block(match.key) if match else None
                transcript.restore_cursor(self._block if block is None else block)
            self.post_message(self.Closed(self._origin))
        self.display = False

    def action_close(self) -> None:
        """Hide it."""
        self.dismiss()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search when typing pauses."""
        event.stop()
        self._stop_timer()
        if self.display:
            self._timer = schedule(self, _CALM, self._search_now)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the next match."""
        event.stop()
        self.action_step(1)

    def action_step(self, step: int) -> None:
        """Go to the next match, or the one above; around the ends of the conversation."""
        if self.query_one(Input).value != self._sought:
            self._search_now()
            return
        if time.monotonic() - self._searched > _FRESH:
            self._search()
        if self._matches:
            at = self._matches.index(self._current) if self._current in self._matches else -1
            self._show(self._matches[(at + step) % len(self._matches)])
        else:
            self._show_count()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _search_now(self) -> None:
        self._stop_timer()
        if self.query_one(Input).value == self._sought != "":
            return
        self._sought = self.query_one(Input).value
        self._search()
        if not self._matches:
            self._current = None
            self._conversation.mark(None, "")
            self._show_count()
            return
        find_block = self._conversation.transcript.layout_of_blocks.find_block
        first = self._conversation.first_in_view
        below = (match for match in self._matches if (find_block(match.key) or 0) >= first)
        self._show(next(below, self._matches[0]))

    def _search(self) -> None:
        self._matches = find_matches(self._conversation.transcript.blocks, self._sought)
        self._searched = time.monotonic()

    def _show(self, match: Match) -> None:
        self._current = match
        self._conversation.mark(match, self._sought)
        self._show_count()

    def _show_count(self) -> None:
        text = ""
        if self._current is not None and self._current in self._matches:
            more = "+" if len(self._matches) == MOST else ""
            text = f"{self._matches.index(self._current) + 1:,} of {len(self._matches):,}{more}"
        elif self._sought:
            text = "not found"
        self.query_one("#find-count", Static).update(Content(f"{text} · ↓ ↑ · esc".removeprefix(" · ")))
