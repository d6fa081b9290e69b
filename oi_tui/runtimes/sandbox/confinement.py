"""The sandbox settings of a computer, and what the sandbox blocked in a run."""

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from oi_tui.messages import Printed, Report, RunEnded
from oi_tui.runtimes.sandbox.limits import USUAL, SandboxLimits
from oi_tui.runtimes.sandbox.protected_files import ProtectedFileWatch
from oi_tui.runtimes.sandbox.sandbox import Sandbox, has_proxy
from oi_tui.text import clean_line

#: How long code may take to end once it is interrupted at the limit of time, in seconds.
_GRACE = 10.0
#: For the model.
_CONFINED = (
    "Code runs in a sandbox: only files of the working directory can be read and written, beside temporary "
    "ones. Files that other programs run "
    "automatically (.git/hooks, .envrc, .vscode and others) are read-only."
)
_NO_NETWORK = (
    "There is no network, and nothing can be installed, unless the user allows a host: %sandbox allow HOST."
)
_SOME_NETWORK = (
    "There is no network except these hosts, through the proxy in HTTPS_PROXY: {}. The user can allow more: "
    "%sandbox allow HOST. What %pip installs stays until Python restarts."
)


@dataclass(frozen=True, slots=True)
class SandboxRules:
    """What programs in the sandbox may do beside using the working directory."""

    #: Files that they cannot read, also where a folder of theirs could be read.
    private: Sequence[Path] = ()
    #: Protected files that they may write.
    writable: Sequence[str] = ()
    #: Hosts that they reach.
    hosts: Sequence[str] = ()
    limits: SandboxLimits = USUAL


NO_RULES = SandboxRules()


class Confinement:
    """Whether programs run in a sandbox, and with which files, limits and hosts.

    `enabled` and `hosts` may change at any time. `passed` are the secret variables that the sandbox lets in.
    """

    def __init__(
        self,
        cwd: Path,
        *,
        enabled: bool,
        passed: Sequence[str],
        rules: SandboxRules,
    ) -> None:
        self.enabled = enabled
        #: Read for each request of a program: a host that is allowed later is reachable at once.
        self.hosts = list(rules.hosts)
        self._cwd = cwd
        self._private = tuple(rules.private)
        self._passed = tuple(passed)
        self._writable = tuple(rules.writable)
        self._limits = rules.limits
        #: The hosts that are allowed in this conversation only.
        self._granted: list[str] = []
        #: Hosts that programs could not reach and that were not reported yet.
        self._refused: deque[str] = deque(maxlen=100)
        #: The connections that were closed and were not reported yet, in sentences.
        self._ended: deque[str] = deque(maxlen=100)
        #: What the sandbox could not protect, and whether it was reported.
        self._unprotected: dict[str, bool] = {}
        self._watch: ProtectedFileWatch | None = None

    def switch(self, on: bool, private: Sequence[Path]) -> None:
        """Turn the sandbox on or off, with the files that programs in it cannot read."""
        self.enabled, self._private = on, tuple(private)

    @property
    def limits(self) -> str | None:
        """The limits in words; None where the sandbox is off."""
        return str(self._limits) if self.enabled else None

    def write_notes(self) -> tuple[str, ...]:
        """Describe the sandbox to the model; empty where it is off."""
        if not self.enabled:
            return ()
        network = _SOME_NETWORK.format(", ".join(self.hosts)) if self.hosts else _NO_NETWORK
        return (f"{_CONFINED} {network}",)

    def allow_host(self, host: str) -> str | None:
        """Let programs reach a host until `forget_hosts`. Returns why that cannot be done."""
        if not has_proxy():
            return "Single hosts cannot be allowed on this system. Turn the sandbox off for network access."
        if host not in self.hosts:
            self.hosts.append(host)
            self._granted.append(host)
        return None

    def forget_hosts(self) -> None:
        """Allow only the hosts of the settings again."""
        while self._granted:
            self.hosts.remove(self._granted.pop())

    def sandbox(self, programs: tuple[str, ...]) -> Sandbox:
        """Make the sandbox for these programs."""
        return Sandbox(
            self._cwd,
            self._private,
            programs,
            self._passed,
            self._writable,
            self._limits,
            self.hosts,
            self._refused.append,
            self._ended.append,
            lambda remark: self._unprotected.setdefault(remark, False),
        )

    def explain_unavailable(self) -> str | None:
        """Return why the sandbox does not work on this machine; None when it does."""
        problem = Sandbox(
            self._cwd, self._private, limits=self._limits, hosts=self.hosts
        ).find_problem_parts()
        return "{}. {}".format(*problem) if problem else None

    def watch_run(self, reports: Iterable[Report], interrupt: Callable[[], None]) -> Iterator[Report]:
        """Pass the reports of a run on; in the sandbox, limit its time and report what was prevented."""
        if not self.enabled:
            yield from reports
            return
        if self._watch is None:
            self._watch = ProtectedFileWatch(self._cwd.resolve(), self._writable)
        elif meanwhile := self._watch.find_changes():
            # A process that an earlier run left may have done it; so may the person.
            yield Printed(f"oi-tui: since the last run, something {meanwhile}\r\n")
        minutes = self._limits.minutes
        reached, over = threading.Event(), threading.Event()

        def stop() -> None:
            reached.set()
            interrupt()
            # Another interrupt ends a language with a memory, whose code may ignore the first one.
            if not over.wait(_GRACE):
                interrupt()

        timer = threading.Timer(minutes * 60, stop) if minutes else None
        if timer:
            timer.daemon = True
            timer.start()
        try:
            for report in reports:
                if isinstance(report, RunEnded):
                    for remark in self._iterate_remarks(self._watch):
                        yield Printed(f"\r\noi-tui: {remark}\r\n")
                    if reached.is_set() and minutes:
                        yield Printed(
                            f"\r\noi-tui: this run reached the sandbox's limit of {minutes:g} minutes "
                            "and was stopped; the setting sandbox_time\r\n"
                        )
                yield report
        finally:
            over.set()
            if timer:
                timer.cancel()

    def _iterate_remarks(self, watch: ProtectedFileWatch) -> Iterator[str]:
        """Yield what was not protected, was changed, and was blocked; each of it once."""
        for remark in [text for text, was_reported in self._unprotected.items() if not was_reported]:
            self._unprotected[remark] = True
            yield remark
        if changed := watch.find_changes():
            yield f"this run {changed}"
        if hosts := self._describe_refused_hosts():
            yield hosts
        yield from _drain(self._ended, 300)

    def _describe_refused_hosts(self) -> str | None:
        """Describe the hosts that programs could not reach since the last call; None for none."""
        names = _drain(self._refused, 100)
        if not names:
            return None
        host = names[0] if len(names) == 1 else "HOST"
        return f"the sandbox blocked access to {', '.join(names)}; to allow it, type %sandbox allow {host}"


def _drain(waiting: deque[str], length: int) -> list[str]:
    """Empty a queue that others fill, and return the first of its texts, each once and as one short line."""
    texts = []
    with contextlib.suppress(IndexError):
        while True:
            texts.append(clean_line(waiting.popleft(), length))
    return list(dict.fromkeys(texts))[:8]
