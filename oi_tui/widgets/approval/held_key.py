"""Holds the key of an answer back until it is clear that it does not begin a sentence."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from oi_tui.widgets.approval.key_guard import SETTLE
from oi_tui.widgets.timer import MessageQueue, schedule

if TYPE_CHECKING:
    from asyncio import TimerHandle


class HeldKey:
    """A key that was pressed and has not answered yet.

    `on_change` is called with the key when one is held, and with "" when none is held any more.
    `on_settled` is called when no other key came within `SETTLE` seconds; the key is still held then.
    """

    def __init__(self, on_change: Callable[[str], object], on_settled: Callable[[], object]) -> None:
        self.key = ""
        self._character = ""
        self._timer: TimerHandle | None = None
        self._on_change = on_change
        self._on_settled = on_settled

    @property
    def is_waiting(self) -> bool:
        """Whether another key may still show that this one is text."""
        return self._timer is not None

    def hold(self, key: str, character: str, node: MessageQueue) -> None:
        """Hold a key, which would type `character`; `on_settled` is called among the messages of `node`."""
        self.key, self._character = key, character
        self._timer = schedule(node, SETTLE, self._settle)
        self._on_change(key)

    def release(self) -> str:
        """Stop holding the key, and return the character that it would type."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        character = self._character if self.key else ""
        self.key = ""
        self._on_change("")
        return character

    def _settle(self) -> None:
        self._timer = None
        self._on_settled()
