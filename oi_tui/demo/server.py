"""Serves the demo model as a streaming chat-completions endpoint on this machine."""

import contextlib
import hmac
import json
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from oi_tui.demo import scripts
from oi_tui.demo.talk import CodeToRun, Reply, Say, Think, read
from oi_tui.system import environment_names

#: What a request may weigh at most, in bytes: a conversation with many images.
MOST_BYTES = 256 * 1024 * 1024
#: Characters of one token; about what one of English has. A streamed piece is one token.
_TOKEN = 4
#: Characters of one streamed piece where no pace is kept: servers that are fast send some tokens at once.
_LARGE_PIECE = 32


class Demo(NamedTuple):
    """A running demo model: its base URL (ending in /v1), the key that it wants, and how to end it."""

    base: str
    key: str
    stop: Callable[[], None]


def start(tokens_per_second: float | None = None) -> Demo:
    """Serve the demo model on a free port of 127.0.0.1, in daemon threads, until `stop` is called.

    A token here is four characters. Their pace is 100 a second, or what `OI_TUI_DEMO_TOKENS_PER_SECOND` says;
    0 is as fast as can be. The key is new with every start, so that nobody else on the machine can use it.
    """
    if tokens_per_second is None:
        tokens_per_second = _find_pace(os.environ.get(environment_names.DEMO_TOKENS_PER_SECOND, ""))
    server = _Server(secrets.token_urlsafe(32), tokens_per_second)

    def serve() -> None:
        while not server.stopping.is_set():
            server.handle_request()

    thread = threading.Thread(target=serve, name="demo-model", daemon=True)
    thread.start()

    def stop() -> None:
        server.stopping.set()
        with contextlib.suppress(OSError):
            # It waits for a request, and for nothing else.
            socket.create_connection(("127.0.0.1", server.server_port), 1.0).close()
        thread.join()
        server.server_close()

    return Demo(f"http://127.0.0.1:{server.server_port}/v1", server.key, stop)


def _find_pace(text: str) -> float:
    try:
        return max(float(text), 0.0)
    except ValueError:
        return 100.0


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 16

    def __init__(self, key: str, tokens_per_second: float) -> None:
        self.key = key
        self.tokens_per_second = tokens_per_second
        self.stopping = threading.Event()
        super().__init__(("127.0.0.1", 0), _Exchange)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a caller who hung up: that is how a reply is stopped."""


class _Exchange(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    #: Seconds that a caller may take to send its request.
    timeout = 30

    def do_GET(self) -> None:
        if not self._is_authorised():
            return
        if self.path.split("?")[0] == "/v1/models":
            model = {"id": "demo", "object": "model", "created": 0, "owned_by": "oi-tui"}
            self._send(200, {"object": "list", "data": [model]})
        else:
            self._refuse(404, f"There is no {self.path} here.")

    def do_POST(self) -> None:
        # Without this, a request that is refused unread would be mistaken for the next one.
        self.close_connection = True
        if not self._is_authorised():
            return
        if self.path.split("?")[0] != "/v1/chat/completions":
            self._refuse(404, f"There is no {self.path} here.")
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MOST_BYTES:
            self._refuse(413, "A request needs a Content-Length, and may not be larger than 256 MB.")
            return
        try:
            request = json.loads(self.rfile.read(int(length)))
            reply = scripts.answer(read(request["messages"]))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            self._refuse(400, "That is not a chat-completion request.")
            return
        if request.get("stream"):
            self._send_stream(request, reply)
        else:
            self._send(200, _make_whole_reply(request, reply))

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the terminal clean."""

    def _is_authorised(self) -> bool:
        key = self.headers.get("Authorization", "").removeprefix("Bearer ")
        # A page in a browser could reach this port under a name of its own.
        host = self.headers.get("Host", "").rpartition(":")[0]
        if host in ("127.0.0.1", "localhost") and hmac.compare_digest(key.encode(), self.server.key.encode()):
            return True
        self.close_connection = True
        self._refuse(401, "The demo model only talks to the oi-tui that started it.")
        return False

    def _refuse(self, status: int, sentence: str) -> None:
        self._send(status, {"error": {"message": sentence, "type": "invalid_request_error", "code": status}})

    def _send(self, status: int, answer: dict[str, Any]) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def _send_stream(self, request: dict[str, Any], reply: Reply) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.end_headers()
        pause = 1 / self.server.tokens_per_second if self.server.tokens_per_second else 0.0
        due = time.monotonic() + 20 * pause
        for chunk in _make_chunks(request, reply, _TOKEN if pause else _LARGE_PIECE):
            if self.server.stopping.wait(max(due - time.monotonic(), 0)) if pause else False:
                return
            due += pause
            self._event(json.dumps(chunk))
        self._event("[DONE]")

    def _event(self, data: str) -> None:
        self.wfile.write(f"data: {data}\n\n".encode())
        self.wfile.flush()


