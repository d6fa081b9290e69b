"""Guards every route: who may connect, and how much they may send."""

import asyncio
import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from time import monotonic
from typing import Any

from oi_tui.server.kernels.access import FORM, LOGIN, KernelAccess, is_for_kernels
from oi_tui.server.options import ServerOptions

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: The subprotocol that pages agree on.
PROTOCOL = "oi-tui"
#: What stands before the token where a browser offers it as another subprotocol.
SUBPROTOCOL = "oi-tui.token."
#: Paths that need no token: they contain no data of the person.
PUBLIC = frozenset({"/", "/heartbeat", "/favicon.ico", LOGIN})
PUBLIC_FOLDER = "/page/"
#: Names of parameters that must not carry a secret in an address.
_SECRET_PARAMETERS = (b"token=", b"auth=", b"api_key=", b"key=", b"x-api-key=")
#: A body may come as slowly as this, in bytes a second, once the time for a short one is over.
_SLOWEST = 10_000
#: The largest body, in bytes, that a refused request may still send, and the longest time for it, in seconds.
_PASSED_OVER, _PASSED_OVER_SECONDS = 65_536, 1.0
_METHODS = ("GET", "HEAD", "POST", "DELETE", "OPTIONS")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)


class RequestRefusedError(Exception):
    """A request is refused."""

    def __init__(self, status: int, why: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(why)
        self.status = status
        self.why = why
        #: The field of the request that is wrong, and OpenAI's name of the error where it has one.
        self.param = param
        self.code = code

    @property
    def body(self) -> dict[str, Any]:
        """The body of the answer."""
        return make_error_body(self.status, self.why, self.param, self.code)


#: What OpenAI calls the kinds of errors.
_ERRORS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    429: "rate_limit_error",
}


def make_error_body(
    status: int, message: str, param: str | None = None, code: str | None = None
) -> dict[str, Any]:
    """Return the body of an answer that reports an error, in OpenAI's form and in Jupyter's."""
    kind = _ERRORS.get(status, "server_error" if status >= 500 else "invalid_request_error")
    error = {"message": message, "type": kind, "param": param, "code": code}
    return {"error": error, "message": message, "reason": HTTPStatus(status).phrase}


