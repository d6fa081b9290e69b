"""`computer.mouse`: the pointer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from oi_tui.computer.desktop.base import UNKNOWN_PLACE, Window
from oi_tui.computer.desktop.elements import Element, find_only, normalise_spaces, open_tree
from oi_tui.computer.desktop.screenshot import Screenshot
from oi_tui.computer.desktop.session import DesktopSession, open_session
from oi_tui.computer.errors import ComputerError
from oi_tui.computer.tool import Tool

_BUTTONS = {"left": 1, "middle": 2, "right": 3, "back": 8, "forward": 9}
_WHEEL_UP, _WHEEL_DOWN, _WHEEL_LEFT, _WHEEL_RIGHT = 4, 5, 6, 7
_NO_PLACES = (
    "Wayland does not tell where windows and elements are, so nothing was clicked. Click a text that is on "
    "the screen, or a point of a screenshot (computer.display.view()), or press keys. "
    "computer.os.activate(title) brings a window to the front."
)
_TO_THE_FRONT = "computer.os.activate(title) brings a window to the front; list the elements again then."
#: A movement of a drag: how many steps, and how long each.
_STEPS, _STEP_SECONDS = 20, 0.01


class Mouse(Tool):
    """Move the pointer, click, drag and scroll. When the user moves the mouse, the code is stopped."""

    def position(self) -> tuple[int, int]:
        """Return where the pointer is."""
        return open_session().desktop.position()

    def move(
        self,
        *args: Any,
        x: int | None = None,
        y: int | None = None,
        icon: str | None = None,
        text: str | None = None,
        screenshot: Screenshot | None = None,
        name: str | None = None,
        role: str | None = None,
    ) -> None:
        """Move the pointer to a point, an element, a text, or a window by its title (`icon`).

        `move(100, 200)` is a point; `move(role="button", name="Save")` and `move(element)` are elements as
        `display.elements()` lists them; `move("Save")` is an element with this name, or else a text.
        """
        if name is not None or role is not None:
            element = find_only(self._computer.display.elements(), name, role)
            point, name = self._center(element), element.name
        else:
            point, name = self._point(args, x, y, icon, text, screenshot), _describe_target(args, icon, text)
        open_session().log.aim(name, point)
        open_session().move(*point)

    def click(
        self, *args: Any, button: str = "left", clicks: int = 1, interval: float = 0.1, **kwargs: Any
    ) -> None:
        """Click at a point, an element, a text or a window, as in `move`; without one, right here."""
        number = _read_number(button)
        if args or kwargs:
            self.move(*args, **kwargs)
        for count in range(clicks):
            if count:
                time.sleep(interval)
            _press(open_session(), number)
        open_session().log.click(button, clicks)

    def double_click(self, *args: Any, button: str = "left", interval: float = 0.1, **kwargs: Any) -> None:
        """Click twice."""
        self.click(*args, button=button, clicks=2, interval=interval, **kwargs)

    def triple_click(self, *args: Any, button: str = "left", interval: float = 0.1, **kwargs: Any) -> None:
        """Click three times."""
        self.click(*args, button=button, clicks=3, interval=interval, **kwargs)

    def right_click(self, *args: Any, **kwargs: Any) -> None:
        """Click with the right button."""
        self.click(*args, button="right", **kwargs)

    def drag(
        self,
        start: tuple[int, int],
        end: tuple[int, int],
        button: str = "left",
        through: Sequence[tuple[int, int]] = (),
    ) -> None:
        """Press at one point, move to another, on the way `through` others, and release there."""
        desktop, number = open_session(), _read_number(button)
        # All of them before the button is pressed.
        start, *points = [self._on_screen(*point) for point in (start, *through, end)]
        desktop.move(*start)
        desktop.button(number, True)
        try:
            before = start
            for after in points:
                for step in range(1, _STEPS + 1):
                    time.sleep(_STEP_SECONDS)
                    desktop.move(*(a + (b - a) * step // _STEPS for a, b in zip(before, after)))
                before = after
        except BaseException:
            # Whatever ended it, the button must not stay down.
            desktop.release()
            raise
        desktop.button(number, False)
        desktop.log.drag(start, points[-1])

    def scroll(self, clicks: float, sideways: bool = False) -> None:
        """Turn the wheel: up for a positive number, down for a negative one; `sideways` left and right."""
        if isinstance(clicks, float) and clicks.is_integer():
            clicks = int(clicks)
        if not isinstance(clicks, int):
            raise ComputerError(f"mouse.scroll needs a whole number, not {clicks!r:.80}.")
        desktop = open_session()
        forward, back = (_WHEEL_LEFT, _WHEEL_RIGHT) if sideways else (_WHEEL_UP, _WHEEL_DOWN)
        for _ in range(abs(clicks)):
            _press(desktop, forward if clicks > 0 else back)
        if clicks:
            desktop.log.scroll(clicks, sideways)

    def down(self, button: str = "left") -> None:
        """Press a button and hold it."""
        open_session().button(_read_number(button), True)
        open_session().log.button(button, down=True)

    def up(self, button: str = "left") -> None:
        """Release a button."""
        open_session().button(_read_number(button), False)
        open_session().log.button(button, down=False)

    def _point(
        self,
        args: tuple[Any, ...],
        x: int | None,
        y: int | None,
        icon: str | None,
        text: str | None,
        screenshot: Screenshot | None,
    ) -> tuple[int, int]:
        if len(args) == 1 and isinstance(args[0], str):
            text = args[0]
        elif len(args) == 1 and isinstance(args[0], Element):
            return self._center(args[0])
        elif len(args) == 1 and isinstance(args[0], tuple):
            x, y = args[0]
        elif len(args) == 2:
            x, y = args
        elif args:
            raise ComputerError("mouse: give x and y, or a text that is on the screen.")
        if text is not None:
            return self._find(text, screenshot)
        if icon is not None:
            return self._window(icon)
        if x is None and y is None:
            raise ComputerError("mouse: give x and y, or a text that is on the screen.")
        if x is None or y is None:
            here = self.position()
            x, y = here[0] if x is None else x, here[1] if y is None else y
        return self._on_screen(x, y)

    def _center(self, element: Element) -> tuple[int, int]:
        if element.region == UNKNOWN_PLACE:
            raise ComputerError(_NO_PLACES)
        if not open_tree().is_there(element):
            raise ComputerError(
                f"The {element.role} {element.name!r} of the window {element.window!r} has gone or moved. "
                "Nothing was clicked. List the elements again."
            )
        point = self._on_screen(*element.center)
        self._require_on_top(element, point)
        return point

    def _require_on_top(self, element: Element, point: tuple[int, int]) -> None:
        """Raise ComputerError where another window would get the click."""
        if above := self._find_above(element, point):
            raise ComputerError(
                f"The window {above.title!r} covers the {element.role} {element.name!r} of "
                f"{element.window!r}. Nothing was clicked. {_TO_THE_FRONT}"
            )

    def _find_above(self, element: Element, point: tuple[int, int]) -> Window | None:
        """Return the other window that is above an element; None where there is none, or it is not known."""
        windows = [window for window in self._computer.display.windows() if not window.hidden]
        own = [window for window in windows if normalise_spaces(window.title) == element.window]
        at = open_session().desktop.window_at(*point) if own else None
        # Menus and the like have windows that are not listed.
        return next((window for window in windows if window.id == at and window not in own), None)

    def _on_screen(self, x: Any, y: Any) -> tuple[int, int]:
        width, height = open_session().desktop.size()
        if not all(isinstance(number, (int, float)) and not isinstance(number, bool) for number in (x, y)):
            raise ComputerError(f"({x!r}, {y!r}) is not a point: give two numbers.")
        if not (0 <= x < width and 0 <= y < height):
            raise ComputerError(f"({x}, {y}) is not on the screen, which has {width}x{height} pixels.")
        return int(x), int(y)

    def _find(self, text: str, screenshot: Screenshot | None) -> tuple[int, int]:
        if screenshot is None and (place := self._element_named(text)):
            return self._on_screen(*place)
        matches = self._computer.display.find_text(text, screenshot)
        if not matches:
            raise ComputerError(f"The text {text!r} is not on the screen. Nothing was clicked.")
        exact = [item for item in matches if item["text"].casefold() == text.casefold()] or matches
        if len(exact) > 1:
            places = ", ".join(f"{item['text']!r} at {item['center']}" for item in exact[:8])
            raise ComputerError(f"{text!r} is on the screen {len(exact)} times: {places}. Use coordinates.")
        center: tuple[int, int] = exact[0]["center"]
        return center

    def _element_named(self, text: str) -> tuple[int, int] | None:
        """Return the center of the one element with this name; None where the tree does not say."""
        try:
            elements = self._computer.display.elements()
        except ComputerError:
            return None
        folded_name = text.casefold()
        matches = [
            element
            for element in elements
            if element.name.casefold() == folded_name
            and element.role != "label"
            and element.region != UNKNOWN_PLACE
        ]
        if len(matches) != 1 or self._find_above(matches[0], matches[0].center):
            return None
        center: tuple[int, int] = matches[0].center
        return center

    def _window(self, title: str) -> tuple[int, int]:
        if not open_session().desktop.knows_places:
            raise ComputerError(_NO_PLACES)
        windows = self._computer.display.windows()
        matches = [window for window in windows if title.casefold() in window.title.casefold()]
        if len(matches) != 1:
            titles = ", ".join(repr(window.title) for window in windows) or "none"
            raise ComputerError(
                f"{len(matches)} windows fit {title!r}. Windows: {titles}. Nothing was clicked."
            )
        if matches[0].hidden:
            raise ComputerError(
                f"The window {matches[0].title!r} is minimised or on another workspace. Nothing was clicked. "
                f"{_TO_THE_FRONT}"
            )
        center = self._on_screen(*matches[0].region.center)
        at = open_session().desktop.window_at(*center)
        if above := next((window for window in windows if window.id == at and window != matches[0]), None):
            raise ComputerError(
                f"The window {above.title!r} covers the middle of {matches[0].title!r}. Nothing was clicked. "
                f"{_TO_THE_FRONT}"
            )
        return center


def _describe_target(args: tuple[Any, ...], icon: str | None, text: str | None) -> str:
    """Return what is pointed at, in words; "" for a place."""
    first = args[0] if args else None
    if isinstance(first, Element):
        return first.name
    return text or icon or (first if isinstance(first, str) else "")


def _press(desktop: DesktopSession, number: int) -> None:
    desktop.button(number, True)
    desktop.button(number, False)


def _read_number(button: str) -> int:
    if button not in _BUTTONS:
        raise ComputerError(f"There is no button {button!r}; buttons: {', '.join(_BUTTONS)}.")
    return _BUTTONS[button]
