"""Encodes keys and pastes as a terminal sends them to a program."""

import re

from textual.events import Key

#: The last character of a cursor key's sequence.
_CURSOR = {"up": "A", "down": "B", "right": "C", "left": "D", "home": "H", "end": "F"}
_FUNCTION = {"f1": "P", "f2": "Q", "f3": "R", "f4": "S"}
#: The number of an editing or function key's sequence.
_NUMBERED = {
    "insert": 2,
    "delete": 3,
    "pageup": 5,
    "pagedown": 6,
    **{f"f{5 + i}": number for i, number in enumerate((15, 17, 18, 19, 20, 21, 23, 24))},
}
_SINGLE = {"enter": "\r", "tab": "\t", "escape": "\x1b", "backspace": "\x7f", "space": " "}
_WITH_CTRL = {
    **{chr(code): chr(code - 96) for code in range(ord("a"), ord("z") + 1)},
    "space": "\0",
    "at": "\0",
    "backspace": "\b",
    "enter": "\r",
    "tab": "\t",
    "escape": "\x1b",
    "left_square_bracket": "\x1b",
    "backslash": "\x1c",
    "right_square_bracket": "\x1d",
    "circumflex_accent": "\x1e",
    "underscore": "\x1f",
    "slash": "\x1f",
    "minus": "\x1f",
}
#: What each modifier adds to the number that stands for all of them (xterm: 1 is none).
_MODIFIERS = {"shift": 1, "alt": 2, "ctrl": 4}
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def encode_key(event: Key, *, application: bool = False) -> str:
    """Return the sequence that an xterm sends for the key; empty for a key that it does not have.

    `application` is the mode in which programs get the cursor keys in another form (DECCKM).
    """
    *modifiers, name = event.key.split("+") if event.key != "+" else ["+"]
    if not all(modifier in _MODIFIERS for modifier in modifiers):
        return ""
    if name[:1] == "f" and name[1:].isdecimal() and 12 < int(name[1:]) <= 24:
        # Textual counts shift and a function key on from the twelfth.
        modifiers, name = [*modifiers, "shift"], f"f{int(name[1:]) - 12}"
    number = 1 + sum(_MODIFIERS[modifier] for modifier in set(modifiers))
    if final := _CURSOR.get(name):
        if number > 1:
            return f"\x1b[1;{number}{final}"
        return f"\x1bO{final}" if application else f"\x1b[{final}"
    if final := _FUNCTION.get(name):
        return f"\x1b[1;{number}{final}" if number > 1 else f"\x1bO{final}"
    if code := _NUMBERED.get(name):
        return f"\x1b[{code};{number}~" if number > 1 else f"\x1b[{code}~"
    if name == "tab" and "shift" in modifiers:
        return "\x1b[Z"
    meta = "\x1b" if "alt" in modifiers else ""
    if "ctrl" in modifiers:
        return meta + _WITH_CTRL[name] if name in _WITH_CTRL else ""
    if name in _SINGLE:
        return meta + _SINGLE[name]
    if event.character and event.is_printable:
        return meta + event.character
    return meta + name if len(name) == 1 else ""


def paste_text(text: str, *, bracketed: bool = False) -> str:
    """Return the text that an xterm sends for a paste: without control characters, so
    that it can press no keys.
    """
    text = _CONTROLS.sub("", text.replace("\r\n", "\r").replace("\n", "\r"))
    return f"\x1b[200~{text}\x1b[201~" if bracketed else text
