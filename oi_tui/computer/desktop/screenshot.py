"""Screenshots: raw pixels, cropped, scaled, compared and written as PNG."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: The longest side of a screenshot that is shown to a model; more is made smaller by every provider.
LONGEST_SIDE = 1568


@dataclass(frozen=True)
class Screenshot:
    """A screenshot, three bytes for each pixel: red, green, blue. A cell that ends with one shows it."""

    width: int
    height: int
    pixels: bytes

    def __repr__(self) -> str:
        return f"<Screenshot {self.width}x{self.height}>"

    def _repr_png_(self) -> bytes:
        return self.png()

    def png(self) -> bytes:
        """Return the screenshot as the bytes of a PNG file."""
        step = self.width * 3
        rows = b"".join(b"\0" + self.pixels[at : at + step] for at in range(0, len(self.pixels), step))
        header = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        return (
            b"\x89PNG\r\n\x1a\n"
            + _write_chunk(b"IHDR", header)
            + _write_chunk(b"IDAT", zlib.compress(rows, 3))
            + _write_chunk(b"IEND", b"")
        )

    def base64(self) -> str:
        """Return the screenshot as PNG in base64."""
        return base64.b64encode(self.png()).decode()

    def save(self, path: str) -> None:
        """Write the screenshot into a PNG file."""
        Path(path).write_bytes(self.png())

    def pil(self) -> Any:
        """Return the screenshot as an image of Pillow, which must be installed in this interpreter."""
        from PIL import Image

        return Image.frombytes("RGB", (self.width, self.height), self.pixels)

    def crop(self, x: int, y: int, width: int, height: int) -> Screenshot:
        """Cut out a part."""
        left, top = min(max(x, 0), self.width), min(max(y, 0), self.height)
        right, bottom = min(max(x + width, left), self.width), min(max(y + height, top), self.height)
        step = self.width * 3
        rows = (self.pixels[row * step + left * 3 : row * step + right * 3] for row in range(top, bottom))
        return Screenshot(right - left, bottom - top, b"".join(rows))

    def blacken(self, rectangles: Sequence[tuple[int, int, int, int]]) -> Screenshot:
        """Return the screenshot with these parts of it (x, y, width, height) in black."""
        if not rectangles:
            return self
        pixels, step = bytearray(self.pixels), self.width * 3
        for x, y, width, height in rectangles:
            left, right = max(x, 0), min(x + width, self.width)
            for row in range(max(y, 0), min(y + height, self.height)):
                count = max(right - left, 0) * 3
                pixels[row * step + left * 3 : row * step + left * 3 + count] = bytes(count)
        return Screenshot(self.width, self.height, bytes(pixels))

    def fitted(self, longest: int = LONGEST_SIDE) -> Screenshot:
        """Return the screenshot with a longest side of not more than this; the same where it fits."""
        side = max(self.width, self.height)
        if side <= longest:
            return self
        return self.resized(max(1, self.width * longest // side), max(1, self.height * longest // side))

    def resized(self, width: int, height: int) -> Screenshot:
        """Return the screenshot in another size."""
        try:
            image = self.pil().resize((width, height))
        except ImportError:
            return self._thin(width, height)
        return Screenshot(width, height, image.tobytes())

    def _thin(self, width: int, height: int) -> Screenshot:
        """Leave out columns and rows, where Pillow is missing."""
        columns = [x * self.width // width * 3 for x in range(width)]
        step = self.width * 3
        rows = []
        for y in range(height):
            row = self.pixels[y * self.height // height * step :][:step]
            rows.append(b"".join(row[at : at + 3] for at in columns))
        return Screenshot(width, height, b"".join(rows))


def _write_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
