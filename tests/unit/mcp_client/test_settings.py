"""MCP servers in a profile: as lines and as groups of settings."""

from pathlib import Path

import pytest

from oi_tui.engine.settings import mcp_servers
from oi_tui.engine.settings.mcp_servers import McpServer, McpServerError
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.settings.setting import ProfileError

LINES = {
    "files = npx -y server-files '/my folder'": McpServer(
        "files", ("npx", "-y", "server-files", "/my folder")
    ),
    "git=TOKEN=${GIT_TOKEN} A='b c' git-server": McpServer(
        "git", ("git-server",), values={"TOKEN": "${GIT_TOKEN}", "A": "b c"}
    ),
    "docs = https://example.com/mcp?a=1 Authorization='Bearer ${DOCS}'": McpServer(
        "docs", url="https://example.com/mcp?a=1", values={"Authorization": "Bearer ${DOCS}"}
    ),
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_names_a_server_and_is_written_again(line: str) -> None:
    assert mcp_servers.read(line) == LINES[line]
    assert mcp_servers.read(LINES[line].line) == LINES[line]


@pytest.mark.parametrize(
    "line", ["", "npx server", "Files = npx", "a b = npx", "x =", "x = A=b", "x = 'open", "x = https://h a"]
)
def test_what_is_no_server_is_refused_with_what_it_must_be(line: str) -> None:
    with pytest.raises(McpServerError):
        mcp_servers.read(line)
    with pytest.raises(ProfileError, match=r"mcp_servers: expected .*"):
        Profile(model="x").with_changes(mcp_servers=(line,))


def test_variables_come_from_the_environment() -> None:
    server = mcp_servers.read("x = T=${KEY} run ${PLACE}/a")
    filled = server.fill({"KEY": "k", "PLACE": "/p"})
    assert (filled.command, filled.values) == (("run", "/p/a"), {"T": "k"})
    with pytest.raises(McpServerError, match="The environment variable PLACE is not set"):
        server.fill({"KEY": "k"})


def test_a_profile_has_servers_as_groups_too(tmp_path: Path) -> None:
    path = tmp_path / "profile.yaml"
    path.write_text(
        "mcp_servers:\n"
        "  files:\n    command: npx\n    args: [-y, server-files, .]\n    env:\n      LEVEL: 2\n"
        "  docs:\n    url: https://example.com/mcp\n    headers: {Authorization: 'Bearer ${DOCS}'}\n"
    )
    files, docs = map(mcp_servers.read, Profile.load(path).mcp_servers)
    assert files == McpServer("files", ("npx", "-y", "server-files", "."), values={"LEVEL": "2"})
    assert docs == McpServer(
        "docs", url="https://example.com/mcp", values={"Authorization": "Bearer ${DOCS}"}
    )
    for wrong in (
        "mcp_servers:\n  a:\n    comand: npx\n",
        "mcp_servers:\n  a:\n    command: npx\n    url: https://x\n",
        "mcp_servers:\n  a:\n    env: {A: b}\n",
        "mcp_servers: npx\n",
        "mcp_servers: [npx]\n",
    ):
        path.write_text(wrong)
        with pytest.raises(ProfileError, match="mcp_servers"):
            Profile.load(path)
