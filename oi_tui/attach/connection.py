"""The connection to a session of a server: a thread receives, and connects again after a loss."""

import json
import ssl
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import httpx
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI
from websockets.sync.client import ClientConnection, connect, unix_connect

from oi_tui.attach.address import SessionAddress
from oi_tui.text import clean_line

#: Seconds for one attempt to connect, and between attempts: the first and the longest wait.
_TIMEOUT = 15.0
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 8.0
#: The largest record that is accepted, in bytes. The state has the whole conversation.
_LARGEST = 512_000_000
#: The codes with which the server closes: 1008 where there is no such session, 4410 where it was ended.
_ENDED = (1008, 4410)
#: How connecting fails.
_FAILURES = (OSError, InvalidHandshake, InvalidURI, ConnectionClosed, ValueError)


class AttachError(Exception):
    """The server cannot be used; the message says why."""


class TokenRefusedError(AttachError):
    """The server does not accept the token."""


def make_client(address: SessionAddress, seconds: float) -> httpx.Client:
    """Return a client for a server; it trusts the certificates of the system and of SSL_CERT_FILE."""
    return httpx.Client(
        transport=httpx.HTTPTransport(uds=str(address.socket)) if address.socket else None,
        verify=ssl.create_default_context() if address.base.startswith("https:") else True,
        headers={"Authorization": f"Bearer {address.token}"},
        timeout=seconds,
        # A proxy of the environment would get the token.
        trust_env=False,
    )


def list_sessions(address: SessionAddress) -> list[Mapping[str, Any]]:
    """Return the sessions of a server. Raises AttachError."""
    try:
        with make_client(address, _TIMEOUT) as client:
            answer = client.get(f"{address.base}/v1/sessions")
        if answer.status_code == 401:
            raise TokenRefusedError(f"The server at {address.shown} does not accept this token.")
        if answer.status_code != 200:
            raise AttachError(f"The server at {address.shown} refused: {read_reason(answer.content)}")
        sessions = answer.json()["sessions"]
        return [item for item in sessions if isinstance(item, dict) and isinstance(item.get("id"), str)]
    except (httpx.HTTPError, OSError) as error:
        raise AttachError(
            f"Cannot reach a server at {address.shown}: {clean_line(str(error), 300)}"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise AttachError(f"The program at {address.shown} is not oi-tui --server.") from None


class SessionConnection:
    """Receives the records of a session, each once and in order, until it is closed.

    `ring` is called from another thread when there is something to take. What the connection itself has to
    say comes as records too: {"event": "connection.lost"}, "connection.back" and "connection.ended".
    """

    def __init__(self, address: SessionAddress, session: str, ring: Callable[[], None]) -> None:
        self._address = address
        self._session = session
        self._ring = ring
        self._records: deque[dict[str, Any]] = deque()
        self._socket: ClientConnection | None = None
        #: The number of the newest event, behind which a new connection continues.
        self._last: int | None = None
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._receive, name="attach", daemon=True)
        self._thread.start()

    def pop_records(self) -> list[dict[str, Any]]:
        """Return the records that have come since the last call."""
        records = []
        with suppress(IndexError):
            while True:
                records.append(self._records.popleft())
        return records

    def send(self, record: Mapping[str, Any]) -> bool:
        """Send an action. Return False when there is no connection."""
        socket = self._socket
        if socket is None:
            return False
        try:
            socket.send(json.dumps(record))
        except (ConnectionClosed, OSError):
            return False
        return True

    def close(self) -> None:
        """Leave the session, which continues."""
        self._closed.set()
        if socket := self._socket:
            with suppress(OSError, ConnectionClosed):
                socket.close()
        self._thread.join(_TIMEOUT)

    def _receive(self) -> None:
        wait, is_lost = _FIRST_WAIT, False
        while not self._closed.is_set():
            try:
                with self._connect() as socket:
                    self._socket = socket
                    if self._closed.is_set():
                        # It was left while it connected.
                        return
                    if is_lost:
                        self._append({"event": "connection.back"})
                    wait, is_lost = _FIRST_WAIT, False
                    # Iterating raises for most codes with which a server closes.
                    with suppress(ConnectionClosed):
                        for text in socket:
                            self._handle_record(text)
                if socket.close_code in _ENDED:
                    self._append({"event": "connection.ended", "message": "The session has ended."})
                    return
            except InvalidStatus as refusal:
                reason = read_reason(bytes(refusal.response.body or b""))
                self._append({"event": "connection.ended", "message": f"The server refused: {reason}"})
                return
            except _FAILURES:
                pass
            finally:
                self._socket = None
            if not self._closed.is_set() and not is_lost:
                is_lost = True
                self._append({"event": "connection.lost"})
            self._closed.wait(wait)
            wait = min(wait * 2, _LONGEST_WAIT)

    def _connect(self) -> ClientConnection:
        after = "" if self._last is None else f"?after={self._last}"
        uri = f"{self._address.websocket}/v1/sessions/{self._session}/events{after}"
        options: dict[str, Any] = {
            "additional_headers": {"Authorization": f"Bearer {self._address.token}"},
            "open_timeout": _TIMEOUT,
            "close_timeout": 1,
            "max_size": _LARGEST,
            "compression": None,
        }
        if self._address.socket:
            connection: ClientConnection = unix_connect(str(self._address.socket), uri, **options)
        else:
            # A proxy of the environment would get the token.
            connection = connect(uri, proxy=None, **options)
        return connection

    def _handle_record(self, text: str | bytes) -> None:
        record = json.loads(text)
        if not isinstance(record, dict):
            raise ValueError("a record must be an object")
        if isinstance(number := record.get("number"), int):
            self._last = number
        self._append(record)

    def _append(self, record: dict[str, Any]) -> None:
        if not self._closed.is_set():
            self._records.append(record)
            self._ring()


def read_reason(body: bytes) -> str:
    """Return the server's own sentence for a refusal."""
    try:
        return clean_line(str(json.loads(body)["error"]["message"]), 300)
    except (ValueError, KeyError, TypeError):
        return "it gave no reason."
