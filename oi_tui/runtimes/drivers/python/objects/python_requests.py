"""Requests of a cell to the application, by a socket: a line of JSON there, lines of JSON back."""

# mypy: ignore-errors

from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import json
import socket


def exchange(path, request, error):
    """Yield the answers to a request; raises `error` where the application cannot be reached."""
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(path)
            connection.sendall(json.dumps(request).encode() + b"\n")
            with connection.makefile("rb") as file:
                for line in file:
                    yield json.loads(line)
        except OSError as problem:
            raise error(f"oi-tui cannot be reached ({problem.strerror or problem}).") from None
