"""Exchanges messages with a Jupyter kernel, and connects to one by its connection file."""

import contextlib
import json
import queue
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from oi_tui import paths
from oi_tui.runtimes.remote.target import TargetError
from oi_tui.system.extras import make_install_command

if TYPE_CHECKING:
    from jupyter_client.blocking.client import BlockingKernelClient

    from oi_tui.runtimes.remote.connecting import StopSignal

Message = Mapping[str, Any]
#: What the reading of a message raises that is none.
BAD_MESSAGE = (ValueError, TypeError, LookupError, AttributeError, RecursionError, struct.error)
#: How long the kernel may take to answer when it is reached, in seconds; it may be busy.
_TIMEOUT = 20.0
#: A kernel whose heart is not heard for so long has ended, in seconds. Where much runs, a beat may be late.
_SILENT = 10.0


class KernelClient(Protocol):
    """A kernel that is connected. Messages are read by one thread; any thread may send."""

    #: The kernel's title, such as `the kernel`, and where it is, in words that follow "code runs".
    title: str
    where: str
    #: What `kernel:` names: a file or an address.
    program: str
    #: Whether the kernel was started for us, and ends with us.
    owned: bool

    def get_ready(self) -> None:
        """Wait until the kernel takes code; it may just be restarted or connected again."""

    def execute(self, code: str) -> str:
        """Run code at once. Returns the number of the request."""

    def ask_info(self) -> str:
        """Send a `kernel_info_request`. Returns the id of the request."""

    def send_input(self, line: str) -> None:
        """Answer the question of the code that runs."""

    def interrupt(self) -> None:
        """Interrupt the code that runs; does not wait."""

    def is_interrupting(self) -> bool:
        """Return whether an interrupt is still on its way: it may reach what the kernel runs next."""

    def restart(self) -> None:
        """Refuse: others use it, so it is not restarted."""

    def read_output(self, seconds: float) -> Message:
        """Return the next message of output. Raises queue.Empty after `seconds`."""

    def read_reply(self, seconds: float) -> Message:
        """Return the next reply. Raises queue.Empty after `seconds`."""

    def read_question(self, seconds: float) -> Message:
        """Return the next question of a program. Raises queue.Empty after `seconds`."""

    def explain_end(self) -> str | None:
        """Return why nothing more will come, in a sentence; None while it may."""

    def explain_loss(self) -> str | None:
        """Return why messages may have been lost since this was last asked, in a sentence.

        None where none were.
        """

    def pop_notes(self) -> list[str]:
        """Return nothing: nothing happens to a connection on one machine."""

    def close(self) -> None:
        """Leave the kernel, or end it where it is ours."""


