"""oi-tui as the agent of an editor, driven by the protocol's own client library."""

import asyncio
import base64
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from oi_tui import paths, profiles
from oi_tui.engine.credentials.trust import Trust
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message
from tests.ports import choose_port
from tests.processes import descendants
from tests.servers.openai_server import Call, ModelServer, Say, spoken
from tests.unit.mcp_client.test_tools import start_over_http
from tests.when_used import when_used

acp, schema = when_used("acp"), when_used("acp.schema")
pytestmark = [pytest.mark.needs("acp"), pytest.mark.usefixtures("quick_commands")]

_BOUND = 60
SOAK = bool(os.environ.get("OI_TUI_SOAK"))
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAFElEQVR4nGPkEpFjYGBgYmBgQFAABLQAQr8+USQAAAAASUVORK5CYII="
)


class Editor:
    """Records what the agent sends, and answers its questions."""

    def __init__(self, option: str | None = "run") -> None:
        self.option = option
        self.updates: list[Any] = []
        self.questions: list[Any] = []
        self.changed = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)
        self.changed.set()

    async def request_permission(self, session_id: str, tool_call: Any, options: Any, **_: Any) -> Any:
        self.questions.append(tool_call)
        self.changed.set()
        if self.option is None:
            await asyncio.Event().wait()
        outcome = schema.AllowedOutcome(outcome="selected", option_id=self.option)
        return schema.RequestPermissionResponse(outcome=outcome)

    def written(self, kind: str = "agent_message_chunk") -> str:
        return "".join(u.content.text for u in self.updates if u.session_update == kind)

    def updates_of(self, kind: str) -> list[Any]:
        return [update for update in self.updates if update.session_update == kind]

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(_BOUND):
            while not condition():
                self.changed.clear()
                await self.changed.wait()


@asynccontextmanager
async def agent(
    editor: Editor, server: ModelServer, *flags: str, elicits: bool = False, window: str = "200000"
) -> AsyncIterator[tuple[Any, Any]]:
    command = ["-P", "-m", "oi_tui", "--acp", "-m", "openai/tester", "-ab", server.base, "-ak", "sk-test-key"]
    command += [*(["-c", window] if window else []), "-lsv", *flags]

    async with (
        asyncio.timeout(_BOUND * 3),
        acp.spawn_agent_process(
            editor,
            sys.executable,
            *command,
            env=dict(os.environ),
            transport_kwargs={"limit": 50_000_000},
            use_unstable_protocol=True,
        ) as (connection, process),
    ):
        form = schema.ElicitationCapabilities(form=schema.ElicitationFormCapabilities())
        await connection.initialize(
            protocol_version=acp.PROTOCOL_VERSION,
            client_capabilities=schema.ClientCapabilities(elicitation=form if elicits else None),
        )
        yield connection, process


def call(code: str) -> Call:
    return Call(json.dumps({"language": "python", "code": code}))


def make_text(text: str) -> list[Any]:
    return [schema.TextContentBlock(type="text", text=text)]


CODE = "print('```')\nprint('made', 40 + 2)"


@pytest.mark.usefixtures("real_command")
async def test_an_editor_asks_approves_and_finds_the_conversation_again(workplace: Path) -> None:
    editor = Editor()
    link = schema.ResourceContentBlock(type="resource_link", name="data", uri="file:///data%20one.csv")
    with ModelServer(spoken(Say("I will print."), call(CODE)), spoken(Say("It is done."))) as server:
        async with agent(editor, server) as (connection, _):
            session = (await connection.new_session(cwd=str(workplace))).session_id
            long = "x" * 300_000
            answer = await connection.prompt(session_id=session, prompt=[*make_text("print " + long), link])
            assert answer.stop_reason == "end_turn"
            assert "I will print." in editor.written()
            assert "It is done." in editor.written()
            (question,) = editor.questions
            assert question.title == "python: print('```')"
            assert question.kind == "execute"
            assert question.raw_input == {"language": "python", "command": CODE}
            assert f"````python\n{CODE}\n````" in [item.content.text for item in question.content]
            ends = [u for u in editor.updates if getattr(u, "status", None) == "completed"]
            assert "made 42" in ends[-1].raw_output["output"]
            assert any(u.session_update == "usage_update" for u in editor.updates)
            asked = json.dumps(server.exchanges[0].request["messages"])
            assert long in asked
            assert "/data one.csv" in asked
            listed = (await connection.list_sessions(cwd=str(workplace))).sessions
            assert [item.session_id for item in listed] == [session]
            await connection.close_session(session_id=session)
            editor.updates.clear()
            await connection.load_session(cwd=str(workplace), session_id=session)
            await editor.until(lambda: "It is done." in editor.written())
            assert "print " + long in editor.written("user_message_chunk")
            assert any("made 42" in str(u.raw_output) for u in editor.updates if hasattr(u, "raw_output"))