class RequestGuard:
    """Checks Host, Origin and token of each request before anything else sees it.

    A WebSocket is refused before it is accepted. The body of a request is limited in bytes and in time.
    """

    def __init__(self, app: App, options: ServerOptions) -> None:
        self._app = app
        self._options = options
        self._digest = _compute_digest(options.token.encode())
        self.kernel_access = KernelAccess(options.kernel_password)

    def is_token(self, given: bytes) -> bool:
        """Compare with the token, in a time that does not depend on where they differ."""
        return hmac.compare_digest(_compute_digest(given), self._digest)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer why it is refused."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = _Headers(scope["headers"])
        try:
            cors = self._check(scope, headers)
        except RequestRefusedError as refusal:
            if scope["type"] == "http":
                await _pass_over_body(headers, receive)
            await _refuse(scope, send, refusal)
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        guarded = _Sender(send, cors)
        if scope["method"] == "OPTIONS":
            await _answer(guarded, 204, b"")
            return
        body = _Body(receive, self._options.limits.message_bytes, self._options.limits.request_seconds)
        try:
            if await body.read():
                await self._app(scope, body, guarded)
        except RequestRefusedError as refusal:
            if not guarded.begun:
                await _refuse(scope, guarded, refusal)
        except asyncio.CancelledError:
            if not guarded.begun:
                await _refuse(scope, guarded, RequestRefusedError(503, "The server has ended."))
            raise

    def _check(self, scope: Scope, headers: "_Headers") -> list[tuple[bytes, bytes]]:
        """Raise RequestRefusedError for what must not pass. Returns headers that let another page read on."""
        self._check_host(scope, headers)
        origin = self._check_origin(scope, headers)
        if scope["type"] == "http":
            self._check_method(scope, headers)
        query = scope["query_string"].lower()
        if any(part.startswith(_SECRET_PARAMETERS) for part in query.split(b"&")):
            raise RequestRefusedError(400, _explain_address(scope))
        preflight = scope["type"] == "http" and scope["method"] == "OPTIONS" and origin is not None
        if (
            not preflight
            and not _is_public(scope)
            and not _signs_in(scope)
            and not self._is_allowed(scope, headers)
        ):
            raise RequestRefusedError(
                401,
                "Send the token that oi-tui --server printed: Authorization: Bearer …",
                code="invalid_api_key",
            )
        return _make_cors_headers(origin) if origin in self._options.origins else []

    def _check_host(self, scope: Scope, headers: "_Headers") -> None:
        host = headers.only(b"host", 400).decode("latin-1").lower()
        name, separator, port = host.rpartition(":")
        if not separator or host.endswith("]"):
            name, port = host, ""
        server = scope.get("server") or (None, None)
        here = str(server[1]) if server[1] else None
        usual = {"https": "443", "wss": "443"}.get(scope["scheme"], "80")
        if name not in self._options.names or (here is not None and (port or usual) != here):
            raise RequestRefusedError(421, "This host name is not allowed; --allow-host NAME allows it.")

    def _check_origin(self, scope: Scope, headers: "_Headers") -> str | None:
        origins = headers.all(b"origin")
        if len(origins) > 1:
            raise RequestRefusedError(400, "There is more than one Origin header.")
        if not origins:
            if b"cross-site" in headers.all(b"sec-fetch-site") and not _is_public(scope):
                raise RequestRefusedError(403, "Requests from pages of other servers are not allowed.")
            return None
        origin = origins[0].decode("latin-1")
        scheme = {"ws": "http", "wss": "https"}.get(scope["scheme"], scope["scheme"])
        own = f"{scheme}://{headers.only(b'host', 400).decode('latin-1').lower()}"
        if origin != own and origin not in self._options.origins:
            raise RequestRefusedError(403, "This origin is not allowed; --allow-origin ORIGIN allows it.")
        return origin

    def _check_method(self, scope: Scope, headers: "_Headers") -> None:
        method = scope["method"]
        if method not in _METHODS:
            raise RequestRefusedError(405, "This method is not allowed.")
        lengths = headers.all(b"content-length")
        try:
            length = int(lengths[0]) if lengths else 0
        except ValueError:
            raise RequestRefusedError(400, "Content-Length is not a number.") from None
        if length > self._options.limits.message_bytes:
            raise RequestRefusedError(
                413, f"A request may have at most {self._options.limits.message_bytes:,} bytes."
            )
        kind = b"".join(headers.all(b"content-type")).split(b";")[0].strip().lower()
        is_chunked = bool(headers.all(b"transfer-encoding"))
        if lengths and is_chunked:
            # A proxy may read the body by the one and we by the other, and so see other requests (RFC 9112).
            raise RequestRefusedError(400, "There must not be both Content-Length and Transfer-Encoding.")
        has_body = length > 0 or is_chunked
        if has_body and kind not in _list_body_types(scope):
            raise RequestRefusedError(415, "The body must be JSON, with Content-Type: application/json.")
        codings = {item.strip().lower() for item in headers.all(b"content-encoding")}
        if codings - {b"identity"}:
            raise RequestRefusedError(
                415, "The body must not be compressed: send it without Content-Encoding."
            )

    def _is_allowed(self, scope: Scope, headers: "_Headers") -> bool:
        """Return whether the request has the token or, for kernels, their password or the cookie for it.

        Where it offers several, each must be right: whoever stands between may have read another one.
        """
        tokens = _list_tokens(headers)
        if tokens and all(map(self.is_token, tokens)):
            return True
        if not is_for_kernels(scope["path"]):
            return False
        access = self.kernel_access
        if tokens:
            return all(self.is_token(item) or access.is_password(item) for item in tokens)
        cookies, xsrf = headers.all(b"cookie"), headers.all(b"x-xsrftoken")
        return len(xsrf) == 1 and any(access.has_ticket(item, xsrf[0]) for item in cookies)


class _Headers:
    """The headers of a request; a name may come more than once."""

    def __init__(self, items: Iterable[tuple[bytes, bytes]]) -> None:
        self._items = [(name.lower(), value) for name, value in items]

    def all(self, name: bytes) -> list[bytes]:
        """Return every value of a header."""
        return [value for other, value in self._items if other == name]

    def only(self, name: bytes, status: int) -> bytes:
        """Return the value of a header that must be there exactly once. Raises RequestRefusedError."""
        values = self.all(name)
        if len(values) != 1:
            raise RequestRefusedError(status, f"There must be one {name.decode().title()} header.")
        return values[0]


class _Body:
    """The body of a request, limited in bytes and in time. It is received whole before anything uses it."""

    def __init__(self, receive: Receive, most: int, seconds: float) -> None:
        self._receive = receive
        self._most = most
        self._seconds = seconds
        self._whole: MutableMapping[str, Any] | None = None

    async def read(self) -> bool:
        """Receive the body. Returns False if the client left before all of it came."""
        pieces: list[bytes] = []
        size, start = 0, monotonic()
        while True:
            # However slowly it comes, it may not keep the connection for longer.
            remaining_seconds = start + self._seconds + size / _SLOWEST - monotonic()
            try:
                message = await asyncio.wait_for(self._receive(), max(remaining_seconds, 0))
            except TimeoutError:
                raise RequestRefusedError(408, "The request did not arrive in time.") from None
            if message["type"] != "http.request":
                return False
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            if size > self._most:
                raise RequestRefusedError(413, "The request is too large.")
            if not message.get("more_body", False):
                self._whole = {"type": "http.request", "body": b"".join(pieces), "more_body": False}
                return True

    async def __call__(self) -> MutableMapping[str, Any]:
        whole, self._whole = self._whole, None
        return whole or await self._receive()


