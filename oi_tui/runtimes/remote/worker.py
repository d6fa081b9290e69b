"""The worker: runs languages on a remote host for an application on another machine.

It speaks frames (`wire`) on what were its standard input and output. When the application is gone, or has not
been heard for `SILENCE` seconds, it ends everything that it started; when it is itself killed, the guards of
the languages do. Only if the person wants it to keep running, it stays, and waits on a `return_socket` for an
application to come back. It runs on Python 3.8 and later, without any package; `old_python` has what
is newer.
"""

import contextlib
import getpass
import os
import platform
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from oi_tui.runtimes.processes import process_table
from oi_tui.runtimes.remote import return_socket
from oi_tui.runtimes.remote.outbox import Outbox, Stream
from oi_tui.runtimes.remote.return_socket import ReturnSocket
from oi_tui.runtimes.remote.wire import BEAT, QUIET, SILENCE, Frame, WireError, encode_frame
from oi_tui.runtimes.remote.worker_languages import WorkerLanguages
from oi_tui.runtimes.runs import stopping
from oi_tui.system import environment_names


class _GoneError(BaseException):
    """The application, or the connection to it, is gone."""


def main(folder: str, keeper: "subprocess.Popen[bytes]") -> None:
    """Serve the application until it disconnects, and leave no process behind.

    The keeper removes the folder of our modules as soon as nobody holds its input any more.
    """
    front = _Front(keeper)
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    # No program that is started from here may read what is meant for us, or write among it.
    for number in (0, 1):
        os.dup2(null, number)
    with _leaving_nothing(keeper):
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _leave)
        # A key that is held down repeats; that is seen where the key is.
        stopping.REPEATED = 0.0
        try:
            first, frames = return_socket.read_first_frame(source)
            if first.get("do") == "begin" and first.get("attach"):
                return_socket.pass_on(first, frames.rest, source, sink)
                return
        except (_GoneError, OSError, WireError):
            return

        def settle() -> None:
            front.leave()
            # What was the connection's may close now.
            os.dup2(null, 2)

        _Worker(folder, Stream(source, sink, frames, settle), front).serve(first)


class _Front:
    """The process that was started from elsewhere; we are its child, in a session of our own.

    So we can stay when it ends, and with it the program that connects. While we do not stay, we end with it.
    """

    def __init__(self, keeper: "subprocess.Popen[bytes]") -> None:
        self._news, self._hold = os.pipe()
        awake, wake = os.pipe()
        if os.fork():
            _wait_in_front(awake, (self._news, wake), keeper)
        os.setsid()
        os.close(self._hold)
        os.close(awake)
        self._wake = wake
        #: Readable when the process in front has ended.
        self.ended = self._news

    def leave(self) -> None:
        """End the process in front."""
        with contextlib.suppress(OSError):
            os.write(self._wake, b"\n")
            os.close(self._wake)


def _wait_in_front(awake: int, others: "tuple[int, int]", keeper: "subprocess.Popen[bytes]") -> None:
    """Wait until our child has ended and left nothing, or until it wants to be alone; and end."""
    for number in others:
        os.close(number)
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    with contextlib.suppress(OSError):
        _let_go(keeper)
        if not os.read(awake, 1):
            # It is our child, and would stay in the list of processes where nobody takes up what ended.
            keeper.wait()
    os._exit(0)


def _let_go(keeper: "subprocess.Popen[bytes]") -> None:
    assert keeper.stdin is not None
    keeper.stdin.close()


@contextlib.contextmanager
def _leaving_nothing(keeper: "subprocess.Popen[bytes]") -> Iterator[None]:
    """At the end, end what was started, and have the folder removed."""
    try:
        yield
    finally:
        # Programs that are just asked for their version. All others ended with their guards.
        for pid in process_table.list_descendants(os.getpid()):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        _let_go(keeper)
        # Threads may still wait for what will not come.
        os._exit(0)


def _leave(*_: object) -> None:
    raise _GoneError


