"""A Jupyter kernel for programs that start kernels themselves; the cells run in a kernel of a server.

Such a program speaks ZeroMQ, at the places and with the key of a connection file. Its messages are handed on
to the server's channels, and the server's answers back.
"""

import asyncio
import json
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import zmq
import zmq.asyncio
from jupyter_client.jsonutil import json_default
from jupyter_client.session import Session
from websockets.asyncio.client import ClientConnection, connect, unix_connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from oi_tui.attach.address import AddressError, SessionAddress
from oi_tui.attach.connection import AttachError, make_client, read_reason
from oi_tui.engine.credentials.redaction import learn
from oi_tui.plain.run import FAILED, write_error
from oi_tui.text import clean_line

#: Seconds for a request to the server, and for the last messages to be taken.
_TIMEOUT = 30.0
_LINGER = 2.0
#: How often is looked whether the program that started the kernel is still there, in seconds.
_GLANCE = 1.0
_ASKING = ("shell", "control", "stdin")
_NO_TOKEN = "--kernel needs the token that oi-tui --server printed: set INTERPRETER_API_KEY"


def run(address: SessionAddress, connection_file: Path, name: str) -> int:
    """Serve as a kernel until the program that started it ends it. Returns the exit code.

    Raises AddressError without a token, and OSError.
    """
    # Asked before anything that takes long: the parent may end meanwhile.
    parent = os.getppid()
    if not address.token:
        raise AddressError(_NO_TOKEN)
    learn(address.token)
    places = _read_places(connection_file)
    # Whoever starts kernels interrupts them with a message.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with _start_server_kernel(address, name) as kernel:
            is_over = asyncio.run(_serve(address, kernel, places, parent))
    except (AttachError, httpx.HTTPError, InvalidHandshake, zmq.ZMQError) as error:
        write_error(f"oi-tui: {clean_line(str(error), 300)}\n")
        return FAILED
    if not is_over:
        write_error(f"oi-tui: the connection to {address.shown} was lost\n")
    return 0 if is_over else FAILED


def _read_places(file: Path) -> Mapping[str, Any]:
    """Return what is in a connection file. Raises AddressError or OSError."""
    try:
        places = json.loads(file.read_bytes())
        if all(isinstance(places[f"{name}_port"], int) for name in (*_ASKING, "iopub", "hb")):
            return {"transport": "tcp", "ip": "127.0.0.1", "signature_scheme": "hmac-sha256", **places}
    except (ValueError, KeyError, TypeError):
        pass
    raise AddressError(f"--kernel needs a connection file of Jupyter, which {file} is not")


@contextmanager
def _start_server_kernel(address: SessionAddress, name: str) -> Iterator[str]:
    """Start a kernel of the server, and end it again. Raises AttachError or httpx.HTTPError."""
    with make_client(address, _TIMEOUT) as client:
        answer = client.post(f"{address.base}/api/kernels", json={"name": name, "ends_with_client": True})
        if answer.status_code != 201:
            raise AttachError(f"The server at {address.shown} refused: {read_reason(answer.content)}")
        kernel = str(answer.json()["id"])
        try:
            yield kernel
        finally:
            # The server may be gone, or has ended the kernel itself.
            with suppress(httpx.HTTPError):
                client.delete(f"{address.base}/api/kernels/{kernel}")


async def _serve(address: SessionAddress, kernel: str, places: Mapping[str, Any], parent: int) -> bool:
    """Hand messages on until the kernel or the parent ends. Returns False where the server went first."""
    options: dict[str, Any] = {
        "additional_headers": {"Authorization": f"Bearer {address.token}"},
        "max_size": None,
        "compression": None,
    }
    uri = f"{address.websocket}/api/kernels/{kernel}/channels"
    if address.socket:
        connecting = unix_connect(str(address.socket), uri, **options)
    else:
        # A proxy of the environment would get the token.
        connecting = connect(uri, proxy=None, **options)
    context = zmq.asyncio.Context()
    try:
        async with connecting as server:
            return await _Bridge(context, places, server).run(parent)
    finally:
        context.destroy(linger=int(_LINGER * 1000))


