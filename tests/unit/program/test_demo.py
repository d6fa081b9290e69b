"""The demo model does what it says it can do, on real files, in real languages."""

import base64
import http.client
import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from oi_tui.demo.scripts import LABEL, TASKS
from oi_tui.demo.server import Demo, start
from oi_tui.engine.events import ApprovalRequested, Event, Reject, Run, RunReported, TurnEnded
from oi_tui.engine.llm.base import Delta, Request, Text, ToolCallPiece
from oi_tui.engine.session import Session
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.storage.store import Store
from oi_tui.messages import InputRequested, Message
from oi_tui.runtimes.computer import Computer
from tests import bare_python


class Reply:
    """A reply of the demo model, read off its stream."""

    def __init__(self, demo: Demo, request: Request) -> None:
        self.demo, self.request = demo, request

    def __iter__(self) -> Iterator[Delta]:
        for chunk in ask(self.demo, messages=self.request.messages, tools=self.request.tools, stream=True):
            for choice in chunk["choices"]:
                delta = choice["delta"]
                if delta.get("content"):
                    yield Text(delta["content"])
                for call in delta.get("tool_calls", ()):
                    function = call["function"]
                    yield ToolCallPiece(
                        call["index"], call.get("id"), function.get("name"), function["arguments"]
                    )

    def cancel(self) -> None: ...


class DemoLlm:
    """The demo model without LiteLLM between."""

    def __init__(self, demo: Demo) -> None:
        self.demo = demo

    def reply(self, request: Request) -> Reply:
        return Reply(self.demo, request)


def send(demo: Demo, body: bytes, *, path: str = "/v1/chat/completions", **headers: str) -> tuple[int, bytes]:
    """Post to the demo model; gives status and answer."""
    address = urlsplit(demo.base)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=10)
    try:
        connection.request("POST", path, body, {"Authorization": f"Bearer {demo.key}", **headers})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def ask(demo: Demo, **request: object) -> list[dict]:
    status, answer = send(demo, json.dumps(request, default=list).encode())
    assert status == 200, answer
    if not request.get("stream"):
        return [json.loads(answer)]
    events = [line[6:] for line in answer.decode().split("\n") if line.startswith("data: ")]
    assert events.pop() == "[DONE]"
    return [json.loads(event) for event in events]


@pytest.fixture
def demo() -> Iterator[Demo]:
    running = start()
    yield running
    running.stop()


@pytest.fixture
def session(demo: Demo, workplace: Path) -> Iterator[Session]:
    computer = Computer(cwd=workplace, python=bare_python.interpreter())
    store = Store.create_unsaved(cwd=str(workplace), model="demo")
    made = Session(Profile(model="openai/demo"), DemoLlm(demo), computer, store)
    yield made
    made.close()
    computer.close()


Answer = Callable[[ApprovalRequested], Run | Reject]


def approve(request: ApprovalRequested) -> Run:
    return Run(request.message.content)


def run_turn(session: Session, request: str, *answers: Answer, typed: str = "") -> list[Message]:
    """The messages of a turn. Questions are answered in turn, then approved; input is typed line by line."""
    before = len(session.messages)
    given, lines = list(answers), typed.splitlines(keepends=True)
    event: Event
    for event in session.turn(request):
        if isinstance(event, ApprovalRequested):
            event.reply((given.pop(0) if given else approve)(event))
        if isinstance(event, RunReported) and isinstance(event.report, InputRequested):
            session._computer.send_input(lines.pop(0))
    assert isinstance(event, TurnEnded)
    assert event.outcome == "done", event
    return list(session.messages[before + 1 :])


@pytest.mark.parametrize(("pace", "size"), [(1_000_000, 4), (0, 32)])
def test_a_piece_is_one_token_and_several_where_no_pace_is_kept(pace: float, size: int) -> None:
    running = start(tokens_per_second=pace)
    chunks = ask(running, messages=[{"role": "user", "content": "hello"}], stream=True)
    running.stop()
    pieces = [chunk["choices"][0]["delta"].get("content", "") for chunk in chunks]
    assert max(map(len, pieces)) == size


def read_last_text(messages: list[Message]) -> str:
    assert messages[-1].type == "message"
    return messages[-1].content


def states(messages: list[Message]) -> list[str | None]:
    return [message.state for message in messages if message.type == "code"]


def test_the_largest_file_is_found_and_named(session: Session, workplace: Path) -> None:
    (workplace / "deep" / "er").mkdir(parents=True)
    (workplace / "deep" / "er" / "big one.bin").write_bytes(b"x" * 123_456)
    reported = read_last_text(run_turn(session, "largest files here"))
    assert "the largest is `deep/er/big one.bin` with 123,456 bytes" in reported


