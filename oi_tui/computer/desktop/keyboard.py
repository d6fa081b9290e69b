"""`computer.keyboard`: type and press keys."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Sequence
from typing import Any

from oi_tui.computer.desktop.key_names import find_symbol
from oi_tui.computer.desktop.session import DesktopSession, open_session
from oi_tui.computer.errors import ComputerError
from oi_tui.computer.tool import Tool


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
            desktop.desktop.require_characters(text)
            for count, character in enumerate(text):
                if count and interval:
                    time.sleep(interval)
                try:
                    _stroke(desktop, character)
                except ComputerError as error:
                    raise ComputerError(f"{error} {count} of {len(text)} characters were typed.") from None
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
        keys = [code for name in args for code in _find_codes(desktop, name, args)]
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
    return len(find_symbol(character)) > 1 or unicodedata.category(character) not in ("Cc", "Cs")


def _find_code(desktop: DesktopSession, name: str) -> tuple[int, bool]:
    if not isinstance(name, str) or not name or not all(map(_can_be_typed, name)):
        raise ComputerError(f"There is no key {name!r:.80}.")
    symbol = find_symbol(name)
    desktop.require_key(symbol)
    return desktop.desktop.key_code(symbol)


def _find_codes(desktop: DesktopSession, name: str, names: Sequence[str]) -> list[int]:
    """Return the key for a name and, before it, shift where only that gives the sign.

    A capital letter with other keys, such as ctrl and A, is the key with that letter.
    """
    code, shifted = _find_code(desktop, name)
    is_letter = len(names) > 1 and len(name) == 1 and name.isalpha()
    if not shifted or is_letter or any(find_symbol(other).startswith("Shift_") for other in names):
        return [code]
    return [_find_code(desktop, "shift")[0], code]


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
