"""A turn is a list of events: what the session does with replies, answers, runs and faults."""

import contextlib
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast
from unittest.mock import Mock

import pytest

from oi_tui.engine.events import (
    ApprovalRequested,
    Event,
    MessageGrew,
    MessageRecorded,
    MessageStarted,
    Noticed,
    Reject,
    RetryScheduled,
    Run,
    TurnEnded,
    TurnStarted,
)
from oi_tui.engine.llm.base import Delta, ErrorInfo, Finish, Request, Text, ToolCallPiece, Usage
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.review.permissions import Permission
from oi_tui.engine.review.scanner import scan_code
from oi_tui.engine.review.window_actions import ActedWindow, ActionKind, GrantedWindow
from oi_tui.engine.session import Session
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.storage.journal import Journal
from oi_tui.engine.storage.store import Store
from oi_tui.engine.tools import NO_TOOLS
from oi_tui.messages import Message, Report, VariablesLost
from tests.fakes import Computer, Llm, Reply, call


class Tried(Session):
    """A session with what it works with at hand."""

    llm: Llm
    computer: Computer
    journal: Journal


def make(
    *replies: Sequence[Delta | ErrorInfo | threading.Event],
    outputs: Path | None = None,
    facts: ModelInfo | None = None,
    messages: Sequence[Message] = (),
    journal: Journal | None = None,
    **settings,
) -> Tried:
    profile = Profile(**{"model": "openai/test", **settings})
    llm, computer = Llm(*replies), Computer()
    journal = journal or Store.create_unsaved(cwd="/", model="test")
    known = facts or ModelInfo()
    session = Tried(profile, llm, computer, journal, messages, outputs=outputs, facts=lambda _: known)
    session.llm, session.computer, session.journal = llm, computer, journal
    return session


def run_turn(session: Session, prompt: str | None = "go", *answers: Run | Reject | None) -> list[Event]:
    """All events of a turn; questions are answered in order, None runs the code as it is."""
    given = list(answers)
    seen = []
    for event in session.turn(prompt):
        seen.append(event)
        if isinstance(event, ApprovalRequested):
            assert event.reply((given.pop(0) if given else None) or Run(event.message.content))
    return seen


def select(events: Sequence[Event], kind: type) -> list:
    return [item for item in events if isinstance(item, kind)]


def codes(session: Session) -> list[Message]:
    return [m for m in session.messages if m.type == "code"]


def test_words_alone_end_the_turn() -> None:
    session = make([Text("Hel"), Text("lo.")])
    events = run_turn(session)
    assert isinstance(events[0], TurnStarted)
    assert "".join(e.text for e in select(events, MessageGrew)) == "Hello."
    assert events[-1] == TurnEnded("done")
    assert [(m.role, m.content) for m in session.messages] == [("user", "go"), ("assistant", "Hello.")]


def test_nothing_runs_before_it_is_approved() -> None:
    session = make([call("1+1")])
    for event in session.turn("go"):
        if isinstance(event, ApprovalRequested):
            assert session.computer.ran == []
            event.reply(Run(event.message.content))
    assert session.computer.ran == [("python", "1+1")]


def test_the_output_goes_back_to_the_model_until_it_is_done() -> None:
    session = make([call("a")], [call("b", "bash")], [Text("Both.")])
    events = run_turn(session)
    assert session.computer.ran == [("python", "a"), ("shell", "b")]
    assert [m["role"] for m in session.llm.requests[2].messages if m["role"] != "system"] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
    ]
    assert "out of b" in session.llm.requests[2].messages[-1]["content"]
    assert events[-1] == TurnEnded("done")


def test_only_the_first_answer_counts() -> None:
    session = make([call("a")])
    for event in session.turn("go"):
        if isinstance(event, ApprovalRequested):
            assert event.reply(Reject("no", stop=True))
            assert not event.reply(Run("a"))
    assert session.computer.ran == []


def test_what_runs_is_what_was_approved_and_the_model_hears_of_the_edit() -> None:
    session = make([call("a")])
    run_turn(session, "go", Run("b"))
    assert session.computer.ran == [("python", "b")]
    (code,) = codes(session)
    assert (code.content, code.proposed, code.decision) == ("b", "a", "edited")
    written = session.llm.requests[1].messages[-1]["content"]
    assert "edited" in written
    assert "b" in written


