"""The context and its price: counted, kept within bounds, shortened on request, and told."""

import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from oi_tui.engine import exchange
from oi_tui.engine.events import Event, Noticed, TurnEnded
from oi_tui.engine.llm import compaction, endpoint, request
from oi_tui.engine.llm.base import BROKEN_OFF, Delta, ErrorInfo, Finish, Gap, Text, Usage
from oi_tui.engine.llm.context_window import estimate_tokens, weigh
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.llm.usage import UsageTotals
from oi_tui.engine.models.model_info import KnownModels, ModelInfo
from oi_tui.engine.session import Session
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message
from oi_tui.text import format_dollars
from tests.fakes import call
from tests.servers import openai_server as server
from tests.servers.openai_server import Exchange, ModelServer
from tests.servers.wires import OpenAi
from tests.unit.engine.test_session import Tried, make, run_turn, select

PRICED = ModelInfo(context_window=128_000, prompt_price=1e-4, completion_price=2e-4)


def make_prompt(text: str) -> Message:
    return Message(role="user", type="message", content=text)


def replied(text: str) -> Message:
    return Message(role="assistant", type="message", content=text)


def make_run(code: str, output: str) -> list[Message]:
    made = Message(role="assistant", type="code", format="python", content=code, call="c1", state="finished")
    shown = Message(role="computer", type="console", format="output", content=output, parent=made.id)
    return [made, shown]


def list_notices(events: Sequence[Event]) -> list[str]:
    return [item.text for item in select(events, Noticed)]


# -- cost -------------------------------------------------------------------------------------------


def test_every_request_is_in_the_books_with_all_that_it_sent_again() -> None:
    session = make([call("a"), Usage(100, 10, 0.01)], [Text("Done."), Usage(150, 5, 0.02, 90)], auto_run=True)
    run_turn(session)
    totals = session.usage.totals
    assert (totals.requests, totals.prompt_tokens, totals.completion_tokens) == (2, 250, 15)
    assert (totals.cached_tokens, totals.last) == (90, Usage(150, 5, 0.02, 90))
    assert (totals.price, totals.short_price) == ("$0.03", "$0.03")


def test_a_price_that_is_not_known_is_reported_to_be_unknown() -> None:
    assert UsageTotals().add(Usage(1, 1, None)).price == "cost unknown"
    assert UsageTotals().add(Usage(1, 1, None)).add(Usage(1, 1, 1.5)).price == "at least $1.50"
    assert UsageTotals().add(None).unreported == 1
    assert UsageTotals().price == "$0.00"


def test_the_header_says_where_no_price_is_known() -> None:
    none, unknown, known = UsageTotals(), Usage(1, 1, None), Usage(1, 1, 0.0312)
    assert none.short_price == ""
    assert none.add(unknown).short_price == "cost unknown"
    assert none.add(None).short_price == ""
    assert none.add(Usage(1, 1, 0.0)).short_price == ""
    assert none.add(known).short_price == "$0.03"
    assert none.add(known).add(unknown).short_price == "at least $0.03"


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (0, "$0.00"),
        (0.00002, "$0.00002"),
        (0.0312, "$0.0312"),
        (0.5, "$0.50"),
        (0.99999, "$1.00"),
        (1234, "$1,234.00"),
    ],
)
def test_no_amount_looks_like_nothing(amount: float, words: str) -> None:
    assert format_dollars(amount) == words
    assert amount == 0 or format_dollars(amount, short=True) != "$0.00"


def test_a_request_that_would_exceed_the_budget_is_not_sent() -> None:
    session = make([Text("never")], facts=PRICED, max_budget=0.01)
    [*_, ended] = run_turn(session, "word " * 100)
    assert isinstance(ended, TurnEnded)
    assert (ended.outcome, ended.setting) == ("paused", "max_budget")
    assert "would cost about $" in (ended.reason or "")
    assert session.llm.requests == []


def test_a_small_budget_is_named_as_it_is() -> None:
    [*_, ended] = run_turn(make([Text("never")], facts=PRICED, max_budget=0.00005))
    assert "more than the budget of $0.00005." in (ended.reason or "")


def test_a_request_within_the_budget_is_sent_and_the_reply_is_reckoned_with() -> None:
    replies = [call("a"), Usage(100, 4000, 0.1)], [Text("more")]
    session = make(*replies, facts=PRICED, max_budget=0.5, auto_run=True)
    [*_, ended] = run_turn(session, "hi")
    assert ended.outcome == "paused", "another reply as long as the first one would cost too much"
    assert len(session.llm.requests) == 1


