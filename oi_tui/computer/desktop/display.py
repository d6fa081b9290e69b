"""`computer.display`: look at the screen."""

from __future__ import annotations

import builtins
import zlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from oi_tui.computer import bridge
from oi_tui.computer.desktop import elements as found_elements
from oi_tui.computer.desktop import masking
from oi_tui.computer.desktop.base import UNKNOWN_PLACE, Region, Window
from oi_tui.computer.desktop.elements import Element, Elements
from oi_tui.computer.desktop.ocr import RecognizedWord, read_words
from oi_tui.computer.desktop.screenshot import Screenshot
from oi_tui.computer.desktop.session import open_session
from oi_tui.computer.errors import ComputerError
from oi_tui.computer.tool import Tool

#: The parts of the screen, by number: the left upper, right upper, left lower and right lower quarter.
_QUADRANTS = {1: (0, 0), 2: (1, 0), 3: (0, 1), 4: (1, 1)}


class Pair(tuple[int, int]):
    """Two numbers, which may also be called for: in Open Interpreter, `size()` and `center()` are methods."""

    def __call__(self) -> tuple[int, int]:
        """Return the two numbers."""
        return self[0], self[1]


class Display(Tool):
    """Look at the screen. Coordinates are pixels from the upper left corner of the whole screen."""

    def __init__(self, computer: Any) -> None:
        super().__init__(computer)
        self._shown: int | None = None

    @property
    def width(self) -> int:
        """The width of the screen."""
        return self.size[0]

    @property
    def height(self) -> int:
        """The height of the screen."""
        return self.size[1]

    @property
    def size(self) -> Pair:
        """Width and height of the screen."""
        return Pair(open_session().desktop.size())

    @property
    def center(self) -> Pair:
        """The point in the middle of the screen."""
        return Pair((self.width // 2, self.height // 2))

    def info(self) -> list[Region]:
        """Return where each monitor lies on the screen."""
        return open_session().desktop.monitors()

    def windows(self) -> list[Window]:
        """Return the windows, the lowest first, with title, region and whether they are active or hidden.

        Hidden ones are minimised or on another workspace.
        """
        return open_session().desktop.windows()

    def view(
        self,
        show: bool = True,
        quadrant: int | None = None,
        screen: int = 0,
        combine_screens: bool = True,
        active_app_only: bool = True,
    ) -> Screenshot:
        """Look at the screen: show a screenshot and return it.

        With `active_app_only`, the screenshot is of the active window; with `quadrant`, of a quarter of the
        screen (1 left upper, 2 right upper, 3 left lower, 4 right lower). `screen=1` is the second monitor,
        and so on, and -1 all of them; `screen=0, combine_screens=False` is the first one. A printed line
        says which part of the screen it is and how to get from pixels of the screenshot to coordinates. What
        has not changed since is not shown again. Password fields are black. A model that takes no images
        gets the list of elements instead.
        """
        return self.screenshot(screen, show, quadrant, active_app_only, combine_screens)

    def screenshot(
        self,
        screen: int = 0,
        show: bool = True,
        quadrant: int | None = None,
        active_app_only: bool = True,
        combine_screens: bool = True,
    ) -> Screenshot:
        """Take a screenshot; the same as `view`."""
        region = self._find_region(screen, quadrant, active_app_only, combine_screens)
        screenshot = capture(region)
        if show:
            self._show(screenshot, region)
        return screenshot

    def elements(
        self, name: str | None = None, role: str | None = None, active_app_only: bool = True
    ) -> Elements:
        """Return buttons, fields, menus and other elements with number, role, name, value and center.

        Print the list to read it. `name` and `role` select elements, such as role="button";
        `mouse.click(role="button", name="Save")` clicks one. Passwords are never read. Not every program
        says what it shows.
        """
        elements: Iterable[Element] = found_elements.open_tree().elements(self.windows(), active_app_only)
        if limits := open_session().limits():
            granted = limits.windows(open_session().desktop)
            elements = [element for element in elements if any(_is_in(window, element) for window in granted)]
        if not open_session().desktop.knows_places:
            # What programs say there is the place in their window.
            elements = [replace(element, region=UNKNOWN_PLACE) for element in elements]
        return Elements(found_elements.matching(elements, name, role))

    def find(self, description: str, screenshot: Screenshot | None = None) -> list[tuple[int, int]]:
        """Return the centers of what is described: windows with this title and texts on the screen."""
        needle = description.casefold()
        windows = [
            window.region.center
            for window in self.windows()
            if needle in window.title.casefold() and open_session().desktop.knows_places and not window.hidden
        ]
        texts = [place["center"] for place in self.find_text(description, screenshot)]
        return [*texts, *windows]

    def find_text(self, text: str, screenshot: Screenshot | None = None) -> list[dict[str, Any]]:
        """Find a text on the screen, in any case. Return dictionaries with text, region and center.

        Coordinates are those of the whole screen, or of `screenshot` where one is given.
        """
        words = text.casefold().split()
        if not words:
            raise ComputerError("display.find_text needs a text.")
        lines = self._lines(screenshot)
        places = [
            _match(line[at : at + len(words)]) for line in lines for at in _find_word_starts(line, words)
        ]
        # A word alone is what a button says; one in a sentence comes after it.
        return sorted(places, key=lambda item: len(item["text"]))

    def get_text_as_list_of_lists(self, screenshot: Screenshot | None = None) -> list[list[str]]:
        """Return the text on the screen: lines of words."""
        return [[word.text for word in line] for line in self._lines(screenshot)]

    def _lines(self, screenshot: Screenshot | None) -> list[list[RecognizedWord]]:
        if screenshot is None:
            screenshot = capture(Region(0, 0, *self.size))
        return read_words(screenshot.png())

    def _find_region(
        self, screen: int, quadrant: int | None, active_app_only: bool, combine_screens: bool
    ) -> Region:
        whole = Region(0, 0, *self.size)
        is_named = screen != 0 or not combine_screens
        if is_named and screen != -1:
            monitors = self.info()
            if not 0 <= screen < len(monitors):
                raise ComputerError(
                    f"There is no screen {screen}; there are {len(monitors)}, counted from 0."
                )
            whole = monitors[screen]
        if quadrant is not None:
            if quadrant not in _QUADRANTS:
                raise ComputerError("quadrant must be 1, 2, 3 or 4.")
            column, row = _QUADRANTS[quadrant]
            width, height = whole.width // 2, whole.height // 2
            # Of a screen of an odd size, the right and the lower quarters get the pixel that is left.
            right, below = column * (whole.width - width), row * (whole.height - height)
            x, y = whole.x + column * width, whole.y + row * height
            return Region(x, y, right or width, below or height)
        if active_app_only and not is_named:
            active = next((window.region for window in self.windows() if window.active), None)
            # A window may reach beyond the screen.
            return (_find_common_part(active, whole) if active else None) or whole
        return whole

    def _show(self, screenshot: Screenshot, region: Region) -> None:
        checksum = zlib.crc32(screenshot.pixels, zlib.crc32(repr(region).encode()))
        if checksum == self._shown:
            print("The screen has not changed since the last screenshot.")
            return
        self._shown = checksum
        smaller = screenshot.fitted()
        scale = screenshot.width / smaller.width
        factor = f", times {scale:.3f}" if scale > 1 else ""
        add = f", plus ({region.x}, {region.y})" if region.x or region.y else ""
        how = f" Coordinates: pixels of the screenshot{factor}{add}." if factor or add else ""
        print(f"Part of the screen: {region.width}x{region.height} at ({region.x}, {region.y}).{how}")
        display = getattr(builtins, "display", None)
        if display is not None:
            display(smaller)
        if not bridge.takes_images():
            self._print_elements()

    def _print_elements(self) -> None:
        """Say in words what is on the screen."""
        try:
            print(self.elements())
        except ComputerError as error:
            print(error)


def capture(region: Region) -> Screenshot:
    """Take a screenshot of a part of the screen, with password fields black; see `masking.capture`."""
    if limits := open_session().limits():
        limits.refuse_screenshot()
    return masking.capture(open_session().desktop, region)


def _is_in(window: Window, element: Element) -> bool:
    (x, y), region = element.center, window.region
    inside = region.x <= x < region.x + region.width and region.y <= y < region.y + region.height
    return inside and element.window == found_elements.normalise_spaces(window.title)


def _find_common_part(one: Region, other: Region) -> Region | None:
    x, y = max(one.x, other.x), max(one.y, other.y)
    width = min(one.x + one.width, other.x + other.width) - x
    height = min(one.y + one.height, other.y + other.height) - y
    return Region(x, y, width, height) if width > 0 and height > 0 else None


def _find_word_starts(line: list[RecognizedWord], wanted: list[str]) -> list[int]:
    """Return where the words begin in a line; the first and last word may have more around them."""
    count = len(wanted)
    phrase = " ".join(wanted)
    return [
        at
        for at in range(len(line) - count + 1)
        if phrase in " ".join(word.text.casefold() for word in line[at : at + count])
    ]


def _match(words: list[RecognizedWord]) -> dict[str, Any]:
    left, top = min(word.x for word in words), min(word.y for word in words)
    right = max(word.x + word.width for word in words)
    bottom = max(word.y + word.height for word in words)
    region = Region(left, top, right - left, bottom - top)
    return {"text": " ".join(word.text for word in words), "region": region, "center": region.center}
