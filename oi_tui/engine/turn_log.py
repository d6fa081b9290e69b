"""Logs the steps and times of a turn in short lines, without contents."""

import time
from collections.abc import Callable

from oi_tui.engine.events import (
    ApprovalRequested,
    Event,
    MessageRecorded,
    MessageStarted,
    ModelCalled,
    Noticed,
    RetryScheduled,
    RunReported,
    TurnEnded,
    TurnStarted,
    UsageReported,
)
from oi_tui.messages import InputReceived, InputRequested, Message, Report, Started, Starting, Stopping
from oi_tui.text import clean_line


class TurnLog:
    """Tells events in a line each, where they are worth one; "" where not."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._turn = self._asked = self._called = clock()
        self._silent = False

    def describe(self, event: Event) -> str:
        """Return the line for an event."""
        match event:
            case TurnStarted():
                self._turn = self._clock()
                return "turn begins"
            case ModelCalled():
                self._called, self._silent = self._clock(), True
            case MessageStarted(Message(role="assistant")) if self._silent:
                self._silent = False
                return f"first words after {self._measure_since(self._called)}"
            case UsageReported():
                cost = f", ${event.cost:.4f}" if event.cost else ""
                tokens = f"{event.prompt_tokens:,} tokens in, {event.completion_tokens:,} out{cost}"
                return f"reply after {self._measure_since(self._called)}: {tokens}"
            case ApprovalRequested(message):
                self._asked = self._clock()
                return f"waiting for approval: {_describe_code(message)}"
            case MessageRecorded(Message(type="code", role="user" | "assistant") as message):
                return self._run(message)
            case RunReported(_, report):
                return _report(report)
            case RetryScheduled(reason, seconds):
                return f"retrying in {seconds:.0f} s: {clean_line(reason, 200)}"
            case Noticed(text, severity) if severity != "information":
                return f"{severity}: {clean_line(text, 300)}"
            case TurnEnded(outcome, reason):
                why = f": {clean_line(reason, 300)}" if reason else ""
                return f"turn {outcome} after {self._measure_since(self._turn)}{why}"
        return ""

    def _run(self, message: Message) -> str:
        if message.state == "running":
            was_asked = message.decision in ("approved", "edited") and message.role == "assistant"
            delay = f" after {self._measure_since(self._asked)}" if was_asked else ""
            return f"running {_describe_code(message)}, {message.decision or 'by itself'}{delay}"
        if message.state in (None, "writing", "queued", "waiting"):
            return ""
        took = f" after {message.seconds:.2f} s" if message.seconds is not None else ""
        why = f": {clean_line(message.reason, 300)}" if message.reason else ""
        return f"{clean_line(message.format or 'code', 30)} {message.state}{took}{why}"

    def _measure_since(self, begun: float) -> str:
        return f"{self._clock() - begun:.2f} s"


def _describe_code(message: Message) -> str:
    lines = message.content.count("\n") + 1
    return f"{clean_line(message.format or 'code', 30)}, {lines} line{'s' * (lines != 1)}"


def _report(report: Report) -> str:
    match report:
        case Starting():
            return "starting its language first"
        case Started():
            return "its language has started"
        case InputRequested(_, masked):
            return "the program waits for hidden input" if masked else "the program waits for input"
        case InputReceived():
            return "the program has its input"
        case Stopping(step, seconds):
            return f"stopping: {step}" if seconds is None else f"stopping: {step}, for {seconds:.0f} s"
    return ""
