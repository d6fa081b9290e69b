"""A language on its own terminal: runs code, reports, and stops."""

import contextlib
import json
import math
import os
import secrets
import threading
import time
from collections.abc import Callable, Collection, Generator, Mapping
from dataclasses import replace
from pathlib import Path

from oi_tui import paths
from oi_tui.messages import Report, RunEnded, Started, Starting, VariablesLost
from oi_tui.runtimes.completions import (
    CompletionSet,
    cut_code_to_complete,
    read_completions,
)
from oi_tui.runtimes.language import STARTUP_CELL, Language
from oi_tui.runtimes.processes import process_table
from oi_tui.runtimes.processes.channel import CellChannel, Event
from oi_tui.runtimes.processes.process import Item, LanguageProcess, ProcessEnd
from oi_tui.runtimes.processes.startup import StartStoppedError, start_process, wait_until_ready
from oi_tui.runtimes.runs.output import RunOutput
from oi_tui.runtimes.runs.run import Cell, CellRun
from oi_tui.runtimes.sandbox.base import NoSandboxError
from oi_tui.runtimes.sandbox.sandbox import Sandbox
from oi_tui.runtimes.variables import (
    Detail,
    Memory,
    describe_loss,
    hide_value,
    holds,
    is_name,
    parse_names,
    read,
    read_shell,
    read_shell_detail,
)
from oi_tui.system.failures import describe_refusal

#: How long a language may take to save its state, in seconds.
_SAVING_TIME = 1.5
#: How long to wait for the end of a run that is being killed, in seconds.
_GONE = 5.0
#: How long an answer about variables may take, in seconds, while nothing else is asked of the language.
TIMEOUT = 10.0
#: How long a question waits for the answer to another one, in seconds: screens ask several at once.
_TURN = 3.0
#: How long one try to attach to a process between runs takes, in seconds.
_GLANCE = 0.1
#: How many variables of a language are reported, the newest ones.
MOST = 2000


