"""Kernels in the manner of Jupyter's server; the messages are made by Jupyter's own library."""

import asyncio
import json
import struct
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import Mock

import pytest

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")
pytest.importorskip("uvicorn", reason="uvicorn (extra server) is not installed here")

from jupyter_client.jsonutil import json_default
from jupyter_client.session import Session
from starlette.websockets import WebSocketDisconnect
from websockets.exceptions import ConnectionClosed

from oi_tui.engine.settings.profile import Profile
from oi_tui.runtimes.completions import Completion, CompletionSet
from oi_tui.server.backend import WorkspaceBackend
from oi_tui.server.hosted_session import HostedSession
from oi_tui.server.kernels import channels as kernel_channels
from oi_tui.server.kernels.channels import Kernel, KernelConnection
from oi_tui.server.options import ServerLimits
from oi_tui.workspace import Workspace
from tests.fakes import Computer, Llm
from tests.unit.server.conftest import Serve
from tests.unit.server.kernel_client import from_frame, to_frame
from tests.unit.server.running import TIMEOUT, Running, Socket

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


def select_contents(messages: list[Any], kind: str) -> list[Any]:
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
        assert [content["text"] for content in select_contents(messages, "stream")] == ["out of print(1)"]
        assert select_contents(messages, "execute_input") == [{"code": "print(1)", "execution_count": 1}]
        assert select_contents(messages, "execute_reply")[0]["status"] == "ok"
        assert select_contents(execute(socket, "print(2)"), "execute_reply")[0]["execution_count"] == 2
        assert select_contents(execute(socket, ""), "execute_reply")[0]["status"] == "ok"
    assert running.computer.ran == [("python", "print(1)"), ("python", "print(2)")]


def test_a_cell_whose_output_was_too_much_to_send_ends_as_it_did_and_says_so(serve: Serve) -> None:
    running = serve(auto_run=True, limits=ServerLimits(history_bytes=1))
    with channels(running, started(running)) as socket:
        messages = execute(socket, "flood")
        assert select_contents(messages, "execute_reply")[0]["status"] == "ok"
        assert any(
            "a part of it is missing here" in content["text"]
            for content in select_contents(messages, "stream")
        )


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
    assert reply["traceback"] == ["rejected: The code was rejected."]
    assert running.computer.ran == [("python", "print(1)")]


def test_a_failure_an_image_and_another_language(serve: Serve) -> None:
    running = serve(auto_run=True)
    with channels(running, started(running, "bash")) as socket:
        assert select_contents(execute(socket, "fail"), "execute_reply")[0]["evalue"] == "it failed"
        assert select_contents(execute(socket, "image"), "display_data")[0]["data"] == {"image/png": "aGk="}
    assert running.computer.ran[0] == ("shell", "fail")


def test_a_person_leaves_a_console_with_exit(serve: Serve) -> None:
    running = serve(auto_run=True)
    with channels(running, started(running)) as socket:
        for code, leaves in (("exit", True), ("quit()\n", True), ("print('exit')", False)):
            reply = select_contents(execute(socket, code), "execute_reply")[0]
            assert [item["source"] for item in reply["payload"]] == ["ask_exit"] * leaves
    with channels(running, started(running, "bash")) as socket:
        assert select_contents(execute(socket, "exit"), "execute_reply")[0]["payload"] == []


def test_input_and_interrupt(serve: Serve) -> None:
    running = serve(auto_run=True)
    kernel = started(running)
    with channels(running, kernel) as socket, running.http() as client:
        request(socket, "execute_request", {"code": "ask", "allow_stdin": True})
        asked = socket.until(msg_type="input_request")[-1]["content"]
        assert asked == {"prompt": "What is your name? ", "password": False}
        request(socket, "input_reply", {"value": "Ada"}, "stdin")
        socket.until(msg_type="execute_reply")
        assert running.computer.typed == ["Ada\n"]
        running.computer.interrupted.clear()
        running.computer.running.clear()
        request(socket, "execute_request", {"code": "hang"})
        assert running.computer.running.wait(20)
        assert client.post(f"/api/kernels/{kernel['id']}/interrupt").status_code == 204
        assert socket.until(msg_type="execute_reply")[-1]["content"]["ename"] == "KeyboardInterrupt"


