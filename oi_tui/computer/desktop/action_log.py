"""Logs what a cell did with mouse and keyboard, with small screenshots, for the person and the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from oi_tui.computer import cells
from oi_tui.computer.desktop.base import Desktop, Region, Window
from oi_tui.computer.desktop.screenshot import Screenshot
from oi_tui.computer.errors import ComputerError

#: As many lines are shown of a cell, and as many characters of a title or a name.
_MOST, _LONGEST = 30, 60
#: The longest side of a screenshot.
_SIDE = 640
_CHARACTER = "type a character"
_MANY = {_CHARACTER: "type {} characters"}
_TIMES = {1: "", 2: "double-", 3: "triple-"}


@dataclass
class LoggedAction:
    """Something that was done `count` times in a window."""

    text: str
    window: str
    count: int = 1

    def __str__(self) -> str:
        text = self.text
        if self.count > 1:
            text = _MANY[text].format(self.count) if text in _MANY else f"{text} ({self.count} times)"
        return text + (f" in {self.window!r}" if self.window else "")


class ActionLog:
    """Keeps the actions of a cell, and shows them at its end. No typed text is kept: it may be a password.

    `capture` takes a screenshot of a part of the screen, or returns None where it may show passwords.
    """

    def __init__(self, desktop: Desktop, capture: Callable[[Region], Screenshot | None]) -> None:
        self._desktop = desktop
        self._capture = capture
        self._actions: list[LoggedAction] = []
        self._left_out = 0
        self._before: Screenshot | None = None
        self._region: Region | None = None
        #: What the pointer was moved to by its name, and where that is.
        self._aim = "", (0, 0)

    def begin(self) -> None:
        """Take a screenshot of the active window, before a cell does anything to it."""
        if not cells.are_counted():
            return
        active = next((window for window in self._desktop.windows() if window.active), None)
        has_place = active and self._desktop.knows_places
        self._region = active.region if active and has_place else Region(0, 0, *self._desktop.size())
        self._before = self._take_screenshot()

    def aim(self, name: str, place: tuple[int, int]) -> None:
        """Note what is at the place that the pointer moves to."""
        self._aim = _shorten(name), place

    def click(self, button: str, clicks: int) -> None:
        """Note clicks where the pointer is."""
        place = self._desktop.position()
        at = self._name_place(place)
        kind = "" if button == "left" else f"{button} "
        self._add(f"{kind}{_TIMES.get(clicks, '')}click at {at}", self._under(place))

    def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Note a movement with a button held down."""
        self._add(f"drag from {start} to {end}", self._under(start))

    def scroll(self, clicks: int, sideways: bool) -> None:
        """Note turns of the wheel where the pointer is."""
        words = ("left", "right") if sideways else ("up", "down")
        window = self._under(self._desktop.position())
        self._add(f"scroll {words[clicks < 0]}", window, abs(clicks))

    def button(self, button: str, down: bool) -> None:
        """Note that a button is held or released where the pointer is."""
        place = self._desktop.position()
        self._add(f"{button} button {'down' if down else 'up'} at {place}", self._under(place))

    def typed(self) -> None:
        """Note a character, but not which one."""
        self._add(_CHARACTER, self._active())

    def pressed(self, keys: str) -> None:
        """Note keys by their names."""
        self._add(f"press {keys}", self._active())

    def activated(self, title: str) -> None:
        """Note that a window was brought to the front."""
        self._add("to the front", _shorten(title))

    def show(self) -> None:
        """Show the actions under the cell, with the window before and after; then forget them."""
        actions, left_out = self._actions, self._left_out
        before, self._before = self._before, None
        self._actions, self._left_out = [], 0
        if not actions:
            return
        lines = [f"  {action}" for action in actions]
        if left_out:
            lines.append(f"  and {left_out} more")
        after = self._take_screenshot()
        same = before is not None and after is not None and before.pixels == after.pixels
        screenshots = [screenshot for screenshot in ([after] if same else [before, after]) if screenshot]
        cells.show("\n".join(["Mouse and keyboard:", *lines]), screenshots)

    def _add(self, text: str, window: str, count: int = 1) -> None:
        if not cells.are_counted():
            return
        last = self._actions[-1] if self._actions else None
        if last and (last.text, last.window) == (text, window):
            last.count += count
        elif len(self._actions) < _MOST:
            self._actions.append(LoggedAction(text, window, count))
        else:
            self._left_out += count

    def _take_screenshot(self) -> Screenshot | None:
        try:
            screenshot = self._capture(self._region) if self._region and cells.are_counted() else None
        except ComputerError:
            return None
        return screenshot.fitted(_SIDE) if screenshot else None

    def _name_place(self, place: tuple[int, int]) -> str:
        name, at = self._aim
        return f"{name!r} {place}" if name and at == place else f"{place}"

    def _under(self, place: tuple[int, int]) -> str:
        """Return the title of the window at a place."""
        return next(
            (_shorten(window.title) for window in reversed(self._desktop.windows()) if _has(window, place)),
            "",
        )

    def _active(self) -> str:
        return next((_shorten(window.title) for window in self._desktop.windows() if window.active), "")


def _has(window: Window, place: tuple[int, int]) -> bool:
    (x, y), region = place, window.region
    inside = region.x <= x < region.x + region.width and region.y <= y < region.y + region.height
    return inside and not window.hidden


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
