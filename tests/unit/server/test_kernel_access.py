"""The password for kernels, in a header and by signing in, as Open WebUI does with aiohttp."""

import contextlib
import http.client
import json
import uuid
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")
pytest.importorskip("uvicorn", reason="uvicorn (extra server) is not installed here")
pytest.importorskip("aiohttp", reason="aiohttp, which LiteLLM needs, is not installed here")

import aiohttp
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect as connect_now

from oi_tui.server.options import ServerOptions
from tests.unit.server.conftest import Serve
from tests.unit.server.running import TIMEOUT, Running

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
OPENED = (
    "GET /api",
    "GET /api/kernels",
    "GET /api/kernelspecs",
    "GET /api/kernelspecs/python3",
    "GET /api/sessions",
)
CLOSED = (
    "GET /v1/sessions",
    "POST /v1/sessions",
    "GET /v1/sessions/default",
    "POST /v1/sessions/default/answer",
    "POST /v1/sessions/default/say",
    "GET /v1/sessions/default/images/x",
    "POST /settings",
    "GET /settings/messages",
    "POST /openai/chat/completions",
    "POST /v1/responses",
    "GET /openapi.json",
    "POST /",
    "GET /apis",
    "GET /api/",
    "GET /api/other",
    "GET /api/kernelsx",
    "GET /api/../v1/sessions",
    "GET /v1/sessions#/api/kernels",
    "GET //api/kernels",
)


def sign_in(client: httpx.Client, password: str) -> httpx.Response:
    """Get the form's value, and send it with the password; the client keeps the cookies."""
    client.get("/login").raise_for_status()
    client.headers["X-XSRFToken"] = client.cookies["_xsrf"]
    return client.post("/login", data={"_xsrf": client.cookies["_xsrf"], "password": password})


def status_as_it_is(client: httpx.Client, method: str, path: str) -> int:
    """The status of a request whose path stays as it is; httpx would resolve the dots."""
    connection = http.client.HTTPConnection(client.base_url.host, client.base_url.port, timeout=TIMEOUT)
    headers = {"Content-Type": "application/json"} if method == "POST" else {}
    for name in ("Authorization", "X-API-KEY", "X-XSRFToken"):
        headers |= {name: client.headers[name]} if name in client.headers else {}
    headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    connection.request(method, path, "{}" if method == "POST" else None, headers)
    with contextlib.closing(connection), connection.getresponse() as answer:
        return answer.status


@pytest.fixture(params=["bearer", "token", "key", "cookie"])
def client(request: pytest.FixtureRequest, serve: Serve) -> Iterator[httpx.Client]:
    """A client that has the password for kernels only."""
    running = serve()
    password = running.options.kernel_password
    headers = {
        "bearer": {"Authorization": f"Bearer {password}"},
        "token": {"Authorization": f"token {password}"},
        "key": {"X-API-KEY": password},
        "cookie": {},
    }[request.param]
    with running.http(headers=headers) as client:
        if request.param == "cookie":
            assert sign_in(client, password).status_code == 204
        yield client


def test_the_password_for_kernels_opens_kernels_and_nothing_else(client: httpx.Client) -> None:
    def statuses(requests: tuple[str, ...]) -> dict[str, int]:
        return {line: status_as_it_is(client, *line.split()) for line in requests}

    assert statuses(OPENED) == dict.fromkeys(OPENED, 200)
    # Dots are a part of the name here, and there is no such kernel.
    assert status_as_it_is(client, "GET", "/api/kernels/../../v1/sessions") == 404
    assert statuses(CLOSED) == dict.fromkeys(CLOSED, 401)


@pytest.mark.parametrize("auto_run", [True, False])
async def test_open_webui_runs_code_with_the_password(serve: Serve, auto_run: bool) -> None:
    running = serve(auto_run=auto_run)
    async with aiohttp.ClientSession(base_url=f"{running.address}/") as session:
        async with session.get("login") as answer:
            xsrf = answer.cookies["_xsrf"].value
            session.cookie_jar.update_cookies(answer.cookies)
            session.headers.update({"X-XSRFToken": xsrf})
        form = {"_xsrf": xsrf, "password": running.options.kernel_password}
        async with session.post("login", data=form, allow_redirects=False) as answer:
            answer.raise_for_status()
            session.cookie_jar.update_cookies(answer.cookies)
        async with session.post("api/kernels") as answer:
            answer.raise_for_status()
            kernel = await answer.json()
        cookies = "; ".join(f"{item.key}={item.value}" for item in session.cookie_jar)
        headers = {"Cookie": cookies, **session.headers}
        address = f"{running.address.replace('http', 'ws')}/api/kernels/{kernel['id']}/channels"
        async with connect(address, additional_headers=headers) as socket:
            await run_cell(running, kernel, socket)
        async with session.delete(f"api/kernels/{kernel['id']}") as answer:
            assert answer.status == 204
    assert running.computer.ran == [("python", "print(1)")]


