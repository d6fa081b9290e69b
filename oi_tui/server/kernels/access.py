"""Access to kernels alone: a password that opens nothing else, and signing in with it."""

import base64
import hashlib
import hmac
import secrets
from http.cookies import CookieError, SimpleCookie

#: Where a client signs in.
LOGIN = "/login"
#: The type of the form that it sends there.
FORM = b"application/x-www-form-urlencoded"
#: The cookie of a client that has signed in, and the one that it must send back as a header and in the form.
COOKIE = "oi-tui-kernels"
XSRF_COOKIE = "_xsrf"
_FOLDERS = ("/api/kernels", "/api/kernelspecs", "/api/sessions")


def derive_password(token: str) -> str:
    """Return the password for kernels that is derived from the token. It does not reveal the token."""
    return _sign(token.encode(), "kernels")


class KernelAccess:
    """Decides who may use the kernels without the token of the server.

    A client sends the password in a header, or it signs in with a form and then sends a cookie. The cookie is
    valid only together with the header X-XSRFToken, which a page of another server cannot send.
    """

    def __init__(self, password: str) -> None:
        self._digest = hashlib.sha256(password.encode()).digest()
        #: Of this start only, so that no cookie outlives the server.
        self._key = secrets.token_bytes(32)

    def is_password(self, given: bytes) -> bool:
        """Return whether this is the password. The comparison takes the same time for every wrong one."""
        return hmac.compare_digest(hashlib.sha256(given).digest(), self._digest)

    def ticket(self, xsrf: str) -> str:
        """Return the cookie for a client that has signed in; it is valid with this value of X-XSRFToken."""
        return _sign(self._key, xsrf)

    def has_ticket(self, cookies: bytes, xsrf: bytes) -> bool:
        """Return whether the cookies contain the ticket for this value of X-XSRFToken."""
        try:
            cookie = SimpleCookie(cookies.decode("ascii")).get(COOKIE)
            expected = self.ticket(xsrf.decode("ascii"))
        except (UnicodeDecodeError, CookieError):
            return False
        if cookie is None or not xsrf:
            return False
        return hmac.compare_digest(cookie.value.encode(), expected.encode())


def is_for_kernels(path: str) -> bool:
    """Return whether the path of a request belongs to the kernels."""
    return path == "/api" or any(path == item or path.startswith(f"{item}/") for item in _FOLDERS)


def _sign(key: bytes, text: str) -> str:
    digest = hmac.digest(key, text.encode(), "sha256")
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
