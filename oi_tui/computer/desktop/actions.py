"""Carries out the computer-use actions of models with mouse and keyboard.

Anthropic's tools `computer_20250124` and `computer_20251124` have one action at a time, OpenAI's tool
`computer` a list of them.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from oi_tui.computer.desktop.base import Region
from oi_tui.computer.desktop.display import look
from oi_tui.computer.desktop.pictures import Picture
from oi_tui.computer.errors import ComputerError

Action = dict[str, Any]
_LONGEST_WAIT = 60.0
#: OpenAI's words for what is called otherwise here.
_BUTTONS = {"wheel": "middle"}


def act(
    computer: Any, actions: Action | Iterable[Action], size: tuple[int, int] | None = None
) -> Picture | None:
    """Carry out one action or several in their order. Return the last picture that one of them asked for.

    `size` is that of the picture of the whole screen that coordinates belong to, where it is another.
    """
    picture = None
    for action in [actions] if isinstance(actions, dict) else list(actions):
        picture = _one(computer, action, size) or picture
    return picture


def _one(computer: Any, action: Action, size: tuple[int, int] | None) -> Picture | None:
    name = action.get("action") or action.get("type")
    found = _ACTIONS.get(str(name))
    if found is None:
        raise ComputerError(f"There is no action {name!r}; actions: {', '.join(sorted(_ACTIONS))}.")
    try:
        if size:
            action = _scaled(action, computer.display.size, size)
        picture: Picture | None = found(computer, action)
    except (KeyError, TypeError, ValueError) as error:
        raise ComputerError(f"The action {name} is not complete: {action} ({error}).") from None
    return picture


def _scaled(action: Action, screen: tuple[int, int], size: tuple[int, int]) -> Action:
    """The action with the coordinates of the screen in place of those of a picture of this size."""

    def scale(numbers: Iterable[Any]) -> list[int]:
        # x and y in turn.
        return [int(number) * screen[at % 2] // size[at % 2] for at, number in enumerate(numbers)]

    scaled = {**action}
    for key in ("coordinate", "start_coordinate", "region"):
        if key in action:
            scaled[key] = scale(action[key])
    if "x" in action:
        scaled["x"], scaled["y"] = scale((action["x"], action["y"]))
    if "path" in action:
        scaled["path"] = [scale(_pair(point)) for point in action["path"]]
    return scaled


def _pair(point: Any) -> tuple[Any, Any]:
    """The coordinates of a point of a path, of which there are two forms."""
    x, y = (point["x"], point["y"]) if isinstance(point, dict) else point
    return x, y


@contextlib.contextmanager
def _held(computer: Any, action: Action) -> Iterator[None]:
    """Hold the keys down that belong to a click or a turn of the wheel."""
    keys = _keys(str(action.get("text") or "")) or [str(key).lower() for key in action.get("keys") or ()]
    down = []
    try:
        for key in keys:
            computer.keyboard.down(key)
            down.append(key)
        yield
    finally:
        for key in reversed(down):
            computer.keyboard.up(key)


def _point(action: Action, key: str = "coordinate") -> tuple[int, int] | None:
    if key in action:
        x, y = action[key]
        return int(x), int(y)
    return (int(action["x"]), int(action["y"])) if "x" in action else None


def _click(computer: Any, action: Action, button: str, clicks: int) -> None:
    if (point := _point(action)) is not None:
        computer.mouse.move(*point)
    with _held(computer, action):
        computer.mouse.click(button=button, clicks=clicks)


def _clicks(button: str, clicks: int) -> Callable[[Any, Action], None]:
    return lambda computer, action: _click(computer, action, button, clicks)


def _openai_click(computer: Any, action: Action) -> None:
    button = str(action.get("button") or "left")
    _click(computer, action, _BUTTONS.get(button, button), 1)


def _move(computer: Any, action: Action) -> None:
    point = _point(action)
    if point is None:
        raise KeyError("coordinate")
    computer.mouse.move(*point)


def _drag(computer: Any, action: Action) -> None:
    if "path" in action:
        start, *through, end = [_pair(point) for point in action["path"]]
    else:
        start, through, end = (
            _point(action, "start_coordinate") or computer.mouse.position(),
            [],
            action["coordinate"],
        )
    computer.mouse.drag(start, _pair(end), through=through)


def _scroll(computer: Any, action: Action) -> None:
    if (point := _point(action)) is not None:
        computer.mouse.move(*point)
    with _held(computer, action):
        for clicks, sideways in _turns(action):
            computer.mouse.scroll(clicks, sideways=sideways)


def _turns(action: Action) -> list[tuple[int, bool]]:
    """How far the wheel turns, and whether sideways."""
    if "scroll_direction" in action:
        direction, amount = action["scroll_direction"], int(action["scroll_amount"])
        if direction not in ("up", "down", "left", "right"):
            raise ComputerError(f"Scrolling {direction} is not possible; up, down, left and right are.")
        return [(amount if direction in ("up", "left") else -amount, direction in ("left", "right"))]
    # Pixels, of which a turn of the wheel moves about a hundred; less than that is one turn.
    moved = ((int(action.get("scroll_y", 0)), False), (int(action.get("scroll_x", 0)), True))
    return [
        ((-1 if pixels > 0 else 1) * max(1, round(abs(pixels) / 100)), way) for pixels, way in moved if pixels
    ]


def _press(computer: Any, action: Action) -> None:
    keys = [str(key).lower() for key in action["keys"]] if "keys" in action else _keys(action["text"])
    computer.keyboard.hotkey(*keys, interval=0)


def _hold(computer: Any, action: Action) -> None:
    with _held(computer, {"text": action["text"]}):
        _wait(computer, action)


def _wait(_: Any, action: Action) -> None:
    time.sleep(min(float(action.get("duration", 1)), _LONGEST_WAIT))


def _screenshot(computer: Any, _: Action) -> Picture:
    picture: Picture = computer.display.screenshot(active_app_only=False)
    return picture


def _zoom(_: Any, action: Action) -> Picture:
    left, top, right, bottom = map(int, action["region"])
    return look(Region(left, top, right - left, bottom - top))


def _position(computer: Any, _: Action) -> None:
    print(computer.mouse.position())


def _keys(text: str) -> list[str]:
    """The keys of `ctrl+shift+s`; a plus sign alone, or at the end, is a key."""
    parts = text.split("+")
    if text.endswith("+"):
        parts = [*parts[:-2], "+"]
    return [part for part in parts if part]


_ACTIONS: dict[str, Callable[[Any, Action], Any]] = {
    "click": _openai_click,
    "left_click": _clicks("left", 1),
    "right_click": _clicks("right", 1),
    "middle_click": _clicks("middle", 1),
    "double_click": _clicks("left", 2),
    "triple_click": _clicks("left", 3),
    "mouse_move": _move,
    "move": _move,
    "left_click_drag": _drag,
    "drag": _drag,
    "left_mouse_down": lambda computer, _: computer.mouse.down(),
    "left_mouse_up": lambda computer, _: computer.mouse.up(),
    "scroll": _scroll,
    "type": lambda computer, action: computer.keyboard.write(action["text"], delay=0),
    "key": _press,
    "keypress": _press,
    "hold_key": _hold,
    "wait": _wait,
    "screenshot": _screenshot,
    "zoom": _zoom,
    "cursor_position": _position,
}
