"""OpenAI's chat completions, with OpenAI's own library."""

import asyncio
import base64
import io
import threading
from typing import Any
from unittest.mock import Mock

import httpx
import pytest

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")
pytest.importorskip("uvicorn", reason="uvicorn (extra server) is not installed here")

from oi_tui.engine.llm.base import ErrorInfo, Text, Usage
from oi_tui.messages import Message
from oi_tui.server import hosted_session
from oi_tui.server.event_log import EventReader, GapError
from oi_tui.server.hosted_session import HostedSession
from oi_tui.server.openai import completion_history
from oi_tui.server.openai.completion_request import ChatMessage
from tests.fakes import call
from tests.processes import wait_until
from tests.unit.server.conftest import Serve
from tests.unit.server.running import TIMEOUT, Running
from tests.when_used import when_used

openai = when_used("openai")
MODEL = "open-interpreter"
TEXT = {"type": "text", "text": "Hi"}
NO_TEXT = {"type": "text", "text": None}


def client_of(running: Running) -> "openai.OpenAI":
    return running.openai("/v1")


def user(words: str) -> dict[str, Any]:
    return {"role": "user", "content": words}


def ask(client: "openai.OpenAI", *messages: dict[str, Any], **options: Any) -> Any:
    return client.chat.completions.create(model=MODEL, messages=list(messages), **options)  # type: ignore[call-overload]


def words_of(client: "openai.OpenAI", *messages: dict[str, Any], **options: Any) -> str:
    return str(ask(client, *messages, **options).choices[0].message.content)


def sessions_of(running: Running) -> list[HostedSession]:
    return running.app.state.context.sessions.all  # type: ignore[no-any-return]


def read_last_request(running: Running) -> list[tuple[str, str]]:
    """What the model was asked last, without the system message."""
    return [(m["role"], m["content"]) for m in running.llm.requests[-1].messages[1:]]


@pytest.mark.slow
@pytest.mark.parametrize("streamed", [False, True])
def test_a_turn_that_fails_is_an_error_and_is_not_tried_again(serve: Serve, streamed: bool) -> None:
    running = serve([ErrorInfo("key", "The key is wrong.", "llm.api_key")], [Text("Better.")])
    with client_of(running) as client:
        kind = openai.APIError if streamed else openai.InternalServerError
        with pytest.raises(kind, match=r"The key is wrong. \(setting llm.api_key\)"):
            list(ask(client, user("Hi"), stream=streamed))
        assert len(running.llm.requests) == 1
        assert words_of(client, user("Hi")) == "Better."


def test_usage_is_that_of_all_requests_or_is_left_out(serve: Serve) -> None:
    replies = [[call("print(1)"), Usage(10, 5)], [Text("Done."), Usage(20, 2)]]
    running = serve(*replies, *replies, [Text("No count.")], auto_run=True)
    with client_of(running) as client:
        assert ask(client, user("Print")).usage.total_tokens == 37
        chunks = list(ask(client, user("Print"), stream=True, stream_options={"include_usage": True}))
        assert [chunk.usage.prompt_tokens for chunk in chunks if chunk.usage] == [30]
        assert chunks[-1].choices == []
        assert ask(client, user("Print")).usage is None


@pytest.mark.parametrize("streamed", [False, True])
def test_a_client_that_leaves_stops_the_turn(serve: Serve, streamed: bool) -> None:
    running = serve([Text("Begin."), call("hang")], auto_run=True)
    with client_of(running) as client:
        if streamed:
            stream = ask(client, user("Go"), stream=True)
            next(chunk for chunk in stream if "hang" in (chunk.choices[0].delta.content or ""))
            assert running.computer.running.wait(TIMEOUT)
            stream.close()
        else:
            with pytest.raises(openai.APITimeoutError):
                ask(client.with_options(timeout=0.5, max_retries=0), user("Go"))
        assert sessions_of(running)[0].wait(TIMEOUT)


@pytest.mark.parametrize("path", ["chat/completions", "responses"])
def test_a_client_that_waits_is_told_that_the_server_ends(serve: Serve, path: str) -> None:
    running = serve([call("hang")], auto_run=True)
    answers: list[httpx.Response] = []
    body = {"messages": [user("Go")]} if path == "chat/completions" else {"input": "Go"}
    with running.http() as client:
        asking = threading.Thread(target=lambda: answers.append(client.post(f"/v1/{path}", json=body)))
        asking.start()
        assert running.computer.running.wait(TIMEOUT)
        running.server.should_exit = True
        asking.join(TIMEOUT)
    (answer,) = answers
    assert (answer.status_code, answer.json()["error"]["message"]) == (503, "The server has ended.")


