"""The base of every screen."""

from typing import ClassVar

from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.geometry import Offset
from textual.reactive import Reactive
from textual.screen import Screen, ScreenResultType
from textual.widget import Widget


def is_closed(node: object) -> bool:
    """Return whether this is a closed screen or a widget of one.

    Some of its widgets may be removed already.
    """
    if not isinstance(node, Widget):
        return False
    screens = (item for item in node.ancestors_with_self if isinstance(item, Screen))
    return next(screens, None) not in node.app.screen_stack


def is_incomplete(node: object) -> bool:
    """Return whether this is a screen, or a widget of one, that is just opening or was closed."""
    return isinstance(node, Widget) and (is_closed(node) or not node.screen.is_mounted)


class BaseScreen(Screen[ScreenResultType]):
    """A screen that can be suspended; a click on a widget which is just being removed does not end it."""

    # Textual (8.2.8) draws the whole screen when another widget gets the focus. Widgets draw themselves.
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)

    # Here and not in the application, whose keys do not act in dialogs.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+z", "app.suspend_process", "Suspend", id="app.suspend", show=False)
    ]

    async def _on_resize(self, event: events.Resize) -> None:
        """Ignore a size that is not the terminal's any more.

        Textual (8.2.8) tells a screen of each size for which it was laid out. Two sizes that came in quick
        succession, as those of a window whose edge is dragged, would go on to follow each other without end.
        """
        if event.size != self.app.size:
            event.prevent_default()

    def action_copy_text(self) -> None:
        """Copy the selected text, and say by which way; what selects nothing leaves the clipboard alone."""
        # With the first frame comes no copy.
        from oi_tui.terminal.clipboard import copy

        if not (selected := self.get_selected_text()):
            raise SkipAction
        self.notify(f"The selection: {copy(selected, self.app)}", timeout=2, markup=False)

    def get_widget_and_offset_at(self, x: int, y: int) -> tuple[Widget | None, Offset | None]:
        """Return the widget at a place, and the offset in its text; none for a removed widget.

        It is still found until the next layout. Textual (8.2.8) would ask for the region of its parent, which
        it no longer has.
        """
        widget, offset = super().get_widget_and_offset_at(x, y)
        if widget is not None and widget is not self and widget.parent is None:
            return None, None
        return widget, offset
