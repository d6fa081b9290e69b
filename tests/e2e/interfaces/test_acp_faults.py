"""Editors that answer with nonsense, send wrong requests, or leave in the midst of a turn."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.interfaces.test_acp import PARAMS, call, exactly, line
from tests.servers.openai_server import Answer, Exchange, ModelServer, Say, spoken
from tests.when_used import when_used

acp = when_used("acp")
pytestmark = [pytest.mark.needs("acp"), pytest.mark.usefixtures("quick_commands")]

_BOUND = 40
TEXT = [{"type": "text", "text": "go"}]
#: Results of a question that are no clear yes. All but the last three are not of the protocol at all.
UNCLEAR: tuple[Any, ...] = (
    {},
    None,
    True,
    "run",
    ["run"],
    {"outcome": None},
    {"outcome": "run"},
    {"outcome": "selected", "optionId": "run"},
    {"outcome": {"optionId": "run"}},
    {"outcome": {"outcome": "selected"}},
    {"outcome": {"outcome": "selected", "optionId": None}},
    {"outcome": {"outcome": "selected", "optionId": ["run"]}},
    {"outcome": {"outcome": "selected", "optionId": True}},
    {"outcome": {"outcome": "allowed", "optionId": "run"}},
    {"outcome": [{"outcome": "selected", "optionId": "run"}]},
    {"outcome": {"outcome": "selected", "optionId": "RUN"}},
    {"outcome": {"outcome": "selected", "optionId": "run\u200b"}},
    {"outcome": {"outcome": "cancelled", "optionId": "run"}},
)


#: Messages with a part that JSON-RPC does not know.
ODD: tuple[dict[str, Any], ...] = (
    {},
    {"id": [], "result": {}},
    {"id": {}, "error": {"code": 1, "message": "x"}},
    {"id": 1, "error": "no"},
    {"id": 1, "error": {"code": "x"}},
    {"id": [], "method": "session/list", "params": {}},
    {"id": 1.5, "method": "session/list", "params": "all"},
    {"method": "session/cancel", "params": [1]},
    {"method": "session/cancel", "params": None},
    {"method": "session/cancel"},
)


class Peer:
    """An editor that writes lines. Whatever the agent sends must be a message of the protocol."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._number = 0

    def send(self, method: str, **values: Any) -> int:
        """Send a request; return its number."""
        self._number += 1
        self.write(line(method, self._number, **values))
        return self._number

    def write(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)

    def answer(self, question: Any, **values: Any) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "id": question["id"], **values}).encode() + b"\n")

    async def receive(self) -> Any:
        assert self.process.stdout
        message = json.loads(await self.process.stdout.readline())
        assert message["jsonrpc"] == "2.0"
        if "method" in message:
            exactly(PARAMS[message["method"]], message["params"])
        else:
            assert len({"result", "error"} & set(message)) == 1
        return message

    async def result_of(self, number: int) -> Any:
        while (message := await self.receive()).get("id") != number or "method" in message:
            pass
        return message

    async def question(self) -> Any:
        while (message := await self.receive()).get("method") != "session/request_permission":
            pass
        return message

    async def begin(self, workplace: Path) -> str:
        """Open a session; return its id."""
        self.send("initialize", protocolVersion=acp.PROTOCOL_VERSION, clientCapabilities={})
        made = await self.result_of(self.send("session/new", cwd=str(workplace), mcpServers=[]))
        return str(made["result"]["sessionId"])


@asynccontextmanager
async def peer(server: ModelServer) -> AsyncIterator[Peer]:
    """Start the agent; in the end it must leave by itself, without a word on standard error."""
    model = ("-m", "openai/tester", "-ab", server.base, "-ak", "sk-test-key", "-c", "200000", "-lsv")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "oi_tui", "--acp", *model),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=10_000_000,
    )
    assert process.stdin
    try:
        async with asyncio.timeout(_BOUND * 2):
            yield Peer(process)
            process.stdin.close()
            _, errors = await process.communicate()
            assert (process.returncode, errors) == (0, b"")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def code_or_word(exchange: Exchange) -> None:
    """Answer a person with code, and what became of code with a word."""
    asked = exchange.request["messages"][-1]["role"] == "user"
    spoken(call("open('made', 'w')") if asked else Say("Not run."))(exchange)


async def test_an_answer_that_is_no_clear_yes_runs_nothing(workplace: Path) -> None:
    with ModelServer(*[code_or_word] * (2 * len(UNCLEAR) + 2)) as server:
        async with peer(server) as editor:
            session = await editor.begin(workplace)
            for result in UNCLEAR:
                turn = editor.send("session/prompt", sessionId=session, prompt=TEXT)
                editor.answer(await editor.question(), result=result)
                assert "result" in await editor.result_of(turn), result
                assert not (workplace / "made").exists(), result
            # A refusal of the request, and a yes to a question that was never asked.
            turn = editor.send("session/prompt", sessionId=session, prompt=TEXT)
            question = await editor.question()
            yes = {"outcome": {"outcome": "selected", "optionId": "run"}}
            editor.answer({"id": question["id"] + 1000}, result=yes)
            editor.answer({"id": str(question["id"])}, result=yes)
            editor.answer(question, error={"code": -32601, "message": "What is that?"})
            editor.answer(question, result=yes)
            assert "result" in await editor.result_of(turn)
    assert not (workplace / "made").exists()


