"""Python cells that try to call tools which the question did not list; and what else reaches the socket."""

import os
import socket
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from oi_tui.engine.events import ApprovalRequested, Event, MessageRecorded
from oi_tui.engine.review.findings import Findings
from oi_tui.engine.review.permissions import Permission
from oi_tui.engine.tools import CallableTools, McpTool
from oi_tui.mcp_client.cells import CellTools
from oi_tui.messages import Message
from oi_tui.runtimes.languages import LANGUAGES
from oi_tui.system import environment_names
from oi_tui.widgets.approval.text import describe_request
from oi_tui.workspace import Workspace
from tests.unit.mcp_client.conftest import Open, server
from tests.unit.mcp_client.test_cells import run

#: Calls the tool `say` with a mark by way of the socket, from whatever process runs this.
RAW = """
import json, os, socket, sys
def raw(path, tool='say'):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        request = {'server': 't', 'tool': tool, 'arguments': {'text': 'REACHED'}}
        connection.sendall(json.dumps(request).encode() + b'\\n')
        return connection.makefile().readline()
"""
#: None of these names t.say as a question lists it.
UNLISTED = {
    "getattr": "print(getattr(getattr(tools, 't'), 'sa' + 'y')(text='DEHCAER'[::-1]))",
    "a variable": "server = tools.t\nprint(server.say(text='DEHCAER'[::-1]))",
    "eval": "print(eval('tools' + '.t.' + 'say(text=\"DEHCAER\"[::-1])'))",
    "exec": "exec('print(tools' + '.t.s' + 'ay(text=\"DEHCAER\"[::-1]))')",
    "a loop over names": (
        "for name in dir(tools.t):\n    if name == 'say':\n"
        "        print(getattr(tools.t, name)(text='DEHCAER'[::-1]))"
    ),
    "brackets": "print((tools).t.say(text='DEHCAER'[::-1]))",
    "letters that Python takes for others": "print(tools.t.\uff53ay(text='DEHCAER'[::-1]))",
    "builtins": "import builtins\nprint(builtins.tools.t.__getattr__('say')(text='DEHCAER'[::-1]))",
    "the module": (
        "import sys\nask = sys.modules['python_tools']._ask\n"
        "print(ask({'server': 't', 'tool': 'say', 'arguments': {'text': 'DEHCAER'[::-1]}}))"
    ),
    "another tool's object": "tool = tools.t.add\ntool._tool = 'say'\nprint(tool(text='DEHCAER'[::-1]))",
    "the socket": RAW + "print(raw(os.environ['OI_TUI_TOOLS']))",
    "a thread": (
        "import threading\nfound = []\ndef work():\n"
        "    try: found.append(tools.t.__getattr__('say')(text='DEHCAER'[::-1]))\n"
        "    except Exception as error: found.append(error)\n"
        "thread = threading.Thread(target=work)\nthread.start()\nthread.join()\nprint(found)"
    ),
}


def read_output(workspace: Workspace) -> str:
    return "".join(m.content for m in workspace.session.messages if m.type == "console")


def test_what_a_cell_does_not_name_is_refused_in_every_writing(open_workspace: Open) -> None:
    workspace = open_workspace()
    for way, code in UNLISTED.items():
        printed, (question,) = run(workspace, code)
        assert "t.say" not in question.note, way
        assert "REACHED" not in printed, way
        assert "does not name it" in printed, way
    # The same tool, where the question lists it.
    printed, (question,) = run(workspace, "print(tools.t.say(text='REACHED'))")
    assert question.note.endswith(": t.say.")
    assert printed.strip() == "REACHED"


@pytest.mark.needs("bash")
def test_only_the_python_of_the_cell_can_call_what_the_cell_names(
    open_workspace: Open, workplace: Path
) -> None:
    workspace = open_workspace()
    script = workplace / "raw.py"
    script.write_text(RAW + "print(raw(sys.argv[1]))")
    starts = {
        "a program": f"import subprocess, sys, os\nprint(subprocess.run([sys.executable, {str(script)!r}, "
        "os.environ['OI_TUI_TOOLS']], capture_output=True, text=True).stdout)",
        "a fork": RAW + "sys.stdout.flush()\nif not os.fork():\n"
        "    print(raw(os.environ['OI_TUI_TOOLS']), flush=True)\n    os._exit(0)\nprint(os.wait()[1])",
        "multiprocessing": "import multiprocessing\n"
        "with multiprocessing.get_context('fork').Pool(1) as pool:\n"
        "    try: print(pool.apply(tools.t.say, (), {'text': 'REACHED'}))\n"
        "    except Exception as error: print(error)",
        "the shell": f"!{sys.executable} {script} $OI_TUI_TOOLS",
    }
    for way, code in starts.items():
        printed, _ = run(workspace, f"# tools.t.say\n{code}")
        assert "Only the process that runs the cell" in printed, (way, printed)
    # A process of an earlier cell, or of another language, that waits for a cell which names the tool.
    path, mark, done = run(workspace, "import os\nprint(os.environ['OI_TUI_TOOLS'])")[0].strip(), "go", "done"
    script.write_text(
        RAW
        + textwrap.dedent(
            f"""
            import time
            while not os.path.exists({mark!r}): time.sleep(0.01)
            answer = raw(sys.argv[1])
            open({done + ".part"!r}, 'w').write(answer)
            os.rename({done + ".part"!r}, {done!r})
            """
        )
    )
    for language, start in (
        ("python", f"import subprocess, sys\nsubprocess.Popen([sys.executable, {str(script)!r}, {path!r}])"),
        ("shell", f"{sys.executable} {script} {path} &"),
    ):
        for event in workspace.session.propose(language, start):
            if isinstance(event, ApprovalRequested):
                event.run()
        printed, _ = run(
            workspace,
            f"import os, time\nopen({mark!r}, 'w').close()\n"
            f"while not os.path.exists({done!r}): time.sleep(0.01)\n"
            f"print(open({done!r}).read(), tools.t.say(text='mine'))\n"
            f"os.remove({done!r}); os.remove({mark!r})",
        )
        assert "Only the process that runs the cell" in printed
        assert "mine" in printed


