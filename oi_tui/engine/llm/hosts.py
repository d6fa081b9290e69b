"""Says which hosts are this machine, and which are on the local network."""

import ipaddress
import re
import socket

#: Endings of names that only a local network knows.
_NEAR = (".local", ".lan", ".internal", ".home.arpa", ".localdomain")
#: What clients take for the name of a host as it stands. Others may become another name on the way: dots of
#: other scripts become dots, for example. A name of digits alone is no name but an address.
_NAME = re.compile(
    r"(?=.*[a-z])(?!0x)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*\.?",
    re.IGNORECASE,
)
_OLD_ADDRESS = re.compile(r"(?:0x[0-9a-f]+|\d+)(?:\.(?:0x[0-9a-f]+|\d+)){0,3}", re.IGNORECASE)
#: Networks that no address of the internet is in.
_LOCAL_NETWORKS = tuple(
    map(
        ipaddress.ip_network,
        (
            "0.0.0.0/32", "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16",
            "::/127", "fc00::/7", "fe80::/10",
        ),
    )
)  # fmt: skip
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def is_this_machine(host: str | None) -> bool:
    """Return whether the host is this very machine, as far as its name says."""
    if not host:
        return False
    if (address := _parse_address(host)) is not None:
        return address.is_loopback or address.is_unspecified
    return _NAME.fullmatch(host) is not None and f".{host.lower().removesuffix('.')}".endswith(".localhost")


def is_near(host: str | None) -> bool:
    """Return whether the host is this machine or one of the local network, as far as its name says.

    A name that is not understood for sure counts as a remote one.
    """
    if not host:
        return False
    if (address := _parse_address(host)) is not None:
        return any(address in network for network in _LOCAL_NETWORKS if network.version == address.version)
    if _NAME.fullmatch(host) is None:
        return False
    # A dot at the end makes a single word the name of a whole domain (http://ai./).
    return is_this_machine(host) or "." not in host or host.lower().removesuffix(".").endswith(_NEAR)


def _parse_address(host: str) -> _Address | None:
    """Return the address that a host is given by, in any of the forms that resolvers take.

    None for a name.
    """
    try:
        address: _Address = ipaddress.ip_address(host.removesuffix("."))
    except ValueError:
        return _read_old_address(host.removesuffix("."))
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address


def _read_old_address(host: str) -> ipaddress.IPv4Address | None:
    """Return an address of IPv4 with fewer than four parts, or octal
    or hexadecimal ones (2130706433, 0x7f.1).
    """
    if not _OLD_ADDRESS.fullmatch(host):
        return None
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except OSError:
        return None
