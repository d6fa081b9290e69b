"""Parses the address of a server, a URL or a Unix socket, and its token."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from oi_tui import paths


class AddressError(ValueError):
    """An address that cannot be used; the message says what to change."""


@dataclass(frozen=True, slots=True)
class SessionAddress:
    """A server, and the token if it is known already."""

    #: Scheme, host and port. For a Unix socket, a name that the server accepts.
    base: str
    socket: Path | None = None
    token: str = field(default="", repr=False)

    @property
    def shown(self) -> str:
        """The address in words for the person."""
        return str(self.socket or self.base)

    @property
    def websocket(self) -> str:
        """The address for WebSockets, without a path."""
        return self.base.replace("http", "ws", 1)


def parse(text: str, environment: Mapping[str, str] = os.environ) -> SessionAddress:
    """Read `http://HOST:PORT`, the address of the page with its token, or the path of a Unix socket.

    Raises AddressError.
    """
    token = environment.get("INTERPRETER_API_KEY", "")
    if "://" not in text and ("/" in text or text.endswith(".sock")):
        return SessionAddress("http://localhost", paths.expand_typed(text).absolute(), token)
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        raise AddressError(_find_problem(text)) from None
    if parts.scheme not in ("http", "https") or not host or parts.path not in ("", "/") or parts.query:
        raise AddressError(_find_problem(text))
    if parts.username is not None:
        raise AddressError("--attach: the token must not stand before the @ of an address")
    name = f"[{host}]" if ":" in host else host
    return SessionAddress(
        f"{parts.scheme}://{name}{f':{port}' if port else ''}", None, read_token(text) or token
    )


def read_token(text: str) -> str:
    """Return the token in the address of the page, "" if there is none."""
    return text.partition("#token=")[2].strip()


def _find_problem(text: str) -> str:
    address = text.partition("#")[0]
    return f"--attach needs the server's address or Unix socket, such as http://127.0.0.1:8000, not {address}"
