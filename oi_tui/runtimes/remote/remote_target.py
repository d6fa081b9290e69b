"""A connected target: what is there, the connection to it, and how it is named."""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from oi_tui.file_changes.snapshots import ChangeSet
from oi_tui.messages import VariablesLost
from oi_tui.runtimes.language import Choices, Language
from oi_tui.runtimes.languages import LANGUAGES
from oi_tui.runtimes.remote import left_targets, wire
from oi_tui.runtimes.remote.askpass import Ask
from oi_tui.runtimes.remote.bundle import compute_wire_version
from oi_tui.runtimes.remote.connecting import StopSignal
from oi_tui.runtimes.remote.files import TargetFiles
from oi_tui.runtimes.remote.left_targets import LeftTarget
from oi_tui.runtimes.remote.link import LeftRun, Link
from oi_tui.runtimes.remote.runtime import RemoteRuntime
from oi_tui.runtimes.remote.target import USUAL, DetachOptions, Target, TargetError, is_running_container
from oi_tui.runtimes.remote.wire import Frame
from oi_tui.text import clean_line
from oi_tui.version import __version__

#: How long an answer may take, in seconds.
_TIMEOUT = 10.0
#: The longest name of a person or a folder that is shown, in characters.
_LONGEST_NAME = 1000


class CombinedStopSignal:
    """Set when one of two events is."""

    def __init__(self, first: StopSignal, second: StopSignal) -> None:
        self._events = first, second

    def is_set(self) -> bool:
        """Return whether one of them is."""
        return any(event.is_set() for event in self._events)


