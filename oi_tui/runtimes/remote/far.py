"""The far end: runs languages on its machine for an application on another one.

It speaks frames (`wire`) on what were its standard input and output. When the application is gone, or has not
been heard for `SILENCE` seconds, it ends everything that it started; when it is itself killed, the guards of
the languages do. Only if the person wants it to keep running, it stays, and waits on a socket (`far_door`)
for an application to come back. It runs on Python 3.8 and later, without any package; `old_python` has what
is newer.
"""

import base64
import contextlib
import getpass
import os
import platform
import queue
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from oi_tui.messages import Displayed, Loss, Printed, Report, RunEnded
from oi_tui.runtimes.language import Choices, Language
from oi_tui.runtimes.languages import LANGUAGES
from oi_tui.runtimes.processes import process_table
from oi_tui.runtimes.pty_runtime import PtyRuntime
from oi_tui.runtimes.remote import far_door, far_files
from oi_tui.runtimes.remote.far_changes import FarChanges
from oi_tui.runtimes.remote.far_door import Door
from oi_tui.runtimes.remote.far_outbox import Outbox, Stream
from oi_tui.runtimes.remote.file_answers import FileRefused
from oi_tui.runtimes.remote.wire import BEAT, PLACES, QUIET, SILENCE, WINDOW, Frame, WireError, frame, pack
from oi_tui.runtimes.runs import stopping
from oi_tui.runtimes.runs.run import Cell
from oi_tui.system import environment, environment_names

#: The largest picture that is sent when a program names its file, in bytes.
_LARGEST_PICTURE = 32 * 1024 * 1024
_PICTURES = {".png": "base64.png", ".jpg": "base64.jpeg", ".jpeg": "base64.jpeg"}
#: Output is sent in pieces of so many characters.
_PIECE = WINDOW // 4
#: How long the languages are given to end, in seconds; each needs 6 at most.
_ENDING = 8.0


class _GoneError(BaseException):
    """The application, or the connection to it, is no more."""


def main(folder: str) -> None:
    """Serve the application until it is gone, and leave nothing behind."""
    front = _Front()
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    # No program that is started from here may read what is meant for us, or write among it.
    for number in (0, 1):
        os.dup2(null, number)
    with _left_to_nobody(folder):
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _leave)
        # A key that is held down repeats; that is seen where the key is.
        stopping.REPEATED = 0.0
        try:
            first, frames = far_door.first_frame(source)
            if first.get("do") == "begin" and first.get("attach"):
                far_door.pass_on(first, frames.rest, source, sink)
                return
        except (_GoneError, OSError, WireError):
            return

        def settle() -> None:
            front.leave()
            # What was the connection's may close now.
            os.dup2(null, 2)

        _FarEnd(folder, Stream(source, sink, frames, settle), front).serve(first)


class _Front:
    """The process that was started from elsewhere; we are its child, in a session of our own.

    So we can stay when it ends, and with it the program that connects. While we do not stay, we end with it.
    """

    def __init__(self) -> None:
        self._news, self._hold = os.pipe()
        awake, wake = os.pipe()
        if os.fork():
            _wait_in_front(awake, (self._news, self._hold, wake))
        os.setsid()
        os.close(self._hold)
        os.close(awake)
        self._wake = wake
        #: Readable when the process in front has ended.
        self.ended = self._news

    def leave(self) -> None:
        """Let the process in front end."""
        with contextlib.suppress(OSError):
            os.close(self._wake)


def _wait_in_front(awake: int, others: tuple[int, int, int]) -> None:
    """Wait until our child has ended or wants to be alone, and end."""
    news, _, wake = others
    os.close(news)
    os.close(wake)
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    with contextlib.suppress(OSError):
        os.read(awake, 1)
    os._exit(0)


