"""The channels of a kernel: Jupyter's messages over a WebSocket."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from oi_tui.engine.events import MessageGrew, MessageRecorded, MessageStarted, RunReported, TurnEnded
from oi_tui.messages import InputRequested, Message, Starting, ValueBegan, ValueEnded
from oi_tui.server.context import ENDED, RateLimiter
from oi_tui.server.event_log import ApprovalQuestion, EventReader, GapError, LogItem
from oi_tui.server.fields import check_fields
from oi_tui.server.guard import RequestRefusedError
from oi_tui.server.hosted_session import ConflictError, HostedSession
from oi_tui.server.kernels import answers
from oi_tui.server.kernels.cell_stream import CellStream
from oi_tui.server.kernels.messages import encode_frame, read_message
from oi_tui.server.kernels.request_fields import REQUEST_FIELDS
from oi_tui.server.kernels.shown_value import ShownValue
from oi_tui.server.options import ServerLimits

#: How long the answer to the last cell may take once the kernel has ended, in seconds.
_ANSWER_SECONDS = 1.0
#: Cells of one client that may wait.
_MOST_WAITING = 100
#: How long a client that does not receive delays others, in seconds, and how many of its messages wait then.
_STALL_SECONDS = 1.0
_MOST_POSTS = 200
_IMAGES = {"base64.png": "image/png", "base64.jpeg": "image/jpeg"}
_ENDS = ("finished", "failed", "interrupted", "lost", "rejected", "skipped", "unfinished")
#: Cells by which a person leaves a console, and what has the console leave.
_EXITS = ("exit", "quit", "exit()", "quit()")
_ASK_EXIT = {"source": "ask_exit", "keepkernel": False}
_GAP = "\n(The output came faster than it could be sent; a part of it is missing here.)\n"
_NO_INPUT = "The program asked for input, and this client does not support input requests. It was stopped."

#: Ends the kernel for good.
End = Callable[[], Awaitable[None]]


@dataclass(slots=True, eq=False)
class Kernel:
    """A language of a session as a Jupyter kernel, with the clients that are connected to it."""

    id: str
    language: str
    name: str
    session: HostedSession
    count: int = 0
    clients: "set[KernelConnection]" = field(default_factory=set)
    used: datetime = field(default_factory=lambda: datetime.now(UTC))
    #: One cell runs at a time, whichever client sent it.
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    #: What the cell prints that runs now.
    stream: CellStream = field(default_factory=CellStream)
    #: Whether it ends with its last client. Whoever starts kernels themselves may be killed without a word.
    ends_with_client: bool = False
    #: How often clients restarted it.
    restarts: int = 0
    #: How often the language was started, and the places of values that it has shown and may show again.
    starts: int = 0
    places: set[str] = field(default_factory=set)
    #: Set when it has ended.
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    #: The notebook that uses it, where it has a session of Jupyter's: its id, path, name and type.
    notebook: dict[str, str] = field(default_factory=dict)

    async def wait_for_end(self) -> None:
        """Wait until it has ended, and the cell that was running is answered."""
        await self.ended.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(_ANSWER_SECONDS), self.turn:
                pass

    def describe(self) -> dict[str, Any]:
        """Return the kernel as Jupyter's REST API has it, with the session that shows its questions."""
        return {
            "id": self.id,
            "name": self.name,
            # Clients read the time in this form only.
            "last_activity": self.used.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "execution_state": "busy" if self.session.busy else "idle",
            "connections": len(self.clients),
            "oi_tui_session": self.session.id,
        }

    async def restart(self) -> None:
        """Restart the language, and drop the cells that wait. Variables are lost."""
        self.restarts += 1
        # Clients come and go meanwhile, and one that no longer receives does not end the restart.
        for client in list(self.clients):
            with suppress(WebSocketDisconnect, RuntimeError, OSError):
                await client.abort_waiting()
        # The first stop ends the question or the code, the second one its language.
        for seconds in (2.0, 10.0):
            self.session.reject_question()
            self.session.stop()
            if await asyncio.to_thread(self.session.wait, seconds):
                break
        await asyncio.to_thread(self.session.backend.computer.reset)
        self.count = 0

    async def publish(self, parent: Mapping[str, Any], kind: str, content: Mapping[str, Any]) -> None:
        """Send an IOPub message to all clients.

        A client that does not receive it does not delay the others for more than a moment, until many
        messages wait for it. The end of this call, because another client left, ends no post.
        """
        posts = [(client, client.post(parent, kind, content, "iopub")) for client in self.clients]
        # Each post begins, so that what is sent next comes behind it.
        await asyncio.sleep(0)
        whole = [post for client, post in posts if len(posts) == 1 or client.backlog > _MOST_POSTS]
        if whole:
            await asyncio.wait(whole)
        if brief := [post for client, post in posts if client.backlog == 1 and not post.done()]:
            await asyncio.wait(brief, timeout=_STALL_SECONDS)