class RemoteTarget:
    """A target at work. Made, it is connected. Raises TargetError where it cannot be.

    `cwd` is where the connecting program starts, `hidden` are the variables of our environment that it does
    not get, `passed` those secrets of the remote host's environment that its programs get; with `share_keys`
    they get all. With `left`, the connection is to what was left running; nothing is started.
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
        on_loss: Callable[[VariablesLost], None],
        ask: Ask | None = None,
        stopped: StopSignal | None = None,
        detach_options: DetachOptions = USUAL,
        left: LeftTarget | None = None,
    ) -> None:
        self.target = target
        self._detach_options = detach_options
        #: The record of what stays there; made when there is something that would stay.
        self._record = left
        #: Why no connection is possible any more, in a sentence: what runs there was left.
        self._left = ""
        self._comes_back = left is not None
        #: The languages that were left running, until they are reset.
        self._past: set[str] = set()
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
        #: What runs there now, in words; "" for nothing.
        self.running = ""
        #: The runs that were going on when the connection to what was left was made.
        self.left_runs: tuple[LeftRun, ...] = ()
        #: The facts that the worker sent when it was last connected.
        self._facts: Frame = {}
        self._described: dict[str, str] = {}
        self._ask = ask
        self.files: TargetFiles | None = TargetFiles(self)
        self.connect(stopped or threading.Event())
        # Later, the screen is where ssh would ask.
        self._ask = None

    @property
    def link(self) -> Link | None:
        """The connection, where there is one."""
        link = self._link
        return link if link is not None and link.lost is None else None

    def connect(self, stopped: StopSignal) -> tuple[Link, bool]:
        """Return the connection, and whether it is a new one. Raises TargetError."""
        with self._lock:
            if link := self.link:
                return link, False
            if self._closing.is_set():
                raise TargetError("The computer was closed.")
            if self._link:
                # Whether something was left there is known when it is over.
                self._link.wait_for_end(_TIMEOUT)
            if self._left:
                raise TargetError(self._left)
            link = self._link = Link(
                self.target,
                self._make_settings(),
                cwd=self._cwd,
                environment={k: v for k, v in os.environ.items() if k not in self._hidden},
                on_loss=self._on_loss,
                on_end=self._note_end,
                on_changes=self._note_changes,
                ask=self._ask,
                stopped=CombinedStopSignal(stopped, self._closing),
            )
            self._facts, self._described = link.facts, link.described
            self._past.clear()
            if self._comes_back:
                self._adopt(link)
            return link, True

    def _adopt(self, link: Link) -> None:
        """Take over what was left running there."""
        self._comes_back = False
        self._started |= set(self.left_languages)
        self._past |= set(self.left_languages)
        if self._record:
            left_targets.remove(self._record)
        # A new one is written when it is left again, or stays by itself.
        self._record = None
        self.left_runs = link.left_runs
        if self._detach_options.cut and self._started:
            self._write_record()

    def _make_settings(self) -> dict[str, object]:
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
            "kept": wire.KEPT,
            "stays": self._detach_options.cut,
            "stays_for": self._detach_options.seconds,
            "version": compute_wire_version(),
            "release": __version__,
            "attach": self._record.folder if self._comes_back and self._record else "",
            "seen": self._record.seen if self._comes_back and self._record else None,
        }

    @property
    def left_languages(self) -> tuple[str, ...]:
        """The languages that were at work when the connection was made."""
        known_names = {language.name for language in LANGUAGES}
        return tuple(name for name in self._facts.get("languages", ()) if name in known_names)

    @property
    def past(self) -> frozenset[str]:
        """The languages that may have variables of other code than ours."""
        return frozenset(self._past)

    @property
    def is_used(self) -> bool:
        """Whether it is connected, and something was started there."""
        return self.link is not None and bool(self._started)

    def detach(self) -> str:
        """Leave what runs there running, and end the connection. Returns why not, else "". Blocks."""
        link, target = self.link, self.target
        if link is None:
            return self._left or f"There is no connection to {self.title}, and nothing to leave there."
        if target.kind == "container" and not is_running_container(target.place):
            return (
                "A container that is made for the conversation ends with it. Start it yourself, "
                "and use container:NAME."
            )
        if not self._started:
            return f"Nothing was started on {self.title}: there is nothing to leave running."
        # First of all: without a record, there is no way back.
        try:
            record = self._write_record(strict=True)
        except OSError as error:
            return f"{self.title} was not detached: the record of it cannot be written ({error.strerror})."
        self._left = f"{self.title} was detached; {left_targets.describe_way_back(self.spelling)}."
        if not link.detach(_TIMEOUT, self._detach_options.seconds) and link.lost is None:
            self._left = ""
            if not self._detach_options.cut:
                left_targets.remove(record)
            return f"{self.title} does not answer; it was not detached."
        return ""

    def _write_record(self, *, strict: bool = False) -> LeftTarget:
        """Write down how to come back. With `strict`, raises OSError."""
        now = time.time()
        record = self._record = LeftTarget(
            id=self._record.id if self._record else left_targets.make_id(),
            target=self.spelling,
            where=self.where,
            folder=str(self._facts.get("place", "")),
            wire=compute_wire_version(),
            release=__version__,
            languages=tuple(sorted(self._started)),
            running=self.running,
            conversation=self._detach_options.conversation(),
            since=now,
            until=now + self._detach_options.seconds,
            owner=os.getpid(),
        )
        try:
            left_targets.save(record)
        except OSError:
            if strict:
                raise
        return record

    def note_start(self, language: str) -> None:
        """Note that the language has something to lose from now on."""
        if language not in self._started:
            self._started.add(language)
            if self._detach_options.cut:
                self._write_record()

    def note_reset(self, language: str) -> None:
        """Note that the language has no variables any more."""
        self._past.discard(language)

    def _note_changes(self, change_set: ChangeSet) -> None:
        if self.files:
            self.files.note_changes(change_set)

    def _note_end(self, reason: str) -> None:
        """Tell for each language that was at work that what it remembered is lost, unless it stays there."""
        link, started = self._link, self._started
        if self._closing.is_set() or link is None:
            return
        if started and (link.detached or self._detach_options.cut):
            self._note_stay(link, reason)
            return
        self._started = set()
        for name in sorted(started):
            self._on_loss(
                VariablesLost(
                    name, f"The connection to {self.title} ended ({reason}); the variables of {name} are lost"
                )
            )

    def _note_stay(self, link: Link, reason: str) -> None:
        """Complete the record of what stays there, and allow no new start there."""
        if self._record:
            record = self._record = replace(
                self._record, seen=link.seen, owner=0, since=time.time(), running=self.running
            )
            with contextlib.suppress(OSError):
                left_targets.save(record)
        if not link.detached:
            self._left = (
                f"The connection to {self.title} ended ({reason}). What runs there was left running; "
                f"{left_targets.describe_way_back(self.spelling)}."
            )
            self._on_loss(VariablesLost("", self._left.rstrip(".")))

    @property
    def folder(self) -> str:
        """The folder there in which languages start."""
        return str(self._facts.get("folder", ""))

    @property
    def where(self) -> str:
        """The target in words, as `on gpu1 as ana, /scratch/ana`."""
        # A name there may hold anything, also line breaks.
        user, folder = (
            clean_line(str(self._facts.get(name, "?")), _LONGEST_NAME) for name in ("user", "folder")
        )
        return f"on {self.title} as {user}, {folder}"

    @property
    def system(self) -> str:
        """The system there and its Python, in words."""
        return f"{self._facts.get('system')}, Python {self._facts.get('python')}"

    @property
    def writable(self) -> bool:
        """Whether files can be made in the folder there."""
        return bool(self._facts.get("writable"))

    def round_trip(self) -> float:
        """Return how long a question takes to be answered there, in seconds."""
        link, _ = self.connect(threading.Event())
        began = time.monotonic()
        link.ask("memory", _TIMEOUT, language="")
        return time.monotonic() - began

    @property
    def note(self) -> str:
        """What the model should know."""
        facts = self._facts
        return (
            "Code does not run on the user's machine. "
            f"It runs on {facts.get('host')} ({facts.get('system')}) as the user {facts.get('user')}, "
            f"in the working directory {self.folder}. "
            "Files of the user's own machine are not there."
        )

    @property
    def languages(self) -> Sequence[Language]:
        """Every language that is known."""
        return LANGUAGES

    def find_program(self, language: str) -> str | None:
        """Return the language's program there; None where it is missing."""
        path = self._facts.get("programs", {}).get(language)
        return str(path) if path else None

    def describe(self, language: Language) -> str:
        """Return the language's program there in a few words."""
        return self._described.get(language.name) or f"{language.title} ({self.find_program(language.name)})"

    def wait_for_versions(self, seconds: float) -> None:
        """Wait until the worker has reported its versions, but no longer than that."""
        until = time.monotonic() + seconds
        while self.link and len(self._described) < len(self._facts["programs"]) and time.monotonic() < until:
            time.sleep(0.02)

    def runtime(self, language: Language) -> RemoteRuntime:
        """Return the language, to be run there."""
        runtime = RemoteRuntime(language, self)
        if language.name in self.left_languages:
            runtime.adopt(self.link)
        return runtime

    def resize(self, columns: int, rows: int) -> None:
        """Tell programs the size of their terminal."""
        self._size = columns, rows
        if link := self.link:
            link.send(do="resize", columns=columns, rows=rows)

    def close(self) -> None:
        """End everything there permanently."""
        # A connection that is just being made is given up.
        self._closing.set()
        with self._lock:
            if self._link:
                self._link.close()
        if self._record and not self._left:
            left_targets.remove(self._record)
