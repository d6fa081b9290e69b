"""`oi-tui --attach`: real terminals that join a session of a real server on loopback."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")
pytest.importorskip("uvicorn", reason="uvicorn (extra server) is not installed here")

from oi_tui import paths
from oi_tui.engine.llm.base import Text
from oi_tui.server import native
from oi_tui.server.hosted_session import ConflictError, HostedSession
from tests.fakes import call
from tests.ports import choose_port
from tests.processes import wait_until
from tests.quick_starts.program import QuickPrograms
from tests.terminal import Terminal
from tests.unit.server.conftest import Serve
from tests.unit.server.conftest import serve as serve
from tests.unit.server.running import Running

EVENTS = "/v1/sessions/default/events"
QUESTION = "y yes, n no, e edit:"
QUIET = (sys.executable, "-P", "-m", "oi_tui", "--attach")


class Attached(Terminal):
    """A terminal that joined a session."""

    @property
    def last_line(self) -> str:
        return next((line for line in reversed(self.lines) if line), "")

    def ready(self) -> None:
        """Wait until a message can be typed."""
        self.wait_for(lambda _: self.last_line.strip() == ">", 30)

    def leave(self) -> None:
        self.press("ctrl+d")
        assert self.wait_exit() == 0


@pytest.fixture
def attach(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, quick_programs: QuickPrograms
) -> Iterator["Attach"]:
    with ExitStack() as stack:
        yield Attach(stack, monkeypatch, quick_programs)


class Attach:
    def __init__(
        self, stack: ExitStack, monkeypatch: pytest.MonkeyPatch, quick_programs: QuickPrograms
    ) -> None:
        self._stack = stack
        self._monkeypatch = monkeypatch
        self._quick_programs = quick_programs

    def __call__(self, running: Running, *, token: str | None = None, where: str = "") -> Attached:
        given = running.options.token if token is None else token
        self._monkeypatch.setenv("INTERPRETER_API_KEY", given)
        arguments = ("--attach", where or running.address)
        return self._stack.enter_context(Attached(*arguments, rows=50, quick=self._quick_programs))


def send_through_a_pipe(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERPRETER_API_KEY", running.options.token)
    command = [*QUIET, running.address]
    done = subprocess.run(
        command, input="a question\n", capture_output=True, text=True, timeout=30, check=True
    )
    assert "Not sent" not in done.stdout + done.stderr
    (session,) = running.app.state.context.sessions.all
    assert wait_until(lambda: bool(session.messages), 30)
    assert session.messages[0].content == "a question"


def test_a_message_comes_through_a_pipe(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    send_through_a_pipe(serve([Text("Here is the answer.")]), monkeypatch)


@pytest.mark.needs("openssl")
def test_a_certificate_of_ones_own_is_trusted(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]
    command += ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    running = serve([Text("Here is the answer.")], certificate=certificate, key=key)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    send_through_a_pipe(running, monkeypatch)


def test_two_terminals_see_the_same_conversation_and_one_answer_wins(serve: Serve, attach: Attach) -> None:
    running = serve([Text("Let me see."), call("print('counted')")], [Text("That is all.")])
    first, second = attach(running), attach(running)
    first.ready()
    second.ready()
    first.say("count the files")
    for terminal in (first, second):
        screen = terminal.wait_for(QUESTION)
        assert "Let me see." in screen
        assert "    print('counted')" in screen
    assert "You, elsewhere: count the files" in second.screen
    assert "You, elsewhere" not in first.screen
    second.say("y")
    for terminal in (first, second):
        terminal.wait_for("That is all.")
    assert "Answered elsewhere: the code runs." in first.screen
    assert "Answered elsewhere" not in second.screen
    assert running.computer.ran == [("python", "print('counted')")]
    first.ready()
    first.leave()
    second.say("another request")
    second.wait_for(lambda screen: screen.count("Assistant:") > 2)
    second.leave()


def test_whoever_joins_late_sees_the_question_and_leaving_answers_nothing(
    serve: Serve, attach: Attach
) -> None:
    running = serve([call("print(1)")], [Text("As you like.")])
    with running.socket(EVENTS) as watcher:
        watcher.send({"do": "say", "content": "Hello"})
        watcher.until(event="question.asked")
        leaver = attach(running)
        leaver.wait_for(QUESTION)
        leaver.leave()
        with running.http() as client:
            assert client.get("/v1/sessions/default").json()["question"]["code"] == "print(1)"
        late = attach(running)
        assert "You, elsewhere: Hello" in late.wait_for(QUESTION)
        late.say("n")
        late.wait_for("Why not?")
        late.say("Not today.")
        records = watcher.until(event="turn.ended")
    codes = [r["message"] for r in records if r.get("message", {}).get("type") == "code"]
    assert (codes[-1]["state"], codes[-1]["reason"]) == ("rejected", "Not today.")
    assert running.computer.ran == []
    late.wait_for("As you like.")


def test_an_answer_that_comes_too_late_is_not_sent_as_a_message(serve: Serve, attach: Attach) -> None:
    running = serve([call("print(1)")], [Text("Done.")])
    terminal = attach(running)
    terminal.ready()
    with running.socket(EVENTS) as other:
        other.receive()
        terminal.say("Hello")
        question = other.until(event="question.asked")[-1]["question"]
        terminal.wait_for(QUESTION)
        terminal.send("y")
        other.send(
            {"do": "answer", "question": question["id"], "hash": question["hash"], "decision": "reject"}
        )
        other.until(event="turn.ended")
        terminal.wait_for("Not sent: y")
    terminal.ready()
    with running.http() as client:
        messages = client.get("/v1/sessions/default").json()["messages"]
    assert [item["content"] for item in messages if item["role"] == "user"] == ["Hello"]
    assert running.computer.ran == []


def test_a_wrong_token_and_a_missing_server_are_reported_in_a_sentence(serve: Serve, attach: Attach) -> None:
    running = serve()
    wrong = attach(running, token="A" * 43)
    wrong.wait_for("does not accept this token")
    assert wrong.wait_exit() == 2
    missing = attach(running, where=f"http://127.0.0.1:{choose_port()}")
    missing.wait_for("Cannot reach a server at http://127.0.0.1")
    assert missing.wait_exit() == 1
    assert "Traceback" not in wrong.screen + missing.screen


def test_a_lost_connection_is_made_again_and_nothing_is_shown_twice(serve: Serve, attach: Attach) -> None:
    running = serve([Text("First answer.")], [Text("Second answer.")])
    terminal = attach(running)
    terminal.ready()
    terminal.say("one")
    terminal.wait_for("First answer.")
    terminal.ready()
    for connection in list(running.server.server_state.connections):
        connection.transport.abort()
    terminal.wait_for("Connected again.")
    terminal.ready()
    terminal.say("two")
    screen = terminal.wait_for("Second answer.")
    assert screen.count("First answer.") == 1
    assert "elsewhere" not in screen


def test_answers_that_the_connection_lost_can_be_given_again(
    serve: Serve, attach: Attach, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To a question and to a program."""
    running = serve([call("ask")], [Text("All done.")])
    lost: list[str] = []

    def lose_first(session: HostedSession, action: str, body: Mapping[str, Any]) -> None:
        if action in lost or action == "say":
            act(session, action, body)
            return
        lost.append(action)
        for connection in list(running.server.server_state.connections):
            connection.transport.abort()

    act = native.act
    monkeypatch.setattr(native, "act", lose_first)
    terminal = attach(running)
    terminal.ready()
    terminal.say("Hello")
    for place, (question, answer) in enumerate(((QUESTION, "y"), ("is waiting for input", "Ada"))):
        terminal.wait_for(question)
        terminal.say(answer)
        terminal.wait_for(lambda screen, count=place + 1: screen.count("Connected again.") == count)
        terminal.wait_for(lambda screen, words=question: screen.count(words) == 2)
        terminal.say(answer)
    terminal.wait_for("All done.")
    assert (lost, running.computer.typed) == (["answer", "input"], ["Ada\n"])