def test_a_rejection_with_a_reason_lets_the_model_go_on() -> None:
    session = make([call("a"), call("b", id="c2", index=1)], [Text("Another way.")])
    events = run_turn(session, "go", Reject("too risky"))
    assert session.computer.ran == []
    assert [c.state for c in codes(session)] == ["rejected", "skipped"]
    tools = [m for m in session.llm.requests[1].messages if m["role"] == "tool"]
    assert len(tools) == 2
    assert "too risky" in tools[0]["content"]
    assert events[-1] == TurnEnded("done")


def test_a_rejection_can_end_the_turn() -> None:
    session = make([call("a")])
    assert run_turn(session, "go", Reject(stop=True))[-1].outcome == "rejected"
    assert len(session.llm.requests) == 1


def test_several_calls_run_in_order_and_are_asked_one_by_one() -> None:
    session = make([call("a"), call("b", id="c2", index=1)])
    events = run_turn(session)
    assert [q.message.content for q in select(events, ApprovalRequested)] == ["a", "b"]
    assert session.computer.ran == [("python", "a"), ("python", "b")]


def test_always_holds_for_the_language_and_no_other() -> None:
    session = make([call("a")], [call("b")], [call("c", "shell")])
    events = run_turn(session, "go", Run("a", Permission("language", "python")))
    assert [q.message.content for q in select(events, ApprovalRequested)] == ["a", "c"]
    assert [c.decision for c in codes(session)] == ["approved", "auto", "approved"]


@pytest.mark.parametrize(
    ("grant", "asked"),
    [
        (Permission("code", "python", "a"), ["a", "b", "import os; os.remove('x')"]),
        (Permission("count", "python", left=1), ["a", "b", "import os; os.remove('x')"]),
        (Permission("count", "python", left=2), ["a", "import os; os.remove('x')"]),
        (Permission("unremarkable", "python"), ["a", "import os; os.remove('x')"]),
        (Permission("language", "shell"), ["a", "a", "b", "import os; os.remove('x')"]),
        (Permission("everything", "python"), ["a"]),
    ],
    ids=lambda value: value.words if isinstance(value, Permission) else "",
)
def test_a_grant_covers_what_it_says_and_no_more(grant: Permission, asked: list[str]) -> None:
    session = make([call("a")], [call("a")], [call("b")], [call("import os; os.remove('x')")])
    events = run_turn(session, "go", Run("a", grant))
    assert [q.message.content for q in select(events, ApprovalRequested)] == asked


def test_a_grant_is_reported_of_and_named_at_what_it_let_through() -> None:
    session = make([call("a")], [call("b")])
    events = run_turn(session, "go", Run("a", Permission("language", "python")))
    assert "all python" in select(events, Noticed)[0].text
    assert [c.grant for c in codes(session)] == [None, "all python"]


def test_a_grant_can_be_revoked_and_everything_with_it() -> None:
    session = make()
    narrow, wide = Permission("code", "python", "a"), Permission("language", "python")
    for grant in (narrow, wide):
        session.permissions.add(grant)
    session.auto_run = True
    assert [permission.scope for permission in session.permissions.in_force] == [
        "everything",
        "code",
        "language",
    ]
    session.permissions.revoke(wide)
    session.permissions.revoke(session.permissions.in_force[0])
    assert session.permissions.in_force == (narrow,)


def test_a_grant_never_covers_code_that_may_have_been_cut_off() -> None:
    session = make([Text("So:\n```py\na\n")], supports_functions=False)
    session.permissions.add(Permission("language", "python"))
    assert len(select(run_turn(session), ApprovalRequested)) == 1


def test_auto_run_asks_nothing() -> None:
    session = make([call("a")], auto_run=True)
    assert select(run_turn(session), ApprovalRequested) == []
    assert session.computer.ran == [("python", "a")]


def test_fenced_code_runs_where_the_model_calls_no_tools() -> None:
    session = make([Text("So:\n```py\na\n```\n")], supports_functions=False)
    run_turn(session)
    assert session.computer.ran[0][0] == "python"
    assert session.computer.ran[0][1].strip() == "a"
    assert not session.llm.requests[0].tools


