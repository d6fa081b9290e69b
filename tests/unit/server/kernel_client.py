"""Jupyter's own client library over a WebSocket in place of ZeroMQ, as nbclient uses it."""

import asyncio
import json
import queue
import struct
from itertools import pairwise
from typing import Any

import httpx
from jupyter_client.asynchronous import AsyncKernelClient
from jupyter_client.jsonutil import json_default
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

TIMEOUT = 30


PARTS = ("header", "parent_header", "metadata", "content")


def to_frame(channel: str, parts: list[bytes]) -> bytes:
    """A binary frame as Jupyter's documentation of its version 1 describes it."""
    name = channel.encode()
    places = [8 * (len(parts) + 3)]
    for piece in (name, *parts):
        places.append(places[-1] + len(piece))
    return struct.pack(f"<{len(places) + 1}Q", len(places), *places) + name + b"".join(parts)


def from_frame(frame: bytes) -> dict[str, Any]:
    (count,) = struct.unpack_from("<Q", frame)
    places = struct.unpack_from(f"<{count}Q", frame, 8)
    channel, *parts = (frame[start:end] for start, end in pairwise(places))
    message = dict(zip(PARTS, map(json.loads, parts), strict=True))
    head = message["header"]
    return {"channel": channel.decode(), "msg_id": head["msg_id"], "msg_type": head["msg_type"], **message}


class Channel:
    """One of the channels that share a connection."""

    def __init__(self, client: "WebSocketClient", name: str) -> None:
        self._client = client
        self._name = name
        self.received: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def is_alive(self) -> bool:
        return True

    def send(self, message: dict[str, Any]) -> None:
        self._client.send(self._name, message)

    async def msg_ready(self) -> bool:
        return not self.received.empty()

    async def get_msg(self, timeout: float | None = None) -> dict[str, Any]:
        try:
            return await asyncio.wait_for(self.received.get(), TIMEOUT if timeout is None else timeout)
        except TimeoutError:
            raise queue.Empty from None


class WebSocketClient(AsyncKernelClient):
    """The library's client, whose channels are one WebSocket."""

    allow_stdin = False

    def __init__(self, address: str, headers: dict[str, str], *, binary: bool = False) -> None:
        super().__init__()
        self._address, self._headers, self._binary = address, headers, binary
        self._channels = {name: Channel(self, name) for name in ("shell", "iopub", "stdin", "control", "hb")}
        self._sending: asyncio.Queue[str | bytes] = asyncio.Queue()
        self._tasks: list[asyncio.Task[None]] = []

    shell_channel = property(lambda self: self._channels["shell"])
    iopub_channel = property(lambda self: self._channels["iopub"])
    stdin_channel = property(lambda self: self._channels["stdin"])
    control_channel = property(lambda self: self._channels["control"])
    hb_channel = property(lambda self: self._channels["hb"])

    def start_channels(self, *_: Any, **__: Any) -> None:
        self._tasks.append(asyncio.ensure_future(self._work()))

    async def stop_channels(self) -> None:  # type: ignore[override]
        for task in self._tasks:
            task.cancel()
        # A connection that is left open would be reported in a later test.
        await asyncio.wait(self._tasks)

    async def is_alive(self) -> bool:
        return not self._tasks[0].done()

    def send(self, channel: str, message: dict[str, Any]) -> None:
        text = json.dumps({**message, "channel": channel}, default=json_default)
        if not self._binary:
            self._sending.put_nowait(text)
            return
        ready = json.loads(text)
        parts = [json.dumps(ready[part]).encode() for part in PARTS]
        self._sending.put_nowait(to_frame(channel, parts))

    async def _work(self) -> None:
        protocols = [Subprotocol("v1.kernel.websocket.jupyter.org")] if self._binary else None
        options: dict[str, Any] = {"additional_headers": self._headers, "subprotocols": protocols}
        async with connect(self._address, max_size=None, **options) as socket:
            self._tasks.append(asyncio.ensure_future(self._write(socket)))
            async for frame in socket:
                assert isinstance(frame, bytes) is self._binary
                message = from_frame(frame) if isinstance(frame, bytes) else json.loads(frame)
                self._channels[message["channel"]].received.put_nowait(message)

    async def _write(self, socket: ClientConnection) -> None:
        while True:
            await socket.send(await self._sending.get())


class HttpManager:
    """Starts and ends a kernel of a server, in place of a process of its own."""

    ipykernel = False

    def __init__(self, address: str, headers: dict[str, str], *, binary: bool = False) -> None:
        self._address, self._headers, self._binary = address, headers, binary
        self.kernel: dict[str, Any] | None = None

    @property
    def has_kernel(self) -> bool:
        return self.kernel is not None

    def start_kernel(self, *, kernel_name: str = "python3", **_: Any) -> None:
        self.kernel = self._request("POST", "/api/kernels", {"name": kernel_name}).raise_for_status().json()

    def client(self) -> WebSocketClient:
        address = self._address.replace("http", "ws", 1)
        return WebSocketClient(f"{address}{self._path}/channels", self._headers, binary=self._binary)

    def is_alive(self) -> bool:
        return self.has_kernel and self._request("GET", self._path).is_success

    def interrupt_kernel(self) -> None:
        self._request("POST", f"{self._path}/interrupt").raise_for_status()

    def shutdown_kernel(self, **_: Any) -> None:
        if self.kernel:
            self._request("DELETE", self._path).raise_for_status()
            self.kernel = None

    def cleanup_resources(self, **_: Any) -> None: ...

    def _request(self, method: str, path: str, body: Any = None) -> httpx.Response:
        address = f"{self._address}{path}"
        return httpx.request(method, address, json=body, headers=self._headers, timeout=TIMEOUT)

    @property
    def _path(self) -> str:
        assert self.kernel
        return f"/api/kernels/{self.kernel['id']}"