async def test_a_conversation_that_a_window_has_open_is_loaded_as_a_copy_and_says_so(workplace: Path) -> None:
    editor = Editor()
    window = Store(paths.conversations()).create(cwd=str(workplace), model="m")
    window.put(Message(role="user", type="message", content="Count"))
    with ModelServer(spoken(Say("Counted.")), spoken(Say("Again."))) as server:
        async with agent(editor, server) as (connection, _):
            await connection.load_session(cwd=str(workplace), session_id=window.id)
            for words in ("Go on", "Once more"):
                await connection.prompt(session_id=window.id, prompt=make_text(words))
    window.close()
    assert editor.written().count("This conversation is open in another window") == 1
    assert [message.content for message in Store(paths.conversations()).read(window.id)] == ["Count"]


async def test_code_that_is_not_allowed_does_not_run(workplace: Path) -> None:
    editor = Editor("reject")
    with ModelServer(spoken(call("open('made', 'w')")), spoken(Say("Then not."))) as server:
        async with agent(editor, server, window="") as (connection, _):
            session = (await connection.new_session(cwd=str(workplace))).session_id
            await connection.prompt(session_id=session, prompt=make_text("make"))
            assert "Then not." in editor.written()
            # Of a window whose size is not known, nobody can say how full it is.
            assert not editor.updates_of("usage_update")
    assert not (workplace / "made").exists()


async def test_modes_exist_where_the_start_allows_code_without_a_question(workplace: Path) -> None:
    """From outside, a session can only be made to ask, and be set back to what the start allowed."""
    editor = Editor()
    with ModelServer(*[spoken(part) for _ in range(3) for part in (call(CODE), Say("Done."))]) as server:
        async with agent(editor, server) as (connection, _):
            session = await connection.new_session(cwd=str(workplace))
            assert session.modes is None
            for mode, named in (("auto", "start oi-tui with -y"), ("root", "no mode root")):
                with pytest.raises(acp.RequestError, match=named):
                    await connection.set_session_mode(session_id=session.session_id, mode_id=mode)
            await connection.prompt(session_id=session.session_id, prompt=make_text("Go"))
            assert len(editor.questions) == 1
        async with agent(editor, server, "-y") as (connection, _):
            session = await connection.new_session(cwd=str(workplace))
            assert session.modes
            assert session.modes.current_mode_id == "auto"
            assert [mode.id for mode in session.modes.available_modes] == ["ask", "auto"]
            for mode, questions in (("ask", 2), ("auto", 2)):
                await connection.set_session_mode(session_id=session.session_id, mode_id=mode)
                await connection.prompt(session_id=session.session_id, prompt=make_text("Go"))
                assert len(editor.questions) == questions
                assert editor.updates_of("current_mode_update")[-1].current_mode_id == mode


