"""The base of every screen."""

from typing import ClassVar

from textual import events, messages
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.geometry import Offset, Size
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
        """Ignore a size that is not the terminal's any more, and one for which all is laid out.

        Textual (8.2.8) tells a screen of each size for which it was laid out. Two sizes that came in quick
        succession, as those of a window whose edge is dragged, would go on to follow each other without end.
        And a screen that opens would be laid out and drawn twice.
        """
        below = (screen._compositor.size == event.size for screen in self.app._background_screens)
        if event.size != self.app.size or (self._is_laid_out(event.size) and all(below)):
            event.prevent_default()

    def on_compose(self) -> None:
        """Set the classes for the size. Textual does so after the first frame, and then draws another one."""
        self.add_class(*self._find_size_classes(self.app.size))

    def _find_size_classes(self, size: Size) -> set[str]:
        width_classes = self._get_breakpoint_classes(size.width, self.HORIZONTAL_BREAKPOINTS or [])
        return width_classes | self._get_breakpoint_classes(size.height, self.VERTICAL_BREAKPOINTS or [])

    def _is_laid_out(self, size: Size) -> bool:
        """Return whether this is the size of the last layout, and the classes for it are set."""
        return self._compositor.size == size and self.has_class(*self._find_size_classes(size))

    def _compositor_refresh(self) -> None:
        """Draw what changed; below a dialog this alone, and nothing below a screen that covers this one.

        Nothing is drawn where the whole screen is about to be. Textual (8.2.8) draws after a layout, and then
        once more where that was asked for as well, as it is for a screen that opens.

        Textual (8.2.8) draws all that ever changed below a dialog for each change there: soon the whole
        terminal, each second that a cell runs. And what the dialog was about to draw itself is forgotten.
        """
        top, regions = self.app.screen, self._compositor._dirty_regions
        if self is top or self.app.is_inline:
            if not self._repaint_required:
                super()._compositor_refresh()
            return
        shows_through = self in self.app._background_screens and top.styles.background.a < 1
        if regions and shows_through:
            top._set_dirty(*regions)
            top.post_message(messages.Update(top))
        regions.clear()
        self._dirty_widgets.clear()

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
