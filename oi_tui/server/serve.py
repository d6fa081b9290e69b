"""Runs the server until a signal ends it."""

import asyncio
import contextlib
import html
import os
import re
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from oi_tui import log, paths
from oi_tui.engine.credentials.keys import Secrets
from oi_tui.engine.credentials.redaction import learn
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.settings.profile import Profile
from oi_tui.server.application import Application
from oi_tui.server.backend import WorkspaceBackend
from oi_tui.server.guard import App
from oi_tui.server.options import OptionError, ServerOptions
from oi_tui.system.ending_signals import list_ending_signals
from oi_tui.system.environment import close_to_others
from oi_tui.system.opener import find_opener, view
from oi_tui.workspace import Workspace

_NOT_ENCRYPTED = (
    "Other machines can reach this address, and nothing is encrypted: use --tls-cert and --tls-key, or a "
    "tunnel."
)
#: Connections that may wait to be accepted.
_BACKLOG = 128
#: Bytes that are gathered before they are written.
_MOST_GATHERED = 64_000
_TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
#: A header that continues in the next line, and the end of all headers.
_FOLDED = re.compile(rb"\n[ \t]")
_HEADERS_END = re.compile(rb"\n\r?\n")


def run(profile: Profile, profile_path: Path | None, options: ServerOptions, *, open_page: bool) -> int:
    """Serve until ctrl+c or a signal. Returns the exit code; raises OptionError or OSError."""
    log.begin()
    close_to_others()
    unsaved_ids: list[str] = []
    with ExitStack() as stack:
        models = stack.enter_context(ModelProcess(keys=Secrets().key_for))
        listening = listen(options)
        options = add_port(options, listening)

        def open_backend() -> WorkspaceBackend:
            return WorkspaceBackend(Workspace(profile, profile_path, models=models), unsaved_ids.append)

        app = Application(open_backend, options)
        print(make_greeting(options, auto_run=profile.auto_run), flush=True)  # noqa: T201
        if open_page and not options.socket:
            _open(options, stack)
        models.start()
        serve(app, options, listening)
    return int(bool(unsaved_ids))


def _open(options: ServerOptions, stack: ExitStack) -> None:
    """Open the page in the browser, through a private file: a command line is no place for the token."""
    words = find_opener()
    if words is None:
        print("No browser was found. Open the address above.", flush=True)  # noqa: T201
        return
    file = paths.make_private(paths.state()) / f"page-{os.getpid()}.html"
    stack.callback(file.unlink, missing_ok=True)
    address = html.escape(make_page_address(options), quote=True)
    text = f'<!doctype html><meta http-equiv="refresh" content="0; url={address}">'
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        out.write(text)
    view(words, str(file))


def make_page_address(options: ServerOptions) -> str:
    """Return the address of the page. The token is behind the #, which browsers do not send."""
    return f"{options.address}/#token={options.token}"


def make_greeting(options: ServerOptions, *, auto_run: bool) -> str:
    """Say where the server is, and how to use it."""
    where = f"the Unix socket {options.socket}" if options.socket else options.address
    lines = [
        f"oi-tui serves at {where}",
        f"Page:   {make_page_address(options)}" if not options.socket else "",
        f"Token:  {options.token}   (send it as Authorization: Bearer TOKEN, or X-API-KEY: TOKEN)",
        f"Kernels: {options.kernel_password}   (a password for Open WebUI and Jupyter; it opens /api alone)",
        "Code runs without asking (auto_run is on)." if auto_run else "Code needs approval before it runs.",
        _NOT_ENCRYPTED if is_open_to_others(options) and not options.certificate else "",
        "Anyone with the token can do everything that you can do here. ctrl+c ends the server.",
    ]
    return "\n".join(filter(None, lines))


def is_open_to_others(options: ServerOptions) -> bool:
    """Return whether other machines can reach the server."""
    host = options.host.strip("[]")
    return not options.socket and host not in ("localhost", "::1") and not host.startswith("127.")


def listen(options: ServerOptions) -> socket.socket:
    """Open the socket on which the server listens. Raises OptionError or OSError."""
    if options.socket:
        return _listen_at_path(options.socket)
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    # asyncio sends small answers at once only where the protocol is named; else they wait for 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((options.host.strip("[]"), options.port))
        # Whoever reads the address may connect at once, and then waits for the first answer.
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        reason = error.strerror or str(error)
        raise OptionError(
            f"cannot listen at {options.host} port {options.port}: {reason}; choose another --port or --host"
        ) from None
    return listener


def _listen_at_path(path: Path) -> socket.socket:
    if path.is_socket():
        if _is_answered(path):
            raise OptionError(f"another server listens at {path}")
        path.unlink()
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise OptionError(f"cannot listen at {path}: {error.strerror or error}") from None
    return listener


