"""OpenAI's chat completions, as Open Interpreter's server offers them."""

import asyncio
import json
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from oi_tui.engine.events import RunReported, TurnEnded, UsageReported
from oi_tui.messages import InputRequested, Message
from oi_tui.server.backend import NoAnswerError
from oi_tui.server.chunks import ClientChunks
from oi_tui.server.context import find_context, read_object, while_client_waits
from oi_tui.server.event_log import ApprovalQuestion, EventReader, GapError, LogItem
from oi_tui.server.guard import RequestRefusedError, make_error_body
from oi_tui.server.hosted_session import ConflictError, HostedSession
from oi_tui.server.openai.completion_history import ChatHistory
from oi_tui.server.openai.completion_request import ChatMessage, CompletionRequest, read_completion
from oi_tui.server.openai.content import MODEL, read_content, write_input_notice
from oi_tui.server.sessions import DEFAULT

_MODEL = {"id": MODEL, "object": "model", "created": 0, "owned_by": "oi-tui"}
#: The header that chooses a session, and its value for one of its own.
SESSION_HEADER = "x-session"
_NEW = "new"
_SUPERSEDED = (
    "Another request in this session stopped this one. Give each conversation its own session with the "
    "header X-Session: new."
)
_GAP = "\n(There was more output than could be sent in time; a part of it is missing here.)\n"
_NOT_SHOWN = (
    "This chat has not shown the code that waits for approval now. Answer it where it was shown, or send "
    "another message to reject it."
)
_QUESTION = "Do you want to run this code?"
#: Messages of the original that change how the server works.
_MODES = ("{CONTEXT_MODE_ON}", "{CONTEXT_MODE_OFF}", "{REQUIRE_START_ON}", "{REQUIRE_START_OFF}", "{START}")
_STOP_SECONDS = 30.0
#: The engine has tried again already; what ran before a failure must not run a second time.
_NO_RETRY = {"x-should-retry": "false"}
_DONE = b"data: [DONE]\n\n"


async def complete_chat(request: Request) -> Response:
    """Answer the last message of the user, streamed or whole.

    While code waits for approval, the message "yes" runs it. Any other message rejects it.
    """
    completion_request = read_completion(await read_object(request))
    if completion_request.is_task:
        return await _answer_task(request, completion_request)
    session, new = await _choose(request, completion_request)
    if completion_request.words == "{STOP}":
        session.stop()
        return JSONResponse(_make_whole_reply(completion_request, "", None))
    if completion_request.words in ("{AUTO_RUN_ON}", "{AUTO_RUN_OFF}"):
        await _set_auto_run(request, session, completion_request.words == "{AUTO_RUN_ON}")
        return JSONResponse(_make_whole_reply(completion_request, "", None))
    if completion_request.words in _MODES:
        raise RequestRefusedError(
            400, f"{completion_request.words} is not supported: each request is answered."
        )
    reply = _Reply(session, find_context(request).completions.recall(session))
    texts = reply.texts(completion_request, new)
    # What cannot begin is refused, before a stream is promised.
    await anext(texts)
    if completion_request.stream:
        return StreamingResponse(_stream(completion_request, reply, texts), media_type="text/event-stream")
    content = await while_client_waits(request, _join(texts))
    if reply.failure:
        return JSONResponse(reply.describe_failure(), reply.status, _NO_RETRY)
    return JSONResponse(_make_whole_reply(completion_request, content or "", reply.usage))


async def _answer_task(request: Request, wanted: CompletionRequest) -> Response:
    """Ask the model without tools, outside of the conversations, none of which is disturbed."""
    session = await find_context(request).sessions.find()
    try:
        content = await asyncio.to_thread(session.backend.ask, wanted.words)
    except NoAnswerError as problem:
        return JSONResponse(make_error_body(502, str(problem)), 502, _NO_RETRY)
    if wanted.stream:
        return StreamingResponse(_make_chunks(wanted, content), media_type="text/event-stream")
    return JSONResponse(_make_whole_reply(wanted, content, None))


async def list_models(_request: Request) -> Response:
    """Return the one model that clients can choose."""
    return JSONResponse({"object": "list", "data": [_MODEL]})


