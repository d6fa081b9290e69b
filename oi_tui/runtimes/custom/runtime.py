"""Runs a language that is a custom class, in its own threads so that it cannot block."""

import contextlib
import ctypes
import queue
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from typing import Any, Literal

from oi_tui.messages import LineReached, Printed, Report, RunEnded, Started, Starting, Stopping
from oi_tui.runtimes.custom import chunks
from oi_tui.runtimes.language import Language, RuntimeWithoutTerminal
from oi_tui.runtimes.runs import stopping
from oi_tui.system.failures import describe_failure
from oi_tui.system.threads import SpareThread

#: The steps of an interrupt, and how long each is given, in seconds: the class's own `stop`, then its
#: `terminate` and an exception in its thread, then it is left behind. After `stop` it is waited for without a
#: limit, because what it remembers goes with `terminate`; only the next interrupt takes that step.
_STEPS: tuple[tuple[Literal["interrupt", "terminate", "kill"], float | None], ...] = (
    ("interrupt", None),
    ("terminate", 1.5),
    ("kill", 0.0),
)
#: How long something that ends for good is waited for, in seconds.
_CLOSING = 2.0
_FRAME = 1 / 60
#: Of a traceback the end is shown, in frames.
_FRAMES = -4
#: How many reports may wait to be taken; a language that gives more is held up.
_WAITING = 256


class _Abandoned(BaseException):
    """Raised in the thread of a run that was given up."""


class _RunThread:
    """One run, in a separate thread: `reports` gets its reports, and None at its end.

    `run` is called with the thread, whose `put` takes a report, and gives the chunks.
    """

    def __init__(self, language: str, run: "Callable[[_RunThread], object]") -> None:
        self.reports: queue.Queue[Report | None] = queue.Queue(_WAITING)
        self.error: BaseException | None = None
        self._run = run
        self.is_abandoned = False
        self._thread = threading.Thread(target=self._produce_reports, name=f"{language} runs", daemon=True)
        self._thread.start()

    def abandon(self) -> None:
        """Ignore all further output, and end its thread where Python can."""
        self.is_abandoned = True
        if self._thread.ident and self._thread.is_alive():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(self._thread.ident), ctypes.py_object(_Abandoned)
            )

    def _produce_reports(self) -> None:
        try:
            output = self._run(self)
            if isinstance(output, (str, bytes, dict)) or not hasattr(output, "__iter__"):
                output = (output,)
            for chunk in output:
                for report in chunks.convert_chunk(chunk):
                    self.put(report)
        except BaseException as error:  # noqa: BLE001 - the run reports it
            self.error = error
        with contextlib.suppress(_Abandoned):
            self.put(None)

    def put(self, report: Report | None) -> None:
        """Hand over a report, once there is room for it."""
        while not self.is_abandoned:
            with contextlib.suppress(queue.Full):
                self.reports.put(report, timeout=0.1)
                return
        raise _Abandoned


