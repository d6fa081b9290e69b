"""Decodes images from untrusted sources."""

import base64
import io
import os
import stat
import struct
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING

from oi_tui.text import clean_line

if TYPE_CHECKING:
    from PIL.Image import Image

#: Larger images (in pixels, files in bytes) are named but not drawn.
LARGEST, LARGEST_FILE = 24_000_000, 64_000_000
#: As much of a file is read to find out its size, in bytes.
_HEAD = 400_000
#: What may be read. Pillow knows many more, of which some start other programs.
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "PPM")
#: What Pillow raises on damaged data.
_FAULTS = (
    *(OSError, ValueError, SyntaxError, MemoryError, EOFError, IndexError, KeyError, TypeError),
    *(AttributeError, OverflowError, ZeroDivisionError, struct.error),
)
_ORIENTATION = 0x0112

Colour = tuple[int, int, int]


class UnreadableError(ValueError):
    """An image that cannot be shown, with the reason in a few words."""


def read_size(format: str | None, content: str) -> tuple[int, int]:
    """Return width and height in pixels, from the beginning of the data. Raises UnreadableError.

    `format` and `content` are those of an image message: `path` and a file name, or `base64.…` and the data.
    """
    try:
        data = _read(content, _HEAD) if format == "path" else base64.b64decode(content[: _HEAD // 3 * 4])
        with _open(data) as image:
            return _turn_size(image)
    except _FAULTS as error:
        raise _make_error(error) from error


def decode_pixels(
    format: str | None, content: str, size: tuple[int, int], ground: Colour, fine: bool
) -> "Image":
    """Return the image in `size` pixels, without transparency. Raises UnreadableError.

    What shines through is `ground`, or white or black where that would hide what is drawn. `fine` keeps lines
    sharp; without it each pixel is the mean of those it stands for.
    """
    from PIL import Image

    try:
        data = _read(content, LARGEST_FILE) if format == "path" else base64.b64decode(content)
        with _open(data) as image, warnings.catch_warnings(action="ignore"):
            turned = _turn(image)
            target_size = size[::-1] if turned in _SIDEWAYS else size
            image.draft("RGB", (target_size[0] * 2, target_size[1] * 2))
            _check(image)
            resampling = Image.Resampling.LANCZOS if fine else Image.Resampling.BOX
            small = _convert_to_eight_bits(image).resize(target_size, resampling, reducing_gap=3.0)
    except _FAULTS as error:
        raise _make_error(error) from error
    if turned in _TURNS:
        small = small.transpose(_TURNS[turned])
    return _remove_transparency(small, ground) if small.mode == "RGBA" else small


def _make_error(error: Exception) -> UnreadableError:
    if isinstance(error, UnreadableError):
        return error
    if isinstance(error, OSError) and error.strerror:
        return UnreadableError(clean_line(error.strerror, 60).lower())
    if type(error).__name__ == "UnidentifiedImageError":
        return UnreadableError("not a supported image format")
    return UnreadableError(clean_line(str(error), 60) or type(error).__name__)


def _read(path: str, most: int) -> bytes:
    """Read at most `most` bytes of a regular file: other kinds may block."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableError("not a file")
        if most == LARGEST_FILE < status.st_size:
            raise UnreadableError("the file is too large")
        return file.read(most)


def _open(data: bytes) -> "Image":
    from PIL import Image

    try:
        with warnings.catch_warnings(action="ignore"):
            return Image.open(io.BytesIO(data), formats=_FORMATS)
    except Image.DecompressionBombError:
        raise UnreadableError("it has too many pixels") from None


def _check(image: "Image") -> None:
    if image.width < 1 or image.height < 1:
        raise UnreadableError("it has no pixels")
    if image.width * image.height > LARGEST:
        raise UnreadableError(f"{image.width}x{image.height} is too large")


def _turn_size(image: "Image") -> tuple[int, int]:
    width, height = image.size
    if image.format != "JPEG":
        _check(image)  # of a photograph fewer pixels can be read than it has
    return (height, width) if _turn(image) in _SIDEWAYS else (width, height)


#: How a camera was held, by the numbers of Exif, and what turns the image upright.
_SIDEWAYS = (5, 6, 7, 8)
_TURNS: dict[int, "Image.Transpose"] = {}  # type: ignore[name-defined]


def _turn(image: "Image") -> int:
    from PIL.Image import Transpose

    if not _TURNS:
        _TURNS.update(
            {
                2: Transpose.FLIP_LEFT_RIGHT,
                3: Transpose.ROTATE_180,
                4: Transpose.FLIP_TOP_BOTTOM,
                5: Transpose.TRANSPOSE,
                6: Transpose.ROTATE_270,
                7: Transpose.TRANSVERSE,
                8: Transpose.ROTATE_90,
            }
        )
    with suppress(*_FAULTS):
        return int(image.getexif().get(_ORIENTATION, 1))
    return 1


def _convert_to_eight_bits(image: "Image") -> "Image":
    """Return the image as RGB, or as RGBA where something shines through."""
    if image.mode.startswith(("I", "F")):
        return image.convert("F").point(lambda value: value * (1 / 257)).convert("L").convert("RGB")
    see_through = "A" in image.mode or "a" in image.mode or "transparency" in image.info
    return image.convert("RGBA" if see_through else "RGB")


def _remove_transparency(image: "Image", ground: Colour) -> "Image":
    from PIL import Image, ImageStat

    alpha = image.getchannel("A")
    statistics = ImageStat.Stat(image.convert("L"), alpha.point(lambda value: 255 if value > 100 else 0))
    if statistics.count[0]:
        ink, behind = statistics.mean[0], (ground[0] * 299 + ground[1] * 587 + ground[2] * 114) / 1000
        if abs(ink - behind) < 60:
            ground = (255, 255, 255) if ink < 128 else (0, 0, 0)
    whole = Image.new("RGBA", image.size, (*ground, 255))
    whole.alpha_composite(image)
    return whole.convert("RGB")
