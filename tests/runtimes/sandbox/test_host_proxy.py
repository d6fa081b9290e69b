"""Programs in the sandbox reach the hosts that a person named, and no other."""

import contextlib
import socket
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from oi_tui.runtimes import Computer
from oi_tui.runtimes.drivers import forwarder
from oi_tui.runtimes.processes import process
from oi_tui.runtimes.sandbox import proxy, sandbox
from oi_tui.runtimes.sandbox.confinement import SandboxRules
from oi_tui.runtimes.sandbox.proxy import HostProxy
from tests.ports import choose_port
from tests.runtimes.playing import play, until

walls = pytest.mark.skipif((why := sandbox.explain_unavailable()) is not None, reason=str(why))
Ask = Callable[..., bytes]


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = f"page {self.path} for {self.headers['Host']} {self.headers['Proxy-X']}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A web server on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


#: What names lead to, in place of the network's answer.
NAMES = {
    "files.example.com": ["127.0.0.1"],
    "metadata.example.com": ["169.254.169.254"],
    "sneaky.example.com": ["::ffff:10.0.0.1"],
    "localhost": ["127.0.0.1"],
}


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    """Sends a request through a gateway for certain hosts; the whole answer."""
    made: list[HostProxy] = []

    def asked(request: str, *hosts: str, refused: list[str] | None = None) -> bytes:
        path = tmp_path / f"gateway{len(made)}"
        reported = [] if refused is None else refused
        made.append(HostProxy(path, hosts, reported.append, lambda host, _: NAMES.get(host, [host])))
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(20)
            client.connect(str(path))
            client.sendall(request.encode())
            answer = b""
            while piece := client.recv(65536):
                answer += piece
            return answer

    yield asked
    for item in made:
        item.close()


def get(host: str, more: str = "") -> str:
    return f"GET http://{host}/x?y=1 HTTP/1.1\r\nHost: {host}\r\nProxy-X: secret\r\n{more}\r\n"


def test_only_the_owner_may_use_the_gateway(tmp_path: Path) -> None:
    gateway = HostProxy(tmp_path / "gateway", [], [].append, lambda host, _: [host])
    try:
        assert (tmp_path / "gateway").stat().st_mode & 0o777 == 0o600
    finally:
        gateway.close()


def test_a_host_that_is_named_is_reached(ask: Ask, port: int) -> None:
    host = f"127.0.0.1:{port}"
    assert ask(get(host), host).endswith(f"page /x?y=1 for {host} None".encode())


def test_a_tunnel_is_made(ask: Ask, port: int) -> None:
    host = f"127.0.0.1:{port}"
    tunnel = f"CONNECT {host} HTTP/1.1\r\n\r\nGET /in HTTP/1.0\r\nHost: z\r\n\r\n"
    answer = ask(tunnel, host)
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"page /in for z" in answer


def test_a_server_that_does_not_answer_is_reported_as_one_that_cannot_be_reached(ask: Ask) -> None:
    host = f"127.0.0.1:{choose_port()}"
    answer = ask(get(host), host)
    assert answer.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
    assert b"The host cannot be reached: Connection refused." in answer


def test_other_hosts_are_refused_and_named(ask: Ask) -> None:
    refused: list[str] = []
    answer = ask(get("evil.example.org"), "*.example.com", "packages.example.net", refused=refused)
    assert answer.startswith(b"HTTP/1.1 403")
    assert b"%sandbox allow evil.example.org" in answer
    assert refused == ["evil.example.org"]


@pytest.mark.parametrize(
    "host",
    [
        "example.com.evil.org",
        "evilexample.com",
        "example.com",
        "a.example.com:22",
        "packages.example.net:8080",
    ],
)
def test_a_name_that_only_looks_alike_is_refused(ask: Ask, host: str) -> None:
    assert ask(get(host), "*.example.com", "packages.example.net").startswith(b"HTTP/1.1 403")


