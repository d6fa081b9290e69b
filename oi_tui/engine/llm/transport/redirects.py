"""Stops a redirect from sending a request to another server than the one the profile names.

HTTP clients follow a redirect with all that the request holds: the conversation, and, as they know only the
header Authorization for a secret, the keys that some providers want in headers of their own.
"""

from functools import wraps
from typing import Any

#: A server that sends a request to and fro within itself is asked this often.
_MOST = 5


def stay_on_server() -> None:
    """Keep all clients of httpx in this process from following redirects to another server.

    Nor does it make another method of a POST: what a redirect of that kind leads to answers no such request.
    The reply then is the redirect itself, an error, whose header Location has the whole address.
    """
    import httpx

    send = httpx.AsyncClient.send

    @wraps(send)
    async def send_here(client: httpx.AsyncClient, request: httpx.Request, **more: Any) -> httpx.Response:
        more["follow_redirects"] = False
        for _ in range(_MOST):
            response = await send(client, request, **more)
            onward = response.next_request
            if onward is None:
                break
            response.headers["location"] = str(onward.url)
            if onward.method != request.method or _split_server(onward.url) != _split_server(request.url):
                break
            await response.aclose()
            request = onward
        return response

    httpx.AsyncClient.send = send_here  # type: ignore[assignment,method-assign]


def _split_server(url: Any) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port
