"""Fetches the images of a session from its server, and saves them as files."""

import base64
import logging
from urllib.parse import quote

import httpx

from oi_tui import paths
from oi_tui.attach.address import SessionAddress
from oi_tui.attach.connection import make_client
from oi_tui.engine.llm import images
from oi_tui.messages import Message

_log = logging.getLogger(__name__)
#: Seconds that the server may take, and the largest image, in bytes.
_TIMEOUT = 10.0
_LARGEST = 50_000_000
_FORMATS = {"image/png": "base64.png", "image/jpeg": "base64.jpeg"}


class Images:
    """Fetches the images of one session."""

    def __init__(self, address: SessionAddress, session: str) -> None:
        self._address = address
        self._session = session

    def save(self, message: Message) -> str:
        """Keep the image of a message as a file. Returns its path, "" where that fails."""
        try:
            kind, data = self._fetch(message.id)
        except (httpx.HTTPError, OSError, ValueError) as error:
            _log.warning("An image could not be fetched: %s", error)
            return ""
        if kind not in _FORMATS:
            return ""
        fetched = message.replace(format=_FORMATS[kind], content=base64.b64encode(data).decode())
        path = images.save(fetched, paths.data() / "outputs")
        return str(path) if path else ""

    def _fetch(self, image: str) -> tuple[str, bytes]:
        """Return the type and the bytes of an image. Raises ValueError for one that is too large."""
        address = self._address
        client = make_client(address, _TIMEOUT)
        path = f"/v1/sessions/{quote(self._session, safe='')}/images/{quote(image, safe='')}"
        with client, client.stream("GET", f"{address.base}{path}") as answer:
            answer.raise_for_status()
            data = bytearray()
            for part in answer.iter_bytes():
                data += part
                if len(data) > _LARGEST:
                    raise ValueError(f"it has more than {_LARGEST:,} bytes")
            return answer.headers.get("content-type", "").partition(";")[0].strip(), bytes(data)
