"""Images as sixels: bands of six pixel rows, one colour at a time."""

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

#: Colours of a drawing, as every terminal with sixels has them; photographs get fewer, or take too long.
_COLOURS, _FEWER = 256, 80
_RUN = re.compile(rb"(.)\1{3,}", re.DOTALL)


def encode_sixel(image: "Image") -> str:
    """Encode an image (RGB) as sixels at the cursor.

    Source: DEC, "VT330/VT340 Programmer Reference Manual", chapter 14. Pixels that are not set keep what is
    below (P2 is 1), so nothing outside of the image is touched.
    """
    from PIL import Image

    colours = _COLOURS if image.getcolors(8192) else _FEWER
    few = image.quantize(colours, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    palette, data, width = few.getpalette() or [], few.tobytes(), few.width
    palette_indexes = sorted(set(data))
    parts = [f'\x1bP0;1;0q"1;1;{width};{few.height}'.encode()]
    for colour in palette_indexes:
        red, green, blue = (round(level * 100 / 255) for level in palette[colour * 3 : colour * 3 + 3])
        parts.append(f"#{colour};2;{red};{green};{blue}".encode())
    empty = int.from_bytes(b"?" * width, "big")
    for top in range(0, few.height, 6):
        rows = [data[y * width : (y + 1) * width] for y in range(top, min(top + 6, few.height))]
        band = (_encode_colour(rows, colour, empty) for colour in sorted(set(b"".join(rows))))
        parts.append(b"$".join(band) + b"-")
    return (b"".join(parts) + b"\x1b\\").decode()


def _encode_colour(rows: list[bytes], colour: int, empty: int) -> bytes:
    """Return one colour's pixels in up to six rows: each character is a column,
    its lowest bit the top pixel.
    """
    bits = empty
    for place, row in enumerate(rows):
        bits += int.from_bytes(row.translate(_make_table(colour, place)), "big")
    columns = bits.to_bytes(len(rows[0]), "big").rstrip(b"?")
    return b"#%d" % colour + _RUN.sub(lambda run: b"!%d%s" % (len(run[0]), run[1]), columns)


@lru_cache(maxsize=256 * 6)
def _make_table(colour: int, place: int) -> bytes:
    """Return the table that maps pixels of a colour to the bit of a row, and all others to nothing."""
    return bytes((item == colour) << place for item in range(256))
