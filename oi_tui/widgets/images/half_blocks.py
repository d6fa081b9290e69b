"""Images as half blocks: two pixels in each cell."""

from collections import Counter
from typing import TYPE_CHECKING

from rich.color import Color
from rich.segment import Segment
from rich.style import Style

from oi_tui.terminal.graphics import HALF_BLOCK

if TYPE_CHECKING:
    from PIL.Image import Image


#: With so great a share of one colour, an image is a drawing on a ground of that colour.
_DRAWING = 0.4
#: By how much pixels of a drawing are moved away from its ground, and up to which distance (at most 1).
_GAIN, _CLEAR = 2.5, 0.6


def strengthen_lines(image: "Image") -> "Image":
    """Return a small image (RGB); of a drawing on one ground, thin lines are made clearer.

    A line that is thinner than the pixels has faded into the ground, because each pixel is a mean.
    """
    from PIL import Image

    data = image.tobytes()
    pixels = [data[at : at + 3] for at in range(0, len(data), 3)]
    ((ground, count),) = Counter(pixels).most_common(1)
    if count < _DRAWING * len(pixels):
        return image
    moved = {pixel: _move_away(pixel, ground) for pixel in set(pixels)}
    return Image.frombytes("RGB", image.size, b"".join(moved[pixel] for pixel in pixels))


def _move_away(pixel: bytes, ground: bytes) -> bytes:
    """Return the pixel in the same direction from the ground, and farther away if it is near."""
    steps = [ink - behind for ink, behind in zip(pixel, ground, strict=True)]
    rooms = [255 - behind if step > 0 else behind for step, behind in zip(steps, ground, strict=True)]
    distance = max((abs(step) / room for step, room in zip(steps, rooms, strict=True) if step), default=0.0)
    if not 0 < distance < _CLEAR:
        return pixel
    factor = min(_GAIN, _CLEAR / distance)
    return bytes(behind + round(step * factor) for step, behind in zip(steps, ground, strict=True))


def draw_half_blocks(image: "Image") -> list[list[Segment]]:
    """Return the lines of an image (RGB) that is as wide as it has columns, and twice as high
    as it has lines.
    """
    columns, lines = image.width, image.height // 2
    data = image.tobytes()
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
