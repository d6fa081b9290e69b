"""Serves one host on standard input and output until it closes them."""

import asyncio
from pathlib import Path

from mcp.server.lowlevel import Server

from oi_tui import log
from oi_tui.engine.settings.profile import Profile
from oi_tui.mcp_server.stdio import open_message_streams
from oi_tui.mcp_server.tools import HostTools
from oi_tui.server.backend import WorkspaceBackend
from oi_tui.server.hosted_session import HostedSession
from oi_tui.server.options import ServerLimits
from oi_tui.system.ending_signals import list_ending_signals
from oi_tui.system.environment import close_to_others
from oi_tui.version import __version__
from oi_tui.workspace import Workspace

_INSTRUCTIONS = (
    "Runs code on the person's machine in languages that keep their variables between calls. "
    "Use print or the language's own way to see values; the result holds what was printed."
)


def run(profile: Profile, profile_path: Path | None) -> int:
    """Serve one host. Returns the exit code."""
    log.begin()
    log.capture_other_loggers()
    close_to_others()
    workspace = Workspace(profile, profile_path)
    asyncio.run(_serve(workspace, HostedSession("mcp", WorkspaceBackend(workspace), ServerLimits())))
    return int(workspace.conversation.is_lost)


async def _serve(workspace: Workspace, session: HostedSession) -> None:
    tools = HostTools(workspace, session)
    server: Server = Server(
        "oi-tui",
        version=__version__,
        title="oi-tui",
        instructions=_INSTRUCTIONS,
        on_list_tools=tools.list_tools,
        on_call_tool=tools.call_tool,
    )
    try:
        async with open_message_streams() as (received, to_host):
            serving = asyncio.ensure_future(
                server.run(received, to_host, server.create_initialization_options())
            )
            for number in list_ending_signals():
                asyncio.get_running_loop().add_signal_handler(number, serving.cancel)
            await asyncio.wait([serving])
    finally:
        # While the loop runs, what is open can still come to its end.
        await asyncio.to_thread(session.close)
        await tools.close()
