"""Runs the agent on standard input and output until the editor closes them."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

from acp import AgentSideConnection

from oi_tui import log
from oi_tui.acp.agent import OiTuiAgent
from oi_tui.acp.servers import add_servers
from oi_tui.acp.transport import LineTransport
from oi_tui.engine.credentials.keys import Secrets
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.settings.profile import Profile
from oi_tui.json_lines import claim_streams
from oi_tui.system.ending_signals import list_ending_signals
from oi_tui.system.environment import close_to_others
from oi_tui.workspace import Workspace


def run(profile: Callable[[], Profile], profile_path: Path | None) -> int:
    """Serve one editor. Returns the exit code.

    `profile` gives the profile of a session in the working directory, and raises ProfileError.
    """
    log.begin()
    log.capture_other_loggers()
    close_to_others()
    with ExitStack() as stack:
        models = stack.enter_context(ModelProcess(keys=Secrets().key_for))
        models.start()
        agent = OiTuiAgent(
            lambda servers: Workspace(add_servers(profile(), servers), profile_path, models=models)
        )
        stack.callback(agent.close)
        asyncio.run(_serve(agent))
    return 0


async def _serve(agent: OiTuiAgent) -> None:
    # The package counts resuming, forking and closing sessions among what may still change.
    connection = AgentSideConnection(
        cast(Any, agent), LineTransport(*claim_streams()), listening=False, use_unstable_protocol=True
    )
    serving = asyncio.ensure_future(connection.listen())
    loop = asyncio.get_running_loop()
    for number in list_ending_signals():
        loop.add_signal_handler(number, serving.cancel)
    await asyncio.wait([serving])
    # While the loop runs, turns can still hand over what they have, and so come to their end.
    await asyncio.to_thread(agent.close)
