"""A whole conversation through the wire format of each provider: the session, LiteLLM, and a strict server.

The server answers 400 to a call without a result, a result without a call, or an id that occurs twice.
"""

import json
import threading
from pathlib import Path

import pytest

from oi_tui.engine.events import (
    ApprovalRequested,
    Event,
    MessageGrew,
    Noticed,
    Reject,
    RetryScheduled,
    Run,
    TurnEnded,
)
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.session import Session
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.storage.store import Store
from tests.fakes import Computer
from tests.servers import openai_server as server
from tests.servers.openai_server import Call, Exchange, ModelServer, Say, Think
from tests.unit.engine.test_session import codes, select
from tests.unit.llm.test_provider_formats import WIRES

Answers = list[Run | Reject]


def call(code: str, id: str = "call_1", language: str = "python") -> Call:
    return Call(json.dumps({"language": language, "code": code}), id)


def run_turn(session: Session, prompt: str | None, *answers: Run | Reject) -> list[Event]:
    given = list(answers)
    events = []
    for event in session.turn(prompt):
        events.append(event)
        if isinstance(event, ApprovalRequested):
            event.reply(given.pop(0) if given else Run(event.message.content))
    return events


def ended(events: list[Event]) -> str:
    assert isinstance(events[-1], TurnEnded)
    return f"{events[-1].outcome} {events[-1].reason or ''}".strip()


@pytest.mark.parametrize("name", WIRES)
def test_a_conversation_with_all_that_happens_in_one_stays_valid(
    models: ModelProcess, served: ModelServer, name: str, tmp_path: Path
) -> None:
    model, path = WIRES[name]
    profile = Profile(model=model, api_base=served.root + path, api_key="k-12345678", timeout=20.0)
    store = Store(tmp_path)
    journal = store.create(cwd=Path("/"), model=model)
    computer = Computer()
    session = Session(profile, models, computer, journal)

    # Edited, run, and answered.
    served.answer(server.spoken(Think("Hm."), Say("Look:"), call("one")), server.spoken(Say("Seen."), size=2))
    assert ended(run_turn(session, "first", Run("other"))) == "done"
    assert computer.ran == [("python", "other")]
    last = json.dumps(served.requests[-1])
    assert "out of other" in last
    assert "edited the code" in last

    # Rejected, and the other call of the reply skipped with it.
    served.answer(server.spoken(call("two", "a"), call("three", "b")), server.spoken(Say("Another way.")))
    assert ended(run_turn(session, "second", Reject("too risky"))) == "done"
    assert [code.state for code in codes(session)[-2:]] == ["rejected", "skipped"]
    assert "too risky" in json.dumps(served.requests[-1])

    # Interrupted while the words come in: the connection is closed.
    served.answer(server.broken_off(Say("word " * 40), chunks=14, then=lambda exchange: exchange.hang()))
    events = []
    for event in session.turn("third"):
        events.append(event)
        if isinstance(event, MessageGrew):
            session.interrupt()
    assert ended(events) == "interrupted"
    assert served.exchange().client_gone.wait(40)
    assert session.messages[-1].content.startswith("word")

    # Interrupted while code runs, with another call waiting.
    served.answer(server.spoken(call("hang", "c"), call("never", "d")), server.spoken(Say("It was stopped.")))
    stopper = threading.Thread(target=lambda: computer.running.wait(20) and session.interrupt())
    stopper.start()
    assert ended(run_turn(session, "fourth")) == "interrupted"
    stopper.join()
    assert [code.state for code in codes(session)[-2:]] == ["interrupted", "skipped"]
    assert ended(run_turn(session, "and now?")) == "done"

    # Left in the middle of a run, and opened again.
    journal.put(codes(session)[-1].replace(id="left", state="running", content="left()"))
    journal.close()
    identity = store.find_latest()
    assert identity
    journal, messages = store.open(identity)
    resumed = Session(profile, models, Computer(), journal, messages)
    served.answer(server.spoken(call("four", "e")), server.spoken(Say("All good.")))
    assert ended(run_turn(resumed, "fifth")) == "done"
    assert resumed.messages[-1].content == "All good."
    last = json.dumps(served.requests[-1])
    assert "first" in last
    assert "out of four" in last
    assert "Hm." not in last
    assert resumed.usage.totals.requests == 2
    journal.close()


