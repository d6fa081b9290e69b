"""Runs cells: starts the language, runs its startup code, and then the code of the cell."""

import contextlib
import threading
from collections.abc import Generator, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from oi_tui.messages import InputRequested, Printed, Report, RunEnded, Started, Starting
from oi_tui.runtimes.guest_runtime import GuestRuntime
from oi_tui.runtimes.language import STARTUP_CELL, Language, Runtime
from oi_tui.runtimes.language_catalog import LanguageCatalog
from oi_tui.runtimes.pty_runtime import PtyRuntime
from oi_tui.runtimes.sandbox.confinement import Confinement
from oi_tui.runtimes.targets import RuntimeOptions, Targets

if TYPE_CHECKING:
    from oi_tui.runtimes.remote.link import LeftRun

#: How much of the output of failed startup code is shown, in characters.
_STARTUP_OUTPUT = 2000
_END_OF_INPUT = "\x04"


class CellRunner:
    """Runs one cell at a time on the current target.

    `startup` is code, with its language, that runs when the language starts.
    """

    def __init__(
        self,
        startup: Sequence[tuple[str, str]],
        options: RuntimeOptions,
        targets: Targets,
        catalog: LanguageCatalog,
        confinement: Confinement,
    ) -> None:
        self._startup = tuple(startup)
        self._options = options
        self._targets = targets
        self._catalog = catalog
        self._confinement = confinement
        #: Set by an interrupt, so that one which comes before the run has begun is not lost.
        self._stopped = threading.Event()

    def run(self, name: str, code: str, number: int | None) -> Generator[Report, None, None]:
        """Run code and report, `RunEnded` last. Closed early, the run is interrupted and drained first.

        An interrupt counts from this call on, and not only once somebody takes the first report.
        """
        self._stopped.clear()
        return self._run(name, code, number)

    def _run(self, name: str, code: str, number: int | None) -> Generator[Report, None, None]:
        language = self._catalog.find(name)
        program = self._catalog.find_program(language) if language else None
        if language is None or program is None:
            reason = self._catalog.describe(language.name if language else name)
            yield RunEnded("failed", 0.0, reason)
            return
        if self._confinement.enabled and (language.outside or self._targets.remote):
            yield RunEnded("failed", 0.0, self._catalog.explain_refusal(language))
            return
        with self._targets.lock:
            runtime = None if self._targets.closed else self._get_runtime(language, program)
            self._targets.running = runtime
        if runtime is None:
            yield RunEnded("failed", 0.0, "The computer was closed.")
            return
        owner = language.host or language.name
        try:
            host = self._targets.current.runtimes.get(language.host, runtime)
            if not_started := (yield from self._prepare(owner, host)):
                yield not_started
                return
            with contextlib.closing(self._run_prepared(owner, host, runtime, code, number)) as reports:
                watched = self._confinement.watch_run(reports, self.interrupt)
                if language.translate is not None and self._targets.remote is None:
                    watched = chain.from_iterable(map(language.translate, watched))
                for report in watched:
                    if isinstance(report, RunEnded) and report.state == "lost":
                        self._targets.current.prepared.discard(owner)
                    yield report
        finally:
            self._targets.running = None

    def follow(self, left: "LeftRun") -> Generator[Report, None, None]:
        """Report the rest of a run that was left running on the current target. It starts nothing."""
        self._stopped.clear()
        language = self._catalog.find(left.language)
        remote = self._targets.remote
        if language is None or remote is None or left.language not in remote.left_languages:
            yield RunEnded("failed", left.seconds, f"{left.language[:40]} is not at work there.")
            return
        with self._targets.lock:
            state = self._targets.current
            runtime = state.runtimes.setdefault(language.name, remote.runtime(language))
            self._targets.running = runtime
        try:
            with contextlib.closing(runtime.follow(left)) as reports:  # type: ignore[attr-defined]
                yield from reports
        finally:
            self._targets.running = None

    def use_startup(self, startup: Sequence[tuple[str, str]]) -> None:
        """Run this code when languages start; once more in those that are at work."""
        if self._startup != tuple(startup):
            self._startup = tuple(startup)
            self._targets.forget_startup()

    def _run_prepared(
        self, owner: str, host: Runtime, runtime: Runtime, code: str, number: int | None
    ) -> Generator[Report, None, None]:
        """Run code where startup code has run, also if the language ended since that was seen to."""
        with contextlib.closing(runtime.run(code, self._stopped, number)) as reports:
            for report in reports:
                is_new = isinstance(report, Starting) and isinstance(host, PtyRuntime)
                if is_new and owner not in self._targets.current.prepared and self._list_startup(owner):
                    # It is about to start, and nothing has run yet.
                    break
                yield report
            else:
                return
        if not_started := (yield from self._prepare(owner, host)):
            yield not_started
            return
        with contextlib.closing(runtime.run(code, self._stopped, number)) as reports:
            yield from reports

    def _list_startup(self, name: str) -> list[str]:
        return [code for language, code in self._startup if self._catalog.resolve(language) == name]

    def _prepare(self, name: str, runtime: Runtime) -> Generator[Report, None, RunEnded | None]:
        """Run the startup code of a language that was just started. Its output is shown if it fails.

        Returns the end of a run for which the language did not start, which is then that of the cell.
        """
        codes = self._list_startup(name)
        prepared = self._targets.current.prepared
        if not codes or name in prepared or self._stopped.is_set():
            return None
        prepared.add(name)
        starting = False
        for code in codes:
            output = ""
            for report in runtime.run(code, self._stopped, STARTUP_CELL):
                match report:
                    case Starting():
                        starting = True
                        yield report
                    case Started():
                        starting = False
                    case RunEnded() if starting:
                        prepared.discard(name)
                        return report
                    case Printed(text):
                        output = (output + text)[-_STARTUP_OUTPUT:]
                    case InputRequested():
                        runtime.send_input(_END_OF_INPUT)
                    case RunEnded(state, _, reason) if state != "finished":
                        why = f" ({reason})" if reason else ""
                        yield Printed(f"oi-tui: the startup code of the profile failed{why}:\r\n{output}")
        return None

    def _get_runtime(self, language: Language, program: str) -> Runtime:
        """Return the language's runtime on the current target, made if needed."""
        state = self._targets.current
        runtime = state.runtimes.get(language.name)
        if language.runtime is not None and runtime and runtime.language is not language:
            # The name now belongs to another custom language.
            runtime.close()
            runtime = None
        if state.remote and not self._catalog.is_unlisted(language):
            runtime = runtime or state.remote.runtime(language)
        elif language.host:
            host = self._get_host(language, program)
            if not isinstance(runtime, GuestRuntime) or runtime.host is not host:
                runtime = GuestRuntime(language, host)
        elif language.runtime is not None:
            runtime = runtime or language.runtime(language)
        else:
            runtime = runtime or self._make_pty_runtime(language, program)
        state.runtimes[language.name] = runtime
        return runtime

    def _get_host(self, language: Language, program: str) -> PtyRuntime:
        """Return the runtime in whose process a guest runs.

        The catalog has checked that it is a built-in one.
        """
        declared = self._catalog.host(language)
        assert declared is not None
        host = self._get_runtime(declared, program)
        assert isinstance(host, PtyRuntime)
        return host

    def _make_pty_runtime(self, language: Language, program: str) -> PtyRuntime:
        options = self._options
        return PtyRuntime(
            language,
            program,
            cwd=options.cwd,
            hidden=options.hidden,
            active_line=options.active_line,
            size=self._targets.size,
            sandbox=self._catalog.sandbox(),
            on_loss=partial(self._targets.note_loss, state=self._targets.current),
        )

    def send_input(self, text: str) -> None:
        """Type text on the terminal of the running program."""
        if runtime := self._targets.running:
            runtime.send_input(text)

    def interrupt(self) -> None:
        """Interrupt the run; a second call, half a second later or more, ends the language."""
        self._stopped.set()
        if runtime := self._targets.running:
            runtime.interrupt()

    def is_running(self, pid: int) -> bool:
        """Return whether that process is the language whose code runs now, and not one that code started."""
        return self._find_running(pid) is not None

    def ask_person(self, pid: int, text: str, prompt: str, stopped: threading.Event) -> str | None:
        """Ask the person while that process runs a cell; None when the cell has ended."""
        runtime = self._find_running(pid)
        return runtime.ask_person(text, prompt, stopped) if runtime else None

    def _find_running(self, pid: int) -> PtyRuntime | None:
        runtime = self._targets.running
        runtime = runtime.host if isinstance(runtime, GuestRuntime) else runtime
        return runtime if isinstance(runtime, PtyRuntime) and runtime.is_running_in(pid) else None
