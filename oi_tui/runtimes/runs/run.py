"""One run of code in a language process, from its request to its end."""

import secrets
import threading
import time
from dataclasses import dataclass
from enum import Enum, auto
from typing import Literal, Protocol

from oi_tui.messages import Printed, Report, RunEnded
from oi_tui.runtimes.language import Language
from oi_tui.runtimes.processes import process_table
from oi_tui.runtimes.processes.channel import LONGEST_EVENT, Event, explain_full, is_full
from oi_tui.runtimes.processes.process import Item, LanguageProcess, ProcessEnd
from oi_tui.runtimes.runs.active_line import ActiveLine
from oi_tui.runtimes.runs.input_watch import InputWatch
from oi_tui.runtimes.runs.output import RunOutput
from oi_tui.runtimes.runs.person_question import PersonQuestions
from oi_tui.runtimes.runs.stopping import StopSteps
from oi_tui.runtimes.variables import describe_loss, join_names, parse_names
from oi_tui.system.failures import describe_refusal

#: How long a finished run waits for the mark of its end, where the program closed or lost its terminal.
_MARK_TIMEOUT = 1.0
#: The longest name of a database that is shown, in characters.
_LONGEST_DATABASE = 200
#: Displays that name a file.
_PLACES = ("path", "page")


@dataclass(frozen=True)
class Cell:
    """Code to run, and its number in error messages; without one, the language counts itself."""

    code: str
    number: int | None = None
    #: The language of the code, where that is a guest of the one that runs it.
    language: Language | None = None


class RunRuntime(Protocol):
    """The part of the runtime that a run uses."""

    language: Language
    active_line: bool
    #: The signal that stops the language the hard way.
    stop_signal: int | None
    #: What came while no run was there to report it.
    later: list[Item]
    #: Where values that may be shown again were shown.
    places: dict[str, RunOutput]
    #: The newest of the names that the language remembers, as far as it tells them.
    names: tuple[str, ...]
    #: What was typed where a program hid it.
    hidden_inputs: set[str]
    #: The database that cells of SQL use, in words; "" where none is open, or the language has none.
    database: str


class Phase(Enum):
    """How far a run has come."""

    RUNNING = auto()
    #: The driver has reported the end; the mark that follows the last output has not come yet.
    FINISHED = auto()
    ENDED = auto()


