"""Many short texts in one block of memory; an object for each would take several times as much."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice

_END = b"\n"


class PackedTexts:
    """Texts by their place. A line end in a text becomes a blank."""

    def __init__(self) -> None:
        self._joined = bytearray()
        #: Where each text ends, and its line end stands.
        self._ends = array("I")

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, place: int) -> str:
        start = self._ends[place - 1] + 1 if place else 0
        return _decode(self._joined[start : self._ends[place]])

    def __iter__(self) -> Iterator[str]:
        # All at once, while they are used: that is as fast as separate texts.
        return iter(_decode(self._joined).split("\n")[:-1])

    def extend(self, texts: Sequence[str]) -> None:
        """Append texts."""
        joined = "\n".join(texts)
        if joined.count("\n") >= len(texts):
            texts = [text.replace("\n", " ") for text in texts]
            joined = "\n".join(texts)
        data = _encode(joined)
        plain = len(data) == len(joined)
        sizes = map(len, texts if plain else map(_encode, texts))
        ends = accumulate((size + 1 for size in sizes), initial=len(self._joined) - 1)
        self._ends.extend(islice(ends, 1, None))
        if texts:
            self._joined += data + _END

    def place_of(self, text: str) -> int | None:
        """Return the first position of the text; None where it is not found."""
        sought = _encode(text.replace("\n", " ")) + _END
        if self._joined.startswith(sought):
            return 0
        at = self._joined.find(_END + sought)
        return None if at < 0 else bisect_left(self._ends, at) + 1


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decode(joined: bytearray) -> str:
    return joined.decode("utf-8", "surrogatepass")