async def _pass_over_body(headers: "_Headers", receive: Receive) -> None:
    """Receive a small body and drop it.

    Where a connection is closed before its body came, the system resets it, and the answer may be lost.
    """
    length = b"".join(headers.all(b"content-length"))
    if not length.isdigit() or int(length) <= _PASSED_OVER:
        with suppress(RequestRefusedError):
            await _Body(receive, _PASSED_OVER, _PASSED_OVER_SECONDS).read()


class _Sender:
    """Sends an answer, and adds the headers that every answer has."""

    def __init__(self, send: Send, extra: list[tuple[bytes, bytes]]) -> None:
        self._send = send
        self._extra = extra
        self.begun = False

    async def __call__(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            header_names = {name.lower() for name, _ in message.get("headers", ())}
            added = [item for item in (*_HEADERS, *self._extra) if item[0] not in header_names]
            message = {**message, "headers": [*message.get("headers", ()), *added]}
        await self._send(message)


def _is_public(scope: Scope) -> bool:
    """Return whether the request only reads pages that contain no data of the person."""
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
        return False
    path: str = scope["path"]
    return path in PUBLIC or path.startswith(PUBLIC_FOLDER)


def _signs_in(scope: Scope) -> bool:
    """Return whether the request signs in with the password for kernels, which its route checks."""
    return scope["type"] == "http" and scope["method"] == "POST" and scope["path"] == LOGIN


def _list_body_types(scope: Scope) -> Sequence[bytes]:
    """Return the content types that a body may have."""
    if _signs_in(scope):
        return (FORM,)
    # JupyterLab's own library names no type, and browsers then send this one. A page of another server could
    # send it too, but not the header that goes with it.
    return (b"application/json", b"text/plain") if is_for_kernels(scope["path"]) else (b"application/json",)


def _explain_address(scope: Scope) -> str:
    why = "The token must not be part of the address: send it in a header."
    if is_for_kernels(scope["path"]):
        why += " Open WebUI does that with Password in place of Token, and the password for kernels."
    return why


def _make_cors_headers(origin: str | None) -> list[tuple[bytes, bytes]]:
    return [
        (b"access-control-allow-origin", (origin or "").encode("latin-1")),
        (b"access-control-allow-headers", b"authorization, content-type, x-api-key"),
        (b"access-control-allow-methods", b"GET, POST, DELETE"),
        (b"cross-origin-resource-policy", b"cross-origin"),
        (b"vary", b"origin"),
    ]


def _list_tokens(headers: _Headers) -> list[bytes]:
    """Return every token in the request. Raises RequestRefusedError for headers that are there twice."""
    for name in (b"x-api-key", b"authorization"):
        if len(headers.all(name)) > 1:
            # Whoever stands between may have read the other one.
            raise RequestRefusedError(400, f"There is more than one {name.decode().title()} header.")
    tokens = list(headers.all(b"x-api-key"))
    for value in headers.all(b"authorization"):
        kind, _, token = value.partition(b" ")
        if kind.lower() in (b"bearer", b"token"):
            tokens.append(token.strip())
    offered = [item.strip() for value in headers.all(b"sec-websocket-protocol") for item in value.split(b",")]
    of_pages = [item[len(SUBPROTOCOL) :] for item in offered if item.startswith(SUBPROTOCOL.encode())]
    if len(of_pages) > 1:
        raise RequestRefusedError(400, "There is more than one token among the subprotocols.")
    return [*tokens, *of_pages]


def _compute_digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()


async def _refuse(scope: Scope, send: Send, refusal: RequestRefusedError) -> None:
    body = json.dumps(refusal.body).encode()
    if scope["type"] == "http":
        await _answer(send, refusal.status, body)
    elif "websocket.http.response" in scope.get("extensions", {}):
        await _answer(send, refusal.status, body, "websocket.http.response")
    else:
        await send({"type": "websocket.close", "code": 1008, "reason": ""})


async def _answer(send: Send, status: int, body: bytes, kind: str = "http.response") -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    # What was refused may still be sending; nothing more of it is read.
    headers += [(b"connection", b"close")] if status >= 400 else []
    await send({"type": f"{kind}.start", "status": status, "headers": [*headers, *_HEADERS]})
    await send({"type": f"{kind}.body", "body": body})
