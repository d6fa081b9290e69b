"""The form with which a client of kernels signs in, in the way of a Jupyter server."""

import secrets
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from oi_tui.server.context import find_context
from oi_tui.server.guard import RequestRefusedError
from oi_tui.server.kernels.access import COOKIE, XSRF_COOKIE

_WHAT = "Clients of Jupyter's kernels sign in here with the password for kernels. The page is at /.\n"
_WRONG = "This is not the password for kernels, which oi-tui --server printed. The token is not taken here."
#: Fields of the form that are read; it has two.
_MOST_FIELDS = 10


async def show_login(request: Request) -> Response:
    """Set the cookie `_xsrf`, whose value a client must send with the password and with each request."""
    answer = PlainTextResponse(_WHAT)
    _set(answer, request, XSRF_COOKIE, secrets.token_urlsafe(32))
    return answer


async def sign_in(request: Request) -> Response:
    """Check the password for kernels, and set a cookie that is valid for kernels only."""
    access = find_context(request).guard.kernel_access
    try:
        form = parse_qs((await request.body()).decode("ascii"), max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise RequestRefusedError(400, "The body is not a form with _xsrf and password.") from None
    password, xsrf = (form.get(name, [""])[-1] for name in ("password", XSRF_COOKIE))
    if not access.is_password(password.encode()):
        raise RequestRefusedError(401, _WRONG)
    if not xsrf or request.cookies.get(XSRF_COOKIE) != xsrf:
        raise RequestRefusedError(403, "The form must have the value of the cookie _xsrf as _xsrf.")
    answer = Response(status_code=204)
    _set(answer, request, COOKIE, access.ticket(xsrf), secret=True)
    return answer


def _set(answer: Response, request: Request, name: str, value: str, *, secret: bool = False) -> None:
    secure = request.url.scheme == "https"
    answer.set_cookie(name, value, path="/", secure=secure, httponly=secret, samesite="strict")
