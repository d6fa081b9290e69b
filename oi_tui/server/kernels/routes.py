"""Kernels as Jupyter's server offers them, so that notebooks and other clients can run code here.

Each cell is asked for like the model's code, in the page or by any other client of the kernel's session.
"""

import re
import uuid
from collections.abc import MutableMapping
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.websockets import WebSocket

from oi_tui.server.context import (
    ServerContext,
    choose_subprotocol,
    find_context,
    read_object,
    while_connected,
)
from oi_tui.server.fields import check_fields
from oi_tui.server.guard import RequestRefusedError
from oi_tui.server.hosted_session import HostedSession
from oi_tui.server.kernels.channels import Kernel, KernelConnection
from oi_tui.server.kernels.messages import V1
from oi_tui.server.kernels.request_fields import START
from oi_tui.server.sessions import UnknownSessionError

_DEFAULT = "python3"
#: What notebooks call the kernels of languages; others have the name of the language.
_KERNEL_NAMES = {"python": "python3", "r": "ir", "shell": "bash"}


async def show_version(_request: Request) -> Response:
    """Return the version of Jupyter's REST API."""
    return JSONResponse({"version": "2.0.0"})


async def list_specs(request: Request) -> Response:
    """Return the kernel specifications, one for each language."""
    session = await find_context(request).sessions.find()
    specs = {
        make_kernel_name(language): _describe_spec(language)
        for language in session.backend.computer.languages
    }
    default = _DEFAULT if _DEFAULT in specs else next(iter(specs), "")
    return JSONResponse({"default": default, "kernelspecs": specs})


async def show_spec(request: Request) -> Response:
    """Return one kernel specification."""
    session = await find_context(request).sessions.find()
    language = _find_language(session, request.path_params["name"])
    if language is None:
        raise RequestRefusedError(404, "There is no such kernel; GET /api/kernelspecs lists all.")
    return JSONResponse(_describe_spec(language))


async def list_kernels(request: Request) -> Response:
    """Return all kernels."""
    return JSONResponse([kernel.describe() for kernel in find_context(request).kernels.values()])


async def start_kernel(request: Request) -> Response:
    """Start a kernel with its own session."""
    body = await read_object(request) if await request.body() else {}
    check_fields(body, START)
    kernel = await begin_kernel(find_context(request), body.get("name"))
    kernel.ends_with_client = body.get("ends_with_client") is True
    return JSONResponse(kernel.describe(), 201)


async def begin_kernel(context: ServerContext, name: object) -> Kernel:
    """Start the kernel with this name; without a name, the default one. Raises RequestRefusedError."""
    name = _DEFAULT if name in (None, "") else name
    if not isinstance(name, str):
        raise RequestRefusedError(
            400, "name must be text: the name of a kernel, such as python3.", param="name"
        )
    session = await context.sessions.create()
    language = _find_language(session, name)
    computer = session.backend.computer
    if language is None or computer.explain_missing(language):
        await context.sessions.remove(session.id)
        names = ", ".join(map(make_kernel_name, computer.languages))
        raise RequestRefusedError(400, f"There is no kernel {name[:50]}. Kernels: {names}.", param="name")
    kernel = Kernel(str(uuid.uuid4()), language, make_kernel_name(language), session)
    context.kernels[kernel.id] = kernel
    return kernel


async def show_kernel(request: Request) -> Response:
    """Return one kernel."""
    return JSONResponse(_find_kernel(request).describe())


async def end_kernel(request: Request) -> Response:
    """End a kernel and its session."""
    await finish_kernel(find_context(request), _find_kernel(request))
    return Response(status_code=204)


async def interrupt_kernel(request: Request) -> Response:
    """Interrupt the running cell. Variables are kept."""
    _find_kernel(request).session.stop()
    return Response(status_code=204)


async def restart_kernel(request: Request) -> Response:
    """Restart the language. Variables are lost."""
    kernel = _find_kernel(request)
    await kernel.restart()
    return JSONResponse(kernel.describe())


async def serve_channels(socket: WebSocket) -> None:
    """Serve the WebSocket of a kernel."""
    context = find_context(socket)
    binary = V1 in socket.scope["subprotocols"]
    await socket.accept(subprotocol=V1 if binary else choose_subprotocol(socket))
    kernel = context.kernels.get(socket.path_params["id"])
    if kernel is None:
        await socket.close(4404, "There is no such kernel.")
        return
    limits = context.options.limits
    connection = KernelConnection(
        socket, kernel, limits, lambda: finish_kernel(context, kernel), binary=binary
    )
    kernel.clients.add(connection)
    try:
        await while_connected(socket, connection.receive(), connection.execute(), connection.close_at_end())
    finally:
        kernel.clients.discard(connection)
    if kernel.ends_with_client and not kernel.clients:
        await finish_kernel(context, kernel)


async def finish_kernel(context: ServerContext, kernel: Kernel) -> None:
    """End a kernel and its session."""
    context.kernels.pop(kernel.id, None)
    with suppress(UnknownSessionError):
        await context.sessions.remove(kernel.session.id)
    kernel.ended.set()


def end_kernels(kernels: MutableMapping[str, Kernel], session: HostedSession) -> None:
    """End the kernels of a session that was ended, and their connections."""
    for kernel in [kernel for kernel in kernels.values() if kernel.session is session]:
        del kernels[kernel.id]
        kernel.ended.set()


def _find_kernel(request: Request) -> Kernel:
    kernel = find_context(request).kernels.get(request.path_params["id"])
    if kernel is None:
        raise RequestRefusedError(404, "There is no such kernel.")
    return kernel


def make_kernel_name(language: str) -> str:
    """Return the name of a language's kernel specification."""
    return _KERNEL_NAMES.get(language, language)


def _find_language(session: HostedSession, name: str) -> str | None:
    """Return the language of a kernel by its name, such as python3 or julia-1.10, or by its own name."""
    computer = session.backend.computer
    own = next((language for language, kernel in _KERNEL_NAMES.items() if kernel == name), name)
    return computer.resolve(own) or computer.resolve(re.sub(r"[-\d.]+$", "", own))


def _describe_spec(language: str) -> dict[str, Any]:
    spec = {"argv": [], "display_name": f"{language} (oi-tui)", "language": language, "metadata": {}}
    return {"name": make_kernel_name(language), "spec": spec, "resources": {}}
