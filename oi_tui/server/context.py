"""What every route needs: the sessions, the options, and small helpers for requests."""

import asyncio
import json
import logging
import time
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from starlette.requests import HTTPConnection, Request
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from oi_tui.server.guard import PROTOCOL, RequestGuard, RequestRefusedError
from oi_tui.server.openai.completion_history import CompletionHistory
from oi_tui.server.openai.response_store import ResponseStore
from oi_tui.server.options import ServerOptions
from oi_tui.server.sessions import Sessions

_log = logging.getLogger(__name__)
#: The code with which a WebSocket is closed because its session or kernel was ended.
ENDED = 4410
Result = TypeVar("Result")
#: Errors of sending to a client that has left, or that no longer receives.
_LEFT = (WebSocketDisconnect, TimeoutError, OSError)


@dataclass(frozen=True, slots=True)
class ServerContext:
    """The parts of a running server."""

    options: ServerOptions
    sessions: Sessions
    guard: RequestGuard
    #: Jupyter's kernels by their ids.
    kernels: dict[str, Any]
    responses: ResponseStore
    completions: CompletionHistory
    #: Held while the kernel of a notebook is looked for or started.
    notebook_lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class RateLimiter:
    """Slows down a client that sends more messages in a second than allowed, on average."""

    def __init__(self, per_second: float) -> None:
        self._gap = 1 / per_second
        self._free = 0.0

    async def wait_for_turn(self) -> None:
        """Wait until the next message may be taken."""
        now = time.monotonic()
        # A second's worth may come at once.
        self._free = max(self._free + self._gap, now - 1)
        if self._free > now:
            await asyncio.sleep(self._free - now)


def find_context(connection: HTTPConnection) -> ServerContext:
    """Return the context of the server that received the request."""
    context: ServerContext = connection.app.state.context
    return context


async def read_object(request: Request) -> Mapping[str, Any]:
    """Return the body, a JSON object. Raises RequestRefusedError."""
    try:
        body = parse_json(await request.body())
    except (ValueError, RecursionError):
        raise RequestRefusedError(400, "The body is not JSON in UTF-8 without compression.") from None
    if not isinstance(body, dict):
        raise RequestRefusedError(400, "The body must be a JSON object.")
    return body


def parse_json(raw: str | bytes) -> Any:
    """Return what the JSON says.

    Raises ValueError or RecursionError for text that is not JSON, and RequestRefusedError for half of a
    surrogate pair.
    """
    value = json.loads(raw)
    try:
        # Half of a pair of \\u escapes is no character, and could not be sent back.
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise RequestRefusedError(
            400, "The JSON has an escape that is not a character: half of a pair."
        ) from None
    return value


async def receive_frame(socket: WebSocket) -> str | bytes:
    """Return what the next frame holds, text or bytes. Raises WebSocketDisconnect."""
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message["code"], message.get("reason"))
    frame: str | bytes = message.get("text") or message.get("bytes") or ""
    return frame


def read_text(body: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """Return a text of the body. Raises RequestRefusedError where it is missing or no text."""
    value = body.get(name, default)
    if not isinstance(value, str):
        raise RequestRefusedError(400, f"{name} must be text.", param=name)
    return value


async def while_client_waits(request: Request, work: Coroutine[Any, Any, Result]) -> Result | None:
    """Do the work for an answer. If the client leaves first, end the work and return nothing."""
    doing, leaving = asyncio.create_task(work), asyncio.create_task(_wait_for_leaving(request))
    try:
        await asyncio.wait([doing, leaving], return_when=asyncio.FIRST_COMPLETED)
        return doing.result() if doing.done() else None
    finally:
        leaving.cancel()
        if doing.cancel():
            await asyncio.wait([doing])


async def _wait_for_leaving(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def while_connected(socket: WebSocket, *work: Coroutine[Any, Any, None]) -> None:
    """Do the parts of the work side by side. When one ends, end the others and close the connection."""
    tasks = [asyncio.create_task(item) for item in work]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception) and not _comes_from_leaving(result, socket):
                _log.error("A connection failed", exc_info=result)
    with suppress(RuntimeError, *_LEFT):
        await socket.close()


def _comes_from_leaving(error: Exception, socket: WebSocket) -> bool:
    """Return whether an error only says that the client has left: also that of what was sent after that."""
    is_closed = socket.application_state is WebSocketState.DISCONNECTED
    return isinstance(error, _LEFT) or (isinstance(error, RuntimeError) and is_closed)


def choose_subprotocol(socket: WebSocket) -> str | None:
    """Return the subprotocol to agree on. A browser that sends its token as one needs another."""
    return PROTOCOL if PROTOCOL in socket.scope["subprotocols"] else None
