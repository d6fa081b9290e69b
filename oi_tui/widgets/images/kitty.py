"""Images by the Kitty protocol: sent once, and shown at placeholder characters.

Source: https://sw.kovidgoyal.net/kitty/graphics-protocol/, "Unicode placeholders". Because the characters are
text, what scrolls, clips and covers text does the same to images.
"""

import base64
import random
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from rich.color import Color
from rich.segment import Segment
from rich.style import Style

from oi_tui.terminal.sanitize_filter import META

PLACEHOLDER = "\U0010eeee"
#: The characters that stand for 0, 1, 2…: combining ones of class 230 in Unicode 6.0 that no other character
#: is composed with (kitty's rowcolumn-diacritics.txt), as ranges of code points.
_NUMBERS = (
    "305 30d-30e 310 312 33d-33f 346 34a-34c 350-352 357 35b 363-36f 483-487 592-595 597-599 59c-5a1 5a8-5a9 "
    "5ab-5ac 5af 5c4 610-617 657-65b 65d-65e 6d6-6dc 6df-6e2 6e4 6e7-6e8 6eb-6ec 730 732-733 735-736 73a 73d "
    "73f-741 743 745 747 749-74a 7eb-7f1 7f3 816-819 81b-823 825-827 829-82d 951 953-954 f82-f83 f86-f87 "
    "135d-135f 17dd 193a 1a17 1a75-1a7c 1b6b 1b6d-1b73 1cd0-1cd2 1cda-1cdb 1ce0 1dc0-1dc1 1dc3-1dc9 "
    "1dcb-1dcc 1dd1-1de6 1dfe 20d0-20d1 20d4-20d7 20db-20dc 20e1 20e7 20e9 20f0 2cef-2cf1 2de0-2dff "
    "a66f a67c-a67d a6f0-a6f1 a8e0-a8f1"
)
NUMBERS = "".join(
    chr(code)
    for first, _, last in (part.partition("-") for part in _NUMBERS.split())
    for code in range(int(first, 16), int(last or first, 16) + 1)
)
#: The most columns and lines that an image can have.
MOST = len(NUMBERS)
#: Base64 characters in one command.
_CHUNK = 4096
#: How many images are kept in the terminal; those not seen for longest go first.
_KEPT = 60
#: The levels of red, green and blue in the palette of 256 colours; 16 is the first of the cube.
_LEVELS = (0, 95, 135, 175, 215, 255)


def _make_names() -> Iterator[tuple[int, Color, int]]:
    """Yield names for images: the number of a diacritic, a colour that is whole
    in 256 colours too, its index.
    """
    start = random.randrange(1, 200)
    while True:
        for index in range(16, 232):
            red, green, blue = (_LEVELS[(index - 16) // item % 6] for item in (36, 6, 1))
            if max(red, green, blue) - min(red, green, blue) >= 95:
                yield start, Color.from_rgb(red, green, blue), index
        start = start % 200 + 1


@dataclass(frozen=True, slots=True)
class PlacedImage:
    """An image in the terminal: its number there, and how its characters are written."""

    number: int
    colour: Color
    last: str
    columns: int
    lines: int

    def line(self, line: int, ground: Style) -> list[Segment]:
        """Return the characters of one of its lines."""
        begin, end = PLACEHOLDER + NUMBERS[line], self.last
        text = "".join(begin + NUMBERS[column] + end for column in range(self.columns))
        style = Style(color=self.colour, bgcolor=ground.bgcolor, meta={META: self.colour})
        return [Segment(text, style)]


class KittyImages:
    """The images that the terminal stores for us. `write` gets raw output for the terminal."""

    def __init__(
        self,
        write: Callable[[str], object],
        *,
        tmux: bool = False,
        true_colours: bool = True,
        watched: Callable[[], bool] = lambda: True,
    ) -> None:
        """With `tmux` all goes through it, which drops what is sent while the window is not `watched`.

        Without `true_colours` the names of images are indexes of the palette.
        """
        self._write = write
        self._tmux = tmux
        self._true_colours = true_colours
        self._watched = watched
        #: Whether something was sent that may not have arrived.
        self.doubtful = False
        self._names = _make_names()
        self._placed: OrderedDict[int, PlacedImage] = OrderedDict()

    def show(self, png: bytes, columns: int, lines: int) -> PlacedImage:
        """Send an image, with the columns and lines in which it is shown."""
        high, colour, index = next(self._names)
        red, green, blue = colour.get_truecolor()
        low = (red << 16 | green << 8 | blue) if self._true_colours else index
        placed = PlacedImage(high << 24 | low, colour, NUMBERS[high], columns, lines)
        self._placed[placed.number] = placed
        self._say(_transmit(placed, png))
        while len(self._placed) > _KEPT:
            number, _ = self._placed.popitem(last=False)
            self._say([_write_deletion(number)])
        return placed

    def has(self, placed: PlacedImage) -> bool:
        """Return whether the terminal still has it; it is the one that was seen last then."""
        if placed.number not in self._placed:
            return False
        self._placed.move_to_end(placed.number)
        return True

    def remove(self, placed: PlacedImage) -> None:
        """Take an image away."""
        if self._placed.pop(placed.number, None) is not None:
            self._say([_write_deletion(placed.number)])

    def write_reset(self) -> str:
        """Return the sequence that deletes all images; they have to be sent again after it."""
        placed, self._placed = list(self._placed), OrderedDict()
        return "".join(self._wrap(_write_deletion(number)) for number in placed)

    def _say(self, commands: Iterable[str]) -> None:
        self.doubtful = self.doubtful or (self._tmux and not self._watched())
        self._write("".join(map(self._wrap, commands)))

    def _wrap(self, command: str) -> str:
        if not self._tmux:
            return command
        return "\x1bPtmux;" + command.replace("\x1b", "\x1b\x1b") + "\x1b\\"


def _transmit(placed: PlacedImage, png: bytes) -> Iterator[str]:
    data = base64.b64encode(png).decode()
    for at in range(0, len(data), _CHUNK):
        more = int(at + _CHUNK < len(data))
        first = f"a=t,f=100,t=d,i={placed.number}," if at == 0 else ""
        yield f"\x1b_G{first}q=2,m={more};{data[at : at + _CHUNK]}\x1b\\"
    yield f"\x1b_Ga=p,U=1,i={placed.number},c={placed.columns},r={placed.lines},q=2;\x1b\\"


def _write_deletion(number: int) -> str:
    return f"\x1b_Ga=d,d=I,i={number},q=2;\x1b\\"
