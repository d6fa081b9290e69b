"""Signs in to a server over HTTP by OAuth: the browser returns to a port of this machine."""

import asyncio
import html
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)

from oi_tui.mcp_client.child.errors import ServerError

_PATH = "/callback"
#: The longest request line of a browser that comes back, in bytes, and the seconds that it may take.
_LONGEST = 16_000
_TIMEOUT = 10.0
_EXPIRED = "the sign-in has expired; sign in again"
Report = Callable[[dict[str, Any]], None]
#: Waits until no other oi-tui renews the sign-in; returns what is kept of it then, or None.
Claim = Callable[[], Awaitable[Mapping[str, Any] | None]]


@asynccontextmanager
async def authorise(
    spec: Mapping[str, Any], report: Report, claim: Claim
) -> AsyncIterator[httpx2.Auth | None]:
    """Give what authorises requests to the server; None where nobody has signed in.

    `spec["signed_in"]` is what was kept of an earlier time. With `spec["sign_in"]`, a person signs in now:
    `report` gets the address for the browser as `open`, and what is to be kept as `signed_in`. `claim` is
    called before a refused token is renewed, and `report` gets `renewal_over` after that.
    """
    saved = spec["signed_in"]
    if spec["sign_in"]:
        browser = _Browser(report)
        # A server that knows this program already may insist on the same address.
        same = await browser.listen(_find_port(saved))
        saved = {"client": saved["client"]} if same else None
        try:
            yield _make_provider(spec["url"], _Storage(saved, report, browser.close), browser, claim)
        finally:
            browser.close()
    elif saved:
        yield _make_provider(spec["url"], _Storage(saved, report), None, claim)
    else:
        yield None


def explain_needed(name: str) -> ServerError:
    """Return the error for a server that nobody has signed in to."""
    return ServerError(f"it needs you to sign in: %mcp login {name}")


def _make_provider(
    url: str, storage: "_Storage", browser: "_Browser | None", claim: Claim
) -> OAuthClientProvider:
    address = browser.address if browser else storage.address
    provider = _RenewingProvider(
        url,
        OAuthClientMetadata.model_validate({"redirect_uris": [address], "client_name": "oi-tui"}),
        storage,
        browser.open if browser else _refuse,
        browser.come_back if browser else _refuse_to_wait,
    )
    storage.context = provider.context
    provider.claim, provider.sign_in = claim, storage
    if browser:
        provider.on_success = browser.accept
    return provider


class _RenewingProvider(OAuthClientProvider):
    """Renews a token that the server refuses before its time is over, or that came without a time.

    The library renews a token only when it knows its time to be over; else it begins a new sign-in.
    """

    #: Called when the server has taken the token.
    on_success: Callable[[], None] = staticmethod(lambda: None)
    claim: Claim
    sign_in: "_Storage"

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Authorise the request; where its token is refused, once more with a renewed one."""
        flow = super().async_auth_flow(request)
        has_claim = False
        try:
            sent_request = await anext(flow)
            response = yield sent_request
            if sent_request is request and self._can_renew(response):
                await flow.aclose()
                has_claim = True
                await self._prepare_renewal(request)
                flow = super().async_auth_flow(request)
                sent_request = await anext(flow)
                response = yield sent_request
            while True:
                if sent_request is request and response.is_success:
                    self.on_success()
                sent_request = await flow.asend(response)
                response = yield sent_request
        except StopAsyncIteration:
            return
        finally:
            await flow.aclose()
            if has_claim:
                self.sign_in.report({"renewal_over": True})

    def _can_renew(self, response: httpx2.Response) -> bool:
        """Return whether the token of a request was refused and can be renewed."""
        return response.status_code == httpx2.codes.UNAUTHORIZED and self.context.can_refresh_token()

    async def _prepare_renewal(self, request: httpx2.Request) -> None:
        """Use the token that another request or another oi-tui got; else have the next flow renew it."""
        record = await self.claim()
        refused = request.headers.get("Authorization")
        if refused != self._write_field():
            return
        if record and "tokens" in record:
            self.context.current_tokens = await self.sign_in.use(record)
        if refused == self._write_field():
            self.context.token_expiry_time = 1.0

    def _write_field(self) -> str:
        tokens = self.context.current_tokens
        return f"Bearer {tokens.access_token}" if tokens else ""


async def _refuse(_: str) -> None:
    raise ServerError(_EXPIRED)


async def _refuse_to_wait() -> AuthorizationCodeResult:
    # Without a function for this, the library complains of that before it calls the one above.
    raise ServerError(_EXPIRED)


def _find_port(kept: Mapping[str, Any] | None) -> int:
    addresses = (kept or {}).get("client", {}).get("redirect_uris") or [""]
    return urlsplit(str(addresses[0])).port or 0


class _Storage:
    """What is kept of a sign-in; the application stores it where keys are."""

    #: Set before the first request.
    context: Any = None

    def __init__(
        self, kept: Mapping[str, Any] | None, report: Report, done: Callable[[], None] = lambda: None
    ) -> None:
        """`done` is called once there are tokens."""
        self._kept = dict(kept or {})
        self.report = report
        self._done = done

    async def use(self, kept: Mapping[str, Any]) -> OAuthToken | None:
        """Use what another oi-tui has kept. Returns the tokens."""
        self._kept = dict(kept)
        return await self.get_tokens()

    @property
    def address(self) -> str:
        """Where the browser came back to."""
        return str((self._kept.get("client") or {}).get("redirect_uris", [f"http://127.0.0.1{_PATH}"])[0])

    async def get_tokens(self) -> OAuthToken | None:
        """Return the tokens; with them, where they are renewed and when."""
        context, saved = self.context, self._kept
        if "metadata" in saved:
            context.oauth_metadata = OAuthMetadata.model_validate(saved["metadata"])
        if "resource" in saved:
            context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(saved["resource"])
        context.token_expiry_time = saved.get("expires")
        return OAuthToken.model_validate(saved["tokens"]) if "tokens" in saved else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Store the tokens."""
        context = self.context
        self._kept["tokens"] = _make_plain(tokens)
        self._kept["expires"] = time.time() + tokens.expires_in if tokens.expires_in is not None else None
        for name, value in (
            ("metadata", context.oauth_metadata),
            ("resource", context.protected_resource_metadata),
        ):
            if value is not None:
                self._kept[name] = _make_plain(value)
        self.report({"signed_in": self._kept})
        self._done()

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return how the server knows this program."""
        client = self._kept.get("client")
        return OAuthClientInformationFull.model_validate(client) if client else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Store that, once there are tokens."""
        self._kept["client"] = _make_plain(client_info)


