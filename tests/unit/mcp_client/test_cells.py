"""Tools of MCP servers as functions in Python cells: a real Python, a real server."""

import threading
from pathlib import Path
from typing import Any

import pytest

from oi_tui.engine.events import ApprovalRequested, Event, MessageRecorded, RunReported
from oi_tui.engine.output.plain import make_plain
from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.permissions import Permission
from oi_tui.engine.review.scanner import scan_code
from oi_tui.engine.tools import find_named, find_named_of, find_servers
from oi_tui.messages import InputReceived, InputRequested
from oi_tui.workspace import Workspace
from tests.processes import wait_until
from tests.unit.mcp_client.conftest import Open, server


def run(workspace: Workspace, code: str, language: str = "python") -> tuple[str, list[ApprovalRequested]]:
    """Propose code and say yes; return what it printed, and what was asked."""
    events: list[Event] = []
    asked = []
    before = len(workspace.session.messages)
    for event in workspace.session.propose(language, code):
        events.append(event)
        if isinstance(event, ApprovalRequested):
            asked.append(event)
            event.run()
    assert any(isinstance(event, MessageRecorded) for event in events)
    own = workspace.session.messages[before:]
    return make_plain("".join(m.content for m in own if m.type == "console")), asked


def test_a_language_that_starts_after_a_server_was_added_calls_its_tools(open_workspace: Open) -> None:
    workspace = open_workspace(servers=[])
    workspace.use(workspace.profile.with_changes(mcp_servers=(server("later"),)))
    printed, _ = run(workspace, "print(tools.later.add(a=40, b=2))")
    assert "42" in printed


def test_a_cell_calls_the_tools_that_it_names(open_workspace: Open, workplace: Path) -> None:
    workspace = open_workspace(servers=[server("my-tools")])
    printed, (question,) = run(
        workspace,
        "found = tools.my_tools.add(a=40, b=2)\nprint(found['sum'] + 1)\n"
        "print(tools.my_tools.add({'a': 1}), tools.my_tools.say(text='[1, 2]')[1])\n"
        "print(tools.my_tools.image()[:4])",
    )
    assert question.note == (
        "This code may call tools of MCP servers: my_tools.add, my_tools.image, my_tools.say."
    )
    assert "43" in printed
    assert "{'sum': 2} 2" in printed
    assert r"b'\x89PNG'" in printed
    # What a cell does not name, it may not call; nor may an earlier cell's function in a later one.
    for code in (
        "server = tools.my_tools\nserver.add(a=1)",
        "getattr(tools.my_tools, 'a' + 'dd')(a=1)",
        "def later(): return tools.my_tools.add(a=1)\nprint('defined')",
        "later()",
    ):
        printed, _ = run(workspace, code)
        assert "the cell does not name it" in printed or printed.strip() == "defined"
    assert "sum" not in printed
    for code, words in (
        ("tools.my_tools.fail()", "Error executing tool fail"),
        ("tools.my_tools.gone()", "There is no tool tools.my_tools.gone"),
        ("tools.my_tools.add(1)", "give the arguments by name"),
        ("tools.my_tools.add(a=open)", "must be values of JSON"),
        ("tools.my_tools.leave()", "The MCP server my-tools failed: it ended (exit code 7)"),
    ):
        assert words in run(workspace, code)[0]
    printed, _ = run(workspace, "print(dir(tools), 'wait' in dir(tools.my_tools)); help(tools.my_tools.add)")
    assert "['my_tools'] True" in printed
    assert "Adds two numbers." in printed
    # The scan of other code goes on as before.
    assert workspace.computer.replaced == frozenset()


def test_an_interrupt_ends_a_call_of_a_cell_and_keeps_variables(
    open_workspace: Open, workplace: Path
) -> None:
    workspace = open_workspace()
    mark = workplace / "mark"
    stopper = threading.Thread(target=lambda: wait_until(mark.exists, 60) and workspace.session.interrupt())
    stopper.start()
    run(workspace, f"kept = 7\ntools.t.wait(mark={str(mark)!r})")
    stopper.join()
    assert [m.state for m in workspace.session.messages if m.type == "code"] == ["interrupted"]
    assert "7 {'sum': 2}" in run(workspace, "print(kept, tools.t.add(a=1))")[0]
    assert workspace.mcp.servers.status[0].state == "ready"


