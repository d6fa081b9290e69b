"""Lets the headers of an answer hold other characters than ASCII, which some proxies and gateways send."""

from functools import wraps
from typing import Any


def accept_any_headers() -> None:
    """Have all responses of httpx in this process take headers in any encoding.

    aiohttp hands them on as text, and httpx would refuse every answer with a character that is not ASCII.
    """
    import httpx

    begin = httpx.Response.__init__

    @wraps(begin)
    def begin_with_bytes(response: httpx.Response, *given: Any, headers: Any = None, **more: Any) -> None:
        if hasattr(headers, "items") and not isinstance(headers, httpx.Headers):
            headers = [(_encode(name), _encode(value)) for name, value in headers.items()]
        begin(response, *given, headers=headers, **more)

    httpx.Response.__init__ = begin_with_bytes  # type: ignore[assignment,method-assign]


def _encode(text: Any) -> Any:
    return text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