async def test_commands_are_offered_and_carried_out_in_the_session(workplace: Path) -> None:
    editor = Editor()
    (workplace / "t.csv").write_text("a,b\n1,2\n")
    with ModelServer(spoken(call("x = 6")), spoken(Say("Done.")), spoken(Say("Again."))) as server:
        async with agent(editor, server) as (connection, _):
            session = (await connection.new_session(cwd=str(workplace))).session_id
            await editor.until(lambda: bool(editor.updates_of("available_commands_update")))
            offered = editor.updates_of("available_commands_update")[0].available_commands
            assert {"variables", "undo", "restart"} < {item.name for item in offered}
            await connection.prompt(session_id=session, prompt=make_text("Go"))

            async def told(prompt: str) -> str:
                editor.updates.clear()
                await connection.prompt(session_id=session, prompt=make_text(prompt))
                return editor.written()

            assert re.search(r"python +x +.*6", await told("/variables"))
            assert "a" in await told("/table t.csv")
            assert "Removed" in (removed := await told("/undo"))
            assert "/redo restores them" in removed
            assert "Restored" in await told("/redo")
            assert "Interpreters restarted" in await told("/restart")
            assert await told("/variables") == "No matching variables.\n\n"
            assert "takes no argument" in await told("/restart now")
            assert len(server.requests) == 2
            # Everything else is for the model: also commands that would lift a limit or run code.
            assert await told("/auto_run on") == "Again."
            assert len(editor.questions) == 1


