"""Turns the sandbox on and off, and lets programs in it reach more hosts."""

from oi_tui.actions.interface import UserInterface
from oi_tui.engine.settings.execution import check_host_pattern
from oi_tui.text import clean_line
from oi_tui.workspace import Workspace


class SandboxActions:
    """Carries out `%sandbox`."""

    def __init__(self, ui: UserInterface, workspace: Workspace) -> None:
        self._ui = ui
        self._workspace = workspace

    def switch(self, on: bool | None) -> None:
        """Hold programs in the working directory, or let them out after a question."""
        computer, now = self._workspace.computer, self._workspace.profile.sandbox
        on = not now if on is None else on
        if on == now:
            self._ui.show_notice(
                f"The sandbox is already {'on' if on else 'off'}.{self._describe_hosts() if on else ''}"
            )
        elif on:
            self._ui.run_then(computer.explain_no_sandbox, self._enclose)
        else:
            details = (
                (
                    "Approved code can then do whatever you can do, such as read all your files and use the "
                    "network."
                ),
            )
            self._ui.confirm("Turn the sandbox off?", details, self._allow_outside)

    def allow(self, host: str) -> None:
        """Let programs in the sandbox reach a host for the rest of this conversation; "" lists such hosts."""
        computer = self._workspace.computer
        if not self._workspace.profile.sandbox:
            self._ui.show_notice("The sandbox is off, so programs can reach every host.")
        elif not host:
            self._ui.show_notice(
                f"The sandbox is on.{self._describe_hosts()} %sandbox allow HOST allows another one."
            )
        elif expected := check_host_pattern(host):
            self._ui.show_notice(
                f"{clean_line(host, 100)} cannot be allowed: expected {expected}.", warning=True
            )
        elif problem := computer.allow_host(host):
            self._ui.show_notice(problem, warning=True)
        else:
            self._ui.show_notice(
                f"Programs in the sandbox can reach {host} until you leave this conversation. To allow it "
                "always, add it to the setting sandbox_hosts."
            )

    def _describe_hosts(self) -> str:
        hosts = self._workspace.computer.hosts
        return f" Programs can reach {', '.join(hosts)}." if hosts else " Programs can reach no host."

    def _enclose(self, problem: str | None) -> None:
        if problem:
            self._ui.show_notice(f"The sandbox stays off: {problem}", warning=True)
            return
        self._use_sandbox(True)
        folder = clean_line(str(self._workspace.computer.cwd), 200)
        self._ui.show_notice(f"Sandbox on: programs can change only {folder}. Interpreters restarted.")

    def _allow_outside(self) -> None:
        self._use_sandbox(False)
        self._ui.show_notice(
            "Sandbox off. Interpreters restarted. %sandbox on turns it on again.", warning=True
        )

    def _use_sandbox(self, on: bool) -> None:
        self._ui.apply_profile(self._workspace.profile.with_changes("changed", sandbox=on))
