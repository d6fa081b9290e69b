"""The computer: every language that can run here, and the targets it can run on."""

import threading
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from oi_tui import paths
from oi_tui.messages import Report, VariablesLost
from oi_tui.runtimes.availability import Availability
from oi_tui.runtimes.cell_runner import CellRunner
from oi_tui.runtimes.inspector import Inspector
from oi_tui.runtimes.language import Choices, Language
from oi_tui.runtimes.language_catalog import LanguageCatalog
from oi_tui.runtimes.languages import LANGUAGES
from oi_tui.runtimes.pty_runtime import PtyRuntime
from oi_tui.runtimes.remote.target import LOCAL
from oi_tui.runtimes.sandbox.confinement import NO_RULES, Confinement, SandboxRules
from oi_tui.runtimes.targets import USUAL_TARGET, RuntimeOptions, TargetOptions, Targets

if TYPE_CHECKING:
    from oi_tui.runtimes.remote.askpass import Ask
    from oi_tui.runtimes.remote.connecting import StopSignal
    from oi_tui.runtimes.remote.files import TargetFiles
    from oi_tui.runtimes.remote.link import LeftRun

_MORE_PLACES = (
    "These targets are connected: {}. To run a cell on one of them, make the first line of its code "
    "`%%on {}`. Without that line, a cell runs on {}. Each has its own variables and files."
)
#: A note for the model about variables of the environment; it has only their names.
_HELD_BACK = (
    "These environment variables are set, but code does not get them, because they look like keys or "
    "passwords: {}. If code needs one, ask the user to name it in the setting pass_environment."
)


