"""The address of a Jupyter server in the spelling of a target."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

#: Where an address was copied from a browser, what follows is a page and not the server's.
_PAGES = re.compile(r"/(?:lab|tree|notebooks|console)(?:/.*)?$")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class ServerAddress:
    """Where a server is, and which kernel is meant: an id, the name of a kernelspec, or "" for a new one."""

    base: str
    #: None where the address names no kernel at all; then a new one of the usual kind is started.
    name: str | None

    @property
    def host(self) -> str:
        """The host with its port."""
        return urlsplit(self.base).netloc

    @property
    def is_loopback(self) -> bool:
        """Whether it is this machine; no proxy leads there."""
        return (urlsplit(self.base).hostname or "") in _LOOPBACK

    @property
    def is_encrypted(self) -> bool:
        """Whether the token and the code are protected on the way."""
        return self.base.startswith("https:")


def parse_address(place: str) -> ServerAddress:
    """Return the address after `kernel:`. Raises ValueError for one that cannot be used."""
    address, hash_, name = place.partition("#")
    try:
        parts = urlsplit(address)
        port_is_wrong = parts.port == 0
    except ValueError:
        parts = None
    if parts and (parts.query or "@" in parts.netloc):
        # The target is shown on the screen and may be stored.
        raise ValueError(
            "The address of a Jupyter server cannot contain a token, password or query, because targets are "
            "shown and stored. Leave that out: the token is asked for."
        )
    if parts is None or not parts.hostname or port_is_wrong or not parts.netloc.isascii():
        raise ValueError(f"kernel:{place} is not an address: write kernel:https://HOST:PORT/#KERNEL.")
    path = _PAGES.sub("", parts.path).rstrip("/")
    return ServerAddress(f"{parts.scheme}://{parts.netloc}{path}/", name.strip() if hash_ else None)
