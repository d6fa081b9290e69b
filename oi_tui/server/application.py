"""The routes of the server, behind the guard."""

import inspect
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from oi_tui.server import conversations, documents, native, original, page
from oi_tui.server.backend import Backend
from oi_tui.server.context import ServerContext, read_object
from oi_tui.server.guard import Receive, RequestGuard, RequestRefusedError, Scope, Send, make_error_body
from oi_tui.server.hosted_session import ConflictError
from oi_tui.server.kernels import login, notebook_sessions
from oi_tui.server.kernels import routes as kernels
from oi_tui.server.kernels.access import LOGIN
from oi_tui.server.kernels.channels import Kernel
from oi_tui.server.openai import completions, responses
from oi_tui.server.openai.completion_history import CompletionHistory
from oi_tui.server.openai.response_store import ResponseStore
from oi_tui.server.options import ServerOptions
from oi_tui.server.sessions import NoRoomError, Sessions, UnknownSessionError

_log = logging.getLogger(__name__)
#: A function behind a route that another program added.
Endpoint = Callable[..., Any]


def list_routes() -> list[BaseRoute]:
    """Return every route of the server."""
    session, kernel = "/v1/sessions/{id}", "/api/kernels/{id}"
    return [
        Route("/", page.show_page, methods=["GET"]),
        Route("/page/{name}", page.show_file, methods=["GET"]),
        Route("/heartbeat", original.heartbeat, methods=["GET"]),
        WebSocketRoute("/", original.chat),
        Route("/settings", original.change_settings, methods=["POST"]),
        Route("/settings/{name}", original.read_setting, methods=["GET"]),
        Route("/openapi.json", documents.serve_openapi, methods=["GET"]),
        Route("/asyncapi.json", documents.serve_asyncapi, methods=["GET"]),
        *_list_openai_routes("/openai"),
        *_list_openai_routes("/v1"),
        Route(LOGIN, login.show_login, methods=["GET"]),
        Route(LOGIN, login.sign_in, methods=["POST"]),
        Route("/api", kernels.show_version, methods=["GET"]),
        Route("/api/kernelspecs", kernels.list_specs, methods=["GET"]),
        Route("/api/kernelspecs/{name}", kernels.show_spec, methods=["GET"]),
        Route("/api/kernels", kernels.list_kernels, methods=["GET"]),
        Route("/api/kernels", kernels.start_kernel, methods=["POST"]),
        Route(kernel, kernels.show_kernel, methods=["GET"]),
        Route(kernel, kernels.end_kernel, methods=["DELETE"]),
        Route(f"{kernel}/interrupt", kernels.interrupt_kernel, methods=["POST"]),
        Route(f"{kernel}/restart", kernels.restart_kernel, methods=["POST"]),
        WebSocketRoute(f"{kernel}/channels", kernels.serve_channels),
        Route("/api/sessions", notebook_sessions.list_sessions, methods=["GET"]),
        Route("/api/sessions", notebook_sessions.create_session, methods=["POST"]),
        Route("/api/sessions/{id}", notebook_sessions.show_session, methods=["GET"]),
        Route("/api/sessions/{id}", notebook_sessions.end_session, methods=["DELETE"]),
        Route("/v1/conversations", conversations.list_conversations, methods=["GET"]),
        Route("/v1/sessions", native.list_sessions, methods=["GET"]),
        Route("/v1/sessions", native.create_session, methods=["POST"]),
        Route(session, native.show_session, methods=["GET"]),
        Route(session, native.delete_session, methods=["DELETE"]),
        Route(f"{session}/events", native.stream_events, methods=["GET"]),
        WebSocketRoute(f"{session}/events", native.watch),
        Route(f"{session}/images/{{image}}", native.show_image, methods=["GET"]),
        Route(f"{session}/{{action}}", native.perform_action, methods=["POST"]),
    ]


def _list_openai_routes(base: str) -> list[BaseRoute]:
    """Return the routes of OpenAI's interface."""
    response = f"{base}/responses/{{id}}"
    return [
        Route(f"{base}/chat/completions", completions.complete_chat, methods=["POST"]),
        Route(f"{base}/models", completions.list_models, methods=["GET"]),
        Route(f"{base}/models/{{name}}", completions.show_model, methods=["GET"]),
        Route(f"{base}/responses", responses.create_response, methods=["POST"]),
        Route(response, responses.retrieve_response, methods=["GET"]),
        Route(response, responses.delete_response, methods=["DELETE"]),
        Route(f"{response}/cancel", responses.cancel_response, methods=["POST"]),
        Route(f"{response}/input_items", responses.list_inputs, methods=["GET"]),
    ]


