"""What a start of the server allows, and its limits."""

import os
import re
import secrets
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from oi_tui.server.kernels.access import derive_password

#: Characters of a token of 256 bits in base64.
TOKEN_LENGTH = 43
#: Names of this machine for itself; nothing else can answer at them.
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_TOKEN = re.compile(r"[A-Za-z0-9._~-]+")
_ORIGIN = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+")


class OptionError(ValueError):
    """An option of the server that cannot be used; the message names it."""


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """How much the server takes from its clients."""

    #: Bytes of a request's body, or of a WebSocket message.
    message_bytes: int = 8_000_000
    #: Open connections, and conversations in memory.
    connections: int = 400
    sessions: int = 256
    #: Of these, the sessions that OpenAI's clients began without naming them; each may have interpreters.
    disposable_sessions: int = 32
    #: Seconds for a request's headers, and for its body.
    request_seconds: float = 15.0
    #: Messages that one WebSocket may send in a second, on average.
    messages_per_second: float = 50.0
    #: Seconds that a client may take to accept one message.
    send_seconds: float = 60.0
    #: Seconds that a question waits without anybody connected; then the code is rejected.
    unwatched_seconds: float = 600.0
    #: Bytes of events that are kept of each session for clients that come back.
    history_bytes: int = 4_000_000


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Where the server listens, who may ask, and what they may change."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    host: str = "127.0.0.1"
    port: int = 8000
    #: A Unix socket instead of host and port.
    socket: Path | None = None
    #: More names in the address bar of a client, and pages of other servers that may ask.
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    certificate: Path | None = None
    key: Path | None = None
    #: Whether clients may change settings, auto_run among them.
    allow_settings: bool = False
    #: Whether a client of the original's protocol must acknowledge each chunk.
    acknowledge: bool = False
    limits: ServerLimits = ServerLimits()

    def __post_init__(self) -> None:
        """Refuse what would not be safe or cannot work. Raises OptionError."""
        if len(self.token) < TOKEN_LENGTH or not _TOKEN.fullmatch(self.token):
            raise OptionError(
                f"INTERPRETER_API_KEY must have at least {TOKEN_LENGTH} letters, digits or -._~ "
                "(256 bits); without it, a token is made at each start"
            )
        if not 0 <= self.port <= 65535:
            raise OptionError(f"--port must be between 0 and 65535, not {self.port}")
        for origin in self.origins:
            if not _ORIGIN.fullmatch(origin):
                raise OptionError(f"--allow-origin must look like https://example.org, not {origin}")
        for host in self.hosts:
            if not re.fullmatch(r"[A-Za-z0-9.\-]+|\[[0-9A-Fa-f:]+\]", host):
                raise OptionError(f"--allow-host must be a name or an address without a port, not {host}")
        if bool(self.certificate) != bool(self.key):
            raise OptionError("--tls-cert and --tls-key can only be used together")
        if self.certificate and self.key:
            self._check_certificate()

    def _check_certificate(self) -> None:
        try:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(str(self.certificate), str(self.key))
        except (OSError, ssl.SSLError) as error:
            raise OptionError(f"--tls-cert or --tls-key cannot be used: {error}") from None

    @property
    def kernel_password(self) -> str:
        """What opens the kernels, and nothing else."""
        return derive_password(self.token)

    @property
    def scheme(self) -> str:
        """The scheme of the server's addresses."""
        return "https" if self.certificate else "http"

    @property
    def names(self) -> frozenset[str]:
        """The host names by which clients may call the server, in small letters."""
        own = () if self.host in ("0.0.0.0", "::", "") else (_put_in_brackets(self.host),)
        return frozenset(name.lower() for name in (*LOOPBACK, *own, *self.hosts))

    @property
    def address(self) -> str:
        """The address for a browser on this machine; the path of the socket where there is one."""
        if self.socket:
            return str(self.socket)
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::", "") else _put_in_brackets(self.host)
        return f"{self.scheme}://{host}:{self.port}"


def _put_in_brackets(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def read_environment(environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Return the options that Open Interpreter's variables set. Raises OptionError."""
    options: dict[str, Any] = {}
    if host := environment.get("INTERPRETER_HOST"):
        options["host"] = host
    if port := environment.get("INTERPRETER_PORT"):
        if not re.fullmatch(r"[0-9]{1,5}", port):
            raise OptionError(f"INTERPRETER_PORT must be a number, not {port}")
        options["port"] = int(port)
    if token := environment.get("INTERPRETER_API_KEY"):
        options["token"] = token
    if environment.get("INTERPRETER_REQUIRE_ACKNOWLEDGE", "").lower() == "true":
        options["acknowledge"] = True
    return options
