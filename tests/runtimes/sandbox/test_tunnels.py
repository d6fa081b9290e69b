"""What is said inside of a tunnel must be for the host that was allowed: one server answers for many."""

import contextlib
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from oi_tui.runtimes import Computer
from oi_tui.runtimes.sandbox import client_hello, proxy, sandbox
from oi_tui.runtimes.sandbox.client_hello import HandshakeReader, NotTlsError
from oi_tui.runtimes.sandbox.confinement import SandboxRules
from oi_tui.runtimes.sandbox.proxy import HostProxy
from tests.runtimes.playing import play

pytestmark = pytest.mark.needs("openssl")
walls = pytest.mark.skipif((why := sandbox.explain_unavailable()) is not None, reason=str(why))

GOOD, EVIL = "good.example.com", "evil.example.org"
Serve = Callable[[socket.socket], None]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificate")
    subject = f"-subj /CN={GOOD} -addext subjectAltName=DNS:{GOOD},DNS:{EVIL}"
    files = f"-keyout {folder}/key.pem -out {folder}/certificate.pem"
    command = (
        f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 {subject} {files}"
    )
    subprocess.run(command.split(), check=True, capture_output=True)
    return folder


class Network:
    """A server on this machine behind every name and port, and a proxy in front of it."""

    def __init__(self, folder: Path, certificate: Path) -> None:
        self._folder = folder
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate / "certificate.pem", certificate / "key.pem")
        self.client = ssl.create_default_context(cafile=str(certificate / "certificate.pem"))
        #: The names that TLS servers were asked for, and what any server received.
        self.names: list[str | None] = []
        self.received: list[bytes] = []
        self.ended: list[str] = []
        self.context.sni_callback = lambda _, name, __: self.names.append(name)  # type: ignore[assignment]
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._opened = contextlib.ExitStack()
        self._tunnels = 0
        self._serve: Serve = self.answer_tls
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Stop the server and the proxies."""
        self._opened.close()
        self._listener.close()

    def tunnel(
        self,
        *hosts: str,
        to: str = f"{GOOD}:443",
        serve: Serve | None = None,
    ) -> socket.socket:
        """Return a socket that leads through a proxy for these hosts to the server."""
        self._serve = serve or self.answer_tls
        path = self._folder / f"gateway{self._tunnels}"
        self._tunnels += 1
        gateway = HostProxy(
            path,
            [*hosts, "127.0.0.1", "127.0.0.1:5432", "127.0.0.1:8443"],
            lambda _: None,
            lambda _, __: ["127.0.0.1"],
            ended=self.ended.append,
        )
        self._opened.callback(gateway.close)
        client = self._opened.enter_context(socket.socket(socket.AF_UNIX))
        client.settimeout(20)
        client.connect(str(path))
        client.sendall(f"CONNECT {to} HTTP/1.1\r\n\r\n".encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += client.recv(1)
        assert b" 200 " in head
        return client

    def answer_tls(self, connection: socket.socket) -> None:
        """Finish a handshake, and send back what comes."""
        with self.context.wrap_socket(connection, server_side=True) as secured:
            self.received.append(secured.recv(100))
            secured.sendall(b"answer")

    def answer_plainly(self, connection: socket.socket) -> None:
        """Answer one request."""
        if request := connection.recv(65536):
            self.received.append(request)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    @property
    def port(self) -> int:
        """The port at which the server really listens."""
        return int(self._listener.getsockname()[1])

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with contextlib.suppress(OSError), connection:
                connection.settimeout(20)
                self._serve(connection)


@pytest.fixture
def network(tmp_path: Path, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Network]:
    made = Network(tmp_path, certificate)
    connect = socket.create_connection
    monkeypatch.setattr(
        proxy.socket, "create_connection", lambda _, __: connect(("127.0.0.1", made.port), 20)
    )
    yield made
    made.close()


def handshake(network: Network, client: socket.socket, name: str | None) -> bytes:
    """Begin TLS and name a host; the answer of the server."""
    network.client.check_hostname = name is not None
    with network.client.wrap_socket(client, server_hostname=name) as secured:
        secured.sendall(b"request")
        return secured.recv(100)


def until(condition: Callable[[], object]) -> None:
    """Wait for a condition, with a bound."""
    assert any(condition() or threading.Event().wait(0.01) for _ in range(2_000))


def hello(name: str | None, context: ssl.SSLContext | None = None) -> bytes:
    """The ClientHello of OpenSSL, as bytes of one record."""
    context = context or ssl.create_default_context()
    context.check_hostname = False
    out = ssl.MemoryBIO()
    beginning = context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name)
    with contextlib.suppress(ssl.SSLWantReadError):
        beginning.do_handshake()
    return out.read()


def in_records(record: bytes, size: int) -> bytes:
    """The same message, spread over records of so many bytes."""
    message = record[5:]
    pieces = [message[at : at + size] for at in range(0, len(message), size)]
    return b"".join(record[:3] + len(piece).to_bytes(2, "big") + piece for piece in pieces)


@pytest.mark.parametrize(("hosts", "to"), [((GOOD,), f"{GOOD}:443"), (("*.example.com",), f"{GOOD}:443"),
                                           ((f"{GOOD}:8443",), f"{GOOD}:8443")])  # fmt: skip
def test_tls_with_the_host_that_is_allowed_is_let_through(
    network: Network, hosts: tuple[str, ...], to: str
) -> None:
    assert handshake(network, network.tunnel(*hosts, to=to), GOOD) == b"answer"
    assert network.names == [GOOD]
    assert network.ended == []


@pytest.mark.parametrize(("host", "to", "allow"), [(GOOD, f"{GOOD}:443", EVIL), (GOOD, f"{GOOD}:80", EVIL),
                                                   (f"{GOOD}:8443", f"{GOOD}:8443", f"{EVIL}:8443"),
                                                   ("127.0.0.1", "127.0.0.1:443", EVIL)])  # fmt: skip
def test_tls_that_names_another_host_ends_before_the_server_hears_of_it(
    network: Network, host: str, to: str, allow: str
) -> None:
    client = network.tunnel(host, to=to)
    with pytest.raises(ssl.SSLError, match=r"(?i)unrecognized.name"):
        handshake(network, client, EVIL)
    assert network.names == []
    [ended] = network.ended
    assert ended == (
        f"the sandbox closed a connection to {to.partition(':')[0]}: its TLS handshake names another host, "
        f"{EVIL}; to allow it, type %sandbox allow {allow}"
    )


def test_tls_may_name_another_host_that_is_allowed_too(network: Network) -> None:
    assert handshake(network, network.tunnel(GOOD, "*.example.org"), EVIL) == b"answer"
    assert network.names == [EVIL]


def test_tls_that_names_no_host_is_for_addresses_and_ports_that_are_allowed_by_number(
    network: Network,
) -> None:
    network.client.check_hostname = False
    network.client.verify_mode = ssl.CERT_NONE
    with pytest.raises(ssl.SSLError, match=r"(?i)unrecognized.name"):
        handshake(network, network.tunnel(GOOD), None)
    assert "names no host; to allow it, type %sandbox allow good.example.com:443" in network.ended[0]
    assert handshake(network, network.tunnel(f"{GOOD}:443"), None) == b"answer"
    assert handshake(network, network.tunnel(to="127.0.0.1:443"), None) == b"answer"


@pytest.mark.parametrize("size", [1, 7, 200])
def test_a_handshake_in_many_records_and_packets_is_read_whole(network: Network, size: int) -> None:
    for name in (GOOD, EVIL):
        sent = in_records(hello(name), size)
        client = network.tunnel(GOOD)
        for piece in (sent[:3], sent[3:6], sent[6:]):
            client.sendall(piece)
        answer = client.recv(7)
        if name == EVIL:
            assert answer == client_hello.ALERT
            assert EVIL in network.ended[0]
        else:
            assert answer[0] == 22
            assert network.names == [GOOD]
        client.close()


def test_a_second_hello_that_the_server_asks_for_may_not_name_another_host(network: Network) -> None:
    # The server knows one group only, for which clients send no key at first.
    network.context.set_ecdh_curve("secp521r1")
    assert handshake(network, network.tunnel(GOOD), GOOD) == b"answer"
    assert network.names.count(GOOD) == 2, "the server did ask again"
    network.names.clear()

    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with network.tunnel(GOOD) as client:
        machine = network.client.wrap_bio(incoming, outgoing, server_hostname=GOOD)
        for replaced in (GOOD, EVIL[: len(GOOD)]):
            with contextlib.suppress(ssl.SSLWantReadError):
                machine.do_handshake()
            client.sendall(outgoing.read().replace(GOOD.encode(), replaced.encode()))
            answer = client.recv(65536)
            incoming.write(answer)
    assert answer.endswith(client_hello.ALERT)
    assert network.names == [GOOD]
    assert "names another host" in network.ended[0]


def test_port_443_is_for_tls_unless_it_is_allowed_by_its_number(network: Network) -> None:
    with network.tunnel(GOOD, serve=network.answer_plainly) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: evil.example.org\r\n\r\n")
        assert b"403" in client.recv(65536)
    assert network.received == []
    [ended] = network.ended
    assert ended == (
        "the sandbox closed a connection to good.example.com: it did not begin with a TLS handshake; to "
        "allow any protocol there, type %sandbox allow good.example.com:443"
    )
    with network.tunnel(f"{GOOD}:443", serve=network.answer_plainly) as client:
        client.sendall(b"SSH-2.0-client\r\n")
        assert client.recv(65536).endswith(b"ok")
    assert network.received == [b"SSH-2.0-client\r\n"]


def test_a_server_that_speaks_first_is_heard_where_its_port_is_allowed(network: Network) -> None:
    def greet(connection: socket.socket) -> None:
        connection.sendall(b"220 hello\r\n")
        network.received.append(connection.recv(100))

    with network.tunnel(to="127.0.0.1:5432", serve=greet) as client:
        assert client.recv(100) == b"220 hello\r\n"
        client.sendall(b"EHLO me\r\n")
        until(lambda: network.received == [b"EHLO me\r\n"])
    assert network.ended == []


def test_a_client_that_ends_its_side_gets_the_whole_answer(network: Network) -> None:
    def answer_at_the_end(connection: socket.socket) -> None:
        network.received.append(b"".join(iter(lambda: connection.recv(100), b"")))
        for number in range(100):
            connection.sendall(b"%d\n" % number)

    with network.tunnel(to="127.0.0.1:5432", serve=answer_at_the_end) as client:
        client.sendall(b"one")
        client.sendall(b"two")
        client.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: client.recv(100), b""))
    assert network.received == [b"onetwo"]
    assert answer.split() == [b"%d" % number for number in range(100)]


def test_http_in_a_tunnel_asks_for_the_host_that_is_allowed(network: Network) -> None:
    with network.tunnel(GOOD, to=f"{GOOD}:80", serve=network.answer_plainly) as client:
        client.sendall(b"GET /x HTTP/1.1\r\nHost: evil.example.org\r\n\r\n")
        assert client.recv(65536).endswith(b"ok")
    assert network.received == [b"GET /x HTTP/1.1\r\nHost: good.example.com\r\nConnection: close\r\n\r\n"]
    for request in (
        b"GET http://evil.example.org/ HTTP/1.1\r\n\r\n",
        b"GET @evil.example.org/ HTTP/1.1\r\n\r\n",
        b"GET .evil.example.org/ HTTP/1.1\r\n\r\n",
        b"CONNECT /x HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: evil.example.org\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\n",
        b"\0\1\r\n\r\n",
    ):
        with network.tunnel(GOOD, to=f"{GOOD}:80", serve=network.answer_plainly) as client:
            client.sendall(request)
            assert client.recv(65536).startswith(b"HTTP/1.1 403")
    assert len(network.received) == 1
    assert all("it did not begin with an HTTP request" in item for item in network.ended)


def test_a_handshake_that_does_not_go_on_ends_in_time(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy, "_TIMEOUT", 0.2)
    for begun in (hello(GOOD)[:60], b"\x16"):
        with network.tunnel(GOOD) as client:
            client.sendall(begun)
            assert b"403" in client.recv(100)
    assert len(network.ended) == 2
    assert network.received == []


def test_a_handshake_of_which_there_is_always_more_ends_in_time() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(hello(GOOD))
        with pytest.raises(TimeoutError):
            HandshakeReader(ours, b"", 0).fill(5)


def read(data: bytes, *, others: bool = False) -> str | None:
    """Read a ClientHello as the proxy does."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.shutdown(socket.SHUT_WR)
        return client_hello.read_host(HandshakeReader(ours, data, 5), others=others)