@pytest.mark.parametrize("host", ["metadata.example.com", "sneaky.example.com", "files.example.com"])
def test_a_name_does_not_lead_to_a_private_address(ask: Ask, host: str) -> None:
    refused: list[str] = []
    answer = ask(get(host), "*.example.com", host, refused=refused)
    assert answer.startswith(b"HTTP/1.1 403")
    assert b"private address" in answer
    [address] = NAMES[host]
    shown = f"[{address}]" if ":" in address else address
    assert refused == [shown]
    assert f"%sandbox allow {shown}\n".encode() in answer


def test_the_server_is_asked_for_the_host_that_is_allowed_and_for_no_other(ask: Ask, port: int) -> None:
    request = (
        f"GET http://files.example.com:{port}/x HTTP/1.1\r\nHost: secret.example.org\r\n"
        " folded: x\r\nhost: again.example.org\r\n\r\n"
    )
    answer = ask(request, f"files.example.com:{port}", f"127.0.0.1:{port}")
    assert f"for files.example.com:{port} ".encode() in answer


def test_many_connections_take_a_bounded_part_of_the_application(tmp_path: Path, port: int) -> None:
    gateway = HostProxy(tmp_path / "gateway", [f"127.0.0.1:{port}"], lambda _: None)
    with contextlib.ExitStack() as clients:

        def connected() -> socket.socket:
            client = clients.enter_context(socket.socket(socket.AF_UNIX))
            client.settimeout(20)
            client.connect(str(tmp_path / "gateway"))
            return client

        waiting = [connected() for _ in range(proxy._MOST_AT_ONCE)]
        # Those that are served are taken one after the other, so that this one is the first too many.
        assert connected().recv(100).startswith(b"HTTP/1.1 503")
        for client in waiting:
            client.close()

        def answer() -> bytes:
            client = connected()
            # While there is no room, the connection may be closed before the request is read.
            with contextlib.suppress(ConnectionError):
                client.sendall(get(f"127.0.0.1:{port}").encode())
                return b"".join(iter(lambda: client.recv(65536), b""))
            return b""

        assert any(b"page /x" in answer() for _ in range(100))
    gateway.close()


@pytest.mark.parametrize("is_busy", [False, True])
def test_a_client_that_still_sends_its_request_gets_the_answer_that_it_is_refused(
    is_busy: bool, tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy, "_MOST_AT_ONCE", 1)
    host, body = f"127.0.0.1:{port}", b"x" * 1_000_000
    gateway = HostProxy(tmp_path / "gateway", [host], lambda _: None)
    with socket.socket(socket.AF_UNIX) as other, socket.socket(socket.AF_UNIX) as client:
        if is_busy:
            other.connect(str(tmp_path / "gateway"))
            other.sendall(f"CONNECT {host} HTTP/1.1\r\n\r\n".encode())
            assert other.recv(100).startswith(b"HTTP/1.1 200")
        client.settimeout(20)
        client.connect(str(tmp_path / "gateway"))
        head = get("evil.example.org", f"Content-Length: {len(body)}\r\n").replace("GET", "POST")
        client.sendall(head.encode() + body)
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    gateway.close()
    assert answer.startswith(b"HTTP/1.1 503 Service" if is_busy else b"HTTP/1.1 403")
    assert answer.endswith(b"\n")


def test_a_host_that_is_allowed_later_is_reached_at_once(tmp_path: Path, port: int) -> None:
    hosts: list[str] = []
    refused: list[str] = []
    gateway = HostProxy(tmp_path / "gateway", hosts, refused.append)

    def asked(host: str) -> bytes:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(20)
            client.connect(str(tmp_path / "gateway"))
            client.sendall(get(host).encode())
            return b"".join(iter(lambda: client.recv(65536), b""))

    assert b"403" in asked(f"127.0.0.1:{port}")
    hosts += refused
    assert b"page /x" in asked(f"127.0.0.1:{port}")
    hosts.clear()
    assert b"403" in asked(f"127.0.0.1:{port}")
    gateway.close()


