"""A terminal that shows images, as kitty or a terminal with sixels does, and keeps a record of them."""

import base64
import io
import re
from dataclasses import dataclass, field
from typing import Any

from PIL import Image

from oi_tui.widgets.images.kitty import NUMBERS, PLACEHOLDER
from tests.terminal import Terminal

_QUERY = re.compile(rb"\x1b_Gi=(\d+),[^;]*a=q[^;]*;[^\x1b]*\x1b\\")
_COMMAND = re.compile(rb"\x1b_G([^;\x1b]*);?([^\x1b]*)\x1b\\")
_SIXEL = re.compile(rb"\x1b\[(\d+);(\d+)H(\x1bP[0-9;]*q[^\x1b]*)\x1b\\")
_ROW = re.compile(
    rb"\x1b\[[0-9;]*?38;(?:2;(?P<rgb>\d+;\d+;\d+)|5;(?P<index>\d+))[0-9;]*m(?P<text>(?:"
    + PLACEHOLDER.encode()
    # No other placeholder is among what follows one: else there would be endless ways to read a row.
    + rb"[^\x1b\xf4]*)+)(?=\x1b)"  # what comes next is there: the row is whole
)


@dataclass
class Kept:
    """An image that was sent to the terminal."""

    png: bytes = b""
    columns: int = 0
    rows: int = 0
    sent: int = 0

    @property
    def image(self) -> Image.Image:
        return Image.open(io.BytesIO(self.png))


@dataclass
class Record:
    """What became of the graphics commands, in the order in which they came."""

    images: dict[int, Kept] = field(default_factory=dict)
    deleted: list[int] = field(default_factory=list)
    malformed: list[bytes] = field(default_factory=list)
    _open: int = 0
    _data: bytes = b""

    def take(self, keys: dict[str, str], data: bytes) -> None:
        match keys.get("a", "t" if self._open else ""):
            case "t":
                if "i" in keys:
                    self._open, self._data = int(keys["i"]), b""
                    if keys.get("f") != "100" or keys.get("t", "d") != "d":
                        self.malformed.append(repr(keys).encode())
                if len(data) > 4096 or keys.get("q") != "2":
                    self.malformed.append(data[:50])
                self._data += data
                if keys.get("m", "0") == "0":
                    kept = self.images.setdefault(self._open, Kept())
                    kept.png, kept.sent = base64.b64decode(self._data), kept.sent + 1
                    self._open = 0
            case "p":
                if keys.get("U") != "1" or int(keys["i"]) not in self.images:
                    self.malformed.append(repr(keys).encode())
                else:
                    kept = self.images[int(keys["i"])]
                    kept.columns, kept.rows = int(keys["c"]), int(keys["r"])
            case "d":
                self.deleted.append(int(keys["i"]))
            case "q":
                pass
            case _:
                self.malformed.append(repr(keys).encode())


def commands(written: bytes) -> Record:
    """What the graphics commands in what was written do."""
    record = Record()
    for match in _COMMAND.finditer(written):
        keys = dict(part.partition("=")[::2] for part in match[1].decode().split(","))
        record.take(keys, match[2])
    return record


def find_cells(written: bytes) -> dict[int, set[tuple[int, int]]]:
    """Return the cells (row, column) of images that were written, by the images' numbers."""
    cells: dict[int, set[tuple[int, int]]] = {}
    for match in _ROW.finditer(written):
        if match["rgb"]:
            red, green, blue = map(int, match["rgb"].split(b";"))
            low = red << 16 | green << 8 | blue
        else:
            low = int(match["index"])
        for cell in match["text"].decode().split(PLACEHOLDER)[1:]:
            row, column, high = (NUMBERS.index(mark) for mark in cell[:3])
            cells.setdefault(high << 24 | low, set()).add((row, column))
    return cells


class GraphicsTerminal(Terminal):
    """`answers` are written when the program has asked; "{number}" is the number of its question."""

    def __init__(self, *arguments: str, answers: str, **options: Any) -> None:
        self._answers = answers
        super().__init__(*arguments, **options)

    def describe(self) -> None:
        self._process.write(self._answers.replace("{number}", self.number).encode())

    @property
    def number(self) -> str:
        """The number of the question whether it knows Kitty's protocol."""
        match = _QUERY.search(bytes(self.raw))
        assert match is not None
        return match[1].decode()

    @property
    def record(self) -> Record:
        """What graphics commands have done until now."""
        return commands(bytes(self.raw))

    @property
    def shown(self) -> dict[int, set[tuple[int, int]]]:
        """The cells (row, column) of images that were ever written, by the images' numbers."""
        return find_cells(bytes(self.raw))

    @property
    def sixels(self) -> list[tuple[int, int, bytes]]:
        """Line and column (from 1) of each sixel image that was drawn, with its data."""
        return [(int(f[1]), int(f[2]), f[3]) for f in _SIXEL.finditer(bytes(self.raw))]
