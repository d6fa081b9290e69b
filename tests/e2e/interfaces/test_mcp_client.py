"""A tool of an MCP server in the real program: offered to the model, asked for on the panel, called."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import Start
from tests.servers.openai_server import Call, ModelServer, Say, spoken

pytestmark = pytest.mark.needs("mcp")
SERVER = Path(__file__).parents[2] / "servers" / "mcp_tools.py"


def test_the_model_calls_a_tool_after_a_yes(start: Start, workplace: Path) -> None:
    line = f"t = {shlex.join([sys.executable, str(SERVER)])}"
    tool = Call(json.dumps({"a": 40, "b": 2}), name="mcp__t__add")
    with ModelServer(spoken(Say("I will add."), tool), spoken(Say("It is done."))) as server:
        flags = ("-m", "openai/tester", "-ab", server.base, "-ak", "sk-test-key", "--mcp-servers", line)
        program = start(*flags)
        program.begin()
        screen = program.asked_first("What is 40 + 2?")
        assert "Call the tool add of the MCP server t?" in screen
        assert '"a": 40' in screen
        assert "the MCP server t (" in screen
        program.answer("y")
        screen = program.wait_for("It is done.")
        assert '"sum": 42' in screen
        program.idle()
        first, second = server.requests
        assert [item["function"]["name"] for item in first["tools"]][:2] == ["execute", "mcp__t__add"]
        called = second["messages"][-2]["tool_calls"][0]["function"]
        assert (called["name"], json.loads(called["arguments"])) == ("mcp__t__add", {"a": 40, "b": 2})
        assert '"sum": 42' in second["messages"][-1]["content"]
        program.say("%mcp")
        program.wait_for("tools: add, say, image")
