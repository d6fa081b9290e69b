"""Lists the Dask, Ray and Spark schedulers that the environment names, and checks whether they answer."""

import os
import socket
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from oi_tui.text import clean_line

#: The variable that each library reads by itself, and its usual port.
_VARIABLES = {
    "Dask": ("DASK_SCHEDULER_ADDRESS", 8786),
    "Ray": ("RAY_ADDRESS", 6379),
    "Spark": ("SPARK_REMOTE", 15002),
}
#: How long a scheduler may take to accept a connection, in seconds.
_TIMEOUT = 1.0


def describe_schedulers(environment: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Return a line for each named scheduler; tries to connect to it, which takes a moment."""
    for title, (variable, port) in _VARIABLES.items():
        if address := environment.get(variable, "").strip():
            yield f"{title} scheduler ({variable}): {_describe(address, port)}"


def _describe(address: str, usual_port: int) -> str:
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        host, port = parts.hostname, parts.port or usual_port
    except ValueError:
        return f"{clean_line(address, 100)} is not an address"
    if address == "auto" or not host:
        return f"{clean_line(address, 100)} (not checked)"
    # A password in the address is not shown, and neither is a token behind it.
    endpoint = clean_line(f"{host}:{port}", 100)
    try:
        socket.create_connection((host, port), _TIMEOUT).close()
    except OSError as error:
        return f"{endpoint}, not reachable ({error.strerror or 'no answer'})"
    return f"{endpoint}, reachable"
