"""Connections to MCP servers that end: nothing is lost, and nothing waits for ever."""

import asyncio
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs

import pytest

from oi_tui.engine.credentials.keys import Secrets
from oi_tui.engine.settings.mcp_servers import read
from oi_tui.engine.settings.profile import Profile
from oi_tui.mcp_client import connection
from oi_tui.mcp_client.connection import McpCallError, McpConnection
from oi_tui.mcp_client.servers import McpServers
from oi_tui.mcp_client.sign_ins import SignIns
from tests.processes import wait_until
from tests.unit.mcp_client.conftest import Open
from tests.unit.mcp_client.test_http_faults import _SessionHandler, _SessionServer

pytestmark = pytest.mark.needs("mcp")
_BOUND = 30


class _EndingServer(_SessionServer):
    """Each token is over at once, and can be renewed once. The end of a session waits for `may_end`."""

    def __init__(self) -> None:
        super().__init__()
        self.RequestHandlerClass = _EndingHandler
        self.tokens = 0
        self.may_end = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/mcp"


class _EndingHandler(_SessionHandler):
    server: _EndingServer

    def do_POST(self) -> None:  # noqa: N802 -- as the base class calls it
        if self.path != "/token":
            super().do_POST()
            return
        values = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        if values["refresh_token"] != [f"r{self.server.tokens}"]:
            self._send(400, b'{"error": "invalid_grant"}')
            return
        self.server.tokens += 1
        self._send(200, json.dumps(make_tokens(self.server.tokens)).encode())

    def do_DELETE(self) -> None:  # noqa: N802 -- as the base class calls it
        self.server.may_end.wait(_BOUND)
        self._send(200)


def make_tokens(number: int) -> dict[str, Any]:
    return {
        "access_token": f"a{number}",
        "refresh_token": f"r{number}",
        "token_type": "Bearer",
        "expires_in": -1,
    }


def make_sign_in() -> dict[str, Any]:
    client = {"client_id": "c", "redirect_uris": ["http://127.0.0.1:9/callback"]}
    return {"tokens": make_tokens(0), "expires": 1.0, "client": client}


def make_spec(address: str, signed_in: Any = None) -> dict[str, Any]:
    return {
        "name": "t",
        "command": [],
        "url": address,
        "values": {},
        "cwd": os.sep,
        "reach": "",
        "may_sign_in": True,
        "sign_in": False,
        "signed_in": signed_in,
    }


@pytest.fixture
def ending() -> Iterator[_EndingServer]:
    listening = _EndingServer()
    serving = threading.Thread(target=listening.serve_forever, args=(0.02,))
    serving.start()
    yield listening
    listening.may_end.set()
    listening.shutdown()
    serving.join()
    listening.server_close()


def test_a_token_that_is_renewed_while_the_connection_closes_is_kept(
    open_workspace: Open, ending: _EndingServer
) -> None:
    ending.may_end.set()
    server = read(f"t = {ending.address}")
    SignIns(Secrets()).save(server, make_sign_in())
    workspace = open_workspace(servers=[server.line])
    assert workspace.mcp.tools()
    before = ending.tokens
    workspace.close()
    assert ending.tokens > before
    saved = SignIns(Secrets()).of(server) or {}
    assert saved["tokens"]["refresh_token"] == f"r{ending.tokens}"


async def test_a_connection_that_gives_way_reports_the_token_that_it_renews(ending: _EndingServer) -> None:
    owner = pytest.importorskip("oi_tui.mcp_client.child.owner")
    ending.may_end.set()
    events: list[dict[str, Any]] = []
    connection = owner.ServerConnection(make_spec(ending.address, make_sign_in()), events.append)
    await asyncio.wait_for(connection.ready(), _BOUND)
    before = ending.tokens
    await asyncio.wait_for(connection.retire(), _BOUND)
    assert ending.tokens > before
    assert events[-1]["signed_in"]["tokens"]["refresh_token"] == f"r{ending.tokens}"


