"""A full screen that shows the images of a conversation."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from oi_tui import paths
from oi_tui.screens.dialog import Page
from oi_tui.system.opener import find_opener, view
from oi_tui.terminal.clipboard import copy
from oi_tui.text import clean_line
from oi_tui.widgets.conversation.rows import RowImage
from oi_tui.widgets.conversation.styles import Styles, get_styles
from oi_tui.widgets.footer import KeyFooter
from oi_tui.widgets.images.image import ImageRow
from oi_tui.widgets.images.protocol import find_image_support
from oi_tui.widgets.images.sixel_overlay import SixelOverlay
from oi_tui.widgets.truncate import cut_beginning

#: Files of other names might be programs to what opens them.
_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".ppm")


class Frame(Widget, can_focus=True):
    """One image, as large as there is room."""

    def __init__(self) -> None:
        super().__init__(id="image")
        self._image: ImageRow | None = None
        self._look: Styles | None = None
        self._stills = SixelOverlay(self, self._list_visible)

    def show(self, image: ImageRow) -> None:
        """Show this one."""
        if self._image is not None:
            self._image.forget()
        self._image = ImageRow(image.message, image.file, self._repaint)
        self.refresh()

    def _repaint(self) -> None:
        self.refresh()

    def on_mount(self) -> None:
        """Draw again in another theme."""
        self.app.theme_changed_signal.subscribe(self, self._change_look)

    def on_unmount(self) -> None:
        """Drop the image."""
        if self._image is not None:
            self._image.forget()

    def on_resize(self) -> None:
        """Draw the image as large as it fits."""
        self._look = None

    def _change_look(self, _: object) -> None:
        self._look = None
        self.refresh()

    @property
    def look(self) -> Styles:
        """The styles to draw with, with images as high as the screen."""
        if self._look is None:
            image_support = find_image_support(self.app).limit_to(self.size.height, whole=True)
            self._look = get_styles(
                self.app.current_theme, colourful=not self.app.no_color, image_support=image_support
            )
        return self._look

    def _list_visible(self) -> list[tuple[RowImage, int, int]]:
        if self._image is None:
            return []
        top, left = self._place(self._image)
        return [(self._image, top, left)]

    def _place(self, image: ImageRow) -> tuple[int, int]:
        image.rows(self.size.width, self.look, widest=self.size.width)
        columns, lines = image.shape
        return max((self.size.height - lines) // 2, 0), max((self.size.width - columns) // 2, 0)

    def render_line(self, y: int) -> Strip:
        """Render one line of the image, or of what is around it."""
        width, base = self.size.width, self.look.base
        if self._image is None:
            return Strip.blank(width, base)
        top, left = self._place(self._image)
        rows = self._image.rows(width, self.look, widest=width)[:-1]
        if not rows and y == self.size.height // 2:
            caption = self._image.rows(width, self.look, widest=width)[-1]
            return Strip([Segment(" ", base), *caption.segments]).adjust_cell_length(width, base)
        if not top <= y < top + len(rows):
            return Strip.blank(width, base)
        self._image.note_seen()
        return Strip([Segment(" " * left, base), *rows[y - top].segments]).adjust_cell_length(width, base)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Render the lines, and draw the image again where it is painted over."""
        self._stills.note_painted(crop)
        return super().render_lines(crop)


class ImagesScreen(Page[None]):
    """Shows images, one at a time, beginning with number `first`."""

    CSS_PATH = paths.styles() / "reader.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,p", "dismiss", "Back", id="pictures.leave"),
        Binding("right,n,space,down", "turn(1)", "Next image", id="pictures.next"),
        Binding("left,N,up", "turn(-1)", "Previous image", id="pictures.previous"),
        Binding("o,enter", "open", "Open in the system's viewer", id="pictures.open"),
        Binding("c", "copy", "Copy its path", id="pictures.copy"),
    ]

    def __init__(self, images: Sequence[ImageRow], first: int = 0) -> None:
        super().__init__()
        self._images = images
        self._number = first
        self._frame = Frame()

    def compose(self) -> ComposeResult:
        """Mount the title, the image, and the keys."""
        yield Static(id="reader-title", markup=False)
        yield self._frame
        yield KeyFooter(id="reader-status")

    def on_mount(self) -> None:
        """Begin with the one that was asked for."""
        self._frame.focus()
        self._show()

    def on_resize(self) -> None:
        """Show as much of the path, and as many keys, as fit."""
        self._show_title_and_keys()

    def on_click(self, event: events.Click) -> None:
        """Show the next image."""
        event.stop()
        self.action_turn(1)

    def _show(self) -> None:
        self._show_title_and_keys()
        self._frame.show(self._images[self._number])

    def _show_title_and_keys(self) -> None:
        image, count = self._images[self._number], len(self._images)
        which = f"Image {self._number + 1} of {count}" if count > 1 else "Image"
        where = image.file or "not saved as a file"
        room = max(self.app.size.width - len(which) - 5, 8)
        title = Content(f"{which} · {cut_beginning(clean_line(where, 400), room)}")
        self.query_one("#reader-title", Static).update(title)
        keys = (("left / right", "others"),) if count > 1 else ()
        own = (("o", "open outside"), ("c", "copy path")) if image.file else ()
        self.query_one(KeyFooter).show((*keys, *own, ("esc", "back")), "")

    def action_turn(self, step: int) -> None:
        """Show the next image, or the one before."""
        number = min(max(self._number + step, 0), len(self._images) - 1)
        if number != self._number:
            self._number = number
            self._show()

    def action_copy(self) -> None:
        """Copy the path of the file."""
        if file := self._images[self._number].file:
            self.notify(f"Path: {copy(file, self.app)}", markup=False)

    def action_open(self) -> None:
        """Open the file in the system's own viewer, where there is one."""
        file, words = self._images[self._number].file, find_opener()
        if not file:
            self.notify("It is not saved as a file.", markup=False)
        elif Path(file).suffix.lower() not in _SUFFIXES:
            self.notify("It was not opened: its name does not look like that of an image.", markup=False)
        elif words is None:
            self.notify(f"There is no display here. The image is in {clean_line(file)}.", markup=False)
        elif problem := view(words, str(Path(file).absolute())):
            self.notify(f"{words[0]}: {problem}", severity="warning", markup=False)
