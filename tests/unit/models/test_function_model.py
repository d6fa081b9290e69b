"""A Python function as the model, from the Python API."""

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from oi_tui import OpenInterpreter
from oi_tui.api.interpreter import TurnError
from oi_tui.engine import exchange
from oi_tui.engine.credentials.trust import ExternalContent
from oi_tui.engine.llm.base import Delta, Finish, LlmError, Reasoning, Request, Text, ToolCallPiece, Usage
from oi_tui.engine.models.function_model import FunctionModel
from oi_tui.engine.settings import python_profile
from oi_tui.engine.settings.profile import Profile

pytestmark = pytest.mark.slow

REQUEST = Request(model="custom", messages=[{"role": "user", "content": "Hi"}], max_tokens=9)


def heard(completions: Callable[..., Any], request: Request = REQUEST) -> list[Delta]:
    return list(FunctionModel(completions).reply(request))


@pytest.fixture
def interpreter() -> Iterator[OpenInterpreter]:
    with OpenInterpreter() as made:
        yield made


def test_the_function_of_the_originals_documentation_works(interpreter: OpenInterpreter) -> None:
    def custom_language_model(messages, model, stream, max_tokens):
        yield {"delta": {"role": "assistant"}}
        for character in messages[-1].get("content"):
            yield {"delta": {"content": character}}

    interpreter.llm.completions = custom_language_model
    interpreter.llm.context_window = 2000
    interpreter.llm.max_tokens = 1000
    interpreter.llm.supports_vision = False
    interpreter.llm.supports_functions = False
    assert interpreter.chat("Good morning", display=False) == [
        {"role": "assistant", "type": "message", "content": "Good morning"}
    ]


def test_its_code_runs_and_the_output_comes_back_to_it(interpreter: OpenInterpreter) -> None:
    seen = []

    def model(messages, **_):
        seen.append(messages)
        code = "```python\nprint(6 * 7)\n```" if len(seen) == 1 else "It is 42."
        yield {"choices": [{"delta": {"content": code}, "finish_reason": None}]}
        yield {"choices": [{"delta": {}, "finish_reason": "stop"}]}

    interpreter.llm.completions = model
    interpreter.llm.supports_functions = False
    interpreter.auto_run = True
    messages = interpreter.chat("What is it?", display=False)
    assert [m["type"] for m in messages] == ["code", "console", "message"]
    assert "42" in seen[1][-1]["content"]


def test_a_function_that_calls_the_tool_is_a_model_like_any_other(interpreter: OpenInterpreter) -> None:
    def model(messages, tools):
        if messages[-1]["role"] == "tool":
            return f"It printed {messages[-1]['content'].strip()}."
        function = {"name": tools[0]["function"]["name"], "arguments": '{"language":"shell","code":"echo 9"}'}
        return {"choices": [{"message": {"tool_calls": [{"id": "a", "function": function}]}}]}

    interpreter.llm.completions = model
    interpreter.auto_run = True
    assert interpreter.chat("Go", display=False)[-1]["content"] == "It printed 9."


def test_it_gets_what_it_declares_and_no_more() -> None:
    def some(messages, max_tokens, temperature):
        return f"{len(messages)} {max_tokens} {temperature}"

    def first(openai_messages):
        return openai_messages[0]["content"]

    def everything(**given):
        return " ".join(sorted(given))

    assert heard(some) == [Text("1 9 None")]
    assert heard(first) == [Text("Hi")]
    assert heard(everything) == [Text("max_tokens messages model stream")]


def test_every_form_of_an_answer_is_understood() -> None:
    delta = SimpleNamespace(content="obj", tool_calls=None, function_call=None, reasoning_content=None)
    chunk = SimpleNamespace(choices=[SimpleNamespace(delta=delta, finish_reason="stop")], usage=None)

    async def stream(messages) -> AsyncIterator[str]:
        yield "a"
        yield "sync"

    async def whole(messages) -> str:
        return "awaited"

    assert heard(lambda messages: chunk) == [Text("obj"), Finish("stop")]
    assert heard(lambda messages: [chunk]) == [Text("obj"), Finish("stop")]
    assert heard(stream) == [Text("a"), Text("sync")]
    assert heard(whole) == [Text("awaited")]
    assert heard(lambda messages: {"content": "bare"}) == [Text("bare")]
    assert heard(lambda messages: [{"delta": {"reasoning_content": "hm"}}, "ok"]) == [
        Reasoning("hm"),
        Text("ok"),
    ]
    usage = {"choices": [{"delta": {"content": "x"}}], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}
    assert heard(lambda messages: [usage]) == [Text("x"), Usage(3, 1)]
    call = {"delta": {"function_call": {"name": "execute", "arguments": "{"}}}
    assert heard(lambda messages: [call]) == [ToolCallPiece(0, None, "execute", "{")]