def test_a_budget_that_cannot_be_kept_stops_the_request() -> None:
    session = make([Text("never")], max_budget=1)
    [*_, ended] = run_turn(session)
    assert isinstance(ended, TurnEnded)
    assert (ended.outcome, ended.setting) == ("paused", "max_budget")
    assert "The price of openai/test is unknown, so the budget of $1.00 cannot be kept." in ended.reason
    assert session.llm.requests == []


def test_a_budget_of_nothing_allows_only_what_is_free() -> None:
    paid = make([Text("never")], facts=PRICED, max_budget=0)
    [*_, ended] = run_turn(paid)
    assert (ended.outcome, paid.llm.requests) == ("paused", [])
    assert ended.reason == "The budget is $0.00, so nothing is sent to models that cost money."
    free = make([Text("one"), Usage(10, 10, 0.0)], facts=ModelInfo(free=True), max_budget=0)
    assert run_turn(free)[-1] == TurnEnded("done")


@pytest.mark.parametrize(
    ("model", "base", "free"),
    [
        ("demo", None, True),
        ("ollama/m", None, True),
        ("ollama_chat/m", "http://[::1]:9", True),
        ("ollama/m", "https://ollama.example.com", False),
        ("openai/m", "http://127.0.0.1:9/v1", False),
        ("gpt-4o", None, False),
    ],
)
def test_only_what_runs_here_is_free(model: str, base: str | None, free: bool) -> None:
    assert endpoint.is_home(Profile(model=model, api_base=base)) is free


@pytest.mark.parametrize("usage", [(), (Usage(10, 10, None),)])
def test_what_no_provider_reports_is_estimated_and_spent(usage: tuple[Usage, ...]) -> None:
    replies = [[Text("one"), *usage] for _ in range(20)]
    session = make(*replies, facts=PRICED, max_budget=0.5)
    ends = [run_turn(session, "word " * 10)[-1] for _ in range(20)]
    assert ends[0].outcome == "done"
    assert ends[-1].outcome == "paused", "a budget is kept where nobody says what a request cost"
    assert session.over_budget or "would cost" in ends[-1].reason


@pytest.mark.parametrize(
    ("kind", "requests"), [("timeout", 1), ("cut", 1), ("empty", 1), ("key", 0), ("rate", 0), ("network", 0)]
)
@pytest.mark.parametrize("ask", ["chat", "summary"])
def test_a_request_without_a_reply_is_counted_unless_it_was_refused(
    kind: Any, requests: int, ask: str
) -> None:
    session = make(
        [ErrorInfo(kind, "No reply.")], facts=PRICED, messages=long_talk(), max_budget=5, context_window=4000
    )
    events = run_turn(session) if ask == "chat" else compact(session)
    assert events[-1] == TurnEnded("failed", "No reply.")
    assert session.usage.totals.requests == requests
    assert (session.usage.spent > 0) == bool(requests)


@pytest.mark.parametrize("part", [Text("Half"), Usage(500, 9, 0.1)])
def test_a_summary_that_breaks_off_is_counted(part: Delta) -> None:
    session = make([part, ErrorInfo("server", "Broken.")], messages=long_talk())
    assert compact(session)[-1] == TurnEnded("failed", "Broken.")
    assert session.usage.totals.requests == 1


def test_a_request_that_is_stopped_before_its_first_word_is_counted() -> None:
    waiting = threading.Event()
    session = make([waiting], facts=PRICED, max_budget=5)
    events: list[Event] = []
    turn = threading.Thread(target=lambda: events.extend(run_turn(session)))
    turn.start()
    assert waiting.wait(60)
    session.interrupt()
    turn.join(60)
    assert events[-1] == TurnEnded("interrupted")
    assert session.usage.totals.requests == 1
    assert session.usage.spent > 0


def test_a_model_whose_facts_came_too_late_is_asked_about_again() -> None:
    answers = [None, ModelInfo(context_window=100)]
    known = KnownModels(lambda _model: answers.pop(0))
    assert known.get_info(Profile(model="gpt-4o")).context_window is None
    assert known.get_info(Profile(model="gpt-4o")).context_window == 100


# -- the window -------------------------------------------------------------------------------------


