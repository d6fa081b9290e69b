"""Images from elsewhere, such as tools and clients, in the formats that models and the screen take."""

import base64
import io

from oi_tui.messages import Displayed

_KEPT = {"PNG": "base64.png", "JPEG": "base64.jpeg"}
#: What may be read. Pillow knows many more, of which some start other programs.
FORMATS = (*_KEPT, "GIF", "WEBP", "BMP", "TIFF")
#: A small file may unpack to an image that takes all of the memory.
MOST_PIXELS = 50_000_000
#: What is said of an image that cannot be read.
UNREADABLE = "An image must be PNG, JPEG, GIF, WebP, BMP or TIFF in base64, of at most 50 million pixels."


def read_image(data: str) -> Displayed | None:
    """Return an image in base64 as PNG or JPEG; None where it cannot be read.

    Models refuse a conversation with an image that is broken or of another format, with every request.
    """
    from PIL import Image

    try:
        decoded = base64.b64decode(data, validate=True)
        with Image.open(io.BytesIO(decoded), formats=FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                return None
            if image.format in _KEPT:
                image.verify()
                return Displayed(_KEPT[image.format], base64.b64encode(decoded).decode())
            out = io.BytesIO()
            image.convert("RGBA").save(out, "PNG")
    except Exception:  # noqa: BLE001 -- Pillow raises anything for damaged data
        return None
    return Displayed("base64.png", base64.b64encode(out.getvalue()).decode())
