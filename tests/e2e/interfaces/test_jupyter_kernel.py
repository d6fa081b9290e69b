"""`oi-tui --kernel`: a kernel that Jupyter's own programs start, with the languages of a server."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")
pytest.importorskip("uvicorn", reason="uvicorn (extra server) is not installed here")
pytest.importorskip("zmq", reason="pyzmq (extra kernel) is not installed here")

from tests.e2e.interfaces.test_kernels import notebook, read_output
from tests.e2e.interfaces.test_server import Server
from tests.ports import choose_port
from tests.processes import wait_until
from tests.when_used import when_used

nbclient, jupyter_client = when_used("nbclient"), when_used("jupyter_client")
connecting, kernelspec = when_used("jupyter_client.connect"), when_used("jupyter_client.kernelspec")
TIMEOUT = 60

pytestmark = pytest.mark.usefixtures("quick_commands")


@pytest.fixture(autouse=True)
def ports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let kernels get ports that no other program gets between their choice and their use."""
    monkeypatch.setattr(connecting.LocalPortCache, "find_available_port", lambda *_: choose_port())


@pytest.fixture
def server(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server, and the description of a kernel of it where Jupyter looks for kernels."""
    server = Server("-y")
    monkeypatch.setenv("JUPYTER_PATH", str(workplace / "jupyter" / "share" / "jupyter"))
    wanted = ["--install-kernel", str(workplace / "jupyter"), "--attach", server.address]
    subprocess.run([sys.executable, "-m", "oi_tui", *wanted], check=True, stdout=subprocess.DEVNULL)
    monkeypatch.setenv("INTERPRETER_API_KEY", server.token)
    yield server
    if server.process.poll() is None:
        assert server.end() == (0, "")


def command(server: Server, file: str) -> list[str]:
    return [sys.executable, "-m", "oi_tui", "--kernel", file, "--attach", server.address]


def write_connection_file(folder: Path) -> str:
    ports = {f"{name}_port": choose_port() for name in ("shell", "stdin", "control", "iopub", "hb")}
    file, _ = connecting.write_connection_file(str(folder / "kernel.json"), **ports)
    return str(file)


def kernels(server: Server) -> list[Any]:
    found: list[Any] = server.get("/api/kernels")
    return found


async def test_nbclient_starts_it_by_its_name_and_ends_it(server: Server) -> None:
    made = notebook("kept = 41", "print('before')\nkept + 1")
    done = await nbclient.NotebookClient(made, kernel_name="oi-tui", timeout=TIMEOUT).async_execute()
    assert read_output(done.cells[1]) == "before\n"
    assert done.cells[1].outputs[-1].data == {"text/plain": "42"}
    assert kernels(server) == []


def test_input_interrupt_and_restart(server: Server) -> None:
    manager, client = jupyter_client.manager.start_new_kernel(kernel_name="oi-tui", startup_timeout=TIMEOUT)
    try:
        stranger = jupyter_client.BlockingKernelClient()
        stranger.load_connection_info({**manager.get_connection_info(), "key": b"another key"})
        stranger.start_channels()
        stranger.shutdown()
        printed: list[str] = []
        done = client.execute_interactive(
            "kept = input('Name: ')\nprint(kept.upper())",
            timeout=TIMEOUT,
            stdin_hook=lambda _: client.input("ada"),
            output_hook=lambda message: printed.append(message["content"].get("text", "")),
        )
        assert (done["content"]["status"], "".join(printed)) == ("ok", "ADA\n")
        kinds: list[str] = []
        note_kind = lambda sent: kinds.append(sent["msg_type"])  # noqa: E731
        client.execute_interactive("kept", silent=True, timeout=TIMEOUT, output_hook=note_kind)
        assert "execute_result" not in kinds
        asked = client.complete("kep", reply=True, timeout=TIMEOUT)
        assert "kept" in asked["content"]["matches"]
        client.execute("while True: pass")
        assert wait_until(lambda: kernels(server)[0]["execution_state"] == "busy", TIMEOUT)
        manager.interrupt_kernel()
        assert client.get_shell_msg(timeout=TIMEOUT)["content"]["ename"] == "KeyboardInterrupt"
        manager.restart_kernel()
        client.wait_for_ready(timeout=TIMEOUT)
        forgotten = client.execute("kept", reply=True, timeout=TIMEOUT)
        assert forgotten["content"]["ename"] == "NameError"
        assert len(kernels(server)) == 1
        stranger.stop_channels()
    finally:
        client.stop_channels()
        manager.shutdown_kernel()
    assert kernels(server) == []


def test_garbage_at_its_sockets_is_dropped_and_the_next_request_is_answered(server: Server) -> None:
    import zmq

    manager, client = jupyter_client.manager.start_new_kernel(kernel_name="oi-tui", startup_timeout=TIMEOUT)
    odd: list[Any] = [{}, {"msg_type": "execute_request"}, {"msg_id": ["x"], "msg_type": "x_request"}, 5, []]
    odd += [{"msg_id": "1", "msg_type": 5}, {"msg_id": "1", "msg_type": None}]
    try:
        for name in ("shell", "stdin", "control", "iopub", "hb"):
            place = f"tcp://127.0.0.1:{manager.get_connection_info()[f'{name}_port']}"
            kind = {"iopub": zmq.SUB, "hb": zmq.REQ}.get(name, zmq.DEALER)
            with zmq.Context() as context, context.socket(kind) as stranger:
                stranger.linger = 5000
                with socket.create_connection(("127.0.0.1", int(place.rpartition(":")[2]))) as raw:
                    raw.sendall(b"GET / HTTP/1.1\r\n\r\n" + bytes(range(256)))
                stranger.connect(place)
                if name in ("iopub", "hb"):
                    continue
                pieces = [b"", b"garbage", b"<IDS|MSG>", bytes(range(256))]
                for frames in ([piece] for piece in pieces):
                    stranger.send_multipart(frames)
                for frames in (pieces, [b"<IDS|MSG>", *[b"{"] * 5], [b"<IDS|MSG>", b"", *[b"{}"] * 4]):
                    stranger.send_multipart(frames)
                for header in odd:
                    parts = [json.dumps(part).encode() for part in (header, {}, {}, {})]
                    signed = client.session.sign(parts)
                    stranger.send_multipart([b"<IDS|MSG>", signed, *parts])
        done = client.execute("6 * 7", reply=True, timeout=TIMEOUT)
        assert done["content"]["status"] == "ok"
        assert len(kernels(server)) == 1
    finally:
        client.stop_channels()
        manager.shutdown_kernel()


def test_a_kernel_that_is_killed_ends_at_the_server_too(server: Server) -> None:
    manager, client = jupyter_client.manager.start_new_kernel(kernel_name="oi-tui", startup_timeout=TIMEOUT)
    client.execute("while True: pass")
    assert wait_until(lambda: kernels(server)[0]["execution_state"] == "busy", TIMEOUT)
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    assert wait_until(lambda: kernels(server) == [], TIMEOUT)


async def test_a_value_shown_again_updates_its_output(server: Server) -> None:
    show = "from IPython.display import display\nhandle = display({!r}, display_id='x')\nhandle.update({!r})"
    made = notebook(show.format("a", "b"), "exit()", show.format("c", "d"))
    done = await nbclient.NotebookClient(made, kernel_name="oi-tui", timeout=TIMEOUT).async_execute()
    shown = [[item.data["text/plain"] for item in cell.outputs] for cell in done.cells]
    assert shown == [["'b'"], [], ["'d'"]]


async def test_each_client_is_told_when_it_gets_all_output(server: Server, workplace: Path) -> None:
    file = write_connection_file(workplace)
    kernel = subprocess.Popen(command(server, file))
    try:
        for _ in range(2):
            client = jupyter_client.AsyncKernelClient(connection_file=file)
            client.load_connection_file()
            client.start_channels(shell=False, stdin=False, hb=False, control=False)
            welcome = await client.get_iopub_msg(timeout=TIMEOUT)
            assert (welcome["msg_type"], welcome["content"]) == ("iopub_welcome", {"subscription": ""})
            assert welcome["parent_header"] == {}
            client.stop_channels()
    finally:
        kernel.terminate()
        assert kernel.wait(TIMEOUT) == 0


@pytest.mark.usefixtures("real_command")
def test_it_ends_with_the_program_that_started_it_and_without_the_server(
    server: Server, workplace: Path
) -> None:
    file = write_connection_file(workplace)
    starter = subprocess.Popen(["sh", "-c", '"$@" & echo $!; wait', "sh", *command(server, file)])
    assert wait_until(lambda: len(kernels(server)) == 1, TIMEOUT)
    starter.kill()
    starter.wait(TIMEOUT)
    assert wait_until(lambda: kernels(server) == [], TIMEOUT)
    with socket.create_server(("127.0.0.1", json.loads(Path(file).read_bytes())["hb_port"])):
        taken = subprocess.run(command(server, file), capture_output=True, text=True, timeout=TIMEOUT)
    assert (taken.returncode, taken.stderr.startswith("oi-tui: Address already in use")) == (1, True)
    kernel = subprocess.Popen(command(server, file), stderr=subprocess.PIPE, text=True)
    assert wait_until(lambda: any(item["connections"] for item in kernels(server)), TIMEOUT)
    server.end()
    _, errors = kernel.communicate(timeout=TIMEOUT)
    assert (kernel.returncode, errors) == (1, f"oi-tui: the connection to {server.address} was lost\n")
    again = subprocess.run(command(server, file), capture_output=True, text=True, timeout=TIMEOUT)
    assert again.returncode == 1
    assert again.stderr.startswith("oi-tui: ")


def test_a_kernel_is_added_to_the_list_of_jupyter_and_replaced(
    workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(workplace / "mine"))
    for port, words in (("9000", ()), ("9001", ()), ("9001", ("--kernel-name", "ir"))):
        address = f"http://127.0.0.1:{port}"
        written = run_command("--install-kernel", "--attach", f"{address}/#token=secret", *words)
        assert (written.returncode, written.stderr) == (0, "")
        assert f"at {address}, and its token in INTERPRETER_API_KEY" in written.stdout
    specs = kernelspec.KernelSpecManager()
    found = {name: specs.get_kernel_spec(name) for name in ("oi-tui", "oi-tui-ir")}
    assert {name: (spec.display_name, spec.language) for name, spec in found.items()} == {
        "oi-tui": ("python (oi-tui)", "python"),
        "oi-tui-ir": ("R (oi-tui)", "R"),
    }
    assert [spec.argv[-2:] for spec in found.values()] == [
        ["--attach", "http://127.0.0.1:9001"],
        ["--kernel-name", "ir"],
    ]
    assert {spec.interrupt_mode for spec in found.values()} == {"message"}
    specs.remove_kernel_spec("oi-tui")
    assert "oi-tui" not in specs.find_kernel_specs()
    elsewhere = run_command("--install-kernel", str(workplace / "prefix"))
    assert "does not look there" in elsewhere.stderr
    assert (workplace / "prefix/share/jupyter/kernels/oi-tui/kernel.json").is_file()
    refused = run_command("--install-kernel", "--kernel-name", "a b")
    assert (refused.returncode, refused.stderr) == (
        2,
        "oi-tui: --kernel-name must be the name of a kernel, not a b\n",
    )


def run_command(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "oi_tui", *words], capture_output=True, text=True, timeout=TIMEOUT
    )


def test_what_it_needs_is_said_in_a_sentence(workplace: Path) -> None:
    broken = workplace / "a.json"
    broken.write_text("{}")
    for file, token, says in (
        ("a.json", "x" * 43, f"--kernel needs a connection file of Jupyter, which {broken.name} is not"),
        ("a.json", "", "--kernel needs the token that oi-tui --server printed: set INTERPRETER_API_KEY"),
        ("b.json", "x" * 43, "b.json: No such file or directory"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "oi_tui", "--kernel", file],
            capture_output=True,
            text=True,
            env={**os.environ, "INTERPRETER_API_KEY": token},
            timeout=TIMEOUT,
        )
        assert (done.returncode, done.stderr) == (2, f"oi-tui: {says}\n")
