"""Passes keys to our own processes by standard input, out of sight of /proc/PID/environ."""

import json
import os
from collections.abc import Mapping

from oi_tui.system.environment import select_public_variables


def divide(environment: Mapping[str, str]) -> tuple[dict[str, str], bytes]:
    """Return the variables that a process may begin with, and the first line to send it: the others."""
    public = select_public_variables(environment)
    secret = {name: value for name, value in environment.items() if name not in public}
    return public, json.dumps(secret).encode() + b"\n"


def receive() -> None:
    """Take the first line of standard input into the environment; what follows is left unread."""
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            return
        line += byte
    os.environ.update(json.loads(line))
