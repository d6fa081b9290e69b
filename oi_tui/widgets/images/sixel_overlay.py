"""Sixel images over text, drawn where and while they do not move."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.geometry import Region
from textual.widget import Widget

from oi_tui.widgets.conversation.rows import RowImage
from oi_tui.widgets.images.protocol import ImageSupportMixin
from oi_tui.widgets.timer import schedule

if TYPE_CHECKING:
    from asyncio import TimerHandle

#: So long nothing may have been painted where an image stands before it is drawn, in seconds.
_REST = 0.2


class SixelOverlay:
    """Draws a widget's images over the half blocks that stand in for them.

    Text that is written over a sixel image takes its place, so whatever moves, covers or leaves it cleans
    up by itself: what is seen then is half blocks again, or whatever else the widget shows. `visible` tells
    for each image the line and column of the widget where it begins.
    """

    def __init__(self, widget: Widget, visible: Callable[[], list[tuple[RowImage, int, int]]]) -> None:
        self._widget = widget
        self._visible = visible
        self._drawn: dict[RowImage, tuple[Region, str]] = {}
        self._timer: TimerHandle | None = None

    def note_painted(self, crop: Region) -> None:
        """Note that a part of the widget was painted over; must be called whenever that happens."""
        app = self._widget.app
        if not isinstance(app, ImageSupportMixin) or app.image_support.protocol != "sixel":
            return
        torn = [image for image, region in self._find_places() if region.overlaps(crop)]
        if not torn:
            return
        for image in torn:
            self._drawn.pop(image, None)
        if self._timer is not None:
            self._timer.cancel()
        self._timer = schedule(self._widget, _REST, self._draw)

    def _find_places(self) -> list[tuple[RowImage, Region]]:
        return [(image, Region(left, top, *image.shape)) for image, top, left in self._visible()]

    def _draw(self) -> None:
        self._timer = None
        widget, app = self._widget, self._widget.app
        if (
            not isinstance(app, ImageSupportMixin)
            or not widget.is_attached
            or app.screen is not widget.screen
        ):
            return
        room = Region(0, 0, *widget.size)
        offset = widget.content_region.offset
        before, self._drawn = self._drawn, {}
        for image, region in self._find_places():
            on_screen = region.translate(offset)
            state = (on_screen, image.sixel)
            if not image.sixel or not room.contains_region(region) or self._is_covered(on_screen):
                continue
            if before.get(image) != state:
                app.write_as_it_is(f"\x1b7\x1b[{on_screen.y + 1};{on_screen.x + 1}H{image.sixel}\x1b8")
            self._drawn[image] = state

    def _is_covered(self, region: Region) -> bool:
        """Return whether something else stands there, or may."""
        own = set(self._widget.ancestors_with_self)
        return any(
            item.region.overlaps(region)
            for item in self._widget.screen.walk_children(Widget)
            if item not in own and item.is_on_screen and item.visible
        )
