"""Images of tools in the formats that models and the screen take."""

import base64
import binascii
import io
from collections.abc import Mapping
from typing import Any

from oi_tui.messages import Displayed

_KEPT = {"PNG": "base64.png", "JPEG": "base64.jpeg"}
_CONVERTED = ("GIF", "WEBP", "BMP", "TIFF")


def read_image(block: Mapping[str, Any]) -> Displayed | None:
    """Return the image of a block as PNG or JPEG; None where it cannot be read.

    Models refuse a conversation with an image that is broken or of another format, with every request.
    """
    from PIL import Image

    try:
        data = base64.b64decode(str(block.get("data", "")), validate=True)
        with Image.open(io.BytesIO(data), formats=(*_KEPT, *_CONVERTED)) as image:
            if image.format in _KEPT:
                image.verify()
                return Displayed(_KEPT[image.format], base64.b64encode(data).decode())
            out = io.BytesIO()
            image.convert("RGBA").save(out, "PNG")
    except (OSError, ValueError, SyntaxError, binascii.Error, Image.DecompressionBombError):
        return None
    return Displayed("base64.png", base64.b64encode(out.getvalue()).decode())
