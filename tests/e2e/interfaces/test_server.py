"""`oi-tui --server` as a program: the real model process, a real language, and what it leaves behind."""

import contextlib
import itertools
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")
pytest.importorskip("uvicorn", reason="uvicorn (extra server) is not installed here")

from tests.e2e import program
from tests.unit.server.running import Socket, socket_to

pytestmark = pytest.mark.usefixtures("quick_commands")

EVENTS = "/v1/sessions/default/events"


class Server:
    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "oi_tui", "--server", "--port", "0", *arguments]
        command += [] if "-m" in arguments else ["--demo"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout
        lines = list(itertools.islice(self.process.stdout, 3))
        found = [re.search(r"(http\S+|(?<=Token:  )\S+)", line) for line in lines]
        assert all(found), self.process.communicate()
        self.address, self.page, self.token = (match[1] for match in found if match)
        self.headers = {"Authorization": f"Bearer {self.token}"}

    def socket(self) -> Socket:
        return socket_to(self.address, EVENTS, self.headers)

    def get(self, path: str) -> Any:
        return httpx.get(self.address + path, headers=self.headers, timeout=60).json()

    def post(self, path: str, content: object) -> Any:
        return httpx.post(self.address + path, headers=self.headers, json=content, timeout=60).json()

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=30)
        return self.process.returncode, errors


@pytest.fixture
def server(workplace: Path) -> Iterator[Server]:
    server = Server()
    yield server
    if server.process.poll() is None:
        server.end()


def test_a_question_is_answered_from_outside_and_the_conversation_saved(server: Server) -> None:
    assert server.page == f"{server.address}/#token={server.token}"
    with server.socket() as socket:
        socket.send({"do": "say", "content": "largest files here"})
        question = socket.until(event="question.asked")[-1]["question"]
        answer = {"do": "answer", "question": question["id"], "hash": question["hash"]}
        socket.send({**answer, "decision": "run"})
        records = socket.until(event="message.recorded")
        while records[-1].get("message", {}).get("state") != "finished":
            records = socket.until(event="message.recorded")
        socket.send({"do": "stop"})
        socket.until(event="turn.ended")
    assert program.decisions()[0] == "approved"
    status, errors = server.end(signal.SIGINT)
    assert (status, errors) == (0, "")


def test_a_second_ctrl_c_ends_code_that_does_not_stop(server: Server) -> None:
    code = "import signal\nsignal.signal(signal.SIGINT, lambda *_: None)\nwhile True: pass"
    with server.socket() as socket:
        socket.send({"do": "propose", "language": "python", "code": code})
        question = socket.until(event="question.asked")[-1]["question"]
        answer = {"do": "answer", "question": question["id"], "hash": question["hash"]}
        socket.send({**answer, "decision": "run"})
        socket.until(event="run.reported", report="line", line=3)
        server.process.send_signal(signal.SIGINT)
        assert server.process.stdout
        line = server.process.stdout.readline()
        while "ctrl+c again ends code that does not stop" not in line:
            assert line
            line = server.process.stdout.readline()
    # One that follows another within half a second is the same one.
    while server.process.poll() is None:
        server.process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.process.wait(1.0)
    assert server.process.communicate() == ("", "")
    assert server.process.returncode == 0
    assert program.messages()[0]["state"] == "interrupted"


@pytest.mark.usefixtures("real_command")
def test_the_token_is_in_no_file_and_on_no_command_line(server: Server, own_world: Path) -> None:
    with httpx.Client(base_url=server.address) as client:
        assert client.get("/v1/sessions").status_code == 401
        assert client.get("/v1/sessions", headers=server.headers).status_code == 200
    command = Path(f"/proc/{server.process.pid}/cmdline")
    if command.exists():
        assert server.token.encode() not in command.read_bytes()
    assert server.end() == (0, "")
    texts = [path.read_bytes() for path in own_world.rglob("*") if path.is_file()]
    assert not any(server.token.encode() in text for text in texts)


def test_a_second_server_at_the_port_says_so_in_a_sentence(server: Server) -> None:
    port = server.address.rpartition(":")[2]
    command = [sys.executable, "-m", "oi_tui", "--server", "--demo", "--port", port]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith(f"oi-tui: cannot listen at 127.0.0.1 port {port}:")
    assert done.stderr.count("\n") == 1