def test_a_grant_for_python_does_not_cover_tools(open_workspace: Open) -> None:
    workspace = open_workspace()
    workspace.session.permissions.add(Permission("language", "python"))
    assert not run(workspace, "print(1)")[1]
    assert run(workspace, "print(tools.t.add(a=1))")[1]
    workspace.session.permissions.add(Permission("language", "mcp:t.add"))
    printed, asked = run(workspace, "print(tools.t.add(a=1))")
    assert not asked
    assert "{'sum': 2}" in printed


@pytest.mark.parametrize(("settings", "questions"), [({}, 0), ({"safe_mode": "auto"}, 1)])
def test_auto_run_and_safe_mode_count(open_workspace: Open, settings: dict[str, Any], questions: int) -> None:
    workspace = open_workspace(auto_run=True, **settings)
    printed, asked = run(workspace, "print(tools.t.add(a=1))")
    assert len(asked) == questions
    assert "{'sum': 2}" in printed


def test_names_are_found_in_any_writing() -> None:
    code = "tools . a.b(); x = [tools.c.d, mytools.e.f, tools.g]\n%time tools.h\n.i()"
    assert find_named(code) == {"a.b", "c.d", "h.i"}
    servers = find_servers(["a-b = run"])
    assert find_named_of("x\ntools.a_b.c; tools.other.x", servers) == [("a_b.c", 2)]
    earlier = EarlierCode()
    assert scan_code("python", "print(tools.a_b.add())", Path("/"), earlier).found == ()
    earlier.servers = servers
    for code in ("print(tools.a_b.add())", "%time tools.a_b.add()", "tools.a_b.add( :"):
        found = scan_code("python", code, Path("/"), earlier)
        assert not found.nothing_listed
        assert found.risk_sentences == ["calls tools of MCP servers: a_b.add (line 1)"]


ASKING = {
    "python": "print('before')\nprint(tools.t.book())\nprint('after', input('And? '))",
    "javascript": "console.log('before'); console.log(await tools.t.book()); console.log('after')",
}


@pytest.mark.parametrize("language", ["python", pytest.param("javascript", marks=pytest.mark.needs("node"))])
def test_a_tool_that_a_cell_calls_asks_the_person(open_workspace: Open, language: str) -> None:
    workspace = open_workspace(auto_run=True)
    lines = ["many\n", "3\n", "first\n", "yes\n", "with a view\n", "more\n"]
    prompts = []
    open_questions = 0
    for event in workspace.session.propose(language, ASKING[language]):
        report = event.report if isinstance(event, RunReported) else None
        if isinstance(report, InputRequested):
            open_questions += 1
            prompts.append(report.prompt.partition(" (")[0])
            workspace.computer.send_input(lines.pop(0))
        elif isinstance(report, InputReceived):
            open_questions -= 1
    text = "".join(m.content for m in workspace.session.messages if m.type == "console").replace("\r", "")
    asked = ["Days", "Days", "Class", "Return", "Note"]
    assert (prompts, open_questions) == (asked + ["And? "] * (language == "python"), 0)
    beginning, _, rest = text.partition("The MCP server t asks: Which trip?")
    assert beginning.strip() == "before"
    questions, _, result = rest.partition("Answered.\n")
    assert "Type a whole number." in questions
    assert not any(answer in questions for answer in ("many", "with a view"))
    assert "days=3 class_='first' return_=True note='with a view'" in result
    assert result.strip().endswith("after more" if language == "python" else "after")


@pytest.mark.parametrize("how", ["decline", "stop"])
def test_a_question_of_a_cells_tool_is_declined_or_ends_with_the_cell(open_workspace: Open, how: str) -> None:
    workspace = open_workspace(auto_run=True)
    for event in workspace.session.propose("python", "kept = 7\nprint(tools.t.ask())"):
        if isinstance(event, RunReported) and isinstance(event.report, InputRequested):
            if how == "decline":
                workspace.computer.send_input("\x04")
            else:
                workspace.session.interrupt()
    states = [m.state for m in workspace.session.messages if m.type == "code"]
    printed = "".join(m.content for m in workspace.session.messages if m.type == "console")
    assert (states, "Declined." in printed) == (
        (["finished"], True) if how == "decline" else (["interrupted"], False)
    )
    assert "7" in run(workspace, "print(kept)")[0]
