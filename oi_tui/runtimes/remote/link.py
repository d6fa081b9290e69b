"""The connection to the worker on a remote host: its process, and the frames in both directions."""

import contextlib
import os
import queue
import select
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from oi_tui.file_changes.snapshots import ChangeSet, read_change_set
from oi_tui.messages import Report, RunEnded, VariablesLost
from oi_tui.runtimes.remote import wire
from oi_tui.runtimes.remote.askpass import Ask
from oi_tui.runtimes.remote.bundle import make_bundle
from oi_tui.runtimes.remote.connecting import LAST_WORDS, StopSignal, start_program
from oi_tui.runtimes.remote.target import GoneError, Target, TargetError
from oi_tui.runtimes.remote.wire import (
    Frame,
    FrameReader,
    WireError,
    encode_frame,
    is_duration,
    unpack,
    unpack_reports,
)
from oi_tui.system.failures import describe_failure

_GLANCE = 0.1
#: How long the worker may take to end everything, in seconds; while it is silent, nobody waits for it.
_ENDING = 10.0


class LinkLostError(Exception):
    """The connection was lost; the message says why, as a part of a sentence."""


@dataclass(frozen=True)
class LeftRun:
    """A run that continues on the remote host, or ended while nobody was connected."""

    id: int
    language: str
    code: str
    #: The number of its cell, and the id of its message; None and "" where they are not known.
    number: int | None
    message: str
    #: How long ago it began, in seconds.
    seconds: float
    is_running: bool


class RemoteRun:
    """The reports of one run. One thread reads them; any thread may stop the run."""

    def __init__(self, link: "Link", number: int, language: str) -> None:
        self._link = link
        self.number = number
        self.language = language
        self.arrived: queue.SimpleQueue[tuple[list[Report], int] | None] = queue.SimpleQueue()

    def read_reports(self, seconds: float) -> list[Report] | None:
        """Return the reports that come within `seconds`; None if there are none. Raises LinkLostError."""
        try:
            item = self.arrived.get(timeout=seconds)
        except queue.Empty:
            if self._link.lost is None:
                return None
            # Nothing comes any more; the last of it may have come meanwhile.
            item = next(_take_waiting(self.arrived), None)
        if item is None:
            raise LinkLostError(self._link.lost or "it ended")
        reports, size = item
        # What came meanwhile is taken with it: each answer wakes several processes.
        for later in _take_waiting(self.arrived):
            if later is None:
                self.arrived.put(None)
                break
            reports += later[0]
            size += later[1]
        self._link.answer_for(size)
        return reports

    def interrupt(self) -> None:
        """Interrupt the run, or take the next step towards its end."""
        self._link.send(do="interrupt", id=self.number, language=self.language)

    def abandon(self) -> None:
        """Have the worker stop the run: nothing reads its output."""
        self._link.send(do="abandon", id=self.number, language=self.language)


