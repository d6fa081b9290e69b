"""Reads the parameters of a computer-use action, in the forms in which models write them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from oi_tui.computer.errors import ComputerError

Action = dict[str, Any]
#: What a value is cut to in an error.
_SHOWN = 80
_BLANKS = {" ": "space", "\t": "tab", "\n": "enter", "\r": "enter"}


class Parameters:
    """The parameters of one action; None counts as missing.

    `size` is that of the screenshot that points belong to, where that is not the screen itself. The methods
    raise ComputerError that names the parameter to change.
    """

    def __init__(self, name: str, action: Action, screen: tuple[int, int] | None, size: Any) -> None:
        self._name = name
        self._values = {key: value for key, value in action.items() if value is not None}
        self._scale: list[tuple[int, float]] = []
        if screen is not None:
            pair = self._read_numbers(
                "size", size, 2, "the width and height of the screenshot, such as [1024, 640]"
            )
            if min(pair) < 1:
                raise self._make_error(
                    "size", size, "the width and height of the screenshot, such as [1024, 640]"
                )
            self._scale = list(zip(screen, pair))

    def require_known(self, known: Iterable[str]) -> None:
        """Raise ComputerError for a parameter that is not one of these."""
        known = (*known, "action", "type")
        if unknown := [key for key in self._values if key not in known]:
            names = ", ".join(key for key in known[:-2]) or "none"
            raise ComputerError(f"{self._name} has no parameter {unknown[0]!r:.80}; parameters: {names}.")

    def has(self, *keys: str) -> bool:
        """Return whether one of these is given."""
        return any(key in self._values for key in keys)

    def read_point(self, key: str = "coordinate") -> tuple[int, int] | None:
        """Return a point of the screen; None if it is not given."""
        if key in self._values:
            return self._convert_point(key, self._values[key])
        if key == "coordinate" and self.has("x", "y"):
            return self._scale_point([self._parse_required_number("x"), self._parse_required_number("y")])
        return None

    def read_required_point(self) -> tuple[int, int]:
        """Return a point of the screen that must be given."""
        point = self.read_point()
        if point is None:
            raise ComputerError(f"{self._name} needs a point: coordinate: [x, y].")
        return point

    def read_path(self) -> list[tuple[int, int]]:
        """Return the points of a path, two or more; none if it is not given."""
        if "path" not in self._values:
            return []
        path = self._values["path"]
        if not isinstance(path, (list, tuple)) or len(path) < 2:
            raise self._make_error("path", path, "a list of two points or more: [[x, y], [x, y]]")
        return [self._convert_point("path", point) for point in path]

    def read_region(self) -> tuple[int, int, int, int]:
        """Return left, top, right and bottom of a part of the screen."""
        what = "[left, top, right, bottom]"
        numbers = self._read_numbers("region", self._values.get("region"), 4, what)
        left, top = self._scale_point(numbers[:2])
        right, bottom = self._scale_point(numbers[2:])
        if right <= left or bottom <= top:
            raise self._make_error("region", self._values["region"], f"{what}, with right and bottom greater")
        return left, top, right, bottom

    def read_number(self, key: str, least: float, most: float, default: float | None = None) -> float:
        """Return a number within bounds."""
        if key not in self._values and default is not None:
            return default
        number = self._parse_required_number(key)
        if not least <= number <= most:
            raise self._make_error(key, self._values[key], f"a number from {least:g} to {most:g}")
        return number

    def read_choice(self, key: str, choices: Iterable[str], default: str | None = None) -> str:
        """Return one of the words in `choices`."""
        value = self._values.get(key, default)
        if not isinstance(value, str) or value.lower() not in choices:
            raise self._make_error(key, value, f"one of {', '.join(choices)}")
        return value.lower()

    def read_text(self, key: str) -> str:
        """Return a text."""
        text = self._values.get(key)
        if not isinstance(text, str):
            raise self._make_error(key, text, "a text")
        return text

    def read_modifiers(self) -> list[str]:
        """Return the keys to hold during the action; none if none are given."""
        if self._values.get("text", "") == "" and self._values.get("keys", []) in ([], ""):
            return []
        return [key for keys in self.read_combinations() for key in keys]

    def read_combinations(self) -> list[list[str]]:
        """Return keys to press together, one group after the other: `ctrl+a Delete`, or a list of keys."""
        if "keys" not in self._values:
            text = self.read_text("text")
            # A key for each blank, or keys between blanks.
            names = [_BLANKS.get(blank, blank) for blank in text]
            if text.strip():
                names = re.sub(r"\s\+\s", "+", text).split()
            groups = [_split_hotkey(name) for name in names]
            if not groups or not all(groups):
                raise self._make_error("text", text, 'keys, such as "ctrl+s" or "Return"')
            return groups
        keys = self._values["keys"]
        hotkeys = [keys] if isinstance(keys, str) else keys
        if not isinstance(hotkeys, (list, tuple)) or not all(isinstance(key, str) for key in hotkeys):
            hotkeys = []
        names = [name.lower() for key in hotkeys for name in _split_hotkey(key) or [""]]
        if not names or not all(names):
            raise self._make_error("keys", keys, 'a list of keys, such as ["CTRL", "S"]')
        return [names]

    def _parse_required_number(self, key: str) -> float:
        number = _parse_number(self._values.get(key))
        if number is None:
            raise self._make_error(key, self._values.get(key), "a number")
        return number

    def _convert_point(self, key: str, value: Any) -> tuple[int, int]:
        if isinstance(value, dict) and {"x", "y"} <= value.keys():
            value = [value["x"], value["y"]]
        return self._scale_point(self._read_numbers(key, value, 2, "a point: [x, y]"))

    def _read_numbers(self, key: str, value: Any, count: int, what: str) -> list[float]:
        values = list(value) if isinstance(value, (list, tuple)) else []
        numbers = [number for item in values if (number := _parse_number(item)) is not None]
        if not len(values) == len(numbers) == count:
            raise self._make_error(key, value, what)
        return numbers

    def _scale_point(self, pair: list[float]) -> tuple[int, int]:
        """Return the point of the screen for a point of the screenshot."""
        if self._scale:
            pair = [number * whole // part for number, (whole, part) in zip(pair, self._scale)]
        x, y = pair
        return math.floor(x), math.floor(y)

    def _make_error(self, key: str, value: Any, what: str) -> ComputerError:
        if value is None:
            return ComputerError(f"{self._name} needs {key}: {what}.")
        text = repr(value)
        text = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
        return ComputerError(f"{self._name}: {key} must be {what}, not {text}.")


def _parse_number(value: Any) -> float | None:
    """Return a value as a number; None if it is not one."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _split_hotkey(text: str) -> list[str]:
    """Return the keys of `ctrl+shift+s`; the last may be a plus sign. None if one is missing."""
    keys = [*text[:-2].split("+"), "+"] if text.endswith("++") else text.split("+")
    return ["+"] if text == "+" else keys if all(keys) else []
