"""A part of OpenAI's Responses API: text, and code as calls of `code_interpreter` that run here.

Code that needs approval ends the response with an `mcp_approval_request`; the client answers it with an
`mcp_approval_response`.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from oi_tui.server.context import ServerContext, find_context, read_object, while_client_waits
from oi_tui.server.guard import RequestRefusedError
from oi_tui.server.openai.content import read_content
from oi_tui.server.openai.response_request import Item, ResponseRequest, make_messages, read_request
from oi_tui.server.openai.response_store import StoredResponse, list_items
from oi_tui.server.sessions import UnknownSessionError

_CANCEL_SECONDS = 10.0
_MOST_LISTED = 100


async def create_response(request: Request) -> Response:
    """Create a response for the input: streamed, whole, or in the background."""
    response_request = read_request(await read_object(request))
    # What cannot begin is refused, before a stream is promised.
    stored = await _begin(find_context(request), response_request)
    if response_request.stream:
        return _stream(stored, -1, stops=not response_request.background)
    if not response_request.background:
        await _wait_while_connected(request, stored)
    return JSONResponse(stored.response)


async def retrieve_response(request: Request) -> Response:
    """Return a response in its current state; with `stream=true`, its events after `starting_after`."""
    stored = _find_stored(request)
    if request.query_params.get("stream", "").lower() != "true":
        return JSONResponse(stored.response)
    return _stream(stored, _read_number(request, "starting_after", -1), stops=False)


async def cancel_response(request: Request) -> Response:
    """Stop a response. A second request ends the running language."""
    stored = _find_stored(request)
    await stored.cancel(_CANCEL_SECONDS)
    return JSONResponse(stored.response)


async def delete_response(request: Request) -> Response:
    """Delete a response. With the last one of a session, the session and its languages end."""
    context, stored = find_context(request), _find_stored(request)
    await stored.cancel(_CANCEL_SECONDS)
    if last := context.responses.remove(stored.id):
        with suppress(UnknownSessionError):
            await context.sessions.remove(last.session.id)
    return JSONResponse({"id": stored.id, "object": "response", "deleted": True})


async def list_inputs(request: Request) -> Response:
    """Return the items before a response."""
    stored, query = _find_stored(request), request.query_params
    limit, order = _read_number(request, "limit", 20), query.get("order", "desc")
    if not 1 <= limit <= _MOST_LISTED:
        raise RequestRefusedError(400, f"limit must be between 1 and {_MOST_LISTED}.", param="limit")
    if order not in ("asc", "desc"):
        raise RequestRefusedError(400, "order must be asc or desc.", param="order")
    after, ascending = query.get("after"), order == "asc"
    return JSONResponse(list_items(stored.inputs, after=after, limit=limit, ascending=ascending))


def _find_stored(request: Request) -> StoredResponse:
    return find_context(request).responses.find(request.path_params["id"])


def _read_number(request: Request, name: str, default: int) -> int:
    value = request.query_params.get(name)
    if value is None:
        return default
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise RequestRefusedError(400, f"{name} must be a whole number.", param=name)
    return int(value)


async def _begin(context: ServerContext, wanted: ResponseRequest) -> StoredResponse:
    """Begin a turn, or answer the question that is open."""
    if wanted.approval:
        return await _answer(context, wanted, wanted.approval)
    wanted = replace(wanted, items=context.responses.resolve(wanted.items))
    earlier, items = _find_earlier(context, wanted)
    # What cannot be read is refused, before there is a session for it.
    new_messages = make_messages(items, len(wanted.items) - len(items))
    history: Sequence[Item] = ()
    if earlier and context.responses.continues(earlier):
        if earlier.session.question:
            raise RequestRefusedError(
                409,
                "Code waits for an answer: send an mcp_approval_response, or cancel the response that asked.",
                param="input",
            )
        session = earlier.session
        instructions = earlier.instructions
    else:
        # The session went on since then, or has ended: a new one begins with the same history.
        session, instructions = await context.sessions.create(disposable=True), None
        history = earlier.items if earlier else ()
    new = wanted.instructions if wanted.instructions and wanted.instructions != instructions else None
    messages = [*(read_content(new) if new else ()), *make_messages(history), *new_messages]
    stored = StoredResponse(replace(wanted, items=items), session, earlier)
    text = "\n".join(message.content for message in messages if message.type == "message")
    waits = session.waits_for and text
    await stored.begin(lambda: session.send_input(f"{text}\n") if waits else session.say(messages), messages)
    context.responses.put(stored)
    return stored


def _find_earlier(
    context: ServerContext, wanted: ResponseRequest
) -> tuple[StoredResponse | None, tuple[Item, ...]]:
    """Return the response that the request continues, and the items that are new."""
    if wanted.previous is not None:
        return context.responses.find(wanted.previous, param="previous_response_id"), wanted.items
    if match := context.responses.match(wanted.items):
        stored, place = match
        if not stored.session.busy:
            return stored, wanted.items[place:]
    return None, wanted.items


async def _answer(context: ServerContext, wanted: ResponseRequest, approval: Item) -> StoredResponse:
    question_id, reason = str(approval.get("approval_request_id")), str(approval.get("reason") or "")
    if wanted.previous is not None:
        earlier = context.responses.find(wanted.previous, param="previous_response_id")
    elif (asking_response := context.responses.find_by_question(question_id)) is not None:
        earlier = asking_response
    else:
        raise RequestRefusedError(409, "This question is no longer open.", param="input")
    session = earlier.session
    decision = "run" if approval.get("approve") is True else "reject"

    def answer() -> None:
        question = session.question
        session.answer(question_id, question.hash if question else "", decision, reason=reason)

    stored = StoredResponse(replace(wanted, items=(approval,)), session, earlier)
    await stored.begin(answer, ())
    context.responses.put(stored)
    return stored


def _stream(stored: StoredResponse, after: int, *, stops: bool) -> Response:
    async def lines() -> AsyncIterator[bytes]:
        try:
            async for line in stored.stream_lines(after):
                yield line
        finally:
            if stops and not stored.over:
                stored.session.end_turn()

    return StreamingResponse(lines(), media_type="text/event-stream")


async def _wait_while_connected(request: Request, stored: StoredResponse) -> None:
    """Wait for the end; a client that leaves before it stops the response."""
    try:
        await while_client_waits(request, stored.wait())
    finally:
        if not stored.over:
            stored.session.end_turn()