class Application(Starlette):
    """The server's application. The guard is a part of it, whichever web server runs it."""

    def __init__(self, make: Callable[[], Backend], options: ServerOptions) -> None:
        handlers = {
            ConflictError: _handle_conflict,
            NoRoomError: _handle_full,
            UnknownSessionError: _handle_unknown,
            RequestRefusedError: _handle_refused,
            HTTPException: _handle_no_route,
            500: _handle_failure,
        }
        super().__init__(routes=list_routes(), lifespan=self._while_running, exception_handlers=handlers)
        self._sessions = Sessions(make, options.limits)
        self._kernels: dict[str, Kernel] = {}
        self._sessions.on_removed = lambda session: kernels.end_kernels(self._kernels, session)
        self._responses = ResponseStore()
        self._completions = CompletionHistory()
        #: Called at the start, where somebody else's web server runs the application.
        self.announce: Callable[[], None] = _do_nothing
        self.use(options)

    def use(self, options: ServerOptions) -> None:
        """Serve with these options from now on."""
        self._guard = RequestGuard(super().__call__, options)
        self._sessions.may_grant = options.allow_settings
        self.state.context = ServerContext(
            options, self._sessions, self._guard, self._kernels, self._responses, self._completions
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass each request through the guard first."""
        await self._guard(scope, receive, send)

    @property
    def is_busy(self) -> bool:
        """Whether a turn is in progress in a session."""
        return any(session.busy for session in self._sessions.all)

    def stop(self) -> None:
        """Stop each turn; where one was stopped before, end the language of its run."""
        self._sessions.stop()

    def get(self, path: str) -> Callable[[Endpoint], Endpoint]:
        """Add a route for GET; what the function returns is sent as JSON unless it is a Response."""
        return self._make_adder(path, "GET")

    def post(self, path: str) -> Callable[[Endpoint], Endpoint]:
        """Add a route for POST; the function is called with the body, a JSON object."""
        return self._make_adder(path, "POST")

    def _make_adder(self, path: str, method: str) -> Callable[[Endpoint], Endpoint]:
        def add(function: Endpoint) -> Endpoint:
            async def endpoint(request: Request) -> Response:
                arguments = (await read_object(request),) if method == "POST" else ()
                response = function(*arguments, **request.path_params)
                result = await response if inspect.isawaitable(response) else response
                return result if isinstance(result, Response) else JSONResponse(result)

            # Before the routes that have a name in them.
            self.router.routes.insert(0, Route(path, endpoint, methods=[method]))
            return function

        return add

    @asynccontextmanager
    async def _while_running(self, _app: Starlette) -> AsyncIterator[None]:
        try:
            self.announce()
            yield
        finally:
            await self._sessions.close()


def _do_nothing() -> None:
    """Do nothing."""


def _make_error(status: int, problem: object) -> Response:
    return JSONResponse(make_error_body(status, str(problem)), status)


async def _handle_conflict(_request: Request, problem: Exception) -> Response:
    return _make_error(409, problem)


async def _handle_full(_request: Request, problem: Exception) -> Response:
    return _make_error(503, problem)


async def _handle_unknown(_request: Request, problem: Exception) -> Response:
    return _make_error(404, problem)


async def _handle_refused(_request: Request, problem: Exception) -> Response:
    assert isinstance(problem, RequestRefusedError)
    return JSONResponse(problem.body, problem.status)


async def _handle_no_route(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    nothing = "There is nothing at this address; GET /openapi.json lists all."
    if request.url.path.startswith(("/api/", "/lab", "/tree", "/notebooks")):
        nothing = (
            "There is nothing at this address. Of Jupyter's server, there are /api/kernelspecs, "
            "/api/kernels, /api/kernels/ID/channels and /api/sessions; no files, terminals or pages."
        )
    why = {
        404: nothing,
        405: f"{request.method} is not possible at this address; GET /openapi.json lists what is.",
    }.get(problem.status_code, problem.detail)
    return JSONResponse(make_error_body(problem.status_code, why), problem.status_code, problem.headers)


async def _handle_failure(request: Request, problem: Exception) -> Response:
    _log.error("A request failed: %s", request.url.path, exc_info=problem)
    return _make_error(500, f"The server failed: {type(problem).__name__}. The details are in its log.")