class FileClient:
    """A kernel by its connection file. Made, it is connected. Raises TargetError."""

    title = "the kernel"
    #: It belongs to whoever started it, and goes on when the connection ends.
    owned = False

    def __init__(self, place: str) -> None:
        self._file = _find_file(place)
        self.program = str(self._file)
        self.where = f"in the kernel of {self._file.name}"
        #: Whether a message was dropped since this was last asked.
        self._dropped = False
        #: Interrupts that the kernel has not answered. Their channel is used by one thread at a time.
        self._interrupts: set[str] = set()
        self._control = threading.Lock()
        #: Since when the kernel's heart has not been heard.
        self._silent_since: float | None = None
        self._client = self._connect()

    def _connect(self) -> "BlockingKernelClient":
        try:
            from jupyter_client.blocking.client import BlockingKernelClient
        except ModuleNotFoundError:
            command = make_install_command("oi-tui[kernel]")
            raise TargetError(f"The target kernel: needs another package: {command}") from None
        client = BlockingKernelClient(connection_file=str(self._file))
        try:
            client.load_connection_file()
            client.start_channels()
        except (OSError, ValueError, KeyError) as error:
            raise TargetError(
                f"{paths.shorten(self._file)} is not the connection file of a kernel: {error}"
            ) from None
        return client

    def get_ready(self) -> None:
        """Do nothing: messages to it wait in its own queue."""

    def execute(self, code: str) -> str:
        """Run code at once. Returns the number of the request."""
        return str(self._client.execute(code, allow_stdin=True, store_history=True, stop_on_error=False))

    def ask_info(self) -> str:
        """Send a `kernel_info_request`. Returns the id of the request."""
        return str(self._client.kernel_info())

    def send_input(self, line: str) -> None:
        """Answer the question of the code that runs."""
        self._client.input(line)

    def interrupt(self) -> None:
        """Interrupt the code that runs; the answer is not waited for: a kernel that computes gives none."""
        message = self._client.session.msg("interrupt_request", {})
        with self._control:
            self._interrupts.add(message["msg_id"])
            self._client.control_channel.send(message)

    def is_interrupting(self) -> bool:
        """Return whether an interrupt is still on its way.

        A kernel answers once it has given itself the signal.
        """
        with self._control:
            for message in receive_arrived(partial(self._receive, self._client.control_channel), 0):
                self._interrupts.discard(message.get("parent_header", {}).get("msg_id", ""))
            return bool(self._interrupts)

    def restart(self) -> None:
        """Refuse: others use it, so it is not restarted."""

    def read_output(self, seconds: float) -> Message:
        """Return the next message of output. Raises queue.Empty after `seconds`."""
        return self._receive(self._client.iopub_channel, seconds)

    def read_reply(self, seconds: float) -> Message:
        """Return the next reply. Raises queue.Empty after `seconds`."""
        return self._receive(self._client.shell_channel, seconds)

    def read_question(self, seconds: float) -> Message:
        """Return the next question of a program. Raises queue.Empty after `seconds`."""
        return self._receive(self._client.stdin_channel, seconds)

    def _receive(self, channel: Any, seconds: float) -> Message:
        """Return a message that is whole and signed by the kernel; any other is dropped. Raises queue.Empty.

        A kernel that is interrupted while it sends leaves out the end of a message, and the next one
        follows in its place: both are lost. The client's own `get_iopub_msg` and its like leave an event
        loop open in each thread that calls them, so the channel is asked.
        """
        try:
            message: Message = channel.get_msg(timeout=seconds)
            if has_parts(message):
                return message
        except BAD_MESSAGE:
            pass
        self._dropped = True
        raise queue.Empty

    def explain_end(self) -> str | None:
        """Return why nothing more will come, in a sentence; None while it may."""
        if self._client.hb_channel.is_beating():
            self._silent_since = None
            return None
        now = time.monotonic()
        if self._silent_since is None:
            self._silent_since = now
        if now - self._silent_since < _SILENT and not self._is_refused():
            return None
        return "the kernel ended, and its variables are lost"

    def _is_refused(self) -> bool:
        """Return whether nothing listens at the kernel's heartbeat port.

        The system listens for a busy kernel.
        """
        address = (str(self._client.ip), int(self._client.hb_port))
        try:
            with socket.create_connection(address, 0.2):
                return False
        except ConnectionRefusedError:
            return bool(self._client.transport == "tcp")
        except OSError:
            return False

    def explain_loss(self) -> str | None:
        """Return why messages may have been lost since this was last asked, in a sentence.

        None where none were.
        """
        if not self._dropped:
            return None
        self._dropped = False
        return "a message of the kernel was damaged"

    def pop_notes(self) -> list[str]:
        """Return nothing: nothing happens to a connection on one machine."""
        return []

    def close(self) -> None:
        """Leave the kernel, which continues."""
        self._client.stop_channels()


def _find_file(place: str) -> Path:
    """Return the file that was named, in Jupyter's own folder if it has no other. Raises TargetError."""
    path = paths.expand_typed(place)
    if not path.is_absolute() and not path.exists():
        with contextlib.suppress(ImportError):
            from jupyter_core.paths import jupyter_runtime_dir

            path = Path(jupyter_runtime_dir()) / path
    try:
        if "shell_port" not in json.loads(path.read_text(encoding="utf-8")):
            raise ValueError
    except OSError as error:
        raise TargetError(f"{path}: {error.strerror or error}") from None
    except (ValueError, TypeError):
        raise TargetError(
            f"{path} is not the connection file of a kernel; %connect_info in a notebook names it."
        ) from None
    return path


def request_info(client: KernelClient, stopped: "StopSignal | None") -> Message:
    """Return what the kernel says of itself.

    Raises TargetError where it says nothing; the client is closed then.
    """
    stopped = stopped or threading.Event()
    id_ = client.ask_info()
    until = time.monotonic() + _TIMEOUT
    while time.monotonic() < until and not stopped.is_set():
        for message in receive_arrived(client.read_reply, 0.1):
            if belongs_to(message, id_):
                content: Message = message["content"]
                return content
    client.close()
    raise TargetError(
        "Connecting was stopped."
        if stopped.is_set()
        else f"The kernel does not answer ({client.where}); it has ended, or it is busy."
    )


def receive_arrived(receive: Callable[[float], Message], seconds: float) -> "list[Message]":
    """Return the messages that have arrived; wait at most `seconds` for the first."""
    messages: list[Message] = []
    with contextlib.suppress(queue.Empty):
        while len(messages) < 1000:
            messages.append(receive(0 if messages else seconds))
    return messages


def has_parts(message: Message) -> bool:
    """Return whether the parts of a message that are read are objects, and name a request if they do."""
    if not all(isinstance(message.get(name), Mapping) for name in ("content", "parent_header")):
        return False
    return isinstance(message["parent_header"].get("msg_id"), str | None)


def belongs_to(message: Message, id_: str) -> bool:
    """Return whether a message is of that request."""
    return bool(message.get("parent_header", {}).get("msg_id") == id_)
