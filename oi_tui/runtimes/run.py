"""One run on a language process, from its request to its end."""

import codecs
import contextlib
import re
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from oi_tui.messages import Displayed, InputReceived, InputRequested, LineReached, Printed, Report, RunEnded
from oi_tui.runtimes import process_table
from oi_tui.runtimes.channel import LONGEST_EVENT, Channel, Event
from oi_tui.runtimes.language import Language
from oi_tui.runtimes.process import Ended, Item, LanguageProcess
from oi_tui.runtimes.python_line import PythonLine
from oi_tui.runtimes.shell_line import ShellLine
from oi_tui.runtimes.stopping import StopSteps
from oi_tui.runtimes.variables import listed, loss, names_in

_FRAME = 1 / 60
#: A piece of output is reported before its frame is over when it is this long, in characters.
_LARGEST_PIECE = 512 * 1024
#: How long a program must be quiet before somebody looks whether it waits for input, in seconds.
_QUIET = 0.06
#: How many looks in a row find a program stopped before it is told.
_STANDSTILL = 3
#: How long a finished run waits for the mark of its end, where the program closed or lost its terminal.
_MARK_PATIENCE = 1.0
#: A line that is typed is kept by a terminal up to so many bytes at least: 4,095 on Linux, 1,023 on macOS.
_LONGEST_LINE = 1000
#: Displays that name a file.
_PLACES = ("path", "page")
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")


@dataclass(frozen=True)
class Cell:
    """Code to run, and its number in error messages; without one, the language counts by itself."""

    code: str
    number: int | None = None


class Runtime(Protocol):
    """The part of the runtime that a run uses."""

    language: Language
    active_line: bool
    #: The signal that stops the language the hard way.
    stop_signal: int | None
    #: What came while no run was there to report it.
    later: list[Item]
    #: The newest of the names that the language remembers, as far as it tells them.
    names: tuple[str, ...]
    #: What was typed where a program hid it.
    hidden_inputs: set[str]


