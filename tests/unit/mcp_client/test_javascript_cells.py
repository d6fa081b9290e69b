"""Tools of MCP servers as functions in JavaScript cells: a real Node.js, a real server."""

import threading
from pathlib import Path

import pytest

from oi_tui.engine.events import ApprovalRequested
from oi_tui.engine.output.plain import make_plain
from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.scanner import scan_code
from oi_tui.engine.tools import find_servers
from oi_tui.workspace import Workspace
from tests.processes import wait_until
from tests.unit.mcp_client.conftest import Open, server

pytestmark = pytest.mark.needs("node")


def run(workspace: Workspace, code: str, language: str = "javascript") -> tuple[str, str]:
    """Propose code and say yes; return what it printed, and what the question said."""
    before = len(workspace.session.messages)
    note = ""
    for event in workspace.session.propose(language, code):
        if isinstance(event, ApprovalRequested):
            note = event.note
            event.run()
    own = workspace.session.messages[before:]
    return make_plain("".join(m.content for m in own if m.type == "console")), note


def test_a_cell_calls_the_tools_that_it_names(open_workspace: Open, workplace: Path) -> None:
    workspace = open_workspace(servers=[server("my-tools")])
    printed, note = run(
        workspace,
        "const found = await tools.my_tools.add({ a: 40, b: 2 });\nconsole.log(found.sum + 1);\n"
        "console.log((await tools.my_tools.say({ text: '[1, 2]' }))[1]);\n"
        "console.log((await tools.my_tools.image()).subarray(1, 4).toString());",
    )
    assert note == "This code may call tools of MCP servers: my_tools.add, my_tools.image, my_tools.say."
    assert printed.split() == ["43", "2", "PNG"]
    # What a cell does not name, it may not call; nor may an earlier cell's function in a later one.
    for code in (
        "const given = tools.my_tools; await given.add({ a: 1 })",
        "await tools?.my_tools?.add({ a: 1 })",
        "await tools['my_tools']['add']({ a: 1 })",
        "const { add } = tools.my_tools; await add({ a: 1 })",
    ):
        assert "the cell does not name it" in run(workspace, f"{{ {code} }}")[0], code
    run(workspace, "function later() { return tools.my_tools.add({ a: 1 }); }")
    assert "the cell does not name it" in run(workspace, "await later()")[0]
    for code, words in (
        ("await tools.my_tools.fail()", "Error executing tool fail"),
        ("await tools.my_tools.gone()", "There is no tool tools.my_tools.gone"),
        ("await tools.my_tools.add(1)", "give the arguments as one object"),
        ("const a = {}; a.a = a; await tools.my_tools.add(a)", "must be values of JSON"),
        ("console.log((await tools()).some((item) => item.tool === 'add'), await tools)", "true"),
    ):
        assert words in run(workspace, f"{{ {code} }}")[0], code
    assert run(workspace, "const tools = 5; console.log(tools + 1)")[0].strip() == "6"


def test_only_the_process_of_the_cell_can_call(open_workspace: Open, workplace: Path) -> None:
    workspace = open_workspace()
    script = workplace / "raw.js"
    script.write_text(
        "const c = require('net').connect(process.env.OI_TUI_TOOLS);"
        "c.on('data', (d) => console.log(d.toString()));"
        """c.write(JSON.stringify({ server: 't', tool: 'say', arguments: { text: 'REACHED' } }) + '\\n');"""
    )
    printed, note = run(
        workspace,
        "// tools.t.say\nconst { promisify } = require('util');\n"
        "const run = promisify(require('child_process').execFile);\n"
        f"console.log((await run(process.execPath, [{str(script)!r}])).stdout)",
    )
    assert note.endswith(": t.say.")
    assert "Only the process that runs the cell" in printed
    # Python at work does not lend its rights to JavaScript that waits since an earlier cell.
    run(
        workspace,
        "globalThis.early = setInterval(() => tools.t.say({ text: 'REACHED' }).then(console.log, "
        "(error) => require('fs').writeFileSync('refused', error.message)), 20); early.unref(); 0",
    )
    printed, _ = run(
        workspace,
        "import os, time\nprint(tools.t.say(text='mine'))\nend = time.time() + 1\n"
        "while time.time() < end and not os.path.exists('refused'): time.sleep(0.01)",
        "python",
    )
    assert "mine" in printed
    assert "REACHED" not in "".join(m.content for m in workspace.session.messages if m.type == "console")


def test_an_interrupt_ends_a_call_and_keeps_variables(open_workspace: Open, workplace: Path) -> None:
    workspace = open_workspace()
    mark = workplace / "mark"
    stopper = threading.Thread(target=lambda: wait_until(mark.exists, 60) and workspace.session.interrupt())
    stopper.start()
    run(workspace, f"var kept = 7;\nawait tools.t.wait({{ mark: {str(mark)!r} }})")
    stopper.join()
    assert [m.state for m in workspace.session.messages if m.type == "code"] == ["interrupted"]
    assert "7 2" in run(workspace, "console.log(kept, (await tools.t.add({ a: 1 })).sum)")[0]
    assert workspace.mcp.servers.status[0].state == "ready"


def test_calls_of_tools_are_a_finding_in_the_languages_that_can_call_them() -> None:
    earlier = EarlierCode()
    earlier.servers = find_servers(["a-b = run"])
    for language in ("javascript", "typescript"):
        found = scan_code(language, "await tools.a_b.add({})", Path("/"), earlier)
        assert "calls tools of MCP servers: a_b.add (line 1)" in found.risk_sentences, language
    assert "calls tools" not in str(scan_code("ruby", "tools.a_b.add", Path("/"), earlier).risk_sentences)
