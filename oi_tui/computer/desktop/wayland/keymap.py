"""The keyboard that is given to the compositor: a US layout, and keys for characters that are not on it."""

from __future__ import annotations

from oi_tui.computer.errors import ComputerError

#: The rows of a US keyboard: the number of the first key in Linux, and what is on the keys, without and
#: with shift.
_ROWS = (
    (2, "1234567890-=", "!@#$%^&*()_+"),
    (16, "qwertyuiop[]", "QWERTYUIOP{}"),
    (30, "asdfghjkl;'`", 'ASDFGHJKL:"~'),
    (43, "\\zxcvbnm,./", "|ZXCVBNM<>?"),
)
#: The keys with a name of X11, by Linux's numbers.
_NAMED = {
    "Escape": 1,
    "Num_Lock": 69,
    "Scroll_Lock": 70,
    "KP_Enter": 96,
    "Control_R": 97,
    "Shift_R": 54,
    "Alt_R": 100,
    "Super_R": 126,
    "Pause": 119,
    "BackSpace": 14,
    "Tab": 15,
    "Return": 28,
    "Control_L": 29,
    "Shift_L": 42,
    "Alt_L": 56,
    "space": 57,
    "Caps_Lock": 58,
    "Home": 102,
    "Up": 103,
    "Prior": 104,
    "Left": 105,
    "Right": 106,
    "End": 107,
    "Down": 108,
    "Next": 109,
    "Insert": 110,
    "Delete": 111,
    "Super_L": 125,
    "Menu": 127,
    "Print": 99,
    **{f"F{number}": 58 + number for number in range(1, 11)},
    "F11": 87,
    "F12": 88,
    **{f"F{number}": 170 + number for number in range(13, 25)},
}
#: What X11 calls the signs of the layout.
_SIGNS = (
    (
        " !\"#$%&'()",
        "space exclam quotedbl numbersign dollar percent ampersand apostrophe parenleft parenright",
    ),
    ("*+,-./", "asterisk plus comma minus period slash"),
    (":;<=>?@", "colon semicolon less equal greater question at"),
    ("[\\]^_`", "bracketleft backslash bracketright asciicircum underscore grave"),
    ("{|}~", "braceleft bar braceright asciitilde"),
)
#: What modifiers are in the state that goes with a key.
MODIFIERS = {29: 4, 97: 4, 42: 1, 54: 1, 56: 8, 100: 8, 125: 64, 126: 64}
#: Numbers that no key of the layout has, for other characters; XKB counts 8 more.
_SPARE = range(224, 247)
_OFFSET = 8


class Keymap:
    """Which key has which character. `text` is the map as the compositor reads it."""

    def __init__(self) -> None:
        self._keys = {name: (code, False) for name, code in _NAMED.items()}
        for first, plain, shifted in _ROWS:
            for at, pair in enumerate(zip(plain, shifted)):
                self._keys[pair[0]], self._keys[pair[1]] = (first + at, False), (first + at, True)
        self._keys[" "] = self._keys["space"]
        for signs, names in _SIGNS:
            self._keys.update((name, self._keys[sign]) for sign, name in zip(signs, names.split()))
        #: Characters on spare keys, the oldest first.
        self._spares: dict[str, int] = {}

    def find(self, name: str) -> tuple[int, bool, bool]:
        """Return the key, whether shift is needed, and whether the map has changed. Raises ComputerError."""
        if name in self._keys:
            return (*self._keys[name], False)
        if name in self._spares:
            return self._spares[name], False, False
        if len(name) != 1:
            raise ComputerError(f"There is no key {name!r}.")
        free = [code for code in _SPARE if code not in self._spares.values()]
        code = free[0] if free else self._spares.pop(next(iter(self._spares)))
        self._spares[name] = code
        return code, False, True

    @property
    def text(self) -> str:
        """The map in the language of XKB."""
        names = "\n".join(f"<X{code}> = {code + _OFFSET};" for code in self._spares.values())
        keys = "\n".join(f"key <X{code}> {{ [ U{ord(it):04X} ] }};" for it, code in self._spares.items())
        return f"""xkb_keymap {{
xkb_keycodes {{ include "evdev+aliases(qwerty)"
{names}
}};
xkb_types {{ include "complete" }};
xkb_compatibility {{ include "complete" }};
xkb_symbols {{ include "pc+us+inet(evdev)"
{keys}
}};
}};
"""
