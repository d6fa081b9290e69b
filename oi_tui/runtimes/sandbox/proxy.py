"""The network proxy of the sandbox: connects only to hosts that the person allowed.

A program inside has a network of its own, with nobody else in it. What it asks of the proxy there comes here
over a socket in the file system. The list of hosts may grow while programs run. Names are resolved here, so
that no name can lead to an address that is private: this machine, the local network, or the service of a
cloud that gives out its keys.
"""

import contextlib
import ipaddress
import re
import socket
import threading
import time
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

#: A head of a request that is longer is no request.
_LONGEST_HEAD = 65_536
_PIECE = 65_536
#: In seconds, to connect, and for the head of a request.
_PATIENCE = 20.0
_USUAL_PORTS = (80, 443)
#: So many requests are served at once: each takes a thread and two descriptors of the application.
_MOST_AT_ONCE = 64
_METHOD = re.compile(r"[A-Za-z]{1,20}")
#: Networks whose addresses hold one of version 4, and how far from the end it stands, in bits.
_EMBEDDING = (
    ("::ffff:0:0/96", 0),
    ("64:ff9b::/96", 0),
    ("64:ff9b:1::/48", 0),
    ("::/96", 0),
    ("2002::/16", 80),
)
Resolve = typing.Callable[[str, int], typing.List[str]]  # noqa: UP006 -- evaluated by Python 3.8


class _RefusedError(Exception):
    """The request cannot be carried out; the message says why."""


