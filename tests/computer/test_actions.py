"""The ordered actions of computer tools, as calls of the object `computer`."""

from typing import Any

import pytest

from oi_tui.computer.desktop.actions import act
from oi_tui.computer.errors import ComputerError


class Recorder:
    """Writes down the calls of its parts."""

    def __init__(self, calls: list[tuple[Any, ...]], name: str = "") -> None:
        self._calls, self._name = calls, name

    def __getattr__(self, name: str) -> "Recorder":
        return Recorder(self._calls, f"{self._name}.{name}".strip("."))

    def __call__(self, *arguments: Any, **named: Any) -> None:
        self._calls.append((self._name, *arguments, *named.values()))


def test_the_actions_of_openai_are_carried_out_in_order() -> None:
    calls: list[tuple[Any, ...]] = []
    actions: list[dict[str, Any]] = [
        {"type": "click", "button": "right", "x": 7, "y": 8},
        {"type": "double_click", "x": 70, "y": 7},
        {"type": "click", "button": "left", "x": 1, "y": 2, "keys": ["CTRL"]},
        {"type": "keypress", "keys": ["TAB"]},
        {"type": "scroll", "x": 3, "y": 4, "scroll_x": 0, "scroll_y": -200},
        {"type": "scroll", "x": 3, "y": 4, "scroll_x": 300, "scroll_y": 0},
        {"action": "scroll", "scroll_direction": "left", "scroll_amount": 2},
        {"type": "drag", "path": [{"x": 1, "y": 1}, {"x": 5, "y": 5}, {"x": 9, "y": 1}]},
        {"type": "wait", "duration": 0},
    ]
    act(Recorder(calls), actions)
    assert calls == [
        ("mouse.move", 7, 8),
        ("mouse.click", "right", 1),
        ("mouse.move", 70, 7),
        ("mouse.click", "left", 2),
        ("mouse.move", 1, 2),
        ("keyboard.down", "ctrl"),
        ("mouse.click", "left", 1),
        ("keyboard.up", "ctrl"),
        ("keyboard.hotkey", "tab", 0),
        ("mouse.move", 3, 4),
        ("mouse.scroll", 2, False),
        ("mouse.move", 3, 4),
        ("mouse.scroll", -3, True),
        ("mouse.scroll", 2, True),
        ("mouse.drag", (1, 1), (9, 1), [(5, 5)]),
    ]


#: Actions that models get wrong, and what they are told.
WRONG: list[tuple[Any, str]] = [
    ("click", "computer.act needs an action such as"),
    (None, "computer.act needs an action such as"),
    (["click"], "An action is a dictionary such as"),
    ({}, "There is no action None; actions: click, cursor_position,"),
    ({"action": "left_klick"}, "There is no action 'left_klick'; actions: "),
    ({"action": {"type": "click"}}, "There is no action {'type': 'click'}; actions: "),
    ({"action": "left_click", "coordinates": [1, 2]}, "has no parameter 'coordinates'; parameters: coord"),
    ({"action": "left_click", "coordinate": "12"}, "coordinate must be a point: [x, y], not '12'."),
    ({"action": "left_click", "coordinate": [1]}, "coordinate must be a point: [x, y], not [1]."),
    ({"action": "left_click", "coordinate": [1, "b"]}, "coordinate must be a point: [x, y], not [1, 'b']."),
    ({"action": "left_click", "coordinate": [True, 2]}, "coordinate must be a point"),
    ({"action": "left_click", "coordinate": [float("inf"), 2]}, "coordinate must be a point"),
    ({"action": "left_click", "text": 5}, "text must be a text, not 5."),
    ({"type": "click", "x": 5}, "click needs y: a number."),
    ({"type": "click", "x": 5, "y": "low"}, "click: y must be a number, not 'low'."),
    ({"type": "click", "x": 5, "y": 5, "button": "scroll"}, "button must be one of left, middle, wheel"),
    ({"type": "click", "x": 5, "y": 5, "keys": [1]}, 'a list of keys, such as ["CTRL", "S"], not [1].'),
    ({"action": "mouse_move"}, "mouse_move needs a point: coordinate: [x, y]."),
    ({"type": "drag", "path": [{"x": 1, "y": 1}]}, "path must be a list of two points or more"),
    ({"type": "drag", "path": [[1, 1], {"x": 1}]}, "path must be a point: [x, y], not {'x': 1}."),
    ({"action": "left_click_drag", "start_coordinate": [1, 1]}, "left_click_drag needs a point"),
    ({"action": "scroll", "coordinate": [1, 1]}, "needs scroll_direction: one of up, down, left, right."),
    ({"action": "scroll", "scroll_direction": "in", "scroll_amount": 1}, "scroll_direction must be one of"),
    ({"action": "scroll", "scroll_direction": "up"}, "scroll needs scroll_amount: a number."),
    ({"action": "scroll", "scroll_direction": "up", "scroll_amount": -3}, "a number from 0 to 100, not -3."),
    ({"type": "scroll", "x": 1, "y": 1, "scroll_y": 1e9}, "scroll_y must be a number from -10000 to 10000"),
    ({"action": "type"}, "type needs text: a text."),
    ({"action": "type", "text": ["a"]}, "type: text must be a text, not ['a']."),
    ({"action": "key", "text": ""}, 'key: text must be keys, such as "ctrl+s" or "Return", not \'\'.'),
    ({"action": "key", "text": "ctrl+"}, "key: text must be keys, such as"),
    ({"action": "key", "text": "ctrl +c"}, "key: text must be keys"),
    ({"type": "keypress", "keys": ["CTRL", ""]}, "keypress: keys must be a list of keys"),
    ({"type": "keypress", "keys": []}, "keypress: keys must be a list of keys"),
    ({"action": "hold_key", "text": "a", "duration": 1000}, "must be a number from 0 to 60, not 1000."),
    ({"action": "wait", "duration": -1}, "wait: duration must be a number from 0 to 60, not -1."),
    ({"action": "wait", "duration": "5s"}, "wait: duration must be a number, not '5s'."),
    ({"action": "zoom", "region": [10, 10, 5]}, "must be [left, top, right, bottom], not [10, 10, 5]."),
    ({"action": "zoom", "region": [10, 10, 5, 20]}, "with right and bottom greater, not [10, 10, 5, 20]."),
    ({"action": "zoom"}, "zoom needs region: [left, top, right, bottom]."),
]  # fmt: skip


