"""Stores the tokens of signed-in servers where keys are stored."""

import hashlib
import json
import os
import threading
import time
from collections.abc import Mapping
from typing import Any, BinaryIO

from oi_tui import paths
from oi_tui.engine.credentials.keys import SecretError, Secrets
from oi_tui.engine.credentials.redaction import learn
from oi_tui.engine.settings.mcp_servers import McpServer
from oi_tui.engine.storage.append_file import lock, open_for_adding

#: What is kept of one server, in characters.
_LONGEST = 100_000
#: How long to wait for another oi-tui that renews the same sign-in, and how often to look, in seconds.
_TIMEOUT, _STEP = 15.0, 0.05


class SignIns:
    """The sign-ins, by the address of the server. Looking one up may take its time."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets

    def of(self, server: McpServer) -> dict[str, Any] | None:
        """Return what was kept of a sign-in, or None."""
        secret = self._secrets.find(_make_name(server))
        try:
            record = json.loads(secret.value) if secret else None
        except ValueError:
            return None
        if not isinstance(record, dict):
            return None
        _hide(record)
        return record

    def save(self, server: McpServer, kept: Mapping[str, Any]) -> None:
        """Save a sign-in. Raises SecretError."""
        _hide(kept)
        try:
            self._secrets.save(_make_name(server), json.dumps(kept, separators=(",", ":")), _LONGEST)
        except SecretError as error:
            raise SecretError(f"The sign-in could not be saved: {error}") from None

    def forget(self, server: McpServer) -> bool:
        """Forget a sign-in; return whether there was one. Raises SecretError."""
        return self._secrets.forget(_make_name(server))

    def claim(self, server: McpServer, stopped: threading.Event | None = None) -> BinaryIO | None:
        """Wait until no other oi-tui renews this sign-in; whoever closes the file lets the next one do it.

        None where no lock can be made, where the other one takes too long, or once `stopped` is set.
        """
        name = hashlib.sha256(_make_name(server).encode()).hexdigest()[:16]
        stopped, end = stopped or threading.Event(), time.monotonic() + _TIMEOUT
        try:
            path = paths.make_private(paths.state()) / f"sign-in-{name}.lock"
            file = os.fdopen(open_for_adding(path, os.O_WRONLY | os.O_CREAT), "ab")
        except OSError:
            return None
        while not lock(file.fileno()):
            if time.monotonic() >= end or stopped.wait(_STEP):
                file.close()
                return None
        return file


def is_over(kept: Mapping[str, Any] | None) -> bool:
    """Return whether the time of a token is over, so that it is renewed with the next request."""
    kept = kept or {}
    can_renew = bool((kept.get("tokens") or {}).get("refresh_token"))
    return can_renew and bool(kept.get("expires")) and time.time() >= kept["expires"]


def can_sign_in(server: McpServer) -> bool:
    """Return whether a person can sign in to the server: one over HTTP without its own key."""
    return bool(server.url) and not any(name.lower() == "authorization" for name in server.values)


def _make_name(server: McpServer) -> str:
    # The exact address: what one server gave is never sent to another.
    return f"MCP_SIGN_IN@{server.url}"


def _hide(kept: Mapping[str, Any]) -> None:
    """Register the tokens, so that they are removed from logs and reports."""
    for part, name in (("tokens", "access_token"), ("tokens", "refresh_token"), ("client", "client_secret")):
        value = (kept.get(part) or {}).get(name)
        if isinstance(value, str):
            learn(value)