async def run_cell(running: Running, kernel: dict[str, Any], socket: Any) -> None:
    """Run a cell. A question is answered by somebody who has the token."""
    sent = uuid.uuid4().hex
    header = {"msg_id": sent, "msg_type": "execute_request", "session": "s", "version": "5.3"}
    content = {"code": "print(1)", "silent": False, "allow_stdin": False}
    message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
    await socket.send(json.dumps(message))
    if not running.profile.auto_run:
        with running.socket(f"/v1/sessions/{kernel['oi_tui_session']}/events") as watcher:
            state = watcher.receive()
            asked = state["question"] or watcher.until(event="question.asked")[-1]["question"]
            decision = {"do": "answer", "question": asked["id"], "hash": asked["hash"], "decision": "run"}
            watcher.send(decision)
            watcher.until(event="turn.ended")
    printed = ""
    while True:
        told = json.loads(await socket.recv())
        if told["parent_header"].get("msg_id") != sent:
            continue
        printed += told["content"].get("text", "")
        if told["content"].get("execution_state") == "idle":
            break
    assert "out of print(1)" in printed


def test_a_cookie_counts_only_with_its_own_header_and_at_this_start(serve: Serve) -> None:
    token = ServerOptions().token
    running, other = serve(token=token), serve(token=token)
    with running.http(headers={}) as client:
        sign_in(client, running.options.kernel_password)
        xsrf = client.headers.pop("X-XSRFToken")
        assert client.get("/api/kernels").status_code == 401
        for wrong in ("", "x", xsrf[:-1], f"{xsrf}x", "\xff"):
            headers = [(b"X-XSRFToken", wrong.encode("latin-1"))]
            assert client.get("/api/kernels", headers=headers).status_code == 401
        twice = [("X-XSRFToken", xsrf), ("X-XSRFToken", xsrf)]
        assert client.get("/api/kernels", headers=twice).status_code == 401
        assert client.get("/api/kernels", headers={"X-XSRFToken": xsrf}).status_code == 200
        cookies = dict(client.cookies)
    with other.http(headers={"X-XSRFToken": xsrf}, cookies=cookies) as client:
        assert client.get("/api/kernels").status_code == 401


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ("_xsrf={xsrf}&password={token}", 401),
        ("_xsrf={xsrf}&password=" + "A" * 43, 401),
        ("_xsrf={xsrf}&password=", 401),
        ("_xsrf={xsrf}&password=%ff%00", 401),
        ("password={password}", 403),
        ("_xsrf=&password={password}", 403),
        ("_xsrf=other&password={password}", 403),
        ("", 401),
        ("&".join(f"a{number}=1" for number in range(100)), 400),
        ("\xff", 400),
    ],
)
def test_whoever_lacks_the_password_or_the_cookie_is_not_signed_in(
    serve: Serve, form: str, status: int
) -> None:
    running = serve()
    with running.http(headers={}) as client:
        client.get("/login")
        values = {"token": running.options.token, "password": running.options.kernel_password}
        text = form.format(xsrf=client.cookies["_xsrf"], **values)
        answer = client.post("/login", content=text.encode("latin-1"), headers=FORM)
        assert answer.status_code == status
        assert "oi-tui-kernels" not in client.cookies


def test_a_foreign_page_cannot_sign_in_or_use_the_cookie(serve: Serve) -> None:
    running = serve()
    with running.http(headers={}) as client:
        sign_in(client, running.options.kernel_password)
        foreign = {"Origin": "http://evil.invalid"}
        login = {"_xsrf": client.cookies["_xsrf"], "password": running.options.kernel_password}
        assert client.post("/login", data=login, headers=foreign).status_code == 403
        assert client.get("/api/kernels", headers=foreign).status_code == 403
        assert client.post("/login", json=login).status_code == 415
        assert client.get(f"/api/kernels?token={running.options.token}").status_code == 400
        # A page cannot send the header with a WebSocket at all; without it, the cookie is nothing.
        cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        address = f"{running.address.replace('http', 'ws')}/api/kernels/x/channels"
        with pytest.raises(InvalidStatus, match="401"):
            connect_now(address, additional_headers={"Cookie": cookies}, open_timeout=TIMEOUT)


def test_a_body_of_a_kernel_may_be_called_text_as_jupyterlab_does(serve: Serve) -> None:
    """The token is asked for all the same, and other addresses take JSON alone."""
    running = serve()
    text = {"content": b'{"name": "python3"}', "headers": {"Content-Type": "text/plain;charset=UTF-8"}}
    with running.http() as client, running.http(headers={}) as foreign:
        assert client.post("/api/kernels", **text).status_code == 201
        assert client.post("/v1/sessions", **text).status_code == 415
        foreign.cookies = client.cookies
        assert foreign.post("/api/kernels", **text).status_code == 401


def test_the_password_belongs_to_the_token_and_does_not_tell_it() -> None:
    first, second = ServerOptions(), ServerOptions()
    assert first.kernel_password == ServerOptions(token=first.token).kernel_password
    assert first.kernel_password != second.kernel_password
    assert len(first.kernel_password) == 43
    assert first.token not in first.kernel_password
