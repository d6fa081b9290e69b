"""A timer that always fires."""

import asyncio
from collections.abc import Callable
from typing import Any, Protocol


class MessageQueue(Protocol):
    """A widget, screen or application: an object that queues calls with its messages."""

    def call_next(self, callback: Callable[..., object], *args: Any) -> None:
        """Call back before the next message."""


def schedule(node: MessageQueue, seconds: float, do: Callable[[], object]) -> asyncio.TimerHandle:
    """Call a function once after a delay in seconds, among the messages of a widget, screen or application.

    Textual's own `set_timer` is not used: it gives its only tick up when the processor was taken away for
    longer than the timer's time just as it starts (`Timer._run`, which skips ticks that are late), and what
    waits for it then waits forever.
    """
    return asyncio.get_running_loop().call_later(seconds, node.call_next, do)
