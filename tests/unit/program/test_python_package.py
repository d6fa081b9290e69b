"""The promises of Open Interpreter's Python package, kept with a model that is reached over HTTP."""

import asyncio
import doctest
import gc
import importlib
import io
import json
import os
import re
import runpy
import signal
import subprocess
import sys
import threading
import uuid
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from oi_tui import OpenInterpreter, interpreter_hook, interpreter_module, interpreter_stubs, paths
from oi_tui.api import (
    language_classes,
    notebook,
    original_modules,
    shared_model,
    threads,
    turns,
)
from oi_tui.api.interpreter import TurnError
from oi_tui.api.shared_model import POOL, ModelPool
from oi_tui.engine.credentials.trust import ExternalContent, Trust
from oi_tui.engine.events import ApprovalRequested, TurnEnded
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.models import local_servers
from oi_tui.engine.models.local_servers import LocalModel
from oi_tui.engine.settings.setting import ProfileError
from oi_tui.engine.storage.store import Store
from tests import fakes
from tests.event_loop import until
from tests.servers import openai_server as server
from tests.when_used import when_used

nbclient, nbformat = when_used("nbclient"), when_used("nbformat")
Make = Callable[..., OpenInterpreter]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def calls(code: str, language: str = "python") -> server.Answer:
    return server.spoken(server.Call(json.dumps({"language": language, "code": code})))


def says(text: str) -> server.Answer:
    return server.spoken(server.Say(text))


@pytest.fixture
def make(models: ModelProcess, served: server.ModelServer) -> Iterator[Make]:
    """Make interpreters that ask the server; they are closed at the end."""
    made: list[OpenInterpreter] = []

    def interpreter(*arguments: Any, **settings: Any) -> OpenInterpreter:
        found = OpenInterpreter(*arguments, llm=models, model="openai/m", api_key="k", **settings)
        found.llm.api_base = served.base
        found.llm.supports_functions = True
        made.append(found)
        return found

    yield interpreter
    for item in made:
        item.close()


def list_contents(messages: list[dict[str, Any]]) -> list[str]:
    return [str(message["content"]).strip() for message in messages if message["role"] != "system"]


# ---- What chat takes and returns


def test_a_list_of_messages_replaces_the_conversation(make: Make, served: server.ModelServer) -> None:
    interpreter = make()
    interpreter.chat("before", display=False)
    history = [
        {"role": "user", "type": "message", "content": "one"},
        {"role": "assistant", "type": "message", "content": "two"},
        {"role": "user", "type": "message", "content": "three"},
    ]
    answer = interpreter.chat(history, display=False)
    assert list_contents(served.requests[-1]["messages"]) == ["one", "two", "three"]
    assert [item["content"] for item in answer] == ["Hello there"]
    assert interpreter.last_messages_count == 3
    assert interpreter.messages == [*history, *answer]


def test_two_agents_talk_as_in_the_documentation(make: Make) -> None:
    agents = [make(system_message=f"You are agent {name}.") for name in "AB"]
    messages: list[dict[str, Any]] = [{"role": "user", "type": "message", "content": "Begin"}]
    for turn in range(4):
        for message in messages if turn else ():
            message["role"] = {"user": "assistant", "assistant": "user"}[message["role"]]
        agents[turn % 2].chat(messages, display=False)
        messages = [
            {key: message[key] for key in ("role", "type", "content")}
            for message in agents[turn % 2].messages
        ]
    assert [message["content"] for message in messages] == ["Begin", *["Hello there"] * 4]


def test_messages_of_version_0_1_reach_the_model(make: Make, served: server.ModelServer) -> None:
    interpreter = make()
    interpreter.messages = [
        {"role": "user", "message": "add"},
        {"role": "assistant", "message": "So:", "language": "python", "code": "1+1", "output": "2"},
    ]
    interpreter.chat("go on", display=False)
    words = served.requests[0]["messages"]
    assert list_contents(words)[0] == "add"
    assert "1+1" in json.dumps(words)
    assert "2" in list_contents(words)[-1]
    assert list_contents(words)[-1].endswith("go on")
    assert [message["type"] for message in interpreter.messages[:4]] == [
        "message",
        "message",
        "code",
        "console",
    ]


def test_code_in_a_message_of_openai_reaches_the_model(make: Make, served: server.ModelServer) -> None:
    asked = {"name": "execute", "arguments": json.dumps({"language": "python", "code": "1+1"})}
    called = {"id": "a", "type": "function", "function": asked}
    interpreter = make()
    interpreter.chat(
        [
            {"role": "user", "content": "add"},
            {"role": "assistant", "content": None, "tool_calls": [called]},
            {"role": "user", "content": "go on"},
        ],
        display=False,
    )
    assert "1+1" in json.dumps(served.requests[0]["messages"][2])
    assert interpreter.messages[1]["content"] == "1+1"


@pytest.mark.parametrize(
    "signal",
    [
        {"role": "server", "type": "error", "content": "boom"},
        {"role": "server", "type": "status", "content": "complete"},
        {"role": "user", "type": "command", "content": "go"},
        {"role": "assistant", "type": "review", "content": "<safe>"},
        {
            "role": "computer",
            "type": "confirmation",
            "format": "execution",
            "content": {"type": "code", "format": "python", "content": "boom"},
        },
        {"role": "computer", "type": "console", "format": "active_line", "content": 1},
        {"role": "assistant", "type": "message", "end": True},
    ],
    ids=lambda signal: signal["type"],
)
def test_signals_in_a_list_of_messages_do_not_reach_the_model(
    signal: dict[str, Any], make: Make, served: server.ModelServer
) -> None:
    interpreter = make()
    said = {"role": "user", "type": "message", "content": "one"}
    interpreter.chat([said, dict(signal), {**said, "content": "two"}], display=False)
    assert list_contents(served.requests[0]["messages"]) == ["one\n\ntwo"]
    assert interpreter.messages[1] == signal
    interpreter.chat("three", display=False)
    assert interpreter.messages[1] == signal


def test_a_system_message_in_a_list_of_messages_is_sent_as_one(
    make: Make, served: server.ModelServer
) -> None:
    interpreter = make()
    system = {"role": "system", "type": "message", "content": "You are a pirate."}
    interpreter.chat([system, {"role": "user", "type": "message", "content": "one"}], display=False)
    interpreter.chat("two", display=False)
    for request in served.requests:
        assert "\n\nYou are a pirate." in request["messages"][0]["content"]
        assert "pirate" not in json.dumps(request["messages"][1:])
    assert interpreter.system_message.count("pirate") == 0


PARTS = [
    {"type": "text", "text": "What is this?"},
    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
]


@pytest.mark.parametrize("how", ["message", "list", "appended"])
def test_a_message_with_parts_as_openai_has_them_reaches_the_model(
    how: str, make: Make, served: server.ModelServer
) -> None:
    interpreter = make()
    interpreter.llm.supports_vision = True
    message = {"role": "user", "content": PARTS}
    if how == "appended":
        interpreter.messages.append(message)
    given = {"message": message, "list": [message], "appended": None}[how]
    answer = interpreter.chat(given, display=False)
    sent = json.dumps(served.requests[0]["messages"][1:])
    assert "What is this?" in sent
    assert f"data:image/png;base64,{PIXEL}" in sent
    assert [item["content"] for item in answer] == ["Hello there"]
    assert [item["type"] for item in interpreter.messages] == ["message", "image", "message"]


