"""Where code runs: what is said of it, and how to get there."""

from oi_tui.actions.interface import BUSY, UserInterface
from oi_tui.runtimes.remote import ssh_hosts
from oi_tui.runtimes.remote.target import TargetError
from oi_tui.services.languages import Languages
from oi_tui.text import one_line
from oi_tui.workspace import Workspace

#: So many hosts of the ssh configuration are named.
_NAMED = 20


def overview(target: str, where: str) -> str:
    """Where code runs, and where else it could."""
    lines = [f"Code runs {one_line(where or 'on this machine', 300)} (target: {one_line(target, 200)})."]
    hosts = ssh_hosts.known()
    if hosts:
        more = ", …" if len(hosts) > _NAMED else ""
        lines.append(f"Hosts of your ssh configuration: {', '.join(hosts[:_NAMED])}{more}")
    lines.append(
        "%target ssh:HOST, container:NAME or command:PREFIX runs it there; %target local runs it here."
    )
    return "\n".join(lines)


def reach(computer: Languages, name: str) -> str | None:
    """Run code there from now on; blocks. Returns why it could not be reached."""
    try:
        computer.use_target(name)
    except TargetError as error:
        return str(error)
    return None


class TargetActions:
    """Carries out `%target`."""

    def __init__(self, ui: UserInterface, workspace: Workspace) -> None:
        self._ui = ui
        self._workspace = workspace

    def switch(self, name: str) -> None:
        """Run code elsewhere from now on, or say where it runs."""
        computer = self._workspace.computer
        if not name:
            self._ui.tell(overview(computer.target, computer.where))
        elif self._ui.busy:
            self._ui.tell(BUSY, warning=True)
        else:
            self._ui.tell(f"Connecting to {one_line(name, 200)} …")
            self._ui.aside(lambda: reach(computer, name), self._arrive)

    def _arrive(self, problem: str | None) -> None:
        """Say where code runs now; nothing that was allowed elsewhere is allowed there."""
        computer, session = self._workspace.computer, self._workspace.session
        place = one_line(computer.where or "on this machine", 300)
        if problem:
            self._ui.tell(f"{one_line(problem, 500)} Code still runs {place}.", warning=True)
        else:
            self._ui.tell(f"Code now runs {place}. It has its own variables and needs its own approvals.")
        profile = self._workspace.profile
        if computer.target != profile.target:
            self._ui.take_profile(profile.with_changes("changed", target=computer.target, auto_run=False))
        if not problem and session.auto_run:
            self._ui.switch_auto_run(False)
        session.grants.enter(computer.place_key)