def lengthened(record: bytes, extension: bytes) -> bytes:
    """The ClientHello with another extension at its end."""
    body = bytearray(record[9:])
    at = 2 + 32
    at += 1 + body[at]
    at += 2 + int.from_bytes(body[at : at + 2], "big")
    at += 1 + body[at]
    body[at : at + 2] = (int.from_bytes(body[at : at + 2], "big") + len(extension)).to_bytes(2, "big")
    body += extension
    message = b"\x01" + len(body).to_bytes(3, "big") + bytes(body)
    return record[:3] + len(message).to_bytes(2, "big") + message


def names(*given: tuple[int, bytes]) -> bytes:
    """The extension that names hosts."""
    listed = b"".join(bytes([kind]) + len(name).to_bytes(2, "big") + name for kind, name in given)
    body = len(listed).to_bytes(2, "big") + listed
    return b"\0\0" + len(body).to_bytes(2, "big") + body


def test_another_record_comes_only_before_a_second_hello_and_never_within_one() -> None:
    another = b"\x14\x03\x03\0\1\1"
    whole = hello(GOOD)
    assert read(another + whole, others=True) == GOOD
    with pytest.raises(NotTlsError):
        read(another + whole)
    first, second = records(whole, len(whole) // 2)
    assert read(first + second) == read(first + second, others=True) == GOOD
    for others in (False, True):
        with pytest.raises(NotTlsError):
            read(first + another + second, others=others)


def records(record: bytes, at: int) -> list[bytes]:
    """One record as two."""
    parts = record[5:][:at], record[5:][at:]
    return [record[:3] + len(part).to_bytes(2, "big") + part for part in parts]


def test_names_are_compared_as_servers_take_them() -> None:
    plain = hello(None)
    assert read(plain) is None
    assert read(hello("Good.Example.COM")) == GOOD
    assert read(lengthened(plain, names((0, b"GOOD.example.com.")))) == GOOD


@pytest.mark.parametrize(
    "extension",
    [
        names((0, GOOD.encode()), (0, EVIL.encode())),
        names((1, GOOD.encode())),
        names((0, GOOD.encode())) + names((0, EVIL.encode())),
        names(),
        names((0, GOOD.encode()))[:-1] + b"",
        names((0, b"\xff.example.com")),
        b"\0\0\0\0",
        b"\0",
    ],
)
def test_a_hello_that_names_hosts_in_an_odd_way_is_no_hello(extension: bytes) -> None:
    with pytest.raises((NotTlsError, EOFError)):
        read(lengthened(hello(None), extension))


def test_a_hello_with_any_byte_changed_or_missing_names_a_host_or_is_refused() -> None:
    record = hello(GOOD)
    for at in range(len(record)):
        for changed in (record[:at], record[:at] + bytes([record[at] ^ 0xFF]) + record[at + 1 :]):
            with contextlib.suppress(NotTlsError, EOFError):
                read(changed)


@pytest.mark.parametrize(
    "data", [b"\x16\x03\x01\xff\xff", b"\x16\x03\x01\0\0", b"\x16\x03\x01\0\x04\1\xff\xff\xff"]
)
def test_what_is_read_is_bounded(data: bytes) -> None:
    with pytest.raises(NotTlsError):
        read(data + bytes(100_000))


@walls
def test_the_person_is_told_of_a_closed_connection(make: Callable[..., Computer], tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        walled = make(cwd=project, sandbox=True, sandbox_rules=SandboxRules(hosts=(f"127.0.0.1:{port}",)))
        code = (
            "import socket, ssl\n"
            "client = socket.create_connection(('127.0.0.1', 3128), 20)\n"
            f"client.sendall(b'CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n')\n"
            "print(client.recv(100))\n"
            "try: ssl.create_default_context().wrap_socket(client, server_hostname='evil.example.org')\n"
            "except OSError as error: print(error)\n"
        )
        text = play(walled, "python", code).text
    assert f"type %sandbox allow {EVIL}:{port}" in text.replace("\r\n", "")