@pytest.mark.parametrize(("action", "words"), WRONG, ids=range(len(WRONG)))
def test_an_action_that_cannot_be_understood_is_named_before_anything_is_done(
    action: Any, words: str
) -> None:
    calls: list[tuple[Any, ...]] = []
    with pytest.raises(ComputerError) as error:
        act(Recorder(calls), action)
    assert words in str(error.value)
    assert len(str(error.value)) < 500
    if isinstance(action, dict):
        with pytest.raises(ComputerError, match=r"^Nothing was done\. Action 2 of 2: "):
            act(Recorder(calls), [{"action": "left_click"}, action])
    assert calls == []


def test_forms_of_arguments_that_can_be_understood_are() -> None:
    calls: list[tuple[Any, ...]] = []
    act(Recorder(calls), [
        {"action": "mouse_move", "coordinate": [7.9, "8"]},
        {"action": "left_click", "coordinate": None, "text": None, "start_coordinate": None},
        {"action": "left_click", "coordinate": {"x": 3, "y": 4}},
        {"action": "key", "text": "ctrl+a Delete"},
        {"action": "key", "text": "ctrl++"},
        {"action": "key", "text": " "},
        {"action": "key", "text": "\n\t"},
        {"action": "key", "text": "Ctrl + Shift + C Return"},
        {"type": "keypress", "keys": ["CTRL+C"]},
        {"type": "keypress", "keys": "CTRL+S"},
        {"action": "left_mouse_down", "coordinate": [1, 2]},
    ])  # fmt: skip
    assert calls == [
        ("mouse.move", 7, 8),
        ("mouse.click", "left", 1),
        ("mouse.move", 3, 4),
        ("mouse.click", "left", 1),
        ("keyboard.hotkey", "ctrl", "a", 0),
        ("keyboard.hotkey", "Delete", 0),
        ("keyboard.hotkey", "ctrl", "+", 0),
        ("keyboard.hotkey", "space", 0),
        ("keyboard.hotkey", "enter", 0),
        ("keyboard.hotkey", "tab", 0),
        ("keyboard.hotkey", "Ctrl", "Shift", "C", 0),
        ("keyboard.hotkey", "Return", 0),
        ("keyboard.hotkey", "ctrl", "c", 0),
        ("keyboard.hotkey", "ctrl", "s", 0),
        ("mouse.move", 1, 2),
        ("mouse.down",),
    ]
