"""The current protocol: sessions and their events as JSON, over WebSocket and server-sent events."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.websockets import WebSocket, WebSocketDisconnect

from oi_tui.engine.storage.store import NoConversationError, StoreError
from oi_tui.server import wire
from oi_tui.server.backend import read_image
from oi_tui.server.context import (
    ENDED,
    RateLimiter,
    choose_subprotocol,
    find_context,
    parse_json,
    read_object,
    read_text,
    receive_frame,
    while_connected,
)
from oi_tui.server.event_log import SESSION_ENDED, ApprovalQuestion
from oi_tui.server.fields import SWITCH, check_fields, make_whole
from oi_tui.server.guard import RequestRefusedError
from oi_tui.server.hosted_session import ConflictError, HostedSession
from oi_tui.server.openai.content import read_content
from oi_tui.server.session_records import SessionRecords
from oi_tui.server.sessions import UnknownSessionError
from oi_tui.text import escape_controls

#: Seconds after which an idle stream shows that it is alive.
_HEARTBEAT = 15.0
_DECISIONS = ("run", "always", "edit", "reject")
_ANSWER = {"grant": make_whole(1), "stop": SWITCH}


async def list_sessions(request: Request) -> Response:
    """Return every session."""
    sessions = find_context(request).sessions.all
    return JSONResponse({"sessions": [wire.describe_session(session) for session in sessions]})


async def create_session(request: Request) -> Response:
    """Make a session, or with `conversation` open a saved one."""
    sessions = find_context(request).sessions
    conversation = read_text(await read_object(request), "conversation", "") if await request.body() else ""
    try:
        session = await sessions.open(conversation) if conversation else await sessions.create()
    except StoreError as error:
        raise RequestRefusedError(
            404 if isinstance(error, NoConversationError) else 409, escape_controls(str(error))
        ) from None
    return JSONResponse(wire.describe_state(session), 201)


async def show_session(request: Request) -> Response:
    """Return the whole state of a session."""
    return JSONResponse(wire.describe_state(await _find_session(request)))


async def delete_session(request: Request) -> Response:
    """End a session; its conversation stays saved."""
    await find_context(request).sessions.remove(request.path_params["id"])
    return Response(status_code=204)


async def perform_action(request: Request) -> Response:
    """Carry out an action of a client: say, propose, answer, input or stop."""
    session, action = await _find_session(request), request.path_params["action"]
    act(session, action, await read_object(request))
    return JSONResponse({"number": session.log.last}, 202)


async def show_image(request: Request) -> Response:
    """Return an image of the conversation."""
    session, image_id = await _find_session(request), request.path_params["image"]
    message = next((item for item in session.messages if item.id == image_id), None)
    image = await asyncio.to_thread(read_image, message) if message else None
    if image is None:
        raise RequestRefusedError(404, "There is no such image.")
    return Response(image[0], media_type=image[1])


async def stream_events(request: Request) -> Response:
    """Return the events as server-sent events; `Last-Event-ID` or `?after=` resumes behind an event."""
    records = await find_context(request).sessions.find_records(request.path_params["id"])
    after = _parse_number(request.headers.get("last-event-id") or request.query_params.get("after"))
    seconds = find_context(request).options.limits.unwatched_seconds
    return StreamingResponse(_stream_lines(records, after, seconds), media_type="text/event-stream")


async def _stream_lines(records: SessionRecords, after: int | None, seconds: float) -> AsyncIterator[bytes]:
    """Yield the lines of the stream, which ends with the session, or when a question stays open too long.

    Nothing else shows whether anybody still reads. Whoever does connects again, as browsers do by themselves.
    """
    session = records.session
    question: ApprovalQuestion | None = None
    since = 0.0
    async for batch in records.read(after, min(_HEARTBEAT, seconds)):
        lines = [f"id: {record.number}\ndata: {record.text}\n\n" for record in batch]
        yield "".join(lines or [": alive\n\n"]).encode()
        if session.question is not question:
            question, since = session.question, monotonic()
        elif question and monotonic() - since >= seconds:
            return


async def watch(socket: WebSocket) -> None:
    """Send the events over a WebSocket, which takes the same actions as POST: {"do": "say", …}."""
    context = find_context(socket)
    await socket.accept(subprotocol=choose_subprotocol(socket))
    try:
        records = await context.sessions.find_records(socket.path_params["id"])
    except UnknownSessionError as problem:
        await socket.send_text(_make_error(str(problem)))
        await socket.close(1008)
        return
    sending = asyncio.Lock()

    async def send(*texts: str) -> None:
        async with sending, asyncio.timeout(context.options.limits.send_seconds):
            for text in texts:
                await socket.send_text(text)

    await while_connected(
        socket,
        _send_records(socket, records, _parse_number(socket.query_params.get("after")), send),
        _receive(socket, records.session, send, context.options.limits.messages_per_second),
    )


_Send = Callable[..., Awaitable[None]]


async def _send_records(socket: WebSocket, records: SessionRecords, after: int | None, send: _Send) -> None:
    async for batch in records.read(after):
        await send(*(record.text for record in batch))
    await socket.close(ENDED, SESSION_ENDED)


async def _receive(socket: WebSocket, session: HostedSession, send: _Send, tempo: float) -> None:
    beats = RateLimiter(tempo)
    with suppress(WebSocketDisconnect):
        while True:
            frame = await receive_frame(socket)
            await beats.wait_for_turn()
            try:
                order = parse_json(frame)
                if not isinstance(order, dict):
                    raise RequestRefusedError(400, "A message must be a JSON object.")
                act(session, str(order.get("do")), order)
            except (RequestRefusedError, ConflictError) as problem:
                await send(_make_error(str(problem)))
            except (ValueError, RecursionError):
                await send(_make_error("This is not JSON."))


def _make_error(message: str) -> str:
    return json.dumps({"event": "error", "message": message})


def act(session: HostedSession, action: str, body: Mapping[str, Any]) -> None:
    """Carry out an action. Raises RequestRefusedError or ConflictError."""
    match action:
        case "say":
            session.say(read_content(body.get("content")))
        case "propose":
            session.propose(read_text(body, "language"), read_text(body, "code"))
        case "answer":
            _answer(session, body)
        case "input":
            session.send_input(read_text(body, "text") + "\n")
        case "stop":
            session.stop()
        case _:
            raise RequestRefusedError(404, "The actions are say, propose, answer, input and stop.")


def _answer(session: HostedSession, body: Mapping[str, Any]) -> None:
    decision = read_text(body, "decision")
    if decision not in _DECISIONS:
        raise RequestRefusedError(400, f"decision must be one of {', '.join(_DECISIONS)}.", param="decision")
    code = read_text(body, "code") if decision == "edit" else ""
    check_fields(body, _ANSWER)
    reason, stop = read_text(body, "reason", ""), body.get("stop") is True
    question, question_hash = read_text(body, "question"), read_text(body, "hash")
    grant = body.get("grant") if decision == "always" else 0
    if grant is None:
        raise RequestRefusedError(400, "grant must be a whole number of at least 1.", param="grant")
    session.answer(question, question_hash, decision, code=code, reason=reason, stop=stop, grant=int(grant))


async def _find_session(request: Request) -> HostedSession:
    return await find_context(request).sessions.find(request.path_params["id"])


def _parse_number(text: str | None) -> int | None:
    """Return the number of an event; None for other texts."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 16 else None
