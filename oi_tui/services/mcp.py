"""The MCP servers of a workspace, started when they are needed, with their tools and resources."""

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from oi_tui import paths
from oi_tui.engine.credentials.keys import Secrets
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.tools import McpTool
from oi_tui.runtimes.language import Language
from oi_tui.text import clean_line

if TYPE_CHECKING:
    from oi_tui.mcp_client.servers import McpServers


class McpService:
    """Owns the MCP servers of the profile, which run here, also where code runs elsewhere."""

    def __init__(
        self,
        profile: Profile,
        secrets: Secrets,
        *,
        offered: bool,
        note_problem: Callable[[str], None],
        stop_signal: Callable[[], threading.Event],
    ) -> None:
        """`offered`: the model gets the tools. `note_problem` shows what goes wrong with a server.
        `stop_signal` returns what is set when the turn is stopped.
        """
        self._profile = profile
        self._secrets = secrets
        self._offered = offered
        self._note_problem = note_problem
        self._stop_signal = stop_signal
        self._folder = str(paths.find_cwd())
        self._lock = threading.Lock()
        self._servers: McpServers | None = None

    @property
    def servers(self) -> "McpServers":
        """The MCP servers of the profile."""
        with self._lock:
            if self._servers is None:
                # Loaded where there are such servers only.
                from oi_tui.mcp_client.servers import McpServers

                self._servers = McpServers(
                    self._profile, self._folder, self._note_problem, secrets=self._secrets
                )
            return self._servers

    def apply(self, profile: Profile) -> None:
        """Use these servers from now on; what runs and is no longer named ends."""
        self._profile = profile
        if self._servers or profile.mcp_servers:
            self.servers.use(profile)

    def stop_sign_ins(self) -> None:
        """Wait no longer for a person who signs in."""
        if self._servers:
            self._servers.stop_sign_ins()

    def warm_up(self) -> None:
        """Start the servers, without waiting for them."""
        if self._profile.mcp_servers and self._offered:
            threading.Thread(target=lambda: self.servers.start(), daemon=True).start()

    def tools(self) -> Sequence[McpTool]:
        """Return the tools of the servers, for the model; may take a moment."""
        return self.servers.tools() if self._profile.mcp_servers and self._offered else ()

    def languages(self) -> Sequence[Language]:
        """Return what runs the calls of the tools."""
        return self._servers.languages() if self._servers else ()

    def read_resource(self, server: str, uri: str) -> str:
        """Read a resource of an MCP server for a message; blocks while the server answers.

        Returns why that failed in words, and "" where there is no such server.
        """
        if not self._has(server):
            return ""
        from oi_tui.mcp_client.connection import McpCallError
        from oi_tui.mcp_client.resources import Resources

        try:
            return Resources(self.servers).read(server, uri, self._stop_signal())
        except McpCallError as error:
            return f"(The resource {clean_line(uri)} of {server} could not be read: {clean_line(str(error))})"

    def resources(self, server: str) -> Sequence[tuple[str, str]]:
        """Return the addresses and names of a server's resources; blocks while the server answers."""
        if not self._has(server):
            return ()
        from oi_tui.mcp_client.connection import McpCallError
        from oi_tui.mcp_client.resources import Resources

        try:
            return Resources(self.servers).list_addresses(server)
        except McpCallError:
            return ()

    def close(self) -> None:
        """End all servers."""
        if self._servers:
            self._servers.close()

    def _has(self, server: str) -> bool:
        return bool(self._profile.mcp_servers) and self.servers.find(server) is not None
