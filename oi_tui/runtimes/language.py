"""Declares a language: its names, how its program is found and started, and what it reports."""

import shutil
import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from oi_tui.messages import Report
from oi_tui.runtimes.completions import CompletionSet, complete_names
from oi_tui.runtimes.variables import Detail, Memory

DRIVERS = Path(__file__).with_name("drivers")
#: The number of startup code in error messages; the cells that a person sees are counted from 1.
STARTUP_CELL = 0


@dataclass(frozen=True, slots=True)
class Choices:
    """The user's choices: a Python interpreter, a shell; None means the default."""

    python: str | None = None
    shell: str | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """How to start a language: the program and its arguments, and its environment variables."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    #: Lines for the driver before anything else, where the program reads its driver from the request pipe.
    requests: tuple[str, ...] = ()
    #: What is typed first, unseen, where the program reads how its driver begins from the terminal.
    typed: str = ""


def find_first_program(*programs: str) -> Callable[[Choices], str | None]:
    """Find a language by the first of these programs that is on PATH."""

    def find(_: Choices) -> str | None:
        return next((path for program in programs if (path := shutil.which(program))), None)

    return find


def start_driver(name: str) -> "Callable[[str, Path], Start]":
    """Start a language with this driver as its script."""

    def start(program: str, folder: Path) -> Start:
        return Start((program, str(DRIVERS / name), str(folder)))

    return start


class Runtime(Protocol):
    """A language at work. `run` is for one thread at a time, all else for any."""

    @property
    def language(self) -> "Language":
        """The language that this runs."""

    def run(
        self, code: str, stopped: threading.Event, number: int | None = None
    ) -> Generator[Report, None, None]:
        """Run code and yield its reports, `RunEnded` last. Closed early, the run is interrupted first.

        `stopped` is set by an interrupt, also by one that comes before there is a run. `number` is the one
        that error messages of the language give the cell; without one, the language counts by itself.
        """

    def read_memory(self) -> Memory:
        """Return the variables, as far as the language reports them."""

    def inspect(self, name: str) -> Detail | None:
        """Return the value of one variable; None where it is not reported, or does not exist."""

    def complete(self, before: str) -> CompletionSet | None:
        """Return what completes the code before the caret; None where the language offers nothing."""

    def send_input(self, text: str) -> None:
        """Type to the program."""

    def interrupt(self) -> None:
        """Interrupt the run, if there is one; called again, end it, with its variables if needed."""

    def resize(self, columns: int, rows: int) -> None:
        """Tell programs the size of their terminal."""

    def reset(self) -> None:
        """Forget; a run in progress is lost."""

    def close(self) -> None:
        """Close permanently."""


class RuntimeWithoutTerminal:
    """A base of runtimes that have no terminal and report no variables."""

    language: "Language"

    def read_memory(self) -> Memory:
        """Return that the variables are not reported."""
        return Memory(self.language.name, "silent")

    def inspect(self, name: str) -> Detail | None:  # noqa: ARG002
        """Return None."""
        return None

    def complete(self, before: str) -> CompletionSet | None:  # noqa: ARG002
        """Return None."""
        return None

    def send_input(self, text: str) -> None:
        """Do nothing."""

    def resize(self, columns: int, rows: int) -> None:
        """Do nothing."""


def _complete_names(memory: Memory, before: str, _: Path) -> CompletionSet | None:
    return complete_names(memory, before)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Language:
    """A language, declared once; everything else follows.

    `find` gives the path of its program, None where it is missing; `describe` names that program in a few
    words without starting the language; `start` says how to start it with the channel's folder as argument.
    """

    name: str
    title: str
    aliases: tuple[str, ...] = ()
    #: How to install it without one of the package managers below, in a sentence.
    hint: str
    #: Its package, by package manager of `installing`.
    packages: Mapping[str, str] = field(default_factory=dict)
    #: What it keeps from run to run, in a few words; empty if every run starts from nothing.
    keeps: str = "variables, functions"
    #: How it is known that a program waits for input: the driver reports it ("reported"), it is seen at
    #: the terminal ("seen"), or there is none to give ("none").
    input: Literal["reported", "seen", "none"] = "seen"
    find: Callable[[Choices], str | None]
    describe: Callable[[str], str]
    start: Callable[[str, Path], Start]
    #: Which line runs: written by the driver to its four bytes ("cell"), sent as events ("events"), read by
    #: the application from a variable in the program's memory ("memory"), or not known (None).
    active_line: str | None = None
    #: A request that goes with an interrupt; for programs that read requests while they run, or to make sure
    #: that an interrupt which came too late leaves no run without its end. `{nonce}` stands for the run's.
    interrupt_request: str | None = None
    #: Whether running code may miss an interrupt, so that it gets a second one a moment later.
    may_miss_interrupt: bool = False
    #: Whether its driver opens the pipes by their names for each report, and not once.
    opens_pipes: bool = False
    #: How a run's request is written, from its nonce and the path of the code.
    request: Callable[[str, Path], str] = lambda nonce, path: f"run {nonce} {path}"
    #: What makes of a cell the code that runs, beside the cell as it is; None where the cell itself runs.
    annotate: Callable[[str], str] | None = None
    #: A request for the variables; None where the language does not tell them.
    variables_request: str | None = None
    #: A request for what one variable, `{name}`, holds; None where the language does not tell.
    variable_request: str | None = None
    #: A request for a part of a table; `{name}` is the question as hexadecimal JSON. None where it has none.
    table_request: str | None = None
    #: A request for completions; `{name}` is the code before the caret as hexadecimal JSON.
    completion_request: str | None = None
    #: Completes code where the driver does not, from the variables, the code and the working directory.
    complete: Callable[[Memory, str, Path], CompletionSet | None] = _complete_names
    #: A request to end, for a language that has something to save first; it is given a moment.
    leave_request: str | None = None
    #: How long the program may take to begin, in seconds.
    timeout: float = 30.0
    #: Handles reports of its driver that need the application itself.
    translate: Callable[[Report], Iterable[Report]] | None = None
    #: What the model should know of it, added to the system message.
    note: str = ""
    #: The language in whose process it runs, by name; empty where it has one of its own.
    host: str = ""
    #: A language that its code runs in where that has the same program, by name.
    part_of: str = ""
    #: The setting that chooses its program, where there is one.
    setting: Literal["python", "shell", ""] = ""
    #: Makes its runtime, if that is not a program on its own terminal.
    runtime: "Callable[[Language], Runtime] | None" = None
    #: Why the sandbox cannot hold it, in words that follow "because"; empty where it can.
    outside: str = ""
    #: A built-in language with an object added for its code, which is reviewed as before.
    extended: bool = False
    #: The class that it was made from, where it was.
    source: object = None

    def __repr__(self) -> str:
        """Return its name, because scripts print their list of languages."""
        return f"Language({self.name!r})"
