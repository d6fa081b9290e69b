"""`computer.vision`: describes images."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from oi_tui.computer.ai import make_data_url
from oi_tui.computer.desktop import ocr
from oi_tui.computer.errors import ComputerError
from oi_tui.computer.files import find_existing
from oi_tui.computer.tool import Tool


class Vision(Tool):
    """Read and describe images: a path, base64, a message of Open Interpreter or an image of Pillow."""

    def load(self, load_moondream: bool = True, load_easyocr: bool = True) -> bool:
        """Do nothing: there are no models to load. It is here for code made for Open Interpreter."""
        return True

    def ocr(
        self,
        base_64: str | None = None,
        path: str | None = None,
        lmc: dict[str, Any] | None = None,
        pil_image: Any = None,
    ) -> str:
        """Return the text in an image."""
        return ocr.read_text(_read_bytes(base_64, path, lmc, pil_image))

    def query(
        self,
        query: str = "Describe this image. Also tell me what text is in the image, if any.",
        base_64: str | None = None,
        path: str | None = None,
        lmc: dict[str, Any] | None = None,
        pil_image: Any = None,
    ) -> str:
        """Ask the model of this conversation about an image."""
        image = base64.b64encode(_read_bytes(base_64, path, lmc, pil_image)).decode()
        return self._ask(query, [make_data_url(image)])


def _read_bytes(base_64: str | None, path: str | None, lmc: dict[str, Any] | None, image: Any) -> bytes:
    if lmc:
        content = str(lmc.get("content", ""))
        base_64, path = (None, content) if lmc.get("format") == "path" else (content, None)
    if image is not None:
        if hasattr(image, "png"):
            data: bytes = image.png()
            return data
        import io

        with io.BytesIO() as file:
            image.save(file, "PNG")
            return file.getvalue()
    if path:
        try:
            return Path(find_existing(path)).read_bytes()
        except OSError as error:
            raise ComputerError(f"{path} cannot be read: {error.strerror}.") from None
    if base_64:
        try:
            return base64.b64decode(base_64.rpartition(",")[2])
        except ValueError:
            raise ComputerError("base_64 is not an image in base64.") from None
    raise ComputerError("Give an image: base_64, path, lmc or pil_image.")