def test_an_unknown_language_is_reported_to_the_model_and_not_asked_for() -> None:
    session = make([call("a", "cobol")])
    events = run_turn(session)
    assert select(events, ApprovalRequested) == []
    (code,) = codes(session)
    assert code.state == "failed"
    assert "cobol" in code.reason
    assert "python" in code.reason
    assert "cobol" in session.llm.requests[1].messages[-1]["content"]


def test_code_that_was_cut_off_never_runs() -> None:
    cut = ErrorInfo("cut", "The connection broke off.")
    session = make(
        [ToolCallPiece(0, "c1", "execute", '{"language": "python", "code": "rm'), cut], auto_run=True
    )
    events = run_turn(session)
    assert session.computer.ran == []
    assert [c.state for c in codes(session)] == ["unfinished"]
    assert events[-1] == TurnEnded("failed", "The connection broke off.")


def test_a_block_that_was_never_closed_is_asked_for_with_a_caution_even_in_auto_run() -> None:
    session = make([Text("```python\na\n")], supports_functions=False, auto_run=True)
    events = run_turn(session)
    (question,) = select(events, ApprovalRequested)
    assert "cut off" in question.caution
    assert session.computer.ran[0][0] == "python"


def test_words_before_a_cut_are_kept() -> None:
    session = make([Text("half a sen"), ErrorInfo("cut", "Cut off.")])
    run_turn(session)
    assert session.messages[-1].content == "half a sen"


def test_a_reply_that_was_cut_at_its_greatest_length_says_so() -> None:
    events = run_turn(make([Text("and so on and"), Finish("length")]))
    assert ["max_tokens" in e.text for e in select(events, Noticed)] == [True]


def test_saving_that_works_again_is_reported_once() -> None:
    session = make([Text("one")])
    session.journal.trouble = "Not saved: the disk is full."
    reported = select(run_turn(session), Noticed)
    assert [item.text for item in reported] == ["Not saved: the disk is full."]
    assert not session.saves_again()
    session.journal.trouble = None
    assert session.saves_again()
    assert not session.saves_again()


def test_the_next_turn_says_that_saving_works_again_where_nobody_asked_before() -> None:
    session = make([Text("one")], [Text("two")], [Text("three")])
    session.journal.trouble = "Not saved: the disk is full."
    run_turn(session)
    session.journal.trouble = None
    assert [item.text for item in select(run_turn(session), Noticed)] == ["Saving works again."]
    assert select(run_turn(session), Noticed) == []


def test_a_passing_fault_is_tried_again() -> None:
    session = make([ErrorInfo("server", "Busy.", retryable=True, retry_after=0.01)], [Text("Here.")])
    events = run_turn(session)
    assert select(events, RetryScheduled) == [RetryScheduled("Busy.", 0.01)]
    assert events[-1] == TurnEnded("done")


def test_a_time_that_has_passed_is_no_wait() -> None:
    session = make([ErrorInfo("rate", "Busy.", retryable=True, retry_after=0.0)])
    turn = session.turn("go")
    scheduled = next(event for event in turn if isinstance(event, RetryScheduled))
    session.interrupt()
    list(turn)
    assert scheduled.seconds >= 1


def test_a_long_wait_is_left_to_the_person() -> None:
    session = make([ErrorInfo("rate", "Too many requests.", "model", retryable=True, retry_after=3600)])
    events = run_turn(session)
    assert select(events, RetryScheduled) == []
    assert events[-1] == TurnEnded("failed", "Too many requests.", "model")


def test_a_model_that_refuses_tools_is_asked_for_text() -> None:
    session = make([ErrorInfo("tools", "No tools.")], [Text("```python\na\n```")])
    events = run_turn(session)
    assert any("as text" in e.text for e in select(events, Noticed))
    assert [bool(r.tools) for r in session.llm.requests] == [True, False, False]
    assert session.computer.ran