def test_leaving_messages_out_is_reported_when_it_begins_and_not_every_time() -> None:
    old = [message for n in range(40) for message in (make_prompt(f"{n} " + "x" * 400), replied("y" * 400))]
    session = make(
        [call("a")], [call("b")], [Text("Done.")], messages=old, context_window=4000, auto_run=True
    )
    reported = [text for text in list_notices(run_turn(session)) if "no longer fits" in text]
    assert len(reported) == 1
    assert "4,000 tokens" in reported[0]
    assert "%compact" in reported[0]
    assert session.window == 4000


def test_letters_outside_of_ascii_take_more_room() -> None:
    assert weigh("word") == 4
    assert weigh("漢字") == 6
    window = 1000
    thousand = request.write(
        [make_prompt("漢" * 2000), replied("ok"), make_prompt("now")],
        Profile(model="openai/m"),
        ["python"],
        tools=True,
        window=window,
    )
    assert thousand.left_out == 2


def test_ollama_that_read_less_than_it_was_sent_is_reported_once() -> None:
    old = [make_prompt("x" * 30_000), replied("ok")]
    session = make(
        [Text("Hm."), Usage(2048, 3, 0.0)],
        [Text("Hm."), Usage(2048, 3, 0.0)],
        messages=old,
        model="ollama/m",
    )
    reported = list_notices(run_turn(session)) + list_notices(run_turn(session))
    [cut] = [text for text in reported if text.startswith("Ollama read 2,048 of the ~")]
    assert "context_window" in cut


@pytest.mark.parametrize(("model", "read"), [("ollama/m", 7000), ("openai/m", 2048), ("ollama/m", 0)])
def test_nothing_is_reported_of_a_request_that_was_read(model: str, read: int) -> None:
    session = make(
        [Text("Hm."), Usage(read, 3, 0.0)], messages=[make_prompt("x" * 30_000), replied("ok")], model=model
    )
    assert list_notices(run_turn(session)) == []


# -- who knows the window ---------------------------------------------------------------------------


def known(profile: Profile, table: ModelInfo | None = None) -> ModelInfo:
    return KnownModels(lambda _model: table or ModelInfo()).get_info(profile)


def ollama(answer: object) -> server.Answer:
    def say(exchange: Exchange) -> None:
        assert exchange.path == "/api/show"
        assert exchange.request == {"model": "llama3.1:8b"}
        server.refused(200, answer)(exchange)

    return say


def test_ollama_is_asked_for_the_window_tools_and_vision_of_a_model() -> None:
    shown = {
        "model_info": {"llama.context_length": 131_072, "general.architecture": "llama"},
        "parameters": 'stop    "<|eot_id|>"\nnum_ctx                        16384',
        "capabilities": ["completion", "tools"],
    }
    with ModelServer(ollama(shown), questions=True, strict=False) as running:
        facts = known(Profile(model="ollama/llama3.1:8b", api_base=running.root))
        assert (facts.context_window, facts.window_from) == (16_384, "reported by Ollama")
        assert (facts.supports_functions, facts.supports_vision) == (True, False)
        del shown["parameters"]
        facts = known(Profile(model="ollama_chat/llama3.1:8b", api_base=running.root))
        assert facts.context_window == 8192
        assert "131,072" in facts.window_from


@pytest.mark.parametrize("answer", [{}, [], "no", {"model_info": 7, "parameters": [], "capabilities": "x"}])
def test_odd_words_of_ollama_say_nothing(answer: object) -> None:
    with ModelServer(server.refused(200, answer), questions=True, strict=False) as running:
        assert known(Profile(model="ollama/llama3.1:8b", api_base=running.root)).context_window is None


def test_other_servers_of_this_machine_are_asked_too_and_remembered() -> None:
    listed = {"/v1/models": {"data": [{"id": "Q/w", "max_model_len": 8192}]}}

    def lists(exchange: Exchange) -> None:
        found = exchange.path in listed
        server.refused(200 if found else 404, listed.get(exchange.path, {}))(exchange)

    with ModelServer(lists, questions=True) as running:
        models = KnownModels(lambda _model: ModelInfo())
        profile = Profile(model="openai/Q/w", api_base=running.base)
        assert models.get_info(profile).context_window == 8192
        asked = len(running.exchanges)
        assert models.get_info(profile).context_window == 8192
        assert len(running.exchanges) == asked


def test_hosts_elsewhere_are_not_asked() -> None:
    table = ModelInfo(context_window=128_000)
    assert known(Profile(model="openai/m", api_base="http://example.invalid/v1"), table) == table


