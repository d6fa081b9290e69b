"""Stand-ins for the borders of a session: a model that recites, and a computer that pretends."""

import contextlib
import json
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from oi_tui.engine.llm.base import Delta, ErrorInfo, LlmError, Request, Text, ToolCallPiece
from oi_tui.messages import (
    Displayed,
    InputReceived,
    InputRequested,
    LineReached,
    Printed,
    Report,
    RunEnded,
    VariablesLost,
)
from oi_tui.runtimes.availability import Availability
from oi_tui.runtimes.completions import CompletionSet
from oi_tui.runtimes.remote.link import LeftRun
from oi_tui.runtimes.remote.target import TargetError, parse
from oi_tui.runtimes.tables import TableError, TableSource
from oi_tui.runtimes.variables import Detail, Memory


def call(code: str, language: str = "python", id: str = "c1", index: int = 0) -> ToolCallPiece:
    return ToolCallPiece(index, id, "execute", json.dumps({"language": language, "code": code}))


class Gate(threading.Event):
    """Holds a reply back until a test sets it."""


class Reply:
    def __init__(self, deltas: Sequence[Delta | ErrorInfo | threading.Event]) -> None:
        self.deltas = deltas
        self.cancelled = threading.Event()

    def __iter__(self) -> Iterator[Delta]:
        for delta in self.deltas:
            if isinstance(delta, ErrorInfo):
                raise LlmError(delta)
            if isinstance(delta, Gate):
                while not (delta.wait(0.01) or self.cancelled.is_set()):
                    pass
                if self.cancelled.is_set():
                    return
                continue
            if isinstance(delta, threading.Event):
                delta.set()
                assert self.cancelled.wait(60)
                return
            yield delta

    def cancel(self) -> None:
        self.cancelled.set()


class Llm:
    """Answers with one list of deltas after the other; a Fault among them is raised, an Event hangs."""

    def __init__(self, *replies: Sequence[Delta | ErrorInfo | threading.Event]) -> None:
        self.replies = list(replies)
        self.requests: list[Request] = []

    def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        return Reply(self.replies.pop(0) if self.replies else [Text("Done.")])


class Targets:
    """Connects to every machine but `nowhere`, at once."""

    def __init__(self) -> None:
        self.home = "local"
        self.connected: list[str] = []

    def use(self, spelling: str, stopped: object = None, *, ask: object = None) -> None:
        if spelling == "ssh:nowhere":
            raise TargetError("No connection to nowhere.")
        target = parse(spelling)
        self.home = target.spelling if target else "local"

    @property
    def names(self) -> Sequence[str]:
        return tuple(dict.fromkeys((self.home, *self.connected)))

    def is_running_on(self, name: str) -> bool:
        return False

    def detach(self, name: str = "") -> str:
        return "Nothing was started there."

    def attach(self, left: object, stopped: object = None, *, ask: object = None) -> Sequence[LeftRun]:
        raise TargetError("Nothing was left there.")

    def detach_at_end(self) -> None: ...

    def connect(self, spelling: str, stopped: object = None, *, ask: object = None) -> None:
        before = self.home
        self.use(spelling)
        self.connected.append(self.home)
        self.home = before

    def files_on(self, name: str = "") -> None: ...


