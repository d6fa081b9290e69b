"""Reads all members of a reply packed with gzip, such as those of servers that pack each event by itself."""

import zlib
from typing import Any

#: The first bytes of a member.
_MAGIC = b"\x1f\x8b"


def read_all() -> None:
    """Have all responses of httpx in this process read every member of a body packed with gzip.

    It reads the first one, and drops the others without a word.
    """
    from httpx import DecodingError, _decoders

    class GzipMembersDecoder(_decoders.ContentDecoder):
        def __init__(self) -> None:
            self._member = _begin_member()
            #: The bytes after a member that may be the beginning of the next one.
            self._rest = b""
            self._given = self._returned = False

        def decode(self, data: bytes) -> bytes:
            self._given = self._given or bool(data)
            parts: list[bytes] = []
            try:
                while data:
                    if self._member.eof:
                        data = self._rest + data
                        self._rest = data[:1] if data == _MAGIC[:1] else b""
                        if not data.startswith(_MAGIC):
                            # Padding, or what no client reads.
                            break
                        self._member = _begin_member()
                    parts.append(self._member.decompress(data))
                    data = self._member.unused_data
            except zlib.error as error:
                raise DecodingError(str(error)) from error
            text = b"".join(parts)
            self._returned = self._returned or bool(text)
            return text

        def flush(self) -> bytes:
            if self._given and not self._returned and not self._member.eof:
                raise DecodingError("Error while decompressing data: only its beginning was sent")
            return b""

    _decoders.SUPPORTED_DECODERS["gzip"] = _decoders.SUPPORTED_DECODERS["x-gzip"] = GzipMembersDecoder


def _begin_member() -> Any:
    return zlib.decompressobj(zlib.MAX_WBITS | 16)