class Run:
    """One run, from its request to its end."""

    def __init__(self, runtime: Runtime, process: LanguageProcess, cell: Cell, began: float) -> None:
        self._runtime = runtime
        self._language = runtime.language
        self._process = process
        self._code, self._number = cell.code, cell.number
        self._began = began
        self._nonce = secrets.token_hex(16)
        self.ended = False
        self._news: str | None = None
        self._lock = threading.RLock()
        self._reports: list[Report] = []
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text: list[str] = []
        self._size = 0
        self._due = 0.0
        self._last_line = ""
        self._finished: Event | None = None
        self._finished_at = 0.0
        self._waiting: Literal["", "told", "seen"] = ""
        #: What the model is told in place of what is printed now.
        self._view: str | None = None
        #: The table that is shown in place of what is printed now.
        self._table: str | None = None
        self._masked = False
        #: Whether what the program waited for when it was last seen was answered.
        self._answered = False
        self._sighted = 0
        self._still = 0
        self._quiet_since = began
        self._look_at = 0.0
        self._line = 0
        self._line_at = 0.0
        self._read_line: Callable[[], int | None] | None = None
        self._memory_line: ShellLine | PythonLine | None = None
        self._steps = StopSteps(
            process,
            self._nonce,
            self._language,
            runtime.stop_signal,
            self._report,
            self._at_stake(),
            began,
        )
        self.leaving = False
        #: Whether the language said that its output no longer goes to the terminal.
        self._away = False

    def start(self, news: str | None, stopped: threading.Event) -> None:
        """Hand the code over, unless somebody stopped it before."""
        self._news = news
        if stopped.is_set():
            self._end("interrupted", None)
            return
        process, language = self._process, self._language
        process.forget_typed()
        process.terminal.make_sane()
        later, self._runtime.later = self._runtime.later, []
        self._take(later)
        if self.ended:
            return
        if self._runtime.active_line:
            if language.active_line == "cell":
                self._read_line = lambda: process.channel.line
                with contextlib.suppress(ValueError):
                    self._memory_line = frames = PythonLine(process.pid, process.interpreter)
                    self._read_line = lambda: _line(frames, process.channel)
            elif language.active_line == "memory":
                with contextlib.suppress(ValueError):
                    self._memory_line = ShellLine(process.pid, self._code)
                    self._read_line = self._memory_line.read
        try:
            path = process.channel.write_cell(self._code, self._number)
            process.channel.request(language.request(self._nonce, path))
        except (OSError, TimeoutError) as error:
            self._end("failed", f"the code could not be sent to the language: {error}")
            return

    def step(self) -> list[Report]:
        """Wait for the next thing to report, at most a frame or until somebody must look; the reports."""
        now = time.monotonic()
        self._take(self._process.read(self._patience(now)))
        now = time.monotonic()
        if not self.ended:
            with self._lock:
                self._steps.go_on(now)
            self._see_end(now)
        if not self.ended:
            if self._text and (now >= self._due or self._size >= _LARGEST_PIECE):
                self._flush(now)
            if self._read_line and now >= self._line_at:
                self._line_at = now + _FRAME
                self._reach(self._read_line())
            if now >= self._look_at and now - self._quiet_since >= _QUIET:
                self._look(now)
        return self.collect()

    def collect(self) -> list[Report]:
        """The reports that are due; each is given once."""
        with self._lock:
            reports, self._reports = self._reports, []
        return reports

    def _patience(self, now: float) -> float:
        until = now + 0.25
        if self._text:
            until = min(until, self._due)
        if self._read_line:
            until = min(until, self._line_at)
        if self._waiting != "told":
            until = min(until, max(self._look_at, self._quiet_since + _QUIET))
        return min(until, self._steps.due) - now

    # -- what comes

    def _take(self, items: list[Item]) -> None:
        for item in items:
            if self.ended and not isinstance(item, Ended):
                # What comes after the end is the next run's to report.
                self._runtime.later.append(item)
            elif isinstance(item, bytes):
                text = self._decoder.decode(item)
                self._text.append(text)
                self._size += len(text)
                self._quiet_since = time.monotonic()
                if self._waiting == "seen":
                    self._look_at = 0.0
            elif isinstance(item, Ended):
                self._lose(str(item))
            else:
                self._happen(item)

    def _happen(self, event: Event) -> None:
        kind = event["event"]
        if kind == "line":
            if self._runtime.active_line and isinstance(event.get("line"), int):
                self._reach(event["line"])
        elif kind == "display":
            if self._process.enclosed and event.get("format") in _PLACES:
                # The program names a file, and we would look for it outside of the sandbox.
                return
            self._flush()
            self._report(Displayed(str(event.get("format")), str(event.get("content")), self._view))
        elif kind in ("view", "view_end"):
            self._flush()
            content = event.get("content")
            self._view = content if isinstance(content, str) else None
            table = event.get("table")
            self._table = table if isinstance(table, str) else None
        elif kind == "input":
            self._flush()
            self._process.terminal.take_any_line(False)
            self._waiting = "told"
            prompt = event.get("prompt", _ESCAPES.sub("", self._last_line))
            self._masked = bool(event.get("masked"))
            self._report(InputRequested(str(prompt), self._masked))
        elif kind == "input_end":
            self._receive()
        elif kind == "dropped":
            self._flush()
            limit = LONGEST_EVENT // (1024 * 1024)
            self._report(Printed(f"\r\nA display was omitted: it is larger than {limit} MB.\r\n"))
        elif kind == "begun":
            self._steps.interrupt.ask()
        elif kind == "finished" and event.get("nonce") == self._nonce:
            self._finish(event)

    def _reach(self, line: int | None) -> None:
        if line and line > 0 and line != self._line:
            self._line = line
            if self._text:
                self._flush()
            self._report(LineReached(line))

    def _report(self, report: Report) -> None:
        with self._lock:
            self._reports.append(report)

    def _flush(self, now: float | None = None, last: bool = False) -> None:
        text = "".join(self._text)
        self._text.clear()
        if last:
            text += self._decoder.decode(b"", True)
        elif text.endswith("\r"):
            # Whether it begins a line anew or ends one is seen with the next character.
            text = text[:-1]
            self._text.append("\r")
        self._size = 0
        self._due = (now or time.monotonic()) + _FRAME
        if text:
            tail = (self._last_line + text[-1000:]) if len(text) < 1000 else text[-1000:]
            self._last_line = re.split(r"[\r\n]", tail)[-1][-1000:]
            self._report(Printed(text, self._view, self._table))

    # -- input

    def typed(self, text: str) -> None:
        """Somebody typed: look soon whether the program still waits, or waits for another line."""
        if self._waiting and self._masked:
            self._runtime.hidden_inputs.update(filter(None, text.splitlines()))
        self._answered = self._answered or any(end in text for end in "\n\r\x04")
        if max(map(len, text.encode("utf-8", "replace").split(b"\n"))) > _LONGEST_LINE:
            self._process.terminal.take_any_line()
        self._look_at = time.monotonic() + 0.01

    def _look(self, now: float) -> None:
        """See whether the program waits for the keyboard, where it does not say so itself."""
        pause = 0.1 if now - self._began < 5 else 0.25
        self._look_at = now + pause
        if self._waiting == "told" or self._finished:
            return
        terminal = self._process.terminal
        group = terminal.foreground
        if not group or not self._process.pid:
            return
        if self._steps.interrupt.ask_if_idle():
            return
        device = terminal.device
        pids = process_table.in_foreground(self._process.pid, group)
        self._tell_of_standstill(pids)
        reads = process_table.reads_terminal(pids, device)
        masked = not terminal.echoing
        if reads is None:
            reads = masked and now - self._quiet_since > 0.3
        if reads and terminal.unread:
            # It has yet to take what was typed.
            return
        asks = reads and (not self._waiting or self._answered or masked != self._masked)
        if asks and self._sighted < (1 if self._last_line or self._text else 4):
            # A program that says so itself does it within moments, and with its prompt; so look twice, and
            # longer where no prompt has come yet: a busy terminal hands over late.
            self._sighted += 1
            self._look_at = now + 0.03
            return
        self._sighted = 0
        if asks:
            self._process.terminal.take_any_line(False)
            self._waiting, self._masked, self._answered = "seen", masked, False
            self._flush(now)
            self._report(InputRequested(_ESCAPES.sub("", self._last_line), masked))
        elif not reads and self._waiting:
            self._receive()

    def _tell_of_standstill(self, pids: list[int]) -> None:
        """Say what was stopped and goes on no more: it looks as if it took its time."""
        still = process_table.stopped({self._process.pid, *pids})
        self._still = self._still + 1 if still else 0
        if self._still == _STANDSTILL:
            self._flush()
            self._report(Printed(f"\r\nStopped by a signal and not resumed: {', '.join(still)}\r\n"))

    def _receive(self) -> None:
        if self._waiting:
            self._flush()
            self._process.terminal.take_any_line(False)
            self._waiting = ""
            self._look_at = time.monotonic() + 0.02
            self._report(InputReceived())

    # -- the end

    def _see_end(self, now: float) -> None:
        if self._finished is None:
            event = self._process.unplaced("finished")
            if event is None or event.get("nonce") != self._nonce:
                return
            self._finished, self._finished_at = event, now
        elif now - max(self._finished_at, self._quiet_since) > _MARK_PATIENCE:
            self._finish(self._finished)

    def _finish(self, event: Event) -> None:
        if self.ended or self._steps.killing:
            # What is being killed has ended only when it is gone.
            return
        status = event.get("status")
        self._runtime.names = names_in(event.get("names"))
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
        title, lost = self._language.title, loss(self._runtime.names)
        if self._steps.killing:
            how = f"{title} did not react to the interrupt, so it was ended; {lost}"
        elif self._steps.begun:
            how = f"{title} ended when it was interrupted ({how}); {lost}"
        else:
            how = f"{title} ended ({how}); {lost}"
        self._end("lost", how)

    def _end(self, state: Literal["finished", "failed", "interrupted", "lost"], reason: str | None) -> None:
        self._flush(last=True)
        with self._lock:
            self.ended = True
        if self._memory_line:
            self._memory_line.close()
        self._receive()
        if self._line:
            self._report(LineReached(None))
        news = [item for item in (reason, self._news, self._elsewhere()) if item]
        reason = "; ".join(news) or None
        self._report(RunEnded(state, time.monotonic() - self._began, reason))

    def _elsewhere(self) -> str | None:
        """Describe where the output goes, if to a file: the next cell would print nothing here."""
        if not self._away or self.leaving or self._process.ended:
            return None
        place = process_table.output_of(self._process.pid, seconds=0.1)
        if place is None:
            return None
        return f"the output of {self._language.title} goes to {place}, not here"

    # -- stopping

    def _at_stake(self) -> str:
        """Describe what a second interrupt would end."""
        name, names = self._language.name, self._runtime.names
        return f"{name} and its variables{f': {listed(names)}' if names else ''}"

    def stop(self) -> None:
        """Interrupt the run, or take the next step towards its end. Any thread."""
        with self._lock:
            if not self.ended:
                self._steps.press()
        self._process.wake()

    def abandon(self) -> None:
        """Interrupt the run, which nobody follows any more, and see to its end by itself."""
        with self._lock:
            if not self.ended:
                if not self._steps.begun:
                    self._steps.take()
                self._steps.leave_alone()
        self._process.wake()

    def kill(self) -> None:
        """Take the last step at once."""
        with self._lock:
            if not self.ended:
                self._steps.take_last()
        self._process.wake()


def _line(frames: PythonLine, channel: Channel) -> int | None:
    """The line by the frames; where none is the cell's, as while it awaits something, by the driver."""
    cell, run = channel.cell
    line = frames.read(cell, run) if run else None
    return channel.line if line is None else line