def test_a_late_sign_in_is_kept_for_the_address_that_it_came_from() -> None:
    old, new = read("t = http://127.0.0.1:9/old"), read("t = http://127.0.0.1:9/new")
    servers = McpServers(Profile(model="x").with_changes(mcp_servers=(new.line,)), os.sep, lambda _: None)
    servers._handle_notification({"server": "t", "url": old.url, "signed_in": make_sign_in()})
    assert SignIns(Secrets()).of(old) == make_sign_in()
    assert SignIns(Secrets()).of(new) is None
    assert servers.status[0].signed_in is None


def test_a_sign_out_forgets_also_what_the_end_of_the_connection_renews(
    open_workspace: Open, ending: _EndingServer
) -> None:
    ending.may_end.set()
    server = read(f"t = {ending.address}")
    SignIns(Secrets()).save(server, make_sign_in())
    workspace = open_workspace(servers=[server.line])
    assert workspace.mcp.tools()
    assert workspace.mcp.servers.sign_out(workspace.mcp.servers.status[0])
    assert SignIns(Secrets()).of(server) is None


async def test_a_server_that_does_not_answer_the_end_of_its_session_holds_nothing_up(
    ending: _EndingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = pytest.importorskip("oi_tui.mcp_client.child.owner")
    monkeypatch.setattr(owner, "_ENDING", 0.05)
    connection = owner.ServerConnection(make_spec(ending.address), lambda _: None)
    await asyncio.wait_for(connection.ready(), _BOUND)
    await asyncio.wait_for(connection.close(), _BOUND)
    assert not ending.may_end.is_set()


def test_a_server_whose_end_was_noticed_too_early_is_started_again(open_workspace: Open) -> None:
    workspace = open_workspace()
    tools = {tool.name: tool for tool in workspace.mcp.tools()}
    (status,) = workspace.mcp.servers.status
    with pytest.raises(McpCallError, match="exit code 7"):
        workspace.mcp.servers.call(tools["leave"], {})
    assert wait_until(lambda: status.state == "failed", _BOUND)
    # As where the server ends before its list is used.
    status.state = "ready"
    assert workspace.mcp.servers.call(tools["add"], {"a": 1})["structuredContent"] == {"sum": 2}


def test_a_server_that_was_removed_is_not_connected() -> None:
    profile = Profile(model="x")
    notices: list[str] = []
    servers = McpServers(profile.with_changes(mcp_servers=("t = no-program",)), os.sep, notices.append)
    (status,) = servers.status
    servers.use(profile)
    with pytest.raises(McpCallError, match="no longer in the profile"):
        servers.test(status)
    assert servers._connection._process is None
    assert notices == []


def ask_process(monkeypatch: pytest.MonkeyPatch, program: str, on_report: Callable[..., None]) -> Any:
    """Send one request to a process with this program in place of the one that talks to servers."""
    monkeypatch.setattr(connection, "_BOOT", f"import sys; sys.stdin.readline(); {program}")
    process = McpConnection(on_report)
    stopped = threading.Event()
    timer = threading.Timer(_BOUND, stopped.set)
    timer.start()
    try:
        return process.ask({"do": "call"}, stopped)
    finally:
        timer.cancel()
        process.close()


def test_those_who_wait_are_told_of_a_process_that_was_killed_while_it_wrote(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reports: list[Mapping[str, Any]] = []
    with pytest.raises(McpCallError, match="the process that talks to MCP servers ended"):
        ask_process(monkeypatch, """print('{"id": 1, "result": {"te', end='')""", reports.append)
    assert wait_until(lambda: {"gone": True} in reports, _BOUND)


def test_a_notification_that_fails_keeps_no_answer_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise RuntimeError

    program = """print('{"server": "t"}'); print('{"id": 1, "result": 5}')"""
    assert ask_process(monkeypatch, program, fail) == 5
