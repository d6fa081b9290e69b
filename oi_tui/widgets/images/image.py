"""An image in the conversation: its size is known at once, its pixels are loaded when it is seen."""

import contextlib
from collections.abc import Callable

from rich.segment import Segment

from oi_tui.messages import Message
from oi_tui.text import clean_line
from oi_tui.widgets.conversation.rows import Row
from oi_tui.widgets.conversation.styles import Styles
from oi_tui.widgets.images.decode import Colour, UnreadableError, read_size
from oi_tui.widgets.images.kitty import MOST, PlacedImage
from oi_tui.widgets.images.renderer import RenderedImage, RenderRequest, draw
from oi_tui.widgets.truncate import cut_beginning, cut_end, measure_width

#: The most columns that an image takes of the conversation.
WIDEST = 96


class ImageRow:
    """The image of an image message. `changed` is called when its rows have to be requested again.

    The rows that are seen first are empty: only then is it drawn, beside the event loop, so that a
    conversation with a thousand images opens at once. Their number stays.
    """

    def __init__(self, message: Message, saved_as: str, changed: Callable[[], None]) -> None:
        self.message = message
        #: The file that it is found in, "" for none.
        self.file = saved_as or (message.content if message.format == "path" else "")
        self._changed = changed
        self._size: tuple[int, int] | None = None
        self._error: str | None = None
        self._asked: RenderRequest | None = None
        self._drawn: RenderedImage | None = None
        self._placed: PlacedImage | None = None
        #: Whether what is drawn was replaced, and stays only until the new image is drawn.
        self._outdated = False
        self._look: Styles | None = None
        self._rows: tuple[int, Styles, list[Row]] | None = None
        #: Columns and lines of what is drawn.
        self.shape = (0, 0)

    def rows(self, width: int, look: Styles, *, widest: int = WIDEST) -> list[Row]:
        """Return the image and a line about it; that line alone where it cannot be drawn."""
        if self._rows is None or self._rows[:2] != (width, look):
            self._let_go()
            self._rows = (width, look, self._make(width, look, widest))
        return self._rows[2]

    @property
    def sixel(self) -> str:
        """The sixel data to draw over the rows, where sixels are used and it is ready."""
        return self._drawn.sixel if self._drawn else ""

    def note_seen(self) -> None:
        """Draw the image, unless it is drawn already: its rows are on the screen."""
        kitty = self._look.image_support.kitty if self._look else None
        if self._placed is not None and kitty is not None and not kitty.has(self._placed):
            self._drawn = self._placed = None
        request = self._make_request()
        if request is None or (self._drawn is not None and not self._outdated) or self._asked == request:
            return
        self._asked = request
        draw(request, lambda result: self._set_drawn(request, result))

    def replace(self, message: Message) -> None:
        """Show another image in this place. One of the same size appears without a gap between them."""
        before, self._size = self._size, None
        self.message, self._error, self._asked = message, None, None
        with contextlib.suppress(UnreadableError):
            self._size = read_size(message.format, message.content)
        if self._size is not None and self._size == before:
            self._outdated = self._drawn is not None
        else:
            self.forget()
        self._changed()

    def forget(self) -> None:
        """Drop what can be drawn again."""
        self._let_go()
        self._rows = None

    def _let_go(self) -> None:
        if self._placed is not None and self._look is not None and self._look.image_support.kitty is not None:
            self._look.image_support.kitty.remove(self._placed)
        self._asked = self._drawn = self._placed = None
        self._outdated = False

    def _make_request(self) -> RenderRequest | None:
        look = self._look
        if look is None or self._error is not None or not self.shape[0]:
            return None
        support, message = look.image_support, self.message
        return RenderRequest(
            message.format,
            message.content,
            *self.shape,
            support.protocol,
            support.fine,
            get_ground(look),
        )

    def _set_drawn(self, request: RenderRequest, result: RenderedImage) -> None:
        """Set the drawn image, or the failure to draw it."""
        if request != self._asked:
            return
        self._let_go()
        if result.error:
            self._error = result.error
        else:
            self._drawn = result
            if result.png and self._look is not None and self._look.image_support.kitty is not None:
                self._placed = self._look.image_support.kitty.show(result.png, *self.shape)
        if self._rows is not None and self._look is not None:
            self._rows = (self._rows[0], self._look, self._fill(self._look, self._rows[0]))
        self._changed()

    def _make(self, width: int, look: Styles, widest: int) -> list[Row]:
        self._look, self.shape = look, (0, 0)
        if self._error is None and self._size is None:
            try:
                self._size = read_size(self.message.format, self.message.content)
            except UnreadableError as error:
                self._error = str(error)
        support = look.image_support
        can_show = support.protocol != "off" and (look.colourful or support.protocol != "blocks")
        if self._size is not None and can_show:
            room = min(width, widest, MOST)
            self.shape = fit_size(self._size, room, min(support.highest, MOST), support.slant)
        return self._fill(look, width)

    def _fill(self, look: Styles, width: int) -> list[Row]:
        columns, lines = self.shape if self._error is None else (0, 0)
        rows = []
        for line in range(lines):
            segments = [Segment(" " * columns, look.base)]
            if self._placed is not None:
                segments = self._placed.line(line, look.base)
            elif self._drawn is not None and self._drawn.blocks:
                segments = self._drawn.blocks[line]
            rows.append(Row(list(segments), image=(self, line)))
        return [*rows, self._write_caption(look, width)]

    def _write_caption(self, look: Styles, width: int) -> Row:
        size = f"{self._size[0]}x{self._size[1]}" if self._size else ""
        if self._error is not None:
            size = f"cannot be shown ({self._error})"
        size_text, file = f"image {size}", clean_line(self.file)
        room = width - measure_width(f"{size_text} · ")
        text = (
            f"{size_text} · {cut_beginning(file, room)}" if file and room > 8 else cut_end(size_text, width)
        )
        return Row([Segment(text, look.muted)], f"{size_text} · {file}" if file else size_text)


def fit_size(size: tuple[int, int], room: int, highest: int, slant: float) -> tuple[int, int]:
    """Return columns and lines for an image of this size in pixels; a pixel gets at most one column."""
    width, height = size
    scale = min(room / width, highest * slant / height, 1.0)
    return max(round(width * scale), 1), min(max(round(height * scale / slant), 1), highest)


def get_ground(look: Styles) -> Colour:
    """Return the colour that images stand on."""
    color = look.base.bgcolor
    if color is None or color.is_default:
        return (0, 0, 0) if look.dark else (255, 255, 255)
    red, green, blue = color.get_truecolor()
    return red, green, blue
