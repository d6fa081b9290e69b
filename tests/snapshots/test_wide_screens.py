"""What differs where there is much room: the sidebar, the width of the text, lists and dialogs."""

from collections.abc import Callable

import pytest
from textual.pilot import Pilot

from oi_tui.engine.llm.base import Text, Usage
from oi_tui.file_changes.snapshots import ChangeSet, FileChange
from oi_tui.runtimes.variables import Memory, Variable
from tests.snapshots import test_screens, test_states
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


async def run_turn(pilot: Pilot[None]) -> None:
    """A turn that ran code, which left variables and changed files."""
    await ready(pilot)
    workspace = chat_view(pilot).workspace
    workspace.computer.remembered = (PYTHON,)
    await ended(pilot)
    code = next(m for m in workspace.session.messages if m.type == "code")
    changes = (FileChange("plot.png", "created"), FileChange("sales.csv", "changed"))
    workspace.snapshots.save_change_set(ChangeSet(code.id, "/home/ada/sales", changes))
    chat_view(pilot).sidebar.forget()
    if pilot.app.size.width < 140:
        await pilot.press("ctrl+b")
    await seen(pilot, "DataFrame 1,204x8", "plot.png", "2 requests")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)], ids=by_size)
def test_the_sidebar_looks_as_it_did(snap_compare: Callable[..., bool], size: tuple[int, int]) -> None:
    app = screen(REPLY, (Text("You sold **12** things."), Usage(29_400, 80, 0.02)), auto_run=True)
    assert snap_compare(app, terminal_size=size, run_before=run_turn)


@pytest.mark.parametrize(
    "state",
    [
        "empty",
        "asking about risks",
        "editing",
        "finished",
        "help",
        "running",
        "an answer",
        "a plot",
        "palette",
        "reading an output",
    ],
    ids=lambda state: state.replace(" ", "_"),
)
def test_a_wide_screen_is_used(snap_compare: Callable[..., bool], state: str) -> None:
    make, steps = {**test_screens.STATES, **test_states.STATES}[state]
    assert snap_compare(make(), terminal_size=(200, 50), run_before=steps)