def test_the_requests_that_clients_make_at_first_are_answered(serve: Serve) -> None:
    running = serve()
    with channels(running, started(running)) as socket:
        for kind in ("kernel_info", "is_complete", "complete", "inspect", "history", "comm_info"):
            request(socket, f"{kind}_request", {"code": "x", "cursor_pos": 1})
            assert socket.until(msg_type=f"{kind}_reply")[-1]["content"]["status"] in ("ok", "complete")


def test_code_is_completed_by_the_language(serve: Serve) -> None:
    running = serve()
    with channels(running, started(running)) as socket:
        running.computer.completions["python"] = CompletionSet(2, (Completion("sales"), Completion("salt")))
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
        assert (specs["default"], set(specs["kernelspecs"])) == ("python3", {"python3", "bash"})
        for name, language in (("python3", "python"), ("python", "python"), ("shell", "shell")):
            assert client.get(f"/api/kernelspecs/{name}").json()["spec"]["language"] == language
        assert client.get("/api/kernelspecs/cobol").status_code == 404
        kernel = client.post("/api/kernels").json()
        assert kernel["name"] == "python3"
        path = f"/api/kernels/{kernel['id']}"
        assert client.get("/api/kernels").json() == [kernel]
        assert client.get(path).json() == kernel
        assert client.post(f"{path}/restart").status_code == 200
        assert client.delete(path).status_code == 204
        assert client.get(path).status_code == 404
        refused = client.post("/api/kernels", json={"name": "cobol"})
        assert refused.json()["error"]["message"].endswith("Kernels: python3, bash.")
        # Where JupyterLab, and a Jupyter server in between, look.
        assert refused.json()["message"] == refused.json()["error"]["message"]
        assert refused.json()["reason"] == "Bad Request"


def test_a_kernel_ends_with_its_session_and_its_clients_are_told_so(serve: Serve) -> None:
    running = serve(auto_run=True)
    kernel = started(running)
    with channels(running, kernel) as socket, running.http() as client:
        client.delete(f"/v1/sessions/{kernel['oi_tui_session']}")
        with pytest.raises(ConnectionClosed):
            list(iter(lambda: socket.receive()["msg_type"], "nothing"))
        assert (socket.connection.close_code, socket.connection.close_reason) == (
            4410,
            "The kernel was ended.",
        )
        assert client.get("/api/kernels").json() == []


def test_a_restart_drops_the_cell_that_waits_for_the_cell_of_another_client(serve: Serve) -> None:
    running = serve(auto_run=True)
    kernel = started(running)
    with channels(running, kernel) as first, channels(running, kernel) as second, running.http() as client:
        request(first, "execute_request", {"code": "hang"})
        assert running.computer.running.wait(TIMEOUT)
        request(second, "execute_request", {"code": "print(1)"})
        # Messages are received in order.
        request(second, "kernel_info_request", {})
        second.until(msg_type="kernel_info_reply")
        assert client.post(f"/api/kernels/{kernel['id']}/restart").status_code == 200
        assert second.until(msg_type="execute_reply")[-1]["content"]["status"] == "aborted"
        request(second, "execute_request", {"code": "print(2)"})
        assert second.until(msg_type="execute_reply")[-1]["content"]["status"] == "ok"
    assert running.computer.ran == [("python", "hang"), ("python", "print(2)")]


async def test_clients_that_leave_during_a_restart_do_not_end_it() -> None:
    workspace = Workspace(Profile(model="x"), llm=Llm(), computer=Computer())
    session = HostedSession("s", WorkspaceBackend(workspace), ServerLimits())
    kernel = Kernel("k", "python", "python3", session, count=5)

    class Leaving(KernelConnection):
        def __init__(self) -> None:
            kernel.clients.add(self)

        async def abort_waiting(self) -> None:
            kernel.clients.discard(self)
            raise WebSocketDisconnect

    for _ in range(3):
        Leaving()
    await kernel.restart()
    assert (kernel.clients, kernel.count) == (set(), 0)