def _make_chunks(request: dict[str, Any], reply: Reply, size: int) -> Iterator[dict[str, Any]]:
    """Yield the reply as the chunks of a stream, each with up to `size` characters of text."""
    head = {
        "id": f"chatcmpl-{secrets.token_hex(8)}",
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": "demo",
    }

    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    tool = _find_code_tool(request)
    calls = 0
    yield chunk({"role": "assistant", "content": ""})
    for part in reply:
        match part:
            case Say(text):
                yield from (chunk({"content": piece}) for piece in _split_pieces(text, size))
            case Think(text):
                yield from (chunk({"reasoning_content": piece}) for piece in _split_pieces(text, size))
            case CodeToRun(language, code) if tool is None:
                fence = _write_fence(language, code)
                yield from (chunk({"content": piece}) for piece in _split_pieces(fence, size))
            case CodeToRun():
                call = {**_call(tool, part), "index": calls}
                arguments = call["function"]["arguments"]
                call["function"] = {"name": tool, "arguments": ""}
                yield chunk({"tool_calls": [call]})
                for piece in _split_pieces(arguments, size):
                    yield chunk({"tool_calls": [{"index": calls, "function": {"arguments": piece}}]})
                calls += 1
    yield chunk({}, "tool_calls" if calls else "stop")
    if (request.get("stream_options") or {}).get("include_usage"):
        yield {**head, "choices": [], "usage": _count_usage(request, reply)}


def _make_whole_reply(request: dict[str, Any], reply: Reply) -> dict[str, Any]:
    """Return the reply as the single answer to a request that does not want a stream."""
    tool = _find_code_tool(request)
    runs = [part for part in reply if isinstance(part, CodeToRun)]
    text = "".join(part.text for part in reply if isinstance(part, Say))
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if tool is None:
        message["content"] += "".join(_write_fence(run.language, run.code) for run in runs)
    elif runs:
        message["tool_calls"] = [_call(tool, run) for run in runs]
    reason = "tool_calls" if "tool_calls" in message else "stop"
    return {
        "id": f"chatcmpl-{secrets.token_hex(8)}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": "demo",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": _count_usage(request, reply),
    }


def _find_code_tool(request: dict[str, Any]) -> str | None:
    """Return the name of the tool that takes code.

    None when the caller has none, and code goes into a fence.
    """
    functions = [tool.get("function") or {} for tool in request.get("tools") or ()]
    takes_code = (f for f in functions if "code" in (f.get("parameters") or {}).get("properties", {}))
    return next((str(function["name"]) for function in takes_code), None)


def _call(tool: str, run: CodeToRun) -> dict[str, Any]:
    arguments = json.dumps({"language": run.language, "code": run.code}, ensure_ascii=False)
    function = {"name": tool, "arguments": arguments}
    return {"id": f"call_{secrets.token_hex(8)}", "type": "function", "function": function}


def _write_fence(language: str, code: str) -> str:
    return f"```{language}\n{code}\n```\n"


def _split_pieces(text: str, size: int) -> Sequence[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _count_usage(request: dict[str, Any], reply: Reply) -> dict[str, int]:
    tokens = len(json.dumps(request.get("messages"))) // _TOKEN
    replied = sum(len(part.code if isinstance(part, CodeToRun) else part.text) for part in reply) // _TOKEN
    return {"prompt_tokens": tokens, "completion_tokens": replied, "total_tokens": tokens + replied}
