"""Signing in to an MCP server by OAuth: the real library on both sides; the test is the browser."""

import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

pytest.importorskip("uvicorn", reason="uvicorn is not installed here")

from oi_tui.actions import manage_servers
from oi_tui.actions.manage_servers import ServerManager
from oi_tui.engine.credentials import redaction
from oi_tui.engine.credentials.keys import Secrets
from oi_tui.engine.settings.mcp_servers import read
from oi_tui.mcp_client.connection import McpCallError
from oi_tui.mcp_client.sign_ins import SignIns, can_sign_in
from oi_tui.workspace import Workspace
from tests.ports import choose_port
from tests.processes import wait_until
from tests.unit.mcp_client.conftest import Open, command
from tests.unit.mcp_client.test_command import Place

pytestmark = pytest.mark.needs("mcp")
SERVER = Path(__file__).parents[2] / "servers" / "mcp_oauth.py"
Start = Callable[..., str]
_BOUND = 60


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a server that wants a sign-in; returns its address."""
    with ExitStack() as stack:

        def started(**variables: str) -> str:
            port = choose_port()
            process = subprocess.Popen(command(SERVER, port), env={**os.environ, **variables})
            stack.callback(process.wait)
            stack.callback(process.kill)
            assert wait_until(lambda: _answers(port), _BOUND)
            return f"http://127.0.0.1:{port}/mcp"

        yield started


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def browse(address: str) -> str:
    """Open the address as a browser does; return what the last page says."""
    return httpx.get(address, follow_redirects=True, timeout=_BOUND).text


def sign_in(workspace: Workspace) -> str:
    status = workspace.mcp.servers.status[0]
    page = browse(workspace.mcp.servers.sign_in(status))
    workspace.mcp.servers.finish_sign_in(status)
    return page


def counts(workspace: Workspace) -> str:
    (tool,) = [tool for tool in workspace.mcp.tools() if tool.name == "counts"]
    result = workspace.mcp.servers.call(tool, {})
    return str(result["content"][0]["text"])


def read_kept_sign_in(address: str) -> dict[str, object]:
    return SignIns(Secrets()).of(read(f"t = {address}")) or {}


def test_a_person_signs_in_once_and_stays_signed_in(open_workspace: Open, start: Start) -> None:
    address = start()
    workspace = open_workspace(servers=[f"t = {address}"])
    assert workspace.mcp.tools() == []
    assert workspace.mcp.servers.status[0].problem == "it needs you to sign in: %mcp login t"
    assert "You are signed in." in sign_in(workspace)
    assert counts(workspace) == "registered=1 signed_in=1 refreshed=0"
    tokens = read_kept_sign_in(address)["tokens"]
    assert isinstance(tokens, dict)
    assert tokens["access_token"] not in redaction.redact(f"Bearer {tokens['access_token']}")
    # Another start needs nobody, and signing in again needs no new registration.
    again = open_workspace(servers=[f"t = {address}"])
    assert counts(again) == "registered=1 signed_in=1 refreshed=0"
    sign_in(again)
    assert counts(again) == "registered=1 signed_in=2 refreshed=0"
    # Another server gets nothing of it.
    other = start()
    assert not read_kept_sign_in(other)
    # Signed out, everything is as before.
    assert again.mcp.servers.sign_out(again.mcp.servers.status[0])
    assert not read_kept_sign_in(address)
    with pytest.raises(McpCallError, match="needs you to sign in"):
        again.mcp.servers.test(again.mcp.servers.status[0])


def test_a_sign_in_that_nobody_finishes_can_be_stopped(open_workspace: Open, start: Start) -> None:
    workspace = open_workspace(servers=[f"t = {start()}"])
    servers = workspace.mcp.servers
    assert servers.sign_in(servers.status[0])
    workspace.mcp.stop_sign_ins()
    with pytest.raises(McpCallError, match="it was stopped"):
        servers.finish_sign_in(servers.status[0])


def test_a_sign_in_takes_the_place_of_the_first_attempt_to_connect(
    open_workspace: Open, start: Start
) -> None:
    workspace = open_workspace(servers=[f"t = {start()}"])
    workspace.mcp.servers.start()
    assert "You are signed in." in sign_in(workspace)
    assert counts(workspace).startswith("registered=1 signed_in=1")


def test_a_token_that_is_over_is_renewed_without_anybody(open_workspace: Open, start: Start) -> None:
    address = start()
    workspace = open_workspace(servers=[f"t = {address}"])
    sign_in(workspace)
    workspace.close()
    before = read_kept_sign_in(address)
    SignIns(Secrets()).save(read(f"t = {address}"), {**before, "expires": 1.0})
    later = open_workspace(servers=[f"t = {address}"])
    assert counts(later) == "registered=1 signed_in=1 refreshed=1"
    assert read_kept_sign_in(address)["tokens"] != before["tokens"]


@pytest.mark.parametrize("expires", [None, 9e9])
def test_a_token_that_the_server_refuses_early_is_renewed_without_anybody(
    expires: float | None, open_workspace: Open, start: Start
) -> None:
    """As where a server says no time, has forgotten its tokens, or its clock is ahead."""
    address = start()
    workspace = open_workspace(servers=[f"t = {address}"])
    sign_in(workspace)
    workspace.close()
    before = read_kept_sign_in(address)
    tokens = before["tokens"]
    assert isinstance(tokens, dict)
    tokens["access_token"] = "forgotten"
    SignIns(Secrets()).save(read(f"t = {address}"), {**before, "expires": expires})
    later = open_workspace(servers=[f"t = {address}"])
    assert counts(later) == "registered=1 signed_in=1 refreshed=1"
    assert counts(later) == "registered=1 signed_in=1 refreshed=1"


def test_two_windows_share_a_sign_in_of_which_each_token_is_renewed_once(
    open_workspace: Open, start: Start
) -> None:
    address = start(SECONDS="2")
    one = open_workspace(servers=[f"t = {address}"])
    sign_in(one)
    two = open_workspace(servers=[f"t = {address}"])
    for first, second in ((two, one), (one, two), (two, one)):
        assert wait_until(lambda: time.time() > float(str(read_kept_sign_in(address)["expires"])), _BOUND)
        assert "signed_in=1" in counts(first)
        assert "signed_in=1" in counts(second)


def test_windows_that_need_a_new_token_at_the_same_moment_have_it_renewed_once(
    open_workspace: Open, start: Start
) -> None:
    address = start(SECONDS="4", RENEWING_SECONDS="1")
    one = open_workspace(servers=[f"t = {address}"])
    sign_in(one)
    two = open_workspace(servers=[f"t = {address}"])
    assert "signed_in=1" in counts(two)
    for windows in ((one, two), [open_workspace(servers=[f"t = {address}"]) for _ in range(2)]):
        assert wait_until(lambda: time.time() > float(str(read_kept_sign_in(address)["expires"])), _BOUND)
        with ThreadPoolExecutor(2) as pool:
            assert all("signed_in=1" in text for text in pool.map(counts, windows))


@pytest.mark.parametrize("at_once", [False, True])
def test_windows_whose_token_is_refused_before_its_time_renew_it_once(
    at_once: bool, open_workspace: Open, start: Start
) -> None:
    address = start(FORGETS="access", RENEWING_SECONDS="0.5")
    one = open_workspace(servers=[f"t = {address}"])
    sign_in(one)
    two = open_workspace(servers=[f"t = {address}"])
    assert "signed_in=1" in counts(two)
    tools = {tool.name: tool for tool in one.mcp.tools()}
    one.mcp.servers.call(tools["forget"], {})
    with ThreadPoolExecutor(2) as pool:
        answers = list((pool.map if at_once else map)(counts, (one, two)))
    assert answers == ["registered=1 signed_in=1 refreshed=1"] * 2


def test_a_token_that_is_not_renewed_asks_for_another_sign_in(open_workspace: Open, start: Start) -> None:
    address = start()
    workspace = open_workspace(servers=[f"t = {address}"])
    sign_in(workspace)
    workspace.close()
    before = read_kept_sign_in(address)
    tokens = before["tokens"]
    assert isinstance(tokens, dict)
    tokens["access_token"] = tokens["refresh_token"] = "forgotten"
    SignIns(Secrets()).save(read(f"t = {address}"), {**before, "expires": 1.0})
    later = open_workspace(servers=[f"t = {address}"])
    assert later.mcp.tools() == []
    assert later.mcp.servers.status[0].problem == "the sign-in has expired; sign in again"
    sign_in(later)
    assert counts(later) == "registered=1 signed_in=2 refreshed=0"


def test_a_sign_in_that_the_server_forgets_later_has_expired(open_workspace: Open, start: Start) -> None:
    workspace = open_workspace(servers=[f"t = {start(FORGETS='1')}"])
    sign_in(workspace)
    tools = {tool.name: tool for tool in workspace.mcp.tools()}
    workspace.mcp.servers.call(tools["forget"], {})
    with pytest.raises(McpCallError, match="the sign-in has expired; sign in again"):
        workspace.mcp.servers.call(tools["counts"], {})
    sign_in(workspace)
    assert "signed_in=2" in str(workspace.mcp.servers.call(tools["counts"], {}))


def test_a_refused_sign_in_is_reported_and_nothing_is_kept(open_workspace: Open, start: Start) -> None:
    address = start(REFUSE="1")
    workspace = open_workspace(servers=[f"t = {address}"])
    with pytest.raises(McpCallError, match=r"refused the sign-in: Not today\."):
        sign_in(workspace)
    assert not read_kept_sign_in(address)


def test_a_token_that_is_refused_at_once_is_reported(open_workspace: Open, start: Start) -> None:
    workspace = open_workspace(servers=[f"t = {start(FORGET='1')}"])
    with pytest.raises(
        McpCallError, match="you signed in, but the server refuses the token that it gave you"
    ):
        sign_in(workspace)


def test_a_token_that_is_none_is_reported_in_a_sentence(open_workspace: Open, start: Start) -> None:
    workspace = open_workspace(servers=[f"t = {start(GARBLE='1')}"])
    with pytest.raises(McpCallError, match=r"what it sent is not valid: access_token: Field required$"):
        sign_in(workspace)


def test_another_page_cannot_answer_for_the_person(open_workspace: Open, start: Start) -> None:
    workspace = open_workspace(servers=[f"t = {start()}"])
    status = workspace.mcp.servers.status[0]
    address = workspace.mcp.servers.sign_in(status)
    back = parse_qs(urlsplit(address).query)["redirect_uri"][0]
    with httpx.Client(timeout=_BOUND) as client:
        for query in ("", "?code=x", "?code=x&state=guessed", "?error=access_denied&state="):
            assert client.get(back + query).status_code == 404
        assert client.get(back.replace("/callback", "/")).status_code == 404
    parts = urlsplit(back)
    assert parts.hostname == "127.0.0.1"
    for garbage in (b"", b"\xff\xfe\n", b"x" * 50_000, b"POST /callback HTTP/1.1\r\n\r\n", b"GET\n"):
        with socket.create_connection(("127.0.0.1", parts.port or 0), timeout=_BOUND) as connection:
            connection.sendall(garbage)
            connection.shutdown(socket.SHUT_WR)
    assert "You are signed in." in browse(address)
    workspace.mcp.servers.finish_sign_in(status)
    # The port is open only meanwhile.
    assert wait_until(lambda: not _answers(parts.port or 0), _BOUND)


def test_the_command_signs_in_and_out(
    open_workspace: Open, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manage_servers, "find_opener", lambda: None)
    workspace = open_workspace(servers=[f"t = {start()}", "here = program"])
    place = Place(workspace)
    manager = ServerManager(place, workspace)
    browser = threading.Thread(
        target=lambda: (
            wait_until(lambda: bool(place.words), _BOUND) and browse(place.words[0].partition(": ")[2])
        )
    )
    browser.start()
    manager.do("login", "t", "")
    browser.join()
    assert place.words[0].startswith("Open this address in a browser on this machine, and sign in to the MCP")
    assert place.words[1].startswith("Signed in to t.\n")
    assert "tools: counts" in place.words[1]
    manager.do("logout", "t", "")
    manager.do("logout", "t", "")
    assert place.words[2:] == ["Signed out of t.", "You were not signed in to t."]
    manager.do("login", "here", "")
    assert "Not signed in to here: it does not use a sign-in" in place.words[-1]


@pytest.mark.parametrize("setting", ["offline", "local"])
def test_a_sign_in_leads_to_no_host_that_the_profile_forbids(
    open_workspace: Open, start: Start, setting: str
) -> None:
    """The server names the authority that signs in; here one on the internet."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = {"resource": f"{base}/mcp", "authorization_servers": ["http://auth.example.com"]}
            body = json.dumps(found).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(401)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as listening:
        base = f"http://127.0.0.1:{listening.server_port}"
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        workspace = open_workspace(servers=[f"t = {base}/mcp"], **{setting: True})
        with pytest.raises(McpCallError, match=f"{setting} is on, and auth.example.com is elsewhere"):
            workspace.mcp.servers.sign_in(workspace.mcp.servers.status[0])
        listening.shutdown()


def test_only_servers_over_http_without_a_key_take_a_sign_in() -> None:
    assert can_sign_in(read("t = http://127.0.0.1:1/mcp X-Team=a"))
    assert not can_sign_in(read("t = http://127.0.0.1:1/mcp authorization=x"))
    assert not can_sign_in(read("t = program"))
