"""A language that runs on a remote host: the same interface as one that runs here."""

import threading
import time
from collections.abc import Generator
from typing import Protocol

from oi_tui.messages import DETACHED, Printed, Report, RunEnded, Starting
from oi_tui.runtimes.completions import CompletionSet, check_completions, cut_code_to_complete
from oi_tui.runtimes.language import STARTUP_CELL, Language
from oi_tui.runtimes.remote import wire
from oi_tui.runtimes.remote.files import TargetConnection, TargetFiles
from oi_tui.runtimes.remote.left_targets import describe_way_back, explain_detached
from oi_tui.runtimes.remote.link import LeftRun, Link, LinkLostError, RemoteRun
from oi_tui.runtimes.remote.target import TargetError
from oi_tui.runtimes.runs import stopping
from oi_tui.runtimes.variables import Detail, Memory
from oi_tui.text import clean_line

_TIMEOUT = 12.0
#: How long a run that nobody follows any more is given to end there, in seconds.
_UNATTENDED = 20.0
_GLANCE = 0.5
#: So much of the first line of code is kept to name a run, in characters.
_LONGEST_LINE = 60


class RuntimeTarget(TargetConnection, Protocol):
    """The part of a target that a language uses."""

    #: What runs there now, in words; "" for nothing.
    running: str

    def note_start(self, language: str) -> None:
        """Note that the language has something to lose from now on."""

    def note_reset(self, language: str) -> None:
        """Note that the language has no variables any more."""

    @property
    def files(self) -> TargetFiles | None:
        """The files there."""