async def show_model(request: Request) -> Response:
    """Return the description of that model. The profile decides which model it really is."""
    if request.path_params["name"] != MODEL:
        raise RequestRefusedError(
            404, f"The only model here is {MODEL}.", param="model", code="model_not_found"
        )
    return JSONResponse(_MODEL)


async def _set_auto_run(request: Request, session: HostedSession, on: bool) -> None:
    if not find_context(request).options.allow_settings:
        raise RequestRefusedError(
            403, "auto_run cannot be changed from outside. Start with --allow-settings to allow it."
        )
    await asyncio.to_thread(session.backend.change, {"auto_run": on})


async def _choose(request: Request, wanted: CompletionRequest) -> tuple[HostedSession, Sequence[ChatMessage]]:
    """Return the session that a request continues, and what is new in it.

    That is the session of the header, or the one that had the conversation which the client sends. A
    client that sends no replies talks with the default session, unless the header is `new`; another
    history is a new session.
    """
    context, spoken = find_context(request), wanted.spoken
    session_id = request.headers.get(SESSION_HEADER)
    if session_id is not None and session_id != _NEW:
        session, count = await context.sessions.find(session_id), len(spoken) - 1
    elif match := context.completions.find(spoken):
        session, count = match
    elif session_id == _NEW:
        session, count = await context.sessions.create(disposable=True), 0
    elif not any(item.role == "assistant" for item in spoken):
        session = await context.sessions.find(DEFAULT)
        count = context.completions.recall(session).count(spoken)
    else:
        session, count = await context.sessions.find(DEFAULT), 0
        if session.messages or session.busy:
            session = await context.sessions.create(disposable=True)
    return session, spoken[count:]


def _choose_messages(instructions: str, spoken: Sequence[ChatMessage]) -> Iterator[Message]:
    """Yield what begins a turn: instructions, messages that the session does not have yet,
    and the last one.
    """
    if instructions:
        yield from read_content(instructions)
    for item in spoken:
        for message in item.messages:
            yield message.replace(role="assistant") if item.role == "assistant" else message


class _Reply:
    """The text of one reply, which ends with the turn, a question, or a program that waits for input."""

    def __init__(self, session: HostedSession, before: ChatHistory) -> None:
        self._session = session
        self._before = before
        #: Why there is no whole reply; empty where there is. The status is that of an answer which says so.
        self.failure = ""
        self.status = 502
        #: The failure as OpenAI names it, where it does.
        self._code: str | None = None
        #: Whether another client has stopped the turn.
        self.superseded = False
        self.usage: dict[str, int] | None = None
        self._over = False

    async def texts(self, wanted: CompletionRequest, new: Sequence[ChatMessage]) -> AsyncGenerator[str, None]:
        """Begin, then yield text; the first one is empty. A client that leaves stops the turn."""
        session = self._session
        with EventReader(session.log) as reader:
            await self._begin(reader, wanted, new)
            began = session.used
            self._before.supersede = self._supersede
            try:
                yield ""
                async for text in self._read_until_quiet(reader):
                    self._before.add("assistant", text)
                    yield text
            finally:
                # Another client may have begun the next turn since.
                if not self._over and session.used == began:
                    session.end_turn()

    def describe_failure(self) -> dict[str, Any]:
        """Return the body of an answer that says why there is no whole reply."""
        return make_error_body(self.status, self.failure, code=self._code)

    def _supersede(self) -> None:
        self.superseded = True

    async def _begin(
        self, reader: EventReader, wanted: CompletionRequest, new: Sequence[ChatMessage]
    ) -> None:
        """Approve the code that waits, type to the program that waits, or begin a turn."""
        session, before = self._session, self._before
        question = session.question
        if question and wanted.words.lower().strip(".!? ") == "yes":
            if question.id != before.asked:
                raise ConflictError(_NOT_SHOWN)
            session.answer(question.id, question.hash, "run")
        elif wanted.words and session.is_waiting_since(before.asked):
            session.send_input(f"{wanted.words}\n")
        else:
            if session.busy:
                before.supersede()
                session.end_turn()
                await asyncio.to_thread(session.wait, _STOP_SECONDS)
                reader.skip()
            changed = wanted.instructions if wanted.instructions != before.instructions else ""
            session.say(list(_choose_messages(changed, new)))
            before.instructions = wanted.instructions or before.instructions
        for item in new:
            before.add(item.role, item.text)

    async def _read_until_quiet(self, reader: EventReader) -> AsyncIterator[str]:
        chunks = ClientChunks()
        while True:
            try:
                entries = await reader.next()
            except GapError:
                yield _GAP
                state = self._session.snapshot()
                reader.number = state.number
                if state.question:
                    # Its code may be in the missing part.
                    yield _write_code(state.question.request.message)
                waits = state.waits_for and RunReported("", state.waits_for)
                if last := state.question or waits or state.ended:
                    yield self._convert(last)
                if self._over:
                    return
                continue
            for entry in entries:
                for chunk in chunks.convert(entry.item):
                    if text := _render_chunk(chunk):
                        yield text
                if text := self._convert(entry.item):
                    yield text
                if self._over:
                    return

    def _convert(self, item: LogItem) -> str:
        """Return the last words of a reply; note its end, its failure and its usage."""
        match item:
            case ApprovalQuestion(id=id, request=request):
                self._over, self._before.asked = True, id
                return f"{request.caution} {_QUESTION}" if request.caution else _QUESTION
            case RunReported(_, InputRequested(prompt) as input_request):
                self._over, self._before.asked = True, input_request
                return f"\n{write_input_notice(prompt)}"
            case UsageReported(prompt, completion):
                before = self.usage or {"prompt_tokens": 0, "completion_tokens": 0}
                prompt_tokens = before["prompt_tokens"] + prompt
                completion_tokens = before["completion_tokens"] + completion
                self.usage = {
                    "prompt_tokens": prompt_tokens,
                    "completion_tokens": completion_tokens,
                    "total_tokens": prompt_tokens + completion_tokens,
                }
            case TurnEnded("failed", reason, setting):
                self._over = True
                self.failure = f"{reason or 'The turn failed.'}{f' (setting {setting})' if setting else ''}"
                if setting == "context_window":
                    # Clients then shorten the conversation. They send the same one again after a 502.
                    self.status, self._code = 400, "context_length_exceeded"
            case TurnEnded("interrupted") if self.superseded:
                self._over = True
                self.failure, self.status = _SUPERSEDED, 409
            case TurnEnded(outcome, reason):
                self._over = True
                return (reason or "") if outcome == "paused" else ""
        return ""