class Computer:
    """Runs code in languages that keep their variables, each in a process with its own terminal.

    `targets` has where code runs and what is at work there, `inspector` the variables. Behind the other
    methods, `LanguageCatalog` has the languages, `CellRunner` the run, and `Confinement` the sandbox.

    `cwd` is where they start (default: the current directory), `python` and `shell` the person's choice of
    programs, `hidden` the names of environment variables that no program gets to see, `passed` those secrets
    that the sandbox lets in, and `active_line` says whether runs report the line they are at. `declared` is
    every language that may run, whether or not its program is here. `target` is where code runs: another
    machine, a container, or this one.
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
        sandbox_rules: SandboxRules = NO_RULES,
        passed: Sequence[str] = (),
        startup: Sequence[tuple[str, str]] = (),
        target: str = LOCAL,
        target_options: TargetOptions = USUAL_TARGET,
        ask: "Ask | None" = None,
        stopped: "StopSignal | None" = None,
        unlisted: Callable[[], Sequence[Language]] = tuple,
    ) -> None:
        """`startup` is code, with its language, that runs when the language starts.

        `ask` answers the questions of ssh while the target is reached; without it, they make that fail.
        `stopped` gives up reaching it.
        `unlisted` gives languages that are not offered as such, but can run: the tools of other programs.
        They run on this machine, whatever the target. Raises TargetError where the target cannot be reached.
        """
        self._options = options = RuntimeOptions(
            cwd=paths.expand_typed(cwd).absolute() if cwd else paths.find_cwd(),
            choices=Choices(python, shell),
            hidden=frozenset(hidden),
            passed=tuple(passed),
            active_line=active_line,
            target=target_options,
        )
        self._confinement = Confinement(
            options.cwd,
            enabled=sandbox,
            passed=passed,
            rules=sandbox_rules,
        )
        #: Where code can run, and what is connected.
        self.targets = Targets(options, self._confinement)
        self._catalog = LanguageCatalog(declared, unlisted, options, self.targets, self._confinement)
        self._runner = CellRunner(startup, options, self.targets, self._catalog, self._confinement)
        #: Variables, tables and completions of the languages at work.
        self.inspector = Inspector(self.targets, self._catalog, options.cwd)
        if target != LOCAL:
            self.targets.use(target, stopped, ask=ask)

    @property
    def cwd(self) -> Path:
        """The folder in which the languages start."""
        return self._options.cwd

    @property
    def is_at_work(self) -> bool:
        """Whether a language has a process, or an object of its class, that remembers something."""
        return any(getattr(runtime, "is_alive", False) for runtime in self.targets.list_runtimes())

    # ------------------------------------------------------------------------------------ languages

    @property
    def languages(self) -> tuple[str, ...]:
        """The names of the languages that can run on this machine, and in the sandbox where that is on."""
        return self._catalog.available

    @property
    def declared(self) -> tuple[Language, ...]:
        """Every language that may run, whether its program is here or not."""
        return self._catalog.declared

    def declare(self, languages: Sequence[Language]) -> None:
        """Replace the languages; those that were replaced or left out are ended."""
        targets = self.targets
        with targets.lock:
            self._catalog.declared = tuple(languages)
            state = targets.local
            removed = [name for name, entry in state.runtimes.items() if entry.language not in languages]
            ended = [state.runtimes.pop(name) for name in removed]
            state.prepared.difference_update(removed)
            targets.current.programs.clear()
        for runtime in ended:
            runtime.close()

    @property
    def replaced(self) -> frozenset[str]:
        """The names of the languages that are a program's own: what runs their code is not known."""
        return self._catalog.replaced

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of the available languages for the model."""
        catalog, remote = self._catalog, self.targets.remote
        notes = (item.note for item in catalog.offered if item.note and catalog.find_program(item))
        places: tuple[str, ...] = ()
        if len(targets := self.targets.names) > 1:
            places = (_MORE_PLACES.format(", ".join(targets), targets[1], targets[0]),)
        if remote:
            return (*notes, remote.note, *places)
        names = ", ".join(sorted(self._options.hidden))
        held_back = (_HELD_BACK.format(names),) if names else ()
        return (*notes, *self._confinement.write_notes(), *held_back, *places)

    def explain_missing(self, language: str) -> str | None:
        """Return why a known language cannot run, and how to install it; None when it can."""
        return self._catalog.explain_missing(language)

    def check_availability(self) -> tuple[Availability, ...]:
        """Return the availability of every language.

        Asks each program for its version, which takes a moment.
        """
        return self._catalog.check_availability()

    def resolve(self, name: str) -> str | None:
        """Return the language that is meant by a name, an alias or an odd spelling.

        None when it is unknown.
        """
        return self._catalog.resolve(name)

    def describe(self, language: str) -> str:
        """Return the language's program, as `Python 3.11.7 (.venv)`; how to get it where it is missing."""
        return self._catalog.describe(language)

    def find_program(self, language: str) -> str | None:
        """Return the path of the language's program; None where it is missing."""
        entry = self._catalog.find(language)
        return self._catalog.find_program(entry) if entry else None

    def find_database(self, language: str) -> str:
        """Return the database that code of the language would use, in words; "" for a language
        without one.
        """
        return self._catalog.find_database(language)

    def find_folder(self, language: str) -> Path | None:
        """Return the folder in which a language of this machine is now; None where that is not known."""
        return self.inspector.find_folder(language)

    # -------------------------------------------------------------------------------------- targets

    def explain_refusal_at(self, target: str) -> str | None:
        """Return why a cell cannot run on the target that it names; None when it can."""
        if self.targets.find(target) is not None:
            return None
        return f"{self.targets.explain_unknown(target)} The user connects more with %on TARGET."

    @property
    def target_files(self) -> "TargetFiles | None":
        """The files of the target where code runs now; None for this machine, or if none can be reached."""
        remote = self.targets.remote
        return remote.files if remote else None

    def at(self, target: str) -> AbstractContextManager[None]:
        """Run code on that target within the block; nothing changes if it is not connected."""
        return self.targets.visit(target)

    @property
    def where(self) -> str:
        """Where code runs, in words, such as `on gpu1 as ana, /scratch/ana`; "" for this machine."""
        return self.targets.where

    @property
    def target_id(self) -> str:
        """An identity of the target where code runs, unlike its words; "" for this machine."""
        remote = self.targets.remote
        return f"{remote.spelling}\n{remote.where}" if remote else ""

    @property
    def target_folder(self) -> str:
        """The folder in which code starts on that target; "" for this machine, and where it is not known."""
        remote = self.targets.remote
        return remote.folder if remote else ""

    @property
    def target_past(self) -> Collection[str]:
        """The languages of that target in which other code than that of this session ran, or runs."""
        remote = self.targets.remote
        return remote.past if remote else ()

    def follow(self, run: "LeftRun") -> Generator[Report, None, None]:
        """Report the rest of a run that was left running, like `run`; it is not run again."""
        return self._runner.follow(run)

    # -------------------------------------------------------------------------------------- sandbox

    @property
    def sandbox(self) -> bool:
        """Whether programs are held in the working directory."""
        return self._confinement.enabled

    @property
    def limits(self) -> str | None:
        """The sandbox limits in words; None where the sandbox is off."""
        return self._confinement.limits

    def use_sandbox(self, on: bool, private: Sequence[Path] = ()) -> None:
        """Turn the sandbox on or off; languages restart for it.

        One that runs just now does so before its next run.
        """
        with self.targets.lock:
            self._confinement.switch(on, private)
            self.targets.local.prepared.clear()
        for runtime in self.targets.list_runtimes():
            if isinstance(runtime, PtyRuntime):
                runtime.use_sandbox(self._catalog.sandbox())

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

    def explain_sandbox_failure(self) -> str | None:
        """Return why the sandbox does not work; None when it works, or is off. Takes a moment once."""
        return self._catalog.explain_refusal()

    def explain_no_sandbox(self) -> str | None:
        """Return why the sandbox would not work if it were turned on; None when it would."""
        if self.targets.remote:
            return f"The sandbox works on this machine only; code runs {self.where}. Use %target local."
        return self._confinement.explain_unavailable()

    # ----------------------------------------------------------------------------------------- runs

    def run(self, language: str, code: str, number: int | None = None) -> Generator[Report, None, None]:
        """Run code and report, `RunEnded` last. Closed early, the run is interrupted and drained first.

        `number` is the one that error messages of the language give the cell.
        """
        return self._runner.run(language, code, number)

    def use_startup(self, startup: Sequence[tuple[str, str]]) -> None:
        """Run this code, each piece with its language, when languages start; now in those that are there."""
        self._runner.use_startup(startup)

    def is_running(self, pid: int) -> bool:
        """Return whether that process is the language whose code runs just now, and not one
        that code started.
        """
        return self._runner.is_running(pid)

    def ask_person(self, pid: int, text: str, prompt: str, stopped: threading.Event) -> str | None:
        """Print text in the output of the cell that runs in that process, and return the line that is typed.

        The program does not get the line. None once the cell has ended, or `stopped` is set. Without a
        prompt, nothing is asked. Any thread; blocks.
        """
        return self._runner.ask_person(pid, text, prompt, stopped)

    def send_input(self, text: str) -> None:
        """Type raw text on the terminal of the running program; a line ends with a newline."""
        self._runner.send_input(text)

    def interrupt(self) -> None:
        """Interrupt the run and wait for it; a second call, half a second later or more, ends the language.

        A language without variables is then ended automatically.
        """
        self._runner.interrupt()

    # ------------------------------------------------------------------------------------ processes

    def resize(self, columns: int, rows: int) -> None:
        """Tell the programs the size of their terminal."""
        self.targets.resize(columns, rows)

    def pop_losses(self) -> tuple[VariablesLost, ...]:
        """Return and forget the languages that ended between runs, with what they remembered."""
        return self.targets.pop_losses()

    def watch_losses(self, call: Callable[[], object]) -> None:
        """Call `call`, from any thread, whenever something ended between runs."""
        self.targets.on_loss = call

    def note_loss(self, loss: VariablesLost) -> None:
        """Report that something ended between runs."""
        self.targets.note_loss(loss)

    def reset(self) -> None:
        """End every language's process; the next run starts again. A run in progress is lost."""
        self.targets.reset()

    def close(self) -> None:
        """Close permanently; leaves no process behind."""
        self.targets.close()
