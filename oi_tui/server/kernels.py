"""Kernels as Jupyter's server offers them, so that notebooks and other clients can run code here.

Each cell is asked for like the model's code, in the page or by any other client of the kernel's session.
"""

import asyncio
import json
import re
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from oi_tui.engine.events import MessageGrew, MessageRecorded, MessageStarted, RunReported, TurnEnded
from oi_tui.engine.output.plain import plain
from oi_tui.messages import InputRequested, Message
from oi_tui.server.context import Tempo, context_of, read_object, subprotocol, while_connected
from oi_tui.server.event_log import EventReader, GapError, LogItem, Question
from oi_tui.server.guard import RefusedError
from oi_tui.server.hosted_session import ConflictError, HostedSession
from oi_tui.version import __version__

_PROTOCOL_VERSION = "5.3"
_WAITING = "Waiting for approval in oi-tui.\n"
#: Cells of one client that may wait.
_MOST_WAITING = 100
_DEFAULT = "python"
_IMAGES = {"base64.png": "image/png", "base64.jpeg": "image/jpeg"}
_ENDS = ("finished", "failed", "interrupted", "lost", "rejected", "skipped", "unfinished")


@dataclass(slots=True)
class Kernel:
    """A language of a session, as a kernel."""

    id: str
    language: str
    session: HostedSession
    count: int = 0
    connections: int = 0
    used: datetime = field(default_factory=lambda: datetime.now(UTC))

    def described(self) -> dict[str, Any]:
        """The kernel as Jupyter describes it, and its session, where its questions are answered."""
        return {
            "id": self.id,
            "name": self.language,
            "last_activity": self.used.isoformat(),
            "execution_state": "busy" if self.session.busy else "idle",
            "connections": self.connections,
            "oi_tui_session": self.session.id,
        }


async def version(_request: Request) -> Response:
    """The version of Jupyter's interface."""
    return JSONResponse({"version": "2.0.0"})


async def list_specs(request: Request) -> Response:
    """The languages as kernel specifications."""
    session = await context_of(request).sessions.find()
    specs = {name: _spec(name) for name in session.backend.computer.languages}
    default = _DEFAULT if _DEFAULT in specs else next(iter(specs), "")
    return JSONResponse({"default": default, "kernelspecs": specs})


async def list_kernels(request: Request) -> Response:
    """Every kernel."""
    return JSONResponse([kernel.described() for kernel in context_of(request).kernels.values()])


async def start_kernel(request: Request) -> Response:
    """Make a kernel, with a session of its own."""
    context = context_of(request)
    body = await read_object(request) if await request.body() else {}
    session = await context.sessions.create()
    name = str(body.get("name") or _DEFAULT)
    computer = session.backend.computer
    language = computer.resolve(name) or computer.resolve(re.sub(r"\d+$", "", name))
    if language is None or computer.missing(language):
        await context.sessions.remove(session.id)
        raise RefusedError(400, f"There is no kernel {name[:50]}. Kernels: {', '.join(computer.languages)}.")
    kernel = Kernel(str(uuid.uuid4()), language, session)
    context.kernels[kernel.id] = kernel
    return JSONResponse(kernel.described(), 201)


async def show_kernel(request: Request) -> Response:
    """One kernel."""
    return JSONResponse(_kernel(request).described())


async def end_kernel(request: Request) -> Response:
    """End a kernel and its session."""
    kernel = _kernel(request)
    del context_of(request).kernels[kernel.id]
    await context_of(request).sessions.remove(kernel.session.id)
    return Response(status_code=204)


async def interrupt_kernel(request: Request) -> Response:
    """Interrupt what runs; variables are kept."""
    _kernel(request).session.stop()
    return Response(status_code=204)


async def restart_kernel(request: Request) -> Response:
    """Let the language forget."""
    kernel = _kernel(request)
    await _restart(kernel)
    return JSONResponse(kernel.described())


async def channels(socket: WebSocket) -> None:
    """The messages of a kernel as JSON."""
    context = context_of(socket)
    await socket.accept(subprotocol=subprotocol(socket))
    kernel = context.kernels.get(socket.path_params["id"])
    if kernel is None:
        await socket.close(4404, "There is no such kernel.")
        return
    connection = KernelConnection(
        socket, kernel, context.options.limits.send_seconds, context.options.limits.messages_per_second
    )
    kernel.connections += 1
    try:
        await while_connected(socket, connection.receive(), connection.execute())
    finally:
        kernel.connections -= 1


