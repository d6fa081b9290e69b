"""Limits code that a grant let run to the window of that grant."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from oi_tui.computer.desktop.base import Desktop, Window
from oi_tui.computer.desktop.key_names import KNOWN_SYMBOLS
from oi_tui.computer.errors import ComputerError

_NOT_GRANTED = (
    "Nothing was done: this code ran without a question, because the user granted {0}, and this would be "
    "{1} in {2}. Write code that does only this as a piece of its own: the user is asked about it then."
)
_NO_SCREENSHOTS = (
    "There is no screenshot: this code ran without a question because the user granted {0}, which includes "
    "no screenshots. Use the elements of the window (computer.display.elements())."
)
_NO_KEY = (
    "{0!r} was not pressed: this code ran without a question, because the user granted {1}, and this key may "
    "act on other windows."
)
_WORDS = {"clicks": "clicking", "types": "typing", "reads": "listing elements"}
#: The beginnings of the names of known keys that may act on the whole desktop.
_WIDE_KEYS = ("Alt_", "Super_", "Print", "XF86", "ISO_Level3", "Num_Lock")


@dataclass(frozen=True)
class Limit:
    """A window with the kinds of actions that are granted there."""

    id: int
    title: str
    process: int
    kinds: frozenset[str]

    def is_for(self, window: Window) -> bool:
        """Return whether it is for this window; another one may have got its number since."""
        return (self.id, self.title, self.process) == (window.id, window.title, window.process)

    def __str__(self) -> str:
        return " and ".join(_WORDS[kind] for kind in _WORDS if kind in self.kinds) + f" in {self.title!r}"


class ActionLimits:
    """All that running code may do with mouse and keyboard, where it was let through by such grants."""

    def __init__(self, limits: Sequence[Limit]) -> None:
        self._limits = limits

    def __str__(self) -> str:
        return ", and ".join(map(str, self._limits)) or "what was revoked meanwhile"

    def __bool__(self) -> bool:
        return True

    def require(self, kind: str | None, window: Window | None) -> None:
        """Raise ComputerError where this kind of action, or None for any, is not granted in the window."""
        if window is None or not any(
            limit.is_for(window) and (kind is None or kind in limit.kinds) for limit in self._limits
        ):
            where = repr(window.title) if window else "no window that is known"
            raise ComputerError(_NOT_GRANTED.format(self, _WORDS.get(kind or "", "acting"), where))

    def require_key(self, symbol: str) -> None:
        """Raise ComputerError for a key with which desktops do things of their own."""
        if is_wide(symbol):
            raise ComputerError(_NO_KEY.format(symbol, self))

    def refuse_screenshot(self) -> None:
        """Raise ComputerError: screenshots are in no grant for a window."""
        raise ComputerError(_NO_SCREENSHOTS.format(self))

    def windows(self, desktop: Desktop) -> list[Window]:
        """Return the windows that are there now and of which something is granted."""
        return [window for window in desktop.windows() if any(limit.is_for(window) for limit in self._limits)]


def is_wide(symbol: str) -> bool:
    """Return whether a key may act on the whole desktop, as every key may that is not known."""
    return len(symbol) > 1 and (symbol not in KNOWN_SYMBOLS or symbol.startswith(_WIDE_KEYS))


def parse(text: str | None) -> ActionLimits | None:
    """Read what oi-tui says; None where code is not confined. What is not understood grants nothing."""
    if text is None:
        return None
    try:
        rows: Any = json.loads(text)
        return ActionLimits(
            [
                Limit(int(id_), str(title), int(process), frozenset(kinds))
                for id_, title, process, kinds in rows
            ]
        )
    except (ValueError, TypeError):
        return ActionLimits([])