def test_code_that_does_not_stop_is_ended_by_force_once_its_client_has_left(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosted_session, "UNATTENDED", 0.2)
    running = serve([call("stubborn")], [Text("Next.")], auto_run=True)
    with client_of(running) as client:
        with ask(client, user("Go"), stream=True):
            assert running.computer.running.wait(TIMEOUT)
        assert words_of(client, user("And now?")) == "Next."
    states = [m.state for m in sessions_of(running)[0].messages if m.type == "code"]
    assert states == ["lost"]


def test_code_that_takes_its_time_to_stop_is_not_stopped_twice_by_the_next_message(serve: Serve) -> None:
    running = serve([call("stubborn")], [Text("Next.")], auto_run=True)
    stops = running.computer.interrupt = Mock(wraps=running.computer.interrupt)  # type: ignore[method-assign]
    answers: list[str] = []
    with client_of(running) as client:
        with ask(client, user("Go"), stream=True):
            assert running.computer.running.wait(TIMEOUT)
        assert running.computer.interrupted.wait(TIMEOUT)
        (session,) = sessions_of(running)
        came = threading.Event()
        running.app.state.context.completions.recall(session).supersede = came.set
        asking = threading.Thread(target=lambda: answers.append(words_of(client, user("And now?"))))
        asking.start()
        assert came.wait(TIMEOUT)
        client.models.list()
        assert stops.call_count == 1
        session.stop()
        asking.join(TIMEOUT)
    assert answers == ["Next."]


@pytest.mark.parametrize("stream", [False, True])
def test_a_conversation_that_is_too_long_is_named_as_openai_names_it(serve: Serve, stream: bool) -> None:
    running = serve([ErrorInfo("context", "The conversation is too long.", "context_window")])
    with client_of(running) as client, pytest.raises(openai.APIError) as caught:
        list(ask(client, user("Go"), stream=stream))
    assert (caught.value.code, "too long" in caught.value.message) == ("context_length_exceeded", True)
    assert stream or isinstance(caught.value, openai.BadRequestError)


def test_a_question_is_kept_when_its_client_leaves(serve: Serve) -> None:
    running = serve([call("print(1)")], [Text("Done.")])
    with client_of(running) as client:
        assert "Do you want to run this code?" in words_of(client, user("Go"))
    with client_of(running) as client:
        assert words_of(client, user("Yes!")).endswith("Done.")
    assert running.computer.ran == [("python", "print(1)")]


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]}, "tools"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"n": 2}, "n"),
        ({"logprobs": True}, "logprobs"),
        ({"stop": ["END"]}, "stop"),
        ({"web_search_options": {}}, "web_search_options"),
        ({"extra_body": {"stream": "true"}}, "stream"),
        ({"extra_body": {"model": 5}}, "model"),
        ({"extra_body": {"messages": "Hi"}}, "messages"),
        ({"extra_body": {"messages": [{"role": "tool", "content": "x"}]}}, "messages"),
        ({"extra_body": {"messages": [user("Hi"), {"role": "assistant", "content": "Hi"}]}}, "messages"),
        ({"extra_body": {"messages": [user(" ")]}}, "messages"),
        ({"extra_body": {"messages": [user("Hi"), {"role": "user", "content": 5}]}}, "messages[1].content"),
        ({"extra_body": {"messages": [{"role": "user", "content": [TEXT, 5]}]}}, "messages[0].content[1]"),
        (
            {"extra_body": {"messages": [{"role": "user", "content": [NO_TEXT]}]}},
            "messages[0].content[0].text",
        ),
        ({"extra_body": {"temperature": "hot"}}, "temperature must be a number from 0 to 2"),
        ({"temperature": 2.1}, "temperature must be a number from 0 to 2"),
        ({"temperature": True}, "temperature must be a number from 0 to 2"),
        ({"top_p": -0.1}, "top_p must be a number from 0 to 1"),
        ({"max_tokens": 0}, "max_tokens must be a whole number of at least 1"),
        ({"max_completion_tokens": 1.5}, "max_completion_tokens must be a whole number"),
        ({"n": 200}, "n must be a whole number from 1 to 128"),
        ({"extra_body": {"stop": [5]}}, "stop must be text or a list of texts"),
        ({"logit_bias": {"50256": 101}}, "logit_bias must be an object of numbers from -100 to 100"),
        ({"extra_body": {"verbosity": "loud"}}, "verbosity must be one of low, medium, high"),
        ({"extra_body": {"metadata": {"a": 1}}}, "metadata must be an object of at most 16 texts"),
        (
            {"extra_body": {"stream_options": {"include_usage": "yes"}}},
            "stream_options.include_usage",
        ),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name(serve: Serve, given: dict[str, Any], names: str) -> None:
    running = serve()
    with client_of(running) as client, pytest.raises(openai.BadRequestError) as refused:
        ask(client, user("Hi"), **given)
    assert refused.value.param == names.split("[")[0].split(" ")[0]
    assert names in refused.value.message
    assert running.llm.requests == []