class PtyRuntime:
    """A language that remembers from run to run. `run` is for one thread at a time, all else for any."""

    def __init__(
        self,
        language: Language,
        program: str,
        *,
        cwd: Path,
        hidden: Collection[str] = (),
        active_line: bool = True,
        size: tuple[int, int] = (80, 24),
        sandbox: Sandbox | None = None,
        on_loss: Callable[[VariablesLost], None] = lambda _: None,
    ) -> None:
        self.language = language
        self._on_loss = on_loss
        self._sandbox = sandbox
        #: Whether the last process was ended because the sandbox was switched.
        self._moved = False
        #: Whether the process is to be ended with the run in progress, which may just be over.
        self._unwanted = False
        self._program = program
        self._cwd = cwd
        self._hidden = frozenset(hidden)
        self.active_line = active_line
        self._size = size
        self._lock = threading.RLock()
        #: Held by the one question that is being asked of the idle language.
        self._questions = threading.Lock()
        self._process: LanguageProcess | None = None
        #: The last process whose end between runs was reported.
        self._lost: LanguageProcess | None = None
        #: What the next cell reports with its end: that the language restarted, and why.
        self._news: str | None = None
        self._run: CellRun | None = None
        #: Held by the thread that reads for the run.
        self._stepping = threading.RLock()
        #: What was typed where a program hid it; variables that hold it are not shown.
        self.hidden_inputs: set[str] = set()
        self.stop_signal: int | None = None
        self._memory = b""
        #: Reports that came between runs.
        self.later: list[Item] = []
        self.places: dict[str, RunOutput] = {}
        #: The newest of the names that the language remembers, as far as it tells them.
        self.names: tuple[str, ...] = ()
        #: The database that cells of SQL use, in words; "" where none is open.
        self.database = ""
        #: Whether a run is in progress or about to begin; other questions then wait or give up.
        self._starting = False
        self._closed = False

    def run(
        self,
        code: str,
        stopped: threading.Event,
        number: int | None = None,
        language: Language | None = None,
    ) -> Generator[Report, None, None]:
        """Run code; its reports as they come, `RunEnded` last. Closed early, the run is interrupted first.

        Set before the run has begun, `stopped` keeps it from beginning, and a language from starting for it.
        `language` is that of the code, where it is a guest of this one.
        """
        self._starting = True
        try:
            yield from self._yield_reports(Cell(code, number, language), time.monotonic(), stopped)
        finally:
            self._starting = False

    def _yield_reports(
        self, cell: Cell, began: float, stopped: threading.Event
    ) -> Generator[Report, None, None]:
        """Find or start a process for a cell, and report its run there. `began` is a monotonic time."""
        try:
            process, ended = self._find_living()
            self._news = ended or self._news
            is_new = process is None
            if process is None:
                yield Starting()
                process, moved = self._begin_in_place(stopped)
                self._news = moved or self._news
        except (StartStoppedError, OSError, RuntimeError, TimeoutError) as error:
            yield self._describe_failed_start(error, time.monotonic() - began)
            return
        run = CellRun(self, process, cell, began)
        if not self._claim(process, run):
            process.detach()
            yield RunEnded("interrupted", time.monotonic() - began)
            return
        try:
            with self._stepping:
                if not run.ended:
                    run.start(self._pop_news(cell), stopped)
            if is_new:
                yield Started()
            yield from self._collect(run)
        except GeneratorExit:
            run.abandon()
            raise
        except BaseException:
            # An interrupt of the application itself, which can be sent again.
            run.stop()
            raise
        finally:
            self._leave(run, process, math.inf)

    def _pop_news(self, cell: Cell) -> str | None:
        """Return what the cell reports of the process before it. The end of startup code is not shown."""
        if cell.number == STARTUP_CELL:
            return None
        news, self._news = self._news, None
        return news

    def _describe_failed_start(self, error: Exception, seconds: float) -> RunEnded:
        """Return the end of a run for which no language started."""
        if isinstance(error, StartStoppedError):
            return RunEnded("interrupted", seconds)
        if isinstance(error, NoSandboxError):
            return RunEnded("failed", seconds, str(error))
        reason = f"{self.language.title} did not start: {self._explain(error)}"
        # Without news of a process that ended, there was nothing to lose.
        news, self._news = self._news, None
        return RunEnded("lost" if news else "failed", seconds, reason)

    def _claim(self, process: LanguageProcess, run: CellRun) -> bool:
        """Make a run the one in progress. Return False where another thread took the process away."""
        with self._lock:
            if self._process is not process:
                return False
            self._run = run
            return True

    def _collect(self, run: CellRun) -> Generator[Report, None, None]:
        """Read for a run until it ended; its reports as they come."""
        yield from run.collect()
        while not run.ended:
            self._step(run)
            yield from run.collect()
        # Another thread may have seen its end.
        yield from run.collect()

    def _step(self, run: CellRun) -> None:
        with self._stepping:
            if not run.ended:
                run.step()

    def _leave(self, run: CellRun, process: LanguageProcess, timeout: float) -> None:
        """Wait for the end of a run, and leave its process to the next one. The first call does so.

        That is the thread that takes the reports, unless it never takes the next one: then whoever ended
        the run. `timeout` is in seconds.
        """
        until = time.monotonic() + timeout
        with self._stepping:
            while not run.ended and time.monotonic() < until:
                try:
                    run.step()
                except KeyboardInterrupt:
                    run.stop()
            with self._lock:
                if self._run is not run or not run.ended:
                    return
                self._run = None
                unwanted, self._unwanted = self._unwanted, False
            until = time.monotonic() + 2
            while run.leaving and not process.ended and time.monotonic() < until:
                try:
                    process.read(0.1)
                except OSError:
                    # Another thread closed it meanwhile.
                    break
            process.detach()
            if unwanted:
                self._end(process)
            elif process.ended:
                self._drop(process)

    @property
    def is_alive(self) -> bool:
        """Whether the process of the language lives."""
        process = self._process
        return process is not None and not process.ended

    def is_running_in(self, pid: int) -> bool:
        """Return whether that process is the one in which code runs, and not one that code started."""
        process = self._process
        return process is not None and pid > 0 and process.driver_pid == pid

    def read_memory(self, language: Language | None = None) -> Memory:
        """Return the variables of the language, or of a guest.

        Starts nothing, and never waits long for a run.
        """
        language, process = language or self.language, self._process
        name, request = language.name, language.variables_request
        if not request:
            return Memory(name, "silent")
        if not process or process.ended or self._closed:
            return Memory(name, "starting" if self._starting else "unstarted")
        answer = self._ask("variables", request)
        if answer is None:
            return Memory(name, "busy")
        event, data = answer
        variables = read(event.get("variables")) if data is None else read_shell(data)
        visible_variables = tuple(hide_value(item, self.hidden_inputs) for item in variables)[-MOST:]
        if language.keeps:
            self.names = parse_names([item.name for item in reversed(visible_variables[-10:])])
        total = event.get("total")
        count = max(total, len(visible_variables)) if isinstance(total, int) else len(visible_variables)
        return Memory(name, "known", visible_variables, count, is_over=not language.keeps)

    def inspect(self, name: str) -> Detail | None:
        """Return the value of one variable; None where it is not reported, or does not exist."""
        request = self.language.variable_request
        answer = self._ask("variable", request, name) if request and is_name(name) else None
        if answer is None:
            return None
        detail = self._read_detail(*answer)
        if detail and holds(detail.preview, self.hidden_inputs):
            return replace(detail, preview="not shown: it was typed into a hidden field")
        return detail

    def _read_detail(self, event: Event, written: bytes | None) -> Detail | None:
        if written is not None:
            return read_shell_detail(written)
        description, preview = event.get("description"), event.get("preview")
        if isinstance(description, str) and isinstance(preview, str):
            return Detail(description, preview)
        return None

    def ask_table(self, query: Mapping[str, object]) -> Mapping[str, object] | None:
        """Ask about a table that the language remembers; None while it runs, or when it is slow."""
        words = _spell_question(query)
        request = self.language.table_request
        answer = self._ask("table", request, words) if request else None
        return answer[0] if answer else None

    def complete(self, before: str, language: Language | None = None) -> CompletionSet | None:
        """Return what completes the code before the caret, of the language or of a guest.

        None while the language runs, or when it is slow.
        """
        language = language or self.language
        before = cut_code_to_complete(before)
        request = language.completion_request
        if request is None:
            return language.complete(self.read_memory(language), before, self.find_folder() or self._cwd)
        words = _spell_question({"before": before})
        answer = self._ask("completions", request, words)
        return read_completions(answer[0], self.hidden_inputs) if answer else None

    def find_folder(self) -> Path | None:
        """Return the folder in which the language is, or would start; None where that is not known."""
        process = self._process
        return process_table.find_folder(process.pid) if process and not process.ended else self._cwd

    def _ask(self, kind: str, request: str, name: str = "") -> tuple[Event, bytes | None] | None:
        """Return the driver's answer, and the file that goes with it.

        None while it runs, or when it is slow.
        """
        if not self._questions.acquire(timeout=_TURN):
            return None
        try:
            return self._ask_alone(kind, request, name)
        finally:
            self._questions.release()

    def _ask_alone(self, kind: str, request: str, name: str) -> tuple[Event, bytes | None] | None:
        process = self._process
        if not process or self._starting or self._closed:
            return None
        later = self._attach_between_runs(process)
        if later is None:
            return None
        nonce = secrets.token_hex(8)
        until = time.monotonic() + TIMEOUT
        try:
            self.later += later
            process.channel.request(request.format(nonce=nonce, name=name), TIMEOUT)
            while (
                not (process.ended or self._starting or self._closed)
                and (remaining_seconds := until - time.monotonic()) > 0
            ):
                for item in process.read(remaining_seconds):
                    if not isinstance(item, dict) or item["event"] != kind:
                        self.later.append(item)
                    elif item.get("nonce") == nonce:
                        return item, _pop_file(process.channel, item.get("file"), nonce)
        except (OSError, TimeoutError):
            pass
        finally:
            process.detach()
        if process.ended:
            self._report_loss(process, process.ended)
        return None

    def _attach_between_runs(self, process: LanguageProcess) -> list[Item] | None:
        """Attach to the process; None once code runs, and when whoever reads does not leave in time."""
        until = time.monotonic() + _TURN
        # On a busy machine the thread that reads between runs wakes late.
        while not (self._starting or self._closed) and time.monotonic() < until:
            if (later := process.attach_soon(_GLANCE)) is not None:
                return later
        return None

    def send_input(self, text: str) -> None:
        """Type on the program's terminal."""
        with self._lock:
            if self._process and self._run and not self._run.questions.accept_typed(text):
                self._run.note_typed(text)
                self._process.type(text.encode("utf-8", "replace"))

    def ask_person(self, text: str, prompt: str, stopped: threading.Event) -> str | None:
        """Print text in the output of the run, and wait for a line that the program does not get.

        None once nothing runs, or `stopped` is set; also without a prompt, which asks nothing.
        """
        run = self._run
        return run.questions.ask(text, prompt, stopped) if run else None

    def interrupt(self) -> None:
        """Interrupt the run, if there is one; called again, end it, with the language's memory if need be."""
        with self._lock:
            if self._run:
                self._run.stop()

    def resize(self, columns: int, rows: int) -> None:
        """Tell programs the size of their terminal."""
        self._size = max(1, columns), max(1, rows)
        with self._lock:
            if self._process:
                self._set_size(self._process)

    def _set_size(self, process: LanguageProcess) -> None:
        if not process.terminal.closed:
            with contextlib.suppress(OSError):
                process.terminal.setwinsize(self._size[1], self._size[0])
                process.channel.write_size(*self._size)

    def reset(self) -> None:
        """End the process and forget; a run in progress is lost."""
        with self._lock:
            self._memory, self._news = b"", None
            run, process = self._run, self._process
            if run:
                self._unwanted = True
                run.kill()
            else:
                self._process = None
                self.names, self.database = (), ""
        if run and process:
            self._leave(run, process, _GONE)
        elif process:
            self._let_save(process)
            process.close()

    def _let_save(self, process: LanguageProcess) -> None:
        """Give the language a moment to save its state, if it has a request for that."""
        if self.language.leave_request:
            with contextlib.suppress(OSError, TimeoutError):
                process.channel.request(self.language.leave_request, 0.2)
            until = time.monotonic() + _SAVING_TIME
            while not process.ended and time.monotonic() < until:
                time.sleep(0.01)

    def close(self) -> None:
        """Close permanently."""
        self._closed = True
        self.reset()

    # -- the process

    def _find_living(self) -> tuple[LanguageProcess | None, str | None]:
        """Return the attached process if it lives and may be used, and how it ended otherwise."""
        if self._closed:
            raise RuntimeError("it was closed")
        process = self._process
        if not process:
            return None, None
        self.later += process.attach()
        self.later += process.read(0)
        until = time.monotonic() + 6
        while process.is_dying and time.monotonic() < until:
            self.later += process.read(0.05)
        if process.is_sandboxed != (self._sandbox is not None):
            self._move(process)
            return None, None
        if not process.ended:
            return process, None
        process.detach()
        # The run that begins reports how it ended.
        self._report_loss(process)
        loss = describe_loss(self.names)
        self._drop(process)
        if self._memory:
            return None, None
        return None, f"{self.language.title} ended between runs ({process.ended}) and was restarted; {loss}"

    def _report_loss(self, process: LanguageProcess, ended: ProcessEnd | None = None) -> None:
        """Report once that a process ended while nothing ran, unless what it remembered was saved.

        Without `ended`, no reason is given: something else tells the person.
        """
        if process is self._process and process is not self._lost and not process.channel.holds("state"):
            self._lost = process
            title, loss = self.language.title, describe_loss(self.names)
            reason = f"{title} ended between runs ({ended}); {loss}" if ended else ""
            self._on_loss(VariablesLost(self.language.name, reason))

    def _explain(self, error: Exception) -> str:
        """Say why the language did not start."""
        if isinstance(error, FileNotFoundError | NotADirectoryError) and not self._cwd.is_dir():
            return f"the working directory {self._cwd} no longer exists. Create it, or start elsewhere"
        if isinstance(error, PermissionError) and not os.access(self._cwd, os.X_OK):
            return f"no permission to use the working directory {self._cwd}. Allow it, or start elsewhere"
        refusal = describe_refusal(f"{type(error).__name__}: {error}")
        return paths.explain_no_room(error) or refusal or str(error)

    def _begin_in_place(self, stopped: threading.Event) -> tuple[LanguageProcess, str | None]:
        """Start a process inside or outside of the sandbox, as set. Return it attached, and what to report.

        The report is that the language moved; None where it did not. Raises what `_begin` raises.
        """
        while True:
            if stopped.is_set():
                raise StartStoppedError
            saved = self._memory
            process = self._begin(stopped)
            # The sandbox may have been switched meanwhile, or what was saved reset.
            if process.is_sandboxed != (self._sandbox is not None):
                self._move(process)
            elif saved != self._memory:
                process.detach()
                self._end(process)
            else:
                break
        if not self._moved:
            return process, None
        self._moved = False
        where = "in the sandbox" if process.is_sandboxed else "outside the sandbox"
        return process, f"{self.language.title} restarted {where}; its variables are lost"

    def _begin(self, stopped: threading.Event) -> LanguageProcess:
        """Start a process, and return it attached and ready for code.

        Raises StartStoppedError once `stopped` is set or the runtime was closed, and what `start_process` and
        `wait_until_ready` raise.
        """
        process, requests = start_process(
            self.language,
            self._program,
            cwd=self._cwd,
            hidden=self._hidden,
            size=self._size,
            saved=self._memory,
            sandbox=self._sandbox,
        )
        process.on_end_at_rest = lambda ended: self._report_loss(process, ended)
        ready, arrived = wait_until_ready(process, requests, self.language.timeout, stopped)
        self.later += arrived
        self._note_ready(process, ready)
        if not self._adopt(process):
            process.detach()
            process.close()
            raise StartStoppedError
        return process

    def _note_ready(self, process: LanguageProcess, ready: Event) -> None:
        """Note the facts that the driver sends when it is ready."""
        process.interpreter = ready.get("interpreter")
        pid, stop = ready.get("pid"), ready.get("stop")
        process.driver_pid = pid if isinstance(pid, int) else 0
        self.stop_signal = stop if isinstance(stop, int) else None

    def _adopt(self, process: LanguageProcess) -> bool:
        """Make a started process the one of this runtime. Return False where it was closed meanwhile."""
        with self._lock:
            if self._closed:
                return False
            self._process = process
            # The size of the terminal may have changed while the process started.
            self._set_size(process)
            return True

    def use_sandbox(self, sandbox: Sandbox | None) -> None:
        """Run in this sandbox, or in none, from the next run on. A process that runs otherwise is ended.

        Nothing may be carried over: what a shell saves for the next one is a program.
        """
        with self._lock:
            changed = (sandbox is None) != (self._sandbox is None)
            self._sandbox = sandbox
            if not changed:
                return
            self._memory = b""
            if self._run or self._starting:
                # It ends before the next run.
                return
            process, self._process = self._process, None
            self._moved = self._moved or process is not None
        if process:
            process.close()

    def _move(self, process: LanguageProcess) -> None:
        """End a process that runs inside or outside of the sandbox against the setting."""
        process.detach()
        self._moved = True
        self._end(process)

    def _end(self, process: LanguageProcess) -> None:
        """End a process, and forget what it remembered."""
        self._memory = b""
        self.later.clear()
        self.names = ()
        self.database = ""
        with self._lock:
            if self._process is process:
                self._process = None
        process.close()

    def _drop(self, process: LanguageProcess) -> None:
        """Drop an ended process, and keep what it saved for the next one.

        What was saved before a reset, or on the other side of the sandbox, is not kept.
        """
        try:
            saved = process.channel.read_file("state")
        except OSError:
            # What an earlier one saved is out of date.
            saved = b""
        self.later = [item for item in self.later if not isinstance(item, ProcessEnd)]
        self.names = ()
        self.database = ""
        with self._lock:
            if self._process is process:
                self._process = None
                is_usable = process.is_sandboxed == (self._sandbox is not None)
                self._memory = saved if is_usable else b""
                self._moved = self._moved or not is_usable
        process.close()


def _spell_question(question: Mapping[str, object]) -> str:
    """Encode a question for a driver as hexadecimal JSON. Texts are in UTF-8, as every language reads it."""
    return json.dumps(question, ensure_ascii=False).encode("utf-8", "replace").hex()


def _pop_file(channel: CellChannel, name: object, nonce: str) -> bytes | None:
    """Read and remove the file that a driver wrote with an answer."""
    if not isinstance(name, str) or nonce not in name:
        return None
    data = channel.read_file(name)
    channel.remove_file(name)
    return data
