"""Workspaces with a model that recites and real MCP servers, over standard input and over HTTP."""

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from oi_tui.engine.settings.profile import Profile
from oi_tui.mcp_client import servers
from oi_tui.workspace import Workspace
from tests.fakes import Llm

SERVER = Path(__file__).parents[2] / "servers" / "mcp_tools.py"
Open = Callable[..., Workspace]


def server(name: str = "t", script: Path = SERVER, **values: str) -> str:
    """A line of the profile for a server of the tests."""
    pairs = [f"{key}={shlex.quote(value)}" for key, value in values.items()]
    return f"{name} = {' '.join([*pairs, shlex.join([sys.executable, str(script)])])}"


@pytest.fixture
def open_workspace(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Open a workspace with servers; it is closed after the test."""
    pytest.importorskip("mcp", reason="mcp is not installed here")
    # On a busy machine a server needs longer to start than a person would wait for it.
    monkeypatch.setattr(servers, "PATIENCE", 60.0)
    with ExitStack() as stack:

        def opened(*replies: Sequence[Any], servers: Sequence[str] = (), **settings: Any) -> Workspace:
            profile = Profile(model="x").with_changes(mcp_servers=tuple(servers or [server()]), **settings)
            workspace = Workspace(profile, llm=Llm(*replies))
            stack.callback(workspace.close)
            return workspace

        yield opened
