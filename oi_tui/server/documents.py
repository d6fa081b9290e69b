"""Writes the OpenAPI and AsyncAPI documents from the routes and the events."""

import inspect
import re
from collections.abc import Iterable
from dataclasses import fields
from typing import Any, get_args

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from oi_tui.engine.events import RunReported
from oi_tui.messages import Message, Report
from oi_tui.server import wire
from oi_tui.server.event_log import ApprovalQuestion
from oi_tui.server.guard import PUBLIC, PUBLIC_FOLDER
from oi_tui.server.kernels.access import FORM, LOGIN
from oi_tui.version import __version__

Document = dict[str, Any]
_TEXT = {"type": "string"}
#: The actions of a session: their required fields, and all fields.
ACTIONS: dict[str, tuple[tuple[str, ...], Document]] = {
    "say": (("content",), {"content": {"description": "text, or OpenAI's parts with text and images"}}),
    "propose": (("language", "code"), {"language": _TEXT, "code": _TEXT}),
    "answer": (
        ("question", "hash", "decision"),
        {
            "question": _TEXT,
            "hash": {**_TEXT, "description": "SHA-256 of the code in UTF-8, as the question has it"},
            "decision": {**_TEXT, "enum": ["run", "always", "edit", "reject"]},
            "grant": {"type": "integer", "description": "with always: which offer of the question, from 1"},
            "code": {**_TEXT, "description": "with edit: what runs instead"},
            "reason": {**_TEXT, "description": "with reject: the model gets it"},
            "stop": {"type": "boolean", "description": "with reject: end the turn"},
        },
    ),
    "input": (("text",), {"text": _TEXT}),
    "stop": ((), {}),
}


async def serve_openapi(request: Request) -> Response:
    """Return the OpenAPI document."""
    return JSONResponse(make_openapi_document(request.app.routes))


async def serve_asyncapi(request: Request) -> Response:
    """Return the AsyncAPI document."""
    return JSONResponse(make_asyncapi_document(request.app.routes))


def make_openapi_document(routes: Iterable[BaseRoute]) -> Document:
    """Describe every route of HTTP."""
    documents: dict[str, Document] = {}
    for route in routes:
        if isinstance(route, Route):
            for method in sorted((route.methods or set()) - {"HEAD"}):
                documents.setdefault(route.path, {})[method.lower()] = _describe_operation(route, method)
    return {
        "openapi": "3.1.0",
        "info": {"title": "oi-tui", "version": __version__},
        "paths": documents,
        "security": [{"bearer": []}, {"key": []}],
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "key": {"type": "apiKey", "in": "header", "name": "X-API-KEY"},
            },
            "schemas": {"Action": _describe_actions(), "Event": _describe_events()},
        },
    }


def make_asyncapi_document(routes: Iterable[BaseRoute]) -> Document:
    """Describe every WebSocket, and the messages of the current protocol."""
    summaries = {
        route.path: _read_summary(route.endpoint) for route in routes if isinstance(route, WebSocketRoute)
    }
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "oi-tui", "version": __version__},
        "channels": {
            re.sub(r"\W+", "_", path).strip("_") or "root": {"address": path, "description": description}
            for path, description in summaries.items()
        },
        "components": {
            "messages": {"Action": {"payload": _describe_actions()}, "Event": {"payload": _describe_events()}}
        },
    }


def _describe_operation(route: Route, method: str) -> Document:
    names = re.findall(r"{(\w+)}", route.path)
    operation: Document = {
        "summary": _read_summary(route.endpoint),
        "parameters": [{"name": name, "in": "path", "required": True, "schema": _TEXT} for name in names],
        "responses": {
            "2XX": {"description": "done"},
            "4XX": {"description": "refused; error.message says why"},
        },
    }
    if route.path in PUBLIC or route.path.startswith(PUBLIC_FOLDER):
        operation["security"] = []
    if route.path == LOGIN:
        operation["security"] = []
        form = {"type": "object", "required": ["_xsrf", "password"]}
        operation |= (
            {"requestBody": {"content": {FORM.decode(): {"schema": form}}}} if method == "POST" else {}
        )
    elif method == "POST":
        schema = {"$ref": "#/components/schemas/Action"} if "{action}" in route.path else {"type": "object"}
        operation["requestBody"] = {"content": {"application/json": {"schema": schema}}}
    return operation


def _read_summary(endpoint: Any) -> str:
    return (inspect.getdoc(endpoint) or "").partition("\n\n")[0].replace("\n", " ")


def _describe_actions() -> Document:
    return {
        "oneOf": [
            {
                "type": "object",
                "title": name,
                "required": list(required),
                "properties": {"do": {"const": name}, **properties},
            }
            for name, (required, properties) in ACTIONS.items()
        ]
    }


def _describe_events() -> Document:
    """Return the schema of the events, with the names of their fields."""
    schemas = []
    described = {ApprovalQuestion: ["question"], RunReported: ["id", "report", *_list_report_fields()]}
    for kind, name_of_event in wire.NAMES.items():
        names = described.get(kind) or [field.name for field in fields(kind)]
        properties: Document = {"event": {"const": name_of_event}, "number": {"type": "integer"}}
        for name in names:
            properties[name] = _describe_message() if name == "message" else {}
        schemas.append({"type": "object", "title": kind.__name__, "properties": properties})
    state = (
        "number",
        "id",
        "conversation",
        "title",
        "created",
        "busy",
        "waiting",
        "messages",
        "question",
        "input",
    )
    properties = {"event": {"const": "state"}, **{name: {} for name in state}}
    schemas.append({"type": "object", "title": "State", "properties": properties})
    return {"oneOf": schemas}


def _list_report_fields() -> list[str]:
    return sorted({field.name for kind in get_args(Report) for field in fields(kind)})


def _describe_message() -> Document:
    names = [field.name for field in fields(Message) if field.name != "unknown"]
    return {"type": "object", "properties": {**{name: {} for name in names}, "url": _TEXT}}