def test_after_a_message_that_was_not_taken_the_next_one_is_still_ones_own(
    serve: Serve, attach: Attach, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = serve([Text("Here it is.")])
    refused: list[str] = []

    def refuse_first(session: HostedSession, action: str, body: Mapping[str, Any]) -> None:
        if not refused:
            refused.append(action)
            raise ConflictError("The session is busy.")
        act(session, action, body)

    act = native.act
    monkeypatch.setattr(native, "act", refuse_first)
    terminal = attach(running)
    terminal.ready()
    terminal.say("first")
    terminal.wait_for("The session is busy.")
    terminal.say("second")
    assert "elsewhere" not in terminal.wait_for("Here it is.")


def test_a_program_gets_its_input_from_the_attached_terminal(serve: Serve, attach: Attach) -> None:
    running = serve([call("ask")], auto_run=True)
    terminal = attach(running)
    terminal.ready()
    terminal.say("Hello")
    terminal.wait_for("is waiting for input")
    terminal.say("Ada")
    terminal.ready()
    assert running.computer.typed == ["Ada\n"]


def test_the_token_is_asked_for_and_not_shown(serve: Serve, attach: Attach, tmp_path: Path) -> None:
    running = serve(socket=tmp_path / "oi.sock")
    terminal = attach(running, token="", where=str(tmp_path / "oi.sock"))
    terminal.wait_for("Token of")
    terminal.send(f"http://127.0.0.1:8000/#token={running.options.token}\r")
    terminal.ready()
    assert running.options.token.encode() not in terminal.raw
    terminal.leave()


def test_images_are_fetched_and_kept_as_files_here(serve: Serve, attach: Attach) -> None:
    running = serve([call("image")], [Text("That is all.")])
    terminal = attach(running)
    terminal.ready()
    terminal.say("draw")
    terminal.wait_for(QUESTION)
    terminal.say("y")
    screen = terminal.wait_for("That is all.")
    assert "(an image, saved as" in screen
    assert [file.read_bytes() for file in (paths.data() / "outputs").glob("*.png")] == [b"hi"]
    terminal.ready()
    terminal.leave()


def test_always_approves_later_code_where_the_start_allows_it(serve: Serve, attach: Attach) -> None:
    replies = ([call("print(1)")], [call("print(2)")], [Text("That is all.")])
    running = serve(*replies, allow_settings=True)
    terminal = attach(running)
    terminal.ready()
    terminal.say("print twice")
    terminal.wait_for("y yes, n no, e edit, a always:")
    terminal.say("a")
    screen = terminal.wait_for("A number, or enter for none:")
    assert "all python" in screen
    assert "auto-run" not in screen
    terminal.say("3")
    terminal.wait_for("That is all.")
    assert [code for _, code in running.computer.ran] == ["print(1)", "print(2)"]
    terminal.ready()
    terminal.leave()


def test_always_is_neither_offered_nor_taken_where_the_start_does_not_allow_it(
    serve: Serve, attach: Attach
) -> None:
    running = serve([call("print(1)")], [Text("That is all.")])
    terminal = attach(running)
    terminal.ready()
    terminal.say("print")
    terminal.wait_for(QUESTION)
    with running.socket(EVENTS) as client:
        question = client.until(event="state")[-1]["question"]
        answer = {"do": "answer", "question": question["id"], "hash": question["hash"], "decision": "always"}
        client.send({**answer, "grant": 1})
        assert "--allow-settings" in client.until(event="error")[-1]["message"]
        client.send({**answer, "grant": "1"})
        assert client.until(event="error")[-1]["message"] == "grant must be a whole number of at least 1."
    assert running.computer.ran == []
    terminal.say("n")
    terminal.wait_for("Why not?")
    terminal.say("")
    terminal.wait_for("That is all.")
    terminal.leave()