@contextlib.contextmanager
def _left_to_nobody(folder: str) -> Iterator[None]:
    """Remove the folder at the end, also when we are killed."""
    # `read` is built in: there is one process, and it is no other's child.
    program = 'while read -r line; do :; done; rm -rf -- "$0"'
    keeper = subprocess.Popen(
        ["/bin/sh", "-c", program, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
    )
    try:
        yield
    finally:
        # Programs that are just asked for their version. All others ended with their guards.
        for pid in set(process_table.descendants(os.getpid())) - {keeper.pid}:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        assert keeper.stdin is not None
        keeper.stdin.close()
        keeper.wait()
        # Threads may still wait for what will not come.
        os._exit(0)


def _leave(*_: object) -> None:
    raise _GoneError


class _FarEnd:
    """The languages of this machine, as the application asks for them."""

    def __init__(self, folder: str, stream: Stream, front: "_Front | None" = None) -> None:
        self._folder = folder
        #: The connection to the application; None while nobody is connected.
        self._stream: Stream | None = stream
        self._front_ended = front.ended if front else None
        self._outbox = Outbox(stream)
        #: Where an application comes back; made when somebody wants us to stay.
        self._door: Door | None = None
        #: Whether we stay when the connection is lost, and for how many seconds without one.
        self._stays = False
        self._stays_for = 0.0
        self._alone_since = 0.0
        #: Whether the application that came back has heard that it did.
        self._is_met = True
        #: What tells the versions of both ends apart, and how people call ours.
        self._version = ""
        self._release = ""
        self._choices = Choices()
        self._cwd = Path.cwd()
        self._hidden: frozenset[str] = frozenset()
        #: Made when the application first wants to know which files a run changes.
        self._changes: FarChanges | None = None
        self._active_line = True
        self._silence = SILENCE
        self._size = 80, 24
        self._runtimes: dict[str, PtyRuntime] = {}
        #: The run of each language, with what tells it to stop.
        self._stops: dict[int, threading.Event] = {}
        #: What is known of the runs of which an application may want to hear.
        self._runs: dict[int, _RunFacts] = {}
        self._given_up: set[int] = set()
        #: Held by the run of each language, until what it leaves is put away: the next one finds it there.
        self._turns: dict[str, threading.Lock] = {}
        #: Requests about files, which are carried out one after the other.
        self._file_requests: queue.Queue[Frame] = queue.Queue()

    def serve(self, first: "Frame | None" = None) -> None:
        """Do what is asked until the application is gone, or for as long as we are to stay."""
        self._in_thread(self._answer_about_files)
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
        stream, door, front = self._stream, self._door, self._front_ended
        waiting = [stream.source] if stream else []
        waiting += [door.fileno()] if door else []
        waiting += [front] if front is not None else []
        left = self._stays_for - (time.monotonic() - self._alone_since)
        ready = select.select(waiting, [], [], BEAT if stream else max(0.0, min(BEAT, left)))[0]
        if door and door.fileno() in ready:
            self._receive(door)
            return
        if stream and stream.source in ready:
            self._hear(stream)
        elif stream and front in ready:
            # Somebody ended the process that connects.
            self._lose(stream)
        elif stream and time.monotonic() - stream.heard > self._silence:
            self._lose(stream)
        elif stream is None and (left < 0 or self._is_empty()):
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
        """The connection is lost: stay if that is wanted. Raises _GoneError otherwise."""
        if self._is_met and not self._stays:
            raise _GoneError
        self._part(stream)

    def _part(self, stream: Stream) -> None:
        """Go on without an application."""
        self._open_door()
        self._outbox.leave(stream)
        self._stream = self._front_ended = None
        self._alone_since = time.monotonic()
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        stream.close()

    def _detach(self, message: Frame) -> None:
        stream = self._stream
        assert stream
        self._stays_for = float(message["stays_for"])
        self._open_door()
        self._outbox.leave(stream)
        # All that was sent before is there before it.
        stream.put(frame({"is": "detached"}))
        self._part(stream)

    def _open_door(self) -> None:
        if self._door is None:
            self._door = Door(self._folder)

    def _is_empty(self) -> bool:
        """Whether nothing is left for which somebody could come back."""
        at_work = any(runtime.is_alive for runtime in self._runtimes.values())
        return not (at_work or self._stops or self._outbox.runs())

    def _receive(self, door: Door) -> None:
        """Take an application in that came to the door, if nobody else is here."""
        caller = door.receive()
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
                self._part(stream)
            self._take_in(caller.stream(), message)

    def _take_in(self, stream: Stream, message: Frame) -> None:
        """Go on with an application that came back: what it missed, then what comes."""
        self._silence = message["silence"]
        self._stays, self._stays_for = message["stays"], message["stays_for"]
        self._outbox.skip(message["seen"])
        known = self._outbox.runs()
        runs = [
            facts.to_json(running=number in self._stops)
            for number, facts in self._runs.items()
            if number in self._stops or number in known
        ]
        self._stream, self._is_met = stream, False
        stream.put(
            frame(
                {**self._here(), "runs": runs, "next": max(self._runs, default=0), "from": self._outbox.next}
            )
        )
        self._outbox.go_on(stream)
        self._resize(message)
        self._in_thread(self._describe, self._programs())

    def _end(self) -> None:
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        if self._stream:
            # How the runs end now says nothing of them.
            self._outbox.leave(self._stream)
        closing = [threading.Thread(target=runtime.close, daemon=True) for runtime in self._runtimes.values()]
        for thread in closing:
            thread.start()
        until = time.monotonic() + _ENDING
        for thread in closing:
            thread.join(max(0.0, until - time.monotonic()))

    def _try(self, function: Callable[[Frame], None], message: Frame) -> None:
        """Carry out a request. One that fails is answered with an error, and everything else goes on."""
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
            self._outbox.took(message["size"])
        elif do == "input":
            if runtime := self._runtimes.get(message["language"]):
                runtime.send_input(message["text"])
        elif do == "run":
            self._begin_run(message)
        elif do == "interrupt":
            self._interrupt(message["id"], message["language"])
        elif do == "abandon":
            self._given_up.add(message["id"])
            self._interrupt(message["id"], message["language"])
        elif do in ("memory", "look_at", "complete", "reset"):
            self._in_thread(self._try, self._answer, message)
        elif do == "file":
            self._file_requests.put(message)
        elif do == "resize":
            self._resize(message)
        elif do == "detach":
            self._detach(message)
        elif do == "came":
            self._is_met = True
        elif do == "begin":
            self._begin(message)
        elif do != "beat":
            raise ValueError(f"unknown request {str(do)[:40]!r}")

    def _resize(self, message: Frame) -> None:
        self._size = message["columns"], message["rows"]
        for runtime in list(self._runtimes.values()):
            runtime.resize(*self._size)

    @staticmethod
    def _in_thread(function: Callable[..., None], *arguments: object) -> None:
        threading.Thread(target=function, args=arguments, daemon=True).start()

    # -- the beginning

    def _begin(self, message: Frame) -> None:
        """Take the settings, and say what is here."""
        try:
            if message["folder"]:
                os.chdir(os.path.expanduser(message["folder"]))  # noqa: PTH111 -- "~x" may be nobody
            self._cwd = Path.cwd()
        except OSError as error:
            self._outbox.send(**{"is": "refused", "reason": f"{message['folder']}: {error.strerror}"})
            return
        python = message["python"] or (sys.executable if sys.argv[2:] == ["newer"] else "")
        self._choices = Choices(python, message["shell"])
        self._active_line = message["active_line"]
        self._silence = message["silence"]
        self._size = message["columns"], message["rows"]
        ours = str(Path(self._folder, "home"))
        os.environ[environment_names.HOME] = ours
        held_back = () if message["share_keys"] else environment.held_back(message["passed"])
        self._hidden = frozenset((*held_back, environment_names.HOME))
        self._version, self._release = message["version"], message["release"]
        self._outbox.most = message["kept"]
        self._stays, self._stays_for = message["stays"], message["stays_for"]
        if self._stays:
            # The connection may be lost without our seeing it, and somebody come back meanwhile.
            self._open_door()
        self._outbox.send(**self._here())
        self._in_thread(self._describe, self._programs())

    def _programs(self) -> "dict[str, str]":
        programs = {}
        for language in LANGUAGES:
            # What opens pages or other applications does so where the person sits.
            if not language.outside and not language.host and (program := language.find(self._choices)):
                programs[language.name] = program
        return programs

    def _here(self) -> Frame:
        """Describe this place for the application."""
        return {
            "is": "here",
            "folder": str(self._cwd),
            "writable": os.access(self._cwd, os.W_OK | os.X_OK),
            "user": _user(),
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "system": f"{platform.system()} {platform.machine()}",
            "python": platform.python_version(),
            "programs": self._programs(),
            "place": self._folder,
            "languages": sorted(self._runtimes),
        }

    def _describe(self, programs: dict[str, str]) -> None:
        """Say which versions are here; each program is asked, which takes its time."""
        for language in LANGUAGES:
            if language.name in programs:
                words = language.describe(programs[language.name])
                self._outbox.send(**{"is": "described", "language": language.name, "words": words})

    # -- the languages

    def _runtime(self, name: str) -> PtyRuntime | None:
        """The language at work; None where it is not here."""
        if name not in self._runtimes:
            language = next((item for item in LANGUAGES if item.name == name), None)
            if language is None:
                raise ValueError(f"unknown language {name[:40]!r}")
            program = language.find(self._choices)
            if program is None:
                return None
            self._runtimes[name] = self._make(language, program)
        return self._runtimes[name]

    def _make(self, language: Language, program: str) -> PtyRuntime:
        return PtyRuntime(
            language,
            program,
            cwd=self._cwd,
            hidden=self._hidden,
            active_line=self._active_line,
            size=self._size,
            on_loss=self._tell_loss,
        )

    def _tell_loss(self, loss: Loss) -> None:
        self._outbox.send_in_order(**{"is": "loss", "loss": pack(loss)})

    def _begin_run(self, message: Frame) -> None:
        number, name = message["id"], message["language"]
        cell = Cell(message["code"], message["number"])
        stop = self._stops[number] = threading.Event()
        self._turns.setdefault(name, threading.Lock())
        watched = str(message.get("watch") or "")
        wanted = self._outbox.runs() | set(self._stops)
        self._runs = {key: facts for key, facts in self._runs.items() if key in wanted}
        self._runs[number] = _RunFacts(number, name, cell, watched, time.monotonic())
        self._in_thread(self._try, lambda _: self._run(number, name, cell, stop, watched), message)

    def _run(self, number: int, name: str, cell: Cell, stop: threading.Event, watched: str) -> None:
        try:
            with self._turns[name]:
                self._run_in_turn(number, name, cell, stop, watched)
        finally:
            self._stops.pop(number, None)
            self._given_up.discard(number)

    def _run_in_turn(self, number: int, name: str, cell: Cell, stop: threading.Event, watched: str) -> None:
        runtime = self._runtime(name)
        if runtime is None:
            self._outbox.send_report(number, RunEnded("failed", 0.0, f"{name} is not installed there."))
            return
        changes = self._watch() if watched else None
        if changes:
            changes.before(stop.is_set)
        reports = runtime.run(cell.code, stop, cell.number)
        for report in reports:
            if changes and isinstance(report, RunEnded) and (step := changes.after(watched)):
                # It is there before the end is.
                self._outbox.send_in_order(**{"is": "changes", "step": step.to_json()})
            for piece in _pieces(_whole(report)):
                self._outbox.send_report(number, piece)
            if number in self._given_up:
                # Nobody follows it any more: it sees to its end by itself.
                reports.close()
                self._outbox.send_report(number, RunEnded("interrupted", 0.0))

    def _watch(self) -> "FarChanges | None":
        """What watches the files here; None where nothing can be kept."""
        if self._changes is None:
            with contextlib.suppress(OSError):
                self._changes = FarChanges(self._cwd)
        return self._changes

    def _interrupt(self, number: int, name: str) -> None:
        if stop := self._stops.get(number):
            stop.set()
            if runtime := self._runtimes.get(name):
                runtime.interrupt()

    def _answer_about_files(self) -> None:
        while True:
            self._try(self._answer_about_file, self._file_requests.get())

    def _answer_about_file(self, message: Frame) -> None:
        if message["what"] in ("plan", "restore"):
            changes = self._watch()
            answer = changes.answer(message) if changes else FileRefused("nothing is kept there")
        else:
            answer = far_files.answer(message, self._cwd)
        packed = pack(answer)
        self._outbox.send(**{"is": "answer", "id": message["id"], "value": packed})

    def _answer(self, message: Frame) -> None:
        runtime = self._runtimes.get(message["language"])
        value: object = None
        if runtime and message["do"] == "memory":
            value = runtime.memory()
        elif runtime and message["do"] == "reset":
            runtime.reset()
        elif runtime and message["do"] == "complete":
            value = runtime.complete(message["code"])
        elif runtime:
            value = runtime.look_at(message["name"])
        packed = None if value is None else pack(value)
        self._outbox.send(**{"is": "answer", "id": message["id"], "value": packed})


class _RunFacts:
    """What an application that comes back is told of a run."""

    def __init__(self, number: int, language: str, cell: Cell, watched: str, began: float) -> None:
        self._number = number
        self._language = language
        self._cell = cell
        self._watched = watched
        self._began = began

    def to_json(self, *, running: bool) -> Frame:
        return {
            "id": self._number,
            "language": self._language,
            "code": self._cell.code,
            "number": self._cell.number,
            "message": self._watched,
            "seconds": time.monotonic() - self._began,
            "running": running,
        }


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # A container may run under a number that has no name.
        return str(os.getuid())


def _pieces(report: Report) -> Iterator[Report]:
    """The report; long output in pieces, so that one is read here while others are on their way."""
    if not isinstance(report, Printed) or len(report.text) <= _PIECE:
        yield report
        return
    for at in range(0, len(report.text), _PIECE):
        yield Printed(report.text[at : at + _PIECE], report.view, report.table)


def _whole(report: Report) -> Report:
    """The report with what it names in it: a file of this machine says nothing elsewhere."""
    if not isinstance(report, Displayed) or report.format not in PLACES:
        return report
    path = Path(report.content)
    kind = _PICTURES.get(path.suffix.lower())
    try:
        if kind and path.is_file() and path.stat().st_size <= _LARGEST_PICTURE:
            return Displayed(kind, base64.b64encode(path.read_bytes()).decode(), report.view)
    except OSError:
        pass
    return Printed(f"\r\noi-tui: {path} is on the other machine and cannot be shown here\r\n")
