"""Lists, tests, adds and removes MCP servers, and has their changed tools reviewed."""

import shlex
from collections.abc import Callable, Mapping
from typing import TypeVar

from oi_tui import paths
from oi_tui.actions.interface import UserInterface
from oi_tui.commands.registry import CommandError
from oi_tui.engine.credentials.keys import SecretError
from oi_tui.engine.settings import mcp_servers
from oi_tui.engine.settings.mcp_servers import McpServerError
from oi_tui.mcp_client.connection import McpCallError
from oi_tui.mcp_client.resources import Resources
from oi_tui.mcp_client.servers import ServerStatus
from oi_tui.system.opener import find_opener, view
from oi_tui.text import clean_line, escape_controls
from oi_tui.workspace import Workspace

T = TypeVar("T")
_USAGE = (
    "Type %mcp, %mcp test NAME, %mcp add NAME COMMAND, %mcp add NAME URL, %mcp remove NAME, "
    "%mcp login NAME, %mcp logout NAME, %mcp prompt NAME PROMPT or %mcp trust NAME."
)
_NONE = "There are no MCP servers. Add one: %mcp add NAME COMMAND, or %mcp add NAME URL."
#: Names of tools that are listed for each server.
_LISTED = 30


class ServerManager:
    """Carries out `%mcp`."""

    def __init__(self, ui: UserInterface, workspace: Workspace) -> None:
        self._ui = ui
        self._workspace = workspace

    def do(self, action: str, name: str, rest: str) -> None:
        """Carry out an action. Raises CommandError."""
        if not action:
            self._list()
        elif action == "add" and name and rest:
            self._add(name, rest)
        elif action == "prompt" and name and rest:
            self._insert_prompt(self._find(name), rest)
        elif action in (actions := self._list_actions()) and name and not rest:
            actions[action](self._find(name))
        else:
            raise CommandError(_USAGE)

    def _list_actions(self) -> Mapping[str, Callable[[ServerStatus], None]]:
        """Return the actions that take the name of one server."""
        return {
            "test": self._test,
            "remove": self._remove,
            "trust": self._trust,
            "login": self._log_in,
            "logout": self._log_out,
        }

    def _find(self, name: str) -> ServerStatus:
        server = self._workspace.mcp.servers.find(name)
        if server is None:
            names = ", ".join(status.server.name for status in self._workspace.mcp.servers.status) or "none"
            raise CommandError(f"There is no MCP server {clean_line(name, 40)}. Servers: {names}.")
        return server

    def _list(self) -> None:
        lines = [line for status in self._workspace.mcp.servers.status for line in _describe(status)]
        self._ui.show_notice("\n".join(lines) or _NONE)

    def _test(self, status: ServerStatus) -> None:
        name = status.server.name

        def test() -> tuple[list[str], str]:
            try:
                self._workspace.mcp.servers.test(status)
                return _describe_offers(Resources(self._workspace.mcp.servers), name), ""
            except McpCallError as error:
                return [], str(error)

        def then(found: tuple[list[str], str]) -> None:
            lines, problem = found
            if problem:
                text = f"The MCP server {name} is not available: {clean_line(problem, 500)}"
                self._ui.show_notice(text, warning=True)
            else:
                self._ui.show_notice("\n".join([*_describe(status), *lines]))

        if self._workspace.profile.sandbox:
            self._ui.show_notice("MCP servers run outside of the sandbox, which is on.", warning=True)
        else:
            self._ui.run_then(test, then)

    def _log_in(self, status: ServerStatus) -> None:
        """Sign in to a server: the person does that in a browser, which comes back to this machine."""
        name, servers = status.server.name, self._workspace.mcp.servers

        def then(found: tuple[str, str]) -> None:
            address, problem = found
            if problem or not address:
                ended(problem)
                return
            words = find_opener()
            is_open = bool(words) and view(words or (), address) is None
            how = "In the browser" if is_open else "Open this address in a browser on this machine, and"
            self._ui.show_notice(f"{how} sign in to the MCP server {name}: {escape_controls(address)}")
            self._ui.run_then(lambda: _try_work(lambda: servers.finish_sign_in(status)), ended)

        def ended(problem: str) -> None:
            if problem:
                self._ui.show_notice(f"Not signed in to {name}: {clean_line(problem, 500)}", warning=True)
            else:
                self._ui.show_notice("\n".join([f"Signed in to {name}.", *_describe(status)]))

        def begin() -> tuple[str, str]:
            try:
                return servers.sign_in(status), ""
            except McpCallError as error:
                return "", str(error)

        self._ui.run_then(begin, then)

    def _log_out(self, status: ServerStatus) -> None:
        name = status.server.name

        def sign_out() -> tuple[bool, str]:
            try:
                return self._workspace.mcp.servers.sign_out(status), ""
            except SecretError as error:
                return False, str(error)

        def then(done: tuple[bool, str]) -> None:
            was_signed_in, problem = done
            outcome = f"Signed out of {name}." if was_signed_in else f"You were not signed in to {name}."
            self._ui.show_notice(problem or outcome, warning=bool(problem))

        self._ui.run_then(sign_out, then)

    def _insert_prompt(self, status: ServerStatus, rest: str) -> None:
        """Put a prompt of a server where the person types; nothing is sent."""
        try:
            name, *pairs = shlex.split(rest)
        except ValueError as error:
            raise CommandError(f"{str(error).capitalize()}.") from None
        if not all("=" in pair for pair in pairs):
            raise CommandError(
                "Write the arguments of a prompt as NAME=VALUE, in quotes where there are spaces."
            )
        arguments = {key: value for key, _, value in (pair.partition("=") for pair in pairs)}

        def fetch() -> tuple[str, str]:
            try:
                return Resources(self._workspace.mcp.servers).prompt(status.server.name, name, arguments), ""
            except McpCallError as error:
                return "", str(error)

        def then(found: tuple[str, str]) -> None:
            text, problem = found
            if problem:
                self._ui.show_notice(
                    f"The MCP server {status.server.name}: {clean_line(problem, 500)}", warning=True
                )
            else:
                # The words before it keep the text of a server from being read as a command of the person.
                title = f"The prompt {clean_line(name, 60)} of the MCP server {status.server.name}:"
                self._ui.put_back(f"{title}\n\n{text}")

        self._ui.run_then(fetch, then)

    def _add(self, name: str, rest: str) -> None:
        line = f"{name} = {rest.strip()}"
        try:
            server = mcp_servers.read(line)
        except McpServerError as error:
            raise CommandError(f"{clean_line(str(error), 200)}.") from None
        if self._workspace.mcp.servers.find(server.name):
            raise CommandError(f"There is an MCP server {server.name} already. %mcp remove {server.name}")
        is_first, is_at_work = not self._workspace.profile.mcp_servers, self._workspace.computer.is_at_work
        self._use((*self._workspace.profile.mcp_servers, line))
        # A language that runs was started without the object `tools`.
        later = " Code in cells can call its tools after %restart." if is_first and is_at_work else ""
        self._ui.show_notice(f"Added the MCP server {server.name}.{later}")
        self._test(self._find(server.name))

    def _remove(self, status: ServerStatus) -> None:
        lines = self._workspace.profile.mcp_servers
        self._use(tuple(line for line in lines if mcp_servers.read(line).name != status.server.name))
        self._ui.show_notice(f"Removed the MCP server {status.server.name}.")

    def _use(self, lines: tuple[str, ...]) -> None:
        self._ui.apply_profile(self._workspace.profile.with_changes(mcp_servers=lines))
        if problem := self._workspace.save_settings(mcp_servers=lines):
            self._ui.show_notice(problem, warning=True)

    def _trust(self, status: ServerStatus) -> None:
        name = status.server.name
        if status.state != "changed":
            self._ui.show_notice(f"The tools of {name} have not changed.")
            return
        # What the person sees is what is accepted; the server may offer others before the answer.
        offered = status.offered

        def accept() -> None:
            try:
                self._workspace.mcp.servers.accept(status, offered)
            except OSError as error:
                self._ui.show_notice(f"Could not save that: {paths.explain_write_error(error)}", warning=True)
                return
            later = " Some have changed since; they are not used." if status.state == "changed" else ""
            self._ui.show_notice(f"The tools of {name} are now used.{later}")

        about = [
            "The model gets these descriptions.",
            "",
            *self._workspace.mcp.servers.describe_changes(status, offered),
        ]
        self._ui.confirm(f"Use the changed tools of the MCP server {name}?", about, accept)


