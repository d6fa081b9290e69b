"""The marks in a terminal's output that say where an event belongs."""

import re
from collections.abc import Iterator

_MARK = re.compile(rb"\x1b\]6973;([0-9A-Za-z.]{1,80})\x07")
#: The beginning of a mark at the end of a piece.
_BEGUN = re.compile(rb"\x1b(?:\](?:6(?:9(?:7(?:3(?:;[0-9A-Za-z.]{0,80})?)?)?)?)?)?\Z")


class MarkReader:
    """Splits output into the program's text and the marks in it, however the bytes arrive."""

    def __init__(self) -> None:
        self._held = b""

    def read(self, piece: bytes) -> Iterator[bytes | str]:
        """Output as bytes and the keys of marks as text, in order; a mark cut in two waits for its end."""
        data = self._held + piece
        self._held = b""
        if b"\x1b" not in data:
            if data:
                yield data
            return
        partial_mark = _BEGUN.search(data, max(0, len(data) - 100))
        if partial_mark:
            self._held = partial_mark.group()
            data = data[: partial_mark.start()]
        at = 0
        for mark in _MARK.finditer(data):
            if mark.start() > at:
                yield data[at : mark.start()]
            yield mark.group(1).decode()
            at = mark.end()
        if at < len(data):
            yield data[at:]

    def rest(self) -> bytes:
        """Return the text that was held back in case a mark followed."""
        data, self._held = self._held, b""
        return data


def encode_mark(key: str) -> bytes:
    """Return the bytes of a mark."""
    return b"\x1b]6973;" + key.encode() + b"\x07"