class Recipient:
    """A WebSocket that takes messages while `open` is set."""

    def __init__(self, kernel: Kernel) -> None:
        self.open, self.is_asked = asyncio.Event(), asyncio.Event()
        self.open.set()
        #: The numbers of the messages that it got.
        self.numbers: list[int] = []
        self.connection = KernelConnection(self, kernel, ServerLimits(), end=Mock(), binary=False)  # type: ignore[arg-type]
        kernel.clients.add(self.connection)

    async def send_text(self, text: str) -> None:
        self.is_asked.set()
        await self.open.wait()
        self.numbers.append(json.loads(text)["content"]["number"])


@pytest.fixture
def shared_kernel() -> Kernel:
    workspace = Workspace(Profile(model="x"), llm=Llm(), computer=Computer())
    return Kernel("k", "python", "python3", HostedSession("s", WorkspaceBackend(workspace), ServerLimits()))


async def test_a_client_that_leaves_during_a_message_silences_no_other(shared_kernel: Kernel) -> None:
    other = Recipient(shared_kernel)
    other.open.clear()
    leaving = asyncio.create_task(shared_kernel.publish({}, "stream", {"number": 1}))
    await asyncio.wait_for(other.is_asked.wait(), TIMEOUT)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    other.open.set()
    await shared_kernel.publish({}, "stream", {"number": 2})
    assert other.numbers == [1, 2]


async def test_a_client_that_does_not_receive_delays_no_cell(
    shared_kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_channels, "_STALL_SECONDS", 0.01)
    stalled, other = Recipient(shared_kernel), Recipient(shared_kernel)
    stalled.open.clear()
    async with asyncio.timeout(TIMEOUT):
        for number in range(100):
            await shared_kernel.publish({}, "stream", {"number": number})
        assert (stalled.numbers, other.numbers) == ([], list(range(100)))
        reply = asyncio.create_task(stalled.connection.send({}, "execute_reply", {"number": 100}, "shell"))
        stalled.open.set()
        await reply
    assert stalled.numbers == list(range(101))


@pytest.mark.parametrize("how", ["shutdown_request", "DELETE"])
def test_the_connections_of_a_kernel_end_with_it_whoever_ended_it(serve: Serve, how: str) -> None:
    running = serve(auto_run=True)
    kernel = started(running)
    with channels(running, kernel) as other, channels(running, kernel) as socket:
        execute(socket, "print(1)")
        request(other, "execute_request", {"code": "flood", "silent": False})
        while not select_contents([message := other.receive()], "stream"):
            assert message["msg_type"] != "execute_reply"
        if how == "DELETE":
            with running.http() as client:
                assert client.delete(f"/api/kernels/{kernel['id']}").status_code == 204
        else:
            request(socket, "shutdown_request", {"restart": False}, "control")
        kinds: list[str] = []
        with pytest.raises(ConnectionClosed):
            kinds.extend(iter(lambda: other.receive()["msg_type"], "nothing"))
        assert "execute_reply" in kinds
        with pytest.raises(ConnectionClosed):
            list(iter(lambda: socket.receive()["msg_type"], "nothing"))


def test_frames_that_are_none_end_a_binary_connection(serve: Serve) -> None:
    running = serve(auto_run=True)
    kernel = started(running)
    options = {"subprotocols": ["v1.kernel.websocket.jupyter.org"]}
    parts = [b"{}"] * 4
    whole = to_frame("shell", [json.dumps({"msg_type": "kernel_info_request"}).encode(), *parts[1:]])
    for frame in (
        b"",
        b"\x06",
        b"\xff" * 8,
        whole[:60],
        whole[8:],
        to_frame("shell", parts),
        to_frame("shell", [b"{"] * 4),
        to_frame("shell", [b"{}"] * 2),
        struct.pack("<7Q", 6, 56, 50, 56, 56, 56, 56),
        struct.pack("<7Q", 6, 0, 0, 0, 0, 0, 0),
        to_frame("\udcff".encode("utf-8", "surrogatepass").decode("latin-1"), parts),
    ):
        with running.socket(f"/api/kernels/{kernel['id']}/channels", **options) as socket:
            assert socket.connection.subprotocol == options["subprotocols"][0]
            socket.connection.send(frame)
            with pytest.raises(ConnectionClosed):
                socket.connection.recv(TIMEOUT)
    with running.socket(f"/api/kernels/{kernel['id']}/channels", **options) as socket:
        socket.connection.send(whole)
        kinds = [from_frame(socket.connection.recv(TIMEOUT))["header"]["msg_type"] for _ in range(3)]
        assert kinds == ["status", "kernel_info_reply", "status"]


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"header": 1}', '{"header": {"msg_type": "x"}, "content": 1}']
)
def test_what_is_no_message_closes_the_connection(serve: Serve, text: str) -> None:
    running = serve()
    with channels(running, started(running)) as socket:
        socket.connection.send(text)
        with pytest.raises(Exception, match="1003"):
            socket.receive()


