"""Describes the target where code runs, and changes it."""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from oi_tui.actions.interface import BUSY, UserInterface
from oi_tui.engine import cell_target, rerun
from oi_tui.engine.credentials import redaction
from oi_tui.engine.direct_runs import LeftCode
from oi_tui.runtimes.remote import left_targets, ssh_hosts
from oi_tui.runtimes.remote.left_targets import LeftTarget
from oi_tui.runtimes.remote.target import LOCAL, GoneError, TargetError
from oi_tui.services.languages import Languages
from oi_tui.text import clean_line, escape_controls
from oi_tui.workspace import Workspace

if TYPE_CHECKING:
    from oi_tui.runtimes.remote.askpass import Wanted
    from oi_tui.runtimes.remote.link import LeftRun

#: How many hosts of the ssh configuration are named.
_NAMED = 20


def describe_targets(target: str, where: str, connected: Sequence[str] = ()) -> str:
    """Describe where code runs, and where else it could."""
    lines = [f"Code runs {clean_line(where or 'on this machine', 300)} (target: {clean_line(target, 200)})."]
    if len(connected) > 1:
        names = ", ".join(clean_line(name, 100) for name in connected)
        lines.append(f"Connected: {names}. A cell whose first line is %%on NAME runs there.")
    hosts = ssh_hosts.list_known()
    if hosts:
        more = ", …" if len(hosts) > _NAMED else ""
        lines.append(f"Hosts of your ssh configuration: {', '.join(hosts[:_NAMED])}{more}")
    lines.append(
        "%target ssh:HOST, container:NAME or command:PREFIX runs it there; %target local runs it here."
    )
    return "\n".join(lines)


class AskPerson(Protocol):
    """Asks the person a question of the connecting program, and waits for the answer."""

    def __call__(
        self, title: str, question: str, *, wanted: "Wanted", stopped: threading.Event
    ) -> str | None:
        """Return the answer; None when the person cancels, or when `stopped` is set.

        Where nothing is wanted, the words are shown, and nobody waits.
        """


class _Attempt:
    """One attempt to reach a target, with the questions that come up."""

    def __init__(self, name: str, ask: AskPerson | None) -> None:
        self._name = name
        self._ask = ask
        self._stopped = threading.Event()

    @property
    def is_over(self) -> bool:
        """Whether the target is connected, or was given up."""
        return self._stopped.is_set()

    def stop(self) -> None:
        """Give it up."""
        self._stopped.set()

    def reach(self, computer: Languages, *, stays: bool = True) -> str | None:
        """Run code there from now on, or, unless it `stays`, only the cells that say so; blocks.

        Returns why it could not be reached.
        """
        try:
            use = computer.targets.use if stays else computer.targets.connect
            use(self._name, self._stopped, ask=self._answer if self._ask else None)
        except TargetError as error:
            return str(error)
        finally:
            # Nothing waits any more for the answer to a question that is still open.
            self._stopped.set()
        return None

    def come_back(self, computer: Languages, left: LeftTarget) -> "str | Sequence[LeftRun]":
        """Come back to what was left running; blocks. Returns what runs there, or why that failed."""
        try:
            return computer.targets.attach(left, self._stopped, ask=self._answer if self._ask else None)
        except GoneError as gone:
            left_targets.remove(left)
            return f"{gone}."
        except TargetError as error:
            return str(error)
        finally:
            self._stopped.set()

    def _answer(self, question: str, wanted: "Wanted") -> str | None:
        if self._ask is None or self._stopped.is_set():
            return None
        title = f"To connect to {self._name}"
        answer = self._ask(title, question, wanted=wanted, stopped=self._stopped)
        if wanted == "nothing":
            return None
        if answer is None:
            # Without an answer, ssh would ask the same again.
            self._stopped.set()
        elif wanted == "secret" and self._name.startswith("kernel:"):
            # The token of a server is worth as much as a key.
            redaction.learn(answer.strip())
        return answer