def _try_work(work: Callable[[], None]) -> str:
    """Do the work; return why that failed, or ""."""
    try:
        work()
    except McpCallError as error:
        return str(error)
    return ""


def _describe_offers(resources: Resources, name: str) -> list[str]:
    """Describe what a server offers beside tools, and how it is used."""
    lines = [
        f"    @{name}:{clean_line(uri, 200)}  {title}"
        for uri, title in resources.list_addresses(name)[:_LISTED]
    ]
    for prompt in resources.list_prompts(name)[:_LISTED]:
        arguments = " ".join(f"{clean_line(argument, 40)}=…" for argument in prompt.arguments)
        lines.append(
            f"    %mcp prompt {name} {clean_line(prompt.name, 60)} {arguments}  {prompt.description}"
        )
    return lines


def _describe(status: ServerStatus) -> list[str]:
    """Describe a server in a few lines."""
    server = status.server
    lines = [f"{server.name}: {clean_line(server.shown, 200)}"]
    match status.state:
        case "failed":
            lines.append(f"    not available: {clean_line(status.problem, 500)}")
        case "not started" | "starting" as state:
            lines.append(f"    {state}")
        case _:
            names = [tool.name for tool in status.tools]
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            lines.append(f"    tools: {clean_line(', '.join(names[:_LISTED]), 1000) or 'none'}{more}")
            lines += [f"    {note}" for note in status.notes]
    if status.state == "changed":
        lines.append(f"    some tools have changed and are not used; %mcp trust {server.name} shows them")
    return lines
