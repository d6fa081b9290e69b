"""Stores the tokens of signed-in servers where keys are stored."""

import json
from collections.abc import Mapping
from typing import Any

from oi_tui.engine.credentials.keys import SecretError, Secrets
from oi_tui.engine.credentials.redaction import learn
from oi_tui.engine.settings.mcp_servers import McpServer

#: What is kept of one server, in characters.
_LONGEST = 100_000


class SignIns:
    """The sign-ins, by the address of the server. Looking one up may take its time."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets

    def of(self, server: McpServer) -> dict[str, Any] | None:
        """Return what was kept of a sign-in, or None."""
        found = self._secrets.find(_make_name(server))
        try:
            kept = json.loads(found.value) if found else None
        except ValueError:
            return None
        if not isinstance(kept, dict):
            return None
        _hide(kept)
        return kept

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


def can_sign_in(server: McpServer) -> bool:
    """Whether a person can sign in to the server: one over HTTP without its own key."""
    return bool(server.url) and not any(name.lower() == "authorization" for name in server.values)


def _make_name(server: McpServer) -> str:
    # The exact address: what one server gave is never sent to another.
    return f"MCP_SIGN_IN@{server.url}"


def _hide(kept: Mapping[str, Any]) -> None:
    """Have the tokens left out of logs and reports."""
    for part, name in (("tokens", "access_token"), ("tokens", "refresh_token"), ("client", "client_secret")):
        value = (kept.get(part) or {}).get(name)
        if isinstance(value, str):
            learn(value)
