"""Serves the web page: a few files that contain no secrets."""

import mimetypes
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

_FOLDER = Path(__file__).parent / "page_files"


async def show_page(_request: Request) -> Response:
    """Return the page itself."""
    return _make_response("index.html")


async def show_file(request: Request) -> Response:
    """Return a file of the page; its name is looked up, never opened as a path."""
    return _make_response(request.path_params["name"])


def _make_response(name: str) -> Response:
    content = _read_files().get(name)
    if content is None:
        return Response("Not found", 404, media_type="text/plain")
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Response(content, media_type=kind)


@cache
def _read_files() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in _FOLDER.iterdir() if path.is_file()}
