"""The targets on which code can run, and the languages at work on each."""

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from oi_tui.messages import VariablesLost
from oi_tui.runtimes.language import Choices, Runtime
from oi_tui.runtimes.remote.target import LOCAL, USUAL, DetachOptions, Target, TargetError, parse
from oi_tui.runtimes.sandbox.confinement import Confinement

if TYPE_CHECKING:
    from oi_tui.runtimes.connected_target import ConnectedTarget
    from oi_tui.runtimes.remote.askpass import Ask
    from oi_tui.runtimes.remote.connecting import StopSignal
    from oi_tui.runtimes.remote.files import TargetFiles
    from oi_tui.runtimes.remote.jupyter.jupyter_server import FindToken
    from oi_tui.runtimes.remote.left_targets import LeftTarget
    from oi_tui.runtimes.remote.link import LeftRun

#: How long the end of a run that was left running may take here, in seconds.
_TIMEOUT = 10.0
_GLANCE = 0.02


@dataclass(frozen=True, slots=True)
class TargetOptions:
    """How code runs on targets other than this machine."""

    #: Whether programs there get the secrets of their own environment too.
    share_keys: bool = False
    #: Finds the stored token of a Jupyter server.
    find_token: "FindToken | None" = None
    #: What keeps running there when the target is left.
    detach: DetachOptions = USUAL


USUAL_TARGET = TargetOptions()


@dataclass(frozen=True, slots=True)
class RuntimeOptions:
    """What languages start with on every target. The fields are arguments of `Computer`."""

    cwd: Path
    choices: Choices
    hidden: Collection[str]
    passed: Sequence[str]
    active_line: bool
    target: TargetOptions


