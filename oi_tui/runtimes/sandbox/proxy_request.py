"""The requests of the sandbox's proxy: each one is read strictly, and sent on with nothing behind it.

A connection to a server carries one request, for the host that was allowed. What a server could take for the
beginning of another request, or for another length of this one, is refused (RFC 9112, 6.3 and 7.1).
"""

import re
import socket
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

#: A head of a request that is longer is no request.
_LONGEST_HEAD = 65_536
#: A longer line between the chunks of a body is refused.
_LONGEST_LINE = 8_192
_PIECE = 65_536
HTTP = 80
_METHOD = re.compile(r"[A-Za-z]{1,20}")
_VERSIONS = ("HTTP/1.0", "HTTP/1.1")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*")
#: Fields that are about this connection or its host, and a line that continues another one.
_NOT_SENT = re.compile(rb"(?i)(proxy-[a-z-]+|connection|keep-alive|upgrade|http2-settings|te|host):|[ \t]|$")
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(;[^\r]*)?\r\n")


class RefusedError(Exception):
    """The request cannot be carried out; the message says why."""


class BodyError(ValueError):
    """The body of a request does not match its header."""


class RequestBody:
    """Finds the end of a request's body in what a client sends."""

    def __init__(self, length: int = 0, *, chunked: bool = False) -> None:
        #: The bytes until the end, or until the next line between chunks.
        self._left = length
        self._chunked = chunked
        self._line = b""
        self._is_behind_chunk = False
        self._is_behind_last = False
        self.is_complete = not chunked and not length

    def take(self, data: bytes) -> bytes:
        """Return the part of these bytes that belongs to the body. Raises BodyError."""
        position = 0
        while position < len(data) and not self.is_complete:
            if self._left:
                count = min(self._left, len(data) - position)
                self._left -= count
                self.is_complete = not self._left and not self._chunked
            else:
                count = (data.find(b"\n", position) + 1 or len(data)) - position
                self._read_line(data[position : position + count])
            position += count
        return data[:position]

    def _read_line(self, data: bytes) -> None:
        """Read a line between chunks, or a part of one."""
        self._line += data
        if len(self._line) > _LONGEST_LINE:
            raise BodyError
        if not data.endswith(b"\n"):
            return
        line, self._line = self._line, b""
        if self._is_behind_last:
            self.is_complete = line == b"\r\n"
            if not line.endswith(b"\r\n"):
                raise BodyError
        elif self._is_behind_chunk:
            self._is_behind_chunk = False
            if line != b"\r\n":
                raise BodyError
        elif match := _CHUNK_SIZE.fullmatch(line):
            self._left = int(match[1], 16)
            self._is_behind_chunk = self._left > 0
            self._is_behind_last = self._left == 0
        else:
            raise BodyError


@dataclass(frozen=True, slots=True)
class Request:
    """A host that a client asks for; `body` is None for a tunnel."""

    host: str
    port: int
    #: The head that is sent on.
    head: bytes = b""
    body: RequestBody | None = None


def read_head(client: socket.socket, first: bytes, seconds: float) -> tuple[bytes, bytes]:
    """Read to the end of a request's head, and return what follows apart. `first` was read already.

    Raises RefusedError and OSError.
    """
    data = bytearray(first)
    until = time.monotonic() + seconds
    while data.find(b"\r\n\r\n", max(0, len(data) - _PIECE - 3)) < 0:
        client.settimeout(max(0.01, until - time.monotonic()))
        piece = client.recv(_PIECE)
        if not piece or len(data) > _LONGEST_HEAD or time.monotonic() > until:
            raise RefusedError("This is not a proxy request.")
        data += piece
    head, _, rest = bytes(data).partition(b"\r\n\r\n")
    return head, rest


def parse(head: bytes, within: Request | None = None) -> Request:
    """Parse a request; `within` is the tunnel to a server in which it came. Raises RefusedError."""
    line, _, rest = head.partition(b"\r\n")
    fields = rest.split(b"\r\n") if rest else []
    words = line.decode("latin-1").split(" ")
    try:
        method, target, version = words
        if within:
            if not target.startswith("/") or method == "CONNECT":
                raise ValueError
            target = f"http://{write_address(within.host, within.port)}{target}"
        parts = urlsplit(f"//{target}" if method == "CONNECT" else target)
        host, port = (parts.hostname or "").rstrip("."), HTTP if parts.port is None else parts.port
        has_known_scheme = method == "CONNECT" or parts.scheme == "http"
        if not (host and port and has_known_scheme and version in _VERSIONS and _METHOD.fullmatch(method)):
            raise ValueError
        if re.search(rb"\n|[\0-\x08\x0b-\x1f]", head.replace(b"\r\n", b"")):
            raise ValueError
        if method == "CONNECT":
            return Request(host, port)
        body = _find_body(fields, version)
    except ValueError:
        raise RefusedError("This is not a proxy request.") from None
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    # The host that was allowed, and not another one that the same server answers for.
    host_header = add_brackets(host) if port == HTTP else write_address(host, port)
    first = f"{method} {path} {version}\r\nHost: {host_header}".encode("latin-1")
    remaining = [field for field in fields if not _NOT_SENT.match(field)]
    return Request(host, port, b"\r\n".join([first, *remaining, b"Connection: close", b"", b""]), body)


def add_brackets(host: str) -> str:
    """Return a host as it is written in an address."""
    return f"[{host}]" if ":" in host else host


def write_address(host: str, port: int) -> str:
    """Return `www.example.com:8080`."""
    return f"{add_brackets(host)}:{port}"


def _find_body(fields: list[bytes], version: str) -> RequestBody:
    """Return the body that the fields of a head announce. Raises ValueError where servers could differ."""
    lengths = []
    for field in fields:
        if field.startswith((b" ", b"\t")):
            continue
        match = _FIELD.fullmatch(field)
        if not match:
            raise ValueError
        name = match[1].lower()
        if name in (b"content-length", b"transfer-encoding"):
            lengths.append((name, match[2].lower()))
    if not lengths:
        return RequestBody()
    [(name, value)] = lengths
    if name == b"content-length" and re.fullmatch(rb"\d{1,18}", value):
        return RequestBody(int(value))
    if (value, version) == (b"chunked", "HTTP/1.1"):
        return RequestBody(chunked=True)
    raise ValueError
