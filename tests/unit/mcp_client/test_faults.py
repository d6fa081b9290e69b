"""MCP servers that misbehave: each is named in a sentence, stopped by a stop, and nothing is left behind."""

import asyncio
import contextlib
import json
import shlex
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from oi_tui.engine.events import Noticed, TurnEnded
from oi_tui.engine.llm.base import Text, ToolCallPiece
from oi_tui.mcp_client import connection, servers
from oi_tui.mcp_client.child.errors import ServerError
from oi_tui.system.extras import make_install_command
from tests.processes import descendants, wait_until
from tests.quick_starts import fork_server
from tests.unit.mcp_client.conftest import Open, server
from tests.unit.mcp_client.test_tools import codes, output, run_turn

FAULTY = Path(__file__).parents[2] / "servers" / "faulty_mcp.py"
STEPS = ("initialize", "tools/list", "tools/call")
_BOUND = 60


def faulty(fault: str, step: str) -> str:
    return f"{server(script=FAULTY)} {fault} {step}"


CALL = [ToolCallPiece(0, "c1", "mcp__t__add", "{}")]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("fault", ["close", "long", "wrong"])
def test_a_server_that_breaks_a_step_is_named_and_the_turn_goes_on(
    open_workspace: Open, fault: str, step: str
) -> None:
    workspace = open_workspace(CALL, [Text("Done.")], servers=[faulty(fault, step)], auto_run=True)
    events = run_turn(workspace)
    assert events[-1] == TurnEnded("done")
    reported = [*events, *workspace.session.report_losses()]
    sentences = [event.text for event in reported if isinstance(event, Noticed)]
    reasons = [code.reason or "" for code in codes(workspace)]
    assert any("The MCP server t " in text for text in (*sentences, *reasons))
    assert all(len(text) < 1000 for text in (*sentences, *reasons))
    assert "added" not in output(workspace)
    if fault == "close":
        assert any("exit code 3" in text for text in (*sentences, *reasons))
    if fault == "long":
        assert any("more than 16 MB" in text for text in (*sentences, *reasons))


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("fault", ["garbage", "deep"])
def test_garbage_between_messages_changes_nothing(open_workspace: Open, fault: str, step: str) -> None:
    workspace = open_workspace(CALL, [Text("Done.")], servers=[faulty(fault, step)], auto_run=True)
    run_turn(workspace)
    assert "added" in output(workspace)


def test_one_odd_tool_or_part_does_not_spoil_the_others(open_workspace: Open) -> None:
    workspace = open_workspace(CALL, [Text("Done.")], servers=[faulty("odd", "tools/list")], auto_run=True)
    run_turn(workspace)
    assert "added" in output(workspace)
    offered = [tool["function"] for tool in workspace.model.llm.requests[0].tools]  # type: ignore[attr-defined]
    schemas = {item["name"].removeprefix("mcp__t__"): item["parameters"] for item in offered}
    del schemas["execute"]
    some = {"type": "object", "properties": {"a": {"type": "integer"}}}
    plain = {name: {"type": "object"} for name in ("add", "none", "text", "list", "told", "needs", "titled")}
    assert schemas == {**plain, "any": some}
    workspace = open_workspace(CALL, [Text("Done.")], servers=[faulty("odd", "tools/call")], auto_run=True)
    run_turn(workspace)
    assert "[content of the type hologram, which is not part of the protocol]" in output(workspace)
    assert "added" in output(workspace)


@pytest.mark.parametrize(
    ("fault", "step", "named"),
    [
        ("odd", "initialize", "Unsupported protocol version from the server: 2099-01-01"),
        ("wrong", "tools/list", "what it sent is not valid: tools: Input should be a valid list"),
        ("wrong", "tools/call", "what it sent is not valid: content: Input should be a valid list"),
    ],
)
def test_a_server_that_cannot_be_used_is_named_with_the_reason(
    open_workspace: Open, fault: str, step: str, named: str
) -> None:
    workspace = open_workspace(CALL, [Text("Done.")], servers=[faulty(fault, step)], auto_run=True)
    run_turn(workspace)
    (status,) = workspace.mcp.servers.status
    assert named in (status.problem or codes(workspace)[0].reason or "")