def test_fields_that_ask_for_nothing_are_taken(serve: Serve) -> None:
    running = serve([Text("Fine.")])
    given: dict[str, Any] = {
        "tools": [],
        "n": 1.0,
        "stop": None,
        "temperature": 0.5,
        "max_tokens": 5,
        "service_tier": "of tomorrow",
        "extra_body": {"top_k": "unknown to OpenAI", "chat_id": 5, "seed": -1, "presence_penalty": None},
    }
    with client_of(running) as client:
        assert words_of(client, user("Hi"), response_format={"type": "text"}, **given) == "Fine."


def test_conversations_of_clients_that_send_all_of_it_are_kept_apart(serve: Serve) -> None:
    running = serve(*([Text(f"Reply {number}.")] for number in range(1, 6)))
    with client_of(running) as client:
        one = [
            user("My name is Anna."),
            {"role": "assistant", "content": words_of(client, user("My name is Anna."))},
        ]
        # One that began elsewhere, then the first one again; a client may change space and cut a reply.
        two = [user("I am Bob."), {"role": "assistant", "content": "Hello Bob."}]
        assert words_of(client, *two, user("Who am I?")) == "Reply 2."
        assert read_last_request(running) == [
            ("user", "I am Bob."),
            ("assistant", "Hello Bob."),
            ("user", "Who am I?"),
        ]
        one[1]["content"] = " Reply\n1"
        assert words_of(client, *one, user("Who am I?")) == "Reply 3."
        assert read_last_request(running)[:2] == [("user", "My name is Anna."), ("assistant", "Reply 1.")]
        assert len(read_last_request(running)) == 3
        two += [user("Who am I?"), {"role": "assistant", "content": "Reply 2."}]
        assert words_of(client, *two, user("Sure?")) == "Reply 4."
        assert [words for _, words in read_last_request(running)][-3:] == ["Who am I?", "Reply 2.", "Sure?"]
    assert len(sessions_of(running)) == 2


def test_each_message_is_reduced_once_to_compare_it_with_the_histories_of_sessions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reduced: list[str] = []
    reduce = completion_history._reduce

    def note_and_reduce(text: str) -> str:
        reduced.append(text)
        return reduce(text)

    monkeypatch.setattr(completion_history, "_reduce", note_and_reduce)
    histories = completion_history.CompletionHistory()
    sessions = [Mock(closed=False, used=number) for number in range(3)]
    for number, session in enumerate(sessions):
        for place in range(40):
            histories.recall(session).add("user", f"{number} asks {place}")
            histories.recall(session).add("assistant", f"{number} answers {place}")
    spoken = [
        ChatMessage(role, [Message(role="user", type="message", content=f"1 {verb} {place}")])
        for place in range(40)
        for role, verb in (("user", "asks"), ("assistant", "answers"))
    ]
    last = ChatMessage("user", [Message(role="user", type="message", content="And now?")])
    for _ in range(2):
        assert histories.find([*spoken, last]) == (sessions[1], 80)
    # The histories' own messages once, and the client's with each request.
    assert len(reduced) <= 3 * 80 + 2 * 81


