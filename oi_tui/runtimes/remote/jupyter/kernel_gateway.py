"""Exchanges messages with a kernel of a Jupyter server or kernel gateway, over its WebSocket."""

import contextlib
import json
import queue
import struct
import threading
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from oi_tui.runtimes.remote import wire
from oi_tui.runtimes.remote.askpass import Ask
from oi_tui.runtimes.remote.jupyter.jupyter_server import FindToken, JupyterServer
from oi_tui.runtimes.remote.jupyter.kernel_client import BAD_MESSAGE, Message, belongs_to, has_parts
from oi_tui.runtimes.remote.jupyter.server_address import parse_address
from oi_tui.runtimes.remote.target import TargetError
from oi_tui.system.extras import make_install_command
from oi_tui.system.failures import describe_failure
from oi_tui.system.threads import SpareThread

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

    from oi_tui.runtimes.remote.connecting import StopSignal

#: How often the server is asked whether it is there, and how long it may take to answer, in seconds.
_BEAT, _SILENCE = 2.0, 8.0
#: How long a new connection may take, in seconds.
_OPENING = 10.0
#: How long a kernel may take to be restarted, in seconds.
_RESTARTING = 30.0
#: How long it is waited for the end of a kernel, in seconds; once it is asked for, its server ends it.
_ENDING = 3.0
#: The same when connecting was stopped.
_ENDING_WHEN_STOPPED = 0.5
#: How long it is waited between two attempts to connect again, in seconds.
_PAUSE = 0.5
#: How long it is waited at most until the output of a kernel is heard after a cut, in seconds, and how often
#: it is asked meanwhile. Kernels that answer only when their code has ended are not waited for any longer.
_HEARING, _ASKING = 2.0, 0.2
_VERSION = "5.3"
_ENDED = ("restarting", "dead", "autorestarting")


