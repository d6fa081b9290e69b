"""Where code runs: what is said of it, and how to get there."""

from oi_tui.runtimes.remote import ssh_hosts
from oi_tui.runtimes.remote.target import TargetError
from oi_tui.services.languages import Languages
from oi_tui.text import one_line

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