async def test_the_settings_of_a_folder_are_those_of_its_own_sessions(
    workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted, other = workplace / "trusted", workplace / "other"
    for folder in (trusted, other):
        folder.mkdir()
    (trusted / profiles.PROJECT).write_text("auto_run: true\n")
    shown = profiles.find_project(trusted)
    assert shown
    Trust().accept(shown)
    monkeypatch.chdir(trusted)
    editor = Editor()
    replies = [spoken(call("print(1)")), spoken(Say("Done."))] * 2
    with ModelServer(*replies) as server:
        async with agent(editor, server) as (connection, _):
            for folder, asked in ((other, 1), (trusted, 0)):
                editor.questions.clear()
                session = (await connection.new_session(cwd=str(folder))).session_id
                await connection.prompt(session_id=session, prompt=make_text("go"))
                assert len(editor.questions) == asked
            (other / profiles.PROJECT).write_text("auto_run: [")
            await connection.new_session(cwd=str(other))


TOOLS = Path(__file__).parents[2] / "servers" / "mcp_tools.py"


@pytest.mark.parametrize("kind", ["stdio", "sse"])
async def test_the_editor_brings_its_mcp_servers_and_is_asked_for_each_call(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    pytest.importorskip("mcp", reason="mcp is not installed here")
    described = "Adds it's numbers."
    tools: Any = schema.McpServerStdio(
        name="My Tools!",
        command=sys.executable,
        args=[str(TOOLS)],
        env=[schema.EnvVariable(name="DESCRIPTION", value=described)],
    )
    serving = None
    if kind == "sse":
        monkeypatch.setenv("DESCRIPTION", described)
        port = choose_port()
        serving = start_over_http(port, kind)
        url = f"http://127.0.0.1:{port}/sse"
        tools = schema.SseMcpServer(type="sse", name="My Tools!", url=url, headers=[])
    editor = Editor()
    name = "mcp__my-tools__add"
    with ModelServer(spoken(Say("Nothing yet."))) as server:
        async with agent(editor, server) as (connection, _):
            cwd = str(workplace)
            session = (await connection.new_session(cwd=cwd, mcp_servers=[tools])).session_id

            def list_offered() -> dict[str, Any]:
                return {tool["function"]["name"]: tool["function"] for tool in server.requests[-1]["tools"]}

            # On a busy machine, a server takes longer to start than a request waits for it.
            await connection.prompt(session_id=session, prompt=make_text("ready?"))
            while name not in list_offered():
                await connection.prompt(session_id=session, prompt=make_text("ready?"))
            assert list_offered()[name]["description"] == "Adds it's numbers."
            server.answer(spoken(Call(json.dumps({"a": 1}), name=name)), spoken(Say("Done.")))
            await connection.prompt(session_id=session, prompt=make_text("add"))
            (question,) = editor.questions
            assert question.title == 'mcp:my-tools.add: { "a": 1 }'
            ends = [u for u in editor.updates if getattr(u, "status", None) == "completed"]
            assert '"sum": 2' in ends[-1].raw_output["output"]
    if serving:
        serving.kill()
        serving.wait()


async def test_a_server_that_no_line_of_the_profile_can_hold_is_named_and_never_another_one(
    workplace: Path,
) -> None:
    variable = schema.EnvVariable(name="touch made", value="")
    servers = [
        schema.McpServerStdio(name="odd", command="true", args=["two\nlines"], env=[]),
        schema.McpServerStdio(name="odd", command="true", args=[], env=[variable]),
        schema.HttpMcpServer(type="http", name="odd", url="touch made", headers=[]),
        schema.SseMcpServer(type="sse", name="odd", url="http://127.0.0.1:1/ X-Y=1", headers=[]),
    ]
    with ModelServer(spoken(Say("Hello."))) as model:
        async with agent(Editor(), model) as (connection, _):
            for server in servers:
                with pytest.raises(acp.RequestError, match=r"The MCP server odd cannot be used\. It needs"):
                    await connection.new_session(cwd=str(workplace), mcp_servers=[server])
            session = (await connection.new_session(cwd=str(workplace))).session_id
            await connection.prompt(session_id=session, prompt=make_text("go"))
    assert not (workplace / "made").exists()


async def test_a_cancel_ends_an_open_question_at_once(workplace: Path) -> None:
    editor = Editor(None)
    with ModelServer(spoken(call("open('made', 'w')"))) as server:
        async with agent(editor, server) as (connection, _):
            session = (await connection.new_session(cwd=str(workplace))).session_id
            turn = asyncio.ensure_future(connection.prompt(session_id=session, prompt=make_text("make")))
            await editor.until(lambda: bool(editor.questions))
            began = time.monotonic()
            await connection.cancel(session_id=session)
            assert (await turn).stop_reason == "cancelled"
            assert time.monotonic() - began < 2  # 0.2 on a machine that does nothing else
    assert not (workplace / "made").exists()


async def test_a_folder_that_is_missing_is_named(workplace: Path) -> None:
    with ModelServer() as server:
        async with agent(Editor(), server) as (connection, _):
            with pytest.raises(acp.RequestError, match="missing: No such file"):
                await connection.new_session(cwd=str(workplace / "missing"))


async def test_a_session_that_was_never_used_is_not_found_by_the_code_of_the_protocol(
    workplace: Path,
) -> None:
    """Clients such as acpx begin a new session then, and give up with any other code."""
    with ModelServer() as server:
        async with agent(Editor(), server) as (connection, _):
            session = (await connection.new_session(cwd=str(workplace))).session_id
            await connection.close_session(session_id=session)
            with pytest.raises(acp.RequestError, match=f"No conversation '{session}'") as raised:
                await connection.load_session(cwd=str(workplace), session_id=session)
            assert raised.value.code == -32002


@pytest.mark.parametrize("answer", ["run", "reject"])
@pytest.mark.parametrize("kept", ["0", "10"])
@pytest.mark.slow
async def test_an_agent_for_each_prompt_says_what_is_lost_or_brings_it_back(
    workplace: Path, kept: str, answer: str
) -> None:
    """Some clients start the agent anew for each prompt, and load the session."""
    folder = {"cwd": str(workplace), "mcp_servers": []}
    replies = (
        spoken(call("x = 41")),
        spoken(Say("Set.")),
        spoken(call("print(x + 1)")),
        spoken(Say("Shown.")),
    )
    flags = ("--keep-variables", kept)
    with ModelServer(*replies) as server:
        async with agent(Editor(), server, *flags) as (connection, _):
            session = (await connection.new_session(**folder)).session_id
            await connection.prompt(session_id=session, prompt=make_text("set x"))
            await connection.close_session(session_id=session)
        later = Editor(answer)
        async with agent(later, server, *flags) as (connection, _):
            await connection.load_session(session_id=session, **folder)
            later.updates.clear()
            await connection.prompt(session_id=session, prompt=make_text("show x"))
        system = server.exchanges[2].request["messages"][0]["content"]
    asked = [question.raw_input["command"] for question in later.questions]
    assert asked[-1] == "print(x + 1)"
    assert "after the first piece of code that ran in this conversation" in system
    outputs = [str(u.raw_output) for u in later.updates if getattr(u, "raw_output", None)]
    if kept == "0":
        assert asked[:-1] == []
        assert "Its variables are gone: python (1 cell" in later.written()
    else:
        assert [code[:15] for code in asked[:-1]] == ["%snapshot load "]
        assert any("42" in output for output in outputs) == (answer == "run")


DEAF = """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
print("begun", flush=True)
while True:
    try: time.sleep(1)
    except BaseException: pass
"""


@pytest.mark.parametrize(
    "code", ["print('begun', flush=True)\nwhile True: pass", DEAF], ids=["usual", "deaf"]
)
async def test_running_code_is_stopped_by_a_cancel(workplace: Path, code: str) -> None:
    """The prompt is answered at once, also where the code takes its time; the next prompt works."""
    editor = Editor()
    with ModelServer(spoken(call(code)), spoken(Say("Here again."))) as server:
        async with agent(editor, server) as (connection, _):
            session = (await connection.new_session(cwd=str(workplace))).session_id
            turn = asyncio.ensure_future(connection.prompt(session_id=session, prompt=make_text("run")))
            await editor.until(lambda: "begun" in str([getattr(u, "raw_output", "") for u in editor.updates]))
            began = time.monotonic()
            await connection.cancel(session_id=session)
            assert (await turn).stop_reason == "cancelled"
            took = time.monotonic() - began
            assert took < 1  # 0.2 on a machine that does nothing else
            answer = await connection.prompt(session_id=session, prompt=make_text("again"))
            assert answer.stop_reason == "end_turn"
            assert "Here again." in editor.written()


async def test_a_fork_goes_on_with_the_content_and_leaves_the_other_as_it_is(workplace: Path) -> None:
    editor = Editor()
    with ModelServer(*(spoken(Say(text)) for text in ("One.", "Two.", "Three."))) as server:
        async with agent(editor, server) as (connection, _):
            cwd = str(workplace)
            first = (await connection.new_session(cwd=cwd)).session_id
            await connection.prompt(session_id=first, prompt=make_text("begin"))
            # Of an open session, and of one that is saved only.
            second = (await connection.fork_session(cwd=cwd, session_id=first)).session_id
            await connection.prompt(session_id=second, prompt=make_text("on in the copy"))
            await connection.close_session(session_id=first)
            third = (await connection.fork_session(cwd=cwd, session_id=first)).session_id
            await connection.prompt(session_id=third, prompt=make_text("on in another copy"))
            with pytest.raises(acp.RequestError, match="nothing"):
                await connection.fork_session(cwd=cwd, session_id="nothing")
            listed = (await connection.list_sessions(cwd=cwd)).sessions
            assert {item.session_id for item in listed} == {first, second, third}
        asked = [json.dumps(request["messages"]) for request in server.requests]
        assert "begin" in asked[1]
        assert "on in the copy" in asked[1]
        assert "begin" in asked[2]
        assert "on in the copy" not in asked[2]


def blob(content: bytes, kind: str | None, uri: str) -> Any:
    data = base64.b64encode(content).decode()
    resource = schema.BlobResourceContents(blob=data, mime_type=kind, uri=uri)
    return schema.EmbeddedResourceContentBlock(type="resource", resource=resource)


async def test_files_and_images_come_with_a_prompt(workplace: Path) -> None:
    editor = Editor()
    image = schema.ImageContentBlock(type="image", data=base64.b64encode(PNG).decode(), mime_type="image/png")
    with ModelServer(spoken(Say("Seen."))) as server:
        async with agent(editor, server) as (connection, _):
            session = (await connection.new_session(cwd=str(workplace))).session_id
            for wrong, written in (
                (
                    blob(b"\xff\x00", "application/zip", "file:///a.zip"),
                    "/a.zip: the content .* not application/zip",
                ),
                (
                    image.model_copy(update={"data": base64.b64encode(PNG[:-20]).decode()}),
                    "must be PNG, JPEG",
                ),
                (image.model_copy(update={"data": "no base64!"}), "must be PNG, JPEG"),
            ):
                with pytest.raises(acp.RequestError, match=written):
                    await connection.prompt(session_id=session, prompt=[wrong])
            prompt = [
                *make_text("Look"),
                image,
                blob(PNG, "image/png", "zed:///pasted.png"),
                blob(b"a,b\n1,2\n", "text/csv", "file:///t.csv"),
            ]
            assert (await connection.prompt(session_id=session, prompt=prompt)).stop_reason == "end_turn"
        asked = json.dumps(server.requests[0]["messages"])
        assert "/t.csv" in asked
        assert "a,b" in asked
        assert asked.count("data:image/png;base64,") == 2


class TypingEditor(Editor):
    """An editor that can ask for a line."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer
        self.asked: list[str] = []

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> Any:
        self.asked.append(message)
        return self.answer


@pytest.mark.parametrize("can_type", [True, False], ids=["accepted", "declined"])
async def test_a_program_that_asks_gets_a_line_from_an_editor_that_can_ask(
    workplace: Path, can_type: bool
) -> None:
    if can_type:
        answer: Any = schema.AcceptElicitationResponse(action="accept", content={"line": "Ada"})
    else:
        answer = schema.DeclineElicitationResponse(action="decline")
    editor = TypingEditor(answer)
    code = "name = input('Your name? ')\nprint('Hello', name)"
    with ModelServer(spoken(call(code)), spoken(Say("Done."))) as server:
        async with agent(editor, server, elicits=True) as (connection, _):
            session = (await connection.new_session(cwd=str(workplace))).session_id
            end = await connection.prompt(session_id=session, prompt=make_text("ask me"))
            assert "Your name?" in editor.asked[0]
            printed = str([getattr(u, "raw_output", "") for u in editor.updates])
            assert ("Hello Ada" in printed) == can_type
            assert end.stop_reason == ("end_turn" if can_type else "cancelled")


async def test_input_is_refused_where_the_editor_cannot_ask(workplace: Path) -> None:
    editor = Editor()
    with ModelServer(spoken(call("input('Your name? ')"))) as server:
        async with agent(editor, server) as (connection, _):
            session = (await connection.new_session(cwd=str(workplace))).session_id
            await connection.prompt(session_id=session, prompt=make_text("ask me"))
            assert "The program asked for input, which this editor cannot give." in editor.written()


def line(method: str, number: int | None = None, **values: Any) -> bytes:
    """A request, or without a number a notification, as a line."""
    record = {"jsonrpc": "2.0", "method": method, "params": values}
    return json.dumps(record if number is None else {**record, "id": number}).encode() + b"\n"


def hello() -> bytes:
    return line("initialize", 1, protocolVersion=acp.PROTOCOL_VERSION)


COMMAND = ("-P", "-m", "oi_tui", "--acp", "--demo")


async def started() -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *COMMAND,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=1_000_000,
    )


async def test_garbage_and_half_a_line_end_nothing_but_the_connection(workplace: Path) -> None:
    """Also lines that are JSON but no message, that are nested too deep, and that are far too long."""
    garbage = b"no json\n\xff\xfe\n\n[]\n1\nnull\n" + b'{"method": 1, "id": 7}\n' + b"[" * 200_000 + b"\n"
    wrong = b'{"method": "session/list", "id": "nine", "params": []}\n'
    long = b'{"jsonrpc": "2.0", "id": 8, "method": "' + b"x" * 110_000_000 + b'"}\n'
    process = await started()
    half = b'{"jsonrpc": "2.0", "id": 2, "meth'
    async with asyncio.timeout(_BOUND):
        out, err = await process.communicate(garbage + wrong + long + hello() + half)
    answers = [json.loads(splitline) for splitline in out.splitlines()]  # nothing but the protocol
    assert process.returncode == 0
    assert [item["result"]["agentInfo"]["name"] for item in answers if item.get("id") == 1] == ["oi-tui"]
    refused = [item["error"]["code"] for item in answers if item.get("id") is None]
    assert sorted(set(refused)) == [-32700, -32600]
    # Whoever sent a request gets the answer to it.
    assert [item["error"]["code"] for item in answers if item.get("id") == "nine"] == [-32600]
    assert "Traceback" not in err.decode()


async def test_an_editor_may_leave_at_every_step(workplace: Path) -> None:
    new = line("session/new", 2, cwd=str(workplace), mcpServers=[])
    whole = hello() + new + line("session/list", 3)
    ends = (0, len(hello()) - 1, len(hello() + new), len(whole))
    async with asyncio.timeout(_BOUND):
        processes = [await started() for _ in ends]
        pairs = zip(processes, ends, strict=True)
        ended = await asyncio.gather(*(pair.communicate(whole[:end]) for pair, end in pairs))
    assert [process.returncode for process in processes] == [0] * len(ends)
    assert not any(b"Traceback" in err for _, err in ended)


def in_use(pid: int) -> tuple[int, int]:
    """The open files and the threads of a process."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir())), len(list(Path(f"/proc/{pid}/task").iterdir()))


@pytest.mark.usefixtures("real_command")
async def test_sessions_that_come_and_go_leave_nothing_behind(workplace: Path) -> None:
    """Each with a turn that runs code, and a fork; OI_TUI_SOAK=1 takes many."""
    if not Path("/proc/self/fd").exists():
        pytest.skip("/proc is not here: open files cannot be counted")
    rounds = 100 if SOAK else 2
    replies = (spoken(call("print(1)")), spoken(Say("Done."))) * (rounds + 2)
    with ModelServer(*replies) as server:
        async with agent(Editor(), server) as (connection, process):

            async def once() -> None:
                session = (await connection.new_session(cwd=str(workplace))).session_id
                await connection.prompt(session_id=session, prompt=make_text("print"))
                copy = (await connection.fork_session(cwd=str(workplace), session_id=session)).session_id
                await connection.close_session(session_id=session)
                await connection.close_session(session_id=copy)

            await once()
            await once()
            files, threads = in_use(process.pid)
            children = len(descendants(process.pid))
            for _ in range(rounds):
                await once()

            def left() -> bool:
                now = in_use(process.pid)
                # The pool of threads may still grow to its size, whatever the number of rounds.
                more = now[0] > files + 1 or now[1] > threads + 8
                return more or len(descendants(process.pid)) > children

            async with asyncio.timeout(_BOUND):
                while left():
                    await asyncio.sleep(0.1)


async def test_the_question_of_an_editor_that_vanishes_is_saved_as_not_run(workplace: Path) -> None:
    editor = Editor(None)
    with ModelServer(spoken(call("open('made', 'w')"))) as server:
        async with agent(editor, server) as (connection, process):
            session = (await connection.new_session(cwd=str(workplace))).session_id
            turn = asyncio.ensure_future(connection.prompt(session_id=session, prompt=make_text("make")))
            await editor.until(lambda: bool(editor.questions))
            process.stdin.close()
            async with asyncio.timeout(_BOUND):
                assert await process.wait() == 0
            turn.cancel()
        later = Editor()
        async with agent(later, server) as (connection, _):
            await connection.load_session(cwd=str(workplace), session_id=session)
            await later.until(lambda: any(hasattr(u, "raw_input") for u in later.updates))
            assert {u.status for u in later.updates if hasattr(u, "raw_input")} == {"failed"}
    assert not (workplace / "made").exists()


def test_an_editor_that_never_reads_can_still_leave(workplace: Path) -> None:
    new = line("session/new", 2, cwd=str(workplace), mcpServers=[])
    with subprocess.Popen(
        [sys.executable, *COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin
        # The answers are many times what the pipe takes.
        process.stdin.write(hello() + new + b"".join(line("session/new", n) for n in range(3, 3000)))
        process.stdin.close()
        assert process.wait(_BOUND) == 0


#: The protocol's own models, in `acp.schema`, of each answer and of what the agent may ask or tell.
RESULTS = {
    "initialize": "InitializeResponse",
    "session/new": "NewSessionResponse",
    "session/prompt": "PromptResponse",
    "session/list": "ListSessionsResponse",
    "session/fork": "ForkSessionResponse",
    "session/resume": "ResumeSessionResponse",
    "session/load": "LoadSessionResponse",
    "session/close": "CloseSessionResponse",
}
PARAMS = {
    "session/update": "SessionNotification",
    "session/request_permission": "RequestPermissionRequest",
}


class Wire:
    """Speaks the protocol line by line; every message of the agent is held against the protocol's models."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.updates: list[Any] = []
        self.numbers = 0

    async def ask(self, method: str, **values: Any) -> Any:
        assert self._process.stdin
        self.numbers += 1
        self._process.stdin.write(line(method, self.numbers, **values))
        while True:
            message = await self._receive()
            if "method" not in message:
                assert message["id"] == self.numbers
                assert set(message) == {"jsonrpc", "id", "result"}, message
                return exactly(RESULTS[method], message["result"])
            content = exactly(PARAMS[message["method"]], message["params"])
            if message["method"] == "session/update":
                self.updates.append(content.update)
                continue
            yes = {"outcome": {"outcome": "selected", "optionId": content.options[0].option_id}}
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": yes}
            self._process.stdin.write(json.dumps(answer).encode() + b"\n")

    async def _receive(self) -> Any:
        assert self._process.stdout
        return json.loads(await self._process.stdout.readline())


def exactly(model: str, values: Any) -> Any:
    """Read values by a model of the protocol; they must have no field that it does not know."""
    found = getattr(schema, model).model_validate(values)
    assert found.model_dump(mode="json", by_alias=True, exclude_unset=True) == values
    return found


async def test_every_message_is_one_of_the_protocol_and_several_cells_are_a_plan(workplace: Path) -> None:
    image = f"class P:\n  def _repr_png_(self): return {PNG!r}\ndisplay(P())"
    answers = (
        spoken(Say("Two steps."), call("print('one')"), call(image)),
        spoken(call("1/0")),
        spoken(Say("Done.")),
    )
    with ModelServer(*answers) as server:
        model = ("-m", "openai/tester", "-ab", server.base, "-ak", "sk-test-key", "-c", "200000", "-lsv")
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "oi_tui", "--acp", *model),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=10_000_000,
        )
        async with asyncio.timeout(_BOUND * 2):
            wire, folder = Wire(process), {"cwd": str(workplace), "mcpServers": []}
            await wire.ask("initialize", protocolVersion=acp.PROTOCOL_VERSION, clientCapabilities={})
            session = (await wire.ask("session/new", **folder)).session_id
            words = [{"type": "text", "text": "go"}]
            ended = await wire.ask("session/prompt", sessionId=session, prompt=words)
            assert ended.stop_reason == "end_turn"
            plans = [
                [(entry.content, entry.status) for entry in update.entries]
                for update in wire.updates
                if update.session_update == "plan"
            ]
            titles = ["python: print('one')", "python: class P:"]
            assert plans[0] == [(title, "pending") for title in titles]
            assert [(titles[0], "completed"), (titles[1], "pending")] in plans
            assert plans[-1] == [(title, "completed") for title in titles]
            assert images_of(wire.updates) == {base64.b64encode(PNG).decode()}
            listed = (await wire.ask("session/list", cwd=str(workplace))).sessions
            assert [item.session_id for item in listed] == [session]
            fork = (await wire.ask("session/fork", sessionId=session, **folder)).session_id
            for opened in (fork, session):
                await wire.ask("session/close", sessionId=opened)
            await wire.ask("session/resume", sessionId=session, **folder)
            await wire.ask("session/close", sessionId=session)
            wire.updates.clear()
            await wire.ask("session/load", sessionId=session, **folder)
            assert images_of(wire.updates) == {base64.b64encode(PNG).decode()}
            assert process.stdin
            process.stdin.close()
            assert await process.wait() == 0


def images_of(updates: list[Any]) -> set[str]:
    calls = [update for update in updates if update.session_update in ("tool_call", "tool_call_update")]
    blocks = [item.content for call in calls for item in call.content]
    return {block.data for block in blocks if block.type == "image"}