class GatewayClient:
    """A kernel of a server. Made, it is connected, unless `stopped` is set before. Raises TargetError.

    A connection that is cut is made again for `wire.SILENCE` seconds. The server keeps what the kernel says
    meanwhile, and what was on its way at that moment may be lost.
    """

    def __init__(
        self,
        place: str,
        *,
        find_token: FindToken | None = None,
        ask: Ask | None = None,
        stopped: "StopSignal | None" = None,
    ) -> None:
        try:
            import websockets.sync.client  # noqa: F401 -- before a kernel is started in vain
        except ModuleNotFoundError:
            command = make_install_command("oi-tui[kernel]")
            raise TargetError(f"Addresses of Jupyter servers need another package: {command}") from None
        address = parse_address(place)
        self._server = JupyterServer(address, find_token, ask, stopped)
        self._kernel, spec, self.owned = self._server.choose()
        self.program = f"{address.base}#{self._kernel}"
        short = self._kernel[:8]
        open_ = "" if address.is_encrypted or address.is_loopback else ", not encrypted"
        self.title = f"kernel {short} on {address.host}"
        what = f"a new kernel ({spec})" if self.owned else f"the kernel {short} ({spec})"
        self.where = f"in {what} on {address.host}{open_}"
        #: The server keeps what is said for a session whose connection was cut.
        self._session = uuid.uuid4().hex
        self._channels: dict[str, queue.Queue[Message]] = {
            name: queue.Queue() for name in ("iopub", "shell", "stdin")
        }
        self._closing = threading.Event()
        self._gone: str | None = None
        #: The kernel ended while code ran, or between two runs; its server restarts it.
        self._restarted: str | None = None
        self._unsure: str | None = None
        self._restarting: threading.Event | None = None
        self._interrupt: threading.Event | None = None
        #: Sends requests that are not waited for.
        self._spare = SpareThread("kernel end")
        #: The server may not hear yet what the kernel prints.
        self._is_new = False
        #: Requests after a cut whose effect shows that output is heard again.
        self._greetings: set[str] = set()
        self._heard = threading.Event()
        self._notes: queue.Queue[str] = queue.Queue()
        self._sending: queue.Queue[str] = queue.Queue()
        #: A question is answered by its own request.
        self._question: Message = {}
        try:
            self._socket = self._server.unless_stopped(self._open, lambda late: late.close())
        except (TargetError, OSError) as error:
            was_stopped = stopped is not None and stopped.is_set()
            self._end_kernel(_ENDING_WHEN_STOPPED if was_stopped else _ENDING)
            if was_stopped:
                raise TargetError("Connecting was stopped.") from None
            raise TargetError(f"No connection to the kernel on {address.host}: {error}") from None
        self._server.settle()
        try:
            threading.Thread(target=self._read, name="kernel", daemon=True).start()
            threading.Thread(target=self._write, name="kernel", daemon=True).start()
        except RuntimeError as error:
            self._closing.set()
            self._socket.close()
            self._end_kernel(_ENDING)
            raise TargetError(f"{self.title}: {describe_failure(error)}.") from None

    # -- the connection

    def _open(self) -> "ClientConnection":
        """Return a new connection. Raises TargetError or OSError."""
        from websockets.exceptions import WebSocketException
        from websockets.sync.client import connect

        address = self._server.address
        url = f"ws{address.base[4:]}api/kernels/{self._kernel}/channels?session_id={self._session}"
        try:
            connection = connect(
                url,
                additional_headers=self._server.headers,
                open_timeout=_OPENING,
                close_timeout=1,
                ping_interval=_BEAT,
                ping_timeout=_SILENCE,
                max_size=wire.LONGEST,
                proxy=None if address.is_loopback else True,
            )
            # Later versions warn otherwise; `close` is what its end would do.
            return connection.__enter__()
        except WebSocketException as error:
            raise TargetError(str(error)) from None

    def _read(self) -> None:
        """Sort what comes into the queues; connect again when the connection is cut."""
        from websockets.exceptions import WebSocketException

        while not self._closing.is_set():
            try:
                for data in self._socket:
                    with contextlib.suppress(*BAD_MESSAGE):
                        self._handle_message(_decode(data))
            except (WebSocketException, OSError):
                pass
            if not self._closing.is_set() and not self._connect_again():
                return
        # It may have been made again while `close` closed the one before.
        with contextlib.suppress(Exception):
            self._socket.close()

    def _connect_again(self) -> bool:
        host = self._server.address.host
        with contextlib.suppress(Exception):
            self._socket.close()
        self._notes.put(
            f"the connection to {host} was cut; oi-tui tries for {wire.SILENCE:.0f} seconds to connect again"
        )
        until = time.monotonic() + wire.SILENCE
        why = "it was cut"
        while time.monotonic() < until and not self._closing.is_set():
            try:
                if not self._server.is_running(self._kernel):
                    self._gone = "the kernel ended, and its variables are lost"
                    return False
                self._socket = self._open()
            except Exception as error:  # noqa: BLE001 -- whatever it is, it is tried again
                why = str(error)
                self._closing.wait(_PAUSE)
                continue
            self._unsure = f"the connection to {host} was cut for a moment"
            threading.Thread(target=self._report_reconnection, args=(self._socket, host), daemon=True).start()
            return True
        self._gone = f"the connection to {host} was cut ({why}); the code may still run there"
        return False

    def _report_reconnection(self, connection: "ClientConnection", host: str) -> None:
        """Say that the kernel is connected again, once its output is heard.

        The server connects to the kernel after it has accepted us, and what is printed until then is lost.
        """
        self._heard.clear()
        until = time.monotonic() + _HEARING
        while time.monotonic() < until and not self._closing.is_set():
            # Code that runs does not keep the kernel from answering this one.
            self._greetings.add(self._send("control", "kernel_info_request", {}))
            if self._heard.wait(_ASKING):
                break
        self._greetings.clear()
        if self._socket is connection:
            self._notes.put(f"{host} answers again; what was sent meanwhile may be missing")

    def _try_again(self) -> None:
        """Try once more to reach a kernel that was given up between two runs."""
        with contextlib.suppress(TargetError, OSError):
            if self._server.is_running(self._kernel):
                self._socket = self._open()
                self._gone = None
                threading.Thread(target=self._read, name="kernel", daemon=True).start()

    def _handle_message(self, message: dict[str, Any]) -> None:
        header = message.get("header") or {}
        message["msg_type"] = str(message.get("msg_type") or header.get("msg_type") or "")
        if not has_parts(message):
            return
        content = message["content"]
        if message["msg_type"] == "status" and content.get("execution_state") in _ENDED:
            self._restarted = "the kernel ended, and its variables are lost"
            self._is_new = True
        if message.get("channel") == "iopub" and message["parent_header"].get("msg_id") in self._greetings:
            self._heard.set()
        if channel := self._channels.get(str(message.get("channel"))):
            channel.put(message)

    def _wait_for_output(self) -> None:
        """Ask a kernel that was restarted until its output is heard; what it prints before is lost."""
        until = time.monotonic() + _RESTARTING
        while time.monotonic() < until and not self._closing.is_set() and not self._gone:
            id_ = self.ask_info()
            with contextlib.suppress(queue.Empty):
                while not belongs_to(self.read_output(_PAUSE), id_):
                    pass
                self._is_new = False
                return

    def _write(self) -> None:
        while not self._closing.is_set():
            try:
                text = self._sending.get(timeout=_BEAT)
            except queue.Empty:
                continue
            # What could not be sent is lost with the connection, and its run is told so.
            with contextlib.suppress(Exception):
                self._socket.send(text)

    def _send(self, channel: str, kind: str, content: dict[str, Any], parent: Message | None = None) -> str:
        id_ = uuid.uuid4().hex
        header = {
            "msg_id": id_,
            "msg_type": kind,
            "session": self._session,
            "username": "oi-tui",
            "date": datetime.now(UTC).isoformat(),
            "version": _VERSION,
        }
        message = {
            "channel": channel,
            "header": header,
            "msg_id": id_,
            "msg_type": kind,
            "parent_header": (parent or {}).get("header", {}),
            "metadata": {},
            "content": content,
            "buffers": [],
        }
        self._sending.put(json.dumps(message))
        return id_

    # -- what a run needs

    def get_ready(self) -> None:
        """Wait until the kernel takes code; it may just be restarted or connected again."""
        if self._restarting:
            # The kernel that is about to end would take the request with it.
            self._restarting.wait(_RESTARTING)
            self._restarting = None
            self._is_new = True
        if self._gone:
            self._try_again()
        if self._restarted:
            self._notes.put("the kernel was restarted since the last run; its variables are lost")
        if self._is_new:
            self._wait_for_output()
        self._restarted = self._unsure = None

    def execute(self, code: str) -> str:
        """Run code at once. Returns the number of the request."""
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": True,
            "stop_on_error": False,
        }
        return self._send("shell", "execute_request", content)

    def ask_info(self) -> str:
        """Send a `kernel_info_request`. Returns the id of the request."""
        return self._send("shell", "kernel_info_request", {})

    def send_input(self, line: str) -> None:
        """Answer the question of the code that runs."""
        self._send("stdin", "input_reply", {"value": line}, self._question)

    def interrupt(self) -> None:
        """Interrupt the code that runs, as its server does it; does not wait."""
        self._interrupt = self._run_in_thread(self._server.interrupt)

    def is_interrupting(self) -> bool:
        """Return whether an interrupt is still on its way: the server has not answered yet."""
        return self._interrupt is not None and not self._interrupt.is_set()

    def restart(self) -> None:
        """Restart a kernel that is ours; does not wait."""
        if self.owned:
            self._restarting = self._run_in_thread(self._server.restart)

    def _run_in_thread(self, request: Callable[[str], None]) -> threading.Event:
        def ask() -> None:
            # What goes wrong shows in the run, which is waited for or left.
            with contextlib.suppress(Exception):
                request(self._kernel)

        return self._spare.start(ask, "kernel request")

    def read_output(self, seconds: float) -> Message:
        """Return the next message of output. Raises queue.Empty after `seconds`."""
        return self._read_next("iopub", seconds)

    def read_reply(self, seconds: float) -> Message:
        """Return the next reply. Raises queue.Empty after `seconds`."""
        return self._read_next("shell", seconds)

    def read_question(self, seconds: float) -> Message:
        """Return the next question of a program. Raises queue.Empty after `seconds`."""
        self._question = self._read_next("stdin", seconds)
        return self._question

    def _read_next(self, channel: str, seconds: float) -> Message:
        if seconds <= 0:
            return self._channels[channel].get_nowait()
        return self._channels[channel].get(timeout=seconds)

    def explain_end(self) -> str | None:
        """Return why nothing more will come, in a sentence; None while it may."""
        why, self._restarted = self._gone or self._restarted, None
        return why

    def explain_loss(self) -> str | None:
        """Return why messages may have been lost since this was last asked, in a sentence.

        None where none were.
        """
        why, self._unsure = self._unsure, None
        return why

    def pop_notes(self) -> list[str]:
        """Return and forget what happened to the connection since the last call, in sentences."""
        notes: list[str] = []
        with contextlib.suppress(queue.Empty):
            while True:
                notes.append(self._notes.get_nowait())
        return notes

    def close(self) -> None:
        """Leave the kernel, or end it where it is ours."""
        if self._closing.is_set():
            return
        self._closing.set()
        with contextlib.suppress(Exception):
            self._socket.close()
        self._end_kernel()

    def _end_kernel(self, timeout: float = _ENDING) -> None:
        """Ask for the end of a kernel that is ours, and wait at most `timeout` seconds for the answer."""
        try:
            if self.owned:
                self._run_in_thread(self._server.end).wait(timeout)
        finally:
            self._spare.end()


def _decode(data: str | bytes) -> dict[str, Any]:
    """Return a message as it comes: JSON, or JSON with bytes behind it. Raises an error of BAD_MESSAGE."""
    if isinstance(data, bytes):
        # The number of parts, where each begins, and the parts; the first is the message.
        (count,) = struct.unpack_from(">I", data)
        offsets = struct.unpack_from(f">{min(count, 1000)}I", data, 4)
        data = data[offsets[0] : offsets[1] if len(offsets) > 1 else len(data)].decode()
    message = json.loads(data)
    if not isinstance(message, dict):
        raise ValueError("no message")
    return message
