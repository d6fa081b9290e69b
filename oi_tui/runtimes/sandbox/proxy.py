"""The network proxy of the sandbox: connects only to hosts that the person allowed.

A program inside has a network of its own, with nobody else in it. What it asks of the proxy there comes here
over a socket in the file system. The list of hosts may grow while programs run. Names are resolved here, so
that no name can lead to an address that is private: this machine, the local network, or the service of a
cloud that gives out its keys.

One server often answers for many hosts, and which one is meant is said inside of the tunnel. So the
beginning of a tunnel is read as well: the host that TLS names must be allowed, and where no port was allowed
by its number, only TLS (port 443) and HTTP (port 80) are spoken. What is encrypted cannot be read here.
"""

import contextlib
import ipaddress
import re
import selectors
import socket
import threading
import time
import typing
from collections.abc import Callable, Sequence
from pathlib import Path

from oi_tui.runtimes.sandbox import client_hello
from oi_tui.runtimes.sandbox.client_hello import HandshakeReader, NotTlsError
from oi_tui.runtimes.sandbox.proxy_request import (
    HTTP,
    BodyError,
    RefusedError,
    Request,
    RequestBody,
    add_brackets,
    parse,
    read_head,
    write_address,
)

_PIECE = 65_536
#: In seconds, to connect, and for the head of a request.
_TIMEOUT = 20.0
_TLS = 443
#: The first byte of TLS: a record of the handshake.
_TLS_BEGINS = b"\x16"
_USUAL_PORTS = (HTTP, _TLS)
#: How many requests are served at once: each takes a thread and two descriptors of the application.
_MOST_AT_ONCE = 64
#: Seconds that a client which is refused has to send the rest of its request.
_LEAVING = 2.0
#: Seconds of silence after which a connection ends of which one side has ended.
_SILENCE = 60.0
_REASONS = {403: "Forbidden by the sandbox", 502: "Bad Gateway", 503: "Service Unavailable"}
_HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")
#: Networks whose addresses hold one of version 4, and how far from the end it stands, in bits.
_EMBEDDING = (
    ("::ffff:0:0/96", 0),
    ("64:ff9b::/96", 0),
    ("::/96", 0),
    ("2002::/16", 80),
)
#: Private addresses that do not look it: those of a site, those that a local network translates to version 4
#: in a way of its own, and the service of Azure that gives out keys.
_PRIVATE = ("fec0::/10", "64:ff9b:1::/48", "168.63.129.16/32")
Resolve = typing.Callable[[str, int], typing.List[str]]  # noqa: UP006 -- evaluated by Python 3.8


class _EndedError(Exception):
    """A tunnel was used for something that is not allowed; the message says for what.

    `answer` is what the client is sent before the end.
    """

    def __init__(self, message: str, answer: bytes = b"") -> None:
        super().__init__(message)
        self.answer = answer


