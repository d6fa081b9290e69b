"""Kernels in the manner of Jupyter's server; the messages are made by Jupyter's own library."""

import json
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")
pytest.importorskip("uvicorn", reason="uvicorn (extra server) is not installed here")

from jupyter_client.jsonutil import json_default
from jupyter_client.session import Session

from oi_tui.runtimes.completions import Completion, Completions
from tests.unit.server.conftest import Serve
from tests.unit.server.running import Running, Socket

CLIENT = Session(username="tester")


def request(socket: Socket, kind: str, content: dict[str, Any], channel: str = "shell") -> str:
    message = {**CLIENT.msg(kind, content), "channel": channel}
    socket.connection.send(json.dumps(message, default=json_default))
    sent: str = message["header"]["msg_id"]
    return sent


def execute(socket: Socket, code: str) -> list[Any]:
    """Run a cell; every message up to the one that says that the kernel is idle again."""
    sent = request(socket, "execute_request", {"code": code, "silent": False})
    found: list[Any] = []
    while not found or found[-1]["content"].get("execution_state") != "idle":
        found.append(socket.receive())
    assert {message["parent_header"]["msg_id"] for message in found} == {sent}
    return found


def of(messages: list[Any], kind: str) -> list[Any]:
    return [message["content"] for message in messages if message["msg_type"] == kind]


def started(running: Running, name: str = "python3") -> dict[str, Any]:
    with running.http() as client:
        kernel: dict[str, Any] = client.post("/api/kernels", json={"name": name}).json()
    return kernel


def channels(running: Running, kernel: dict[str, Any]) -> Socket:
    return running.socket(f"/api/kernels/{kernel['id']}/channels")


def test_a_cell_runs_and_its_output_comes_back(serve: Serve) -> None:
    running = serve(auto_run=True)
    with channels(running, started(running)) as socket:
        messages = execute(socket, "print(1)")
        assert [content["text"] for content in of(messages, "stream")] == ["out of print(1)"]
        assert of(messages, "execute_input") == [{"code": "print(1)", "execution_count": 1}]
        assert of(messages, "execute_reply")[0]["status"] == "ok"
        assert of(execute(socket, "print(2)"), "execute_reply")[0]["execution_count"] == 2
        assert of(execute(socket, ""), "execute_reply")[0]["status"] == "ok"
    assert running.computer.ran == [("python", "print(1)"), ("python", "print(2)")]


def test_a_cell_is_asked_for_like_the_code_of_the_model(serve: Serve) -> None:
    running = serve()
    kernel = started(running)
    events = f"/v1/sessions/{kernel['oi_tui_session']}/events"
    with channels(running, kernel) as socket, running.socket(events) as person:
        for decision, state in (("run", "ok"), ("reject", "error")):
            request(socket, "execute_request", {"code": "print(1)"})
            question = person.until(event="question.asked")[-1]["question"]
            assert question["code"] == "print(1)"
            answer = {"do": "answer", "question": question["id"], "hash": question["hash"]}
            person.send({**answer, "decision": decision})
            reply = socket.until(msg_type="execute_reply")[-1]["content"]
            assert reply["status"] == state
            socket.until(msg_type="status", content={"execution_state": "idle"})
    assert reply["ename"] == "rejected"
    assert running.computer.ran == [("python", "print(1)")]


def test_a_failure_an_image_and_another_language(serve: Serve) -> None:
    running = serve(auto_run=True)
    with channels(running, started(running, "bash")) as socket:
        assert of(execute(socket, "fail"), "execute_reply")[0]["evalue"] == "it failed"
        assert of(execute(socket, "picture"), "display_data")[0]["data"] == {"image/png": "aGk="}
    assert running.computer.ran[0] == ("shell", "fail")


def test_input_and_interrupt(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    running = serve(auto_run=True)
    typed: list[str] = []

    def send_input(text: str) -> None:
        typed.append(text)
        running.computer.interrupted.set()

    monkeypatch.setattr(running.computer, "send_input", send_input)
    kernel = started(running)
    with channels(running, kernel) as socket, running.http() as client:
        request(socket, "execute_request", {"code": "ask", "allow_stdin": True})
        asked = socket.until(msg_type="input_request")[-1]["content"]
        assert asked == {"prompt": "What is your name? ", "password": False}
        request(socket, "input_reply", {"value": "Ada"}, "stdin")
        socket.until(msg_type="execute_reply")
        assert typed == ["Ada\n"]
        running.computer.interrupted.clear()
        running.computer.running.clear()
        request(socket, "execute_request", {"code": "hang"})
        assert running.computer.running.wait(20)
        assert client.post(f"/api/kernels/{kernel['id']}/interrupt").status_code == 204
        assert socket.until(msg_type="execute_reply")[-1]["content"]["ename"] == "interrupted"


def test_the_requests_that_clients_make_at_first_are_answered(serve: Serve) -> None:
    running = serve()
    with channels(running, started(running)) as socket:
        for kind in ("kernel_info", "is_complete", "complete", "inspect", "history", "comm_info"):
            request(socket, f"{kind}_request", {"code": "x", "cursor_pos": 1})
            assert socket.until(msg_type=f"{kind}_reply")[-1]["content"]["status"] in ("ok", "unknown")


def test_code_is_completed_by_the_language(serve: Serve) -> None:
    running = serve()
    with channels(running, started(running)) as socket:
        running.computer.completions["python"] = Completions(2, (Completion("sales"), Completion("salt")))
        request(socket, "complete_request", {"code": "print(sa)", "cursor_pos": 8})
        answer = socket.until(msg_type="complete_reply")[-1]["content"]
        assert (answer["matches"], answer["cursor_start"], answer["cursor_end"]) == (["sales", "salt"], 6, 8)
        running.computer.completions.clear()
        request(socket, "complete_request", {"code": "sa", "cursor_pos": 90})
        answer = socket.until(msg_type="complete_reply")[-1]["content"]
        assert (answer["matches"], answer["cursor_start"], answer["cursor_end"]) == ([], 2, 2)


def test_kernels_are_listed_described_restarted_and_ended(serve: Serve) -> None:
    running = serve()
    with running.http() as client:
        assert client.get("/api").json() == {"version": "2.0.0"}
        specs = client.get("/api/kernelspecs").json()
        assert (specs["default"], set(specs["kernelspecs"])) == ("python", {"python", "shell"})
        kernel = client.post("/api/kernels").json()
        path = f"/api/kernels/{kernel['id']}"
        assert client.get("/api/kernels").json() == [kernel]
        assert client.get(path).json() == kernel
        assert client.post(f"{path}/restart").status_code == 200
        assert client.delete(path).status_code == 204
        assert client.get(path).status_code == 404
        refused = client.post("/api/kernels", json={"name": "cobol"})
        assert refused.json()["error"]["message"].endswith("Kernels: python, shell.")


def test_a_kernel_whose_session_was_deleted_says_so(serve: Serve) -> None:
    running = serve(auto_run=True)
    kernel = started(running)
    with channels(running, kernel) as socket, running.http() as client:
        client.delete(f"/v1/sessions/{kernel['oi_tui_session']}")
        assert of(execute(socket, "print(1)"), "error")[0]["evalue"] == "This session is closed."
    assert running.computer.ran == []


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"header": 1}', '{"header": {"msg_type": "x"}, "content": 1}']
)
def test_what_is_no_message_closes_the_connection(serve: Serve, text: str) -> None:
    running = serve()
    with channels(running, started(running)) as socket:
        socket.connection.send(text)
        with pytest.raises(Exception, match="1003"):
            socket.receive()
