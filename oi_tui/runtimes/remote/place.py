"""A place where languages run: what is there, the connection to it, and how it is named."""

import os
import threading
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from oi_tui.file_changes.snapshots import Step
from oi_tui.messages import Loss
from oi_tui.runtimes.language import Choices, Language
from oi_tui.runtimes.languages import LANGUAGES
from oi_tui.runtimes.remote import wire
from oi_tui.runtimes.remote.askpass import Ask
from oi_tui.runtimes.remote.files import PlaceFiles
from oi_tui.runtimes.remote.link import Link, Stopped
from oi_tui.runtimes.remote.runtime import RemoteRuntime
from oi_tui.runtimes.remote.target import Target, TargetError
from oi_tui.runtimes.remote.wire import Frame

#: How long an answer may take, in seconds.
_PATIENCE = 10.0


class EitherStopped:
    """Set when one of two events is."""

    def __init__(self, first: Stopped, second: Stopped) -> None:
        self._events = first, second

    def is_set(self) -> bool:
        """Whether one of them is."""
        return any(event.is_set() for event in self._events)


class RemotePlace:
    """A target at work. Made, it is connected. Raises TargetError where it cannot be.

    `cwd` is where the connecting program starts, `hidden` are the variables of our environment that it does
    not get, `passed` those secrets of the far end's environment that its programs get; with `share_keys` they
    get all.
    """

    def __init__(
        self,
        target: Target,
        *,
        choices: Choices,
        cwd: Path,
        hidden: Collection[str],
        passed: Sequence[str],
        share_keys: bool,
        active_line: bool,
        size: tuple[int, int],
        on_loss: Callable[[Loss], None],
        ask: Ask | None = None,
        stopped: Stopped | None = None,
    ) -> None:
        self.target = target
        self.spelling = target.spelling
        self.title = target.title
        self._choices = choices
        self._cwd = cwd
        self._hidden = frozenset(hidden)
        self._passed = tuple(passed)
        self._share_keys = share_keys
        self._active_line = active_line
        self._size = size
        self._on_loss = on_loss
        self._lock = threading.Lock()
        self._link: Link | None = None
        self._closing = threading.Event()
        self._started: set[str] = set()
        #: The facts that the far end sent when it was last connected.
        self._here: Frame = {}
        self._described: dict[str, str] = {}
        self._ask = ask
        self.files: PlaceFiles | None = PlaceFiles(self)
        self.connect(stopped or threading.Event())
        # Later, the screen is where ssh would ask.
        self._ask = None

    @property
    def link(self) -> Link | None:
        """The connection, where there is one."""
        link = self._link
        return link if link is not None and link.lost is None else None

    def connect(self, stopped: Stopped) -> tuple[Link, bool]:
        """The connection, and whether it is a new one. Raises TargetError."""
        with self._lock:
            if link := self.link:
                return link, False
            if self._closing.is_set():
                raise TargetError("The computer was closed.")
            link = self._link = Link(
                self.target,
                self._settings(),
                cwd=self._cwd,
                environment={k: v for k, v in os.environ.items() if k not in self._hidden},
                on_loss=self._on_loss,
                on_end=self._note_end,
                on_changes=self._note_changes,
                ask=self._ask,
                stopped=EitherStopped(stopped, self._closing),
            )
            self._here, self._described = link.here, link.described
            return link, True

    def _settings(self) -> dict[str, object]:
        columns, rows = self._size
        return {
            "folder": self.target.folder,
            "python": self._choices.python,
            "shell": self._choices.shell,
            "active_line": self._active_line,
            "passed": list(self._passed),
            "share_keys": self._share_keys,
            "columns": columns,
            "rows": rows,
            "silence": wire.SILENCE,
        }

    def note_start(self, language: str) -> None:
        """The language has something to lose from now on."""
        self._started.add(language)

    def _note_changes(self, step: Step) -> None:
        if self.files:
            self.files.note_changes(step)

    def _note_end(self, reason: str) -> None:
        """Tell for each language that was at work that what it remembered is lost."""
        started, self._started = self._started, set()
        if self._closing.is_set():
            return
        for name in sorted(started):
            self._on_loss(
                Loss(
                    name, f"The connection to {self.title} ended ({reason}); the variables of {name} are lost"
                )
            )

    @property
    def folder(self) -> str:
        """The folder there in which languages start."""
        return str(self._here.get("folder", ""))

    @property
    def where(self) -> str:
        """The place in words, as `on gpu1 as ana, /scratch/ana`."""
        return f"on {self.title} as {self._here.get('user', '?')}, {self.folder}"

    @property
    def system(self) -> str:
        """The system there and its Python, in words."""
        return f"{self._here.get('system')}, Python {self._here.get('python')}"

    @property
    def writable(self) -> bool:
        """Whether files can be made in the folder there."""
        return bool(self._here.get("writable"))

    def round_trip(self) -> float:
        """How long a question takes to be answered there, in seconds."""
        link, _ = self.connect(threading.Event())
        began = time.monotonic()
        link.ask("memory", _PATIENCE, language="")
        return time.monotonic() - began

    @property
    def note(self) -> str:
        """What the model should know."""
        here = self._here
        return (
            f"Code does not run on the user's machine. It runs on {here.get('host')} ({here.get('system')}) "
            f"as the user {here.get('user')}, in the working directory {self.folder}. "
            "Files of the user's own machine are not there."
        )

    @property
    def languages(self) -> Sequence[Language]:
        """Every language that is known."""
        return LANGUAGES

    def program(self, language: str) -> str | None:
        """The language's program there; None where it is missing."""
        found = self._here.get("programs", {}).get(language)
        return str(found) if found else None

    def describe(self, language: Language) -> str:
        """The language's program there in a few words."""
        return self._described.get(language.name) or f"{language.title} ({self.program(language.name)})"

    def wait_for_versions(self, seconds: float) -> None:
        """Wait until the far end has reported its versions, but no longer than that."""
        until = time.monotonic() + seconds
        while self.link and len(self._described) < len(self._here["programs"]) and time.monotonic() < until:
            time.sleep(0.02)

    def runtime(self, language: Language) -> RemoteRuntime:
        """The language, to be run there."""
        return RemoteRuntime(language, self)

    def resize(self, columns: int, rows: int) -> None:
        """Tell programs the size of their terminal."""
        self._size = columns, rows
        if link := self.link:
            link.send(do="resize", columns=columns, rows=rows)

    def close(self) -> None:
        """End everything there for good."""
        # A connection that is just being made is given up.
        self._closing.set()
        with self._lock:
            if self._link:
                self._link.close()
