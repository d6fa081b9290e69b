"""`computer.keyboard`: type and press keys."""

from __future__ import annotations

import time
import unicodedata
from typing import Any

from oi_tui.computer.desktop.session import DesktopSession, open_session
from oi_tui.computer.errors import ComputerError
from oi_tui.computer.tool import Tool

#: What keys are called by Open Interpreter and by models, and what X11 calls them.
_NAMES = {
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
    "page_up": "Prior",
    "pgup": "Prior",
    "pagedown": "Next",
    "page_down": "Next",
    "pgdn": "Next",
    "up": "Up",
    "down": "Down",
    "left": "Left",
    "right": "Right",
    "ctrl": "Control_L",
    "control": "Control_L",
    "alt": "Alt_L",
    "option": "Alt_L",
    "shift": "Shift_L",
    "super": "Super_L",
    "win": "Super_L",
    "meta": "Super_L",
    "command": "Super_L",
    "cmd": "Super_L",
    "capslock": "Caps_Lock",
    "printscreen": "Print",
    "print_screen": "Print",
    "prtsc": "Print",
    "menu": "Menu",
    "arrowup": "Up",
    "arrowdown": "Down",
    "arrowleft": "Left",
    "arrowright": "Right",
    "caps_lock": "Caps_Lock",
    "numlock": "Num_Lock",
    "num_lock": "Num_Lock",
    "kp_enter": "KP_Enter",
    **{f"f{number}": f"F{number}" for number in range(1, 25)},
}


class Keyboard(Tool):
    """Type text and press keys in the active window."""

    def write(self, text: str, interval: float | None = None, delay: float = 0.3, **kwargs: Any) -> None:
        """Type a text, after `delay` seconds, with `interval` seconds between the characters."""
        if not isinstance(text, str):
            raise ComputerError(f"keyboard.write needs a text, not {text!r:.80}.")
        if wrong := next((character for character in text if not _can_be_typed(character)), None):
            raise ComputerError(f"The character {wrong!r} cannot be typed. Nothing was typed.")
        desktop = open_session()
        time.sleep(delay)
        with desktop.plain_keyboard():
            for count, character in enumerate(text):
                if count and interval:
                    time.sleep(interval)
                _stroke(desktop, character)
                desktop.log.typed()

    def press(self, *args: str, presses: int = 1, interval: float = 0.1) -> None:
        """Press keys one after the other, such as "enter", "tab", "f5" or "a"."""
        for count in range(presses):
            for index, name in enumerate(args):
                if count or index:
                    time.sleep(interval)
                desktop = open_session()
                with desktop.plain_keyboard(caps_lock=True):
                    _stroke(desktop, name)
                if len(name) == 1:
                    # It may be a part of a password.
                    open_session().log.typed()
                else:
                    open_session().log.pressed(name)

    def press_and_release(self, *args: str, presses: int = 1, interval: float = 0.1) -> None:
        """Press keys one after the other; the same as `press`."""
        self.press(*args, presses=presses, interval=interval)

    def hotkey(self, *args: str, interval: float = 0.1) -> None:
        """Press keys together, in this order, such as "ctrl" and "s"."""
        if not args:
            raise ComputerError('keyboard.hotkey needs keys, such as "ctrl", "s".')
        desktop = open_session()
        keys = [_find_code(desktop, name)[0] for name in args]
        with desktop.plain_keyboard(caps_lock=True):
            try:
                for index, code in enumerate(keys):
                    if index:
                        time.sleep(interval)
                    desktop.key(code, True)
            finally:
                desktop.release()
        desktop.log.pressed("+".join(args))

    def down(self, key: str) -> None:
        """Press a key and hold it."""
        desktop = open_session()
        with desktop.plain_keyboard(caps_lock=True):
            desktop.key(_find_code(desktop, key)[0], True)
        desktop.log.pressed(f"{key} and hold")

    def up(self, key: str) -> None:
        """Release a key."""
        desktop = open_session()
        desktop.key(_find_code(desktop, key)[0], False)


def _can_be_typed(character: str) -> bool:
    # Control characters are on no key, and neither is the half of a pair of code units.
    return character in _NAMES or unicodedata.category(character) not in ("Cc", "Cs")


def _find_code(desktop: DesktopSession, name: str) -> tuple[int, bool]:
    if not isinstance(name, str) or not name or not all(map(_can_be_typed, name)):
        raise ComputerError(f"There is no key {name!r:.80}.")
    symbol = _NAMES.get(name) or (_NAMES.get(name.lower()) if len(name) > 1 else None) or name
    desktop.require_key(symbol)
    return desktop.desktop.key_code(symbol)


def _stroke(desktop: DesktopSession, name: str) -> None:
    code, shifted = _find_code(desktop, name)
    shift = _find_code(desktop, "shift")[0]
    try:
        if shifted:
            desktop.key(shift, True)
        desktop.key(code, True)
    finally:
        desktop.key(code, False)
        if shifted:
            desktop.key(shift, False)