def test_a_client_without_input_is_told_that_the_program_was_stopped(serve: Serve) -> None:
    running = serve(auto_run=True)
    running.computer.interrupt = running.computer.interrupted.set
    with channels(running, started(running)) as socket:
        request(socket, "execute_request", {"code": "ask", "allow_stdin": False})
        reply = socket.until(msg_type="execute_reply")[-1]["content"]
        assert reply["ename"] == "StdinNotImplementedError"
        assert reply["traceback"] == [f"StdinNotImplementedError: {reply['evalue']}"]


def test_cells_behind_a_failure_are_given_up_unless_the_client_wants_them(serve: Serve) -> None:
    running = serve(auto_run=True)
    with channels(running, started(running)) as socket:
        for options, states in (({}, ["error", "aborted"]), ({"stop_on_error": False}, ["error", "ok"])):
            running.computer.ran.clear()
            request(socket, "execute_request", {"code": "fail", **options})
            request(socket, "execute_request", {"code": "print(1)"})
            replies = [socket.until(msg_type="execute_reply")[-1]["content"]["status"] for _ in range(2)]
            assert replies == states


def test_what_is_not_offered_is_refused_in_the_words_of_jupyter(serve: Serve) -> None:
    running = serve(auto_run=True)
    with channels(running, started(running)) as socket:
        request(socket, "comm_open", {"comm_id": "c", "target_name": "widget", "data": {}})
        closed = socket.until(msg_type="comm_close")[-1]["content"]
        assert closed["comm_id"] == "c"
        socket.until(msg_type="status", content={"execution_state": "idle"})
        request(socket, "debug_request", {"command": "attach"}, "control")
        answer = socket.until(msg_type="debug_reply")[-1]
        assert (answer["channel"], answer["content"]["status"]) == ("control", "error")
        socket.until(msg_type="status", content={"execution_state": "idle"})
        request(socket, "execute_request", {"code": "print(1)", "user_expressions": {"x": "1 + 1"}})
        reply = socket.until(msg_type="execute_reply")[-1]["content"]
        assert reply["user_expressions"]["x"]["status"] == "error"


def test_python_code_is_known_to_be_complete_or_not(serve: Serve) -> None:
    running = serve()
    with channels(running, started(running)) as socket:
        for code, status, indent in (
            ("print(1)", "complete", None),
            ("for x in y:", "incomplete", "    "),
            ("for x in y:\n    pass", "incomplete", "    "),
            ("for x in y:\n    pass\n", "complete", None),
            ("print(", "incomplete", ""),
            ("1 +* 2", "invalid", None),
            ("a\0b", "invalid", None),
            ("%pip install x", "unknown", None),
            ("(" * 10_000, "invalid", None),
        ):
            request(socket, "is_complete_request", {"code": code})
            answer = socket.until(msg_type="is_complete_reply")[-1]["content"]
            assert (answer["status"], answer.get("indent")) == (status, indent), code[:20]