def test_a_whole_completion_of_openai_s_library_is_an_answer() -> None:
    from openai.types.chat import ChatCompletion

    message = {"role": "assistant", "content": "Hello"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    head = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
    whole = ChatCompletion.model_validate({**head, "choices": [choice]})
    assert heard(lambda messages: whole) == heard(lambda messages: [whole]) == [Text("Hello"), Finish("stop")]


def broken(messages):
    yield "Half"
    raise ValueError("sk-canary-12345678 is no key")


@pytest.mark.parametrize(
    ("completions", "says"),
    [
        (broken, "The function broken failed: ValueError: [key] is no key ("),
        (lambda: None, "returned nothing"),
        (lambda messages: 1 / 0, "failed: ZeroDivisionError: division by zero ("),
        (lambda messages: exit(3), "failed: SystemExit: 3"),
        (lambda messages: None, "returned nothing"),
        (lambda messages: [], "returned nothing"),
        (lambda messages: [{"choices": []}], "returned nothing"),
        (lambda messages: object(), "returned nothing"),
        (lambda messages: 5, "TypeError: it gave 5, which is neither text nor a chunk of OpenAI's format."),
        (lambda messages: [b"text"], "it gave b'text', which is neither text nor a chunk"),
        (lambda messages: [("a", 1)], "it gave ('a', 1), which is neither text nor a chunk"),
        ("no function", "failed: TypeError"),
    ],
)
def test_an_error_in_it_is_a_sentence(completions: Any, says: str) -> None:
    with pytest.raises(LlmError) as raised:
        heard(completions)
    assert says in raised.value.info.sentence
    assert "\n" not in raised.value.info.sentence


def test_the_line_that_broke_is_named(interpreter: OpenInterpreter) -> None:
    interpreter.llm.completions = broken
    with pytest.raises(TurnError, match=r"test_function_model\.py, line \d+"):
        interpreter.chat("Go", display=False)
    assert interpreter.messages[-1]["content"] == "Half"


def test_cancelling_does_not_wait_for_the_function() -> None:
    reached, released, closed = threading.Event(), threading.Event(), threading.Event()

    def slow(messages):
        try:
            yield "one"
            reached.set()
            assert released.wait(20)
            yield "two"
            yield "three"
        finally:
            closed.set()

    reply = FunctionModel(slow).reply(REQUEST)
    came = []
    for delta in reply:
        came.append(delta)
        assert reached.wait(40)
        reply.cancel()
    assert came == [Text("one")]
    released.set()
    assert closed.wait(40), "the generator is closed once it gives something"


def test_the_budget_is_that_of_all_turns(interpreter: OpenInterpreter) -> None:
    interpreter.llm.completions = lambda messages: "ok"
    interpreter.chat("one", display=False)
    interpreter.chat("two", display=False)
    assert interpreter._oi_model.usage.totals.requests == 2


# -- from a trusted profile -------------------------------------------------------------------------

PROFILE = """
from interpreter import interpreter
calls = []
def model(messages, model, max_tokens):
    print("noise that goes nowhere")
    calls.append(1)
    for word in (model, str(max_tokens), str(len(calls)), messages[-1]["content"]):
        yield {"choices": [{"delta": {"content": word + " "}}]}
interpreter.llm.completions = model
interpreter.llm.model = "mine"
interpreter.llm.max_tokens = 77
interpreter.llm.context_window = 2000
interpreter.llm.supports_functions = False
"""


def from_profile(text: str) -> Profile:
    return python_profile.run(ExternalContent("python profile", "/home/me/mine.py", text))


def test_a_profiles_function_is_the_model_and_remembers() -> None:
    profile = from_profile(PROFILE)
    assert (profile.model, profile.context_window, profile.unknown) == ("mine", 2000, ())
    with OpenInterpreter(profile) as made:
        assert made.chat("hello", display=False)[-1]["content"] == "mine 77 1 hello "
        assert made.chat("again", display=False)[-1]["content"] == "mine 77 2 again "


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("raise ValueError('no luck')", r"failed: ValueError: no luck \(/home/me/mine\.py, line 4\)"),
        ("return None", "returned nothing"),
        ("import os; os._exit(3)", "ended unexpectedly"),
    ],
)
def test_an_error_in_a_profiles_function_is_a_sentence(
    body: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "RETRIES", (0.0, 0.0, 0.0))
    text = f"from interpreter import interpreter\ndef model(messages):\n    x = 1\n    {body}\n"
    profile = from_profile(text + "interpreter.llm.completions = model\n")
    with OpenInterpreter(profile) as made, pytest.raises(TurnError, match=says):
        made.chat("hello", display=False)


def test_a_profiles_function_that_hangs_can_be_stopped() -> None:
    text = "import time\ndef model(messages):\n    yield 'one '\n    time.sleep(60)\n    yield 'two'\n"
    profile = from_profile(
        text + "from interpreter import interpreter\ninterpreter.llm.completions = model\n"
    )
    with OpenInterpreter(profile) as made:
        stream = made.chat("hello", stream=True, display=False)
        for chunk in stream:
            if chunk.get("content"):
                break
        stream.close()
        assert made.messages[-1]["content"] == "one "
