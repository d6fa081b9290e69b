"""Messages of the Model Context Protocol on standard input and output, one in each line.

The package's own transport cannot be ended while it waits for a line, and takes a line of any length.
"""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, BinaryIO

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, ErrorData, JSONRPCError, jsonrpc_message_adapter

from oi_tui.json_lines import LineWriter, claim_streams, parse_damaged, read_lines

#: A line may have this many bytes.
LONGEST_LINE = 64 * 1024 * 1024


@asynccontextmanager
async def open_message_streams() -> AsyncIterator[tuple[Any, Any]]:
    """Take standard input and output for the protocol alone, and give the streams of messages."""
    source, target = claim_streams()
    received, to_server = anyio.create_memory_object_stream[Any](0)[::-1]
    from_server, to_host = anyio.create_memory_object_stream[SessionMessage](0)
    loop = asyncio.get_running_loop()
    threading.Thread(target=_read, args=(source, to_server, from_server, loop), daemon=True).start()
    writing = asyncio.create_task(_write(LineWriter(target), to_host))
    # A host that takes no answers any more is gone.
    writing.add_done_callback(lambda _: to_server.close())
    try:
        yield received, from_server
    finally:
        writing.cancel()
        await asyncio.wait([writing])


def _read(source: BinaryIO, to_server: Any, to_host: Any, loop: asyncio.AbstractEventLoop) -> None:
    """Hand over the messages of the host until its stream ends; the body of a thread."""
    with suppress(RuntimeError, OSError, anyio.ClosedResourceError, anyio.BrokenResourceError):
        for line in read_lines(source, LONGEST_LINE):
            message = _parse_message(line)
            is_refused = isinstance(message, SessionMessage) and isinstance(message.message, JSONRPCError)
            taker = to_host if is_refused else to_server
            asyncio.run_coroutine_threadsafe(taker.send(message), loop).result()
    with suppress(RuntimeError):  # the loop has ended
        loop.call_soon_threadsafe(to_server.close)


def _parse_message(line: bytes | None) -> SessionMessage | Exception:
    """Return the message of a line; the answer to it where it is a request that is not valid."""
    if line is None:
        return ValueError(f"A line is longer than {LONGEST_LINE:,} bytes.")
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return _rescue(line, error)


def _rescue(line: bytes, error: Exception) -> SessionMessage | Exception:
    """Return what can be made of a line, so that whoever waits for an answer gets one; else the error."""
    try:
        payload = parse_damaged(line)
    except ValueError:
        return error
    with suppress(ValueError):
        return SessionMessage(jsonrpc_message_adapter.validate_python(payload, by_name=False))
    number = payload.get("id") if isinstance(payload, dict) and "method" in payload else None
    if isinstance(number, bool) or not isinstance(number, int | str):
        return error
    refusal = ErrorData(code=INVALID_REQUEST, message="The request is not valid JSON-RPC 2.0.")
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=number, error=refusal))


async def _write(writer: LineWriter, to_host: Any) -> None:
    """Write the messages to the host until it no longer reads."""
    async for item in to_host:
        if not await writer.write(item.message.model_dump_json(by_alias=True, exclude_unset=True)):
            return