def test_every_client_of_a_kernel_sees_its_output_and_cells_take_turns(serve: Serve) -> None:
    running = serve(auto_run=True)
    kernel = started(running)
    with channels(running, kernel) as one, channels(running, kernel) as other:
        request(one, "execute_request", {"code": "print(1)"})
        request(other, "execute_request", {"code": "print(2)"})
        for socket in (one, other):
            seen: set[str] = set()
            while not {"out of print(1)", "out of print(2)"} <= seen:
                seen.add(socket.until(msg_type="stream")[-1]["content"]["text"])
        with running.http() as client:
            assert client.get(f"/api/kernels/{kernel['id']}").json()["connections"] == 2


def test_history_is_the_last_cells_some_of_them_or_those_that_fit(serve: Serve) -> None:
    running = serve(auto_run=True)
    with channels(running, started(running)) as socket:
        for code in ("one", "two", "one"):
            execute(socket, code)
        for content, wanted in (
            ({"hist_access_type": "tail", "n": 2}, [[0, 2, "two"], [0, 3, "one"]]),
            ({"hist_access_type": "range", "start": 1, "stop": 2}, [[0, 1, "one"]]),
            ({"hist_access_type": "search", "pattern": "o*", "unique": True}, [[0, 3, "one"]]),
            ({"hist_access_type": "tail", "n": 1, "output": True}, [[0, 3, ["one", None]]]),
        ):
            request(socket, "history_request", content)
            assert socket.until(msg_type="history_reply")[-1]["content"]["history"] == wanted


def test_messages_that_are_none_end_the_connection_and_nothing_else(serve: Serve) -> None:
    running = serve(auto_run=True)
    kernel = started(running)
    for garbage in ("", "[]", "{}", '{"header": 1}', '{"header": {"msg_type": 5}}', "[" * 5000, b"\x00\x01"):
        with channels(running, kernel) as socket:
            socket.connection.send(garbage)
            with pytest.raises(ConnectionClosed):
                socket.receive()
    with channels(running, kernel) as socket:
        assert select_contents(execute(socket, "print(1)"), "execute_reply")[0]["status"] == "ok"


WRONG_FIELDS: list[tuple[str, dict[str, Any], str]] = [
    ("execute_request", {"code": 5}, "code must be text."),
    ("execute_request", {"code": "1", "silent": "no"}, "silent must be true or false."),
    ("execute_request", {"code": "1", "user_expressions": [[]]}, "user_expressions must be an object."),
    ("complete_request", {"code": "1", "cursor_pos": "end"}, "cursor_pos must be a whole number"),
    ("inspect_request", {"code": "1", "detail_level": 2}, "detail_level must be a whole number from 0"),
    ("history_request", {"hist_access_type": "all"}, "hist_access_type must be one of range, tail"),
    ("shutdown_request", {"restart": "yes"}, "restart must be true or false."),
]


def test_a_message_with_a_wrong_field_is_answered_with_its_name(serve: Serve) -> None:
    running = serve(auto_run=True)
    with channels(running, started(running)) as socket:
        for kind, content, says in WRONG_FIELDS:
            request(socket, kind, content)
            answered = socket.until(msg_type=kind.replace("request", "reply"))[-1]["content"]
            assert (answered["status"], answered["ename"]) == ("error", "ValueError")
            assert says in answered["evalue"]
            socket.until(msg_type="status", content={"execution_state": "idle"})
        assert select_contents(execute(socket, "print(1)"), "execute_reply")[0]["status"] == "ok"
        request(socket, "input_reply", {"value": 5})
        with pytest.raises(ConnectionClosed, match=r"value must be text\."):
            socket.until(msg_type="never")
    assert running.computer.ran == [("python", "print(1)")]


def test_nobody_watches_through_a_kernel_so_that_its_question_ends_as_rejected(serve: Serve) -> None:
    running = serve(limits=ServerLimits(unwatched_seconds=0.2))
    with channels(running, started(running)) as socket:
        request(socket, "execute_request", {"code": "print(1)"})
        words = socket.until(msg_type="stream")[-1]["content"]["text"]
        assert "Waiting for approval" in words
        reply = socket.until(msg_type="execute_reply")[-1]["content"]
        assert reply["status"] == "error"
        assert "Nobody was connected" in reply["evalue"]
    assert running.computer.ran == []


# ---- Sessions, as VS Code and JupyterLab ask for them