def test_a_stop_does_not_wait_for_a_request_that_is_being_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    session = make([Text("never")])
    sends, may_send = threading.Event(), threading.Event()
    reply = session.llm.reply

    def reply_late(request: Request) -> Reply:
        sends.set()
        assert may_send.wait(60)
        return reply(request)

    monkeypatch.setattr(session.llm, "reply", reply_late)
    events: list[Event] = []
    turn = threading.Thread(target=lambda: events.extend(run_turn(session)))
    turn.start()
    assert sends.wait(60)
    stop = threading.Thread(target=session.interrupt)
    stop.start()
    stop.join(5)
    has_stopped = not stop.is_alive()
    may_send.set()
    turn.join(60)
    assert has_stopped
    assert events[-1] == TurnEnded("interrupted")
    assert select(events, MessageGrew) == []


def test_a_stop_before_the_first_event_ends_the_turn() -> None:
    session = make([call("a")], auto_run=True)
    turn = session.turn("go")
    session.interrupt()
    assert list(turn)[-1] == TurnEnded("interrupted")
    assert session.llm.requests == []
    assert session.computer.ran == []
    assert run_turn(session)[-1] == TurnEnded("done"), "it does not stop the turn after it"
    assert session.computer.ran == [("python", "a")]


def test_the_events_of_the_next_turn_do_not_take_back_a_stop() -> None:
    session = make([call("a")], auto_run=True)
    turn = session.turn("go")
    assert isinstance(next(turn), TurnStarted)
    session.interrupt()
    session.turn("and then")
    assert list(turn)[-1] == TurnEnded("interrupted")


def test_interrupting_a_stream_keeps_what_came() -> None:
    reached = threading.Event()
    session = make([Text("so far"), reached])
    threading.Thread(target=lambda: reached.wait(40) and session.interrupt()).start()
    events = run_turn(session)
    assert events[-1] == TurnEnded("interrupted")
    assert session.messages[-1].content == "so far"


@pytest.mark.parametrize("end", ["interrupt", "fault", "exception", "done"])
def test_a_reply_that_ended_in_any_way_but_the_end_of_the_program_is_no_torn_one(
    end: str, tmp_path: Path
) -> None:
    reached = threading.Event()
    last: Sequence[Delta | ErrorInfo | threading.Event] = {
        "interrupt": [reached],
        "fault": [ErrorInfo("server", "Gone.")],
        "exception": [cast("Delta", object())],
        "done": [Text(" and on")],
    }[end]
    journal = Store(tmp_path).create(cwd="/", model="m")
    session = make([Text("so far"), Text(" so good"), *last], journal=journal)
    threading.Thread(target=lambda: reached.wait(40) and session.interrupt()).start()
    with contextlib.suppress(TypeError, AttributeError):
        run_turn(session)
    reached.set()
    journal.close()
    contents = Store(tmp_path).read_contents(journal.id)
    assert list(contents.messages.values())[-1].content.startswith("so far so good")
    assert contents.notices == ()


def test_interrupting_the_question_runs_nothing() -> None:
    session = make([call("a"), call("b", id="c2", index=1)])
    for event in session.turn("go"):
        if isinstance(event, ApprovalRequested):
            session.interrupt()
        last = event
    assert last.outcome == "rejected"
    assert [c.state for c in codes(session)] == ["rejected", "skipped"]
    assert session.computer.ran == []


def test_interrupting_a_run_skips_the_rest() -> None:
    session = make([call("hang"), call("b", id="c2", index=1)], auto_run=True)
    computer = session.computer
    threading.Thread(target=lambda: computer.running.wait(40) and session.interrupt()).start()
    assert run_turn(session)[-1] == TurnEnded("interrupted")
    assert [c.state for c in codes(session)] == ["interrupted", "skipped"]


def test_after_an_interrupt_the_next_request_answers_every_call() -> None:
    session = make([call("hang"), call("b", id="c2", index=1)], [Text("I see.")], auto_run=True)
    computer = session.computer
    threading.Thread(target=lambda: computer.running.wait(40) and session.interrupt()).start()
    run_turn(session)
    run_turn(session, "and now?")
    messages = session.llm.requests[-1].messages
    wanted = [item["id"] for m in messages for item in m.get("tool_calls", ())]
    assert wanted == [m["tool_call_id"] for m in messages if m["role"] == "tool"]
    assert len(wanted) == 2


def test_a_run_that_says_nothing_leaves_an_empty_output() -> None:
    session = make([call("silent")], auto_run=True)
    run_turn(session)
    outputs = [m for m in session.messages if m.type == "console"]
    assert [m.content for m in outputs] == [""]