class Link:
    """The connection to a worker. Making it connects. Raises TargetError where that fails.

    `settings` is what the worker starts with, `stopped` cancels the attempt. Where ssh has a question,
    `ask` is asked; without it, the connection fails.
    """

    def __init__(
        self,
        target: Target,
        settings: Mapping[str, object],
        *,
        environment: Mapping[str, str],
        cwd: Path,
        on_loss: Callable[[VariablesLost], None],
        on_end: Callable[[str], None],
        on_changes: Callable[[ChangeSet], None] = lambda _: None,
        ask: Ask | None = None,
        stopped: StopSignal | None = None,
    ) -> None:
        self._target = target
        self._on_loss = on_loss
        self._on_end = on_end
        self._on_changes = on_changes
        #: Why there is no connection any more, as a part of a sentence; None while there is one.
        self.lost: str | None = None
        # The worker uses the same value, for as long as the connection lasts.
        self._silence = wire.SILENCE
        #: Whether the worker keeps running when the connection is lost.
        self.stays = bool(settings.get("stays"))
        #: Whether the worker was told to keep running, and confirmed it.
        self.detached = False
        #: How many frames arrived of those that are sent again where they did not.
        self.seen = 0
        #: The runs that were going on when this connection was made.
        self.left_runs: tuple[LeftRun, ...] = ()
        #: The facts that the worker sent when it started.
        self.facts: Frame = {}
        #: The languages of the worker, described in words.
        self.described: dict[str, str] = {}
        self._heard = time.monotonic()
        self._numbers = count(1)
        self._lock = threading.Lock()
        self._runs: dict[int, RemoteRun] = {}
        #: How many bytes of reports have come that no run has taken.
        self._waiting_size = 0
        self._answers: dict[int, queue.Queue[object]] = {}
        #: The requests whose answers stay expected until they arrive.
        self._taken_once: set[int] = set()
        self._sending: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._program = start_program(target, environment, cwd, ask, stopped or threading.Event())
        self._threads: list[threading.Thread] = []
        self._begun = threading.Event()
        self._refused = ""
        self._gone = False
        #: Set when everything that follows the end of the connection is done.
        self._over = threading.Event()
        #: Whether we are coming back to a worker that was left, and may not end it yet.
        self._attaches = bool(settings.get("attach"))
        # Making the bundle may take longer than a beat, which must not be sent before it.
        self._send_bytes(make_bundle())
        self.send(do="begin", **settings)
        try:
            self._start(self._write)
            self._start(self._read, self._program.rest)
        except RuntimeError as error:
            self._end_program()
            self._program.output.close()
            if not self._threads:
                self._program.input.close()
            raise TargetError(f"{target.title}: {describe_failure(error)}.") from None
        self._wait_for_begin(stopped or threading.Event())

    def _start(self, function: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=function, args=arguments, name="link", daemon=True)
        thread.start()
        self._threads.append(thread)

    @property
    def silent_for(self) -> float:
        """How long nothing has come from the remote host, in seconds."""
        return time.monotonic() - self._heard

    def _wait_for_begin(self, stopped: StopSignal) -> None:
        until = time.monotonic() + self._program.timeout
        while not self._begun.wait(_GLANCE):
            if stopped.is_set() or time.monotonic() > until:
                self.close()
                raise TargetError(
                    "Connecting was stopped." if stopped.is_set() else self._program.explain_silence()
                )
        if not self.facts:
            loss = f"the connection ended ({self.lost})" if self.lost else ""
            reason = self._refused or loss or "it ended"
            self.close()
            raise (GoneError if self._gone else TargetError)(f"{self._target.title}: {reason}")
        if self._attaches:
            # From now on, we end it.
            self._attaches = False
            self.send(do="came")

    # -- what goes there

    def send(self, **message: object) -> None:
        """Send a message; never waits for the connection."""
        self._send_bytes(encode_frame(message))

    def _send_bytes(self, data: bytes) -> None:
        self._sending.put(data)

    def _write(self) -> None:
        # Only this closes it: its number could be another file's by then.
        with contextlib.suppress(OSError), self._program.input as target:
            wire.write_waiting(self._sending, target.fileno(), encode_frame({"do": "beat"}))

    def run(self, language: str, code: str, number: int | None = None, watch: str = "") -> RemoteRun:
        """Run code as the cell of this number. Returns its reports.

        `watch` is the id of the code for which the files that it changes are reported; "" for no report.
        """
        run = RemoteRun(self, next(self._numbers), language)
        with self._lock:
            self._runs[run.number] = run
            if self.lost is not None:
                run.arrived.put(None)
        self.send(do="run", id=run.number, language=language, code=code, number=number, watch=watch)
        return run

    def ask(self, do: str, seconds: float, **message: object) -> object:
        """Ask for something and wait; None if there is no answer within `seconds`."""
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
        """Ask for something, and do not wait: the answer comes to the queue, None if there is none."""
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
        output = self._program.output.fileno()
        ready = select.poll()
        ready.register(output, select.POLLIN)
        reason = ""
        # One buffer for all that comes: a new one for each piece costs more than the reading.
        view = memoryview(bytearray(wire.WINDOW))
        piece = memoryview(rest)
        try:
            while True:
                if piece:
                    self._heard = time.monotonic()
                    for message, size in frames.read(piece):
                        self._handle_frame(message, size)
                    if self.detached:
                        break
                while not ready.poll(1000):
                    if self.silent_for > self._silence:
                        raise WireError(f"no answer for {self._silence:.0f} seconds")
                piece = view[: os.readv(output, [view])]
                if not piece:
                    break
        except (WireError, KeyError, TypeError, AttributeError, RecursionError, ArithmeticError) as error:
            reason = str(error) if isinstance(error, WireError) else "an invalid answer"
        except (OSError, ValueError):
            pass
        self._lose("the target was detached" if self.detached else reason)
        self._over.set()
        self._program.output.close()

    def _handle_frame(self, message: Frame, size: int) -> None:
        match message["is"]:
            case "reports":
                self.seen += 1
                # The size is that of the frame with its length, as the worker counts it.
                self._handle_reports(message["id"], unpack_reports(message), size + 4)
            case "answer":
                answers = self._find_waiting(message["id"])
                if answers:
                    answers.put(None if message["value"] is None else unpack(message["value"]))
            case "problem":
                self._fail_request(message["id"], str(message["reason"])[:400])
            case "loss":
                self.seen += 1
                loss = unpack(message["loss"])
                if isinstance(loss, VariablesLost):
                    self._on_loss(loss)
            case "changes":
                self.seen += 1
                try:
                    self._on_changes(read_change_set(message["step"]))
                except ValueError as error:
                    raise WireError(str(error)) from None
            case "described":
                language = str(message["language"])
                if language in self.facts.get("programs", ()):
                    self.described[language] = str(message["words"])[:200]
            case "here":
                if self._begun.is_set():
                    raise WireError("it began twice")
                self.facts = _check(message)
                self._expect(message)
                # What was printed while it began, such as a greeting, says nothing of the end.
                self._program.forget_words()
                self._begun.set()
            case "refused":
                self._refused = str(message["reason"])[:400]
                self._gone = message.get("gone") is True
                self._begun.set()
            case "detached":
                self.detached = True

    def _expect(self, message: Frame) -> None:
        """Prepare for reports of the runs that were going on when the connection was made."""
        if "runs" not in message:
            return
        self.left_runs = tuple(map(_parse_left_run, message["runs"]))
        next_number = message["next"] + 1
        self.seen = int(message["from"])
        with self._lock:
            self._numbers = count(next_number)
            self._runs = {item.id: RemoteRun(self, item.id, item.language) for item in self.left_runs}

    def follow(self, id: int) -> "RemoteRun | None":
        """Return a run that was going on when the connection was made; None where there is no such run."""
        with self._lock:
            return self._runs.get(id)

    def detach(self, seconds: float, stays_for: float) -> bool:
        """Leave the worker running for `stays_for` seconds without us; return whether it agreed.

        Everything that it sent before has arrived then.
        """
        self.send(do="detach", stays_for=stays_for)
        self.wait_for_end(seconds)
        return self.detached

    def wait_for_end(self, seconds: float) -> None:
        """Wait until everything that follows the end of the connection is done."""
        self._over.wait(seconds)

    def _handle_reports(self, number: int, reports: list[Report], size: int) -> None:
        with self._lock:
            run = self._runs.get(number)
            if run:
                # Within the lock: `forget` answers for what is there, and nobody for what comes later.
                run.arrived.put((reports, size))
                self._waiting_size += size
        if not run:
            self.send(do="took", size=size)
        elif self._waiting_size > wire.LONGEST + wire.WIDEST:
            raise WireError("it sent more output than was asked for")

    def answer_for(self, size: int) -> None:
        """Tell the worker that so many bytes of reports were taken: as many more may come."""
        with self._lock:
            self._waiting_size -= size
        self.send(do="took", size=size)

    def _find_waiting(self, number: int) -> "queue.Queue[object] | None":
        """Find the waiting caller of a request."""
        with self._lock:
            if number in self._taken_once:
                self._taken_once.discard(number)
                return self._answers.pop(number, None)
            return self._answers.get(number)

    def _fail_request(self, number: object, reason: str) -> None:
        """End what waits for a request that was not carried out."""
        with self._lock:
            run = self._runs.get(number) if isinstance(number, int) else None
        answers = self._find_waiting(number) if isinstance(number, int) else None
        if run:
            run.arrived.put(([RunEnded("failed", 0.0, f"{self._target.title}: {reason}")], 0))
        if answers:
            answers.put(None)

    def forget(self, run: RemoteRun) -> None:
        """Drop further messages of this run: nothing reads them."""
        with self._lock:
            self._runs.pop(run.number, None)
        for item in _take_waiting(run.arrived):
            if item:
                self.answer_for(item[1])

    # -- the end

    def _lose(self, reason: str) -> None:
        if not reason:
            reason = self._program.find_last_words() or "it was closed there"
        if self._release(reason):
            self._end_program()
            self._on_end(reason)

    def _release(self, reason: str) -> bool:
        """Wake everything that waits for the worker; False when that was done before."""
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
        """Drop the connection; the worker then ends everything."""
        self._lose(reason)

    def close(self) -> None:
        """End everything there, as far as it can be reached, and the connection."""
        # What was lost before is out of reach, or was left running.
        if self._release("it was closed") and not self._attaches:
            # A terminal in between does not pass the end of the stream on.
            self.send(do="end")
        self._wait_for_end()
        self._end_program()
        for thread in self._threads:
            thread.join(1)
        self._program.join(1)

    def _wait_for_end(self) -> None:
        """Close the stream, and wait while the worker still answers: it ends everything there."""
        self._sending.put(None)
        until = time.monotonic() + _ENDING
        while time.monotonic() < until and self.silent_for < wire.QUIET:
            if self._program.has_ended(_GLANCE):
                return

    def _end_program(self) -> None:
        """Close the stream, which ends everything there that is not to stay, and end the program."""
        self._sending.put(None)
        # Where something stays, it ends by itself: it may have to pass the end on.
        self._program.end(LAST_WORDS if self.detached else 0.0)