def _is_answered(path: Path) -> bool:
    """Return whether a server lives at the socket, not only its file."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True


def add_port(options: ServerOptions, listening: socket.socket) -> ServerOptions:
    """Return the options with the port that was given for port 0."""
    return options if options.socket else replace(options, port=listening.getsockname()[1])


def serve(app: Application, options: ServerOptions, listening: socket.socket) -> None:
    """Serve the application until a signal ends it."""
    learn(options.token)
    learn(options.kernel_password)
    own_file = _identify(options.socket) if options.socket else None
    try:
        with listening:
            asyncio.run(make_web_server(app, options).serve(sockets=[listening]))
    finally:
        # While this server ended, another one may have made its own socket there.
        if options.socket and _identify(options.socket) == own_file:
            options.socket.unlink(missing_ok=True)


def _identify(path: Path) -> tuple[int, int, int] | None:
    """Return what tells a file from others at its path; None where there is none.

    The number of a file that was removed may be given to the next one, so that its time counts too.
    """
    try:
        facts = path.lstat()
    except FileNotFoundError:
        return None
    return facts.st_dev, facts.st_ino, facts.st_mtime_ns


def make_web_server(app: Application, options: ServerOptions) -> uvicorn.Server:
    """Return the web server with every limit set."""
    limits = options.limits
    config = _Config(
        app,
        limits.send_seconds,
        http=_StrictProtocol,
        ws=_AnsweringWebSocketProtocol,
        ws_max_size=limits.message_bytes,
        ws_per_message_deflate=False,
        limit_concurrency=limits.connections,
        timeout_keep_alive=int(limits.request_seconds),
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=65_536,
        proxy_headers=False,
        server_header=False,
        # An access log would have every address; nothing is lost without it.
        access_log=False,
        # Its warnings name addresses too; what fails in a request is in our own log.
        log_config=None,
        log_level="critical",
        lifespan="on",
        ssl_certfile=str(options.certificate) if options.certificate else None,
        ssl_keyfile=str(options.key) if options.key else None,
    )
    return _Server(config, app)


class _Server(uvicorn.Server):
    """Ends in order on a signal, and does not raise it again, so that everything else ends in order too."""

    def __init__(self, config: uvicorn.Config, app: Application) -> None:
        super().__init__(config)
        self._app = app

    def handle_exit(self, *_: object) -> None:
        """End the server; at a further signal, end code that does not stop."""
        if self.should_exit:
            # What is locked may be locked by the code that the signal interrupts.
            threading.Thread(target=self._app.stop, name="stop", daemon=True).start()
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the server; its application stops the turns once the clients are gone."""
        if self._app.is_busy:
            # Whoever read the greeting may have gone.
            with contextlib.suppress(OSError):
                print("Stopping what is in progress. ctrl+c again ends code that does not stop.", flush=True)  # noqa: T201
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        # Only the main thread may take signals.
        is_main = threading.current_thread() is threading.main_thread()
        numbers = list_ending_signals() if is_main else ()
        before = {number: signal.signal(number, self.handle_exit) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                # A handler that is not Python's own is None, and cannot be set again.
                signal.signal(number, signal.SIG_DFL if handler is None else handler)


class _Config(uvicorn.Config):
    def __init__(self, app: App, send_seconds: float, **options: Any) -> None:
        super().__init__(app, **options)
        self.send_seconds = send_seconds


if TYPE_CHECKING:
    _Protocol = asyncio.Protocol
else:
    _Protocol = object


class _EndsStalled(_Protocol):
    """Ends a connection whose client takes nothing for too long; it would be kept for ever otherwise."""

    config: Any
    transport: Any
    loop: asyncio.AbstractEventLoop
    _stalled: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self.loop.call_later(self.config.send_seconds, self._abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._resume()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._resume()

    def _resume(self) -> None:
        if self._stalled:
            self._stalled.cancel()
            self._stalled = None

    def _abort(self) -> None:
        # What is still to be sent would keep a connection open that is only closed.
        self.transport.abort()


class _GatheringTransport:
    """Writes at once what is written within one turn of the event loop.

    Each write is a system call, during which another thread may begin to run and keep the loop waiting.
    """

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._pieces: list[bytes] = []
        self._length = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write data soon."""
        if not self._pieces:
            self._loop.call_soon(self._flush)
        self._pieces.append(data)
        self._length += len(data)
        if self._length > _MOST_GATHERED:
            self._flush()

    def close(self) -> None:
        """Write what is left, and close."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        pieces, self._pieces, self._length = self._pieces, [], 0
        if pieces and not self._transport.is_closing():
            self._transport.write(b"".join(pieces))


class _AnsweringWebSocketProtocol(_EndsStalled, WebSocketsSansIOProtocol):
    """Refuses a WebSocket whose request its parser cannot take; it would stay open without an answer."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(_GatheringTransport(transport, self.loop))  # type: ignore[arg-type]

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self.handshake_initiated and self.conn.handshake_exc is not None:
            self.transport.write(_TOO_LONG)
            self.transport.close()


class _StrictProtocol(_EndsStalled, H11Protocol):
    """Closes a connection on which headers do not arrive in time, and refuses folded headers.

    h11 joins the lines of a folded header. Whoever stands between may read them in another way, so RFC 9112
    allows a server to refuse them.
    """

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._deadline: asyncio.TimerHandle | None = None
        self._start_deadline()

    def handle_events(self) -> None:
        if self._has_folded_header():
            self.send_400_response("A header must not be folded over several lines.")
            return
        super().handle_events()
        if self.conn.their_state is not h11.IDLE:
            self._cancel_deadline()
        elif self._deadline is None and self.conn.trailing_data[0]:
            # A part of the next request; with it, the time that a connection may be idle no longer counts.
            self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_deadline()
        super().connection_lost(exc)

    def _has_folded_header(self) -> bool:
        """Return whether the request that begins, or as much of it as has arrived, has a folded header."""
        if self.conn.their_state is not h11.IDLE:
            return False
        arrived, _ = self.conn.trailing_data
        end = _HEADERS_END.search(arrived)
        return _FOLDED.search(arrived, 0, end.end() if end else len(arrived)) is not None

    def _start_deadline(self) -> None:
        self._deadline = self.loop.call_later(self.timeout_keep_alive, self._close)

    def _cancel_deadline(self) -> None:
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None

    def _close(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