class TargetActions:
    """Carries out `%target`."""

    def __init__(self, ui: UserInterface, workspace: Workspace, ask: AskPerson | None = None) -> None:
        self._ui = ui
        self._ask = ask
        self._workspace = workspace
        self._attempts: list[_Attempt] = []

    def _begin(self, name: str) -> _Attempt:
        """Begin an attempt to reach a target, and say so."""
        how = " Escape stops it." if self._ask else ""
        if name != LOCAL:
            self._ui.show_notice(f"Connecting to {clean_line(name, 200)} …{how}")
        self._attempts = [attempt for attempt in self._attempts if not attempt.is_over]
        attempt = _Attempt(name, self._ask)
        self._attempts.append(attempt)
        return attempt

    def stop_connecting(self) -> bool:
        """Give up the targets that are just being connected. Returns whether there were any."""
        going_on = [attempt for attempt in self._attempts if not attempt.is_over]
        for attempt in going_on:
            attempt.stop()
        return bool(going_on)

    def switch(self, name: str) -> None:
        """Run code elsewhere from now on, or say where it runs."""
        computer = self._workspace.computer
        if not name:
            self._ui.show_notice(
                describe_targets(computer.targets.home, computer.where, computer.targets.names)
            )
        elif self._ui.busy:
            self._ui.show_notice(BUSY, warning=True)
        else:
            attempt = self._begin(name)
            self._ui.run_then(lambda: attempt.reach(computer), self._announce_target)

    def run_on(self, name: str, language: str, code: str) -> None:
        """Connect a target for the cells that name it, and run the person's code there, if any."""
        computer = self._workspace.computer
        if self._ui.busy:
            self._ui.show_notice(BUSY, warning=True)
            return
        cell = cell_target.join(name, code)
        if name in computer.targets.names:
            self._run_beside(None, name, language, cell if code else "")
            return
        attempt = self._begin(name)
        self._ui.run_then(
            lambda: attempt.reach(computer, stays=False),
            lambda problem: self._run_beside(problem, name, language, cell if code else ""),
        )

    # -- what keeps running there

    def detach(self, name: str) -> None:
        """Leave what runs on a target running there; a turn in progress that waits for it ends."""
        computer, session = self._workspace.computer, self._workspace.session
        target = name or computer.targets.home
        runs = computer.targets.is_running_on(target)
        if target == LOCAL:
            words = "Code runs on this machine; %detach is for targets. %target lists them."
            self._ui.show_notice(words, warning=True)
        elif self._ui.busy and not runs:
            self._ui.show_notice(BUSY, warning=True)
        else:

            def leave() -> str:
                if runs:
                    session.end_after_run()
                return computer.targets.detach(target)

            self._ui.run_then(leave, lambda problem: self._leave_target(problem, target))

    def _leave_target(self, problem: str, name: str) -> None:
        name = clean_line(name, 200)
        if problem:
            self._ui.show_notice(clean_line(problem, 500), warning=True)
            return
        self._settle()
        place = clean_line(self._workspace.computer.where or "on this machine", 300)
        days = self._workspace.profile.keep_running_days
        self._ui.show_notice(
            f"{name} keeps running, for up to {days:g} days. %attach {name} reconnects to it, "
            f"from this or another conversation. Code now runs {place}."
        )

    def attach(self, name: str) -> None:
        """Come back to what was left running, or list it."""
        if not name:
            rows = [
                f"  {number}  {left_target.describe()}"
                for number, left_target in enumerate(left_targets.list_shown(), 1)
            ]
            words = "Left running on targets:\n{}\n%attach TARGET or %attach NUMBER reconnects to it."
            nothing = "Nothing was left running on a target. %detach leaves what runs on one."
            self._ui.show_notice(words.format("\n".join(map(escape_controls, rows))) if rows else nothing)
            return
        left_target = left_targets.choose(name)
        if isinstance(left_target, str):
            self._ui.show_notice(left_target, warning=True)
        elif self._ui.busy:
            self._ui.show_notice(BUSY, warning=True)
        else:
            attempt = self._begin(left_target.target)
            computer = self._workspace.computer
            self._ui.run_then(lambda: attempt.come_back(computer, left_target), self._show_left_code)

    def _show_left_code(self, came: "str | Sequence[LeftRun]") -> None:
        """Show the rest of the runs that were left running."""
        computer = self._workspace.computer
        if isinstance(came, str):
            self._ui.show_notice(clean_line(came, 500), warning=True)
            return
        self._settle()
        place = clean_line(computer.where, 300)
        going_on = sum(run.is_running for run in came)
        ended = f"{rerun.count_cells(len(came) - going_on)} ended meanwhile" if len(came) > going_on else ""
        runs = f"{rerun.count_cells(going_on)} still running" if going_on else "nothing is running"
        facts = ", ".join(filter(None, (runs, ended)))
        self._ui.show_notice(
            f"Code now runs {place}, with the variables that were left there ({facts}). "
            "It needs its own approvals."
        )
        if came:
            codes = [
                LeftCode(run.language, run.code, run.message, lambda run=run: computer.follow(run))  # type: ignore[misc]
                for run in came
            ]
            self._ui.start(self._workspace.session.follow(codes))

    def _settle(self) -> None:
        """Take over where code runs now; nothing that was allowed elsewhere is allowed there."""
        computer, session = self._workspace.computer, self._workspace.session
        profile = self._workspace.profile
        if computer.targets.home != profile.target:
            self._ui.apply_profile(
                profile.with_changes("changed", target=computer.targets.home, auto_run=False)
            )
        if session.auto_run:
            self._ui.switch_auto_run(False)
        session.permissions.enter(computer.target_id)

    def _run_beside(self, problem: str | None, name: str, language: str, cell: str) -> None:
        """Run the person's cell on the target that was reached, or say how cells get there."""
        computer = self._workspace.computer
        if problem:
            self._ui.show_notice(clean_line(problem, 500), warning=True)
        elif not cell:
            name = clean_line(name, 200)
            self._ui.show_notice(f"{name} is connected. A cell whose first line is %%on {name} runs there.")
        else:
            with computer.at(name):
                resolved, choices = computer.resolve(language), ", ".join(computer.languages)
            if resolved is None:
                words = f"Unknown language “{clean_line(language, 40)}”. Languages: {choices}."
                self._ui.show_notice(words, warning=True)
            elif self._ui.busy:
                self._ui.show_notice(BUSY, warning=True)
            else:
                self._ui.start(self._workspace.session.run(resolved, cell))

    def _report_left(self, target: str) -> None:
        """Report that something else was left running on the target."""
        if any(left_target.target == target for left_target in left_targets.list_shown()):
            name = clean_line(target, 200)
            self._ui.show_notice(
                f"Something was left running there earlier: {left_targets.describe_way_back(name)}."
            )

    def _announce_target(self, problem: str | None) -> None:
        """Say where code runs now; nothing that was allowed elsewhere is allowed there."""
        computer, session = self._workspace.computer, self._workspace.session
        place = clean_line(computer.where or "on this machine", 300)
        if problem:
            self._ui.show_notice(f"{clean_line(problem, 500)} Code still runs {place}.", warning=True)
        else:
            self._ui.show_notice(
                f"Code now runs {place}. It has its own variables and needs its own approvals."
            )
            self._report_left(computer.targets.home)
        profile = self._workspace.profile
        if computer.targets.home != profile.target:
            self._ui.apply_profile(
                profile.with_changes("changed", target=computer.targets.home, auto_run=False)
            )
        if not problem and session.auto_run:
            self._ui.switch_auto_run(False)
        session.permissions.enter(computer.target_id)
