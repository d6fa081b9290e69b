"""Code blocks in the text of a model that calls tools do not run by themselves; they can be offered."""

import pytest

from oi_tui.engine.events import ApprovalRequested, Event, Noticed, Reject, Run, TurnEnded
from oi_tui.engine.llm.base import Text
from oi_tui.engine.session import Session
from tests.fakes import call
from tests.unit.engine.test_session import Tried, make, run_turn

SHOWN = "Run this:\n\n```python\nprint(1)\n```\n\nThen look."
OFFER = "The reply contains a code block that did not run. %offer asks to run it."


def list_notices(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Noticed)]


def offered(session: Session, *answers: Run | Reject) -> list[Event]:
    """All events of offering the blocks; questions are answered in order."""
    given, events = list(answers), []
    for event in session.run_blocks():
        events.append(event)
        if isinstance(event, ApprovalRequested):
            event.reply(given.pop(0) if given else Run(event.message.content))
    return events


def session(*replies: str) -> Tried:
    return make(*([Text(reply)] for reply in replies), supports_functions=True)


def test_a_block_is_offered_asked_for_and_its_result_goes_to_the_model() -> None:
    at = session(SHOWN, "It printed 1.")
    assert list_notices(run_turn(at)) == [OFFER]
    assert at.computer.ran == []
    events = offered(at)
    assert sum(isinstance(event, ApprovalRequested) for event in events) == 1
    assert at.computer.ran == [("python", "print(1)")]
    assert [(m.type, m.content.strip()) for m in at.messages if m.role == "assistant"] == [
        ("message", "Run this:"),
        ("code", "print(1)"),
        ("message", "Then look."),
        ("message", "It printed 1."),
    ]
    sent = [message["content"] for message in at.llm.requests[1].messages[1:]]
    assert len(sent) == 3
    assert sent[1].count("print(1)") == 1, "the code is in the request once"
    assert "Then look." in sent[1]
    assert "out of print(1)" in sent[2], "the result is what was said last"


def test_a_block_that_is_rejected_does_not_run() -> None:
    at = session(SHOWN)
    run_turn(at)
    events = offered(at, Reject())
    assert at.computer.ran == []
    assert [event.outcome for event in events if isinstance(event, TurnEnded)]


def test_a_reply_that_is_only_a_block_stays_on_the_screen() -> None:
    at = session("```python\n1\n```\n```bash\nls\n```", "Done.")
    [reported] = list_notices(run_turn(at))
    assert reported == "The reply contains 2 code blocks that did not run. %offer asks to run them."
    offered(at)
    assert [language for language, _ in at.computer.ran] == ["python", "shell"]
    [shown] = [m for m in at.messages if m.type == "message" and m.recipient == "user"]
    assert "```python" in shown.content
    assert at.llm.requests[1].messages[2]["content"].count("```python") == 1


def test_offered_code_is_the_same_when_it_is_resumed() -> None:
    at = session(SHOWN, "It printed 1.", "Again.")
    run_turn(at)
    offered(at)
    resumed = make([Text("Again.")], messages=at.messages, supports_functions=True)
    run_turn(at, "more")
    run_turn(resumed, "more")
    assert at.llm.requests[2].messages == resumed.llm.requests[0].messages


@pytest.mark.parametrize("text", ["No code here.", "```\njust some words\n```", "```html\n<p>\n```"])
def test_nothing_is_offered_where_nothing_could_run(text: str) -> None:
    at = session(text)
    assert list_notices(run_turn(at)) == []
    before = at.messages
    assert list_notices(offered(at)) == ["The last reply has no code block that could run."]
    assert at.messages == before
    assert at.computer.ran == []


def test_only_the_last_reply_is_looked_at() -> None:
    at = session(SHOWN, "Never mind.")
    run_turn(at)
    run_turn(at, "and?")
    assert list_notices(offered(at)) == ["The last reply has no code block that could run."]
    assert list_notices(offered(make())) == ["The last reply has no code block that could run."]


def test_blocks_of_a_model_without_tools_run_as_ever_and_are_not_offered_again() -> None:
    at = make([Text(SHOWN)], [Text("Done.")], supports_functions=False)
    assert list_notices(run_turn(at)) == []
    assert at.computer.ran == [("python", "print(1)")]


def test_a_block_before_a_tool_call_is_not_offered_after_its_result() -> None:
    at = make([Text(SHOWN), call("2")], [Text("Done.")], supports_functions=True)
    assert list_notices(run_turn(at)) == []
    assert [code for _, code in at.computer.ran] == ["2"]


def test_code_of_ones_own_in_between_changes_nothing() -> None:
    at = session(SHOWN, "It printed 1.")
    run_turn(at)
    list(at.run("shell", "ls"))
    offered(at)
    assert at.computer.ran == [("shell", "ls"), ("python", "print(1)")]
