"""Workspaces with a model that recites and real MCP servers, over standard input and over HTTP."""

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from oi_tui.engine.settings.profile import Profile
from oi_tui.mcp_client import servers
from oi_tui.workspace import Workspace
from tests.fakes import Llm
from tests.quick_starts import fork_server

SERVER = Path(__file__).parents[2] / "servers" / "mcp_tools.py"
Open = Callable[..., Workspace]


def command(*words: object) -> list[str]:
    """How a server of the tests is started: as a process of the fork server, where the test has one."""
    address = os.environ.get(fork_server.MCP)
    quick = [str(fork_server.FOLDER / "mcp_server.py"), address] if address else []
    return [sys.executable, *(["-S"] if quick else []), *quick, *map(str, words)]


def server(name: str = "t", script: Path = SERVER, **values: str) -> str:
    """A line of the profile for a server of the tests."""
    pairs = [f"{key}={shlex.quote(value)}" for key, value in values.items()]
    return f"{name} = {' '.join([*pairs, shlex.join(command(script))])}"


@pytest.fixture(scope="session")
def mcp_at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path | None]:
    """The address at which servers, and the process that talks to them, start at once."""
    if find_spec("mcp") is None:
        yield None
        return
    address = tmp_path_factory.mktemp("mcp") / "socket"
    with fork_server.run("mcp", address):
        yield address


@pytest.fixture(autouse=True)
def quick_servers(mcp_at: Path | None, own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers and the process that talks to them are forks of one that has imported the library of MCP."""
    if mcp_at:
        for name, value in fork_server.variables(fork_server.MCP, mcp_at).items():
            monkeypatch.setenv(name, value)


@pytest.fixture
def open_workspace(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Open a workspace with servers; it is closed after the test."""
    pytest.importorskip("mcp", reason="mcp is not installed here")
    # On a busy machine a server needs longer to start than a person would wait for it.
    monkeypatch.setattr(servers, "TIMEOUT", 60.0)
    with ExitStack() as stack:

        def opened(*replies: Sequence[Any], servers: Sequence[str] = (), **settings: Any) -> Workspace:
            profile = Profile(model="x").with_changes(mcp_servers=tuple(servers or [server()]), **settings)
            workspace = Workspace(profile, llm=Llm(*replies))
            stack.callback(workspace.close)
            return workspace

        yield opened