class _Worker:
    """Answers the application, and stays without one where that is wanted."""

    def __init__(self, folder: str, stream: Stream, front: "_Front | None" = None) -> None:
        self._folder = folder
        #: The connection to the application; None while nobody is connected.
        self._stream: Stream | None = stream
        self._front_ended = front.ended if front else None
        self._outbox = Outbox(stream)
        #: Where an application comes back; made when the worker is to stay.
        self._return_socket: ReturnSocket | None = None
        #: Whether we stay when the connection is lost, and for how many seconds without one.
        self._stays = False
        self._stays_for = 0.0
        self._alone_since = 0.0
        #: Whether the application that came back has heard that it did.
        self._is_met = True
        #: The checksum and the name of our version, which the application compares with its own.
        self._version = ""
        self._release = ""
        self._silence = SILENCE
        self._languages = WorkerLanguages(self._outbox, self._try)

    def serve(self, first: "Frame | None" = None) -> None:
        """Answer requests until the application disconnects, or as long as runs are kept for it."""
        self._languages.answer_about_files()
        try:
            if first:
                self._try(self._obey, first)
            while True:
                self._wait()
        except _GoneError:
            return
        finally:
            self._end()

    def _wait(self) -> None:
        """Wait for a moment, and do what came. Raises _GoneError."""
        stream, listener, front = self._stream, self._return_socket, self._front_ended
        waiting = [stream.source] if stream else []
        waiting += [listener.fileno()] if listener else []
        waiting += [front] if front is not None else []
        remaining_seconds = self._stays_for - (time.monotonic() - self._alone_since)
        ready = select.select(waiting, [], [], BEAT if stream else max(0.0, min(BEAT, remaining_seconds)))[0]
        if listener and listener.fileno() in ready:
            self._receive(listener)
            return
        if stream and stream.source in ready:
            self._hear(stream)
        elif stream and front in ready:
            # The process that connects was ended.
            self._lose(stream)
        elif stream and time.monotonic() - stream.heard > self._silence:
            self._lose(stream)
        elif stream is None and (remaining_seconds < 0 or self._is_empty()):
            raise _GoneError

    def _hear(self, stream: Stream) -> None:
        try:
            messages = stream.read()
        except (OSError, WireError):
            # After bytes that are not a frame, nobody knows where the next frame begins.
            messages = None
        if messages is None:
            self._lose(stream)
            return
        for message in messages:
            self._try(self._obey, message)
            if self._stream is not stream:
                return

    # -- staying without an application

    def _lose(self, stream: Stream) -> None:
        """Stay after the connection was lost, if that is wanted. Raises _GoneError otherwise."""
        if self._is_met and not self._stays:
            raise _GoneError
        self._detach_application(stream)

    def _detach_application(self, stream: Stream) -> None:
        """Continue without an application."""
        self._open_return_socket()
        self._outbox.leave(stream)
        self._stream = self._front_ended = None
        self._alone_since = time.monotonic()
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        stream.close()

    def _detach(self, message: Frame) -> None:
        stream = self._stream
        assert stream
        self._stays_for = float(message["stays_for"])
        self._open_return_socket()
        self._outbox.leave(stream)
        # All that was sent before is there before it.
        stream.put(encode_frame({"is": "detached"}))
        self._detach_application(stream)

    def _open_return_socket(self) -> None:
        if self._return_socket is None:
            self._return_socket = ReturnSocket(self._folder)

    def _is_empty(self) -> bool:
        """Return whether nothing is left to come back for."""
        return not (self._languages.are_at_work or self._outbox.list_runs())

    def _receive(self, listener: ReturnSocket) -> None:
        """Take in an application that connected, if no other one is here."""
        caller = listener.receive()
        if caller is None:
            return
        stream, message = self._stream, caller.message
        there = stream is not None and time.monotonic() - stream.heard < QUIET
        if message.get("version") != self._version:
            caller.refuse(
                f"it was left by another version of oi-tui ({self._release}). Come back with that version, "
                f"or end the process {os.getpid()} there"
            )
        elif there:
            caller.refuse("another oi-tui is connected to it")
        else:
            if stream:
                self._detach_application(stream)
            self._reconnect(caller.stream(), message)

    def _reconnect(self, stream: Stream, message: Frame) -> None:
        """Continue with an application that came back: send what it missed, then what follows."""
        self._silence = message["silence"]
        self._stays, self._stays_for = message["stays"], message["stays_for"]
        self._outbox.skip(message["seen"])
        runs, last = self._languages.list_runs()
        self._stream, self._is_met = stream, False
        stream.put(
            encode_frame({**self._describe_place(), "runs": runs, "next": last, "from": self._outbox.next})
        )
        self._outbox.resume(stream)
        self._languages.resize(message)
        self._languages.describe()

    def _end(self) -> None:
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        if self._stream:
            # How the runs end now says nothing of them.
            self._outbox.leave(self._stream)
        self._languages.close()

    def _try(self, function: Callable[[Frame], None], message: Frame) -> None:
        """Carry out a request. One that fails is answered with an error, and everything else continues."""
        try:
            function(message)
        except Exception as error:  # noqa: BLE001 -- a failure in one request must not end the others
            self._refuse(message, f"{type(error).__name__}: {error}")

    def _refuse(self, message: Frame, reason: str) -> None:
        """Say why a request was not carried out."""
        if message.get("do") == "begin":
            self._outbox.send(**{"is": "refused", "reason": reason})
        else:
            self._outbox.send(**{"is": "problem", "id": message.get("id"), "reason": reason})

    def _obey(self, message: Frame) -> None:
        do = message["do"]
        if do == "end":
            raise _GoneError
        if do == "took":
            self._outbox.note_taken(message["size"])
        elif do == "detach":
            self._detach(message)
        elif do == "came":
            self._is_met = True
        elif do == "begin":
            self._begin(message)
        elif do != "beat" and not self._languages.obey(message):
            raise ValueError(f"unknown request {str(do)[:40]!r}")

    # -- the beginning

    def _begin(self, message: Frame) -> None:
        """Take the settings, and say what is here."""
        try:
            if message["folder"]:
                os.chdir(os.path.expanduser(message["folder"]))  # noqa: PTH111 -- "~x" may be nobody
            cwd = Path.cwd()
        except OSError as error:
            name = message["folder"] or "the working directory there"
            self._outbox.send(**{"is": "refused", "reason": f"{name}: {error.strerror}"})
            return
        os.environ[environment_names.HOME] = str(Path(self._folder, "home"))
        self._silence = message["silence"]
        self._languages.begin(message, cwd)
        self._version, self._release = message["version"], message["release"]
        self._outbox.most = message["kept"]
        self._stays, self._stays_for = message["stays"], message["stays_for"]
        if self._stays:
            # The connection may be lost without our seeing it, and somebody come back meanwhile.
            self._open_return_socket()
        self._outbox.send(**self._describe_place())
        self._languages.describe()

    def _describe_place(self) -> Frame:
        """Describe this place for the application."""
        return {
            "is": "here",
            "folder": str(self._languages.cwd),
            "writable": os.access(self._languages.cwd, os.W_OK | os.X_OK),
            "user": _find_user_name(),
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "system": f"{platform.system()} {platform.machine()}",
            "python": platform.python_version(),
            "programs": self._languages.list_programs(),
            "place": self._folder,
            "languages": self._languages.names,
        }


def _find_user_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # A container may run under a number that has no name.
        return str(os.getuid())