def test_a_notebook_has_a_session_with_a_kernel_until_it_is_ended(serve: Serve) -> None:
    running = serve(auto_run=True)
    asked = {"path": "a.ipynb", "name": "a.ipynb", "type": "notebook", "kernel": {"name": "python3"}}
    with running.http() as client:
        made = client.post("/api/sessions", json=asked)
        assert made.status_code == 201
        session = made.json()
        assert (session["path"], session["notebook"]["path"], session["type"]) == (
            "a.ipynb",
            "a.ipynb",
            "notebook",
        )
        assert client.get("/api/sessions").json() == [session]
        assert [kernel["id"] for kernel in client.get("/api/kernels").json()] == [session["kernel"]["id"]]
        # The same notebook keeps its kernel.
        assert client.post("/api/sessions", json=asked).json()["id"] == session["id"]
        place = f"/api/sessions/{session['id']}"
        with channels(running, session["kernel"]) as socket:
            assert select_contents(execute(socket, "print(1)"), "stream")[0]["text"] == "out of print(1)"
        assert client.delete(place).status_code == 204
        assert client.get("/api/sessions").json() == client.get("/api/kernels").json() == []
        assert client.get(place).status_code == 404


def test_a_notebook_gets_another_kernel_once_the_session_of_its_kernel_was_deleted(serve: Serve) -> None:
    running = serve()
    with running.http() as client:
        first = client.post("/api/sessions", json={"path": "a"}).json()["kernel"]
        assert client.delete(f"/v1/sessions/{first['oi_tui_session']}").status_code == 204
        assert client.get("/api/sessions").json() == []
        second = client.post("/api/sessions", json={"path": "a"}).json()["kernel"]
        assert second["id"] != first["id"]
        assert [kernel["id"] for kernel in client.get("/api/kernels").json()] == [second["id"]]


def test_several_requests_for_a_notebook_at_once_start_one_kernel(serve: Serve) -> None:
    running = serve()
    begin = threading.Barrier(4)

    def ask(_: int) -> str:
        with running.http() as client:
            begin.wait(TIMEOUT)
            return str(client.post("/api/sessions", json={"path": "a"}).json()["kernel"]["id"])

    with ThreadPoolExecutor(4) as pool:
        ids = set(pool.map(ask, range(4)))
    with running.http() as client:
        assert ids == {kernel["id"] for kernel in client.get("/api/kernels").json()}
    assert len(ids) == 1


def test_a_session_may_use_a_kernel_that_is_there(serve: Serve) -> None:
    running = serve()
    kernel = started(running)
    with running.http() as client:
        assert client.get("/api/sessions").json() == []
        refused = client.post("/api/kernels", json={"name": "python3", "env": "A=1"})
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, "env")
        body = {"path": "a", "kernel": {"id": kernel["id"]}}
        assert client.post("/api/sessions", json=body).json()["kernel"]["id"] == kernel["id"]
        assert len(client.get("/api/kernels").json()) == 1
        for wrong, status, says in (
            ({"path": "b", "kernel": {"id": kernel["id"]}}, 409, "belongs to another session"),
            ({"path": "c", "kernel": {"id": "none"}}, 400, "GET /api/kernels lists all"),
            ({"path": "d", "kernel": "python3"}, 400, "kernel must be an object"),
            ({"path": 5}, 400, "path must be text"),
            ({"notebook": "f"}, 400, "notebook must be an object"),
            ({"path": "f", "kernel": {"name": ["python3"]}}, 400, "name must be text"),
            ({"path": "e", "kernel": {"name": "cobol"}}, 400, "There is no kernel cobol"),
        ):
            answer = client.post("/api/sessions", json=wrong)
            assert (answer.status_code, says in answer.text) == (status, True), answer.text


@pytest.mark.parametrize("path", ["/api/contents/a.ipynb", "/api/terminals", "/lab", "/tree"])
def test_what_else_jupyter_has_is_answered_with_what_there_is(path: str, serve: Serve) -> None:
    with serve().http() as client:
        answer = client.get(path)
    assert answer.status_code == 404
    assert "/api/kernelspecs" in answer.text
    assert "no files" in answer.text
