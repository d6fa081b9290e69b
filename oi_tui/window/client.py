"""The client: finds an open window and calls it."""

import asyncio
import itertools
import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from oi_tui.window import address
from oi_tui.window.address import WindowAddress

_log = logging.getLogger(__name__)
#: Seconds for a window to say that it is there.
_TIMEOUT = 3.0
#: The longest answer in bytes; it can hold images.
LONGEST_ANSWER = 256 * 1024 * 1024


class WindowError(Exception):
    """The window does not carry a call out; the message says why."""


class WindowClosedError(Exception):
    """The window was closed, or does not answer."""


class WindowClient:
    """A connection to an open window. Use `find`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._numbers = itertools.count(1)
        self._calls: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self._reading = asyncio.get_running_loop().create_task(self._read(reader))

    @property
    def is_open(self) -> bool:
        """Whether the window is still there."""
        return not self._reading.done()

    async def call(self, name: str, /, **arguments: object) -> Mapping[str, Any]:
        """Carry out a call; cancelling gives it up. Raises WindowError or WindowClosedError."""
        if not self.is_open:
            raise WindowClosedError
        number = next(self._numbers)
        self._calls[number] = asyncio.get_running_loop().create_future()
        try:
            self._send({"id": number, "call": name, "arguments": arguments})
            return await self._calls[number]
        except asyncio.CancelledError:
            self._send({"cancel": number})
            raise
        finally:
            del self._calls[number]

    async def close(self) -> None:
        """Leave; what the window does for us, it gives up."""
        self._writer.transport.abort()
        self._reading.cancel()
        await asyncio.wait([self._reading])

    def _send(self, message: Mapping[str, Any]) -> None:
        if not self._writer.transport.is_closing():
            self._writer.write(json.dumps(message).encode() + b"\n")

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while line := await reader.readline():
                self._handle_answer(json.loads(line))
        except (OSError, ValueError, KeyError, TypeError):
            _log.warning("The window disconnected", exc_info=True)
        finally:
            self._writer.transport.abort()
            for future in self._calls.values():
                if not future.done():
                    future.set_exception(WindowClosedError())

    def _handle_answer(self, answer: Mapping[str, Any]) -> None:
        future = self._calls.get(answer["id"])
        if future is None or future.done():
            return
        if "error" in answer:
            future.set_exception(WindowError(str(answer["error"])))
        else:
            future.set_result(answer["result"])


async def find(host: str, folder: Path) -> WindowClient | None:
    """Connect to an open window, preferably one in this folder. `host` names the client."""
    for published in await asyncio.to_thread(address.list_published, folder):
        with suppress(OSError, ValueError, TimeoutError):
            async with asyncio.timeout(_TIMEOUT):
                return await _connect(published, host)
    return None


async def _connect(found: WindowAddress, host: str) -> WindowClient:
    reader, writer = await asyncio.open_unix_connection(str(found.socket), limit=LONGEST_ANSWER)
    try:
        writer.write(json.dumps({"token": found.token, "host": host}).encode() + b"\n")
        if json.loads(await reader.readline() or b"{}").get("ready") != address.VERSION:
            raise ValueError("another version")
    except BaseException:
        writer.transport.abort()
        raise
    return WindowClient(reader, writer)