class _Bridge:
    """The sockets of a kernel on one side, the server on the other one."""

    def __init__(
        self, context: zmq.asyncio.Context, places: Mapping[str, Any], server: ClientConnection
    ) -> None:
        self._server = server
        self._session = Session(
            key=str(places.get("key", "")).encode(), signature_scheme=places["signature_scheme"]
        )
        kinds = {**dict.fromkeys(_ASKING, zmq.ROUTER), "iopub": zmq.XPUB, "hb": zmq.REP}
        self._sockets = {name: context.socket(kind) for name, kind in kinds.items()}
        # Each client that subscribes is reported, and not only the first.
        self._sockets["iopub"].setsockopt(zmq.XPUB_VERBOSE, 1)
        between = ":" if places["transport"] == "tcp" else "-"
        for name, socket in self._sockets.items():
            socket.bind(f"{places['transport']}://{places['ip']}{between}{places[f'{name}_port']}")
        #: Whose requests are not answered yet: the ZeroMQ identities by the id of the request.
        self._askers: dict[str, list[bytes]] = {}

    async def run(self, parent: int) -> bool:
        """Forward messages until the kernel ends or its clients are gone.

        Returns False where the server went first.
        """
        ended = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
        answering = asyncio.create_task(self._hand_back())
        ends = [answering, asyncio.create_task(ended.wait()), asyncio.create_task(_wait_for_end(parent))]
        tasks = [*ends, asyncio.create_task(self._echo()), asyncio.create_task(self._welcome())]
        tasks += [asyncio.create_task(self._hand_on(channel)) for channel in _ASKING]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            return answering.result() if answering.done() else True
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _hand_on(self, channel: str) -> None:
        """Send the server what clients send; what is not signed with the key is dropped."""
        while True:
            received = await self._sockets[channel].recv_multipart()
            try:
                text = self._read_message(channel, received)
            except (ValueError, TypeError, LookupError, AttributeError):
                # Anybody on this machine can send something here.
                continue
            await self._server.send(text)

    def _read_message(self, channel: str, received: list[bytes]) -> str:
        """Return a client's message as the server reads it, and remember its sender.

        What is no message signed with the key raises one of many errors.
        """
        identities, frames = self._session.feed_identities(received)
        message = self._session.deserialize(frames)
        parts = {name: message[name] for name in ("header", "parent_header", "metadata", "content")}
        text = json.dumps({**parts, "channel": channel, "buffers": []}, default=json_default)
        if message["msg_type"].endswith("_request"):
            self._askers[message["msg_id"]] = identities
        return text

    async def _hand_back(self) -> bool:
        """Send clients what the server sends. Returns False when the server closed before the end."""
        try:
            async for text in self._server:
                record = json.loads(text)
                channel, kind = record["channel"], record["msg_type"]
                request_id = record["parent_header"].get("msg_id", "")
                if channel == "iopub":
                    identities = [kind.encode()]
                else:
                    is_answer = kind.endswith("_reply")
                    identities = (
                        self._askers.pop(request_id, []) if is_answer else self._askers.get(request_id, [])
                    )
                if not identities:
                    continue
                await self._sockets[channel].send_multipart(self._session.serialize(record, identities))
                if kind == "shutdown_reply" and channel != "iopub":
                    return True
        except ConnectionClosed:
            pass
        return False

    async def _welcome(self) -> None:
        """Tell each client that subscribes to the output that it gets all of it from now on (JEP 65)."""
        iopub = self._sockets["iopub"]
        while True:
            frame = await iopub.recv()
            if frame[:1] == b"\x01":
                topic = frame[1:]
                content = {"subscription": topic.decode(errors="replace")}
                message = self._session.msg("iopub_welcome", content)
                await iopub.send_multipart(self._session.serialize(message, [topic] if topic else []))

    async def _echo(self) -> None:
        """Show that the kernel is alive."""
        while True:
            await self._sockets["hb"].send(await self._sockets["hb"].recv())


async def _wait_for_end(parent: int) -> None:
    """Wait until the program that started the kernel has ended."""
    while os.getppid() == parent:
        await asyncio.sleep(_GLANCE)