class KernelConnection:
    """A client that is connected to a kernel. `end` ends the kernel when the client asks for it.

    With `binary`, messages are sent as binary frames.
    """

    def __init__(
        self, socket: WebSocket, kernel: Kernel, limits: ServerLimits, end: End, *, binary: bool
    ) -> None:
        self._socket = socket
        self._binary = binary
        self._kernel = kernel
        self._send_seconds = limits.send_seconds
        self._tempo = RateLimiter(limits.messages_per_second)
        self._end = end
        self._sending = asyncio.Lock()
        self._cells: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue(_MOST_WAITING)
        self._failed = False
        #: Messages that are being sent, or wait for that.
        self._posts: set[asyncio.Task[None]] = set()

    @property
    def backlog(self) -> int:
        """How many posts have not been sent."""
        return len(self._posts)

    async def receive(self) -> None:
        """Receive messages until the client disconnects or sends something that is no message."""
        with suppress(WebSocketDisconnect):
            while True:
                message = read_message(await self._receive_frame(), binary=self._binary)
                if message is None:
                    await self._socket.close(1003, "This is not a Jupyter message.")
                    return
                await self._tempo.wait_for_turn()
                if not await self._handle(message["header"]["msg_type"], message):
                    return

    async def close_at_end(self) -> None:
        """Close the connection once the kernel has ended."""
        await self._kernel.wait_for_end()
        await self._socket.close(ENDED, "The kernel was ended.")

    async def execute(self) -> None:
        """Run the client's cells, one after the other."""
        while True:
            message = await self._cells.get()
            restarts = self._kernel.restarts
            async with self._kernel.turn:
                if restarts != self._kernel.restarts:
                    await self._abort(message)
                    continue
                async with self._busy_while(message):
                    await self._execute(message)

    async def abort_waiting(self) -> None:
        """Drop the cells that wait now. A cell that arrives later still runs."""
        waiting = [self._cells.get_nowait() for _ in range(self._cells.qsize())]
        for message in waiting:
            await self._abort(message)

    def post(
        self, parent: Mapping[str, Any], kind: str, content: Mapping[str, Any], channel: str
    ) -> asyncio.Task[None]:
        """Send a message in a task of its own, behind those that wait. A failure is not raised."""

        async def send() -> None:
            with suppress(Exception):
                await self.send(parent, kind, content, channel)

        post = asyncio.create_task(send())
        self._posts.add(post)
        post.add_done_callback(self._posts.discard)
        return post

    async def send(
        self, parent: Mapping[str, Any], kind: str, content: Mapping[str, Any], channel: str
    ) -> None:
        """Send a message to this client. After a failure, nothing more is sent."""
        header = {
            "msg_id": uuid.uuid4().hex,
            "msg_type": kind,
            "username": "oi-tui",
            "session": self._kernel.id,
            "date": datetime.now(UTC).isoformat(),
            "version": answers.PROTOCOL_VERSION,
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
            if self._failed:
                raise WebSocketDisconnect
            try:
                await asyncio.wait_for(
                    self._send(encode_frame(record, binary=self._binary)), self._send_seconds
                )
            except Exception:
                self._failed = True
                raise

    async def _send(self, frame: str | bytes) -> None:
        if isinstance(frame, bytes):
            await self._socket.send_bytes(frame)
        else:
            await self._socket.send_text(frame)

    async def _receive_frame(self) -> str | bytes:
        received = await self._socket.receive()
        if received["type"] == "websocket.disconnect":
            raise WebSocketDisconnect
        return received.get("text") or received.get("bytes") or ""

    async def _handle(self, kind: str, message: Mapping[str, Any]) -> bool:
        """Handle a message. Returns whether the connection is still used."""
        content = message["content"]
        try:
            check_fields(content, REQUEST_FIELDS.get(kind, {}))
        except RequestRefusedError as problem:
            return await self._refuse(kind, message, problem.why)
        match kind:
            case "execute_request":
                try:
                    self._cells.put_nowait(message)
                except asyncio.QueueFull:
                    await self._abort(message)
            case "input_reply":
                line = content.get("value") or ""
                self._kernel.stream.expect_echo(line)
                with suppress(ConflictError):
                    self._kernel.session.send_input(f"{line}\n")
            case "interrupt_request":
                self._kernel.session.stop()
                await self.send(message, "interrupt_reply", {"status": "ok"}, "control")
            case "shutdown_request":
                return await self._shut_down(message)
            case "comm_open" | "comm_msg":
                closing = {"comm_id": str(content.get("comm_id", "")), "data": {}}
                async with self._busy_while(message):
                    await self._kernel.publish(message, "comm_close", closing)
            case "comm_close":
                async with self._busy_while(message):
                    pass
            case _ if kind.endswith("_request"):
                async with self._busy_while(message):
                    await self._answer(kind, message)
        return True

    async def _refuse(self, kind: str, message: Mapping[str, Any], why: str) -> bool:
        """Answer a message with a field that is wrong. Returns whether more are taken."""
        if not kind.endswith("_request"):
            await self._socket.close(1003, why)
            return False
        reply = {
            "status": "error",
            **_describe_error("ValueError", why),
            "execution_count": self._kernel.count,
        }
        async with self._busy_while(message):
            await self._reply(kind, message, reply)
        return True

    async def _answer(self, kind: str, message: Mapping[str, Any]) -> None:
        reply = await asyncio.to_thread(self._answer_to, kind, message["content"])
        await self._reply(kind, message, reply)

    async def _reply(self, kind: str, message: Mapping[str, Any], reply: Mapping[str, Any]) -> None:
        await self.send(message, f"{kind.removesuffix('_request')}_reply", reply, _read_channel(message))

    def _answer_to(self, kind: str, content: Mapping[str, Any]) -> dict[str, Any]:
        backend, language = self._kernel.session.backend, self._kernel.language
        match kind:
            case "kernel_info_request":
                return answers.describe_kernel(backend, language)
            case "complete_request":
                return answers.make_completions(backend, language, content)
            case "inspect_request":
                return answers.describe_at_cursor(backend, language, content)
            case "is_complete_request":
                return answers.judge_completeness(language, content)
            case "history_request":
                return answers.make_history(backend.messages, content)
            case "comm_info_request":
                return {"status": "ok", "comms": {}}
        return {"status": "error", "ename": "NotSupported", "evalue": f"no {kind[:50]}", "traceback": []}

    async def _shut_down(self, message: Mapping[str, Any]) -> bool:
        restarts = message["content"].get("restart") is True
        if restarts:
            await self._kernel.restart()
        reply = {"status": "ok", "restart": restarts}
        await self._kernel.publish(message, "shutdown_reply", reply)
        await self.send(message, "shutdown_reply", reply, _read_channel(message, "control"))
        if not restarts:
            await self._end()
        return restarts

    async def _abort(self, message: Mapping[str, Any]) -> None:
        aborted = {"status": "aborted", "execution_count": self._kernel.count}
        async with self._busy_while(message):
            await self.send(message, "execute_reply", aborted, "shell")

    @asynccontextmanager
    async def _busy_while(self, message: Mapping[str, Any]) -> AsyncIterator[None]:
        await self._kernel.publish(message, "status", {"execution_state": "busy"})
        try:
            yield
        finally:
            await self._kernel.publish(message, "status", {"execution_state": "idle"})

    async def _execute(self, message: Mapping[str, Any]) -> None:
        kernel, content = self._kernel, message["content"]
        code, silent = content.get("code") or "", content.get("silent") is True
        kernel.used = datetime.now(UTC)
        expressions = content.get("user_expressions")
        done = {
            "status": "ok",
            "execution_count": kernel.count,
            "payload": [],
            "user_expressions": dict.fromkeys(expressions or (), _UNEVALUATED),
        }
        if not code.strip():
            await self.send(message, "execute_reply", done, "shell")
            return
        if not silent and content.get("store_history") is not False:
            kernel.count += 1
        count = {"execution_count": kernel.count}
        if not silent:
            await kernel.publish(message, "execute_input", {"code": code, **count})
        error = await CellRun(kernel, self, message).run(code)
        if error is None:
            leaves = [_ASK_EXIT] if kernel.language == "python" and code.strip() in _EXITS else []
            await self.send(message, "execute_reply", {**done, **count, "payload": leaves}, "shell")
            return
        await kernel.publish(message, "error", error)
        await self.send(message, "execute_reply", {"status": "error", **error, **count}, "shell")
        if content.get("stop_on_error") is not False:
            await self.abort_waiting()


class CellRun:
    """A running cell. All clients get its events; the one that sent the cell is asked for input."""

    def __init__(self, kernel: Kernel, client: KernelConnection, message: Mapping[str, Any]) -> None:
        self._kernel = kernel
        self._client = client
        self._message = message
        self._takes_input = message["content"].get("allow_stdin") is not False
        self._is_silent = message["content"].get("silent") is True
        #: The types of messages that grow.
        self._types: dict[str, str] = {}
        self._stream = kernel.stream = CellStream()
        self._end: tuple[str, str] = ("failed", "")
        self._refused_input = False
        #: The value that is being shown.
        self._value: ShownValue | None = None
        #: Whether output is written again that the clients have.
        self._repeats = False

    async def run(self, code: str) -> dict[str, Any] | None:
        """Ask for the code and run it.

        Returns the content of Jupyter's `error` message if it failed, else None.
        """
        session = self._kernel.session
        # Nobody can answer a question here, so that this is nobody who watches.
        with EventReader(session.log, watches=False) as reader:
            while not await asyncio.to_thread(session.wait, 1.0):
                pass
            reader.skip()
            try:
                session.propose(self._kernel.language, code)
            except ConflictError as problem:
                return _describe_error("failed", str(problem))
            await self._follow(reader)
            await self._print_rest()
        return self._describe_end()

    async def _follow(self, reader: EventReader) -> None:
        session = self._kernel.session
        while True:
            try:
                entries = await reader.next(self._stream.timeout)
            except GapError:
                reader.skip()
                await self._go_on_after_gap()
                entries = ()
            if not entries:
                await self._print_rest()
            for entry in entries:
                if isinstance(entry.item, TurnEnded):
                    return
                await self._send_item(entry.item)
            if not session.busy and reader.number >= session.log.last:
                return

    async def _go_on_after_gap(self) -> None:
        """Say that output is missing, and find out what else was: an end, or a question of the program."""
        await self._print(self._stream.flush() + _GAP)
        session = self._kernel.session
        messages = session.snapshot().messages
        self._types |= {message.id: message.type for message in messages}
        self._value, self._repeats = None, False
        for message in messages:
            self._note_end(message)
        if session.waits_for:
            await self._ask(session.waits_for)

    def _note_end(self, message: Message) -> None:
        if message.role == "assistant" and message.type == "code" and message.state in _ENDS:
            self._end = message.state, message.reason or ""

    async def _send_item(self, item: LogItem) -> None:
        if isinstance(item, MessageGrew):
            if self._repeats or self._types.get(item.id) != "console":
                return
            if self._value and self._value.add(item.text):
                return
            await self._print(self._stream.add(item.text))
        elif isinstance(item, RunReported) and isinstance(item.report, InputRequested):
            await self._ask(item.report)
        else:
            # Other reports, such as of lines, come between a prompt and its question.
            if not isinstance(item, RunReported) or isinstance(item.report, ValueBegan | ValueEnded):
                await self._print(self._stream.flush())
            await self._send_other_item(item)

    async def _send_other_item(self, item: LogItem) -> None:
        match item:
            case MessageStarted(started):
                self._types[started.id] = started.type
            case MessageRecorded(Message(type="image", format=str(form), content=data)) if form in _IMAGES:
                await self._display(_IMAGES[form], data)
            case MessageRecorded(Message(role="computer", type="code", format="html", content=page)):
                await self._display("text/html", page)
            case RunReported(_, Starting()):
                self._kernel.starts += 1
                self._kernel.places.clear()
            case RunReported(_, ValueBegan("repeat")):
                self._repeats = True
            case RunReported(_, ValueEnded()) if self._repeats:
                self._repeats = False
            case RunReported(_, ValueBegan(kind, place)):
                self._value = ShownValue(kind, place)
            case RunReported(_, ValueEnded(forms)):
                value, self._value = self._value, None
                if value:
                    value.add_forms(forms)
                if value and value.data:
                    await self._publish_value(value.kind, value.data, value.place)
            case MessageRecorded(Message(role="assistant", type="code") as code):
                self._note_end(code)
            case ApprovalQuestion():
                await self._publish("stream", {"name": "stderr", "text": self._waiting})

    async def _display(self, mime: str, content: str) -> None:
        if self._repeats:
            return
        if self._value:
            self._value.data[mime] = content
        else:
            await self._publish_value("display", {mime: content})

    async def _publish_value(self, kind: str, data: Mapping[str, Any], place: str | None = None) -> None:
        await self._clear(wait=True)
        content: dict[str, Any] = {"data": data, "metadata": {}}
        if kind != "result":
            is_update = place in self._kernel.places
            self._kernel.places |= {place} if place else set()
            transient = {"display_id": f"{self._kernel.starts}/{place}"} if place else {}
            name = "update_display_data" if is_update else "display_data"
            await self._publish(name, {**content, "transient": transient})
        elif not self._is_silent:
            await self._publish("execute_result", {**content, "execution_count": self._kernel.count})

    async def _print(self, text: str) -> None:
        if text:
            await self._clear(wait=True)
            await self._publish("stream", {"name": "stdout", "text": text})

    async def _print_rest(self) -> None:
        """Print what was held back, or clear the output where nothing follows."""
        await self._print(self._stream.flush())
        await self._clear(wait=False)

    async def _clear(self, *, wait: bool) -> None:
        """Clear the output if the program has done so; with `wait`, once there is something in its place."""
        if self._stream.pop_clear():
            await self._publish("clear_output", {"wait": wait})

    async def _ask(self, request: InputRequested) -> None:
        if self._takes_input:
            before, prompt = self._stream.ask(request.prompt, masked=request.masked)
            await self._print(before)
            content = {"prompt": prompt, "password": request.masked}
            await self._client.send(self._message, "input_request", content, "stdin")
        elif not self._refused_input:
            self._refused_input = True
            self._kernel.session.stop()

    async def _publish(self, kind: str, content: Mapping[str, Any]) -> None:
        await self._kernel.publish(self._message, kind, content)

    @property
    def _waiting(self) -> str:
        return f"Waiting for approval: open the page of oi-tui, session {self._kernel.session.id}.\n"

    def _describe_end(self) -> dict[str, Any] | None:
        state, reason = self._end
        if self._refused_input:
            return _describe_error("StdinNotImplementedError", _NO_INPUT)
        if state == "finished":
            return None
        if state == "failed" and (error := self._stream.find_error(reason)):
            return _describe_error(*error)
        if state == "interrupted":
            return _describe_error("KeyboardInterrupt", reason)
        return _describe_error(state, reason or _REASONS.get(state, ""))


_REASONS = {
    "failed": "The code failed.",
    "rejected": "The code was rejected.",
    "skipped": "The code was not run.",
}
_UNEVALUATED = {
    "status": "error",
    "ename": "NotSupported",
    "evalue": "Expressions are not evaluated, because nobody approved them.",
    "traceback": [],
}


def _describe_error(name: str, value: str) -> dict[str, Any]:
    """Return the content of an `error` message.

    The traceback is in the output already, but some clients, such as papermill, show nothing of an error but
    this field. So it has the last line.
    """
    return {"ename": name, "evalue": value, "traceback": [f"{name}: {value}" if value else name]}


def _read_channel(message: Mapping[str, Any], default: str = "shell") -> str:
    channel = message.get("channel")
    return channel if channel in ("shell", "control") else default
