"""The listener of a window: accepts calls of other programs, one JSON object on each line.

A program sends `{"token": …, "host": …}`, and then calls: `{"id": 1, "call": "run", "arguments": {…}}`. Each
is answered by `{"id": 1, "result": {…}}` or `{"id": 1, "error": "…"}`. `{"cancel": 1}` gives a call up.
"""

import asyncio
import contextlib
import json
import logging
import os
import secrets
import socket
import struct
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from oi_tui.text import clean_line
from oi_tui.window import address
from oi_tui.window.address import WindowAddress

_log = logging.getLogger(__name__)
#: The longest line, in bytes.
LONGEST_LINE = 4 * 1024 * 1024
#: Seconds for a program to say who it is, and to take an answer.
TIMEOUT = 5.0
_MOST_CONNECTIONS = 16
_MOST_CALLS = 16


class WindowCallError(Exception):
    """A call that cannot be carried out; the message says why."""


@dataclass(eq=False)
class Host:
    """A program that asks; each connection is one. `name` is what it calls itself."""

    name: str
    #: The ids of the code that ran for it.
    runs: list[str] = field(default_factory=list)


#: Carries out a call of a host. It is cancelled when the host gives the call up, or is gone.
Handler = Callable[[Host, str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


class Listener:
    """Listens as long as the window is open. All happens in the event loop that called `open`."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._server: asyncio.Server | None = None
        self._address: WindowAddress | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def open(self, folder: Path) -> None:
        """Listen, for a window that works in this folder. Raises OSError."""
        await asyncio.to_thread(address.sweep)
        socket_address = address.create(folder)
        listening = socket.socket(socket.AF_UNIX)
        server = None
        try:
            listening.bind(str(socket_address.socket))
            socket_address.socket.chmod(0o600)
            server = await asyncio.start_unix_server(self._connect, sock=listening, limit=LONGEST_LINE)
            address.publish(socket_address)
        except BaseException:
            if server:
                server.close()
            listening.close()
            address.withdraw(socket_address)
            raise
        self._server, self._address = server, socket_address

    def touch(self) -> None:
        """Note that the person works in this window now."""
        if self._address:
            address.touch(self._address)

    async def close(self) -> None:
        """Stop listening, and cancel all calls."""
        if self._address:
            address.withdraw(self._address)
        if self._server:
            self._server.close()
        for task in self._connections:
            task.cancel()
        if self._connections:
            await asyncio.wait(set(self._connections), timeout=TIMEOUT)

    def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._connections) >= _MOST_CONNECTIONS or not _is_own(writer):
            writer.transport.abort()
            return
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = None
        try:
            async with asyncio.timeout(TIMEOUT):
                hello = _read_object(await reader.readline())
            token = self._address.token if self._address else ""
            if not token or not secrets.compare_digest(str(hello.get("token")).encode(), token.encode()):
                return
            host = Host(clean_line(str(hello.get("host") or "A program"), 60))
            connection = _Connection(host, writer, self._handler)
            connection.send({"ready": address.VERSION})
            while line := await reader.readline():
                connection.handle(_read_object(line))
        except (OSError, ValueError, TimeoutError):
            _log.info("A connection to the window failed", exc_info=True)
        finally:
            if connection:
                connection.end()
            writer.transport.abort()


class _Connection:
    """The calls of one host."""

    def __init__(self, host: Host, writer: asyncio.StreamWriter, handler: Handler) -> None:
        self._host = host
        self._writer = writer
        self._handler = handler
        self._calls: dict[int, asyncio.Task[None]] = {}

    def handle(self, message: Mapping[str, Any]) -> None:
        """Begin a call, or give one up. Raises ValueError."""
        if "cancel" in message:
            if task := self._calls.get(_parse_whole_number(message["cancel"])):
                task.cancel()
            return
        number, name, arguments = (
            _parse_whole_number(message.get("id")),
            message.get("call"),
            message.get("arguments"),
        )
        if not isinstance(name, str) or not isinstance(arguments, dict) or number in self._calls:
            raise ValueError("no call")
        if len(self._calls) >= _MOST_CALLS:
            self.send({"id": number, "error": "Too many calls are waiting for the window."})
            return
        task = asyncio.get_running_loop().create_task(self._carry_out(number, name, arguments))
        self._calls[number] = task
        # Also where the task is cancelled before its first step.
        task.add_done_callback(lambda _: self._calls.pop(number, None))

    def send(self, message: Mapping[str, Any]) -> None:
        """Write a message; a host that does not read is left once too much waits for it."""
        if self._writer.transport.get_write_buffer_size() > 16 * LONGEST_LINE:
            self._writer.transport.abort()
        elif not self._writer.transport.is_closing():
            self._writer.write(json.dumps(message).encode() + b"\n")

    def end(self) -> None:
        """Cancel all calls: nothing waits for them."""
        for task in self._calls.values():
            task.cancel()

    async def _carry_out(self, id: int, name: str, arguments: Mapping[str, Any]) -> None:
        try:
            self.send({"id": id, "result": await self._handler(self._host, name, arguments)})
        except WindowCallError as error:
            self.send({"id": id, "error": str(error)})
        except Exception:  # noqa: BLE001 -- the end of the task; it reports
            _log.exception("A call of another program failed")
            self.send({"id": id, "error": "The window failed to carry this out; its log says why."})


def _read_object(line: bytes) -> dict[str, Any]:
    """Read one line. Raises ValueError."""
    try:
        value = json.loads(line)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("no object")
    return value


def _parse_whole_number(value: object) -> int:
    if not isinstance(value, int):
        raise ValueError("no number")
    return value


def _is_own(writer: asyncio.StreamWriter) -> bool:
    """Return whether the other end belongs to the same person; where this cannot be asked,
    the token decides.
    """
    if sys.platform != "linux":
        return True
    with contextlib.suppress(OSError):
        size = struct.calcsize("3i")
        credentials = writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        return bool(struct.unpack("3i", credentials)[1] == os.getuid())
    return False
