"""Decides when a key or click may answer a question: after a moment, and not while typing."""

import math
import time
from typing import Any

from textual.app import App

from oi_tui.widgets.idle import find_last_activity

#: How long, in seconds, a question must have been visible and keyboard and mouse quiet before it is answered.
QUIET = 0.5
#: How often one looks whether that is so, in seconds.
LOOK = 0.1
#: A letter answers when no other key follows it within this time, in seconds: a sentence that begins with it
#: is text.
SETTLE = 0.3


class KeyGuard:
    """Looked at every `LOOK` seconds, it says whether a question waited long enough.

    It also remembers that the code is to run by itself then, unless somebody types or clicks before.
    """

    def __init__(self) -> None:
        self._since = self._looked = time.monotonic()
        #: When it was asked to run the code by itself.
        self._run_asked_at = math.inf

    def plan_run(self) -> None:
        """Plan to run the code; keys and clicks from now on cancel that."""
        self._run_asked_at = time.monotonic()

    def cancel_run(self) -> None:
        """Cancel the planned run."""
        self._run_asked_at = math.inf

    def plans_run(self, app: App[Any]) -> bool:
        """Return whether the code will run once the question has waited long enough."""
        return find_last_activity(app) <= self._run_asked_at < math.inf

    def begin(self) -> None:
        """Start to wait: the question is visible from now on."""
        self._since = self._looked = time.monotonic()

    def has_lasted(self, app: App[Any]) -> bool:
        """Return whether the question was visible, and keyboard and mouse quiet, for long enough."""
        now = time.monotonic()
        late, self._looked = now - self._looked > 3 * LOOK, now
        if late:  # the screen stood still, and keys of that time may not have been read yet
            self._since = now
        return now - self._since >= QUIET and now - find_last_activity(app) >= QUIET
