"""What the start of the server says and opens."""

import os
import re
import signal
import socket
import ssl
import subprocess
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from time import monotonic

import pytest

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")
pytest.importorskip("uvicorn", reason="uvicorn (extra server) is not installed here")

from oi_tui.server import serve as server
from oi_tui.server.application import Application
from oi_tui.server.backend import Backend
from oi_tui.server.hosted_session import HostedSession
from oi_tui.server.options import ServerOptions
from tests.unit.server.conftest import Serve
from tests.unit.server.running import Running


def test_the_greeting_names_address_token_and_how_code_runs() -> None:
    options = ServerOptions()
    text = server.make_greeting(options, auto_run=False)
    assert f"http://127.0.0.1:8000/#token={options.token}" in text
    assert f"Kernels: {options.kernel_password}" in text
    assert "Code needs approval before it runs." in text
    assert "not encrypted" not in text
    assert "Code runs without asking" in server.make_greeting(options, auto_run=True)


@pytest.mark.parametrize(
    ("host", "open_to_others"),
    [
        *((host, False) for host in ("127.0.0.1", "127.0.0.2", "localhost", "::1", "[::1]")),
        *((host, True) for host in ("0.0.0.0", "::", "192.168.1.5", "box.example")),
    ],
)
def test_an_address_that_others_reach_without_encryption_is_reported(host: str, open_to_others: bool) -> None:
    text = server.make_greeting(ServerOptions(host=host), auto_run=False)
    assert ("nothing is encrypted" in text) == open_to_others


def test_the_page_is_opened_through_a_private_file_without_the_token_on_a_command_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(server, "find_opener", lambda: ("browser",))
    monkeypatch.setattr(server, "view", lambda words, what: opened.extend((*words, what)))
    options = ServerOptions()
    with ExitStack() as stack:
        server._open(options, stack)
        file = Path(opened[1])
        assert file.stat().st_mode & 0o777 == 0o600
        assert f"{options.address}/#token={options.token}" in file.read_text()
        assert not any(options.token in word for word in opened)
    assert not file.exists()


def test_without_a_browser_the_address_is_enough(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(server, "find_opener", lambda: None)
    with ExitStack() as stack:
        server._open(ServerOptions(), stack)
    assert re.search("Open the address above", capsys.readouterr().out)


def test_a_socket_that_a_dead_server_left_is_taken_and_a_living_one_is_not(tmp_path: Path) -> None:
    options = ServerOptions(socket=tmp_path / "s")
    server.listen(options).close()
    with server.listen(options), pytest.raises(ValueError, match="another server listens at"):
        server.listen(options)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match="cannot listen at"):
        server.listen(ServerOptions(socket=tmp_path / "file"))
    assert (tmp_path / "file").read_text() == "mine"


def make_no_backend() -> Backend:
    raise AssertionError


@pytest.mark.parametrize("has_successor", [True, False])
def test_a_server_that_ends_removes_its_own_socket_and_never_that_of_its_successor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_successor: bool
) -> None:
    options = ServerOptions(socket=tmp_path / "s")
    with ExitStack() as stack:

        class Ending:
            async def serve(self, sockets: list[socket.socket]) -> None:
                # As uvicorn does, long before everything else has ended.
                sockets[0].close()
                if has_successor:
                    stack.enter_context(server.listen(options))

        monkeypatch.setattr(server, "make_web_server", lambda *_: Ending())
        listening = server.listen(options)
        # The first server began at another time, also where the system gives its file's number again.
        os.utime(tmp_path / "s", ns=(0, 0))
        server.serve(Application(make_no_backend, options), options, listening)
        assert (tmp_path / "s").exists() == has_successor
        if has_successor:
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(tmp_path / "s"))


@pytest.mark.parametrize("is_ignored", [True, False])
def test_a_server_that_nohup_started_outlives_a_logout(is_ignored: bool) -> None:
    options = ServerOptions()
    web_server = server.make_web_server(Application(make_no_backend, options), options)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN if is_ignored else signal.SIG_DFL)
    try:
        given = signal.getsignal(signal.SIGHUP)
        with web_server.capture_signals():
            assert (signal.getsignal(signal.SIGHUP) == signal.SIG_IGN) == is_ignored
            assert signal.getsignal(signal.SIGTERM) == web_server.handle_exit
        assert signal.getsignal(signal.SIGHUP) == given
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.needs("openssl")
def test_it_serves_https_with_a_certificate_and_its_own_origin_is_https(serve: Serve, tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    words = (
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    )
    names = ("-addext", "subjectAltName=IP:127.0.0.1")
    files = ("-keyout", str(key), "-out", str(certificate))
    subprocess.run([*words, *names, *files], check=True, capture_output=True)
    running = serve(certificate=certificate, key=key)
    trust = ssl.create_default_context(cafile=str(certificate))
    with running.http(verify=trust) as client:
        assert running.address.startswith("https://")
        for origin, status in ((running.address, 200), (running.address.replace("https", "http"), 403)):
            assert client.get("/v1/sessions", headers={"Origin": origin}).status_code == status


async def test_an_error_around_the_application_ends_its_sessions_too() -> None:
    running = Running()

    async def fail() -> None:
        async with running.app.router.lifespan_context(running.app):
            sessions.append(await running.app.state.context.sessions.create())
            raise ZeroDivisionError

    sessions: list[HostedSession] = []
    with running.listening, pytest.raises(ZeroDivisionError):
        await fail()
    assert sessions[0].closed


def test_small_answers_are_sent_at_once(serve: Serve) -> None:
    """The system else keeps them for 40 ms, until the client confirms what came before."""
    running = serve()
    seconds = []
    with running.http() as client:
        for _ in range(40):
            begun = monotonic()
            client.post("/v1/sessions/default/stop", json={})
            seconds.append(monotonic() - begun)
    assert median(seconds[10:]) < 0.03