def test_local_mode_has_a_window_where_nobody_knows_one() -> None:
    facts = known(Profile(model="openai/m", api_base="http://127.0.0.1:9/v1", local=True))
    assert (facts.context_window, facts.longest_reply) == (3000, 1000)
    assert "local mode" in facts.window_from
    table = ModelInfo(context_window=128_000)
    assert known(Profile(model="gpt-4o", local=True), table) == table
    written = request.write(
        [make_prompt("hi")], Profile(model="m"), [], tools=False, window=3000, longest_reply=1000
    )
    assert written.request.max_tokens == 1000


# -- shortening -------------------------------------------------------------------------------------


def long_talk() -> list[Message]:
    return [
        make_prompt("Load the data " + "x" * 2000),
        *make_run("load()", "rows " * 500),
        replied("Loaded."),
        make_prompt("Plot it " + "x" * 2000),
        *make_run("plot()", "ok"),
        replied("Plotted."),
        make_prompt("And now?"),
        replied("Now we wait."),
    ]


def compact(session: Session) -> list[Event]:
    return list(session.compact())


def test_the_model_gets_a_summary_instead_of_what_is_older() -> None:
    session = make(
        [Text("Data is "), Text("loaded."), Usage(500, 9, 0.1)], [Text("Yes.")], messages=long_talk()
    )
    events = compact(session)
    assert events[-1] == TurnEnded("done")
    asked = session.llm.requests[0]
    assert not asked.tools
    assert "Load the data" in str(asked.messages[-1]["content"])
    assert "And now?" not in str(asked.messages[-1]["content"])
    assert any("%compact undo" in text for text in list_notices(events))
    assert session.usage.totals.requests == 1

    run_turn(session, "Go on")
    sent = session.llm.requests[1].messages
    assert [m["role"] for m in sent] == ["system", "user", "assistant", "user"]
    assert "Data is loaded." in sent[1]["content"]
    assert "And now?" in sent[1]["content"]
    assert "Load the data" not in str(sent)
    assert len(session.messages) == len(long_talk()) + 3, "what was said stays"


def test_a_summary_is_kept_in_the_journal_and_can_be_taken_back(tmp_path: Path) -> None:
    store = Store(tmp_path)
    journal = store.create(cwd=Path("/"), model="m")
    session = make([Text("Short.")], [Text("Yes.")], messages=long_talk(), journal=journal)
    for message in session.messages:
        journal.put(message)
    compact(session)
    journal.close()
    saved = store.find_latest()
    assert saved
    journal, messages = store.open(saved)
    assert compaction.find_summary(messages) is not None
    assert "Short." in str(request.write(messages, Profile(), [], tools=True).request.messages)
    journal.close()

    assert session.context.uncompact()
    assert not session.context.uncompact()
    run_turn(session, "Go on")
    assert "Load the data" in str(session.llm.requests[1].messages)
    assert "Short." not in str(session.llm.requests[1].messages)


def test_a_second_summary_takes_the_first_one_in() -> None:
    session = make(
        [Text("First summary.")], [Text("ok " * 900)], [Text("Second summary.")], messages=long_talk()
    )
    compact(session)
    run_turn(session, "more " * 900)
    session.bring_back([make_prompt("last"), replied("ok")])
    compact(session)
    assert "First summary." in str(session.llm.requests[2].messages)
    assert "Load the data" not in str(session.llm.requests[2].messages)
    run_turn(session, "Go on")
    sent = str(session.llm.requests[3].messages)
    assert "Second summary." in sent
    assert "First summary." not in sent


@pytest.mark.parametrize("window", [1000, 2000, 4000, 16_000])
def test_code_and_what_came_of_it_stay_together(window: int) -> None:
    rounds = [m for n in range(30) for m in make_run(f"step({n})", f"{n} " + "out " * 60)]
    messages = [make_prompt("Do thirty steps"), *rounds, replied("Done.")]
    session = make([Text("Thirty steps.")], messages=messages, context_window=window)
    compact(session)
    messages = [*session.messages, make_prompt("Thanks")]
    written = request.write(messages, session.profile, ["python"], tools=True, window=window)
    asked = {"messages": list(written.request.messages)}
    assert OpenAi().problem(asked) is None
    assert "Thirty steps." in str(asked) or window == 16_000


def test_a_short_conversation_has_nothing_to_shorten() -> None:
    for messages in ([], [make_prompt("Hi")], [make_prompt("Hi"), replied("Hello")]):
        session = make(messages=messages)
        events = compact(session)
        assert session.llm.requests == []
        assert any("nothing to summarise" in text for text in list_notices(events))


