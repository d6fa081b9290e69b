"""What of an earlier conversation can be run again, and what is told of it."""

from oi_tui.engine import rerun
from oi_tui.engine.events import ApprovalRequested, Event, Noticed, Reject, Run, TurnEnded
from oi_tui.engine.session import Session
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.storage.journal import Journal
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message
from tests.fakes import Computer, Llm


def cell(code: str, **facts: object) -> Message:
    given = {"role": "assistant", "format": "python", "state": "finished", "seconds": 2.0}
    return Message(type="code", content=code, **{**given, "decision": "approved", **facts})  # type: ignore[arg-type]


def make_session(*messages: Message) -> tuple[Session, Computer, Journal]:
    computer = Computer()
    journal = Store.create_unsaved(cwd="/", model="m")
    return Session(Profile(model="openai/test"), Llm(), computer, journal, messages), computer, journal


def answered(session: Session, *answers: Run | Reject | None) -> list[Event]:
    """Run everything again, giving these answers; None approves what is asked."""
    given = iter(answers)
    events: list[Event] = []
    for event in session.run_again(rerun.list_completed(session.messages)):
        events.append(event)
        if isinstance(event, ApprovalRequested):
            event.reply(next(given, None) or Run(event.message.content))
    return events


def test_what_came_to_its_end_counts_once_and_in_order() -> None:
    first = cell("a")
    copy = rerun.copy_for_rerun(first).replace(state="finished", seconds=1.0, decision="approved")
    messages = [
        first,
        cell("b", state="failed"),
        cell("c", state="rejected", decision="rejected", seconds=None),
        cell("d", role="user", recipient="user"),
        copy,
        Message(role="computer", type="code", format="html", content="<p>"),
    ]
    assert [code.content for code in rerun.list_completed(messages)] == ["a", "d"]


def test_each_is_asked_for_with_its_place_and_the_time_it_took() -> None:
    session, computer, _ = make_session(cell("a"), cell("b", format="shell", seconds=75.0))
    events = answered(session)
    notes = [event.note for event in events if isinstance(event, ApprovalRequested)]
    assert notes == ["1 of 2, took 2.0 s before", "2 of 2, took 1 min 15 s before"]
    assert computer.ran == [("python", "a"), ("shell", "b")]
    assert events[-1] == TurnEnded("done")
    reported = [event.text for event in events if isinstance(event, Noticed)]
    assert reported == ["2 cells ran again in 0.2 s; before, all took 1 min 17 s."]


def test_it_stops_at_the_first_that_fails() -> None:
    session, computer, _ = make_session(cell("a"), cell("fail"), cell("c"))
    ended = answered(session)[-1]
    assert [code for _, code in computer.ran] == ["a", "fail"]
    assert ended == TurnEnded("paused", "Run 2 of 3 did not finish; the 1 cell after it did not run.")


def test_a_rejected_one_is_left_out_and_a_stop_ends_it() -> None:
    session, computer, _ = make_session(cell("a"), cell("b"), cell("c"), cell("d"))
    ended = answered(session, Reject("too slow"), None, Reject(stop=True))[-1]
    assert [code for _, code in computer.ran] == ["b"]
    assert ended == TurnEnded("rejected")


def test_an_edited_one_runs_as_edited() -> None:
    session, computer, _ = make_session(cell("a"))
    answered(session, Run("aa"))
    assert computer.ran == [("python", "aa")]
    assert session.messages[1].proposed == "a"


def test_the_model_is_reported_nothing_and_running_again_doubles_nothing() -> None:
    session, computer, _ = make_session(cell("a"))
    answered(session)
    answered(session)
    assert computer.ran == [("python", "a")] * 2
    assert all(message.recipient == "user" for message in session.messages[1:])
    assert len(rerun.list_completed(session.messages)) == 1


def test_what_is_lost_is_reported_by_language() -> None:
    reported = rerun.describe_lost([cell("a"), cell("b"), cell("c", format="shell", seconds=0.2)])
    assert reported == (
        "This is an earlier conversation. Its variables are gone: "
        "python (2 cells, 4.0 s); shell (1 cell, 0.2 s). %rerun asks, and runs these cells again in order."
    )
    assert rerun.describe_lost([cell("a", state="failed")]).endswith("variables are gone.")
    assert rerun.describe_lost([Message(role="user", type="message", content="hello")]) == ""


def test_the_model_is_told_how_much_of_the_code_is_forgotten() -> None:
    assert rerun.note_for_model([cell("a", state="failed"), Message(role="user", type="message")]) == ""
    assert "after the first piece of code" in rerun.note_for_model([cell("a")])
    assert "after the first 2 pieces of code" in rerun.note_for_model([cell("a"), cell("b")])