def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a host. Raises OSError."""
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(item[4][0]) for item in addresses))


class HostProxy:
    """Listens on a socket in the file system until it is closed.

    `hosts` is read for each request. `refused` is called with what a person would have to allow for a
    request that was refused, and `ended` with a sentence for a tunnel that was closed.
    """

    def __init__(
        self,
        path: Path,
        hosts: Sequence[str],
        refused: Callable[[str], object],
        resolve: Resolve = resolve,
        *,
        ended: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._hosts = hosts
        self._refused = refused
        self._ended = ended
        self._resolve = resolve
        self._open: set[socket.socket] = set()
        self._free = threading.Semaphore(_MOST_AT_ONCE)
        self._free_to_refuse = threading.Semaphore(_MOST_AT_ONCE)
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._server.bind(str(path))
            path.chmod(0o600)
            self._server.listen(64)
            threading.Thread(target=self._accept, name="sandbox gateway", daemon=True).start()
        except BaseException:
            self._server.close()
            raise

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
            if self._free.acquire(blocking=False):
                work: Callable[[socket.socket], object] = self._serve
            elif self._free_to_refuse.acquire(blocking=False):
                work = self._turn_away
            else:
                client.close()
                continue
            self._start(work, client)

    def _start(self, work: Callable[[socket.socket], object], client: socket.socket) -> None:
        try:
            threading.Thread(target=work, args=(client,), name="sandbox request", daemon=True).start()
        except RuntimeError:
            # The system allows no more threads for the moment; later requests are served all the same.
            client.close()
            (self._free if work == self._serve else self._free_to_refuse).release()

    def _turn_away(self, client: socket.socket) -> None:
        with client:
            _answer(client, 503, f"More than {_MOST_AT_ONCE} requests at once. Try again.")
        self._free_to_refuse.release()

    def _serve(self, client: socket.socket) -> None:
        with self._lock:
            self._open.add(client)
        try:
            head, rest = read_head(client, b"", _TIMEOUT)
            request = parse(head)
            with self._connect(request) as server:
                with self._lock:
                    self._open.add(server)
                try:
                    body = request.body
                    if body:
                        server.sendall(request.head + body.take(rest))
                    else:
                        client.settimeout(_TIMEOUT)
                        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                        body = self._begin_tunnel(request, client, rest, server)
                    _Relay(client, server, body).run()
                finally:
                    with self._lock:
                        self._open.discard(server)
        except RefusedError as error:
            _answer(client, 403, str(error))
        except _EndedError as error:
            self._ended(str(error))
            with contextlib.suppress(OSError):
                client.sendall(error.answer)
        except BodyError:
            _answer(client, 403, "The body of this request does not match its header.")
        except OSError as error:
            _answer(client, 502, f"The host cannot be reached: {error.strerror or error}.")
        except RuntimeError as error:
            _answer(client, 503, f"The system refused another thread ({error}). Try again.")
        finally:
            with self._lock:
                self._open.discard(client)
            client.close()
            self._free.release()

    def _connect(self, request: Request) -> socket.socket:
        if not self._is_named(request.host, request.port):
            self._refused(_format(request))
            raise RefusedError(
                f"The sandbox blocks access to {_format(request)}. "
                f"The user can allow it: {_allow(_format(request))}"
            )
        try:
            addresses = self._resolve(request.host, request.port)
        except UnicodeError:
            raise OSError("its name is not valid") from None
        for address in addresses:
            if not _is_public(address) and not self._is_named(address, request.port):
                private = _format(Request(address, request.port))
                self._refused(private)
                raise RefusedError(
                    f"{request.host} resolves to the private address {address}, which the sandbox blocks. "
                    f"The user can allow it too: {_allow(private)}"
                )
        return _connect_first(addresses, request.port)

    def _begin_tunnel(
        self, request: Request, client: socket.socket, rest: bytes, server: socket.socket
    ) -> RequestBody | None:
        """Send the server what the client says first, if that is allowed. Raises _EndedError and OSError.

        Returns the body of the HTTP request that came, of which the rest has to be sent.
        """
        any_protocol = self._is_named(request.host, request.port, usual=False)
        if any_protocol and not rest and _wait_for_server(client, server):
            return None
        protocol = "an HTTP request" if request.port == HTTP and not any_protocol else "a TLS handshake"
        try:
            first = HandshakeReader(client, rest, _TIMEOUT).fill(1)
            if first[:1] == _TLS_BEGINS:
                protocol = "a TLS handshake"
                client_begins = HandshakeReader(client, first, _TIMEOUT)
                self._check_name(client_hello.read_host(client_begins), request, any_protocol)
            elif any_protocol or not first:
                server.sendall(first)
                return None
            elif request.port == HTTP:
                head, rest = read_head(client, first, _TIMEOUT)
                inner = parse(head, within=request)
                server.sendall(inner.head + (inner.body.take(rest) if inner.body else b""))
                return inner.body
            else:
                raise NotTlsError
        except (NotTlsError, EOFError, TimeoutError, RefusedError, BodyError):
            fix = "" if any_protocol else f"; to allow any protocol there, type {_allow(_add_port(request))}"
            raise _EndedError(
                f"the sandbox closed a connection to {request.host}: it did not begin with {protocol}{fix}",
                _write_response(403, f"This connection did not begin with {protocol}."),
            ) from None
        self._begin_tls(request, client, client_begins.read_all(), server, any_protocol)
        return None

    def _begin_tls(
        self,
        request: Request,
        client: socket.socket,
        hello: bytes,
        server: socket.socket,
        any_protocol: bool,
    ) -> None:
        """Send the server a ClientHello, and the second one that it may ask for. Raises as above."""
        try:
            server.sendall(hello)
            answer = HandshakeReader(server, b"", _TIMEOUT)
            asks_again = client_hello.wants_another(answer)
            client.sendall(answer.read_all())
            if asks_again:
                second = HandshakeReader(client, b"", _TIMEOUT)
                name = client_hello.read_host(second, others=True)
                self._check_name(name, request, any_protocol)
                server.sendall(second.read_all())
        except (NotTlsError, EOFError, TimeoutError):
            raise _EndedError(
                f"the sandbox closed a connection to {request.host}: its TLS handshake was not completed"
            ) from None

    def _check_name(self, name: str | None, request: Request, any_protocol: bool) -> None:
        """Check the host that TLS names. Raises _EndedError."""
        if name is None:
            if any_protocol or _is_address(request.host):
                return
            problem, fix = "names no host", f"allow it, type {_allow(_add_port(request))}"
        elif name == request.host or self._is_named(name, request.port):
            return
        elif _HOST.fullmatch(name):
            other = _format(Request(name, request.port))
            problem, fix = f"names another host, {name}", f"allow it, type {_allow(other)}"
        else:
            problem, fix = "names no valid host", f"connect, name {request.host}"
        raise _EndedError(
            f"the sandbox closed a connection to {request.host}: its TLS handshake {problem}; to {fix}",
            client_hello.ALERT,
        )

    def _is_named(self, host: str, port: int, *, usual: bool = True) -> bool:
        """Return whether a host is allowed; without `usual`, with this port by its number."""
        return any(_matches_pattern(pattern.lower(), host, port, usual) for pattern in tuple(self._hosts))


def _connect_first(addresses: Sequence[str], port: int) -> socket.socket:
    failure: OSError = OSError("no address found")
    for address in addresses:
        try:
            server = socket.create_connection((address, port), _TIMEOUT)
        except OSError as error:
            failure = error
        else:
            # Programs send small pieces, too; each would wait for the answer to the one before.
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return server
    raise failure


def _matches_pattern(pattern: str, host: str, port: int, usual: bool) -> bool:
    name, colon, number = pattern.rpartition(":")
    if not colon or not number.isdigit() or (":" in name and not name.endswith("]")):
        name, number = pattern, ""
    if port not in ((int(number),) if number else _USUAL_PORTS if usual else ()):
        return False
    name = name.strip("[]")
    return host.endswith(name[1:]) if name.startswith("*.") else host == name


def _is_public(address: str) -> bool:
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if not ip.is_global or ip.is_multicast or any(ip in ipaddress.ip_network(item) for item in _PRIVATE):
        return False
    if ip.version == 4:
        return True
    embedded = [shift for network, shift in _EMBEDDING if ip in ipaddress.ip_network(network)]
    return all(_is_public(str(ipaddress.ip_address((int(ip) >> shift) & 0xFFFFFFFF))) for shift in embedded)


def _wait_for_server(client: socket.socket, server: socket.socket) -> bool:
    """Wait until one of them speaks. In TLS it is the client."""
    with selectors.DefaultSelector() as waiting:
        for item in (client, server):
            if item.fileno() < 0:
                raise ConnectionError("the proxy was closed")
            waiting.register(item, selectors.EVENT_READ)
        return server in [key.fileobj for key, _ in waiting.select()]


def _allow(host: str) -> str:
    return f"%sandbox allow {host}"


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def _format(request: Request) -> str:
    return add_brackets(request.host) if request.port in _USUAL_PORTS else _add_port(request)


def _add_port(request: Request) -> str:
    return write_address(request.host, request.port)


class _Relay:
    """Carries what each side sends to the other one.

    It ends when both sides have ended, or when one has and the other one is silent: it may be a server that
    nobody waits for any more, or a client that keeps its connection for later. After `body`, nothing more of
    the client is sent on.
    """

    def __init__(self, client: socket.socket, server: socket.socket, body: RequestBody | None) -> None:
        self._sides = client, server
        self._body = body
        self._pieces = 0
        self._lock = threading.Lock()
        self._is_one_ended = False
        self._are_both_ended = threading.Event()

    def run(self) -> None:
        """Carry until the end."""
        client, server = self._sides
        for item in self._sides:
            item.settimeout(None)
        back = threading.Thread(target=self._carry, args=(server, client, None), daemon=True)
        back.start()
        self._carry(client, server, self._body)
        back.join()

    def _carry(self, source: socket.socket, target: socket.socket, body: RequestBody | None) -> None:
        try:
            while piece := source.recv(_PIECE):
                self._pieces += 1
                target.sendall(body.take(piece) if body else piece)
        except BodyError:
            self._end()
        except OSError:
            pass
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)
        with self._lock:
            is_second, self._is_one_ended = self._is_one_ended, True
        if is_second:
            self._are_both_ended.set()
        else:
            self._wait_for_other()

    def _wait_for_other(self) -> None:
        seen = -1
        while seen != self._pieces:
            seen = self._pieces
            if self._are_both_ended.wait(_SILENCE):
                return
        self._end()

    def _end(self) -> None:
        for item in self._sides:
            with contextlib.suppress(OSError):
                item.shutdown(socket.SHUT_RDWR)


def _answer(client: socket.socket, status: int, words: str) -> None:
    """Answer, and read what the client still sends: unread, it would reset the connection."""
    until = time.monotonic() + _LEAVING
    with contextlib.suppress(OSError):
        client.settimeout(_LEAVING)
        client.sendall(_write_response(status, words))
        client.shutdown(socket.SHUT_WR)
        while client.recv(_PIECE) and time.monotonic() < until:
            pass


def _write_response(status: int, words: str) -> bytes:
    body = f"oi-tui: {words}\n".encode()
    reason = _REASONS[status]
    head = (
        f"HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
