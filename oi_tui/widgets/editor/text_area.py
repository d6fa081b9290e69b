"""A text area that can be scrolled while lines of it are removed, and that takes the keys of vi."""

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events
from textual.message import Message
from textual.widgets import TextArea

if TYPE_CHECKING:
    from oi_tui.widgets.vi.vi import Vi


class StableTextArea(TextArea):
    """Textual's own fails when an undo or redo leaves fewer lines and makes a scrollbar come or go.

    It looks for the caret before it has moved it back to a line that there is (`TextArea._undo_batch`).
    """

    @dataclass
    class ViChanged(Message, namespace="text_area"):
        """The mode of vi, or what is typed of its command, changed."""

        text_area: "StableTextArea"

    #: The modes of vi, if its keys are wanted.
    vi: "Vi | None" = None

    def take_vi_key(self, event: events.Key) -> bool:
        """Give vi a key; whether it had a meaning there."""
        if self.vi is None or not self.vi.take(event):
            return False
        event.stop()
        event.prevent_default()
        return True

    def _note_vi(self) -> None:
        self.post_message(self.ViChanged(self))

    def _recompute_cursor_offset(self) -> None:
        with contextlib.suppress(IndexError, ValueError):
            super()._recompute_cursor_offset()  # type: ignore[no-untyped-call]