@pytest.mark.parametrize("reply", [[ErrorInfo("key", "No key.", "api_key")], [Text("  ")], []])
def test_a_summary_that_fails_changes_nothing(reply: list) -> None:
    session = make(reply, messages=long_talk())
    session.llm.replies += [[Text(" ")]] * 5
    [*_, ended] = compact(session)
    assert isinstance(ended, TurnEnded)
    assert ended.outcome == "failed"
    assert len(session.messages) == len(long_talk())


@pytest.mark.parametrize("end", [*map(Finish, BROKEN_OFF), Finish("content_filter"), Gap(1)])
def test_half_a_summary_stands_for_nothing(end: Delta, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "RETRIES", (0.0,))
    session = make(messages=long_talk())
    session.llm.replies = [[Text("Half a"), end], [Text("All of it."), Finish("stop")]]
    compact(session)
    assert [message.content.split()[-3:] for message in session.messages if message.covers] == [
        ["All", "of", "it."]
    ]


def test_a_summary_of_the_longest_length_is_used_and_said_to_be_cut() -> None:
    session = make([Text("Much"), Finish("length")], messages=long_talk())
    events = compact(session)
    assert any(message.covers for message in session.messages)
    assert any("reached the maximum length" in text for text in list_notices(events))


def test_the_record_that_is_summarised_fits_the_window() -> None:
    messages = [m for n in range(200) for m in (make_prompt(f"{n}" + "x" * 3000), replied("y" * 3000))]
    plan = compaction.plan(messages, Profile(model="m"), 4000)
    assert plan is not None
    assert estimate_tokens(plan.request) < 4000


# -- what is told -----------------------------------------------------------------------------------


def read_notice(session: Tried) -> str:
    [notice] = select(
        list(session.count_tokens(lambda _model, texts: [len(text) for text in texts])), Noticed
    )
    return notice.text


def test_the_report_names_the_parts_the_window_and_its_origin() -> None:
    session = make(messages=long_talk(), facts=ModelInfo(context_window=128_000))
    text = read_notice(session)
    for part in ("system message", "the tool", "you", "replies and code", "output"):
        assert part in text
    assert "128,000 tokens (LiteLLM's table)" in text
    assert "No request was sent yet" in text
    session.profile = session.profile.with_changes(context_window=9000, max_budget=2)
    assert "9,000 tokens (from the profile (context_window))" in read_notice(session)


def test_the_report_tells_what_a_prompt_would_add() -> None:
    session = make(messages=long_talk(), facts=ModelInfo(context_window=128_000))
    without = session.context.describe(lambda _model, texts: [len(text) for text in texts])
    [reported] = select(
        list(session.count_tokens(lambda _model, texts: [len(text) for text in texts], "x" * 321)), Noticed
    )
    total, more = (
        int(re.search(r"~([\d,]+) tokens", text)[1].replace(",", "")) for text in (without, reported.text)
    )
    assert more == total + 321
    assert "before your next message" in without
    assert "of which 321 for this message" in reported.text
    assert "of which 80 for this message" in session.context.describe(None, "x" * 320)


def test_the_report_tells_what_was_spent_and_what_nobody_knows() -> None:
    session = make([Text("Hm."), Usage(120, 8, None, 100)], facts=ModelInfo(free=True), max_budget=2)
    run_turn(session)
    text = read_notice(session)
    assert "120 tokens in (100 of them from the provider's cache), 8 out" in text
    assert "cost unknown" in text
    assert "Budget: $2.00" in text
    assert "Context window: 32,000 tokens (assumed, see assumed_window; context_window sets it)" in text
    assert "four characters a token" in session.context.describe(None)


def test_tokens_are_counted_without_a_network(models: ModelProcess) -> None:
    assert models.count("gpt-4o", ["hello world", ""], timeout=60) == [2, 0]
    [counted] = models.count("openai/never-heard-of", ["hello " * 100], timeout=60) or [0]
    assert 90 < counted < 120


def test_in_local_mode_nothing_leaves_the_machine() -> None:
    session = make([Text("never")], model="gpt-4o", local=True)
    [*_, ended] = run_turn(session)
    assert isinstance(ended, TurnEnded)
    assert (ended.outcome, ended.setting) == ("failed", "local")
    assert session.llm.requests == []
    session.profile = session.profile.with_changes(api_base="http://127.0.0.1:1234/v1")
    assert run_turn(session)[-1].outcome == "done"
