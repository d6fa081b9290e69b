"""The turn log, in lines: steps and times, no contents."""

from collections.abc import Iterator

from oi_tui.engine.events import (
    ApprovalRequested,
    MessageGrew,
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
from oi_tui.engine.turn_log import TurnLog
from oi_tui.messages import InputRequested, LineReached, Message, Started, Starting, Stopping


def seconds() -> Iterator[float]:
    time = 0.0
    while True:
        yield time
        time += 0.5


def describe_events(*events: object) -> list[str]:
    clock = seconds()
    account = TurnLog(lambda: next(clock))
    return [line for event in events if (line := account.describe(event))]


def test_a_turn_is_reported_with_its_times_and_without_its_words() -> None:
    text = Message(role="assistant", type="message", content="secret words")
    code = Message(
        role="assistant", type="code", format="python", content="secret = 1\nprint(secret)", state="queued"
    )
    lines = describe_events(
        TurnStarted(),
        MessageRecorded(Message(role="user", type="message", content="secret question")),
        ModelCalled("openai/x"),
        MessageStarted(text),
        MessageGrew(text.id, "secret words"),
        UsageReported(1200, 30, 0.0123),
        ApprovalRequested(code),
        MessageRecorded(code.replace(state="running", decision="approved")),
        RunReported(code.id, Starting()),
        RunReported(code.id, Started()),
        RunReported(code.id, LineReached(2)),
        RunReported(code.id, InputRequested("secret? ", True)),
        RunReported(code.id, Stopping("interrupt", 2.0)),
        MessageRecorded(
            code.replace(state="failed", decision="approved", seconds=1.25, reason="exit status 1")
        ),
        TurnEnded("done"),
    )
    assert lines == [
        "turn begins",
        "first words after 0.50 s",
        "reply after 1.00 s: 1,200 tokens in, 30 out, $0.0123",
        "waiting for approval: python, 2 lines",
        "running python, 2 lines, approved after 0.50 s",
        "starting its language first",
        "its language has started",
        "the program waits for hidden input",
        "stopping: interrupt, for 2 s",
        "python failed after 1.25 s: exit status 1",
        "turn done after 3.00 s",
    ]


def test_faults_and_waits_are_reported_and_plain_remarks_are_not() -> None:
    lines = describe_events(
        RetryScheduled("The server is busy.", 3.0),
        Noticed("Nothing special."),
        Noticed("It cannot be saved.\x1b[2J", "warning"),
        TurnEnded("failed", "There is no key."),
    )
    assert lines == [
        "retrying in 3 s: The server is busy.",
        "warning: It cannot be saved.␛[2J",
        "turn failed after 0.50 s: There is no key.",
    ]