def test_a_system_message_with_parts_is_sent_as_one(make: Make, served: server.ModelServer) -> None:
    system = {"role": "system", "content": [{"type": "text", "text": "You are a pirate."}]}
    make().chat([system, {"role": "user", "content": "one"}], display=False)
    assert served.requests[0]["messages"][0]["content"].count("\n\nYou are a pirate.") == 1
    assert list_contents(served.requests[0]["messages"]) == ["one"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ([{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}], "download https://exam"),
        ([{"type": "input_audio", "input_audio": {}}], "has the type 'input_audio'; the types are text and"),
        ([5], "must be a text or a dictionary with a type, not 5"),
        ([], r"cannot be \[\]"),
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_a_part_that_is_no_message_is_refused(
    whole: bool, content: list[Any], says: str, make: Make, served: server.ModelServer
) -> None:
    message = {"role": "user", "content": content}
    with pytest.raises(TypeError, match=says):
        make().chat([message] if whole else message, display=False)
    with pytest.raises(TypeError, match="cannot be"):
        make().chat({"role": "user", "type": "image", "content": content}, display=False)
    assert served.requests == []


# ---- The model by itself


def test_the_model_is_asked_beside_the_conversation(make: Make, served: server.ModelServer) -> None:
    interpreter = make(custom_instructions="Be brief.")
    interpreter.chat("before", display=False)
    before = list(interpreter.messages)
    pieces = interpreter.llm.run(
        [
            {"role": "system", "type": "message", "content": "Write a title."},
            {"role": "user", "type": "message", "content": "long text"},
        ]
    )
    assert "".join(piece["content"] for piece in pieces) == "Hello there"
    first, *others = served.requests[1]["messages"]
    assert first["content"].startswith("Write a title.")
    assert "Be brief." not in first["content"]
    assert list_contents(others) == ["long text"]
    assert interpreter.messages == before


def test_code_of_a_reply_beside_the_conversation_does_not_run(
    make: Make, served: server.ModelServer, tmp_path: Path
) -> None:
    served.answer(calls(f"open({str(tmp_path / 'made')!r}, 'w')"))
    pieces = list(make(auto_run=True).llm.run([{"role": "user", "type": "message", "content": "go"}]))
    assert {(piece["type"], piece["format"]) for piece in pieces} == {("code", "python")}
    assert "open(" in "".join(piece["content"] for piece in pieces)
    assert not (tmp_path / "made").exists()
    assert len(served.requests) == 1


def test_a_reply_beside_the_conversation_keeps_to_what_is_forbidden(
    make: Make, served: server.ModelServer
) -> None:
    interpreter = make(max_budget=0.0)
    interpreter.llm.model = "gpt-4o"
    for reply in (
        interpreter.llm.run([{"role": "user", "content": "go"}]),
        interpreter.llm.completions(messages=[{"role": "user", "content": "go"}]),
    ):
        with pytest.raises(TurnError, match="budget"):
            list(reply)
    with pytest.raises(TypeError, match="dictionaries"):
        list(interpreter.llm.run(["go"]))
    assert served.requests == []


def test_the_function_that_answers_can_be_wrapped_and_put_back(
    make: Make, served: server.ModelServer
) -> None:
    interpreter = make(auto_run=True)
    original = interpreter.llm.completions
    seen: list[str] = []

    def logged(**parameters: Any) -> Iterator[Any]:
        seen.append(parameters["model"])
        for chunk in original(**parameters):
            assert chunk["choices"][0]["delta"] is chunk.choices[0].delta
            yield chunk

    served.answer(calls("print(6 * 7)"), says("It is 42."))
    interpreter.llm.completions = logged
    answer = interpreter.chat("go", display=False)
    assert [item["content"].strip() for item in answer] == ["print(6 * 7)", "42", "It is 42."]
    assert seen == ["openai/m"] * 2
    interpreter.llm.completions = original
    interpreter.chat("go on", display=False)
    with mock.patch.object(interpreter.llm, "completions", return_value="patched"):
        assert interpreter.chat("go on", display=False)[0]["content"] == "patched"
    assert interpreter.llm.completions is original
    assert len(seen) == 2


@pytest.mark.parametrize("how", ["message", "list"])
def test_what_a_program_adds_to_a_message_is_kept_and_may_be_anything(how: str, make: Make) -> None:
    session = uuid.UUID(int=5)
    message = {"role": "user", "type": "message", "content": "hello", "session": session, "tags": ["a"]}
    interpreter = make()
    interpreter.chat(message if how == "message" else [message], display=False)
    interpreter.chat("again", display=False)
    kept = interpreter.messages[0]
    assert (kept["content"], kept["session"], kept["tags"]) == ("hello", str(session), ["a"])


@pytest.mark.parametrize("kind", ["message", "code"])
def test_messages_that_a_program_gave_the_same_id_all_reach_the_model(
    kind: str, make: Make, served: server.ModelServer
) -> None:
    given = {"role": "assistant", "type": kind, "id": "session 5"}
    interpreter = make(conversation_history=True)
    said = {**given, "role": "user", "type": "message"}
    interpreter.chat(
        [{**said, "content": "one"}, {**given, "content": "two()"}, {**given, "content": "three()"}, said],
        display=False,
    )
    interpreter.chat({**said, "content": "four"}, display=False)
    sent = json.dumps(served.requests[-1]["messages"])
    assert [word for word in ("one", "two()", "three()", "four") if word not in sent] == []
    if kind == "message":
        assert {item["id"] for item in interpreter.messages if item["content"] != "Hello there"} == {
            "session 5"
        }


def test_spaces_around_an_address_are_left_out(make: Make) -> None:
    interpreter = make()
    interpreter.llm.api_base = "http://localhost:1337/v1 "
    assert interpreter.llm.api_base == "http://localhost:1337/v1"


def test_return_messages_returns_the_whole_conversation(make: Make) -> None:
    assert len(make().chat("hello", display=False, return_messages=True)) == 2


@pytest.mark.parametrize("wrong", [5, b"hello", {1}])
def test_what_is_no_message_is_refused(wrong: Any, make: Make) -> None:
    with pytest.raises(TypeError, match="a text, a message or a list of messages"):
        make().chat(wrong, display=False)


def test_code_at_the_end_runs_before_the_model_is_asked(make: Make, served: server.ModelServer) -> None:
    interpreter = make(auto_run=True)
    code = {"role": "assistant", "type": "code", "format": "python", "content": "print(6 * 7)"}
    interpreter.chat([{"role": "user", "type": "message", "content": "go"}, code], display=False)
    assert [message["content"] for message in interpreter.messages[2:]] == ["42\n", "Hello there"]
    assert len(served.requests) == 1
    interpreter.chat(None, display=False)
    assert len(served.requests) == 2, "what ran does not run again"


def test_code_with_its_question_behind_it_is_asked_about_again(make: Make) -> None:
    interpreter = make(conversation_history=False)
    code = {"role": "assistant", "type": "code", "format": "python", "content": "print(6 * 7)"}
    content = {name: code[name] for name in ("type", "format", "content")}
    question = {"role": "computer", "type": "confirmation", "format": "execution", "content": content}
    asked = [
        chunk
        for chunk in interpreter.chat([code, question], display=False, stream=True)
        if chunk["type"] == "confirmation"
    ]
    assert asked == [question]
    assert interpreter.messages[1] == question
    assert interpreter.messages[2]["content"].strip() == "42"


def test_the_inner_method_that_scripts_call_runs_code_at_the_end(make: Make) -> None:
    interpreter = make(auto_run=True)
    interpreter.messages = [
        {"role": "assistant", "type": "code", "format": "python", "content": "print(6 * 7)"}
    ]
    shown = [
        chunk["content"] for chunk in interpreter._respond_and_store() if chunk.get("format") == "output"
    ]
    assert "".join(shown) == "42\n"


@pytest.mark.parametrize(("typed", "ran"), [("y\n", True), ("n\n", False), ("", False)])
def test_a_stream_that_is_displayed_asks_in_the_terminal(
    typed: str,
    ran: bool,
    make: Make,
    served: server.ModelServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    served.answer(calls("print(6 * 7)"), says("It is 42."))
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    interpreter = make()
    # As in the sample of a web service: nobody decides about the question in the stream.
    stream = interpreter.chat("go", stream=True)
    if typed:
        assert [chunk["type"] for chunk in stream if chunk["type"] == "confirmation"]
    else:
        with pytest.raises(TurnError, match="it needs approval"):
            list(stream)
    printed = capsys.readouterr().out
    assert "print(6 * 7)" in printed
    assert ("42\n" in printed) is ran
    assert any(item["type"] == "console" for item in interpreter.messages) is ran


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_turn_goes_on_where_standard_output_lacks_characters(
    encoding: str, make: Make, served: server.ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.answer(says("Snow \N{SNOWMAN} now"))
    output = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr("sys.stdout", output)
    assert make().chat("go")[-1]["content"] == "Snow \N{SNOWMAN} now"
    original_modules.display_markdown_message("\N{SNOWMAN} done")
    output.seek(0)
    assert output.read() == "Snow ? now\n? done\n"


def test_a_turn_is_displayed_on_what_can_only_write(
    make: Make, served: server.ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Lines:
        def __init__(self) -> None:
            self.written: list[str] = []

        def write(self, text: str) -> None:
            self.written.append(text)

    served.answer(says("It is done"))
    output = Lines()
    monkeypatch.setattr("sys.stdout", output)
    make().chat("go")
    monkeypatch.undo()
    assert "".join(output.written) == "It is done\n"


def test_load_extend_config_and_display_message(
    make: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    interpreter = make()
    interpreter.load([{"role": "user", "type": "message", "content": "one"}])
    assert interpreter.messages[0]["content"] == "one"
    (tmp_path / "more.yaml").write_text("max_budget: 0.5\n")
    with pytest.warns(UserWarning, match="older version"):
        interpreter.extend_config(tmp_path / "more.yaml")
    assert interpreter.max_budget == 0.5
    assert interpreter.llm.model == "openai/m"
    interpreter.display_message("> Hello")
    assert capsys.readouterr().out == "> Hello\n"


# ---- Threads and asyncio


def test_load_starts_the_model_process_ahead() -> None:
    with ModelProcess() as process, OpenInterpreter(llm=process) as made:
        assert process.pid is None
        made.llm.load()
        assert process.pid
        made.llm.completions = lambda messages: "Hello."
        made.llm.load()


def test_local_setup_takes_a_model_of_this_machine(
    make: Make, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = [LocalModel("Ollama", "ollama_chat/llama3", "http://127.0.0.1:11434")]
    monkeypatch.setattr(local_servers, "find", lambda: here)
    interpreter = make()
    interpreter.local_setup()
    assert (interpreter.llm.model, interpreter.llm.api_base) == (here[0].model, here[0].api_base)
    assert "The model is ollama_chat/llama3 (Ollama at" in capsys.readouterr().out
    here.clear()
    with pytest.raises(TurnError, match="No server on this machine has a model"):
        interpreter.local_setup()


def test_a_turn_in_the_background_can_be_waited_for(make: Make, served: server.ModelServer) -> None:
    go = threading.Event()

    def late(exchange: server.Exchange) -> None:
        assert go.wait(60)
        says("At last")(exchange)

    served.answer(late)
    interpreter = make()
    assert interpreter.chat("hello", display=False, blocking=False) is None
    served.exchange()
    assert interpreter.responding
    with pytest.raises(TurnError, match="Another chat"):
        interpreter.chat("me too", display=False)
    go.set()
    assert [item["content"] for item in interpreter.wait()] == ["At last"]
    assert not interpreter.responding


def test_waiting_raises_what_the_turn_raised(make: Make, served: server.ModelServer) -> None:
    served.answer(server.error(401, "wrong key"))
    interpreter = make()
    interpreter.chat("hello", display=False, blocking=False)
    with pytest.raises(TurnError, match="key"):
        interpreter.wait()


def test_asyncio_gets_the_same_chunks(make: Make) -> None:
    async def turn(interpreter: OpenInterpreter) -> list[dict[str, Any]]:
        return [chunk async for chunk in interpreter.achat("hello")]

    async def both() -> list[list[dict[str, Any]]]:
        return await asyncio.gather(turn(make()), turn(make()))

    expected = list(make().chat("hello", stream=True, display=False))
    assert asyncio.run(both()) == [expected, expected]


def test_a_turn_takes_no_thread_of_the_event_loops_executor(make: Make, served: server.ModelServer) -> None:
    served.answer(calls("1 + 1"))

    async def turn(interpreter: OpenInterpreter) -> list[dict[str, Any]]:
        loop = asyncio.get_running_loop()
        # The answer of a program may need the executor too, such as for a file.
        interpreter.on_approval = lambda _: asyncio.run_coroutine_threadsafe(
            asyncio.wait_for(asyncio.to_thread(bool, 1), 60), loop
        ).result()
        with ThreadPoolExecutor(1) as only_thread:
            loop.set_default_executor(only_thread)
            return [chunk async for chunk in interpreter.achat("hello")]

    chunks = asyncio.run(turn(make()))
    assert "2\n" in [chunk.get("content") for chunk in chunks if chunk.get("format") == "output"]


def test_cancelling_a_task_stops_the_turn(make: Make, served: server.ModelServer) -> None:
    served.answer(server.silent)
    interpreter = make()

    async def cancelled() -> None:
        async def turn() -> None:
            async for _ in interpreter.achat("hello"):
                pass

        task = asyncio.create_task(turn())
        await asyncio.to_thread(served.exchange)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert served.exchange().client_gone.wait(60)
    assert not interpreter.responding


WAITS = "import time\nkept = 1\nprint('begun', flush=True)\ntime.sleep(60)"
DEAF = """
import time
print('begun', flush=True)
while True:
    try:
        time.sleep(60)
    except BaseException:
        pass
"""


def test_a_stream_that_asyncio_left_while_code_runs_is_stopped_and_the_next_one_waits_for_it(
    make: Make, served: server.ModelServer
) -> None:
    served.answer(calls(WAITS), calls("print(kept)"), says("Done"))
    interpreter = make(auto_run=True)

    async def leave_and_go_on() -> list[dict[str, Any]]:
        async for chunk in interpreter.achat("wait"):
            if "begun" in str(chunk.get("content")) and chunk["role"] == "computer":
                break
        return [chunk async for chunk in interpreter.achat("hello")]

    asyncio.run(leave_and_go_on())
    assert [item["state"] for item in interpreter.messages if item["type"] == "code"] == [
        "interrupted",
        "finished",
    ]
    assert list_contents(interpreter.messages)[-2:] == ["1", "Done"]


@pytest.mark.parametrize("call", ["achat", "chat in a thread"])
def test_a_turn_waits_for_one_whose_task_was_cancelled_a_moment_before(
    call: str, make: Make, served: server.ModelServer
) -> None:
    served.answer(calls(WAITS), says("Done"))
    interpreter = make(auto_run=True)

    async def cancel_and_go_on() -> None:
        begun = asyncio.Event()

        async def turn() -> None:
            async for chunk in interpreter.achat("wait"):
                if "begun" in str(chunk.get("content")) and chunk["role"] == "computer":
                    begun.set()

        task = asyncio.create_task(turn())
        await begun.wait()
        task.cancel()
        streams = interpreter._oi_turns.async_streams
        await until(lambda: any(state.is_closing for state in streams._states.values()))
        if call == "achat":
            assert [chunk async for chunk in interpreter.achat("hello")]
        else:
            await asyncio.to_thread(interpreter.chat, "hello", display=False)

    asyncio.run(cancel_and_go_on())
    assert list_contents(interpreter.messages)[-2:] == ["hello", "Done"]


def test_an_asyncio_stream_that_is_still_held_is_not_waited_for(
    make: Make, served: server.ModelServer
) -> None:
    served.answer(says("a reply in several pieces"))
    interpreter = make()

    async def hold() -> None:
        held = interpreter.achat("hello")
        await anext(held)
        with pytest.raises(TurnError, match="Another chat"):
            await anext(interpreter.achat("me too"))

    asyncio.run(hold())


def test_a_turn_does_not_wait_for_ever_for_an_event_loop_that_waits_for_it(
    make: Make, served: server.ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "_CLOSING", 0.2)
    served.answer(says("a reply in several pieces"), says("Done"))
    interpreter = make()

    async def block() -> None:
        async for _ in interpreter.achat("hello"):
            break
        with ThreadPoolExecutor(1) as pool:
            blocked = pool.submit(interpreter.chat, "me too", display=False)
            with pytest.raises(TurnError, match="Another chat"):
                blocked.result(60)
        await asyncio.to_thread(interpreter.chat, "hello again", display=False)

    asyncio.run(block())
    assert list_contents(interpreter.messages)[-2:] == ["hello again", "Done"]


def test_a_program_that_does_not_stop_loses_its_language_once_its_stream_was_left(
    make: Make, served: server.ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "UNATTENDED", 0.6)
    served.answer(calls(DEAF), says("Done"))
    interpreter = make(auto_run=True)
    for chunk in interpreter.chat("go", stream=True, display=False):
        if "begun" in str(chunk.get("content")) and chunk["role"] == "computer":
            break
    assert [item["state"] for item in interpreter.messages if item["type"] == "code"] == ["lost"]
    assert list_contents(interpreter.chat("hello", display=False)) == ["Done"]


@pytest.mark.slow
def test_a_program_that_does_not_stop_loses_its_language_once_its_task_was_cancelled(
    make: Make, served: server.ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "UNATTENDED", 0.6)
    served.answer(calls(DEAF))
    interpreter = make(auto_run=True)

    async def read_until_begun(begun: asyncio.Event) -> None:
        async for chunk in interpreter.achat("go"):
            if "begun" in str(chunk.get("content")) and chunk["role"] == "computer":
                begun.set()

    async def cancel() -> None:
        begun = asyncio.Event()
        task = asyncio.create_task(read_until_begun(begun))
        await begun.wait()
        task.cancel()
        await asyncio.wait([task], timeout=30)
        assert task.cancelled()

    asyncio.run(cancel())
    assert [item["state"] for item in interpreter.messages if item["type"] == "code"] == ["lost"]


def test_interpreters_share_a_model_process(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = ModelPool()
    first = pool.lease("a")
    assert pool.lease("b") is first
    monkeypatch.setenv("SOME_API_KEY", "new")
    second = pool.lease("a")
    assert second is not first, "a key that is set later counts"
    pool.release("a")
    pool.release("b")
    assert pool.lease("c") is not second


@pytest.mark.slow
def test_closing_the_last_interpreter_ends_the_model_process() -> None:
    one, two = OpenInterpreter(model="demo"), OpenInterpreter(model="demo")
    one.chat("hello", display=False)
    two.chat("hello", display=False)
    process = POOL.lease(one._oi_model._lease)
    assert process.pid
    one.close()
    assert process.pid
    two.close()
    assert process.pid is None


@pytest.mark.timeout(60)
def test_an_interpreter_that_is_collected_amid_a_lease_blocks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*arguments: object, **options: object) -> ModelProcess:
        lost = weakref.ref(OpenInterpreter(model="demo"))
        gc.collect()
        assert lost() is None
        return ModelProcess(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(shared_model, "ModelProcess", start)
    monkeypatch.setenv("SOME_API_KEY", "another one")
    assert POOL.lease("test").pid is None
    POOL.release("test")


def test_what_is_left_is_cleaned_up_at_the_end_of_the_program() -> None:
    program = (
        "import weakref, sys\n"
        "{first}"
        "from oi_tui.api.finalizers import finalize\n"
        "class Thing: pass\n"
        "kept, lost = Thing(), Thing()\n"
        "finalize(kept, lambda: print('kept ', end='', flush=True))\n"
        "finalize(lost, lambda: print('lost ', end='', flush=True))\n"
        "del lost\n"
    )
    for first in ("", "weakref.finalize(sys.modules['weakref'], print, end='')\n"):
        done = subprocess.run(
            [sys.executable, "-c", program.format(first=first)], capture_output=True, text=True, check=True
        )
        assert sorted(done.stdout.split()) == ["kept", "lost"]


# ---- Questions


@pytest.mark.parametrize(
    ("decide", "output", "reported"),
    [
        (lambda request: request.run(), "1\n", "1"),
        (lambda request: True, "1\n", "1"),
        (lambda request: request.edit("print(2)"), "2\n", "2"),
        (lambda request: request.reject("too risky"), None, "too risky"),
        (lambda request: False, None, "rejected"),
    ],
)
def test_a_function_decides_about_code(
    decide: Callable[[ApprovalRequested], object],
    output: str | None,
    reported: str,
    make: Make,
    served: server.ModelServer,
) -> None:
    served.answer(calls("print(1)"), says("Done."))
    interpreter = make()
    interpreter.on_approval = decide
    chunks = list(interpreter.chat("go", stream=True, display=False))
    assert "confirmation" not in {chunk["type"] for chunk in chunks}
    printed = [message["content"] for message in interpreter.messages if message["type"] == "console"]
    assert printed == ([output] if output else [])
    [result] = [item for item in served.requests[1]["messages"] if item["role"] == "tool"]
    assert reported in result["content"]


@pytest.mark.parametrize("decide", [lambda request: None, lambda request: 1 / 0])
def test_a_function_that_does_not_decide_runs_nothing(decide: Any, make: Make, served: Any) -> None:
    served.answer(calls("print(1)"), says("Done."))
    interpreter = make()
    interpreter.on_approval = decide
    with pytest.raises((TurnError, ZeroDivisionError)):
        interpreter.chat("go", display=False)
    assert interpreter.messages[-1]["state"] == "skipped"


def test_an_async_function_is_refused_and_a_plain_one_may_wait_for_the_event_loop(
    make: Make, served: server.ModelServer
) -> None:
    served.answer(calls("print(1)"), says("Done."))
    interpreter = make()

    async def decide(_: ApprovalRequested) -> bool:
        await asyncio.sleep(0)
        return True

    for name in ("on_approval", "on_input"):
        with pytest.raises(TypeError, match=f"{name} must be a plain function, because an async one"):
            setattr(interpreter, name, decide)

    async def work() -> None:
        loop = asyncio.get_running_loop()
        interpreter.on_approval = lambda question: asyncio.run_coroutine_threadsafe(
            decide(question), loop
        ).result()
        async for _ in interpreter.achat("go"):
            pass

    asyncio.run(work())
    assert any(message["content"] == "1\n" for message in interpreter.messages)


def test_code_in_an_answer_is_text(make: Make, served: server.ModelServer) -> None:
    served.answer(calls("print(1)"), says("Done."))
    interpreter = make()
    interpreter.on_approval = lambda question: question.edit(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the code must be text, not NoneType"):
        interpreter.chat("go", display=False)
    assert interpreter.messages[-1]["state"] == "skipped"


def test_events_are_typed_and_answered_by_their_methods(make: Make, served: server.ModelServer) -> None:
    served.answer(calls("print(1)"), says("Done."))
    interpreter = make()
    events = []
    for event in interpreter.events("go"):
        events.append(event)
        if isinstance(event, ApprovalRequested):
            assert event.edit("print(3)")
            assert not event.run(), "the first answer counts"
    assert events[-1] == TurnEnded("done")
    assert any(message["content"] == "3\n" for message in interpreter.messages)


def test_events_with_a_question_that_is_not_answered_are_an_error(
    make: Make, served: server.ModelServer
) -> None:
    served.answer(calls("print(1)"))
    with pytest.raises(TurnError, match="was not answered"):
        list(make().events("go"))


@pytest.mark.parametrize(("typed", "output"), [("Ada", "Hello Ada"), (None, "EOFError")])
def test_a_function_answers_programs_that_ask(
    typed: str | None, output: str, make: Make, served: server.ModelServer
) -> None:
    served.answer(calls("print('Hello', input('Name? '))"), says("Done."))
    interpreter = make(auto_run=True)
    asked = []
    interpreter.on_input = lambda request: asked.append(request.prompt) or typed  # type: ignore[func-returns-value]
    interpreter.chat("go", display=False)
    [printed] = [message["content"] for message in interpreter.messages if message["type"] == "console"]
    assert output in printed
    assert asked == ["Name? "]


def test_the_last_chunk_of_a_run_says_how_it_ended(make: Make, served: server.ModelServer) -> None:
    served.answer(calls("1 / 0"), says("Oh."))
    chunks = list(make(auto_run=True).chat("go", stream=True, display=False))
    *_, last, end = [chunk for chunk in chunks if chunk["type"] == "console"]
    assert last == {
        "role": "computer",
        "type": "console",
        "format": "active_line",
        "content": None,
        "state": "failed",
    }
    assert end == {"role": "computer", "type": "console", "end": True}


def test_the_flags_of_a_turn_come_once_each_with_nothing_added(
    make: Make, served: server.ModelServer
) -> None:
    served.answer(calls("print(6 * 7)"), says("It is 42."))
    chunks = list(make(auto_run=True).chat("go", stream=True, display=True))
    heads = (
        {"role": "assistant", "type": "code", "format": "python"},
        {"role": "computer", "type": "console"},
        {"role": "assistant", "type": "message"},
    )
    flags = [{**head, flag: True} for head in heads for flag in ("start", "end")]
    assert [chunk for chunk in chunks if "content" not in chunk] == flags


def test_a_run_that_prints_nothing_returns_an_empty_message(make: Make) -> None:
    message = {"role": "computer", "type": "console", "format": "output", "content": ""}
    interpreter = make()
    assert interpreter.computer.run("python", "x = 1") == [message]
    interpreter.computer.run("python", "x = 1")[0]["content"] = "changed"
    assert interpreter.computer.run("python", "x = 1") == [message]


# ---- Profiles and conversations


def test_the_default_profile_is_read() -> None:
    paths.profiles().mkdir(parents=True)
    (paths.profiles() / "default.yaml").write_text("custom_instructions: Be brief.\nllm.temperature: 0\n")
    (paths.profiles() / "work.yaml").write_text("llm.model: demo\n")
    llm = fakes.Llm()
    with OpenInterpreter(llm=llm) as made:
        made.chat("hello", display=False)
    assert "Be brief." in str(llm.requests[0].messages[0])
    with OpenInterpreter("work") as made:
        assert (made.llm.model, made.custom_instructions) == ("demo", "")
    with OpenInterpreter(paths.profiles() / "work.yaml") as made:
        assert made.llm.model == "demo"
    with pytest.raises(ProfileError, match="did you mean work"):
        OpenInterpreter("wrok")
    (paths.profiles() / "default.yaml").write_text("max_budget: much\n")
    with pytest.raises(ProfileError, match="max_budget: expected a number"):
        OpenInterpreter()


def test_what_a_profile_has_without_effect_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "odd.yaml").write_text("nonsense: 1\n")
    with pytest.warns(UserWarning, match="nonsense is not a setting"):
        OpenInterpreter(tmp_path / "odd.yaml").close()


def stored() -> list[list[str]]:
    store = Store(paths.conversations())
    return [[entry.content for entry in store.read(item.id)] for item in store.list_summaries()]


def test_conversations_are_saved_for_the_navigator() -> None:
    with OpenInterpreter(llm=fakes.Llm()) as made:
        assert made.conversation_filename is None
        made.chat("hello", display=False)
        made.chat("again", display=False)
        assert stored() == [["hello", "Done.", "again", "Done."]]
        made.messages = made.messages[:2]
        made.chat("otherwise", display=False)
        assert stored() == [["hello", "Done.", "otherwise", "Done."]]
        made.reset()
        made.conversation_filename = "my talk.json"
        made.chat("new", display=False)
        assert made.conversation_filename == "my talk.json"
    assert sorted(stored()) == [["hello", "Done.", "otherwise", "Done."], ["new", "Done."]]
    titles = {item.title for item in Store(paths.conversations()).list_summaries()}
    assert titles == {"hello", "my talk"}


def test_the_folder_of_conversations_may_be_given_as_seen_from_the_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with OpenInterpreter(llm=fakes.Llm()) as made:
        for given in ("my folder/conversations", Path("my folder") / "conversations"):
            made.conversation_history_path = given
            assert made.conversation_history_path == str(tmp_path / "my folder" / "conversations")
        made.chat("hello", display=False)
    assert [item.title for item in Store(tmp_path / "my folder" / "conversations").list_summaries()] == [
        "hello"
    ]


def test_a_program_finds_its_conversation_in_the_file_that_it_named(tmp_path: Path) -> None:
    folder, name = tmp_path / "histories", "today.json"
    for answers in (2, 4):
        with OpenInterpreter(llm=fakes.Llm(), conversation_history_path=str(folder)) as made:
            made.conversation_filename = name
            if (folder / name).exists():
                made.messages = json.loads((folder / name).read_text())
            made.chat("hello", display=False)
            assert made.conversation_filename == name
        messages = json.loads((folder / name).read_text())
        assert [item["content"] for item in messages] == ["hello", "Done."] * (answers // 2)
    assert [path.name for path in folder.glob("*.json")] == [name], "and nothing else looks like one"


def test_in_a_folder_of_the_programs_own_each_conversation_is_a_file(tmp_path: Path) -> None:
    with OpenInterpreter(llm=fakes.Llm(), conversation_history_path=str(tmp_path)) as made:
        made.chat("Plot the prices of today", display=False)
        first = made.conversation_filename
        made.chat("again", display=False)
        assert made.conversation_filename == first
        made.reset()
        assert made.conversation_filename is None
        made.chat("<Hello>", display=False)
        second = made.conversation_filename
    assert first
    assert second
    assert first.startswith("Plot_the_prices_of__")
    assert second.startswith("Hello__")
    assert sorted(path.name for path in tmp_path.glob("*.json")) == sorted([first, second])
    assert len(json.loads((tmp_path / first).read_text())) == 4


def test_a_message_whose_first_words_can_be_no_name_of_a_file_is_saved_all_the_same(tmp_path: Path) -> None:
    with OpenInterpreter(llm=fakes.Llm(), conversation_history_path=str(tmp_path)) as made:
        made.chat("Plot\0the \ud83d prices of today", display=False)
        (path,) = tmp_path.glob("*.json")
        assert path.name.startswith("Plotthe__prices_of__")
        made.conversation_filename = "nul\0"
        with pytest.warns(UserWarning, match="was not written to"):
            assert made.chat("again", display=False)[0]["content"] == "Done."


def test_settings_that_are_given_back_as_they_were_read_begin_no_conversation(tmp_path: Path) -> None:
    with OpenInterpreter(llm=fakes.Llm(), conversation_history_path=f"{tmp_path}/") as made:
        for _ in range(3):
            made.conversation_filename = made.conversation_filename
            made.conversation_history_path = made.conversation_history_path
            made.chat("hello", display=False)
        assert made.conversation_filename
        # As scripts put the two together.
        assert (
            len(json.loads(Path(made.conversation_history_path + made.conversation_filename).read_text()))
            == 6
        )
    assert len(Store(tmp_path).list_summaries()) == 1


def test_a_file_that_cannot_be_written_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "talk.json").mkdir()
    with OpenInterpreter(llm=fakes.Llm(), conversation_history_path=str(tmp_path)) as made:
        made.conversation_filename = "talk.json"
        with pytest.warns(UserWarning, match=r"was not written to .*talk\.json"):
            assert made.chat("hello", display=False)[0]["content"] == "Done."
    assert [item.title for item in Store(tmp_path).list_summaries()] == ["talk"]


def test_conversations_are_not_saved_where_that_is_off(tmp_path: Path) -> None:
    with OpenInterpreter(llm=fakes.Llm(), conversation_history=False) as made:
        made.chat("hello", display=False)
        assert stored() == []
        made.conversation_history = True
        made.conversation_history_path = str(tmp_path / "here")
        made.chat("again", display=False)
    assert [item.title for item in Store(tmp_path / "here").list_summaries()] == ["hello"]


# ---- Python of the script, the module, the end of the process


def test_python_runs_in_the_interpreter_of_the_script(make: Make) -> None:
    [message] = make().computer.run("python", "import sys; print(sys.executable)")
    assert message["content"].strip() == sys.executable


SCRIPT = """
import oi_tui.interpreter_module
from interpreter import interpreter, OpenInterpreter, AsyncInterpreter
from interpreter.core.core import OpenInterpreter as original

assert original is OpenInterpreter and isinstance(interpreter, OpenInterpreter)
assert issubclass(AsyncInterpreter, OpenInterpreter)
interpreter.auto_run = interpreter.computer.import_computer_api = True
interpreter.llm.completions = lambda messages: iter(["```python\\nx = 5\\n```"])
interpreter.llm.supports_functions = False
for chunk in interpreter.chat("go", stream=True, display=False):
    if chunk.get("format") == "output":
        break
print(interpreter.computer.run("python", "print(x + 1)")[0]["content"])
"""


@pytest.mark.slow
def test_an_old_script_runs_and_ends_without_close(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    words = [sys.executable, "-W", "always::ResourceWarning", tmp_path / "script.py"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "6", "")


HELD_STREAM = """
import sys
from oi_tui import OpenInterpreter

code = "```python\\nprint(1, flush=True)\\nimport time\\ntime.sleep(100)\\n```"
interpreter = OpenInterpreter(auto_run=True)
interpreter.llm.completions = lambda messages: iter(["Look:\\n", code])
interpreter.llm.supports_functions = False
stream = interpreter.chat("go", stream=True, display=False)
for chunk in stream:
    if chunk.get("type") == sys.argv[1] and "content" in chunk:
        break
"""


@pytest.mark.slow
@pytest.mark.parametrize("where", ["message", "console"])
def test_a_program_ends_that_still_holds_a_stream(tmp_path: Path, where: str) -> None:
    (tmp_path / "script.py").write_text(HELD_STREAM)
    words = [sys.executable, tmp_path / "script.py", where]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


FIRST_README = """
import oi_tui.interpreter_module
import interpreter

interpreter.model = "gpt-3.5-turbo"
interpreter.max_output = 900
interpreter.llm.completions = lambda messages: iter([messages[-1]["content"].upper()])
messages = interpreter.chat("My name is Killian.", return_messages=True)
interpreter.reset()
interpreter.load(messages)
interpreter.system_message += "Run with -y."
from interpreter import interpreter as ready

print([item["content"] for item in ready.messages[1:]])
print(ready.llm.model, ready.max_output, ready.system_message.endswith("Run with -y."))
try:
    interpreter.max_bugdet = 1
except AttributeError as error:
    print(error)
"""


@pytest.mark.slow
def test_a_language_of_a_script_and_what_follows_it_end_with_the_script(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from oi_tui import OpenInterpreter\n"
        "class Shout:\n"
        "    name = 'shout'\n"
        "    def run(self, code): yield {'type': 'console', 'format': 'output', 'content': code.upper()}\n"
        "    def stop(self): pass\n"
        "    def terminate(self): print('terminated', flush=True)\n"
        "interpreter = OpenInterpreter()\n"
        "interpreter.computer.languages.insert(0, Shout)\n"
        "interpreter.computer.run('shout', 'hello')\n"
        "interpreter.computer.run('shell', 'echo hello')\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("terminated\n", "")


def test_the_module_itself_is_the_interpreter_as_in_version_0_1(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(FIRST_README)
    done = subprocess.run(
        [sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.stderr == ""
    assert done.stdout.splitlines()[-3:] == [
        "['MY NAME IS KILLIAN.']",
        "gpt-3.5-turbo 900 True",
        "interpreter has no attribute 'max_bugdet'; did you mean interpreter.llm.max_budget?",
    ]


def test_an_installed_original_is_found_first(tmp_path: Path) -> None:
    (tmp_path / "interpreter.py").write_text("name = 'the original'\n")
    code = "import oi_tui.interpreter_module, interpreter; print(interpreter.name)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True, cwd=tmp_path
    )
    assert done.stdout.strip() == "the original"


SESSION = """
from oi_tui import OpenInterpreter
interpreter = OpenInterpreter()
interpreter.llm.completions = lambda messages: iter(["Hello."])
interpreter.computer.run("python", "kept = 41")
interpreter.chat()
print("after:", [each["content"] for each in interpreter.messages if each["role"] == "user"])
print(interpreter.computer.run("python", "print(kept + 1)")[0]["content"])
"""


@pytest.mark.slow
def test_chat_alone_is_an_interactive_session(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SESSION)
    done = subprocess.run(
        [sys.executable, tmp_path / "script.py"],
        input="Say hello\n%info\n",
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert "plain mode" in done.stdout, done.stderr
    assert "after: ['Say hello']" in done.stdout
    assert done.stdout.rstrip().endswith("42")
    assert done.returncode == 0


ENDED_SESSION = """
import signal
from oi_tui import OpenInterpreter
interpreter = OpenInterpreter()
interpreter.llm.completions = lambda messages: iter(["Hello."])
signal.signal(signal.SIGTERM, lambda *_: print("ended after", len(interpreter.messages), flush=True))
interpreter.chat()
signal.signal(signal.SIGTERM, signal.SIG_DFL)
interpreter.chat()
print("it went on")
"""


@pytest.mark.slow
def test_a_signal_that_ends_an_interactive_session_reaches_its_script(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(ENDED_SESSION)
    with subprocess.Popen(
        [sys.executable, tmp_path / "script.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as script:
        assert script.stdin
        assert script.stdout
        script.stdin.write("Say hello\n")
        script.stdin.flush()
        assert any("Hello." in line for line in script.stdout)
        script.send_signal(signal.SIGTERM)
        assert any("ended after 2" in line for line in script.stdout)
        assert any("plain mode" in line for line in script.stdout)
        script.send_signal(signal.SIGTERM)
        rest = script.stdout.read()
        assert script.wait(60) == -signal.SIGTERM, rest
    assert "it went on" not in rest


def test_chat_alone_in_a_notebook_asks_line_by_line(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = iter(["hello", "", "exit"])
    monkeypatch.setattr("builtins.input", lambda _="": next(lines))
    monkeypatch.setattr("oi_tui.api.interactive.is_possible", lambda: False)
    interpreter = make()
    answer = interpreter.chat()
    assert [item["content"] for item in answer] == ["hello", "Hello there"]


def test_the_hook_for_old_scripts_is_written_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook, command = tmp_path / "oi_tui_interpreter.pth", tmp_path / "interpreter"
    monkeypatch.setattr("sysconfig.get_paths", lambda: dict.fromkeys(("purelib", "scripts"), str(tmp_path)))
    stub = tmp_path / "interpreter-stubs" / "__init__.pyi"
    for _ in range(2):
        words = interpreter_hook.main(["install"])
        assert str(hook) in words
        assert f"{stub.parent} is written" in words
        assert stub.exists()
        assert "the command `interpreter` starts oi-tui" in words
    # Python runs the line at each start: without oi-tui, it must not complain.
    for run in ([sys.executable], [sys.executable, "-S", "-I"]):
        done = subprocess.run([*run, "-c", hook.read_text()], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
    done = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith("oi-tui ")
    interpreter_hook.main(["remove"])
    assert not hook.exists()
    assert not command.exists()
    assert not stub.parent.exists()


def test_the_hook_of_a_user_is_written_among_the_packages_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "lib" / "site-packages"
    packages.mkdir(parents=True)
    monkeypatch.setattr("site.ENABLE_USER_SITE", True)
    monkeypatch.setattr("site.getusersitepackages", lambda: str(packages))
    monkeypatch.setattr(interpreter_hook, "__file__", str(packages / "oi_tui" / "interpreter_hook.py"))
    places = {"purelib": str(packages), "scripts": str(tmp_path / "bin")}
    monkeypatch.setattr("sysconfig.get_paths", lambda scheme="": places if scheme.endswith("_user") else {})
    assert str(packages / "oi_tui_interpreter.pth") in interpreter_hook.main(["install"])
    assert (tmp_path / "bin" / "interpreter").exists()


def test_the_command_and_the_stubs_of_another_package_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, stub = tmp_path / "interpreter", tmp_path / "interpreter-stubs" / "__init__.pyi"
    stub.parent.mkdir()
    for file in (command, stub):
        file.write_bytes(b"\xff another")
    monkeypatch.setattr("sysconfig.get_paths", lambda: dict.fromkeys(("purelib", "scripts"), str(tmp_path)))
    words = interpreter_hook.main(["install"])
    assert "is another program" in words
    assert f"{stub.parent} belongs to another package" in words
    interpreter_hook.main(["remove"])
    assert command.read_bytes() == stub.read_bytes() == b"\xff another"


def test_an_environment_that_cannot_be_written_to_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    place = str(tmp_path / "file")
    monkeypatch.setattr("sysconfig.get_paths", lambda: dict.fromkeys(("purelib", "scripts"), place))
    monkeypatch.setattr("sys.argv", ["interpreter_hook", "install"])
    monkeypatch.delitem(sys.modules, "oi_tui.interpreter_hook")
    with pytest.raises(SystemExit, match=rf"^{place}/oi_tui_interpreter\.pth cannot be changed: Not a dir"):
        runpy.run_module("oi_tui.interpreter_hook", run_name="__main__")


def test_the_stubs_have_each_name_that_the_module_has(tmp_path: Path) -> None:
    interpreter_stubs.write(tmp_path, "# heading")
    found = {}
    for path in tmp_path.rglob("*.pyi"):
        text = path.read_text()
        assert text.startswith("# heading\n")
        found[".".join(["interpreter", *path.relative_to(tmp_path).with_suffix("").parts])] = names = {}
        exec(text.replace("...", "pass"), names)
    root = found.pop("interpreter.__init__")
    assert {"AsyncInterpreter", "BaseLanguage", "Interpreter", "OpenInterpreter", "interpreter"} <= set(root)
    modules = {name: names for name, names in found.items() if not name.endswith("__init__")}
    assert set(modules) == set(interpreter_module._MODULES)
    for module, names in original_modules.NAMES.items():
        for name, value in names.items():
            if isinstance(value, str):
                assert modules[module]["__annotations__"][name] is str
            elif "languages" in module:
                assert issubclass(modules[module][name], language_classes.BaseLanguage)
            else:
                assert modules[module][name] is value


CHECKED = """
from interpreter import OpenInterpreter, interpreter
from interpreter.core.computer.computer import Computer
from interpreter.core.computer.terminal.languages.python import Python
import interpreter as module

interpreter.computer.languages = [Python]
messages: list[dict[str, object]] = interpreter.chat("Hello", display=False)
computer: Computer = interpreter.computer
module.chat("as in 0.1")
interpreter.llm.model = 3  # wrong
interpreter.auto_rum = True  # wrong
"""


@pytest.mark.slow
def test_a_type_checker_knows_the_module_by_the_stubs(tmp_path: Path) -> None:
    interpreter_stubs.write(tmp_path / "stubs" / "interpreter", "# heading")
    script = tmp_path / "script.py"
    script.write_text(CHECKED)
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--no-error-summary"]
    done = subprocess.run(
        [*command, "--config-file=", f"--cache-dir={tmp_path}/cache", script],
        env={**os.environ, "MYPYPATH": str(tmp_path / "stubs")},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    lines = [line.split(":")[1] for line in done.stdout.splitlines()]
    wrong = [str(number) for number, line in enumerate(CHECKED.splitlines(), 1) if "# wrong" in line]
    assert lines == wrong, done.stdout + done.stderr


@pytest.mark.slow
def test_the_examples_of_the_docstrings_run() -> None:
    package = Path(interpreter_module.__file__).parent
    # Drivers run in other programs; in their docstrings stand the prompts of Python, and no examples.
    modules = [
        ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(package.rglob("*.py"))
        if "drivers" not in path.parts and re.search(r"^\s*>>> ", path.read_text(), re.MULTILINE)
    ]
    assert "oi_tui.api.interpreter" in modules
    POOL.lease("examples")
    try:
        for name in modules:
            result = doctest.testmod(importlib.import_module(name), verbose=False)
            assert result.failed == 0, name
    finally:
        POOL.release("examples")


# ---- In a notebook, and as in the documentation


CELLS = (
    """
from oi_tui import OpenInterpreter

code = "from PIL import Image; Image.new('RGB', (2, 2)).show()"
replies = iter([f"Look:\\n```python\\n{code}\\n```", "There it is."])
interpreter = OpenInterpreter(auto_run=True)
interpreter.llm.supports_functions = False
interpreter.llm.completions = lambda messages: iter([next(replies)])
interpreter.chat("Show an image")
interpreter.close()
""",
)


@pytest.mark.slow
def test_a_notebook_shows_the_turn_with_its_images() -> None:
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    book = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(book, timeout=100, kernel_name="python3").execute()
    outputs = book.cells[0].outputs
    assert "There it is." in "".join(output.get("text", "") for output in outputs)
    images = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(images) == 1


def test_in_a_terminal_an_image_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    screen = notebook.NotebookDisplay()
    screen.show({"role": "computer", "type": "image", "format": "base64.png", "content": "eA=="})
    page = {"role": "computer", "type": "code", "format": "html", "content": "<p>"}
    screen.show(page)
    assert capsys.readouterr().out == "[image]<p>"


def test_words_code_and_output_are_shown_on_lines_of_their_own(
    make: Make, served: server.ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    call = server.Call(json.dumps({"language": "python", "code": "print(6 * 7)"}))
    served.answer(server.spoken(server.Say("I run this."), call), says("Done."))
    make(auto_run=True, conversation_history=False).chat("go")
    shown = "I run this.\n\n[python]\nprint(6 * 7)\n\n42\n\nDone.\n"
    assert capsys.readouterr().out == shown


def test_the_calls_of_the_documentation_run_in_their_order(
    make: Make, served: server.ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    interpreter_module.provide()
    module = importlib.import_module("interpreter")
    interpreter = make()
    monkeypatch.setattr("oi_tui.interpreter", interpreter, raising=False)
    assert module.interpreter is interpreter
    for chunk in interpreter.chat("What is the weather?", display=False, stream=True):
        assert {"role", "type"} <= chunk.keys()
    interpreter.system_message += " Be brief."
    messages = interpreter.chat("My name is Ada.", display=False)
    kept = interpreter.messages
    interpreter.messages = []
    interpreter.chat("Who am I?", display=False)
    assert "Ada" not in json.dumps(served.requests[-1]["messages"])
    interpreter.messages = kept
    interpreter.chat("And now?", display=False)
    assert "Ada" in json.dumps(served.requests[-1]["messages"])
    assert messages[-1]["content"] == "Hello there"
    interpreter.auto_run = True
    interpreter.llm.context_window, interpreter.llm.max_tokens = 3000, 1000
    interpreter.llm.temperature, interpreter.max_budget, interpreter.offline = 0.7, None, True
    interpreter.anonymized_telemetry, interpreter.verbose = False, False
    interpreter.conversation_history, interpreter.safe_mode = True, "ask"
    interpreter.computer.languages = [
        language for language in interpreter.computer.languages if language.name == "python"
    ]
    interpreter.chat("Again", display=False)
    assert served.requests[-1]["temperature"] == 0.7
    assert served.requests[-1]["max_tokens"] == 1000
    interpreter.reset()
    assert interpreter.messages == []


def test_code_that_is_run_by_hand_gets_the_same_answers(make: Make) -> None:
    interpreter = make()
    interpreter.on_input = lambda request: "Ada"
    [message] = interpreter.computer.run("python", "print('Hello', input('Name? '))")
    assert "Hello Ada" in message["content"]
    for name in ("on_input", "on_approval"):
        with pytest.raises(TypeError, match=f"{name} must be a function"):
            setattr(interpreter, name, "yes")


def test_a_closed_interpreter_starts_anew_when_it_is_used(make: Make) -> None:
    interpreter = make()
    interpreter.computer.run("python", "x = 1")
    interpreter.close()
    assert "NameError" in interpreter.computer.run("python", "x")[0]["content"]
    assert interpreter.chat("hello", display=False)[0]["content"] == "Hello there"


SHOUT = """
class Shout:
    name = "shout"
    def run(self, code):
        yield {"type": "console", "format": "output", "content": code.upper()}
    def stop(self): ...
    def terminate(self): ...
"""


def test_languages_in_files_of_a_profile_run_once_they_are_trusted(tmp_path: Path) -> None:
    (tmp_path / "shout.py").write_text(SHOUT)
    text = "computer.custom_languages: [shout.py, missing.py]\ncomputer.languages: [shout, python]\n"
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.warns(UserWarning, match=r"missing\.py: file not found"):
        interpreter = OpenInterpreter(tmp_path / "mine.yaml")
    with interpreter:
        assert [language.name for language in interpreter.computer.languages] == ["python", "shout"]
        with pytest.raises(ValueError, match="you do not trust yet"):
            interpreter.computer.run("shout", "hello")
    Trust().accept(ExternalContent("language", str(tmp_path / "shout.py"), SHOUT))
    with pytest.warns(UserWarning, match="missing"), OpenInterpreter(tmp_path / "mine.yaml") as interpreter:
        assert interpreter.computer.run("shout", "hello")[0]["content"] == "HELLO"


def test_the_code_of_a_python_profile_runs_first(tmp_path: Path) -> None:
    path = tmp_path / "tools.py"
    path.write_text("interpreter.computer.run('python', 'def tool(): return 42')\n")
    with pytest.raises(ProfileError, match="shown and trusted first"):
        OpenInterpreter(path)
    Trust().accept(ExternalContent("python profile", str(path), path.read_text()))
    with OpenInterpreter(path) as interpreter:
        assert interpreter.computer.run("python", "print(tool())")[0]["content"] == "42\n"