class Computer:
    """Prints the code it is given; code of one word does what the word says, as far as it knows it."""

    languages = ("python", "shell")
    notes = ()
    replaced: frozenset[str] = frozenset()
    cwd = Path("/")

    def __init__(self) -> None:
        self.ran: list[tuple[str, str]] = []
        self.remembered: tuple[Memory, ...] = ()
        self.tables: dict[tuple[str, str], TableSource] = {}
        self.completions: dict[str, CompletionSet] = {}
        self.details: dict[tuple[str, str], Detail] = {}
        self.losses: list[VariablesLost] = []
        self.interrupted = threading.Event()
        self.interrupts = threading.Semaphore(0)
        self.asks = False
        self.typed: list[str] = []
        self.databases: dict[str, str] = {}
        self.targets = Targets()
        self.sandbox = False
        self.limits: str | None = None
        self.no_sandbox: str | None = None
        self.hosts: tuple[str, ...] = ()
        self.running = threading.Event()

    def resolve(self, name: str) -> str | None:
        return {"python": "python", "py": "python", "shell": "shell", "bash": "shell"}.get(name)

    def describe(self, language: str) -> str:
        return language

    def explain_missing(self, language: str) -> str | None:
        return None

    def check_availability(self) -> Sequence[Availability]:
        return [Availability(name, f"{name} 1.0", f"/bin/{name}", True) for name in self.languages]

    def run(self, language: str, code: str, number: int | None = None) -> Iterator[Report]:
        self.ran.append((language, code))
        if code == "hang":
            self.running.set()
            assert self.interrupted.wait(60)
            yield RunEnded("interrupted", 0.5)
            return
        if code == "flood and hang":
            for number in range(300):
                yield Printed(f"line {number} {'x' * 990}\n")
            self.running.set()
            assert self.interrupted.wait(60)
            yield RunEnded("interrupted", 0.5)
            return
        if code == "stubborn":
            self.running.set()
            assert self.interrupts.acquire(timeout=60)
            assert self.interrupts.acquire(timeout=60)
            yield RunEnded("lost", 0.5, "It was ended")
            return
        if code in ("ask", "ask unseen"):
            yield LineReached(1)
            # Whoever is asked may answer before this generator goes on.
            self.asks = True
            yield InputRequested("What is your name? ", False)
            if code == "ask unseen":
                # The program hides what is typed from now on.
                yield InputRequested("What is your name? ", True)
            self.running.set()
            assert self.interrupted.wait(60)
            self.asks = False
            yield InputReceived()
        if code == "image":
            yield Printed("before")
            yield Displayed("base64.png", "aGk=")
        if code == "flood":
            for _ in range(300):
                yield Printed("x" * 999 + "\n")
        elif code != "silent":
            yield Printed(f"out of {code}")
        failed = code == "fail"
        yield RunEnded("failed" if failed else "finished", 0.1, "it failed" if failed else None)

    @property
    def inspector(self) -> "Computer":
        """This computer, which has what the languages remember itself."""
        return self

    def read_memories(self) -> tuple[Memory, ...]:
        return self.remembered

    def inspect(self, language: str, name: str) -> Detail | None:
        return self.details.get((language, name))

    def open_table(self, language: str, name: str) -> TableSource:
        if (language, name) not in self.tables:
            raise TableError(f"{name} is not a table.")
        return self.tables[language, name]

    def can_complete(self, language: str) -> bool:
        return language in self.completions

    def complete(self, language: str, before: str) -> CompletionSet | None:
        return self.completions.get(language)

    def explain_no_sandbox(self) -> str | None:
        return self.no_sandbox

    def allow_host(self, host: str) -> str | None:
        self.hosts = (*self.hosts, host)
        return None

    def forget_hosts(self) -> None:
        self.hosts = ()

    @property
    def where(self) -> str:
        return "" if self.targets.home == "local" else f"on {self.targets.home} as ana, /scratch"

    def find_folder(self, language: str) -> Path | None:
        return self.cwd

    def find_database(self, language: str) -> str:
        return self.databases.get(language, "")

    @property
    def target_id(self) -> str:
        return self.where

    @property
    def target_folder(self) -> str:
        return "/scratch" if self.where else ""

    def follow(self, run: object) -> Iterator[Report]:
        return iter(())

    is_at_work = False
    target_files = None
    target_past: Collection[str] = ()

    def explain_refusal_at(self, target: str) -> str | None:
        return None if target in self.targets.names else f"The target “{target}” is not connected."

    @contextlib.contextmanager
    def at(self, target: str) -> Iterator[None]:
        before, self.targets.home = self.targets.home, target
        try:
            yield
        finally:
            self.targets.home = before

    def pop_losses(self) -> Sequence[VariablesLost]:
        losses, self.losses = self.losses, []
        return losses

    def watch_losses(self, call: Callable[[], object]) -> None:
        self.on_loss = call

    def lose(self, loss: VariablesLost) -> None:
        """End a language between runs."""
        self.losses.append(loss)
        self.on_loss()

    def send_input(self, text: str) -> None:
        self.typed.append(text)
        if self.asks:
            self.interrupted.set()

    def interrupt(self) -> None:
        self.interrupted.set()
        self.interrupts.release()

    def resize(self, columns: int, rows: int) -> None: ...
    def explain_sandbox_failure(self) -> str | None: ...
    def use_sandbox(self, on: bool, private: Sequence[Path] = ()) -> None:
        self.sandbox = on

    def use_startup(self, startup: Sequence[tuple[str, str]]) -> None: ...

    def reset(self) -> None: ...
    def close(self) -> None: ...