def test_code_is_approved_in_the_conversation_that_has_it(serve: Serve) -> None:
    running = serve([call("print(1)")], [Text("Ran.")], [Text("Ran nothing.")])
    with client_of(running) as client:
        asked = words_of(client, user("Print"))
        other = [user("Delete all"), {"role": "assistant", "content": asked}]
        assert words_of(client, *other, user("yes")) == "Ran."
        assert running.computer.ran == []
        mine = [user("Print"), {"role": "assistant", "content": asked}]
        assert "Ran nothing." in words_of(client, *mine, user("yes"))
    assert running.computer.ran == [("python", "print(1)")]


@pytest.mark.parametrize("decision", ["edit", "reject"])
def test_yes_approves_only_code_that_the_chat_has_shown(serve: Serve, decision: str) -> None:
    running = serve([call("print(1)")], [call("erase()")], [Text("Done.")])
    with client_of(running) as client:
        asked = words_of(client, user("Print"))
        [session] = sessions_of(running)
        before = session.question
        assert before
        session.answer(before.id, before.hash, decision, code="print(2)")
        assert wait_until(lambda: session.question not in (None, before), TIMEOUT)
        chat = [user("Print"), {"role": "assistant", "content": asked}]
        with pytest.raises(openai.ConflictError, match="has not shown the code"):
            ask(client, *chat, user("yes"))
        assert ("python", "erase()") not in running.computer.ran
        assert session.question
        # Another message rejects the code.
        assert words_of(client, *chat, user("What happened?")).endswith("Done.")
    assert ("python", "erase()") not in running.computer.ran


def test_a_program_gets_no_answer_to_a_question_that_the_chat_has_not_shown(serve: Serve) -> None:
    running = serve([call("ask")], [Text("Done.")])
    with client_of(running) as client:
        asked = words_of(client, user("Ask"))
        [session] = sessions_of(running)
        assert session.question
        session.answer(session.question.id, session.question.hash, "run")
        assert wait_until(lambda: session.waits_for, TIMEOUT)
        chat = [user("Ask"), {"role": "assistant", "content": asked}]
        assert words_of(client, *chat, user("yes")).endswith("Done.")
    assert running.computer.typed == []


def test_instructions_are_told_once_and_again_when_they_change(serve: Serve) -> None:
    running = serve()
    brief, long = ({"role": "system", "content": f"Be {how}."} for how in ("brief", "long"))
    with client_of(running) as client:
        for instructions in (brief, brief, long):
            ask(client, instructions, user("Hi"))
    said = "\n".join(words for role, words in read_last_request(running) if role == "user")
    assert (said.count("Be brief."), said.count("Be long.")) == (1, 1)


def test_a_program_that_waits_for_input_gets_the_next_message(serve: Serve) -> None:
    running = serve([call("ask")], [Text("Hello Anna.")], auto_run=True)
    with client_of(running) as client:
        asked = words_of(client, user("Ask"))
        assert asked.endswith("The program waits for input: What is your name?")
        assert words_of(client, user("Anna")) == "Hello Anna."
    assert running.computer.typed == ["Anna\n"]


def test_a_program_that_hides_what_is_typed_a_moment_later_gets_the_next_message(serve: Serve) -> None:
    running = serve([call("ask unseen")], [Text("Hello Anna.")], auto_run=True)
    with client_of(running) as client:
        words_of(client, user("Ask"))
        [session] = sessions_of(running)
        assert wait_until(lambda: session.waits_for and session.waits_for.masked, TIMEOUT)
        assert words_of(client, user("Anna")) == "Hello Anna."
    assert running.computer.typed == ["Anna\n"]


def test_a_request_that_another_one_stopped_says_so(serve: Serve) -> None:
    running = serve([call("hang")], [Text("Second.")], auto_run=True)
    problems: list[str] = []

    def first() -> None:
        with pytest.raises(openai.ConflictError) as stopped:
            ask(client, user("One"))
        problems.append(stopped.value.message)

    with client_of(running) as client:
        thread = threading.Thread(target=first)
        thread.start()
        assert running.computer.running.wait(TIMEOUT)
        threading.Timer(0.1, running.computer.interrupted.set).start()
        assert words_of(client, user("Two")) == "Second."
        thread.join(TIMEOUT)
    assert "X-Session: new" in problems[0]
    assert len(running.llm.requests) == 2


def test_each_conversation_can_have_its_own_session(serve: Serve) -> None:
    running = serve([Text("One.")], [Text("Two.")], [Text("Three.")])
    with client_of(running).with_options(default_headers={"X-Session": "new"}) as client:
        one = words_of(client, user("A"))
        assert words_of(client, user("B")) == "Two."
        assert read_last_request(running) == [("user", "B")]
        assert words_of(client, user("A"), {"role": "assistant", "content": one}, user("C")) == "Three."
        assert [words for _, words in read_last_request(running)] == ["A", "One.", "C"]
    assert len(sessions_of(running)) == 2


