"""Messages of the Model Context Protocol on standard input and output, one in each line.

The package's own transport cannot be ended while it waits for a line, and takes a line of any length.
"""

import asyncio
import os
import queue
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, BinaryIO

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

#: A line may have so many bytes.
LONGEST_LINE = 64 * 1024 * 1024


@asynccontextmanager
async def messages() -> AsyncIterator[tuple[Any, Any]]:
    """Take standard input and output for the protocol alone, and give the streams of messages.

    What else is printed goes to standard error, and whoever reads standard input gets nothing.
    """
    source, target = _take_streams()
    received, to_server = anyio.create_memory_object_stream[Any](0)[::-1]
    from_server, to_host = anyio.create_memory_object_stream[SessionMessage](0)
    loop = asyncio.get_running_loop()
    threading.Thread(target=_read, args=(source, to_server, loop), daemon=True).start()
    writing = asyncio.create_task(_write(target, to_host))
    # A host that takes no answers any more is gone.
    writing.add_done_callback(lambda _: to_server.close())
    try:
        yield received, from_server
    finally:
        writing.cancel()
        await asyncio.wait([writing])


def _take_streams() -> tuple[BinaryIO, int]:
    # Threads may still wait at these descriptors when everything else has ended; they are never closed.
    source, target = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(source, "rb", closefd=False), target


def _read(source: BinaryIO, to_server: Any, loop: asyncio.AbstractEventLoop) -> None:
    """Hand the messages of the host over until there are no more; the body of a thread."""
    with suppress(RuntimeError, OSError, anyio.ClosedResourceError, anyio.BrokenResourceError):
        while line := source.readline(LONGEST_LINE + 1):
            item = _message(line) if len(line) <= LONGEST_LINE else _skip(source, line)
            asyncio.run_coroutine_threadsafe(to_server.send(item), loop).result()
    with suppress(RuntimeError):  # the loop has ended
        loop.call_soon_threadsafe(to_server.close)


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error


def _skip(source: BinaryIO, line: bytes) -> Exception:
    while line and not line.endswith(b"\n"):
        line = source.readline(LONGEST_LINE)
    return ValueError(f"A line is longer than {LONGEST_LINE:,} bytes.")


async def _write(target: int, to_host: Any) -> None:
    """Write the messages to the host until it takes no more of them."""
    lines: queue.SimpleQueue[tuple[bytes, asyncio.Future[bool]]] = queue.SimpleQueue()
    loop = asyncio.get_running_loop()
    threading.Thread(target=_write_lines, args=(target, lines, loop), daemon=True).start()
    async for item in to_host:
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        written: asyncio.Future[bool] = loop.create_future()
        lines.put((text.encode("utf-8", "replace") + b"\n", written))
        if not await written:
            return


def _write_lines(
    target: int,
    lines: "queue.SimpleQueue[tuple[bytes, asyncio.Future[bool]]]",
    loop: asyncio.AbstractEventLoop,
) -> None:
    while True:
        line, written = lines.get()
        try:
            while line:
                line = line[os.write(target, line) :]
        except OSError:
            pass
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(_settle, written, not line)


def _settle(future: "asyncio.Future[bool]", value: bool) -> None:
    if not future.done():
        future.set_result(value)
