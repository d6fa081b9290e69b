"""Converts Jupyter's messages from and to WebSocket frames: JSON text, or one binary frame (version 1)."""

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

#: The subprotocol of binary frames, as Jupyter's clients offer it.
V1 = "v1.kernel.websocket.jupyter.org"
_PARTS = ("header", "parent_header", "metadata", "content")
#: A frame begins with the number of places in it, then the places, each of this many bytes.
_WORD = 8
#: Channel, parts and end, and so many buffers besides.
_LEAST_PLACES = len(_PARTS) + 2
_MOST_PLACES = _LEAST_PLACES + 1_000


def encode_frame(message: Mapping[str, Any], *, binary: bool) -> str | bytes:
    """Return the WebSocket frame of a message: text, or bytes with `binary`."""
    if not binary:
        return json.dumps(message)
    pieces = [str(message["channel"]).encode(), *(json.dumps(message[part]).encode() for part in _PARTS)]
    places = [_WORD * (len(pieces) + 2)]
    for piece in pieces:
        places.append(places[-1] + len(piece))
    return b"".join([_encode_word(len(places)), *map(_encode_word, places), *pieces])


def read_message(frame: str | bytes, *, binary: bool) -> dict[str, Any] | None:
    """Return the message in a frame; None if the frame is not valid."""
    try:
        if isinstance(frame, str):
            message = json.loads(frame)
        elif binary:
            message = _parse_pieces(frame)
        else:
            return None
        content = message.get("content") or {}
        if isinstance(message["header"]["msg_type"], str) and isinstance(content, dict):
            return {**message, "content": content}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    return None


def _parse_pieces(frame: bytes) -> dict[str, Any]:
    """Take a binary frame apart. Raises ValueError."""
    count = _decode_number(frame, 0)
    if not _LEAST_PLACES <= count <= _MOST_PLACES:
        raise ValueError("too few or too many parts")
    places = [_decode_number(frame, place + 1) for place in range(count)]
    if places[0] < _WORD * (count + 1) or places[-1] > len(frame) or places != sorted(places):
        raise ValueError("the parts are not in order")
    pieces = [frame[start:end] for start, end in pairwise(places)]
    message: dict[str, Any] = {"channel": pieces[0].decode()}
    for name, piece in zip(_PARTS, pieces[1:], strict=False):
        message[name] = json.loads(piece)
    return message


def _encode_word(number: int) -> bytes:
    return number.to_bytes(_WORD, "little")


def _decode_number(frame: bytes, place: int) -> int:
    return int.from_bytes(frame[_WORD * place : _WORD * (place + 1)], "little")
