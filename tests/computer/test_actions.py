"""The ordered actions of computer tools, as calls of the object `computer`."""

from typing import Any

from oi_tui.computer.desktop.actions import act


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
