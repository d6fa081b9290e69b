"""The names of keys that people, models and Open Interpreter use, and what X11 calls these keys."""

from __future__ import annotations

import re

_SIDES = {"ctrl": "Control", "control": "Control", "alt": "Alt", "option": "Alt", "shift": "Shift"}
_SIDES.update(dict.fromkeys(("super", "win", "meta", "command", "cmd"), "Super"))
_NUMPAD = ("Add", "Subtract", "Multiply", "Divide", "Enter", "Equal")
#: Without num lock, these keys of the number pad would move the caret: they are pressed elsewhere.
_NUMPAD_SIGNS = {**{digit: digit for digit in "0123456789"}, "decimal": "period"}
_SYMBOLS = {
    "enter": "Return",
    "return": "Return",
    "\n": "Return",
    "\r": "Return",
    "tab": "Tab",
    "\t": "Tab",
    "space": "space",
    "spacebar": "space",
    " ": "space",
    "esc": "Escape",
    "escape": "Escape",
    "backspace": "BackSpace",
    "delete": "Delete",
    "del": "Delete",
    "insert": "Insert",
    "home": "Home",
    "end": "End",
    "pageup": "Prior",
    "pgup": "Prior",
    "pagedown": "Next",
    "pgdn": "Next",
    "windows": "Super_L",
    "altgr": "ISO_Level3_Shift",
    "capslock": "Caps_Lock",
    "numlock": "Num_Lock",
    "scrolllock": "Scroll_Lock",
    "printscreen": "Print",
    "prntscrn": "Print",
    "prtsc": "Print",
    "menu": "Menu",
    "apps": "Menu",
    "volumeup": "XF86AudioRaiseVolume",
    "volumedown": "XF86AudioLowerVolume",
    "volumemute": "XF86AudioMute",
    "playpause": "XF86AudioPlay",
    "nexttrack": "XF86AudioNext",
    "prevtrack": "XF86AudioPrev",
    **{f"f{number}": f"F{number}" for number in range(1, 25)},
}
for _way in ("Up", "Down", "Left", "Right"):
    _SYMBOLS.update(dict.fromkeys((f"{_way.lower()}", f"arrow{_way.lower()}", f"{_way.lower()}arrow"), _way))
for _name, _symbol in _SIDES.items():
    _SYMBOLS.update(dict.fromkeys((_name, f"{_name}l", f"{_name}left"), f"{_symbol}_L"))
    _SYMBOLS.update(dict.fromkeys((f"{_name}r", f"{_name}right"), f"{_symbol}_R"))
for _key in _NUMPAD:
    _SYMBOLS.update(dict.fromkeys((f"kp{_key.lower()}", f"numpad{_key.lower()}"), f"KP_{_key}"))
for _name, _symbol in _NUMPAD_SIGNS.items():
    _SYMBOLS.update(dict.fromkeys((f"kp{_name}", f"numpad{_name}", f"num{_name}"), _symbol))
# Those of pyautogui, which Open Interpreter used.
_SYMBOLS.update({key.lower(): f"KP_{key}" for key in _NUMPAD[:4]}, decimal="period")

#: The names of the signs of ASCII that are neither letters nor digits.
_SIGN_NAMES = (
    "exclam quotedbl numbersign dollar percent ampersand apostrophe parenleft parenright asterisk plus comma "
    "minus period slash colon semicolon less equal greater question at bracketleft backslash bracketright "
    "asciicircum underscore grave braceleft bar braceright asciitilde"
)
#: X11's names of the keys that are known here. Others may do anything, such as end the X server.
KNOWN_SYMBOLS = frozenset(_SYMBOLS.values()) | frozenset(_SIGN_NAMES.split())


def find_symbol(name: str) -> str:
    """Return X11's name of a key; `page_up`, `PageUp` and `PAGEUP` are the same. What is unknown stays."""
    if len(name) == 1:
        return _SYMBOLS.get(name, name)
    return _SYMBOLS.get(re.sub("[ _-]", "", name.lower()), name)