def test_code_of_an_earlier_cell_gets_no_rights_of_a_later_one(open_workspace: Open, workplace: Path) -> None:
    workspace = open_workspace()
    # A connection that was opened before, and a thread that goes on.
    run(
        workspace,
        "import os, socket, threading, time\nearly = socket.socket(socket.AF_UNIX)\n"
        "early.connect(os.environ['OI_TUI_TOOLS'])\nfound = []\n"
        "def work():\n    while not os.path.exists('end'):\n        try:\n"
        "            found.append(getattr(tools.t, 'say')(text='REACHED'))\n"
        "        except Exception as error: found.append(str(error))\n"
        "        time.sleep(0.01)\n"
        "thread = threading.Thread(target=work)\nthread.start()",
    )
    printed, _ = run(
        workspace, "count = len(found)\nwhile len(found) < count + 3: time.sleep(0.01)\nprint(found[-1])"
    )
    assert "does not name it" in printed
    # The thread goes on while a cell runs that names another tool.
    printed, _ = run(
        workspace,
        "print(tools.t.add(a=1))\ncount = len(found)\nwhile len(found) < count + 3: time.sleep(0.01)\n"
        "open('end', 'w').close(); thread.join(); print('REACHED' in found)",
    )
    assert "{'sum': 2}" in printed
    assert "False" in printed
    printed, _ = run(
        workspace,
        "import json\nrequest = {'server': 't', 'tool': 'say', 'arguments': {'text': 'REACHED'}}\n"
        "early.sendall(json.dumps(request).encode() + b'\\n')\n"
        "print(early.makefile().readline())  # tools.t.say",
    )
    assert "does not name it" in printed
    assert "REACHED" not in read_output(workspace)


def test_an_edit_that_names_other_tools_is_asked_for_again(open_workspace: Open) -> None:
    workspace = open_workspace()
    asked = []
    for event in workspace.session.propose("python", "print(tools.t.add(a=1))"):
        if isinstance(event, ApprovalRequested):
            asked.append((event.message.content, event.note))
            if len(asked) == 1:
                event.edit("print(tools.t.say(text='edited'))")
            else:
                event.run()
    assert [note.rpartition(": ")[2] for _, note in asked] == ["t.add.", "t.say."]
    assert asked[1][0] == "print(tools.t.say(text='edited'))"
    assert read_output(workspace).strip() == "edited"
    (code,) = (m for m in workspace.session.messages if m.type == "code")
    assert (code.decision, code.proposed) == ("edited", "print(tools.t.add(a=1))")


def test_more_names_than_a_question_can_list_are_refused(open_workspace: Open) -> None:
    workspace = open_workspace()
    events: list[Event] = list(
        workspace.session.propose("python", "\n".join(f"tools.t.tool_{number:030}" for number in range(40)))
    )
    assert not any(isinstance(event, ApprovalRequested) for event in events)
    (code,) = {
        event.message.id: event.message for event in events if isinstance(event, MessageRecorded)
    }.values()
    assert code.state == "failed"
    assert "more tools of MCP servers than a question can list" in (code.reason or "")


def test_the_panel_cuts_off_nothing_of_what_the_code_may_call() -> None:
    names = ", ".join(f"t.tool_{number:020}" for number in range(18))
    request = ApprovalRequested(Message(role="assistant", type="code", format="python"), note=names)
    _, facts = describe_request(request, "x", "here", Findings(readable=False), 0, "notes")
    assert facts[0] == names


def test_names_that_several_tools_share_in_python_are_refused_and_grants_hold_for_one(
    open_workspace: Open,
) -> None:
    workspace = open_workspace(servers=[server("a-b"), server("a_b")])
    assert "is the name of several tools: a-b.add, a_b.add." in run(workspace, "tools.a_b.add(a=1)")[0]
    # A grant for a tool of one server holds for no tool of another one.
    workspace.session.permissions.add(Permission("language", "python"))
    workspace.session.permissions.add(Permission("language", "mcp:a-b.add"))
    other = CallableTools(frozenset({"a_b.add"}), frozenset({"mcp:a-b.add"}))
    assert other.allows("a_b.add", McpTool("a-b", "add"))
    assert not other.allows("a_b.add", McpTool("a_b", "add"))