@pytest.mark.parametrize("name", WIRES)
def test_a_model_that_refuses_tools_goes_on_in_text_through_every_wire(
    models: ModelProcess, served: ModelServer, name: str
) -> None:
    model, path = WIRES[name]

    def answer(exchange: Exchange) -> None:
        if "Runs code on the user's computer once" in json.dumps(exchange.request):
            server.error(400, "m does not support tools")(exchange)
        elif "out of x" in json.dumps(exchange.request):
            server.spoken(Say("Done."))(exchange)
        else:
            server.spoken(Say("So:\n```python\nx\n```\n"))(exchange)

    served.answer(answer)
    profile = Profile(model=model, api_base=served.root + path, api_key="k-12345678", auto_run=True)
    computer = Computer()
    session = Session(profile, models, computer, Store.create_unsaved(cwd="/", model=model))
    events = run_turn(session, "go")
    assert ended(events) == "done"
    assert any("does not support tool calls" in item.text for item in select(events, Noticed))
    assert [code.strip() for _, code in computer.ran] == ["x"]


def read_last_request(models: ModelProcess, served: ModelServer, *prompts: str, **settings: object) -> dict:
    """The last request of a conversation with a model that writes text, as it went over the wire."""
    base = {"model": "openai/m", "api_base": served.base, "supports_functions": False, "auto_run": True}
    profile = Profile(**{**base, **settings})  # type: ignore[arg-type]
    session = Session(profile, models, Computer(), Store.create_unsaved(cwd="/", model="m"))
    for prompt in prompts:
        run_turn(session, prompt)
    return served.requests[-1]


CODE = server.spoken(Say("```python\nx\n```\n"))
SILENT = server.spoken(Say("```python\nsilent\n```\n"))
DONE = server.spoken(Say("Done."))
#: A setting, the replies that make it count, and what the last request then holds.
WORDING: dict[str, tuple[dict, list[server.Answer], str]] = {
    "system_message": ({"system_message": "Be a pirate."}, [DONE], "Be a pirate."),
    "custom_instructions": ({"custom_instructions": "I like tables."}, [DONE], "I like tables."),
    "execution_instructions": ({"execution_instructions": "Write fences."}, [DONE], "Write fences."),
    "user_message_template": ({"user_message_template": "<< {content} >>"}, [DONE], "<< go >>"),
    "code_output_template": ({"code_output_template": "GOT {content} HERE"}, [CODE, DONE], "GOT out of x"),
    "empty_code_output_template": ({"empty_code_output_template": "NOTHING!"}, [SILENT, DONE], "NOTHING!"),
    "code_output_sender": ({"code_output_sender": "assistant"}, [CODE, DONE], "```output\\nout of x"),
}


@pytest.mark.parametrize("name", WORDING)
def test_every_wording_reaches_the_wire(models: ModelProcess, served: ModelServer, name: str) -> None:
    settings, answers, wanted = WORDING[name]
    served.answer(*answers)
    assert wanted in json.dumps(read_last_request(models, served, "go", **settings))


@pytest.mark.parametrize(("always", "times"), [(True, 2), (False, 1)])
def test_the_template_is_for_the_last_message_or_for_all(
    models: ModelProcess, served: ModelServer, always: bool, times: int
) -> None:
    served.answer(DONE)
    settings = {"user_message_template": "<< {content}", "always_apply_user_message_template": always}
    asked = read_last_request(models, served, "one", "two", **settings)
    assert json.dumps(asked).count("<< ") == times


@pytest.mark.parametrize("breaker", Profile().loop_breakers)
def test_loop_mode_goes_on_until_the_model_says_one_of_the_phrases(
    models: ModelProcess, served: ModelServer, breaker: str
) -> None:
    served.answer(server.spoken(Say("Half of it.")), server.spoken(Say(f"So: {breaker}")))
    asked = read_last_request(models, served, "go", loop=True)
    assert len(served.requests) == 2
    assert asked["messages"][-1]["role"] == "user"
    for phrase in Profile().loop_breakers:
        assert phrase in asked["messages"][-1]["content"]
    assert [m["content"] for m in asked["messages"][1:-1]] == ["go", "Half of it."]


