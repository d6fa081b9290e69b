"""The task that owns the connection to one server; only it opens and closes it."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any
from urllib.parse import urldefrag, urlsplit

import anyio
import httpx2
from mcp import Client, MCPError
from mcp.client import sse
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared.message import SessionMessage
from mcp.types import (
    INTERNAL_ERROR,
    ElicitResult,
    ErrorData,
    Implementation,
    JSONRPCError,
)
from pydantic import ValidationError

from oi_tui.engine.llm.hosts import is_near, is_this_machine
from oi_tui.mcp_client.child.answers import (
    SESSION_OVER,
    check_answer,
    describe_refusal,
    explain_refusal,
    limit,
    limit_events,
    refuse_compressed,
)
from oi_tui.mcp_client.child.errors import ServerError, SessionOverError
from oi_tui.mcp_client.child.repair import repair_message, repair_refused
from oi_tui.mcp_client.child.sign_in import Claim, authorise, explain_needed
from oi_tui.mcp_client.child.stdio import LONGEST_LINE, Program, start_program
from oi_tui.version import __version__

#: Seconds that a server has to say what it offers.
TIMEOUT = 30.0
#: Seconds that a person has to sign in.
SIGN_IN = 300.0
#: Seconds that a server which closed the connection has to end.
_ENDING = 5.0
#: The events of a sign-in that count also while a connection ends: a token can be renewed once only.
_KEPT = frozenset(("signed_in", "renewal_over"))
#: Seconds that a server has to accept a subscription.
_LISTENING = 5.0
#: Seconds between two reports of a call's progress.
_BETWEEN = 0.1
#: Seconds from the word that tools changed to the next list; a server may say so again and again.
_BETWEEN_LISTS = 1.0
#: Pages of a list, and entries in all, that are read.
_MOST_PAGES = 20
_MOST_ENTRIES = 500
#: What the package says of a call whose connection has ended; a call alone can end, too, with other words.
_CLOSED = "Connection closed"
#: How the package names a request that a server makes of its client.
_ASKS = re.compile(r"Cannot send '([\w/]{1,50})'")
#: How the package names answers that it could not read.
_NO_JSON = ("Failed to parse JSON response", "Failed to parse SSE message")
Order = Mapping[str, Any]

# The package ends an event of the older transport at 1 MiB, and has no argument for another limit.
if _open_events := getattr(sse, "sse_within_origin", None):
    sse.sse_within_origin = partial(_open_events, max_event_size=LONGEST_LINE)  # type: ignore[attr-defined]


class ServerConnection:
    """Connects to a server, keeps the connection, and ends it.

    `report` gets what happens by itself: other tools, or the end of the server.
    """

    def __init__(self, spec: Order, report: Callable[[dict[str, Any]], None]) -> None:
        self._spec = spec
        self._report = report
        self._client: Client | None = None
        self._end = ""
        #: Whether the server no longer knows the session, and how many orders are in progress.
        self.is_forgotten = False
        self._working = 0
        #: Set when the server says that its tools changed, until they are listed again.
        self._changed = asyncio.Event()
        #: The calls in progress whose person can be asked, the newest last, each with its open question.
        self._asking: dict[int, asyncio.Future[dict[str, Any]] | None] = {}
        #: The answer to the claim that is open; None without one.
        self._claim: asyncio.Future[Order | None] | None = None
        self._ended = asyncio.Event()
        self._ready: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._owning = asyncio.create_task(self._hold_connection())

    @property
    def name(self) -> str:
        """The name of the server."""
        return str(self._spec["name"])

    async def ready(self) -> dict[str, Any]:
        """Wait for the connection; return what the server offers. Raises ServerError."""
        timeout = TIMEOUT + SIGN_IN if self._spec["sign_in"] else TIMEOUT
        try:
            return await asyncio.wait_for(asyncio.shield(self._ready), timeout)
        except TimeoutError:
            await self.close()
            raise ServerError(f"it did not answer within {timeout:.0f} s") from None

    async def close(self) -> None:
        """End the connection, and the server where it is a program."""
        self._limit_reports(_KEPT)
        self._ended.set()
        if not self._ready.done():
            self._owning.cancel()
        is_over, _ = await asyncio.wait([self._owning], timeout=_ENDING)
        if not is_over:
            # Such as a server that does not answer the request to end the session.
            self._owning.cancel()
            await asyncio.wait([self._owning])
        if not self._ready.done():
            # A task that is cancelled before its first step does nothing at all.
            self._ready.set_exception(ServerError("it was ended"))
            self._ready.exception()

    async def retire(self) -> None:
        """End the connection once the orders in progress have their answers; another one takes its place."""
        self._limit_reports(_KEPT | {"id", "refused"})
        while self._working and not self._ended.is_set():
            await asyncio.sleep(_BETWEEN)
        await self.close()

    def _limit_reports(self, kinds: frozenset[str]) -> None:
        """Report only events of these kinds from now on."""
        report = self._report
        self._report = lambda event: None if kinds.isdisjoint(event) else report(event)

    async def do(self, order: Order) -> Any:
        """Carry out an order. Raises ServerError."""
        self._working += 1
        try:
            return await self._do(order)
        finally:
            self._working -= 1

    async def _do(self, order: Order) -> Any:
        await self.ready()
        if self._client is None:
            # Nothing was done, so that the application can connect again and repeat the order.
            self.is_forgotten = True
            raise SessionOverError(self._end or "it ended")
        try:
            if order["do"] == "call":
                return await self._call(self._client, order)
            return await _ORDERS[order["do"]](self._client, order)
        except MCPError as error:
            if error.message == SESSION_OVER:
                self.is_forgotten = True
                raise SessionOverError(SESSION_OVER) from None
            if error.message == _CLOSED:
                # How it ended is known a moment later.
                await asyncio.wait([self._owning], timeout=_ENDING)
            raise ServerError(self._end or _describe_error(error)) from None
        except (OSError, ValueError, RuntimeError, httpx2.HTTPError) as error:
            raise ServerError(self._end or _describe_error(error)) from None

    def deliver_answer(self, call: int, result: Order) -> None:
        """Give a server the answer to what it has asked during a call."""
        question = self._asking.get(call)
        if question and not question.done():
            question.set_result(dict(result))

    def deliver_claim(self, kept: Order | None) -> None:
        """Let a token be renewed that the server refused, unless it is newer in what is `kept`."""
        if self._claim and not self._claim.done():
            self._claim.set_result(kept)

    async def _claim_renewal(self) -> Order | None:
        """Wait until this oi-tui may renew the sign-in; return what is kept of it."""
        if self._claim is None or self._claim.done():
            self._claim = asyncio.get_running_loop().create_future()
            self._report({"refused": True})
        with suppress(TimeoutError):
            return await asyncio.wait_for(asyncio.shield(self._claim), TIMEOUT)
        return None

    async def _call(self, client: Client, order: Order) -> Any:
        number = order["id"]
        reported_at = 0.0

        async def report_progress(progress: float, total: float | None, message: str | None) -> None:
            nonlocal reported_at
            now = asyncio.get_running_loop().time()
            # A server may report each byte.
            if now - reported_at >= _BETWEEN:
                reported_at = now
                self._report({"id": number, "progress": progress, "total": total, "message": message})

        if order.get("may_ask"):
            self._asking[number] = None
        try:
            name, arguments = order["tool"], dict(order["arguments"])
            result = await client.call_tool(name, arguments, progress_callback=report_progress)
        finally:
            question = self._asking.pop(number, None)
            if question and not question.done():
                question.set_result({"action": "cancel"})
        return _make_plain(result)

    async def _ask(self, context: Any, params: Any) -> ElicitResult:  # noqa: ARG002 -- as the package calls it
        """Have the application ask the person; a request that belongs to no call there is cancelled."""
        free = [number for number, question in self._asking.items() if question is None]
        if not free:
            return ElicitResult(action="cancel")
        number = free[-1]
        answer = self._asking[number] = asyncio.get_running_loop().create_future()
        self._report({"id": number, "asks": _make_plain(params)})
        try:
            return ElicitResult.model_validate(await answer)
        finally:
            if number in self._asking:
                self._asking[number] = None

    async def _hold_connection(self) -> None:
        """Hold the connection from its beginning to its end."""
        try:
            async with Client(
                self._open_transport(),
                message_handler=self._handle_notification,
                elicitation_callback=self._ask,
                client_info=Implementation(name="oi-tui", version=__version__),
            ) as client:
                # A hostile schema can hold the whole process up, with a regular expression that never ends.
                client.session.validate_tool_result = _accept  # type: ignore[assignment]
                self._client = client
                listens = asyncio.Event()
                tasks = [
                    asyncio.create_task(self._listen(client, listens)),
                    asyncio.create_task(self._follow_changes(client)),
                ]
                try:
                    # Before the list is read, so that no change falls between the two.
                    with suppress(TimeoutError):
                        await asyncio.wait_for(listens.wait(), _LISTENING)
                    self._ready.set_result(await _list_offers(client))
                    await self._ended.wait()
                finally:
                    for task in tasks:
                        task.cancel()
                    await asyncio.wait(tasks)
        except BaseException as error:  # noqa: BLE001 -- whatever it is, it ends this server alone
            self._end = self._end or _describe_error(error)
        self._end = self._end or "it closed the connection"
        self._client = None
        if self._ready.done():
            self._report({"lost": self._end})
        else:
            self._ready.set_exception(ServerError(self._end or "it ended"))
            self._ready.exception()

    def _open_transport(self) -> Any:
        spec = self._spec
        if not spec["url"]:
            return start_program(spec["command"], spec["values"], spec["cwd"], self._note_end)
        address, kind = urldefrag(spec["url"])
        return _open_remote(
            {**spec, "url": address},
            lambda event: self._report(event),
            self._claim_renewal,
            self._ended.set,
            # The transport before streamable HTTP; its addresses end so by custom.
            is_sse=kind == "sse" or urlsplit(address).path.rstrip("/").endswith("/sse"),
        )

    def _note_end(self, running: Program) -> None:
        self._end = running.end
        self._ended.set()

    async def _listen(self, client: Client, listens: asyncio.Event) -> None:
        """Ask to be told of other tools, where the newer protocol wants to be asked."""
        try:
            if not _tells_changes(client):
                return
            with suppress(MCPError, ListenNotSupportedError, SubscriptionLost, TimeoutError, OSError):
                async with client.listen(tools_list_changed=True) as events:
                    listens.set()
                    async for _ in events:
                        self._changed.set()
        finally:
            listens.set()

    async def _handle_notification(self, message: Any) -> None:
        method = getattr(message, "method", getattr(getattr(message, "root", None), "method", ""))
        if method == "notifications/tools/list_changed":
            # The answer to a request comes by the way that this notification came.
            self._changed.set()

    async def _follow_changes(self, client: Client) -> None:
        """List the tools again after changes: once for all that a server reports in quick succession."""
        await asyncio.shield(self._ready)
        while True:
            await self._changed.wait()
            # More changes may follow, and the first list is still on its way to the application.
            await asyncio.sleep(_BETWEEN_LISTS)
            self._changed.clear()
            with suppress(MCPError, OSError, ValueError, RuntimeError, httpx2.HTTPError):
                self._report({"offered": await _list_offers(client)})


@asynccontextmanager
async def _open_remote(
    spec: Order,
    report: Callable[[dict[str, Any]], None],
    claim: Claim,
    ended: Callable[[], None],
    *,
    is_sse: bool,
) -> AsyncIterator[Any]:
    """Open the transport to a server over HTTP; `ended` is called when the server has closed it."""

    async def reachable(request: httpx2.Request) -> None:
        # Signing in leads to other hosts than the server's.
        if not _REACH[spec["reach"]](request.url.host):
            raise ServerError(f"{spec['reach']} is on, and {request.url.host} is elsewhere")

    async def authorised(response: httpx2.Response) -> None:
        if response.status_code == 401 and spec["may_sign_in"] and not (spec["sign_in"] or spec["signed_in"]):
            raise explain_needed(spec["name"])

    hooks: Any = {
        "request": [reachable],
        "response": [authorised, refuse_compressed, explain_refusal, limit, check_answer],
    }
    # How long an answer may take is for the person to say, who can stop it.
    timeout = httpx2.Timeout(TIMEOUT, read=None)

    def client(kind: Callable[..., httpx2.AsyncClient] = httpx2.AsyncClient) -> httpx2.AsyncClient:
        headers = {"Accept-Encoding": "identity", **spec["values"]}
        return kind(headers=headers, timeout=timeout, event_hooks=hooks, auth=auth)

    repaired, from_server = anyio.create_memory_object_stream[Any](0)[::-1]
    async with authorise(spec, report, claim) as auth, AsyncExitStack() as stack:
        transport: Any
        if is_sse:
            hooks["response"].append(limit_events)

            def posting(*_: Any, **__: Any) -> httpx2.AsyncClient:
                return client(partial(_PostingClient, from_server.send))

            transport = sse.sse_client(spec["url"], httpx_client_factory=posting)
        else:
            http = await stack.enter_async_context(client())
            transport = streamable_http_client(spec["url"], http_client=http, max_sse_event_size=LONGEST_LINE)
        received, to_server = await stack.enter_async_context(transport)
        repairing = asyncio.create_task(_repair(received, from_server))
        repairing.add_done_callback(lambda task: None if task.cancelled() else ended())
        try:
            yield repaired, to_server
        finally:
            repairing.cancel()
            await asyncio.wait([repairing])


class _PostingClient(httpx2.AsyncClient):
    """Posts the messages of the older transport, and answers itself those that do not get through.

    The package would log the failure, post nothing more, and let the call wait for ever.
    """

    def __init__(self, answer: Callable[[SessionMessage], Awaitable[None]], **options: Any) -> None:
        super().__init__(**options)
        self._answer = answer

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request; a message counts as accepted whatever became of it."""
        if request.method != "POST":
            return await super().send(request, **options)
        try:
            response = await self._post(request, **options)
            if response.is_success:
                return response
            problem = describe_refusal(response)
            await response.aclose()
        except (httpx2.HTTPError, httpx2.InvalidURL, ServerError) as error:
            problem = _describe_error(error)
        message = json.loads(request.content)
        if (number := message.get("id")) is not None and "method" in message:
            error_data = ErrorData(code=INTERNAL_ERROR, message=problem)
            refusal = JSONRPCError(jsonrpc="2.0", id=number, error=error_data)
            await self._answer(SessionMessage(refusal))
        return httpx2.Response(202, request=request)

    async def _post(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request, also where its server moves it within itself."""
        response = await super().send(request, **options)
        for _ in range(self.max_redirects):
            moved = response.next_request
            if moved is None or moved.method != "POST" or not _is_same_server(request.url, moved.url):
                break
            await response.aclose()
            response = await super().send(moved, **options)
        return response


def _is_same_server(url: httpx2.URL, moved: httpx2.URL) -> bool:
    same_port = (moved.host, moved.port) == (url.host, url.port)
    return same_port and moved.scheme in (url.scheme, "https") and moved.userinfo in (b"", url.userinfo)


async def _repair(received: Any, to_session: Any) -> None:
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
        async with to_session:
            async for item in received:
                if isinstance(item, SessionMessage):
                    await to_session.send(repair_message(item))
                    continue
                for repaired in repair_refused(item):
                    await to_session.send(repaired)


#: The hosts that may be reached, by the setting that says so.
_REACH: Mapping[str, Callable[[str], bool]] = {
    "": lambda _: True,
    "offline": is_near,
    "local": is_this_machine,
}


def _describe_error(error: BaseException) -> str:
    """Return the first reason of an error, in words."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, FileNotFoundError):
        return f"{error.filename} was not found"
    if isinstance(error, asyncio.CancelledError):
        return "it was ended"
    if isinstance(error, httpx2.HTTPStatusError):
        return describe_refusal(error.response)
    if str(error).startswith(_NO_JSON):
        return "what it sent is not valid JSON"
    # The library quotes one of pydantic, with the address of a page about it.
    invalid = error if isinstance(error, ValidationError) else error.__context__
    if isinstance(invalid, ValidationError):
        first = invalid.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        return f"what it sent is not valid: {place}: {first['msg']}" if place else "what it sent is not valid"
    if match := _ASKS.search(str(error)):
        return (
            f"the tool asks for {match[1]} in a way that its server does not allow with this version of the "
            "protocol"
        )
    return str(error).partition("\n\n")[0] or type(error).__name__


def _tells_changes(client: Client) -> bool:
    tools = client.server_capabilities.tools
    return tools is not None and bool(tools.list_changed)


async def _list_offers(client: Client) -> dict[str, Any]:
    """Return what the server offers: its tools, as it describes them."""
    if client.server_capabilities.tools is None:
        return {"tools": []}
    return {
        "tools": await _read_all_pages(
            lambda cursor: client.list_tools(cursor=cursor, cache_mode="refresh"), "tools"
        )
    }


async def _read_all_pages(ask: Callable[[str | None], Awaitable[Any]], field: str) -> list[dict[str, Any]]:
    """Read the pages of a list."""
    items: list[dict[str, Any]] = []
    cursors: list[str | None] = [None]
    while len(cursors) <= _MOST_PAGES and len(items) < _MOST_ENTRIES:
        page = await ask(cursors[-1])
        items += [_make_plain(item) for item in getattr(page, field)]
        # A server that gives an earlier page again would do so for ever.
        if not page.next_cursor or page.next_cursor in cursors:
            break
        cursors.append(page.next_cursor)
    return items[:_MOST_ENTRIES]


async def _accept(_name: str, _result: Any) -> None:
    """Accept each result without validation: the output schema is only what its server promises."""


def _make_plain(item: Any) -> dict[str, Any]:
    return dict(item.model_dump(by_alias=True, mode="json", exclude_none=True))


async def _list_resources(client: Client, _: Order) -> Any:
    if client.server_capabilities.resources is None:
        return []
    return await _read_all_pages(lambda cursor: client.list_resources(cursor=cursor), "resources")


async def _read(client: Client, order: Order) -> Any:
    result = await client.read_resource(order["uri"])
    return _make_plain(result)


async def _list_prompts(client: Client, _: Order) -> Any:
    if client.server_capabilities.prompts is None:
        return []
    return await _read_all_pages(lambda cursor: client.list_prompts(cursor=cursor), "prompts")


async def _convert_prompt(client: Client, order: Order) -> Any:
    result = await client.get_prompt(order["prompt"], dict(order["arguments"]))
    return _make_plain(result)


_ORDERS: dict[str, Callable[[Client, Order], Awaitable[Any]]] = {
    "resources": _list_resources,
    "read": _read,
    "prompts": _list_prompts,
    "prompt": _convert_prompt,
}
