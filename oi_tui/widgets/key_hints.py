"""Key hints that can be clicked: a click presses the key."""

import re
from collections.abc import Sequence

from textual import events
from textual.app import App
from textual.keys import _character_to_key

from oi_tui.widgets.truncate import measure_width

#: What is a key in a hint: `esc`, `f1`, `ctrl+f`, `?`; words such as `type` and `page up/down` are none.
_KEY = re.compile(r"((?:ctrl\+|alt\+)?(?:esc|enter|tab|up|down|f\d+|\S)) (?!/ )")


def find_hint(line: str, cell: int, hints: Sequence[str]) -> int | None:
    """Return the number of the hint at a cell of a line; None where there is none."""
    for number, hint in enumerate(hints):
        begin = line.rfind(hint) if hint else -1
        start = measure_width(line[:begin])
        if begin >= 0 and start <= cell < start + measure_width(hint):
            return number
    return None


def find_key(line: str, cell: int, hints: Sequence[str]) -> str:
    """Return the key of the hint at a cell of a line, as it is written there; "" where there is none."""
    number = find_hint(line, cell, hints)
    match = None if number is None else _KEY.match(hints[number])
    return match[1] if match else ""


def press(app: App[object], key: str) -> None:
    """Press a key such as `ctrl+f`, as if it was typed: what has the keyboard gets it."""
    modifier, last = key[:-1], key[-1]
    if key == "esc":
        key = "escape"
    elif not modifier or modifier.endswith("+"):
        key = modifier + _character_to_key(last)
    event = events.Key(key, None if modifier else last)
    # A key from a widget would not leave it: Textual stops a message at its sender.
    event.set_sender(app)
    app.post_message(event)
