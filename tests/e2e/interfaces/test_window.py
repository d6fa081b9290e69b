"""Code of an MCP host in the person's open window: real program in a terminal, real client library."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from oi_tui import paths
from oi_tui.window import address
from tests.e2e.conftest import Start
from tests.e2e.interfaces.test_mcp_server import COMMAND, ERAS, Person, read_text, run, until
from tests.e2e.program import Program
from tests.when_used import when_used

mcp, types, stdio = when_used("mcp"), when_used("mcp.types"), when_used("mcp.client.stdio")
pytestmark = [pytest.mark.needs("mcp"), pytest.mark.usefixtures("quick_commands")]

_BOUND = 90
QUESTION = "Run this python code for Fancy Agent?"


@asynccontextmanager
async def host(person: Person | None = None, *flags: str, mode: str = "auto") -> AsyncIterator[Any]:
    server = stdio.StdioServerParameters(
        command=sys.executable, args=[*COMMAND, *flags], env=dict(os.environ)
    )
    who = types.Implementation(name="fancy", title="Fancy Agent", version="1")
    async with (
        asyncio.timeout(_BOUND),
        mcp.Client(server, mode=mode, elicitation_callback=person, client_info=who) as client,
    ):
        yield client


def open_window(start: Start) -> Program:
    """A window that other programs can find."""
    program = start()
    program.wait_for(lambda _: bool(entries()))
    return program


def entries() -> list[Path]:
    return sorted(address.find_directory().glob("*.json"))  # makes the folder where it is missing


async def wait_for_text(program: Program, wanted: str) -> str:
    return await asyncio.to_thread(program.wait_for, wanted)


async def answered(program: Program, key: str = "y") -> None:
    """Answer the question in the window once it takes keys."""
    await wait_for_text(program, QUESTION)
    await asyncio.to_thread(program.answer, key)


@pytest.mark.parametrize("mode", ERAS)
async def test_code_of_a_host_is_asked_for_and_runs_in_the_open_window(
    start: Start, workplace: Path, mode: str
) -> None:
    program = open_window(start)
    nobody = Person()
    async with host(nobody, mode=mode) as client:
        refused = read_text(await client.call_tool("variables", {}))
        assert "has not run any code of yours" in refused
        call = asyncio.create_task(
            run(client, "kept = 41\nopen('made.txt', 'w').write('x')\nprint(kept + 1)")
        )
        screen = await wait_for_text(program, QUESTION)
        assert "Fancy Agent wants to run this" in screen
        assert "always" not in screen[screen.index(QUESTION) :]
        await answered(program)
        result = await call
        assert not result.is_error
        assert read_text(result).startswith("42")
        assert result.structured_content["place"] == "window"
        await wait_for_text(program, "of another program, approved; the model does not see it")
        assert result.structured_content["files_changed"] == ["created: made.txt"]
        assert "kept" in read_text(await client.call_tool("variables", {"language": "python"}))
        assert "41" in read_text(await client.call_tool("inspect", {"language": "python", "name": "kept"}))
        assert "made.txt" in read_text(await client.call_tool("files_changed", {}))
        assert "%reset" in read_text(await client.call_tool("restart", {}))
        # The person's own code and that of the host share the variables.
        program.say("%run python print('mine', kept)")
        await wait_for_text(program, "mine 41")
    assert nobody.asked == []


async def test_what_the_person_decides_in_the_window_is_what_the_host_is_told(
    start: Start, workplace: Path
) -> None:
    program = open_window(start)
    # Nothing that was granted to the model is granted to a host.
    program.say("%auto_run on")
    async with host() as client:
        call = asyncio.create_task(run(client, "open('refused', 'w')"))
        await answered(program, "n")
        await wait_for_text(program, "Why not run this python code?")
        program.say("not today")
        result = await call
        assert result.is_error
        assert result.structured_content["state"] == "rejected"
        assert "not today" in read_text(result)
        assert not (workplace / "refused").exists()
        call = asyncio.create_task(run(client, "while True: pass"))
        await answered(program)
        await wait_for_text(program, "running")
        program.press("escape")
        assert (await call).structured_content["state"] == "interrupted"
        call = asyncio.create_task(run(client, "print(input('Name? '))"))
        await answered(program)
        await wait_for_text(program, "Name?")
        await asyncio.to_thread(program.wait_quiet)
        program.say("Ada")
        assert "Ada" in read_text(await call)


async def test_the_code_of_a_host_that_gives_up_or_vanishes_does_not_run(
    start: Start, workplace: Path
) -> None:
    program = open_window(start)
    async with host() as client:
        call = asyncio.create_task(run(client, "open('given-up', 'w')"))
        await wait_for_text(program, QUESTION)
        call.cancel()
        await asyncio.wait([call])
        await asyncio.to_thread(program.wait_gone, QUESTION)
        call = asyncio.create_task(run(client, "open('vanished', 'w')"))
        await wait_for_text(program, QUESTION)
        call.cancel()
    await asyncio.to_thread(program.wait_gone, QUESTION)
    await wait_for_text(program, "Fancy Agent withdrew its code, or disconnected.")
    async with host() as client:
        call = asyncio.create_task(run(client, "open('begun', 'w').close()\nwhile True: pass"))
        await answered(program)
        await until((workplace / "begun").exists)
        call.cancel()
    program.say("%run python print('free', 'again')")
    await wait_for_text(program, "free again")
    assert not (workplace / "given-up").exists()
    assert not (workplace / "vanished").exists()


async def test_without_a_window_the_host_asks_and_is_told_where_its_code_ran(
    start: Start, workplace: Path
) -> None:
    program = open_window(start)
    person = Person({"decision": "Run"})
    async with host(person) as client:
        call = asyncio.create_task(run(client, "print('first')"))
        await answered(program)
        await call
        call = asyncio.create_task(run(client, "open('closed', 'w')"))
        await wait_for_text(program, QUESTION)
        program.press("ctrl+q")
        assert await asyncio.to_thread(program.wait_exit) == 0
        result = await call
        assert result.is_error
        assert not (workplace / "closed").exists()
        assert entries() == []
        result = await run(client, "print('second')")
        assert "second" in read_text(result)
        assert "no longer open" in read_text(result)
        assert result.structured_content["place"] == "own"
        assert len(person.asked) == 1


async def test_a_host_that_may_run_without_a_question_asks_no_window(start: Start, workplace: Path) -> None:
    program = open_window(start)
    async with host(None, "-y") as client:
        assert "42" in read_text(await run(client, "print(6 * 7)"))
    assert "Run this python code" not in program.screen


def test_only_its_owner_and_who_knows_the_token_reach_a_window(start: Start, workplace: Path) -> None:
    program = open_window(start)
    (file,) = entries()
    known = json.loads(file.read_text())
    assert stat.S_IMODE(address.find_directory().stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    (where,) = address.find_directory().glob("*.sock")
    assert stat.S_IMODE(where.stat().st_mode) == 0o600
    call = (
        b'{"id": 1, "call": "run", "arguments": {"language": "python", "code": "open(\'stolen\', \'w\')"}}\n'
    )
    for hello in (
        b"",
        b"\n",
        b"{}\n",
        b"[]\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\xff\xfe\n",
        b"[" * 100_000 + b"\n",
        b'{"token": null, "host": "x"}\n',
        b'{"token": "\\ud800", "host": "x"}\n',
        json.dumps({"token": known["token"][:-1], "host": "x"}).encode() + b"\n",
        json.dumps({"token": known["token"] + "x", "host": "x"}).encode() + b"\n",
        b"x" * 6_000_000,
    ):
        assert b"ready" not in exchange_bytes(where, hello + call), hello[:40]
    # Those who know it may still send nonsense.
    hello = json.dumps({"token": known["token"], "host": "\x1b[31mevil\u202e"}).encode() + b"\n"
    for nonsense in (
        b"[]\n",
        b'{"id": "1", "call": "run", "arguments": {}}\n',
        b'{"id": 1, "call": "run", "arguments": []}\n',
        b'{"cancel": {}}\n',
        b"x" * 6_000_000,
        b'{"id": 1, "call": "run", "argum',
    ):
        assert exchange_bytes(where, hello + nonsense).count(b"\n") == 1
    for told, words in (
        ({"call": "close", "arguments": {}}, "does not know the call close"),
        ({"call": "run", "arguments": {"language": "python", "code": 1}}, "code must be text"),
        ({"call": "run", "arguments": {"language": "python", "code": "\ud800"}}, "not valid Unicode"),
        ({"call": "run", "arguments": {"language": "cobol-61", "code": "x"}}, "Unknown language"),
    ):
        answer = exchange_bytes(where, hello + json.dumps({"id": 1, **told}).encode() + b"\n", lines=2)
        assert words in answer.decode(), told
    program.say("%run python print('still', 'here')")
    program.wait_for("still here")
    assert not (workplace / "stolen").exists()
    assert "Run this python code" not in program.screen


def exchange_bytes(where: Path, data: bytes, lines: int = 0) -> bytes:
    """Send bytes and close our end. Returns what comes back, at most so many lines."""
    received = b""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_BOUND)
        connection.connect(str(where))
        with contextlib.suppress(OSError):
            connection.sendall(data)
            if not lines:
                connection.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionError):
            while (not lines or received.count(b"\n") < lines) and (more := connection.recv(65536)):
                received += more
    return received


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system does not list descriptors")
def test_a_thousand_connections_leave_no_descriptor(start: Start, workplace: Path) -> None:
    program = open_window(start)
    (where,) = address.find_directory().glob("*.sock")
    folder = Path(f"/proc/{program.pid}/fd")
    before = len(list(folder.iterdir()))
    silent = []
    for number in range(1000):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(where))
        if number % 50:
            connection.close()
        else:
            silent.append(connection)
    program.wait_for(lambda _: len(list(folder.iterdir())) <= before)
    for connection in silent:
        connection.close()


def test_what_a_killed_window_left_is_removed(start: Start, workplace: Path) -> None:
    own = address.create(workplace)
    address.publish(own)
    assert [found.folder for found in address.list_published(workplace)] == [str(workplace)]
    other = address.create(workplace.parent)
    address.publish(other)
    os.utime(other.file, (2e9, 2e9))
    assert [found.name for found in address.list_published(workplace)] == [own.name, other.name]
    assert [found.name for found in address.list_published(Path("/"))] == [other.name, own.name]
    dead = own.file.with_name("4194303-dead.json")
    dead.write_text(own.file.read_text())
    assert len(address.list_published(workplace)) == 2
    assert not dead.exists()
    address.withdraw(own)
    address.withdraw(other)
    assert entries() == []


def test_a_window_removes_at_its_start_what_killed_ones_left(start: Start, workplace: Path) -> None:
    program = open_window(start)
    (left,) = entries()
    os.kill(program.pid, signal.SIGKILL)
    program.wait_exit()
    folder = left.parent
    assert left.exists()
    # A number that another program has now, and a window that came no further than its socket.
    reused = folder / f"{os.getpid()}-reused.json"
    reused.write_text(left.read_text())
    with socket.socket(socket.AF_UNIX) as gone:
        gone.bind(str(reused.with_suffix(".sock")))
    (folder / "4194303-begun.sock").touch()
    other = folder / "notes-of-mine.json"
    other.write_text("{}")
    young = folder / f"{os.getpid()}-young.sock"
    with socket.socket(socket.AF_UNIX) as beginning:
        beginning.bind(str(young))
        program = start()
        own = {young.name, other.name}
        program.wait_for(lambda _: len({file.name for file in folder.iterdir()} - own) == 2)
        assert {file.name for file in folder.iterdir()} >= own
        assert all(
            file.stem.startswith(f"{program.pid}-") for file in folder.iterdir() if file.name not in own
        )


def test_a_window_whose_profile_says_so_is_not_found(start: Start, workplace: Path) -> None:
    for name, found in (("open", "true"), ("closed", "false")):
        profile = paths.make_private(paths.profiles()) / f"{name}.yaml"
        profile.write_text(f"llm.model: demo\nother_agents: {found}\n")
    program = open_window(start)
    for name, count in (("closed", 0), ("open", 1), ("closed", 0)):
        program.say(f"%profile {name}")
        program.wait_for(lambda _, count=count: len(entries()) == count)


def test_a_folder_that_others_could_use_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    address.find_directory().parent.chmod(0o755)
    with pytest.raises(PermissionError, match="can be used by others"):
        address.create(tmp_path)
    assert address.list_published(tmp_path) == []
