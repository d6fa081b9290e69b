"""Images from elsewhere, such as tools and clients, in the formats that models and the screen take."""

import base64
import binascii
import io

from oi_tui.messages import Displayed

_KEPT = {"PNG": "base64.png", "JPEG": "base64.jpeg"}
_CONVERTED = ("GIF", "WEBP", "BMP", "TIFF")
#: A small file may unpack to an image that takes all of the memory.
_MOST_PIXELS = 50_000_000
#: What is said of an image that cannot be read.
UNREADABLE = "An image must be PNG, JPEG, GIF, WebP, BMP or TIFF in base64, of at most 50 million pixels."


def read_image(data: str) -> Displayed | None:
    """Return an image in base64 as PNG or JPEG; None where it cannot be read.

    Models refuse a conversation with an image that is broken or of another format, with every request.
    """
    from PIL import Image

    try:
        decoded = base64.b64decode(data, validate=True)
        with Image.open(io.BytesIO(decoded), formats=(*_KEPT, *_CONVERTED)) as image:
            if image.width * image.height > _MOST_PIXELS:
                return None
            if image.format in _KEPT:
                image.verify()
                return Displayed(_KEPT[image.format], base64.b64encode(decoded).decode())
            out = io.BytesIO()
            image.convert("RGBA").save(out, "PNG")
    except (
        OSError,
        ValueError,
        SyntaxError,
        binascii.Error,
        Image.DecompressionBombError,
        Image.DecompressionBombWarning,
    ):
        return None
    return Displayed("base64.png", base64.b64encode(out.getvalue()).decode())
