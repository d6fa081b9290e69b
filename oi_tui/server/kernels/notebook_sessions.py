"""Jupyter's sessions: a kernel and the notebook that uses it, as VS Code and JupyterLab ask for them."""

import uuid
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from oi_tui.server.context import find_context, read_object
from oi_tui.server.guard import RequestRefusedError
from oi_tui.server.kernels.channels import Kernel
from oi_tui.server.kernels.routes import begin_kernel, finish_kernel

#: The longest path, name or type of a notebook, in characters.
_LONGEST = 1_000


async def list_sessions(request: Request) -> Response:
    """Return all sessions whose kernel is alive."""
    kernels = find_context(request).kernels.values()
    alive = [kernel for kernel in kernels if kernel.notebook and not kernel.session.closed]
    return JSONResponse([_describe_session(kernel) for kernel in alive])


async def create_session(request: Request) -> Response:
    """Start a kernel for a notebook, or return the session of one that has a kernel."""
    context = find_context(request)
    body = await read_object(request)
    notebook = _describe_notebook(body)
    # Of two requests for one notebook at once, the second gets the kernel of the first.
    async with context.notebook_lock:
        for kernel in list(context.kernels.values()):
            if not kernel.notebook or kernel.notebook["path"] != notebook["path"]:
                continue
            if not kernel.session.closed:
                return JSONResponse(_describe_session(kernel), 201)
            # A client of another interface has deleted the session of the kernel.
            await finish_kernel(context, kernel)
        kernel = await _find_kernel(request, body)
        kernel.notebook = {"id": str(uuid.uuid4()), **notebook}
    return JSONResponse(_describe_session(kernel), 201)


async def show_session(request: Request) -> Response:
    """Return one session."""
    return JSONResponse(_describe_session(_find(request)))


async def end_session(request: Request) -> Response:
    """End a session and its kernel."""
    await finish_kernel(find_context(request), _find(request))
    return Response(status_code=204)


async def _find_kernel(request: Request, body: Mapping[str, Any]) -> Kernel:
    """Return the kernel that a request names by its id, or a new one of the language that it names."""
    context = find_context(request)
    selector = {} if body.get("kernel") is None else body["kernel"]
    if not isinstance(selector, dict):
        raise RequestRefusedError(
            400, 'kernel must be an object, such as {"name": "python3"}.', param="kernel"
        )
    if selector.get("id"):
        kernel = context.kernels.get(str(selector["id"]))
        if kernel is None:
            raise RequestRefusedError(
                400, "There is no kernel of this id; GET /api/kernels lists all.", param="kernel"
            )
        if kernel.notebook:
            raise RequestRefusedError(
                409, "The kernel belongs to another session; end that one first.", param="kernel"
            )
        return kernel
    return await begin_kernel(context, selector.get("name"))


def _describe_notebook(body: Mapping[str, Any]) -> dict[str, str]:
    older = {} if body.get("notebook") is None else body["notebook"]
    if not isinstance(older, dict):
        raise RequestRefusedError(400, "notebook must be an object.", param="notebook")
    path = body.get("path") or older.get("path")
    fields = {
        "path": path or str(uuid.uuid4()),
        "name": body.get("name") or "",
        "type": body.get("type") or "notebook",
    }
    for name, value in fields.items():
        if not isinstance(value, str) or len(value) > _LONGEST:
            raise RequestRefusedError(
                400, f"{name} must be text of at most {_LONGEST:,} characters.", param=name
            )
    return fields


def _find(request: Request) -> Kernel:
    for kernel in find_context(request).kernels.values():
        if kernel.notebook and kernel.notebook["id"] == request.path_params["id"]:
            return kernel
    raise RequestRefusedError(404, "There is no such session; GET /api/sessions lists all.")


def _describe_session(kernel: Kernel) -> dict[str, Any]:
    notebook = kernel.notebook
    # Older clients read the path there.
    older = {"notebook": {"path": notebook["path"], "name": notebook["name"]}}
    return {**notebook, "kernel": kernel.describe(), **older}
