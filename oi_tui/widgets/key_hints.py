"""Key hints that can be clicked: a click presses the key."""

import re
from collections.abc import Iterable

from textual import events
from textual.app import App
from textual.keys import _character_to_key

from oi_tui.widgets.truncate import measure_width

#: What is a key in a hint: `esc`, `f1`, `ctrl+f`, `?`; words such as `type` and `page up/down` are none.
_KEY = re.compile(r"((?:ctrl\+|alt\+)?(?:esc|enter|tab|up|down|f\d+|\S)) (?!/ )")


def find_key(line: str, cell: int, hints: Iterable[str]) -> str:
    """Return the key of the hint at a cell of a line, as it is written there; "" where there is none."""
    for hint in hints:
        begin = line.rfind(hint)
        start = measure_width(line[:begin])
        if begin >= 0 and start <= cell < start + measure_width(hint):
            match = _KEY.match(hint)
            return match[1] if match else ""
    return ""


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
