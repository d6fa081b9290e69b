"""Keys of an X11 keyboard for characters that are on none: those that have no meaning get one.

A program looks up what a key means when it comes to it. So a key that was pressed must not get another
meaning before the window has read it, however long that takes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from ctypes import byref, c_int, c_ubyte, c_ulong

from oi_tui.computer.desktop.base import Window
from oi_tui.computer.desktop.x11.connection import X11Connection
from oi_tui.computer.desktop.x11.ping import Ping
from oi_tui.computer.desktop.x11.properties import Properties
from oi_tui.computer.desktop.x11.windows import X11Windows
from oi_tui.computer.errors import ComputerError

#: How long programs may take to notice that a key has another meaning, in seconds.
_REMAP_SECONDS = 0.02
#: How long a window may take to say that it has read what was typed, in seconds.
_ANSWER_SECONDS = 10.0
#: How long after it was pressed a key keeps its meaning in a window that cannot say so, in seconds.
_READ_SECONDS = 60.0
#: The property of the screen with the keys that had no meaning before this program gave them one.
_SPARE = "_OI_TUI_SPARE"
_SILENT = "The window {!r} does not say when it has read what was typed."
_INSTEAD = "Use computer.clipboard.copy(text), and paste it there."


class _Mapping:
    """What the keys of a keyboard mean, without and with shift."""

    def __init__(self, first: int, per_key: int, symbols: list[int]) -> None:
        self._keys = {
            first + at // per_key: symbols[at : at + per_key] for at in range(0, len(symbols), per_key)
        }

    def find(self, symbol: int) -> tuple[int, bool] | None:
        """Return the key with that symbol, and whether it needs shift; None where it is on none."""
        for column in (0, 1):
            for code, symbols in self._keys.items():
                if symbols[column : column + 1] == [symbol]:
                    return code, column == 1
        return None

    def list_symbols(self, code: int) -> list[int]:
        """List the symbols of a key, without and with shift, each once."""
        return list(dict.fromkeys(filter(None, self._keys.get(code, [])[:2])))

    def list_free(self) -> list[int]:
        """List the keys without a meaning."""
        return [code for code, symbols in self._keys.items() if not any(symbols)]


class SpareKeys:
    """The keys that get a meaning. Each has room for two characters: one without and one with shift."""

    def __init__(
        self,
        connection: X11Connection,
        windows: X11Windows,
        properties: Properties,
        root: int,
        ping: Ping,
        lock: threading.RLock,
    ) -> None:
        """`lock` is held while the connection is used."""
        self._x, self._display = connection.x, connection.display
        self._windows = windows
        self._properties = properties
        self._root = root
        self._ping = ping
        self._lock = lock
        #: The characters of each key that got a meaning; the key that was pressed last comes last. None
        #: before it was looked which keys got one from a process before this one.
        self._given: dict[int, list[int]] | None = None
        #: Those that a window may still have to read: the window, and when they were pressed.
        self._unread: dict[int, tuple[int, float]] = {}

    def find(self, symbol: int) -> tuple[int, bool]:
        """Return the key for a symbol, and whether it needs shift. One that is on none is put on a spare one.

        Raises ComputerError where no key can get it.
        """
        with self._lock:
            mapping = self._read_mapping()
            assignments = self._list_given(mapping)
            return mapping.find(symbol) or self._give(symbol, mapping.list_free(), assignments)

    def note_press(self, code: int) -> None:
        """Note that a key is about to be pressed, which the active window will have to read."""
        with self._lock:
            if self._given and code in self._given:
                self._given[code] = self._given.pop(code)
                window = self._find_active()
                self._unread[code] = (window.id if window else 0, time.monotonic())

    def require(self, symbols: Sequence[int]) -> None:
        """Raise ComputerError where the active window could get other characters than these."""
        with self._lock:
            mapping = self._read_mapping()
            free, assignments = mapping.list_free(), self._list_given(mapping)
            assigned_symbols = {symbol for symbols in assignments.values() for symbol in symbols}
            new = [symbol for symbol in symbols if symbol in assigned_symbols or not mapping.find(symbol)]
            room = 2 * len({*free, *assignments})
            window = self._find_active() if room < len(new) else None
            if window and not self._says_when_it_has_read(window):
                raise ComputerError(
                    f"{_SILENT.format(window.title)} It can get at most {room} different characters that are "
                    f"on no key, and here are {len(new)}. {_INSTEAD} Nothing was typed."
                )

    # -- giving a key a meaning

    def _give(self, symbol: int, free: list[int], given: dict[int, list[int]]) -> tuple[int, bool]:
        if free:
            return self._change(free[-1], [symbol], given)
        half = next((code for code, symbols in given.items() if len(symbols) == 1), None)
        if half is not None:
            # What it means without shift stays.
            return self._change(half, [*given[half], symbol], given)
        code = next(iter(given), None)
        if code is None:
            raise ComputerError("This keyboard has no free key for a character that is not on it.")
        self._see_that_it_was_read(code)
        return self._change(code, [symbol], given)

    def _change(self, code: int, symbols: list[int], given: dict[int, list[int]]) -> tuple[int, bool]:
        """Give a key these characters, of which the last is new."""
        given.pop(code, None)
        given[code] = symbols
        spare = self._properties.read_numbers(self._root, _SPARE)
        if code not in spare:
            self._properties.set_numbers(self._root, _SPARE, [*spare, code])
        # Without a second one, the server would put the capital letter there.
        both = (c_ulong * 2)(symbols[0], symbols[-1])
        self._x.XChangeKeyboardMapping(self._display, code, 2, both, 1)
        self._x.XSync(self._display, 0)
        time.sleep(_REMAP_SECONDS)
        return code, len(symbols) > 1

    def _see_that_it_was_read(self, code: int) -> None:
        """Wait until the window in which a key was pressed has read it. Raises ComputerError without that."""
        id_, pressed_at = self._unread.get(code, (0, 0.0))
        window = next((window for window in self._windows.list_windows() if window.id == id_), None)
        if window and self._says_when_it_has_read(window):
            if not self._ping.is_answered(window.id, _ANSWER_SECONDS):
                raise ComputerError(
                    f"The window {window.title!r} does not answer, so the rest is not typed: it would read "
                    "other characters."
                )
        elif window and time.monotonic() - pressed_at < _READ_SECONDS:
            raise ComputerError(
                f"{_SILENT.format(window.title)} The rest is not typed: it might read other characters. "
                f"{_INSTEAD}"
            )
        self._unread = {other: read for other, read in self._unread.items() if read[0] != id_}

    def _list_given(self, mapping: _Mapping) -> dict[int, list[int]]:
        """List the keys that got a meaning and still have it: another layout may have come since."""
        if self._given is None:
            before = self._properties.read_numbers(self._root, _SPARE)
            self._given = {code: mapping.list_symbols(code) for code in before}
        for code, symbols in list(self._given.items()):
            if not symbols or mapping.list_symbols(code) != symbols:
                del self._given[code]
                self._unread.pop(code, None)
        return self._given

    # -- what the screen knows

    def _read_mapping(self) -> _Mapping:
        least, most, per_key = c_int(), c_int(), c_int()
        self._x.XDisplayKeycodes(self._display, byref(least), byref(most))
        count = most.value - least.value + 1
        keysyms = self._x.XGetKeyboardMapping(self._display, c_ubyte(least.value), count, byref(per_key))
        symbols = keysyms[: count * per_key.value]
        self._x.XFree(keysyms)
        return _Mapping(least.value, per_key.value, symbols)

    def _find_active(self) -> Window | None:
        return next((window for window in self._windows.list_windows() if window.active), None)

    def _says_when_it_has_read(self, window: Window) -> bool:
        return self._ping.is_understood(self._properties.read_numbers(window.id, "WM_PROTOCOLS"))