def _take_waiting(
    items: "queue.SimpleQueue[tuple[list[Report], int] | None]",
) -> Iterator[tuple[list[Report], int] | None]:
    """Take what waits in the queue now."""
    with contextlib.suppress(queue.Empty):
        while True:
            yield items.get_nowait()


def _parse_left_run(facts: object) -> LeftRun:
    """Return the worker's facts about a run, checked. Raises WireError."""
    if isinstance(facts, dict):
        number, run, seconds = facts.get("number"), facts.get("id"), facts.get("seconds")
        language, code, message = (str(facts.get(name) or "") for name in ("language", "code", "message"))
        if (
            isinstance(run, int)
            and isinstance(number, int | None)
            and isinstance(seconds, int | float)
            and is_duration(seconds)
        ):
            return LeftRun(run, language, code, number, message, seconds, facts.get("running") is True)
    raise WireError("an invalid answer")


def _check(message: Frame) -> Frame:
    """Return the worker's facts about itself, checked. Raises WireError."""
    programs = message["programs"]
    texts = [message[name] for name in ("folder", "user", "host", "system", "python")]
    texts.append(message.get("place", ""))
    if not isinstance(programs, dict) or not all(
        isinstance(text, str) and len(text) < 5000 for text in (*texts, *programs, *programs.values())
    ):
        raise WireError("an invalid answer")
    return message
