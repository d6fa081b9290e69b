"""The interface of a desktop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from oi_tui.computer.desktop.screenshot import Screenshot


@dataclass(frozen=True)
class Region:
    """A rectangle on the screen, in pixels."""

    x: int
    y: int
    width: int
    height: int

    @property
    def center(self) -> tuple[int, int]:
        """The point in its middle."""
        return self.x + self.width // 2, self.y + self.height // 2


#: Where a window is whose place is not known.
UNKNOWN_PLACE = Region(0, 0, 0, 0)


@dataclass(frozen=True)
class Window:
    """A window of a program."""

    id: int
    title: str
    region: Region
    active: bool
    #: The number of its program's process; 0 where that is not known.
    process: int = 0
    #: Whether it is known to be minimised or on another workspace.
    hidden: bool = False


class Desktop(Protocol):
    """What a driver can do. Buttons are 1 left, 2 middle, 3 right, 4 to 7 the wheel up, down, left, right."""

    @property
    def knows_places(self) -> bool:
        """Whether it is known where windows and their elements are."""

    @property
    def notices_input(self) -> bool:
        """Whether a hand is noticed by input as such; else by the pointer, which is not where it was put."""

    @property
    def is_closed(self) -> bool:
        """Whether it went away, and has to be opened again."""

    def size(self) -> tuple[int, int]:
        """Return the size of the whole screen."""

    def monitors(self) -> list[Region]:
        """Return where each monitor lies on the screen."""

    def capture(self, region: Region) -> Screenshot:
        """Take a screenshot of a part of the screen."""

    def position(self) -> tuple[int, int]:
        """Return where the pointer is."""

    def move(self, x: int, y: int) -> None:
        """Put the pointer somewhere."""

    def button(self, number: int, down: bool) -> None:
        """Press or release a button."""

    def release_leftovers(self) -> None:
        """Release what programs held down that were killed."""

    def key_code(self, name: str) -> tuple[int, bool]:
        """Return the number of a key by the name of what is on it, and whether shift is needed.

        Raises ComputerError for a key that this keyboard does not have.
        """

    def require_characters(self, text: str) -> None:
        """Raise ComputerError where the active window could get other characters than those of the text."""

    def key(self, code: int, down: bool) -> None:
        """Press or release a key by its number."""

    def set_layout(self, number: int) -> int:
        """Switch to one of the keyboard's layouts, from 0; return the one that was on.

        0 where it does not change what is typed.
        """

    def set_caps_lock(self, on: bool) -> bool:
        """Turn caps lock on or off; return whether it was on.

        False where it does not change what is typed.
        """

    def wait_for_rest(self) -> None:
        """Wait until nobody uses mouse and keyboard, where input is noticed.

        Raises ComputerError where that takes too long.
        """

    def forget_input(self) -> None:
        """Notice only the input from now on."""

    def is_touched(self, *, wait: bool) -> bool:
        """Return whether a person used mouse or keyboard since; with `wait`, the code may wait to be sure."""

    def escape_is_down(self) -> bool:
        """Return whether escape is pressed at this moment."""

    def windows(self) -> list[Window]:
        """Return the windows, the lowest first."""

    def window_at(self, x: int, y: int) -> int | None:
        """Return the number of the window that gets a click there, also in its menus.

        None for another one.
        """

    def activate(self, window: Window) -> None:
        """Bring a window to the front."""