def test_a_private_address_that_is_named_too_is_reached(ask: Ask, port: int) -> None:
    host = f"files.example.com:{port}"
    assert b"page /x" in ask(get(host), host, f"127.0.0.1:{port}")


@pytest.mark.parametrize(
    "request_",
    [
        "GET / HTTP/1.1\r\n\r\n",
        "nothing\r\n\r\n",
        "CONNECT  HTTP/1.1\r\n\r\n",
        "GET ftp://a/ HTTP/1.1\r\n\r\n",
        "CONNECT a:99999 HTTP/1.1\r\n\r\n",
        "CONNECT [::1 HTTP/1.1\r\n\r\n",
        "x" * 70_000 + "\r\n\r\n",
        "GET http://files.example.com/ HTTP/1.1\r\nX: y\nHost: other.example.org\r\n\r\n",
        "GET\thttp://files.example.com/ HTTP/1.1\r\n\r\n",
        "GE\0T http://files.example.com/ HTTP/1.1\r\n\r\n",
    ],
)
def test_what_is_no_request_is_refused(ask: Ask, request_: str) -> None:
    assert ask(request_, "*.example.com").startswith(b"HTTP/1.1 403")


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "169.254.169.254",
        "::1",
        "fe80::1%eth0",
        "::ffff:127.0.0.1",
        "100.64.0.1",
        "0.0.0.0",
        "fd00::1",
        "224.0.0.1",
        "2002:7f00:1::",
        "2002:a00:1::",
        "64:ff9b::7f00:1",
        "64:ff9b::a00:1",
        "64:ff9b:1:a00:0:100::",
        "64:ff9b:1::808:808",
        "fec0::1",
        "168.63.129.16",
        "64:ff9b::a83f:8110",
        "::7f00:1",
        "nonsense",
    ],
)
def test_addresses_that_are_not_public(address: str) -> None:
    assert not proxy._is_public(address)


def test_an_address_of_the_internet_is_public() -> None:
    assert proxy._is_public("8.8.8.8")
    assert proxy._is_public("2001:4860:4860::8888")
    assert proxy._is_public("64:ff9b::808:808")
    assert proxy._is_public("2002:808:808::")