@dataclass(slots=True)
class TargetState:
    """What belongs to one target, and stays while code runs on another one."""

    #: None for this machine.
    remote: "ConnectedTarget | None" = None
    runtimes: dict[str, Runtime] = field(default_factory=dict)
    #: The languages whose startup code ran since they started.
    prepared: set[str] = field(default_factory=set)
    #: The programs on this machine that were found since code began to run on this target.
    programs: dict[str, str | None] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The target as a person types it."""
        return self.remote.spelling if self.remote else LOCAL


class Targets:
    """The connected targets, of which one is current. Every method may be called from any thread."""

    def __init__(self, options: RuntimeOptions, confinement: Confinement) -> None:
        self._options = options
        self._confinement = confinement
        #: Held while the state of a target or `running` changes.
        self.lock = threading.Lock()
        #: The target on which code runs now.
        self.current = TargetState()
        #: The other connected targets. Their languages go on.
        self._others: dict[str, TargetState] = {}
        #: The target of cells that name none, as a person types it.
        self.home = LOCAL
        #: The language whose code runs now.
        self.running: Runtime | None = None
        self.closed = False
        #: The size of a terminal, in columns and rows.
        self.size = 80, 24
        self._losses: deque[VariablesLost] = deque(maxlen=100)
        #: Called after each loss, from any thread.
        self.on_loss: Callable[[], object] = lambda: None
        #: Held while a connection is made, which `_closing` ends.
        self._connecting = threading.Lock()
        self._closing = threading.Event()

    @property
    def remote(self) -> "ConnectedTarget | None":
        """Where code runs now; None for this machine."""
        return self.current.remote

    @property
    def where(self) -> str:
        """Where code runs now, in words, such as `on gpu1 as ana, /scratch/ana`; "" for this machine."""
        return self.remote.where if self.remote else ""

    @property
    def local(self) -> TargetState:
        """The state of this machine."""
        return self._others.get(LOCAL, self.current)

    @property
    def names(self) -> tuple[str, ...]:
        """The targets that cells can name, that of cells that name none first."""
        with self.lock:
            connected = (self.current.key, *self._others)
        return tuple(dict.fromkeys((self.home, *connected)))

    def find(self, name: str) -> str | None:
        """Return the connected target that is meant by its spelling, or by its title if only one has it."""
        if name in self.names:
            return name
        titled = self._list_titled(name)
        return titled[0] if len(titled) == 1 else None

    def explain_unknown(self, name: str) -> str:
        """Return why a name means no connected target, in a sentence."""
        if titled := self._list_titled(name):
            return f"“{name[:200]}” may be {' or '.join(titled)}: write one of them."
        return f"The target “{name[:200]}” is not connected. Connected: {', '.join(self.names)}."

    def _list_titled(self, name: str) -> list[str]:
        return [remote.spelling for remote in self.list_connected() if remote.title == name]

    def files_on(self, name: str = "") -> "TargetFiles | None":
        """Return the files of a connected target, of `home` for ""; None for this machine."""
        key = self.find(name or self.home)
        return next((remote.files for remote in self.list_connected() if remote.spelling == key), None)

    @contextlib.contextmanager
    def visit(self, name: str) -> Iterator[None]:
        """Run code on that target until the end of the block, if it is connected."""
        before, key = self.current.key, self.find(name)
        if key is None or key == before:
            yield
            return
        self._switch(key)
        try:
            yield
        finally:
            self._switch_back(before)

    def use(self, spelling: str, stopped: "StopSignal | None" = None, *, ask: "Ask | None" = None) -> None:
        """Run code there from now on; languages that run elsewhere stay there for the way back.

        Arguments and errors are those of `connect`; after an error, code runs where it did.
        """
        self.connect(spelling, stopped, ask=ask)
        target = parse(spelling)
        key = target.spelling if target else LOCAL
        if key == self.home:
            return
        self._refuse_while_running()
        self._switch(key)
        self.home = key

    def connect(
        self, spelling: str, stopped: "StopSignal | None" = None, *, ask: "Ask | None" = None
    ) -> None:
        """Connect a target, so that cells can name it. Cells that name none still run on `home`.

        Blocks while the connection is made, unless `stopped` is set. `ask` answers the questions of ssh.
        Raises TargetError where that fails, while code runs, and while the sandbox is on.
        """
        target = parse(spelling)
        if target is None or target.spelling == self.home:
            return
        if self._confinement.enabled:
            raise TargetError(
                f"The sandbox works on this machine only: turn it off to use {target.spelling}."
            )
        self._refuse_while_running()
        with self._connecting:
            if target.spelling in self._others:
                return
            state = TargetState()
            state.remote = self._make_remote(target, state, stopped, ask)
            with self.lock:
                self._others[target.spelling] = state

    def detach(self, name: str = "") -> str:
        """Leave what runs on a target running there, and disconnect; "" is `home`.

        A run in progress there ends here, and has to end before this returns. Blocks. Returns why not, or "".
        """
        name = name or self.home
        key = self.find(name)
        remote = next((remote for remote in self.list_connected() if remote.spelling == key), None)
        if remote is None:
            return self.explain_unknown(name) if name != LOCAL else "Code runs on this machine."
        if problem := remote.detach():
            return problem
        until = time.monotonic() + _TIMEOUT
        while self._is_running_on(remote.spelling) and time.monotonic() < until:
            time.sleep(_GLANCE)
        self._let_go(remote.spelling)
        return ""

    def is_running_on(self, name: str) -> bool:
        """Return whether code runs on that target just now."""
        return self._is_running_on(self.find(name) or "")

    def _is_running_on(self, key: str) -> bool:
        # Without a run, the visit lasts only until the cell is recorded.
        return self.current.key == key and (self.running is not None or self.home != key)

    def _let_go(self, key: str) -> None:
        """Forget a target; its cells run on this machine from now on."""
        if self.home == key:
            self.home = LOCAL
        if self.current.key == key:
            self._switch(LOCAL)
        with self.lock:
            state = self._others.pop(key, None)
        if state and state.remote:
            state.remote.close()

    def attach(
        self, left: "LeftTarget", stopped: "StopSignal | None" = None, *, ask: "Ask | None" = None
    ) -> "tuple[LeftRun, ...]":
        """Connect to what was left on a target, and run code there from now on. Blocks, as `connect` does.

        Returns the runs that go on there, or ended meanwhile. Nothing is started. Raises TargetError.
        """
        target = parse(left.target)
        if target is None or target.kind == "kernel":
            raise TargetError(f"{left.target} cannot be left running.")
        if self._confinement.enabled:
            raise TargetError(f"The sandbox works on this machine only: turn it off to use {left.target}.")
        self._refuse_while_running()
        with self._connecting:
            there = next((remote for remote in self.list_connected() if remote.spelling == left.target), None)
            if there and there.is_used:
                raise TargetError(
                    f"{left.target} is connected, and something was started there. Use %detach first."
                )
            state = TargetState()
            remote = state.remote = self._make_remote(target, state, stopped, ask, left)
            try:
                # A cell may have begun while the connection was made.
                self._refuse_while_running()
            except TargetError:
                # What was left there goes on.
                remote.detach()
                remote.close()
                raise
            self._let_go(left.target)
            state.prepared.update(remote.left_languages)
            # A reset also ends those that were not used since.
            at_work = [language for language in remote.languages if language.name in remote.left_languages]
            state.runtimes.update((language.name, remote.runtime(language)) for language in at_work)
            with self.lock:
                self._others[left.target] = state
        self._switch(left.target)
        self.home = left.target
        return remote.left_runs

    def detach_at_end(self) -> None:
        """Leave running what the settings say, before all else is ended."""
        if self._options.target.detach.at_end:
            for remote in self.list_connected():
                if remote.is_used:
                    remote.detach()

    def _refuse_while_running(self) -> None:
        if self.running or self.current.key != self.home:
            raise TargetError("Code is running: wait for its end, or stop it.")

    def _make_remote(
        self,
        target: Target,
        state: TargetState,
        stopped: "StopSignal | None",
        ask: "Ask | None",
        left: "LeftTarget | None" = None,
    ) -> "ConnectedTarget":
        from oi_tui.runtimes.remote.remote_target import CombinedStopSignal, RemoteTarget

        options = self._options
        on_loss = partial(self.note_loss, state=state)
        stopped = CombinedStopSignal(stopped, self._closing) if stopped else self._closing
        if target.kind == "kernel":
            from oi_tui.runtimes.remote.jupyter.kernel import KernelTarget

            return KernelTarget(
                target, on_loss=on_loss, find_token=options.target.find_token, ask=ask, stopped=stopped
            )
        return RemoteTarget(
            target,
            choices=options.choices,
            cwd=options.cwd,
            hidden=options.hidden,
            passed=options.passed,
            share_keys=options.target.share_keys,
            active_line=options.active_line,
            size=self.size,
            on_loss=on_loss,
            ask=ask,
            stopped=stopped,
            detach_options=options.target.detach,
            left=left,
        )

    def _switch(self, key: str) -> None:
        with self.lock:
            self._switch_locked(key)

    def _switch_back(self, key: str) -> None:
        """Run code there again at the end of a visit; on this machine where it was disconnected meanwhile."""
        with self.lock:
            if key not in (self.current.key, *self._others):
                key = LOCAL
            if key != self.current.key:
                self._switch_locked(key)

    def _switch_locked(self, key: str) -> None:
        self._others[self.current.key] = self.current
        self.current = self._others.pop(key)
        self.current.programs.clear()

    def list_connected(self) -> "list[ConnectedTarget]":
        """Return every connected target."""
        with self.lock:
            return [state.remote for state in self._list_states() if state.remote]

    def list_runtimes(self) -> list[Runtime]:
        """Return the languages at work on every target."""
        with self.lock:
            return [runtime for state in self._list_states() for runtime in state.runtimes.values()]

    def _list_states(self) -> tuple[TargetState, ...]:
        return (self.current, *self._others.values())

    def resize(self, columns: int, rows: int) -> None:
        """Set the size of the terminal of every program."""
        self.size = columns, rows
        for runtime in self.list_runtimes():
            runtime.resize(columns, rows)
        for remote in self.list_connected():
            remote.resize(columns, rows)

    def note_loss(self, loss: VariablesLost, state: TargetState | None = None) -> None:
        """Record that a language ended between runs, on the target of that state."""
        if state:
            state.prepared.discard(loss.language)
        if not loss.reason:
            return
        self._losses.append(loss)
        self.on_loss()

    def pop_losses(self) -> tuple[VariablesLost, ...]:
        """Return and forget the languages that ended between runs."""
        losses = []
        with contextlib.suppress(IndexError):
            while True:
                losses.append(self._losses.popleft())
        return tuple(losses)

    def reset(self) -> None:
        """Restart every language at its next run. A run in progress is lost."""
        for runtime in self.list_runtimes():
            runtime.reset()
        self._losses.clear()
        self.forget_startup()

    def forget_startup(self) -> None:
        """Have startup code run once more, in every language on every target."""
        for state in self._list_states():
            state.prepared.clear()

    def close(self) -> None:
        """End every process and connection permanently."""
        self._closing.set()
        with self._connecting, self.lock:
            self.closed = True
        for runtime in self.list_runtimes():
            runtime.close()
        for remote in self.list_connected():
            remote.close()
