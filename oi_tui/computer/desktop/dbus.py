"""A small D-Bus client: calls methods of other programs and reads the replies, with the standard library.

Many calls can be sent before the first reply is read, which makes a tree of a thousand elements cheap.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from oi_tui.computer.errors import ComputerError

_CALL, _REPLY = 1, 2
_PATH, _INTERFACE, _MEMBER, _REPLY_SERIAL, _DESTINATION, _SIGNATURE = 1, 2, 3, 5, 6, 8
#: The `struct` codes of the types of a fixed size, which are aligned to that size.
_FIXED = {"y": "B", "b": "I", "n": "h", "q": "H", "i": "i", "u": "I", "x": "q", "t": "Q", "d": "d", "h": "I"}
_ALIGNED_TO_8 = "({xtd"
_LONGEST_MESSAGE = 128 * 1024 * 1024
#: How many calls may wait for their replies: a peer that is flooded could block on us while we block on it.
_IN_FLIGHT = 256


@dataclass(frozen=True)
class Call:
    """A method call: bus name, object path, interface, method and the arguments with their signature."""

    destination: str
    path: str
    interface: str
    member: str
    signature: str = ""
    arguments: Sequence[Any] = ()


class Bus:
    """A connection to the bus at an address. Raises OSError where it cannot be reached."""

    def __init__(self, address: str, seconds: float = 2.0) -> None:
        self._socket = _connect(address, seconds)
        self._serial = 0
        self._unread = bytearray()
        try:
            self._authenticate()
            hello = Call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello")
            if not self.call(hello, seconds):
                raise ConnectionError("the bus did not answer")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def call(self, call: Call, seconds: float = 2.0) -> tuple[Any, ...] | None:
        """Call one method; None where it fails or does not answer in time."""
        return self.calls([call], seconds)[0]

    def calls(self, calls: Sequence[Call], seconds: float = 2.0) -> list[tuple[Any, ...] | None]:
        """Call several methods at once and return their replies in the same order."""
        end = time.monotonic() + seconds
        replies: list[tuple[Any, ...] | None] = []
        for start in range(0, len(calls), _IN_FLIGHT):
            replies += self._batch(calls[start : start + _IN_FLIGHT], end)
        return replies

    def _batch(self, calls: Sequence[Call], end: float) -> list[tuple[Any, ...] | None]:
        if (remaining_seconds := end - time.monotonic()) <= 0:
            return [None] * len(calls)
        first = self._serial + 1
        self._socket.settimeout(remaining_seconds)
        self._socket.sendall(b"".join(self._message(call) for call in calls))
        replies: dict[int, tuple[Any, ...] | None] = {}
        while len(replies) < len(calls):
            message = self._receive(end)
            if message is None:
                break
            answered, reply = message
            # A late reply to an earlier batch is of no use any more.
            if answered is not None and answered >= first:
                replies[answered] = reply
        return [replies.get(first + index) for index in range(len(calls))]

    def _message(self, call: Call) -> bytes:
        self._serial += 1
        body = _Writer()
        for kind, value in zip(_split(call.signature), call.arguments):
            body.write(kind, value)
        fields = [
            (_PATH, "o", call.path),
            (_INTERFACE, "s", call.interface),
            (_MEMBER, "s", call.member),
            (_DESTINATION, "s", call.destination),
        ]
        if call.signature:
            fields.append((_SIGNATURE, "g", call.signature))
        header = _Writer()
        for kind, value in zip("yyyyuu", (ord("l"), _CALL, 0, 1, len(body.data), self._serial)):
            header.write(kind, value)
        header.write("a(yv)", [(number, (kind, value)) for number, kind, value in fields])
        header.align(8)
        return bytes(header.data + body.data)

    def _receive(self, end: float) -> tuple[int | None, tuple[Any, ...] | None] | None:
        """Return the next message: the number of the call that it answers, and the reply.

        None when time is up.
        """
        while (message := _parse(self._unread)) is None:
            if (remaining_seconds := end - time.monotonic()) <= 0:
                return None
            self._socket.settimeout(remaining_seconds)
            try:
                data = self._socket.recv(262144)
            except socket.timeout:  # noqa: UP041 -- another class before Python 3.10
                return None
            if not data:
                raise ConnectionError("the bus closed the connection")
            self._unread += data
        length, answered, reply = message
        del self._unread[:length]
        return answered, reply

    def _authenticate(self) -> None:
        identity = str(os.getuid()).encode().hex().encode()
        self._socket.sendall(b"\0AUTH EXTERNAL " + identity + b"\r\n")
        answer = b""
        while not answer.endswith(b"\r\n"):
            if not (data := self._socket.recv(1024)):
                raise ConnectionError("the bus closed the connection")
            answer += data
        if not answer.startswith(b"OK"):
            raise ConnectionError("the bus refused this user")
        self._socket.sendall(b"BEGIN\r\n")


class _Writer:
    """Writes values in the format of D-Bus, with the low byte first."""

    def __init__(self) -> None:
        self.data = bytearray()

    def align(self, size: int) -> None:
        self.data += b"\0" * (-len(self.data) % size)

    def write(self, kind: str, value: Any) -> None:
        """Append a value of one complete type."""
        if kind in _FIXED:
            code = _FIXED[kind]
            self.align(struct.calcsize(code))
            self.data += struct.pack("<" + code, value)
        elif kind in "sog":
            text = value.encode()
            self.write("y" if kind == "g" else "u", len(text))
            self.data += text + b"\0"
        elif kind == "v":
            self.write("g", value[0])
            self.write(value[0], value[1])
        elif kind[0] == "a":
            self._write_array(kind[1:], value)
        else:
            self.align(8)
            for inner, item in zip(_split(kind[1:-1]), value):
                self.write(inner, item)

    def _write_array(self, inner: str, values: Sequence[Any]) -> None:
        self.write("u", 0)
        at = len(self.data)
        self.align(_find_alignment(inner))
        begin = len(self.data)
        for value in values:
            self.write(inner, value)
        struct.pack_into("<I", self.data, at - 4, len(self.data) - begin)


class _Reader:
    """Reads values in the format of D-Bus. Raises ValueError or struct.error for what is none."""

    def __init__(self, data: bytes, order: str) -> None:
        self._data = data
        self._order = order
        self.at = 0

    def align(self, size: int) -> None:
        self.at += -self.at % size

    def read(self, kind: str) -> Any:
        """Read a value of one complete type."""
        if kind in _FIXED:
            code = _FIXED[kind]
            self.align(struct.calcsize(code))
            (value,) = struct.unpack_from(self._order + code, self._data, self.at)
            self.at += struct.calcsize(code)
            return bool(value) if kind == "b" else value
        if kind in "sog":
            length = self.read("y" if kind == "g" else "u")
            text = self._data[self.at : self.at + length]
            self.at += length + 1
            return text.decode("utf-8", "replace")
        if kind == "v":
            return self.read(self.read("g"))
        if kind[0] == "a":
            return self._read_array(kind[1:])
        self.align(8)
        return tuple(self.read(inner) for inner in _split(kind[1:-1]))

    def _read_array(self, inner: str) -> list[Any]:
        length = self.read("u")
        self.align(_find_alignment(inner))
        end = self.at + length
        if end > len(self._data):
            raise ValueError("an array is longer than its message")
        items = []
        while self.at < end:
            items.append(self.read(inner))
        return items


def _parse(data: bytearray) -> tuple[int, int | None, tuple[Any, ...] | None] | None:
    """Return the first message: its length, the call that it answers and the reply.

    None until it is complete.
    """
    if len(data) < 16:
        return None
    order = "<" if data[0] == ord("l") else ">"
    body_length, _, fields_length = struct.unpack_from(order + "III", data, 4)
    header_length = (16 + fields_length + 7) // 8 * 8
    length = header_length + body_length
    if length > _LONGEST_MESSAGE:
        raise ConnectionError("the bus sent a message that is too long")
    if len(data) < length:
        return None
    try:
        fields = _read_fields(bytes(data[:header_length]), order)
        body = _Reader(bytes(data[header_length:length]), order)
        values = tuple(body.read(kind) for kind in _split(fields.get(_SIGNATURE, "")))
    except (ValueError, IndexError, KeyError, struct.error, RecursionError):
        raise ConnectionError("the bus sent a message that is not understood") from None
    return length, fields.get(_REPLY_SERIAL), values if data[1] == _REPLY else None


def _read_fields(header: bytes, order: str) -> dict[int, Any]:
    reader = _Reader(header, order)
    reader.at = 12
    return dict(reader.read("a(yv)"))


def _split(signature: str) -> list[str]:
    """Return the complete types of a signature, one after the other."""
    types, at = [], 0
    while at < len(signature):
        end = _end_of_type(signature, at)
        types.append(signature[at:end])
        at = end
    return types


def _end_of_type(signature: str, at: int) -> int:
    if signature[at] == "a":
        return _end_of_type(signature, at + 1)
    if signature[at] not in "({":
        return at + 1
    depth = 0
    for end in range(at, len(signature)):
        depth += (signature[end] in "({") - (signature[end] in ")}")
        if not depth:
            return end + 1
    raise ValueError(f"the signature {signature} is not complete")


def _find_alignment(kind: str) -> int:
    if kind[0] in _ALIGNED_TO_8:
        return 8
    if kind[0] in "gvy":
        return 1
    return struct.calcsize(_FIXED.get(kind[0], "I"))


def _connect(addresses: str, seconds: float) -> socket.socket:
    """Connect to the first of the addresses that can be reached, `unix:path=/run/user/1000/bus;...`."""
    failure: OSError = ConnectionError(f"{addresses or 'an empty address'} names no socket of this machine")
    for address in addresses.split(";"):
        kind, _, rest = address.partition(":")
        values = dict(item.split("=", 1) for item in rest.split(",") if "=" in item)
        path = values.get("path") or ("\0" + values["abstract"] if "abstract" in values else "")
        if kind != "unix" or not path:
            continue
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(seconds)
        try:
            connection.connect(path)
        except OSError as error:
            connection.close()
            failure = error
        else:
            return connection
    raise failure


def find_session_address() -> str:
    """Return the address of the bus of this login. Raises ComputerError if there is none."""
    if address := os.environ.get("DBUS_SESSION_BUS_ADDRESS"):
        return address
    with contextlib.suppress(KeyError):
        path = os.path.join(os.environ["XDG_RUNTIME_DIR"], "bus")  # noqa: PTH118
        if os.path.exists(path):  # noqa: PTH110
            return f"unix:path={path}"
    raise ComputerError("There is no D-Bus session here (DBUS_SESSION_BUS_ADDRESS is not set).")
