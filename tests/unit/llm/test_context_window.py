"""How much a model takes in: assumed where nobody knows, learned from a refusal, and kept to."""

import itertools
import json
import threading
from typing import Any

import pytest

from oi_tui.engine.events import LibraryLoading, Noticed, TurnEnded
from oi_tui.engine.llm import errors
from oi_tui.engine.llm.base import ErrorInfo, Text
from oi_tui.engine.llm.context_window import estimate_tokens
from oi_tui.engine.llm.error_table import Attempt
from oi_tui.engine.llm.stated_limit import StatedLimit, read_stated_limit
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.session import Session
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message
from oi_tui.screens.chat.turn.progress import TurnProgress
from tests.fakes import Computer, Llm
from tests.servers import openai_server as server
from tests.servers.openai_server import ModelServer, Say
from tests.unit.engine.test_session import Tried, make, run_turn, select

#: What servers say when a conversation is too long: the limit, what they counted, and their words.
REFUSALS: tuple[tuple[int, int | None, str], ...] = (
    (
        8192,
        10000,
        (
            "This model's maximum context length is 8192 tokens. However, your messages resulted "
            "in 10000 tokens. Please reduce the length of the messages."
        ),
    ),
    (
        4097,
        5360,
        (
            "This model's maximum context length is 4097 tokens, however you requested 5360 "
            "tokens (1360 in your prompt; 4000 for the completion). Please reduce your prompt; or "
            "completion length."
        ),
    ),
    (
        272000,
        300123,
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300123 tokens.",
    ),
    (200000, 210000, "prompt is too long: 210000 tokens > 200000 maximum"),
    (
        200000,
        None,
        (
            "input length and `max_tokens` exceed context limit: 198000 + 8192 > 200000, decrease "
            "input length or `max_tokens` and try again"
        ),
    ),
    (
        1048576,
        1200000,
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
    (
        4096,
        5000,
        (
            "The decoder prompt (length 5000) is longer than the maximum model length of 4096. "
            "Make sure that `max_model_len` is no smaller than the number of text tokens."
        ),
    ),
    (
        4096,
        None,
        (
            "'max_tokens' is too large: 5000. This model's maximum context length is 4096 tokens "
            "and your request has 2000 input tokens"
        ),
    ),
    (4096, None, "the request exceeds the available context size (4096 tokens), try increasing it"),
    (
        4096,
        5000,
        "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
    ),
    (
        32768,
        40000,
        (
            "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 "
            "maximum context length"
        ),
    ),
    (
        4081,
        5000,
        (
            "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received "
            "5000. Try using a shorter prompt."
        ),
    ),
    (131072, 140000, "This model's maximum prompt length is 131072 but the request contains 140000 tokens."),
    (
        4097,
        5000,
        (
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: "
            "5000 `inputs` tokens and 512 `max_new_tokens`"
        ),
    ),
    (
        4096,
        5000,
        (
            "Trying to keep the first 5000 tokens when context the overflows. However, the model "
            "is loaded with context length of only 4096 tokens, which is not enough."
        ),
    ),
    (
        8192,
        10000,
        (
            "This endpoint's maximum context length is 8192 tokens. However, you requested about "
            "10000 tokens (9000 of text input, 1000 in the output)."
        ),
    ),
    (
        8192,
        9000,
        "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192",
    ),
    (4096, 5000, "The prompt is too long: 5000, model maximum context length: 4096"),
)


class RefusedError(Exception):
    status_code = 400


@pytest.mark.parametrize(("limit", "used", "words"), REFUSALS)
def test_the_limit_is_read_from_the_words_of_every_server(limit: int, used: int | None, words: str) -> None:
    assert read_stated_limit(words) == StatedLimit(limit, used)
    assert errors.explain(RefusedError(words), Attempt("openai/m", "http://127.0.0.1:1/v1")).kind == "context"


@pytest.mark.parametrize(
    "words",
    [
        "",
        "prompt too long; exceeded max context length by 123 tokens",
        "Input is too long for requested model.",
        "maximum context length is 5",
        "Rate limit of 6000 tokens per minute",
    ],
)
def test_no_limit_is_read_where_none_is_stated(words: str) -> None:
    assert read_stated_limit(words) is None


def test_of_several_limits_and_counts_those_are_taken_with_which_the_next_request_fits() -> None:
    words = "maximum context length is 8192 tokens, configured limit of 4096; you requested 5000 tokens"
    assert read_stated_limit(words) == StatedLimit(4096, 5000)
    assert read_stated_limit(f"{words}, too long: 9000") == StatedLimit(4096, 9000)


def test_a_count_that_is_no_more_than_the_limit_is_some_other_number() -> None:
    words = "maximum context length is 4096 tokens, you requested {} tokens"
    assert read_stated_limit(words.format(4096)) == StatedLimit(4096)
    assert read_stated_limit(words.format(4097)) == StatedLimit(4096, 4097)


def test_a_limit_too_small_for_any_model_is_some_other_number() -> None:
    assert read_stated_limit("maximum context length is 127 tokens") is None
    assert read_stated_limit("maximum context length is 128 tokens") == StatedLimit(128)


def long_talk(messages: int = 60, size: int = 4000) -> list[Message]:
    roles = ("user", "assistant")
    return [Message(role=roles[n % 2], type="message", content=f"{n} " + "x" * size) for n in range(messages)]


def refusal(limit: int, used: int) -> ErrorInfo:
    words = f"maximum context length is {limit} tokens. However, you requested {used} tokens"
    return ErrorInfo("context", "Too long.", "context_window", detail=words)


def list_notices(events: Any) -> list[str]:
    return [item.text for item in select(events, Noticed)]


def sizes(session: Tried) -> list[int]:
    return [estimate_tokens(request) for request in session.llm.requests]


def test_a_window_that_nobody_knows_is_assumed_and_said_once() -> None:
    session = make([Text("one")], [Text("two")], messages=long_talk())
    reported = list_notices(run_turn(session)) + list_notices(run_turn(session))
    [note] = [text for text in reported if "is unknown" in text]
    assert "openai/test" in note
    assert "32,000 tokens are assumed (context_window sets it)" in note
    assert all(size < 32_000 for size in sizes(session))
    assert [request.context_window for request in session.llm.requests] == [None, None]
    assert session.window is None, "a window that is assumed is shown to nobody as the model's own"


def test_fifty_megabytes_are_not_sent() -> None:
    session = make([Text("one")], messages=long_talk(100, 500_000))
    run_turn(session)
    assert sizes(session)[0] < 32_000


def test_a_short_conversation_with_an_unknown_model_needs_no_words() -> None:
    assert list_notices(run_turn(make([Text("one")]))) == []


def test_a_refusal_teaches_the_window_and_the_request_goes_again_once() -> None:
    session = make([refusal(8192, 30_000)], [Text("one")], [Text("two")], messages=long_talk())
    events = run_turn(session)
    assert events[-1] == TurnEnded("done")
    [note] = [text for text in list_notices(events) if "accepts 8,192 tokens" in text]
    assert "sent again without its oldest messages" in note
    first, second = sizes(session)
    assert first > 8192 > second
    assert not [text for text in list_notices(run_turn(session)) if "accepts" in text]
    assert sizes(session)[2] < 8192, "what was learned is remembered"
    assert "tokens (the server refused more)" in session.context.describe(None)


def test_a_window_that_the_profile_overstates_is_corrected() -> None:
    session = make([refusal(8192, 30_000)], [Text("one")], messages=long_talk(), context_window=100_000)
    assert run_turn(session)[-1] == TurnEnded("done")
    assert sizes(session)[1] < 8192


def test_a_text_with_more_tokens_than_estimated_is_cut_further() -> None:
    session = make(
        [refusal(20_000, 40_000)],
        [Text("one")],
        messages=long_talk(),
        facts=ModelInfo(context_window=20_000),
    )
    assert run_turn(session)[-1] == TurnEnded("done")
    first, second = sizes(session)
    assert second < first * 0.6


def test_a_second_refusal_ends_the_turn() -> None:
    session = make([refusal(8192, 30_000)], [refusal(4096, 8_000)], [Text("never")], messages=long_talk())
    [*_, ended] = run_turn(session)
    assert (ended.outcome, ended.setting) == ("failed", "context_window")
    assert len(session.llm.requests) == 2


def test_nothing_is_sent_again_where_nothing_can_be_left_out() -> None:
    session = make([refusal(1000, 1500)], [Text("never")])
    [*_, ended] = run_turn(session)
    assert (ended.outcome, len(session.llm.requests)) == ("failed", 1)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"context_window": 8000}])
