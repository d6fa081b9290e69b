"""The computer: every language that can run here, behind one border."""

import contextlib
import re
import threading
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from oi_tui import paths
from oi_tui.messages import InputRequested, Loss, Printed, Report, RunEnded, Starting
from oi_tui.runtimes.availability import Availability
from oi_tui.runtimes.completions import (
    Completions,
    code_to_complete,
    names_that_complete,
    read_completions,
)
from oi_tui.runtimes.guest_runtime import GuestRuntime
from oi_tui.runtimes.installing import how_to_get
from oi_tui.runtimes.language import Choices, Language, Runtime
from oi_tui.runtimes.languages import LANGUAGES
from oi_tui.runtimes.pty_runtime import PtyRuntime
from oi_tui.runtimes.remote.target import LOCAL, TargetError, parse
from oi_tui.runtimes.sandbox.confinement import Confinement
from oi_tui.runtimes.sandbox.limits import USUAL, Limits
from oi_tui.runtimes.sandbox.readable_paths import is_in
from oi_tui.runtimes.sandbox.sandbox import Sandbox
from oi_tui.runtimes.tables import LiveTable, TableError
from oi_tui.runtimes.variables import Detail, Memory, Variable

if TYPE_CHECKING:
    from oi_tui.runtimes.place import Place
    from oi_tui.runtimes.remote.askpass import Ask
    from oi_tui.runtimes.remote.files import PlaceFiles
    from oi_tui.runtimes.remote.jupyter_server import FindToken
    from oi_tui.runtimes.remote.link import Stopped

#: So much of the output of startup code is shown if it fails, in characters.
_STARTUP_OUTPUT = 2000
#: The number of startup code in error messages; the cells that a person sees are counted from 1.
_STARTUP_CELL = 0
_END_OF_INPUT = "\x04"
_MORE_PLACES = (
    "These targets are connected: {}. To run a cell on one of them, make the first line of its code "
    "`%%on {}`. Without that line, a cell runs on {}. Each has its own variables and files."
)
_ONE_OF = "Use %sandbox off or %target local."
#: What the model should know of variables; only their names are in it.
_HELD_BACK = (
    "These environment variables are set, but code does not get them, because they look like keys or "
    "passwords: {}. If code needs one, ask the user to name it in the setting pass_environment."
)


#: A place, the languages at work there, and those of them whose startup code ran.
_AtWork = tuple["Place | None", dict[str, Runtime], set[str]]


