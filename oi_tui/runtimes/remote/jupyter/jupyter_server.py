"""The REST interface of a Jupyter server or kernel gateway: its token or password, and its kernels."""

import contextlib
import http.client
import json
import os
import re
import secrets
import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import quote, urlencode

from oi_tui.runtimes.remote.askpass import Ask, compose_question
from oi_tui.runtimes.remote.jupyter.server_address import ServerAddress
from oi_tui.runtimes.remote.target import TargetError

if TYPE_CHECKING:
    from oi_tui.runtimes.remote.connecting import StopSignal

T = TypeVar("T")
#: Finds a kept token by its name, or None.
FindToken = Callable[[str], "str | None"]

#: The variable with the token for every server that is named as a target.
TOKEN = "JUPYTER_TOKEN"
#: How long a server may take to answer a request, in seconds; starting a kernel takes longest.
_TIMEOUT = 40.0
#: How often the person is asked for a token.
_TRIES = 3
_LONGEST = 4_000_000
_MOST = 40
_SHORTEST_ID = 4
_ID = re.compile(r"[0-9a-f-]{36}")
_REFUSED = (401, 403)
_NOT_FOUND = 404
#: How often it is looked whether connecting was stopped, in seconds.
_GLANCE = 0.05


class JupyterServer:
    """A server that accepted a token or password. Raises TargetError where it is not reached or accepts none.

    Until `settle` is called, its requests are given up when `stopped` is set.
    """

    def __init__(
        self,
        address: ServerAddress,
        find_token: FindToken | None,
        ask: Ask | None,
        stopped: "StopSignal | None" = None,
    ) -> None:
        self.address = address
        self._stopped = stopped
        handlers: list[Any] = [_NoRedirects()]
        if address.is_loopback:
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)
        self._token = self._find_token(find_token)
        #: What a server without a token wants to see twice, in a cookie and in a header, with each change.
        self._xsrf = secrets.token_hex(16)
        #: The cookies that the server gave for a password.
        self._cookies: dict[str, str] = {}
        self._enter(ask)

    @property
    def headers(self) -> dict[str, str]:
        """What goes with every request."""
        if self._token:
            return {"Authorization": f"token {self._token}"}
        cookies = {**self._cookies, "_xsrf": self._xsrf}
        return {
            "Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items()),
            "X-XSRFToken": self._xsrf,
        }

    def _find_token(self, find_token: FindToken | None) -> str:
        """Return the token that is kept for this server, else that of the environment; "" for none."""
        saved = find_token(f"{TOKEN}@{self.address.host}") if find_token else None
        return saved or os.environ.get(TOKEN, "").strip()

    def _enter(self, ask: Ask | None) -> None:
        """See that the server accepts the token; ask for one, or for a password, where it does not."""
        host = self.address.host
        for count in range(_TRIES):
            if self._is_accepted():
                return
            if ask is None:
                raise TargetError(
                    f"The Jupyter server {host} needs a token or password: connect with %target, which asks "
                    f"for it; or set {TOKEN}, or run: keyring set oi-tui {TOKEN}@{host}"
                )
            open_ = "" if self.address.is_encrypted else " (sent without encryption)"
            question = f"Token or password of the Jupyter server {host}{open_}:"
            answer = ask(compose_question(question, is_repeated=count > 0), "secret")
            if answer is None:
                raise TargetError("Connecting was stopped.")
            self._token = _check(answer)
        if not self._is_accepted():
            raise TargetError(f"The Jupyter server {host} did not accept the token or password.")

    def _is_accepted(self) -> bool:
        """Return whether the server accepts what is known, as its token or as its password."""
        try:
            self._ask("GET", "api/kernelspecs")
        except _ForbiddenError:
            password, self._token = self._token, ""
            return bool(password) and self.unless_stopped(lambda: self._log_in(password))
        return True

    def _log_in(self, password: str) -> bool:
        """Give the password to the page where people log in; whether the server has taken it."""
        data = urlencode({"password": password}).encode()
        request = urllib.request.Request(f"{self.address.base}login", data, self.headers)
        try:
            with self._opener.open(request, timeout=_TIMEOUT) as answer:
                cookie_headers = answer.headers.get_all("Set-Cookie", [])
        except urllib.error.HTTPError as error:
            # It leads on to another page after the right password.
            with error:
                cookie_headers = error.headers.get_all("Set-Cookie", [])
        except (OSError, http.client.HTTPException):
            return False
        cookies = SimpleCookie()
        for line in cookie_headers:
            with contextlib.suppress(CookieError):
                cookies.load(line)
        self._cookies = {name: item.coded_value for name, item in cookies.items() if item.value}
        try:
            self._request("GET", "api/kernelspecs")
        except _ForbiddenError:
            self._cookies = {}
            return False
        return True

    # -- requests

    def unless_stopped(self, work: Callable[[], T], undo: Callable[[T], object] | None = None) -> T:
        """Do what may take long, and give it up when connecting is stopped.

        If stopped, it ends in the background, and `undo` is called with the result. Raises TargetError.
        """
        stopped = self._stopped
        if stopped is None:
            return work()
        request = _Request(work)
        while not request.done.wait(_GLANCE):
            if stopped.is_set():
                request.abandon(undo)
                raise TargetError("Connecting was stopped.")
        return request.wait_for_result()

    def settle(self) -> None:
        """Settle the connection: what is asked from now on belongs to runs, which see to their stops."""
        self._stopped = None

    def list_kernels(self) -> list[dict[str, Any]]:
        """Return the kernels that run; none where the server keeps its list to itself, as gateways do."""
        try:
            answer = self._ask("GET", "api/kernels")
        except _ForbiddenError:
            return []
        return [item for item in answer if isinstance(item, dict)] if isinstance(answer, list) else []

    def list_kernelspecs(self) -> tuple[str, list[str]]:
        """Return the name of the usual kernelspec, and the names of all."""
        answer = self._ask("GET", "api/kernelspecs")
        if not isinstance(answer, dict) or not isinstance(answer.get("kernelspecs"), dict):
            return "", []
        return str(answer.get("default", "")), sorted(map(str, answer["kernelspecs"]))

    def start(self, name: str) -> str:
        """Start a kernel of that kernelspec; its id. One that comes too late is ended."""
        answer = self.unless_stopped(
            lambda: self._request("POST", "api/kernels", {"name": name}), self._end_late
        )
        if not isinstance(answer, dict) or not isinstance(answer.get("id"), str):
            raise TargetError(f"{self.address.host} sent an invalid answer.")
        return str(answer["id"])

    def _end_late(self, found: object) -> None:
        if isinstance(found, dict) and isinstance(found.get("id"), str):
            self.end(found["id"])

    def interrupt(self, kernel: str) -> None:
        """Interrupt a kernel."""
        self._ask("POST", f"api/kernels/{quote(kernel, safe='')}/interrupt")

    def restart(self, kernel: str) -> None:
        """Restart a kernel."""
        self._ask("POST", f"api/kernels/{quote(kernel, safe='')}/restart")

    def end(self, kernel: str) -> None:
        """End a kernel."""
        self._request("DELETE", f"api/kernels/{quote(kernel, safe='')}", seconds=10.0)

    def is_running(self, kernel: str) -> bool:
        """Return whether there is still such a kernel. Raises TargetError where that cannot be known."""
        return self._fetch_model(kernel) is not None

    def _fetch_model(self, kernel: str) -> dict[str, Any] | None:
        """Return what the server says of a kernel; None where there is no such kernel."""
        try:
            answer = self._ask("GET", f"api/kernels/{quote(kernel, safe='')}")
        except _NotFoundError:
            return None
        return answer if isinstance(answer, dict) else None

    def _ask(self, method: str, path: str) -> Any:
        return self.unless_stopped(lambda: self._request(method, path))

    def _request(self, method: str, path: str, body: object = None, seconds: float = _TIMEOUT) -> Any:
        host = self.address.host
        data = None if method != "POST" else json.dumps(body if body is not None else {}).encode()
        headers = {**self.headers, "Content-Type": "application/json", "Accept": "application/json"}
        request = urllib.request.Request(f"{self.address.base}{path}", data, headers, method=method)
        try:
            with self._opener.open(request, timeout=seconds) as answer:
                text = answer.read(_LONGEST)
            return json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            with error:
                if error.code in _REFUSED:
                    raise _ForbiddenError(f"The Jupyter server {host} does not allow {path}.") from None
                if error.code == _NOT_FOUND and path.startswith("api/kernels/"):
                    raise _NotFoundError(f"The kernel is no longer on {host}.") from None
                raise TargetError(_explain(host, error, path)) from None
        except (OSError, http.client.HTTPException, ssl.SSLError) as error:
            why = getattr(error, "reason", None) or error
            raise TargetError(f"The Jupyter server {host} does not answer: {why}.") from None
        except ValueError:
            raise TargetError(f"{host} sent an invalid answer; is it a Jupyter server?") from None

    # -- choosing a kernel

    def choose(self) -> tuple[str, str, bool]:
        """Return the kernel that the address names: its id, its kernelspec,
        and whether it was started for us.
        """
        name = self.address.name
        if name and (kernel := self._find(name)):
            return str(kernel["id"]), str(kernel.get("name", "")), False
        try:
            usual, specs = self.list_kernelspecs()
        except TargetError:
            # A gateway may keep its list to itself.
            usual, specs = "", []
        if name is None:
            return self.start(usual or "python3"), usual or "python3", True
        if name in specs:
            return self.start(name), name, True
        raise TargetError(self._explain_choice(name, specs))

    def _find(self, name: str) -> dict[str, Any] | None:
        """Return the running kernel whose id begins so, if there is only one."""
        if len(name) < _SHORTEST_ID:
            return None
        matching = [item for item in self.list_kernels() if str(item.get("id", "")).startswith(name)]
        if len(matching) == 1:
            return matching[0]
        return self._fetch_model(name) if _ID.fullmatch(name) else None

    def _explain_choice(self, name: str, specs: list[str]) -> str:
        running = [_describe(item) for item in self.list_kernels()[:_MOST]]
        beginning = f"No kernel or kernelspec {name!r} on" if name else "Kernels of"
        kernels = ", ".join(running) or "none"
        return (
            f"{beginning} {self.address.host}. Running: {kernels}. "
            f"Kernelspecs: {', '.join(specs[:_MOST]) or 'none'}. "
            f"Write kernel:{self.address.base}#NAME with one of them."
        )


