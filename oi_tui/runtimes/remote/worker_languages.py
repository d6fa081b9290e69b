"""The languages of the worker: their runs, what they remember, and the files that they change."""

import base64
import contextlib
import queue
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from oi_tui.messages import Displayed, Printed, Report, RunEnded, VariablesLost
from oi_tui.runtimes.language import Choices, Language
from oi_tui.runtimes.languages import LANGUAGES
from oi_tui.runtimes.pty_runtime import PtyRuntime
from oi_tui.runtimes.remote import worker_files
from oi_tui.runtimes.remote.file_answers import FileRefused
from oi_tui.runtimes.remote.outbox import Outbox
from oi_tui.runtimes.remote.wire import PLACES, Frame, pack
from oi_tui.runtimes.remote.worker_changes import WorkerChanges
from oi_tui.runtimes.runs.run import Cell
from oi_tui.runtimes.variables import Memory
from oi_tui.system import environment, environment_names

#: The largest image that is sent when a program names its file, in bytes.
_LARGEST_IMAGE = 32 * 1024 * 1024
_IMAGES = {".png": "base64.png", ".jpg": "base64.jpeg", ".jpeg": "base64.jpeg"}
#: How long the languages are given to end, in seconds; each needs 6 at most.
_ENDING = 8.0


class WorkerLanguages:
    """The languages at work. What they report goes to the outbox.

    `attempt` carries out a request; one that fails is answered with an error.
    """

    def __init__(self, outbox: Outbox, attempt: Callable[[Callable[[Frame], None], Frame], None]) -> None:
        self._outbox = outbox
        self._attempt = attempt
        self._choices = Choices()
        #: Where languages start; known when the application has begun.
        self.cwd = Path("/")
        self._hidden: frozenset[str] = frozenset()
        #: Made when the application first wants to know which files a run changes.
        self._changes: WorkerChanges | None = None
        self._active_line = True
        self._size = 80, 24
        self._runtimes: dict[str, PtyRuntime] = {}
        #: The run of each language, with what tells it to stop.
        self._stops: dict[int, threading.Event] = {}
        #: What is known of the runs of which an application may want to hear.
        self._runs: dict[int, _RunFacts] = {}
        self._given_up: set[int] = set()
        #: Held by the run of each language, until what it leaves is put away: the next one finds it there.
        self._turns: dict[str, threading.Lock] = {}
        #: The run whose turn it is, of each language; held while that changes, or gets an interrupt.
        self._current: dict[str, int] = {}
        self._switching = threading.Lock()
        #: Requests about files, which are carried out one after the other.
        self._file_requests: queue.Queue[Frame] = queue.Queue()

    def begin(self, message: Frame, cwd: Path) -> None:
        """Take the settings of the application, and the folder in which languages start."""
        self.cwd = cwd
        python = message["python"] or (sys.executable if sys.argv[2:] == ["newer"] else "")
        self._choices = Choices(python, message["shell"])
        self._active_line = message["active_line"]
        self._size = message["columns"], message["rows"]
        held_back = () if message["share_keys"] else environment.list_withheld(message["passed"])
        self._hidden = frozenset((*held_back, environment_names.HOME))

    def obey(self, message: Frame) -> bool:
        """Carry out a request, and return whether it is one about languages."""
        do = message["do"]
        if do == "input":
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
            _run_in_thread(self._attempt, self._answer, message)
        elif do == "file":
            self._file_requests.put(message)
        elif do == "resize":
            self.resize(message)
        else:
            return False
        return True

    # -- what is here

    @property
    def names(self) -> "list[str]":
        """The languages that were started."""
        return sorted(self._runtimes)

    @property
    def are_at_work(self) -> bool:
        """Whether a language remembers something, or runs code."""
        return bool(self._stops) or any(runtime.is_alive for runtime in self._runtimes.values())

    def list_programs(self) -> "dict[str, str]":
        """Return the program of each language that is installed here."""
        programs = {}
        for language in LANGUAGES:
            # What opens pages or other applications does so where the person sits.
            if not language.outside and not language.host and (program := language.find(self._choices)):
                programs[language.name] = program
        return programs

    def describe(self) -> None:
        """Say which versions are here; each program is asked, which takes its time."""
        _run_in_thread(self._describe, self.list_programs())

    def _describe(self, programs: "dict[str, str]") -> None:
        for language in LANGUAGES:
            if language.name in programs:
                words = language.describe(programs[language.name])
                self._outbox.send(**{"is": "described", "language": language.name, "words": words})

    def list_runs(self) -> "tuple[list[Frame], int]":
        """Return the runs that go on or that nobody heard the end of, and the highest number of a run."""
        outbox_runs = self._outbox.list_runs()
        runs = [
            facts.to_json(running=number in self._stops)
            for number, facts in self._runs.items()
            if number in self._stops or number in outbox_runs
        ]
        return runs, max(self._runs, default=0)

    def resize(self, message: Frame) -> None:
        """Give the programs the size of the application's terminal."""
        self._size = message["columns"], message["rows"]
        for runtime in list(self._runtimes.values()):
            runtime.resize(*self._size)

    def close(self) -> None:
        """End all languages."""
        closing = [threading.Thread(target=runtime.close, daemon=True) for runtime in self._runtimes.values()]
        for thread in closing:
            thread.start()
        until = time.monotonic() + _ENDING
        for thread in closing:
            thread.join(max(0.0, until - time.monotonic()))

    def _find_runtime(self, name: str) -> PtyRuntime | None:
        """Return the language at work; None where it is not here."""
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
            cwd=self.cwd,
            hidden=self._hidden,
            active_line=self._active_line,
            size=self._size,
            on_loss=self._send_loss,
        )

    def _send_loss(self, loss: VariablesLost) -> None:
        self._outbox.send_in_order(**{"is": "loss", "loss": pack(loss)})

    # -- runs

    def _begin_run(self, message: Frame) -> None:
        number, name = message["id"], message["language"]
        cell = Cell(message["code"], message["number"])
        stop = self._stops[number] = threading.Event()
        self._turns.setdefault(name, threading.Lock())
        watched = str(message.get("watch") or "")
        live_runs = self._outbox.list_runs() | set(self._stops)
        self._runs = {key: facts for key, facts in self._runs.items() if key in live_runs}
        self._runs[number] = _RunFacts(number, name, cell, watched, time.monotonic())
        _run_in_thread(self._attempt, lambda _: self._run(number, name, cell, stop, watched), message)

    def _run(self, number: int, name: str, cell: Cell, stop: threading.Event, watched: str) -> None:
        try:
            with self._turns[name]:
                with self._switching:
                    self._current[name] = number
                try:
                    self._run_in_turn(number, name, cell, stop, watched)
                finally:
                    with self._switching:
                        del self._current[name]
        finally:
            self._stops.pop(number, None)
            self._given_up.discard(number)

    def _run_in_turn(self, number: int, name: str, cell: Cell, stop: threading.Event, watched: str) -> None:
        runtime = self._find_runtime(name)
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
            self._outbox.send_report(number, _add_file_contents(report))
            if number in self._given_up:
                # Nothing reads its reports any more, so it ends the run itself.
                reports.close()
                self._outbox.send_report(number, RunEnded("interrupted", 0.0))

    def _interrupt(self, number: int, name: str) -> None:
        """Interrupt a run, or keep it from beginning; the run before it goes on."""
        if stop := self._stops.get(number):
            stop.set()
            with self._switching:
                runtime = self._runtimes.get(name)
                if runtime and self._current.get(name) == number:
                    runtime.interrupt()

    # -- answers

    def _answer(self, message: Frame) -> None:
        runtime = self._runtimes.get(message["language"])
        value: object = None
        if runtime and message["do"] == "memory":
            value = runtime.read_memory()
        elif runtime and message["do"] == "reset":
            runtime.reset()
            value = Memory(message["language"], "unstarted")
        elif runtime and message["do"] == "complete":
            value = runtime.complete(message["code"])
        elif runtime:
            value = runtime.inspect(message["name"])
        packed = None if value is None else pack(value)
        self._outbox.send(**{"is": "answer", "id": message["id"], "value": packed})

    def answer_about_files(self) -> None:
        """Begin to answer requests about files, in a thread."""
        _run_in_thread(self._answer_about_files)

    def _answer_about_files(self) -> None:
        while True:
            self._attempt(self._answer_about_file, self._file_requests.get())

    def _answer_about_file(self, message: Frame) -> None:
        if message["what"] in ("plan", "restore"):
            changes = self._watch()
            answer = changes.answer(message) if changes else FileRefused("nothing is kept there")
        else:
            answer = worker_files.answer(message, self.cwd, self._find_folder(message))
        packed = pack(answer)
        self._outbox.send(**{"is": "answer", "id": message["id"], "value": packed})

    def _find_folder(self, message: Frame) -> "Path | None":
        """Return the folder of the language that a request is about; None where that is not known."""
        runtime = self._runtimes.get(message.get("language", ""))
        return runtime.find_folder() if runtime else self.cwd

    def _watch(self) -> "WorkerChanges | None":
        """Return what watches the files here; None where nothing can be kept."""
        if self._changes is None:
            with contextlib.suppress(OSError):
                self._changes = WorkerChanges(self.cwd)
        return self._changes


class _RunFacts:
    """What an application that comes back learns of a run."""

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


def _run_in_thread(function: Callable[..., None], *arguments: object) -> None:
    threading.Thread(target=function, args=arguments, daemon=True).start()


def _add_file_contents(report: Report) -> Report:
    """Return the report with what it names in it: a file of this machine says nothing elsewhere."""
    if not isinstance(report, Displayed) or report.format not in PLACES:
        return report
    path = Path(report.content)
    kind = _IMAGES.get(path.suffix.lower())
    try:
        if kind and path.is_file() and path.stat().st_size <= _LARGEST_IMAGE:
            return Displayed(kind, base64.b64encode(path.read_bytes()).decode(), report.view)
    except OSError:
        pass
    return Printed(f"\r\noi-tui: {path} is on the other machine and cannot be shown here\r\n")
