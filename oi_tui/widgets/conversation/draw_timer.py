"""When changes of a view are drawn: soon, but not too often, and after keys that were just pressed."""

import time
from asyncio import TimerHandle
from collections.abc import Callable

from textual.widget import Widget

from oi_tui.widgets.idle import find_last_key
from oi_tui.widgets.timer import schedule

#: Changes are drawn at most this often, in seconds.
FLUSH = 1 / 24
#: The pause after drawing, as a multiple of the time that drawing took, and the longest one in seconds.
#: It leaves a slow machine time for keys.
_SHARE, _LONGEST_PAUSE = 6, 0.25
#: How long a key may take to be drawn, in seconds. Other changes are drawn after it.
_KEY = 0.03
#: The longest time that they wait for keys, in seconds.
_TIMEOUT = 0.15
#: So many seconds after a key, another one is likely. Once drawn after a key, changes then wait this long for
#: the next one: a key that comes while they are drawn waits for all of that.
_TYPING, _BETWEEN_KEYS = 1.0, 0.15


class DrawTimer:
    """Calls `draw` once for all changes that came since the last time, while the widget has a size."""

    def __init__(self, widget: Widget, draw: Callable[[], None]) -> None:
        self._widget = widget
        self._draw = draw
        self._timer: TimerHandle | None = None
        self._drawn_at = 0.0
        #: The time from one drawing to the next, in seconds.
        self._pause = FLUSH

    @property
    def is_waiting(self) -> bool:
        """Whether there are changes to draw."""
        return self._timer is not None

    def start(self) -> None:
        """Draw soon."""
        if self._timer is None and self._widget.is_attached:
            self._schedule(max(self._find_due() - time.monotonic(), 0.001))

    def _schedule(self, wait: float) -> None:
        # Not all of a long wait at once: a key that comes meanwhile can end it.
        self._timer = schedule(self._widget, min(wait, FLUSH), self.draw_after_keys)

    def draw_after_keys(self) -> None:
        """Draw, but not before a key that was just pressed, nor when the next one is likely."""
        wait = self._find_due() - time.monotonic()
        if wait > 0:
            self._schedule(wait)
        else:
            self.draw_now()

    def _find_due(self) -> float:
        """Return when to draw next, on the monotonic clock."""
        key, rested = find_last_key(self._widget.app), self._drawn_at + self._pause
        if key < self._drawn_at < key + _TYPING:
            return max(rested, self._drawn_at + _BETWEEN_KEYS)
        return max(rested, min(key + _KEY, self._drawn_at + _TIMEOUT))

    def draw_now(self) -> None:
        """Draw without waiting."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._widget.size.width:
            return
        began = time.monotonic()
        self._draw()
        self._drawn_at = time.monotonic()
        self._pause = min(max(FLUSH, _SHARE * (self._drawn_at - began)), _LONGEST_PAUSE)