class KernelConnection:
    """A client at the channels of a kernel."""

    def __init__(self, socket: WebSocket, kernel: Kernel, send_seconds: float, tempo: float) -> None:
        self._socket = socket
        self._kernel = kernel
        self._send_seconds = send_seconds
        self._tempo = Tempo(tempo)
        self._sending = asyncio.Lock()
        self._cells: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue(_MOST_WAITING)

    async def receive(self) -> None:
        """Take messages until the client leaves."""
        with suppress(WebSocketDisconnect):
            while True:
                text = await self._socket.receive_text()
                await self._tempo.beat()
                try:
                    message = json.loads(text)
                    kind = str(message["header"]["msg_type"])
                    content = dict(message.get("content") or {})
                except (ValueError, KeyError, TypeError, RecursionError):
                    await self._socket.close(1003, "This is no message of Jupyter's.")
                    return
                await self._take(kind, message, content)

    async def _take(self, kind: str, message: Mapping[str, Any], content: Mapping[str, Any]) -> None:
        match kind:
            case "execute_request":
                await self._cells.put(message)
            case "input_reply":
                with suppress(ConflictError):
                    self._kernel.session.send_input(f"{content.get('value', '')}\n")
            case "interrupt_request":
                self._kernel.session.stop()
                await self._reply(message, "interrupt_reply", {"status": "ok"}, "control")
            case "shutdown_request":
                await _restart(self._kernel)
                reply = {"status": "ok", "restart": bool(content.get("restart"))}
                await self._reply(message, "shutdown_reply", reply, "control")
            case _ if kind.endswith("_request"):
                answer = _answers(self._kernel.language).get(kind, {"status": "error", "ename": "Unknown"})
                if kind == "complete_request":
                    answer = {**answer, **await asyncio.to_thread(_completions, self._kernel, content)}
                await self._busy_while(
                    message, self._reply(message, kind.replace("_request", "_reply"), answer, "shell")
                )

    async def execute(self) -> None:
        """Run the cells of the client, one after the other."""
        while True:
            message = await self._cells.get()
            await self._busy_while(message, self._execute(message))

    async def _busy_while(self, message: Mapping[str, Any], work: Any) -> None:
        await self._reply(message, "status", {"execution_state": "busy"}, "iopub")
        try:
            await work
        finally:
            await self._reply(message, "status", {"execution_state": "idle"}, "iopub")

    async def _execute(self, message: Mapping[str, Any]) -> None:
        kernel, code = self._kernel, str(message.get("content", {}).get("code", ""))
        kernel.used = datetime.now(UTC)
        count = {"execution_count": kernel.count}
        done = {"status": "ok", **count, "payload": [], "user_expressions": {}}
        if not code.strip():
            await self._reply(message, "execute_reply", done, "shell")
            return
        kernel.count += 1
        count = {"execution_count": kernel.count}
        await self._reply(message, "execute_input", {"code": code, **count}, "iopub")
        state, reason = await self._run(message, code)
        if state == "finished":
            await self._reply(message, "execute_reply", {**done, **count}, "shell")
            return
        error = {"ename": state, "evalue": reason, "traceback": [reason] if reason else []}
        if state != "failed" or reason:
            await self._reply(message, "error", error, "iopub")
        await self._reply(message, "execute_reply", {"status": "error", **error, **count}, "shell")

    async def _run(self, message: Mapping[str, Any], code: str) -> tuple[str, str]:
        """Have the code run; return its final state and why it ended so."""
        session, ended = self._kernel.session, ("failed", "")
        kinds: dict[str, str] = {}
        with EventReader(session.log) as reader:
            while not await asyncio.to_thread(session.wait, 1.0):
                pass
            reader.skip()
            try:
                session.propose(self._kernel.language, code)
            except ConflictError as problem:
                return "failed", str(problem)
            while True:
                try:
                    entries = await reader.next()
                except GapError:
                    reader.skip()
                    entries = ()
                for entry in entries:
                    if isinstance(entry.item, TurnEnded):
                        return ended
                    await self._tell(message, entry.item, kinds)
                    if final := _final(entry.item):
                        ended = final
                if not session.busy and reader.number >= session.log.last:
                    return ended

    async def _tell(self, parent: Mapping[str, Any], item: LogItem, kinds: dict[str, str]) -> None:
        match item:
            case MessageStarted(started):
                kinds[started.id] = started.type
            case MessageGrew(id, text) if kinds.get(id) == "console":
                await self._reply(parent, "stream", {"name": "stdout", "text": plain(text)}, "iopub")
            case MessageRecorded(Message(type="image", format=str(form), content=data)) if form in _IMAGES:
                shown = {"data": {_IMAGES[form]: data}, "metadata": {}, "transient": {}}
                await self._reply(parent, "display_data", shown, "iopub")
            case MessageRecorded(Message(role="computer", type="code", format="html", content=page)):
                shown = {"data": {"text/html": page}, "metadata": {}, "transient": {}}
                await self._reply(parent, "display_data", shown, "iopub")
            case RunReported(_, InputRequested(prompt, masked)):
                await self._reply(parent, "input_request", {"prompt": prompt, "password": masked}, "stdin")
            case Question():
                await self._reply(parent, "stream", {"name": "stderr", "text": _WAITING}, "iopub")

    async def _reply(
        self, parent: Mapping[str, Any], kind: str, content: Mapping[str, Any], channel: str
    ) -> None:
        header = {
            "msg_id": uuid.uuid4().hex,
            "msg_type": kind,
            "username": "oi-tui",
            "session": self._kernel.id,
            "date": datetime.now(UTC).isoformat(),
            "version": _PROTOCOL_VERSION,
        }
        record = {
            "header": header,
            "msg_id": header["msg_id"],
            "msg_type": kind,
            "parent_header": parent.get("header", {}),
            "metadata": {},
            "content": content,
            "buffers": [],
            "channel": channel,
        }
        async with self._sending:
            await asyncio.wait_for(self._socket.send_text(json.dumps(record)), self._send_seconds)


