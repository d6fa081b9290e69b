"""Base classes of screens that close once, with everything opened from them.

Textual takes away whatever is on top when a screen is dismissed. Keys that arrive together, as they do from a
slow connection, all go to the screen that had the focus then: two of them that leave it would take the screen
below away as well, and the conversation with it.
"""

import math
import re

from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.command import CommandList, CommandPalette
from textual.containers import Vertical
from textual.reactive import reactive
from textual.screen import ModalScreen, ScreenResultType
from textual.widgets import Input

from oi_tui.screens.base import BaseScreen
from oi_tui.widgets.key_hints import press
from oi_tui.widgets.lists.choice_list import CommandChoiceList


class Page(BaseScreen[ScreenResultType]):
    """A full screen, closed with a result."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close it, and what lies over it; nothing happens when it was closed already."""
        if self not in self.app.screen_stack:
            return AwaitComplete()
        while self.app.screen is not self:
            self.app.screen.dismiss()
        return super().dismiss(result)


def link_hints(hints: str) -> str:
    """Key hints such as `enter choose · esc cancel`, as markup: a click on one presses its key."""
    parts = [(part, re.match(r"(\S|esc|enter|tab|ctrl\+\w) ", part)) for part in hints.split(" · ")]
    return " · ".join(f"[@click=screen.press('{key[1]}')]{part}[/]" if key else part for part, key in parts)


#: The columns of a box's lower edge that its hints cannot have.
_EDGES = 6


class DialogBox(Vertical):
    """The box of a dialog, with key hints in its lower edge: as many as fit, and always the last one."""

    hints: reactive[str] = reactive("")

    def watch_hints(self) -> None:
        """Show others."""
        self._show_hints()

    def on_resize(self) -> None:
        """Show as many as fit now."""
        self._show_hints()

    def _show_hints(self) -> None:
        hints, room = self.hints.split(" · "), self.outer_size.width - _EDGES
        while len(hints) > 1 and len(" · ".join(hints)) > room > 0:
            del hints[-2]
        self.border_subtitle = link_hints(" · ".join(hints))


# A style sheet comes down by the first base alone.
class Dialog(ModalScreen[ScreenResultType], Page[ScreenResultType]):
    """A box over a screen, closed with a result."""

    #: When a button of the mouse went down last, on the monotonic clock.
    clicked_at = -math.inf

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Note when the button went down."""
        self.clicked_at = event.time

    def action_press(self, key: str) -> None:
        """Press the key of the hint that was clicked."""
        press(self.app, key)

    def action_press_below(self, key: str) -> None:
        """Close, and press a key on the screen below."""
        self.dismiss()
        self.app.call_later(press, self.app, key)


class Palette(CommandPalette, Page[None]):
    """The command palette, with its chosen command marked as in every list."""

    #: The columns of the screen for which the commands were listed.
    _width = 0

    def compose(self) -> ComposeResult:
        """Mount what Textual's palette has, with a list of our own and a caret that does not blink."""
        for widget in super().compose():
            if isinstance(widget, Input):
                widget.cursor_blink = False
            yield CommandChoiceList() if isinstance(widget, CommandList) else widget

    def on_resize(self, event: events.Resize) -> None:
        """List the commands again: how much of each is shown depends on the width."""
        if self._width not in (0, event.size.width):
            field = self.query_one(Input)
            field.post_message(Input.Changed(field, field.value))
        self._width = event.size.width
