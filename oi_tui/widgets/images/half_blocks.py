"""Images as half blocks: two pixels in each cell."""

from typing import TYPE_CHECKING

from rich.color import Color
from rich.segment import Segment
from rich.style import Style

if TYPE_CHECKING:
    from PIL.Image import Image

#: Its upper half is a pixel in the colour of the text, its lower half one in that of the background.
HALF_BLOCK = "▀"


def half_blocks(picture: "Image") -> list[list[Segment]]:
    """The lines of a picture (RGB) that is as wide as it has columns, and twice as high as it has lines."""
    columns, lines = picture.width, picture.height // 2
    data = picture.tobytes()
    return [_draw_line(data, columns, line) for line in range(lines)]


def _draw_line(pixels: bytes, columns: int, line: int) -> list[Segment]:
    segments: list[Segment] = []
    above, below = 2 * line * columns * 3, (2 * line + 1) * columns * 3
    before: tuple[bytes, bytes] | None = None
    run = 0
    for column in range(columns + 1):
        at = column * 3
        pair = (pixels[above + at : above + at + 3], pixels[below + at : below + at + 3])
        if column == columns or pair != before:
            if before is not None:
                style = Style(color=Color.from_rgb(*before[0]), bgcolor=Color.from_rgb(*before[1]))
                segments.append(Segment(HALF_BLOCK * run, style))
            before, run = pair, 0
        run += 1
    return segments