def _render_chunk(chunk: Mapping[str, Any]) -> str:
    """Return what a reader of plain text sees of a chunk: words, and code in fences, as in the original."""
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


def _write_code(message: Message) -> str:
    return f"\n```{message.format or ''}\n{message.content}\n```\n"


async def _join(texts: AsyncGenerator[str, None]) -> str:
    async with aclosing(texts):
        return "".join([text async for text in texts])


async def _stream(
    wanted: CompletionRequest, reply: _Reply, texts: AsyncGenerator[str, None]
) -> AsyncIterator[bytes]:
    head = _make_head(wanted, "chat.completion.chunk")
    async with aclosing(texts):
        yield _make_delta(head, {"role": "assistant", "content": ""})
        async for text in texts:
            yield _make_delta(head, {"content": text})
        if reply.failure:
            yield _write_line(reply.describe_failure())
        else:
            yield _make_delta(head, {}, "stop")
            if wanted.usage_in_stream:
                yield _write_line({**head, "choices": [], "usage": reply.usage})
        yield _DONE


def _make_chunks(wanted: CompletionRequest, content: str) -> Iterator[bytes]:
    """Yield a whole reply as a stream."""
    head = _make_head(wanted, "chat.completion.chunk")
    yield _make_delta(head, {"role": "assistant", "content": content})
    yield _make_delta(head, {}, "stop")
    yield _DONE


def _make_delta(head: Mapping[str, Any], delta: Mapping[str, Any], reason: str | None = None) -> bytes:
    return _write_line({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})


def _write_line(record: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(record)}\n\n".encode()


def _make_head(wanted: CompletionRequest, kind: str) -> dict[str, Any]:
    name = f"chatcmpl-{secrets.token_hex(12)}"
    return {"id": name, "object": kind, "created": int(time.time()), "model": wanted.model}


def _make_whole_reply(
    wanted: CompletionRequest, content: str, usage: Mapping[str, int] | None
) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    head = {**_make_head(wanted, "chat.completion"), "choices": [choice]}
    return {**head, "usage": dict(usage)} if usage else head