def test_images_stand_between_the_lines_where_they_came() -> None:
    session = make([call("image")], auto_run=True)
    run_turn(session)
    shown = [(m.type, m.content) for m in session.messages if m.role == "computer"]
    assert shown == [("console", "before"), ("image", "aGk="), ("console", "out of image")]


def test_long_output_is_kept_at_both_ends_and_whole_in_a_file(tmp_path: Path) -> None:
    session = make([call("flood")], outputs=tmp_path, auto_run=True)
    run_turn(session)
    (output,) = [m for m in session.messages if m.type == "console"]
    assert len(output.content) < 110_000
    assert "lines not shown" in output.content
    (path,) = tmp_path.iterdir()
    assert str(path) in output.content
    assert path.stat().st_size == 300_000
    assert path.stat().st_mode & 0o077 == 0


def test_the_same_code_with_the_same_result_pauses() -> None:
    session = make(*[[call("a")]] * 5, auto_run=True)
    assert run_turn(session)[-1].outcome == "paused"
    assert len(session.computer.ran) == 3


def test_many_rounds_without_a_person_pause() -> None:
    session = make(*[[call(f"step {i}")] for i in range(50)], auto_run=True)
    assert run_turn(session)[-1].outcome == "paused"
    assert len(session.computer.ran) == 30


def test_a_spent_budget_stops_before_the_next_request() -> None:
    facts = ModelInfo(prompt_price=1e-6)
    session = make(
        [call("a"), Usage(10, 10, 0.6)], [Text("more")], facts=facts, auto_run=True, max_budget=0.5
    )
    ended = run_turn(session)[-1]
    assert (ended.outcome, ended.setting) == ("paused", "max_budget")
    assert len(session.llm.requests) == 1


def test_loop_mode_asks_until_the_model_says_the_phrase() -> None:
    session = make([Text("Step one.")], [Text("The task is done.")], loop=True)
    run_turn(session)
    assert len(session.llm.requests) == 2
    assert session.llm.requests[1].messages[-1]["role"] == "user"
    assert [m.role for m in session.messages] == ["user", "assistant", "assistant"]


def test_rewind_takes_a_message_back_with_all_that_followed() -> None:
    session = make([Text("one")], [Text("two")])
    run_turn(session, "first")
    run_turn(session, "second")
    assert [m.content for m in session.rewind(session.messages[2].id)] == ["second", "two"]
    assert [m.content for m in session.messages] == ["first", "one"]


def test_code_run_by_hand_is_not_shown_to_the_model() -> None:
    session = make([Text("ok")])
    assert list(session.run("shell", "ls"))[-1] == TurnEnded("done")
    run_turn(session, "hello")
    assert "ls" not in str(session.llm.requests[0].messages[1:])


@pytest.mark.parametrize(("name", "code"), [("py", "print = open"), ("bash", "echo() { rm x; }")])
def test_what_code_changed_counts_whatever_its_language_was_called(
    name: str, code: str, tmp_path: Path
) -> None:
    language, plain = {"py": ("python", "print('a')"), "bash": ("shell", "echo a")}[name]
    session = make([call(plain, language)], [Text("Done.")], [call(plain, language)])
    session.computer.cwd = tmp_path
    session.permissions.add(Permission("unremarkable", language))
    assert select(run_turn(session), ApprovalRequested) == []
    assert list(session.run(name, code))[-1] == TurnEnded("done")
    assert len(select(run_turn(session), ApprovalRequested)) == 1


def test_a_run_whose_events_nobody_takes_any_more_is_recorded_as_interrupted() -> None:
    session = make([call("flood")], [Text("Done.")], auto_run=True)
    turn = session.turn("go")
    grown = next(event for event in turn if isinstance(event, MessageGrew) and "xxx" in event.text)
    turn.close()
    (code,) = codes(session)
    assert (code.state, code.seconds, code.reason) == ("interrupted", 0.0, None)
    (output,) = [message for message in session.messages if message.type == "console"]
    assert output.id == grown.id
    assert output.content.startswith(grown.text)
    assert session.execution.callable_tools == NO_TOOLS
    assert run_turn(session)[-1] == TurnEnded("done")