def _make_plain(model: Any) -> dict[str, Any]:
    return dict(model.model_dump(mode="json", by_alias=True, exclude_none=True))


class _Browser:
    """Waits for the person's browser to come back from signing in."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._server: asyncio.Server | None = None
        self._state = ""
        self._closed = False
        self._accepted = False
        #: For the newest address; a server may ask again, for more rights.
        self._answer: asyncio.Future[AuthorizationCodeResult] = asyncio.get_running_loop().create_future()

    async def listen(self, port: int) -> bool:
        """Listen at this port of the machine, or at a free one. Return whether it is the one wanted."""
        for number in dict.fromkeys((port, 0)):
            try:
                self._server = await asyncio.start_server(self._serve, "127.0.0.1", number, limit=_LONGEST)
            except OSError:
                continue
            return bool(port) and number == port
        raise ServerError("no port of this machine is free for the sign-in")

    @property
    def address(self) -> str:
        """Where the browser comes back to."""
        assert self._server
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{_PATH}"

    async def open(self, address: str) -> None:
        """Have the person open the address. Raises ServerError if a sign-in was completed before."""
        if self._closed:
            refused = "you signed in, but the server refuses the token that it gave you"
            raise ServerError(_EXPIRED if self._accepted else refused)
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https"):
            raise ServerError("its address for signing in is not one of the web")
        self._state = parse_qs(parts.query).get("state", [""])[0]
        self._answer = asyncio.get_running_loop().create_future()
        self._report({"open": address})

    async def come_back(self) -> AuthorizationCodeResult:
        """Wait for the browser."""
        return await self._answer

    def accept(self) -> None:
        """Note that the server has taken the token, so that a later refusal is its end."""
        self._accepted = True

    def close(self) -> None:
        """Listen no longer."""
        if self._server:
            self._server.close()
        self._closed = True

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_TIMEOUT):
                words = (await reader.readuntil(b"\n")).decode("ascii", "replace").split()
            status, text = self._handle_request(words[1] if len(words) == 3 and words[0] == "GET" else "")
            page = f"<!doctype html><title>oi-tui</title><p>{html.escape(text)}</p>".encode()
            head = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(page)}\r\n"
            writer.write(f"{head}Connection: close\r\n\r\n".encode() + page)
            await writer.drain()
        except (OSError, ValueError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    def _handle_request(self, target: str) -> tuple[str, str]:
        """Handle the request of the browser, unless it belongs to another sign-in."""
        parts = urlsplit(target)
        values = {name: entries[0] for name, entries in parse_qs(parts.query).items()}
        if parts.path != _PATH or not self._state or values.get("state") != self._state:
            return "404 Not Found", "There is nothing here."
        if self._answer.done():
            return "200 OK", "You can close this page."
        if code := values.get("code"):
            result = AuthorizationCodeResult(code=code, state=values["state"], iss=values.get("iss"))
            self._answer.set_result(result)
            return "200 OK", "You are signed in. You can close this page."
        reason = values.get("error_description") or values.get("error") or "no reason was given"
        self._answer.set_exception(ServerError(f"it refused the sign-in: {reason[:200]}"))
        return "200 OK", "You are not signed in. You can close this page."