@pytest.mark.parametrize("language", ["python", pytest.param("javascript", marks=pytest.mark.needs("node"))])
def test_tools_of_similar_names_are_called_each_by_its_own(open_workspace: Open, language: str) -> None:
    workspace = open_workspace(servers=[server(ALIKE="a.b a_b c.d c-d e.f")])
    dot, under, point, dash, single = (
        tool.exact_path for tool in workspace.mcp.tools() if tool.description.startswith("Answers ")
    )
    assert len({dot, under, point, dash, single}) == 5
    assert under == "t.a_b"
    calls = {dot: "a.b", under: "a_b", point: "c.d", dash: "c-d", single: "e.f", "t.e_f": "e.f"}
    show = "print(tools.{}())" if language == "python" else "console.log(await tools.{}());"
    printed, (question,) = run(workspace, "\n".join(map(show.format, calls)), language)
    assert printed.split() == list(calls.values())
    assert all(path in question.note for path in calls)
    # What means two tools is refused, with what to write instead.
    printed, _ = run(workspace, show.format("t.c_d"), language)
    advice = f"Write tools.{point} for c.d. Write tools.{dash} for c-d."
    assert f"tools.t.c_d is the name of several tools: t.c.d, t.c-d. {advice}" in printed
    # A name that the cell does not write is refused, though the cell names the tool's other name.
    hidden = "getattr(tools.t, '{0}')()" if language == "python" else "await tools.t['{0}']();"
    printed, _ = run(workspace, f"{show.format('t.e_f')}\n{hidden.format(single[2:])}", language)
    assert "the cell does not name it" in printed
    shown = (
        "print(dir(tools.t))"
        if language == "python"
        else "console.log((await tools.t()).map((x) => x.tool));"
    )
    printed, _ = run(workspace, shown, language)
    for path in (dot, under, point, dash, "t.e_f"):
        assert f"'{path[2:]}'" in printed
    # A grant holds for its own tool, by either name.
    workspace.session.permissions.add(Permission("language", language))
    workspace.session.permissions.add(Permission("language", "mcp:t.e.f"))
    for path in (single, "t.e_f"):
        assert run(workspace, show.format(path), language) == ("e.f\n", [])
    assert run(workspace, show.format(dot), language)[1]


def test_a_grant_holds_for_a_server_whose_name_python_writes_otherwise(open_workspace: Open) -> None:
    workspace = open_workspace(servers=[server("my-tools")])
    workspace.session.permissions.add(Permission("language", "python"))
    workspace.session.permissions.add(Permission("language", "mcp:my-tools.add"))
    printed, asked = run(workspace, "print(tools.my_tools.add(a=1))")
    assert not asked
    assert "{'sum': 2}" in printed
    assert run(workspace, "print(tools.my_tools.say())")[1]


@pytest.fixture
def path_of_socket(tmp_path: Path) -> Iterator[str]:
    """A socket for tools at which this process counts as the running Python."""
    tool = McpTool("t", "say")
    running = CallableTools(frozenset({"t.say"}))
    tools = CellTools(
        lambda: [tool],
        lambda tool, arguments, stopped, on_report: {"content": []},
        lambda tool, call, result: None,
        lambda pid, text, prompt, stopped: None,
        lambda: running,
        lambda pid: pid == os.getpid(),
        lambda: True,
    )
    (python,) = (item for item in tools.add_to(LANGUAGES) if item.name == "python")
    path = python.start(sys.executable, tmp_path).env[environment_names.TOOLS]
    yield path
    tools.close()


@pytest.mark.parametrize(
    "line",
    [b"", b"\n", b"{}\n", b"[1]\n", b"1\n", b"\xff\n", b"[" * 200_000 + b"\n", b"{" * 10, b'"list"'],
    ids=lambda line: repr(line[:8]),
)
def test_garbage_at_the_socket_gets_a_sentence_or_nothing(path_of_socket: str, line: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(10)
        connection.connect(path_of_socket)
        connection.sendall(line)
        connection.shutdown(socket.SHUT_WR)
        answer = connection.makefile("rb").read()
    assert b"is not understood" in answer or b'"result"' in answer
    assert b"Traceback" not in answer


def test_many_silent_connections_keep_nobody_else_waiting_for_ever(path_of_socket: str) -> None:
    silent = [socket.socket(socket.AF_UNIX) for _ in range(50)]
    try:
        for item in silent:
            item.connect(path_of_socket)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(20)
            connection.connect(path_of_socket)
            connection.sendall(b'{"server": "t", "tool": "say", "arguments": {}}\n')
            assert connection.makefile("rb").readline() == b'{"result": {"content": []}}\n'
    finally:
        for item in silent:
            item.close()