def test_replay_tells_every_message_once() -> None:
    session = make([call("a")])
    run_turn(session)
    replayed = list(session.replay())
    assert replayed == [MessageRecorded(m) for m in session.messages]
    assert not select(replayed, MessageStarted)


@pytest.mark.parametrize("code", ["", "  \n", "print(1)\0"])
def test_code_that_cannot_be_code_is_refused(code: str) -> None:
    session = make([call(code)], auto_run=True)
    run_turn(session)
    assert session.computer.ran == []


def test_code_in_a_language_that_is_missing_is_refused_and_the_model_told_how_to_get_it() -> None:
    session = make([call("puts 1", "ruby")], [Text("Then in Python.")])
    session.computer.resolve = lambda name: name  # type: ignore[method-assign]
    session.computer.explain_missing = {"ruby": "Ruby is not installed. Install it with: x"}.get  # type: ignore[method-assign,assignment]
    events = run_turn(session)
    assert not any(isinstance(event, ApprovalRequested) for event in events)
    assert session.computer.ran == []
    reported = [
        message["content"] for message in session.llm.requests[1].messages if message["role"] == "tool"
    ]
    assert reported == ["Ruby is not installed. Install it with: x"]


def test_what_a_language_notes_stands_in_the_system_message() -> None:
    session = make([Text("Yes.")])
    session.computer.notes = ("Every block must print.",)  # type: ignore[assignment]
    run_turn(session)
    assert "\n\nEvery block must print." in session.llm.requests[0].messages[0]["content"]


LOSS = VariablesLost("python", "Python ended between runs (killed by SIGKILL); its variables are lost: df")


def test_a_language_that_ended_between_runs_is_reported_to_the_person_and_to_the_model() -> None:
    session = make([call("df = 1")], [Text("Made.")], [Text("So.")])
    run_turn(session)
    session.computer.losses = [LOSS]
    events = list(session.report_losses())
    assert [item.text for item in select(events, Noticed)] == [f"{LOSS.reason}."]
    assert list(session.report_losses()) == []
    assert (codes(session)[0].state, codes(session)[0].reason) == ("finished", LOSS.reason)
    run_turn(session, "and now?")
    assert LOSS.reason in str(session.llm.requests[-1].messages)


def test_a_loss_that_comes_during_a_turn_is_reported_before_the_model_is_asked() -> None:
    session = make([call("df = 1")], [Text("Made.")])
    events: list[Event] = []
    for event in session.turn("go"):
        events.append(event)
        if isinstance(event, ApprovalRequested):
            event.reply(Run("df = 1"))
        if isinstance(event, MessageRecorded) and event.message.state == "finished":
            session.computer.losses = [] if select(events, Noticed) else [LOSS]
    assert [item.text for item in select(events, Noticed)] == [f"{LOSS.reason}."]
    assert LOSS.reason in str(session.llm.requests[-1].messages)


def test_a_loss_is_reported_to_the_model_where_the_person_ran_code_last() -> None:
    session = make([call("df = 1")], [Text("Made.")])
    run_turn(session)
    list(session.run("python", "own = 1"))
    session.computer.losses = [LOSS]
    list(session.report_losses())
    assert [code.reason for code in codes(session)] == [LOSS.reason, LOSS.reason]


def test_a_loss_is_reported_with_code_that_ran_and_not_with_code_that_was_rejected() -> None:
    session = make([call("df = 1")], [call("df")], [Text("Then not.")])
    run_turn(session, "go", None, Reject("no"))
    session.computer.losses = [LOSS]
    list(session.report_losses())
    assert [code.reason for code in codes(session)] == [LOSS.reason, "no"]


def test_only_the_languages_of_the_profile_are_offered_and_run() -> None:
    session = make([call("ls", "bash")], [call("1", "py")], languages=("py",))
    run_turn(session)
    assert session.computer.ran == [("python", "1")]
    assert codes(session)[0].reason == "The profile does not allow shell. It allows: python."


def test_rounds_in_which_a_person_rejects_code_do_not_pause_the_turn() -> None:
    session = make(*[[call(f"step {i}")] for i in range(40)])
    assert run_turn(session, "go", *[Reject("no")] * 40)[-1] == TurnEnded("done")
    assert session.computer.ran == []