def test_a_name_that_markdown_would_read_otherwise_stays_what_it_is(
    session: Session, workplace: Path
) -> None:
    (workplace / "a" / "__pycache__").mkdir(parents=True)
    (workplace / "a" / "__pycache__" / "x.pyc").write_bytes(b"x" * 123_456)
    assert "| `a/__pycache__/x.pyc` | 123,456 |" in read_last_text(run_turn(session, "largest files here"))


def test_a_single_file_is_compared_with_no_other(session: Session, workplace: Path) -> None:
    for file in workplace.iterdir():
        file.unlink()
    (workplace / "notes.txt").write_bytes(b"x" * 1_234)
    reported = read_last_text(run_turn(session, "largest files here"))
    assert "There is one file here: `notes.txt` with 1,234 bytes." in reported


def test_the_file_that_was_named_is_summarised_with_its_true_figures(session: Session) -> None:
    messages = run_turn(session, "Please summarise prices.csv!")
    assert LABEL in messages[0].content
    assert states(messages) == ["finished"]
    assert "`prices.csv` has 62 rows" in read_last_text(messages)
    assert "| close | 62 | 184.58 | 173.43 | 201.01 |" in read_last_text(messages)


def test_a_quoted_name_with_blanks_and_another_delimiter_is_read(session: Session) -> None:
    reported = read_last_text(run_turn(session, 'summarise "weather stations.csv"'))
    assert "has 8 rows. 3 of its 5 columns hold numbers." in reported
    assert "| Höhe m | 8 | 1,181.50 | 273.00 | 3,571.00 |" in reported


def test_a_name_that_is_almost_right_fails_truly_and_is_then_found(session: Session) -> None:
    messages = run_turn(session, "summarise price.csv")
    assert states(messages) == ["failed", "finished", "finished"]
    assert any("FileNotFoundError" in message.content for message in messages)
    assert "You may have meant `prices.csv`" in "".join(m.content for m in messages)
    assert "`prices.csv` has 62 rows" in read_last_text(messages)


def test_a_name_like_no_other_is_answered_with_the_files_there_are(session: Session) -> None:
    messages = run_turn(session, "summarise zebra_census_2031.csv")
    assert states(messages) == ["failed", "finished"]
    assert "prices.csv" in read_last_text(messages)
    assert "Ask again" in read_last_text(messages)


@pytest.mark.parametrize("request_", ["plot something", "plot prices.csv", "plot prise.csv"])
def test_an_image_is_drawn_without_any_package(session: Session, request_: str) -> None:
    messages = run_turn(session, request_)
    image = next(m for m in messages if m.type == "image")
    data = base64.b64decode(image.content)
    assert data.startswith(b"\x89PNG")
    assert struct.unpack(">II", data[16:24]) == (640, 320)
    assert "lines, each on a scale of its own" in read_last_text(messages)


def test_answers_to_input_are_used_in_the_next_step(session: Session) -> None:
    messages = run_turn(session, "ask me something", typed="Ada\n360\n")
    assert states(messages) == ["finished", "finished"]
    assert (
        read_last_text(messages) == "Ada, your number 360 is a product of primes: **2 x 2 x 2 x 3 x 3 x 5**."
    )


def test_an_answer_that_is_no_number_is_repaired(session: Session) -> None:
    messages = run_turn(session, "ask me something", typed="Ada\nmany\nnone\n13\n")
    assert states(messages) == ["failed", "finished", "finished"]
    assert "Ada, your number 13 is a prime itself" in read_last_text(messages)


def test_a_mistake_on_purpose_is_repaired_after_the_traceback(session: Session) -> None:
    messages = run_turn(session, "break something")
    assert states(messages) == ["failed", "finished"]
    assert "TypeError" in "".join(m.content for m in messages if m.role == "assistant")
    assert read_last_text(messages) == "Repaired: **3 kinds of fruit for 4.50**."


@pytest.mark.needs("bash")
def test_the_shell_is_asked_about_the_machine(session: Session) -> None:
    messages = run_turn(session, "shell: what machine is this")
    assert states(messages) == ["finished", "finished"]
    assert "kB." in read_last_text(messages)


@pytest.mark.needs("node", "bash")
def test_javascript_counts_the_kinds_of_files(session: Session) -> None:
    messages = run_turn(session, "javascript")
    assert states(messages) == ["finished", "finished"]
    assert read_last_text(messages) == "The most common kind is `.csv`, 2 times."