@pytest.mark.parametrize(
    ("model", "path"),
    [("openrouter/anthropic/claude-sonnet-4.5", "/api/v1"), ("anthropic/claude-sonnet-4-5", "")],
)
def test_what_can_be_kept_in_a_cache_is_marked_wherever_claude_is(
    models: ModelProcess, served: ModelServer, model: str, path: str
) -> None:
    served.answer(server.spoken(Say("Hi.")))
    profile = Profile(model=model, api_base=served.root + path, api_key="k-12345678")
    session = Session(profile, models, Computer(), Store.create_unsaved(cwd="/", model=model))
    run_turn(session, "one")
    run_turn(session, "two")
    asked = served.requests[-1]
    assert json.dumps(asked).count('"cache_control": {"type": "ephemeral"}') == 2
    assert "cache_control" in json.dumps(asked["messages"][-1])


# -- waiting and stopping ---------------------------------------------------------------------------


def make_session(models: ModelProcess, served: ModelServer, **settings: object) -> Session:
    profile = Profile(model="openai/m", api_base=served.base, **settings)  # type: ignore[arg-type]
    return Session(profile, models, Computer(), Store.create_unsaved(cwd="/", model="m"))


@pytest.mark.parametrize(
    "fault",
    [
        server.error(429, "Slow down", Retry_After="0.02"),
        server.error(503, "Overloaded", retry_after_ms="20"),
        server.error(500, "Oops", Retry_After="0.02"),
    ],
)
def test_a_wait_that_was_asked_for_is_kept_and_told(
    models: ModelProcess, served: ModelServer, fault: server.Answer
) -> None:
    served.answer(fault, fault, server.spoken(Say("Here.")))
    events = run_turn(make_session(models, served), "go")
    assert [item.seconds for item in select(events, RetryScheduled)] == [0.02, 0.02]
    assert ended(events) == "done"


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (server.error(429, "Slow down", Retry_After="86400"), "24 h"),
        (server.error(429, "You exceeded your current quota.", "insufficient_quota"), "credit"),
        (server.error(402, "Payment required"), "credit"),
    ],
)
def test_a_long_wait_or_an_empty_account_is_left_to_the_person(
    models: ModelProcess, served: ModelServer, fault: server.Answer, says: str
) -> None:
    served.answer(fault)
    events = run_turn(make_session(models, served), "go")
    assert select(events, RetryScheduled) == []
    assert ended(events).startswith("failed")
    assert says in ended(events)
    assert len(served.exchanges) == 1


def test_waiting_for_another_try_can_be_stopped(models: ModelProcess, served: ModelServer) -> None:
    served.answer(server.error(429, "Slow down", Retry_After="30"))
    session = make_session(models, served)
    events = []
    for event in session.turn("go"):
        events.append(event)
        if isinstance(event, RetryScheduled):
            threading.Timer(0.05, session.interrupt).start()
    assert ended(events) == "interrupted"
    assert len(served.exchanges) == 1


def test_a_stream_that_is_cut_keeps_its_words_and_is_not_sent_again_by_itself(
    models: ModelProcess, served: ModelServer
) -> None:
    served.answer(
        server.broken_off(Say("half a sentence"), call("rm"), chunks=6, then=lambda e: e.reset()),
        server.spoken(Say("and the rest.")),
    )
    session = make_session(models, served, auto_run=True)
    assert ended(run_turn(session, "go")).startswith("failed")
    assert session._computer.ran == []  # type: ignore[attr-defined]
    assert len(served.exchanges) == 1
    assert ended(run_turn(session, None)) == "done"
    assert "half a sent" in json.dumps(served.requests[-1])


def test_a_server_that_comes_back_is_reached_again(models: ModelProcess, served: ModelServer) -> None:
    served.answer(
        lambda exchange: exchange.reset(),
        server.spoken(Say("Back.")),
        server.error(500, "no", Retry_After="9"),
    )
    events = run_turn(make_session(models, served), "go")
    assert len(select(events, RetryScheduled)) == 1
    assert ended(events) == "done"
