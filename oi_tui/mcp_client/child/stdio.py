"""Connects to a server that is a program: one message on each line of its standard input and output.

The package's own transport takes lines of any length, and joins them in quadratic time.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from oi_tui.mcp_client.child.repair import parse_line

#: The longest line, in bytes.
LONGEST_LINE = 16 * 1024 * 1024
#: Seconds that a server has to end after its input was closed, and after it was asked to.
_TIMEOUT = (1.0, 1.0)
#: Characters of a server's last words that are kept.
_LAST_WORDS = 2000


class Program:
    """A running server; `end` says in words how it ended."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.end = ""
        self.words = ""
        #: Whether its end is wanted.
        self.stopping = False

    async def listen(self) -> None:
        """Keep what the server says on standard error."""
        assert self.process.stderr
        while text := await self.process.stderr.read(4096):
            self.words = (self.words + text.decode("utf-8", "replace"))[-_LAST_WORDS:]

    async def stop(self) -> None:
        """End the server and all that it started."""
        for number, seconds in zip((signal.SIGTERM, signal.SIGKILL), _TIMEOUT, strict=True):
            with suppress(TimeoutError):
                await asyncio.wait_for(self.process.wait(), seconds)
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)
        await self.process.wait()


@asynccontextmanager
async def start_program(
    command: Sequence[str], values: Mapping[str, str], cwd: str, ended: Callable[[Program], None]
) -> AsyncIterator[tuple[Any, Any]]:
    """Start a server and return the streams of its messages. Calls `ended` when the server ends.

    Raises OSError.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**get_default_environment(), **values},
        cwd=cwd,
        start_new_session=True,
        limit=LONGEST_LINE,
    )
    running = Program(process)
    received, from_server = anyio.create_memory_object_stream[Any](0)[::-1]
    to_server, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = [
        asyncio.create_task(_read(running, from_server, ended)),
        asyncio.create_task(_write(process, outgoing)),
        asyncio.create_task(running.listen()),
    ]
    try:
        yield received, to_server
    finally:
        assert process.stdin
        running.stopping = True
        process.stdin.close()
        # Shielded: no server may be left behind when this is cancelled once more.
        await asyncio.shield(asyncio.ensure_future(running.stop()))
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def _read(running: Program, to_session: Any, ended: Callable[[Program], None]) -> None:
    stdout = running.process.stdout
    assert stdout
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
        async with to_session:
            try:
                while line := await stdout.readline():
                    for item in parse_line(line):
                        await to_session.send(item)
            except ValueError:
                running.end = f"it sent a line of more than {LONGEST_LINE // 1024 // 1024} MB"
            if running.stopping:
                return
    if not running.end:
        with suppress(TimeoutError):
            await asyncio.wait_for(running.process.wait(), 1.0)
        code = running.process.returncode
        running.end = "it closed its output" if code is None else f"it ended (exit code {code})"
    last = running.words.strip().rpartition("\n")[2]
    running.end += f": {last}" if last else ""
    ended(running)


async def _write(process: asyncio.subprocess.Process, outgoing: Any) -> None:
    assert process.stdin
    with suppress(OSError):
        async for item in outgoing:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(text.encode("utf-8", "replace") + b"\n")
            await process.stdin.drain()
