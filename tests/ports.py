"""Ports for programs that are told theirs, instead of asking for any."""

import itertools
import random
import socket

#: Below those that Linux (from 32768) and macOS (from 49152) give to programs that ask for any port: one of
#: those can be given away again between its choice and its use.
_FIRST, _LAST = 15_000, 32_000
_CANDIDATES = itertools.cycle(random.sample(range(_FIRST, _LAST), _LAST - _FIRST))


def choose_port() -> int:
    """Return a port of the loopback interface that nobody listens at, another one each time."""
    for port in itertools.islice(_CANDIDATES, _LAST - _FIRST):
        with socket.socket() as trial:
            try:
                trial.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no port is free")