def test_auto_run_that_is_switched_on_with_an_answer_is_reported_of_with_the_way_back() -> None:
    session = make([call("a")], [call("b")])
    events = run_turn(session, "go", Run("a", Permission("everything", "python")))
    [noticed] = select(events, Noticed)
    assert noticed.severity == "warning"
    assert "without asking" in noticed.text
    assert "%auto_run off" in noticed.text


def test_code_counts_as_earlier_code_of_its_language_whatever_the_model_calls_it() -> None:
    session = make([call("exec(x)", "py")], [call("print(1)")])
    session.permissions.add(Permission("unremarkable", "python"))
    events = run_turn(session)
    assert [q.message.content for q in select(events, ApprovalRequested)] == ["exec(x)", "print(1)"]


def test_an_interrupt_after_a_run_reaches_no_language() -> None:
    session = make([call("a")])
    run_turn(session)
    session.interrupt()
    assert not session.computer.interrupted.is_set()


def test_an_interrupt_before_the_question_asks_and_runs_nothing() -> None:
    session = make([call("a")], [call("b")])
    events = []
    for event in session.turn("go"):
        events.append(event)
        if isinstance(event, MessageStarted) and event.message.type == "code":
            session.interrupt()
    assert select(events, ApprovalRequested) == []
    assert session.computer.ran == []
    assert len(session.llm.requests) == 1


def test_what_was_granted_here_is_not_granted_elsewhere() -> None:
    session = make([call("a")], [Text("ok")], [call("b")], [Text("ok")], [call("c")], [Text("ok")])
    session.permissions.add(Permission("language", "python"))
    assert list_questions(run_turn(session)) == []
    session.computer.targets.use("ssh:gpu1")
    assert [question.message.content for question in list_questions(run_turn(session))] == ["b"]
    assert session.permissions.in_force == ()
    session.computer.targets.use("local")
    assert [question.message.content for question in list_questions(run_turn(session))] == ["c"]


def test_what_was_granted_before_a_move_is_not_granted_to_a_cell_that_names_the_former_place() -> None:
    session = make([call("a")], [Text("ok")], [call("%%on local\nb")], [Text("ok")])
    session.permissions.add(Permission("language", "python"))
    assert list_questions(run_turn(session)) == []
    session.computer.targets.use("ssh:gpu1")
    session.computer.targets.connected.append("local")
    assert [question.message.content for question in list_questions(run_turn(session))] == ["%%on local\nb"]


def test_after_a_cell_elsewhere_code_is_reviewed_as_code_of_this_place_again() -> None:
    session = make([call("%%on ssh:gpu1\na")], [Text("ok")])
    session.computer.targets.connected.append("ssh:gpu1")
    run_turn(session)
    assert [code for _, code in session.computer.ran] == ["\na"]
    assert (session.execution.earlier.elsewhere, session.execution.earlier.folder) == ("", "")


def test_code_that_names_a_tool_is_asked_for_although_its_language_was_granted() -> None:
    servers = {"github": {"command": "github-mcp"}}
    tool = "tools.github.search('a')"
    session = make([call(tool)], [Text("ok")], [call("1")], [Text("ok")], mcp_servers=servers)
    session.permissions.add(Permission("language", "python"))
    assert [question.message.content for question in list_questions(run_turn(session))] == [tool]
    assert list_questions(run_turn(session)) == []


def test_auto_run_does_not_go_along_to_another_machine() -> None:
    session = make([call("a")], [Text("ok")], [call("b")], [Text("ok")], auto_run=True)
    assert list_questions(run_turn(session)) == []
    session.computer.targets.use("ssh:gpu1")
    assert len(list_questions(run_turn(session))) == 1
    assert not session.auto_run


def test_an_answer_is_for_the_place_that_the_question_named() -> None:
    session = make([call("a")], [Text("ok")])
    for event in session.turn("go"):
        if isinstance(event, ApprovalRequested):
            session.computer.targets.use("ssh:gpu1")
            event.reply(Run("a"))
    assert session.computer.ran == []
    (code,) = [message for message in session.messages if message.type == "code"]
    assert code.state == "failed"
    assert code.reason == "Nothing ran: the question was asked for this machine."


