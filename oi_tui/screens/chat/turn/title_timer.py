"""Asks the model for a title of the conversation when nothing has happened for a moment."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.widget import Widget

from oi_tui.services.side_requests import SideRequests
from oi_tui.widgets.timer import schedule

if TYPE_CHECKING:
    from asyncio import TimerHandle

#: Nothing must have happened for so long before the model is asked, in seconds.
_IDLE = 2.0


class TitleTimer:
    """Waits after a turn, and then asks in a thread. `is_idle` says whether no other turn has begun."""

    def __init__(self, view: Widget, requests: SideRequests, is_idle: Callable[[], bool]) -> None:
        self._view = view
        self._requests = requests
        self._is_idle = is_idle
        self._timer: TimerHandle | None = None

    def start(self) -> None:
        """Ask in a moment."""
        self._timer = schedule(self._view, _IDLE, self._ask)

    def cancel(self) -> None:
        """Do not ask, and cancel a request in progress."""
        self._requests.stop_naming()
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _ask(self) -> None:
        if self._is_idle() and self._requests.is_title_wanted:
            name = self._requests.name_conversation
            self._view.run_worker(name, thread=True, group="title", exit_on_error=False)
