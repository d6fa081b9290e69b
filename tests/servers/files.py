"""A file server on 127.0.0.1 that can do ranges, and break off on request."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self


class FileServer:
    """Serves one file at every path; `breaks` are the bytes after which connections break, one each."""

    def __init__(self, content: bytes, *, ranges: bool = True, mark: str = '"one"') -> None:
        self.content = content
        self.ranges = ranges
        self.mark = mark
        self.breaks: list[int] = []
        self.status = 200
        self.headers: dict[str, str] = {}
        self.asked: list[str | None] = []
        #: While it is clear, the connections send nothing more.
        self.flows = threading.Event()
        self.flows.set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer._serve(self)

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.flows.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        wanted = handler.headers.get("Range")
        self.asked.append(wanted)
        if self.status != 200:
            handler.send_error(self.status)
            return
        at = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.ranges else 0
        same = handler.headers.get("If-Range") in (None, self.mark)
        if at >= len(self.content) and at and same:
            handler.send_error(416)
            return
        at = at if same else 0
        handler.send_response(206 if at else 200)
        handler.send_header("Content-Length", str(len(self.content) - at))
        handler.send_header("ETag", self.mark)
        for name, value in self.headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        end = at + self.breaks.pop(0) if self.breaks else len(self.content)
        try:
            while at < min(end, len(self.content)):
                self.flows.wait()
                handler.wfile.write(self.content[at : min(at + 50_000, end)])
                at += 50_000
        except OSError:
            return