class CellRun:
    """One run, from its request to its end.

        RUNNING --- the driver says "finished" ---> FINISHED --- the mark comes, or 1 s is quiet ---> ENDED
           |                                            |                                               |
           +------- the process ended, or the code could not be sent ---------------------------------->

    What is printed goes through `RunOutput`. `InputWatch` knows whether the program waits for input,
    `ActiveLine` which line runs, and `StopSteps` how far a stop has come; each has its own states.
    """

    def __init__(self, runtime: RunRuntime, process: LanguageProcess, cell: Cell, began: float) -> None:
        self._runtime = runtime
        self._language = cell.language or runtime.language
        self._process = process
        self._code, self._number = cell.code, cell.number
        self._began = began
        self._nonce = secrets.token_hex(16)
        self._phase = Phase.RUNNING
        self._news: str | None = None
        self._lock = threading.RLock()
        self._reports: list[Report] = []
        #: The end, as the driver reported it, and when.
        self._finished: Event | None = None
        self._finished_at = 0.0
        self._steps = StopSteps(
            process,
            self._nonce,
            self._language,
            runtime.stop_signal,
            self._report,
            self._describe_stake(),
            began,
        )
        self._steps.interrupt.hold()
        #: Whether the request was written, at least in part.
        self._is_sent = False
        self._output = RunOutput(self._report, began, runtime.places)
        self._line = ActiveLine(self._output, self._report)
        self._input = InputWatch(
            process, self._output, self._steps.interrupt, runtime.hidden_inputs, self._report, began
        )
        #: What others ask the person while the code runs.
        self.questions = PersonQuestions(process.wake)
        self.leaving = False
        #: Whether the language has reported that its output no longer goes to the terminal.
        self._away = False

    @property
    def ended(self) -> bool:
        """Whether the last report was made."""
        return self._phase is Phase.ENDED

    def start(self, news: str | None, stopped: threading.Event) -> None:
        """Send the code, unless it was stopped before."""
        self._news = news
        if stopped.is_set() or self._is_stopping():
            self._end("interrupted", None)
            return
        process, language = self._process, self._language
        process.forget_typed()
        process.terminal.make_sane()
        later, self._runtime.later = self._runtime.later, []
        self._handle_items(later)
        if self.ended:
            return
        if self._runtime.active_line:
            self._line.watch(process, language, self._code)
        try:
            path = process.channel.write_cell(
                self._code, self._number, language.annotate, opens_pipes=language.opens_pipes
            )
            self._output.show_as_cell(path)
            if self._is_stopping():
                self._end("interrupted", None)
                return
            self._is_sent = True
            place = process.channel.request(language.request(self._nonce, path))
        except (OSError, TimeoutError) as error:
            refusal = describe_refusal(f"{type(error).__name__}: {error}")
            why = explain_full(process.channel.folder.parent) if is_full(error) else refusal or error
            self._end("failed", f"the code could not be sent to the language: {why}")
            return
        with self._lock:
            self._steps.interrupt.await_taking(place)

    def _is_stopping(self) -> bool:
        """Return whether the run has to end, by what another thread did as well."""
        with self._lock:
            return self._steps.begun

    def step(self) -> None:
        """Wait for the next reports to collect, at most one frame or until the next check is due."""
        if not self._is_sent and not self._steps.killing:
            # The start broke off before the language got the code, so no end of it would come.
            self._end("interrupted", None)
            return
        now = time.monotonic()
        until = min(now + 0.25, self._output.due, self._line.due, self._input.due, self._steps.due)
        self._handle_items(self._process.read(until - now))
        self._report_questions()
        now = time.monotonic()
        if not self.ended:
            with self._lock:
                self._steps.advance(now)
            self._see_end(now)
        if not self.ended:
            self._output.flush_if_due(now)
            self._line.check(now)
            self._input.check(now, finished=self._phase is Phase.FINISHED)

    def collect(self) -> list[Report]:
        """Return the reports that are due; each is given once."""
        with self._lock:
            reports, self._reports = self._reports, []
        return reports

    def _report_questions(self) -> None:
        if reports := self.questions.pop_reports():
            self._output.flush()
            for report in reports:
                self._report(report)

    def note_typed(self, text: str) -> None:
        """Note that the person typed this."""
        self._input.note_typed(text)

    # -- what comes

    def _handle_items(self, items: list[Item]) -> None:
        for item in items:
            if self.ended and not isinstance(item, ProcessEnd):
                # What comes after the end is the next run's to report.
                self._runtime.later.append(item)
            elif isinstance(item, bytes):
                self._output.feed(item)
                self._input.note_printed()
            elif isinstance(item, ProcessEnd):
                self._lose(str(item))
            else:
                self._handle_channel_event(item)

    def _handle_channel_event(self, event: Event) -> None:
        kind = event["event"]
        if kind == "line":
            if self._runtime.active_line and isinstance(event.get("line"), int):
                self._line.reach(event["line"])
        elif kind == "display":
            # A program in the sandbox names a file, and we would look for it outside.
            if not (self._process.is_sandboxed and event.get("format") in _PLACES):
                self._output.display(str(event.get("format")), str(event.get("content")), event.get("key"))
        elif kind in ("view", "view_end"):
            self._output.replace_with(event.get("content"), event.get("table"))
        elif kind == "value":
            updates = event.get("updates") is True
            self._output.begin_value(event.get("kind"), event.get("key"), updates=updates)
        elif kind == "value_end":
            self._output.end_value(event.get("forms"))
        elif kind == "input":
            self._input.begin(event)
        elif kind == "input_end":
            self._input.end()
        elif kind == "dropped":
            self._output.flush()
            limit = LONGEST_EVENT // (1024 * 1024)
            self._report(Printed(f"\r\nA display was omitted: it is larger than {limit} MB.\r\n"))
        elif kind == "begun":
            self._steps.interrupt.ask()
        elif kind == "finished" and event.get("nonce") == self._nonce:
            self._finish(event)

    def _report(self, report: Report) -> None:
        with self._lock:
            self._reports.append(report)

    # -- the end

    def _see_end(self, now: float) -> None:
        if self._finished is None:
            event = self._process.find_unplaced("finished")
            if event is None or event.get("nonce") != self._nonce:
                return
            self._phase = Phase.FINISHED
            self._finished, self._finished_at = event, now
        elif now - max(self._finished_at, self._output.last_at) > _MARK_TIMEOUT:
            self._finish(self._finished)

    def _finish(self, event: Event) -> None:
        if self.ended or self._steps.killing:
            # What is being killed has ended only when it is gone.
            return
        status = event.get("status")
        self._runtime.names = parse_names(event.get("names"))
        self._runtime.database = " ".join(str(event.get("database") or "").split())[:_LONGEST_DATABASE]
        self.leaving = bool(event.get("leaving"))
        self._away = bool(event.get("away"))
        state, reason = event.get("state"), event.get("reason")
        if isinstance(status, int):
            state = "failed" if status else "finished"
            reason = f"exit status {status}" if status else None
        if self._steps.begun:
            self._steps.sweep()
            self._end("interrupted", None)
        elif state == "finished":
            self._end("finished", None)
        else:
            self._end("failed", str(reason) if reason else None)

    def _lose(self, how: str) -> None:
        if self.ended:
            return
        title, loss = self._runtime.language.title, describe_loss(self._runtime.names)
        if self._steps.killing:
            how = f"{title} did not react to the interrupt, so it was ended; {loss}"
        elif self._steps.begun:
            how = f"{title} ended when it was interrupted ({how}); {loss}"
        else:
            how = f"{title} ended ({how}); {loss}"
        self._end("lost", how)

    def _end(self, state: Literal["finished", "failed", "interrupted", "lost"], reason: str | None) -> None:
        self._report_questions()
        self.questions.close()
        self._output.flush(last=True)
        with self._lock:
            self._phase = Phase.ENDED
        self._input.end()
        self._line.close()
        news = [item for item in (reason, self._news, self._describe_redirection()) if item]
        reason = "; ".join(news) or None
        self._report(RunEnded(state, time.monotonic() - self._began, reason))

    def _describe_redirection(self) -> str | None:
        """Describe where the output goes, if to a file: the next cell would print nothing here."""
        if not self._away or self.leaving or self._process.ended:
            return None
        place = process_table.find_output(self._process.pid, seconds=0.1)
        if place is None:
            return None
        return f"the output of {self._language.title} goes to {place}, not here"

    # -- stopping

    def _describe_stake(self) -> str:
        """Describe what a second interrupt would end."""
        name, names = self._runtime.language.name, self._runtime.names
        return f"{name} and its variables{f': {join_names(names)}' if names else ''}"

    def stop(self) -> None:
        """Interrupt the run, or take the next step towards its end. Any thread."""
        with self._lock:
            if not self.ended:
                self._steps.press()
        self._process.wake()

    def abandon(self) -> None:
        """Interrupt the run and end it: nothing reads its reports."""
        with self._lock:
            if not self.ended:
                if not self._steps.begun:
                    self._steps.begin_next()
                self._steps.leave_alone()
        self._process.wake()

    def kill(self) -> None:
        """Begin the last step at once."""
        with self._lock:
            if not self.ended:
                self._steps.begin_last()
        self._process.wake()