class RemoteRuntime:
    """A language on a remote host. `run` is for one thread at a time, all else for any."""

    def __init__(self, language: Language, target: RuntimeTarget) -> None:
        self.language = language
        self._target = target
        self._run: RemoteRun | None = None
        self._used: Link | None = None
        self._pressed_at = 0.0

    def run(
        self, code: str, stopped: threading.Event, number: int | None = None
    ) -> Generator[Report, None, None]:
        """Run code; its reports as they come, `RunEnded` last. Closed early, the run is interrupted first."""
        began = time.monotonic()
        if self._target.link is None:
            yield Starting()
        try:
            link, _ = self._target.connect(stopped)
        except TargetError as error:
            state = "interrupted" if stopped.is_set() else "failed"
            yield RunEnded(state, time.monotonic() - began, None if stopped.is_set() else str(error))  # type: ignore[arg-type]
            return
        if stopped.is_set():
            yield RunEnded("interrupted", time.monotonic() - began)
            return
        self._used = link
        self._target.note_start(self.language.name)
        self._target.running = _describe(self.language.name, code, number)
        run = link.run(self.language.name, code, number, self._describe_watched(number))
        if stopped.is_set():
            run.interrupt()
        yield from self._follow(link, run, began)

    def follow(self, left: LeftRun) -> Generator[Report, None, None]:
        """Report the rest of a run that was left running, like `run`. It starts nothing."""
        began = time.monotonic() - left.seconds
        link = self._target.link
        run = link.follow(left.id) if link else None
        if link is None or run is None:
            yield RunEnded("lost", left.seconds, f"the connection to {self._target.title} ended")
            return
        self._target.running = _describe(left.language, left.code, left.number)
        yield from self._follow(link, run, began)

    def adopt(self, link: Link | None) -> None:
        """Use the connection of a language that was at work already when it was made."""
        self._used = link

    def _follow(self, link: Link, run: RemoteRun, began: float) -> Generator[Report, None, None]:
        self._pressed_at = 0.0
        self._run = run
        ended = False
        try:
            for report in self._yield_reports(link, run, began):
                ended = isinstance(report, RunEnded)
                if ended and link.lost is None:
                    self._target.running = ""
                yield report
        except GeneratorExit:
            run.abandon()
            raise
        except BaseException:
            # An interrupt of the application itself.
            run.interrupt()
            raise
        finally:
            if not ended:
                self._drain(run)
            self._run = None
            link.forget(run)

    def _yield_reports(self, link: Link, run: RemoteRun, began: float) -> Generator[Report, None, None]:
        quiet = False
        while True:
            try:
                reports = run.read_reports(_GLANCE)
            except LinkLostError as error:
                if link.detached or link.stays:
                    yield RunEnded("interrupted", time.monotonic() - began, self._explain_stay(link, error))
                    return
                yield RunEnded("lost", time.monotonic() - began, self._explain_loss(str(error)))
                return
            if link.silent_for > wire.QUIET and not quiet:
                quiet = True
                then = "the connection is given up" if link.stays else "everything there ends"
                yield Printed(
                    f"\r\noi-tui: {self._target.title} has not answered for {link.silent_for:.0f} seconds; "
                    f"after {wire.SILENCE:.0f} seconds {then}\r\n"
                )
            elif quiet and link.silent_for < wire.QUIET:
                quiet = False
                yield Printed(f"\r\noi-tui: {self._target.title} answers again\r\n")
            for report in reports or ():
                yield report
                if isinstance(report, RunEnded):
                    return

    def _describe_watched(self, number: int | None) -> str:
        """Return the id of the code whose changes of files are wanted; startup code has none."""
        files = self._target.files
        return files.watched if files and number != STARTUP_CELL else ""

    def _explain_stay(self, link: Link, why: LinkLostError) -> str:
        """Say that the run continues there, as far as that is known."""
        title, target = self._target.title, self._target.spelling
        if link.detached:
            return explain_detached(target, title)
        return (
            f"{DETACHED}the connection to {title} ended ({why}), but the run continues; "
            f"{describe_way_back(target)}"
        )

    def _explain_loss(self, why: str) -> str:
        return (
            f"the connection to {self._target.title} ended ({why}); "
            f"{self.language.title} and its variables there are lost"
        )

    @staticmethod
    def _drain(run: RemoteRun) -> None:
        """Wait until the run has ended there, for as long as that may take without a person."""
        until = time.monotonic() + _UNATTENDED
        try:
            while time.monotonic() < until:
                if any(isinstance(report, RunEnded) for report in run.read_reports(_GLANCE) or ()):
                    return
        except LinkLostError:
            return

    def read_memory(self) -> Memory:
        """Return the variables of the language, as far as it reports them."""
        name, link = self.language.name, self._link
        if not self.language.variables_request:
            return Memory(name, "silent")
        if link is None:
            return Memory(name, "unstarted")
        answer = None if self._run else link.ask("memory", _TIMEOUT, language=name)
        return answer if isinstance(answer, Memory) and answer.language == name else Memory(name, "busy")

    def inspect(self, name: str) -> Detail | None:
        """Return the value of one variable; None where it is not reported."""
        link = self._link
        if link is None or self._run:
            return None
        answer = link.ask("look_at", _TIMEOUT, language=self.language.name, name=name)
        return answer if isinstance(answer, Detail) else None

    def complete(self, before: str) -> CompletionSet | None:
        """Return what completes the code before the caret; None where that is not known, as during a run."""
        link = self._link
        if link is None or self._run:
            return None
        words = cut_code_to_complete(before)
        return check_completions(link.ask("complete", _TIMEOUT, language=self.language.name, code=words))

    @property
    def _link(self) -> Link | None:
        """The connection on which the language runs, if it does."""
        link = self._target.link
        return link if link is not None and link is self._used else None

    def send_input(self, text: str) -> None:
        """Type to the program."""
        if self._run and (link := self._link):
            link.send(do="input", language=self.language.name, text=text)

    def interrupt(self) -> None:
        """Interrupt the run; if the remote host is silent and the person asks again, close the connection."""
        run, link = self._run, self._link
        if run is None:
            return
        before, self._pressed_at = self._pressed_at, time.monotonic()
        if self.language.keeps and self._pressed_at - before < stopping.REPEATED:
            # A key that is held down repeats. How far apart presses arrive there says nothing.
            return
        if link and link.silent_for > wire.QUIET:
            link.drop(f"it was given up after {link.silent_for:.0f} seconds without an answer")
            return
        run.interrupt()

    def resize(self, columns: int, rows: int) -> None:
        """Tell programs the size of their terminal; the target tells all at once."""

    def reset(self) -> None:
        """Forget; a run in progress is lost."""
        name, link = self.language.name, self._link
        if link and link.ask("reset", _TIMEOUT, language=name) is not None:
            self._target.note_reset(name)

    def close(self) -> None:
        """Close permanently; the target ends all its runtimes at once."""


def _describe(language: str, code: str, number: int | None) -> str:
    """Describe a run, such as `cell 4, python`."""
    first = next((line.strip() for line in code.splitlines() if line.strip()), "")
    cell = f"cell {number}, " if number else ""
    return f"{cell}{language}: {clean_line(first, _LONGEST_LINE)}"