def test_half_a_character_and_compressed_bodies_are_refused(serve: Serve) -> None:
    running = serve()
    head = {"Content-Type": "application/json"}
    with running.http() as client:
        for body, named in (
            (b'{"model": "\\ud800", "messages": []}', "half of a pair"),
            (b"\x1f\x8b\x08\x00", "without compression"),
        ):
            answer = client.post("/v1/chat/completions", content=body, headers=head)
            assert answer.status_code == 400
            assert named in answer.json()["error"]["message"]


def test_images_are_converted_or_refused_before_they_get_into_a_conversation(serve: Serve) -> None:
    from PIL import Image

    def image(kind: str, size: tuple[int, int] = (2, 2)) -> str:
        out = io.BytesIO()
        Image.new("1", size).save(out, kind)
        return base64.b64encode(out.getvalue()).decode()

    running = serve([Text("Seen.")])
    with running.http() as client:
        for data, status in (
            (image("TIFF"), 200),
            (image("PNG")[:-30], 400),
            # 8 kB that would take 400 MB.
            (image("GIF", (10_000, 10_000)), 400),
            ("%%%", 400),
            ("", 400),
        ):
            part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
            body = {"model": "x", "messages": [{"role": "user", "content": [part]}]}
            assert client.post("/v1/chat/completions", json=body).status_code == status, data[:50]
    assert len(running.llm.requests) == 1


@pytest.mark.parametrize(
    ("reply", "end"),
    [
        ([call("ask")], "The program waits for input: What is your name?"),
        ([call("print(1)")], "Do you want to run this code?"),
        ([ErrorInfo("server", "The model is down.", None)], None),
    ],
)
def test_a_reply_whose_events_came_too_fast_ends_as_it_did(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, reply: Any, end: str | None
) -> None:
    running = serve(reply, auto_run=reply == [call("ask")])
    lost = threading.Event()
    read = EventReader.next

    async def lose(reader: EventReader, timeout: float | None = None) -> Any:
        if lost.is_set():
            return await read(reader, timeout)
        [session] = sessions_of(running)
        while session.busy and not (session.question or session.waits_for):
            await asyncio.sleep(0.01)
        lost.set()
        raise GapError

    monkeypatch.setattr(EventReader, "next", lose)
    client = client_of(running)
    if end is None:
        with pytest.raises(openai.InternalServerError, match="The model is down"):
            ask(client, user("Hello"))
    else:
        words = words_of(client, user("Hello"))
        assert "a part of it is missing here" in words
        assert ("```python\nprint(1)\n```" in words) == (reply == [call("print(1)")])
        assert words.endswith(end)


TASK = "### Task:\nWrite a title.\n### Chat History:\n<chat_history>\nUSER: Print one\n</chat_history>"


@pytest.mark.parametrize("streamed", [False, True])
def test_open_webui_asks_for_a_title_without_disturbing_the_code_that_waits(
    serve: Serve, streamed: bool
) -> None:
    running = serve([call("print(1)")], [Text('{"title": "One"}')], [Text("Done.")])
    with client_of(running) as client:
        first = words_of(client, user("Print one"))
        answer = ask(client, user(TASK), stream=streamed, max_completion_tokens=1000)
        if streamed:
            title = "".join(chunk.choices[0].delta.content or "" for chunk in answer)
        else:
            title = answer.choices[0].message.content
        assert title == '{"title": "One"}'
        assert not running.llm.requests[-1].tools
        assert read_last_request(running) == []
        assert words_of(
            client, user("Print one"), {"role": "assistant", "content": first}, user("yes")
        ).endswith("Done.")
    assert running.computer.ran == [("python", "print(1)")]
    assert "Task" not in str(sessions_of(running)[0].messages)


def test_a_title_that_the_model_does_not_give_is_an_error(serve: Serve) -> None:
    running = serve([ErrorInfo("key", "The key is wrong.", "llm.api_key")])
    with client_of(running) as client, pytest.raises(openai.InternalServerError, match="The key is wrong"):
        ask(client, user(TASK))
    assert len(running.llm.requests) == 1