@walls
def test_code_in_the_sandbox_reaches_these_hosts_only(
    make: Callable[..., Computer], tmp_path: Path, port: int
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    walled = make(cwd=project, sandbox=True, sandbox_rules=SandboxRules(hosts=(f"127.0.0.1:{port}",)))
    assert any(f"127.0.0.1:{port}" in note for note in walled.notes)
    code = (
        "import urllib.request, urllib.error\n"
        "proxy = urllib.request.ProxyHandler({'http': __import__('os').environ['HTTP_PROXY']})\n"
        "opener = urllib.request.build_opener(proxy)\n"
        "def ask(host):\n"
        "    request = urllib.request.Request(f'http://{host}/here')\n"
        "    request.set_proxy('127.0.0.1:3128', 'http')\n"
        "    try: return opener.open(request, timeout=20).read()\n"
        "    except urllib.error.HTTPError as error: return error.code\n"
        f"print(ask('127.0.0.1:{port}'))\n"
        "print(ask('169.254.169.254'), ask('nowhere.example.org'))\n"
        "import socket\n"
        f"try: socket.create_connection(('127.0.0.1', {port}), 2); print('OUT')\n"
        "except OSError: print('held')\n"
    )
    played = play(walled, "python", code)
    assert "page /here" in played.text
    assert "403 403" in played.text
    assert "held" in played.text
    assert (
        "blocked access to 169.254.169.254, nowhere.example.org; to allow it, type %sandbox allow HOST"
        in played.text
    )
    # It does so again in the next run, and the languages end as ever.
    assert "page /here" in play(walled, "python", f"print(ask('127.0.0.1:{port}'))").text


@walls
def test_a_host_is_allowed_for_a_conversation_without_a_restart(
    make: Callable[..., Computer], tmp_path: Path, port: int
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    walled = make(cwd=project, sandbox=True)
    host = f"127.0.0.1:{port}"
    code = (
        "import urllib.request, urllib.error\n"
        "def ask():\n"
        f"    request = urllib.request.Request('http://{host}/here')\n"
        "    request.set_proxy('127.0.0.1:3128', 'http')\n"
        "    try: return urllib.request.urlopen(request, timeout=20).read()\n"
        "    except urllib.error.HTTPError as error: return error.read()\n"
        "print(ask())\n"
    )
    blocked = play(walled, "python", code).text
    assert f"to allow it, type %sandbox allow {host}\n" in blocked
    assert f"allow it: %sandbox allow {host}" in blocked, "the program is told, too"

    assert walled.allow_host(host) is None
    assert walled.hosts == (host,)
    assert any(host in note for note in walled.notes)
    assert "page /here" in play(walled, "python", "print(ask())").text, "and Python kept its function"

    walled.forget_hosts()
    assert walled.hosts == ()
    assert "sandbox blocks access" in play(walled, "python", "print(ask())").text


def test_small_pieces_are_sent_at_once_in_both_directions(tmp_path: Path) -> None:
    """The system else keeps each one for 40 ms, until the one before is confirmed."""

    pause = threading.Event()

    def answer() -> None:
        connection, _ = server.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection:
            while receive(connection, 2):
                connection.sendall(b"a")
                pause.wait(0.002)
                connection.sendall(b"b")

    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_server(("127.0.0.1", 0)) as inside:
        host = f"127.0.0.1:{server.getsockname()[1]}"
        gateway = HostProxy(tmp_path / "gateway", (host,), lambda _: None)
        threads = [
            threading.Thread(target=answer, daemon=True),
            threading.Thread(target=forwarder._serve, args=(inside, str(tmp_path / "gateway")), daemon=True),
        ]
        for thread in threads:
            thread.start()
        with socket.create_connection(inside.getsockname(), 20) as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client.sendall(f"CONNECT {host} HTTP/1.1\r\n\r\n".encode())
            assert client.recv(1000).startswith(b"HTTP/1.1 200")
            seconds = []
            for _ in range(40):
                begun = time.monotonic()
                client.sendall(b"x")
                # Else both may be sent on as one.
                pause.wait(0.002)
                client.sendall(b"y")
                assert receive(client, 2) == b"ab"
                seconds.append(time.monotonic() - begun)
        gateway.close()
    assert statistics.median(seconds[10:]) < 0.03


def receive(connection: socket.socket, count: int) -> bytes:
    """Receive so many bytes, or less at the end."""
    received = b""
    while len(received) < count and (piece := connection.recv(count - len(received))):
        received += piece
    return received


def test_a_connection_that_fails_is_forgotten(
    tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(relay: object) -> None:
        raise OSError("the host is gone")

    monkeypatch.setattr(proxy._Relay, "run", fail)
    host = f"127.0.0.1:{port}"
    gateway = HostProxy(tmp_path / "gateway", (host,), lambda _: None)
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(str(tmp_path / "gateway"))
        client.sendall(f"GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        while client.recv(65536):
            pass
    until(lambda: not gateway._open)
    gateway.close()


@walls
def test_a_program_that_does_not_start_leaves_no_proxy(
    make: Callable[..., Computer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no terminal is free")

    def list_proxies() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name == "sandbox gateway"]

    before = list_proxies()
    monkeypatch.setattr(process, "Pty", fail)
    played = play(make(cwd=tmp_path, sandbox=True), "shell", "echo")
    assert "no terminal is free" in played.reason
    until(lambda: set(list_proxies()) <= set(before))
