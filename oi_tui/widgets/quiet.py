"""When a key may answer a question: once it was seen for a moment, and nobody types."""

import time
from typing import Any

from textual.app import App

from oi_tui.widgets.keyboard import last_key

#: How long a question must have been visible, and the keyboard quiet, before a key can answer, in seconds.
QUIET = 0.5
#: How often one looks whether that is so, in seconds.
LOOK = 0.1
#: An answer counts when no other key follows it this closely: text that is pasted without brackets,
#: or sent by a machine, arrives faster than any finger.
SETTLE = 0.08


class Quiet:
    """Looked at every `LOOK` seconds, it says whether a question waited long enough."""

    def __init__(self) -> None:
        self._since = self._looked = time.monotonic()

    def begin(self) -> None:
        """The question is seen from now on."""
        self._since = time.monotonic()

    def look(self) -> None:
        """Nothing is to be answered now, but the screen does not stand still."""
        self._looked = time.monotonic()

    def lasted(self, app: App[Any]) -> bool:
        """Whether the question was visible, and the keyboard quiet, for long enough."""
        now = time.monotonic()
        late, self._looked = now - self._looked > 3 * LOOK, now
        if late:  # the screen stood still, and keys of that time may not have been read yet
            self._since = now
        return now - self._since >= QUIET and now - last_key(app) >= QUIET
