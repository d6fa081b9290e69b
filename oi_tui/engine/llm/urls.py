"""The URLs of model servers: which can be called, and how one is shown."""

import ipaddress
import re
from urllib.parse import urlsplit

_EXAMPLE = "such as http://localhost:11434/v1"
_BRACKETS = "an address with the numbers of IPv6 in brackets, such as http://[::1]:8080/v1"


def hide_password(address: str) -> str:
    """Return the address as people and logs may see it: without a name and password, and in one line."""
    scheme, mark, rest = address.partition("://") if "://" in address else ("", "", address)
    if "@" in rest:
        rest = f"...@{rest.rpartition('@')[2]}"
    return "".join(c if c.isprintable() else "\ufffd" for c in scheme + mark + rest)


def explain_invalid(address: str) -> str | None:
    """Describe what a server address must be, where this one is not valid; else None."""
    if not address.isprintable() or " " in address:
        return "an address without spaces and characters that do not show"
    if address.startswith(("/", "unix:", "http+unix:")):
        return f"an address {_EXAMPLE} (socket files are not supported)"
    try:
        parts = urlsplit(address)
    except ValueError:
        return _BRACKETS
    if parts.scheme not in ("http", "https") or "://" not in address:
        return f"an address that begins with http:// or https://, {_EXAMPLE}"
    if "@" in parts.netloc:
        return "an address without a name and password (put the key in api_key)"
    if "[" not in parts.netloc and parts.netloc.count(":") > 1:
        return _BRACKETS
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        return "an address with a port from 1 to 65535"
    return None if _is_host(parts.hostname or "") else f"an address with a host name or number, {_EXAMPLE}"


def _is_host(host: str) -> bool:
    try:
        if ":" in host or re.fullmatch(r"[\d.]+", host):
            ipaddress.ip_address(host)
        return bool(host.encode("idna")) and not re.search(r"""[<>"'`\\^{}|,;()]""", host)
    except ValueError:
        return False
