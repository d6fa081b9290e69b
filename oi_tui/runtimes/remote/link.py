"""The connection to a far end: its process, and the frames in both directions."""

import contextlib
import os
import queue
import re
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Protocol

from oi_tui.file_changes.snapshots import Step, read_step
from oi_tui.messages import Loss, Report, RunEnded
from oi_tui.runtimes.remote import wire
from oi_tui.runtimes.remote.askpass import Ask, questions
from oi_tui.runtimes.remote.bundle import bundle
from oi_tui.runtimes.remote.target import GoneError, Target, TargetError
from oi_tui.runtimes.remote.wire import (
    BEAT,
    MARK,
    Frame,
    FrameReader,
    WireError,
    frame,
    unpack,
    unpack_reports,
)

#: How long the far end may take to begin, in seconds: a job may wait for its machine.
PATIENCE = 120.0
#: The same where a person may have to type a password or take a telephone, in seconds.
ASKED = 600.0
#: How much of what was printed before the far end began is kept, in bytes, to say why it did not.
_GREETING = 64 * 1024
#: How much of the standard error of the connecting program is kept, in bytes.
_ERRORS = 8 * 1024
_GLANCE = 0.1
#: How long the far end may take to end everything, in seconds; while it is silent, nobody waits for it.
_ENDING = 10.0
#: How long the connecting program is given to say why it ended, in seconds.
_LAST_WORDS = 0.5
#: So much of each line that it printed is shown, in characters.
_LONGEST_LINE = 150
_NO_PYTHON = (
    "There is no python3 there. Install Python 3.8 or later on that machine, or choose another target."
)


#: What ssh prints where a host has another key than the one that is known.
_CHANGED_KEY = "HOST IDENTIFICATION HAS CHANGED"


class Stopped(Protocol):
    """Says whether what is waited for is still wanted."""

    def is_set(self) -> bool:
        """Whether it is not."""


class LinkLostError(Exception):
    """The connection is no more; the message says why, as a part of a sentence."""


@dataclass(frozen=True)
class LeftRun:
    """A run that goes on at the far end, or ended while nobody was connected."""

    id: int
    language: str
    code: str
    #: The number of its cell, and the id of its message; None and "" where they are not known.
    number: int | None
    message: str
    #: How long ago it began, in seconds.
    seconds: float
    is_running: bool


class Run:
    """What comes of one run. One thread reads it; any thread may ask for its end."""

    def __init__(self, link: "Link", number: int, language: str) -> None:
        self._link = link
        self.number = number
        self.language = language
        self.arrived: queue.Queue[tuple[list[Report], int] | None] = queue.Queue()

    def next(self, seconds: float) -> list[Report] | None:
        """The reports that come within so many seconds, None for none. Raises LinkLostError."""
        try:
            item = self.arrived.get(timeout=seconds)
        except queue.Empty:
            return None
        if item is None:
            raise LinkLostError(self._link.lost or "it ended")
        reports, size = item
        self._link.send(do="took", size=size)
        return reports

    def interrupt(self) -> None:
        """Interrupt the run, or take the next step towards its end."""
        self._link.send(do="interrupt", id=self.number, language=self.language)

    def abandon(self) -> None:
        """Have the far end stop the run, which nobody follows any more."""
        self._link.send(do="abandon", id=self.number, language=self.language)


