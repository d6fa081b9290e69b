"""A text area that can be scrolled while lines of it are removed, and that takes the keys of vi."""

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
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

    #: A blinking caret would draw twice a second, which matters on a slow connection.
    cursor_blink = reactive(False, init=False)
    #: The modes of vi, if its keys are wanted.
    vi: "Vi | None" = None
    #: The theme and the style of the text for which the styles of caret, gutter and so on were made last.
    _styled_for: tuple[object, object] = (None, None)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw lines, with the styles as they are. Textual's own computes them again with every key."""
        styles = (self._theme, self.rich_style)
        if self._styled_for[0] is not styles[0] or self._styled_for[1] != styles[1]:
            self._theme.apply_css(self)
            self._styled_for = styles
        return super(TextArea, self).render_lines(crop)

    def notify_style_update(self) -> None:
        """Compute the styles again: a rule, the focus or the theme changed."""
        self._styled_for = (None, None)
        super().notify_style_update()

    async def on_event(self, event: events.Event) -> None:
        """Handle it, then let others have a turn. Textual goes from one waiting key to the next at once."""
        await super().on_event(event)
        if isinstance(event, events.Key):
            await asyncio.sleep(0)

    def handle_vi_key(self, event: events.Key) -> bool:
        """Give vi a key; return whether vi used it."""
        if self.vi is None or not self.vi.handle_key(event):
            return False
        event.stop()
        event.prevent_default()
        return True

    def _note_vi(self) -> None:
        self.post_message(self.ViChanged(self))

    def _recompute_cursor_offset(self) -> None:
        with contextlib.suppress(IndexError, ValueError):
            super()._recompute_cursor_offset()  # type: ignore[no-untyped-call]