def test_a_message_many_times_the_window_is_not_sent_and_not_lost(settings: dict[str, int]) -> None:
    session = make([Text("one")], [Text("two")], **settings)
    prompt = "word " * 320_000
    [*_, ended] = run_turn(session, prompt)
    assert isinstance(ended, TurnEnded)
    assert (ended.outcome, ended.setting) == ("failed", "context_window")
    assert "The newest message is too long: the request has about 40" in ended.reason
    assert "save the text to a file" in ended.reason
    assert ("assumed" in ended.reason) == (not settings)
    assert session.llm.requests == []
    assert session.messages[-1].content == prompt
    assert run_turn(session, "something shorter")[-1] == TurnEnded("done")
    assert sizes(session)[0] < 8000


def test_the_summary_keeps_to_what_was_learned() -> None:
    session = make([refusal(8192, 30_000)], [Text("one")], [Text("summary")], messages=long_talk())
    run_turn(session)
    list(session.compact())
    assert sizes(session)[2] < 8192


def test_a_real_refusal_over_http_is_learned_from(models: ModelProcess, served: ModelServer) -> None:
    words = (
        "This model's maximum context length is 4096 tokens. However, your messages resulted in 31000 tokens."
    )
    served.answer(server.error(400, words, "context_length_exceeded"), server.spoken(Say("Hello")))
    profile = Profile(model="openai/m", api_base=served.base)
    journal = Store.create_unsaved(cwd="/", model="m")
    session = Session(profile, models, Computer(), journal, long_talk())
    assert list(session.turn("hi"))[-1] == TurnEnded("done")
    first, second = (len(json.dumps(exchange.request)) for exchange in served.exchanges)
    assert second < 4096 * 4 < first


def test_loading_is_called_loading() -> None:
    loaded = threading.Event()

    def facts(_profile: Profile) -> ModelInfo:
        assert loaded.wait(30)
        return ModelInfo()

    llm, journal = Llm([Text("one")]), Store.create_unsaved(cwd="/", model="m")
    session = Session(Profile(model="openai/m"), llm, Computer(), journal, facts=facts)
    progress = TurnProgress(lambda: None)
    doing = []
    for event in session.turn("hi"):
        progress.follow(event)
        doing.append(progress.doing)
        if isinstance(event, LibraryLoading):
            assert llm.requests == []
            loaded.set()
    steps = [item for item, _ in itertools.groupby(doing) if item]
    assert steps == ["loading LiteLLM", "thinking", "writing"]