def test_a_count_goes_on_from_where_it_was_stopped(session: Session) -> None:
    short = lambda r: Run(r.message.content.replace("time.sleep(0.8)", "if number == 3: break"))  # noqa: E731
    messages = run_turn(session, "count slowly", short)
    assert "You edited my code" in "".join(m.content for m in messages)
    messages = run_turn(session, "go on")
    assert "we got to 3" in "".join(m.content for m in messages)
    assert read_last_text(messages) == "Done: the last line was `10 squared is 100`."


def test_going_on_with_nothing_is_explained(session: Session) -> None:
    assert "nothing was being counted" in read_last_text(run_turn(session, "go on"))


@pytest.mark.parametrize("task", TASKS, ids=[task.phrase for task in TASKS])
@pytest.mark.needs("bash", "node")
def test_a_rejection_leads_to_another_way_that_works(session: Session, task) -> None:
    request = task.phrase.replace("NAME", "prices")
    messages = run_turn(session, request, lambda _: Reject("too long for me"), typed="Ada\n")
    assert states(messages) == ["rejected", "finished"]
    assert "because: “too long for me”" in "".join(m.content for m in messages)
    assert "The other way" in read_last_text(messages)


def test_a_second_rejection_is_accepted(session: Session) -> None:
    messages = run_turn(session, "plot something", lambda _: Reject(), lambda _: Reject("no"))
    assert states(messages) == ["rejected", "rejected"]
    assert "Then I leave it there" in read_last_text(messages)


def test_an_interruption_is_noticed(demo: Demo) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "execute", "arguments": "{}"}}
    reported = ask(
        demo,
        messages=[
            {"role": "user", "content": "count slowly"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {
                "role": "tool",
                "tool_call_id": "a",
                "content": "1 squared\nInterrupted by the user after 2.0 s",
            },
        ],
    )
    content = reported[0]["choices"][0]["message"]["content"]
    assert content.startswith("You stopped it")
    assert "- `1 squared`" in content


@pytest.mark.parametrize("request_", ["hello", "help", "what is the meaning of life?", "😀", "/" * 10_000])
def test_anything_else_is_answered_with_what_it_is_and_can_do(session: Session, request_: str) -> None:
    reported = read_last_text(run_turn(session, request_))
    assert "a script, not an AI" in reported
    assert all(f"`{task.phrase}`" in reported for task in TASKS)


def test_every_phrase_that_is_offered_is_understood() -> None:
    for task in TASKS:
        assert next(item for item in TASKS if item.pattern.search(task.phrase)) is task


def test_without_tools_code_comes_in_fences_and_its_output_is_read(demo: Demo) -> None:
    messages = [{"role": "user", "content": "break something"}]
    first = ask(demo, messages=messages)[0]["choices"][0]["message"]["content"]
    assert "```python\nbasket" in first
    messages += [
        {"role": "assistant", "content": first},
        {"role": "user", "content": "Code output: Traceback\nTypeError: unsupported"},
    ]
    second = ask(demo, messages=messages)[0]["choices"][0]["message"]["content"]
    assert "`TypeError: unsupported`" in second
    assert "```python\ntotal" in second


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": "Bearer other"}, 401),
        ({"Authorization": ""}, 401),
        ({"Host": "evil.example:80"}, 401),
        ({"Content-Length": "999999999999"}, 413),
    ],
    ids=["other key", "no key", "other host", "too long"],
)
def test_strangers_are_refused(demo: Demo, headers: dict[str, str], status: int) -> None:
    assert send(demo, b"{}", **headers)[0] == status


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b"\xff", b'{"messages": 3}', b'{"messages": [3]}', b"[" * 99_999]
)
def test_what_is_no_request_is_refused_in_a_sentence(demo: Demo, body: bytes) -> None:
    status, answer = send(demo, body)
    assert status == 400
    assert json.loads(answer)["error"]["message"] == "That is not a chat-completion request."


def test_each_start_has_its_own_key_and_stops_for_good() -> None:
    one, other = start(), start()
    assert one.key != other.key
    assert send(other, b"{}")[0] == 400
    for item in (one, other):
        item.stop()
        with pytest.raises(ConnectionError):
            send(item, b"{}")


def test_the_usage_is_counted_when_it_is_asked_for(demo: Demo) -> None:
    messages = [{"role": "user", "content": "hi"}]
    chunks = ask(demo, messages=messages, stream=True, stream_options={"include_usage": True})
    assert chunks[-1]["usage"]["completion_tokens"] > 100
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