@dataclass(frozen=True, slots=True)
class _Request:
    host: str
    port: int
    #: What is sent on before the rest; nothing for a tunnel.
    first: bytes


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host. Raises OSError."""
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(item[4][0]) for item in addresses))


class HostProxy:
    """Listens on a socket in the file system until it is closed.

    `hosts` is read for each request. `refused` is called with what a person would have to allow for a
    request that was refused.
    """

    def __init__(
        self,
        path: Path,
        hosts: Sequence[str],
        refused: Callable[[str], object],
        resolve: Resolve = resolve,
    ) -> None:
        self._hosts = hosts
        self._refused = refused
        self._resolve = resolve
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._server.bind(str(path))
        path.chmod(0o600)
        self._server.listen(64)
        self._open: set[socket.socket] = set()
        self._free = threading.Semaphore(_MOST_AT_ONCE)
        self._closed = threading.Event()
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, name="sandbox gateway", daemon=True).start()

    def close(self) -> None:
        """End all connections."""
        self._closed.set()
        with self._lock:
            ended = [self._server, *self._open]
            self._open.clear()
        for item in ended:
            with contextlib.suppress(OSError):
                item.shutdown(socket.SHUT_RDWR)
            item.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                # Without descriptors for the moment, later requests are served all the same.
                if self._closed.wait(0.1):
                    return
                continue
            if not self._free.acquire(blocking=False):
                _answer(client, 503, f"More than {_MOST_AT_ONCE} requests at once. Try again.")
                client.close()
                continue
            threading.Thread(target=self._serve, args=(client,), name="sandbox request", daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with self._lock:
            self._open.add(client)
        try:
            client.settimeout(_PATIENCE)
            head, rest = _read_head(client)
            request = _parse(head)
            with self._connect(request) as server:
                with self._lock:
                    self._open.add(server)
                if request.first:
                    server.sendall(request.first + rest)
                else:
                    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                    server.sendall(rest)
                _relay(client, server)
                with self._lock:
                    self._open.discard(server)
        except _RefusedError as error:
            _answer(client, 403, str(error))
        except OSError as error:
            _answer(client, 502, f"The host cannot be reached: {error.strerror or error}.")
        finally:
            with self._lock:
                self._open.discard(client)
            client.close()
            self._free.release()

    def _connect(self, request: _Request) -> socket.socket:
        if not self._is_named(request.host, request.port):
            self._refused(_format(request))
            raise _RefusedError(
                f"The sandbox blocks access to {_format(request)}. "
                f"The user can allow it: %sandbox allow {_format(request)}"
            )
        addresses = self._resolve(request.host, request.port)
        for address in addresses:
            if not _is_public(address) and not self._is_named(address, request.port):
                private = _format(_Request(address, request.port, b""))
                self._refused(private)
                raise _RefusedError(
                    f"{request.host} resolves to the private address {address}, which the sandbox blocks. "
                    f"The user can allow it too: %sandbox allow {private}"
                )
        return _first_that_answers(addresses, request.port)

    def _is_named(self, host: str, port: int) -> bool:
        return any(_fits(pattern.lower(), host, port) for pattern in tuple(self._hosts))


def _first_that_answers(addresses: Sequence[str], port: int) -> socket.socket:
    failure: OSError = OSError("no address found")
    for address in addresses:
        try:
            return socket.create_connection((address, port), _PATIENCE)
        except OSError as error:
            failure = error
    raise failure


def _fits(pattern: str, host: str, port: int) -> bool:
    name, colon, number = pattern.rpartition(":")
    if not colon or not number.isdigit() or (":" in name and not name.endswith("]")):
        name, number = pattern, ""
    if port not in ((int(number),) if number else _USUAL_PORTS):
        return False
    name = name.strip("[]")
    return host.endswith(name[1:]) if name.startswith("*.") else host == name


def _is_public(address: str) -> bool:
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if not ip.is_global or ip.is_multicast:
        return False
    if ip.version == 4:
        return True
    embedded = [shift for network, shift in _EMBEDDING if ip in ipaddress.ip_network(network)]
    return all(ipaddress.ip_address((int(ip) >> shift) & 0xFFFFFFFF).is_global for shift in embedded)


def _format(request: _Request) -> str:
    host = f"[{request.host}]" if ":" in request.host else request.host
    return host if request.port in _USUAL_PORTS else f"{host}:{request.port}"


def _read_head(client: socket.socket) -> tuple[bytes, bytes]:
    data = bytearray()
    until = time.monotonic() + _PATIENCE
    while data.find(b"\r\n\r\n", max(0, len(data) - _PIECE - 3)) < 0:
        piece = client.recv(_PIECE)
        if not piece or len(data) > _LONGEST_HEAD or time.monotonic() > until:
            raise _RefusedError("This is not a proxy request.")
        data += piece
    head, _, rest = bytes(data).partition(b"\r\n\r\n")
    return head, rest


def _parse(head: bytes) -> _Request:
    """Parse a request. Raises _RefusedError."""
    line, _, fields = head.partition(b"\r\n")
    words = line.decode("latin-1").split(" ")
    try:
        method, target, version = words
        parts = urlsplit(f"//{target}" if method == "CONNECT" else target)
        host, port = (parts.hostname or "").rstrip("."), parts.port or 80
        known = method == "CONNECT" or parts.scheme == "http"
        if not (host and known and version.startswith("HTTP/1") and _METHOD.fullmatch(method)):
            raise ValueError
        if re.search(rb"\n|[\0-\x08\x0b-\x1f]", head.replace(b"\r\n", b"")):
            raise ValueError
    except ValueError:
        raise _RefusedError("This is not a proxy request.") from None
    if method == "CONNECT":
        return _Request(host, port, b"")
    remaining = [part for part in fields.split(b"\r\n") if not _HOP.match(part)]
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    first = f"{method} {path} {version}".encode("latin-1")
    # The host that was allowed, and not another one that the same server answers for.
    named = f"[{host}]" if ":" in host else host
    host_field = f"Host: {named if port == 80 else f'{named}:{port}'}".encode("latin-1")
    return _Request(host, port, b"\r\n".join([first, host_field, *remaining, b"Connection: close", b"", b""]))


_HOP = re.compile(rb"(?i)(proxy-[a-z-]+|connection|keep-alive|host)\s*:|[ \t]|$")


def _relay(one: socket.socket, other: socket.socket) -> None:
    """Carry what comes from each side to the other until both have ended."""
    for item in (one, other):
        item.settimeout(None)
    back = threading.Thread(target=_carry, args=(other, one), daemon=True)
    back.start()
    _carry(one, other)
    back.join()


def _carry(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(_PIECE):
            target.sendall(piece)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _answer(client: socket.socket, status: int, words: str) -> None:
    body = f"oi-tui: {words}\n".encode()
    reason = "Forbidden by the sandbox" if status == 403 else "Bad Gateway"
    head = (
        f"HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    with contextlib.suppress(OSError):
        client.sendall(head.encode() + body)
