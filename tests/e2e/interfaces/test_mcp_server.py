"""oi-tui as a server for MCP hosts, driven by the protocol's own client library over standard input."""

import asyncio
import base64
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from oi_tui.system.extras import make_install_command
from tests.when_used import when_used

mcp, types, stdio = when_used("mcp"), when_used("mcp.types"), when_used("mcp.client.stdio")
pytestmark = [pytest.mark.needs("mcp"), pytest.mark.usefixtures("quick_commands")]

_BOUND = 60
ERAS = ["legacy", "auto"]
COMMAND = ("-P", "-m", "oi_tui", "--mcp", "-m", "openai/unused")


class Person:
    """Answers what a host is asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[Any] = []
        self.was_asked = asyncio.Event()

    async def __call__(self, _context: Any, params: Any) -> Any:
        self.asked.append(params)
        self.was_asked.set()
        answer = self.answers.pop(0) if self.answers else None
        if answer is None:
            await asyncio.Event().wait()
        if isinstance(answer, str):
            return types.ElicitResult(action=answer)
        return types.ElicitResult(action="accept", content=answer)


PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
YES = {"decision": "Run"}
NO = {"decision": "Do not run", "reason": "not today"}


@asynccontextmanager
async def host(person: Person | None, *flags: str, mode: str = "auto") -> AsyncIterator[Any]:
    server = stdio.StdioServerParameters(
        command=sys.executable, args=[*COMMAND, *flags], env=dict(os.environ)
    )
    async with (
        asyncio.timeout(_BOUND),
        mcp.Client(server, mode=mode, elicitation_callback=person) as client,
    ):
        yield client


async def run(client: Any, code: str, language: str = "python") -> Any:
    return await client.call_tool("run", {"language": language, "code": code})


def read_text(result: Any) -> str:
    return "\n".join(item.text for item in result.content if item.type == "text")


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("mode", ERAS)
async def test_a_host_asks_with_the_exact_code_and_variables_stay(workplace: Path, mode: str) -> None:
    person = Person(YES, YES, NO, "decline", "cancel", {}, {"line": "Ada"})
    async with host(person, mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == ["run", "variables", "inspect", "interrupt", "restart", "files_changed"]
        assert "python" in tools["run"].input_schema["properties"]["language"]["enum"]
        code = "kept = 41\nopen('made.txt', 'w').write('x')\nprint('```', kept + 1)"
        result = await run(client, code)
        assert not result.is_error
        assert "``` 42" in read_text(result)
        assert result.structured_content["files_changed"] == ["created: made.txt"]
        assert person.asked[0].requested_schema["properties"]["reason"]["default"] == ""  # null is no text
        question = person.asked[0].message
        assert question.startswith(f"Run this python code?\n\n````python\n{code}\n````")
        assert str(workplace) in question
        assert "made.txt" in question
        assert "kept" in read_text(await client.call_tool("variables", {"language": "python"}))
        assert "41" in read_text(await client.call_tool("inspect", {"language": "python", "name": "kept"}))
        assert "made.txt" in read_text(await client.call_tool("files_changed", {}))
        image = f"class P:\n  def _repr_png_(self): return {PNG!r}\ndisplay(P())\nprint(kept)"
        shown = await run(client, image)
        assert "41" in read_text(shown)
        assert [item.mime_type for item in shown.content if item.type == "image"] == ["image/png"]
        for _ in range(4):  # a no with a reason, a no, an answer that was closed, and an empty form
            refused = await run(client, "open('refused', 'w')")
            assert refused.is_error
            assert refused.structured_content["state"] == "rejected"
        assert not (workplace / "refused").exists()
        await client.call_tool("restart", {})
        assert "python" not in read_text(await client.call_tool("variables", {}))


@pytest.mark.parametrize("mode", ERAS)
async def test_a_program_gets_the_line_that_the_person_types(workplace: Path, mode: str) -> None:
    person = Person(YES, {"line": "Ada"})
    async with host(person, mode=mode) as client:
        result = await run(client, "print('hello', input('Name? '))")
        assert "hello Ada" in read_text(result)
        assert "Name?" in person.asked[1].message


async def test_a_program_that_asks_for_a_password_is_stopped(workplace: Path) -> None:
    async with host(Person(YES)) as client:
        result = await run(client, "import getpass\ngetpass.getpass()")
        assert result.is_error
        assert "password" in read_text(result)


@pytest.mark.parametrize("mode", ERAS)
async def test_a_host_that_cannot_ask_runs_nothing_unless_the_start_said_so(
    workplace: Path, mode: str
) -> None:
    async with host(None, mode=mode) as client:
        result = await run(client, "open('made', 'w')")
        assert result.is_error
        assert "cannot ask" in read_text(result)
        assert "-y" in read_text(result)
        assert not (workplace / "made").exists()
    async with host(None, "-y", mode=mode) as client:
        assert "43" in read_text(await run(client, "print(42 + 1)"))
    # A limit of the profile counts with -y too.
    async with host(None, "-y", "--safe-mode", "auto", mode=mode) as client:
        result = await run(client, "import shutil\nshutil.rmtree('/nowhere')")
        assert result.is_error
        assert "cannot ask" in read_text(result)


async def test_calls_that_do_not_fit_are_named(workplace: Path) -> None:
    async with host(Person(YES)) as client:
        for name, arguments, words in (
            ("run", {"language": "python"}, "needs the argument code"),
            ("run", {"language": "cobol-61", "code": "x"}, "Unknown language cobol-61"),
            ("run", {"language": "python", "code": 3}, "code must be text"),
            ("run", {"language": "python", "code": "1", "auto_run": True}, "no argument auto_run"),
            ("inspect", {"language": "python", "name": "a b\n"}, "no variable"),
            ("close", {}, "There is no tool close"),
            ("_run", {}, "There is no tool _run"),
        ):
            result = await client.call_tool(name, arguments)
            assert result.is_error
            assert words in read_text(result)


@pytest.mark.parametrize("mode", ERAS)
async def test_a_cancelled_call_stops_the_code_and_the_next_one_runs(workplace: Path, mode: str) -> None:
    person = Person(YES, YES)
    async with host(person, mode=mode) as client:
        code = "kept = 7\nopen('begun', 'w').close()\nwhile True: pass"
        call = asyncio.create_task(run(client, code))
        await until((workplace / "begun").exists)
        call.cancel()
        await asyncio.wait([call])
        began = time.monotonic()
        assert "7" in read_text(await run(client, "print(kept)"))
        assert time.monotonic() - began < 20


async def test_a_host_hears_that_a_call_goes_on_while_it_asks_and_while_code_prints(workplace: Path) -> None:
    asked, heard, approved = False, asyncio.Event(), False

    async def person(_context: Any, _params: Any) -> Any:
        nonlocal asked, approved
        asked = True
        await heard.wait()
        approved = True
        return types.ElicitResult(action="accept", content=YES)

    async def hear(_progress: float, _total: float | None, _message: str | None) -> None:
        if asked:
            heard.set()
        if approved:
            (workplace / "heard").touch()

    begin = "import os, time\nwhile not os.path.exists('heard'):\n"
    code = begin + "    print('.', flush=True)\n    time.sleep(0.05)"
    async with host(person, mode="legacy") as client:  # type: ignore[arg-type]
        arguments = {"language": "python", "code": code}
        result = await client.call_tool("run", arguments, progress_callback=hear)
        assert not result.is_error


async def test_running_code_is_interrupted_by_the_tool(workplace: Path) -> None:
    async with host(Person(YES)) as client:
        call = asyncio.create_task(run(client, "open('begun', 'w').close()\nwhile True: pass"))
        await until((workplace / "begun").exists)
        await client.call_tool("interrupt", {})
        result = await call
        assert result.structured_content["state"] == "interrupted"


async def test_an_answer_counts_once_and_only_for_its_own_code(workplace: Path) -> None:
    async with host(Person()) as client:
        arguments = {"language": "python", "code": "print(1)"}
        yes = {"answer": types.ElicitResult(action="accept", content=YES)}

        async def call(arguments: Any, state: str | None, answers: Any = yes) -> Any:
            return await client.session.call_tool(
                "run", arguments, input_responses=answers, request_state=state, allow_input_required=True
            )

        asked = await call(arguments, None, None)
        assert asked.request_state
        other = await call({**arguments, "code": "open('other', 'w')"}, asked.request_state)
        assert "does not belong to this code" in read_text(other)
        assert "no longer open" in read_text(await call(arguments, asked.request_state))
        assert "no longer open" in read_text(await call(arguments, "guessed"))
        asked = await call(arguments, None, yes)
        assert asked.request_state, "an answer that nobody asked for counts for nothing"
        assert "1" in read_text(await call(arguments, asked.request_state))
        assert "no longer open" in read_text(await call(arguments, asked.request_state))
        assert not (workplace / "other").exists()


@pytest.mark.parametrize("tool", ["interrupt", "restart"])
async def test_a_question_that_the_host_has_is_given_up_by_the_tool_and_other_code_is_asked_for(
    workplace: Path, tool: str
) -> None:
    async with host(Person()) as client:

        async def ask(code: str, state: str | None = None) -> Any:
            answers = {"answer": types.ElicitResult(action="accept", content=YES)}
            return await client.session.call_tool(
                "run",
                {"language": "python", "code": code},
                input_responses=answers if state else None,
                request_state=state,
                allow_input_required=True,
            )

        first = await ask("open('first', 'w')")
        assert first.request_state
        await client.call_tool(tool, {})
        second = await ask("print(1 + 1)")
        assert second.request_state
        assert "no longer open" in read_text(await ask("open('first', 'w')", first.request_state))
        assert "2" in read_text(await ask("print(1 + 1)", second.request_state))
    assert not (workplace / "first").exists()


@pytest.mark.parametrize("tool", ["interrupt", "restart"])
async def test_a_form_that_nobody_answers_is_given_up_by_the_tool_and_other_code_is_asked_for(
    workplace: Path, tool: str
) -> None:
    person = Person(None, YES, None, YES)
    async with host(person, mode="legacy") as client:
        first = asyncio.create_task(run(client, "open('first', 'w')"))
        await until(lambda: len(person.asked) == 1)
        await client.call_tool(tool, {})
        assert (await first).is_error
        second = asyncio.create_task(run(client, "input('Name? ')"))
        await until(lambda: len(person.asked) == 3)
        await client.call_tool(tool, {})
        assert (await second).structured_content["state"] != "finished"
        assert "2" in read_text(await run(client, "print(1 + 1)"))
    assert not (workplace / "first").exists()


def hello() -> bytes:
    params = {
        "protocolVersion": "2025-06-18",
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "test", "version": "1"},
    }
    return line("initialize", 1, params) + line("notifications/initialized", None, {})


def line(method: str, number: int | None, params: Any) -> bytes:
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(message if number is None else {**message, "id": number}).encode() + b"\n"


async def started(*flags: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *COMMAND,
        *flags,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=1_000_000,
    )


@pytest.mark.usefixtures("real_command")
@pytest.mark.parametrize("end", ["input", "signal"])
@pytest.mark.parametrize("flags", [(), ("-y",)], ids=["asking", "running"])
async def test_a_host_that_vanishes_leaves_nothing_behind(
    workplace: Path, end: str, flags: tuple[str, ...]
) -> None:
    """Whether a question is open or code is running."""
    async with asyncio.timeout(_BOUND):
        process = await started(*flags)
        assert process.stdin
        assert process.stdout
        code = "open('begun', 'w').close()\nwhile True: pass"
        call = {"name": "run", "arguments": {"language": "python", "code": code}}
        process.stdin.write(hello() + line("tools/call", 2, call))
        if flags:
            await until((workplace / "begun").exists)
        else:
            while b"elicitation/create" not in await process.stdout.readline():
                pass
        if end == "input":
            process.stdin.close()
        else:
            process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0
    # The fixture of every test sees to it that no process is left.
    assert flags or not (workplace / "begun").exists()


async def test_garbage_and_long_lines_end_nothing(workplace: Path) -> None:
    """Only the protocol is on standard output, whatever the host sends."""
    garbage = (
        b'no json\n\xff\xfe\n[]\n{"jsonrpc": "2.0"}\n' + b"[" * 100_000 + b"\n" + b"x" * 70_000_000 + b"\n"
    )
    async with asyncio.timeout(_BOUND):
        process = await started("-y")
        code = "import os\nos.write(1, b'printed')"
        call = {"name": "run", "arguments": {"language": "python", "code": code}}
        assert process.stdin
        assert process.stdout
        process.stdin.write(garbage + hello() + line("tools/call", 2, call))
        answers: dict[int, Any] = {}
        while 2 not in answers:
            answer = json.loads(await process.stdout.readline())
            answers[answer.get("id")] = answer
        assert answers[1]["result"]["serverInfo"]["name"] == "oi-tui"
        assert "printed" in answers[2]["result"]["content"][0]["text"]
        process.stdin.write(b'{"jsonrpc": "2.0", "id": 3, "meth')
        process.stdin.close()
        assert await process.wait() == 0


async def test_a_request_with_half_a_character_or_of_no_valid_form_is_answered(workplace: Path) -> None:
    call = {"name": "run", "arguments": {"language": "python", "code": "print('half \ud83d')"}}
    invalid = [
        b'{"jsonrpc": "2.0", "id": 3, "method": "tools/list", "params": "none"}\n',
        b'{"id": 4, "method": "tools/list"}\n',
    ]
    async with asyncio.timeout(_BOUND):
        process = await started("-y")
        assert process.stdin
        assert process.stdout
        process.stdin.write(hello() + line("tools/call", 2, call) + b"".join(invalid))
        answers: dict[int, Any] = {}
        while len(answers) < 4:
            answer = json.loads(await process.stdout.readline())
            if "id" in answer:
                answers[answer["id"]] = answer
        assert "half ?" in answers[2]["result"]["content"][0]["text"]
        assert [answers[number]["error"]["code"] for number in (3, 4)] == [-32600, -32600]
        process.stdin.close()
        assert await process.wait() == 0


def test_a_host_that_never_reads_can_still_leave(workplace: Path) -> None:
    with subprocess.Popen(
        [sys.executable, *COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin
        process.stdin.write(hello() + b"".join(line("tools/list", n, {}) for n in range(2, 300)))
        process.stdin.close()
        assert process.wait(_BOUND) == 0


def test_a_missing_package_is_named() -> None:
    program = (
        "import sys\nsys.modules['mcp'] = None\n"
        "from oi_tui.cli.main import main\nsys.exit(main(['--mcp', '-m', 'openai/unused']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=_BOUND)
    assert done.returncode == 2
    assert done.stderr == (
        f"oi-tui: --mcp needs more packages: {make_install_command('oi-tui[mcp]')} (mcp.server is missing)\n"
    )
