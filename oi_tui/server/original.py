"""Open Interpreter's own protocol: chunks over a WebSocket, and settings."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from oi_tui.engine.llm.foreign_images import UNREADABLE, read_image
from oi_tui.engine.open_interpreter.chunks import Chunk
from oi_tui.messages import Message
from oi_tui.server.chunks import make_error
from oi_tui.server.context import (
    ENDED,
    RateLimiter,
    ServerContext,
    choose_subprotocol,
    find_context,
    parse_json,
    read_object,
    receive_frame,
    while_connected,
)
from oi_tui.server.event_log import SESSION_ENDED, EventReader, GapError
from oi_tui.server.feed import Feed
from oi_tui.server.guard import RequestRefusedError
from oi_tui.server.hosted_session import ConflictError, HostedSession
from oi_tui.server.sessions import DEFAULT, NoRoomError, UnknownSessionError

#: What a person may send, and what of it is a file.
_TYPES = ("message", "file", "image", "audio")
_FILES = ("file", "audio")
_IMAGES = ("path", "base64", "base64.png", "base64.jpeg", "description")
#: Seconds to wait for an acknowledgement, and how often a chunk is sent.
_ACKNOWLEDGE_SECONDS, _ATTEMPTS = 10.0, 3
#: Seconds in which the next client may say something else before it gets what the former one left.
_REST_SECONDS = 0.5
#: Parts of one message.
_MOST_PARTS = 100
_STOP_SECONDS = 30.0


class BadChunkError(ValueError):
    """A chunk that cannot be understood; the message says what to send instead."""


class MessageAssembler:
    """Puts a person's message together, from its start flag to its end flag."""

    def __init__(self) -> None:
        self._parts: list[dict[str, Any]] | None = None
        self._head: dict[str, Any] = {}

    @property
    def is_open(self) -> bool:
        """Whether a start flag came."""
        return self._parts is not None

    def start(self, chunk: Mapping[str, Any]) -> None:
        """Begin a message; what was not finished is dropped."""
        self._parts, self._head = [], {name: chunk[name] for name in ("type", "format") if name in chunk}
        if "content" in chunk:
            self.add(chunk)

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Add a piece; one like the piece before it continues its text. Raises BadChunkError."""
        if self._parts is None:
            raise BadChunkError('Send {"role": "user", "start": true} first.')
        kind = chunk.get("type", self._head.get("type"))
        shape = chunk.get("format", self._head.get("format"))
        if kind not in (*_TYPES, "command"):
            raise BadChunkError(f"The type must be one of {', '.join(_TYPES)} or command.")
        content = chunk.get("content")
        if not isinstance(content, str):
            raise BadChunkError("The content must be text.")
        if kind == "image" and shape not in _IMAGES:
            raise BadChunkError(f"The format of an image must be one of {', '.join(_IMAGES)}.")
        last = self._parts[-1] if self._parts else {}
        if kind == "message" and last.get("type") == kind:
            last["content"] += content
        elif len(self._parts) >= _MOST_PARTS:
            raise BadChunkError(f"A message may have at most {_MOST_PARTS} parts.")
        else:
            self._parts.append({"type": kind, "format": shape, "content": content})

    def end(self) -> list[dict[str, Any]]:
        """Return the parts. Raises BadChunkError where there are none."""
        parts, self._parts = self._parts, None
        if not parts:
            raise BadChunkError("The message is empty.")
        return parts


def read_messages(parts: Sequence[Mapping[str, Any]]) -> list[Message]:
    """Return the messages that the parts are. Raises BadChunkError for an image that cannot be read."""
    return [_read_message(part["type"], part["format"], part["content"]) for part in parts]


def _read_message(kind: str, shape: str | None, content: str) -> Message:
    if kind == "image" and shape != "description":
        if shape == "path":
            return Message(role="user", type="image", format=shape, content=content)
        image = read_image(content)
        if image is None:
            raise BadChunkError(UNREADABLE)
        return Message(role="user", type="image", format=image.format, content=image.content)
    return Message(role="user", type="file" if kind in _FILES else "message", content=content)


class OriginalClient:
    """One client at its WebSocket."""

    def __init__(self, socket: WebSocket, context: ServerContext, session: HostedSession) -> None:
        self._socket = socket
        self._context = context
        self._session = session
        self._parts = MessageAssembler()
        self._sending = asyncio.Lock()
        self._acknowledged: dict[str, asyncio.Event] = {}
        old_feed = session.feed
        self._feed = old_feed.copy_for_next_client() if old_feed else Feed(session.log.last)
        if old_feed:
            session.feed = self._feed
        self._reader = EventReader(session.log, self._feed.number)
        #: Set once it is clear whether the client wants what a former one left.
        self._settled = asyncio.Event()

    async def serve(self) -> None:
        """Send events and take messages until the client leaves."""
        with self._reader:
            await while_connected(self._socket, self._send_events(), self._receive())

    async def _receive(self) -> None:
        tempo = RateLimiter(self._context.options.limits.messages_per_second)
        with suppress(WebSocketDisconnect):
            while True:
                frame = await receive_frame(self._socket)
                await tempo.wait_for_turn()
                try:
                    await self._handle_chunk(parse_json(frame))
                except (BadChunkError, ConflictError, RequestRefusedError) as problem:
                    # Not acknowledged: what would acknowledge it is read here.
                    await self._write(make_error(str(problem)))
                except (ValueError, RecursionError):
                    await self._write(make_error("This is not JSON."))

    async def _handle_chunk(self, chunk: object) -> None:
        if not isinstance(chunk, dict):
            raise BadChunkError("A message must be a JSON object.")
        if "auth" in chunk:
            is_authorised = self._context.guard.is_token(str(chunk["auth"]).encode())
            await self._write({"auth": is_authorised})
            return
        if "ack" in chunk:
            if waiting := self._acknowledged.get(str(chunk["ack"])):
                waiting.set()
            return
        if chunk.get("role") != "user":
            raise BadChunkError('The role must be "user".')
        if chunk.get("type") == "input" and isinstance(chunk.get("content"), str):
            self._session.send_input(f"{chunk['content']}\n")
        elif chunk.get("type") == "command" and not self._parts.is_open and "content" in chunk:
            self._command(str(chunk["content"]))
        elif not {"start", "content", "end"} & chunk.keys():
            raise BadChunkError("A chunk needs start, content or end.")
        else:
            if chunk.get("start"):
                self._drop_rest()
                self._parts.start(chunk)
            elif "content" in chunk:
                self._parts.add(chunk)
            if chunk.get("end"):
                await self._finish(self._parts.end())

    async def _finish(self, parts: list[dict[str, Any]]) -> None:
        if parts[-1]["type"] == "command":
            self._command(parts[-1]["content"])
            return
        if self._session.busy:
            # A new message ends what is in progress, as in the original.
            self._feed.chunks.superseded += 1
            self._session.end_turn()
            if not await asyncio.to_thread(self._session.wait, _STOP_SECONDS):
                self._feed.chunks.superseded -= 1
        self._session.say(read_messages(parts))
        self._session.feed = self._feed

    def _command(self, command: str) -> None:
        match command.strip():
            case "go":
                question = self._session.question
                if question is None or question.id != self._feed.shown:
                    raise ConflictError("There is no code to run.")
                self._session.answer(question.id, question.hash, "run")
            case "stop":
                self._session.stop()
            case _:
                raise BadChunkError('The command must be "go" or "stop".')

    def _drop_rest(self) -> None:
        """Leave out what a former connection left, for a client that says something else at once."""
        if self._settled.is_set():
            return
        rest, self._feed = self._feed, Feed(self._session.log.last)
        self._feed.shown = rest.shown
        self._reader.number = self._feed.number
        if self._session.feed is rest:
            self._session.feed = self._feed
        self._settled.set()

    async def _send_events(self) -> None:
        if self._feed.unsent or self._session.log.last > self._feed.number:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._settled.wait(), _REST_SECONDS)
        self._settled.set()
        feed = self._feed
        while True:
            while feed.unsent:
                chunk, question = feed.unsent[0]
                feed.shown = question or feed.shown
                if not await self._send(chunk):
                    return
                feed.note_sent()
            if self._session.log.is_over_at(feed.number):
                await self._socket.close(ENDED, SESSION_ENDED)
                return
            try:
                entries = await self._reader.next()
            except GapError:
                if self._session.feed is feed:
                    self._session.feed = None
                await self._write(
                    make_error("The connection was too slow, and output was lost. Connect again.")
                )
                return
            for entry in entries:
                feed.add(entry, number=self._context.options.acknowledge)

    async def _send(self, chunk: Chunk) -> bool:
        """Send a chunk, and wait until it is acknowledged where that is asked for."""
        if not self._context.options.acknowledge:
            await self._write(chunk)
            return True
        acknowledged = self._acknowledged[chunk["id"]] = asyncio.Event()
        try:
            for _ in range(_ATTEMPTS):
                await self._write(chunk)
                with suppress(TimeoutError):
                    await asyncio.wait_for(acknowledged.wait(), _ACKNOWLEDGE_SECONDS)
                    return True
        finally:
            del self._acknowledged[chunk["id"]]
        return False

    async def _write(self, chunk: Chunk) -> None:
        async with self._sending:
            await asyncio.wait_for(
                self._socket.send_text(json.dumps(chunk)), self._context.options.limits.send_seconds
            )


async def chat(socket: WebSocket) -> None:
    """Serve the WebSocket at /: chunks in, chunks out. `?session=ID` chooses a session."""
    context = find_context(socket)
    try:
        session = await context.sessions.find(socket.query_params.get("session", DEFAULT))
    except (UnknownSessionError, NoRoomError) as problem:
        await socket.accept(subprotocol=choose_subprotocol(socket))
        await socket.send_text(json.dumps(make_error(str(problem))))
        await socket.close(1008)
        return
    await socket.accept(subprotocol=choose_subprotocol(socket))
    await OriginalClient(socket, context, session).serve()


async def heartbeat(_request: Request) -> Response:
    """Say that the server is there."""
    return JSONResponse({"status": "alive"})


async def read_setting(request: Request) -> Response:
    """Return a setting, as {"name": value}."""
    session = await find_context(request).sessions.find()
    name = request.path_params["name"]
    try:
        return JSONResponse({name: session.backend.read_setting(name)})
    except KeyError:
        return JSONResponse({"error": "Setting not found"}, 404)


async def change_settings(request: Request) -> Response:
    """Change settings, or the messages, where the start of the server allows it."""
    context = find_context(request)
    if not context.options.allow_settings:
        why = "Settings cannot be changed from outside. Start with --allow-settings to allow it."
        return JSONResponse({"error": why}, 403)
    changes = await read_object(request)
    session = await context.sessions.find()
    try:
        await asyncio.to_thread(session.change, changes)
    except KeyError as unknown:
        return JSONResponse({"error": f"Setting {unknown.args[0]} not found"}, 404)
    except (ValueError, TypeError, AttributeError) as problem:
        return JSONResponse({"error": str(problem)}, 400)
    if "messages" in changes:
        context.completions.forget(session)
    return JSONResponse({"status": "success"})
