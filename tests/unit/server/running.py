"""The real server in a thread: uvicorn, the routes and the guard; only model and languages are stand-ins."""

import asyncio
import json
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any, Self

import httpx
from websockets.sync.client import ClientConnection, connect

from oi_tui.engine.settings.profile import Profile
from oi_tui.server import serve
from oi_tui.server.application import Application
from oi_tui.server.backend import Backend, WorkspaceBackend
from oi_tui.server.options import ServerOptions
from oi_tui.workspace import Workspace
from tests.fakes import Computer, Llm
from tests.when_used import when_used

openai = when_used("openai")

TIMEOUT = 20.0


class Running:
    """A server, and clients for it. Without replies, a model says what it says when asked too often."""

    def __init__(
        self, *replies: Sequence[Any], auto_run: bool = False, app: Application | None = None, **options: Any
    ) -> None:
        self.computer = Computer()
        self.llm = Llm(*replies)
        self.profile = Profile(model="x", auto_run=auto_run)
        self.options = ServerOptions(**{"port": 0, **options})
        self.listening = serve.listen(self.options)
        self.options = serve.add_port(self.options, self.listening)
        self.app = app or Application(self.backend, self.options)
        self.app.use(self.options)
        self.server = serve.make_web_server(self.app, self.options)
        self.thread = threading.Thread(target=self._run, name="server")
        self._clients = ExitStack()

    def backend(self) -> Backend:
        return WorkspaceBackend(Workspace(self.profile, llm=self.llm, computer=self.computer))

    def _run(self) -> None:
        with self.listening:
            asyncio.run(self.server.serve(sockets=[self.listening]))

    def __enter__(self) -> Self:
        self.thread.start()
        waiting = threading.Event()
        for _ in range(2000):
            if self.server.started:
                break
            waiting.wait(0.01)
        assert self.server.started
        return self

    def __exit__(self, *_: object) -> None:
        self._clients.close()
        self.server.should_exit = True
        self.thread.join(TIMEOUT)
        assert not self.thread.is_alive()

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.options.token}"}

    @property
    def address(self) -> str:
        return self.options.address

    def http(self, **options: Any) -> httpx.Client:
        # Most servers speak plain HTTP; to read all certificates takes longer than most requests.
        return httpx.Client(
            base_url=self.address,
            **{"headers": self.headers, "timeout": TIMEOUT, "verify": False, **options},
        )

    def openai(self, path: str, **options: Any) -> "openai.OpenAI":
        """A client of OpenAI's library for the interface at this path, which is closed with the server."""
        client = openai.OpenAI(
            base_url=f"{self.address}{path}",
            http_client=httpx.Client(verify=False),
            **{"api_key": self.options.token, **options},
        )
        return self._clients.enter_context(client)

    def socket(self, path: str = "/", **options: Any) -> "Socket":
        return socket_to(self.address, path, self.headers, **options)


class Socket:
    """A WebSocket that speaks JSON."""

    connection: ClientConnection

    def __init__(self, opening: AbstractContextManager[ClientConnection]) -> None:
        self._opening = opening

    def __enter__(self) -> Self:
        self.connection = self._opening.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._opening.__exit__(None, None, None)

    def send(self, record: object) -> None:
        self.connection.send(json.dumps(record))

    def receive(self) -> Any:
        return json.loads(self.connection.recv(TIMEOUT))

    def answer_to(self, text: str) -> Any:
        """Send text as it is, and receive."""
        self.connection.send(text)
        return self.receive()

    def until(self, **values: Any) -> list[Any]:
        """Receive up to a record that has these values."""
        found = []
        while True:
            found.append(self.receive())
            if all(found[-1].get(name) == value for name, value in values.items()):
                return found

    def say(self, *parts: dict[str, Any]) -> None:
        """Send a message in the original's protocol."""
        self.send({"role": "user", "start": True})
        for part in parts:
            self.send({"role": "user", **part})
        self.send({"role": "user", "end": True})


def socket_to(address: str, path: str, headers: dict[str, str], **options: Any) -> Socket:
    """A WebSocket to a server."""
    given = {"open_timeout": TIMEOUT, "max_size": None, "max_queue": None, **options}
    return Socket(connect(address.replace("http", "ws", 1) + path, additional_headers=headers, **given))