def _completions(kernel: Kernel, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what completes the code at the cursor; nothing while the language runs."""
    code, place = str(content.get("code", "")), content.get("cursor_pos")
    end = min(max(place, 0), len(code)) if isinstance(place, int) else len(code)
    found = kernel.session.backend.computer.complete(kernel.language, code[:end])
    start = end - min(found.typed, end) if found else end
    matches = [entry.text for entry in found.found] if found else []
    return {"matches": matches, "cursor_start": start, "cursor_end": end}


def _final(item: LogItem) -> tuple[str, str] | None:
    """The final state of the code, and why it ended so."""
    if isinstance(item, MessageRecorded) and item.message.role == "assistant":
        state = item.message.state
        if item.message.type == "code" and state in _ENDS:
            return state, item.message.reason or ""
    return None


async def _restart(kernel: Kernel) -> None:
    kernel.session.stop()
    await asyncio.to_thread(kernel.session.wait, 10)
    await asyncio.to_thread(kernel.session.backend.computer.reset)
    kernel.count = 0


def _kernel(request: Request) -> Kernel:
    kernel = context_of(request).kernels.get(request.path_params["id"])
    if kernel is None:
        raise RefusedError(404, "There is no such kernel.")
    return kernel


def _spec(language: str) -> dict[str, Any]:
    spec = {"argv": [], "display_name": f"{language} (oi-tui)", "language": language, "metadata": {}}
    return {"name": language, "spec": spec, "resources": {}}


def _answers(language: str) -> dict[str, dict[str, Any]]:
    """The answers to requests that run nothing."""
    return {
        "kernel_info_request": {
            "status": "ok",
            "protocol_version": _PROTOCOL_VERSION,
            "implementation": "oi-tui",
            "implementation_version": __version__,
            "language_info": {
                "name": language,
                "version": "",
                "mimetype": "text/plain",
                "file_extension": "",
            },
            "banner": "oi-tui",
            "help_links": [],
        },
        "is_complete_request": {"status": "unknown"},
        "complete_request": {"status": "ok", "matches": [], "metadata": {}},
        "inspect_request": {"status": "ok", "found": False, "data": {}, "metadata": {}},
        "history_request": {"status": "ok", "history": []},
        "comm_info_request": {"status": "ok", "comms": {}},
    }