_HEAD = '"jsonrpc": "2.0", "id": ID'
_CONTENT = '"result": {"content": [{"type": "text", "text": "added"}]}'
_NOTE = "[content of the type text, which is not valid]"
_NOTHING = '{"type": "text", "text": null}'
_ANSWER = f"{{{_HEAD}, {_CONTENT}}}"


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        (_ANSWER.replace("added", r"added half \ud83d"), "added half ?"),
        (_ANSWER.replace("added", "added odd \xff"), "added odd \ufffd"),
        ("\xef\xbb\xbf" + _ANSWER, "added"),
        (f"[{_ANSWER}]", "added"),
        (f'{{"id": ID, {_CONTENT}}}', "added"),
        (
            _ANSWER.replace("[", '[{"type": "text", "text": null}, '),
            "[content of the type text, which is not valid]",
        ),
        (_ANSWER.replace("[", '[{"type": "text", "text": null}, '), "added"),
        (_ANSWER.replace("[", '["odd", {"type": "image", "data": 5}, {"text": "no type"}, '), "added"),
        (_ANSWER.replace('"added"', '"added", "annotations": 5, "_meta": []'), "added"),
        (_ANSWER.replace("}]", '}], "isError": null'), "added"),
        (f'{{{_HEAD}, "error": {{"message": "It is full."}}}}', "failed: It is full."),
        (f"{{{_HEAD}}}", "failed: its answer has neither a result nor an error"),
        (f'{{{_HEAD}, "result": "added"}}', "failed: its answer has neither a result nor an error"),
    ],
)
def test_an_answer_that_is_not_of_the_protocol_ends_its_call(
    open_workspace: Open, line: str, printed: str
) -> None:
    workspace = open_workspace(
        CALL, [Text("Done.")], servers=[faulty("line", shlex.quote(line))], auto_run=True
    )
    assert run_turn(workspace)[-1] == TurnEnded("done")
    assert printed in output(workspace)


@pytest.mark.parametrize(
    ("name", "given", "kept"),
    [
        ("resources", [{"uri": "a:b", "name": "b", "title": 5}], [{"uri": "a:b", "name": "b"}]),
        (
            "resources",
            [{"uri": None, "name": "b"}, 5, {"uri": "a:c", "name": "c"}],
            [{"uri": "a:c", "name": "c"}],
        ),
        (
            "contents",
            [{"uri": "a:b", "text": None}, {"uri": "a:b", "text": "c"}],
            [{"uri": "a:b", "text": "c"}],
        ),
        ("prompts", [{"name": 5}, {"name": "p", "description": 5}], [{"name": "p"}]),
        (
            "messages",
            [{"role": "user", "content": {"type": "text", "text": None}}],
            [{"role": "user", "content": {"type": "text", "text": _NOTE}}],
        ),
    ],
)
def test_of_other_lists_the_valid_entries_are_kept(
    name: str, given: list[object], kept: list[object]
) -> None:
    repair = pytest.importorskip("oi_tui.mcp_client.child.repair", reason="mcp is not installed here")
    assert repair.repair_result({name: given, "nextCursor": "x"}) == {name: kept, "nextCursor": "x"}


def test_a_result_that_does_not_fit_its_schema_is_used_and_never_measured_by_it(open_workspace: Open) -> None:
    workspace = open_workspace(CALL, [Text("Done.")], servers=[faulty("lies", "none")], auto_run=True)
    assert run_turn(workspace)[-1] == TurnEnded("done")
    assert "a" * 40 + "!" in output(workspace)


def test_a_server_that_asks_for_what_was_not_offered_gets_errors(open_workspace: Open) -> None:
    workspace = open_workspace(CALL, [Text("Done.")], servers=[faulty("pesters", "none")], auto_run=True)
    assert run_turn(workspace)[-1] == TurnEnded("done")
    answers = dict(line.split(": ", 1) for line in output(workspace).strip().splitlines())
    assert answers.pop("ping") == "{}"
    assert answers == dict.fromkeys(("sampling/createMessage", "roots/list", "tools/call"), "error")


def test_a_server_that_says_all_the_time_that_its_tools_changed_is_asked_now_and_then(
    open_workspace: Open,
) -> None:
    began = time.monotonic()
    workspace = open_workspace(CALL, [Text("Done.")], servers=[faulty("storm", "none")], auto_run=True)
    assert workspace.mcp.tools()
    assert wait_until(lambda: workspace.mcp.servers.status[0].state == "changed", _BOUND)
    events = run_turn(workspace)

    def notices() -> list[str]:
        events.extend(workspace.session.report_losses())
        return [event.text for event in events if isinstance(event, Noticed)]

    assert wait_until(notices, _BOUND)
    assert int(output(workspace).split()[1]) < 5 + time.monotonic() - began
    assert sum("has changed these tools" in text for text in notices()) == 1


@pytest.mark.slow
def test_odd_amounts_of_progress_are_no_failure(open_workspace: Open) -> None:
    workspace = open_workspace(CALL, [Text("Done.")], servers=[faulty("progress", "none")], auto_run=True)
    assert run_turn(workspace)[-1] == TurnEnded("done")
    assert "added" in output(workspace)


