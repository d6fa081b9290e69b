"""Describes the current activity for the status line and the window's title."""

import time
from collections.abc import Callable

from oi_tui.engine.events import (
    ApprovalRequested,
    Event,
    FileCopied,
    LibraryLoading,
    MessageRecorded,
    MessageStarted,
    ModelCalled,
    ModelConnecting,
    RetryScheduled,
    RunReported,
)
from oi_tui.messages import InputReceived, InputRequested, LineReached, Message, Started, Starting, Stopping
from oi_tui.text import clean_line, format_dollars
from oi_tui.widgets.conversation.activity import Activity

#: What a step does to a language, and what follows where the step alone does not end the run.
_STEPS = {
    "interrupt": "stopping {}; it will be ended",
    "terminate": "ending {}; it will be killed",
    "kill": "killing {}",
}


class TurnProgress:
    """Knows from a turn's events what it does; "" between turns.

    `since` is when that began and `until` when it ends by itself, in seconds on the monotonic clock; `until`
    is None if unknown. `line` says where the running code is, if it has several lines. `choice`
    says what another escape would do, where it does something new.
    `language` is that of the code which ran last. `awaited` is when the wait for the model's next words
    began, None while nobody waits for them; `request` is the model and the estimated tokens of the last
    request. `changed` is called whenever there is something else to say.
    """

    def __init__(self, changed: Callable[[], object]) -> None:
        self.doing = ""
        self.since = 0.0
        self.until: float | None = None
        self.choice = ""
        self.line = ""
        self.language = ""
        self.awaited: float | None = None
        self.request = ("", 0)
        #: The number of lines of the running code.
        self._line_count = 0
        self._changed = changed

    def note(self, doing: str, seconds: float | None = None, choice: str = "") -> None:
        """Note the current activity, and its length in seconds, if that is known."""
        self.choice = choice
        if doing != self.doing:
            self.doing, self.line = doing, ""
            self.since = time.monotonic()
            self.until = self.since + seconds if seconds else None
            self._changed()

    def end(self) -> None:
        """Note that nothing is in progress."""
        self.doing = self.choice = self.line = ""
        self.awaited = None
        self.request = ("", 0)

    def describe_activity(self, cost: float) -> Activity | None:
        """Return what the model does while its answer is awaited, else None. `cost` is what was spent."""
        if self.awaited is None:
            return None
        model, tokens = self.request
        words = f"{self.doing} to {model}" if self.doing == "connecting" else self.doing
        facts = [model] if self.doing == "thinking" else []
        facts += [f"{tokens:,} tokens sent"] if tokens else []
        facts += [f"{format_dollars(cost, short=True)} so far"] if cost else []
        return Activity(words, self.awaited, self.until, tuple(facts))

    def wait_for_model(self, doing: str, seconds: float | None = None) -> None:
        """Note that the model's answer is awaited, and what is done meanwhile."""
        if self.awaited is None:
            self.awaited = time.monotonic()
        self.note(doing, seconds)

    def follow(self, event: Event) -> None:
        """Follow the events of a turn."""
        match event:
            case LibraryLoading():
                self.wait_for_model("loading LiteLLM")
            case ModelCalled(model, tokens):
                self.request = model, tokens
                self.wait_for_model("thinking")
            case ModelConnecting(accepted):
                self.wait_for_model("thinking" if accepted else "connecting")
            case FileCopied(name, done, size):
                self._follow_copy(f"copying {clean_line(name, 40)}", done, size)
            case RetryScheduled(_, seconds):
                self.wait_for_model("trying again", seconds)
            case MessageStarted(Message(role="user", type="message")):
                pass
            case MessageRecorded(Message(role="user", type="message")):
                pass
            case MessageStarted() | MessageRecorded() | ApprovalRequested():
                self.awaited = None
                self._follow_reply(event)
            case _:
                self._follow_reply(event)

    def _follow_copy(self, doing: str, done: int, size: int) -> None:
        """Say how far a copy is; it began when its name was first said."""
        since = self.since if self.doing.startswith(doing) else time.monotonic()
        self.note(f"{doing}, {done * 100 // (size or 1)} %")
        self.since = since

    def _follow_reply(self, event: Event) -> None:
        match event:
            case MessageStarted(Message(type="reasoning")):
                self.note("thinking")
            case MessageStarted(Message(type="code")):
                self.note("writing code")
            case MessageStarted(Message(role="assistant")):
                self.note("writing")
            case ApprovalRequested():
                self.note("waiting for your approval")
            case MessageRecorded(Message(type="code", state="running") as code):
                self.language = clean_line(code.format or "", 20)
                self._line_count = len(code.content.splitlines())
                self.line = ""
                self.note(f"running {self.language}")
            case RunReported(_, LineReached(line)):
                has_several = line is not None and self._line_count > 1
                self.line = f"line {line} of {self._line_count}" if has_several else ""
            case RunReported(_, InputRequested()):
                # One that was interrupted may ask, too: what escape does next stays on the screen.
                self.note(f"{self.language} is waiting for input", choice=self.choice)
            case RunReported(_, Starting()):
                self.note(f"starting {self.language}")
            case RunReported(_, InputReceived() | Started()):
                self.note(f"{'stopping' if self.choice else 'running'} {self.language}", choice=self.choice)
            case RunReported(_, Stopping(_, None, at_stake)):
                self.note(f"stopping {self.language}", choice=f"esc again ends {at_stake}")
            case RunReported(_, Stopping(step, seconds)):
                self.note(_STEPS[step].format(self.language), seconds)
            case _:
                pass
