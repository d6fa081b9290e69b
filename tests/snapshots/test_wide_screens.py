"""The sidebar beside the conversation, and as a drawer over it."""

from collections.abc import Callable

import pytest
from textual.pilot import Pilot

from oi_tui.engine.llm.base import Text, Usage
from oi_tui.file_changes.snapshots import Change, Step
from oi_tui.runtimes.variables import Memory, Variable
from tests.snapshots.staging import REPLY, by_size, chat_view, ended, ready, screen, seen

PYTHON = Memory(
    "python",
    "known",
    (
        Variable("sales", "DataFrame", "DataFrame 1,204x8", 76_936),
        Variable("rows", "list", "list of 1,204", 9_600),
        Variable("total", "float", "48210.5", 24),
        Variable("load", "function", "function load"),
        Variable("Sale", "type", "class Sale"),
    ),
    5,
)


async def worked(pilot: Pilot[None]) -> None:
    """A turn that ran code, which left variables and changed files."""
    await ready(pilot)
    workspace = chat_view(pilot).workspace
    workspace.computer.remembered = (PYTHON,)
    await ended(pilot)
    code = next(m for m in workspace.session.messages if m.type == "code")
    changes = (Change("plot.png", "created"), Change("sales.csv", "changed"))
    workspace.snapshots.note(Step(code.id, "/home/ada/sales", changes))
    chat_view(pilot).sidebar.forget()
    if pilot.app.size.width < 140:
        await pilot.press("ctrl+b")
    await seen(pilot, "DataFrame 1,204x8", "plot.png", "2 requests")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)], ids=by_size)
def test_the_sidebar_looks_as_it_did(snap_compare: Callable[..., bool], size: tuple[int, int]) -> None:
    app = screen(REPLY, (Text("You sold **12** things."), Usage(29_400, 80, 0.02)), auto_run=True)
    assert snap_compare(app, terminal_size=size, run_before=worked)