class _Request(Generic[T]):
    """A slow operation, in its own thread."""

    def __init__(self, work: Callable[[], T]) -> None:
        self.done = threading.Event()
        self._undo: Callable[[T], object] | None = None
        self._lock = threading.Lock()
        self._found: list[T] = []
        self._error: BaseException | None = None
        threading.Thread(target=self._do, args=(work,), name="jupyter", daemon=True).start()

    def _do(self, work: Callable[[], T]) -> None:
        try:
            self._found.append(work())
        except BaseException as error:  # noqa: BLE001 -- it belongs to whoever waits
            self._error = error
        with self._lock:
            self.done.set()
            undo = self._undo
        self._carry_out(undo)

    def wait_for_result(self) -> T:
        """Return the result. Raises what the work raised."""
        if self._error is not None:
            raise self._error
        return self._found[0]

    def abandon(self, undo: Callable[[T], object] | None) -> None:
        """Undo the result when it comes: nothing waits for it."""
        with self._lock:
            self._undo = undo
            late = self.done.is_set()
        if late:
            threading.Thread(target=self._carry_out, args=(undo,), daemon=True).start()

    def _carry_out(self, undo: Callable[[T], object] | None) -> None:
        # There is nobody to whom a failure could be reported, and the server ends what nobody uses.
        with contextlib.suppress(Exception):
            if undo and self._found:
                undo(self._found[0])


class _ForbiddenError(TargetError):
    """The server wants another token, or does not allow that at all."""


class _NotFoundError(TargetError):
    """There is no such kernel."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows nothing: the token is for the server that was named, and for no other."""

    def redirect_request(self, *_: Any) -> None:
        """Treat the redirect as an error."""
        return


def _check(token: str) -> str:
    token = token.strip()
    if not token.isascii() or not token.isprintable():
        raise TargetError(
            "The token or password of a Jupyter server is one line of plain letters and digits."
        )
    return token


def _explain(host: str, error: urllib.error.HTTPError, path: str) -> str:
    if 300 <= error.code < 400:
        return f"{host} leads to another address ({error.headers.get('Location', '?')[:200]}); name that one."
    if error.code == _NOT_FOUND:
        return f"{host} has no kernels at that address; is it the whole address of a Jupyter server?"
    words = ""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        words = str(json.loads(error.read(10_000)).get("message") or "")[:200]
    return f"The Jupyter server {host} refused {path}: {error.code} {words or error.reason}."


def _describe(kernel: dict[str, Any]) -> str:
    state = str(kernel.get("execution_state", "?"))
    return f"{str(kernel.get('id', ''))[:8]} ({kernel.get('name', '?')}, {state})"
