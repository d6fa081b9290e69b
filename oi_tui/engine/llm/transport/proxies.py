"""Environments with and without proxies."""

import os
import sys
from collections.abc import Mapping

#: The variables that HTTP libraries read proxies from.
_NAMES = frozenset(f"{kind}_proxy" for kind in ("http", "https", "all", "ws", "wss", "ftp", "socks"))


def may_use_proxies(environment: Mapping[str, str] | None) -> bool:
    """Return whether a process with this environment (by default ours) may find a proxy."""
    # macOS and Windows have proxies in the settings of the system, too.
    variables = os.environ if environment is None else environment
    return sys.platform != "linux" or any(name.lower() in _NAMES and variables[name] for name in variables)


def remove_proxies(environment: Mapping[str, str] | None) -> dict[str, str]:
    """Return the environment (by default ours) for a process that uses no proxy."""
    variables = os.environ if environment is None else environment
    kept = {name: value for name, value in variables.items() if name.lower() not in _NAMES}
    return kept | {"NO_PROXY": "*", "no_proxy": "*"}