class CustomRuntime(RuntimeWithoutTerminal):
    """Runs the code of one language in an object with `run`, `stop` and `terminate`, made when it is needed.

    None of the three is waited for without a bound. An object that heeds neither `stop` nor `terminate` is
    left behind, and the next run has a new one.
    """

    def __init__(self, language: Language, make: Callable[[], Any]) -> None:
        self.language = language
        self._make = make
        self._object: Any = None
        #: Calls `stop` and `terminate` of the object; it is there while the object is.
        self._spare: SpareThread | None = None
        self._lock = threading.RLock()
        self._work: _RunThread | None = None
        self._stopping = 0
        self._stop_at = 0.0
        self._pressed_at = 0.0
        self._notes: list[Report] = []

    def run(
        self,
        code: str,
        stopped: threading.Event,
        number: int | None = None,  # noqa: ARG002 -- as the interface has it
    ) -> Generator[Report, None, None]:
        """Run code; its reports as they come, `RunEnded` last. Closed early, the run is interrupted first.

        Set before the run has begun, `stopped` interrupts it as soon as it has.
        """
        began = time.monotonic()
        try:
            work = self._begin_thread(code, stopped)
        except RuntimeError as error:
            yield RunEnded("failed", 0.0, f"{self.language.title} did not run: {describe_failure(error)}")
            return
        ended = False
        try:
            for report in self._yield_reports(work, began):
                ended = isinstance(report, RunEnded)
                yield report
        finally:
            if not ended:
                self._begin_next_step()
                self._stop_at = min(self._stop_at, time.monotonic() + stopping.UNATTENDED)
                for _ in self._yield_reports(work, began):
                    pass
            with self._lock:
                self._work = None

    def interrupt(self) -> None:
        """Stop the run, if there is one; called again, end the object. A key that is held asks once."""
        with self._lock:
            before, self._pressed_at = self._pressed_at, time.monotonic()
            if not self._stopping or self._pressed_at - before >= stopping.REPEATED:
                self._begin_next_step()

    def _begin_next_step(self) -> None:
        with self._lock:
            if self._work is None or self._stopping >= len(_STEPS):
                return
            step, seconds = _STEPS[self._stopping]
            self._stopping += 1
            self._stop_at = float("inf") if seconds is None else time.monotonic() + seconds
            at_stake = f"{self.language.name} and its variables" if seconds is None else ""
            self._notes.append(Stopping(step, seconds, at_stake))
            if step == "interrupt":
                self._call("stop")
            elif step == "terminate":
                self._end_object()
                self._work.abandon()
            else:
                self._work.abandon()

    @property
    def is_alive(self) -> bool:
        """Whether there is an object that was made of the class."""
        return self._object is not None

    def reset(self) -> None:
        """End the object, and drop it; a run in progress is lost."""
        with self._lock:
            while self._work is not None and self._stopping < len(_STEPS):
                self._begin_next_step()
            self._end_object()

    def close(self) -> None:
        """Close permanently."""
        with self._lock:
            ending = self._end_object()
        if ending:
            ending.wait(_CLOSING)
        self.reset()

    def _begin(self, code: str, work: _RunThread) -> object:
        made = self._object
        if made is None:
            work.put(Starting())
            made = self._make_object(work)
            work.put(Started())
        return made.run(code)

    def _make_object(self, work: _RunThread) -> Any:
        """Make the object, without the lock: it may take its time, and the run may be stopped meanwhile."""
        spare = SpareThread(f"{self.language.name} ends")
        try:
            made = self._make()
        except BaseException:
            spare.end()
            raise
        with self._lock:
            is_late, is_stopped = work.is_abandoned, self._stopping > 0
            if not is_late:
                self._object, self._spare = made, spare
        if is_late:
            try:
                _call_method(made, "terminate", spare, self.language.name)
            finally:
                spare.end()
        if is_late or is_stopped:
            raise _Abandoned
        return made

    def _end_object(self) -> threading.Event | None:
        try:
            return self._call("terminate")
        finally:
            if self._spare:
                self._spare.end()
            self._object = self._spare = None

    def _call(self, name: str) -> threading.Event | None:
        return _call_method(self._object, name, self._spare, self.language.name) if self._spare else None

    def _begin_thread(self, code: str, stopped: threading.Event) -> "_RunThread":
        """Start the thread of a run. Raises RuntimeError where the system refuses one."""
        with self._lock:
            self._stopping = 0
            self._work = work = _RunThread(self.language.name, lambda work: self._begin(code, work))
            if stopped.is_set():
                self.interrupt()
        return work

    def _yield_reports(self, work: _RunThread, began: float) -> Iterator[Report]:
        """Yield reports, with text joined for a frame, until the run ends or the time is over."""
        text: list[str] = []
        due = 0.0
        while True:
            report: Report | None = None
            ended = False
            try:
                report = work.reports.get(timeout=_FRAME if text else 0.1)
                ended = report is None
            except queue.Empty:
                pass
            now = time.monotonic()
            if isinstance(report, Printed):
                due = due if text else now + _FRAME
                text.append(report.text)
            if text and (ended or now >= due or not isinstance(report, Printed)):
                yield Printed("".join(text))
                text.clear()
            if report is not None and not isinstance(report, Printed):
                yield report
            with self._lock:
                notes, self._notes = self._notes, []
                if self._stopping and not ended and now >= self._stop_at:
                    ended = self._stopping == len(_STEPS)
                    self._begin_next_step()
            yield from notes
            if ended:
                yield from self._end(work, time.monotonic() - began)
                return

    def _end(self, work: _RunThread, seconds: float) -> Iterator[Report]:
        yield LineReached(None)
        title = self.language.title
        if self._stopping > 1:
            yield RunEnded("lost", seconds, f"{title} did not stop and was ended; its variables are lost")
        elif self._stopping:
            yield RunEnded("interrupted", seconds)
        elif work.error is None:
            yield RunEnded("finished", seconds)
        else:
            yield Printed(_shorten_traceback(work.error))
            reason = "".join(traceback.format_exception_only(work.error)).strip().partition("\n")[0]
            yield RunEnded("failed", seconds, reason)


def _call_method(target: object, name: str, spare: SpareThread, language: str) -> threading.Event | None:
    """Call a method of an object in a thread, because it may take its time or fail.

    Returns what is set once it has returned.
    """
    method = getattr(target, name, None)
    if not callable(method):
        return None

    def call() -> None:
        # What it says is of no use to anybody: the run ends either way.
        with contextlib.suppress(Exception):
            method()

    return spare.start(call, f"{language} {name}")


def _shorten_traceback(error: BaseException) -> str:
    """Return the end of the traceback, without what is ours."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    frames = [frame for frame in frames if frame.filename != chunks.__file__]
    lines = [*traceback.format_list(frames[_FRAMES:]), *traceback.format_exception_only(error)]
    return ("Traceback (most recent call last):\n" if frames else "") + "".join(lines)
