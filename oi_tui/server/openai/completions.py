"""OpenAI's chat completions, as Open Interpreter's server offers them."""

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from oi_tui.engine.events import TurnEnded
from oi_tui.messages import Message
from oi_tui.server.chunks import EventChunks
from oi_tui.server.context import context_of, read_object
from oi_tui.server.event_log import EventReader, GapError, LogItem, Question
from oi_tui.server.guard import RefusedError
from oi_tui.server.hosted_session import ConflictError, HostedSession
from oi_tui.server.openai.content import MODEL, content_messages
from oi_tui.server.sessions import DEFAULT

_MODEL = {"id": MODEL, "object": "model", "created": 0, "owned_by": "oi-tui"}
#: The header that chooses a session.
SESSION_HEADER = "x-session"
_GAP = "\n(There was more output than could be sent in time; a part of it is missing here.)\n"
_QUESTION = "Do you want to run this code?"
#: Messages of the original that change how the server works.
_MODES = ("{CONTEXT_MODE_ON}", "{CONTEXT_MODE_OFF}", "{REQUIRE_START_ON}", "{REQUIRE_START_OFF}", "{START}")
_STOP_SECONDS = 30.0


async def chat_completions(request: Request) -> Response:
    """Work on the last message of the person; streamed or whole.

    While code waits for approval, the answer "yes" runs it. Any other message rejects it.
    """
    body = await read_object(request)
    session = await context_of(request).sessions.find(request.headers.get(SESSION_HEADER, DEFAULT))
    messages = _last_message(body)
    words = messages[0].content.strip() if len(messages) == 1 and messages[0].type == "message" else ""
    if words == "{STOP}":
        session.stop()
        return JSONResponse(_whole(body, "", "stop"))
    if words in ("{AUTO_RUN_ON}", "{AUTO_RUN_OFF}"):
        await _set_auto_run(request, session, words == "{AUTO_RUN_ON}")
        return JSONResponse(_whole(body, "", "stop"))
    if words in _MODES:
        raise RefusedError(400, f"{words} is not supported: each request is answered.")
    texts = _texts(session, messages, words.lower().strip(".!? ") == "yes")
    if body.get("stream") is True:
        return StreamingResponse(_stream(body, texts), media_type="text/event-stream")
    content = "".join([text async for text in texts])
    return JSONResponse(_whole(body, content, "stop"))


async def models(_request: Request) -> Response:
    """The one name that clients can choose."""
    return JSONResponse({"object": "list", "data": [_MODEL]})


async def model(request: Request) -> Response:
    """What is known of that name; the profile says which model it is."""
    if request.path_params["name"] != MODEL:
        raise RefusedError(404, f"The only model here is {MODEL}.", param="model", code="model_not_found")
    return JSONResponse(_MODEL)


async def _set_auto_run(request: Request, session: HostedSession, on: bool) -> None:
    if not context_of(request).options.allow_settings:
        raise RefusedError(
            403, "auto_run cannot be changed from outside. Start with --allow-settings to allow it."
        )
    await asyncio.to_thread(session.backend.change, {"auto_run": on})


def _last_message(body: Mapping[str, Any]) -> list[Message]:
    """The last message, which must be the person's. Raises RefusedError."""
    messages = body.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else None
    if not isinstance(last, dict) or last.get("role") != "user":
        raise RefusedError(400, 'messages must end with a message of the role "user".')
    return content_messages(last.get("content"))


async def _texts(session: HostedSession, messages: list[Message], agrees: bool) -> AsyncIterator[str]:
    """Begin a turn, or approve the code that waits; then yield text until the turn ends or asks."""
    with EventReader(session.log) as reader:
        question = session.question
        if question and agrees:
            session.answer(question.id, question.hash, "run")
        else:
            if session.busy:
                session.stop()
                await asyncio.to_thread(session.wait, _STOP_SECONDS)
                reader.skip()
            session.say(messages)
        async for text in _until_quiet(session, reader):
            yield text


async def _until_quiet(session: HostedSession, reader: EventReader) -> AsyncIterator[str]:
    chunks = EventChunks()
    while True:
        try:
            entries = await reader.next()
        except GapError:
            yield _GAP
            reader.skip()
            if not session.busy or session.question:
                return
            continue
        for entry in entries:
            for chunk in chunks.of(entry.item):
                if text := _text(chunk):
                    yield text
            if isinstance(entry.item, TurnEnded | Question):
                if text := _last_words(entry.item):
                    yield text
                return


def _text(chunk: Mapping[str, Any]) -> str:
    """What a reader of plain text sees of a chunk: words, and code in fences, as in the original."""
    match chunk:
        case {"role": "assistant", "type": "message", "content": str(text)}:
            return text
        case {"type": "code", "start": True}:
            return f"\n```{chunk.get('format') or ''}\n"
        case {"type": "code", "content": str(text)}:
            return text
        case {"type": "code", "end": True}:
            return "\n```\n"
    return ""


def _last_words(item: LogItem) -> str:
    if isinstance(item, Question):
        caution = item.request.caution
        return f"{caution} {_QUESTION}" if caution else _QUESTION
    if isinstance(item, TurnEnded) and item.outcome in ("failed", "paused"):
        return item.reason or ""
    return ""


async def _stream(body: Mapping[str, Any], texts: AsyncIterator[str]) -> AsyncIterator[bytes]:
    name, created = f"chatcmpl-{secrets.token_hex(12)}", int(time.time())

    def line(delta: dict[str, Any], reason: str | None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        chunk = {"id": name, "object": "chat.completion.chunk", "created": created}
        record = {**chunk, "model": body.get("model", MODEL), "choices": [choice]}
        return f"data: {json.dumps(record)}\n\n".encode()

    yield line({"role": "assistant", "content": ""}, None)
    try:
        async for text in texts:
            yield line({"content": text}, None)
    except ConflictError as problem:
        yield f"data: {json.dumps({'error': {'message': str(problem)}})}\n\n".encode()
    yield line({}, "stop")
    yield b"data: [DONE]\n\n"


def _whole(body: Mapping[str, Any], content: str, reason: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    return {
        "id": f"chatcmpl-{secrets.token_hex(12)}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": body.get("model", MODEL),
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }
