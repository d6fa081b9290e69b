"""The host that a TLS client names when its connection begins (RFC 8446, RFC 6066).

The rest of the connection is encrypted and is not looked at. Reading is strict, so that no server can
understand another name than the one found here: what is unusual in a way that no client needs is an error.
"""

import hashlib
import socket
import time
from collections.abc import Iterator

#: The types of records and of handshake messages.
_HANDSHAKE, _CLIENT_HELLO, _SERVER_HELLO = 22, 1, 2
_LONGEST_RECORD = 16_384 + 2_048
#: Real ones have 0.2 to 2 KB, with the keys of newer algorithms up to about 20.
_LONGEST_HELLO = 65_536
#: The random number with which a server asks for a second ClientHello.
_RETRY = hashlib.sha256(b"HelloRetryRequest").digest()
#: How far a ServerHello goes until after its random number: header of the record, of the message, version.
_RANDOM = (5 + 4 + 2, 5 + 4 + 2 + len(_RETRY))
_SERVER_NAME = 0
#: Ends the connection with a reason that the client's library reports: unrecognized_name.
ALERT = bytes((21, 3, 3, 0, 2, 2, 112))


class NotTlsError(Exception):
    """What arrived is no ClientHello."""


class HandshakeReader:
    """Reads the beginning of what a socket sends, within a limit of time.

    `data` was read already.
    """

    def __init__(self, source: socket.socket, data: bytes, seconds: float) -> None:
        self._source = source
        self._data = bytearray(data)
        self._at = 0
        self._until = time.monotonic() + seconds

    def read(self, count: int) -> bytes:
        """Return the next bytes. Raises EOFError where there are fewer, and TimeoutError."""
        self.fill(count)
        if len(self._data) < self._at + count:
            raise EOFError
        self._at += count
        return bytes(self._data[self._at - count : self._at])

    def fill(self, count: int) -> bytes:
        """Return the next bytes: at least `count`, or all that there are. Raises TimeoutError."""
        while len(self._data) < self._at + count:
            self._source.settimeout(max(0.01, self._until - time.monotonic()))
            piece = self._source.recv(65_536)
            if not piece:
                break
            if time.monotonic() > self._until:
                raise TimeoutError
            self._data += piece
        return bytes(self._data[self._at :])

    def read_all(self) -> bytes:
        """Return all that arrived, also what was not read yet."""
        return bytes(self._data)


def read_host(beginning: HandshakeReader, *, others: bool = False) -> str | None:
    """Read a ClientHello and return the host that it names, in lower case; None for no host.

    It may be spread over several records. With `others`, records of other types may come first. Raises
    NotTlsError, EOFError, and OSError.
    """
    hello = bytearray()
    while len(hello) < 4 or len(hello) < 4 + int.from_bytes(hello[1:4], "big"):
        kind, major, _, high, low = beginning.read(5)
        length = high << 8 | low
        if major != 3 or not 0 < length <= _LONGEST_RECORD:
            raise NotTlsError
        payload = beginning.read(length)
        if kind == _HANDSHAKE:
            hello += payload
        elif hello or not others:
            raise NotTlsError
        if (hello and hello[0] != _CLIENT_HELLO) or int.from_bytes(hello[1:4], "big") > _LONGEST_HELLO:
            raise NotTlsError
    if len(hello) != 4 + int.from_bytes(hello[1:4], "big"):
        raise NotTlsError
    return _read_host(bytes(hello[4:]))


def wants_another(beginning: HandshakeReader) -> bool:
    """Return whether a server answers by asking for a second ClientHello, in
    which another host could be named.
    """
    start, end = _RANDOM
    answer = beginning.fill(end)
    is_hello = answer[:1] == bytes([_HANDSHAKE]) and answer[5:6] == bytes([_SERVER_HELLO])
    return is_hello and answer[start:end] == _RETRY


def _read_host(hello: bytes) -> str | None:
    """Return the host in the body of a ClientHello. Raises NotTlsError."""
    fields = _Fields(hello)
    fields.read(2 + 32)
    fields.read_value(1)  # session
    fields.read_value(2)  # ciphers
    fields.read_value(1)  # compressions
    if not fields.has_more():
        return None
    extensions = _Fields(fields.read_value(2))
    lists = [body for kind, body in extensions.read_pairs(2) if kind == _SERVER_NAME]
    if fields.has_more() or len(lists) > 1:
        raise NotTlsError
    if not lists:
        return None
    outer = _Fields(lists[0])
    names = list(_Fields(outer.read_value(2)).read_pairs(1))
    if outer.has_more() or len(names) != 1 or names[0][0] != 0:
        raise NotTlsError
    try:
        return names[0][1].decode("ascii").lower().rstrip(".")
    except UnicodeDecodeError:
        raise NotTlsError from None


class _Fields:
    """Values that follow each other, each with its length before it. Raises NotTlsError at a wrong length."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def has_more(self) -> bool:
        return bool(self._data)

    def read(self, count: int) -> bytes:
        if len(self._data) < count:
            raise NotTlsError
        data, self._data = self._data[:count], self._data[count:]
        return data

    def read_value(self, size: int) -> bytes:
        """Read a value; its length is written before it, in `size` bytes."""
        return self.read(int.from_bytes(self.read(size), "big"))

    def read_pairs(self, size: int) -> Iterator[tuple[int, bytes]]:
        """Read pairs of a type, a number of `size` bytes, and a value with a length of two bytes."""
        while self.has_more():
            yield int.from_bytes(self.read(size), "big"), self.read_value(2)
