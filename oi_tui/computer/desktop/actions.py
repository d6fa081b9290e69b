"""Carries out the computer-use actions of models with mouse and keyboard.

Anthropic's tools `computer_20250124` and `computer_20251124` have one action at a time, OpenAI's tool
`computer` a list of them. All parameters are read before anything is done.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from oi_tui.computer.desktop.action_parameters import Parameters
from oi_tui.computer.desktop.base import Region
from oi_tui.computer.desktop.display import capture
from oi_tui.computer.desktop.screenshot import Screenshot
from oi_tui.computer.errors import ComputerError

#: Does what an action says, and returns a screenshot if it asks for one.
Run = Callable[[Any], "Screenshot | None"]
_EXAMPLE = '{"action": "screenshot"}'
_LONGEST_WAIT = 60.0
_MOST_TURNS = 100
#: How many pixels one turn of the wheel moves, roughly.
_TURN = 100
_MOST_PIXELS = _MOST_TURNS * _TURN
#: OpenAI's words for what is called otherwise here.
_BUTTONS = {"left": "left", "middle": "middle", "wheel": "middle", "right": "right"}
_BUTTONS.update(back="back", forward="forward")
_DIRECTIONS = ("up", "down", "left", "right")
_DRAG = ("coordinate", "start_coordinate", "path")
_PLACE = ("coordinate", "x", "y")


def act(computer: Any, actions: Any, size: tuple[int, int] | None = None) -> Screenshot | None:
    """Carry out one action (a dictionary) or several. Return the last screenshot that one of them asked for.

    `size` is that of the screenshot of the whole screen that coordinates belong to, where it is another.
    Raises ComputerError, before anything is done, for an action that cannot be understood.
    """
    if isinstance(actions, (str, bytes)) or not isinstance(actions, (dict, Iterable)):
        raise ComputerError(f"computer.act needs an action such as {_EXAMPLE}, or a list of them.")
    steps = [actions] if isinstance(actions, dict) else list(actions)
    screen = computer.display.size if size else None
    runs = []
    for number, action in enumerate(steps, 1):
        with _number_errors(number, len(steps), "Nothing was done. "):
            runs.append(_parse(action, screen, size))
    screenshot = None
    for number, run in enumerate(runs, 1):
        done = f"The {number - 1} before it were done. " if number > 1 else ""
        with _number_errors(number, len(steps), done):
            screenshot = run(computer) or screenshot
    return screenshot


@contextlib.contextmanager
def _number_errors(number: int, count: int, before: str) -> Iterator[None]:
    """Say in an error which of several actions it is about."""
    try:
        yield
    except ComputerError as error:
        if count == 1 or type(error) is not ComputerError:
            raise
        raise ComputerError(f"{before}Action {number} of {count}: {error}") from None


def _parse(action: Any, screen: tuple[int, int] | None, size: Any) -> Run:
    if not isinstance(action, dict):
        raise ComputerError(f"An action is a dictionary such as {_EXAMPLE}, not {action!r:.80}.")
    name = action.get("action") or action.get("type")
    if not isinstance(name, str) or name not in _ACTIONS:
        raise ComputerError(f"There is no action {name!r:.80}; actions: {', '.join(sorted(_ACTIONS))}.")
    parameter_names, parse = _ACTIONS[name]
    parameters = Parameters(name, action, screen, size)
    parameters.require_known(parameter_names)
    return parse(parameters)


@contextlib.contextmanager
def _hold_keys(computer: Any, keys: Sequence[str]) -> Iterator[None]:
    """Hold the keys down that belong to a click or a turn of the wheel."""
    down: list[str] = []
    try:
        for key in keys:
            computer.keyboard.down(key)
            down.append(key)
        yield
    finally:
        for key in reversed(down):
            computer.keyboard.up(key)


def _click_at(button: str, clicks: int, parameters: Parameters) -> Run:
    point, keys = parameters.read_point(), parameters.read_modifiers()

    def run(computer: Any) -> None:
        if point is not None:
            computer.mouse.move(*point)
        with _hold_keys(computer, keys):
            computer.mouse.click(button=button, clicks=clicks)

    return run


def _make_click(button: str, clicks: int) -> Callable[[Parameters], Run]:
    return lambda parameters: _click_at(button, clicks, parameters)


def _openai_click(parameters: Parameters) -> Run:
    return _click_at(_BUTTONS[parameters.read_choice("button", _BUTTONS, "left")], 1, parameters)


def _move(parameters: Parameters) -> Run:
    point, keys = parameters.read_required_point(), parameters.read_modifiers()

    def run(computer: Any) -> None:
        with _hold_keys(computer, keys):
            computer.mouse.move(*point)

    return run


def _drag(parameters: Parameters) -> Run:
    keys, path = parameters.read_modifiers(), parameters.read_path()
    start = path[0] if path else parameters.read_point("start_coordinate")
    *through, end = path[1:] or [parameters.read_required_point()]

    def run(computer: Any) -> None:
        with _hold_keys(computer, keys):
            computer.mouse.drag(start or computer.mouse.position(), end, through=through)

    return run


def _read_button(down: bool, parameters: Parameters) -> Run:
    point = parameters.read_point()

    def run(computer: Any) -> None:
        if point is not None:
            computer.mouse.move(*point)
        (computer.mouse.down if down else computer.mouse.up)()

    return run


def _scroll(parameters: Parameters) -> Run:
    point, keys, turns = parameters.read_point(), parameters.read_modifiers(), _read_turns(parameters)

    def run(computer: Any) -> None:
        if point is not None:
            computer.mouse.move(*point)
        with _hold_keys(computer, keys):
            for clicks, sideways in turns:
                computer.mouse.scroll(clicks, sideways=sideways)

    return run


def _read_turns(parameters: Parameters) -> list[tuple[int, bool]]:
    """Return how far the wheel turns, and whether sideways."""
    if not parameters.has("scroll_x", "scroll_y"):
        direction = parameters.read_choice("scroll_direction", _DIRECTIONS)
        amount = int(parameters.read_number("scroll_amount", 0, _MOST_TURNS))
        return [(amount if direction in ("up", "left") else -amount, direction in ("left", "right"))]
    # Pixels; less than one turn of the wheel is one.
    moved = [
        (parameters.read_number(key, -_MOST_PIXELS, _MOST_PIXELS, 0), way)
        for key, way in (("scroll_y", False), ("scroll_x", True))
    ]
    return [
        ((-1 if pixels > 0 else 1) * max(1, round(abs(pixels) / _TURN)), way)
        for pixels, way in moved
        if pixels
    ]


def _type(parameters: Parameters) -> Run:
    text = parameters.read_text("text")
    return lambda computer: computer.keyboard.write(text, delay=0)


def _press(parameters: Parameters) -> Run:
    combinations = parameters.read_combinations()

    def run(computer: Any) -> None:
        for keys in combinations:
            computer.keyboard.hotkey(*keys, interval=0)

    return run


def _hold(parameters: Parameters) -> Run:
    combinations = parameters.read_combinations()
    keys = [key for combination in combinations for key in combination]
    seconds = parameters.read_number("duration", 0, _LONGEST_WAIT, 1)

    def run(computer: Any) -> None:
        with _hold_keys(computer, keys):
            time.sleep(seconds)

    return run


def _wait(parameters: Parameters) -> Run:
    seconds = parameters.read_number("duration", 0, _LONGEST_WAIT, 1)
    return lambda _: time.sleep(seconds)


def _screenshot(_: Parameters) -> Run:
    def run(computer: Any) -> Screenshot:
        screenshot: Screenshot = computer.display.screenshot(active_app_only=False)
        return screenshot

    return run


def _zoom(parameters: Parameters) -> Run:
    left, top, right, bottom = parameters.read_region()
    return lambda _: capture(Region(left, top, right - left, bottom - top))


#: For each action, the parameters that it may have, and what reads them.
_ACTIONS: dict[str, tuple[tuple[str, ...], Callable[[Parameters], Run]]] = {
    "click": ((*_PLACE, "button", "text", "keys"), _openai_click),
    "left_click": ((*_PLACE, "text", "keys"), _make_click("left", 1)),
    "right_click": ((*_PLACE, "text", "keys"), _make_click("right", 1)),
    "middle_click": ((*_PLACE, "text", "keys"), _make_click("middle", 1)),
    "double_click": ((*_PLACE, "text", "keys"), _make_click("left", 2)),
    "triple_click": ((*_PLACE, "text", "keys"), _make_click("left", 3)),
    "mouse_move": ((*_PLACE, "text", "keys"), _move),
    "move": ((*_PLACE, "keys"), _move),
    "left_click_drag": ((*_DRAG, "text", "keys"), _drag),
    "drag": ((*_DRAG, "text", "keys"), _drag),
    "left_mouse_down": (_PLACE, lambda parameters: _read_button(True, parameters)),
    "left_mouse_up": (_PLACE, lambda parameters: _read_button(False, parameters)),
    "scroll": (
        (*_PLACE, "scroll_direction", "scroll_amount", "scroll_x", "scroll_y", "text", "keys"),
        _scroll,
    ),
    "type": (("text",), _type),
    "key": (("text", "keys"), _press),
    "keypress": (("text", "keys"), _press),
    "hold_key": (("text", "keys", "duration"), _hold),
    "wait": (("duration",), _wait),
    "screenshot": ((), _screenshot),
    "zoom": (("region",), _zoom),
    "cursor_position": ((), lambda _: lambda computer: print(computer.mouse.position())),
}