class Link:
    """A far end at work. Made, it is connected. Raises TargetError where that fails.

    `settings` is what the far end begins with, `stopped` gives the attempt up. Where ssh has a question,
    `ask` is asked; without it, the connection fails.
    """

    def __init__(
        self,
        target: Target,
        settings: Mapping[str, object],
        *,
        environment: Mapping[str, str],
        cwd: Path,
        on_loss: Callable[[Loss], None],
        on_end: Callable[[str], None],
        on_changes: Callable[[Step], None] = lambda _: None,
        ask: Ask | None = None,
        stopped: Stopped | None = None,
    ) -> None:
        self._target = target
        #: How long the far end may take to begin, in seconds; a person who is asked takes longer,
        #: and so does an image that is fetched first.
        self._patience = ASKED if ask or target.kind == "container" else PATIENCE
        self._on_loss = on_loss
        self._on_end = on_end
        self._on_changes = on_changes
        #: Why there is no connection any more, as a part of a sentence; None while there is one.
        self.lost: str | None = None
        # The same for both ends, for as long as the connection lasts.
        self._silence = wire.SILENCE
        #: Whether the far end keeps running when the connection is lost.
        self.stays = bool(settings.get("stays"))
        #: Whether the far end was told to keep running, and said that it does.
        self.detached = False
        #: How many frames arrived of those that are sent again where they did not.
        self.seen = 0
        #: The runs that were going on when this connection was made.
        self.left_runs: tuple[LeftRun, ...] = ()
        #: The facts that the far end sent when it began.
        self.here: Frame = {}
        #: What the languages are there, in words.
        self.described: dict[str, str] = {}
        self._heard = time.monotonic()
        self._numbers = count(1)
        self._lock = threading.Lock()
        self._runs: dict[int, Run] = {}
        self._answers: dict[int, queue.Queue[object]] = {}
        #: The requests whose answers nobody forgets but their arrival.
        self._taken_once: set[int] = set()
        self._sending: queue.Queue[bytes | None] = queue.Queue()
        self._errors = b""
        with questions(ask) as variables:
            rest = self._start_process(
                target.command(may_ask=ask is not None), {**environment, **variables}, cwd, stopped
            )
        self._begun = threading.Event()
        self._refused = ""
        self._gone = False
        #: Set when all is done that the end of the connection needs.
        self._over = threading.Event()
        #: Whether we just come back to what was left, and it is not ours to end yet.
        self._attaches = bool(settings.get("attach"))
        self._start(self._write)
        self._start(self._read, rest)
        self._send_bytes(bundle())
        self.send(do="begin", **settings)
        self._wait_for_begin(stopped or threading.Event())

    def _start_process(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        cwd: Path,
        stopped: Stopped | None,
    ) -> bytes:
        """Start the program that connects, and wait for the far end; what came after its first line."""
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(environment),
                cwd=cwd,
                # A key press meant for us does not end it, and it asks nothing on our terminal.
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            raise TargetError(f"{command[0]} could not be started: {error.strerror or error}.") from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._output = self._process.stdout.fileno()
        self._threads: list[threading.Thread] = []
        self._start(self._read_errors)
        try:
            return self._greet(stopped or threading.Event())
        except BaseException:
            self._process.stdin.close()
            self._kill()
            self._process.stdout.close()
            raise

    def _start(self, function: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=function, args=arguments, name="link", daemon=True)
        self._threads.append(thread)
        thread.start()

    @property
    def silent_for(self) -> float:
        """How long nothing has come from the far end, in seconds."""
        return time.monotonic() - self._heard

    # -- the beginning

    def _greet(self, stopped: Stopped) -> bytes:
        """Wait until the far end's Python speaks; what came after its first line."""
        received = b""
        until = time.monotonic() + self._patience
        while time.monotonic() < until and not stopped.is_set():
            if not select.select([self._output], [], [], _GLANCE)[0]:
                continue
            piece = os.read(self._output, 65536)
            if not piece:
                # Without an answer, the program that connects may end before we look at the event again.
                raise TargetError("Connecting was stopped." if stopped.is_set() else self._why_not(received))
            received += piece
            at = received.find(MARK + b" ")
            if at >= 0 and b"\n" in received[at:]:
                line, _, rest = received[at:].partition(b"\n")
                self._check(line.decode("ascii", "replace").split(maxsplit=2)[1:])
                return rest
            if at < 0:
                received = received[-_GREETING:]
        if stopped.is_set():
            raise TargetError("Connecting was stopped.")
        raise TargetError(self._no_answer())

    def _check(self, words: list[str]) -> None:
        match words:
            case ["ready", *_]:
                return
            case ["missing", *_]:
                raise TargetError(_NO_PYTHON)
            case ["partial", module]:
                raise TargetError(
                    f"Python on {self._target.title} lacks a part of its standard library "
                    f"({module.strip()}). Install all of it: on Debian and Ubuntu the package python3, "
                    "not only python3-minimal."
                )
            case ["old", version]:
                raise TargetError(
                    f"Python {version.strip()} on {self._target.title} is too old; it needs 3.8 or later."
                )
        raise TargetError(f"{self._target.title} gave an answer that is not understood.")

    def _why_not(self, came: bytes) -> str:
        """Say why the connection ended before it began, in the words of the program that made it."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(2)
        self._threads[0].join(_LAST_WORDS)
        printed = (self._errors or came).decode("utf-8", "replace")
        if _CHANGED_KEY in printed:
            return _explain_changed_key(self._target.title, printed)
        unknown = f"the program that connects gave no reason (exit status {self._process.returncode})"
        words = "; ".join(line[:_LONGEST_LINE] for line in _reasons(printed)[-3:]) or unknown
        end = "" if words.endswith((".", "?", "!")) else "."
        return f"No connection to {self._target.title}: {words}{end}"

    def _no_answer(self) -> str:
        """Say that the far end does not begin, and what may be in its way."""
        words = f"{self._target.title} did not answer within {self._patience:.0f} seconds."
        if self._target.kind == "ssh":
            # A shared connection outlives its network, and ssh waits in it without a limit of its own.
            words += " If ssh shares its connections (ControlMaster), end the shared one with ssh -O exit."
        return words

    def _wait_for_begin(self, stopped: Stopped) -> None:
        until = time.monotonic() + self._patience
        while not self._begun.wait(_GLANCE):
            if stopped.is_set() or time.monotonic() > until:
                self.close()
                raise TargetError("Connecting was stopped." if stopped.is_set() else self._no_answer())
        if not self.here:
            lost = f"the connection ended ({self.lost})" if self.lost else ""
            reason = self._refused or lost or "it ended"
            self.close()
            raise (GoneError if self._gone else TargetError)(f"{self._target.title}: {reason}")
        if self._attaches:
            # From now on, we are who ends it.
            self._attaches = False
            self.send(do="came")

    # -- what goes there

    def send(self, **message: object) -> None:
        """Send a message; never waits for the connection."""
        self._send_bytes(frame(message))

    def _send_bytes(self, data: bytes) -> None:
        self._sending.put(data)

    def _write(self) -> None:
        assert self._process.stdin is not None
        beat = frame({"do": "beat"})
        # Nobody else closes it: its number could be another file's by then.
        with contextlib.suppress(OSError), self._process.stdin as target:
            while True:
                try:
                    data = self._sending.get(timeout=BEAT)
                except queue.Empty:
                    data = beat
                if data is None:
                    return
                view = memoryview(data)
                while view:
                    view = view[os.write(target.fileno(), view) :]

    def run(self, language: str, code: str, number: int | None = None, watch: str = "") -> Run:
        """Have code run as the cell of this number; what comes of it.

        `watch` is the id of the code for which the files that it changes are reported; "" for no report.
        """
        run = Run(self, next(self._numbers), language)
        with self._lock:
            self._runs[run.number] = run
            if self.lost is not None:
                run.arrived.put(None)
        self.send(do="run", id=run.number, language=language, code=code, number=number, watch=watch)
        return run

    def ask(self, do: str, seconds: float, **message: object) -> object:
        """Ask for something and wait; None when there is no answer within so many seconds."""
        number = next(self._numbers)
        answers: queue.Queue[object] = queue.Queue()
        with self._lock:
            if self.lost is not None:
                return None
            self._answers[number] = answers
        try:
            self.send(do=do, id=number, **message)
            # Nobody waits long for an end that says nothing; should it answer again, it does what was asked.
            return answers.get(timeout=seconds if self.silent_for < wire.QUIET else _GLANCE)
        except queue.Empty:
            return None
        finally:
            with self._lock:
                self._answers.pop(number, None)

    def begin(self, do: str, **message: object) -> "queue.Queue[object]":
        """Ask for something, and do not wait: the answer comes to the queue, None where there is none."""
        number = next(self._numbers)
        answers: queue.Queue[object] = queue.Queue()
        with self._lock:
            if self.lost is not None:
                answers.put(None)
                return answers
            self._answers[number] = answers
            self._taken_once.add(number)
        self.send(do=do, id=number, **message)
        return answers

    # -- what comes from there

    def _read(self, rest: bytes) -> None:
        frames = FrameReader()
        reason = ""
        piece = rest
        try:
            while True:
                if piece:
                    self._heard = time.monotonic()
                    for message, size in frames.read(piece):
                        self._take(message, size)
                    if self.detached:
                        break
                while not select.select([self._output], [], [], 1.0)[0]:
                    if self.silent_for > self._silence:
                        raise WireError(f"no answer for {self._silence:.0f} seconds")
                piece = os.read(self._output, 1 << 18)
                if not piece:
                    break
        except (WireError, KeyError, TypeError, AttributeError) as error:
            reason = str(error) if isinstance(error, WireError) else "an answer that is not understood"
        except (OSError, ValueError):
            pass
        self._lose("the target was detached" if self.detached else reason)
        self._over.set()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _take(self, message: Frame, size: int) -> None:
        match message["is"]:
            case "reports":
                self.seen += 1
                # The size is that of the frame with its length, as the far end counts it.
                self._take_reports(message["id"], unpack_reports(message), size + 4)
            case "answer":
                answers = self._waiting_for(message["id"])
                if answers:
                    answers.put(None if message["value"] is None else unpack(message["value"]))
            case "problem":
                self._take_problem(message["id"], str(message["reason"])[:400])
            case "loss":
                self.seen += 1
                loss = unpack(message["loss"])
                if isinstance(loss, Loss):
                    self._on_loss(loss)
            case "changes":
                self.seen += 1
                try:
                    self._on_changes(read_step(message["step"]))
                except ValueError as error:
                    raise WireError(str(error)) from None
            case "described":
                self.described[str(message["language"])] = str(message["words"])[:200]
            case "here":
                self.here = _checked(message)
                self._expect(message)
                # What was printed while it began, such as a greeting, says nothing of the end.
                self._errors = b""
                self._begun.set()
            case "refused":
                self._refused = str(message["reason"])[:400]
                self._gone = message.get("gone") is True
                self._begun.set()
            case "detached":
                self.detached = True

    def _expect(self, message: Frame) -> None:
        """Be ready for what comes of the runs that were going on when the connection was made."""
        if "runs" not in message:
            return
        self.left_runs = tuple(map(_left_run, message["runs"]))
        next_number = message["next"] + 1
        self.seen = int(message["from"])
        with self._lock:
            self._numbers = count(next_number)
            self._runs = {item.id: Run(self, item.id, item.language) for item in self.left_runs}

    def follow(self, id: int) -> "Run | None":
        """A run that was going on when the connection was made; None where there is no such run."""
        with self._lock:
            return self._runs.get(id)

    def detach(self, seconds: float, stays_for: float) -> bool:
        """Leave the far end running, for so many seconds without us; whether it said that it does.

        Everything that it sent before has arrived then.
        """
        self.send(do="detach", stays_for=stays_for)
        self.wait_for_end(seconds)
        return self.detached

    def wait_for_end(self, seconds: float) -> None:
        """Wait until all is done that the end of the connection needs."""
        self._over.wait(seconds)

    def _take_reports(self, number: int, reports: list[Report], size: int) -> None:
        with self._lock:
            run = self._runs.get(number)
        if run:
            run.arrived.put((reports, size))
        else:
            self.send(do="took", size=size)

    def _waiting_for(self, number: int) -> "queue.Queue[object] | None":
        """Who waits for the answer to a request."""
        with self._lock:
            if number in self._taken_once:
                self._taken_once.discard(number)
                return self._answers.pop(number, None)
            return self._answers.get(number)

    def _take_problem(self, number: object, reason: str) -> None:
        """End what waits for a request that was not carried out."""
        with self._lock:
            run = self._runs.get(number) if isinstance(number, int) else None
        answers = self._waiting_for(number) if isinstance(number, int) else None
        if run:
            run.arrived.put(([RunEnded("failed", 0.0, f"{self._target.title}: {reason}")], 0))
        if answers:
            answers.put(None)

    def forget(self, run: Run) -> None:
        """Drop what still comes of this run: nobody reads it any more."""
        with self._lock:
            self._runs.pop(run.number, None)
        for item in _left(run.arrived):
            if item:
                self.send(do="took", size=item[1])

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as errors:
            while piece := os.read(errors.fileno(), 4096):
                self._errors = (self._errors + piece)[-_ERRORS:]

    # -- the end

    def _lose(self, reason: str) -> None:
        if not reason:
            # The end of its output is seen before its last words.
            self._threads[0].join(_LAST_WORDS)
            lines = _reasons(self._errors.decode("utf-8", "replace"))
            reason = lines[-1][:200].rstrip(".") if lines else "it was closed there"
        if self._release(reason):
            self._kill()
            self._on_end(reason)

    def _release(self, reason: str) -> bool:
        """Let go whoever waits for the far end; False when that was done before."""
        with self._lock:
            if self.lost is not None:
                return False
            self.lost = reason
            runs, answers = list(self._runs.values()), list(self._answers.values())
        for run in runs:
            run.arrived.put(None)
        for answer in answers:
            answer.put(None)
        self._begun.set()
        return True

    def drop(self, reason: str) -> None:
        """Give the connection up; the far end ends everything by itself."""
        self._lose(reason)

    def close(self) -> None:
        """End everything there, as far as it can be reached, and the connection."""
        # What was lost before is out of reach, or was left running.
        if self._release("it was closed") and not self._attaches:
            # A terminal in between does not pass the end of the stream on.
            self.send(do="end")
        self._wait_for_end()
        self._kill()
        for thread in self._threads:
            thread.join(1)

    def _wait_for_end(self) -> None:
        """Close the stream, and wait while the far end is heard: it ends everything there."""
        self._sending.put(None)
        until = time.monotonic() + _ENDING
        while time.monotonic() < until and self.silent_for < wire.QUIET:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_GLANCE)
                return

    def _kill(self) -> None:
        """Close the stream, which ends everything there that is not to stay, and end its process."""
        self._sending.put(None)
        # Where something stays, the process ends by itself: it may have to pass the end on.
        patience = _LAST_WORDS if self.detached else 0.0
        process = self._process
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(patience)
                return
            # With whatever it started, such as the program that ssh connects through.
            with contextlib.suppress(OSError):
                os.killpg(process.pid, number)
            patience = 1.0
        process.wait()


def _reasons(printed: str) -> list[str]:
    """The lines that a connecting program printed, without the warnings of ssh about old algorithms."""
    lines = [line.strip() for line in printed.splitlines()]
    lines = [line for line in lines if line and not line.startswith("** ")]
    # What is said for each attempt, such as that of a password, is said once.
    return [*reversed(dict.fromkeys(reversed(lines)))]


def _explain_changed_key(title: str, printed: str) -> str:
    """Say what it means that a host has another key than before, and where the known one is."""
    where = re.search(r"Offending .*key in (\S+:\d+)", printed)
    known = f" ({where[1][:200]})" if where else ""
    return (
        f"The host key of {title} has changed{known}, so nothing was sent. Another machine may be in its "
        "place. If you know that the new key is right, remove the old one with ssh-keygen -R, "
        "and connect again."
    )


def _left(items: "queue.Queue[tuple[list[Report], int] | None]") -> Iterator[tuple[list[Report], int] | None]:
    with contextlib.suppress(queue.Empty):
        while True:
            yield items.get_nowait()


def _left_run(facts: object) -> LeftRun:
    """What the far end says of a run, as far as it can be meant. Raises WireError."""
    if isinstance(facts, dict):
        number, run, seconds = facts.get("number"), facts.get("id"), facts.get("seconds")
        language, code, message = (str(facts.get(name) or "") for name in ("language", "code", "message"))
        if isinstance(run, int) and isinstance(number, int | None) and isinstance(seconds, int | float):
            return LeftRun(run, language, code, number, message, seconds, facts.get("running") is True)
    raise WireError("an answer that is not understood")


def _checked(message: Frame) -> Frame:
    """What the far end says of itself, as far as it can be meant. Raises WireError."""
    programs = message["programs"]
    texts = [message[name] for name in ("folder", "user", "host", "system", "python")]
    texts.append(message.get("place", ""))
    if not isinstance(programs, dict) or not all(
        isinstance(text, str) and len(text) < 5000 for text in (*texts, *programs, *programs.values())
    ):
        raise WireError("an answer that is not understood")
    return message