async def test_requests_that_are_not_of_the_protocol_are_refused_and_end_nothing(workplace: Path) -> None:
    wrong: tuple[tuple[str, dict[str, Any]], ...] = (
        ("initialize", {}),
        ("session/new", {}),
        ("session/new", {"cwd": 1, "mcpServers": []}),
        ("session/new", {"cwd": str(workplace), "mcpServers": "all"}),
        ("session/prompt", {"prompt": TEXT}),
        ("session/prompt", {"sessionId": ["x"], "prompt": TEXT}),
        ("session/prompt", {"sessionId": "x", "prompt": [{"type": "smell"}]}),
        ("session/prompt", {"sessionId": "x", "prompt": [{"type": "text"}]}),
        ("session/load", {"cwd": str(workplace), "mcpServers": []}),
        ("session/fork", {"sessionId": None, "cwd": str(workplace), "mcpServers": []}),
        ("session/close", {}),
        ("session/list", {"cwd": {}}),
        ("session/eval", {"code": "1"}),
        ("terminal/create", {"command": "sh"}),
        ("fs/write_text_file", {"path": str(workplace / "made"), "content": ""}),
    )
    with ModelServer(spoken(Say("Here."))) as server:
        async with peer(server) as editor:
            session = await editor.begin(workplace)
            answers = [await editor.result_of(editor.send(method, **values)) for method, values in wrong]
            codes = [answer.get("error", {}).get("code") for answer in answers]
            accepted = [case for case, code in zip(wrong, codes, strict=True) if code not in (-32602, -32601)]
            assert accepted == []
            for method in ("session/cancel", "session/eval", "$/cancel_request"):
                editor.write(line(method, sessionId=3, id=[]))
            for odd in ODD:
                editor.write(json.dumps({"jsonrpc": "2.0", **odd}).encode() + b"\n")
            # A line of 50 MB is a line.
            listed = editor.send("session/list", cwd=str(workplace), _meta={"x": "x" * 50_000_000})
            assert "result" in await editor.result_of(listed)
            turn = editor.send("session/prompt", sessionId=session, prompt=TEXT)
            assert (await editor.result_of(turn))["result"]["stopReason"] == "end_turn"
    assert not (workplace / "made").exists()


def never_ending(exchange: Exchange) -> None:
    """Begin a reply, and hang."""
    exchange.head()
    for data in list(exchange.wire.body((Say("A beginning. " * 20),), 4))[:20]:
        exchange.send(data)
    exchange.hang()


BUSY = "open('begun', 'w').close()\nwhile True: pass"
LOUD = "open('begun', 'w').close()\nwhile True: print('word ' * 2000)"


@pytest.mark.parametrize(
    ("reply", "half"),
    [
        (never_ending, False),
        (spoken(call("open('made', 'w')")), False),
        (spoken(call("open('made', 'w')")), True),
        (spoken(call(BUSY)), False),
        (spoken(call(LOUD)), True),
    ],
    ids=["streaming", "asked", "asked, half an answer", "running", "never reads"],
)
async def test_an_editor_may_leave_in_the_midst_of_a_turn(workplace: Path, reply: Answer, half: bool) -> None:
    """Whatever goes on then: the agent ends, and nothing of it is left. The fixture looks for processes."""
    with ModelServer(reply) as server:
        async with peer(server) as editor:
            session = await editor.begin(workplace)
            editor.send("session/prompt", sessionId=session, prompt=TEXT)
            if reply is never_ending:
                while "agent_message_chunk" not in str(await editor.receive()):
                    pass
            else:
                question = await editor.question()
                yes = {"outcome": {"outcome": "selected", "optionId": "run"}}
                if half and "made" in str(question):
                    whole = json.dumps({"jsonrpc": "2.0", "id": question["id"], "result": yes}).encode()
                    editor.write(whole[:-2])
                elif "made" not in str(question):
                    editor.answer(question, result=yes)
                    async with asyncio.timeout(_BOUND):
                        while not (workplace / "begun").exists():
                            await asyncio.sleep(0.02)
    assert not (workplace / "made").exists()


async def test_every_cancel_is_answered_soon(workplace: Path) -> None:
    """Of a reply that streams, a question, and running code. 0.2 s on a machine that does nothing else."""
    times = []
    with ModelServer(never_ending, spoken(call("1")), spoken(call(BUSY))) as server:
        async with peer(server) as editor:
            session = await editor.begin(workplace)
            for number in range(3):
                turn = editor.send("session/prompt", sessionId=session, prompt=TEXT)
                if number == 0:
                    while "agent_message_chunk" not in str(await editor.receive()):
                        pass
                else:
                    question = await editor.question()
                if number == 2:
                    yes = {"outcome": {"outcome": "selected", "optionId": "run"}}
                    editor.answer(question, result=yes)
                    while not (workplace / "begun").exists():
                        await asyncio.sleep(0.02)
                began = time.monotonic()
                editor.write(line("session/cancel", sessionId=session))
                ended = await editor.result_of(turn)
                times.append(time.monotonic() - began)
                assert ended["result"]["stopReason"] == "cancelled"
    assert max(times) < 1, times
