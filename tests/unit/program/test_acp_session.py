"""One conversation of an editor, without the lines of the protocol."""

import asyncio
from typing import Any

import pytest

from oi_tui.engine.settings.profile import Profile
from oi_tui.workspace import Workspace
from tests.fakes import Computer, Llm, call

pytestmark = pytest.mark.needs("acp")


async def test_a_prompt_that_is_cancelled_before_its_turn_begins_runs_nothing() -> None:
    from acp import schema

    from oi_tui.acp.session import AcpSession

    computer = Computer()

    class Editor:
        async def session_update(self, **_: Any) -> None:
            """Cancel at the first update: the notice before the turn."""
            if not session._cancelled.is_set():
                await session.cancel()

    profile = Profile(model="x", auto_run=True)
    workspace = Workspace(profile, llm=Llm([call("print(1)")]), computer=computer)
    session = AcpSession("s", workspace, Editor())
    session.notices = ("The file of the conversation lost its end.",)
    async with asyncio.timeout(20):
        answer = await session.prompt([schema.TextContentBlock(type="text", text="Hello")])
        assert answer.stop_reason == "cancelled"
        assert session._ended
        assert (await session._ended).outcome == "interrupted"
    assert computer.ran == []