@pytest.mark.parametrize("step", STEPS)
def test_a_server_that_never_answers_holds_nothing_up(
    open_workspace: Open, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(servers, "TIMEOUT", 0.5 if step != "tools/call" else _BOUND)
    workspace = open_workspace(
        CALL if step == "tools/call" else [Text("Hello.")], servers=[faulty("silence", step)], auto_run=True
    )
    stopper = threading.Thread(target=lambda: wait_until(calling, _BOUND) and workspace.session.interrupt())

    def calling() -> bool:
        return any(code.state == "running" for code in codes(workspace))

    if step == "tools/call":
        stopper.start()
    events = run_turn(workspace)
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].outcome == ("interrupted" if step == "tools/call" else "done")
    if step != "tools/call":
        events += run_turn(workspace)
        events += workspace.session.report_losses()
    late = "The MCP server t is still starting. The model gets its tools once it is ready."
    told = [event for event in events if isinstance(event, Noticed) and event.text == late]
    assert len(told) == (0 if step == "tools/call" else 1)


def test_a_server_that_will_not_end_is_ended(open_workspace: Open) -> None:
    workspace = open_workspace(CALL, [Text("Done.")], servers=[faulty("deaf", "none")], auto_run=True)
    run_turn(workspace)
    assert "added" in output(workspace)
    workspace.close()


def test_the_end_of_the_process_that_talks_to_servers_is_a_sentence(
    open_workspace: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The servers are children of that process, as they are without a fork server.
    monkeypatch.delenv(fork_server.MCP)
    workspace = open_workspace(
        CALL, [Text("Done.")], CALL, [Text("Done.")], auto_run=True, servers=[server()]
    )
    assert workspace.mcp.tools()
    child = workspace.mcp.servers._connection._process
    assert child
    children = descendants(child.pid)
    assert children
    child.kill()
    assert wait_until(lambda: workspace.mcp.servers.status[0].state == "failed", _BOUND)
    assert "the process that talks to it ended" in workspace.mcp.servers.status[0].problem
    assert wait_until(lambda: not {item.pid for item in children} & _living(), _BOUND)
    add = [ToolCallPiece(0, "c1", "mcp__t__add", json.dumps({"a": 1}))]
    workspace.model.llm.replies[:0] = [add]  # type: ignore[attr-defined]
    run_turn(workspace)
    assert '"sum": 2' in output(workspace)


class _Flood(BaseHTTPRequestHandler):
    """Answers a call with 50 MB, in JSON or as one event, and all else as it should be."""

    kind = ""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        known = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "flood", "version": "1"},
            },
            "tools/list": {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]},
            "tools/call": {"content": [{"type": "text", "text": "x" * 50_000_000}]},
        }
        method, number = request["method"], request.get("id")
        result = (
            {"result": known[method]} if method in known else {"error": {"code": -32601, "message": "no"}}
        )
        body = json.dumps({"jsonrpc": "2.0", "id": number, **result}).encode()
        floods = method == "tools/call" and self.kind == "event"
        self.send_response(202 if number is None else 200)
        self.send_header("Content-Type", "text/event-stream" if floods else "application/json")
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(b"" if number is None else b"data: " + body + b"\n\n" if floods else body)

    def do_GET(self) -> None:
        self.send_error(405)

    def log_message(self, *_: object) -> None: ...


@pytest.mark.parametrize("kind", ["json", "event"])
def test_a_server_over_http_that_floods_is_a_sentence(
    open_workspace: Open, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(_Flood, "kind", kind)
    listening = ThreadingHTTPServer(("127.0.0.1", 0), _Flood)
    serving = threading.Thread(target=listening.serve_forever)
    serving.start()
    try:
        address = f"t = http://127.0.0.1:{listening.server_port}/mcp"
        workspace = open_workspace(CALL, [Text("Done.")], servers=[address], auto_run=True)
        events = run_turn(workspace)
        assert events[-1] == TurnEnded("done")
        (code,) = codes(workspace)
        assert code.state == "failed"
        assert (code.reason or "").startswith("The MCP server t failed")
        assert len(output(workspace)) < 1000
    finally:
        listening.shutdown()
        serving.join()
        listening.server_close()


def test_a_missing_package_is_named(open_workspace: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "find_spec", lambda _name: None)
    workspace = open_workspace([Text("Hello.")])
    assert run_turn(workspace)[-1] == TurnEnded("done")
    assert (
        workspace.mcp.servers.status[0].problem
        == f"MCP servers need one more package: {make_install_command('oi-tui[mcp]')}"
    )


def _living() -> set[int]:
    return {process.pid for process in descendants(1)}


async def test_a_connection_that_is_ended_before_its_first_step_is_over_at_once() -> None:
    owner = pytest.importorskip("oi_tui.mcp_client.child.owner")
    connecting = owner.ServerConnection({"sign_in": False}, lambda _: None)
    await connecting.close()
    with pytest.raises(ServerError, match="it was ended"):
        await asyncio.wait_for(connecting.ready(), 5)