def test_an_answer_for_another_place_is_the_answer_of_a_person() -> None:
    session = make()
    code = Message(role="assistant", type="code", content="a", format="python")
    ended: list[object] = []

    def cell() -> Iterator[Event]:
        ended.append((yield from session.execution.run_cell(code, session.profile)))

    for event in cell():
        if isinstance(event, ApprovalRequested):
            session.computer.targets.use("ssh:gpu1")
            event.reply(Run("a"))
    assert ended == [("failed", True)]


def test_files_of_another_machine_are_watched_only_where_files_are_watched() -> None:
    session = make([call("a")], [Text("ok")])
    session.computer.targets.use("ssh:gpu1")
    elsewhere = session.computer.target_files = Mock()
    run_turn(session)
    assert session.computer.ran == [("python", "a")]
    elsewhere.watch.assert_not_called()


@pytest.mark.parametrize("by_grant", [True, False])
def test_code_is_confined_to_the_windows_that_were_granted_only_while_it_runs_by_that_grant(
    by_grant: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make([call("computer.mouse.click('OK')")], [Text("ok")])
    window, kinds = ActedWindow(7, "Rename"), frozenset[ActionKind]({"clicks" if by_grant else "types"})
    session.permissions.add(Permission("window", "python", window=window, kinds=kinds))
    during: list[object] = []
    run = session.computer.run

    def look(*arguments: Any) -> Iterator[Report]:
        during.append(session.execution.granted_windows)
        yield from run(*arguments)

    monkeypatch.setattr(session.computer, "run", look)
    assert len(list_questions(run_turn(session))) == (not by_grant)
    assert during == [(GrantedWindow(window, kinds),) if by_grant else None]
    assert session.execution.granted_windows is None


def test_no_window_is_granted_to_what_follows_the_code_that_a_window_was_granted_to() -> None:
    session = make([call("a")], [Text("ok")])
    run_turn(session)
    assert session.execution.granted_windows is None


def test_a_question_about_sql_names_the_database_and_what_was_granted_holds_for_that_one() -> None:
    session = make(*[[call("a")], [Text("ok")]] * 5)
    session.computer.databases["python"] = "SQLite, old.db"
    (question,) = list_questions(run_turn(session))
    assert question.note == "It runs in SQLite, old.db."
    session.permissions.add(Permission("language", "python"))
    assert list_questions(run_turn(session)) == []
    session.computer.databases["python"] = "SQLite, new.db"
    (question,) = list_questions(run_turn(session))
    assert question.note == "It runs in SQLite, new.db."
    assert session.permissions.in_force == ()
    # What is granted for the new one holds there.
    session.permissions.add(Permission("language", "python"))
    assert list_questions(run_turn(session)) == []
    assert list_questions(run_turn(session)) == []


def test_an_answer_is_for_the_database_that_the_question_named() -> None:
    session = make([call("a")], [Text("ok")])
    session.computer.databases["python"] = "SQLite, old.db"
    for event in session.turn("go"):
        if isinstance(event, ApprovalRequested):
            session.computer.databases["python"] = "SQLite, new.db"
            event.reply(Run("a"))
    assert session.computer.ran == []
    (code,) = codes(session)
    assert (code.state, code.reason) == ("failed", "Nothing ran: the question was about SQLite, old.db.")


def test_files_of_another_machine_are_not_taken_for_looked_at() -> None:
    session = make([call("print(1)")], [Text("ok")])
    session.computer.targets.use("ssh:gpu1")
    (question,) = list_questions(run_turn(session))
    findings = scan_code("python", question.message.content, Path("/"), session.earlier)
    assert not findings.nothing_listed
    assert [finding.what for finding in findings.unchecked] == ["the files on ssh:gpu1 as ana, /scratch"]


def test_the_model_is_reported_of_the_place_and_not_of_this_machine() -> None:
    session = make([Text("ok")], [Text("ok")])
    run_turn(session)
    session.computer.targets.use("ssh:gpu1")
    run_turn(session)
    here, there = (request.messages[0]["content"] for request in session.llm.requests)
    assert "Working directory: /" in here
    assert "Operating system" in here
    assert "Working directory" not in there
    assert "Operating system" not in there


def list_questions(events: list[Event]) -> list[ApprovalRequested]:
    return [event for event in events if isinstance(event, ApprovalRequested)]