class Computer:
    """Runs code in languages that remember, each in a process on a terminal of its own.

    `cwd` is where they start (default: the current directory), `python` and `shell` the person's choice of
    programs, `hidden` the names of environment variables that no program gets to see, `passed` those secrets
    that the sandbox lets in, `writable` the protected files that code in it may write, `limits`
    how much it may use, `hosts` those that it reaches, and `active_line` says
    whether runs report the line they are at. `declared` is every language that may run, whether or not its
    program is here. `target` is where code runs: another machine, a container, or this one; with
    `share_keys`, programs there get the secrets of their own environment too.
    Runs come one at a time; all else may come from any thread.
    """

    def __init__(
        self,
        *,
        cwd: Path | None = None,
        python: str | None = None,
        shell: str | None = None,
        hidden: Collection[str] = (),
        active_line: bool = True,
        declared: Sequence[Language] = LANGUAGES,
        sandbox: bool = False,
        private: Sequence[Path] = (),
        passed: Sequence[str] = (),
        writable: Sequence[str] = (),
        limits: Limits = USUAL,
        hosts: Sequence[str] = (),
        startup: Sequence[tuple[str, str]] = (),
        target: str = LOCAL,
        ask: "Ask | None" = None,
        find_token: "FindToken | None" = None,
        share_keys: bool = False,
        unlisted: Callable[[], Sequence[Language]] = tuple,
    ) -> None:
        """`startup` is code, with its language, that runs when the language starts.

        `ask` answers the questions of ssh while the target is reached; without it, they make that fail.
        `find_token` finds the kept token of a Jupyter server.
        `unlisted` gives languages that are not offered as such, but can run: the tools of other programs.
        They run on this machine, whatever the target. Raises TargetError where the target cannot be reached.
        """
        self._unlisted = unlisted
        self._startup = tuple(startup)
        #: The languages whose startup code ran since they started.
        self._prepared: set[str] = set()
        self._cwd = paths.typed(cwd).absolute() if cwd else Path.cwd()
        self._choices = Choices(python, shell)
        self._hidden = frozenset(hidden)
        self._active_line = active_line
        self._declared = tuple(declared)
        self._passed = tuple(passed)
        self._confinement = Confinement(
            self._cwd,
            enabled=sandbox,
            private=private,
            passed=passed,
            writable=writable,
            limits=limits,
            hosts=hosts,
        )
        self._size = 80, 24
        self._lock = threading.Lock()
        self._runtimes: dict[str, Runtime] = {}
        self._programs: dict[str, str | None] = {}
        self._running: Runtime | None = None
        #: Set by an interrupt, so that one which comes before the run has begun is not lost.
        self._stopped = threading.Event()
        self._closed = False
        self._losses: deque[Loss] = deque(maxlen=100)
        self._share_keys = share_keys
        self._find_token = find_token
        #: Held while a place is reached, which is given up when all is closed.
        self._reaching = threading.Lock()
        self._closing = threading.Event()
        #: Where code runs, if not here.
        self._place: Place | None = None
        #: The target on which cells run that name none.
        self._home = LOCAL
        #: The places that were left, with their languages, which go on there.
        self._left: dict[str, _AtWork] = {}
        if target != LOCAL:
            self.use_target(target, ask=ask)

    @property
    def cwd(self) -> Path:
        """The folder in which the languages start."""
        return self._cwd

    @property
    def languages(self) -> tuple[str, ...]:
        """The names of the languages that can run on this machine, and in the sandbox where that is on."""
        here = (item for item in self._offered if not (self._confinement.enabled and item.outside))
        return tuple(dict.fromkeys(item.name for item in here if self._program(item)))

    @property
    def declared(self) -> tuple[Language, ...]:
        """Every language that may run, whether its program is here or not."""
        return self._declared

    @property
    def _offered(self) -> tuple[Language, ...]:
        """The languages that may run where code runs: a person's own are for this machine."""
        return tuple(self._place.languages) if self._place else self._declared

    @property
    def target(self) -> str:
        """Where code runs that names no target of its own, as a person types it."""
        return self._home

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets that cells can name, that of cells that name none first."""
        with self._lock:
            found = (self._current, *self._left)
        return tuple(dict.fromkeys((self._home, *found)))

    @property
    def _current(self) -> str:
        return self._place.spelling if self._place else LOCAL

    def why_not_at(self, target: str) -> str | None:
        """Return why a cell cannot run on the target that it names; None when it can."""
        if self._find_target(target) is not None:
            return None
        return (
            f"The target “{target[:200]}” is not connected. Connected: {', '.join(self.targets)}. "
            "The user connects more with %on TARGET."
        )

    def _find_target(self, name: str) -> str | None:
        """The connected target that is meant by its spelling, or by its title if only one has it."""
        if name in self.targets:
            return name
        titled = [place.spelling for place in self._places() if place.title == name]
        return titled[0] if len(titled) == 1 else None

    def files_on(self, target: str = "") -> "PlaceFiles | None":
        """The files of a target that is connected, of the one where code runs for ""; None for ours."""
        key = self._find_target(target or self._home)
        return next((place.files for place in self._places() if place.spelling == key), None)

    @contextlib.contextmanager
    def at(self, target: str) -> Iterator[None]:
        """Have code run on that target meanwhile; nothing changes for one that is not connected."""
        before, key = self._current, self._find_target(target)
        if key is None or key == before:
            yield
            return
        self._switch(key)
        try:
            yield
        finally:
            self._switch(before)

    def _switch(self, key: str) -> None:
        with self._lock:
            self._left[self._current] = self._place, self._runtimes, self._prepared
            self._place, self._runtimes, self._prepared = self._left.pop(key)
            self._programs.clear()

    @property
    def where(self) -> str:
        """Where code runs, in words, such as `on gpu1 as ana, /scratch/ana`; "" for this machine."""
        return self._place.where if self._place else ""

    @property
    def place_key(self) -> str:
        """What tells the place where code runs from every other, unlike its words; "" for this machine."""
        return f"{self._place.spelling}\n{self._place.where}" if self._place else ""

    @property
    def place(self) -> "Place | None":
        """Where code runs, if not here."""
        return self._place

    def use_target(
        self, spelling: str, stopped: threading.Event | None = None, *, ask: "Ask | None" = None
    ) -> None:
        """Run code there from now on; languages that run elsewhere stay there for the way back.

        Blocks while the connection is made, unless `stopped` is set. Raises TargetError, and stays.
        """
        self.connect(spelling, stopped, ask=ask)
        target = parse(spelling)
        key = target.spelling if target else LOCAL
        if key == self.target:
            return
        self._refuse_while_running()
        self._switch(key)
        self._home = key

    def connect(
        self, spelling: str, stopped: threading.Event | None = None, *, ask: "Ask | None" = None
    ) -> None:
        """Let cells name that target; code goes on running where it does. Blocks. Raises TargetError."""
        target = parse(spelling)
        if target is None or target.spelling == self.target:
            return
        if self._confinement.enabled:
            raise TargetError(
                f"The sandbox works on this machine only: turn it off to use {target.spelling}."
            )
        self._refuse_while_running()
        with self._reaching:
            place = self._connect(target.spelling, stopped, ask)
            if place is not None:
                with self._lock:
                    self._left[target.spelling] = place, {}, set()

    def _refuse_while_running(self) -> None:
        if self._running or self._current != self._home:
            raise TargetError("Code is running: wait for its end, or stop it.")

    def _connect(self, spelling: str, stopped: "Stopped | None", ask: "Ask | None") -> "Place | None":
        """A new place, unless there is one that was left; it takes its time. Raises TargetError."""
        from oi_tui.runtimes.remote.place import EitherStopped, RemotePlace

        target = parse(spelling)
        stopped = EitherStopped(stopped, self._closing) if stopped else self._closing
        if spelling in self._left or target is None:
            return None
        if target.kind == "kernel":
            from oi_tui.runtimes.remote.kernel import KernelPlace

            return KernelPlace(
                target, on_loss=self.note_loss, find_token=self._find_token, ask=ask, stopped=stopped
            )
        return RemotePlace(
            target,
            choices=self._choices,
            cwd=self._cwd,
            hidden=self._hidden,
            passed=self._passed,
            share_keys=self._share_keys,
            active_line=self._active_line,
            size=self._size,
            on_loss=self.note_loss,
            ask=ask,
            stopped=stopped,
        )

    def declare(self, languages: Sequence[Language]) -> None:
        """Have these languages from now on, and no other; what was replaced or left out is ended."""
        with self._lock:
            self._declared = tuple(languages)
            _, runtimes, prepared = self._left.get(LOCAL, (None, self._runtimes, self._prepared))
            gone = [name for name, entry in runtimes.items() if entry.language not in self._declared]
            ended = [runtimes.pop(name) for name in gone]
            prepared.difference_update(gone)
            self._programs.clear()
        for runtime in ended:
            runtime.close()

    @property
    def replaced(self) -> frozenset[str]:
        """The names of the languages that are a program's own: what runs their code is not known."""
        return frozenset(item.name for item in self._offered if item not in LANGUAGES and not item.extended)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of the available languages for the model."""
        notes = (item.note for item in self._offered if item.note and self._program(item))
        places: tuple[str, ...] = ()
        if len(targets := self.targets) > 1:
            places = (_MORE_PLACES.format(", ".join(targets), targets[1], targets[0]),)
        if self._place:
            return (*notes, self._place.note, *places)
        held_back = (_HELD_BACK.format(", ".join(sorted(self._hidden))),) if self._hidden else ()
        return (*notes, *self._confinement.notes(), *held_back, *places)

    def missing(self, language: str) -> str | None:
        """Return why a known language cannot run, and how to install it; None when it can."""
        declared = self._language(self.resolve(language) or language)
        if declared is None:
            return None
        if self._program(declared):
            return self._refusal(declared)
        if self._place:
            return self._why_not_there(declared)
        setting = declared.setting
        if setting and (chosen := getattr(self._choices, setting)):
            return (
                f"{declared.title} is not available: the program {chosen} was not found; change the "
                f"setting {setting}."
            )
        return f"{declared.title} is not installed. {how_to_get(declared)}"

    def _why_not_there(self, declared: Language) -> str:
        assert self._place is not None
        if declared.host:
            word = f"%%{declared.name}"
            return f"{declared.title} runs on your own machine only; Python cells there can use {word}."
        if declared.outside:
            return f"{declared.title} runs on your own machine only, because {declared.outside}."
        return f"{declared.title} was not found on {self._place.title}."

    def standings(self) -> tuple[Availability, ...]:
        """The availability of every language. Asks each program for its version, which takes a moment."""
        return tuple(
            Availability(
                item.name,
                self.describe(item.name),
                None if self.missing(item.name) else self._program(item),
                bool(item.active_line),
            )
            for item in self._offered
        )

    def resolve(self, name: str) -> str | None:
        """The language that is meant by a name, an alias or an odd spelling; None when it is unknown."""
        word = re.sub(r"[\s{].*", "", name.strip().lstrip(".").lower(), flags=re.DOTALL)
        # The later ones are a person's own, and may take the place of ours.
        for language in reversed(self._offered):
            if word == language.name or word in language.aliases:
                return language.name
        return word if any(word == language.name for language in self._unlisted()) else None

    def describe(self, language: str) -> str:
        """The language's program, as `Python 3.11.7 (.venv)`; how to get it where it is missing."""
        declared = self._language(self.resolve(language) or language)
        if declared is None:
            return f"{language} is not available"
        program = self._program(declared)
        if program is None:
            return self.missing(declared.name) or ""
        if self._place and not self._is_unlisted(declared):
            return self._place.describe(declared)
        if refusal := self._refusal(declared):
            return refusal
        # A program that code in the sandbox could have changed is not run outside to ask for its version.
        unsure = self._confinement.enabled and is_in(program, self._cwd)
        words = f"{declared.title} ({program})" if unsure else declared.describe(program)
        database = self.database(declared.name)
        return f"{words}: {database}" if database else words

    def database(self, language: str) -> str:
        """The database that code of the language would use, in words; "" for a language without one."""
        declared = self._language(self.resolve(language) or language)
        if declared is None or not declared.host:
            return ""
        with self._lock:
            runtime = self._runtimes.get(declared.host)
        return (runtime.database if isinstance(runtime, PtyRuntime) else "") or "a database in memory"

    @property
    def sandbox(self) -> bool:
        """Whether programs are held in the working directory."""
        return self._confinement.enabled

    @property
    def limits(self) -> str | None:
        """The sandbox limits in words; None where the sandbox is off."""
        return self._confinement.limits

    def use_sandbox(self, on: bool, private: Sequence[Path] = ()) -> None:
        """Hold programs in the working directory from now on, or do not; languages begin anew for it.

        One that runs just now does so before its next run.
        """
        with self._lock:
            self._confinement.switch(on, private)
            self._prepared.clear()
        for runtime in self._all():
            if isinstance(runtime, PtyRuntime):
                runtime.use_sandbox(self._walls())

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that programs in the sandbox reach."""
        return tuple(self._confinement.hosts)

    def allow_host(self, host: str) -> str | None:
        """Let programs in the sandbox reach a host until `forget_hosts`. Returns why that cannot be done."""
        return self._confinement.allow_host(host)

    def forget_hosts(self) -> None:
        """Allow only the hosts of the settings again."""
        self._confinement.forget_hosts()

    def why_nothing_runs(self) -> str | None:
        """Return why the sandbox does not work; None when it works, or is off. Takes a moment once."""
        if self._confinement.enabled and self._place:
            return (
                f"The sandbox is on, but does not work for programs {self.where}, so nothing runs. {_ONE_OF}"
            )
        walls = self._walls()
        return walls.problem() if walls else None

    def why_no_sandbox(self) -> str | None:
        """Return why the sandbox would not work if it were turned on; None when it would."""
        if self._place:
            return f"The sandbox works on this machine only; code runs {self.where}. Use %target local."
        return self._confinement.why_unavailable()

    def _refusal(self, declared: Language) -> str | None:
        """Return why the sandbox does not allow the language; None when it does, or is off."""
        if self._confinement.enabled and self._place:
            return (
                f"The sandbox is on, but does not work for programs {self.where}, so nothing runs. {_ONE_OF}"
            )
        walls = self._walls()
        if walls is None:
            return None
        if declared.outside:
            return (
                f"The sandbox is on, so nothing runs in {declared.title}, because {declared.outside}. "
                "Turn the sandbox off to use it."
            )
        return walls.problem()

    def _walls(self) -> Sandbox | None:
        if not self._confinement.enabled:
            return None
        return self._confinement.sandbox(tuple(filter(None, map(self._program, self._declared))))

    def run(self, language: str, code: str, number: int | None = None) -> Generator[Report, None, None]:
        """Run code and report, `RunEnded` last. Closed early, the run is interrupted and drained first.

        `number` is the one that error messages of the language give the cell.
        """
        self._stopped.clear()
        declared = self._language(self.resolve(language) or language)
        program = self._program(declared) if declared else None
        if declared is None or program is None:
            yield RunEnded("failed", 0.0, self.describe(declared.name if declared else language))
            return
        if self._confinement.enabled and (declared.outside or self._place):
            yield RunEnded("failed", 0.0, self._refusal(declared))
            return
        with self._lock:
            runtime = None if self._closed else self._runtime(declared, program)
            self._running = runtime
        if runtime is None:
            yield RunEnded("failed", 0.0, "The computer was closed.")
            return
        try:
            host = self._runtimes.get(declared.host, runtime)
            yield from self._prepare(declared.host or declared.name, host)
            with contextlib.closing(runtime.run(code, self._stopped, number)) as reports:
                watched = self._confinement.watch_run(reports, self.interrupt)
                if declared.translate is not None and self._place is None:
                    watched = chain.from_iterable(map(declared.translate, watched))
                for report in watched:
                    if isinstance(report, RunEnded) and report.state == "lost":
                        self._prepared.discard(declared.host or declared.name)
                    yield report
        finally:
            self._running = None

    def use_startup(self, startup: Sequence[tuple[str, str]]) -> None:
        """Run this code, each piece with its language, when languages start; now in those that are there."""
        if self._startup != tuple(startup):
            self._startup = tuple(startup)
            self._prepared.clear()

    def _prepare(self, name: str, runtime: Runtime) -> Iterator[Report]:
        """Run the startup code of a language that has started anew. Its output is shown if it fails."""
        codes = [code for language, code in self._startup if self.resolve(language) == name]
        if not codes or name in self._prepared:
            return
        self._prepared.add(name)
        for code in codes:
            output = ""
            for report in runtime.run(code, self._stopped, _STARTUP_CELL):
                match report:
                    case Starting():
                        yield report
                    case Printed(text):
                        output = (output + text)[-_STARTUP_OUTPUT:]
                    case InputRequested():
                        runtime.send_input(_END_OF_INPUT)
                    case RunEnded(state, _, reason) if state != "finished":
                        why = f" ({reason})" if reason else ""
                        yield Printed(f"oi-tui: the startup code of the profile failed{why}:\r\n{output}")

    def take_losses(self) -> tuple[Loss, ...]:
        """The languages that ended between runs, with what they remembered; each is given once."""
        found = []
        with contextlib.suppress(IndexError):
            while True:
                found.append(self._losses.popleft())
        return tuple(found)

    def variables(self, language: str) -> tuple[Variable, ...]:
        """The variables of a language, in the order of definition; empty where it does not report them.

        Nothing is started for it, and no code of the program runs. While the language is busy: nothing.
        """
        with self._lock:
            runtime = self._runtimes.get(self.resolve(language) or language)
        return runtime.memory().variables if runtime else ()

    def memories(self) -> tuple[Memory, ...]:
        """The variables of each language that can run here, or why there are none; like `variables`."""
        found = []
        for language in self._offered:
            with self._lock:
                runtime = self._runtimes.get(language.name)
            if runtime:
                found.append(runtime.memory())
            elif self._program(language):
                found.append(Memory(language.name, "unstarted" if language.variables_request else "silent"))
        return tuple(found)

    def look_at(self, language: str, name: str) -> Detail | None:
        """Describe a variable's value, as far as possible without running the program's code."""
        with self._lock:
            runtime = self._runtimes.get(self.resolve(language) or language)
        return runtime.look_at(name) if runtime else None

    def table(self, language: str, name: str) -> LiveTable:
        """A table that a language remembers. Raises TableError where it cannot be asked."""
        with self._lock:
            runtime = self._runtimes.get(self.resolve(language) or language)
        if isinstance(runtime, GuestRuntime):
            runtime = runtime.host
        if not isinstance(runtime, PtyRuntime) or not runtime.language.table_request:
            shown = runtime.language.title if runtime else language
            raise TableError(
                f"Tables of {shown} cannot be opened; %table opens those of Python on this machine."
            )
        return LiveTable(name, runtime.language.title, runtime.ask_table)

    def completes(self, language: str) -> bool:
        """Whether the language is at work and offers completions; does not wait."""
        return self._completing(language) is not None

    def complete(self, language: str, before: str) -> Completions | None:
        """Return what completes the code before the caret; None where nobody can tell, as during a run.

        It may take a moment. Nothing is started for it, and no code of the program runs.
        """
        runtime = self._completing(language)
        if isinstance(runtime, PtyRuntime) and runtime.language.completion_request:
            answer = runtime.ask_completions(code_to_complete(before))
            return read_completions(answer, runtime.hidden_inputs) if answer else None
        return names_that_complete(runtime.memory(), before) if runtime else None

    def _completing(self, language: str) -> Runtime | None:
        with self._lock:
            runtime = self._runtimes.get(self.resolve(language) or language)
        if runtime is None or not runtime.language.variables_request:
            return None
        return runtime if runtime is not self._running else None

    def is_running(self, pid: int) -> bool:
        """Whether that process is the language whose code runs just now, and not one that code started."""
        runtime = self._running
        runtime = runtime.host if isinstance(runtime, GuestRuntime) else runtime
        return isinstance(runtime, PtyRuntime) and runtime.runs_in(pid)

    def send_input(self, text: str) -> None:
        """Type on the terminal of the running program, as it is; a line ends with a newline."""
        if runtime := self._running:
            runtime.send_input(text)

    def interrupt(self) -> None:
        """Interrupt the run and wait for it; a second call, half a second later or more, ends the language.

        What remembers nothing is ended by itself.
        """
        self._stopped.set()
        if runtime := self._running:
            runtime.interrupt()

    def resize(self, columns: int, rows: int) -> None:
        """Tell the programs the size of their terminal."""
        self._size = columns, rows
        for runtime in self._all():
            runtime.resize(columns, rows)
        for place in self._places():
            place.resize(columns, rows)

    def reset(self) -> None:
        """End every language's process; the next run starts afresh. A run in progress is lost."""
        for runtime in self._all():
            runtime.reset()
        self._losses.clear()
        for prepared in (self._prepared, *(entry[2] for entry in self._left.values())):
            prepared.clear()

    def close(self) -> None:
        """End for good; leaves no process behind."""
        self._closing.set()
        with self._reaching, self._lock:
            self._closed = True
        for runtime in self._all():
            runtime.close()
        for place in self._places():
            place.close()

    def note_loss(self, loss: Loss) -> None:
        """Have it reported that something ended between runs."""
        self._prepared.discard(loss.language)
        self._losses.append(loss)

    def _runtime(self, language: Language, program: str) -> Runtime:
        runtime = self._runtimes.get(language.name)
        if language.runtime is not None and runtime and runtime.language is not language:
            # What it stood for is another thing now.
            runtime.close()
            runtime = None
        if runtime is None and self._place is not None and not self._is_unlisted(language):
            runtime = self._runtimes[language.name] = self._place.runtime(language)
        elif language.host:
            host = self._host_of(language, program)
            if not isinstance(runtime, GuestRuntime) or runtime.host is not host:
                runtime = self._runtimes[language.name] = GuestRuntime(language, host)
        elif runtime is None and language.runtime is not None:
            runtime = self._runtimes[language.name] = language.runtime(language)
        elif runtime is None:
            runtime = self._runtimes[language.name] = PtyRuntime(
                language,
                program,
                cwd=self._cwd,
                hidden=self._hidden,
                active_line=self._active_line,
                size=self._size,
                sandbox=self._walls(),
                on_loss=self.note_loss,
            )
        return runtime

    def _host_of(self, language: Language, program: str) -> PtyRuntime:
        """The language in whose process a guest runs, which `_program` has found to be ours."""
        declared = self._language(language.host)
        assert declared is not None
        host = self._runtime(declared, program)
        assert isinstance(host, PtyRuntime)
        return host

    def _all(self) -> list[Runtime]:
        """The languages at work, also in places that were left."""
        with self._lock:
            left = [runtime for _, runtimes, _ in self._left.values() for runtime in runtimes.values()]
            return [*self._runtimes.values(), *left]

    def _places(self) -> "list[Place]":
        with self._lock:
            return [place for place in (self._place, *(entry[0] for entry in self._left.values())) if place]

    def _language(self, name: str) -> Language | None:
        known = (*reversed(self._offered), *self._unlisted())
        return next((language for language in known if language.name == name), None)

    def _is_unlisted(self, language: Language) -> bool:
        return any(entry is language for entry in self._unlisted())

    def _program(self, language: Language) -> str | None:
        if self._place and not self._is_unlisted(language):
            return self._place.program(language.name)
        if language.host:
            host = self._language(language.host)
            # A language of that name that is a person's own knows nothing of guests.
            ours = host is not None and host.runtime is None and (host in LANGUAGES or host.extended)
            return self._program(host) if ours and host else None
        # What is missing may be installed meanwhile, so it is looked for every time.
        found = self._programs.get(language.name) or language.find(self._choices)
        self._programs[language.name] = found
        return found
