"""Describes the current activity for the status line and the window's title."""

import time
from collections.abc import Callable

from oi_tui.engine.events import (
    ApprovalRequested,
    Event,
    LibraryLoading,
    MessageRecorded,
    MessageStarted,
    ModelCalled,
    RetryScheduled,
    RunReported,
)
from oi_tui.messages import InputReceived, InputRequested, Message, Started, Starting, Stopping
from oi_tui.text import one_line

#: What a step does to a language, and what follows where the step alone does not end the run.
_STEPS = {
    "interrupt": "stopping {}; it will be ended",
    "terminate": "ending {}; it will be killed",
    "kill": "killing {}",
}


class Progress:
    """Knows from a turn's events what it does; "" between turns.

    `since` is when that began and `until` when it ends by itself, in seconds on the monotonic clock; `until`
    is None where nobody can tell. `choice` says what another escape would do, where it does something new.
    `language` is that of the code which ran last. `changed` is called whenever
    there is something else to say.
    """

    def __init__(self, changed: Callable[[], object]) -> None:
        self.doing = ""
        self.since = 0.0
        self.until: float | None = None
        self.choice = ""
        self.language = ""
        self._changed = changed

    def now(self, doing: str, seconds: float | None = None, choice: str = "") -> None:
        """This is done now, and for so many seconds, if that is known."""
        self.choice = choice
        if doing != self.doing:
            self.doing = doing
            self.since = time.monotonic()
            self.until = self.since + seconds if seconds else None
            self._changed()

    def end(self) -> None:
        """Nothing is in progress any more."""
        self.doing = self.choice = ""

    def follow(self, event: Event) -> None:
        """Take what the session tells."""
        match event:
            case LibraryLoading():
                self.now("loading LiteLLM")
            case ModelCalled() | MessageStarted(Message(type="reasoning")):
                self.now("thinking")
            case MessageStarted(Message(type="code")):
                self.now("writing code")
            case MessageStarted(Message(role="assistant")):
                self.now("writing")
            case ApprovalRequested():
                self.now("waiting for your approval")
            case MessageRecorded(Message(type="code", state="running") as code):
                self.language = one_line(code.format or "", 20)
                self.now(f"running {self.language}")
            case RunReported(_, InputRequested()):
                # One that was interrupted may ask, too: what escape does next stays on the screen.
                self.now(f"{self.language} is waiting for input", choice=self.choice)
            case RunReported(_, Starting()):
                self.now(f"starting {self.language}")
            case RunReported(_, InputReceived() | Started()):
                self.now(f"running {self.language}")
            case RunReported(_, Stopping(_, None, at_stake)):
                self.now(f"stopping {self.language}", choice=f"esc again ends {at_stake}")
            case RunReported(_, Stopping(step, seconds)):
                self.now(_STEPS[step].format(self.language), seconds)
            case RetryScheduled(_, seconds):
                self.now("trying again", seconds)
            case _:
                pass
