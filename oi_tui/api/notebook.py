"""Shows chunks: in a Jupyter notebook with images and pages, elsewhere as lines."""

import sys
from typing import Any

from oi_tui.engine.open_interpreter.chunks import Chunk, ChunkPrinter

_IMAGES = {"base64.png": "image/png", "base64.jpeg": "image/jpeg"}


class Display:
    """Shows chunks as they come. One is for one turn or run."""

    def __init__(self) -> None:
        self._printer = ChunkPrinter()

    def show(self, chunk: Chunk) -> None:
        """Show what a person reads or sees of a chunk."""
        content = chunk.get("content")
        media = _media(chunk) if content else None
        if media is None:
            self._printer.show(chunk)
        elif publish := _publisher():
            publish({media: content})
        elif media == "text/html":
            self._printer.show(chunk)
        else:
            self._printer.show({**chunk, "type": "message", "content": "[image]"})


def _media(chunk: Chunk) -> str | None:
    """The media type of a chunk's content; None for text."""
    if chunk["type"] == "image":
        return _IMAGES.get(str(chunk.get("format")))
    is_page = (chunk["role"], chunk["type"], chunk.get("format")) == ("computer", "code", "html")
    return "text/html" if is_page else None


def _publisher() -> Any:
    """What shows data in the notebook that this code runs in; None where it runs in none."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    return shell.display_pub.publish
