"""A value that a cell displays, in the forms that Jupyter's messages carry."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from oi_tui.engine.output.plain import make_plain

#: A value with more text continues as a stream, in characters.
_LONGEST = 1_000_000


class ShownValue:
    """A value that the program displays, with its forms by their media types."""

    def __init__(self, kind: str, place: str | None) -> None:
        self.kind = kind
        self.place = place
        self.data: dict[str, Any] = {}
        self._text = ""

    def add(self, text: str) -> bool:
        """Add a piece of its text. Returns False if it is too large for one message."""
        if len(self._text) + len(text) > _LONGEST:
            return False
        self._text += text
        self.data["text/plain"] = make_plain(self._text).rstrip("\n")
        return True

    def add_forms(self, forms: Mapping[str, str]) -> None:
        """Add its other forms."""
        # A drawing is displayed as a page. Clients show it as what it is.
        if "image/svg+xml" in forms and self.data.get("text/html") == forms["image/svg+xml"]:
            del self.data["text/html"]
        self.data |= {mime: _decode(mime, form) for mime, form in forms.items()}


def _decode(mime: str, form: str) -> Any:
    """Return a form as Jupyter's messages have it: data of a JSON type is not encoded again."""
    if mime == "application/json" or mime.endswith("+json"):
        with suppress(ValueError, RecursionError):
            return json.loads(form)
    return form
