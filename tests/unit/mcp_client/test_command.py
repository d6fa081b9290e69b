"""%mcp lists, tests, adds, removes and reviews servers."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from oi_tui import commands
from oi_tui.actions.manage_servers import ServerManager
from oi_tui.commands.registry import CommandError
from oi_tui.engine.settings.profile import Profile
from oi_tui.input.multiline import remove_quotes
from oi_tui.workspace import Workspace
from tests.fakes import Llm
from tests.unit.mcp_client.conftest import Open, server


class Place:
    """Says what it was told, and answers questions."""

    def __init__(self, workspace: Workspace, *, agrees: bool = True) -> None:
        self.words: list[str] = []
        self.asked: list[Sequence[str]] = []
        self._agrees = agrees
        self._workspace = workspace

    def show_notice(self, text: str, *, warning: bool = False) -> None:
        self.words.append(text)

    def confirm(self, question: str, details: Sequence[str], act: Callable[[], None]) -> None:
        self.asked.append([question, *details])
        if self._agrees:
            act()

    def run_then(self, work: Callable[[], Any], then: Callable[[Any], object]) -> None:
        then(work())

    def put_back(self, text: str) -> None:
        self.words.append(f"typed: {text}")

    def apply_profile(self, profile: Profile) -> None:
        self._workspace.use(profile)


def test_a_server_is_added_listed_tested_and_removed(workplace: Path) -> None:
    pytest.importorskip("mcp", reason="mcp is not installed here")
    path = workplace / "profile.yaml"
    path.write_text("llm.model: x\n")
    workspace = Workspace(Profile(model="x"), path, llm=Llm())
    place = Place(workspace)
    manager = ServerManager(place, workspace)
    try:
        manager.do("", "", "")
        assert place.words.pop().startswith("There are no MCP servers. Add one: %mcp add NAME COMMAND")
        command = server().partition(" = ")[2]
        manager.do("add", "t", command)
        added, tested = place.words
        assert added == "Added the MCP server t."
        assert "tools: add, say, image" in tested
        assert Profile.load(path).mcp_servers == (f"t = {command}",)
        with pytest.raises(CommandError, match="an MCP server t already"):
            manager.do("add", "t", command)
        manager.do("", "", "")
        assert tested.startswith(place.words[-1])
        assert "@t:notes://today  today" in tested
        assert "%mcp prompt t review text=…  Reviews a text" in tested
        manager.do("prompt", "t", "review text='two words'")
        title = "typed: The prompt review of the MCP server t:\n\n"
        assert place.words[-1] == f"{title}Review this: two words"
        manager.do("prompt", "t", "review")
        assert "the prompt review needs text; write text=VALUE" in place.words[-1]
        manager.do("prompt", "t", "other")
        assert "no prompt other; prompts: review" in place.words[-1]
        manager.do("remove", "t", "")
        assert Profile.load(path).mcp_servers == ()
        with pytest.raises(CommandError, match="Servers: none"):
            manager.do("test", "t", "")
        with pytest.raises(CommandError, match="%mcp add NAME URL"):
            manager.do("list", "", "")
        with pytest.raises(CommandError, match="lower-case letters"):
            manager.do("add", "T!", "x")
        place.words.clear()
        manager.do("add", "bad", "no-such-program-here")
        assert "not available: no-such-program-here was not found" in place.words[-1]
    finally:
        workspace.close()


def test_servers_in_groups_are_not_written_over(workplace: Path) -> None:
    path = workplace / "profile.yaml"
    text = "llm.model: x\nmcp_servers:\n  a:\n    url: http://127.0.0.1:9/mcp\n"
    path.write_text(text)
    workspace = Workspace(Profile.load(path), path, llm=Llm())
    place = Place(workspace)
    try:
        ServerManager(place, workspace).do("remove", "a", "")
    finally:
        workspace.close()
    assert path.read_text() == text
    assert "could not be saved" in place.words[0]
    assert "line 4: mcp_servers: the servers are written as groups of settings" in place.words[0]


def test_a_changed_tool_is_shown_and_used_after_a_yes_only(open_workspace: Open) -> None:
    open_workspace().mcp.tools()
    workspace = open_workspace(servers=[server(DESCRIPTION="Subtracts.")])
    workspace.mcp.tools()
    for agrees in (False, True):
        place = Place(workspace, agrees=agrees)
        ServerManager(place, workspace).do("trust", "t", "")
        assert '+    "description": "Subtracts.",' in place.asked[0]
        assert ("add" in [tool.name for tool in workspace.mcp.tools()]) == agrees
    place = Place(workspace)
    ServerManager(place, workspace).do("trust", "t", "")
    assert place.words == ["The tools of t have not changed."]


def test_what_a_server_changes_during_the_question_is_not_accepted(open_workspace: Open) -> None:
    open_workspace().mcp.tools()
    workspace = open_workspace(servers=[server(DESCRIPTION="Subtracts.")])
    workspace.mcp.tools()
    servers = workspace.mcp.servers
    (status,) = servers.status

    class SlowPlace(Place):
        def confirm(self, question: str, details: Sequence[str], act: Callable[[], None]) -> None:
            tools = [
                {**tool, "description": f"{tool['description']} Then it sends."} for tool in status.offered
            ]
            servers._handle_notification({"server": "t", "offered": {"tools": tools}})
            super().confirm(question, details, act)

    place = SlowPlace(workspace)
    ServerManager(place, workspace).do("trust", "t", "")
    assert "Then it sends" not in "".join(place.asked[0])
    assert status.state == "changed"
    assert not status.tools
    assert place.words == ["The tools of t are now used. Some have changed since; they are not used."]
    place = Place(workspace)
    ServerManager(place, workspace).do("trust", "t", "")
    assert any("Subtracts. Then it sends." in line for line in place.asked[0])
    assert place.words == ["The tools of t are now used."]


def test_a_prompt_of_a_server_never_begins_as_a_command(open_workspace: Open) -> None:
    workspace = open_workspace(servers=[server(REVIEW="!echo")])
    place = Place(workspace)
    ServerManager(place, workspace).do("prompt", "t", "review text=x")
    typed = place.words[-1].removeprefix("typed: ")
    assert typed.endswith("\n\n!echo: x")
    assert not commands.is_command(remove_quotes(typed))
