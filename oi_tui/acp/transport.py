"""Messages of the Agent Client Protocol on standard input and output, one in each line.

The package's own transport takes a line of any length, and ends with a line that is JSON but no object.
"""

import asyncio
import json
import threading
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, BinaryIO

from oi_tui.json_lines import LineWriter, read_lines

#: A line, such as a prompt with images, may have this many bytes.
LONGEST_LINE = 100 * 1024 * 1024
#: So many messages may wait until somebody takes them.
_WAITING = 16
_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600


class LineTransport:
    """What the package's connection sends and receives by."""

    def __init__(self, source: BinaryIO, target: int) -> None:
        self._writer = LineWriter(target)
        self._loop = asyncio.get_running_loop()
        self._received: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(_WAITING)
        threading.Thread(target=self._read, args=(source,), daemon=True).start()

    async def send(self, message: dict[str, Any]) -> None:
        """Write a message. Raises ConnectionError when the editor no longer reads."""
        if not await self._writer.write(json.dumps(message, separators=(",", ":"))):
            raise ConnectionError("The editor stopped reading.")

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message; None when the editor has closed its side."""
        return await self._received.get()

    async def close(self) -> None:
        """Close nothing: the threads end with the process."""

    def _read(self, source: BinaryIO) -> None:
        """Hand over the messages of the editor until its stream ends; the body of a thread."""
        with suppress(RuntimeError, OSError):
            for line in read_lines(source, LONGEST_LINE):
                self._handle_line(line)
        with suppress(RuntimeError):  # the loop has ended
            self._wait_for(self._received.put(None))

    def _handle_line(self, line: bytes | None) -> None:
        if line is None:
            self._refuse(_INVALID_REQUEST, f"A line may have at most {LONGEST_LINE:,} bytes.")
            return
        if not line.strip():
            return
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._refuse(_PARSE_ERROR, "This line is not JSON.")
            return
        if problem := _find_problem(message):
            self._refuse(_INVALID_REQUEST, problem, _find_id(message))
        else:
            self._wait_for(self._received.put(message))

    def _refuse(self, code: int, sentence: str, id: str | int | None = None) -> None:
        error = {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": sentence}}
        with suppress(ConnectionError):
            self._wait_for(self.send(error))

    def _wait_for(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something in the loop, and wait. Raises RuntimeError when the loop has ended."""
        try:
            doing = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:
            # Otherwise Python warns on standard error that it was never awaited.
            work.close()
            raise
        doing.result()


def _find_id(message: Any) -> str | int | None:
    """Return the id of a request, whose sender waits for an answer to it, or None."""
    request_id = message.get("id") if isinstance(message, dict) and "method" in message else None
    return request_id if isinstance(request_id, str | int) else None


def _find_problem(message: Any) -> str:
    """Say what makes a message none of JSON-RPC, for which the package would end the connection; else ""."""
    if not isinstance(message, dict):
        return "A message must be an object."
    if not isinstance(message.get("method", ""), str):
        return "The method of a message must be text."
    if not isinstance(message.get("id"), str | int | None):
        return "The id of a message must be text or a whole number."
    if "method" in message:
        return (
            ""
            if isinstance(message.get("params"), dict | None)
            else "The params of a message must be an object."
        )
    if "id" not in message:
        return "A message must have a method or an id."
    error = message.get("error")
    if error is None:
        return ""
    is_error = isinstance(error, dict) and isinstance(error.get("code"), int)
    return (
        ""
        if is_error and isinstance(error.get("message"), str)
        else "An error must have a code and a message."
    )
