"""Servers for mail and calendars on a loopback address: small, but real protocols over real sockets."""

import base64
import re
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from xml.sax.saxutils import escape


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


@contextmanager
def _served(server: socketserver.BaseServer) -> Iterator[int]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def smtp(received: list[str], login: bytes = b"", unknown: bytes = b"nobody@") -> Iterator[int]:
    """An SMTP server that keeps the messages, of those who log in if it has a login; yields its port.

    It refuses a receiver whose address has `unknown` in it.
    """

    class Handler(socketserver.StreamRequestHandler):
        def say(self, line: str) -> None:
            self.wfile.write(line.encode() + b"\r\n")

        def handle(self) -> None:
            self.say("220 ready")
            known = not login
            for raw in self.rfile:
                word = raw.split()[0].upper() if raw.split() else b""
                if word == b"EHLO" and login:
                    self.say("250-here")
                    self.say("250-AUTH PLAIN")
                if word == b"AUTH":
                    known = base64.b64decode(raw.split()[2]) == login
                    self.say("235 welcome" if known else "535 who is that")
                    continue
                if word == b"MAIL" and not known:
                    self.say("530 log in first")
                    continue
                if word == b"RCPT" and unknown in raw:
                    self.say("550 unknown")
                    continue
                if word == b"DATA":
                    self.say("354 go on")
                    lines: list[str] = []
                    while (line := self.rfile.readline()) not in (b".\r\n", b""):
                        lines.append(line.decode())
                    received.append("".join(lines))
                if word == b"QUIT":
                    self.say("221 bye")
                    return
                self.say("250 ok")

    with _Server(("127.0.0.1", 0), Handler) as server, _served(server) as port:
        yield port


@contextmanager
def imap(messages: list[tuple[str, bool]], password: str) -> Iterator[int]:
    """An IMAP server with messages and whether each was read; yields its port."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"* OK ready\r\n")
            for raw in self.rfile:
                tag, command, *rest = raw.decode().split()
                done = f"{tag} OK done\r\n"
                match command.upper():
                    case "CAPABILITY":
                        self.wfile.write(b"* CAPABILITY IMAP4REV1 AUTH=PLAIN\r\n")
                    case "AUTHENTICATE":
                        self.wfile.write(b"+ \r\n")
                        said = base64.b64decode(self.rfile.readline()).decode().split("\0")
                        if said[2] != password:
                            done = f"{tag} NO wrong password\r\n"
                    case "LOGIN" if rest[1].strip('"') != password:
                        done = f"{tag} NO wrong password\r\n"
                    case "EXAMINE":
                        self.wfile.write(f"* {len(messages)} EXISTS\r\n".encode())
                    case "SEARCH":
                        first, last = map(int, rest[0].split(":"))
                        wanted = [n for n in range(first, last + 1) if not messages[n - 1][1]]
                        self.wfile.write(f"* SEARCH {' '.join(map(str, wanted))}\r\n".encode())
                    case "FETCH":
                        assert "PEEK" in raw.decode(), "this would mark the message as read"
                        text = messages[int(rest[0]) - 1][0].encode("utf-8", "surrogateescape")
                        self.wfile.write(f"* {rest[0]} FETCH (BODY[] {{{len(text)}}}\r\n".encode())
                        self.wfile.write(text + b")\r\n")
                self.wfile.write(done.encode())
                if command.upper() == "LOGOUT":
                    return

    with _Server(("127.0.0.1", 0), Handler) as server, _served(server) as port:
        yield port


@contextmanager
def dav(entries: dict[str, str], tag: str, moved: str = "") -> Iterator[int]:
    """A CalDAV or CardDAV collection at /c/; `tag` holds the text of an entry. Yields its port.

    With `moved`, entries are to be read at that address. Only the days in a query are looked at, not the
    times of the day.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def body(self) -> str:
            return self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()

        def answer(self, status: int, text: str = "") -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def do_REPORT(self) -> None:
            query = self.body()
            if "Basic" not in self.headers.get("Authorization", ""):
                self.answer(401)
                return
            times = re.search(r'time-range start="(\w+)" end="(\w+)"', query)
            found = [
                f"<D:response><D:href>{path}</D:href><D:propstat><D:prop><C:{tag}>{escape(text)}</C:{tag}>"
                "</D:prop></D:propstat></D:response>"
                for path, text in entries.items()
                if times is None or _lies_in(text, times[1], times[2])
            ]
            kind = tag.partition("-")[0].replace("calendar", "caldav").replace("address", "carddav")
            self.answer(
                207,
                f'<D:multistatus xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:{kind}">'
                f"{''.join(found)}</D:multistatus>",
            )

        def do_GET(self) -> None:
            if moved:
                self.send_response(302)
                self.send_header("Location", moved)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.answer(200 if self.path in entries else 404, entries.get(self.path, ""))

        def do_PUT(self) -> None:
            entries[self.path] = self.body()
            self.answer(201)

        def do_DELETE(self) -> None:
            self.answer(204 if entries.pop(self.path, None) else 404)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server, _served(server) as port:
        server.daemon_threads = True
        yield port


def _lies_in(text: str, start: str, end: str) -> bool:
    begins = re.search(r"DTSTART.*:(\w+)", text)
    return "RRULE" in text or (begins is not None and start[:8] <= begins[1][:8] <= end[:8])
